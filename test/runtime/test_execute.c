/* test_execute.c - pto_runtime_execute on every engine: arrays of any memory, twice, overlapping, empty; what is
 * refused; failures. */
#include "submit.h"
#include <pto/pto_registry.h>
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING, PTO_ENGINE_PROCESS};
#ifdef __SANITIZE_THREAD__ /* it does not follow threads of a child that was forked by a process with threads */
enum { ENGINES = 3, N = 1000, BYTES = N * 8 };
#else
enum { ENGINES = 4, N = 1000, BYTES = N * 8 };
#endif

static int k_add(const PTOArg *a) /* dst = dst * 3 + src + value */
{
    const int64_t *src = a[0].ptr;
    int64_t *dst = a[1].ptr;
    for (int64_t i = 0; i < a[1].shape[0]; i++)
        dst[i] = (int64_t)((uint64_t)dst[i] * 3u + (uint64_t)src[i] + (uint64_t)a[2].value.i64);
    return 0;
}
static int k_fail(const PTOArg *a)
{
    *(int64_t *)a[0].ptr = 77;
    return 1;
}
static const PTOKernel add = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = k_add};
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_VECTOR, .fn = k_fail};

#define I64(n) PTO_ARRAY(PTO_I64, n)

static PTORuntime *create(PTOEngine engine)
{
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = engine, .workers = {1, 2}, .heap_bytes = 1 << 20}, NULL);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    return rt;
}

static void add_through_the_heap(PTORuntime *rt, void **inputs, void **outputs, void *params)
{
    void *P = pto_alloc(rt, PTO_SCOPE_CURRENT, BYTES);
    const int64_t value = *(int64_t *)params;
    SUBMIT(rt, &add, PTO_INPUT(inputs[0], 0, I64(N)), PTO_INOUT(outputs[0], 0, I64(N)), PTO_SCALAR(value));
    SUBMIT(rt, &add, PTO_INPUT(inputs[1], 0, I64(N)), PTO_INOUT(outputs[0], 0, I64(N)), PTO_SCALAR(value + 1));
    SUBMIT(rt, &add, PTO_INPUT(outputs[0], 0, I64(N)), PTO_INOUT(outputs[1], 0, I64(N / 2)), PTO_SCALAR(0));
    pto_release(rt, P);
}

static void fill(int64_t *a, int64_t seed)
{
    for (int i = 0; i < N; i++) a[i] = seed * 1000 + i;
}

TEST(ordinary_memory_holds_the_results_on_every_engine)
{
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create(engines[e]);
        for (int run = 0; run < 3; run++) {
            int64_t on_stack[N], *x = malloc(BYTES), *y = malloc(BYTES), *z = malloc(BYTES), value = run;
            fill(on_stack, 1), fill(x, 2), fill(y, 3), fill(z, 4);
            void *const in[] = {on_stack, x}, *const out[] = {y, z};
            const int64_t in_bytes[] = {BYTES, BYTES}, out_bytes[] = {BYTES, BYTES};
            EXPECT_EQ(pto_runtime_execute(rt, add_through_the_heap, in, in_bytes, 2, out, out_bytes, 2, &value),
                      PTO_OK);
            for (int i = 0; i < N; i++) {
                const int64_t one = (3000 + i) * 3 + on_stack[i] + run, two = one * 3 + x[i] + run + 1;
                EXPECT_EQ(y[i], two);
                EXPECT_EQ(z[i], i < N / 2 ? (4000 + i) * 3 + two : 4000 + i); /* what no task writes stays */
            }
            free(x), free(y), free(z);
            if (run == 1) EXPECT_EQ(pto_runtime_trim(rt), PTO_OK); /* the exchange starts anew */
        }
        pto_runtime_destroy(rt);
    }
}

/* ---- the same array several times, and arrays that overlap: against a model, at random ---- */
enum { ARRAYS = 6, BLOCK = 64, STEPS = 12 };

struct game {
    unsigned seed;
    int inputs, outputs;
    int64_t at[ARRAYS], elements[ARRAYS];
    int64_t model[BLOCK];
};

static unsigned draw(struct game *g, unsigned below)
{
    g->seed = g->seed * 1103515245u + 12345u;
    return (g->seed >> 8) % below;
}

