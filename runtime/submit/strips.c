/* strips.c - iterations of a loop that are submitted as one task (pto_strip.h).
 *
 * Idea       a strip is as long as handing it over is worth: its time is what is known of its kernels.  What its
 *            iterations access of a tensor is again a view, because the tensor moves by a constant step: a larger one
 *            where tiles follow each other, or one with a dimension more.
 * Owner      the orchestrator.
 * Invariant  a strip accesses what its iterations access, no byte less.  Tensors that its calls make have memory before
 *            it is submitted (strip_buffers.c).
 * Blocks     while a ring is full.
 * Tests      test/runtime/test_strips.c */
#include "submission.h"
#include "shared/check.h"
#include "shared/processors.h"
#include "shared/strip.h"
#include <string.h>

/* Handing over a task takes some 300 ns: a strip takes several times as long, and not so long that others wait for it.
 * Where iterations follow each other anyway, as they write the same memory, nothing but the workers' other tasks waits,
 * and CHAIN_NS is the limit.  An iteration that is timed as less than FINEST_NS, some 25 of which are the clock, is
 * executed inline faster than two processors could share it.  In strips, which are timed as a whole, it seems shorter,
 * and each change between the two waits for what is in flight; so it stays there until it is FINEST_STILL_NS. */
#ifdef PTO_TINY
enum { LEAST_NS = 200, STRIP_NS = 1000, CHAIN_NS = 4000, FINEST_NS = 1, FINEST_STILL_NS = 1 };
#else
enum { LEAST_NS = 2000, STRIP_NS = 16000, CHAIN_NS = 32000, FINEST_NS = 110, FINEST_STILL_NS = 60 };
#endif
/* So many iterations later a loop makes its next offer: soon if its kernels were not timed yet, else so seldom that a
 * loop of the finest tasks does not feel it. */
enum { UNTIMED_GAP = 16, TIMED_GAP = 1024 };

void ptoi_strips_begin(struct orchestrator *o, bool are_taken)
{
    o->fast.open->takes_strips = are_taken;
    /* of a loop that makes no offer, as its tensors are not fit for one */
    o->fast.open->offer_gap = o->buffers.ranks_agree ? 1 : TIMED_GAP;
    if (are_taken) o->run.processors = ptoi_processors();
}

/* The tensor that all iterations access through one parameter. */
struct reach {
    int64_t at, shape[PTO_MAX_RANK], stride[PTO_MAX_RANK];
    int64_t first; /* from there to the tensor of the first iteration, in elements */
    int rank;
};

/* The strip on its way to the window. */
struct builder {
    const struct orchestrator *o;
    struct strip_text text;
    struct reach reach[PTO_STRIP_PARAMS];
    PTOTaskParam param[PTO_STRIP_PARAMS + 1];
    int32_t tensors, params; /* the priority is the last one of the params */
};

/* Makes room for `times` steps of the view.  false: what they access is no view. */
static bool widen(struct reach *r, int64_t step, int64_t times)
{
    r->first = 0;
    if (step == 0 || times == 1) return true;
    int64_t moved; /* up or down, by all steps */
    if (step == INT64_MIN || __builtin_mul_overflow(step, times - 1, &moved)) return false;
    const int64_t apart = step < 0 ? -step : step;
    if (step < 0) {
        r->first = -moved;
        if (__builtin_add_overflow(r->at, moved, &r->at)) return false;
    }
    int64_t span = 0, reach; /* of all dimensions, less one element; of one */
    for (int d = 0; d < r->rank; d++) {
        if (r->stride[d] > 0 && apart % r->stride[d] == 0 && apart / r->stride[d] <= r->shape[d])
            return !__builtin_add_overflow(r->shape[d], apart / r->stride[d] * (times - 1), &r->shape[d]);
        if (__builtin_mul_overflow(r->shape[d] - 1, r->stride[d], &reach)) return false;
        if (__builtin_add_overflow(span, reach, &span)) return false;
    }
    if (apart <= span || r->rank == PTO_MAX_RANK) return false;
    memmove(r->shape + 1, r->shape, (size_t)r->rank * sizeof *r->shape);
    memmove(r->stride + 1, r->stride, (size_t)r->rank * sizeof *r->stride);
    r->shape[0] = times;
    r->stride[0] = apart;
    r->rank++;
    return true;
}

static bool is_same(const PTOTaskParam *a, const struct reach *ra, const PTOTaskParam *b, const struct reach *rb)
{
    return a->buffer == b->buffer && a->type == b->type && ra->at == rb->at && ra->rank == rb->rank &&
           memcmp(ra->shape, rb->shape, (size_t)ra->rank * sizeof *ra->shape) == 0 &&
           memcmp(ra->stride, rb->stride, (size_t)ra->rank * sizeof *ra->stride) == 0;
}

