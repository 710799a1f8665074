/* pto_stats.h - flow control seen from outside: who pushed back, how often, how long, how full. */
#ifndef PTO_STATS_H
#define PTO_STATS_H
#include <pto/pto_types.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PTOStallReason {
    PTO_STALL_NONE,
    PTO_STALL_TASK_RING,
    PTO_STALL_TENSORMAP_POOL,
    PTO_STALL_DEPLIST_POOL,
    PTO_STALL_HEAP_RING,
    PTO_STALL_READY_QUEUE,
    PTO_STALL_REASONS
} PTOStallReason;

/* A snapshot; all members count from the start of the run or the last reset.  Times are nanoseconds, or cycles on the
 * engine timing. */
typedef struct PTOFlowControlStats {
    int64_t task_ring_stalls, tensormap_pool_stalls, deplist_pool_stalls, heap_ring_stalls, ready_queue_stalls;
    int64_t task_ring_stall_ns, tensormap_pool_stall_ns, deplist_pool_stall_ns, heap_ring_stall_ns,
        ready_queue_stall_ns;
    int64_t task_ring_hwm;      /* tasks in flight */
    int64_t tensormap_pool_hwm; /* entries */
    int64_t deplist_pool_hwm;   /* entries */
    int64_t heap_hwm;           /* bytes, all rings together */
    int64_t ready_queue_hwm;    /* tasks, the fullest queue */
    int64_t task_ring_size, tensormap_pool_size, deplist_pool_size, heap_size, ready_queue_size;
    int64_t awaits;         /* pto_await and pto_await_users, also from generated code, */
    int64_t awaits_blocked; /* those of them that had to wait, */
    int64_t await_ns;       /* and for how long; not part of the stalls */
    PTOStallReason current_stall;
    const char *unit; /* of the times: "ns" or "cycles" */
} PTOFlowControlStats;

typedef struct PTORunStats {
    int64_t tasks;     /* submitted */
    int64_t at_submit; /* of them: ran at their submits, past the window; nobody looked for what they depend on */
    int64_t edges;     /* dependences on tasks that had not completed when found */
    /* the same with completed producers counted too: all of them, if counts_dependences, else some */
    int64_t dependences;
    /* PTOConfig.count_dependences, which recording and the engines timing and graph imply; false if there is no
     * memory to find them: they are found when somebody asks for these numbers, or for a report */
    bool counts_dependences;
    int64_t allocations; /* output buffers */
    int64_t allocated_bytes;
    int64_t moved_bytes; /* of buffers that were moved, because the heap had room for a new one but not in one piece */
    int64_t scopes;
    int64_t ns; /* wall time of the run */
    int32_t workers[PTO_WORKER_TYPES];
    int64_t worker_tasks[PTO_WORKER_TYPES];
    int64_t worker_busy_ns[PTO_WORKER_TYPES];
    /* of the timing engine, else 0 */
    int64_t cycles;        /* from the first submit to the end of the last task */
    int64_t critical_path; /* cycles of the costliest chain of dependent tasks: no schedule is shorter */
    int64_t worker_busy_cycles[PTO_WORKER_TYPES];
} PTORunStats;

/* The memory that runtimes of this process were made of: their heaps and rings. */
typedef struct PTOPoolStats {
    int64_t total_bytes;    /* obtained from the system and not given back to it */
    int64_t used_bytes;     /* of it, in runtimes that exist; the rest is kept for the next ones */
    int64_t used_bytes_max; /* the high-water mark of used_bytes */
    int64_t reuse_hits;     /* hits: blocks that were found among the kept ones */
    int64_t grow_count;     /* misses: blocks that had to be obtained */
} PTOPoolStats;

/* Of the last checked run, a line for each place that made buffers which outlived the scope they were made in, because
 * a scope further out owns them: name, place, how many were held at once, bytes, whose.  One is a result; more in each
 * iteration of a loop are a leak.  The first 64 places.  No run is active. */
PTO_API void pto_write_pinned(PTORuntime *rt, FILE *out);

PTO_API void pto_pool_stats(PTOPoolStats *stats); /* any thread, at any time */

/* The same in words: hits and misses with their rate, bytes in use and kept for the next runtime.  Any thread, at any
 * time; pto_runtime_trim gives what is kept back to the system. */
PTO_API void pto_pool_print(FILE *out);

/* Any thread while no run is active; during a run only the orchestrator's. The result lives until the next call. */
PTO_API const PTOFlowControlStats *pto_get_flow_stats(PTORuntime *rt);
PTO_API void pto_reset_flow_stats(PTORuntime *rt);
/* With advice about rings, if the run was recorded (PTOConfig.record_tasks) and a larger one is shown to be faster. */
PTO_API void pto_print_flow_stats(PTORuntime *rt);            /* standard output */
PTO_API void pto_write_flow_stats(PTORuntime *rt, FILE *out); /* the same, elsewhere */
PTO_API PTOStallReason pto_get_current_stall(PTORuntime *rt); /* any thread */
PTO_API const char *pto_stall_reason_name(PTOStallReason reason);
PTO_API const PTORunStats *pto_get_run_stats(PTORuntime *rt);

#ifdef __cplusplus
}
#endif
#endif
