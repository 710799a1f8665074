/* pto_runtime.h - orchestrate kernels as tasks: scopes, submission, run.
 *
 * Threads         the orchestrator of a run is the thread that called pto_runtime_run, pto_run_entry or
 *                 pto_runtime_execute, while it executes the orchestration and not a kernel.  "Caller" above each
 *                 function says which threads may call it.
 * Status          a negative number is an error.  The first error of a run is its run status: later calls in the run
 *                 do nothing and return it, and so does the run.  pto_last_error has the message.
 * Calls in a run  a call of the orchestrator outside a run is PTO_ERR_STATE.  PTO_ERR_MISUSE: rt is NULL or was
 *                 destroyed, or the call comes from another thread, a kernel or a forked child; misuse ends the run
 *                 that it disturbs, and pto_last_error(NULL) has its message.  In a run of pto_run_entry a call that
 *                 fails does not return, it unwinds to the entry.
 * Limits          a submit on the fast path (fast_path.h) is not checked for misuse.  The next call that the library
 *                 sees finds such misuse, at the latest when the kernel is timed.
 * Details         docs/runtime.md */
#ifndef PTO_RUNTIME_H
#define PTO_RUNTIME_H
#include <pto/pto_stats.h>
#include <pto/pto_status.h>
#include <pto/pto_types.h>
#include <pto/pto_submit.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PTOEngine {
#define PTO_ENGINE(id, name, note) PTO_ENGINE_##id, /* PTO_ENGINE_THREADS ... as engines.def lists and explains them */
#include <pto/engines.def>
#undef PTO_ENGINE
    PTO_ENGINES
} PTOEngine;

typedef enum PTOScopePolicy {
    PTO_SCOPE_OWNER,    /* the innermost scope at the submission owns a buffer, or the one that is given */
    PTO_SCOPE_OUTERMOST /* the outermost open scope owns every buffer but the run's (as the seed counts) */
} PTOScopePolicy;

/* How messages and advice name the limits of a PTOConfig. */
typedef enum PTONames {
    PTO_NAMES_MEMBERS, /* PTOConfig.heap_bytes */
    PTO_NAMES_OPTIONS, /* of a built program: --heap */
    PTO_NAMES_PYTHON   /* ptoc.Runtime(heap=...) */
} PTONames;

