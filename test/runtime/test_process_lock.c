/* test_process_lock.c - a fork while another thread holds a lock of the process, and threads that contend for one. */
#include "shared/process_lock.h"
#include "unit.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct holder {
    enum process_lock lock;
    _Atomic bool holds, has_left;
};

static void *hold(void *arg)
{
    struct holder *h = arg;
    ptoi_process_lock(h->lock);
    atomic_store(&h->holds, true);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    ptoi_process_unlock(h->lock);
    atomic_store(&h->has_left, true);
    return NULL;
}

/* Without a handler of forks the child waits for a thread that it does not have.  The thread is detached: otherwise a
 * sanitizer reports it as a leak of the child. */
TEST(a_child_of_fork_finds_every_lock_of_the_process_free)
{
    for (int which = 0; which < PROCESS_LOCKS; which++) {
        struct holder h = {.lock = (enum process_lock)which};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, hold, &h), 0);
        pthread_detach(thread);
        while (!atomic_load(&h.holds)) {}
        const pid_t child = fork();
        if (child == 0) {
            alarm(10);
            ptoi_process_lock(h.lock);
            ptoi_process_unlock(h.lock);
            _exit(0);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        while (!atomic_load(&h.has_left)) {}
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

enum { CONTENDERS = 4, ROUNDS = 20000 };
static int64_t guarded; /* not atomic */

static void *contend(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        ptoi_process_lock(PROCESS_LOCK_SLABS);
        guarded++;
        if (i % 1000 == 0) sched_yield(); /* the others come to sleep */
        ptoi_process_unlock(PROCESS_LOCK_SLABS);
    }
    return NULL;
}

TEST(threads_that_contend_for_a_lock_exclude_each_other_and_none_sleeps_for_ever)
{
    pthread_t thread[CONTENDERS];
    for (int i = 0; i < CONTENDERS; i++) assert_int_equal(pthread_create(&thread[i], NULL, contend, NULL), 0);
    for (int i = 0; i < CONTENDERS; i++) pthread_join(thread[i], NULL);
    EXPECT_EQ(guarded, (int64_t)CONTENDERS * ROUNDS);
}
