/* test_requests.c - accelerator workers take work requests: copy, gather, scatter, in order with everything else; and inputs whose
 * single writer is known. */
#include "submit.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <string.h>

static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING};
#define EACH_ENGINE(c) for (size_t e_ = 0; e_ < 3 && ((c).engine = engines[e_], 1); e_++)

static const PTOKernel copy = {.name = "copy", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_COPY};
static const PTOKernel gather = {.name = "gather", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_GATHER_ROWS};
static const PTOKernel scatter = {.name = "scatter", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_SCATTER_ROWS};
static const PTOKernel unknown = {.name = "unknown", .worker = PTO_WORKER_ACCELERATOR, .opcode = 77};
static const PTOKernel misplaced = {.name = "misplaced", .worker = PTO_WORKER_CUBE, .opcode = PTO_OP_COPY};
static int k_double(const PTOArg *a)
{
    for (int64_t i = 0; i < a[0].shape[0]; i++)
        for (int64_t j = 0; j < a[0].shape[1]; j++) ((float *)a[0].ptr)[i * a[0].stride[0] + j * a[0].stride[1]] *= 2;
    return a[0].type == PTO_F32 && a[0].rank == 2 && a[0].kind == PTO_PARAM_INOUT ? 0 : 1;
}
static const PTOKernel twice = {.name = "twice", .worker = PTO_WORKER_VECTOR, .fn = k_double};

enum { M = 5, N = 4 };
struct job {
    float a[M][N], t[N][M], g[3][N], s[M][N];
    int64_t index[3];
    const PTOKernel *kernel;
    int64_t got;
};

static void move(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    /* double, transpose by copying into a transposed view, gather three rows, scatter them elsewhere */
    SUBMIT(rt, &twice, PTO_INOUT(j->a, 0, PTO_ARRAY(PTO_F32, M, N)));
    SUBMIT(rt, &copy, PTO_INPUT(j->a, 0, PTO_ARRAY(PTO_F32, M, N)), PTO_INOUT(j->t, 0, PTO_STRIDED(PTO_F32, (M, N), (1, M))));
    void *rows = NULL;
    SUBMIT(rt, &gather, PTO_INPUT(j->a, 0, PTO_ARRAY(PTO_F32, M, N)), PTO_INPUT(j->index, 0, PTO_ARRAY(PTO_I64, 3)),
           PTO_OUTPUT(&rows, 0, PTO_ARRAY(PTO_F32, 3, N)), PTO_SCALAR((int64_t)1));
    SUBMIT(rt, &copy, PTO_INPUT_OF(rows, 0, PTO_ARRAY(PTO_F32, 3, N)), PTO_INOUT(j->g, 0, PTO_ARRAY(PTO_F32, 3, N)));
    SUBMIT(rt, &scatter, PTO_INPUT_OF(rows, 0, PTO_ARRAY(PTO_F32, 3, N)), PTO_INPUT(j->index, 0, PTO_ARRAY(PTO_I64, 3)),
           PTO_INOUT(j->s, 0, PTO_ARRAY(PTO_F32, M, N)));
    SUBMIT(rt, &twice, PTO_INOUT(j->a, 0, PTO_ARRAY(PTO_F32, M, N))); /* after every reader */
}

TEST(requests_move_what_they_say_in_program_order)
{
    PTOConfig c = {.task_window = 4, .tensormap_entries = 4, .deplist_entries = 4};
    EACH_ENGINE(c)
    {
        struct job j = {.index = {4, 0, 4}};
        for (int i = 0; i < M; i++)
            for (int k = 0; k < N; k++) j.a[i][k] = (float)(10 * i + k);
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        EXPECT(rt != NULL);
        EXPECT_EQ(pto_runtime_run(rt, move, &j), PTO_OK);
        for (int i = 0; i < M; i++)
            for (int k = 0; k < N; k++) {
                EXPECT(j.a[i][k] == 4 * (float)(10 * i + k));
                EXPECT(j.t[k][i] == 2 * (float)(10 * i + k));
                EXPECT(j.s[i][k] == (i == 4 || i == 0 ? 2 * (float)(10 * i + k) : 0));
            }
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < N; k++) EXPECT(j.g[r][k] == 2 * (float)(10 * j.index[r] + k));
        pto_runtime_destroy(rt);
    }
}

static void one(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    j->got = SUBMIT(rt, j->kernel, PTO_INPUT(j->a, 0, PTO_ARRAY(PTO_F32, M, N)), PTO_INPUT(j->index, 0, PTO_ARRAY(PTO_I64, 3)),
                    PTO_INOUT(j->g, 0, PTO_ARRAY(PTO_F32, 3, N)));
}

static void many_scalars(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    PTOTaskParam p[18];
    for (int i = 0; i < 18; i++) p[i] = (PTOTaskParam)PTO_SCALAR((int64_t)i);
    j->got = pto_submit_task(rt, &copy, p, 18);
}

TEST(bad_requests_fail_with_a_message)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        EXPECT(rt != NULL);
        struct job j = {.index = {0, 5, 0}, .kernel = &gather};
        EXPECT_EQ(pto_runtime_run(rt, one, &j), PTO_ERR_KERNEL);
        EXPECT(strstr(pto_last_error(rt), "'gather' failed: it returned 2"));
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < N; i++) EXPECT(j.g[k][i] == 0); /* nothing was written */
        j.kernel = &unknown;
        EXPECT_EQ(pto_runtime_run(rt, one, &j), PTO_ERR_KERNEL);
        j.kernel = &copy; /* three buffers */
        EXPECT_EQ(pto_runtime_run(rt, one, &j), PTO_ERR_KERNEL);
        j.kernel = &misplaced;
        EXPECT_EQ(pto_runtime_run(rt, one, &j), PTO_ERR_ARGUMENT);
        EXPECT_EQ(pto_runtime_run(rt, many_scalars, &j), PTO_ERR_ARGUMENT);
        EXPECT(strstr(pto_last_error(rt), "18 scalars"));
        pto_runtime_destroy(rt);
    }
}
