/* timeline.h - the time line of a report: a canvas, its data, and the script that draws it.
 *
 * Idea       the data are numbers of a few characters each, about 15 for a task with its producers, so that a million
 *            tasks are read in a second; timeline.js prepares sums of busy time, so that a frame costs the same for any
 *            number of tasks.
 * Needs      a recorded run that is not active, and its edges.
 * Tests      test/lit/host/report.test, test/report/report.py */
#ifndef PTOI_TIMELINE_H
#define PTOI_TIMELINE_H
#include "api/runtime.h"

/* The color of number i of kernels or causes; there are a few, which repeat. */
enum { REPORT_COLORS = 11 }; /* from 0 on; then they repeat */
const char *ptoi_report_color(int i);

/* end: of the last task, from the origin of the record.  kernels: by color.  false: no memory. */
bool ptoi_timeline_write(PTORuntime *rt, int64_t end, const PTOKernel *const *kernels, int kernel_count, FILE *out);

#endif
