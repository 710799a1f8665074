/* exits.c - see exits.h. */
#include "exits.h"
#include "api/runtime.h"
#include "debug/crash.h"
#include "fail.h"
#include "watch.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic(PTORuntime *) active; /* its run is */
static pid_t process;                /* which registered the handler: a worker process has a copy of it */

static void fail(PTORuntime *rt)
{
    static const char text[] = "kernel '%s' called exit (task %lld): a kernel has to return";
    struct run_status *const status = rt->core.run_status;
    const PTOKernel *kernel;
    const PTOSite *site;
    uint64_t number;
    if (!ptoi_crash_running(&kernel, &site, &number)) {
        ptoi_fail(status, PTO_ERR_MISUSE, NULL, "the program called exit during a run");
        return;
    }
    const long long task = (long long)number;
    if (ptoi_crash_is_here())
        ptoi_fail(status, PTO_ERR_MISUSE, site, text, kernel->name, task);
    else
        ptoi_fail_earlier(status, PTO_ERR_MISUSE, site, text, kernel->name, task);
}

static void on_exit_of_program(void)
{
    PTORuntime *const rt = load_relaxed(&active); /* relaxed: of this thread, or of the one that started it */
    if (!rt || getpid() != process) return;
    fail(rt);
    fflush(stdout); /* what the program printed comes first */
    if (ptoi_watch_reports()) ptoi_print_run_error(rt, ptoi_final_status(rt->core.run_status));
    _exit(HOST_RUN);
}

void ptoi_exits_begin(PTORuntime *rt)
{
    if (process == 0 && atexit(on_exit_of_program) == 0) process = getpid();
    store_relaxed(&active, rt);
}

void ptoi_exits_end(void) { store_relaxed(&active, NULL); }
