/* execute.c - pto_runtime_execute: a run on arrays of the host, whatever the workers can reach.
 *
 * Idea       arrays that overlap are one piece of memory, which is made known as a whole.  A piece that the workers of
 *            another process do not share is copied into the exchange, a range of shared addresses reserved before
 *            they were forked and has memory where arrays were copied to.  What a device needs is the business of its
 *            backend, which knows the pieces.
 * Owner      the thread that calls pto_runtime_execute: the orchestrator.
 * Invariant  pieces do not overlap; an address keeps its place in its line of the cache when it is copied.
 * Tests      test/runtime/test_execute.c, test/ascend/test_ascend.c */
#include "exchange.h"
#include "misuse.h"
#include "memory/pool.h"
#include "runtime.h"
#include "memory/shared_blocks.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct given_array {
    char *at;
    uint64_t bytes;
    const char *list; /* "inputs" or "outputs" */
    int32_t index;
    bool is_output;
    int32_t piece;
};

/* [low, high) of the caller's memory, and where its copy is; copy NULL: it needs none. */
struct piece {
    char *low, *high, *copy;
    const struct given_array *first;
};

struct execution {
    PTOOrchestration fn;
    void *params;
    int32_t arrays, pieces, inputs;
    struct given_array *array; /* by address, once they are joined */
    struct piece *piece;
    void **given; /* the inputs, then the outputs, for fn */
};

/* ---- the arrays -------------------------------------------------------------------------------------------------- */

static PTOStatus refuse(PTORuntime *rt, PTOStatus status, const struct given_array *a, const char *text)
{
    if (!ptoi_is_running(rt)) ptoi_run_status_reset(rt->core.run_status);
    if (a)
        ptoi_fail(rt->core.run_status, status, NULL, "pto_runtime_execute: %s[%d], of %lld bytes: %s", a->list,
                  a->index, (long long)a->bytes, text);
    else
        ptoi_fail(rt->core.run_status, status, NULL, "pto_runtime_execute: %s", text);
    return status;
}

static PTOStatus take_list(PTORuntime *rt, struct execution *e, const char *name, void *const *list,
                           const int64_t *bytes, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        struct given_array *a = &e->array[e->arrays];
        *a = (struct given_array){
            .at = list[i], .bytes = (uint64_t)bytes[i], .list = name, .index = i, .is_output = name[0] == 'o'};
        uintptr_t end;
        if (bytes[i] < 0) return refuse(rt, PTO_ERR_ARGUMENT, a, "a size is not negative");
        if (bytes[i] > 0 && !list[i]) return refuse(rt, PTO_ERR_ARGUMENT, a, "it is NULL");
        if (__builtin_add_overflow((uintptr_t)list[i], (uintptr_t)bytes[i], &end))
            return refuse(rt, PTO_ERR_ARGUMENT, a, "it ends past the last address");
        e->arrays++;
    }
    return PTO_OK;
}

static int by_address(const void *a, const void *b)
{
    const struct given_array *p = a, *q = b;
    return p->at < q->at ? -1 : p->at > q->at;
}

static void join(struct execution *e)
{
    qsort(e->array, (size_t)e->arrays, sizeof *e->array, by_address);
    for (int32_t i = 0; i < e->arrays; i++) {
        struct given_array *a = &e->array[i];
        if (a->bytes == 0) continue;
        struct piece *last = e->pieces > 0 ? &e->piece[e->pieces - 1] : NULL;
        if (!last || a->at >= last->high) {
            last = &e->piece[e->pieces++];
            *last = (struct piece){.low = a->at, .high = a->at + a->bytes, .first = a};
        }
        if (a->at + a->bytes > last->high) last->high = a->at + a->bytes;
        a->piece = e->pieces - 1;
    }
}

