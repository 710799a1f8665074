/* notes.c - the results of checking at a node.
 * Idea       a node has one pointer to a note, made when there is something to say of it.
 * Owner      the arena.
 * Invariant  a node that is bad has the type of an error where it is an expression.
 * Tests      test/lit/sema/
 */
#include "checker.h"

const struct call *call_of(const struct ast *call_node) { return call_node->note ? call_node->note->call : NULL; }

const struct region *region_of(const struct ast *expr) { return expr->note ? expr->note->region : NULL; }

struct symbol *symbol_behind(const struct ast *place)
{
    struct symbol *s = place->symbol;
    return s && s->region && s->region->whole ? s->region->base : s;
}

struct symbol *taken_of(const struct ast *expr) { return expr->note ? expr->note->taken : NULL; }

enum truth truth_of(const struct ast *condition) { return condition->note ? condition->note->truth : TRUTH_OF_RUN; }

const struct check *checks_of(const struct ast *node) { return node->note ? node->note->checks : NULL; }

const struct tensor_note *tensor_note_of(const struct checked *checked, const struct symbol *s)
{
    static const struct tensor_note nothing = {.number = -1};
    const struct tensor_note *note = ptrmap_get(&checked->tensors, s);
    return note ? note : &nothing;
}

struct note *notes_of(struct checker *c, struct ast *e)
{
    if (!e->note) e->note = arena_new(c->mem, struct note);
    return e->note;
}

bool notes_bad(struct ast *e)
{
    e->bad = true;
    return false;
}

const struct type *notes_fail(struct checker *c, struct ast *e)
{
    e->bad = true;
    return e->type = c->error;
}

bool notes_is_element(const struct ast *e)
{
    bool names = e->kind == AST_INDEX || e->kind == AST_MEMBER;
    return names && !e->bad && e->note && e->note->region && type_is_scalar(e->type);
}
