/* test_limit.c - what messages and advice say to do, for a C program and for a built one; doing it once is enough. */
#include "shared/limit.h"
#include "shared/sanitizer.h"
#include "submit.h"
#include "unit.h"
#include <pto/pto_program.h>
#include <stdlib.h>
#include <string.h>

static int k_nothing(const PTOArg *a) { return (void)a, 0; }
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = k_nothing};

/* Every text for a C program: messages and statistics. */
static void expect_no_options(const char *text)
{
    const char *at = strstr(text, "--");
    if (at) fprintf(stderr, "an option in: %s\n", text);
    EXPECT(at == NULL);
}

/* ---- heaps: what the message says, done once ---- */
struct shape {
    int count;
    int64_t bytes;
};

static void hold(PTORuntime *rt, void *arg)
{
    const struct shape *s = arg;
    for (int i = 0; i < s->count; i++) {
        void *P = NULL;
        if (SUBMIT(rt, &nothing, PTO_OUTPUT(&P, 0, s->bytes)) < 0) return;
    }
}

TEST(the_number_in_a_heap_message_is_enough_when_twice_the_heap_is)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING, PTO_ENGINE_PROCESS,
                                        PTO_ENGINE_GRAPH};
    for (int e = 0; e < 5; e++)
        for (int rings = 1; rings <= 4; rings += 3)
            for (int checked = 0; checked < 2; checked++)
                for (int shape = 0; shape < 40; shape += PTOI_HAS_SANITIZER ? 5 : 1) {
                    /* One buffer of any size; or many that need up to twice the heap, small ones as well. */
                    const int64_t ring = 4096, bytes = shape < 10  ? ring + 1000 * shape + 1
                                                       : shape % 2 ? 8
                                                                   : 8 + 64 * shape;
                    const int64_t laid = (bytes + 64 * checked + 63) / 64 * 64;
                    struct shape s = {.bytes = bytes, .count = shape < 10 ? 1 : (int)(ring * rings / laid) + shape};
                    if (shape >= 10 && s.count * laid > 2 * ring * rings * 9 / 10)
                        s.count = (int)(2 * ring * rings * 9 / 10 / laid);
                    PTOConfig c = {.engine = engines[e],
                                   .workers = {0, 1},
                                   .heap_bytes = ring,
                                   .heap_rings = rings,
                                   .checked = checked};
                    PTORuntime *rt = pto_runtime_create(&c, NULL);
                    assert_non_null(rt);
                    EXPECT_EQ(pto_runtime_run(rt, hold, &s), shape < 10 ? PTO_ERR_TOO_LARGE : PTO_ERR_DEADLOCK);
                    const char *text = pto_last_error(rt), *advice = strstr(text, "set PTOConfig.heap_bytes to ");
                    expect_no_options(text);
                    EXPECT(advice != NULL);
                    c.heap_bytes = atoll(advice + strlen("set PTOConfig.heap_bytes to "));
                    EXPECT(c.heap_bytes >= 2 * ring);
                    pto_runtime_destroy(rt);
                    rt = pto_runtime_create(&c, NULL);
                    assert_non_null(rt);
                    if (pto_runtime_run(rt, hold, &s) != PTO_OK)
                        fprintf(stderr, "%d x %lld: %s\n", s.count, (long long)s.bytes, pto_last_error(rt));
                    EXPECT_EQ(pto_runtime_run(rt, hold, &s), PTO_OK);
                    pto_runtime_destroy(rt);
                }
}

/* ---- the need that an entry states ---- */
enum { STATED = 10240 };

static void stating(PTORuntime *rt, void *arg)
{
    pto_state_need(rt, STATED);
    hold(rt, arg);
}

static void stating_twice(PTORuntime *rt, void *arg)
{
    pto_run_entry(rt, stating, arg);
    pto_run_entry(rt, stating, arg);
}

static int64_t advised(const PTOConfig *config, bool is_entry, void (*fn)(PTORuntime *rt, void *arg))
{
    struct shape s = {.count = 8, .bytes = 1024};
    PTORuntime *rt = pto_runtime_create(config, NULL);
    assert_non_null(rt);
    EXPECT_EQ(is_entry ? pto_run_entry(rt, fn, &s) : pto_runtime_run(rt, fn, &s), PTO_ERR_DEADLOCK);
    const char *advice = strstr(pto_last_error(rt), "set PTOConfig.heap_bytes to ");
    assert_non_null(advice);
    const int64_t bytes = atoll(advice + strlen("set PTOConfig.heap_bytes to "));
    pto_runtime_destroy(rt);
    return bytes;
}

