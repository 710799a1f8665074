/* stream.c - a kernel on a stream: the argument block, the launch, the wait.
 *
 * Idea       the worker's thread does everything and polls an event until the kernel has ended: first often, then less
 *            and less, so that a long kernel costs the host nothing.
 * Blocks     until the kernel has ended, or --stream-timeout.
 * Tests      test/ascend */
#include "device.h"
#include "shared/limit.h"
#include "shared/atomics.h"
#include <sched.h>
#include <string.h>
#include <time.h>

struct stream *ptoi_ascend_stream(struct device *d, PTOWorkerType type)
{
    /* The stream that this thread took last, and its device. */
    static _Thread_local struct {
        uint64_t serial;
        struct stream *stream[PTO_WORKER_TYPES];
    } mine;
    if (load_relaxed(&d->has_failed) || !ptoi_ascend_enter(d)) return NULL;
    if (mine.serial != d->serial) {
        memset(&mine, 0, sizeof mine);
        mine.serial = d->serial;
    }
    if (!mine.stream[type]) {
        /* An engine that runs everything on one thread uses the first of each type; a thread after it begins anew. */
        const int count = d->first[type + 1] - d->first[type], n = add_relaxed(&d->taken[type], 1);
        mine.stream[type] = &d->stream[d->first[type] + n % count];
    }
    return mine.stream[type];
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

static double seconds_now(void) { return 1e-9 * (double)ptoi_clock_ns(); }

static void pause_after(int asked)
{
    enum { SPINS = 64, YIELDS = 64, LONGEST_NS = 1000000 };
    if (asked < SPINS) {
        pto_relax();
    } else if (asked < SPINS + YIELDS) {
        ptoi_yield();
    } else {
        const int64_t ns = (int64_t)(asked - SPINS - YIELDS + 1) * 2000;
        nanosleep(&(struct timespec){.tv_nsec = ns < LONGEST_NS ? ns : LONGEST_NS}, NULL);
    }
}

bool ptoi_ascend_wait(struct device *d, struct stream *s, const char *what)
{
    const struct acl *acl = d->acl;
    s->is_lost = true; /* until it is known to be over */
    if (!ptoi_ascend_is_fine(d, "aclrtRecordEvent", acl->aclrtRecordEvent(s->event, s->stream))) return false;
    const double until = seconds_now() + d->timeout_seconds;
    for (int asked = 0;; asked++) {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        if (!ptoi_ascend_is_fine(d, "aclrtQueryEventStatus", acl->aclrtQueryEventStatus(s->event, &status)))
            return false;
        if (status == ACL_EVENT_RECORDED_STATUS_COMPLETE) break;
        pause_after(asked);
        if (asked % 64 == 63 && seconds_now() > until) {
            s->is_stuck = true;
            ptoi_ascend_fail(d, true, "%s has not ended after %g s (%s)", what, d->timeout_seconds,
                             ptoi_limit_name(LIMIT_STREAM_TIMEOUT, d->names));
            return false;
        }
    }
    s->is_lost = false;
    return true;
}

/* ---- the argument block ------------------------------------------------------------------------------------------ */

static bool is_empty(const PTOArg *a)
{
    for (int k = 0; k < a->rank; k++)
        if (a->shape[k] == 0) return true;
    return false;
}

/* The words of docs/ascend.md; returns how many, 0: a tensor is nowhere on the device. */
static int fill_block(struct device *d, struct stream *s, const PTOArg *args, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (args[i].kind == PTO_PARAM_SCALAR) continue;
        char *address = ptoi_ascend_reach(d, args[i].ptr);
        if (!address && !is_empty(&args[i])) {
            ptoi_ascend_fail(d, false,
                             "argument %d is not in memory that the device knows: register it with pto_buffer", i + 1);
            return 0;
        }
        s->block[n++] = (uint64_t)(uintptr_t)address;
    }
    for (int i = 0; i < count; i++) {
        if (args[i].kind == PTO_PARAM_SCALAR) continue;
        for (int k = 0; k < args[i].rank; k++) s->block[n++] = (uint64_t)args[i].shape[k];
        for (int k = 0; k < args[i].rank; k++) s->block[n++] = (uint64_t)args[i].stride[k];
    }
    for (int i = 0; i < count; i++)
        if (args[i].kind == PTO_PARAM_SCALAR) s->block[n++] = (uint64_t)args[i].value.i64;
    return n;
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

/* For libraries that do not take a block: one parameter a word. */
static bool launch_word_by_word(struct device *d, struct stream *s, const struct map_entry *e, int words,
                                aclrtLaunchKernelCfg *config)
{
    const struct acl *acl = d->acl;
    aclrtArgsHandle args;
    if (!ptoi_ascend_is_fine(d, "aclrtKernelArgsInit", acl->aclrtKernelArgsInit(e->handle, &args))) return false;
    for (int i = 0; i < words; i++) {
        aclrtParamHandle param;
        if (!ptoi_ascend_is_fine(d, "aclrtKernelArgsAppend",
                                 acl->aclrtKernelArgsAppend(args, &s->block[i], sizeof s->block[i], &param)))
            return false;
    }
    return ptoi_ascend_is_fine(d, "aclrtKernelArgsFinalize", acl->aclrtKernelArgsFinalize(args)) &&
           ptoi_ascend_is_fine(d, "aclrtLaunchKernelWithConfig",
                               acl->aclrtLaunchKernelWithConfig(e->handle, e->blocks, s->stream, config, args, NULL));
}

static bool launch(struct device *d, struct stream *s, const struct map_entry *e, int words)
{
    const bool is_cube = e->engine == MAP_CUBE, has_engine = is_cube || e->engine == MAP_VECTOR;
    aclrtLaunchKernelAttr engine = {.id = ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE,
                                    .value.engineType = is_cube ? ACL_RT_ENGINE_TYPE_AIC : ACL_RT_ENGINE_TYPE_AIV};
    aclrtLaunchKernelCfg config = {.attrs = &engine, .numAttrs = 1};
    if (!d->acl->aclrtLaunchKernelWithHostArgs) return launch_word_by_word(d, s, e, words, has_engine ? &config : NULL);
    return ptoi_ascend_is_fine(d, "aclrtLaunchKernelWithHostArgs",
                               d->acl->aclrtLaunchKernelWithHostArgs(e->handle, e->blocks, s->stream,
                                                                     has_engine ? &config : NULL, s->block,
                                                                     (size_t)words * sizeof s->block[0], NULL, 0));
}

static const struct map_entry *find(struct device *d, struct stream *s, const PTOKernel *kernel)
{
    const size_t line = ((uintptr_t)kernel >> 4) % FOUND_LINES;
    if (s->found[line].kernel == kernel) return s->found[line].entry;
    const char *name = kernel->symbol ? kernel->symbol : kernel->name;
    const struct map_entry *e = ptoi_kernels_find(&d->map, name);
    if (!e) {
        ptoi_ascend_fail(d, false, "the map of kernels %s has no [%s]", d->map.path, name);
        return NULL;
    }
    s->found[line].kernel = kernel;
    s->found[line].entry = e;
    return e;
}

int ptoi_ascend_run(const struct backend *b, const PTOKernel *kernel, const PTOArg *args, int count)
{
    struct device *d = device_of(b);
    struct stream *s = ptoi_ascend_stream(d, kernel->worker);
    const struct map_entry *e = s ? find(d, s, kernel) : NULL;
    int words = e ? fill_block(d, s, args, count) : 0;
    int32_t status = 0;
    if (!e || (words == 0 && count > 0)) return PTOI_MACHINE_FAILED;
    if (e->has_status) {
        if (!ptoi_ascend_is_fine(d, "aclrtMemset", d->acl->aclrtMemset(s->status, STATUS_BYTES, 0, sizeof status)))
            return PTOI_MACHINE_FAILED;
        s->block[words++] = (uint64_t)(uintptr_t)s->status;
    }
    if (!launch(d, s, e, words) || !ptoi_ascend_wait(d, s, "a kernel")) return PTOI_MACHINE_FAILED;
    if (e->has_status && !ptoi_ascend_is_fine(d, "aclrtMemcpy",
                                              d->acl->aclrtMemcpy(&status, sizeof status, s->status, sizeof status,
                                                                  ACL_MEMCPY_DEVICE_TO_HOST)))
        return PTOI_MACHINE_FAILED;
    return status;
}
