/* run.c - a run from its beginning to its end, and what may be asked of a runtime beside it.
 *
 * Owner      the thread that begins the run; pto_cancel, pto_task_complete and pto_runtime_status: any thread.
 * Tests      test/runtime/test_runtime.c, test_failure.c, test_guard.c, test_misuse.c, test_run_status.c */
#include "exchange.h"
#include "misuse.h"
#include "runtime.h"
#include "backend/failure.h"
#include "debug/crash.h"
#include "debug/guard.h"
#include "join.h"
#include "engine/watchdog.h"
#include "memory/pool.h"
#include "memory/scratch.h"
#include "registry/pins.h"
#include "shared/system.h"
#include <pto/pto_program.h>
#include <string.h>
#include <sys/mman.h>

const char pto_library_ = 0;

const char *pto_last_error(PTORuntime *rt)
{
    const enum lifetime_answer answer = rt ? ptoi_lifetime_look(&rt->lifetime) : LIFETIME_UNKNOWN;
    const bool is_there = answer == LIFETIME_FREE || answer == LIFETIME_IN_USE || ptoi_is_split_kernel(rt);
    return is_there ? ptoi_run_message(rt->core.run_status) : ptoi_thread_message;
}

struct orchestration {
    PTORuntime *rt;
    void (*fn)(PTORuntime *rt, void *arg);
    void *arg;
    const void *outer_run; /* of the calling thread, if that is a kernel of another run */
};

static int call_orchestration(void *orchestration, void *nothing)
{
    const struct orchestration *o = orchestration;
    (void)nothing;
    o->fn(o->rt, o->arg);
    return 0;
}

/* An exception, or the end of the thread, that came through the orchestration: of a kernel that it called itself, or
 * its own. */
static void fail_unwound(PTORuntime *rt, int how)
{
    const PTOKernel *kernel = rt->now.running;
    rt->open.count = 0; /* the arrays of their indices are gone */
    if (kernel)
        ptoi_fail_unwound(rt->core.run_status, kernel, rt->now.site, rt->now.number - 1, how);
    else
        ptoi_fail(rt->core.run_status, PTO_ERR_MISUSE, rt->now.site, "%s",
                  how == PTOI_THREW ? "an exception left the orchestration" : "the orchestration ended its thread");
}

/* The orchestration, from its call to its return or its failure. */
static void orchestrate(void *orchestration)
{
    PTORuntime *const rt = ((struct orchestration *)orchestration)->rt;
    jmp_buf catcher;
    rt->catcher = &catcher;
    if (setjmp(catcher) == 0) {
        const int how = ptoi_guarded_call((ptoi_function)call_orchestration, orchestration, NULL);
        if (how != 0) fail_unwound(rt, how);
        if (rt->core.orch.scopes.depth > 1 && ptoi_status(rt->core.run_status) == PTO_OK)
            ptoi_fail(rt->core.run_status, PTO_ERR_STATE, NULL, "the orchestration ended with %d open scope%s",
                      rt->core.orch.scopes.depth - 1, rt->core.orch.scopes.depth > 2 ? "s" : "");
    }
    rt->catcher = NULL;
}

/* The part of a run that needs room on the stack: the orchestration, and the tasks that are left when it has returned,
 * which this thread may run. */
static void orchestrate_to_the_end(void *orchestration)
{
    const struct orchestration *o = orchestration;
    PTORuntime *const rt = o->rt;
    orchestrate(orchestration);
    rt->now.site = NULL;
    rt->open.count = 0; /* the arrays of their indices are gone */
    rt->now.running = NULL;
    ptoi_meter_enter(&rt->core.orch.flow.meter, CAUSE_END);
    store_relaxed(&rt->core.orch.flow.ends_now, true); /* relaxed: see flow.h */
    ptoi_fold_all(rt);
    if (rt->dist) ptoi_dist_finish(rt->dist);
    ptoi_orchestrate(o->outer_run);
    ptoi_orch_end(&rt->core.orch);
}

