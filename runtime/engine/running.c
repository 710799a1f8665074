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

/* What a line says, if a kernel runs there. */
struct seen {
    uint64_t task; /* id + 1; 0: none runs */
    const PTOKernel *kernel;
    const PTOSite *site;
    int64_t since, overdue_at;
    int32_t thread;
};

static struct seen look_at(const struct running_line *line)
{
    /* what is read next is of this task or of a later one, */
    struct seen s = {.task = load_acquire(&line->task, RUNNING)};
    s.kernel = load_relaxed(&line->kernel);
    s.site = load_relaxed(&line->site);
    s.since = load_relaxed(&line->since);
    s.overdue_at = load_relaxed(&line->overdue_at);
    s.thread = load_relaxed(&line->thread);
    /* which is seen here at most times, and names a task that ran, too */
    if (load_relaxed(&line->task) != s.task) s.task = 0;
    return s;
}

static uint64_t describe(const struct window *w, const struct seen *s, char *text, uint64_t size)
{
    enum { SHOWN_NS = 100000000 };
    const int64_t ns = ptoi_clock_ns() - s->since;
    uint64_t n = (uint64_t)snprintf(text, size, "kernel '%.100s' (task %lld", s->kernel->name,
                                    (long long)ptoi_task_number(w, s->task - 1));
    if (s->site && n < size)
        n += (uint64_t)snprintf(text + n, size - n, ", %.200s:%d:%d", s->site->file, s->site->line,
                                pto_site_column(s->site));
    if (s->since > 0 && ns >= SHOWN_NS && n < size)
        n += (uint64_t)snprintf(text + n, size - n, ", for %.1f s", (double)ns / 1e9);
    if (n < size) n += (uint64_t)snprintf(text + n, size - n, ")");
    return n;
}

void ptoi_running_describe(const struct window *w, const struct running_line *line, int count, int32_t process,
                           char *text, uint64_t size, const PTOSite **site)
{
    enum { SHOWN = 8, ROOM = 400, ASKED = 2 };
    uint64_t n = 0;
    int shown = 0;
    text[0] = '\0';
    *site = NULL;
    for (int i = 0; i < count && shown < SHOWN && n + ROOM < size; i++) {
        const struct seen s = look_at(&line[i]);
        if (s.task == 0) continue;
        if (shown++ == 0) *site = s.site;
        n += (uint64_t)snprintf(text + n, size - n, "\n  ");
        n += describe(w, &s, text + n, size - n);
        char calls[PTOI_BACKTRACE_BYTES];
        if (process == 0 || shown > ASKED || n + ROOM + PTOI_BACKTRACE_BYTES > size) continue;
        if (ptoi_backtrace_of(process, s.thread, calls) > 0 && load_relaxed(&line[i].task) == s.task)
            n += (uint64_t)snprintf(text + n, size - n, "%s", calls);
    }
}

bool ptoi_running_oldest(const struct window *w, const struct running_line *line, int count,
                         bool (*ignores)(const PTOKernel *kernel), char *text, uint64_t size, uint64_t *number)
{
    struct seen oldest = {0};
    for (int i = 0; i < count; i++) {
        const struct seen s = look_at(&line[i]);
        if (s.task != 0 && (oldest.task == 0 || s.task < oldest.task) && !(ignores && ignores(s.kernel))) oldest = s;
    }
    if (oldest.task == 0) return false;
    *number = ptoi_task_number(w, oldest.task - 1);
    describe(w, &oldest, text, size);
    return true;
}

bool ptoi_running_on(const struct running_line *line, int count, int32_t thread)
{
    for (int i = 0; i < count; i++)
        if (load_acquire(&line[i].task, RUNNING) != 0 && load_relaxed(&line[i].thread) == thread) return true;
    return false;
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

bool ptoi_running_late(const struct window *w, const struct running_line *line, int count, int64_t for_ns,
                       struct overdue *what)
{
    const int64_t now = ptoi_clock_ns();
    for (int i = 0; i < count; i++) {
        const int64_t overdue_at = load_relaxed(&line[i].overdue_at); /* relaxed: look_at reads it again */
        const struct seen s = overdue_at != 0 && now - overdue_at > for_ns ? look_at(&line[i]) : (struct seen){0};
        if (s.task == 0 || s.overdue_at == 0 || now - s.overdue_at <= for_ns) continue;
        *what = (struct overdue){.kernel = s.kernel,
                                 .site = s.site,
                                 .number = ptoi_task_number(w, s.task - 1),
                                 .limit_ms = (s.overdue_at - s.since) / 1000000};
        return true;
    }
    return false;
}

void ptoi_fail_timeout(struct window *w, struct run_status *run_status, uint64_t id)
{
    if (ptoi_fail_earlier(run_status, PTO_ERR_TIMEOUT, ptoi_task_site(w, id), PTO_TIMEOUT_TEXT,
                          ptoi_task_kernel(w, id)->name, (long long)(ptoi_task_limit_ns(w, id) / 1000000),
                          (long long)ptoi_task_number(w, id)))
        store_relaxed(&w->failed_task, id + 1); /* relaxed: see window.h */
}

int64_t ptoi_overdue_sleep_ns(int64_t least_ms)
{
    enum { LONGEST_MS = 50 };
    if (least_ms == 0) return PTO_FOR_EVER;
    return (least_ms < LONGEST_MS ? least_ms : LONGEST_MS) * 1000000;
}

/* ---- the watchdog ---- */

uint64_t ptoi_running_count(const struct running_line *line, int count, bool (*ignores)(const PTOKernel *kernel),
                            bool *any)
{
    uint64_t ended = 0;
    *any = false;
    for (int i = 0; i < count; i++) {
        ended += load_relaxed(&line[i].ended); /* relaxed: any later value is as good */
        if (load_acquire(&line[i].task, RUNNING) != 0) *any |= !ignores || !ignores(load_relaxed(&line[i].kernel));
    }
    return ended;
}

void ptoi_watchdog_start(struct watchdog *d, double seconds, const struct running_line *line, int count)
{
    *d = (struct watchdog){.limit_ns = (int64_t)(seconds * 1e9)};
    if (d->limit_ns == 0) return;
    bool any;
    d->since = ptoi_clock_ns();
    d->ended = ptoi_running_count(line, count, NULL, &any);
}

bool ptoi_watchdog_bites(struct watchdog *d, const struct running_line *line, int count)
{
    if (d->limit_ns == 0) return false;
    const int64_t now = ptoi_clock_ns();
    bool runs;
    const uint64_t ended = ptoi_running_count(line, count, NULL, &runs);
    if (ended != d->ended || !runs) {
        d->ended = ended;
        d->since = now;
    }
    if (now - d->since < d->limit_ns) return false;
    d->limit_ns = 0; /* once */
    return true;
}