/* 0 selects the default of every member. */
typedef struct PTOConfig {
    PTOEngine engine;
    const char *backend;           /* "sim", or "ascend" (docs/ascend.md) */
    const char *kernels;           /* ascend: the map of kernels, a file */
    int32_t device;                /* ascend: the number of the device */
    double stream_timeout_seconds; /* ascend: the time limit of a kernel or a copy; default 600 */
    /* 0: no worker of that type.  All zero: chosen from the processors; with the engines threads and process on the
     * backend sim each worker then serves every programmable type, and each such type counts all of them */
    int32_t workers[PTO_WORKER_TYPES];
    int64_t task_window; /* slots, a power of two from 2; default 1024 */
    /* bytes of one heap ring, at least 64; default 64 MiB.  The rings form one heap of heap_rings * heap_bytes, 256 MiB
     * by default; a buffer has at most heap_bytes */
    int64_t heap_bytes;
    int32_t heap_rings;        /* number of heap rings, 1 to 64; default 4 */
    int64_t deplist_entries;   /* from 2; default 8192 */
    int64_t tensormap_entries; /* from 2; default 4096 */
    int32_t recursion_limit;   /* calls; default 131072 */
    PTOScopePolicy scope_policy;
    /* PTORunStats.dependences counts every dependence, at any distance; this costs time and memory */
    bool count_dependences;
    /* record up to this many tasks of a run for traces and graphs; 0: record nothing */
    int64_t record_tasks;
    /* The run fails with PTO_ERR_WATCHDOG when kernels run but none has ended for this time, at most a tenth of a
     * second later; the message names the kernels that run.  On several ranks also when nothing has happened on any of
     * them for so long, or when one does not answer; the message names what each waits for.  0: off.  A thread cannot
     * be stopped, so a run whose kernel never returns does not end, except on the engine process, which kills its
     * worker process; another thread sees the failure in pto_runtime_status and may end the program. */
    double watchdog_seconds;
    /* threads: a file of pto_runtime_write_schedule; kernels start in the same order on the same workers */
    const char *replay;
    /* threads: the scheduler role has a thread of its own; a waiting orchestrator helps */
    bool dedicated_scheduler;
    /* threads, process: each worker is bound, round-robin, to one of the processors that the process may use, and so to
     * the caches that hold what it works on.  Do not use it where other programs use these processors: a bound worker
     * waits for its own. */
    bool bind_workers;
    /* threads: worker types whose tasks are executed outside the library.  The thread that has the scheduler role calls
     * external_start, which must not block; no two calls run at the same time.  The arguments of the task are valid
     * until pto_task_complete, the array of arguments until external_start returns.  At most task_window tasks are
     * started and not completed. */
    bool external[PTO_WORKER_TYPES];
    void (*external_start)(void *context, int64_t task_id, const PTOKernel *kernel, const PTOArg *args, int32_t count);
    void *external_context;
    bool skip_kernels;       /* timing: kernels are not executed, only their cost counts; await is an error */
    int64_t submit_cycles;   /* timing: the orchestrator's cycles for a submit */
    int64_t dispatch_cycles; /* timing: cycles from ready to running on an idle worker */
    /* Engine serial executes tasks inline, at their submission; engine threads does so where the process has one
     * processor or the kernel is known to be very short.  Neither does if count_dependences or record_tasks needs the
     * graph.  true: every task goes through the window, by itself or in a strip of a loop. */
    bool always_defer;
    /* Finds wrong programs, at the cost of time and of 64 bytes for each buffer: memory whose lifetime has ended is
     * filled with a pattern; writes past the end of a buffer, and changes of a kernel's inputs, fail the run. */
    bool checked;
    /* The heap is backed by memory when the runtime is created, not page by page in a run; creation fails if the system
     * cannot provide it.  No effect on backends with memory of their own. */
    bool prealloc;
    /* A PTONames: main() of a built program and the Python package set it. */
    uint8_t names;
    /* pto_write_flow_stats says where the time of the orchestrator and of each worker went; this costs two looks at a
     * counter of the processor for each task that goes through the window.  record_tasks implies it. */
    bool time_causes;
    /* threads, serial: a launcher of MPI that has started this process several times has started a rank with each
     * (docs/distributed.md); where it is the only one, nothing changes.  The processes are alike: each creates the same
     * runtimes, one at a time with this member, begins the same runs, and writes the same to its arrays between them.
     * Behind a run all ranks have all that it wrote. */
    bool join_ranks;
    /* Tensors that calls make come from here; NULL: the pool of the host.  On the engine process a pool of
     * pto_pool_shared, made before: the worker process reaches its tensors, so that they are not copied.  It must exist
     * as long as the runtime. */
    struct PTOPool *pool;
    int64_t first_task_id, first_byte; /* for tests: the first values of the counters */
} PTOConfig;

/* Creates a runtime: obtains its rings, its heap and its workers.  config NULL stands for the defaults.  The caller
 * owns the runtime and frees it with pto_runtime_destroy.  On failure the result is NULL, *status (status may be
 * NULL) is the reason, and pto_last_error(NULL) has its message.
 * Caller     any thread.  Blocks until the workers have started; with PTOConfig.prealloc until the heap is backed by
 *            memory.
 * Status     *status: PTO_OK; PTO_ERR_CONFIG: a member of config, or the map of kernels, is invalid;
 *            PTO_ERR_UNSUPPORTED: this build has no such engine or backend; PTO_ERR_NOMEM; PTO_ERR_IO: the schedule,
 *            the map of kernels or an object of it cannot be read; PTO_ERR_ARGUMENT: the file of PTOConfig.replay is
 *            not a schedule; PTO_ERR_DEVICE: the device or its library cannot be used; PTO_ERR_LOST: the worker
 *            process died while it started. */
PTO_API PTORuntime *pto_runtime_create(const PTOConfig *config, PTOStatus *status);

/* Creates the runtime of the seed: engine threads, or timing if `simulate`, with one cpu and one accel worker beside
 * the cubes and vectors, and the default sizes.  The first 65,536 tasks of a run are recorded for
 * pto_runtime_write_trace.  NULL on failure.
 * Caller     any thread.  Blocks as pto_runtime_create does.
 * Status     none is returned; pto_last_error(NULL) has the message. */
PTO_API PTORuntime *pto_runtime_create_threaded(int32_t cubes, int32_t vectors, bool simulate);

