/* bounds.c - the pass `bounds`: how much heap must there be, and how much can be held at once?
 * Idea       one walk over the operations of each function, in the order in which they are run, with the tensors that
 *            may, and those that must, be held; every allocation is a point.  A loop is walked twice, first for the
 *            tensors that an earlier iteration holds; a callee's points become the caller's by its arguments.
 * Method     dataflow.c solves for a state at each operation; here a block also has a sum, the bytes that it allocates,
 *            which a loop multiplies by its trips and maximizes over its variable, and a call instantiates.  Such sums
 *            come up from the inside, against the direction of the state, so the walk is its own.
 * Owner      the results, in a memory model: of all functions without frames, and with those that were chosen.  A frame
 *            that is only proposed is measured for itself.
 * Look       ptoc build --emit=bounds
 * Tests      test/lit/memory/bounds.pto, e14.pto, e14-callees.pto
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
#include "bounds_parts.h"
#include "frames.h"
#include "support/arena.h"
#include <string.h>

#define ALL_MOVED UINT64_MAX

/* Has the frame, if there is one, a slot for the tensor? */
bool bounds_is_in_frame(const struct plan *p, const struct frame_plan *frame, const struct symbol *t)
{
    return frame && slot_of(p, t);
}

/* The result counts where the function makes it, and its caller has no place for it. */
static const struct symbol *storage_of(const struct walk *w, const struct symbol *base)
{
    if (base->place) return w->has_place ? NULL : base->place;
    return base->kind == SYM_LET && tensor_is_new(base) && !bounds_is_in_frame(w->plan, w->frame, base) ? base : NULL;
}

/* ---- calls ---- */

/* The tensors that a call makes as its result, without those that lie in a place of the caller. */
struct results {
    VEC(const struct symbol *) made;
    bool has_place; /* it is there already; of a struct at least a part: so much less may be surely needed */
    bool has_all;   /* every part is there */
};

