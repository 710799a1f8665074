/* progress.c - see progress.h. */
#include "progress.h"
#include "engine/running.h"
#include "shared/system.h"
#include <stdio.h>
#include <unistd.h>

enum { TERMINAL_MS = 200, FILE_MS = 5000 };

static const char *wait_name(const struct flow *f)
{
    const int stall = load_relaxed(&f->current); /* relaxed: a glimpse */
    if (stall != PTO_STALL_NONE) return pto_stall_reason_name((PTOStallReason)stall);
    return load_relaxed(&f->awaits_now) ? "await" : NULL;
}

/* Resident; 0: not known. */
static double memory_mb(void)
{
    long pages = 0, resident = 0;
    FILE *in = fopen("/proc/self/statm", "re");
    if (!in) return 0;
    if (fscanf(in, "%ld %ld", &pages, &resident) != 2) resident = 0;
    fclose(in);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

void ptoi_progress_begin(struct progress *p, PTORuntime *rt)
{
    *p = (struct progress){.rt = rt,
                           .is_terminal = isatty(STDERR_FILENO),
                           .first = load_relaxed(&rt->core.window->task_head), /* relaxed: no run is active */
                           .begin_ns = ptoi_clock_ns()};
    p->shown_ns = p->begin_ns;
    p->shown_done = 0;
}

void ptoi_progress_look(struct progress *p)
{
    const struct window *w = p->rt->core.window;
    const int64_t now = ptoi_clock_ns(), since = now - p->shown_ns;
    if (since < (int64_t)(p->is_terminal ? TERMINAL_MS : FILE_MS) * 1000000) return;
    const uint64_t head = load_relaxed(&w->task_head), tail = load_relaxed(&w->task_tail); /* relaxed: a glimpse */
    const uint64_t done = tail > p->first ? tail - p->first : 0;
    const char *wait = wait_name(&p->rt->core.orch.flow);
    char line[200];
    snprintf(line, sizeof line, "%.0f s: %llu of %llu tasks, %.0f/s, %.0f MB%s%s", (double)(now - p->begin_ns) * 1e-9,
             (unsigned long long)done, (unsigned long long)(head > p->first ? head - p->first : 0),
             (double)(done - p->shown_done) * 1e9 / (double)since, memory_mb(), wait ? ", waits: " : "",
             wait ? wait : "");
    fprintf(stderr, p->is_terminal ? "\r%s\033[K" : "%s\n", line);
    p->was_shown = true;
    p->shown_ns = now;
    p->shown_done = done;
}

void ptoi_progress_end(struct progress *p)
{
    if (p->was_shown && p->is_terminal) fputc('\n', stderr);
}

void ptoi_progress_roles(PTORuntime *rt, const PTOSite *site)
{
    struct core *core = &rt->core;
    char running[3000] = "", place[300] = "";
    const PTOSite *first;
    int count = 0;
    const struct running_line *lines = core->engine->lines ? core->engine->lines(core, &count) : NULL;
    if (lines) ptoi_running_describe(core->window, lines, count, 0, running, sizeof running, &first);
    const char *wait = wait_name(&core->orch.flow);
    if (site) snprintf(place, sizeof place, " at %.250s:%d:%d", site->file, site->line, pto_site_column(site));
    const uint64_t head = load_relaxed(&core->window->task_head), tail = load_relaxed(&core->window->task_tail);
    fprintf(stderr, "orchestrator: %s%s%s\nscheduler: %llu tasks in flight\nworkers: %s%s\n",
            wait ? "waits, " : "runs the program", wait ? wait : "", place,
            (unsigned long long)(head > tail ? head - tail : 0), running[0] ? "run" : "no kernel runs", running);
}