/* The same with sizes: slots of the window, bytes of one heap ring, dependency entries.  A size of 0 stands for the
 * default.
 * Caller     any thread.  Blocks as pto_runtime_create does.
 * Status     none is returned; pto_last_error(NULL) has the message. */
PTO_API PTORuntime *pto_runtime_create_threaded_custom(int32_t cubes, int32_t vectors, bool simulate, int64_t window,
                                                       int64_t heap_bytes, int64_t deplist);

/* Allocates zeroed memory that the workers of every engine reach.  On the engine process every array outside the heap
 * that a task names must be such memory, allocated before the runtime is created: the worker process shares no other
 * memory, and what kernels write there is lost.  (pto_runtime_execute copies other memory.)  The caller owns the
 * memory and frees it with pto_shared_free.  NULL: bytes < 1, or no memory.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API void *pto_shared_alloc(int64_t bytes);

/* Frees memory of pto_shared_alloc.  bytes is the number that it was allocated with; every runtime that used the
 * memory was destroyed before.  NULL is ignored.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API void pto_shared_free(void *memory, int64_t bytes);

/* Destroys a runtime and frees everything that it owns.  NULL is ignored.
 * Caller     any thread.  Blocks until the workers have ended.
 * Status     none is returned.  pto_last_error(NULL) has a message if a device did not release its memory, or after
 *            misuse: during a run nothing is destroyed and the run ends with PTO_ERR_MISUSE; a runtime that was
 *            destroyed before is left alone. */
PTO_API void pto_runtime_destroy(PTORuntime *rt);

/* Gives memory back to the system.  A runtime obtains its rings, heap and frames when it is created; no run obtains
 * memory.  When it is destroyed this memory is kept for the next runtime or tensor in the process, up to the limit of
 * pto_pool_limit.  The call frees what is kept and, if rt is not NULL, the pages of rt's heap, which are obtained again
 * when a run touches them.
 * Caller     any thread.  Never blocks.
 * Status     PTO_OK; PTO_ERR_STATE: a run of rt is active; PTO_ERR_MISUSE: rt was destroyed, or belongs to the parent
 *            of a fork. */
PTO_API PTOStatus pto_runtime_trim(PTORuntime *rt);

/* Registers an operation of the program: from now on work requests of this opcode, PTO_OP_OWN or larger, call
 * fn(context, request).  A second call for an opcode replaces fn; fn NULL removes the operation.  A submit of an
 * opcode without an operation fails the run with PTO_ERR_UNSUPPORTED at its place.  The caller owns the context,
 * which must exist until rt is destroyed or the operation is replaced.  Backend sim, every engine but process.
 * Caller     the thread that runs rt; no run is active.  Never blocks.
 * Status     PTO_OK; PTO_ERR_ARGUMENT: an opcode below PTO_OP_OWN; PTO_ERR_STATE: the caller is in a run of rt;
 *            PTO_ERR_UNSUPPORTED: the backend has the operations of its machine only, or the engine is process, whose
 *            worker process knows neither fn nor the memory behind context; PTO_ERR_NOMEM; PTO_ERR_MISUSE: rt is NULL
 *            or was destroyed, or another thread, a kernel or a forked child calls. */
PTO_API PTOStatus pto_operation(PTORuntime *rt, int32_t opcode, PTOOperationFn fn, void *context);

/* Runs fn(rt, arg) as the orchestration, waits until every task has completed, and returns the run status.  The
 * calling thread is the orchestrator until the call returns.  An exception or pthread_exit that leaves a kernel fails
 * its task, one that leaves fn fails the run, both with PTO_ERR_MISUSE; it goes no further.
 * Caller     any thread, outside a run of rt.  Blocks until every task has completed.
 * Status     PTO_OK; the first error of the calls in the run; PTO_ERR_KERNEL: a kernel failed, or a checked run found
 *            that it wrote what it must not; PTO_ERR_TIMEOUT, PTO_ERR_WATCHDOG: a kernel ran for too long;
 *            PTO_ERR_CANCELLED: pto_cancel; PTO_ERR_DEVICE: the device failed; PTO_ERR_LOST: the worker process
 *            died, for example because a kernel crashed; PTO_ERR_ARGUMENT: fn is NULL, or the schedule of
 *            PTOConfig.replay does not fit the run; PTO_ERR_NOMEM; PTO_ERR_STATE: fn left scopes open, or the caller
 *            is in a run of rt; PTO_ERR_MISUSE: rt is NULL or was destroyed, another thread runs it, or the call
 *            comes from a kernel or a forked child. */
