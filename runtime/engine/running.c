/* running.c - see running.h. */
#include "running.h"
#include "flow.h"
#include "park.h"
#include "worker.h"

bool ptoi_running_task(const struct window *w, uint64_t task, uint64_t *id)
{
    const uint64_t head = load_relaxed(&w->task_head); /* relaxed: the caller's own word */
    *id = task - 1;
    return task != 0 && head - *id - 1 <= w->task_mask && window_task(w, *id)->id == *id;
}

void ptoi_running_describe(const struct window *w, const struct running_line *line, int count, char *text, uint64_t size,
                           const PTOSite **site)
{
    enum { SHOWN = 8, ROOM = 400 };
    uint64_t n = 0, id;
    int shown = 0;
    text[0] = '\0';
    *site = NULL;
    for (int i = 0; i < count && shown < SHOWN && n + ROOM < size; i++) {
        if (!ptoi_running_task(w, load_relaxed(&line[i].task), &id)) continue;
        const PTOSite *at = ptoi_task_site(w, id);
        if (shown++ == 0) *site = at;
        n += (uint64_t)snprintf(text + n, size - n, "\n  kernel '%.100s' (task %lld", ptoi_task_kernel(w, id)->name,
                                (long long)(id - w->first_id));
        if (at) n += (uint64_t)snprintf(text + n, size - n, ", %.200s:%d:%d", at->file, at->line, at->column);
        n += (uint64_t)snprintf(text + n, size - n, ")");
    }
}

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
    d->since = ptoi_now_ns();
    d->ended = count_ended(line, count);
}

bool ptoi_watchdog_bites(struct watchdog *d, const struct running_line *line, int count)
{
    if (d->limit_ns == 0) return false;
    const int64_t now = ptoi_now_ns();
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

int64_t ptoi_watchdog_sleep_ns(const struct watchdog *d)
{
    if (d->limit_ns == 0) return PTO_FOR_EVER;
    const int64_t left = d->limit_ns - (ptoi_now_ns() - d->since);
    return left > 1000000 ? left : 1000000;
}
