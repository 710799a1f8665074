/* test_grain.c - how long kernels take, as it is learned, and which of them are fine. */
#include "engine/grain.h"
#include "unit.h"
#include <string.h>

/* Two kernels of a program on one line would each be unknown whenever the other has run, and go to a worker for
 * ever. */
TEST(kernels_beside_each_other_have_lines_of_their_own)
{
    enum { KERNELS = 24 };
    static struct grain g;
    static _Alignas(64) char memory[KERNELS * 64];
    for (size_t step = 32; step <= 64; step += 16)
        for (int i = 0; i < KERNELS; i++)
            for (int j = 0; j < i; j++)
                assert_ptr_not_equal(ptoi_grain_line(&g, (const PTOKernel *)(memory + (size_t)i * step)),
                                     ptoi_grain_line(&g, (const PTOKernel *)(memory + (size_t)j * step)));
}

#ifndef PTO_TINY /* there the answers are drawn */
/* A task that is expected to be short lies behind another in a lane: behind one that is as long as its kernel's other
 * calls it would wait while a worker has nothing to do. */
TEST(a_kernel_whose_calls_differ_is_expected_to_be_long)
{
    static struct grain g;
    static _Alignas(64) char memory[64];
    const PTOKernel *const kernel = (const PTOKernel *)memory;
    ptoi_grain_init(&g, 4);
    for (int batch = 0; batch < 20; batch++) {
        ptoi_grain_measured_away(&g, kernel, 60000);
        ptoi_grain_measured_away(&g, kernel, 3000);
        ptoi_grain_measured_away(&g, kernel, 3000);
        EXPECT(ptoi_grain_ns(&g, kernel) > 40000);
    }
    for (int i = 0; i < 40; i++) ptoi_grain_measured_away(&g, kernel, 3000); /* the long ones are over */
    EXPECT(ptoi_grain_ns(&g, kernel) < 3500);
    ptoi_grain_measured_away(&g, kernel, 100);
    EXPECT(ptoi_grain_is_fine(&g, kernel));
    EXPECT_EQ(ptoi_grain_ns(&g, kernel), 100);
    for (int i = 0; i < 400; i++) ptoi_grain_measured_away(&g, kernel, 5000000); /* more than the word has bits for */
    EXPECT_EQ(ptoi_grain_ns(&g, kernel), (1 << 20) - 1);
}

/* Workers timed it when it was short.  Since then it is executed inline, where nothing counts for that median. */
TEST(the_usual_time_of_a_fine_kernel_is_that_of_its_inline_calls)
{
    static struct grain g;
    static _Alignas(64) char memory[64];
    const PTOKernel *const kernel = (const PTOKernel *)memory;
    ptoi_grain_init(&g, 2);
    for (int i = 0; i < 100; i++) ptoi_grain_measured_away(&g, kernel, 30);
    for (int i = 0; i < 400; i++) ptoi_grain_measured_inline(&g, kernel, 200);
    EXPECT(ptoi_grain_usual_ns(&g, kernel) > 180);
}

/* A kernel that took 25 ns on small tensors is called with large ones, and with small ones again. */
TEST(the_usual_time_follows_a_kernel_that_changes)
{
    static struct grain g;
    static _Alignas(64) char memory[64];
    const PTOKernel *const kernel = (const PTOKernel *)memory;
    ptoi_grain_init(&g, 2);
    for (int i = 0; i < 1000; i++) ptoi_grain_measured_away(&g, kernel, 25);
    for (int i = 0; i < 20; i++) ptoi_grain_measured_away(&g, kernel, 100000);
    EXPECT_EQ(ptoi_grain_usual_ns(&g, kernel), 100000);
    for (int i = 0; i < 20; i++) ptoi_grain_measured_away(&g, kernel, 700);
    EXPECT_EQ(ptoi_grain_usual_ns(&g, kernel), 700);
    for (int i = 0; i < 300; i++) { /* calls during which the thread was interrupted say nothing */
        ptoi_grain_measured_away(&g, kernel, i % 10 == 0 ? 1000000 : 700);
        EXPECT(ptoi_grain_usual_ns(&g, kernel) < 760);
    }
}

/* Strips that are in flight were submitted with older times: what they teach is what they took. */
TEST(kernels_share_the_time_of_a_body_and_forget_wrong_times)
{
    static struct grain g;
    static _Alignas(64) char memory[128];
    const PTOKernel *const pair[] = {(const PTOKernel *)memory, (const PTOKernel *)(memory + 64)};
    ptoi_grain_init(&g, 2);
    for (int i = 0; i < 20; i++) ptoi_grain_measured_away(&g, pair[0], 30), ptoi_grain_measured_away(&g, pair[1], 10);
    for (int i = 0; i < 400; i++) ptoi_grain_measured_body(&g, pair, 2, 400);
    const int64_t first = ptoi_grain_usual_ns(&g, pair[0]), second = ptoi_grain_usual_ns(&g, pair[1]);
    EXPECT(first + second > 360 && first + second < 440 && first > second);
}

static void measure_away(struct grain *g, const PTOKernel *kernel, int64_t ns, int count)
{
    for (int i = 0; i < count; i++) {
        EXPECT(!ptoi_grain_is_tried(g, kernel));
        ptoi_grain_measured_away(g, kernel, ns);
    }
}

static _Alignas(64) char two_lines[128];
static const PTOKernel *const tried = (const PTOKernel *)two_lines, *const other = (const PTOKernel *)(two_lines + 64);

