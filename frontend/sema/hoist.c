/* hoist.c - run-time checks of indices go out of loops, as far as they can.
 * Idea       what is linear in the variable of a `for` is inside for all iterations when it is inside for the first and
 *            the last.  So the check stands before the loop, once for each end, behind the question whether the loop
 *            iterates at all.  The next loop around it is then asked the same.
 * Invariant  a check goes out only if every iteration makes it: no `if`, `while`, `match`, `&&`, `break`, `continue`,
 *            `return` or `assert` stands before it, the last iteration is only asked where no `break` or `return` can
 *            keep it from coming, and the loop prints nothing that the user would miss.
 * Tests      test/lit/codegen/hoisted.pto, test/lit/run/hoisted.pto
 */
#include "hoist.h"
#include "lookahead.h"
#include <string.h>

enum { MAX_ENDS = 4, MAX_GUARDS = 6 };

/* ---- loops ------------------------------------------------------------------------------------------------------- */

void hoist_enter(struct checker *c, struct open_for *t, const struct ast *loop, const struct size *low,
                 const struct size *high, const struct size *step)
{
    const struct size *zero = size_const(c->sizes, 0);
    *t = (struct open_for){.outer = c->open_for,
                           .i = loop->symbol,
                           .body = loop->loop.body->block.stmts,
                           .checks = c->checks,
                           .depth = c->loop_depth};
    c->open_for = t;
    if (!low || !high || !step || !c->checks) return;
    t->low = size_expand(c->sizes, low);
    t->high = size_expand(c->sizes, high);
    t->direction = facts_prove_order(c->facts, zero, step, 1) ? 1 : facts_prove_order(c->facts, step, zero, 1) ? -1 : 0;
    if (!size_is_const(size_expand(c->sizes, step), &t->step)) t->step = 0;
    t->is_reached = t->direction != 0;
    t->is_open = t->is_reached && !lookahead_prints(c->module, t->body);
    const struct jumps jumps = lookahead_jumps_of_list(t->body);
    t->ends_early = jumps.breaks || jumps.returns;
}

void hoist_leave(struct checker *c, const struct open_for *t) { c->open_for = t->outer; }

