/* parcel.h - the record of a run on one rank, as bytes that another rank reads: names are texts there, not addresses.
 *
 * Idea       tasks of one kernel, place and name are of one kind, and only kinds have texts.
 * Needs      ranks of one build: numbers are written as they lie in memory.
 * Owner      whoever packs or opens it.
 * Tests      test/wire/check_reports.py */
#ifndef PTOI_PARCEL_H
#define PTOI_PARCEL_H
#include "api/runtime.h"

struct parcel {
    char *data;
    uint64_t bytes, room;
    bool is_full; /* there was no memory */
};

struct parcel_head {
    int32_t workers[PTO_WORKER_TYPES];
    uint64_t tasks, edges, kinds, waits, samples, steps, lost, lost_edges;
    int64_t origin;
    char host[WIRE_HOST];
};

/* Behind the head, in this order: tasks, edges, waits, samples, steps; and kinds, each with its texts. */
struct parcel_task {
    int64_t submitted, begin, end; /* of a message, too */
    uint32_t kind, edges;
    int32_t row;
    struct noted noted;
};
struct parcel_edge {
    uint64_t from; /* task of this parcel */
    uint8_t reasons;
};
struct parcel_wait {
    int64_t begin, end;
    int32_t reason;
    uint32_t kind; /* its place, and its tensor as a name */
};
struct parcel_kind {
    bool has_kernel, has_site, has_name;
    PTOWorkerType worker;
    int32_t line, column;
    uint32_t texts[4]; /* bytes of: kernel, its formals, file, name; with their ends */
};

/* Of the run that has ended; its times are nanoseconds of this machine.  false: no memory. */
bool ptoi_parcel_pack(PTORuntime *rt, struct parcel *p);
void ptoi_parcel_free(struct parcel *p);

#endif
