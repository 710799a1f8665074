/* lower_check.c - what is tested while the program runs, because the checker could not decide it.
 * Idea       each check of the checker becomes one check of the IR with its sizes as values.  Checks of all iterations
 *            of a loop stand before it, in a branch where the loop may have no iteration.
 * Tests      test/lit/run/bounds.pto, test/lit/run/hoisted.pto
 */
#include "lower_parts.h"
#include "source_text.h"
#include "support/strbuf.h"
#include <string.h>

void format_text(struct strbuf *format, const char *text)
{
    for (; *text; text++) {
        if (*text == '%') strbuf_putc(format, '%');
        strbuf_putc(format, *text);
    }
}

/* ---- messages ---- */

enum { MAX_NAMED = 6 };

struct named_values {
    struct lowering *l;
    struct strbuf *format;
    const struct symbol *seen[MAX_NAMED];
    struct ir_value **values;
    int count;
};

static bool visit_name(void *cx, struct ast *n)
{
    struct named_values *v = cx;
    const struct symbol *s = n->kind == AST_NAME || n->kind == AST_MEMBER ? n->symbol : NULL;
    /* its arguments, evaluated again, need not be those that it had */
    if (n->kind == AST_CALL && call_of(n)) return false;
    if (!s || s->has_value || !s->type || s->type->kind != TYPE_INT || s->kind == SYM_CONST || v->count == MAX_NAMED)
        return true;
    for (int i = 0; i < v->count; i++)
        if (v->seen[i] == s) return true;
    if (v->l->binding && s->kind == SYM_FORMAL) return true; /* an argument: may be any expression */
    strbuf_printf(v->format, "%s%s = %%lld", v->count == 0 ? " (" : ", ", s->name);
    v->seen[v->count] = s;
    v->values[v->count++] = lower_symbol(v->l, s);
    return true;
}

struct ir_message lower_message(struct lowering *l, const char *text, struct ast *named)
{
    STRBUF(format);
    struct named_values v = {.l = l, .format = &format, .values = arena_array(l->mem, struct ir_value *, MAX_NAMED)};
    strbuf_puts(&format, text);
    ast_walk(named, visit_name, &v);
    if (v.count > 0) strbuf_putc(&format, ')');
    const struct ir_message m = {arena_copy(l->mem, strbuf_text(&format), format.length), v.values, v.count};
    return m;
}

/* ---- one check ---- */

static void lower_where(struct lowering *l, const struct check *c, const struct call *call, struct ir_check *to)
{
    STRBUF(text);
    STRBUF(format);
    l->binding = l->ranges->binding = call;
    to->a = lower_value(l, c->cond);
    strbuf_printf(&text, "[E20] '%s' needs ", call->callee->name);
    strbuf_puts(&text, source_one_line(l->front, l->mem, c->cond->at));
    format_text(&format, strbuf_text(&text));
    to->message = lower_message(l, strbuf_text(&format), (struct ast *)c->cond);
    l->binding = l->ranges->binding = NULL;
}

/* NULL: it cannot fail. */
static struct ir_check *lower_check(struct lowering *l, const struct check *c, const struct call *call)
{
    struct ir_value *const value = c->kind == CHECK_VALUE ? lower_value(l, c->cond) : NULL;
    if (value && !ir_can_fail(value)) return NULL;
    struct ir_check *to = arena_new(l->mem, struct ir_check);
    to->kind = c->kind;
    to->at = c->at;
    to->from = c->from;
    to->callee = call ? call->callee->name : NULL;
    if (c->kind == CHECK_WHERE) {
        lower_where(l, c, call, to);
        return to;
    }
    to->a = c->a ? lower_size(l, c->a, ARITH_CHECKED) : value;
    if (c->b) to->b = lower_size(l, c->b, c->kind == CHECK_DIMENSION ? ARITH_PLAIN : ARITH_CHECKED);
    if (c->c) to->c = lower_size(l, c->c, ARITH_CHECKED);
    if (c->d) to->d = lower_size(l, c->d, ARITH_CHECKED);
    if (c->kind == CHECK_FROM_ZERO || c->kind == CHECK_BELOW) { /* once more for the message: tested already */
        if (c->kind == CHECK_FROM_ZERO) to->b = NULL;
        to->c = lower_size(l, c->a, ARITH_PLAIN);
        to->d = lower_size(l, c->b, ARITH_PLAIN);
    }
    if (c->kind == CHECK_EXTENT) to->b = lower_size(l, c->a, ARITH_PLAIN); /* for the message: tested already */
    if (c->kind == CHECK_DIMENSION) {                                      /* the same */
        to->c = lower_size(l, c->a, ARITH_PLAIN);
        to->one = c->one;
        to->another = c->another;
    }
    if (c->kind == CHECK_CONTIGUOUS || c->kind == CHECK_DENSE) {
        struct ir_view *v = lower_view(l, c->view, VIEW_OF_FUNCTION);
        for (int d = 0; d < c->view->rank; d++) v->extent[d] = lower_size(l, c->view->extent[d], ARITH_PLAIN);
        to->view = v;
    }
    if (c->kind == CHECK_DISJOINT) {
        to->view = lower_view(l, c->view, VIEW_OF_TASK);
        to->other = lower_view(l, c->other, VIEW_OF_TASK);
        to->one = c->one;
        to->another = c->another;
    }
    return to;
}

