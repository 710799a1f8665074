/* watch.h - a run of a built program, watched from beside it: signals, and kernels that do not return.
 * Idea       while a run is active, the first SIGINT or SIGTERM cancels it and the second ends the process; one that
 *            was only passed on is no second one.  A handler may not cancel, so it wakes a thread that does.  It
 *            also reports what the watchdog has found, and a kernel over its @timeout, while the run still waits for
 *            the kernel.  A signal that was ignored stays so.  SIGUSR1 and --progress only look (progress.h).
 *            Of several ranks one may have failed while another's kernel does not return: then nobody waits longer than
 *            the grace.
 * Owner      the process: one run at a time.
 * Tests      test/lit/host/, test/lit/run/timeout.pto
 */
#ifndef PTO_HOST_WATCH_H
#define PTO_HOST_WATCH_H
#include <pto/pto_runtime.h>
#include <stdbool.h>

struct watch_config {
    bool has_watchdog, has_progress;
    int64_t grace_ms; /* of several ranks; 0: this is the only one */
    bool is_first;    /* of them: reports the error */
};

void ptoi_watch_begin(PTORuntime *rt, const struct watch_config *config);
void ptoi_watch_end(void);
int ptoi_watch_signal(void);   /* the first signal that came during the last run; 0: none */
void ptoi_watch_raise(void);   /* as if nothing had taken it; after the run */
bool ptoi_watch_reports(void); /* true, once a run: the caller is to print the error of the run */

/* The runtime's own text: it names the place in the program and may have several lines. */
void ptoi_print_run_error(PTORuntime *rt, PTOStatus status);

#endif