static void add_result(struct walk *w, struct results *r, const struct symbol *base)
{
    const struct symbol *t = storage_of(w, base);
    if (!t) return;
    const bool is_there = bounds_is_there(w, t);
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

/* A lower bound of the need of this call. */
static int64_t note_sure_of_callee(struct walk *w, const struct call *call, const struct function_bounds *f)
{
    int64_t sure = f->sure;
    if (sure > 0) bounds_note_sure_of_call(w, size_const(w->sizes, sure));
    for (int i = 0; i < f->sure_count; i++) {
        const struct size *bytes = bounds_put_arguments(w, call, f->sure_of_call[i]);
        const int64_t least = bytes ? range_of_size(&w->plan->ranges, bytes).lo : 0;
        if (least > sure) sure = least < INT64_MAX / 4 ? least : INT64_MAX / 4;
        if (bytes && bounds_is_of_call(bytes)) bounds_note_sure_of_call(w, bytes);
    }
    return sure;
}

/* least: a lower bound of the need of every call. */
static void note_callee(struct walk *w, struct maker n, const struct call *call, struct function_bounds *f,
                        const struct function_bounds *least)
{
    const struct need_point unknown = {.at = n};
    const int64_t sure = least ? note_sure_of_callee(w, call, least) : 0;
    if (!f) { /* it calls itself */
        bounds_note_point(w, unknown, 0);
        bounds_note_safe(w, unknown);
        if (!w->out->recursive.name) w->out->recursive = n;
        w->out->level = w->out->level ? bounds_larger(w, w->out->level, w->now->may) : w->now->may;
        return;
    }
    for (int i = 0; i < f->whole.point_count; i++) {
        const struct need_point p = f->whole.point[i];
        bounds_note_point(
            w,
            (struct need_point){bounds_in_caller(w, call, p.bytes), bounds_in_caller(w, call, p.fresh), n, p.buffers},
            i == 0 ? sure : 0);
    }
    for (int i = 0; i < f->safe.point_count; i++) {
        const struct need_point p = f->safe.point[i];
        bounds_note_safe(w, (struct need_point){bounds_in_caller(w, call, p.bytes), bounds_in_caller(w, call, p.fresh),
                                                n, p.buffers});
    }
    if (f->whole.unknown.name) bounds_note_point(w, unknown, f->whole.point_count == 0 ? sure : 0);
    if (f->safe.unknown.name) bounds_note_safe(w, unknown);
    if (f->recursive.name && !w->out->recursive.name) w->out->recursive = n;
}

static void note_iteration(struct walk *w, const struct ir_op *loop, const struct size *bytes)
{
    struct function_bounds *f = w->out;
    if (w->silent) return;
    for (size_t i = 0; i < f->iterations.count; i++)
        if (f->iterations.data[i].loop == loop) {
            f->iterations.data[i].bytes = bounds_larger(w, f->iterations.data[i].bytes, bytes);
            return;
        }
    vec_push(&f->iterations, ((struct iteration_bound){loop, bytes}));
}

static void note_iterations_of(struct walk *w, const struct call *call, const struct function_bounds *f)
{
    for (size_t i = 0; f && i < f->iterations.count; i++)
        note_iteration(w, f->iterations.data[i].loop, bounds_in_caller(w, call, f->iterations.data[i].bytes));
}

static const struct size *walk_value(struct walk *w, const struct ir_value *v);

static const struct size *walk_values(struct walk *w, struct ir_value *const *list, int count)
{
    const struct size *total = size_const(w->sizes, 0);
    for (int i = 0; i < count; i++) total = bounds_add(w, total, walk_value(w, list[i]));
    return total;
}

/* What the call moves: which tensors are surely held here.  The memory of an element stays with its array, in the
 * caller. */
static struct moved_in moved_by(const struct walk *w, const struct ir_call *c)
{
    struct moved_in moved = {0};
    for (int i = 0, n = 0; i < c->count && n < MAX_MOVED; i++) {
        const struct ir_argument *a = &c->arguments[i];
        const bool is_element = a->kind == IR_ARG_ELEMENT;
        if (a->kind != IR_ARG_MOVED && !is_element) continue;
        const struct symbol *base = a->view->region->base;
        const uint64_t bit = (uint64_t)1 << n++;
        if (a->formal->dir == DIR_OWN && (is_element || ptrmap_get(&w->copied, base))) moved.copied |= bit;
        if (!is_element && bounds_is_held(w, base) & MUST && bounds_is_alone(w, base)) moved.counted |= bit;
    }
    return moved;
}

/* The lifetimes of those moved tensors end for the caller. */
static void end_moved(struct walk *w, const struct ir_call *c, uint64_t moved)
{
    for (int i = 0, n = 0; i < c->count; i++) {
        if (c->arguments[i].kind == IR_ARG_ELEMENT) n++;
        if (c->arguments[i].kind != IR_ARG_MOVED) continue;
        if (n < MAX_MOVED ? moved >> n & 1 : moved == ALL_MOVED) bounds_release(w, c->arguments[i].view->region->base);
        n++;
    }
}

static struct maker maker_of_call(const struct ir_call *c)
{
    return (struct maker){.at = c->at, .name = c->callee->name, .callee = c->callee};
}

/* Everything below is a walk that gives the bytes ever allocated. */
static const struct size *walk_function_call(struct walk *w, const struct ir_call *c, const struct results *r)
{
    const struct moved_in moved = moved_by(w, c);
    struct function_bounds *f = bounds_in(w->plan, w->model, c->callee, r->has_all, moved);
    const struct function_bounds *least = r->has_all ? f : bounds_in(w->plan, w->model, c->callee, r->has_place, moved);
    const struct size *total = f ? bounds_in_caller(w, c->binding, f->peak) : NULL;
    note_iterations_of(w, c->binding, f);
    end_moved(w, c, moved.counted); /* the callee counts them */
    note_callee(w, maker_of_call(c), c->binding, f, least);
    for (size_t i = 0; i < r->made.count; i++) bounds_hold_new(w, r->made.data[i]);
    end_moved(w, c, ALL_MOVED);
    return total;
}

/* The parts of its accumulators, which a task takes before its outputs.  They wait for a fold, but where the heap is
 * short all that wait are folded, so they count here only.  What they take in all. */
static const struct size *walk_parts(struct walk *w, const struct ir_call *c, bool begins)
{
    const struct size *total = size_const(w->sizes, 0);
    for (int i = 0; i < c->callee->formal_count; i++) {
        if (!c->arguments[i].view || !c->callee->formals[i]->by) continue;
        const struct region *r = c->arguments[i].view->region;
        struct type part = {.kind = TYPE_TENSOR, .elem = r->base->type->elem, .rank = r->rank};
        memcpy(part.extent, r->extent, sizeof part.extent);
        bounds_hold_part(w, &part, maker_of_call(c), begins);
        total = bounds_add(w, total, bounds_bytes_of(w, &part));
    }
    return total;
}

/* All outputs of a task, and the parts of its accumulators, are taken together. */
static const struct size *walk_submit(struct walk *w, const struct ir_call *c, const struct results *r)
{
    const struct size *total = walk_parts(w, c, true);
    for (int i = 0; i < c->callee->formal_count; i++) {
        const struct ir_argument *a = &c->arguments[i];
        const bool is_output = a->view && a->direction == DIR_OUT && i != c->binding->result_formal;
        const struct symbol *t = is_output ? storage_of(w, a->view->region->base) : NULL;
        if (!t || bounds_is_there(w, t)) continue;
        total = bounds_add(w, total, bounds_bytes_of(w, t->type));
        bounds_note_new(w, t, maker_of_call(c));
    }
    for (size_t i = 0; i < r->made.count; i++) {
        if (bounds_is_there(w, r->made.data[i])) continue;
        total = bounds_add(w, total, bounds_bytes_of(w, r->made.data[i]->type));
        bounds_note_new(w, r->made.data[i], maker_of_call(c));
    }
    walk_parts(w, c, false);
    return total;
}

static const struct size *walk_call(struct walk *w, const struct ir_call *c)
{
    const struct size *total = size_const(w->sizes, 0);
    for (int i = 0; i < c->count; i++)
        if (c->arguments[i].value) total = bounds_add(w, total, walk_value(w, c->arguments[i].value));
    struct results r = results_of(w, c->binding);
    total = bounds_add(w, total, c->callee->kind == SYM_ORCH ? walk_function_call(w, c, &r) : walk_submit(w, c, &r));
    vec_free(&r.made);
    return total;
}

/* An operand that may be left out. */
static const struct size *walk_optional(struct walk *w, const struct ir_value *v)
{
    const bool certain = w->is_certain;
    struct held without = bounds_copy_held(w, w->now);
    w->is_certain = false;
    const struct size *total = walk_value(w, v);
    w->is_certain = certain;
    bounds_join(w, w->now, &without);
    return total;
}

static const struct size *walk_value(struct walk *w, const struct ir_value *v)
{
    const struct size *total = size_const(w->sizes, 0);
    if (!ir_calls(v)) return total;
    if (v->kind == IR_RESULT) return walk_call(w, v->call);
    for (int i = 0; i < v->count; i++)
        total = bounds_add(w, total, ir_is_optional(v, i) ? walk_optional(w, v->arg[i]) : walk_value(w, v->arg[i]));
    return total;
}

/* ---- branches ---- */

/* The operations of an else block before the branch that continues the chain. */
static const struct size *walk_before(struct walk *w, const struct ir_block *block, const struct ir_op *end);

static const struct size *walk_branches(struct walk *w, const struct ir_op *op)
{
    const struct size *most = size_const(w->sizes, 0), *conditions = most;
    struct held *now = w->now, rest = bounds_copy_held(w, now), out = bounds_nowhere(w);
    const bool certain = w->is_certain;
    const int jumps = w->jumps;
    while (op) {
        const struct ir_block *other = op->branch.other;
        const struct ir_op *next = ir_next_in_chain(op);
        const enum truth truth = op->branch.cond.truth;
        w->now = &rest;
        conditions = bounds_add(w, conditions, walk_value(w, op->branch.cond.value));
        const bool is_reached = w->is_certain;
        if (truth != TRUTH_NEVER) {
            struct held then = bounds_copy_held(w, &rest);
            w->now = &then;
            w->is_certain = is_reached && truth == TRUTH_ALWAYS;
            most = bounds_larger(w, most, bounds_walk_block(w, op->branch.then));
            bounds_join(w, &out, &then);
        }
        w->now = &rest;
        w->is_certain = is_reached && truth == TRUTH_NEVER;
        if (truth == TRUTH_ALWAYS) {
            rest.dead = true;
            break;
        }
        if (next)
            conditions = bounds_add(w, conditions, walk_before(w, other, next));
        else if (other)
            most = bounds_larger(w, most, bounds_walk_block(w, other));
        op = next;
    }
    bounds_join(w, &out, &rest);
    w->now = now;
    *now = out;
    w->is_certain = certain && w->jumps == jumps;
    return bounds_add(w, conditions, most);
}

/* ---- loops ---- */

static const struct size *trips_of(struct walk *w, const struct ir_op *op, const struct size **low,
                                   const struct size **high)
{
    const int64_t step = op->loop.by;
    const struct size *first = op->loop.low_size, *end = op->loop.high_size, *one = size_const(w->sizes, 1);
    *low = *high = NULL;
    if (!first || !end || step == 0) return NULL;
    first = bounds_without_unknown(w, size_expand(w->sizes, first));
    end = bounds_without_unknown(w, size_expand(w->sizes, end));
    if (!first || !end) return NULL;
    *low = step > 0 ? first : bounds_add(w, end, one);
    *high = step > 0 ? size_sub(w->sizes, end, one) : first;
    const struct size *distance = step > 0 ? size_sub(w->sizes, end, first) : size_sub(w->sizes, first, end);
    if (!distance) return NULL;
    if (step != 1 && step != -1)
        distance = size_binary(w->sizes, SIZE_CEIL_DIV, distance, size_const(w->sizes, step > 0 ? step : -step));
    return distance ? bounds_larger(w, distance, size_const(w->sizes, 0)) : NULL;
}

static const struct size *walk_test(struct walk *w, const struct ir_op *op)
{
    const struct size *total = size_const(w->sizes, 0);
    if (op->while_.test) total = bounds_walk_block(w, op->while_.test);
    return bounds_add(w, total, walk_value(w, op->while_.cond.value));
}

static const struct size *one_iteration(struct walk *w, const struct ir_op *op, struct loop *l)
{
    const struct size *total = size_const(w->sizes, 0);
    *l = (struct loop){.parent = w->loop, .leaves = bounds_nowhere(w), .again = bounds_nowhere(w)};
    if (op->kind == IR_WHILE && op->while_.tests_first) total = walk_test(w, op);
    l->condition = total;
    w->loop = l;
    total = bounds_add(w, total, bounds_walk_block(w, op->kind == IR_FOR ? op->loop.body : op->while_.body));
    w->loop = l->parent;
    bounds_join(w, w->now, &l->again);
    if (op->kind == IR_WHILE && !op->while_.tests_first) total = bounds_add(w, total, walk_test(w, op));
    return total;
}

/* The loop variable ends, in all that was noted in the loop; known: how many loops had been noted before it. */
static void end_loop_variable(struct walk *w, const struct symbol *name, size_t known, const struct size *low,
                              const struct size *high)
{
    struct function_bounds *f = w->out;
    for (size_t i = 0; i < w->open.count; i++) bounds_end_variable(w, w->open.data[i], name, low, high);
    bounds_end_variable(w, &f->safe, name, low, high);
    for (size_t i = known; i < f->iterations.count; i++)
        f->iterations.data[i].bytes = bounds_extreme(w, f->iterations.data[i].bytes, name, low, high, true);
}

/* The second iteration surely holds what the first one left, and the state in which either begins forgets that.  state:
 * after the first iteration, which no jump leaves. */
static void note_second_iteration(struct walk *w, const struct ir_op *op, struct held *state)
{
    struct loop l;
    w->now = state;
    w->silent = w->is_second = true;
    one_iteration(w, op, &l);
    w->silent = w->is_second = false;
}

static const struct size *walk_loop(struct walk *w, const struct ir_op *op)
{
    const struct size *before = size_const(w->sizes, 0), *low = NULL, *high = NULL, *trips = NULL, *total;
    const bool certain = w->is_certain, silent = w->silent, is_for = op->kind == IR_FOR;
    const bool runs_once = !is_for && !op->while_.tests_first;
    const int returns = w->returns;
    const size_t known = w->out->iterations.count;
    struct loop l;
    if (is_for) {
        struct ir_value *const limits[] = {op->loop.low, op->loop.high, op->loop.step};
        before = walk_values(w, limits, 3);
        trips = trips_of(w, op, &low, &high);
    }
    struct held *outer = w->now, entry = bounds_copy_held(w, outer), first = bounds_copy_held(w, outer);
    w->is_certain = certain && (runs_once || (trips && range_of_size(&w->plan->ranges, trips).lo > 0));
    w->silent = true; /* for the tensors that an earlier iteration holds when the next one begins */
    w->now = &first;
    one_iteration(w, op, &l);
    w->silent = silent;
    bounds_join(w, &entry, &first);
    const bool has_more = first.must > entry.must || first.must_of_call != entry.must_of_call;
    if (has_more && !silent && w->is_certain && l.leaves.dead && w->returns == returns && trips &&
        range_of_size(&w->plan->ranges, trips).lo > 1)
        note_second_iteration(w, op, &first);
    struct held body = bounds_copy_held(w, &entry);
    w->now = &body;
    total = one_iteration(w, op, &l);
    w->now = outer;
    if (runs_once)
        *outer = body;
    else
        bounds_join(w, outer, &body);
    bounds_join(w, outer, &l.leaves);
    w->is_certain = certain && w->returns == returns;
    if (is_for) end_loop_variable(w, op->loop.symbol, known, low, high);
    int64_t none;
    if (total && size_is_const(total, &none) && none == 0) return before;
    if (is_for) total = bounds_extreme(w, total, op->loop.symbol, low, high, true);
    if (trips || !total) return bounds_add(w, before, bounds_multiply(w, trips, total));
    note_iteration(w, op, total);
    return bounds_add(w, before, l.condition);
}

/* ---- operations ---- */

static void jump(struct walk *w, struct held *to)
{
    if (to) bounds_join(w, to, w->now);
    w->now->dead = true;
    w->jumps++;
}

static void begin_scope(struct walk *w, const struct ir_op *op)
{
    if (op->scope.count == 0 || op->scope.is_value || w->silent) return;
    struct scope_bound *s = arena_new(w->plan->mem, struct scope_bound);
    s->scope = op;
    vec_push(&w->out->scopes, s);
    vec_push(&w->open, &s->need);
    vec_push(&w->start, w->now->may);
}

static void end_scope(struct walk *w, const struct ir_op *op)
{
    const struct ir_op *begin = op->scope_end.begin;
    for (int i = 0; i < begin->scope.count; i++) bounds_end(w, begin->scope.tensors[i]);
    if (op->scope_end.leaves || begin->scope.count == 0 || begin->scope.is_value || w->silent) return;
    w->open.count--;
    w->start.count--;
}

static const struct size *walk_alloc(struct walk *w, const struct ir_op *op)
{
    const struct symbol *t = storage_of(w, op->alloc.symbol);
    if (!t || bounds_is_there(w, t)) return size_const(w->sizes, 0);
    bounds_note_new(w, t, op->alloc.maker);
    return bounds_bytes_of(w, t->type);
}

static const struct size *walk_take(struct walk *w, const struct ir_op *op)
{
    if (!ptrmap_get(&w->copied, op->take.from)) {
        bounds_take(w, op->take.to, op->take.from, false);
        return size_const(w->sizes, 0);
    }
    bounds_take_copy(w, op->take.to, op->take.maker);
    return bounds_bytes_of(w, op->take.to->type);
}

/* Where the caller has no place for it. */
static const struct size *walk_give(struct walk *w, const struct ir_op *op)
{
    const struct symbol *from = op->give.view->region->base, *t = storage_of(w, op->give.place);
    if (!t || !ptrmap_get(&w->copied, from)) return size_const(w->sizes, 0);
    bounds_note_new(w, t, (struct maker){.at = op->at, .name = from->name});
    return bounds_bytes_of(w, t->type);
}

static const struct size *walk_op(struct walk *w, const struct ir_op *op)
{
    const struct size *none = size_const(w->sizes, 0);
    if (op->kind != IR_SITE && w->work-- < 0) return NULL;
    switch (op->kind) {
    case IR_LET: return walk_value(w, op->let.value);
    case IR_SET: return walk_value(w, op->set.value);
    case IR_STORE: return walk_value(w, op->store.value);
    case IR_ASSERT: return walk_value(w, op->assertion.cond);
    case IR_PRINT:
        for (int i = 0; i < op->print.count; i++)
            if (op->print.values[i].value) none = bounds_add(w, none, walk_value(w, op->print.values[i].value));
        return none;
    case IR_ALLOC: return walk_alloc(w, op);
    case IR_SUBMIT:
    case IR_CALL: return walk_call(w, op->call);
    case IR_RELEASE: bounds_release(w, op->release.symbol); return none;
    case IR_GIVE: return walk_give(w, op);
    case IR_TAKE: return walk_take(w, op);
    case IR_KEEP: bounds_take(w, op->take.to, op->take.from, true); return none;
    case IR_SCOPE_BEGIN: begin_scope(w, op); return none;
    case IR_SCOPE_END: end_scope(w, op); return none;
    case IR_BLOCK: return bounds_walk_block(w, op->block);
    case IR_FOR:
    case IR_WHILE: return walk_loop(w, op);
    case IR_IF: return walk_branches(w, op);
    case IR_BREAK: jump(w, w->loop ? &w->loop->leaves : NULL); return none;
    case IR_CONTINUE: jump(w, w->loop ? &w->loop->again : NULL); return none;
    case IR_RETURN:
        if (op->ret.value) none = walk_value(w, op->ret.value);
        w->returns++;
        jump(w, NULL); /* fall through */
    default: return none;
    }
}

static const struct size *walk_before(struct walk *w, const struct ir_block *block, const struct ir_op *end)
{
    const struct size *total = size_const(w->sizes, 0);
    for (const struct ir_op *op = block->first; op != end; op = op->next) total = bounds_add(w, total, walk_op(w, op));
    return total;
}

const struct size *bounds_walk_block(struct walk *w, const struct ir_block *block)
{
    const size_t open = w->open.count;
    const struct size *total = walk_before(w, block, NULL);
    w->open.count = w->start.count = open; /* a jump leaves scopes */
    return total;
}