/* Every task has started.  A schedule with more starts is that of another run. */
static void check_schedule(PTORuntime *rt)
{
    const struct replay *const r = rt->core.replay;
    if (r && r->next < r->count && ptoi_final_status(rt->core.run_status) == PTO_OK)
        ptoi_fail(rt->core.run_status, PTO_ERR_ARGUMENT, NULL,
                  "the schedule %s does not fit this run: it has %lld starts, and the run made %lld",
                  rt->core.config.replay, (long long)r->count, (long long)r->next);
}

/* A call was cancelled before its run began: either the count has changed by now, or the cancel finds the status of
 * this run. */
static void hear_cancel(PTORuntime *rt)
{
    if (rt->called && ptoi_pins_count(&rt->cancels) != *rt->called)
        ptoi_fail(rt->core.run_status, PTO_ERR_CANCELLED, NULL, "the run was cancelled");
}

/* The run ends with what its ranks agreed on.  A cancel that comes when they have agreed is too late. */
static PTOStatus end_status(PTORuntime *rt, PTOStatus agreed)
{
    struct run_status *const status = rt->core.run_status;
    ptoi_run_status_close(status);
    const PTOStatus own = ptoi_final_status(status);
    if (!rt->dist) return own;
    if (agreed == PTO_OK && own != PTO_OK) ptoi_run_status_reset(status), ptoi_run_status_close(status);
    return agreed;
}

/* What an entry of a run asks for. */
struct entry {
    bool unwinds;  /* a failure of a check does not return to the orchestration */
    bool recurses; /* it runs on the runtime's own stack, as any entry does on a thread with a small one */
};

/* The readings of the meters are scaled to the time of the run, so they begin and end where that does. */
static int64_t begin_time(struct core *core)
{
    const int64_t since = ptoi_clock_ns();
    ptoi_meter_begin(&core->orch.flow.meter);
    if (core->orch.flow.meter.is_on) ptoi_worker_times_begin(&core->times, core);
    return since;
}

static void end_time(PTORuntime *rt, int64_t since)
{
    ptoi_meter_end(&rt->core.orch.flow.meter);
    if (rt->core.orch.flow.meter.is_on) ptoi_worker_times_end(&rt->core.times, &rt->core);
    rt->run_stats.ns = ptoi_clock_ns() - since;
}

