/* test_second_mapping.c - the window and the heap mapped twice in one process: the orchestrator uses one mapping, the
 * scheduler and the worker the other, on one thread.  Random programs end right, so the window holds offsets only.
 * Method     a runtime of the serial engine, whose window and heap are replaced by a file in memory that is mapped at
 *            their addresses and once more elsewhere.  While the other side works, this side's mapping cannot be
 *            touched at all. */
#include "graph_fuzz.h"
#include "api/runtime.h"
#include "unit.h"
#include "backend/worker.h"
#include <sys/mman.h>

struct twice {
    char *first, *second;
    size_t bytes;
};

static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Puts a file with the same contents under the memory, and maps it a second time. */
static struct twice map_twice(void *memory, size_t bytes)
{
    struct twice t = {.bytes = whole_pages(bytes)};
    int file = memfd_create("twice", MFD_CLOEXEC);
    assert_true(file >= 0 && ftruncate(file, (off_t)t.bytes) == 0);
    t.second = mmap(NULL, t.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(t.second != MAP_FAILED);
    memcpy(t.second, memory, bytes);
    t.first = mmap(memory, t.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    assert_true(t.first == memory);
    close(file);
    return t;
}

static struct apart {
    PTORuntime *rt;
    struct twice window, heap;
    struct completion ended;
    bool has_ended;
    int64_t started;
} apart;

/* From here on the other side's addresses: what reads through this side's faults. */
static void enter_other_side(void)
{
    assert_int_equal(mprotect(apart.window.first, apart.window.bytes, PROT_NONE), 0);
    assert_int_equal(mprotect(apart.heap.first, apart.heap.bytes, PROT_NONE), 0);
}

static void leave_other_side(void)
{
    assert_int_equal(mprotect(apart.window.first, apart.window.bytes, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(mprotect(apart.heap.first, apart.heap.bytes, PROT_READ | PROT_WRITE), 0);
}

static bool start(void *context, PTOWorkerType type, uint64_t id, int *place)
{
    struct apart *a = context;
    (void)type, (void)place;
    if (a->has_ended) return false;
    struct window *const w = (struct window *)(void *)a->window.second;
    a->ended = (struct completion){.id = id};
    a->ended.result = ptoi_worker_run(w, a->rt->core.backend, a->heap.second, window_task(w, id));
    a->has_ended = true;
    a->started++;
    return true;
}

static int collect(void *context, struct completion *out, int max)
{
    struct apart *a = context;
    if (!a->has_ended || max < 1) return 0;
    out[0] = a->ended;
    a->has_ended = false;
    return 1;
}

static bool work(struct scheduler *s)
{
    enter_other_side();
    bool any = ptoi_sched_step(s);
    ptoi_sched_notify_quiet(s);
    leave_other_side();
    return any;
}

static void wake(void *context)
{
    struct apart *a = context;
    while (work(&a->rt->core.sched)) {}
}

/* Asks the window, as an orchestrator in another process does. */
static bool wait_apart(void *context, bool (*is_met)(void *arg), void *arg)
{
    PTORuntime *rt = ((struct apart *)context)->rt;
    for (;;) {
        const bool quiet = ptoi_window_is_quiet(rt->core.window);
        if (is_met(arg)) return true;
        if (quiet) return false;
        work(&rt->core.sched);
    }
}

static void failed(void *context, uint64_t id, int32_t result)
{
    ptoi_core_failed(&((struct apart *)context)->rt->core, id, result);
}

static const struct role_ops ops_apart = {
    .start = start, .collect = collect, .failed = failed, .wake = wake, .wait = wait_apart};

static void take_apart(PTORuntime *rt)
{
    apart = (struct apart){.rt = rt,
                           .window = map_twice(rt->core.window, rt->core.window_bytes),
                           .heap = map_twice(rt->core.heap, rt->core.heap_bytes)};
    assert_true(apart.window.first != apart.window.second && apart.heap.first != apart.heap.second);
    ptoi_sched_see(&rt->core.sched, (struct window *)(void *)apart.window.second);
    rt->core.sched.ops = rt->core.orch.flow.ops = &ops_apart;
    rt->core.sched.context = rt->core.orch.flow.context = &apart;
}

static void put_together(void)
{
    munmap(apart.window.second, apart.window.bytes);
    munmap(apart.heap.second, apart.heap.bytes);
}

TEST(random_programs_run_with_the_window_at_two_addresses)
{
    static uint64_t a[CELLS], b[CELLS];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t s = seed * 104729;
        struct fuzz_program p = {.seed = seed, .tasks = 5 + (int)fuzz_below(&s, 200), .matrix = {a, b}};
        uint64_t digest[2];
        for (int side = 0; side < 2; side++) {
            PTOConfig c = fuzz_config(&s);
            c.engine = PTO_ENGINE_SERIAL;
            c.always_defer = true;
            PTORuntime *rt = pto_runtime_create(&c, NULL);
            assert_non_null(rt);
            if (side == 1) take_apart(rt);
            fuzz_reset(&p);
            EXPECT_EQ(pto_runtime_run(rt, fuzz_orchestrate, &p), PTO_OK);
            if (side == 1) EXPECT_EQ(apart.started, p.submitted);
            digest[side] = fuzz_digest(&p);
            if (side == 1) put_together();
            pto_runtime_destroy(rt);
        }
        if (digest[0] != digest[1]) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        EXPECT_EQ(digest[0], digest[1]);
    }
}

static void hoard(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (;;)
        if (!pto_alloc(rt, PTO_SCOPE_CURRENT, 512)) return;
}

TEST(a_deadlock_is_proved_through_the_window_alone)
{
    PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .always_defer = true, .heap_bytes = 2048, .heap_rings = 1};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    take_apart(rt);
    EXPECT_EQ(pto_runtime_run(rt, hoard, NULL), PTO_ERR_DEADLOCK);
    put_together();
    pto_runtime_destroy(rt);
}
