/* pto_runtime.h - orchestrate kernels as tasks: scopes, submission, run.
 *
 * One thread, the orchestrator, calls everything here that takes a PTORuntime during a run, except where a call says
 * "any thread".  Status: negative is bad; the first error of a run sticks, later submits do nothing and return it, and
 * the run returns it.  A call on another thread, inside a kernel, in a forked child, or of a runtime that is NULL or
 * was destroyed is PTO_ERR_MISUSE, and ends the run that it disturbs; where a call returns no status,
 * pto_last_error(NULL) has the sentence.  A submit that its caller carries out itself (pto_submit.h) is not looked at:
 * such misuse is found at the next call that the library sees, at the latest when the kernel is measured.
 * docs/runtime.md tells the whole story. */
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
    PTO_ENGINE_THREADS, /* workers are threads; the scheduler role goes to whoever is idle */
    PTO_ENGINE_SERIAL,  /* every kernel runs at its submit: the oracle */
    PTO_ENGINE_TIMING,  /* one thread, a clock in cycles: predicts a device */
    PTO_ENGINE_PROCESS, /* scheduler and workers in a process of their own */
    PTO_ENGINE_GRAPH,   /* orchestrate only: nothing runs */
    PTO_ENGINES
} PTOEngine;

typedef enum PTOScopePolicy {
    PTO_SCOPE_OWNER,    /* a buffer belongs to the innermost scope of its submit, or the one given */
    PTO_SCOPE_OUTERMOST /* every buffer belongs to the outermost open scope (the seed's counting) */
} PTOScopePolicy;

/* Zero means default for every member. */
typedef struct PTOConfig {
    PTOEngine engine;
    const char *backend;               /* "sim", or "ascend": docs/ascend.md */
    const char *kernels;               /* ascend: the map of kernels, a file */
    int32_t device;                    /* ascend: which one */
    double stream_timeout_seconds;     /* ascend: a kernel or a copy that takes longer fails the run; default 600 */
    int32_t workers[PTO_WORKER_TYPES]; /* all zero: from the machine's cores; else 0 is none of that type */
    int64_t task_window;               /* slots, a power of two from 2; default 1024 */
    /* of one heap ring, at least 64; default 64 MiB.  The rings are one heap: the runtime obtains heap_rings times
     * heap_bytes, 256 MiB by default, and a buffer has heap_bytes at most */
    int64_t heap_bytes;
    int32_t heap_rings;        /* how many times heap_bytes; 1 to 64; default 4 */
    int64_t deplist_entries;   /* from 2; default 8192 */
    int64_t tensormap_entries; /* from 2; default 4096 */
    int32_t recursion_limit;   /* default 256 */
    PTOScopePolicy scope_policy;
    /* PTORunStats.dependences counts all, at any distance; costs time and memory */
    bool count_dependences;
    /* keep what is needed for traces and graphs of so many tasks; 0: record nothing */
    int64_t record_tasks;
    /* Kernels run, but none has ended for so long: the run fails with PTO_ERR_WATCHDOG, at most a tenth of a second
     * later, and the message names those that run.  0: off.  A thread cannot be stopped, so where a kernel never
     * returns the run does not end, except in the engine process, which kills its worker process: another thread learns
     * of it from pto_runtime_status, and may end the program. */
    double watchdog_seconds;
    /* threads: a file of pto_runtime_write_schedule; starts and places are repeated */
    const char *replay;
    /* threads: the scheduler role has a thread of its own; a waiting orchestrator helps */
    bool dedicated_scheduler;
    /* threads, process: each worker is bound, round-robin, to one of the processors that the process may use, and so to
     * the caches that hold what it works on.  Not where others use these processors: a bound worker waits for its
     * own. */
    bool bind_workers;
    /* threads: worker types whose tasks something outside the library carries out.  start() is called by whoever
     * schedules, must not block, and may run at the same time as anything but itself; the task's arguments are good
     * until the call of pto_task_complete, the array of them until start() returns.  At most task_window tasks are
     * started and not completed. */
    bool external[PTO_WORKER_TYPES];
    void (*external_start)(void *context, int64_t task_id, const PTOKernel *kernel, const PTOArg *args, int32_t count);
    void *external_context;
    bool skip_kernels;       /* timing: kernels are costed, not run; await is an error */
    int64_t submit_cycles;   /* timing: what a submit costs the orchestrator */
    int64_t dispatch_cycles; /* timing: from ready to running on an idle worker */
    /* Engine serial, and threads where the process has one processor or the kernel is known to be very short, run a
     * task at its submit, past the window, unless something watches the graph (count_dependences, record_tasks).  true:
     * every task goes through the window. */
    bool always_defer;
    /* Finds wrong programs at the cost of time, and of 64 bytes a buffer: memory whose life has ended is filled with a
     * pattern, writes behind a buffer and changes of what a kernel only reads fail the run. */
    bool checked;
    /* The heap's pages become memory when the runtime is created, not at their first use in a run; creation fails where
     * the system has not so much.  Not on backends with memory of their own. */
    bool prealloc;
    /* Messages and advice name the limits above as the options of a built program (--heap) and not as members of this
     * struct: main() of a built program sets it. */
    bool names_options;
    int64_t first_task_id, first_byte; /* tests: where the counters start */
} PTOConfig;

