/* harness.h - what every program of bench/ is around its runtime: the body of a task, the checked run, the clock, the
 * lines it prints.
 *
 * Idea       a program includes this, defines run_graph(), and calls harness_main().  It prints one line for every
 *            timed run; bench/run alternates between several programs and compares them.
 * Usage      PROGRAM TASKS RUNS GRAPH[:LENGTH_NS[:TASKS]]...
 * Prints     graph, tasks, length of a task in ns, ns in all, ns until the last submit returned, peak of memory in KiB,
 *            ok or WRONG; separated by tabs.
 * Invariant  before any time is taken the graph has run once with a kernel whose result depends on the order. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H
#include "graphs.h"
#include <time.h>
#ifdef BENCH_COUNTED
#include "counted.h"
#endif

/* ---- the body of a task ------------------------------------------------------------------------------------------ */

/* BODY_HELD: of the first task, until the body is another one. */
enum { BODY_EMPTY, BODY_COMPUTE, BODY_SPIN, BODY_HELD };
static int harness_body;       /* of a run; only a held one changes in it */
static uint64_t harness_ticks; /* BODY_SPIN: how long */

static inline int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline uint64_t ticks_now(void)
{
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return (uint64_t)now_ns();
#endif
}

static inline double ticks_per_ns(void)
{
    const int64_t since = now_ns();
    const uint64_t first = ticks_now();
    while (now_ns() - since < 20000000) {}
    const uint64_t last = ticks_now();
    return (double)(last - first) / (double)(now_ns() - since);
}

static inline void spin(void)
{
    const uint64_t since = ticks_now();
    while (ticks_now() - since < harness_ticks) {}
}

static inline void run_longer_task(const task *t)
{
    if (harness_body == BODY_COMPUTE)
        compute(t);
    else if (harness_body == BODY_SPIN)
        spin();
    else
        while (__atomic_load_n(&harness_body, __ATOMIC_RELAXED) == BODY_HELD) {}
}

static inline void run_task(const task *t)
{
    if (__builtin_expect(harness_body == BODY_EMPTY, 1))
        __asm__ volatile("" ::"r"(t) : "memory"); /* not removed, and not known to be empty */
    else
        run_longer_task(t);
}

/* Program order. */
static inline void run_at_once(void *context, const task *t)
{
    (void)context;
    run_task(t);
}

/* ---- what a program supplies ------------------------------------------------------------------------------------- */

/* Submits every task of the graph, writes the time when the last submit has returned, and comes back when all have
 * run. */
static void run_graph(graph *g, int64_t *submitted_ns);
static void (*before_run)(graph *g), (*after_run)(graph *g); /* outside of the clock; may be NULL */
static bool only_results;                                    /* the program keeps to itself what is no result */

/* ---- measuring --------------------------------------------------------------------------------------------------- */

static inline int64_t timed_run(graph *g, int64_t *submit_ns)
{
    int64_t submitted = 0;
    if (before_run) before_run(g);
    const int64_t since = now_ns();
    run_graph(g, &submitted);
    const int64_t all = now_ns() - since;
    if (after_run) after_run(g);
    *submit_ns = submitted - since;
    return all;
}

static inline bool run_checked(graph *g)
{
    int64_t submit_ns;
    harness_body = BODY_COMPUTE;
    graph_reset(g);
    graph_emit(g, run_at_once, NULL);
    const uint64_t expected = graph_sum(g, only_results);
    graph_reset(g);
    timed_run(g, &submit_ns);
    return graph_sum(g, only_results) == expected;
}

#ifdef BENCH_COUNTED
static inline bool measure(const char *name, long tasks, int runs, long length_ns)
{
    graph g = graph_make(name, tasks);
    const bool ok = run_checked(&g);
    harness_body = BODY_EMPTY;
    for (int r = 0; r < runs; r++) {
        int64_t submit_ns;
        char row[96];
        snprintf(row, sizeof row, "%s %ld", name, g.tasks);
        if (before_run) before_run(&g);
        counted_begin();
        run_graph(&g, &submit_ns);
        counted_end(row);
        if (after_run) after_run(&g);
    }
    (void)length_ns;
    graph_free(&g);
    return ok;
}
#else
/* Not getrusage: that keeps the peak of the process that started this one. */
static inline long peak_kib(void)
{
    char line[128];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status) return 0;
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
    fclose(status);
    return kib;
}

static inline bool measure(const char *name, long tasks, int runs, long length_ns)
{
    graph g = graph_make(name, tasks);
    const bool ok = run_checked(&g);
    harness_body = length_ns > 0 ? BODY_SPIN : BODY_EMPTY;
    harness_ticks = length_ns > 0 ? (uint64_t)((double)length_ns * ticks_per_ns()) : 0;
    for (int r = 0; r < runs; r++) {
        int64_t submit_ns;
        const int64_t all = timed_run(&g, &submit_ns);
        printf("%s\t%ld\t%ld\t%lld\t%lld\t%ld\t%s\n", name, g.tasks, length_ns, (long long)all, (long long)submit_ns,
               peak_kib(), ok ? "ok" : "WRONG");
    }
    fflush(stdout);
    graph_free(&g);
    return ok;
}
#endif

static inline int harness_main(int argc, char **argv)
{
    int result = 0;
    if (argc < 4) {
        fprintf(stderr, "usage: %s TASKS RUNS GRAPH[:LENGTH_NS[:TASKS]]...\n", argv[0]);
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        char name[64];
        long length = 0, tasks = atol(argv[1]);
        if (sscanf(argv[i], "%63[^:]:%ld:%ld", name, &length, &tasks) < 1) return 2;
        if (!measure(name, tasks, atoi(argv[2]), length)) result = 1;
    }
    return result;
}

#endif