static const int64_t *row_major(int rank, const int64_t *shape, int64_t *stride)
{
    int64_t unit = 1;
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = unit;
        unit = (int64_t)((uint64_t)unit * (uint64_t)shape[d]); /* beyond 64 bits: no region */
    }
    return stride;
}

/* Would a submit refuse the tensor, which has memory?  Then some iteration may be invalid: the caller submits it, and
 * the message has its indices. */
static bool is_refused(const struct orchestrator *o, const PTOTaskParam *p)
{
    PTOArg arg;
    PTOAccess_ a;
    int64_t lay[PTO_MAX_RANK];
    uint32_t buffer;
    long long number;
    if (!pto_decode_tensor_(p, &arg, lay, &a) && ptoi_decode_any(p, &arg, lay, &a, &number) != REFUSED_NOT) return true;
    return ptoi_find_holder(o, &a, &buffer, &number) != REFUSED_NOT;
}

/* Which argument of the task has the tensor; -1: it cannot be one of a strip's.  first: where the first iteration has
 * it, which is not that of another parameter with the same argument, if one goes up and the other one down. */
static int add_tensor(struct builder *b, const PTOTaskParam *p, int64_t step, int64_t times, int64_t *first)
{
    struct reach *const r = &b->reach[b->tensors];
    PTOTaskParam *const whole = &b->param[b->tensors];
    int64_t dense[PTO_MAX_RANK];
    *whole = *p;
    if (p->ref) memcpy(&whole->buffer, p->ref, sizeof whole->buffer);
    if (p->kind != PTO_PARAM_OUTPUT) whole->ref = NULL;
    if (p->flags & PTO_IS_PRIVATE_) whole->flags = 0;
    if (!whole->buffer || p->rank < 1 || p->rank > PTO_MAX_RANK || !p->shape) return -1;
    const int64_t *stride = p->stride ? p->stride : row_major(p->rank, p->shape, dense);
    r->rank = p->rank;
    r->at = p->at;
    for (int d = 0; d < r->rank; d++) {
        r->shape[d] = p->shape[d];
        r->stride[d] = stride[d];
        if (p->shape[d] <= 0 || stride[d] < 0) return -1; /* empty, or refused by a submit */
        b->text.extent[b->text.extents + d] = p->shape[d];
        b->text.extent[b->text.extents + r->rank + d] = stride[d];
    }
    b->text.extents += 2 * r->rank;
    if (!widen(r, step, times)) return -1;
    *first = r->first;
    for (int i = 0; i < b->tensors; i++) {
        if (!is_same(whole, r, &b->param[i], &b->reach[i])) continue;
        if (b->param[i].kind != whole->kind) { /* it is written and read */
            b->param[i].kind = PTO_PARAM_INOUT;
            b->param[i].flags = 0;
        }
        return i;
    }
    whole->at = r->at;
    whole->rank = (uint8_t)r->rank;
    whole->shape = r->shape;
    whole->stride = r->stride;
    return is_refused(b->o, whole) ? -1 : b->tensors++;
}

static bool add_param(struct builder *b, const PTOTaskParam *p, int64_t step, int64_t times)
{
    if (b->text.head.args == PTO_STRIP_PARAMS) return false;
    struct strip_arg *const arg = &b->text.arg[b->text.head.args++];
    *arg = (struct strip_arg){.kind = p->kind, .type = p->type, .step = step};
    if (p->kind == PTO_PARAM_SCALAR) {
        arg->value = p->value.i64;
        arg->limit = p->at;
        arg->test = p->flags;
        return true;
    }
    if (p->kind < PTO_PARAM_INPUT || p->kind > PTO_PARAM_INOUT) return false;
    int64_t first;
    const int of = add_tensor(b, p, step, times, &first);
    if (of < 0) return false;
    const int64_t unit = pto_bytes_of_(p->type);
    arg->of = (uint8_t)of;
    arg->rank = p->rank;
    arg->value = first * unit;
    arg->step *= unit;
    return true;
}

