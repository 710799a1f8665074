/* test_park.c - no wake is lost: not one that comes before the sleep, not between two threads or two processes that
 * wake each other as fast as they can. */
#include "shared/park.h"
#include "submit/flow.h"
#include "shared/map_memory.h"
#include "unit.h"
#include "shared/system.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 20000 };
#define LONG_NS (10 * 1000000000ll) /* a lost wake is this late */

TEST(a_wake_before_the_wait_is_kept_and_a_wait_without_one_ends_in_time)
{
    struct parker p;
    ptoi_park_init(&p);
    ptoi_park_wake(&p);
    ptoi_park_wake(&p);
    int64_t since = ptoi_clock_ns();
    ptoi_park_announce(&p);
    EXPECT(ptoi_park_is_sleeping(&p));
    ptoi_park_wait(&p, LONG_NS);
    EXPECT(ptoi_clock_ns() - since < LONG_NS / 2);
    EXPECT(!ptoi_park_is_sleeping(&p));
    since = ptoi_clock_ns();
    ptoi_park_wait(&p, 20 * 1000000); /* two wakes are one */
    EXPECT(ptoi_clock_ns() - since >= 20 * 1000000);
}

/* Two players; each waits until the count is its own number and makes it the other's. */
struct game {
    struct bell bell[2]; /* bell[k]: player k sleeps, the other rings */
    _Atomic uint32_t count;
};

static void play(struct game *g, int me)
{
    for (uint32_t round = (uint32_t)me; round < ROUNDS; round += 2) {
        for (;;) {
            const uint32_t heard = ptoi_bell_heard(&g->bell[me]);
            if (load_acquire(&g->count, COUNT) == round) break;
            ptoi_bell_wait(&g->bell[me], heard, LONG_NS);
        }
        store_release(&g->count, round + 1, COUNT);
        ptoi_bell_ring(&g->bell[!me]);
        ptoi_bell_wake(&g->bell[!me]);
    }
}

static void *play_second(void *arg)
{
    play(arg, 1);
    return NULL;
}

TEST(two_threads_that_ring_for_each_other_never_miss_a_ring)
{
    static struct game g;
    pthread_t thread;
    const int64_t since = ptoi_clock_ns();
    pthread_create(&thread, NULL, play_second, &g);
    play(&g, 0);
    pthread_join(thread, NULL);
    EXPECT_EQ(load_relaxed(&g.count), ROUNDS);
    EXPECT(ptoi_clock_ns() - since < LONG_NS);
}

TEST(two_processes_that_ring_for_each_other_never_miss_a_ring)
{
    struct game *g = ptoi_memory_map(sizeof *g, true);
    assert_non_null(g);
    const int64_t since = ptoi_clock_ns();
    pid_t child = fork();
    if (child == 0) {
        play(g, 1);
        _exit(0);
    }
    play(g, 0);
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(load_relaxed(&g->count), ROUNDS);
    EXPECT(ptoi_clock_ns() - since < LONG_NS);
    ptoi_memory_unmap(g, sizeof *g);
}