/* Says where each piece is copied to that the workers do not share, and sees to it that there is memory. */
static PTOStatus place(PTORuntime *rt, struct execution *e)
{
    enum { LINE = 64 };
    uint64_t end = 0;
    const struct piece *last = NULL;
    for (int32_t i = 0; i < e->pieces; i++) {
        struct piece *p = &e->piece[i];
        const uint64_t bytes = (uint64_t)(p->high - p->low),
                       at = (end + LINE - 1) / LINE * LINE + (uintptr_t)p->low % LINE;
        if (ptoi_shared_holds(p->low, bytes, rt->shared_youngest)) continue;
        if (!rt->exchange)
            return refuse(rt, PTO_ERR_UNSUPPORTED, p->first,
                          "the worker process does not share it, and there are no addresses for a copy: obtain it with "
                          "pto_shared_alloc "
                          "before the runtime is created, or allow this process more address space");
        if (at > PTOI_EXCHANGE_BYTES || bytes > PTOI_EXCHANGE_BYTES - at)
            return refuse(rt, PTO_ERR_UNSUPPORTED, p->first,
                          "the worker process does not share it, and copies of the arrays would need more than 64 GiB: "
                          "obtain it with "
                          "pto_shared_alloc before the runtime is created");
        p->copy = rt->exchange + at;
        end = at + bytes;
        last = p;
    }
    if (end > rt->exchange_ready) {
        const uint64_t page = 4096, ready = (end + page - 1) / page * page;
        if (!ptoi_pool_touch(rt->exchange + rt->exchange_ready, ready - rt->exchange_ready))
            return refuse(rt, PTO_ERR_NOMEM, last->first, "the system cannot provide memory for its copy");
        rt->exchange_ready = ready;
    }
    return PTO_OK;
}

static char *copy_of(const struct execution *e, const struct given_array *a)
{
    const struct piece *p = &e->piece[a->piece];
    return a->bytes > 0 && p->copy ? p->copy + (a->at - p->low) : a->at;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static void orchestrate(PTORuntime *rt, void *arg)
{
    const struct execution *e = arg;
    for (int32_t i = 0; i < e->pieces; i++) {
        const struct piece *p = &e->piece[i];
        pto_buffer(rt, p->copy ? p->copy : p->low, p->high - p->low);
    }
    if (ptoi_status(rt->core.run_status) == PTO_OK) e->fn(rt, e->given, e->given + e->inputs, e->params);
}

static PTOStatus execute(PTORuntime *rt, struct execution *e)
{
    join(e);
    if (rt->core.engine->is_split) {
        const PTOStatus status = place(rt, e);
        if (status != PTO_OK) return status;
    }
    for (int32_t i = 0; i < e->arrays; i++) {
        const struct given_array *a = &e->array[i];
        e->given[a->is_output ? e->inputs + a->index : a->index] = copy_of(e, a);
    }
    for (int32_t i = 0; i < e->pieces; i++) {
        const struct piece *p = &e->piece[i];
        if (p->copy) memcpy(p->copy, p->low, (size_t)(p->high - p->low));
    }
    const PTOStatus status = pto_runtime_run(rt, orchestrate, e);
    for (int32_t i = 0; i < e->arrays && status == PTO_OK; i++) {
        const struct given_array *a = &e->array[i];
        char *const copy = copy_of(e, a);
        if (a->is_output && copy != a->at) memcpy(a->at, copy, a->bytes);
    }
    return status;
}

PTOStatus pto_runtime_execute(PTORuntime *rt, PTOOrchestration fn, void *const *inputs, const int64_t *input_bytes,
                              int32_t n_inputs, void *const *outputs, const int64_t *output_bytes, int32_t n_outputs,
                              void *params)
{
    const PTOStatus refused = ptoi_refuse_run(rt, "pto_runtime_execute");
    if (refused != PTO_OK) return refused;
    if (!fn) return refuse(rt, PTO_ERR_ARGUMENT, NULL, "there is no orchestration to run");
    if (n_inputs < 0 || n_outputs < 0 || (n_inputs > 0 && (!inputs || !input_bytes)) ||
        (n_outputs > 0 && (!outputs || !output_bytes)))
        return refuse(rt, PTO_ERR_ARGUMENT, NULL,
                      "each list of arrays needs pointers, sizes, and a number that is not negative");
    const size_t count = (size_t)n_inputs + (size_t)n_outputs + 1;
    struct execution e = {.fn = fn, .params = params, .inputs = n_inputs};
    e.array = calloc(count, sizeof *e.array);
    e.piece = calloc(count, sizeof *e.piece);
    e.given = calloc(count, sizeof *e.given);
    PTOStatus status =
        e.array && e.piece && e.given ? PTO_OK : refuse(rt, PTO_ERR_NOMEM, NULL, "no memory for the lists of arrays");
    if (status == PTO_OK) status = take_list(rt, &e, "inputs", inputs, input_bytes, n_inputs);
    if (status == PTO_OK) status = take_list(rt, &e, "outputs", outputs, output_bytes, n_outputs);
    if (status == PTO_OK) status = execute(rt, &e);
    free(e.array);
    free(e.piece);
    free(e.given);
    return status;
}