/* NULL config: the defaults.  On failure NULL, and *status (may be NULL) says why.  The message is in
 * pto_last_error(NULL). */
PTO_API PTORuntime *pto_runtime_create(const PTOConfig *config, PTOStatus *status);
/* The seed's two shapes: one cpu and one accel worker beside the cubes and vectors; simulate: the timing engine, else
 * threads.  The first 65,536 tasks of a run are recorded for pto_runtime_write_trace.  Sizes of 0: the defaults. */
PTO_API PTORuntime *pto_runtime_create_threaded(int32_t cubes, int32_t vectors, bool simulate);
PTO_API PTORuntime *pto_runtime_create_threaded_custom(int32_t cubes, int32_t vectors, bool simulate, int64_t window,
                                                       int64_t heap_bytes, int64_t deplist);
/* Zeroed memory that every engine's workers reach.  On the process engine every array outside the heap that a task
 * names must be such memory, made before the runtime is: other memory the worker process does not share, and what
 * kernels write there is lost. (pto_runtime_execute copies other memory.)
 * NULL: none, or bytes < 1.  Freed with the same number of bytes, after the runtime was destroyed. */
PTO_API void *pto_shared_alloc(int64_t bytes);
PTO_API void pto_shared_free(void *memory, int64_t bytes);
/* Any thread.  NULL is fine; blocks until the workers have ended.  What a device did not take back is told by
 * pto_last_error(NULL).  During a run of it nothing is destroyed, and the run ends with PTO_ERR_MISUSE; a runtime that
 * was destroyed is left alone. */
PTO_API void pto_runtime_destroy(PTORuntime *rt);

/* The rings and the heap of a runtime, with its frames, are obtained when it is created: no run obtains memory.  They
 * stay from run to run, and when it is destroyed they are kept for the next one of the same sizes in this process, up
 * to 8 blocks. trim: what is kept goes back to the system, and so do the pages of rt's heap, which are obtained anew
 * when a run touches them.  Any thread; rt may be NULL, and no run of it is active: else PTO_ERR_STATE. */
PTO_API PTOStatus pto_runtime_trim(PTORuntime *rt);

/* Work requests of this opcode, from PTO_OP_OWN on, call fn(context, request) on the backend sim; of an opcode that is
 * there already, from now on.  fn NULL: there is no such operation any more.  Never blocks.  Thread: the one that runs
 * rt.  The context stays the caller's and must live until rt is destroyed, or another fn takes its place.
 * PTO_ERR_ARGUMENT: another opcode; PTO_ERR_STATE: a run is active; PTO_ERR_UNSUPPORTED: another backend, whose machine
 * has the operations that it has, or the engine process, whose workers are a process that knows neither fn nor what
 * context points to; PTO_ERR_NOMEM.  A submit of an opcode that nobody knows fails the run with PTO_ERR_UNSUPPORTED at
 * its place. */
PTO_API PTOStatus pto_operation(PTORuntime *rt, int32_t opcode, PTOOperationFn fn, void *context);

