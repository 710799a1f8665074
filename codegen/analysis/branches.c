/* branches.c - the ways that a statement chooses from.
 * Needs nothing.  Gives branches_of.
 * Method an `else if` is one more branch of its IF, an arm is a branch of its MATCH.
 */
#include "plan.h"

void branches_of(struct ast *n, struct branches *b)
{
    if (n->kind == AST_MATCH) {
        for (struct ast *arm = n->match.arms; arm; arm = arm->next) vec_push(&b->blocks, arm->arm.body);
        if (n->match.other)
            vec_push(&b->blocks, n->match.other);
        else
            b->without_else = n;
        return;
    }
    for (;; n = n->if_.other) {
        vec_push(&b->blocks, n->if_.then);
        if (n->if_.other && n->if_.other->kind == AST_IF) continue;
        if (n->if_.other)
            vec_push(&b->blocks, n->if_.other);
        else
            b->without_else = n;
        return;
    }
}
