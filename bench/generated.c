/* generated.c - the graphs as nine.pto has them, through the C that ptoc makes of it; and its kernels.
 *
 * Idea       the stream of graphs.h is not used: the loops are the program's.  What `random` does is made before the
 *            clock starts, as the table that the program is given.
 *            BENCH_GATE=1 measures submitting and completing apart: the first task holds all others up until the
 *            orchestration has ended, which the linker shows, as the program's run goes on until all have run. */
#include "harness.h"
#include "nine.h"
#include "options.h"

static PTORuntime *rt;
static int64_t (*table)[6]; /* of random */

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* What the kernel is given are words of cells; only the first is used. */
static int run_kernel(uint32_t mode, uint64_t *out, uint32_t count, const uint64_t *a, const uint64_t *b,
                      const uint64_t *c, const uint64_t *d)
{
    if (harness_body != BODY_COMPUTE) {
        run_task(NULL);
        return 0;
    }
    const uint64_t *const in[] = {a, b, c, d};
    uint64_t h = mode == UPDATES ? *out : 1;
    for (uint32_t i = 0; i < count; i++) h = mix(h, *in[i] + i);
    *out = mix(h, 7);
    return 0;
}

#define STRIDE(x)        const int64_t *x##_stride
#define IGNORE1(x)       (void)x##_stride
#define IGNORE2(x, y)    IGNORE1(x), IGNORE1(y)
#define IGNORE3(x, y, z) IGNORE2(x, y), IGNORE1(z)
int bench_make(uint64_t *o, STRIDE(o))
{
    IGNORE1(o);
    return run_kernel(WRITES, o, 0, NULL, NULL, NULL, NULL);
}
int bench_from1(const uint64_t *a, STRIDE(a), uint64_t *o, STRIDE(o))
{
    IGNORE2(a, o);
    return run_kernel(WRITES, o, 1, a, NULL, NULL, NULL);
}
int bench_from2(const uint64_t *a, STRIDE(a), const uint64_t *b, STRIDE(b), uint64_t *o, STRIDE(o))
{
    IGNORE3(a, b, o);
    return run_kernel(WRITES, o, 2, a, b, NULL, NULL);
}
int bench_from3(const uint64_t *a, STRIDE(a), const uint64_t *b, STRIDE(b), const uint64_t *c, STRIDE(c), uint64_t *o,
                STRIDE(o))
{
    IGNORE3(a, b, o), IGNORE1(c);
    return run_kernel(WRITES, o, 3, a, b, c, NULL);
}
int bench_from4(const uint64_t *a, STRIDE(a), const uint64_t *b, STRIDE(b), const uint64_t *c, STRIDE(c),
                const uint64_t *d, STRIDE(d), uint64_t *o, STRIDE(o))
{
    IGNORE3(a, b, o), IGNORE2(c, d);
    return run_kernel(WRITES, o, 4, a, b, c, d);
}
int bench_update(uint64_t *o, STRIDE(o))
{
    IGNORE1(o);
    return run_kernel(UPDATES, o, 0, NULL, NULL, NULL, NULL);
}
int bench_update1(const uint64_t *a, STRIDE(a), uint64_t *o, STRIDE(o))
{
    IGNORE2(a, o);
    return run_kernel(UPDATES, o, 1, a, NULL, NULL, NULL);
}
int bench_update3(const uint64_t *a, STRIDE(a), const uint64_t *b, STRIDE(b), const uint64_t *c, STRIDE(c), uint64_t *o,
                  STRIDE(o))
{
    IGNORE3(a, b, o), IGNORE1(c);
    return run_kernel(UPDATES, o, 3, a, b, c, NULL);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void prepare(graph *g)
{
    if (g->shape != RANDOM) return;
    uint64_t state = random_seed();
    table = calloc((size_t)g->tasks, sizeof *table);
    if (!table) exit(3);
    for (long i = 0; i < g->tasks; i++) {
        long out, in[4];
        table[i][0] = random_task(&state, g->p[0], &out, in);
        table[i][1] = out;
        for (int j = 0; j < 4; j++) table[i][2 + j] = in[j];
    }
}

static void clean_up(graph *g)
{
    (void)g;
    free(table);
    table = NULL;
}

static PTOStatus run_shape(graph *g)
{
    const long *p = g->p;
    uint64_t *x = &g->cells->v, *result = &g->cells[g->result_begin].v;
    switch (g->shape) {
    case INDEP: return run_indep(rt, x, g->tasks);
    case CHAIN: return run_chain(rt, x, g->tasks);
    case BGEMM: return run_bgemm(rt, x, &g->cells[p[0] * p[1] * p[2]].v, result, p[0], p[1], p[2]);
    case STENCIL: return run_stencil(rt, x, p[1], p[0]);
    case WAVE2D: return run_wave2d(rt, x, p[1], p[0] + 1);
    case FAN: return run_fan(rt, x, p[0], p[1] + 1);
    case RANDOM: return run_random(rt, x, table[0], g->tasks, p[0]);
    case TREE: return run_tree(rt, result, p[0]);
    default: return PTO_ERR_ARGUMENT;
    }
}

static bool has_gate;
static int64_t ended_ns; /* the orchestration */

struct orchestrator;
void __real_ptoi_orch_end(struct orchestrator *o);
void __wrap_ptoi_orch_end(struct orchestrator *o);
void __wrap_ptoi_orch_end(struct orchestrator *o)
{
    ended_ns = now_ns();
    if (harness_body == BODY_HELD) __atomic_store_n(&harness_body, BODY_EMPTY, __ATOMIC_RELAXED);
    __real_ptoi_orch_end(o);
}

static void run_graph(graph *g, int64_t *submitted_ns)
{
    if (has_gate && harness_body == BODY_EMPTY) harness_body = BODY_HELD;
    expect_ok(rt, run_shape(g));
    *submitted_ns = ended_ns;
}

int main(int argc, char **argv)
{
    has_gate = option_number("BENCH_GATE", 0) != 0;
    only_results = true;
    before_run = prepare;
    after_run = clean_up;
    rt = runtime_from_options();
    const int result = harness_main(argc, argv);
    pto_runtime_destroy(rt);
    return result;
}
