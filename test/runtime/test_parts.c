/* test_parts.c - arguments of which a task reads all and writes a part: PTO_INOUT_PART. */
#include "submit.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <string.h>
#include <sys/mman.h>

static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING, PTO_ENGINE_PROCESS};
enum { ENGINES = 4, ROWS = 9, COLUMNS = 11 };

/* Two dimensions: indices first + k * step, k in [0, count). */
struct box {
    int64_t first[2], count[2], step[2];
};

static int64_t below(uint64_t *seed, int64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((*seed >> 33) % (uint64_t)n);
}

static struct box random_box(uint64_t *seed, const int64_t *extent, bool may_be_empty)
{
    struct box b;
    for (int d = 0; d < 2; d++) {
        const int64_t step = 1 + below(seed, 3), least = may_be_empty && below(seed, 8) == 0 ? 0 : 1;
        b.first[d] = below(seed, extent[d]);
        const int64_t most = (extent[d] - b.first[d] + step - 1) / step;
        b.count[d] = least == 0 ? 0 : 1 + below(seed, most);
        b.step[d] = step;
        if (below(seed, 6) == 0 && b.count[d] > 0) { /* backwards */
            b.first[d] += (b.count[d] - 1) * step;
            b.step[d] = -step;
        }
    }
    return b;
}

static int64_t index_of(const struct box *b, int d, int64_t k) { return b->first[d] + k * b->step[d]; }

/* A box of the elements of a box. */
static struct box inside(const struct box *outer, const struct box *b)
{
    struct box r = *b;
    for (int d = 0; d < 2; d++) {
        r.first[d] = index_of(outer, d, b->first[d]);
        r.step[d] = outer->step[d] * b->step[d];
    }
    return r;
}

static bool meet(const struct box *a, const struct box *b)
{
    bool dim[2] = {false, false};
    for (int d = 0; d < 2; d++)
        for (int64_t i = 0; i < a->count[d]; i++)
            for (int64_t j = 0; j < b->count[d]; j++) dim[d] |= index_of(a, d, i) == index_of(b, d, j);
    return dim[0] && dim[1];
}

/* Writes to each element of the part what the sum of the region makes of it.  The scalars are the part, as it lies in
 * the region. */
static int k_smooth(const PTOArg *a)
{
    uint64_t *x = a[0].ptr, sum = (uint64_t)a[1].value.i64;
    for (int64_t i = 0; i < a[0].shape[0]; i++)
        for (int64_t j = 0; j < a[0].shape[1]; j++) sum = 31 * sum + x[i * a[0].stride[0] + j * a[0].stride[1]];
    for (int64_t i = 0; i < a[4].value.i64; i++)
        for (int64_t j = 0; j < a[7].value.i64; j++)
            x[(a[2].value.i64 + i * a[3].value.i64) * a[0].stride[0] +
              (a[5].value.i64 + j * a[6].value.i64) * a[0].stride[1]] += sum + (uint64_t)(i * 7 + j);
    return 0;
}
static const PTOKernel smooth = {.name = "smooth", .worker = PTO_WORKER_VECTOR, .fn = k_smooth};

/* Memory that the workers of the engine `process` share. */
static void *shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

enum { BYTES = ROWS * COLUMNS * sizeof(uint64_t) };

struct job {
    uint64_t *x, seed;
    int count;
    bool in_heap, plain; /* plain: without parts, which means the same */
    struct box region[2], part[2];
};

static void submit_smooth(PTORuntime *rt, struct job *j, void *x, int n)
{
    static const int64_t extent[2] = {ROWS, COLUMNS};
    const struct box region = random_box(&j->seed, extent, false);
    const struct box own = random_box(&j->seed, region.count, true), part = inside(&region, &own);
    if (n < 2) j->region[n] = region, j->part[n] = part;
#define SCALARS                                                                                                        \
    PTO_SCALAR(n), PTO_SCALAR(own.first[0]), PTO_SCALAR(own.step[0]), PTO_SCALAR(own.count[0]),                        \
        PTO_SCALAR(own.first[1]), PTO_SCALAR(own.step[1]), PTO_SCALAR(own.count[1])
    if (j->plain)
        SUBMIT(rt, &smooth,
               PTO_INOUT(x, region.first[0] * COLUMNS + region.first[1],
                         PTO_STRIDED(PTO_I64, (region.count[0], region.count[1]),
                                     (region.step[0] * COLUMNS, region.step[1]))),
               SCALARS);
    else
        SUBMIT(rt, &smooth,
               PTO_INOUT_PART(
                   x, region.first[0] * COLUMNS + region.first[1],
                   PTO_STRIDED(PTO_I64, (region.count[0], region.count[1]), (region.step[0] * COLUMNS, region.step[1])),
                   PTO_PART(part.first[0] * COLUMNS + part.first[1], (part.count[0], part.count[1]),
                            (part.step[0] * COLUMNS, part.step[1]))),
               SCALARS);
}

