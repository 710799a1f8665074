/* running.h - what each worker runs: a line that the worker writes and any thread may read.
 *
 * Idea       the watchdog and the report of a dead worker process read what was running without the help of the worker.
 * Owner      a line: its worker.  All words but one are relaxed: they are statistics, what they name is ordered by
 *            [TASK] and [RETIRE].
 * Tests      test/runtime/test_process.c, test_crash.c */
#ifndef PTOI_RUNNING_H
#define PTOI_RUNNING_H
#include "shared/run_status.h"
#include "shared/task.h"
#include "shared/timed.h"
#include "worker_time.h"
#include <stdbool.h>

struct running_line {
    _Alignas(PTO_CACHELINE) _Atomic uint64_t task; /* id + 1 of the task whose kernel runs; 0: none */
    /* when that task's @timeout is over; 0: it has none.  Before `task`: release, acquire */
    _Atomic int64_t overdue_at;
    _Atomic uint64_t ended;  /* kernels that returned */
    _Atomic int64_t busy_ns; /* of this run */
    /* Of that task.  Before `task`, too. */
    _Atomic(const PTOKernel *) kernel;
    _Atomic(const PTOSite *) site; /* NULL: it has none */
    _Atomic int64_t since;         /* 0: not timed */
    _Atomic int32_t thread;        /* that runs it, see debug/backtrace.h */
    struct worker_time time;
};

/* "kernel 'gemm' (task 7, a.pto:3:5, for 2.0 s)", one to a line, each after "\n  ".  *site: of the first.  process:
 * whose threads the workers are: where these are stands behind some of them, see debug/backtrace.h; 0: nowhere.  Any
 * thread. */
void ptoi_running_describe(const struct window *w, const struct running_line *line, int count, int32_t process,
                           char *text, uint64_t size, const PTOSite **site);
/* Of the oldest of these kernels, "kernel 'gemm' (task 7, a.pto:3:5, for 2.0 s)", and its number; false: none runs.
 * ignores: a kernel that does not count; NULL: all do. */
bool ptoi_running_oldest(const struct window *w, const struct running_line *line, int count,
                         bool (*ignores)(const PTOKernel *kernel), char *text, uint64_t size, uint64_t *number);
/* How many kernels have ended; *any: one of them runs. */
uint64_t ptoi_running_count(const struct running_line *line, int count, bool (*ignores)(const PTOKernel *kernel),
                            bool *any);
/* The thread runs one of these kernels. */
bool ptoi_running_on(const struct running_line *line, int count, int32_t thread);
/* The task of a line or a note, unless it is none that the window holds. */
bool ptoi_running_task(const struct window *w, uint64_t task, uint64_t *id);

/* Any thread.  true: one of these kernels has been overdue for so long. */
bool ptoi_running_late(const struct window *w, const struct running_line *line, int count, int64_t for_ns,
                       struct overdue *what);

void ptoi_fail_timeout(struct window *w, struct run_status *run_status, uint64_t id);

/* The worker begins a task.  thread: that runs it; since, overdue_at: 0 where it is not timed, or has no limit. */
static inline void ptoi_running_begin_kernel(struct running_line *line, const PTOKernel *kernel, const PTOSite *site,
                                             uint64_t id, int32_t thread, int64_t since, int64_t overdue_at)
{
    store_relaxed(&line->kernel, kernel); /* relaxed: the last store publishes them */
    store_relaxed(&line->site, site);
    store_relaxed(&line->since, since);
    store_relaxed(&line->thread, thread);
    store_relaxed(&line->overdue_at, overdue_at);
    store_release(&line->task, id + 1, RUNNING);
}

/* The same, as the window says. */
static inline void ptoi_running_begin(struct running_line *line, const struct window *w, uint64_t id, int64_t now,
                                      int32_t thread)
{
    const int64_t limit = ptoi_task_limit_ns(w, id);
    ptoi_running_begin_kernel(line, ptoi_task_kernel(w, id), ptoi_task_site(w, id), id, thread, now,
                              limit > 0 ? now + limit : 0);
}

/* Its kernel returned. */
static inline void ptoi_running_end(struct running_line *line)
{
    store_relaxed(&line->task, 0);
    store_relaxed(&line->ended, load_relaxed(&line->ended) + 1);
}

/* The same of one that is taken to have taken so long. */
static inline void ptoi_running_end_kernel(struct running_line *line, int64_t ns)
{
    ptoi_running_end(line);
    store_relaxed(&line->busy_ns, load_relaxed(&line->busy_ns) + ns); /* relaxed: ours */
}

/* The same, with its time; a kernel over its limit fails the run, unless it has failed before. */
static inline void ptoi_running_end_timed(struct running_line *line, struct window *w, struct run_status *run_status,
                                          uint64_t id, int64_t since, int64_t now)
{
    const int64_t overdue_at = load_relaxed(&line->overdue_at); /* relaxed: ours */
    ptoi_running_end_kernel(line, now - since);
    if (overdue_at != 0 && now > overdue_at) ptoi_fail_timeout(w, run_status, id);
}

/* The caller is the orchestrator.  true, with the id: a kernel runs for longer than it may. */
bool ptoi_running_overdue(const struct window *w, const struct running_line *line, int count, uint64_t *id);
/* How long the orchestrator may sleep so that it is noticed: least_ms is the smallest limit of the run, 0 none. */
int64_t ptoi_overdue_sleep_ns(int64_t least_ms);

/* Finds that kernels run but none has ended for a while; the engine decides what follows. */
struct watchdog {
    int64_t limit_ns; /* 0: off */
    int64_t since;
    uint64_t ended;
};

void ptoi_watchdog_start(struct watchdog *d, double seconds, const struct running_line *line, int count);
bool ptoi_watchdog_bites(struct watchdog *d, const struct running_line *line, int count);

#endif