PTO_API PTOStatus pto_runtime_run(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg);

/* The orchestration of pto_runtime_execute: inputs and outputs are the pointers of the
 * arrays, in the order of the two lists. */
typedef void (*PTOOrchestration)(PTORuntime *rt, void **inputs, void **outputs, void *params);

/* A run on arrays of the host: inputs[i] has input_bytes[i] bytes, outputs[i] has output_bytes[i].  fn receives an
 * array of pointers for each list, in the same order, and params unchanged.
 *
 * Tasks find the contents of all arrays on every engine and backend.  After PTO_OK an output holds what the tasks
 * wrote, and its old contents where no task wrote.  Tasks must not write an array that is only an input: whether the
 * caller sees such a write is not specified.  An array may be given several times, as input and output, and arrays
 * may overlap: the pointers of fn overlap as the caller's arrays do.  An array of 0 bytes is empty, and its pointer
 * may be NULL.
 *
 * fn receives the caller's pointers, except for arrays that the workers of the engine process do not share: memory
 * that is not from pto_shared_alloc, or was allocated after the runtime was created.  Such arrays are copied to
 * shared memory before the run, and outputs are copied back after it; so fn must name arrays by the pointers that it
 * receives, and must not keep them.  At most 64 GiB are copied; the memory is kept for the next run, until
 * pto_runtime_trim.  A backend with memory of its own copies to the device what tasks name, and copies back what they
 * write; pto_buffer need not be called.  On the engine graph, and with skip_kernels, no kernel runs and the outputs
 * do not change.
 *
 * After an error or a cancel each byte of an output has its old value or one that a task wrote.  An array that is
 * copied keeps its old contents, unless the copy back from a device failed.
 *
 * Owns nothing: the arrays and the four lists must exist until the call returns.
 * Caller     any thread, which is the orchestrator of the run; no run of rt is active.  Blocks until every task has
 *            completed.
 * Status     as pto_runtime_run, and: PTO_ERR_ARGUMENT: a negative size, a NULL array that is not empty, an array
 *            that wraps around; PTO_ERR_UNSUPPORTED: an array cannot be copied to the workers; PTO_ERR_NOMEM.
 *            pto_last_error(rt) names the array, counted from 0: `inputs[2]`. */
PTO_API PTOStatus pto_runtime_execute(PTORuntime *rt, PTOOrchestration fn, void *const *inputs,
                                      const int64_t *input_bytes, int32_t n_inputs, void *const *outputs,
                                      const int64_t *output_bytes, int32_t n_outputs, void *params);

/* The text of the last error of rt, one or more lines; the first line is complete in itself.  With rt NULL, or one
 * that was destroyed: of this thread's last create, destroy or misuse, and empty if it succeeded.  The text belongs
 * to the runtime, or to the thread, and is valid until the next run begins, or the next such call.
 * Caller     any thread; during a run the orchestrator, or any thread after pto_runtime_status has returned an error.
 *            Never blocks.  Status: none. */
PTO_API const char *pto_last_error(PTORuntime *rt);

/* The status of the active run so far, or else of the last run: what it returned.  A call that is refused for its
 * arguments before its run begins counts as a run.  After an error pto_last_error(rt) has its text, for any thread,
 * until the next run begins or a call outside a run is refused.
 * Caller     any thread.  Never blocks.
 * Status     PTO_OK; the first error of the run, any that pto_runtime_run returns; PTO_ERR_MISUSE also if rt is NULL,
 *            was destroyed, or belongs to the parent of a fork. */
PTO_API PTOStatus pto_runtime_status(PTORuntime *rt);

/* Registers `bytes` bytes from base as one buffer of the program, outside the heap.  Optional on the backend sim,
 * where an unknown address becomes a buffer at its first use and registration makes look-ups cheaper; on other
 * backends every array that a task names must be registered.  NULL and bytes < 1 are ignored.  The array must exist
 * until the end of the run; arrays that overlap are one.  Until then a task or an await whose buffer lies in the array
 * and whose region exceeds it fails the run with PTO_ERR_BOUNDS on the slow path; the fast path looks at buffers of the
 * heap alone, and with PTOConfig.checked or always_defer no submit takes it.
 * Caller     the orchestrator, or before a run the thread that begins it.  Blocks never.
 * Status     none is returned.  On a backend with memory of its own an error fails the run: PTO_ERR_ARGUMENT: the
 *            array overlaps one that the device has; PTO_ERR_NOMEM. */
