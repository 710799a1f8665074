/* test_ranks_refused.c - what a program cannot have on several ranks is refused by its name. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { KEPT = 32 << 20 };

static void start_nothing(void *cx, int64_t task, const PTOKernel *kernel, const PTOArg *args, int32_t count)
{
    (void)cx, (void)task, (void)kernel, (void)args, (void)count;
}

/* Nothing of the refused runtime was opened: CANN, which may not be there, is not looked for. */
TEST(what_ranks_cannot_have_is_refused_by_its_name)
{
    struct medium *m = medium_open(&(struct medium_config){.ranks = 1, .slots = 2});
    static const struct {
        PTOConfig config;
        bool is_planned, is_program;
        const char *reason;
    } refused[] = {
        {{.engine = PTO_ENGINE_PROCESS}, false, false, "several ranks need the engine threads or serial, not process"},
        {{.engine = PTO_ENGINE_TIMING}, false, false, "several ranks need the engine threads or serial, not timing"},
        {{.engine = PTO_ENGINE_GRAPH}, false, false, "several ranks need the engine threads or serial, not graph"},
        {{.engine = PTO_ENGINE_SERIAL}, true, false, "need the engine timing or graph, which plan them, not serial"},
        {{.backend = "ascend"}, false, false, "several ranks need the backend sim, not ascend"},
        {{.external = {[PTO_WORKER_CUBE] = true}, .external_start = start_nothing},
         false,
         false,
         "external workers ('cube')"},
        {{.replay = "x"}, false, true, "a host program on several ranks cannot replay a schedule"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        PTOStatus status;
        const struct dist_config ranks = {.wire = refused[k].is_planned ? NULL : medium_wire(m, 0),
                                          .ranks = 2,
                                          .copy_bytes = KEPT,
                                          .collects = refused[k].is_program ? COLLECTS_EVERYWHERE : COLLECTS_NOTHING,
                                          .sends = 1};
        EXPECT(!ptoi_create_ranked(&refused[k].config, &ranks, &status));
        EXPECT_EQ(status, PTO_ERR_UNSUPPORTED);
        EXPECT(strstr(pto_last_error(NULL), refused[k].reason) != NULL);
        free(ranks.wire);
    }
    medium_close(m);
}

/* A runtime that is the only rank of its job. */
struct one_rank {
    struct medium *medium;
    struct wire *wire;
    PTORuntime *rt;
};

static struct one_rank open_rank(void)
{
    struct one_rank one = {.medium = medium_open(&(struct medium_config){.ranks = 1, .slots = 2})};
    PTOStatus status;
    one.wire = medium_wire(one.medium, 0);
    const struct dist_config ranks = {.wire = one.wire, .copy_bytes = KEPT, .sends = 2};
    one.rt = ptoi_create_ranked(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, &ranks, &status);
    EXPECT(one.rt != NULL);
    return one;
}

static void close_rank(struct one_rank *one)
{
    pto_runtime_destroy(one->rt);
    free(one->wire);
    medium_close(one->medium);
}

TEST(buffers_that_overlap_or_have_no_distribution_are_refused)
{
    static double zeros[40];
    struct one_rank one = open_rank();
    struct distribution d = {.rank = 1, .unit = 8, .shape = {10}, .cell = {5}, .grid = {1}};
    EXPECT_EQ(ptoi_dist_distribute(one.rt->dist, zeros, &d), PTO_OK);
    EXPECT_EQ(ptoi_dist_distribute(one.rt->dist, zeros, &d), PTO_ERR_ARGUMENT);
    EXPECT_EQ(ptoi_dist_distribute(one.rt->dist, zeros + 9, &d), PTO_ERR_ARGUMENT);
    EXPECT_EQ(ptoi_dist_distribute(one.rt->dist, zeros + 10, &d), PTO_OK);
    d.unit = 0;
    EXPECT_EQ(ptoi_dist_distribute(one.rt->dist, zeros + 30, &d), PTO_ERR_ARGUMENT);
    close_rank(&one);
}

static int never(const PTOArg *args)
{
    (void)args;
    abort();
}

/* A parameter that is no place for an output is refused on ranks as it is on one. */
static void submit_nowhere(PTORuntime *rt, void *arg)
{
    static const PTOKernel kernel = {.name = "never", .worker = PTO_WORKER_VECTOR, .fn = never};
    (void)arg;
    const PTOTaskParam params[] = {PTO_OUTPUT(NULL, 0, PTO_ARRAY(PTO_F64, 4))};
    EXPECT(pto_submit_task(rt, &kernel, params, 1) < 0);
}

TEST(an_output_without_a_variable_is_refused)
{
    struct one_rank one = open_rank();
    EXPECT_EQ(pto_runtime_run(one.rt, submit_nowhere, NULL), PTO_ERR_ARGUMENT);
    close_rank(&one);
}
