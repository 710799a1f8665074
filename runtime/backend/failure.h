/* failure.h - reports a failed call of a kernel: the kernel, its task, its arguments.
 *
 * Owner      any thread; the status of the run takes the first failure.
 * Tests      test/runtime/test_failure.c, test_guard.c, test_requests.c, test/lit/memory/checked.pto */
#ifndef PTOI_FAILURE_H
#define PTOI_FAILURE_H
#include "backend.h"
#include "shared/run_status.h"
#include "shared/window.h"

/* A call that was executed inline returned `result`, which is not 0. */
void ptoi_fail_call(struct window *w, struct run_status *run_status, const struct backend *backend,
                    const PTOKernel *kernel, const PTOArg *args, int count, const PTOSite *site, uint64_t number,
                    int result);
/* The same of a task in the window that has not retired. */
void ptoi_fail_task(struct window *w, struct run_status *run_status, const struct backend *backend, uint64_t id,
                    int result);
/* The call did not return: guard.h says how it ended.  true: it is the
 * failure of the run. */
bool ptoi_fail_unwound(struct run_status *run_status, const PTOKernel *kernel, const PTOSite *site, uint64_t number,
                       int how);

#endif
