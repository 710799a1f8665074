/* joined.h - the records of all ranks of a run as one, for its trace, its report and its graph.
 *
 * Idea       each rank packs its record (parcel.h), and rank 0 puts the tasks of all in the order of the program.  So
 *            an edge points to an earlier task there too, and a message is an edge from its send to its receive.  Times
 *            are those of rank 0's clock.  Where ranks are planned, the tasks and messages of the plan stand there, and
 *            none has run.
 * Owner      the runtime of rank 0, until it is destroyed.
 * Blocks     never.
 * Tests      test/wire/check_reports.py */
#ifndef PTOI_JOINED_H
#define PTOI_JOINED_H
#include "parcel.h"

/* A reason of an edge, beside enum edge_reason: a message. */
enum { EDGE_MESSAGE = 16 };

/* What a rank's clock says more than that of rank 0, at two moments of its own clock. */
struct rank_clock {
    int64_t at[2], ahead[2];
};

/* Of one rank, its parts of the whole record. */
struct joined_rank {
    char host[WIRE_HOST];
    int32_t workers[PTO_WORKER_TYPES];
    int32_t rows;                            /* workers, and behind them one for messages */
    uint64_t end_wait, end_sample, end_step; /* they begin where those of the rank before end */
};

struct joined {
    struct recorder all; /* recorded_task.row counts from 0 on each rank */
    int32_t *rank_of;    /* task */
    struct noted *noted; /* likewise */
    struct joined_rank *rank;
    int32_t ranks;
    bool is_planned; /* nothing has run on these ranks */
    /* what kernels and places of the tasks point to */
    struct joined_kind *kinds;
};

/* NULL: no memory.  The parcels may be freed. */
struct joined *ptoi_joined_make(const struct parcel *parcels, const struct rank_clock *clocks, int32_t ranks);
/* Of a run of which rt has a plan and a record. */
struct joined *ptoi_joined_of_plan(PTORuntime *rt);
void ptoi_joined_free(struct joined *j); /* NULL is fine */

/* Of ranks that have run; NULL: this is the only one. */
static inline const struct joined *ptoi_joined_run(const PTORuntime *rt)
{
    return rt->joined && !rt->joined->is_planned ? rt->joined : NULL;
}

#endif
