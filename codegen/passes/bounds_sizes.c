/* bounds_sizes.c - worst values of symbolic sizes, as far as they can be known before the run.
 * Idea       a size stays symbolic in what the caller of a function says; a loop variable becomes its worst value, a
 *            callee's sizes become the caller's by its arguments.
 * Tests      test/lit/memory/bounds.pto
 */
#include "bounds_parts.h"

const struct size *bounds_unless_large(const struct size *a)
{
    return a && size_node_count(a, MAX_SIZE_NODES) < MAX_SIZE_NODES ? a : NULL;
}

const struct size *bounds_add(struct walk *w, const struct size *a, const struct size *b)
{
    return a && b ? bounds_unless_large(size_binary(w->sizes, SIZE_ADD, a, b)) : NULL;
}

const struct size *bounds_multiply(struct walk *w, const struct size *a, const struct size *b)
{
    return a && b ? bounds_unless_large(size_binary(w->sizes, SIZE_MUL, a, b)) : NULL;
}

const struct size *bounds_larger(struct walk *w, const struct size *a, const struct size *b)
{
    if (!a || !b) return NULL;
    const struct size *difference = size_sub(w->sizes, a, b);
    struct interval r =
        difference ? range_of_size(&w->plan->ranges, difference) : (struct interval){INT64_MIN, INT64_MAX};
    return r.lo >= 0 ? a : r.hi <= 0 ? b : bounds_unless_large(size_binary(w->sizes, SIZE_MAXIMUM, a, b));
}

bool bounds_is_at_most(struct walk *w, const struct size *a, const struct size *b)
{
    const struct size *difference = size_sub(w->sizes, a, b);
    return difference && range_of_size(&w->plan->ranges, difference).hi <= 0;
}

/* The largest (or least) value of a while the loop variable `name` lies in [low, high]; both may be NULL. */
const struct size *bounds_extreme(struct walk *w, const struct size *a, const struct symbol *name,
                                  const struct size *low, const struct size *high, bool largest)
{
    if (!a || !size_names(a, name)) return a;
    if (!bounds_unless_large(a)) return NULL;
    const struct size *arg[2], *r = NULL;
    int64_t c;
    switch (a->kind) {
    case SIZE_SYMBOL: return largest ? high : low;
    case SIZE_ADD:
    case SIZE_MINIMUM:
    case SIZE_MAXIMUM:
        r = bounds_extreme(w, a->arg[0], name, low, high, largest);
        for (int i = 1; i < a->count && r; i++) {
            const struct size *next = bounds_extreme(w, a->arg[i], name, low, high, largest);
            r = !next                     ? NULL
                : a->kind == SIZE_MAXIMUM ? bounds_larger(w, r, next)
                                          : size_binary(w->sizes, a->kind, r, next);
        }
        return r;
    case SIZE_MUL:
        c = 1;
        if (a->arg[0]->kind == SIZE_CONST) c = a->arg[0]->value;
        r = size_const(w->sizes, c);
        for (int i = a->arg[0]->kind == SIZE_CONST; i < a->count && r; i++) {
            const bool is_linear = a->count - (a->arg[0]->kind == SIZE_CONST) == 1;
            if (!is_linear && range_of_size(&w->plan->ranges, a->arg[i]).lo < 0) return NULL;
            r = bounds_multiply(w, r, bounds_extreme(w, a->arg[i], name, low, high, largest == (c >= 0)));
        }
        return r;
    case SIZE_DIV:
    case SIZE_CEIL_DIV:
    case SIZE_SHR:
        if (!size_is_const(a->arg[1], &c) || c <= 0) return NULL;
        arg[0] = bounds_extreme(w, a->arg[0], name, low, high, largest);
        return arg[0] ? size_binary(w->sizes, a->kind, arg[0], a->arg[1]) : NULL;
    case SIZE_MOD:
        if (!largest || !size_is_const(a->arg[1], &c) || c <= 0) return NULL;
        return size_const(w->sizes, c - 1);
    default: return NULL;
    }
}

/* A name whose value nobody knows before the run: its largest value, if it has one. */
const struct size *bounds_without_unknown(struct walk *w, const struct size *a)
{
    if (!a || a->kind == SIZE_CONST) return a;
    if (!bounds_unless_large(a)) return NULL;
    if (a->kind == SIZE_SYMBOL) {
        const struct symbol *s = a->symbol;
        bool known = s->kind == SYM_PARAM || s->kind == SYM_DIM || s->kind == SYM_FORMAL || s->kind == SYM_LOOP ||
                     s->kind == SYM_CONST;
        if (known) return a;
        struct interval r = range_of_size(&w->plan->ranges, a);
        return r.hi < INT64_MAX / 2 && r.lo >= 0 ? bounds_extreme(w, a, s, NULL, size_const(w->sizes, r.hi), true)
                                                 : NULL;
    }
    if (a->count == 0) return NULL; /* what a `var` was, a stride */
    const struct size *r = NULL;
    for (int i = 0; i < a->count; i++) {
        const struct size *arg = bounds_without_unknown(w, a->arg[i]);
        bool is_plain =
            a->kind == SIZE_ADD || a->kind == SIZE_MUL || a->kind == SIZE_MINIMUM || a->kind == SIZE_MAXIMUM;
        if (!arg && a->kind == SIZE_MINIMUM) continue; /* no larger than the others */
        if (!arg || (arg != a->arg[i] && !is_plain) ||
            (arg != a->arg[i] && range_of_size(&w->plan->ranges, a->arg[i]).lo < 0))
            return NULL;
        r = i == 0 || !r ? arg : is_plain ? size_binary(w->sizes, a->kind, r, arg) : a;
        if (!r) return NULL;
    }
    return a->kind == SIZE_ABS || a->kind == SIZE_LOG2 ? a : r;
}

