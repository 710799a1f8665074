/* line.c - how long a line of memory takes from processor 0 to processor 1 and back.
 *
 * Method     two threads, each on its processor, answer each other through one word; the least and the median of many
 *            short rounds, in ns.  What the two do to each other on the deferred path costs a few such trips a task. A
 *            virtual machine may have its processors beside each other at one time and far apart at another. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 400, TRIPS = 500 };
static _Alignas(128) _Atomic int64_t word;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void stay_on(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* It gives way, so the other thread goes on where both have the same processor. */
static void wait_for(int64_t n)
{
    for (int64_t looks = 1; atomic_load(&word) != n; looks++)
        if (looks % 4096 == 0) sched_yield();
}

static void *answer(void *arg)
{
    stay_on(1);
    for (int64_t n = 0; n < (int64_t)ROUNDS * TRIPS; n++) {
        wait_for(2 * n + 1);
        atomic_store(&word, 2 * n + 2);
    }
    return arg;
}

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static double ns[ROUNDS];
    pthread_t other;
    stay_on(0);
    if (pthread_create(&other, NULL, answer, NULL) != 0) return 1;
    for (int64_t round = 0, n = 0; round < ROUNDS; round++) {
        const double since = now_ns();
        for (int trip = 0; trip < TRIPS; trip++, n++) {
            atomic_store(&word, 2 * n + 1);
            wait_for(2 * n + 2);
        }
        ns[round] = (now_ns() - since) / TRIPS;
    }
    pthread_join(other, NULL);
    qsort(ns, ROUNDS, sizeof *ns, by_time);
    printf("%.0f %.0f\n", ns[0], ns[ROUNDS / 2]);
    return 0;
}