PTO_API void pto_buffer(PTORuntime *rt, const void *base, int64_t bytes);

/* How many ranks the run has: processes that a launcher of MPI has started; 1 where that is all.  No result of a
 * program may depend on it.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API int64_t pto_ranks(PTORuntime *rt);

/* Which of them this process is, from 0: for a host program that prints or writes files once.  0 where it is the only
 * one.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API int64_t pto_rank(PTORuntime *rt);

/* Says where the cells of a tensor live in a run on several ranks (docs/distributed.md): an array of the program that
 * pto_buffer has registered, or a buffer of pto_alloc.  It is ignored on one rank, where `base` is not the first byte
 * of such an array or `dist` is about more or less than all of it, and where a task or pto_await has named the array
 * before.
 * Caller     the orchestrator.  Never blocks.
 * Status     none is returned.  The run fails with PTO_ERR_ARGUMENT, on one rank too: a negative extent or cell, a grid
 *            below 1 or with more than 2^63 - 1 places, no type, or not 1 to PTO_MAX_RANK dimensions; see "calls in a
 *            run". */
PTO_API void pto_dist(PTORuntime *rt, const void *base, const PTODist *dist);

/* The same of an array of `rank` dimensions that is cut into bands of its first one, or of the next one that has more
 * than one index, as many as there are ranks.  shape: an extent for each dimension; read before the function returns.
 * Caller     the orchestrator.  Never blocks.
 * Status     as that of pto_dist. */
PTO_API void pto_bands(PTORuntime *rt, const void *base, PTOType type, int32_t rank, const int64_t *shape);

/* Opens a scope, which owns the buffers that are allocated while it is the innermost one, and returns its token.
 * Caller     the orchestrator.  Never blocks.
 * Status     none is returned; PTO_SCOPE_CURRENT after an error.  The run fails with PTO_ERR_RECURSION if scopes are
 *            nested deeper than 16 * recursion_limit + 64; see "calls in a run". */
PTO_API PTOScope pto_scope_begin(PTORuntime *rt);

/* Ends the innermost scope: its reference to each of its buffers is dropped, and a buffer is freed when the consumers
 * that were submitted so far have completed.
 * Caller     the orchestrator.  Never blocks.
 * Status     none is returned.  The run fails with PTO_ERR_STATE if pto_scope_begin opened no scope; see "calls in a
 *            run". */
PTO_API void pto_scope_end(PTORuntime *rt);

/* The token of the innermost scope; PTO_SCOPE_CURRENT outside a run.
 * Caller     the orchestrator.  Never blocks.  Status: none; a call by another thread or a kernel is PTO_ERR_MISUSE
 *            for the run. */
PTO_API PTOScope pto_scope_current(PTORuntime *rt);

/* The number of open scopes of pto_scope_begin; 0 in a run that opened none, and outside a run.
 * Caller     the orchestrator.  Never blocks.  Status: none; a call by another thread or a kernel is PTO_ERR_MISUSE
 *            for the run. */
PTO_API int32_t pto_scope_depth(PTORuntime *rt);

/* Blocks while a ring is full.  params may die on return; *ref of every PTO_OUTPUT is set.  Returns the task id, from
 * 0, or a negative PTOStatus.  A task whose every written region is empty is not submitted: returns PTO_NO_TASK. */