/* Of an extent: a worst value of a product has to know it, and min(64, N - i) does not show it. */
static const struct size *bounds_not_negative(struct walk *w, const struct size *a)
{
    return a && range_of_size(&w->plan->ranges, a).lo < 0
               ? bounds_unless_large(size_binary(w->sizes, SIZE_MAXIMUM, a, size_const(w->sizes, 0)))
               : a;
}

/* Of a whole tensor, in the granules of the heap. */
const struct size *bounds_bytes_of(struct walk *w, const struct type *t)
{
    const struct size *b = size_const(w->sizes, elem_bytes(t->elem)), *granule = size_const(w->sizes, PTO_GRANULE);
    for (int d = 0; d < t->rank; d++) {
        const struct size *extent = t->extent[d] ? size_expand(w->sizes, t->extent[d]) : NULL;
        b = bounds_multiply(w, b, bounds_not_negative(w, extent));
    }
    b = bounds_without_unknown(w, b);
    int64_t factor = b && b->kind == SIZE_MUL && b->arg[0]->kind == SIZE_CONST ? b->arg[0]->value : 0;
    if (!b || (factor > 0 && factor % PTO_GRANULE == 0)) return b;
    const struct size *count = size_binary(w->sizes, SIZE_CEIL_DIV, b, granule);
    return bounds_multiply(w, count, granule);
}

int64_t bounds_round_up(int64_t bytes) { return (bytes + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE; }

/* At least so many bytes, as they are asked for. */
int64_t bounds_least_bytes(struct walk *w, const struct type *t)
{
    const int64_t limit = INT64_MAX / 4;
    int64_t b = elem_bytes(t->elem);
    for (int d = 0; d < t->rank; d++) {
        struct interval r = t->extent[d] ? range_of_size(&w->plan->ranges, t->extent[d]) : (struct interval){0, 0};
        if (r.lo <= 0) return 0;
        if (__builtin_mul_overflow(b, r.lo, &b)) return limit;
    }
    return b < limit ? b : limit;
}

/* Does it name nothing but what the caller of the function says? */
bool bounds_is_of_call(const struct size *a)
{
    if (a->kind == SIZE_SYMBOL)
        return a->symbol->kind == SYM_DIM || a->symbol->kind == SYM_FORMAL || a->symbol->kind == SYM_CONST;
    if (a->kind != SIZE_CONST && a->count == 0) return false;
    for (int i = 0; i < a->count; i++)
        if (!bounds_is_of_call(a->arg[i])) return false;
    return true;
}

/* A lower bound of a whole tensor's granules: in values that the caller gives, or else a constant. */
const struct size *bounds_sure_bytes(struct walk *w, const struct type *t)
{
    const struct size *b = size_const(w->sizes, elem_bytes(t->elem)), *granule = size_const(w->sizes, PTO_GRANULE);
    for (int d = 0; d < t->rank && b; d++) {
        const struct size *extent = t->extent[d] ? size_expand(w->sizes, t->extent[d]) : NULL;
        b = extent && bounds_is_of_call(extent) ? bounds_multiply(w, b, extent) : NULL;
    }
    b = b ? bounds_multiply(w, size_binary(w->sizes, SIZE_CEIL_DIV, b, granule), granule) : NULL;
    return b ? b : size_const(w->sizes, bounds_round_up(bounds_least_bytes(w, t)));
}

/* a of the callee, in the words of the caller; NULL: it cannot be said. */
const struct size *bounds_put_arguments(struct walk *w, const struct call *call, const struct size *a)
{
    enum { MAX = 2 * MAX_FORMALS };
    const struct symbol *callee = call->callee, *from[MAX];
    const struct size *to[MAX];
    int count = 0;
    if (!a) return NULL;
    for (int d = 0; d < callee->dim_count && count < MAX; d++) {
        if (!size_names(a, callee->dims[d])) continue;
        if (!call->dims[d]) return NULL;
        from[count] = callee->dims[d];
        to[count++] = bounds_not_negative(w, call->dims[d]);
        if (!to[count - 1]) return NULL;
    }
    for (int f = 0; f < callee->formal_count && count < MAX; f++) {
        if (!size_names(a, callee->formals[f])) continue;
        if (!call->values[f] || !call->values[f]->value) return NULL;
        from[count] = callee->formals[f];
        to[count++] = call->values[f]->value;
    }
    const struct size *r = count > 0 ? size_substitute(w->sizes, a, from, to, count) : a;
    return r ? size_expand(w->sizes, r) : NULL;
}

const struct size *bounds_in_caller(struct walk *w, const struct call *call, const struct size *a)
{
    return bounds_without_unknown(w, bounds_put_arguments(w, call, a));
}
