/* test_record.c - what a record says of time: nanoseconds of the run that was recorded, whatever clock took them. */
#include "api/runtime.h"
#include "submit.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include "shared/system.h"
#include <time.h>
#include <unistd.h>

enum { TASKS = 20, PAUSE_NS = 2000000 };

static char cell[TASKS][64];

static int pause_for_2_ms(const PTOArg *a)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    (void)a;
    nanosleep(&pause, NULL);
    return 0;
}
static const PTOKernel pausing = {.name = "pausing", .worker = PTO_WORKER_VECTOR, .fn = pause_for_2_ms};

static void orchestrate(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < TASKS; i++) SUBMIT(rt, &pausing, PTO_INOUT(cell[i], 0, 64));
}

static void expect_inside(int64_t at, int64_t low, int64_t high)
{
    const int64_t slack = 1000000; /* what the rate may be wrong by, and where the two clocks were read */
    if (at < low - slack || at > high + slack)
        fail_msg("%lld is not in %lld .. %lld", (long long)at, (long long)low, (long long)high);
}

/* Two runs of one runtime; before the second the clocks have drifted as far as they do. */
TEST(recorded_times_are_nanoseconds_of_the_run)
{
    static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS};
    for (int n = 0; n < 3; n++) {
        PTOConfig c = {.engine = engines[n], .record_tasks = 64};
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        assert_non_null(rt);
        for (int run = 0; run < 2; run++) {
            const int64_t before = ptoi_clock_ns();
            EXPECT_EQ(pto_runtime_run(rt, orchestrate, NULL), PTO_OK);
            const int64_t after = ptoi_clock_ns();
            EXPECT_EQ(rt->core.recorder->tasks, TASKS);
            ptoi_record_settle(rt->core.recorder);
            ptoi_record_settle(rt->core.recorder); /* once more changes nothing */
            expect_inside(rt->core.recorder->origin, before, after);
            for (int i = 0; i < TASKS; i++) {
                const struct recorded_task *t = &rt->core.recorder->task[i];
                expect_inside(t->submitted, before, after);
                expect_inside(t->begin, before, after);
                expect_inside(t->end, before, after);
                EXPECT(t->end - t->begin > PAUSE_NS / 2);
                if (t->begin < t->submitted - 1000)
                    fail_msg("engine %d: task %d begins %lld ns before it was submitted", n, i,
                             (long long)(t->submitted - t->begin));
            }
            EXPECT(rt->core.recorder->samples == TASKS);
            for (int i = 0; i < TASKS; i++) {
                expect_inside(rt->core.recorder->sample[i].at, before, after);
                EXPECT(rt->core.recorder->sample[i].tasks > 0); /* its own task is in flight */
            }
            EXPECT(rt->core.recorder->steps > 0 || engines[n] == PTO_ENGINE_SERIAL);
            for (uint64_t i = 0; i < rt->core.recorder->steps; i++)
                EXPECT(rt->core.recorder->step[i].begin <= rt->core.recorder->step[i].end);
        }
        pto_runtime_destroy(rt);
    }
}

/* Simulated time stays what it is. */
TEST(recorded_cycles_are_not_converted)
{
    PTOConfig c = {.engine = PTO_ENGINE_TIMING, .record_tasks = 64};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_runtime_run(rt, orchestrate, NULL), PTO_OK);
    ptoi_record_settle(rt->core.recorder);
    for (int i = 0; i < TASKS; i++) EXPECT_EQ(rt->core.recorder->task[i].end - rt->core.recorder->task[i].begin, 1);
    pto_runtime_destroy(rt);
}

/* What is beyond the capacity is left out; the first entries are kept. */
TEST(steps_and_waits_are_kept_up_to_the_capacity)
{
    struct recorder r;
    EXPECT(ptoi_record_init(&r, 4, false));
    ptoi_record_begin(&r, 0);
    for (int64_t i = 1; i <= 6; i++) {
        ptoi_record_step(&r, i, i + 10);
        ptoi_record_wait(&r, PTO_STALL_TASK_RING, i, i + 20);
    }
    EXPECT_EQ(r.steps, 4);
    EXPECT_EQ(r.waits, 4);
    EXPECT_EQ(r.lost_other, 2);
    for (int64_t i = 1; i <= 4; i++) {
        EXPECT_EQ(r.step[i - 1].begin, i);
        EXPECT_EQ(r.step[i - 1].end, i + 10);
        EXPECT_EQ(r.wait[i - 1].begin, i);
        EXPECT_EQ(r.wait[i - 1].end, i + 20);
    }
    ptoi_record_free(&r);
}