/* The runtime is taken. */
static PTOStatus run(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg, struct entry entry)
{
    struct orchestration orchestration = {.rt = rt, .fn = fn, .arg = arg};
    const struct stack_bounds threads_stack = ptoi_stack_bounds();
    const bool has_own_stack = (entry.recurses || threads_stack.is_small) && ptoi_own_stack_open(&rt->own_stack);
    const int64_t since = begin_time(&rt->core);
    ptoi_run_status_reset(rt->core.run_status);
    hear_cancel(rt);
    store_relaxed(&rt->core.window->fault_task, 0);  /* relaxed: [TASK] publishes it */
    store_relaxed(&rt->core.window->reason_task, 0); /* relaxed: [TASK] publishes it */
    store_relaxed(&rt->core.window->failed_task, 0); /* relaxed: likewise */
    rt->outliving.count = 0;
    ptoi_accumulators_begin(&rt->accumulators);
    rt->core.orch.buffers.parts_wait = false;
    rt->core.orch.buffers.ranks_agree = rt->attends = rt->dist != NULL;
    rt->unwinds = rt->is_entry = entry.unwinds;
    /* several ranks: what this one submits for itself is a part of the program, with the messages of others */
    const bool notes_writes = entry.unwinds && rt->core.orch.buffers.slots;
    rt->core.orch.buffers.notes_writes = notes_writes && !rt->dist;
    rt->notes_writes = notes_writes && rt->dist;
    rt->core.orch.buffers.may_move = entry.unwinds && !rt->core.backend->mirror;
    rt->open.count = 0;
    rt->stack = has_own_stack ? ptoi_own_stack_bounds(&rt->own_stack) : threads_stack;
    rt->now.site = NULL;
    rt->now.params = NULL;
    ptoi_sched_begin_run(&rt->core.sched); /* no task is in flight: nobody holds the role */
    rt->core.engine->begin(&rt->core);
    if (rt->core.orch.is_lost || !ptoi_join_begin(rt)) {
        ptoi_run_status_close(rt->core.run_status);
        const PTOStatus refused = ptoi_final_status(rt->core.run_status);
        end_time(rt, since);
        ptoi_lifetime_give(&rt->lifetime);
        return refused;
    }
    const struct scratch outer_scratch = ptoi_scratch_begin_run();
    const struct mirror *mirror = rt->core.backend->mirror;
    if (mirror) ptoi_is_mirror_fine(rt, mirror->begin(rt->core.backend));
    ptoi_crash_watch();
    ptoi_crash_use_stack(rt->crash_stack);
    const PTOFastPath *const outer = ptoi_crash_orchestrates(&rt->now);
    const struct open_functions *const outer_functions = ptoi_place_orchestrates(&rt->open);
    if (rt->core.replay) ptoi_replay_begin(rt->core.replay, rt->core.orch.rings.head);
    if (rt->core.recorder) ptoi_record_begin(rt->core.recorder, rt->core.orch.rings.head);
    ptoi_orch_begin(&rt->core.orch);
    if (rt->dist) ptoi_dist_begin(rt->dist);
    const bool has_wire = rt->dist && !rt->dist->plan; /* then dist/standstill.h watches */
    if (rt->core.watchdog && !has_wire) ptoi_watchdog_begin(rt->core.watchdog);
    orchestration.outer_run = ptoi_orchestrate(rt);
    if (has_own_stack)
        ptoi_own_stack_call(&rt->own_stack, orchestrate_to_the_end, &orchestration);
    else
        orchestrate_to_the_end(&orchestration);
    check_schedule(rt);
    const PTOStatus agreed = rt->dist ? ptoi_dist_end(rt->dist) : PTO_OK;
    store_relaxed(&rt->core.orch.flow.ends_now, false);
    if (rt->core.watchdog && !has_wire) ptoi_watchdog_end(rt->core.watchdog);
    if (mirror)
        ptoi_is_mirror_fine(rt, mirror->end(rt->core.backend, ptoi_final_status(rt->core.run_status) == PTO_OK));
    if (rt->core.engine->settle) rt->core.engine->settle(&rt->core, false);
    if (rt->core.recorder) ptoi_record_end(rt->core.recorder);
    ptoi_scratch_end_run(outer_scratch);
    ptoi_place_orchestrates(outer_functions);
    ptoi_crash_orchestrates(outer);
    ptoi_crash_use_stack(NULL);
    ptoi_crash_unwatch();
    if (has_own_stack) ptoi_own_stack_trim(&rt->own_stack);
    end_time(rt, since);
    const PTOStatus status = end_status(rt, agreed);
    ptoi_join_end(rt, status);
    ptoi_lifetime_give(&rt->lifetime);
    return status;
}

void pto_write_pinned(PTORuntime *rt, FILE *out)
{
    if (!ptoi_is_gone(rt, "pto_write_pinned") && out) ptoi_outliving_write(&rt->outliving, out);
}

PTOStatus pto_runtime_trim(PTORuntime *rt)
{
    const PTOStatus status = rt ? ptoi_take_for_trim(rt) : PTO_OK;
    if (status != PTO_OK) return status;
    ptoi_pool_trim();
    if (!rt) return PTO_OK;
    ptoi_exchange_trim(rt);
    if (!rt->core.backend->mirror)
        madvise(rt->core.heap, rt->core.heap_bytes, rt->core.engine->is_split ? MADV_REMOVE : MADV_DONTNEED);
    ptoi_lifetime_give(&rt->lifetime);
    return PTO_OK;
}

#define NO_FUNCTION "%s without an orchestration: fn is NULL"