static void play(PTORuntime *rt, void **inputs, void **outputs, void *params)
{
    struct game *g = params;
    for (int s = 0; s < STEPS && g->inputs > 0 && g->outputs > 0; s++) {
        const int from = (int)draw(g, (unsigned)g->inputs), to = g->inputs + (int)draw(g, (unsigned)g->outputs);
        const int64_t n = g->elements[from] < g->elements[to] ? g->elements[from] : g->elements[to];
        const int64_t apart = g->at[from] - g->at[to];
        if (n == 0 || (apart < n && -apart < n)) continue; /* one task may not write what it reads */
        SUBMIT(rt, &add, PTO_INPUT(inputs[from], 0, I64(n)), PTO_INOUT(outputs[to - g->inputs], 0, I64(n)),
               PTO_SCALAR(s));
        for (int64_t i = 0; i < n; i++)
            g->model[g->at[to] + i] =
                (int64_t)((uint64_t)g->model[g->at[to] + i] * 3u + (uint64_t)g->model[g->at[from] + i] + (uint64_t)s);
    }
}

TEST(arrays_may_overlap_and_be_given_twice)
{
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create(engines[e]);
        for (unsigned seed = 1; seed <= 300; seed++) {
            struct game g = {.seed = seed};
            int64_t block[BLOCK];
            void *array[ARRAYS];
            int64_t bytes[ARRAYS];
            for (int i = 0; i < BLOCK; i++) g.model[i] = block[i] = (int64_t)draw(&g, 1000);
            g.inputs = (int)draw(&g, 4);
            g.outputs = (int)draw(&g, 4);
            for (int a = 0; a < g.inputs + g.outputs; a++) {
                g.at[a] = draw(&g, 4) == 0 && a > 0 ? g.at[a - 1] : draw(&g, BLOCK);
                g.elements[a] = draw(&g, BLOCK + 1 - (unsigned)g.at[a]);
                array[a] = g.elements[a] == 0 && draw(&g, 2) ? NULL : block + g.at[a];
                bytes[a] = 8 * g.elements[a];
            }
            EXPECT_EQ(pto_runtime_execute(rt, play, array, bytes, g.inputs, array + g.inputs, bytes + g.inputs,
                                          g.outputs, &g),
                      PTO_OK);
            /* The whole array is an output where any task wrote: what overlaps only an input is not looked at. */
            for (int a = g.inputs; a < g.inputs + g.outputs; a++)
                EXPECT(memcmp(block + g.at[a], g.model + g.at[a], (size_t)bytes[a]) == 0);
        }
        pto_runtime_destroy(rt);
    }
}

/* ---- what is copied, and what is not ---- */
static void keep_pointers(PTORuntime *rt, void **inputs, void **outputs, void *params)
{
    void **kept = params;
    (void)rt;
    kept[0] = inputs[0];
    kept[1] = inputs[1];
    kept[2] = outputs[0];
}

#ifndef __SANITIZE_THREAD__
TEST(only_what_the_workers_do_not_share_is_copied)
{
    int64_t *before = pto_shared_alloc(4096), *freed = pto_shared_alloc(4096), own[8] = {0};
    pto_shared_free(freed, 4096);
    PTORuntime *rt = create(PTO_ENGINE_PROCESS);
    int64_t *after = pto_shared_alloc(4096); /* perhaps where the freed one was */
    void *const in[] = {before + 8, after}, *const out[] = {own};
    const int64_t in_bytes[] = {4096 - 64, 64}, out_bytes[] = {sizeof own};
    void *kept[3];
    EXPECT_EQ(pto_runtime_execute(rt, keep_pointers, in, in_bytes, 2, out, out_bytes, 1, kept), PTO_OK);
    EXPECT(kept[0] == in[0]);
    EXPECT(kept[1] != in[1]);
    EXPECT(kept[2] != out[0]);
    EXPECT_EQ((uintptr_t)kept[2] % 64, (uintptr_t)own % 64);
    pto_runtime_destroy(rt);
    rt = create(PTO_ENGINE_THREADS);
    EXPECT_EQ(pto_runtime_execute(rt, keep_pointers, in, in_bytes, 2, out, out_bytes, 1, kept), PTO_OK);
    EXPECT(kept[0] == in[0] && kept[1] == in[1] && kept[2] == out[0]);
    pto_runtime_destroy(rt);
    pto_shared_free(before, 4096);
    pto_shared_free(after, 4096);
}

