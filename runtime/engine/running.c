/* running.c - see running.h. */
#include "running.h"
#include "debug/backtrace.h"
#include "submit/flow.h"
#include "shared/park.h"
#include "backend/worker.h"
#include "shared/system.h"
#include "shared/task.h"

bool ptoi_running_task(const struct window *w, uint64_t task, uint64_t *id)
{
    const uint64_t head = load_relaxed(&w->task_head); /* relaxed: the caller's own word */
    *id = task - 1;
    return task != 0 && head - *id - 1 <= w->task_mask && window_task(w, *id)->id == *id;
}

void ptoi_running_describe(const struct window *w, const struct running_line *line, int count, int32_t process,
                           char *text, uint64_t size, const PTOSite **site)
{
    enum { SHOWN = 8, ROOM = 400, SHOWN_NS = 100000000, ASKED = 2 };
    const int64_t now = ptoi_clock_ns();
    uint64_t n = 0;
    int shown = 0;
    text[0] = '\0';
    *site = NULL;
    for (int i = 0; i < count && shown < SHOWN && n + ROOM < size; i++) {
        /* what is read next is of this task or of a later one, */
        const uint64_t task = load_acquire(&line[i].task, RUNNING);
        const PTOKernel *kernel = load_relaxed(&line[i].kernel);
        const PTOSite *at = load_relaxed(&line[i].site);
        const int64_t since = load_relaxed(&line[i].since);
        const int32_t thread = load_relaxed(&line[i].thread);
        /* which is seen here at most times, and names a task that ran, too */
        if (task == 0 || load_relaxed(&line[i].task) != task) continue;
        if (shown++ == 0) *site = at;
        n += (uint64_t)snprintf(text + n, size - n, "\n  kernel '%.100s' (task %lld", kernel->name,
                                (long long)ptoi_task_number(w, task - 1));
        if (at) n += (uint64_t)snprintf(text + n, size - n, ", %.200s:%d:%d", at->file, at->line, pto_site_column(at));
        if (since > 0 && now - since >= SHOWN_NS)
            n += (uint64_t)snprintf(text + n, size - n, ", for %.1f s", (double)(now - since) / 1e9);
        n += (uint64_t)snprintf(text + n, size - n, ")");
        char calls[PTOI_BACKTRACE_BYTES];
        if (process == 0 || shown > ASKED || n + ROOM + PTOI_BACKTRACE_BYTES > size) continue;
        if (ptoi_backtrace_of(process, thread, calls) > 0 && load_relaxed(&line[i].task) == task)
            n += (uint64_t)snprintf(text + n, size - n, "%s", calls);
    }
}

/* ---- @timeout ---- */

bool ptoi_running_overdue(const struct window *w, const struct running_line *line, int count, uint64_t *id)
{
    const int64_t now = ptoi_clock_ns();
    for (int i = 0; i < count; i++) {
        /* what is read next is of this task, or of a later one with a later end */
        const uint64_t task = load_acquire(&line[i].task, RUNNING);
        const int64_t overdue_at = load_relaxed(&line[i].overdue_at);
        if (task != 0 && overdue_at != 0 && now > overdue_at && ptoi_running_task(w, task, id)) return true;
    }
    return false;
}

void ptoi_fail_timeout(struct window *w, struct run_status *run_status, uint64_t id)
{
    if (ptoi_fail(run_status, PTO_ERR_TIMEOUT, ptoi_task_site(w, id), PTO_TIMEOUT_TEXT, ptoi_task_kernel(w, id)->name,
                  (long long)(ptoi_task_limit_ns(w, id) / 1000000), (long long)ptoi_task_number(w, id)))
        store_relaxed(&w->failed_task, id + 1); /* relaxed: see window.h */
}

int64_t ptoi_overdue_sleep_ns(int64_t least_ms)
{
    enum { LONGEST_MS = 50 };
    if (least_ms == 0) return PTO_FOR_EVER;
    return (least_ms < LONGEST_MS ? least_ms : LONGEST_MS) * 1000000;
}

/* ---- the watchdog ---- */

static uint64_t count_ended(const struct running_line *line, int count)
{
    uint64_t ended = 0;
    for (int i = 0; i < count; i++) ended += load_relaxed(&line[i].ended); /* relaxed: any later value is as good */
    return ended;
}

void ptoi_watchdog_start(struct watchdog *d, double seconds, const struct running_line *line, int count)
{
    *d = (struct watchdog){.limit_ns = (int64_t)(seconds * 1e9)};
    if (d->limit_ns == 0) return;
    d->since = ptoi_clock_ns();
    d->ended = count_ended(line, count);
}

bool ptoi_watchdog_bites(struct watchdog *d, const struct running_line *line, int count)
{
    if (d->limit_ns == 0) return false;
    const int64_t now = ptoi_clock_ns();
    const uint64_t ended = count_ended(line, count);
    bool runs = false;
    for (int i = 0; i < count; i++) runs |= load_relaxed(&line[i].task) != 0; /* relaxed: see above */
    if (ended != d->ended || !runs) {
        d->ended = ended;
        d->since = now;
    }
    if (now - d->since < d->limit_ns) return false;
    d->limit_ns = 0; /* once */
    return true;
}
