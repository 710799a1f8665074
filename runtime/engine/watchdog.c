/* watchdog.c - see watchdog.h. */
#include "watchdog.h"
#include "shared/park.h"
#include "core.h"
#include "debug/backtrace.h"
#include "shared/system.h"
#include <stdlib.h>
#include <unistd.h>

enum { LONGEST_LOOK_NS = 100000000, LEAST_LOOK_NS = 1000000, LOOKS = 8 /* in the time that is asked for */ };

struct watchdog_thread {
    struct running_line own;
    struct core *core;
    const struct running_line *lines;
    int count;
    ptoi_lock lock; /* guards what follows, and the failing of a run; nothing is taken under it */
    bool is_active, stops;
    struct watchdog dog;
    struct parker parker;
    ptoi_thread thread;
};

static void fail(struct watchdog_thread *d)
{
    struct core *core = d->core;
    char text[3000];
    const PTOSite *site;
    ptoi_running_describe(core->window, d->lines, d->count, getpid(), text, sizeof text, &site);
    ptoi_fail_earlier(core->run_status, PTO_ERR_WATCHDOG, site, "no task finished for %g s while these ran:%s",
                      core->config.watchdog_seconds, text);
    core->engine->poke(core);
}

static int64_t look_ns(const struct watchdog_thread *d)
{
    const int64_t ns = (int64_t)(d->core->config.watchdog_seconds * 1e9) / LOOKS;
    return ns < LEAST_LOOK_NS ? LEAST_LOOK_NS : ns > LONGEST_LOOK_NS ? LONGEST_LOOK_NS : ns;
}

static void *watch(void *arg)
{
    struct watchdog_thread *d = arg;
    for (bool stops = false; !stops;) {
        ptoi_park_announce(&d->parker);
        ptoi_lock_take(&d->lock);
        if (d->is_active && ptoi_watchdog_bites(&d->dog, d->lines, d->count)) fail(d);
        const int64_t ns = d->is_active ? look_ns(d) : PTO_FOR_EVER;
        stops = d->stops;
        ptoi_lock_leave(&d->lock);
        if (!stops) ptoi_park_wait(&d->parker, ns);
        ptoi_park_cancel(&d->parker);
    }
    return NULL;
}

struct watchdog_thread *ptoi_watchdog_open(struct core *core, const struct running_line *lines, int count)
{
    struct watchdog_thread *d = aligned_alloc(PTO_CACHELINE, ptoi_whole_lines(sizeof *d));
    if (!d) return NULL;
    *d = (struct watchdog_thread){
        .core = core, .lines = lines ? lines : &d->own, .count = lines ? count : 1, .lock = PTOI_LOCK_OPEN};
    ptoi_park_init(&d->parker);
    ptoi_backtrace_listen();
    if (ptoi_thread_start(&d->thread, watch, d)) return d;
    ptoi_backtrace_unlisten();
    free(d);
    return NULL;
}

static void set(struct watchdog_thread *d, bool is_active, bool stops)
{
    ptoi_lock_take(&d->lock);
    if (is_active) ptoi_watchdog_start(&d->dog, d->core->config.watchdog_seconds, d->lines, d->count);
    d->is_active = is_active;
    d->stops = stops;
    ptoi_lock_leave(&d->lock);
}

void ptoi_watchdog_close(struct watchdog_thread *d)
{
    if (!d) return;
    set(d, false, true);
    ptoi_park_wake(&d->parker);
    ptoi_thread_join(d->thread);
    ptoi_backtrace_unlisten();
    free(d);
}

struct running_line *ptoi_watchdog_line(struct watchdog_thread *d) { return &d->own; }

void ptoi_watchdog_begin(struct watchdog_thread *d)
{
    set(d, true, false);
    ptoi_park_wake(&d->parker); /* it sleeps for ever between runs */
}

void ptoi_watchdog_end(struct watchdog_thread *d) { set(d, false, false); }