static int k_copy(const PTOArg *a)
{
    memcpy(a[1].ptr, a[0].ptr, BYTES);
    return 0;
}
static const PTOKernel copy = {.name = "copy", .worker = PTO_WORKER_VECTOR, .fn = k_copy};

static void smooth_all(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    void *P = NULL, *x = j->x, *to = j->x;
    memset(j->x, 0, BYTES);
    if (j->in_heap) {
        SUBMIT(rt, &copy, PTO_INPUT(j->x, 0, BYTES), PTO_OUTPUT(&P, 0, BYTES));
        x = P;
    }
    for (int n = 0; n < j->count; n++) submit_smooth(rt, j, x, n);
    if (j->in_heap) SUBMIT(rt, &copy, PTO_INPUT(P, 0, BYTES), PTO_OUTPUT(&to, 0, BYTES));
}

static PTORuntime *create(const PTOConfig *c)
{
    PTORuntime *rt = pto_runtime_create(c, NULL);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    return rt;
}

static void run_fine(PTORuntime *rt, void (*fn)(PTORuntime *, void *), void *arg)
{
    const PTOStatus status = pto_runtime_run(rt, fn, arg);
    if (status != PTO_OK) fprintf(stderr, "%s\n", pto_last_error(rt));
    assert_int_equal(status, PTO_OK);
}

TEST(two_tasks_depend_exactly_if_a_part_meets_the_region_of_the_other)
{
    for (int in_heap = 0; in_heap < 2; in_heap++) {
        const PTOConfig c = {.engine = PTO_ENGINE_TIMING, .count_dependences = true};
        uint64_t x[ROWS * COLUMNS];
        PTORuntime *rt = create(&c);
        int apart = 0;
        for (uint64_t seed = 1; seed <= 3000; seed++) {
            struct job j = {.x = x, .seed = seed, .count = 2, .in_heap = in_heap};
            run_fine(rt, smooth_all, &j);
            const bool depends = meet(&j.part[0], &j.region[1]) || meet(&j.part[1], &j.region[0]);
            apart += !depends && meet(&j.region[0], &j.region[1]);
            int64_t expected = depends;
            if (in_heap) { /* both read what the copy made, and are read or followed by the last one */
                expected += 2;
                const int64_t got = pto_get_run_stats(rt)->dependences - expected;
                EXPECT(got >= 1 && got <= 3);
                continue;
            }
            if (pto_get_run_stats(rt)->dependences != expected) fprintf(stderr, "seed %d\n", (int)seed);
            EXPECT_EQ(pto_get_run_stats(rt)->dependences, expected);
        }
        EXPECT(apart > 100); /* neighbours whose regions meet, but no part */
        pto_runtime_destroy(rt);
    }
}

TEST(parts_give_what_whole_regions_give)
{
    uint64_t *x = shared(BYTES), want[ROWS * COLUMNS];
    for (int e = 0; e < ENGINES; e++)
        for (int64_t window = 2; window <= 64; window *= 32) {
            const PTOConfig c = {.engine = engines[e],
                                 .always_defer = true,
                                 .task_window = window,
                                 .tensormap_entries = window * 2,
                                 .workers = {[PTO_WORKER_VECTOR] = 3}};
            PTORuntime *rt = create(&c);
            for (uint64_t seed = 1; seed <= 40; seed++) {
                struct job plain = {.x = x, .seed = seed, .count = 60, .in_heap = seed % 2, .plain = true}, j = plain;
                run_fine(rt, smooth_all, &plain);
                memcpy(want, x, BYTES);
                j.plain = false;
                run_fine(rt, smooth_all, &j);
                EXPECT(memcmp(x, want, BYTES) == 0);
            }
            pto_runtime_destroy(rt);
        }
    munmap(x, BYTES);
}

