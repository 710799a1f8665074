/* misuse.c - see misuse.h. */
#include "misuse.h"
#include "debug/crash.h"
#include "runtime.h"
#include "registry/pins.h"
#include <string.h>

static _Thread_local char create_failure[256];

void ptoi_note_create(const char *failure) { snprintf(create_failure, sizeof create_failure, "%s", failure); }

void ptoi_misuse_forked(void)
{
    const bool orchestrates = ptoi_orchestrated != &ptoi_none && ptoi_orchestrated != &ptoi_kernel;
    PTOFastPath *now = orchestrates ? (PTOFastPath *)(uintptr_t)ptoi_orchestrated : NULL;
    if (now) ptoi_fast_close(&((PTORuntime *)now)->core.orch.fast); /* so that every submit asks */
    ptoi_orchestrate(&ptoi_none);
}

PTOStatus ptoi_misuse(PTORuntime *rt, const PTOSite *site, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ptoi_thread_message, sizeof ptoi_thread_message, format, args);
    va_end(args);
    if (rt) {
        ptoi_fail(rt->core.run_status, PTO_ERR_MISUSE, site, "%s", ptoi_thread_message);
        if (ptoi_orchestrated != rt) rt->core.engine->poke(&rt->core);
    }
    return PTO_ERR_MISUSE;
}

/* ---- runtimes that are none -------------------------------------------------------------------------------------- */

static PTOStatus refuse_null(const char *call)
{
    if (create_failure[0])
        return ptoi_misuse(NULL, NULL, "%s without a runtime: pto_runtime_create failed: %s", call, create_failure);
    return ptoi_misuse(NULL, NULL, "%s without a runtime: it is NULL", call);
}

static PTOStatus refuse_unknown(const char *call)
{
    return ptoi_misuse(NULL, NULL, "%s of a runtime that was destroyed", call);
}

/* ---- calls in the wrong place ------------------------------------------------------------------------------------ */

static bool is_in_kernel(PTORuntime *rt, const PTOKernel **kernel, const PTOSite **site, uint64_t *number)
{
    if (ptoi_orchestrated != rt || !rt->now.running) return ptoi_crash_marked(kernel, site, number);
    *kernel = rt->now.running;
    *site = rt->now.site;
    *number = rt->now.number - 1;
    return true;
}

static PTOStatus refuse_in_kernel(PTORuntime *rt, const char *call, const PTOKernel *kernel, const PTOSite *site,
                                  uint64_t number)
{
    return ptoi_misuse(rt, site, "kernel '%s' calls %s (task %lld): only the orchestration may call it", kernel->name,
                       call, (long long)number);
}

bool ptoi_is_split_kernel(PTORuntime *rt)
{
    const PTOKernel *kernel;
    const PTOSite *site;
    uint64_t number;
    return rt && ptoi_lifetime_look(&rt->lifetime) == LIFETIME_FORKED && rt->core.engine->is_split &&
           ptoi_crash_marked(&kernel, &site, &number);
}

/* The engine process forks too: there this process is its worker process, and a kernel of it calls. */
static PTOStatus refuse_forked(PTORuntime *rt, const char *call)
{
    const PTOKernel *kernel;
    const PTOSite *site;
    uint64_t number;
    if (rt->core.engine->is_split && ptoi_crash_marked(&kernel, &site, &number))
        return refuse_in_kernel(rt, call, kernel, site, number);
    return ptoi_misuse(NULL, NULL,
                       "%s in a forked child: the workers of this runtime are threads of the parent; the child may "
                       "only exit, or create "
                       "a runtime of its own",
                       call);
}

/* LIFETIME_IN_USE: the run's own thread, a kernel of it, or another thread. */
static PTOStatus refuse_in_use(PTORuntime *rt, const char *call)
{
    const PTOKernel *kernel;
    const PTOSite *site;
    uint64_t number;
    if (is_in_kernel(rt, &kernel, &site, &number)) return refuse_in_kernel(rt, call, kernel, site, number);
    return ptoi_misuse(rt, NULL, "%s by a second thread during a run: only the thread that began the run may call it",
                       call);
}

static PTOStatus refuse_state(PTORuntime *rt, const char *call, const char *where)
{
    snprintf(ptoi_thread_message, sizeof ptoi_thread_message, "%s %s", call, where);
    if (!ptoi_is_running(rt)) {
        ptoi_run_status_note(rt->core.run_status, ptoi_thread_message);
        return PTO_ERR_STATE;
    }
    ptoi_fail(rt->core.run_status, PTO_ERR_STATE, ptoi_orchestrated == rt ? rt->now.site : NULL, "%s",
              ptoi_thread_message);
    return PTO_ERR_STATE;
}

