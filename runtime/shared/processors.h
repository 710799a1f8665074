/* processors.h - which processors may run this process, and this thread. */
#ifndef PTOI_PROCESSORS_H
#define PTOI_PROCESSORS_H
#include <sched.h>

/* 0: the system does not say.  _GNU_SOURCE is defined by the build. */
static inline int ptoi_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/* Of those that the calling thread may use, the n-th from 0, round again where there are fewer.  Empty: the system does
 * not say. */
static inline cpu_set_t ptoi_processor(int n)
{
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) == 0) return one;
    n %= CPU_COUNT(&all);
    for (int p = 0; p < CPU_SETSIZE; p++)
        if (CPU_ISSET(p, &all) && n-- == 0) CPU_SET(p, &one);
    return one;
}

/* The calling thread keeps to these from now on.  A system that forbids it leaves the thread where it likes. */
static inline void ptoi_processor_keep(const cpu_set_t *set) { (void)sched_setaffinity(0, sizeof *set, set); }

/* The one that runs the caller, for now; -1: the system does not say. */
static inline int ptoi_processor_now(void) { return sched_getcpu(); }

#endif
