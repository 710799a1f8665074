/* test_compaction.c - where the heap has room but no piece that is large enough, live buffers are moved, and the
 * program does not notice: random programs in heaps of exactly what they hold, on every engine. */
#include "submit.h"
#include "unit.h"
#include <pto/pto_program.h>
#include <stdlib.h>
#include <string.h>

enum { HEAP = 4096, LIVE = 12, STEPS = 400 };

static int fill(const PTOArg *a)
{
    uint8_t *p = a[0].ptr;
    for (int64_t i = 0; i < a[0].shape[0]; i++) p[i] = (uint8_t)(a[1].value.i64 + 7 * i);
    return 0;
}
/* b[i] = a[i] + b[i - 1], and c = the last */
static int run_up(const PTOArg *a)
{
    const uint8_t *from = a[0].ptr;
    uint8_t *to = a[1].ptr, *last = a[2].ptr, sum = 0;
    for (int64_t i = 0; i < a[0].shape[0]; i++) to[i] = sum = (uint8_t)(sum + from[i]);
    memset(last, sum, (size_t)a[2].shape[0]);
    return 0;
}
static int add(const PTOArg *a)
{
    const uint8_t *from = a[0].ptr;
    uint8_t *to = a[1].ptr;
    for (int64_t i = 0; i < a[0].shape[0] && i < a[1].shape[0]; i++) to[i] = (uint8_t)(to[i] * 3 + from[i]);
    return 0;
}
static const PTOKernel fill_kernel = {.name = "fill", .worker = PTO_WORKER_VECTOR, .fn = fill};
static const PTOKernel run_up_kernel = {.name = "run_up", .worker = PTO_WORKER_CUBE, .fn = run_up};
static const PTOKernel add_kernel = {.name = "add", .worker = PTO_WORKER_AI_CPU, .fn = add};

#define U8(n) PTO_ARRAY(PTO_U8, n)

struct program {
    uint64_t seed;
    bool with_stayer;
    int count;
    int64_t held; /* in granules */
    void *buffer[LIVE];
    int64_t bytes[LIVE];
    uint8_t want[LIVE][HEAP];
    int wrong, steps;
};

static int64_t granules(int64_t bytes) { return (bytes + 63) / 64; }

static uint64_t below(struct program *p, uint64_t n)
{
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return (p->seed >> 33) % n;
}

static void keep(struct program *p, void *buffer, int64_t bytes)
{
    p->buffer[p->count] = buffer;
    p->bytes[p->count++] = bytes;
    p->held += granules(bytes);
}

static void forget(PTORuntime *rt, struct program *p, int which)
{
    pto_release(rt, p->buffer[which]);
    p->held -= granules(p->bytes[which]);
    p->count--;
    p->buffer[which] = p->buffer[p->count];
    p->bytes[which] = p->bytes[p->count];
    memcpy(p->want[which], p->want[p->count], HEAP);
}

static void look(PTORuntime *rt, struct program *p, int which)
{
    const int64_t at = (int64_t)below(p, (uint64_t)p->bytes[which]);
    p->wrong += *(const uint8_t *)pto_await_element(rt, p->buffer[which], at, 1) != p->want[which][at];
}

static void step(PTORuntime *rt, struct program *p)
{
    const int64_t room = HEAP / 64 - (p->with_stayer ? 1 : 0) - p->held, bytes = 1 + (int64_t)below(p, HEAP / 3);
    const int a = p->count > 0 ? (int)below(p, (uint64_t)p->count) : 0,
              b = p->count > 0 ? (int)below(p, (uint64_t)p->count) : 0;
    const uint64_t what = below(p, 8);
    void *made = NULL, *last = NULL;
    if (what < 3 && p->count < LIVE && granules(bytes) <= room) {
        const int64_t value = (int64_t)below(p, 256);
        SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&made, 0, U8(bytes)), PTO_SCALAR(value));
        for (int64_t i = 0; i < bytes; i++) p->want[p->count][i] = (uint8_t)(value + 7 * i);
        keep(p, made, bytes);
    } else if (what < 5 && p->count > 0 && p->count + 1 < LIVE && granules(p->bytes[a]) + granules(bytes) <= room) {
        const int64_t n = p->bytes[a]; /* two outputs: the second may move the first */
        SUBMIT(rt, &run_up_kernel, PTO_INPUT(p->buffer[a], 0, U8(n)), PTO_OUTPUT(&made, 0, U8(n)),
               PTO_OUTPUT(&last, 0, U8(bytes)));
        uint8_t sum = 0;
        for (int64_t i = 0; i < n; i++) p->want[p->count][i] = sum = (uint8_t)(sum + p->want[a][i]);
        keep(p, made, n);
        memset(p->want[p->count], sum, (size_t)bytes);
        keep(p, last, bytes);
    } else if (what == 5 && p->count > 0 && a != b) {
        SUBMIT(rt, &add_kernel, PTO_INPUT(p->buffer[a], 0, U8(p->bytes[a])),
               PTO_INOUT(p->buffer[b], 0, U8(p->bytes[b])));
        for (int64_t i = 0; i < p->bytes[a] && i < p->bytes[b]; i++)
            p->want[b][i] = (uint8_t)(p->want[b][i] * 3 + p->want[a][i]);
    } else if (what == 6 && p->count > 0) {
        look(rt, p, a);
    } else if (p->count > 0) {
        forget(rt, p, a);
    }
}

