/* whatif.h - how long a recorded run would have taken with other rings, and which larger ring would make it faster.
 *
 * Idea       the recorded tasks are scheduled again, with their recorded times, on as many workers: list scheduling
 *            in the order of the scheduler, behind an orchestrator that submits in its recorded rhythm, waits where a
 *            ring is full and where the program awaited a value.  Only differences of two such times are reported to
 *            the user.
 * Limits     memory is bytes: a heap that is full in pieces only is not seen.
 * Owner      nobody: functions of a record, after the run.
 * Tests      test/runtime/test_whatif.c */
#ifndef PTOI_WHATIF_H
#define PTOI_WHATIF_H
#include "record/record.h"

enum whatif_ring { WHATIF_WINDOW, WHATIF_MAP, WHATIF_DEPS, WHATIF_HEAP, WHATIF_RINGS };

struct whatif_limits {
    uint64_t ring[WHATIF_RINGS]; /* tasks, entries, entries, bytes; UINT64_MAX: no limit */
    int32_t workers[PTO_WORKER_TYPES];
    int32_t processors;       /* that orchestrator and workers share; 0: each has one */
    const int64_t *priority;  /* by task, in place of the recorded one; or NULL */
    bool skips_awaits;        /* the program never waits for a value */
    bool submits_at_once;     /* the program's own time is 0 */
    int64_t submit, dispatch; /* what a submit costs before its task may start, and a start, of the record's time */
};

/* In units of the record; -1: no memory. */
int64_t ptoi_whatif_time(const struct recorder *r, const struct whatif_limits *l);

struct whatif_advice {
    enum whatif_ring ring;
    uint64_t size;       /* the smallest, by doubling, that gives nearly all that an endless one would */
    int64_t time, today; /* with it, and with the limits of today */
};

/* The rings of those that are `asked` of which a larger one makes the run at least 5 % faster. */
int ptoi_whatif_advise(const struct recorder *r, const struct whatif_limits *today, const bool *asked,
                       struct whatif_advice *advice);

#endif