struct ir_check *lower_written(struct lowering *l, const struct ir_use *use)
{
    struct ir_check *to = arena_new(l->mem, struct ir_check);
    to->kind = CHECK_WRITTEN;
    to->at = use->at->at;
    to->symbol = use->symbol;
    to->is_await = use->kind == IR_USE_AWAIT;
    to->callee = use->holder->kind == AST_CALL ? call_of(use->holder)->callee->name : NULL;
    to->view = lower_view(l, lower_whole(l, use->symbol), VIEW_OF_TASK);
    to->flag = use->tensor;
    return to;
}

/* Two names have one buffer only where one of them was given as a second name. */
static bool is_needed(const struct check *c)
{
    const struct symbol *a = c->view ? c->view->base : NULL, *b = c->other ? c->other->base : NULL;
    return c->kind != CHECK_DISJOINT || a == b || (a->exchange == b->exchange && a->exchange->is_shared);
}

const struct ir_check *lower_checks(struct lowering *l, const struct check *list, const struct call *call)
{
    struct ir_check *first = NULL, **end = &first;
    for (const struct check *c = list; c; c = c->next) {
        struct ir_check *const lowered = is_needed(c) ? lower_check(l, c, call) : NULL;
        if (!lowered) continue;
        *end = lowered;
        end = (struct ir_check **)&(*end)->next;
    }
    return first;
}

/* ---- as statements ---- */

static void append_check(struct lowering *l, const struct ir_check *c, bool is_hoisted)
{
    if (!c) return;
    struct ir_op *op = lower_op(l, IR_CHECK);
    op->check.check = c;
    op->check.is_hoisted = is_hoisted;
}

void lower_later_checks(struct lowering *l, const struct ast *holder, const char *site)
{
    struct ir_op *op = lower_op(l, IR_CHECK);
    op->check.holder = holder;
    op->check.site = site;
}

/* There is an iteration of each loop around the check: least < most for all of them.  NULL: that is certain. */
static struct ir_value *lower_guards(struct lowering *l, const struct guard *g)
{
    struct ir_value *all = NULL;
    for (; g; g = g->next) {
        int64_t least, most;
        if (size_is_const(g->least, &least) && size_is_const(g->most, &most) && least < most) continue;
        struct ir_value *one = ir_binary(l->mem, OP_LT, ARITH_PLAIN, lower_size(l, g->least, ARITH_CHECKED),
                                         lower_size(l, g->most, ARITH_CHECKED));
        all = all ? ir_binary(l->mem, OP_AND, ARITH_PLAIN, all, one) : one;
    }
    return all;
}

static void lower_before_loop(struct lowering *l, const struct check *first, const struct check *end)
{
    struct ir_value *guards = lower_guards(l, first->guard);
    struct ir_block *outer = NULL;
    struct ir_op *branch = NULL;
    if (guards) {
        if (ir_can_fail(guards)) lower_site(l, first->at, "index");
        branch = lower_op(l, IR_IF);
        branch->branch.cond.value = guards;
        branch->branch.then = lower_block_begin(l, &outer);
    }
    for (const struct check *c = first; c != end; c = c->next) {
        if (c == first || c->at.begin != first->at.begin) lower_site(l, c->at, "index");
        append_check(l, lower_check(l, c, NULL), c == first);
    }
    if (guards) lower_block_end(l, outer);
}

static bool same_guards(const struct guard *a, const struct guard *b)
{
    for (; a && b && a->least == b->least && a->most == b->most; a = a->next, b = b->next) {}
    return !a && !b;
}

void lower_check_statements(struct lowering *l, const struct check *list, const struct call *call)
{
    for (const struct check *c = list; c; c = c->next) {
        if (!is_needed(c)) continue;
        if (!c->guard) {
            append_check(l, lower_check(l, c, call), false);
            continue;
        }
        const struct check *end = c, *last = c;
        for (; end && end->guard && same_guards(end->guard, c->guard); end = end->next) last = end;
        lower_before_loop(l, c, end);
        c = last;
    }
}
