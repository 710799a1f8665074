/* planned.h - a built program as a plan of N ranks, by one process: --ranks with --engine timing or graph.
 * Owner      the session's runtime has the plan.
 * Tests      test/wire/check_plans.py
 */
#ifndef PTO_HOST_PLANNED_H
#define PTO_HOST_PLANNED_H
#include "session.h"

/* The options are parsed: those of plans need one. */
int ptoi_planned_check(struct session *s);
/* After a run without an error: writes --traces, and for --stats prints the messages and how long the ranks take. */
int ptoi_planned_report(struct session *s);

#endif
