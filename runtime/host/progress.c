/* progress.c - see progress.h. */
#include "progress.h"
#include "debug/crash.h"
#include "engine/running.h"
#include "shared/system.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TERMINAL_MS = 200, FILE_MS = 5000 };

static const char *wait_name(const struct flow *f)
{
    const int stall = load_relaxed(&f->current); /* relaxed: a glimpse */
    if (stall != PTO_STALL_NONE) return pto_stall_reason_name((PTOStallReason)stall);
    if (load_relaxed(&f->awaits_now)) return "await";
    return load_relaxed(&f->ends_now) ? "end of the run" : NULL;
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
    char line[200], tasks[100] = "no task in the window"; /* those executed inline are not counted for other threads */
    if (head > p->first)
        snprintf(tasks, sizeof tasks, "%llu of %llu tasks, %.0f/s", (unsigned long long)done,
                 (unsigned long long)(head - p->first), (double)(done - p->shown_done) * 1e9 / (double)since);
    snprintf(line, sizeof line, "%.0f s: %s, %.0f MB%s%s", (double)(now - p->begin_ns) * 1e-9, tasks, memory_mb(),
             wait ? ", waits: " : "", wait ? wait : "");
    fprintf(stderr, p->is_terminal ? "\r%s\033[K" : "%s\n", line);
    p->was_shown = true;
    p->shown_ns = now;
    p->shown_done = done;
}

void ptoi_progress_end(struct progress *p)
{
    if (p->was_shown && p->is_terminal) fputc('\n', stderr);
}

static uint64_t count_uncompleted(const struct window *w)
{
    const uint64_t head = load_relaxed(&w->task_head); /* relaxed: a glimpse */
    uint64_t count = 0;
    for (uint64_t id = load_relaxed(&w->task_tail); id < head; id++)
        count += load_relaxed(window_completed(w, id)) != id + 1;
    return count;
}

struct progress_seen ptoi_progress_see(const PTORuntime *rt, uint64_t first, int32_t thread)
{
    struct progress_seen seen = {.site = rt->now.site, .submitted = rt->now.number - first, .thread = thread};
    uint64_t left = count_uncompleted(rt->core.window);
    if (!ptoi_crash_running(&seen.kernel, &seen.kernel_site, &seen.number))
        seen.kernel = NULL;
    else if (left == 0)
        left = 1; /* it is executed inline, past the window */
    seen.completed = seen.submitted > left ? seen.submitted - left : 0;
    return seen;
}

/* The kernel that the orchestrator runs, unless a line of the engine has it. */
static void add_inline(const struct progress_seen *seen, char *text, size_t size)
{
    const size_t n = strlen(text);
    char place[300] = "";
    if (seen->kernel_site)
        snprintf(place, sizeof place, ", %.250s:%d:%d", seen->kernel_site->file, seen->kernel_site->line,
                 pto_site_column(seen->kernel_site));
    snprintf(text + n, size - n, "\n  kernel '%.100s' (task %llu%s)", seen->kernel->name,
             (unsigned long long)seen->number, place);
}

void ptoi_progress_roles(PTORuntime *rt, const struct progress_seen *seen)
{
    struct core *core = &rt->core;
    char running[3500] = "", place[300] = "";
    const PTOSite *first;
    int count = 0;
    const struct running_line *lines = core->engine->lines ? core->engine->lines(core, &count) : NULL;
    if (lines) ptoi_running_describe(core->window, lines, count, 0, running, sizeof running - 500, &first);
    if (seen->kernel && !ptoi_running_on(lines, count, seen->thread)) add_inline(seen, running, sizeof running);
    const char *wait = wait_name(&core->orch.flow);
    if (seen->site)
        snprintf(place, sizeof place, " at %.250s:%d:%d", seen->site->file, seen->site->line,
                 pto_site_column(seen->site));
    fprintf(stderr, "orchestrator: %s%s%s\nscheduler: %llu tasks completed, %llu in flight\nworkers: %s%s\n",
            wait           ? "waits, "
            : seen->kernel ? "runs a kernel"
                           : "runs the program",
            wait ? wait : "", place, (unsigned long long)seen->completed,
            (unsigned long long)(seen->submitted - seen->completed), running[0] ? "run" : "no kernel runs", running);
}