TEST(tensors_of_a_shared_pool_are_not_copied)
{
    PTOPool *pool = pto_pool_shared(1 << 16);
    PTOTensor *before = pto_tensor_new(pool, PTO_I64, 1, (const int64_t[]){8});
    PTORuntime *rt = create(PTO_ENGINE_PROCESS);
    PTOTensor *after = pto_tensor_new(pool, PTO_I64, 1, (const int64_t[]){8}); /* of memory that was there */
    PTOTensor *other = pto_tensor_new(NULL, PTO_I64, 1, (const int64_t[]){8});
    void *in[] = {pto_tensor_map(before, PTO_READ_WRITE), pto_tensor_map(after, PTO_READ_WRITE)};
    void *out[] = {pto_tensor_map(other, PTO_READ_WRITE)}, *kept[3];
    const int64_t bytes[] = {64, 64};
    EXPECT_EQ(pto_runtime_execute(rt, keep_pointers, in, bytes, 2, out, bytes, 1, kept), PTO_OK);
    EXPECT(kept[0] == in[0] && kept[1] == in[1] && kept[2] != out[0]);
    pto_runtime_destroy(rt);
    PTOTensor *const all[] = {before, after, other};
    for (int i = 0; i < 3; i++) {
        pto_tensor_unmap(all[i]);
        pto_tensor_release(all[i]);
    }
    pto_pool_destroy(pool);
}
#endif

TEST(nothing_runs_on_the_engine_graph)
{
    PTORuntime *rt = create(PTO_ENGINE_GRAPH);
    static int64_t x[N], y[N], z[N];
    fill(y, 3), fill(z, 4);
    void *const in[] = {x, x}, *const out[] = {y, z};
    const int64_t bytes[] = {BYTES, BYTES};
    int64_t value = 1;
    EXPECT_EQ(pto_runtime_execute(rt, add_through_the_heap, in, bytes, 2, out, bytes, 2, &value), PTO_OK);
    EXPECT_EQ(pto_get_run_stats(rt)->tasks, 3);
    EXPECT(y[5] == 3005 && z[5] == 4005);
    pto_runtime_destroy(rt);
}

/* ---- failures ---- */
static void fail_on_the_way(PTORuntime *rt, void **inputs, void **outputs, void *params)
{
    (void)inputs;
    SUBMIT(rt, &failing, PTO_INOUT(outputs[0], 0, I64(1)));
    if (params) pto_cancel(rt);
}

TEST(after_an_error_an_output_holds_what_it_held_or_what_a_task_wrote)
{
    for (int e = 0; e < ENGINES; e++)
        for (int cancels = 0; cancels < 2; cancels++) {
            PTORuntime *rt = create(engines[e]);
            int64_t y[4] = {1, 2, 3, 4}, value = 5;
            void *const out[] = {y};
            const int64_t bytes[] = {sizeof y};
            EXPECT(pto_runtime_execute(rt, fail_on_the_way, NULL, NULL, 0, out, bytes, 1, cancels ? &value : NULL) < 0);
            EXPECT(engines[e] == PTO_ENGINE_PROCESS ? y[0] == 1 : y[0] == 1 || y[0] == 77);
            EXPECT(y[1] == 2 && y[2] == 3 && y[3] == 4);
            int64_t x[N], z[N], w[N]; /* the same runtime goes on */
            fill(x, 1), fill(z, 2), fill(w, 3);
            void *const in[] = {x, x}, *const outs[] = {z, w};
            const int64_t all[] = {BYTES, BYTES};
            EXPECT_EQ(pto_runtime_execute(rt, add_through_the_heap, in, all, 2, outs, all, 2, &value), PTO_OK);
            EXPECT_EQ(z[1], (2001 * 3 + 1001 + 5) * 3 + 1001 + 6);
            pto_runtime_destroy(rt);
        }
}

static void again(PTORuntime *rt, void **inputs, void **outputs, void *params)
{
    (void)inputs, (void)outputs;
    *(PTOStatus *)params = pto_runtime_execute(rt, again, NULL, NULL, 0, NULL, NULL, 0, NULL);
}

#define REFUSED(status, text, ...)                                                                                     \
    do {                                                                                                               \
        EXPECT_EQ(pto_runtime_execute(rt, __VA_ARGS__), status);                                                       \
        if (!strstr(pto_last_error(rt), text)) fprintf(stderr, "%s\n", pto_last_error(rt));                            \
        EXPECT(strstr(pto_last_error(rt), text) != NULL);                                                              \
    } while (0)

