/* options.h - the environment variables that select the measurement of those programs of bench/ that use our runtime,
 * so that their command line is that of the peers.
 *
 *     BENCH_DEFER=1      every task goes through the window, none is executed inline
 *     BENCH_WORKERS=2    worker threads beside the orchestrator; default 1
 *     BENCH_ENGINE=serial, timing   else threads
 *     BENCH_RECORD=1     what a trace needs is kept of every task
 *     BENCH_WINDOW=4096  slots, with map and lists in proportion */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H
#include <pto/pto_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int64_t option_number(const char *name, int64_t standard)
{
    const char *text = getenv(name);
    return text ? atoll(text) : standard;
}

static inline PTORuntime *runtime_from_options(void)
{
    const char *engine = getenv("BENCH_ENGINE");
    const int64_t window = option_number("BENCH_WINDOW", 0);
    PTOConfig c = {.workers = {[PTO_WORKER_VECTOR] = (int32_t)option_number("BENCH_WORKERS", 1)},
                   .always_defer = option_number("BENCH_DEFER", 0) != 0,
                   .record_tasks = option_number("BENCH_RECORD", 0) ? 1 << 20 : 0,
                   .task_window = window,
                   .tensormap_entries = window * 4,
                   .deplist_entries = window * 8};
    if (engine && strcmp(engine, "serial") == 0) c.engine = PTO_ENGINE_SERIAL;
    if (engine && strcmp(engine, "timing") == 0) c.engine = PTO_ENGINE_TIMING;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    if (!rt) {
        fprintf(stderr, "%s\n", pto_last_error(NULL));
        exit(3);
    }
#ifdef BENCH_COUNTED
    counted_prepare(rt);
#endif
    return rt;
}

static inline void expect_ok(PTORuntime *rt, PTOStatus status)
{
    if (status == PTO_OK) return;
    fprintf(stderr, "%s\n", pto_last_error(rt));
    exit(3);
}

#endif
