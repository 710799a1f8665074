/* bounds.c - how much heap must there be, and how much can be held at once?
 * Needs lifetimes (plan->ends, plan->blocks), calls, symbolic sizes.  Gives plan->bounds.  Look: ptoc build
 * --emit=bounds
 * Method one walk over each function in the order in which it submits.  The state says which tensors may, and which
 * must, be
 *        held; every allocation is a point: what is held there and what is new.  The largest points are kept, as
 *        symbolic sizes: a loop variable becomes its worst value behind its loop, a callee's points become the caller's
 *        by its arguments.
 *
 * Note [waiting frees]: a task that was submitted ends without anything from the orchestrator.  So where memory is
 * short, waiting frees everything whose lifetime has ended, and only what open scopes hold counts.  `need` is that,
 * from above: the least heap with which every path completes.  `sure` is from below: what must be held at a point,
 * whenever it is reached.  Each buffer counts with the granules that the heap gives it.  `peak` is the sum of all that
 * is ever allocated: no task may have ended.  For a loop of unknown trip count it gives the bytes that an iteration
 * adds.
 *
 * Note [gaps]: a buffer lies in one piece.  Between n held ones there are at most n + 1 gaps, each a multiple of g, the
 * greatest common divisor of all sizes.  While none of them has room for s bytes, no more than (n + 1) * (s - g) are
 * free.  So a heap of what is held plus (n + 1) * (s - g) + g has room, whatever happened before; where all buffers
 * have one size that is no more than `need`.
 */
#include "bounds.h"
#include "frames.h"
#include "support/arena.h"
#include <string.h>

enum {
    MAY = 1,
    MUST = 2,
    MAX_POINTS = 6,
    /* steps for one function: each level of loops is walked twice, and states are copied at every branch */
    MAX_WORK = 200000,
    MAX_CALL_DEPTH = 256,
    MAX_SIZE_NODES = 300 /* a size of more is `not known`: nobody could read it, and walking it can take for ever */
};

struct state {
    unsigned char *held;    /* by tensor number: MAY, MUST */
    const struct size *may; /* bytes; NULL: not known */
    int64_t must;
    const struct size *must_of_call; /* the same in what the caller says, where that is known; see sure_bytes */
    int buffers;
    bool dead; /* no path comes here */
};

struct loop {
    struct loop *parent;
    struct state leaves, again;   /* what break and continue carry */
    const struct size *condition; /* bytes that it allocates, of a `while` */
};

struct walk {
    struct plan *plan;
    struct size_table *sizes;
    struct function_bounds *out;
    const struct symbol *function;
    VEC(const struct symbol *) tensors;
    struct ptrmap numbers; /* tensor -> 1 + its number, as a pointer */
    /* scopes around the statement at hand, the function first; each with what was held at its start */
    VEC(struct bound *) open;
    VEC(const struct size *) start;
    struct loop *loop;
    struct state *now;
    int jumps, returns; /* seen so far */
    bool silent;        /* only the state counts */
    long work;          /* steps left; none: nothing is known about the function */
    bool is_certain;    /* each call of the function comes here */
    bool has_place;     /* the caller has a place for the result */
};

/* ---- sizes, where NULL is `not known` ---- */

static const struct size *unless_large(const struct size *a)
{
    return a && size_node_count(a, MAX_SIZE_NODES) < MAX_SIZE_NODES ? a : NULL;
}

static const struct size *add(struct walk *w, const struct size *a, const struct size *b)
{
    return a && b ? unless_large(size_binary(w->sizes, SIZE_ADD, a, b)) : NULL;
}

static const struct size *multiply(struct walk *w, const struct size *a, const struct size *b)
{
    return a && b ? unless_large(size_binary(w->sizes, SIZE_MUL, a, b)) : NULL;
}

static const struct size *larger(struct walk *w, const struct size *a, const struct size *b)
{
    if (!a || !b) return NULL;
    const struct size *difference = size_sub(w->sizes, a, b);
    struct interval r = difference ? range_of_size(w->plan, difference) : (struct interval){INT64_MIN, INT64_MAX};
    return r.lo >= 0 ? a : r.hi <= 0 ? b : unless_large(size_binary(w->sizes, SIZE_MAXIMUM, a, b));
}

static bool is_at_most(struct walk *w, const struct size *a, const struct size *b)
{
    const struct size *difference = size_sub(w->sizes, a, b);
    return difference && range_of_size(w->plan, difference).hi <= 0;
}

/* The largest (or least) value of a while the loop variable `name` lies in [low, high]; both may be NULL. */
static const struct size *extreme(struct walk *w, const struct size *a, const struct symbol *name,
                                  const struct size *low, const struct size *high, bool largest)
{
    if (!a || !size_names(a, name)) return a;
    if (!unless_large(a)) return NULL;
    const struct size *arg[2], *r = NULL;
    int64_t c;
    switch (a->kind) {
    case SIZE_SYMBOL: return largest ? high : low;
    case SIZE_ADD:
    case SIZE_MINIMUM:
    case SIZE_MAXIMUM:
        r = extreme(w, a->arg[0], name, low, high, largest);
        for (int i = 1; i < a->count && r; i++) {
            const struct size *next = extreme(w, a->arg[i], name, low, high, largest);
            r = !next ? NULL : a->kind == SIZE_MAXIMUM ? larger(w, r, next) : size_binary(w->sizes, a->kind, r, next);
        }
        return r;
    case SIZE_MUL:
        c = 1;
        if (a->arg[0]->kind == SIZE_CONST) c = a->arg[0]->value;
        r = size_const(w->sizes, c);
        for (int i = a->arg[0]->kind == SIZE_CONST; i < a->count && r; i++) {
            const bool is_linear = a->count - (a->arg[0]->kind == SIZE_CONST) == 1;
            if (!is_linear && range_of_size(w->plan, a->arg[i]).lo < 0) return NULL;
            r = multiply(w, r, extreme(w, a->arg[i], name, low, high, largest == (c >= 0)));
        }
        return r;
    case SIZE_DIV:
    case SIZE_CEIL_DIV:
    case SIZE_SHR:
        if (!size_is_const(a->arg[1], &c) || c <= 0) return NULL;
        arg[0] = extreme(w, a->arg[0], name, low, high, largest);
        return arg[0] ? size_binary(w->sizes, a->kind, arg[0], a->arg[1]) : NULL;
    case SIZE_MOD:
        if (!largest || !size_is_const(a->arg[1], &c) || c <= 0) return NULL;
        return size_const(w->sizes, c - 1);
    default: return NULL;
    }
}

