/* steps.c - every s-th index of a dimension: which indices a piece has, and whether two pieces share one.
 * Idea       a dimension of a piece is an arithmetic progression in the base's own coordinates.  Two of them have
 *            nothing in common where their ranges are apart, or where the difference of two of their elements is no
 *            multiple of a number that divides both steps.
 * Invariant  low and span say the range in which the indices lie, and low is one of them, with every step whose sign is
 *            known; "apart" and "meet" are never wrong, and neither is said where nothing is known.
 * Tests      test/lit/sema/steps*.pto
 */
#include "checker.h"

static const struct size *zero(struct checker *c) { return size_const(c->sizes, 0); }
static const struct size *one(struct checker *c) { return size_const(c->sizes, 1); }

int steps_sign(struct checker *c, const struct size *a)
{
    int64_t value;
    if (size_is_const(size_expand(c->sizes, a), &value)) return (value > 0) - (value < 0);
    return facts_prove_order(c->facts, zero(c), a, 1) ? 1 : facts_prove_order(c->facts, a, zero(c), 1) ? -1 : 0;
}

static bool is_one(struct checker *c, const struct size *a)
{
    int64_t value;
    return size_is_const(size_expand(c->sizes, a), &value) && value == 1;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static void set_step(struct checker *c, struct region *r, int b, const struct size *first, const struct size *step)
{
    if (!step && (!r->steps || !r->steps->step[b])) return;
    struct steps *steps = arena_new(c->mem, struct steps);
    bool any = step != NULL;
    if (r->steps) *steps = *r->steps;
    steps->first[b] = step ? first : NULL;
    steps->step[b] = step;
    for (int d = 0; d < r->base_rank && !any; d++) any = steps->step[d] != NULL;
    r->steps = any ? steps : NULL;
}

void steps_narrow(struct checker *c, struct region *r, int b, const struct index_range *index)
{
    if (b < 0) { /* it has no dimension of the base */
        r->is_part = true;
        return;
    }
    const struct size *before = r->steps ? r->steps->step[b] : NULL, *low = index->low;
    const struct size *first =
        before ? region_plus(c, r->steps->first[b], region_times(c, low, before)) : region_plus(c, r->low[b], low);
    const struct size *step = !index->step ? before : before ? region_times(c, before, index->step) : index->step;
    if (!step || !index->width || is_one(c, index->width)) {
        r->low[b] = first;
        r->span[b] = index->width ? index->width : one(c);
        set_step(c, r, b, NULL, NULL);
        return;
    }
    const int sign = steps_sign(c, step);
    const struct size *steps_taken = region_plus(c, index->width, size_const(c->sizes, -1));
    const struct size *reach = region_times(c, steps_taken, step), *length = reach;
    r->low[b] = first;
    if (sign < 0) {
        r->low[b] = region_plus(c, first, reach);
        length = size_scale(c->sizes, reach, -1);
    } else if (sign == 0) {
        const struct size *down = size_binary(c->sizes, SIZE_MINIMUM, reach, zero(c));
        r->low[b] = region_plus(c, first, down ? down : reach);
        length = region_times(c, steps_taken, size_unary(c->sizes, SIZE_ABS, step));
    }
    r->span[b] = region_plus(c, length ? length : reach, one(c));
    set_step(c, r, b, first, step);
}

/* ---- two pieces -------------------------------------------------------------------------------------------------- */

/* The indices of one dimension: those in [low, end) that are `first` and a multiple of `step`, which is positive.
 * NULL: all of them. */
struct progression {
    const struct size *low, *end, *first, *step;
    bool is_known; /* false: it has some of them */
    bool is_single;
};

static struct progression progression_of(struct checker *c, const struct region *r, int b)
{
    struct progression p = {.low = r->low[b], .end = region_plus(c, r->low[b], r->span[b]), .first = r->low[b]};
    const struct size *step = r->steps ? r->steps->step[b] : NULL;
    p.is_known = true;
    p.is_single = is_one(c, r->span[b]);
    if (!step) return p;
    const int sign = steps_sign(c, step);
    p.first = r->steps->first[b];
    p.is_known = sign != 0;
    p.step = size_expand(c->sizes, sign < 0 ? size_scale(c->sizes, step, -1) : step);
    if (is_one(c, p.step)) p.step = NULL;
    return p;
}

static int64_t divisor_of(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* A number that divides the distance of any two elements of both; NULL: only 1 is known to. */
static const struct size *common_divisor(struct checker *c, const struct progression *x, const struct progression *y)
{
    int64_t m, n;
    if ((!x->step && !x->is_single) || (!y->step && !y->is_single)) return NULL;
    if (x->is_single || x->step == y->step) return y->step;
    if (y->is_single) return x->step;
    if (size_is_const(x->step, &m) && size_is_const(y->step, &n) && divisor_of(m, n) > 1)
        return size_const(c->sizes, divisor_of(m, n));
    return NULL;
}

static bool has_factor(const struct size *mono, const struct size *factor)
{
    if (mono == factor) return true;
    for (int i = 0; mono && mono->kind == SIZE_MUL && i < mono->count; i++)
        if (mono->arg[i] == factor) return true;
    return false;
}

/* a, less some multiples of g.  NULL: a number is too large. */
static const struct size *reduce(struct checker *c, const struct size *a, const struct size *g)
{
    enum { MAX_TERMS = 16, MAX_ROUNDS = 4 };
    struct size_table *t = c->sizes;
    int64_t by = 0, modulus;
    const bool is_const = size_is_const(g, &by);
    for (int round = 0; round < MAX_ROUNDS && a; round++) {
        struct size_term terms[MAX_TERMS];
        const struct size *sum = zero(c);
        bool again = false;
        a = size_expand(t, a);
        if (a->kind == SIZE_ADD && a->count > MAX_TERMS) return a;
        const int count = size_terms(t, a, terms, MAX_TERMS);
        for (int i = 0; i < count && sum; i++) {
            const struct size *mono = terms[i].mono;
            const int64_t factor = is_const ? terms[i].factor % by : terms[i].factor;
            if (factor == 0 || (!is_const && mono && has_factor(mono, g))) continue;
            if (mono && mono->kind == SIZE_MOD &&
                (mono->arg[1] == g || (is_const && size_is_const(mono->arg[1], &modulus) && modulus % by == 0))) {
                mono = mono->arg[0];
                again = true;
            }
            const struct size *term = size_scale(t, mono ? mono : one(c), factor);
            sum = term ? size_binary(t, SIZE_ADD, sum, term) : NULL;
        }
        a = sum;
        if (!again) break;
    }
    return a;
}

/* Proved: no multiple of g, which is positive. */
static bool is_no_multiple(struct checker *c, const struct size *a, const struct size *g)
{
    int64_t value, by;
    a = a ? reduce(c, a, g) : NULL;
    if (!a) return false;
    if (size_is_const(a, &value) && (value == 0 || size_is_const(g, &by))) return value != 0;
    const struct size *back = size_scale(c->sizes, a, -1);
    return (facts_prove_order(c->facts, zero(c), a, 1) && facts_prove_order(c->facts, a, g, 1)) ||
           (back && facts_prove_order(c->facts, zero(c), back, 1) && facts_prove_order(c->facts, back, g, 1));
}

static bool all_const(struct checker *c, const struct progression *p, __int128 *low, __int128 *end, __int128 *step)
{
    int64_t a, b, s = 1;
    if (!p->is_known || !size_is_const(size_expand(c->sizes, p->low), &a) ||
        !size_is_const(size_expand(c->sizes, p->end), &b) || (p->step && !size_is_const(p->step, &s)))
        return false;
    *low = a;
    *end = b;
    *step = s;
    return true;
}

/* 1: they share an index, 0: they do not, -1: not all is constant.  The first common element of two progressions lies
 * within one step of the one in steps of the other from the larger beginning. */
static int share_const(struct checker *c, const struct progression *x, const struct progression *y)
{
    __int128 low, end, step, low2, end2, step2;
    if (!all_const(c, x, &low, &end, &step) || !all_const(c, y, &low2, &end2, &step2)) return -1;
    if (step < step2) { /* the longer steps are counted */
        const __int128 l = low, e = end, s = step;
        low = low2, end = end2, step = step2;
        low2 = l, end2 = e, step2 = s;
    }
    if (low < low2) low += (low2 - low + step - 1) / step * step;
    if (end2 < end) end = end2;
    enum { MAX_TRIED = 4096 };
    for (int64_t tried = 0; low < end && tried < step2; tried++, low += step) {
        if ((low - low2) % step2 == 0) return 1;
        if (tried == MAX_TRIED) return -1;
    }
    return 0;
}

bool steps_apart(struct checker *c, const struct region *x, const struct region *y, int b)
{
    const struct progression p = progression_of(c, x, b), q = progression_of(c, y, b);
    if (facts_prove_order(c->facts, p.end, q.low, 0) || facts_prove_order(c->facts, q.end, p.low, 0)) return true;
    if (!p.step && !q.step) return false;
    if (share_const(c, &p, &q) == 0) return true;
    const struct size *g = p.is_known && q.is_known ? common_divisor(c, &p, &q) : NULL;
    return g && is_no_multiple(c, size_sub(c->sizes, p.first, q.first), g);
}

static bool is_within(struct checker *c, const struct size *index, const struct progression *p)
{
    return facts_prove_order(c->facts, p->low, index, 0) && facts_prove_order(c->facts, index, p->end, 1);
}

bool steps_meet(struct checker *c, const struct region *x, const struct region *y, int b)
{
    const struct progression p = progression_of(c, x, b), q = progression_of(c, y, b);
    if (!p.is_known || !q.is_known) return false;
    if (!p.step && !q.step)
        return facts_prove_order(c->facts, p.low, q.end, 1) && facts_prove_order(c->facts, q.low, p.end, 1);
    if (share_const(c, &p, &q) == 1 || steps_equal(c, x, y, b)) return true;
    if (p.step && q.step) return false;
    const struct progression *all = p.step ? &q : &p, *some = p.step ? &p : &q;
    const struct size *last = size_sub(c->sizes, some->end, one(c));
    return is_within(c, some->low, all) || (last && is_within(c, last, all));
}

bool steps_equal(struct checker *c, const struct region *x, const struct region *y, int b)
{
    struct size_table *t = c->sizes;
    if (size_expand(t, x->low[b]) != size_expand(t, y->low[b]) ||
        size_expand(t, x->span[b]) != size_expand(t, y->span[b]))
        return false;
    if (!x->steps && !y->steps) return true;
    const struct progression p = progression_of(c, x, b), q = progression_of(c, y, b);
    if (p.step != q.step || p.is_known != q.is_known) return false;
    return p.is_known || size_expand(t, p.first) == size_expand(t, q.first);
}

bool steps_leave_out(struct checker *c, const struct region *r, int b, const struct size *i)
{
    const struct progression p = progression_of(c, r, b);
    if (facts_prove_order(c->facts, i, p.low, 1) || facts_prove_order(c->facts, p.end, i, 0)) return true;
    return p.step && p.is_known && is_no_multiple(c, size_sub(c->sizes, i, p.first), p.step);
}
