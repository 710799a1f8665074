/* causes.h - where the time of a run went, by the orchestrator and by each worker.
 *
 * Idea       the readings of submit/meter.h and engine/worker_time.h as rows in the unit of the run.  The causes of a
 *            row sum up to the time of the run: what rounding leaves is added to the largest.
 * Needs      a run that was metered, and is not active.
 * Tests      test/runtime/test_causes.c, test/lit/host/await.test */
#ifndef PTOI_CAUSES_H
#define PTOI_CAUSES_H
#include "api/runtime.h"

struct cause_row {
    char name[32];
    bool is_orchestrator;
    int64_t total; /* ns or cycles */
    int64_t time[ORCHESTRATOR_CAUSES];
};

/* The causes of a row, and the name of one. */
int ptoi_causes_of(const struct cause_row *row);
const char *ptoi_cause_name(const struct cause_row *row, int cause);

/* The orchestrator's row is the first.  To be freed; NULL: nothing was metered, or there is no memory. */
struct cause_row *ptoi_causes_rows(PTORuntime *rt, int *count);
/* The rows, and the waits that took longest.  Nothing where nothing was metered. */
void ptoi_causes_write(PTORuntime *rt, FILE *out);
/* The rows as one object: {"orchestrator": {"await": 12, ...}, ...}. */
void ptoi_causes_write_json(PTORuntime *rt, FILE *out);

#endif
