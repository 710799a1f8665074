/* test_chaining.c - tasks that are sent behind their producers: a machine of lanes on one thread, which runs what is
 * in them in any order of lanes.
 * Method     a runtime of the serial engine whose scheduler is given that machine; results are compared with those of
 *            the plain engine. */
#include "graph_fuzz.h"
#include "api/runtime.h"
#include "submit.h"
#include "unit.h"
#include "backend/worker.h"
#include "shared/sanitizer.h"

enum { LANES = 3, DEPTH = 64 };

static struct lanes {
    PTORuntime *rt;
    uint64_t seed;
    uint64_t task[LANES][DEPTH];
    int result[LANES][DEPTH];
    uint64_t sent[LANES], done[LANES], collected[LANES];
    int64_t started, followed;
    bool is_eager; /* everything that can follow does */
} lanes;

static uint64_t load_of(const struct lanes *l, int lane) { return l->sent[lane] - l->collected[lane]; }

static void send(struct lanes *l, int lane, uint64_t id) { l->task[lane][l->sent[lane]++ % DEPTH] = id; }

static bool start(void *context, PTOWorkerType type, uint64_t id, int *place)
{
    struct lanes *l = context;
    const int lane = (int)fuzz_below(&l->seed, LANES);
    (void)type;
    if (load_of(l, lane) > 2) return false;
    send(l, lane, id);
    l->started++;
    *place = lane;
    return true;
}

static bool follow(void *context, int place, uint64_t id)
{
    struct lanes *l = context;
    if (load_of(l, place) == DEPTH || (!l->is_eager && fuzz_below(&l->seed, 4) == 0)) return false;
    send(l, place, id);
    l->followed++;
    return true;
}

static int collect(void *context, struct completion *out, int max)
{
    struct lanes *l = context;
    int n = 0;
    for (int lane = 0; lane < LANES; lane++)
        for (; l->collected[lane] != l->done[lane] && n < max; l->collected[lane]++) {
            const uint64_t at = l->collected[lane] % DEPTH;
            out[n++] = (struct completion){.id = l->task[lane][at], .result = l->result[lane][at]};
        }
    return n;
}

/* One task of some lane, if there is any. */
static bool run_one(struct lanes *l)
{
    const int first = (int)fuzz_below(&l->seed, LANES);
    for (int i = 0; i < LANES; i++) {
        const int lane = (first + i) % LANES;
        const uint64_t at = l->done[lane] % DEPTH;
        if (l->done[lane] == l->sent[lane]) continue;
        l->result[lane][at] = ptoi_worker_run(l->rt->core.window, l->rt->core.backend, l->rt->core.heap,
                                              window_task(l->rt->core.window, l->task[lane][at]));
        l->done[lane]++;
        return true;
    }
    return false;
}

static void wake(void *context)
{
    (void)context;
    PTORuntime *rt = lanes.rt;
    if (fuzz_below(&lanes.seed, 4) == 0 && !lanes.is_eager) ptoi_sched_step(&rt->core.sched);
    if (fuzz_below(&lanes.seed, 4) == 0 && !lanes.is_eager) run_one(&lanes);
}

static bool wait_in_lanes(void *context, bool (*is_met)(void *arg), void *arg)
{
    (void)context;
    PTORuntime *rt = lanes.rt;
    for (;;) {
        const bool any = ptoi_sched_step(&rt->core.sched);
        EXPECT(ptoi_sched_is_valid(&rt->core.sched));
        if (is_met(arg)) return true;
        if (!run_one(&lanes) && !any && ptoi_sched_is_quiet(&rt->core.sched)) return false;
    }
}

static void failed(void *context, uint64_t id, int32_t result)
{
    (void)context;
    ptoi_core_failed(&lanes.rt->core, id, result);
}

static const struct role_ops ops_of_lanes = {
    .start = start, .collect = collect, .follow = follow, .failed = failed, .wake = wake, .wait = wait_in_lanes};