PTOStatus ptoi_refuse_call(PTORuntime *rt, const char *call)
{
    if (!rt) return refuse_null(call);
    const enum lifetime_answer answer = ptoi_lifetime_look(&rt->lifetime);
    if (answer == LIFETIME_UNKNOWN) return refuse_unknown(call);
    if (answer == LIFETIME_FORKED) return refuse_forked(rt, call);
    return answer == LIFETIME_IN_USE ? refuse_in_use(rt, call) : refuse_state(rt, call, "outside a run");
}

PTOStatus ptoi_refuse_unless_alive(PTORuntime *rt, const char *call)
{
    if (!rt) return refuse_null(call);
    const enum lifetime_answer answer = ptoi_lifetime_look(&rt->lifetime);
    if (answer == LIFETIME_UNKNOWN) return refuse_unknown(call);
    return answer == LIFETIME_FORKED ? refuse_forked(rt, call) : PTO_OK;
}

PTOStatus ptoi_refuse_unless_idle(PTORuntime *rt, const char *call)
{
    const PTOStatus status = ptoi_refuse_unless_alive(rt, call);
    if (status != PTO_OK) return status;
    if (!ptoi_is_running(rt)) return PTO_OK;
    snprintf(ptoi_thread_message, sizeof ptoi_thread_message, "%s inside a run", call);
    return PTO_ERR_STATE; /* which the run need not hear of */
}

PTOStatus ptoi_take_for_trim(PTORuntime *rt)
{
    static const char call[] = "pto_runtime_trim";
    switch (ptoi_lifetime_take(&rt->lifetime, LIFETIME_TRIMMING)) {
    case LIFETIME_FREE: return PTO_OK;
    case LIFETIME_UNKNOWN: return refuse_unknown(call);
    case LIFETIME_FORKED: return refuse_forked(rt, call);
    case LIFETIME_IN_USE: break;
    }
    return refuse_state(rt, call, "inside a run");
}

PTOStatus ptoi_take_for_call(PTORuntime *rt)
{
    static const char call[] = "pto_program_call";
    if (!rt) return refuse_null(call);
    switch (ptoi_lifetime_call(&rt->lifetime)) {
    case LIFETIME_FREE: return PTO_OK;
    case LIFETIME_UNKNOWN: return refuse_unknown(call);
    case LIFETIME_FORKED: return refuse_forked(rt, call);
    case LIFETIME_IN_USE: break;
    }
    return ptoi_thread_fail(PTO_ERR_STATE, ptoi_orchestrated == rt
                                               ? "pto_program_call inside a run"
                                               : "pto_program_call: another thread uses this runtime");
}

static PTOStatus refuse_run(PTORuntime *rt, const char *call, enum lifetime_answer answer)
{
    switch (answer) {
    case LIFETIME_FREE: return PTO_OK;
    case LIFETIME_UNKNOWN: return refuse_unknown(call);
    case LIFETIME_FORKED: return refuse_forked(rt, call);
    case LIFETIME_IN_USE: break;
    }
    return ptoi_may_call(rt) ? refuse_state(rt, call, "inside a run") : refuse_in_use(rt, call);
}

PTOStatus ptoi_refuse_run(PTORuntime *rt, const char *call)
{
    return rt ? refuse_run(rt, call, ptoi_lifetime_look(&rt->lifetime)) : refuse_null(call);
}

PTOStatus ptoi_take_for_run(PTORuntime *rt, const char *call)
{
    return rt ? refuse_run(rt, call, ptoi_lifetime_take(&rt->lifetime, LIFETIME_RUNNING)) : refuse_null(call);
}

PTOStatus ptoi_take_for_destroy(PTORuntime *rt)
{
    static const char call[] = "pto_runtime_destroy";
    switch (ptoi_lifetime_end(&rt->lifetime)) {
    case LIFETIME_FREE: return PTO_OK;
    case LIFETIME_UNKNOWN: return refuse_unknown(call);
    case LIFETIME_FORKED: return refuse_forked(rt, call);
    case LIFETIME_IN_USE: break;
    }
    ptoi_pins_cancel(&rt->cancels);
    return ptoi_misuse(rt, NULL,
                       "pto_runtime_destroy during a run: the runtime exists until its run has ended, and is destroyed "
                       "by a later call");
}
