/* test_plan.c - plans of ranks whose times are known: what waits for what, and how long it takes. */
#include "dist/predict.h"
#include "unit.h"
#include <math.h>

enum { X = 0, Y = 1 };

static const struct distribution line = {.rank = 1, .unit = 8, .shape = {64}, .cell = {8}, .grid = {2}};

static struct box part(int64_t low, int64_t high) { return (struct box){{low}, {high}}; }

static void task(struct plan *p, int rank, int64_t cycles)
{
    ptoi_plan_add(p, &(struct planned){.kind = PLANNED_TASK, .rank = rank, .amount = cycles});
}

static void use(struct plan *p, uint32_t tensor, struct box b, bool reads, bool writes)
{
    ptoi_plan_use(p, tensor, &line, &b, reads, writes);
}

static void message(struct plan *p, int from, int to, struct box b, int64_t urgency)
{
    const int64_t bytes = 8 * (b.high[0] - b.low[0]);
    ptoi_plan_add(
        p, &(struct planned){.kind = PLANNED_SEND, .rank = from, .peer = to, .amount = bytes, .urgency = urgency});
    use(p, X, b, true, false);
    ptoi_plan_add(
        p, &(struct planned){.kind = PLANNED_RECEIVE, .rank = to, .peer = from, .amount = bytes, .urgency = urgency});
    use(p, X, b, false, true);
}

static int64_t predicted(const struct plan *p, int64_t latency, double rate, int64_t window, int workers)
{
    const struct predict_config config = {
        .latency = latency, .bytes_a_cycle = rate, .window = window, .workers = {workers, 1, 1, 1}};
    int64_t cycles = -1;
    EXPECT(ptoi_predict(p, &config, &cycles));
    return cycles;
}

/* 100 cycles, then 64 bytes on a network of 10 cycles and 8 bytes a cycle, then 50 cycles on the other rank. */
TEST(a_message_takes_its_latency_and_its_bytes)
{
    struct plan p;
    EXPECT(ptoi_plan_open(&p, 2));
    task(&p, 0, 100);
    use(&p, X, part(0, 8), false, true);
    message(&p, 0, 1, part(0, 8), 0);
    task(&p, 1, 50);
    use(&p, X, part(0, 8), true, false);
    EXPECT_EQ(p.edges, 2); /* the send waits for its task, the reader for its receive */
    EXPECT_EQ(predicted(&p, 10, 8, 4, 1), 100 + 10 + 8 + 50);
    EXPECT_EQ(predicted(&p, 0, 0, 4, 1), 150);
    const struct plan_sums sums = ptoi_plan_sums(&p);
    EXPECT_EQ(sums.tasks, 2);
    EXPECT_EQ(sums.messages, 1);
    EXPECT_EQ(sums.bytes, 64);
    EXPECT_EQ(sums.cycles[0], 150);
    EXPECT(fabs(ptoi_predict_least(&p, &(struct predict_config){.workers = {1}}) - 75) < 1e-9);
    ptoi_plan_close(&p);
}

/* On one rank: a write waits for the readers of its box, parts do not wait for each other, an await for its bytes. */
TEST(tasks_wait_for_what_overlaps)
{
    struct plan p;
    EXPECT(ptoi_plan_open(&p, 1));
    task(&p, 0, 10);
    use(&p, X, part(0, 4), false, true);
    task(&p, 0, 10);
    use(&p, X, part(4, 8), false, true);
    EXPECT_EQ(predicted(&p, 0, 0, 8, 2), 10);
    EXPECT_EQ(predicted(&p, 0, 0, 8, 1), 20);
    EXPECT_EQ(predicted(&p, 0, 0, 1, 2), 20); /* a window of one */
    task(&p, 0, 10);
    use(&p, X, part(3, 5), true, false);
    EXPECT_EQ(p.edges, 2);
    task(&p, 0, 10);
    use(&p, X, part(0, 16), true, true);
    EXPECT_EQ(p.edges, 5);
    task(&p, 0, 10);
    use(&p, Y, part(0, 16), false, true);
    EXPECT_EQ(p.edges, 5);
    task(&p, 0, 10); /* what it waits for is the newest writer, in each of two cells */
    use(&p, X, part(2, 12), true, false);
    EXPECT_EQ(p.edges, 6);
    EXPECT_EQ(predicted(&p, 0, 0, 8, 2), 40);
    ptoi_plan_add(&p, &(struct planned){.kind = PLANNED_AWAIT, .rank = 0});
    use(&p, X, part(0, 1), true, false);
    task(&p, 0, 10); /* behind the await */
    use(&p, Y, part(20, 21), false, true);
    EXPECT_EQ(predicted(&p, 0, 0, 8, 2), 40);
    ptoi_plan_begin(&p);
    EXPECT_EQ(p.nodes + p.edges, 0);
    task(&p, 0, 10);
    use(&p, X, part(0, 4), true, true);
    EXPECT_EQ(p.edges, 0);
    ptoi_plan_close(&p);
}

/* Three messages of 4 MiB leave one port: the most urgent first, where all are ready. */
TEST(the_most_urgent_message_leaves_first)
{
    static const struct distribution large = {
        .rank = 1, .unit = 8, .shape = {3 << 19}, .cell = {1 << 19}, .grid = {4}, .first = 0};
    struct plan p;
    EXPECT(ptoi_plan_open(&p, 4));
    for (int k = 0; k < 3; k++) {
        const struct box b = part((int64_t)k << 19, (int64_t)(k + 1) << 19);
        struct planned node = {.kind = PLANNED_SEND, .rank = 0, .peer = k + 1, .amount = 4 << 20, .urgency = 3 - k};
        ptoi_plan_add(&p, &node);
        ptoi_plan_use(&p, X, &large, &b, true, false);
        node = (struct planned){.kind = PLANNED_RECEIVE, .rank = k + 1, .peer = 0, .amount = 4 << 20};
        ptoi_plan_add(&p, &node);
        ptoi_plan_use(&p, X, &large, &b, false, true);
        task(&p, k + 1, k == 2 ? 10 << 20 : 1);
        ptoi_plan_use(&p, X, &large, &b, true, false);
    }
    /* The first is posted when nothing else is known; then rank 3, which has most to do, before rank 2. */
    EXPECT_EQ(predicted(&p, 0, 4, 8, 1), (2 << 20) + (10 << 20));
    ptoi_plan_close(&p);
}

/* A long list of readers of one box has it once. */
TEST(equal_boxes_one_after_the_other_are_one)
{
    struct plan p;
    EXPECT(ptoi_plan_open(&p, 1));
    for (int reader = 0; reader < 5; reader++) {
        task(&p, 0, 10);
        use(&p, X, part(0, 4), true, false);
    }
    EXPECT(p.accesses == 5 && p.boxes == 1);
    task(&p, 0, 10);
    use(&p, X, part(0, 5), true, false);
    EXPECT(p.accesses == 6 && p.boxes == 2);
    ptoi_plan_close(&p);
}