/* The strip of so many iterations, the first of which is number `from`.  false: there is none. */
static bool build(struct builder *b, const PTOStripCall *calls, int32_t count, int64_t from, int64_t times,
                  int64_t body_ns)
{
    const PTOTaskParam *priority = NULL;
    int64_t priority_step = 0;
    b->tensors = 0;
    b->text.extents = 0;
    b->text.head = (struct strip){.iterations = times, .expected_ns = body_ns * times, .calls = count};
    for (int32_t c = 0; c < count; c++) {
        const int32_t before = b->text.head.args;
        for (int32_t i = 0; i < calls[c].count; i++) {
            const int64_t step = calls[c].step[i];
            PTOTaskParam p = calls[c].params[i];
            if (p.kind == PTO_PARAM_PRIORITY) {
                if (!priority) priority = &calls[c].params[i], priority_step = step;
                continue;
            }
            if (p.kind == PTO_PARAM_SCALAR)
                p.value.i64 = ptoi_strip_grown(p.value.i64, step, from);
            else
                p.at = ptoi_strip_grown(p.at, step, from);
            if (!add_param(b, &p, step, times)) return false;
        }
        b->text.call[c] = (struct strip_call){.kernel = ptoi_image_offset(calls[c].kernel),
                                              .site = ptoi_image_offset(calls[c].site),
                                              .args = b->text.head.args - before};
    }
    b->params = b->tensors;
    if (!priority) return true;
    b->param[b->params] = *priority;
    b->param[b->params++].at = ptoi_strip_grown(priority->at, priority_step, from);
    return true;
}

/* ns of all calls of an iteration; 0: unknown. */
static int64_t time_of_body(struct orchestrator *o, const PTOStripCall *calls, int32_t count)
{
    int64_t sum = 0;
    for (int32_t c = 0; c < count; c++) {
        const int64_t ns = o->flow.ops->known_ns(o->flow.context, calls[c].kernel);
        if (ns == 0) return 0;
        sum += ns;
    }
    return sum;
}

/* Is it memory that an output before it makes for each strip? */
static bool is_own(const PTOStripCall *calls, int32_t call, const PTOTaskParam *p)
{
    for (int32_t c = 0; c <= call && p->ref; c++)
        for (int32_t i = 0; i < calls[c].count; i++)
            if (calls[c].params[i].ref == p->ref && calls[c].params[i].flags & PTO_IS_PRIVATE_) return true;
    return false;
}

/* Do all iterations write some memory that is not a strip's own? */
static bool is_chain(const PTOStripCall *calls, int32_t count)
{
    for (int32_t c = 0; c < count; c++)
        for (int32_t i = 0; i < calls[c].count; i++) {
            const PTOTaskParam *const p = &calls[c].params[i];
            const bool writes = p->kind == PTO_PARAM_OUTPUT || p->kind == PTO_PARAM_INOUT;
            if (writes && !is_own(calls, c, p) && calls[c].step[i] == 0) return true;
        }
    return false;
}

/* Strips of more iterations would be no tiles to the map (strip_accesses.c). */
static int64_t most_iterations(const struct orchestrator *o, const PTOStripCall *calls, int32_t count)
{
    int64_t accesses = 1;
    for (int32_t c = 0; c < count; c++) accesses += calls[c].count;
    return ptoi_map_capacity(o->edges.map) / STRIP_SHARE / accesses;
}

/* How many iterations a strip has, at most `most`; 1: strips are not worth it.  Iterations that may not be executed
 * inline are handed over anyway: then any strip is. */
static int64_t length(const struct orchestrator *o, int64_t iterations, int64_t body_ns, bool is_chain, int64_t most)
{
    const int64_t in_time = (is_chain ? CHAIN_NS : STRIP_NS) / body_ns;
    const int64_t finest = o->run.has_strips ? FINEST_STILL_NS : FINEST_NS;
    int64_t least = (LEAST_NS + body_ns - 1) / body_ns;
    int64_t n = is_chain ? iterations : iterations / o->run.processors; /* they may be independent of each other */
    if (in_time < most) most = in_time;
    if (!o->inlined.is_allowed && least > iterations) least = iterations;
    if ((o->inlined.is_allowed && body_ns < finest) || least > iterations || most < 2) return 1;
    n = n < least ? least : n;
    n = n > most ? most : n;
    const int64_t strips = (iterations + n - 1) / n;
    return (iterations + strips - 1) / strips;
}

static void count_strip(struct orchestrator *o, const PTOStripCall *calls, int32_t count, int64_t times)
{
    o->run.stats.strips++;
    o->run.stats.strip_tasks += times * count;
    for (int32_t c = 0; c < count; c++) o->fast.tasks[calls[c].kernel->worker] += times;
    o->fast.tasks[calls[0].kernel->worker]--; /* which the scheduler counts */
    o->fast.open->number += (uint64_t)(times * count - 1);
}

