/* worker.h - the role that runs one kernel to its end: on a backend, with the arguments of a task.
 *
 * Owner      any thread that holds the role of a worker for the call.
 * Tests      test/runtime/test_arguments.c, test_crash.c, test/lit/memory/checked.pto */
#ifndef PTOI_WORKER_H
#define PTOI_WORKER_H
#include "backend.h"
#include "debug/crash.h"
#include "shared/caller.h"
#include "shared/task.h"

/* Calls a kernel, or hands the work request to the backend; a crash will name it. */
int ptoi_worker_call(const struct backend *backend, const PTOKernel *kernel, const PTOArg *args, int count,
                     const PTOSite *site, uint64_t number);
/* Likewise of a task in the window that is RUNNING.  Both return what the kernel returned. */
int ptoi_worker_run(struct window *w, const struct backend *backend, char *heap_base, const struct task_slot *t);

/* Buffers and scalars of the arguments, each in their order, are handed to the backend. */
int ptoi_worker_request(const struct backend *backend, const PTOKernel *kernel, const PTOArg *args, int count);
/* The words of the kernel that failed, for the report. */
void ptoi_worker_publish_reason(struct window *w, uint64_t id);

/* ptoi_worker_call, inlined. */
static inline __attribute__((always_inline)) int ptoi_worker_call_here(const struct backend *backend,
                                                                       const PTOKernel *kernel, const PTOArg *args,
                                                                       int count, const PTOSite *site, uint64_t number)
{
    const void *outer = ptoi_orchestrate(&ptoi_kernel);
    ptoi_crash_mark(kernel, site, number, args, count);
    const int result =
        kernel->fn ? backend->run(backend, kernel, args, count) : ptoi_worker_request(backend, kernel, args, count);
    ptoi_crash_unmark();
    ptoi_orchestrate(outer);
    return result;
}

/* ptoi_worker_run, inlined, of a task that is no strip and of a run that is not checked. */
static inline __attribute__((always_inline)) int ptoi_worker_run_here(struct window *w, const struct backend *backend,
                                                                      char *heap_base, const struct task_slot *t,
                                                                      const PTOKernel *kernel, const PTOSite *site)
{
    PTOArg args[PTO_MAX_PARAMS];
    const int count = ptoi_unpack_args(w, heap_base, t, args);
    const int result = ptoi_worker_call_here(backend, kernel, args, count, site, ptoi_task_number(w, t->id));
    if (__builtin_expect(result != 0, 0)) ptoi_worker_publish_reason(w, t->id);
    return result;
}

#endif
