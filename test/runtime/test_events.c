/* test_events.c - events are taken in order of time, ties in order of their beginning. */
#include "shared/events.h"
#include "unit.h"

TEST(events_come_in_order_of_time_then_as_they_were_added)
{
    enum { COUNT = 1000, TIMES = 37 };
    struct events s = {0};
    struct event before = {.at = -1};
    for (int k = 0; k < COUNT; k++)
        EXPECT(ptoi_events_add(&s, (struct event){.at = k * 7919 % TIMES, .id = (uint64_t)k}));
    for (int k = 0; k < COUNT; k++) {
        EXPECT(!ptoi_events_due(&s, before.at - 1));
        const struct event e = ptoi_events_take(&s);
        EXPECT_EQ(e.at, (int64_t)e.id * 7919 % TIMES);
        EXPECT(e.at > before.at || (e.at == before.at && e.id > before.id));
        before = e;
    }
    EXPECT_EQ(s.count, 0);
    EXPECT(!ptoi_events_due(&s, INT64_MAX));
    free(s.heap);
}

TEST(events_may_be_added_while_others_are_taken)
{
    struct events s = {0};
    EXPECT(ptoi_events_reserve(&s, 2));
    for (int64_t at = 10, now = 0; at < 1000; at += 10) {
        EXPECT(ptoi_events_add(&s, (struct event){.at = at}));
        EXPECT(ptoi_events_add(&s, (struct event){.at = at + 5000}));
        EXPECT(ptoi_events_due(&s, at));
        const struct event e = ptoi_events_take(&s);
        EXPECT(e.at > now);
        now = e.at;
    }
    EXPECT_EQ(s.count, 99);
    free(s.heap);
}
