/* record.h - what happened in a run, kept for the reports: tasks with their times, edges, waits, the rings' use.
 *
 * Idea       arrays of fixed capacity, reserved when the runtime is created and touched only as far as used; those of
 *            edges, uses and the like grow. What does not fit is counted, not kept.  Times are what `now` says, or
 *            ticks of the processor until the first report is written.
 * Owner      orchestrator: tasks (but for begin, end, row), edges, waits, samples.  The worker of a task: its begin,
 *            end, row. Holder of the scheduler role: steps.  Read when no run is active.
 * Blocks     never.
 * Tests      test/runtime/test_record.c, stress_graphs.c; test/lit/host/reports.test */
#ifndef PTOI_RECORD_H
#define PTOI_RECORD_H
#include "regions.h"
#include "scope_tree.h"
#include "shared/atomics.h"
#include "ticks.h"
#include <pto/pto_stats.h>

struct recorded_task {
    const PTOKernel *kernel;
    const PTOSite *site;
    const char *name;   /* @name, or NULL */
    int64_t submitted;  /* time of submission */
    int64_t begin, end; /* of the kernel; 0, 0: it never ran */
    uint64_t first_edge;
    uint32_t edge_count;
    int32_t row; /* worker */
    int32_t priority;
    uint32_t exclusive; /* its accumulators */
    uint32_t accesses;  /* entries of the TensorMap */
    uint32_t use_count;
    uint32_t scope;     /* node of scope_tree.h */
    uint32_t regions;   /* index + 1 of its arguments in regions.h; 0: they did not fit */
    uint64_t first_use; /* the heap buffers that it uses, in `use` */
};

struct recorded_edge {
    uint64_t from; /* index of a task */
    uint8_t reasons;
};

/* The orchestrator waited: because a ring was full, or for a value. */
struct recorded_wait {
    int64_t begin, end;
    PTOStallReason reason;           /* PTO_STALL_NONE: for a value, by await, if only for no time */
    uint64_t before;                 /* the task of the run that was submitted next */
    const PTOSite *site;             /* of an await; NULL: not known */
    const char *tensor;              /* likewise */
    uint64_t first_edge, edge_count; /* of an await: the tasks that it waits for, in `awaited` */
};

struct recorded_buffer {
    uint64_t bytes;          /* of the heap */
    uint64_t made, released; /* the task of the run that was submitted next */
};

struct recorded_sample {
    int64_t at;
    uint32_t tasks, map, deps;
    uint64_t heap;
};

struct recorded_step {
    int64_t begin, end;
};

struct recorder {
    /* Set before a run; read by all. */
    uint64_t first_id; /* of the run */
    uint64_t capacity;
    struct recorded_task *task;
    struct recorded_edge *edge;
    struct recorded_wait *wait;
    uint64_t *awaited; /* tasks */
    struct recorded_buffer *buffer;
    uint64_t *use; /* buffers */
    struct recorded_sample *sample;
    struct recorded_step *step;
    int64_t (*now)(void *context); /* the engine's clock; NULL: ticks */
    void *now_context;
    const char *unit; /* "ns" or "cycles" */
    /* The orchestrator's. */
    _Alignas(PTO_CACHELINE) uint64_t tasks, edges, waits, samples;
    uint64_t lost, lost_edges;
    /* tasks that did not fit; edges of tasks that did, for which there was no memory */
    uint64_t
        /* waits, awaited tasks, buffers and their uses, for which there was no memory: only report/whatif.c asks */
        lost_other;
    uint64_t edge_capacity, awaits, await_capacity; /* of edge; in use and room of awaited */
    uint64_t buffers, buffer_capacity, uses, use_capacity;
    struct scope_tree scopes;
    struct recorded_regions regions;
    int64_t origin; /* time 0 */
    struct tick_rate rate;
    bool is_in_ticks; /* the times are */
    /* The holder's. */
    _Alignas(PTO_CACHELINE) uint64_t steps;
};

bool ptoi_record_init(struct recorder *r, int64_t tasks, bool shared); /* false: no memory */
void ptoi_record_free(struct recorder *r);
void ptoi_record_begin(struct recorder *r, uint64_t first_id);
void ptoi_record_end(struct recorder *r);    /* the run has ended: nobody writes any more */
void ptoi_record_settle(struct recorder *r); /* before a report: times are of the engine's clock from now on */
static inline int64_t ptoi_record_now(const struct recorder *r)
{
    return r->now ? r->now(r->now_context) : ptoi_ticks();
}
static inline struct recorded_task *ptoi_record_task(struct recorder *r, uint64_t id)
{
    return r && id - r->first_id < r->capacity ? &r->task[id - r->first_id] : 0;
}
/* Lines that will be written soon. */
static inline void ptoi_record_fetch(struct recorder *r, uint64_t id)
{
    enum { AHEAD = 8 };
    if (id + AHEAD - r->first_id < r->capacity) __builtin_prefetch(&r->task[id + AHEAD - r->first_id], 1);
    if (r->samples + AHEAD < r->capacity) __builtin_prefetch(&r->sample[r->samples + AHEAD], 1);
}
/* NULL: no room.  The next one that is recorded. */
struct recorded_wait *ptoi_record_wait(struct recorder *r, PTOStallReason reason, int64_t begin, int64_t end);
/* One more task that this wait is for: of one wait after another. */
void ptoi_record_awaited(struct recorder *r, struct recorded_wait *w, uint64_t task_id);
/* Its number + 1; 0: no room. */
uint64_t ptoi_record_buffer(struct recorder *r, uint64_t bytes);
static inline void ptoi_record_release(struct recorder *r, uint64_t number)
{
    if (number > 0) r->buffer[number - 1].released = r->tasks + r->lost;
}
/* The newest task uses it. */
void ptoi_record_use(struct recorder *r, struct recorded_task *t, uint64_t number);
/* NULL: no room.  Filled in place: a copy would wait until the lines before it have arrived. */
static inline struct recorded_sample *ptoi_record_next_sample(struct recorder *r)
{
    return r->samples < r->capacity ? &r->sample[r->samples++] : 0;
}
void ptoi_record_step(struct recorder *r, int64_t begin, int64_t end);
/* The task `to` follows `from`; reasons: enum edge_reason, or-ed. */
void ptoi_record_edge(struct recorder *r, uint64_t from, uint64_t to, uint8_t reasons);

#endif
