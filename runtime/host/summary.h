/* summary.h - the results of a run, in a few lines on standard output. */
#ifndef PTO_HOST_SUMMARY_H
#define PTO_HOST_SUMMARY_H
#include "array.h"

#include <pto/pto_runtime.h>

/* C: f32[4, 256, 256] min -1 max 3 mean 0.5 checksum 0123456789abcdef */
void ptoi_summary_print(const char *name, const struct host_array *a);

/* Tasks, dependences, memory and what the workers did, of the last run of rt. */
void ptoi_summary_print_run(PTORuntime *rt);
#endif
