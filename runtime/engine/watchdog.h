/* watchdog.h - a thread that notices that kernels run but none has ended for a while, whatever the orchestrator does.
 *
 * Idea       each worker has a line that says what it runs (running.h); an engine whose kernels run on the
 *            orchestrator's thread uses the line here.  While a run is active the thread looks at the lines ten times a
 *            second, or oftener.  When no kernel has ended for as long as asked, the run fails, with the names of those
 *            that run.  A thread cannot be stopped: what happens to a kernel that never returns is the program's
 *            business.
 * Owner      the orchestrator; the thread owns nothing but its sleep.
 * Blocks     begin and end, while the thread describes what runs.
 * Not here   the engine process, whose orchestrator looks while it waits, and ends the worker process.
 * Tests      test/runtime/test_watchdog.c, test/lit/host/watchdog.pto */
#ifndef PTOI_WATCHDOG_H
#define PTOI_WATCHDOG_H
#include "running.h"

struct core;
struct watchdog_thread;

/* NULL: no memory, or no thread.  lines NULL: the one that ptoi_watchdog_line gives. */
struct watchdog_thread *ptoi_watchdog_open(struct core *core, const struct running_line *lines, int count);
void ptoi_watchdog_close(struct watchdog_thread *d); /* NULL is fine */
struct running_line *ptoi_watchdog_line(struct watchdog_thread *d);
void ptoi_watchdog_begin(struct watchdog_thread *d); /* a run */
void ptoi_watchdog_end(struct watchdog_thread *d);   /* from now on it fails nothing */

#endif
