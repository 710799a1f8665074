/* crash.h - a kernel that crashes says which kernel it was, for which task, submitted where, before the process ends.
 *
 * Idea       while runs are active, handlers for the signals of a crash look at what the crashing thread was running, write one
 *            report, put back what was installed before them and raise the signal again: the process ends by it, or the host's
 *            own handler runs.  A crash outside a kernel is not ours: nothing is written.
 * Owner      the mark: its thread.  The handlers: the process, counted.
 * Limits     under a sanitizer, which reports crashes itself, nothing is installed.
 * Tests      test/runtime/test_crash.c */
#ifndef PTOI_CRASH_H
#define PTOI_CRASH_H
#include "window.h"
#include <pto/pto_submit.h>

enum { PTO_CRASH_STACK_BYTES = 64 * 1024 };

/* Where a worker process leaves its report for the process that outlives it. */
struct crash_note {
    _Atomic uint64_t task; /* number + 1; 0: none.  W the first thread that crashes, R the survivor: relaxed, the death orders them */
};

void ptoi_crash_watch(void); /* counted; any thread */
void ptoi_crash_unwatch(void);
void ptoi_crash_report_to(struct crash_note *note); /* instead of standard error; before watch */

/* The calling thread's handlers run on this stack, so that a kernel that overflows its own is reported too; NULL: gives it up.
 * A stack that somebody else gave the thread is left alone. */
void ptoi_crash_use_stack(void *stack);

/* What the calling thread runs.  number: of the task, counted from 0. */
void ptoi_crash_mark(const PTOKernel *kernel, const PTOSite *site, uint64_t number);
void ptoi_crash_unmark(void);
/* What was marked last; false: nothing, since the last unmark. */
bool ptoi_crash_marked(const PTOKernel **kernel, const PTOSite **site, uint64_t *number);

/* From now on this says what the calling thread runs at submits, when nothing is marked since; what it was before. */
const PTOShortWay *ptoi_crash_orchestrates(const PTOShortWay *now);

#endif
