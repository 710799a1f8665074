/* capi.c - the graphs by hand on the C API.
 *
 * Idea       one call a task with the addresses that the stream gives, as the peers get them: nothing is left to the
 *            runtime's heap, and nothing is known before the call but how many parameters it has.
 *            BENCH_GATE=1 measures submitting and completing apart: the first task, on a worker of its own type, holds
 *            all others up until the last submit has returned.  All must fit the window. */
#include "harness.h"
#include "options.h"
#include <pthread.h>
#include <stdatomic.h>

static PTORuntime *rt;
static _Atomic bool is_open;
static bool has_gate;
static cell gate;

/* Its arguments: how it writes, what it writes, what it reads. */
static int any_task(const PTOArg *a)
{
    if (harness_body != BODY_COMPUTE) {
        run_task(NULL);
        return 0;
    }
    task t = {.out = a[1].ptr, .mode = (uint32_t)a[0].value.i64 & 1, .in_count = (uint32_t)a[0].value.i64 >> 1};
    for (uint32_t i = 0; i < t.in_count; i++) t.in[i] = a[2 + i].ptr;
    compute(&t);
    return 0;
}
static const PTOKernel kernel = {.name = "task", .worker = PTO_WORKER_VECTOR, .fn = any_task};

static int hold_up(const PTOArg *a)
{
    (void)a;
    while (!atomic_load_explicit(&is_open, memory_order_acquire)) {}
    return 0;
}
static const PTOKernel holding = {.name = "gate", .worker = PTO_WORKER_VECTOR, .fn = hold_up};

struct submission {
    graph *g;
    int64_t *submitted_ns;
};

/* The array is one buffer, a cell is a tile of it: its bytes, or two rows of two numbers of a matrix with four
 * columns. */
#ifdef BENCH_TILES
#define EXTENT       PTO_STRIDED(PTO_F64, (2, 2), (4, 1))
#define PLACE(index) (8 * (index))
#else
#define EXTENT       sizeof(cell)
#define PLACE(index) (index)
#endif

static inline void submit(void *context, const task *t)
{
    const struct submission *s = context;
    PTORuntime *r = rt;
    cell *const *in = t->in;
    void *cells = s->g->cells;
#define AT(x)          PLACE((x) - (cell *)cells)
#define WRITTEN        PTO_SCALAR((int64_t)(t->in_count << 1 | WRITES)), PTO_OUTPUT(&cells, AT(t->out), EXTENT)
#define UPDATED        PTO_SCALAR((int64_t)(t->in_count << 1 | UPDATES)), PTO_INOUT(cells, AT(t->out), EXTENT)
#define READ(i)        PTO_INPUT(cells, AT(in[i]), EXTENT)
#define SUBMIT(n, ...) pto_submit_task(r, &kernel, (PTOTaskParam[]){__VA_ARGS__}, 2 + n)
    switch (t->in_count * 2 + t->mode) {
    case 0 + WRITES: SUBMIT(0, WRITTEN); break;
    case 2 + WRITES: SUBMIT(1, WRITTEN, READ(0)); break;
    case 4 + WRITES: SUBMIT(2, WRITTEN, READ(0), READ(1)); break;
    case 6 + WRITES: SUBMIT(3, WRITTEN, READ(0), READ(1), READ(2)); break;
    case 8 + WRITES: SUBMIT(4, WRITTEN, READ(0), READ(1), READ(2), READ(3)); break;
    case 0 + UPDATES: SUBMIT(0, UPDATED); break;
    case 2 + UPDATES: SUBMIT(1, UPDATED, READ(0)); break;
    default: SUBMIT(3, UPDATED, READ(0), READ(1), READ(2)); break; /* no graph updates with 2 or 4 reads */
    }
}

static void orchestrate(PTORuntime *r, void *arg)
{
    struct submission *s = arg;
    pto_buffer(r, s->g->cells, (int64_t)(s->g->cell_count * sizeof(cell)));
    if (has_gate) pto_submit_task(r, &holding, (PTOTaskParam[]){PTO_INOUT(&gate, 0, sizeof gate)}, 1);
    graph_emit(s->g, submit, s);
    *s->submitted_ns = now_ns();
    atomic_store_explicit(&is_open, true, memory_order_release);
}

static void run_graph(graph *g, int64_t *submitted_ns)
{
    struct submission s = {g, submitted_ns};
    atomic_store_explicit(&is_open, false, memory_order_relaxed);
    expect_ok(rt, pto_runtime_run(rt, orchestrate, &s));
}

int main(int argc, char **argv)
{
    has_gate = option_number("BENCH_GATE", 0) != 0;
    rt = runtime_from_options();
    const int result = harness_main(argc, argv);
    pto_runtime_destroy(rt);
    return result;
}
