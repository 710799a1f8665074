/* test_ready_queue.c - priority first, then first in first out. */
#include "ready_queue.h"
#include "unit.h"
#include <stdlib.h>

TEST(equal_priorities_leave_in_the_order_they_came)
{
    struct ready_queue q;
    void *memory = calloc(1, ptoi_ready_bytes(8));
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
    void *memory = calloc(1, ptoi_ready_bytes(8));
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
