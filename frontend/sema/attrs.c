/* attrs.c - attributes before a statement: @priority, @name, @timeout.
 * Tests      test/lit/sema/e17*.pto
 */
#include "statements.h"
#include "support/nearest.h"
#include <string.h>

void attrs_check(struct checker *c, struct ast *s, const struct ast *value)
{
    static const char *const known[] = {"priority", "name", "timeout"};
    for (struct ast *a = s->attrs; a; a = a->next) {
        bool found = false, is_name = strcmp(a->name, "name") == 0;
        for (size_t i = 0; i < 3; i++) found |= strcmp(known[i], a->name) == 0;
        if (!found) {
            const char *near = nearest_word(a->name, known, 3);
            diag_error(c->diag, DIAG_E17, a->name_at, "unknown attribute '@%s'", a->name);
            if (near)
                diag_fix(c->diag, a->name_at, near, "did you mean '@%s'?", near);
            else
                diag_help(c->diag, "attributes are @priority(n), @name(\"text\") and @timeout(ms)");
            for (struct ast *x = a->attr.args; x; x = x->next) exprs_check(c, x, AS_VALUE);
            continue;
        }
        for (const struct ast *b = s->attrs; b != a; b = b->next) {
            if (b->name != a->name) continue;
            diag_error(c->diag, DIAG_E17, a->name_at, "attribute '@%s' is given twice", a->name);
            break;
        }
        struct ast *arg = a->attr.args;
        if (!arg || arg->next) diag_error(c->diag, DIAG_E17, a->at, "'@%s' takes one argument", a->name);
        for (struct ast *x = arg; x; x = x->next) {
            exprs_check(c, x, AS_VALUE);
            if (x->bad || x->type->kind == (is_name ? TYPE_STRING : TYPE_INT)) continue;
            diag_error(c->diag, DIAG_E02, x->at, "'@%s' takes %s, not %s", a->name, is_name ? "a string" : "an integer",
                       type_str(c, x->type));
        }
        if (!value || value->kind != AST_CALL)
            diag_error(c->diag, DIAG_E17, a->at, "'@%s' stands before a statement that is no call", a->name);
    }
}

/* What holds only for a call that is known: @timeout is about one kernel. */
void attrs_check_timeout(struct checker *c, const struct ast *s, const struct ast *value)
{
    for (const struct ast *a = s->attrs; a; a = a->next) {
        int64_t ms;
        const struct call *call = value && value->kind == AST_CALL ? call_of(value) : NULL;
        if (strcmp(a->name, "timeout") != 0 || !a->attr.args || a->attr.args->bad) continue;
        if (size_is_const(a->attr.args->value, &ms) && ms < 1)
            diag_error(c->diag, DIAG_E15, a->attr.args->at,
                       "the limit %lld of '@timeout' must be at least 1 (milliseconds)", (long long)ms);
        if (!call || call->callee->kind != SYM_ORCH) continue;
        diag_error(c->diag, DIAG_E17, a->at, "'@timeout' is for a kernel, '%s' is a function", call->callee->name);
        diag_help(c->diag, "put it before the calls of kernels in '%s'", call->callee->name);
    }
}