/* A worker runs all of a strip, so it has to be one of each kernel's type. */
static bool has_workers(const struct orchestrator *o, const PTOStripCall *calls, int32_t count)
{
    const PTOWorkerType worker = calls[0].kernel->worker;
    for (int32_t c = 1; c < count; c++)
        if (calls[c].kernel->worker != worker &&
            !o->flow.ops->shares_workers(o->flow.context, worker, calls[c].kernel->worker))
            return false;
    return true;
}

/* Are they complete, and do only integers grow?  The caller's submit takes or refuses the others. */
static bool are_calls(const PTOStripCall *calls, int32_t count)
{
    if (count > PTO_STRIP_CALLS) return false;
    for (int32_t c = 0; c < count; c++) {
        const PTOStripCall *const call = &calls[c];
        if (ptoi_refusal_of(call->kernel, call->params, call->count) != REFUSED_NOT) return false;
        if (!call->kernel->fn || !call->site || call->count == 0 || !call->step) return false;
        for (int32_t i = 0; i < call->count; i++) {
            const PTOTaskParam *const p = &call->params[i];
            const bool grows = p->kind == PTO_PARAM_SCALAR && call->step[i] != 0;
            if (grows && p->type != PTO_I64 && !(p->flags & PTO_IS_TEST_)) return false;
        }
    }
    return true;
}

/* What became of a strip; below 0: a status. */
enum { LEFT_TO_THE_LOOP, SUBMITTED };

/* Of calls all of whose tensors have memory. */
static int64_t submit_strip(struct orchestrator *o, const PTOStripCall *calls, int32_t count, int64_t from,
                            int64_t times, int64_t body_ns)
{
    struct builder b;
    b.o = o;
    if (!build(&b, calls, count, from, times, body_ns)) return LEFT_TO_THE_LOOP;
    ptoi_stop_inline(o);
    o->inlined.coarse = o->rings.head + 1;
    const int64_t number = ptoi_submit_strip(o, calls[0].kernel, b.param, b.params, &b.text);
    if (number < 0) return number;
    CHECK(number != PTO_NO_TASK); /* no tensor is empty */
    count_strip(o, calls, count, times);
    return SUBMITTED;
}

/* The same with memory of its own, which it alone accesses: strips that follow each other may run at the same time. */
static int64_t submit_in_scope(struct orchestrator *o, const PTOStripCall *calls, int32_t count, int64_t from,
                               int64_t times, int64_t body_ns)
{
    ptoi_stop_inline(o);
    ptoi_orch_scope_begin(o);
    const PTOStatus status = ptoi_strip_make(o, calls, count, true);
    const int64_t result = status == PTO_OK ? submit_strip(o, calls, count, from, times, body_ns) : status;
    ptoi_strip_forget(calls, count);
    const PTOStatus end = ptoi_orch_scope_end(o);
    return end == PTO_OK ? result : end;
}

static int64_t submit_strips(struct orchestrator *o, int64_t iterations, const PTOStripCall *calls, int32_t count)
{
    const int64_t body_ns = time_of_body(o, calls, count);
    o->fast.open->offer_gap = body_ns > 0 ? TIMED_GAP : UNTIMED_GAP;
    const int64_t most = most_iterations(o, calls, count);
    const int64_t n = body_ns > 0 ? length(o, iterations, body_ns, is_chain(calls, count), most) : 1;
    bool has_private;
    o->run.has_strips = n > 1;
    if (n < 2 || !has_workers(o, calls, count)) return 0;
    if (ptoi_strip_lacks(calls, count, &has_private)) {
        ptoi_stop_inline(o);
        const PTOStatus status = ptoi_strip_make(o, calls, count, false);
        if (status != PTO_OK) return status;
    }
    for (int64_t from = 0; from < iterations;) {
        const int64_t times = n < iterations - from ? n : iterations - from;
        const int64_t result = has_private ? submit_in_scope(o, calls, count, from, times, body_ns)
                                           : submit_strip(o, calls, count, from, times, body_ns);
        if (result != SUBMITTED) return result == LEFT_TO_THE_LOOP ? from : result;
        from += times;
    }
    return iterations;
}

int64_t ptoi_orch_submit_strips(struct orchestrator *o, int64_t iterations, const PTOStripCall *calls, int32_t count)
{
    if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    if (!are_calls(calls, count)) return 0;
    const enum orchestrator_cause cause = ptoi_meter_enter(&o->flow.meter, CAUSE_SUBMIT);
    const int64_t taken = submit_strips(o, iterations, calls, count);
    ptoi_meter_enter(&o->flow.meter, cause);
    return taken;
}
