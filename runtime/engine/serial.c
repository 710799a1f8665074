/* serial.c - one thread holds every role; each kernel runs at its submit.  The oracle. */
#include "check.h"
#include "runtime.h"
#include "worker.h"
#include <stdlib.h>

struct serial {
    struct completion ended; /* at most one task runs */
    bool has_ended;
};

static bool start_and_run(void *context, PTOWorkerType type, uint64_t id)
{
    PTORuntime *rt = context;
    struct serial *e = rt->engine_state;
    (void)type;
    if (e->has_ended) return false;
    e->ended = (struct completion){.id = id, .result = ptoi_worker_run(rt->window, rt->backend, rt->heap, id)};
    e->has_ended = true;
    return true;
}

static int collect(void *context, struct completion *out, int max)
{
    struct serial *e = ((PTORuntime *)context)->engine_state;
    if (!e->has_ended || max < 1) return 0;
    out[0] = e->ended;
    e->has_ended = false;
    return 1;
}

static PTOStatus serial_open(PTORuntime *rt)
{
    rt->engine_state = calloc(1, sizeof(struct serial));
    if (!rt->engine_state) return PTO_ERR_NOMEM;
    rt->sched.machine = (struct machine){.context = rt, .start = start_and_run, .collect = collect};
    return PTO_OK;
}

static void serial_close(PTORuntime *rt) { free(rt->engine_state); }

static void serial_published(void *context)
{
    PTORuntime *rt = context;
    while (ptoi_sched_step(&rt->sched)) {}
    CHECK(ptoi_sched_is_quiet(&rt->sched)); /* its producers were run at their submits */
}

static bool serial_wait(void *context, bool (*is_met)(void *arg), void *arg)
{
    PTORuntime *rt = context;
    while (!is_met(arg))
        if (!ptoi_sched_step(&rt->sched) && ptoi_sched_is_quiet(&rt->sched)) return is_met(arg);
    return true;
}

static void serial_poke(PTORuntime *rt) { (void)rt; }

static void serial_busy(PTORuntime *rt, PTORunStats *stats) { (void)rt, (void)stats; }

const struct engine ptoi_engine_serial = {.name = "serial",
                                          .open = serial_open,
                                          .close = serial_close,
                                          .published = serial_published,
                                          .wait = serial_wait,
                                          .poke = serial_poke,
                                          .busy = serial_busy};