/* Workers find its data in the cache of another processor, so they need twice as long. */
TEST(a_kernel_that_is_fine_inline_is_found_by_a_trial)
{
    static struct grain g;
    ptoi_grain_init(&g, 2);
    measure_away(&g, tried, 700, 16);
    EXPECT(!ptoi_grain_is_fine(&g, tried) && ptoi_grain_is_tried(&g, tried));
    ptoi_grain_measured_inline(&g, tried, 1300); /* the first finds it there, too */
    EXPECT(!ptoi_grain_is_fine(&g, tried) && ptoi_grain_is_tried(&g, tried));
    ptoi_grain_measured_inline(&g, tried, 540); /* two workers that take 700 ns and share 400 end one in 550 */
    EXPECT(ptoi_grain_is_fine(&g, tried) && !ptoi_grain_is_tried(&g, tried));
    for (int i = 0; i < 100; i++) ptoi_grain_measured_inline(&g, tried, i % 3 == 0 ? 1500 : 500);
    EXPECT(ptoi_grain_is_fine(&g, tried)); /* one in three is disturbed */
    ptoi_grain_measured_inline(&g, tried, 5000);
    EXPECT(!ptoi_grain_is_fine(&g, tried)); /* others should not wait for it */
    measure_away(&g, tried, 700, 16);
    EXPECT(ptoi_grain_is_tried(&g, tried));
}

TEST(a_kernel_whose_calls_are_short_again_is_tried_again)
{
    static struct grain g;
    ptoi_grain_init(&g, 2);
    measure_away(&g, tried, 100, 1);
    for (int i = 0; i < 200; i++) ptoi_grain_measured_inline(&g, tried, i % 2 ? 5000 : 100);
    EXPECT(!ptoi_grain_is_fine(&g, tried));
    measure_away(&g, tried, 100, 100); /* it was a while ago only */
    for (int i = 0; i < 10000; i++) {  /* one in ten is long still */
        ptoi_grain_measured_away(&g, tried, i % 10 == 0 ? 5000 : 100);
        EXPECT(!ptoi_grain_is_fine(&g, tried) && !ptoi_grain_is_tried(&g, tried));
    }
    for (int i = 0; i < 130; i++) ptoi_grain_measured_away(&g, tried, 700); /* all are short, though not fine there */
    EXPECT(!ptoi_grain_is_fine(&g, tried) && ptoi_grain_is_tried(&g, tried));
    for (int i = 0; i < 8 && !ptoi_grain_is_fine(&g, tried); i++) ptoi_grain_measured_inline(&g, tried, 100);
    EXPECT(ptoi_grain_is_fine(&g, tried));
    ptoi_grain_measured_inline(&g, tried, 5000); /* it has not many to lose */
    for (int i = 0; i < 100; i++) ptoi_grain_measured_away(&g, tried, 100);
    EXPECT(!ptoi_grain_is_fine(&g, tried) && !ptoi_grain_is_tried(&g, tried));
    for (int i = 0; i < 100; i++) ptoi_grain_measured_away(&g, tried, 100);
    EXPECT(ptoi_grain_is_fine(&g, tried));
}

TEST(the_limit_follows_the_latency_between_two_processors)
{
    static struct grain g, many;
    ptoi_grain_init(&g, 2);
    EXPECT_EQ((int64_t)load_relaxed(&g.fine_ns), 400);
    ptoi_grain_follow(&g, 1);
    EXPECT_EQ((int64_t)load_relaxed(&g.fine_ns), 260);
    ptoi_grain_follow(&g, 30); /* about the same */
    EXPECT_EQ((int64_t)load_relaxed(&g.fine_ns), 260);
    ptoi_grain_follow(&g, 100000);
    EXPECT_EQ((int64_t)load_relaxed(&g.fine_ns), 600);
    ptoi_grain_follow(&g, 60);
    EXPECT_EQ((int64_t)load_relaxed(&g.fine_ns), 360);
    ptoi_grain_follow(&g, 120);
    EXPECT_EQ((int64_t)load_relaxed(&g.fine_ns), 540);
    ptoi_grain_measured_inline(&g, tried, 450);
    EXPECT(ptoi_grain_is_fine(&g, tried));
    ptoi_grain_follow(&g, 1);
    EXPECT_EQ((int64_t)load_relaxed(&g.fine_ns), 260);
    EXPECT(!ptoi_grain_is_fine(&g, tried));
    ptoi_grain_init(&many, 3);
    ptoi_grain_follow(&many, 1);
    EXPECT_EQ((int64_t)load_relaxed(&many.fine_ns), 250);
}

TEST(a_kernel_is_doubtful_where_another_latency_would_decide_otherwise)
{
    static struct grain g, many;
    ptoi_grain_init(&g, 2);
    ptoi_grain_init(&many, 4);
    for (int64_t ns = 100; ns <= 1000; ns += 100) {
        memset(&g.line, 0, sizeof g.line);
        EXPECT(!ptoi_grain_is_doubtful(&g, tried)); /* nothing is known */
        ptoi_grain_measured_away(&g, tried, ns);
        ptoi_grain_measured_away(&many, tried, ns);
        EXPECT_EQ(ptoi_grain_is_doubtful(&g, tried), ns > 260 && ns <= 600);
        EXPECT(!ptoi_grain_is_doubtful(&many, tried));
    }
}

TEST(a_kernel_that_is_fine_nowhere_is_tried_ever_more_rarely)
{
    static struct grain g;
    ptoi_grain_init(&g, 2);
    measure_away(&g, tried, 1000, 16);
    for (int gap = 64; gap <= 1024; gap *= 4) {
        for (int i = 0; i < 8; i++) {
            EXPECT(ptoi_grain_is_tried(&g, tried));
            ptoi_grain_measured_inline(&g, tried, 900);
        }
        EXPECT(!ptoi_grain_is_fine(&g, tried));
        measure_away(&g, tried, 1000, gap);
    }
    measure_away(&g, other, 2000, 100); /* too long to be tried */
}
#endif