static PTORuntime *create_with_lanes(PTOConfig c, uint64_t seed, bool is_eager)
{
    c.engine = PTO_ENGINE_SERIAL;
    c.always_defer = true;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    lanes = (struct lanes){.rt = rt, .seed = seed, .is_eager = is_eager};
    rt->core.sched.ops = rt->core.orch.flow.ops = &ops_of_lanes;
    rt->core.sched.context = rt->core.orch.flow.context = &lanes;
    return rt;
}

TEST(random_programs_give_the_same_when_tasks_follow)
{
    static uint64_t a[CELLS], b[CELLS];
    int64_t followed = 0;
    const int64_t programs = PTOI_HAS_SANITIZER ? 150 : 600;
    for (uint64_t seed = 1; seed <= (uint64_t)programs; seed++) {
        uint64_t s = seed * 104729, digest[2];
        struct fuzz_program p = {.seed = seed, .tasks = 5 + (int)fuzz_below(&s, 200), .matrix = {a, b}};
        for (int side = 0; side < 2; side++) {
            PTOConfig c = fuzz_config(&s);
            c.engine = PTO_ENGINE_SERIAL;
            PTORuntime *rt = side ? create_with_lanes(c, seed, false) : pto_runtime_create(&c, NULL);
            assert_non_null(rt);
            fuzz_reset(&p);
            EXPECT_EQ(pto_runtime_run(rt, fuzz_orchestrate, &p), PTO_OK);
            if (side) EXPECT_EQ(lanes.started + lanes.followed, p.submitted);
            digest[side] = fuzz_digest(&p);
            pto_runtime_destroy(rt);
        }
        followed += lanes.followed;
        if (digest[0] != digest[1]) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        EXPECT_EQ(digest[0], digest[1]);
    }
    if (followed <= programs / 2) fail_msg("only %lld tasks followed", (long long)followed);
}

static int do_nothing(const PTOArg *a) { return (void)a, 0; }
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = do_nothing};
static const PTOKernel elsewhere = {.name = "elsewhere", .worker = PTO_WORKER_CUBE, .fn = do_nothing};
static char cells[8][64];

enum { LINKS = 40, READERS = 5 };

static void submit_chain(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < LINKS; i++) SUBMIT(rt, &nothing, PTO_INOUT(cells[0], 0, 64));
}

static void submit_fan(PTORuntime *rt, void *arg)
{
    (void)arg;
    SUBMIT(rt, &nothing, PTO_INOUT(cells[0], 0, 64));
    for (int i = 1; i <= READERS; i++) SUBMIT(rt, &nothing, PTO_INPUT(cells[0], 0, 64), PTO_INOUT(cells[i], 0, 64));
}

static void submit_iterations(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < LINKS; i++) SUBMIT(rt, i % 2 ? &elsewhere : &nothing, PTO_INOUT(cells[0], 0, 64));
}

/* Beside a chain something urgent that finds no room. */
static void submit_urgent(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 1; i < 8; i++) SUBMIT(rt, &nothing, PTO_PRIORITY(1), PTO_INOUT(cells[i], 0, 64));
    SUBMIT(rt, &nothing, PTO_PRIORITY(2), PTO_INOUT(cells[0], 0, 64));
    SUBMIT(rt, &nothing, PTO_INOUT(cells[0], 0, 64));
}

static int64_t chained_of(void (*program)(PTORuntime *rt, void *arg))
{
    PTORuntime *rt = create_with_lanes((PTOConfig){.workers = {1, 1, 1, 1}}, 1, true);
    EXPECT_EQ(pto_runtime_run(rt, program, NULL), PTO_OK);
    pto_runtime_destroy(rt);
    return lanes.followed;
}

TEST(a_whole_chain_follows_its_first_task)
{
    EXPECT_EQ(chained_of(submit_chain), LINKS - 1);
}
TEST(where_many_wait_for_a_task_none_follows)
{
    EXPECT_EQ(chained_of(submit_fan), 0);
}
TEST(a_task_follows_only_on_its_type_of_worker)
{
    EXPECT_EQ(chained_of(submit_iterations), 0);
}
TEST(nothing_follows_past_what_is_more_urgent)
{
    EXPECT_EQ(chained_of(submit_urgent), 0);
}
