/* processors.h - how many processors may run this process. */
#ifndef PTOI_PROCESSORS_H
#define PTOI_PROCESSORS_H
#include <sched.h>

/* 0: the system does not say.  _GNU_SOURCE is defined by the build. */
static inline int ptoi_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

#endif