TEST(a_need_that_is_stated_is_advised_if_the_run_is_that_entry_alone)
{
    PTOConfig c = {.workers = {0, 1}, .heap_bytes = 4096, .heap_rings = 1};
    EXPECT_EQ(advised(&c, true, stating), STATED);
    EXPECT_EQ(advised(&c, false, stating), 2 * 4096);
    EXPECT_EQ(advised(&c, true, stating_twice), 2 * 4096);
    EXPECT_EQ(advised(&c, true, hold), 2 * 4096);
    c.scope_policy = PTO_SCOPE_OUTERMOST; /* buffers live longer than the need assumes */
    EXPECT_EQ(advised(&c, true, stating), 2 * 4096);
}

/* ---- the other limits ---- */
static void none_of_that_type(PTORuntime *rt, void *arg) { SUBMIT(rt, &nothing, PTO_INOUT(arg, 0, 8)); }

static void deep(PTORuntime *rt, void *arg)
{
    pto_enter(rt, "deep");
    if (!arg) deep(rt, arg);
    pto_leave(rt);
}

static void nested(PTORuntime *rt, void *arg)
{
    const int depth = *(int *)arg;
    for (int i = 0; i < depth; i++) pto_scope_begin(rt);
    for (int i = 0; i < depth; i++) pto_scope_end(rt);
}

TEST(as_many_scopes_as_the_documents_say_can_be_open)
{
    enum { LIMIT = 4, SCOPES = 16 * LIMIT + 64 };
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.workers = {1}, .recursion_limit = LIMIT}, NULL);
    assert_non_null(rt);
    int depth = SCOPES;
    EXPECT_EQ(pto_runtime_run(rt, nested, &depth), PTO_OK);
    depth++;
    EXPECT_EQ(pto_runtime_run(rt, nested, &depth), PTO_ERR_RECURSION);
    EXPECT(strstr(pto_last_error(rt), "scopes are nested deeper than 128"));
    pto_runtime_destroy(rt);
}

TEST(each_limit_is_named_for_who_reads_it)
{
    static const char *const workers[] = {[PTO_NAMES_MEMBERS] = "none: set PTOConfig.workers[PTO_WORKER_VECTOR] to 1",
                                          [PTO_NAMES_OPTIONS] = "none: run with --workers vector=1",
                                          [PTO_NAMES_PYTHON] = "none: use ptoc.Runtime(workers=\"vector=1\")"};
    static const char *const recursion[] = {[PTO_NAMES_MEMBERS] = "deeper than 3 (PTOConfig.recursion_limit)",
                                            [PTO_NAMES_OPTIONS] = "deeper than 3 (--recursion)",
                                            [PTO_NAMES_PYTHON] = "deeper than 3 (ptoc.Runtime(recursion_limit=...))"};
    for (int names = PTO_NAMES_MEMBERS; names <= PTO_NAMES_PYTHON; names++) {
        PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .workers = {1}, .recursion_limit = 3, .names = (PTONames)names};
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        assert_non_null(rt);
        int64_t x = 0;
        EXPECT_EQ(pto_runtime_run(rt, none_of_that_type, &x), PTO_ERR_CONFIG);
        EXPECT(strstr(pto_last_error(rt), workers[names]));
        EXPECT_EQ(pto_run_entry(rt, deep, NULL), PTO_ERR_RECURSION);
        EXPECT(strstr(pto_last_error(rt), recursion[names]));
        pto_runtime_destroy(rt);
    }
}

TEST(a_limit_that_python_cannot_set_has_its_name_of_c)
{
    char text[LIMIT_TEXT];
    EXPECT_EQ(strcmp(ptoi_limit_name(LIMIT_DEPS, PTO_NAMES_PYTHON), "PTOConfig.deplist_entries"), 0);
    EXPECT_EQ(strcmp(ptoi_limit_set(LIMIT_DEPS, PTO_NAMES_PYTHON, 4, text), "set PTOConfig.deplist_entries to 4"), 0);
    EXPECT_EQ(strcmp(ptoi_limit_set(LIMIT_HEAP, PTO_NAMES_PYTHON, 4096, text), "use ptoc.Runtime(heap=4096)"), 0);
    EXPECT_EQ(strcmp(ptoi_limit_set(LIMIT_HEAP, PTO_NAMES_OPTIONS, 4096, text), "run with --heap 4096"), 0);
}