static void run_program(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    int64_t *stayer = p->with_stayer ? pto_alloc_zeroed(rt, PTO_SCOPE_CURRENT, 8) : NULL;
    int depth = 0;
    for (p->steps = 0; p->steps < STEPS; p->steps++) {
        step(rt, p);
        if (stayer) p->wrong += (*stayer)++ != p->steps;
        /* what is made from now on is of another depth */
        if (depth < 5 && p->steps % 50 == 49) pto_scope_begin(rt), depth++;
    }
    for (int i = 0; i < p->count; i++) look(rt, p, i);
    while (depth-- > 0) pto_scope_end(rt);
}

static int64_t run_all(PTOConfig c, bool with_stayer, int programs)
{
    c.heap_bytes = HEAP;
    c.heap_rings = 1;
    int64_t moved = 0;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    struct program *p = malloc(sizeof *p);
    for (int i = 0; i < programs; i++) {
        *p = (struct program){.seed = 1000 + (uint64_t)i, .with_stayer = with_stayer};
        const PTOStatus status = pto_run_entry(rt, run_program, p);
        if (status != PTO_OK) fprintf(stderr, "program %d, step %d: %s\n", i, p->steps, pto_last_error(rt));
        EXPECT_EQ(status, PTO_OK);
        EXPECT_EQ(p->steps, STEPS);
        EXPECT_EQ(p->wrong, 0);
        moved += pto_get_run_stats(rt)->moved_bytes;
    }
    free(p);
    pto_runtime_destroy(rt);
    return moved;
}

TEST(serial)
{
    EXPECT(run_all((PTOConfig){.engine = PTO_ENGINE_SERIAL}, false, 30) > 0);
}
TEST(threads)
{
    EXPECT(run_all((PTOConfig){.engine = PTO_ENGINE_THREADS, .always_defer = true}, false, 20) > 0);
}
TEST(threads_in_a_tiny_window)
{
    EXPECT(run_all((PTOConfig){.engine = PTO_ENGINE_THREADS, .always_defer = true, .task_window = 2}, false, 10) > 0);
}
TEST(threads_that_run_what_is_short_at_once)
{
    EXPECT(run_all((PTOConfig){.engine = PTO_ENGINE_THREADS}, false, 10) > 0);
}
TEST(timing)
{
    EXPECT(run_all((PTOConfig){.engine = PTO_ENGINE_TIMING}, false, 10) > 0);
}
TEST(process)
{
    EXPECT(run_all((PTOConfig){.engine = PTO_ENGINE_PROCESS}, false, 5) > 0);
}
TEST(an_array_of_the_program_stays)
{
    EXPECT(run_all((PTOConfig){.engine = PTO_ENGINE_SERIAL}, true, 30) > 0);
}

/* Two of four are let go; what is left has the addresses of before, and a new one, in a place that has a name already,
 * one of its own. */
static void names(PTORuntime *rt, void *arg)
{
    bool *good = arg;
    void *p[4] = {NULL}, *wide = NULL, *late = NULL;
    for (int i = 0; i < 4; i++) SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&p[i], 0, U8(HEAP / 4)), PTO_SCALAR((int64_t)i));
    pto_release(rt, p[0]);
    pto_release(rt, p[2]);
    SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&wide, 0, U8(HEAP / 2)), PTO_SCALAR((int64_t)9));
    *good = pto_where(rt, p[1]) != p[1] && pto_where(rt, p[3]) != p[3];
    *good &= (char *)pto_where(rt, (char *)p[3] + 5) == (char *)pto_where(rt, p[3]) + 5;
    *good &= pto_where(rt, wide) != wide && wide != p[1] && wide != p[3];
    for (int i = 1; i < 4; i += 2) *good &= *(const uint8_t *)pto_await_element(rt, p[i], 3, 1) == (uint8_t)(i + 21);
    *good &= *(const uint8_t *)pto_await_element(rt, wide, 3, 1) == 30;
    pto_release(rt, wide);
    SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&late, 0, U8(64)), PTO_SCALAR((int64_t)1));
    *good &= *(const uint8_t *)pto_await_element(rt, late, 0, 1) == 1;
}

TEST(an_address_stays_a_name)
{
    for (int engine = PTO_ENGINE_THREADS; engine <= PTO_ENGINE_TIMING; engine++) {
        PTORuntime *rt =
            pto_runtime_create(&(PTOConfig){.engine = (PTOEngine)engine, .heap_bytes = HEAP, .heap_rings = 1}, NULL);
        assert_non_null(rt);
        for (int again = 0; again < 3; again++) {
            bool good = false;
            EXPECT_EQ(pto_run_entry(rt, names, &good), PTO_OK);
            EXPECT(good);
        }
        pto_runtime_destroy(rt);
    }
}

/* Who was given addresses to look at keeps them: pto_runtime_run promises that. */
static void fixed(PTORuntime *rt, void *arg)
{
    void *p[4] = {NULL}, *wide = NULL;
    for (int i = 0; i < 4; i++) SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&p[i], 0, U8(HEAP / 4)), PTO_SCALAR((int64_t)i));
    pto_release(rt, p[0]);
    pto_release(rt, p[2]);
    *(int64_t *)arg = SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&wide, 0, U8(HEAP / 2)), PTO_SCALAR((int64_t)9));
}

TEST(nothing_moves_where_the_program_has_addresses)
{
    PTORuntime *rt =
        pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = HEAP, .heap_rings = 1}, NULL);
    int64_t id = 0;
    EXPECT_EQ(pto_runtime_run(rt, fixed, &id), PTO_ERR_DEADLOCK);
    EXPECT(id < 0);
    pto_runtime_destroy(rt);
}