static PTOStatus refuse_no_function(PTORuntime *rt, const char *call)
{
    const PTOStatus refused = ptoi_refuse_unless_idle(rt, call);
    if (refused != PTO_OK) return refused;
    ptoi_run_status_reset(rt->core.run_status);
    ptoi_fail(rt->core.run_status, PTO_ERR_ARGUMENT, NULL, NO_FUNCTION, call);
    return ptoi_thread_fail(PTO_ERR_ARGUMENT, NO_FUNCTION, call);
}

PTOStatus pto_runtime_run(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg)
{
    if (rt && !fn) return refuse_no_function(rt, "pto_runtime_run");
    const PTOStatus status = ptoi_take_for_run(rt, "pto_runtime_run");
    return status == PTO_OK ? run(rt, fn, arg, (struct entry){0}) : status;
}

static PTOStatus run_entry(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg, bool recurses,
                           const char *name)
{
    const bool is_inside = ptoi_may_call(rt);
    if (is_inside && !fn) {
        ptoi_fail(rt->core.run_status, PTO_ERR_ARGUMENT, rt->now.site, NO_FUNCTION, name);
        return ptoi_thread_fail(PTO_ERR_ARGUMENT, NO_FUNCTION, name);
    }
    if (rt && !fn) return refuse_no_function(rt, name);
    if (!is_inside) {
        const PTOStatus status = ptoi_take_for_run(rt, name);
        return status == PTO_OK ? run(rt, fn, arg, (struct entry){.unwinds = true, .recurses = recurses}) : status;
    }
    ptoi_orch_state_need(&rt->core.orch, PTO_NEED_UNKNOWN); /* the run is not that entry alone */
    jmp_buf catcher, *const outer = rt->catcher;
    const bool unwinds = rt->unwinds;
    const int32_t frames = rt->open.count, scopes = rt->core.orch.scopes.depth;
    const PTOSite *const site = rt->now.site;
    const void *const params = rt->now.params;
    rt->catcher = &catcher;
    rt->unwinds = true;
    if (setjmp(catcher) == 0) fn(rt, arg);
    rt->catcher = outer;
    rt->unwinds = unwinds;
    rt->open.count = frames;
    rt->now.site = site;
    rt->now.params = params;
    ptoi_orch_unwind(&rt->core.orch, scopes);
    return ptoi_final_status(rt->core.run_status);
}

PTOStatus pto_run_entry(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg)
{
    return run_entry(rt, fn, arg, false, "pto_run_entry");
}

PTOStatus pto_run_recursive(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg)
{
    return run_entry(rt, fn, arg, true, "pto_run_recursive");
}

PTOStatus pto_runtime_status(PTORuntime *rt)
{
    const bool is_split = ptoi_is_split_kernel(rt); /* its process shares the status */
    const PTOStatus refused = is_split ? PTO_OK : ptoi_refuse_unless_alive(rt, "pto_runtime_status");
    return refused != PTO_OK ? refused : ptoi_status(rt->core.run_status);
}

void pto_task_complete_with(PTORuntime *rt, int64_t task_id, int32_t result)
{
    if (ptoi_is_gone(rt, "pto_task_complete")) return;
    const uint64_t id = (uint64_t)task_id + (uint64_t)rt->core.config.first_task_id;
    if (!rt->core.engine->completed || !rt->core.engine->completed(&rt->core, id, result))
        ptoi_misuse(rt, NULL, "pto_task_complete of task %lld, which was not started outside, or has ended",
                    (long long)task_id);
}

void pto_task_complete(PTORuntime *rt, int64_t task_id) { pto_task_complete_with(rt, task_id, 0); }

static void cancel(PTORuntime *rt)
{
    ptoi_fail(rt->core.run_status, PTO_ERR_CANCELLED, NULL, "the run was cancelled");
    rt->core.engine->poke(&rt->core);
}

void pto_cancel(PTORuntime *rt)
{
    const bool is_split = ptoi_is_split_kernel(rt); /* in its process no call waits */
    if (!is_split && ptoi_refuse_unless_alive(rt, "pto_cancel") != PTO_OK) return;
    if (!is_split) ptoi_pins_cancel(&rt->cancels); /* first: see hear_cancel */
    cancel(rt);
}
