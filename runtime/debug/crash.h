/* crash.h - reports a kernel that crashes, with its task, the place of its submission and its arguments, before the
 * process ends.
 *
 * Idea       while runs are active, handlers for the signals of a crash find the kernel of the crashing thread, write
 *            one report, restore the previous handlers and raise the signal again: the process ends by it, or the
 *            host's own handler runs.  A crash outside a kernel is not ours: nothing is written, but how to find out
 *            more about an abort of the thread that orchestrates, which mostly comes from malloc.
 * Owner      the mark: its thread.  The handlers: the process, counted.
 * Limits     the arguments of a task that its caller runs itself (fast_path.h) are known as far as resume.h finds them,
 *            the loop indices of one that was deferred are not.  Under a sanitizer, which reports crashes itself,
 *            nothing is installed.
 * Tests      test/runtime/test_crash.c */
#ifndef PTOI_CRASH_H
#define PTOI_CRASH_H
#include "backtrace.h"
#include "shared/window.h"
#include <pto/pto_submit.h>

enum { PTO_CRASH_STACK_BYTES = 64 * 1024 };

/* The address whose access crashed. */
struct crash_address {
    uint64_t value;
    bool is_known; /* false: the signal was not one of an access */
};

/* The buffer where a worker process leaves its report for its parent. */
struct crash_note {
    /* number + 1; 0: none.  W the first thread that crashes, R the survivor: relaxed, the death orders them */
    _Atomic uint64_t task;
    struct crash_address address; /* before `task`, as what follows */
    const PTOKernel *kernel;
    char calls[PTOI_BACKTRACE_BYTES];
};

void ptoi_crash_watch(void); /* counted; any thread */
void ptoi_crash_unwatch(void);
/* This process is one of several ranks; PTOI_NO_RANK: no longer. */
#define PTOI_NO_RANK (-1)
void ptoi_crash_on_rank(int32_t rank);
void ptoi_crash_report_to(struct crash_note *note); /* instead of standard error; before watch */

/* The calling thread's handlers run on this stack, so that a kernel that overflows its own is reported too; NULL: gives
 * it up. A stack that another library gave the thread is kept. */
void ptoi_crash_use_stack(void *stack);

/* W the thread that runs the kernel, R its own handler. */
struct crash_mark {
    const PTOKernel *volatile kernel; /* NULL: none */
    const PTOSite *volatile site;
    volatile uint64_t number; /* of the task, counted from 0 */
    const PTOArg *volatile args;
    volatile int count;
};
extern _Thread_local struct crash_mark ptoi_crash_mark_;

/* Marks the kernel that the calling thread runs.  args: valid until unmark. */
static inline void ptoi_crash_mark(const PTOKernel *kernel, const PTOSite *site, uint64_t number, const PTOArg *args,
                                   int count)
{
    ptoi_crash_mark_.args = args;
    ptoi_crash_mark_.count = count;
    ptoi_crash_mark_.number = number;
    ptoi_crash_mark_.site = site;
    ptoi_crash_mark_.kernel = kernel; /* last: the handler asks it first */
}
static inline void ptoi_crash_unmark(void) { ptoi_crash_mark_.kernel = NULL; }
/* The last mark; false: none since the last unmark. */
bool ptoi_crash_marked(const PTOKernel **kernel, const PTOSite **site, uint64_t *number);
/* Likewise, or the kernel that it executes inline.  May be called by a handler of a signal. */
bool ptoi_crash_running(const PTOKernel **kernel, const PTOSite **site, uint64_t *number);

struct crash_text {
    size_t size; /* without the 0 at the end */
    char bytes[8192];
};

/* Where the kernel was, see backtrace.h; which argument the address lies in or next to, a line for each argument, and a
 * way to find out more, each after "\n  ". */
void ptoi_crash_describe(struct crash_text *t, const PTOKernel *kernel, const PTOArg *args, int count,
                         const struct crash_address *at, const char *calls);

/* The slow path got the parameters of a kernel that failed.  In a copy that asks for them (resume.h) it ends here. */
void ptoi_crash_recovered(const PTOKernel *kernel, const PTOArg *args, int count);

/* The calling thread orchestrates, and is at the submit of the task that it runs: the loop indices of the place are
 * those of the task. */
bool ptoi_crash_is_here(void);

/* PTOFastPath.closed points to this word while the slow path executes a kernel inline, at its submit. */
extern const int ptoi_crash_inline;
/* From now on this says what the calling thread runs at submits, when nothing is marked since; what it was before. */
const PTOFastPath *ptoi_crash_orchestrates(const PTOFastPath *now);

#endif
