/* test_outputs.c - pto_task_get_output and pto_scope_depth: every engine, on the fast path and past it, and misuse. */
#include "submit.h"
#include "unit.h"

static int k_nothing(const PTOArg *a) { return (void)a, 0; }
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = k_nothing};

struct seen {
    int64_t last;
    bool is_right;
};

static void look(PTORuntime *rt, void *arg)
{
    struct seen *s = arg;
    bool ok = pto_scope_depth(rt) == 0 && !pto_task_get_output(rt, s->last, 0);
    for (int round = 0; round < 40; round++) { /* the kernel becomes known as a short one */
        pto_scope_begin(rt);
        const PTOScope outer = pto_scope_current(rt);
        ok &= pto_scope_depth(rt) == 1;
        pto_scope_begin(rt);
        ok &= pto_scope_depth(rt) == 2;
        void *A = NULL, *B = NULL, *C = NULL, *D = NULL, *none = NULL, *old;
        int64_t here[1] = {0};
        const int64_t one = PTO_SUBMIT(rt, &nothing, PTO_OUTPUT(&A, 0, 64));
        void *plain = pto_alloc(rt, PTO_SCOPE_CURRENT, 64);
        old = A;
        const int64_t three =
            PTO_SUBMIT(rt, &nothing, PTO_INPUT(plain, 0, 64), PTO_OUTPUT_IN(outer, &B, 0, 200), PTO_OUTPUT(&old, 0, 64),
                       PTO_OUTPUT(&none, 0, 0), PTO_OUTPUT(&C, 0, 64), PTO_OUTPUT(&D, 0, 64));
        const int64_t zero = PTO_SUBMIT(rt, &nothing, PTO_INPUT(A, 0, 64));
        const int64_t of_host = PTO_SUBMIT(rt, &nothing, PTO_INOUT(here, 0, 8));
        ok &= A && pto_task_get_output(rt, one, 0) == A && !pto_task_get_output(rt, one, 1) &&
              !pto_task_get_output(rt, one, -1);
        ok &= pto_task_get_output(rt, three, 0) == B && pto_task_get_output(rt, three, 1) == C &&
              pto_task_get_output(rt, three, 2) == D;
        ok &= !none && !pto_task_get_output(rt, three, 3) && !pto_task_get_output(rt, zero, 0) &&
              !pto_task_get_output(rt, of_host, 0);
        ok &= !pto_task_get_output(rt, -1, 0) && !pto_task_get_output(rt, of_host + 1, 0) &&
              !pto_task_get_output(rt, PTO_NO_TASK, 0);
        pto_release(rt, C);
        ok &= !pto_task_get_output(rt, three, 1) && pto_task_get_output(rt, three, 2) == D;
        pto_await(rt, here, 0, 8);
        ok &= pto_task_get_output(rt, one, 0) == A; /* completed, and still owned */
        pto_scope_end(rt);
        ok &= pto_scope_depth(rt) == 1 && !pto_task_get_output(rt, one, 0) && pto_task_get_output(rt, three, 0) == B;
        pto_scope_end(rt);
        ok &= pto_scope_depth(rt) == 0 && !pto_task_get_output(rt, three, 0);
        s->last = three;
    }
    s->is_right = ok;
}

TEST(a_task_says_what_was_made_for_it_while_a_scope_owns_it)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING};
    for (int e = 0; e < 3; e++)
        for (int defers = 0; defers < 2; defers++) {
            const PTOConfig c = {
                .engine = engines[e], .workers = {0, 2}, .heap_bytes = 1 << 16, .always_defer = defers};
            PTORuntime *rt = pto_runtime_create(&c, NULL);
            assert_non_null(rt);
            struct seen s = {0};
            for (int run = 0; run < 3; run++) {
                EXPECT_EQ(pto_runtime_run(rt, look, &s), PTO_OK);
                EXPECT(s.is_right);
            }
            EXPECT_EQ(pto_scope_depth(rt), 0);
            EXPECT(pto_task_get_output(rt, s.last, 0) == NULL);
            pto_runtime_destroy(rt);
        }
    EXPECT_EQ(pto_scope_depth(NULL), 0);
    EXPECT(pto_task_get_output(NULL, 0, 0) == NULL);
}

static void keep(PTORuntime *rt, void *arg)
{
    const PTOScope run = pto_scope_current(rt);
    void *kept = NULL, *inner = NULL;
    pto_scope_begin(rt);
    pto_scope_begin(rt);
    void *plain = pto_alloc(rt, run, 64);
    PTO_SUBMIT(rt, &nothing, PTO_OUTPUT_IN(run, &kept, 0, 64));
    PTO_SUBMIT(rt, &nothing, PTO_OUTPUT(&inner, 0, 64));
    pto_scope_end(rt);
    bool ok = pto_await(rt, inner, 0, 64) == PTO_OK; /* until the outermost scope ends */
    pto_scope_end(rt);
    ok &= pto_await(rt, kept, 0, 64) == PTO_OK && pto_await_users(rt, plain, 0, 64) == PTO_OK;
    *(bool *)arg = ok;
}

TEST(the_outermost_policy_makes_no_lifetime_shorter)
{
    for (int defers = 0; defers < 2; defers++) {
        const PTOConfig c = {.engine = PTO_ENGINE_SERIAL,
                             .scope_policy = PTO_SCOPE_OUTERMOST,
                             .heap_bytes = 1 << 16,
                             .always_defer = defers};
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        assert_non_null(rt);
        bool ok = false;
        EXPECT_EQ(pto_runtime_run(rt, keep, &ok), PTO_OK);
        EXPECT(ok);
        pto_runtime_destroy(rt);
    }
}