#define PTO_NO_TASK INT64_MAX
/* Submits a task: a call of the kernel with these parameters, ordered after the earlier tasks that it depends on.
 * Returns the task id, or a negative PTOStatus; ids count the tasks of the runtime from 0, over all of its runs.  A
 * task whose written regions are all empty is not submitted: the result is PTO_NO_TASK.  The variable of every
 * PTO_OUTPUT is set when the call returns.  The runtime copies params; the kernel and the names must exist as long as
 * the runtime.
 * Caller     the orchestrator.  Blocks while a ring, a pool or the heap is full; where tasks are executed inline,
 *            until the kernel has returned.
 * Status     a negative result: PTO_ERR_ARGUMENT: an invalid kernel, number of parameters, kind, type, shape, size,
 *            priority or time limit, a PTO_OUTPUT without a variable or into a closed scope; PTO_ERR_CONFIG: there is
 *            no worker of the kernel's type; PTO_ERR_UNSUPPORTED: an opcode without an operation; PTO_ERR_HANDLE: the
 *            lifetime of a buffer has ended; PTO_ERR_BOUNDS: a region exceeds its buffer (pto_buffer says which arrays
 *            have bounds); PTO_ERR_UNWRITTEN: an input that was never allocated; PTO_ERR_TOO_LARGE: an output larger
 *            than a heap ring; PTO_ERR_DEADLOCK: the heap is full of live data; PTO_ERR_NOMEM: the dependences of a
 *            recorded run cannot be kept;
 *            PTO_ERR_KERNEL, PTO_ERR_TIMEOUT: the task was executed inline and failed; PTO_ERR_DEVICE; the run status
 *            if the run has failed; see "calls in a run". */
PTO_API int64_t(pto_submit_task)(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);

/* The buffer that the runtime allocated for an output of a task: the pointer that pto_submit_task wrote to *ref.
 * task: the id that pto_submit_task returned.  index: counted from 0 among the PTO_OUTPUT parameters of the task
 * whose *ref was NULL.  Valid while a scope owns the buffer: until the scope ends, or pto_release.  NULL afterwards,
 * and for everything else: no such task of this run, no such output, an output of 0 bytes, outside a run.  The call
 * visits every buffer that open scopes own; a program that allocates many keeps the pointers of *ref.
 * Caller     the orchestrator.  Never blocks.  Status: none; a call by another thread or a kernel is PTO_ERR_MISUSE
 *            for the run. */
PTO_API void *pto_task_get_output(PTORuntime *rt, int64_t task, int32_t index);

/* Allocates a buffer that no single task makes: one that is written in parts, or passed on before it is written.
 * `scope` owns it.  NULL for 0 bytes and after an error.
 * Caller     the orchestrator.  Blocks while the heap is full.
 * Status     none is returned.  The run fails with PTO_ERR_ARGUMENT: bytes < 0, or a scope that is closed;
 *            PTO_ERR_TOO_LARGE: more than a heap ring; PTO_ERR_DEADLOCK: the heap is full of live data; see "calls in
 *            a run". */
PTO_API void *pto_alloc(PTORuntime *rt, PTOScope scope, int64_t bytes);

/* Drops the scope's reference to a buffer before the scope ends.  Consumers that were submitted so far keep the
 * buffer.  NULL is ignored.
 * Caller     the orchestrator.  Never blocks.
 * Status     none is returned.  The run fails with PTO_ERR_HANDLE: memory outside the heap, not the first byte of a
 *            buffer, or a buffer whose lifetime has ended; see "calls in a run". */
PTO_API void pto_release(PTORuntime *rt, const void *buffer);

/* Waits for every producer of `bytes` bytes at `offset` of the buffer.  Afterwards the caller may read them.
 * Caller     the orchestrator.  Blocks until the producers have completed, and on a device until the bytes were
 *            copied.
 * Status     PTO_OK; PTO_ERR_ARGUMENT: a negative offset or size; PTO_ERR_HANDLE, PTO_ERR_BOUNDS: the lifetime of the
 *            buffer has ended, or the bytes exceed it; PTO_ERR_UNWRITTEN: the buffer is NULL; PTO_ERR_UNSUPPORTED: no
 *            kernel runs (engine graph, skip_kernels); PTO_ERR_NOMEM: a recorded run; PTO_ERR_DEVICE; the run status
 *            if the run has failed; see "calls in a run". */
PTO_API PTOStatus pto_await(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes);

/* Waits for every task that reads or writes these bytes.  Afterwards the caller may write them; for later tasks to
 * find the new contents on every backend, it must write before the next submit.  Where no kernel runs (engine graph,
 * skip_kernels) the call waits for nothing.
 * Caller     the orchestrator.  Blocks until these tasks have completed, and on a device until the bytes were copied.
 * Status     PTO_OK; PTO_ERR_ARGUMENT: a negative offset or size; PTO_ERR_HANDLE, PTO_ERR_BOUNDS: the lifetime of the
 *            buffer has ended, or the bytes exceed it; PTO_ERR_UNWRITTEN: the buffer is NULL; PTO_ERR_NOMEM: a
 *            recorded run; PTO_ERR_DEVICE; the run status if the run has failed; see "calls in a run". */
