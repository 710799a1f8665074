/* pto_stats.h - flow control in numbers: which rings and pools were full, how often, and for how long.  stats.def lists
 * the statistics. */
#ifndef PTO_STATS_H
#define PTO_STATS_H
#include <pto/pto_types.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PTOStallReason {
    PTO_STALL_NONE,
#define PTO_RING(id, ...) PTO_STALL_##id,
#include <pto/stats.def>
    PTO_STALL_REASONS
} PTOStallReason;

/* A snapshot.  All members count from the start of the run or the last reset.  Times are nanoseconds, or cycles on the
 * engine timing. */
typedef struct PTOFlowControlStats {
#define PTO_RING(id, name, ...) int64_t name##_stalls; /* task_ring_stalls, tensormap_pool_stalls ... */
#include <pto/stats.def>
#define PTO_RING(id, name, ...) int64_t name##_stall_ns; /* task_ring_stall_ns ... */
#include <pto/stats.def>
#define PTO_RING(id, name, mark, ...) int64_t mark##_hwm; /* high-water marks: task_ring_hwm ... heap_hwm ... */
#include <pto/stats.def>
#define PTO_RING(id, name, mark, ...) int64_t mark##_size; /* task_ring_size ... heap_size ... */
#include <pto/stats.def>
#define PTO_FLOW_STAT(name, ...) int64_t name; /* awaits, awaits_blocked, await_ns */
#include <pto/stats.def>
    PTOStallReason current_stall;
    const char *unit; /* of the times: "ns" or "cycles" */
} PTOFlowControlStats;

/* The work of a run: int64_t tasks, at_submit, edges ... as stats.def lists and explains them. */
typedef struct PTORunStats {
#define PTO_RUN_FIELD(owner, type, name, array, ...) type name array;
#include <pto/stats.def>
} PTORunStats;

/* The memory of the runtimes and tensors of this process. */
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
 * out NULL is ignored.
 * Caller     any thread while no run is active.  Never blocks.  Status: none; rt NULL is PTO_ERR_MISUSE for
 *            pto_last_error(NULL). */
PTO_API void pto_write_pinned(PTORuntime *rt, FILE *out);

/* Fills *stats with the memory of all runtimes of the process.  NULL is ignored.
 * Caller     any thread, at any time.  Never blocks for long: it takes a lock.  Status: none. */
PTO_API void pto_pool_stats(PTOPoolStats *stats);

/* Blocks of nearly equal sizes, which serve each other. */
typedef struct PTOPoolClass {
    int64_t bytes; /* the largest request that such a block serves */
    int64_t hits, misses;
    int64_t used; /* blocks in use */
} PTOPoolClass;

/* Fills `to` with the size classes that blocks were ever taken from, the smallest first, at most `room` of them.
 * Returns how many there are.  `to` NULL: counts them only.
 * Caller     any thread, at any time.  Never blocks for long: it takes a lock.  Status: none. */
PTO_API int32_t pto_pool_classes(PTOPoolClass *to, int32_t room);

/* Prints pto_pool_stats in words: hits and misses with their rate, bytes in use and kept for the next runtime.  out
 * NULL is ignored.
 * Caller     any thread, at any time.  Status: none. */
PTO_API void pto_pool_print(FILE *out);

/* The flow control of the active run so far, or else of the last run.  The result belongs to rt and is valid until
 * the next call.  NULL if rt is NULL or was destroyed.
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

/* The same as pto_print_flow_stats, to `out`.  out NULL is ignored.
 * Caller     any thread while no run is active; during a run the orchestrator.  Status: none. */
PTO_API void pto_write_flow_stats(PTORuntime *rt, FILE *out);

/* The stall that the orchestrator is in at the moment, a snapshot; PTO_STALL_NONE if rt is NULL.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API PTOStallReason pto_get_current_stall(PTORuntime *rt);

/* The name of a stall: "heap ring"; "?" for a number that is none.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API const char *pto_stall_reason_name(PTOStallReason reason);

/* The numbers of the active run so far, or else of the last run.  Finds the dependences of a recorded run, which
 * takes time.  The result belongs to rt and is valid until the next call.  NULL if rt is NULL or was destroyed.
 * Caller     any thread while no run is active; during a run the orchestrator.  Never waits for tasks.  Status: none.
 */
PTO_API const PTORunStats *pto_get_run_stats(PTORuntime *rt);

#ifdef __cplusplus
}
#endif
#endif