TEST(a_mistake_is_reported_with_the_number_of_the_array)
{
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create(engines[e]);
        int64_t x[4] = {0};
        void *const some[] = {x, NULL, x};
        const int64_t good[] = {8, 0, 8}, lost[] = {8, 8, 8}, negative[] = {8, 0, -8}, huge[] = {8, 0, INT64_MAX};
        void *const last[] = {(void *)(UINTPTR_MAX - 7)};
        EXPECT_EQ(pto_runtime_execute(NULL, keep_pointers, some, good, 3, NULL, NULL, 0, NULL), PTO_ERR_MISUSE);
        REFUSED(PTO_ERR_ARGUMENT, "no orchestration", NULL, some, good, 3, NULL, NULL, 0, NULL);
        REFUSED(PTO_ERR_ARGUMENT, "inputs[1], of 8 bytes: it is NULL", again, some, lost, 3, NULL, NULL, 0, NULL);
        REFUSED(PTO_ERR_ARGUMENT, "outputs[2], of -8 bytes", again, some, good, 3, some, negative, 3, NULL);
        REFUSED(PTO_ERR_ARGUMENT, "outputs[0], of 9223372036854775807 bytes: it ends", again, some, good, 3, last,
                huge + 2, 1, NULL);
        REFUSED(PTO_ERR_ARGUMENT, "each list", again, NULL, good, 3, NULL, NULL, 0, NULL);
        REFUSED(PTO_ERR_ARGUMENT, "each list", again, some, good, -1, NULL, NULL, 0, NULL);
        PTOStatus inner = PTO_OK;
        REFUSED(PTO_ERR_STATE, "inside a run", again, NULL, NULL, 0, NULL, NULL, 0, &inner);
        EXPECT_EQ(inner, PTO_ERR_STATE);
        pto_runtime_destroy(rt);
    }
}

#ifndef __SANITIZE_THREAD__
TEST(more_than_can_be_copied_is_unsupported)
{
    PTORuntime *rt = create(PTO_ENGINE_PROCESS);
    const int64_t most = (int64_t)65 << 30, sizes[] = {64, most};
    int64_t x[8] = {0};
    void *const large = mmap(NULL, (size_t)most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT(large != MAP_FAILED);
    void *const in[] = {x, large};
    REFUSED(PTO_ERR_UNSUPPORTED, "inputs[1], of 69793218560 bytes: the worker process does not share it", keep_pointers,
            in, sizes, 2, NULL, NULL, 0, NULL);
    munmap(large, (size_t)most);
    pto_runtime_destroy(rt);
}
#endif

/* A process that may not have so many addresses makes the runtime all the same. */
TEST(without_addresses_for_copies_ordinary_memory_is_unsupported)
{
#ifdef PTO_IS_SANITIZED_
    return; /* a sanitizer's shadow needs more addresses than that */
#endif
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {(rlim_t)4 << 30, (rlim_t)4 << 30};
        if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
        int64_t *shared = pto_shared_alloc(64), y[8] = {0};
        PTORuntime *rt = pto_runtime_create(
            &(PTOConfig){.engine = PTO_ENGINE_PROCESS, .workers = {1, 1}, .heap_bytes = 1 << 20}, NULL);
        if (!rt) _exit(3);
        void *const in[] = {shared, shared}, *const out[] = {y};
        const int64_t bytes[] = {64, 64};
        void *kept[3];
        if (pto_runtime_execute(rt, keep_pointers, in, bytes, 2, out, bytes, 1, kept) != PTO_ERR_UNSUPPORTED) _exit(4);
        if (!strstr(pto_last_error(rt),
                    "outputs[0], of 64 bytes: the worker process does not share it, and there are no addresses"))
            _exit(5);
        void *const shared_out[] = {shared};
        if (pto_runtime_execute(rt, keep_pointers, in, bytes, 2, shared_out, bytes, 1, kept) != PTO_OK ||
            kept[2] != shared)
            _exit(6);
        void *const empty[] = {shared, NULL}; /* an array without bytes needs no copy */
        const int64_t none[] = {64, 0};
        if (pto_runtime_execute(rt, keep_pointers, empty, none, 2, shared_out, bytes, 1, kept) != PTO_OK) _exit(7);
        pto_runtime_destroy(rt);
        _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}
