/* counted.c - see counted.h.
 *
 * Idea       a count is worth keeping only if it is the same every time.  The runtime looks at the clock now and then
 *            and does one thing or another by what it sees, and under callgrind a microsecond is long: so these
 *            programs have a clock of their own, which goes on by 50 ns whenever someone looks.
 * Needs      one thread: engines `serial` and `timing`. */
#include "counted.h"
#ifndef BENCH_SHARED
#include "api/runtime.h"
#endif
#include <stdint.h>
#include <time.h>
#include <valgrind/callgrind.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int64_t now;
    (void)clock;
    now += 50;
    *t = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
    return 0;
}

#ifndef BENCH_SHARED /* with libpto.so, which has no such names */
/* Only records and simulations keep a history of dependences: what is counted is what every run does. */
void counted_prepare(PTORuntime *rt)
{
    ptoi_history_destroy(rt->core.orch.recorded.history);
    rt->core.orch.recorded.history = NULL;
}
#endif

void counted_begin(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

void counted_end(const char *name)
{
    CALLGRIND_DUMP_STATS_AT(name);
    CALLGRIND_STOP_INSTRUMENTATION;
}
