/* test_refused.c - what a program or a configuration asks for and cannot have: a status and a message, and the next run
 * works. */
#include "cells.h"
#include "engines.h"
#include <pto/pto_program.h>
#include <string.h>

static void use_after_release(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    void *P = NULL;
    SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(1)), PTO_SCALAR((int64_t)7));
    pto_release(rt, P);
    s->got = SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(1)), PTO_INOUT(s->x, 0, I64(1)));
}

TEST(h16_a_handle_used_after_its_lifetime_is_reported)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){0});
        EXPECT_EQ(pto_runtime_run(rt, use_after_release, s), PTO_ERR_HANDLE);
        EXPECT_EQ((uint64_t)s->got, (uint64_t)PTO_ERR_HANDLE);
        pto_runtime_destroy(rt);
    }
}

static void release_inside(PTORuntime *rt, void *arg)
{
    (void)arg;
    void *P = NULL;
    SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(4)), PTO_SCALAR((int64_t)7));
    pto_release(rt, (char *)P + 8);
}

TEST(a_release_of_a_place_inside_a_buffer_says_so)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, release_inside, NULL), PTO_ERR_HANDLE);
        EXPECT(strstr(pto_last_error(rt), "pto_release of an address inside a buffer"));
        pto_runtime_destroy(rt);
    }
}

static void too_many_ends(PTORuntime *rt, void *arg)
{
    (void)arg;
    pto_scope_begin(rt);
    pto_scope_end(rt);
    pto_scope_end(rt);
}
static void too_many_begins(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int64_t i = 0; i < s->n; i++) pto_scope_begin(rt);
}
static void enters_nothing(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    s->got = pto_run_entry(rt, NULL, NULL);
}

static void left_open(PTORuntime *rt, void *arg)
{
    (void)arg;
    pto_scope_begin(rt);
}

TEST(an_entry_without_a_function_is_refused_inside_a_run_too)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){0});
        EXPECT_EQ(pto_runtime_run(rt, enters_nothing, s), PTO_ERR_ARGUMENT);
        EXPECT_EQ(s->got, PTO_ERR_ARGUMENT);
        EXPECT_STR(pto_last_error(rt), "pto_run_entry without an orchestration: fn is NULL");
        s->got = 0;
        EXPECT_EQ(pto_run_entry(rt, enters_nothing, s), PTO_ERR_ARGUMENT);
        EXPECT_EQ(s->got, PTO_ERR_ARGUMENT);
        pto_runtime_destroy(rt);
    }
}

TEST(h25_scopes_that_do_not_match_or_nest_too_deep_are_errors)
{
    PTOConfig c = {.recursion_limit = 4};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.n = 1000});
        EXPECT_EQ(pto_runtime_run(rt, too_many_ends, s), PTO_ERR_STATE);
        EXPECT_EQ(pto_runtime_run(rt, too_many_begins, s), PTO_ERR_RECURSION);
        EXPECT_EQ(pto_runtime_run(rt, left_open, s), PTO_ERR_STATE);
        *s = (struct shared){.n = 5};
        EXPECT_EQ(pto_runtime_run(rt, mode_b, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

static void bad_parameter(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    void *P = NULL;
    switch (s->n) {
    case 0: s->got = pto_submit_task(rt, NULL, NULL, 0); break;
    case 1: s->got = pto_submit_task(rt, &set, NULL, 2); break;
    case 2: s->got = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(-1)), PTO_SCALAR((int64_t)1)); break;
    case 3:
        s->got = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, PTO_ARRAY(PTO_I64, INT64_MAX, 2)), PTO_SCALAR((int64_t)1));
        break;
    case 4: s->got = SUBMIT(rt, &set, PTO_OUTPUT(NULL, 0, I64(1)), PTO_SCALAR((int64_t)1)); break;
    case 5: s->got = SUBMIT(rt, &set, PTO_INOUT(s->x, -1, I64(1)), PTO_SCALAR((int64_t)1)); break;
    case 6: s->got = SUBMIT(rt, &set, PTO_INOUT(s->x, 0, -5), PTO_SCALAR((int64_t)1)); break;
    case 7: s->got = SUBMIT(rt, &set, PTO_INOUT(s->x, INT64_MAX / 2, 5), PTO_SCALAR((int64_t)1)); break;
    case 8:
        s->got = SUBMIT(rt, &set, PTO_INOUT(s->x, 0, PTO_STRIDED(PTO_I64, (4), (-1))), PTO_SCALAR((int64_t)1));
        break;
    case 9: s->got = SUBMIT(rt, &set, {.kind = 99}); break;
    case 10:
        s->got = SUBMIT(rt, &set, {.kind = PTO_PARAM_INPUT, .type = 99, .rank = 0, .buffer = s->x, .bytes = 8});
        break;
    }
}

TEST(bad_parameters_give_a_status_and_a_message)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        for (int64_t n = 0; n <= 10; n++) {
            struct shared *s = renew((struct shared){.n = n});
            const PTOStatus wanted = n == 3 ? PTO_ERR_OVERFLOW : PTO_ERR_ARGUMENT;
            EXPECT_EQ(pto_runtime_run(rt, bad_parameter, s), wanted);
            EXPECT((PTOStatus)s->got == wanted);
            EXPECT(strlen(pto_last_error(rt)) > 10);
        }
        pto_runtime_destroy(rt);
    }
}

TEST(bad_configurations_are_refused_with_a_message)
{
    const PTOConfig bad[] = {{.task_window = 3}, {.backend = "elsewhere"}, {.engine = (PTOEngine)77}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        PTOStatus status = PTO_OK;
        EXPECT(pto_runtime_create(&bad[i], &status) == NULL);
        EXPECT(status == PTO_ERR_CONFIG || status == PTO_ERR_UNSUPPORTED);
        EXPECT(strlen(pto_last_error(NULL)) > 10);
    }
}