PTO_API PTOStatus pto_await_users(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes);

/* Writes the recorded run (PTOConfig.record_tasks) as Chrome/Perfetto JSON: a row for each worker, one for the
 * orchestrator's stalls, one for the scheduler, counters of the rings' use, an arrow for each edge.  Times are ns, or
 * cycles on the engine timing.  A file of that name is replaced when the new one is complete; it is compressed if the
 * name ends in ".gz", by zlib.
 * Caller     any thread while no run is active.  Blocks while the file is written.
 * Status     PTO_OK; PTO_ERR_STATE: nothing was recorded, or a run is active; PTO_ERR_NOMEM; PTO_ERR_IO: errno has
 *            the reason; PTO_ERR_MISUSE: rt or path is NULL, rt was destroyed, or belongs to the parent of a fork.
 *            pto_last_error(NULL) has the text. */
PTO_API PTOStatus pto_runtime_write_trace(PTORuntime *rt, const char *path);

/* Writes the recorded run as one page of HTML that needs no other file: timeline, times of kernels, a small graph,
 * flow control, advice.
 * Caller     any thread while no run is active.  Blocks while the file is written.
 * Status     as pto_runtime_write_trace: PTO_OK, PTO_ERR_STATE, PTO_ERR_NOMEM, PTO_ERR_IO, PTO_ERR_MISUSE. */
PTO_API PTOStatus pto_runtime_write_report(PTORuntime *rt, const char *path);

/* Writes the tasks of the recorded run and every edge with its reason (RAW, WAR, WAW, acc): DOT, or JSON or text if
 * the name ends in .json or .txt.
 * Caller     any thread while no run is active.  Blocks while the file is written.
 * Status     as pto_runtime_write_trace: PTO_OK, PTO_ERR_STATE, PTO_ERR_NOMEM, PTO_ERR_IO, PTO_ERR_MISUSE. */
PTO_API PTOStatus pto_runtime_write_graph(PTORuntime *rt, const char *path);

/* Writes the order in which the kernels of the recorded run started and the worker of each, one `task worker` a line,
 * for PTOConfig.replay.  Engines threads and process.
 * Caller     any thread while no run is active.  Blocks while the file is written.
 * Status     as pto_runtime_write_trace; PTO_ERR_STATE also if the run had more tasks than were recorded;
 *            PTO_ERR_UNSUPPORTED: on the other engines nothing starts in an order that could be repeated. */
PTO_API PTOStatus pto_runtime_write_schedule(PTORuntime *rt, const char *path);

/* Reports the end of a task that external_start received.  result: 0, or any other number for a failure.  Exactly one
 * call for each task.
 * Caller     any thread.  Never blocks.
 * Status     none is returned.  A task that was not started, or has ended: PTO_ERR_MISUSE for the active run, if there
 *            is one, and a message for pto_last_error(NULL).  The status of a run that has ended stays. */
PTO_API void pto_task_complete_with(PTORuntime *rt, int64_t task_id, int32_t result);

/* pto_task_complete_with of result 0.
 * Caller     any thread.  Never blocks.  Status: as pto_task_complete_with. */
PTO_API void pto_task_complete(PTORuntime *rt, int64_t task_id);

/* Fails the active run with PTO_ERR_CANCELLED.  Kernels that are running finish first; no other kernel starts.  A
 * pto_program_call ends so from its beginning on, also while it waits.  Where no run is active it does nothing: the
 * status of the last run stays, and the next run is not cancelled.
 * Caller     any thread, also a kernel.  Never blocks.
 * Status     none is returned; after misuse (rt is NULL or was destroyed, a forked child) pto_last_error(NULL) has
 *            the message. */
PTO_API void pto_cancel(PTORuntime *rt);

/* Sets the place in the program of the following calls, for error messages, graphs and traces.  Caller: the
 * orchestrator. rt NULL is ignored.  Status: none. */
static inline void pto_at(PTORuntime *rt, const PTOSite *site)
{
    if (rt) ((PTOFastPath *)rt)->site = site;
}

#ifdef __cplusplus
}
#endif
#endif
