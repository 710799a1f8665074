/* strip.h - the role that runs one strip to its end: the kernels of its iterations, in their order.
 *
 * Owner      any thread that holds the role of a worker for the call.
 * Tests      test/runtime/test_strips.c */
#ifndef PTOI_BACKEND_STRIP_H
#define PTOI_BACKEND_STRIP_H
#include "backend.h"
#include "shared/strip.h"

/* The task is TASK_STRIP, and `own` are its arguments.  What the first kernel that failed returned, of which the strip
 * then says which call it was; 0: all succeeded. */
int ptoi_strip_run(const struct window *w, const struct backend *backend, uint64_t id, const PTOArg *own);

/* The call of a strip that failed: its arguments, without the addresses of tensors (room for PTO_STRIP_PARAMS); how
 * many they are. */
int ptoi_strip_failed(const struct window *w, uint64_t id, const PTOKernel **kernel, const PTOSite **site,
                      PTOArg *args);

#endif