/* A name whose value nobody knows before the run: its largest value, if it has one. */
static const struct size *without_unknown(struct walk *w, const struct size *a)
{
    if (!a || a->kind == SIZE_CONST) return a;
    if (!unless_large(a)) return NULL;
    if (a->kind == SIZE_SYMBOL) {
        const struct symbol *s = a->symbol;
        bool known = s->kind == SYM_PARAM || s->kind == SYM_DIM || s->kind == SYM_FORMAL || s->kind == SYM_LOOP ||
                     s->kind == SYM_CONST;
        if (known) return a;
        struct interval r = range_of_size(w->plan, a);
        return r.hi < INT64_MAX / 2 && r.lo >= 0 ? extreme(w, a, s, NULL, size_const(w->sizes, r.hi), true) : NULL;
    }
    if (a->count == 0) return NULL; /* what a `var` was, a stride */
    const struct size *r = NULL;
    for (int i = 0; i < a->count; i++) {
        const struct size *arg = without_unknown(w, a->arg[i]);
        bool is_plain =
            a->kind == SIZE_ADD || a->kind == SIZE_MUL || a->kind == SIZE_MINIMUM || a->kind == SIZE_MAXIMUM;
        if (!arg && a->kind == SIZE_MINIMUM) continue; /* no larger than the others */
        if (!arg || (arg != a->arg[i] && !is_plain) || (arg != a->arg[i] && range_of_size(w->plan, a->arg[i]).lo < 0))
            return NULL;
        r = i == 0 || !r ? arg : is_plain ? size_binary(w->sizes, a->kind, r, arg) : a;
        if (!r) return NULL;
    }
    return a->kind == SIZE_ABS || a->kind == SIZE_LOG2 ? a : r;
}

/* Of an extent: a worst value of a product has to know it, and min(64, N - i) does not show it. */
static const struct size *not_negative(struct walk *w, const struct size *a)
{
    return a && range_of_size(w->plan, a).lo < 0
               ? unless_large(size_binary(w->sizes, SIZE_MAXIMUM, a, size_const(w->sizes, 0)))
               : a;
}

/* Of a whole tensor, in the granules of the heap. */
static const struct size *bytes_of(struct walk *w, const struct type *t)
{
    const struct size *b = size_const(w->sizes, elem_bytes(t->elem)), *granule = size_const(w->sizes, PTO_GRANULE);
    for (int d = 0; d < t->rank; d++) {
        const struct size *extent = t->extent[d] ? size_expand(w->sizes, t->extent[d]) : NULL;
        b = multiply(w, b, not_negative(w, extent));
    }
    b = without_unknown(w, b);
    int64_t factor = b && b->kind == SIZE_MUL && b->arg[0]->kind == SIZE_CONST ? b->arg[0]->value : 0;
    if (!b || (factor > 0 && factor % PTO_GRANULE == 0)) return b;
    const struct size *count = size_binary(w->sizes, SIZE_CEIL_DIV, b, granule);
    return multiply(w, count, granule);
}

