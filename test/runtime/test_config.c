/* test_config.c - the ranges of a configuration: each field at its limits, and one step beyond them. */
#include "api/config.h"
#include "unit.h"
#include <math.h>
#include <string.h>

#define LARGEST ((int64_t)1 << 40)

struct row {
    PTOConfig config;
    const char *sentence; /* a part of it; NULL: the configuration is right */
};

static const struct row rows[] = {
    {{.task_window = 2}, NULL},
    {{.task_window = 1 << 24}, NULL},
    {{.task_window = 1}, "task window 1"},
    {{.task_window = -2}, "task window -2"},
    {{.task_window = -4}, "task window -4"},
    {{.task_window = 48}, "a power of two"},
    {{.task_window = 1 << 25}, "to 16777216"},
    {{.heap_bytes = PTO_GRANULE}, NULL},
    {{.heap_bytes = PTO_GRANULE - 1}, "heap of 63 bytes"},
    {{.heap_bytes = -1}, "heap of -1 bytes"},
    {{.heap_bytes = INT64_MAX}, "heap of 9223372036854775807 bytes"},
    {{.heap_bytes = LARGEST + 1, .heap_rings = 1}, "heap of 1099511627777 bytes"},
    {{.heap_rings = PTO_MAX_RINGS, .heap_bytes = 64}, NULL},
    {{.heap_rings = PTO_MAX_RINGS + 1}, "heap rings"},
    {{.heap_rings = -1}, "-1 heap rings"},
    {{.heap_rings = 1, .heap_bytes = ((int64_t)UINT32_MAX - 1) * PTO_GRANULE}, NULL},
    {{.heap_rings = 1, .heap_bytes = (int64_t)UINT32_MAX * PTO_GRANULE}, "is too large"},
    {{.heap_rings = 2, .heap_bytes = ((int64_t)UINT32_MAX - 1) * PTO_GRANULE / 2 + 1}, "is too large"},
    {{.deplist_entries = 2}, NULL},
    {{.deplist_entries = 1 << 28}, NULL},
    {{.deplist_entries = 1}, "1 dependency entries"},
    {{.deplist_entries = (1 << 28) + 1}, "dependency entries"},
    {{.tensormap_entries = 2}, NULL},
    {{.tensormap_entries = 1 << 24}, NULL},
    {{.tensormap_entries = 1}, "1 tensormap entries"},
    {{.tensormap_entries = (1 << 24) + 1}, "tensormap entries"},
    {{.recursion_limit = 1}, NULL},
    {{.recursion_limit = 1 << 20}, NULL},
    {{.recursion_limit = -1}, "recursion limit -1"},
    {{.recursion_limit = (1 << 20) + 1}, "recursion limit 1048577"},
    {{.first_task_id = -1}, "below zero"},
    {{.first_byte = -1}, "below zero"},
    {{.scope_policy = PTO_SCOPE_OUTERMOST}, NULL},
    {{.scope_policy = (PTOScopePolicy)(PTO_SCOPE_OUTERMOST + 1)}, "unknown scope policy 2"},
    {{.record_tasks = 1 << 24}, NULL},
    {{.record_tasks = -1}, "a record of -1 tasks"},
    {{.record_tasks = (1 << 24) + 1}, "a record of 16777217 tasks"},
    {{.submit_cycles = LARGEST, .dispatch_cycles = LARGEST}, NULL},
    {{.submit_cycles = -1}, "submit and dispatch cycles"},
    {{.dispatch_cycles = -1}, "submit and dispatch cycles"},
    {{.submit_cycles = LARGEST + 1}, "submit and dispatch cycles"},
    {{.dispatch_cycles = LARGEST + 1}, "submit and dispatch cycles"},
    {{.watchdog_seconds = 1e9}, NULL},
    {{.watchdog_seconds = -0.5}, "a watchdog of -0.5 seconds"},
    {{.watchdog_seconds = 2e9}, "a watchdog of 2e+09 seconds"},
    {{.watchdog_seconds = NAN}, "a watchdog of"},
    {{.external = {[PTO_WORKER_VECTOR] = true}}, "without external_start"},
    {{.engine = PTO_ENGINE_SERIAL, .dedicated_scheduler = true}, "a dedicated scheduler needs the engine threads"},
    {{.engine = PTO_ENGINE_THREADS, .dedicated_scheduler = true}, NULL},
    {{.engine = PTO_ENGINE_TIMING, .skip_kernels = true}, NULL},
    {{.engine = PTO_ENGINE_SERIAL, .skip_kernels = true}, "on the timing engine only"},
    {{.backend = "ascend", .checked = true}, "checked runs need the backend sim"},
    {{.backend = "ascend", .engine = PTO_ENGINE_PROCESS}, "the engine process needs the backend sim"},
    {{.backend = "sim", .engine = PTO_ENGINE_PROCESS, .checked = true}, NULL},
    {{.names = PTO_NAMES_PYTHON}, NULL},
    {{.names = 77}, "unknown names 77"},
    {{.device = 65535}, NULL},
    {{.device = -1}, "device -1"},
    {{.device = 65536}, "device 65536"},
    {{.stream_timeout_seconds = 1e6}, NULL},
    {{.stream_timeout_seconds = -1}, "a stream time-out of -1 seconds"},
    {{.stream_timeout_seconds = 2e6}, "a stream time-out of 2e+06 seconds"},
    {{.stream_timeout_seconds = NAN}, "a stream time-out of"},
    {{.workers = {1024}}, NULL},
    {{.workers = {0, 0, 0, 1024}}, NULL},
    {{.workers = {0, 1025}}, "1025 vector workers"},
    {{.workers = {100000}}, "100000 cube workers"},
    {{.workers = {-1, 1}}, "-1 cube workers"},
    {{.workers = {0, 0, -1}}, "-1 cpu workers"},
    {{.workers = {512, 512, 1}}, "1025 workers: at most 1024"},
};