void hoist_passed(struct checker *c, struct ast *statement)
{
    if (!c->open_for || !c->open_for->is_reached) return;
    const struct jumps jumps = lookahead_jumps(statement);
    if (jumps.breaks || jumps.continues || jumps.returns || jumps.asserts)
        c->open_for->is_reached = c->open_for->is_open = false;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Is it the same in every iteration, apart from the loop's variable? */
static bool stays(const struct checker *c, const struct size *a, const struct open_for *t)
{
    if (a->kind == SIZE_SYMBOL || a->kind == SIZE_EXTENT) {
        const struct symbol *s = a->symbol;
        if (s == t->i) return true;
        if (s->kind != SYM_CONST && s->kind != SYM_PARAM && s->loop_depth > t->depth) return false;
        if (a->kind == SIZE_SYMBOL && s->kind == SYM_LOOP && s->loop_depth >= t->depth) return false;
        bool is_var = a->kind == SIZE_SYMBOL && s->kind == SYM_VAR;
        /* a struct's scalar changes in many ways */
        if (is_var && (s->decl->kind != AST_VAR || lookahead_assigns(t->body, s->name))) return false;
        if (s->hidden && s->kind == SYM_LET) return false; /* a value that a var had */
    }
    for (int i = 0; i < a->count; i++)
        if (!stays(c, a->arg[i], t)) return false;
    return true;
}

static bool is_linear(struct checker *c, const struct size *a, const struct symbol *i)
{
    struct size_term terms[16];
    if (a->kind == SIZE_ADD && a->count > 16) return false;
    int count = size_terms(c->sizes, a, terms, 16);
    for (int k = 0; k < count; k++) {
        const struct size *mono = terms[k].mono;
        if (!mono || !size_names(mono, i) || (mono->kind == SIZE_SYMBOL && mono->symbol == i)) continue;
        if (mono->kind != SIZE_MUL) return false;
        int times = 0;
        for (int m = 0; m < mono->count; m++) {
            bool is_i = mono->arg[m]->kind == SIZE_SYMBOL && mono->arg[m]->symbol == i;
            if (!is_i && size_names(mono->arg[m], i)) return false;
            times += is_i;
        }
        if (times > 1) return false;
    }
    return true;
}

/* The variable in the last iteration, when there is one. */
static const struct size *last_iteration(struct checker *c, const struct open_for *t)
{
    struct size_table *s = c->sizes;
    const struct size *one = size_const(s, 1), *step, *distance, *before;
    if (t->step == 0 || t->step == INT64_MIN) return NULL;
    if (t->step == 1) return size_sub(s, t->high, one);
    if (t->step == -1) return size_binary(s, SIZE_ADD, t->high, one);
    step = size_const(s, t->step > 0 ? t->step : -t->step);
    distance = t->step > 0 ? size_sub(s, t->high, t->low) : size_sub(s, t->low, t->high);
    before = distance ? size_binary(s, SIZE_DIV, size_sub(s, distance, one), step) : NULL;
    distance = before ? size_binary(s, SIZE_MUL, before, size_const(s, t->step)) : NULL;
    return distance ? size_binary(s, SIZE_ADD, t->low, distance) : NULL;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

struct end {
    const struct size *part[3];           /* a, b, c of a check; c: NULL for an index */
    const struct size *value[MAX_GUARDS]; /* of the variable of each loop that it left, from the innermost; NULL: any */
};

struct outward {
    struct end end[MAX_ENDS];
    int ends;
    const struct open_for *guard[MAX_GUARDS];
    int guards;
};

static bool put(struct checker *c, const struct end *from, const struct open_for *t, const struct size *value,
                struct end *to)
{
    memcpy(to->value, from->value, sizeof to->value);
    for (int k = 0; k < 3; k++) {
        to->part[k] = from->part[k] ? size_substitute(c->sizes, from->part[k], &t->i, &value, 1) : NULL;
        if (from->part[k] && !to->part[k]) return false;
    }
    return true;
}

static bool names(const struct end *x, const struct symbol *i)
{
    for (int k = 0; k < 3; k++)
        if (x->part[k] && size_names(x->part[k], i)) return true;
    return false;
}

/* Out of one more loop; false: it stays where it is. */
static bool step_out(struct checker *c, struct outward *o, const struct open_for *t)
{
    struct outward next = {.guards = o->guards};
    const struct size *last = last_iteration(c, t);
    if (!t->is_reached || o->guards == MAX_GUARDS) return false;
    for (int g = 0; g < o->guards; g++) {
        const struct open_for *inner = next.guard[g] = o->guard[g];
        if (!stays(c, inner->low, t) || !stays(c, inner->high, t) || size_names(inner->low, t->i) ||
            size_names(inner->high, t->i))
            return false;
    }
    for (int i = 0; i < o->ends; i++) {
        struct end *x = &o->end[i];
        for (int k = 0; k < 3; k++)
            if (x->part[k] && (!stays(c, x->part[k], t) || !is_linear(c, x->part[k], t->i))) return false;
        bool varies = names(x, t->i);
        if ((varies && (!last || t->ends_early)) || next.ends + 1 + varies > MAX_ENDS) return false;
        if (!put(c, x, t, varies ? last : t->low, &next.end[next.ends++])) return false;
        if (varies && !put(c, x, t, t->low, &next.end[next.ends++])) return false;
        if (varies)
            next.end[next.ends - 2].value[next.guards] = last, next.end[next.ends - 1].value[next.guards] = t->low;
    }
    next.guard[next.guards++] = t;
    *o = next;
    return true;
}

static bool is_proved(struct checker *c, const struct end *x)
{
    if (!facts_prove(c->facts, x->part[0])) return false;
    if (!x->part[2]) return facts_prove_order(c->facts, x->part[0], x->part[1], 1);
    return facts_prove_order(c->facts, x->part[0], x->part[1], 0) &&
           facts_prove_order(c->facts, x->part[1], x->part[2], 0);
}

static void learn(struct checker *c, const struct end *x)
{
    facts_add(c->facts, x->part[0]);
    facts_add_order(c->facts, x->part[0], x->part[1], x->part[2] ? 0 : 1);
    if (x->part[2]) facts_add_order(c->facts, x->part[1], x->part[2], 0);
}

static const struct guard *make_guards(struct checker *c, const struct outward *o)
{
    struct guard *first = NULL;
    for (int g = 0; g < o->guards; g++) { /* the outermost is asked first */
        const struct open_for *t = o->guard[g];
        struct guard *n = arena_new(c->mem, struct guard);
        n->least = t->direction > 0 ? t->low : t->high;
        n->most = t->direction > 0 ? t->high : t->low;
        n->next = first;
        first = n;
    }
    return first;
}

/* ---- what is wrong in an iteration that surely comes ------------------------------------------------------------- */

/* The bounds are constant, so what is known inside of the loop, such as that it iterates, is not needed to say
 * so. */
static bool iterates(const struct open_for *t)
{
    int64_t low, high;
    return size_is_const(t->low, &low) && size_is_const(t->high, &high) && (t->direction > 0 ? low < high : high < low);
}

static bool is_outside(struct checker *c, const struct end *x)
{
    const struct size *zero = size_const(c->sizes, 0);
    if (facts_prove_order(c->facts, x->part[0], zero, 1)) return true;
    if (!x->part[2]) return facts_prove_order(c->facts, x->part[1], x->part[0], 0);
    return facts_prove_order(c->facts, x->part[2], x->part[1], 1);
}

static void say_outside(struct checker *c, struct span at, const struct outward *o, const struct end *x)
{
    if (x->part[2])
        diag_error(c->diag, DIAG_E05, at, "the slice from %s to %s is out of bounds: the extent is %s",
                   size_str(c, x->part[0]), size_str(c, x->part[1]), size_str(c, x->part[2]));
    else
        diag_error(c->diag, DIAG_E05, at, "index %s is out of bounds: the extent is %s", size_str(c, x->part[0]),
                   size_str(c, x->part[1]));
    for (int g = 0; g < o->guards; g++)
        if (x->value[g])
            diag_note(c->diag, o->guard[g]->i->decl->name_at, "in the iteration where '%s' is %s", o->guard[g]->i->name,
                      size_str(c, x->value[g]));
}

/* Of the ends that have left the innermost o->guards loops. */
static bool find_outside(struct checker *c, struct span at, const struct outward *o)
{
    for (int g = 0; g < o->guards; g++)
        if (!iterates(o->guard[g])) return false;
    for (int i = 0; i < o->ends; i++)
        if (is_outside(c, &o->end[i])) {
            say_outside(c, at, o, &o->end[i]);
            return true;
        }
    return false;
}

enum hoisted hoist_check(struct checker *c, enum check_kind kind, struct span at, const struct size *x,
                         const struct size *y, const struct size *z)
{
    struct outward all = {.end = {{.part = {size_expand(c->sizes, x), size_expand(c->sizes, y),
                                            z ? size_expand(c->sizes, z) : NULL}}},
                          .ends = 1},
                   o;
    const struct open_for *place = NULL;
    bool is_open = true;
    if (!c->checks) return HOIST_NOT;
    for (const struct open_for *t = c->open_for; t && step_out(c, &all, t); t = t->outer) {
        if (find_outside(c, at, &all)) return HOIST_OUTSIDE;
        is_open &= t->is_open;
        if (is_open) place = t, o = all;
    }
    if (!place) return HOIST_NOT;
    const struct guard *guards = make_guards(c, &o);
    size_t mark = facts_mark(c->facts);
    for (const struct guard *g = guards; g; g = g->next) facts_add_order(c->facts, g->least, g->most, 1);
    struct check **to = place->checks;
    for (int i = 0; i < o.ends; i++) {
        if (is_proved(c, &o.end[i])) continue;
        while (*to) to = &(*to)->next;
        struct check *k = *to = arena_new(c->mem, struct check);
        *k = (struct check){.kind = kind,
                            .at = at,
                            .a = o.end[i].part[0],
                            .b = o.end[i].part[1],
                            .c = o.end[i].part[2],
                            .guard = guards};
        learn(c, &o.end[i]);
    }
    facts_reset(c->facts, mark);
    return HOIST_MADE;
}
