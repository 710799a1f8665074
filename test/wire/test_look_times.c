/* test_look_times.c - how long the thread of the transfers sleeps: few looks, and none of them late. */
#include "dist/looks.h"
#include "shared/system.h"
#include "unit.h"

enum { MS = 1000000 };

/* A run in which nothing is in flight, for so many looks; the last sleep. */
static int64_t be_quiet(struct looks *l, int looks)
{
    int64_t ns = 0;
    while (looks-- > 0) {
        ptoi_looks_begin(l, 0, false, true);
        ns = ptoi_looks_end(l, false, false, true);
    }
    return ns;
}

/* A message is in flight, and another thread asks so often. */
static int64_t be_asked(struct looks *l, int64_t asks, bool is_watched)
{
    ptoi_looks_begin(l, asks, is_watched, false);
    return ptoi_looks_end(l, false, true, true);
}

TEST(sleeps_grow_to_a_limit_while_nothing_is_in_flight)
{
    struct looks l = {0};
    EXPECT_EQ(be_quiet(&l, 1), 2 * MS);
    EXPECT_EQ(l.next, LOOK_FAR); /* a thread that does everything does not wake it */
    EXPECT_EQ(be_quiet(&l, 1), 4 * MS);
    EXPECT_EQ(l.next, LOOK_FARTHEST);
    EXPECT_EQ(be_quiet(&l, 100), 16 * MS);
    EXPECT(be_asked(&l, 0, false) < 2 * MS); /* a transfer was started */
    EXPECT_EQ(be_quiet(&l, 1), 2 * MS);
}

TEST(no_run_is_an_end_without_limit_and_the_next_run_begins_anew)
{
    struct looks l = {0};
    be_quiet(&l, 100);
    ptoi_looks_begin(&l, 0, false, true);
    EXPECT_EQ(ptoi_looks_end(&l, false, false, false), PTO_FOR_EVER);
    EXPECT_EQ(be_quiet(&l, 1), 2 * MS);
}

TEST(sleeps_grow_while_others_ask_often)
{
    struct looks l = {0};
    EXPECT_EQ(be_asked(&l, 1, false), MS);
    EXPECT_EQ(be_asked(&l, 1, false), 2 * MS);
    EXPECT_EQ(be_asked(&l, 2, false), 4 * MS);
    EXPECT_EQ(be_asked(&l, 4, false), 4 * MS);
    EXPECT_EQ(l.next, LOOK_LATE);
    EXPECT_EQ(be_asked(&l, 3, false), MS); /* no longer often */
    EXPECT_EQ(be_asked(&l, 0, true), MS);  /* one that watches, and runs a kernel that is longer than expected */
    EXPECT_EQ(be_asked(&l, 0, true), MS);
}

TEST(a_message_in_flight_that_none_asks_for_is_looked_for_soon)
{
    struct looks l = {0};
    be_quiet(&l, 100);
    int64_t asked = 0;
    for (int k = 0; k < 49; k++) asked |= be_asked(&l, 0, false);
    EXPECT_EQ(asked, 0); /* yields */
    EXPECT(!ptoi_looks_are_vain(&l));
    EXPECT_EQ(be_asked(&l, 0, false), LOOK_STEP_NS);
    EXPECT(ptoi_looks_are_vain(&l));
    EXPECT_EQ(be_asked(&l, 0, false), 2 * LOOK_STEP_NS);
    EXPECT_EQ(l.next, LOOK_SOON);
}

/* So it is found late by at most a quarter of the time that it has taken, or by a nap. */
TEST(looks_in_vain_become_few_with_the_time_that_a_message_takes)
{
    struct looks l = {0};
    int64_t waited = 0, ns;
    int looks = 0;
    for (; waited < 100 * (int64_t)MS; waited += ns, looks++) {
        ns = be_asked(&l, 0, false);
        EXPECT(ns <= LOOK_NAP_NS || ns <= waited / 4);
        EXPECT(ns <= 2 * MS);
    }
    EXPECT(looks < 200);                  /* 50 of them yields */
    ptoi_looks_begin(&l, 0, false, true); /* something has ended: others may be about to */
    EXPECT_EQ(ptoi_looks_end(&l, true, true, true), 0);
    EXPECT_EQ(be_asked(&l, 0, false), 0);
}

TEST(a_late_look_that_nobody_asks_any_more_is_followed_by_naps)
{
    struct looks l = {0};
    for (int k = 0; k < 10; k++) be_asked(&l, 100, true);
    EXPECT_EQ(be_asked(&l, 0, false), MS); /* a quarter of the late one */
    EXPECT_EQ(l.next, LOOK_SOON);
    EXPECT_EQ(be_asked(&l, 0, false), MS + MS / 4);
}

TEST(one_that_stops_asking_is_followed_by_short_naps)
{
    struct looks l = {0};
    be_asked(&l, 100, false);
    be_asked(&l, 100, false);
    l.next = LOOK_FAR; /* it wakes the thread */
    EXPECT(be_asked(&l, 0, false) <= 3 * LOOK_STEP_NS);
}
