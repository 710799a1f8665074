/* worker.h - the role that runs one kernel to its end: unpacks the arguments from the window, calls. */
#ifndef PTOI_WORKER_H
#define PTOI_WORKER_H
#include "backend/backend.h"
#include "shared/window.h"

/* Calls a kernel, or hands the work request to the backend; a crash will name it.  Any worker thread. */
int ptoi_worker_call(const struct backend *backend, const PTOKernel *kernel, const PTOArg *args, int count,
                     const PTOSite *site, uint64_t number);
/* Likewise of a task in the window that is RUNNING.  Both return what the kernel returned. */
int ptoi_worker_run(struct window *w, const struct backend *backend, char *heap_base, uint64_t id);
/* The kernel of a task that has not retired. */
const PTOKernel *ptoi_task_kernel(const struct window *w, uint64_t id);
/* Fills args (room for PTO_MAX_PARAMS); returns how many. */
int ptoi_task_args(const struct window *w, char *heap_base, uint64_t id, PTOArg *args);
/* Simulated cycles, as the kernel says; 1 where it does not. */
int64_t ptoi_task_cost(const struct window *w, uint64_t id);
/* How long the kernel may run; 0: as long as it wants. */
int64_t ptoi_task_limit_ns(const struct window *w, uint64_t id);
const PTOSite *ptoi_task_site(const struct window *w, uint64_t id);

#endif