/* Runs fn as the orchestration, waits until every task has completed, returns the first error.  Any thread, one at a
 * time: it is the orchestrator until the call returns.  Blocks.  PTO_ERR_STATE inside of a run of this runtime.  An
 * exception, or pthread_exit, out of a kernel fails its task, out of fn the run, with PTO_ERR_MISUSE, and goes no
 * further. */
PTO_API PTOStatus pto_runtime_run(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg);

/* A run on arrays of the host: inputs[i] has input_bytes[i] bytes, outputs[i] has output_bytes[i].  fn is given an
 * array of pointers for each, in the same order, and params as it is.
 *
 * Whatever the engine and the backend, tasks find the contents of all arrays, and after PTO_OK the outputs hold what
 * the tasks wrote, and what they held before where no task wrote.  An array that is only an input is not written by
 * tasks: whether the caller sees such a write is not specified.  An array may be given several times, as input and
 * output, and arrays may overlap: where the caller's do, those of fn do. An array of 0 bytes is empty, and its pointer
 * may be NULL.
 *
 * The pointers that fn is given are the caller's, but for arrays that the workers of the engine `process` do not share:
 * memory that is not from pto_shared_alloc, or was obtained after the runtime.  These are copied to shared memory
 * before the run, and outputs back after it, so fn must name arrays by the pointers that it is given, and may not keep
 * them.  At most 64 GiB are copied; their memory is kept for the next run, until pto_runtime_trim.  A backend with
 * memory of its own copies what tasks name to the device and what they write back; nothing need be told by pto_buffer.
 * On the engine `graph`, and with skip_kernels, no kernel runs and the outputs stay what they were.
 *
 * After an error or a cancel each byte of the outputs is what it was before the run or what a task wrote in it; where
 * arrays are copied it is what it was, unless copying back from a device is what failed.
 *
 * Caller: any thread, which is the orchestrator of the run; no run of rt is active.  Blocks until every task has
 * completed.  Owns nothing: the arrays and the four lists need only be good until it returns.
 * Status: as pto_runtime_run; PTO_ERR_ARGUMENT: a size below 0, a NULL array that is not empty, an array that wraps
 * around; PTO_ERR_UNSUPPORTED: an array cannot be copied to the workers; PTO_ERR_NOMEM; PTO_ERR_STATE: inside a run.
 * pto_last_error(rt) names the array, from 0: `inputs[2]`. */
typedef void (*PTOOrchestration)(PTORuntime *rt, void **inputs, void **outputs, void *params);
PTO_API PTOStatus pto_runtime_execute(PTORuntime *rt, PTOOrchestration fn, void *const *inputs,
                                      const int64_t *input_bytes, int32_t n_inputs, void *const *outputs,
                                      const int64_t *output_bytes, int32_t n_outputs, void *params);

/* The last error's text, one or more lines, first line complete in itself.  NULL rt, or one that was destroyed: of this
 * thread's last create, destroy or misuse; empty if it went well.  Any thread; of a run that is active only the
 * orchestrator. */
PTO_API const char *pto_last_error(PTORuntime *rt);

/* Any thread; does not block.  PTO_OK, or the first error of the active run so far, else of the last one.  When it is
 * an error, pto_last_error(rt) has its text, for any thread, until the next run begins.  PTO_ERR_MISUSE, too: there is
 * no such runtime. */
PTO_API PTOStatus pto_runtime_status(PTORuntime *rt);

/* Tells the runtime that `bytes` bytes from base are one buffer of the program (not of the heap).  Optional on the
 * backend sim: an unknown address becomes a buffer at its first use; telling makes look-ups cheaper.  bytes 0 is
 * ignored. */
PTO_API void pto_buffer(PTORuntime *rt, const void *base, int64_t bytes);

PTO_API PTOScope pto_scope_begin(PTORuntime *rt);
PTO_API void pto_scope_end(PTORuntime *rt);
PTO_API PTOScope pto_scope_current(PTORuntime *rt);

/* How many scopes of pto_scope_begin are open: 0 in a run that has opened none, and outside a run.  Caller: the
 * orchestrator.  Never blocks, never fails the run. */
