/* test_ready_queue.c - priority first, then first in first out. */
#include "shared/atomics.h"
#include "schedule/ready_queue.h"
#include "unit.h"
#include <stdlib.h>

static void *lines(uint64_t bytes)
{
    void *p = aligned_alloc(PTO_CACHELINE, bytes);
    assert_non_null(p);
    return p;
}

TEST(equal_priorities_leave_in_the_order_they_came)
{
    struct ready_queue q;
    void *memory = lines(ptoi_ready_bytes(8));
    ptoi_ready_init(&q, 8, memory);
    uint64_t id;
    for (int lap = 0; lap < 5; lap++) {
        for (uint64_t i = 0; i < 8; i++) ptoi_ready_push(&q, 100 + i, 0);
        for (uint64_t i = 0; i < 8; i++) {
            EXPECT(ptoi_ready_peek(&q, &id));
            EXPECT_EQ(id, 100 + i);
            ptoi_ready_pop(&q);
        }
        EXPECT(!ptoi_ready_peek(&q, &id));
    }
    EXPECT_EQ(q.count_max, 8);
    free(memory);
}

TEST(higher_priority_leaves_first_and_ties_keep_their_order)
{
    static const int32_t priority[] = {0, 5, -1, 5, 0, -7, 9, INT32_MIN};
    static const uint64_t expected[] = {6, 1, 3, 0, 4, 2, 5, 7};
    struct ready_queue q;
    void *memory = lines(ptoi_ready_bytes(8));
    ptoi_ready_init(&q, 8, memory);
    for (uint64_t i = 0; i < 8; i++) ptoi_ready_push(&q, i, priority[i]);
    for (int i = 0; i < 8; i++) {
        uint64_t id;
        EXPECT(ptoi_ready_peek(&q, &id));
        EXPECT_EQ(id, expected[i]);
        ptoi_ready_pop(&q);
    }
    EXPECT_EQ(ptoi_ready_count(&q), 0);
    free(memory);
}

/* Against a search for the best of all, with the counter of arrivals about to pass zero. */
TEST(any_mixture_leaves_by_priority_and_arrival)
{
    enum { SLOTS = 256, STEPS = 200000 };
    static struct {
        uint64_t id, came;
        int32_t priority;
    } held[SLOTS];
    struct ready_queue q;
    void *memory = lines(ptoi_ready_bytes(SLOTS));
    uint64_t seed = 1, pushed = 0;
    int count = 0;
    ptoi_ready_init(&q, SLOTS, memory);
    q.order = UINT32_MAX - STEPS / 8;
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const unsigned dice = (unsigned)(seed >> 33);
        const bool fills = step / 1000 % 2 == 0; /* now towards full, now towards empty */
        if (count < SLOTS && dice % 8 < (fills ? 5 : 3)) {
            const int32_t priority = (int32_t)(dice / 8 % 7) - 3;
            held[count].id = pushed, held[count].came = pushed, held[count].priority = priority;
            count++;
            ptoi_ready_push(&q, pushed++, priority);
        } else if (count > 0) {
            int best = 0;
            uint64_t id;
            for (int i = 1; i < count; i++)
                if (held[i].priority != held[best].priority ? held[i].priority > held[best].priority
                                                            : held[i].came < held[best].came)
                    best = i;
            EXPECT(ptoi_ready_peek(&q, &id));
            EXPECT_EQ(id, held[best].id);
            ptoi_ready_pop(&q);
            held[best] = held[--count];
        }
        EXPECT_EQ(ptoi_ready_count(&q), count);
    }
    free(memory);
}