static bool is_accepted(const struct row *r)
{
    PTOConfig c = r->config;
    return ptoi_config_check(&c) == PTO_OK;
}

static bool is_refused(const struct row *r)
{
    PTOStatus status = PTO_OK;
    return !pto_runtime_create(&r->config, &status) && status == PTO_ERR_CONFIG &&
           strstr(pto_last_error(NULL), r->sentence);
}

TEST(each_field_has_its_range)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool is_right = rows[i].sentence ? is_refused(&rows[i]) : is_accepted(&rows[i]);
        if (!is_right) fprintf(stderr, "row %zu: %s\n", i, pto_last_error(NULL));
        EXPECT(is_right);
    }
}

TEST(what_is_not_given_is_the_default)
{
    PTOConfig c = {0};
    EXPECT_EQ(ptoi_config_check(&c), PTO_OK);
    EXPECT_EQ(c.task_window, 1024);
    EXPECT_EQ(c.heap_bytes, 64 << 20);
    EXPECT_EQ(c.heap_rings, PTO_DEFAULT_RINGS);
    EXPECT_EQ(c.deplist_entries, 8192);
    EXPECT_EQ(c.tensormap_entries, 4096);
    EXPECT_EQ(c.recursion_limit, 128 << 10);
    EXPECT_EQ(strcmp(c.backend, "sim"), 0);
    for (int t = 0; t < PTO_WORKER_TYPES; t++) EXPECT(c.workers[t] > 0);
}

/* A process that was started alone is no rank, so join_ranks changes nothing for it. */
TEST(without_ranks_several_runtimes_may_ask_to_join_them)
{
    PTOStatus status = PTO_ERR_STATE;
    const PTOConfig config = {.join_ranks = true, .workers = {1}};
    PTORuntime *first = pto_runtime_create(&config, &status);
    EXPECT_EQ(status, PTO_OK);
    PTORuntime *second = pto_runtime_create(&config, &status);
    EXPECT_EQ(status, PTO_OK);
    EXPECT(first != NULL && second != NULL);
    pto_runtime_destroy(first);
    pto_runtime_destroy(second);
}
