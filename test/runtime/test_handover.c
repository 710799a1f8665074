/* test_handover.c - which looks at a word of a worker count for the latency of a hand-over.  No latency is asserted:
 * machines differ. */
#include "engine/handover.h"
#include "unit.h"
#include <pthread.h>

static struct handover fresh(void)
{
    struct handover h = {0};
    ptoi_handover_init(&h, true);
    h.is_on = true; /* whatever the machine's counter is like */
    return h;
}

static int64_t look(struct handover *h, const _Atomic uint64_t *word)
{
    int64_t ns;
    ptoi_handover_look(h, word, &ns);
    return ns;
}

TEST(a_few_looks_at_a_word_that_has_changed_make_a_latency)
{
    struct handover h = fresh();
    _Atomic uint64_t word = 5;
    for (int round = 0; round < 3; round++) {
        EXPECT_EQ(look(&h, &word), 0); /* marks it */
        for (int i = 1; i < HANDOVER_LOOKS; i++) {
            word++;
            EXPECT_EQ(look(&h, &word), 0);
            EXPECT_EQ(h.count, i);
        }
        word++;
        EXPECT(look(&h, &word) > 0);
        EXPECT_EQ(h.count, 0);
        EXPECT(!h.is_marked);
    }
}

TEST(a_look_at_a_word_that_has_not_changed_does_not_count)
{
    struct handover h = fresh();
    _Atomic uint64_t word = 5;
    for (int i = 0; i < 1000; i++) EXPECT_EQ(look(&h, &word), 0);
    EXPECT_EQ(h.count, 0);
    EXPECT(h.worker > 0); /* this one does nothing: another is looked at */
}

TEST(a_look_at_a_word_that_the_orchestrator_may_have_read_does_not_count)
{
    struct handover h = fresh();
    _Atomic uint64_t word = 5;
    for (int i = 0; i < 100; i++) {
        EXPECT_EQ(look(&h, &word), 0);
        word++;
        ptoi_handover_unmark(&h);
    }
    EXPECT_EQ(h.count, 0);
}

TEST(most_submits_do_not_look)
{
    struct handover h = fresh(), off = fresh();
    _Atomic uint64_t word = 5;
    int64_t ns, latencies = 0;
    off.is_on = false;
    for (int i = 0; i < 100000; i++) {
        word++;
        EXPECT(!ptoi_handover_is_due(&off));
        if (!ptoi_handover_is_due(&h)) continue;
        ptoi_handover_look(&h, &word, &ns);
        latencies += ns > 0;
    }
    EXPECT(latencies > 0);
#ifndef PTO_TINY
    EXPECT(latencies < 100000 / 1000);
#endif
}

static _Atomic uint64_t written;
static _Atomic bool stops;

static void *write_always(void *arg)
{
    while (!stops) written++;
    return arg;
}

TEST(a_word_that_another_thread_writes_has_a_latency)
{
    struct handover h = fresh();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_always, NULL), 0);
    int64_t ns = 0;
    for (int latencies = 0; latencies<100; latencies += ns> 0) {
        ns = look(&h, &written);
        if (ns == 0) pto_relax();
    }
    stops = true;
    pthread_join(thread, NULL);
    EXPECT(ns > 0);
}

TEST(a_probe_ends_with_a_latency)
{
    struct handover h = fresh();
    int64_t ns;
    h.rate.ns_per_tick = 0; /* no time passes */
    EXPECT(!ptoi_handover_is_wanted(&h));
    EXPECT(ptoi_handover_doubts(&h, &ns));
    EXPECT_EQ(ns, 0);
    for (int i = 1; i < HANDOVER_LOOKS; i++) {
        EXPECT(!ptoi_handover_doubts(&h, &ns)); /* nothing was written: it does not count */
        EXPECT_EQ(h.count, i - 1);
        EXPECT(ptoi_handover_beat(&h));
        EXPECT(!ptoi_handover_doubts(&h, &ns));
        EXPECT_EQ(ns, 0);
    }
    EXPECT(ptoi_handover_beat(&h));
    EXPECT(!ptoi_handover_doubts(&h, &ns));
    EXPECT(ns > 0);
    EXPECT(!ptoi_handover_beat(&h));
    EXPECT(!ptoi_handover_is_wanted(&h));
    EXPECT_EQ(h.worker, 0);
}

TEST(a_probe_ends_in_vain_when_no_worker_comes_and_the_next_wakes_another)
{
    struct handover h = fresh();
    int64_t ns;
    EXPECT(ptoi_handover_doubts(&h, &ns));
    h.rate.ns_per_tick = 1e9; /* much time passes */
    EXPECT(!ptoi_handover_doubts(&h, &ns));
    EXPECT_EQ(ns, 0);
    EXPECT_EQ(h.worker, 1);
    EXPECT(!ptoi_handover_beat(&h));
    EXPECT(ptoi_handover_doubts(&h, &ns));
    EXPECT(ptoi_handover_beat(&h));
}

TEST(a_worker_of_the_orchestrators_processor_does_not_take_part)
{
    struct handover h = fresh();
    store_relaxed(&h.wanted, 1); /* the system does not say which processor that is */
    EXPECT(!ptoi_handover_is_wanted(&h));
    store_relaxed(&h.wanted, 1 << 20); /* another one */
    EXPECT(ptoi_handover_is_wanted(&h));
}