PTO_API int32_t pto_scope_depth(PTORuntime *rt);

/* Blocks while a ring is full.  params may die on return; *ref of every PTO_OUTPUT is set.  Returns the task id, from
 * 0, or a negative PTOStatus.  A task whose every written region is empty is not submitted: returns PTO_NO_TASK. */
#define PTO_NO_TASK INT64_MAX
PTO_API int64_t(pto_submit_task)(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);

/* The buffer that the runtime made for an output of a task: what pto_submit_task wrote to *ref.  task: what
 * pto_submit_task returned. index: from 0, among those PTO_OUTPUT of the task, in the order of its parameters, whose
 * *ref was NULL.  Good while a scope owns the buffer: until the scope ends or pto_release.  NULL afterwards, and for
 * everything else: no such task of this run, no such output, an output of 0 bytes, outside a run.  Caller: the
 * orchestrator.  Never blocks, never fails the run.  Looks at every buffer that open scopes own: a program that makes
 * many keeps what *ref received. */
PTO_API void *pto_task_get_output(PTORuntime *rt, int64_t task, int32_t index);

/* A buffer that no single task makes: written in parts, or passed on before it is written.  Blocks while the heap is
 * full. NULL for 0 bytes and after an error.  scope: the owner. */
PTO_API void *pto_alloc(PTORuntime *rt, PTOScope scope, int64_t bytes);

/* The scope's reference is dropped now instead of at its end; consumers submitted so far keep the buffer.  NULL is
 * fine. */
PTO_API void pto_release(PTORuntime *rt, const void *buffer);

/* Waits for every producer of these bytes.  Afterwards the caller may read them. */
PTO_API PTOStatus pto_await(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes);

/* Waits for every task that writes or reads these bytes.  Afterwards the caller may write them; for a task submitted
 * later to find it on every backend, it must do so before the next submit. */
PTO_API PTOStatus pto_await_users(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes);

/* What the last run recorded (PTOConfig.record_tasks).  No run is active.  PTO_ERR_STATE: nothing was recorded;
 * PTO_ERR_NOMEM; PTO_ERR_IO. Trace: Chrome/Perfetto JSON, a row a worker, one for the orchestrator's stalls, one for
 * the scheduler, counters of the rings' use, an arrow an edge; times are ns, or cycles on the timing engine.  Graph:
 * DOT, or JSON or text when the name ends in .json or .txt; every edge with its reason: RAW, WAR, WAW, acc. */
PTO_API PTOStatus pto_runtime_write_trace(PTORuntime *rt, const char *path);
/* The recorded run as one page of HTML that needs nothing else: timeline, times of kernels, a small graph, flow
 * control, advice. */
PTO_API PTOStatus pto_runtime_write_report(PTORuntime *rt, const char *path);
PTO_API PTOStatus pto_runtime_write_graph(PTORuntime *rt, const char *path);

/* The order in which kernels started and the worker of each, one `task worker` a line, for PTOConfig.replay.  Engine
 * threads. */
PTO_API PTOStatus pto_runtime_write_schedule(PTORuntime *rt, const char *path);

/* Any thread; does not block: a task that external_start was given has ended.  result: 0, or anything else for a
 * failure.  Once a task: a second time, or of a task that was not started, is PTO_ERR_MISUSE for the run, and for
 * pto_last_error(NULL). */
PTO_API void pto_task_complete_with(PTORuntime *rt, int64_t task_id, int32_t result);
PTO_API void pto_task_complete(PTORuntime *rt, int64_t task_id); /* result 0 */

/* Any thread, also in a kernel; does not block.  The run ends with PTO_ERR_CANCELLED; running kernels finish first. */
PTO_API void pto_cancel(PTORuntime *rt);

/* Marks the place in the program that the following calls belong to: for error messages, graphs and traces.  The
 * orchestrator.  Nothing happens without a runtime. */
static inline void pto_at(PTORuntime *rt, const PTOSite *site)
{
    if (rt) ((PTOShortWay *)rt)->site = site;
}

#ifdef __cplusplus
}
#endif
#endif