TEST(a_graph_as_text_says_how_many_tasks_it_leaves_out)
{
    PTOConfig c = {.engine = PTO_ENGINE_TIMING, .record_tasks = 4};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_runtime_run(rt, orchestrate, NULL), PTO_OK);
    char path[] = "/tmp/pto_graph_XXXXXX.txt", line[256] = "";
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    EXPECT_EQ(pto_runtime_write_graph(rt, path), PTO_OK);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    int lines = 0;
    while (fgets(line, sizeof line, f)) lines++;
    EXPECT_EQ(lines, 5);
    EXPECT_STR(line, "16 more tasks were not recorded\n");
    fclose(f);
    remove(path);
    pto_runtime_destroy(rt);
}

/* Scopes whose first submit is one line are one node of their parent; without room they count as the parent. */
TEST(scopes_are_folded_by_their_line_and_their_parent)
{
    static const PTOSite line[] = {{"s.c", 1, 1, "a"}, {"s.c", 2, 1, "b"}};
    static PTOSite many[PTOI_SCOPE_NODES];
    struct scope_tree t;
    EXPECT(ptoi_scope_tree_init(&t));
    for (int run = 0; run < 2; run++) {
        ptoi_scope_tree_begin(&t, 100);
        const uint32_t a = ptoi_scope_tree_open(&t, 0, &line[0], 100);
        const uint32_t inner = ptoi_scope_tree_open(&t, a, &line[0], 110);
        ptoi_scope_tree_close(&t, inner, a, 115);
        EXPECT_EQ(ptoi_scope_tree_open(&t, a, &line[0], 120), inner);
        ptoi_scope_tree_close(&t, inner, a, 121);
        ptoi_scope_tree_close(&t, a, 0, 130);
        const uint32_t b = ptoi_scope_tree_open(&t, 0, &line[1], 130);
        EXPECT_EQ(ptoi_scope_tree_open(&t, 0, &line[0], 140), a);
        ptoi_scope_tree_close(&t, a, 0, 142);
        EXPECT(a != inner && b != a && t.count == 4);
        EXPECT(t.node[0].first == a && t.node[a].next == b && t.node[a].first == inner);
        EXPECT(t.node[a].opened == 2 && t.node[a].time == 32 && t.node[inner].opened == 2 && t.node[inner].time == 6);
        for (int i = 0; i < PTOI_SCOPE_NODES - 4; i++) EXPECT(ptoi_scope_tree_open(&t, b, &many[i], 200) != b);
        EXPECT_EQ(ptoi_scope_tree_open(&t, b, &line[0], 200), b);
        ptoi_scope_tree_close(&t, b, b, 300);
        EXPECT(t.node[b].opened == 1 && t.node[b].time == 0);
    }
    ptoi_scope_tree_free(&t);
}

/* The arguments of a task are read as they were added; when there is no room for the most that they may be, none is. */
TEST(regions_are_kept_while_there_is_room)
{
    static const int64_t shape[] = {2, 3}, stride[] = {8, -1};
    struct recorded_regions r;
    struct recorded_region a = {.tensor = "P", .at = -5, .is_heap = true}, got;
    uint32_t tasks = 0;
    a.view = (PTOArg){.kind = PTO_PARAM_INOUT, .type = PTO_BF16, .rank = 2, .shape = shape, .stride = stride};
    EXPECT(ptoi_regions_init(&r));
    for (uint32_t first; (first = ptoi_regions_begin(&r, 2)) != 0; tasks++) {
        uint32_t at = first;
        ptoi_regions_add(&r, &a);
        ptoi_regions_add(&r, &(struct recorded_region){.view = {.kind = PTO_PARAM_SCALAR}});
        ptoi_regions_end(&r);
        if (tasks % 5000 != 0) continue;
        EXPECT(ptoi_regions_next(&r, &at, &got) && got.is_heap && got.at == -5 && strcmp(got.tensor, "P") == 0);
        EXPECT(got.view.kind == PTO_PARAM_INOUT && got.view.type == PTO_BF16 && got.view.rank == 2);
        EXPECT(memcmp(got.view.shape, shape, sizeof shape) == 0 && memcmp(got.view.stride, stride, sizeof stride) == 0);
        EXPECT(ptoi_regions_next(&r, &at, &got) && !got.is_heap && got.view.kind == PTO_PARAM_SCALAR);
        EXPECT(!ptoi_regions_next(&r, &at, &got));
    }
    EXPECT(tasks > 90000 && r.count <= PTOI_REGION_WORDS);
    ptoi_regions_free(&r);
}
