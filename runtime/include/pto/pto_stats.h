/* pto_stats.h - flow control in numbers: which rings and pools were full, how often, and for how long. */
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

/* A snapshot.  All members count from the start of the run or the last reset.  Times are nanoseconds, or cycles on the
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
    int64_t awaits;         /* calls of pto_await and pto_await_users, also by generated code */
    int64_t awaits_blocked; /* awaits that had to wait */
    int64_t await_ns;       /* time in awaits; not part of the stalls */
    PTOStallReason current_stall;
    const char *unit; /* of the times: "ns" or "cycles" */
} PTOFlowControlStats;

typedef struct PTORunStats {
    int64_t tasks;     /* submitted */
    int64_t at_submit; /* executed inline, without dependence analysis */
    int64_t edges;     /* dependences on tasks that had not completed when found */
    /* the same, with completed producers: all dependences if counts_dependences, else some */
    int64_t dependences;
    /* PTOConfig.count_dependences, which recording and the engines timing and graph imply; false if there is no memory
     * to find them.  Dependences are found when these numbers or a report are asked for */
    bool counts_dependences;
    int64_t allocations; /* output buffers */
    int64_t allocated_bytes;
    int64_t moved_bytes; /* bytes that compaction moved, because the free space of the heap was fragmented */
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

/* The memory of the runtimes of this process: their heaps and rings. */
typedef struct PTOPoolStats {
    int64_t total_bytes;    /* obtained from the system and not given back */
    int64_t used_bytes;     /* the part in runtimes that exist; the rest is kept for the next runtimes */
    int64_t used_bytes_max; /* the high-water mark of used_bytes */
    int64_t reuse_hits;     /* blocks that were reused */
    int64_t grow_count;     /* blocks that the system provided */
} PTOPoolStats;

/* Writes the buffers of the last checked run that outlived the scope in which they were made, because an outer scope
 * owns them: a line for each place that made some, with name, place, the largest number and bytes held at once, and
 * the owner.  One is a result; more in each iteration of a loop are a leak.  The first 64 places.
 * Caller     any thread while no run is active.  Never blocks.  Status: none; rt NULL is PTO_ERR_MISUSE for
 *            pto_last_error(NULL). */
PTO_API void pto_write_pinned(PTORuntime *rt, FILE *out);

/* Fills *stats with the memory of all runtimes of the process.
 * Caller     any thread, at any time.  Never blocks for long: it takes a lock.  Status: none. */
PTO_API void pto_pool_stats(PTOPoolStats *stats);

/* Prints pto_pool_stats in words: hits and misses with their rate, bytes in use and kept for the next runtime.
 * Caller     any thread, at any time.  Status: none. */
PTO_API void pto_pool_print(FILE *out);

/* The flow control of the active run so far, or else of the last run.  The result belongs to rt and is valid until
 * the next call.  NULL if rt is NULL.
 * Caller     any thread while no run is active; during a run the orchestrator.  On the engine process it blocks until
 *            the worker process has answered.  Status: none. */
PTO_API const PTOFlowControlStats *pto_get_flow_stats(PTORuntime *rt);

/* Sets the counts and times to 0, and each high-water mark to its present value.
 * Caller     any thread while no run is active; during a run the orchestrator.  Blocks as pto_get_flow_stats does.
 *            Status: none. */
PTO_API void pto_reset_flow_stats(PTORuntime *rt);

/* Prints pto_get_flow_stats to standard output.  If the run was recorded (PTOConfig.record_tasks) and larger rings
 * are shown to be faster, with that advice.
 * Caller     any thread while no run is active; during a run the orchestrator.  Status: none. */
PTO_API void pto_print_flow_stats(PTORuntime *rt);

/* The same as pto_print_flow_stats, to `out`.
 * Caller     any thread while no run is active; during a run the orchestrator.  Status: none. */
PTO_API void pto_write_flow_stats(PTORuntime *rt, FILE *out);

/* The stall that the orchestrator is in at the moment, a snapshot; PTO_STALL_NONE if rt is NULL.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API PTOStallReason pto_get_current_stall(PTORuntime *rt);

/* The name of a stall: "heap ring"; "?" for a number that is none.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API const char *pto_stall_reason_name(PTOStallReason reason);

/* The numbers of the active run so far, or else of the last run.  Finds the dependences of a recorded run, which
 * takes time.  The result belongs to rt and is valid until the next call.  NULL if rt is NULL.
 * Caller     any thread while no run is active; during a run the orchestrator.  Never waits for tasks.  Status: none.
 */
PTO_API const PTORunStats *pto_get_run_stats(PTORuntime *rt);

#ifdef __cplusplus
}
#endif
#endif
