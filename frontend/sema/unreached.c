/* unreached.c - warnings about statements that no run can come to.
 * Idea       what the text alone shows: a jump before the statement (W09), bounds of a loop that are numbers (W10).  A
 *            name in a bound is left alone: a constant or a dimension that is 0 switches a loop off on purpose.
 * Needs      checked statements.
 * Tests      test/lit/sema/w09.pto w10.pto
 */
#include "lookahead.h"
#include "statements.h"
#include "syntax/ast_walk.h"

static const char *reason(const struct ast *s)
{
    switch (s->kind) {
    case AST_RETURN: return "the function returns before it";
    case AST_BREAK: return "the loop ends before it";
    case AST_CONTINUE: return "the next iteration begins before it";
    case AST_WHILE: return "the loop before it has no end";
    default: return "every path leaves before it";
    }
}

bool unreached_behind(struct checker *c, struct ast *s)
{
    if (!s->next || s->bad || !lookahead_ends(s)) return false;
    const struct ast *last = s->next;
    while (last->next) last = last->next;
    diag_warning(c->diag, DIAG_W09, (struct span){last->at.file, s->next->at.begin, last->at.end},
                 "this is never executed: %s", reason(s));
    diag_note(c->diag, s->at, "every path ends here");
    return true;
}

static bool visit_bound(void *cx, struct ast *e)
{
    *(bool *)cx &= e->kind == AST_INT || e->kind == AST_UNARY || e->kind == AST_BINARY;
    return true;
}

/* Is e written as a number, without a name? */
static bool is_literal(struct checker *c, struct ast *e, int64_t *value)
{
    bool found = true;
    struct constant v;
    ast_walk(e, visit_bound, &found);
    if (!found || !consteval(c, e, &v)) return false;
    *value = v.i;
    return true;
}

void unreached_loop(struct checker *c, const struct ast *s)
{
    struct ast *low = s->loop.low, *high = s->loop.high, *by = s->loop.step;
    int64_t from, to, step = 1;
    if (!is_literal(c, low, &from) || !is_literal(c, high, &to) || (by && !is_literal(c, by, &step))) return;
    if (step == 0 || (step > 0 ? from < to : from > to)) return;
    const struct span at = {low->at.file, low->at.begin, (by ? by : high)->at.end};
    if (from == to) {
        diag_warning(c->diag, DIAG_W10, at, "this loop never runs: its end is excluded");
        return;
    }
    const char *counts = step > 0 ? "up" : "down", *other = step > 0 ? "down" : "up";
    diag_warning(c->diag, DIAG_W10, at, "this loop never runs: it counts %s, from %lld to %lld", counts,
                 (long long)from, (long long)to);
    if (!by)
        diag_fix(c->diag, (struct span){at.file, at.end, at.end}, " step -1", "count down");
    else if (step != INT64_MIN)
        diag_fix(c->diag, by->at, arena_printf(c->mem, "%lld", (long long)-step), "count %s", other);
}
