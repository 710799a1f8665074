/* test_unwind.c - the checks that generated code asks for, calls and arithmetic: what they find unwinds to
 * pto_run_entry. */
#include "cells.h"
#include "engines.h"
#include <pto/pto_program.h>
#include <string.h>

static const PTOSite call_site = {"r.pto", 5, 9, "f"};

static void recurse(PTORuntime *rt, int64_t n)
{
    pto_enter(rt, "f");
    pto_scope_begin(rt);
    void *P = NULL;
    SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(1)), PTO_SCALAR(n));
    pto_at(rt, &call_site);
    if (n > 0) recurse(rt, n - 1);
    pto_scope_end(rt);
    pto_leave(rt);
}
static void recurse_entry(PTORuntime *rt, void *arg) { recurse(rt, ((struct shared *)arg)->n); }

TEST(recursion_is_limited_and_reported_with_the_calls)
{
    PTOConfig c = {.recursion_limit = 256};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.n = 255});
        EXPECT_EQ(pto_run_entry(rt, recurse_entry, s), PTO_OK); /* the entry counts as 1: 256 calls */
        s->n = 256;
        EXPECT_EQ(pto_run_entry(rt, recurse_entry, s), PTO_ERR_RECURSION);
        EXPECT(strstr(pto_last_error(rt), "recursion is deeper than 256"));
        EXPECT(strstr(pto_last_error(rt), "in 'f', called at r.pto:5"));
        s->n = 3;
        EXPECT_EQ(pto_run_entry(rt, recurse_entry, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

static void open_scopes(PTORuntime *rt, void *arg)
{
    for (struct shared *s = arg; s->got < s->n; s->got++) pto_scope_begin(rt);
}

TEST(a_scope_too_deep_ends_the_entry)
{
    PTOConfig c = {.recursion_limit = 4};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.n = 200});
        EXPECT_EQ(pto_run_entry(rt, open_scopes, s), PTO_ERR_RECURSION);
        EXPECT_EQ(s->got, 128);
        pto_runtime_destroy(rt);
    }
}

static void arithmetic(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    switch (s->n) {
    case 0: s->got = pto_add(rt, INT64_MAX, 1); break;
    case 1: s->got = pto_sub(rt, INT64_MIN, 1); break;
    case 2: s->got = pto_mul(rt, INT64_MAX, 2); break;
    case 3: s->got = pto_div(rt, INT64_MIN, -1); break;
    case 4: s->got = pto_abs(rt, INT64_MIN); break;
    case 5: s->got = pto_div(rt, 1, 0); break;
    case 6: s->got = pto_mod(rt, 1, 0); break;
    case 7: s->got = pto_ceil_div(rt, 7, 2) * 1000 + pto_ceil_div(rt, -7, 2) * 100 + pto_ceil_div(rt, 8, 2); break;
    case 8: s->got = pto_log2(rt, 1024) * 100 + pto_log2(rt, 1025); break;
    case 9: s->got = pto_index(rt, 5, 5); break;
    case 10: s->got = pto_slice(rt, 3, 2, 5); break;
    case 11: s->got = pto_log2(rt, 0); break;
    }
}

TEST(arithmetic_is_checked)
{
    static const PTOStatus want[] = {PTO_ERR_OVERFLOW, PTO_ERR_OVERFLOW, PTO_ERR_OVERFLOW, PTO_ERR_OVERFLOW,
                                     PTO_ERR_OVERFLOW, PTO_ERR_DIVIDE,   PTO_ERR_DIVIDE,   PTO_OK,
                                     PTO_OK,           PTO_ERR_BOUNDS,   PTO_ERR_BOUNDS,   PTO_ERR_ARGUMENT};
    PTOConfig c = {.engine = PTO_ENGINE_SERIAL};
    PTORuntime *rt = create(&c);
    for (int n = 0; n < 12; n++) {
        struct shared *s = renew((struct shared){.n = n, .got = -1});
        EXPECT(pto_run_entry(rt, arithmetic, s) == want[n]);
        if (n == 7) EXPECT_EQ(s->got, 4000 - 300 + 4);
        if (n == 8) EXPECT_EQ(s->got, 1010);
        if (n == 4) EXPECT(strstr(pto_last_error(rt), "integer overflow: abs(-9223372036854775808)"));
    }
    pto_runtime_destroy(rt);
}
