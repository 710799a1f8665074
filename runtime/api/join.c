/* join.c - see join.h. */
#include "join.h"
#include "config.h"
#include "shared/limit.h"
#include "shared/system.h"
#include "shared/thread_error.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pto/pto_version.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    ptoi_lock lock;
    struct wire *wire; /* NULL: it has not joined */
    bool is_used;      /* by a runtime */
    bool has_failed;   /* a run */
} process = {.lock = PTOI_LOCK_OPEN};

/* At the end of the process.  One that ends with an error does not wait for the others for ever. */
static void leave_job(int code, void *nothing)
{
    (void)nothing;
    ptoi_wire_close(process.wire, code, code == 0 && !process.has_failed);
}

/* MPI belongs to the host program, which ends it. */
static void end_wire(struct wire *w) { ptoi_wire_end(w, 0, !process.has_failed); }

/* The library is needed until the process ends, even if the host program closes it. */
static void stay_loaded(void)
{
    Dl_info here;
    if (dladdr(&process, &here) && here.dli_fname) dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Under the lock.  *is_launched: there are other processes. */
static PTOStatus open_wire(bool *is_launched, PTONames names)
{
    char why[512];
    *is_launched = true;
    if (process.is_used)
        return ptoi_refuse(PTO_ERR_STATE, "another runtime of this process is its rank: one at a time has %s",
                           ptoi_limit_name(LIMIT_RANKS, names));
    if (process.has_failed) return ptoi_refuse(PTO_ERR_STATE, "a run of these ranks has failed: the job has to end");
    if (process.wire) return PTO_OK;
    process.wire = ptoi_wire_open(is_launched, why, sizeof why);
    if (*is_launched && !process.wire)
        return ptoi_refuse(PTO_ERR_UNSUPPORTED, "started as one of several ranks, which it cannot join: %s", why);
    if (!process.wire) return PTO_OK;
    process.wire->ends = end_wire;
    stay_loaded();
    on_exit(leave_job, NULL);
    return PTO_OK;
}

/* What all ranks have to ask for alike. */
static uint64_t hash_of(const PTORuntime *rt)
{
    const uint64_t hash = ptoi_dist_mix((uint64_t)rt->core.config.heap_bytes, (uint64_t)rt->core.config.heap_rings);
    return ptoi_dist_mix(hash, (uint64_t)pto_version());
}

/* All ranks have made theirs, and alike; else each refuses it. */
static bool is_like_others(const PTORuntime *rt)
{
    enum { LOOK_NS = 100000 };
    struct wire *w = process.wire;
    const struct wire_left *ended = &w->others.ended;
    const uint64_t mine[WIRE_REDUCED] = {rt != NULL, rt ? hash_of(rt) : 0};
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    struct wire_status of_no_run;
    enum wire_answer answer;
    while ((answer = w->ops->reduce(w, false, mine, least, most)) == WIRE_WAITS && !ended->is_known) {
        ptoi_sleep_ns(LOOK_NS);
        while (ptoi_wire_hear(w, &of_no_run)) {}
    }
    process.has_failed |= answer == WIRE_WAITS;
    if (rt && answer == WIRE_WAITS)
        ptoi_refuse(PTO_ERR_STATE, "rank %d has ended, and creates no runtime with the others", ended->rank);
    if (answer == WIRE_WAITS) return false;
    if (answer == WIRE_DONE && least[0] == 1 && least[1] == most[1]) return true;
    if (!rt) return false;
    if (answer != WIRE_DONE)
        ptoi_refuse(PTO_ERR_CONFIG, "the ranks cannot agree: the wire failed");
    else if (least[0] == 0)
        ptoi_refuse(PTO_ERR_CONFIG, "another rank could not create its runtime");
    else
        ptoi_refuse(PTO_ERR_CONFIG, "the ranks differ in %s, %s or the version of libpto",
                    ptoi_limit_name(LIMIT_HEAP, rt->core.config.names),
                    ptoi_limit_name(LIMIT_RINGS, rt->core.config.names));
    return false;
}

static void leave(void)
{
    ptoi_lock_take(&process.lock);
    process.is_used = false;
    ptoi_lock_leave(&process.lock);
}

static PTORuntime *join(const PTOConfig *config, PTOStatus *status)
{
    bool is_launched;
    ptoi_lock_take(&process.lock);
    *status = open_wire(&is_launched, config->names);
    process.is_used |= *status == PTO_OK && is_launched;
    ptoi_lock_leave(&process.lock);
    if (*status != PTO_OK) return NULL;
    if (!is_launched) return ptoi_create_ranked(config, NULL, status);
    const struct dist_config ranks = {
        .wire = process.wire, .copy_bytes = DIST_COPY_BYTES, .sends = DIST_SENDS, .collects = COLLECTS_EVERYWHERE};
    PTORuntime *rt = ptoi_create_ranked(config, &ranks, status);
    if (is_like_others(rt)) {
        rt->is_joined = true;
        return rt;
    }
    if (rt) {
        char why[sizeof ptoi_thread_message];
        memcpy(why, ptoi_thread_message, sizeof why);
        ptoi_destroy(rt);
        *status = ptoi_refuse(process.has_failed ? PTO_ERR_STATE : PTO_ERR_CONFIG, "%s", why);
    }
    leave();
    return NULL;
}

PTORuntime *pto_runtime_create(const PTOConfig *config, PTOStatus *status)
{
    PTOStatus unused;
    if (!config || !config->join_ranks) return ptoi_create_ranked(config, NULL, status);
    return join(config, status ? status : &unused);
}

void pto_runtime_destroy(PTORuntime *rt)
{
    if (!ptoi_destroy(rt)) return;
    ptoi_wire_leave(process.wire);
    leave();
}

bool ptoi_join_begin(PTORuntime *rt)
{
    if (!rt->is_joined) return true;
    if (process.has_failed) {
        ptoi_fail(rt->core.run_status, PTO_ERR_STATE, NULL,
                  "an earlier run of these ranks has failed: the job has to end");
        return false;
    }
    const int nowhere = rt->dist->me > 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    fflush(stdout);
    rt->hushed = nowhere >= 0 ? dup(STDOUT_FILENO) : -1;
    if (rt->hushed >= 0) dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0) close(nowhere);
    return true;
}

void ptoi_join_end(PTORuntime *rt, PTOStatus status)
{
    if (!rt->is_joined) return;
    process.has_failed |= status != PTO_OK;
    if (rt->hushed < 0) return;
    fflush(stdout);
    dup2(rt->hushed, STDOUT_FILENO);
    close(rt->hushed);
}