static int64_t round_up(int64_t bytes) { return (bytes + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE; }

/* At least so many bytes, as they are asked for. */
static int64_t least_bytes(struct walk *w, const struct type *t)
{
    const int64_t limit = INT64_MAX / 4;
    int64_t b = elem_bytes(t->elem);
    for (int d = 0; d < t->rank; d++) {
        struct interval r = t->extent[d] ? range_of_size(w->plan, t->extent[d]) : (struct interval){0, 0};
        if (r.lo <= 0) return 0;
        if (__builtin_mul_overflow(b, r.lo, &b)) return limit;
    }
    return b < limit ? b : limit;
}

/* Does it name nothing but what the caller of the function says? */
static bool is_of_call(const struct size *a)
{
    if (a->kind == SIZE_SYMBOL)
        return a->symbol->kind == SYM_DIM || a->symbol->kind == SYM_FORMAL || a->symbol->kind == SYM_CONST;
    if (a->kind != SIZE_CONST && a->count == 0) return false;
    for (int i = 0; i < a->count; i++)
        if (!is_of_call(a->arg[i])) return false;
    return true;
}

/* Of a whole tensor in granules, from below: in what the caller says, or else what it surely has. */
static const struct size *sure_bytes(struct walk *w, const struct type *t)
{
    const struct size *b = size_const(w->sizes, elem_bytes(t->elem)), *granule = size_const(w->sizes, PTO_GRANULE);
    for (int d = 0; d < t->rank && b; d++) {
        const struct size *extent = t->extent[d] ? size_expand(w->sizes, t->extent[d]) : NULL;
        b = extent && is_of_call(extent) ? multiply(w, b, extent) : NULL;
    }
    b = b ? multiply(w, size_binary(w->sizes, SIZE_CEIL_DIV, b, granule), granule) : NULL;
    return b ? b : size_const(w->sizes, round_up(least_bytes(w, t)));
}

/* ---- states ---- */

static struct state copy_state(struct walk *w, const struct state *s)
{
    struct state r = *s;
    w->work -= 1 + (long)w->tensors.count / 16;
    r.held = arena_array(w->plan->mem, unsigned char, w->tensors.count + 1);
    memcpy(r.held, s->held, w->tensors.count);
    return r;
}

static struct state nowhere(struct walk *w)
{
    return (struct state){.held = arena_array(w->plan->mem, unsigned char, w->tensors.count + 1),
                          .may = size_const(w->sizes, 0),
                          .must_of_call = size_const(w->sizes, 0),
                          .dead = true};
}

static void change(struct walk *w, struct state *s, size_t n, unsigned char held)
{
    const struct type *t = w->tensors.data[n]->type;
    const struct size *bytes = bytes_of(w, t);
    unsigned char before = s->held[n];
    if ((held & MAY) && !(before & MAY)) s->may = add(w, s->may, bytes), s->buffers++;
    if (!(held & MAY) && (before & MAY))
        s->may = s->may && bytes ? size_sub(w->sizes, s->may, bytes) : NULL, s->buffers--;
    if ((held & MUST) && !(before & MUST)) s->must += round_up(least_bytes(w, t));
    if (!(held & MUST) && (before & MUST)) s->must -= round_up(least_bytes(w, t));
    if ((held ^ before) & MUST && s->must_of_call)
        s->must_of_call = unless_large(held & MUST ? size_binary(w->sizes, SIZE_ADD, s->must_of_call, sure_bytes(w, t))
                                                   : size_sub(w->sizes, s->must_of_call, sure_bytes(w, t)));
    s->held[n] = held;
}

/* into = into or other */
static void join(struct walk *w, struct state *into, const struct state *other)
{
    if (other->dead) return;
    if (into->dead) {
        memcpy(into->held, other->held, w->tensors.count);
        into->may = other->may, into->must = other->must, into->must_of_call = other->must_of_call;
        into->buffers = other->buffers, into->dead = false;
        return;
    }
    for (size_t n = 0; n < w->tensors.count; n++) {
        unsigned char a = into->held[n], b = other->held[n];
        if (a != b) change(w, into, n, ((a | b) & MAY) | (a & b & MUST));
    }
}

static void hold(struct walk *w, const struct symbol *t, unsigned char held)
{
    size_t n = (size_t)(uintptr_t)ptrmap_get(&w->numbers, t);
    if (n > 0) change(w, w->now, n - 1, held);
}

static unsigned char is_held(const struct walk *w, const struct symbol *t)
{
    size_t n = (size_t)(uintptr_t)ptrmap_get(&w->numbers, t);
    return n > 0 ? w->now->held[n - 1] : 0;
}

/* ---- points ---- */

/* Can a never be what counts, because b is? */
static bool is_covered(struct walk *w, const struct need_point *a, const struct need_point *b, bool gaps)
{
    return is_at_most(w, a->bytes, b->bytes) && (!gaps || is_at_most(w, a->fresh, b->fresh));
}

static void keep_point(struct walk *w, struct bound *b, struct need_point p, bool gaps)
{
    if (!p.bytes || !p.fresh) {
        if (!b->unknown) b->unknown = p.at;
        return;
    }
    for (int i = 0; i < b->point_count; i++) {
        if (is_covered(w, &p, &b->point[i], gaps)) return;
        if (is_covered(w, &b->point[i], &p, gaps)) {
            b->point[i] = b->point[--b->point_count];
            i--;
        }
    }
    if (b->point_count < MAX_POINTS) {
        b->point[b->point_count++] = p;
        return;
    }
    struct need_point *last = &b->point[MAX_POINTS - 1];
    last->bytes = size_binary(w->sizes, SIZE_MAXIMUM, last->bytes, p.bytes);
    last->fresh = size_binary(w->sizes, SIZE_MAXIMUM, last->fresh, p.fresh);
    if (p.buffers > last->buffers) last->buffers = p.buffers;
}

static void note_worst(struct walk *w, struct sure_point p)
{
    for (size_t n = 0; n < w->tensors.count; n++) {
        if (!(w->now->held[n] & MUST)) continue;
        const struct symbol *t = w->tensors.data[n];
        const int64_t bytes = round_up(least_bytes(w, t->type));
        if (bytes <= p.largest_bytes) continue;
        p.largest = t;
        p.largest_bytes = bytes;
    }
    w->out->worst = p;
}

/* n * (fresh - g), see Note [gaps]. */
static const struct size *gaps(struct walk *w, int n, const struct size *fresh)
{
    const struct size *gap = fresh ? size_sub(w->sizes, fresh, size_const(w->sizes, w->plan->granule)) : NULL;
    return gap ? size_scale(w->sizes, gap, n) : NULL;
}

/* Every call of the function comes here, and then `bytes` more than is held are needed. */
static void note_sure_of_call(struct walk *w, const struct size *bytes)
{
    struct function_bounds *f = w->out;
    const struct size *all = w->silent || w->now->dead || !w->is_certain ? NULL : add(w, w->now->must_of_call, bytes);
    if (!all || all->kind == SIZE_CONST) return; /* a number is in f->sure */
    for (int i = 0; i < f->sure_count; i++) {
        if (is_at_most(w, all, f->sure_of_call[i])) return;
        if (is_at_most(w, f->sure_of_call[i], all)) f->sure_of_call[i--] = f->sure_of_call[--f->sure_count];
    }
    if (f->sure_count < (int)(sizeof f->sure_of_call / sizeof *f->sure_of_call)) f->sure_of_call[f->sure_count++] = all;
}

/* p stands beside what is held; at least `surely` bytes of it are new. */
static void note_point(struct walk *w, struct need_point p, int64_t surely)
{
    const struct state *now = w->now;
    if (w->silent || now->dead) return;
    const struct size *all = add(w, now->may, p.bytes);
    for (size_t i = 0; i < w->open.count; i++) {
        const struct size *own = all && w->start.data[i] ? size_sub(w->sizes, all, w->start.data[i]) : NULL;
        keep_point(w, w->open.data[i], (struct need_point){own, p.fresh, p.at, now->buffers + p.buffers}, false);
    }
    const int64_t sure = now->must + surely;
    if (w->is_certain && sure > w->out->sure) w->out->sure = sure;
    if (sure > w->out->worst.bytes) note_worst(w, (struct sure_point){.bytes = sure, .fresh = surely, .at = p.at});
}

/* The same with room for the gaps: p.bytes has it for what p itself holds. */
static void note_safe(struct walk *w, struct need_point p)
{
    const struct state *now = w->now;
    if (w->silent || now->dead) return;
    const struct size *bytes = add(w, add(w, now->may, p.bytes), gaps(w, now->buffers, p.fresh));
    keep_point(w, &w->out->safe, (struct need_point){bytes, p.fresh, p.at, now->buffers + p.buffers}, true);
}

static void note_new(struct walk *w, const struct symbol *t, const struct ast *at)
{
    unsigned char before = is_held(w, t);
    if (before & MUST) return;
    const struct size *bytes = bytes_of(w, t->type);
    const int64_t least = least_bytes(w, t->type);
    if (!(before & MAY)) {
        note_point(w, (struct need_point){bytes, bytes, at, 0}, round_up(least));
        note_sure_of_call(w, sure_bytes(w, t->type));
        note_safe(w, (struct need_point){bytes, bytes, at, 0});
    }
    hold(w, t, MAY | MUST);
    if (w->silent || w->now->dead || least <= w->out->one_bytes) return;
    w->out->one_bytes = least;
    w->out->one = t;
    w->out->one_at = at;
}

/* The result counts where the function makes it, and its caller has no place for it. */
static const struct symbol *storage_of(const struct walk *w, const struct symbol *base)
{
    if (base->place) return w->has_place ? NULL : base->place;
    return base->kind == SYM_LET && tensor_is_new(base) && !slot_of(w->plan, base) ? base : NULL;
}

/* ---- calls ---- */

/* a of the callee, in the words of the caller; NULL: it cannot be said. */
static const struct size *put_arguments(struct walk *w, const struct call *call, const struct size *a)
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
        to[count++] = not_negative(w, call->dims[d]);
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

static const struct size *in_caller(struct walk *w, const struct call *call, const struct size *a)
{
    return without_unknown(w, put_arguments(w, call, a));
}

/* What a call makes as its result: a tensor, or those of a struct; without what lies in a place of the caller's. */
struct results {
    VEC(const struct symbol *) made;
    bool has_place; /* it is there already; of a struct at least a part: so much less may be surely needed */
    bool has_all;   /* every part is there */
};

static void add_result(struct walk *w, struct results *r, const struct symbol *base)
{
    const struct symbol *t = storage_of(w, base);
    if (!t) return;
    const bool is_there = (is_held(w, t) & MUST) != 0;
    vec_push(&r->made, t);
    r->has_place |= is_there;
    r->has_all &= is_there;
}

static struct results results_of(struct walk *w, const struct call *call)
{
    struct results r = {.has_all = true};
    for (int i = 0; i < call->result_leaves.count; i++)
        if (call->result_leaves.leaf[i].region) add_result(w, &r, call->result_leaves.leaf[i].region->base);
    if (call->result_leaves.count == 0 && call->result_symbol)
        add_result(w, &r, call->result_symbol);
    else if (call->result_leaves.count == 0 && call->destination)
        add_result(w, &r, call->destination->base);
    r.has_place |= r.made.count == 0;
    return r;
}

/* What this call of it surely needs. */
static int64_t note_sure_of_callee(struct walk *w, const struct call *call, const struct function_bounds *f)
{
    int64_t sure = f->sure;
    if (sure > 0) note_sure_of_call(w, size_const(w->sizes, sure));
    for (int i = 0; i < f->sure_count; i++) {
        const struct size *bytes = put_arguments(w, call, f->sure_of_call[i]);
        const int64_t least = bytes ? range_of_size(w->plan, bytes).lo : 0;
        if (least > sure) sure = least < INT64_MAX / 4 ? least : INT64_MAX / 4;
        if (bytes && is_of_call(bytes)) note_sure_of_call(w, bytes);
    }
    return sure;
}

/* least: what every call of it needs. */
static void note_callee(struct walk *w, const struct ast *n, const struct call *call, struct function_bounds *f,
                        const struct function_bounds *least)
{
    const struct need_point unknown = {.at = n};
    const int64_t sure = least ? note_sure_of_callee(w, call, least) : 0;
    if (!f) { /* it calls itself */
        note_point(w, unknown, 0);
        note_safe(w, unknown);
        if (!w->out->recursive) w->out->recursive = n;
        w->out->level = w->out->level ? larger(w, w->out->level, w->now->may) : w->now->may;
        return;
    }
    for (int i = 0; i < f->whole.point_count; i++) {
        const struct need_point p = f->whole.point[i];
        note_point(w, (struct need_point){in_caller(w, call, p.bytes), in_caller(w, call, p.fresh), n, p.buffers},
                   i == 0 ? sure : 0);
    }
    for (int i = 0; i < f->safe.point_count; i++) {
        const struct need_point p = f->safe.point[i];
        note_safe(w, (struct need_point){in_caller(w, call, p.bytes), in_caller(w, call, p.fresh), n, p.buffers});
    }
    if (f->whole.unknown) note_point(w, unknown, f->whole.point_count == 0 ? sure : 0);
    if (f->safe.unknown) note_safe(w, unknown);
    if (f->recursive && !w->out->recursive) w->out->recursive = n;
}

static void note_iteration(struct walk *w, const struct ast *loop, const struct size *bytes)
{
    struct function_bounds *f = w->out;
    if (w->silent) return;
    for (size_t i = 0; i < f->iterations.count; i++)
        if (f->iterations.data[i].loop == loop) {
            f->iterations.data[i].bytes = larger(w, f->iterations.data[i].bytes, bytes);
            return;
        }
    vec_push(&f->iterations, ((struct iteration_bound){loop, bytes}));
}

static void note_iterations_of(struct walk *w, const struct call *call, const struct function_bounds *f)
{
    for (size_t i = 0; f && i < f->iterations.count; i++)
        note_iteration(w, f->iterations.data[i].loop, in_caller(w, call, f->iterations.data[i].bytes));
}

static const struct size *walk_expr(struct walk *w, struct ast *n);

static void end_lifetimes(struct walk *w, const symbol_list *list)
{
    for (size_t i = 0; i < list->count; i++) hold(w, list->data[i], 0);
}

/* Everything below is a walk that gives the bytes ever allocated. */
static const struct size *walk_call(struct walk *w, struct ast *n, const struct call *call)
{
    const struct symbol *callee = call->callee;
    const struct size *total = size_const(w->sizes, 0);
    for (struct ast *a = n->call.args; a; a = a->next) total = add(w, total, walk_expr(w, a->arg.value));
    struct results r = results_of(w, call);
    if (callee->kind == SYM_ORCH) {
        struct function_bounds *f = bounds_of(w->plan, callee, r.has_all);
        const struct function_bounds *least = r.has_all ? f : bounds_of(w->plan, callee, r.has_place);
        total = add(w, total, f ? in_caller(w, call, f->peak) : NULL);
        note_iterations_of(w, call, f);
        note_callee(w, n, call, f, least);
        for (size_t i = 0; i < r.made.count; i++) hold(w, r.made.data[i], MAY | MUST);
        for (int i = 0; i < callee->formal_count; i++) {
            if (callee->formals[i]->dir != DIR_OWN) continue;
            if (call->regions[i]) hold(w, call->regions[i]->base, 0);
            for (int k = 0; k < call->leaves[i].count; k++)
                if (call->leaves[i].leaf[k].region) hold(w, call->leaves[i].leaf[k].region->base, 0);
        }
    } else {
        /* All outputs of a task are taken together. */
        for (int i = 0; i < callee->formal_count; i++) {
            const struct symbol *t = callee->formals[i]->dir == DIR_OUT && i != call->result_formal && call->regions[i]
                                         ? storage_of(w, call->regions[i]->base)
                                         : NULL;
            if (!t || (is_held(w, t) & MUST)) continue;
            total = add(w, total, bytes_of(w, t->type));
            note_new(w, t, n);
        }
        for (size_t i = 0; i < r.made.count; i++) {
            if (is_held(w, r.made.data[i]) & MUST) continue;
            total = add(w, total, bytes_of(w, r.made.data[i]->type));
            note_new(w, r.made.data[i], n);
        }
    }
    vec_free(&r.made);
    const struct end_plan *ends = ptrmap_get(&w->plan->ends, n);
    if (ends) end_lifetimes(w, &ends->behind);
    return total;
}

static const struct size *walk_list_of_exprs(struct walk *w, struct ast *n)
{
    const struct size *total = size_const(w->sizes, 0);
    for (; n; n = n->next) total = add(w, total, walk_expr(w, n));
    return total;
}

static const struct size *walk_operands(struct walk *w, struct ast *n)
{
    switch (n->kind) {
    case AST_CALL:
        if (call_of(n)) return walk_call(w, n, call_of(n));
        return walk_list_of_exprs(w, n->call.args);
    case AST_ARG: return walk_expr(w, n->arg.value);
    case AST_UNARY: return walk_expr(w, n->binary.left);
    case AST_BINARY: return add(w, walk_expr(w, n->binary.left), walk_expr(w, n->binary.right));
    case AST_AWAIT: return walk_expr(w, n->await.operand);
    case AST_MEMBER: return walk_expr(w, n->member.object);
    case AST_INDEX: return add(w, walk_expr(w, n->index.object), walk_list_of_exprs(w, n->index.indices));
    case AST_INDEX_POINT:
    case AST_INDEX_RANGE:
    case AST_INDEX_WIDTH: return add(w, walk_expr(w, n->range.low), walk_expr(w, n->range.high));
    default: return size_const(w->sizes, 0);
    }
}

static const struct size *walk_expr(struct walk *w, struct ast *n)
{
    if (!n) return size_const(w->sizes, 0);
    const struct size *total = walk_operands(w, n);
    const struct block_plan *own = ptrmap_get(&w->plan->blocks, n); /* what only this scalar needed */
    if (own) end_lifetimes(w, &own->tensors);
    return total;
}

/* ---- statements ---- */

static const struct size *walk_block(struct walk *w, struct ast *n);

static const struct size *walk_branches(struct walk *w, struct ast *n)
{
    const struct size *most = size_const(w->sizes, 0), *conditions = most;
    struct branches b = {0};
    struct state *now = w->now;
    const bool certain = w->is_certain;
    const int jumps = w->jumps;
    if (n->kind == AST_MATCH) conditions = walk_expr(w, n->match.value);
    for (struct ast *i = n; i && i->kind == AST_IF; i = i->if_.other)
        conditions = add(w, conditions, walk_expr(w, i->if_.cond));
    struct state before = copy_state(w, now), out = nowhere(w);
    branches_of(n, &b);
    w->is_certain = false;
    for (size_t i = 0; i <= b.blocks.count; i++) {
        struct state here = copy_state(w, &before);
        const struct end_plan *ends = b.without_else ? ptrmap_get(&w->plan->ends, b.without_else) : NULL;
        w->now = &here;
        if (i == b.blocks.count && !b.without_else) break;
        if (i == 0 && n->kind == AST_IF && n->if_.cond->kind == AST_BOOL && !n->if_.cond->boolean.value)
            here.dead = true;
        if (i < b.blocks.count)
            most = larger(w, most, walk_block(w, b.blocks.data[i]));
        else if (ends)
            end_lifetimes(w, &ends->other);
        join(w, &out, &here);
    }
    w->now = now;
    *now = out;
    w->is_certain = certain && w->jumps == jumps;
    vec_free(&b.blocks);
    return add(w, conditions, most);
}

static const struct size *trips_of(struct walk *w, const struct ast *n, const struct size **low,
                                   const struct size **high)
{
    int64_t step = 1;
    const struct size *first = n->loop.low->value, *end = n->loop.high->value, *one = size_const(w->sizes, 1);
    *low = *high = NULL;
    if (n->loop.step && (!n->loop.step->value || !size_is_const(n->loop.step->value, &step))) return NULL;
    if (!first || !end || step == 0) return NULL;
    first = without_unknown(w, size_expand(w->sizes, first));
    end = without_unknown(w, size_expand(w->sizes, end));
    if (!first || !end) return NULL;
    *low = step > 0 ? first : add(w, end, one);
    *high = step > 0 ? size_sub(w->sizes, end, one) : first;
    const struct size *distance = step > 0 ? size_sub(w->sizes, end, first) : size_sub(w->sizes, first, end);
    if (!distance) return NULL;
    if (step != 1 && step != -1)
        distance = size_binary(w->sizes, SIZE_CEIL_DIV, distance, size_const(w->sizes, step > 0 ? step : -step));
    return distance ? larger(w, distance, size_const(w->sizes, 0)) : NULL;
}

struct leaving {
    struct walk *walk;
    struct state *state;
};

static bool visit_left(void *cx, struct ast *n)
{
    const struct leaving *l = cx;
    const struct block_plan *plan = ptrmap_get(&l->walk->plan->blocks, n);
    for (size_t i = 0; plan && i < plan->tensors.count; i++) {
        const size_t number = (size_t)(uintptr_t)ptrmap_get(&l->walk->numbers, plan->tensors.data[i]);
        if (number > 0) change(l->walk, l->state, number - 1, 0);
    }
    return true;
}

/* What break and continue leave has ended its lifetime: all that blocks of the body own. */
static void leave_blocks(struct walk *w, struct state *s, struct ast *body)
{
    struct leaving l = {w, s};
    if (!s->dead) ast_walk(body, visit_left, &l);
}

static const struct size *one_iteration(struct walk *w, struct ast *n, struct loop *l)
{
    const bool is_first = n->kind == AST_DO_WHILE;
    struct ast *body = n->kind == AST_FOR ? n->loop.body : n->while_.body;
    const struct size *total = size_const(w->sizes, 0);
    *l = (struct loop){.parent = w->loop, .leaves = nowhere(w), .again = nowhere(w)};
    if (n->kind == AST_WHILE) total = walk_expr(w, n->while_.cond);
    l->condition = total;
    w->loop = l;
    total = add(w, total, walk_block(w, body));
    w->loop = l->parent;
    leave_blocks(w, &l->again, body);
    leave_blocks(w, &l->leaves, body);
    join(w, w->now, &l->again);
    if (is_first) total = add(w, total, walk_expr(w, n->while_.cond));
    return total;
}

/* A loop variable ends: its worst value counts. */
static void end_variable(struct walk *w, struct bound *b, const struct symbol *name, const struct size *low,
                         const struct size *high)
{
    for (int i = 0; i < b->point_count; i++) {
        struct need_point *p = &b->point[i];
        const struct ast *at = p->at;
        p->bytes = extreme(w, p->bytes, name, low, high, true);
        p->fresh = extreme(w, p->fresh, name, low, high, true);
        if (p->bytes && p->fresh) continue;
        b->point[i--] = b->point[--b->point_count];
        if (!b->unknown) b->unknown = at;
    }
}

static const struct size *walk_loop(struct walk *w, struct ast *n)
{
    const struct size *before = size_const(w->sizes, 0), *low = NULL, *high = NULL, *trips = NULL, *total;
    const bool certain = w->is_certain, silent = w->silent;
    const int returns = w->returns;
    const size_t known = w->out->iterations.count;
    struct loop l;
    if (n->kind == AST_FOR) {
        before = add(w, walk_expr(w, n->loop.low), add(w, walk_expr(w, n->loop.high), walk_expr(w, n->loop.step)));
        trips = trips_of(w, n, &low, &high);
    }
    struct state *outer = w->now, entry = copy_state(w, outer), first = copy_state(w, outer);
    w->is_certain = certain && (n->kind == AST_DO_WHILE || (trips && range_of_size(w->plan, trips).lo > 0));
    w->silent = true; /* what an earlier iteration holds when the next begins */
    w->now = &first;
    one_iteration(w, n, &l);
    w->silent = silent;
    join(w, &entry, &first);
    struct state body = copy_state(w, &entry);
    w->now = &body;
    total = one_iteration(w, n, &l);
    w->now = outer;
    if (n->kind == AST_DO_WHILE)
        *outer = body;
    else
        join(w, outer, &body);
    join(w, outer, &l.leaves);
    w->is_certain = certain && w->returns == returns;
    for (size_t i = 0; n->kind == AST_FOR && i < w->open.count; i++)
        end_variable(w, w->open.data[i], n->symbol, low, high);
    if (n->kind == AST_FOR) end_variable(w, &w->out->safe, n->symbol, low, high);
    for (size_t i = known; n->kind == AST_FOR && i < w->out->iterations.count; i++)
        w->out->iterations.data[i].bytes = extreme(w, w->out->iterations.data[i].bytes, n->symbol, low, high, true);
    int64_t none;
    if (total && size_is_const(total, &none) && none == 0) return before;
    if (n->kind == AST_FOR) total = extreme(w, total, n->symbol, low, high, true);
    if (trips || !total) return add(w, before, multiply(w, trips, total));
    note_iteration(w, n, total);
    return add(w, before, l.condition);
}

static void jump(struct walk *w, struct state *to)
{
    if (to) join(w, to, w->now);
    w->now->dead = true;
    w->jumps++;
}

static const struct size *walk_statement(struct walk *w, struct ast *n)
{
    if (w->work-- < 0) return NULL;
    switch (n->kind) {
    case AST_LET: {
        const struct size *total = size_const(w->sizes, 0);
        symbol_list leaves = {0};
        if (n->symbol && !n->symbol->alias_of) symbol_leaves(n->symbol, &leaves);
        for (size_t i = 0; i < leaves.count; i++) {
            const struct symbol *t = leaves.data[i]->needs_alloc ? storage_of(w, leaves.data[i]) : NULL;
            if (!t || (is_held(w, t) & MUST)) continue;
            total = add(w, total, bytes_of(w, t->type));
            note_new(w, t, n);
        }
        vec_free(&leaves);
        return add(w, total, walk_expr(w, n->decl.value));
    }
    case AST_VAR: return walk_expr(w, n->decl.value);
    case AST_EXPR_STMT: return walk_expr(w, n->expr_stmt.expr);
    case AST_ASSIGN: return add(w, walk_expr(w, n->assign.target), walk_expr(w, n->assign.value));
    case AST_FOR:
    case AST_WHILE:
    case AST_DO_WHILE: return walk_loop(w, n);
    case AST_IF:
    case AST_MATCH: return walk_branches(w, n);
    case AST_BLOCK: return walk_block(w, n);
    case AST_SCOPE: return walk_block(w, n->scope.body);
    case AST_DROP:
        for (struct ast *name = n->drop.names; name; name = name->next) {
            symbol_list leaves = {0};
            if (name->symbol) symbol_leaves(name->symbol, &leaves);
            end_lifetimes(w, &leaves);
            vec_free(&leaves);
        }
        return size_const(w->sizes, 0);
    case AST_RETURN: {
        const struct size *total = walk_expr(w, n->ret.value);
        w->returns++;
        jump(w, NULL);
        return total;
    }
    case AST_BREAK: jump(w, w->loop ? &w->loop->leaves : NULL); return size_const(w->sizes, 0);
    case AST_CONTINUE: jump(w, w->loop ? &w->loop->again : NULL); return size_const(w->sizes, 0);
    case AST_ASSERT: return walk_expr(w, n->check.cond);
    case AST_PRINT: return walk_list_of_exprs(w, n->print.values);
    default: return size_const(w->sizes, 0);
    }
}

static const struct size *walk_block(struct walk *w, struct ast *n)
{
    const struct block_plan *plan = ptrmap_get(&w->plan->blocks, n);
    const struct end_plan *ends = ptrmap_get(&w->plan->ends, n);
    const bool is_scope = plan->tensors.count > 0 && !w->silent;
    if (is_scope) {
        struct scope_bound *s = arena_new(w->plan->mem, struct scope_bound);
        s->block = n;
        vec_push(&w->out->scopes, s);
        vec_push(&w->open, &s->need);
        vec_push(&w->start, w->now->may);
    }
    if (ends) end_lifetimes(w, &ends->before);
    const struct size *total = size_const(w->sizes, 0);
    for (struct ast *s = n->block.stmts; s; s = s->next) {
        total = add(w, total, walk_statement(w, s));
        ends = ptrmap_get(&w->plan->ends, s);
        if (ends) end_lifetimes(w, &ends->behind);
    }
    end_lifetimes(w, &plan->tensors);
    if (is_scope) {
        w->open.count--;
        w->start.count--;
    }
    return total;
}

/* ---- functions ---- */

static void number(struct walk *w, const struct symbol *t)
{
    if (slot_of(w->plan, t)) return; /* the frame's */
    vec_push(&w->tensors, t);
    ptrmap_set(&w->numbers, t, (void *)(uintptr_t)w->tensors.count);
}

static bool visit_blocks(void *cx, struct ast *n)
{
    struct walk *w = cx;
    const struct block_plan *plan = ptrmap_get(&w->plan->blocks, n);
    for (size_t i = 0; plan && i < plan->tensors.count; i++) number(w, plan->tensors.data[i]);
    return true;
}

/* What was seen of a function that took too long says nothing about the rest of it. */
static void give_up(struct function_bounds *f, const struct symbol *orch)
{
    f->peak = NULL;
    f->sure = 0;
    f->sure_count = 0;
    f->one = NULL;
    f->worst = (struct sure_point){0};
    f->whole = f->safe = (struct bound){.unknown = orch->decl};
    f->scopes.count = 0;
}

static void analyze(struct plan *p, const struct symbol *orch, bool has_place, struct function_bounds *f)
{
    struct walk w = {.plan = p,
                     .sizes = p->checked->sizes,
                     .out = f,
                     .function = orch,
                     .is_certain = true,
                     .work = MAX_WORK,
                     .has_place = has_place || !orch->result_place};
    const struct frame_plan *frame = frame_of(p, orch);
    const struct symbol *outer = p->function;
    p->function = orch;
    ast_walk(orch->decl->orch.body, visit_blocks, &w);
    symbol_list result = {0};
    if (!w.has_place) symbol_leaves(orch->result_place, &result);
    for (size_t i = 0; i < result.count; i++)
        if (result.data[i]->type->kind == TYPE_TENSOR) number(&w, result.data[i]);
    vec_free(&result);
    struct state s = nowhere(&w);
    s.dead = false;
    w.now = &s;
    vec_push(&w.open, &f->whole);
    vec_push(&w.start, size_const(w.sizes, 0));
    if (frame && frame->bytes) { /* it may be refused: then its tensors are made one by one, which needs no more */
        note_point(&w, (struct need_point){frame->bytes, frame->bytes, orch->decl, 0}, 0);
        note_safe(&w, (struct need_point){frame->bytes, frame->bytes, orch->decl, 0});
        s.may = frame->bytes;
        s.buffers = 1;
    }
    const struct size *total = s.may;
    f->peak = add(&w, total, walk_block(&w, orch->decl->orch.body));
    for (size_t i = 0; i < f->iterations.count; i++)
        if (!f->iterations.data[i].bytes) f->peak = NULL;
    if (w.work < 0) give_up(f, orch);
    f->is_complete = true;
    p->function = outer;
    vec_free(&w.tensors);
    vec_free(&w.open);
    vec_free(&w.start);
    ptrmap_free(&w.numbers);
}

struct function_bounds *bounds_of(struct plan *p, const struct symbol *orch, bool has_place)
{
    const void *key = has_place || !orch->result_place ? (const void *)orch : (const void *)&orch->result_place;
    struct function_bounds *f = ptrmap_get(&p->bounds, key);
    if (f) return f->is_complete ? f : NULL;
    if (p->bounds_depth == MAX_CALL_DEPTH) return NULL;
    p->bounds_depth++;
    f = arena_new(p->mem, struct function_bounds);
    ptrmap_set(&p->bounds, key, f);
    vec_push(&p->bound_list, f);
    analyze(p, orch, has_place, f);
    p->bounds_depth--;
    return f;
}

struct function_bounds *bounds_again(struct plan *p, const struct symbol *orch, bool has_place)
{
    struct function_bounds *f = arena_new(p->mem, struct function_bounds);
    vec_push(&p->bound_list, f);
    analyze(p, orch, has_place, f);
    return f;
}

static int64_t common_divisor(int64_t g, const struct size *bytes)
{
    int64_t factor = PTO_GRANULE;
    if (bytes && bytes->kind == SIZE_CONST)
        factor = bytes->value;
    else if (bytes && bytes->kind == SIZE_MUL && bytes->arg[0]->kind == SIZE_CONST)
        factor = bytes->arg[0]->value;
    while (factor != 0) {
        const int64_t rest = g % factor;
        g = factor;
        factor = rest;
    }
    return g;
}

/* The greatest common divisor of all buffers, as far as it is known: a multiple of the heap's own granule. */
static int64_t common_granule(struct plan *p)
{
    int64_t g = 0;
    struct walk w = {.plan = p, .sizes = p->checked->sizes};
    for (size_t i = 0; i < p->orchs.count; i++) {
        symbol_list result = {0};
        if (p->orchs.data[i]->result_place) symbol_leaves(p->orchs.data[i]->result_place, &result);
        for (size_t k = 0; k < result.count; k++)
            if (result.data[k]->type->kind == TYPE_TENSOR) number(&w, result.data[k]);
        vec_free(&result);
        ast_walk(p->orchs.data[i]->decl->orch.body, visit_blocks, &w);
    }
    for (size_t n = 0; n < w.tensors.count; n++) {
        const struct size *bytes = bytes_of(&w, w.tensors.data[n]->type);
        g = common_divisor(g, bytes);
    }
    for (size_t i = 0; i < p->frame_list.count; i++)
        if (p->frame_list.data[i]->bytes) g = common_divisor(g, p->frame_list.data[i]->bytes);
    vec_free(&w.tensors);
    ptrmap_free(&w.numbers);
    return g > 0 ? g : PTO_GRANULE;
}

void bounds_analyze(struct plan *p)
{
    p->granule = common_granule(p);
    for (size_t i = 0; i < p->orchs.count; i++)
        bounds_of(p, p->orchs.data[i], !p->orchs.data[i]->decl->orch.exported ? false : true);
}

void bounds_forget(struct plan *p)
{
    ptrmap_free(&p->bounds);
    p->granule = common_granule(p);
}
