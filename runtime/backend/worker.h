/* worker.h - the role that runs one kernel to its end: on a backend, with the arguments of a task.
 *
 * Owner      any thread that holds the role of a worker for the call.
 * Tests      test/runtime/test_arguments.c, test_crash.c, test/lit/memory/checked.pto */
#ifndef PTOI_WORKER_H
#define PTOI_WORKER_H
#include "backend.h"
#include "shared/window.h"

/* Calls a kernel, or hands the work request to the backend; a crash will name it. */
int ptoi_worker_call(const struct backend *backend, const PTOKernel *kernel, const PTOArg *args, int count,
                     const PTOSite *site, uint64_t number);
/* Likewise of a task in the window that is RUNNING.  Both return what the kernel returned. */
int ptoi_worker_run(struct window *w, const struct backend *backend, char *heap_base, const struct task_slot *t);

#endif