/* ---- mistakes ---- */

struct bad {
    int64_t *x;
    int form;
    bool spoils;
};

static int k_spoil(const PTOArg *a)
{
    int64_t *x = a[0].ptr;
    for (int64_t i = 1; i < a[0].shape[0] - 1; i++) x[i] += 1;
    if (a[1].value.b) x[a[0].shape[0] - 1] += 1;
    return 0;
}
static const PTOKernel spoil = {.name = "spoil", .worker = PTO_WORKER_VECTOR, .fn = k_spoil};

static void submit_spoil(PTORuntime *rt, void *arg)
{
    struct bad *b = arg;
    SUBMIT(rt, &spoil, PTO_INOUT_PART(b->x, 2, PTO_ARRAY(PTO_I64, 6), PTO_PART(3, (4), (1))), PTO_TIMEOUT(1000000),
           PTO_SCALAR(b->spoils));
}

TEST(a_checked_run_finds_a_write_outside_of_the_part)
{
    for (int e = 0; e < ENGINES; e++) {
        const PTOConfig c = {.engine = engines[e], .checked = true};
        struct bad b = {.x = shared(24 * sizeof(int64_t))}; /* before the other process begins */
        PTORuntime *rt = create(&c);
        run_fine(rt, submit_spoil, &b);
        b.spoils = true;
        EXPECT_EQ(pto_runtime_run(rt, submit_spoil, &b), PTO_ERR_KERNEL);
        EXPECT(strstr(pto_last_error(rt), "kernel 'spoil' writes its argument 1 outside of the part that it declares: "
                                          "first at element [5] (task ") != NULL);
        EXPECT(b.x[2] == 0 && b.x[3] == 2 && b.x[7] == 0); /* no harm done */
        pto_runtime_destroy(rt);
        munmap(b.x, 24 * sizeof(int64_t));
    }
}

static void submit_bad(PTORuntime *rt, void *arg)
{
    struct bad *b = arg;
    const PTOTaskParam forms[] = {
        PTO_INOUT_PART(b->x, 2, PTO_ARRAY(PTO_I64, 6), PTO_PART(1, (4), (1))),  /* before the region */
        PTO_INOUT_PART(b->x, 2, PTO_ARRAY(PTO_I64, 6), PTO_PART(5, (4), (1))),  /* behind it */
        PTO_INOUT_PART(b->x, 2, PTO_ARRAY(PTO_I64, 6), PTO_PART(3, (-1), (1))), /* no extent */
        PTO_INOUT_PART(b->x, 2, PTO_ARRAY(PTO_I64, 6), PTO_PART(3, (2, 2), (1, 1))),
        PTO_INOUT_PART(b->x, 2, PTO_ARRAY(PTO_I64, 6), PTO_PART(INT64_MAX / 2, (4), (1))),
        PTO_INOUT_PART(b->x, 0, 64, PTO_PART(1, (4), (1))), /* a flat range */
        PTO_INOUT_PART(b->x, 2, PTO_ARRAY(PTO_I64, 6), (const PTOPart *)NULL),
    };
    const PTOTaskParam params[] = {forms[b->form], PTO_SCALAR(false)};
    (pto_submit_task)(rt, &spoil, params, 2);
}

TEST(a_part_that_is_no_part_is_refused)
{
    static const char beyond[] = "the part that the task writes goes beyond what it is given";
    static const char *const sentences[] = {beyond,
                                            beyond,
                                            beyond,
                                            "its part has 2 dimensions, but the parameter has 1",
                                            beyond,
                                            "its part has 1 dimensions, but the parameter has 0",
                                            "PTO_INOUT_PART without a part"};
    for (int e = 0; e < 3; e++) {
        const PTOConfig c = {.engine = engines[e]};
        PTORuntime *rt = create(&c);
        for (int form = 0; form < 7; form++) {
            int64_t x[24];
            struct bad b = {.x = x, .form = form};
            EXPECT_EQ(pto_runtime_run(rt, submit_bad, &b), PTO_ERR_ARGUMENT);
            EXPECT(strstr(pto_last_error(rt), sentences[form]) != NULL);
        }
        pto_runtime_destroy(rt);
    }
}
