/* test_requests.c - accelerator workers take work requests: copy, gather, scatter, in order with everything else, and
 * operations of the program. */
#include "backend/sim/sim.h"
#include "submit.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <string.h>

static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING};
#define EACH_ENGINE(c) for (size_t e_ = 0; e_ < 3 && ((c).engine = engines[e_], 1); e_++)

static const PTOKernel copy = {.name = "copy", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_COPY};
static const PTOKernel gather = {.name = "gather", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_GATHER_ROWS};
static const PTOKernel scatter = {.name = "scatter", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_SCATTER_ROWS};
static const PTOKernel unknown = {.name = "unknown", .worker = PTO_WORKER_ACCELERATOR, .opcode = 63};
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
    SUBMIT(rt, &copy, PTO_INPUT(j->a, 0, PTO_ARRAY(PTO_F32, M, N)),
           PTO_INOUT(j->t, 0, PTO_STRIDED(PTO_F32, (M, N), (1, M))));
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
    j->got = SUBMIT(rt, j->kernel, PTO_INPUT(j->a, 0, PTO_ARRAY(PTO_F32, M, N)),
                    PTO_INPUT(j->index, 0, PTO_ARRAY(PTO_I64, 3)), PTO_INOUT(j->g, 0, PTO_ARRAY(PTO_F32, 3, N)));
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
        EXPECT(strstr(pto_last_error(rt), "'gather' failed: it returned 2, an index is out of range"));
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < N; i++) EXPECT(j.g[k][i] == 0); /* nothing was written */
        j.kernel = &unknown;
        EXPECT_EQ(pto_runtime_run(rt, one, &j), PTO_ERR_UNSUPPORTED);
        EXPECT(strstr(pto_last_error(rt),
                      "'unknown' is operation 63, which the accelerators of the backend sim do not have"));
        j.kernel = &copy; /* three buffers */
        EXPECT_EQ(pto_runtime_run(rt, one, &j), PTO_ERR_KERNEL);
        EXPECT(strstr(pto_last_error(rt), "it returned 1, the buffers are not those of the operation"));
        j.kernel = &misplaced;
        EXPECT_EQ(pto_runtime_run(rt, one, &j), PTO_ERR_ARGUMENT);
        EXPECT_EQ(pto_runtime_run(rt, many_scalars, &j), PTO_ERR_ARGUMENT);
        EXPECT(strstr(pto_last_error(rt), "18 scalars"));
        pto_runtime_destroy(rt);
    }
}

/* ---- moves against the same moves element by element ------------------------------------------------------------- */

enum { MOST = 12, STEPS = 3, ROOM = MOST * MOST * STEPS * STEPS };

struct plane { /* a view of two dimensions of a block */
    uint64_t block[ROOM];
    int64_t shape[2], stride[2];
    PTOArg arg;
};

static uint64_t seed = 9;
static int64_t below(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

static void make_plane(struct plane *p, PTOType type, int64_t rows, int64_t columns)
{
    const bool is_transposed = below(2) == 0;
    const int64_t step = 1 + below(STEPS), other = (is_transposed ? rows : columns) * step + below(STEPS);
    p->shape[0] = rows, p->shape[1] = columns;
    p->stride[is_transposed] = other, p->stride[!is_transposed] = step;
    for (int i = 0; i < ROOM; i++) p->block[i] = (uint64_t)below(INT32_MAX) << 32 | (uint64_t)below(INT32_MAX);
    p->arg = (PTOArg){.ptr = p->block, .shape = p->shape, .stride = p->stride, .type = type, .rank = 2};
}

static void *element_of(struct plane *p, int64_t i, int64_t j)
{
    return (char *)p->block + (i * p->stride[0] + j * p->stride[1]) * pto_type_bytes((PTOType)p->arg.type);
}

TEST(moves_of_any_layout_and_element_are_those_of_single_elements)
{
    static const PTOType types[] = {PTO_U8, PTO_F16, PTO_F32, PTO_F64};
    static struct plane src, dst, wanted;
    for (int round = 0; round < 4000; round++) {
        const int32_t opcode = (int32_t)(PTO_OP_COPY + below(3));
        const PTOType type = types[below(4)];
        const int64_t bytes = pto_type_bytes(type), columns = below(MOST), whole = 1 + below(MOST - 1),
                      picked = below(MOST);
        int64_t index[MOST * STEPS] = {0};
        const int64_t index_step = below(STEPS);
        make_plane(&src, type, opcode == PTO_OP_SCATTER_ROWS ? picked : whole, columns);
        make_plane(&dst, type, opcode == PTO_OP_GATHER_ROWS ? picked : whole, columns);
        for (int64_t i = 0; i < picked; i++) index[i * index_step] = below(whole);
        wanted = dst;
        for (int64_t i = 0; i < (opcode == PTO_OP_COPY ? whole : picked); i++)
            for (int64_t j = 0; j < columns; j++) {
                const int64_t at = opcode == PTO_OP_COPY ? i : index[i * index_step];
                memcpy(element_of(&wanted, opcode == PTO_OP_GATHER_ROWS ? i : at, j),
                       element_of(&src, opcode == PTO_OP_SCATTER_ROWS ? i : at, j), (size_t)bytes);
            }
        const PTOArg at = {.ptr = index, .shape = &picked, .stride = &index_step, .type = PTO_I64, .rank = 1};
        PTOWorkRequest r = {.opcode = opcode, .buffer_count = opcode == PTO_OP_COPY ? 2 : 3};
        r.buffer[0] = src.arg;
        r.buffer[1] = opcode == PTO_OP_COPY ? dst.arg : at;
        r.buffer[2] = dst.arg;
        EXPECT_EQ(ptoi_sim_move(&r), 0);
        EXPECT(memcmp(dst.block, wanted.block, sizeof dst.block) == 0);
        if (opcode == PTO_OP_COPY || picked == 0) continue;
        index[below(picked) * index_step] = below(2) ? whole : -1;
        EXPECT_EQ(ptoi_sim_move(&r), PTO_REQUEST_INDEX);
        EXPECT(memcmp(dst.block, wanted.block, sizeof dst.block) == 0);
    }
}

TEST(the_last_row_scattered_to_a_place_stays)
{
    int64_t index[3] = {1, 1, 1}, rows = 3, step = 1, from_shape[2] = {3, 1}, to_shape[2] = {2, 1}, stride[2] = {1, 1};
    double from[3] = {5, 6, 7}, to[2] = {0, 0};
    PTOWorkRequest r = {.opcode = PTO_OP_SCATTER_ROWS, .buffer_count = 3};
    r.buffer[0] = (PTOArg){.ptr = from, .shape = from_shape, .stride = stride, .type = PTO_F64, .rank = 2};
    r.buffer[1] = (PTOArg){.ptr = index, .shape = &rows, .stride = &step, .type = PTO_I64, .rank = 1};
    r.buffer[2] = (PTOArg){.ptr = to, .shape = to_shape, .stride = stride, .type = PTO_F64, .rank = 2};
    EXPECT_EQ(ptoi_sim_move(&r), 0);
    EXPECT(to[0] == 0 && to[1] == 7);
}

/* ---- operations of the program ----------------------------------------------------------------------------------- */

enum { NEGATE = 77 };

struct negation { /* the context */
    _Atomic int calls;
    int64_t added;
};

/* in x, out y, one scalar: y = added + scalar - x */
static int negate(void *context, const PTOWorkRequest *r)
{
    struct negation *n = context;
    n->calls++;
    if (r->opcode != NEGATE || r->buffer_count != 2 || r->param_count != 1) return 40;
    if (r->param[0] < 0) return 41;
    const float *x = r->buffer[0].ptr;
    float *y = r->buffer[1].ptr;
    for (int64_t i = 0; i < r->buffer[0].shape[0]; i++)
        y[i * r->buffer[1].stride[0]] = (float)(n->added + r->param[0]) - x[i * r->buffer[0].stride[0]];
    return 0;
}

static int zero(void *context, const PTOWorkRequest *r)
{
    (void)context;
    float *y = r->buffer[1].ptr;
    for (int64_t i = 0; i < r->buffer[1].shape[0]; i++) y[i * r->buffer[1].stride[0]] = 0;
    return 0;
}

static const PTOKernel negation = {.name = "negation", .worker = PTO_WORKER_ACCELERATOR, .opcode = NEGATE};
static const PTOSite negated = {.file = "f.pto", .line = 7, .column = 3, .text = "negation"};

struct numbers {
    float x[4], y[4];
    int64_t scalar;
};

static void negate_twice(PTORuntime *rt, void *arg)
{
    struct numbers *n = arg;
    void *t = NULL;
    pto_at(rt, &negated);
    SUBMIT(rt, &negation, PTO_INPUT(n->x, 0, PTO_ARRAY(PTO_F32, 4)), PTO_OUTPUT(&t, 0, PTO_ARRAY(PTO_F32, 4)),
           PTO_SCALAR(n->scalar));
    SUBMIT(rt, &negation, PTO_INPUT_OF(t, 0, PTO_ARRAY(PTO_F32, 4)), PTO_INOUT(n->y, 0, PTO_ARRAY(PTO_F32, 4)),
           PTO_SCALAR(2 * n->scalar));
}

static void add_inside(PTORuntime *rt, void *arg)
{
    (void)arg;
    EXPECT_EQ(pto_operation(rt, NEGATE, zero, NULL), PTO_ERR_STATE);
}

TEST(a_program_adds_operations)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        struct negation context = {.added = 100};
        struct numbers n = {.x = {1, 2, 3, 4}, .scalar = 5};
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        EXPECT(rt != NULL);
        EXPECT_EQ(pto_operation(rt, NEGATE, zero, NULL), PTO_OK);
        EXPECT_EQ(pto_operation(rt, NEGATE + 1, zero, NULL), PTO_OK);
        EXPECT_EQ(pto_operation(rt, NEGATE, negate, &context), PTO_OK); /* in its place */
        EXPECT_EQ(pto_runtime_run(rt, negate_twice, &n), PTO_OK);
        EXPECT_EQ(context.calls, 2);
        for (int i = 0; i < 4; i++) EXPECT(n.y[i] == 5 + n.x[i]);
        n.scalar = -1;
        EXPECT_EQ(pto_runtime_run(rt, negate_twice, &n), PTO_ERR_KERNEL);
        EXPECT(strstr(pto_last_error(rt), "f.pto:7:3: error: kernel 'negation' failed: it returned 41"));
        EXPECT_EQ(pto_operation(NULL, NEGATE, zero, NULL), PTO_ERR_MISUSE);
        EXPECT_EQ(pto_operation(rt, PTO_OP_OWN - 1, zero, NULL), PTO_ERR_ARGUMENT);
        EXPECT(strstr(pto_last_error(rt), "begin at PTO_OP_OWN"));
        EXPECT_EQ(pto_runtime_run(rt, add_inside, NULL), PTO_ERR_STATE);
        EXPECT_EQ(pto_operation(rt, NEGATE, NULL, NULL), PTO_OK);
        EXPECT_EQ(pto_operation(rt, NEGATE, NULL, NULL), PTO_OK); /* there is none any more */
        EXPECT_EQ(pto_runtime_run(rt, negate_twice, &n), PTO_ERR_UNSUPPORTED);
        EXPECT(strstr(pto_last_error(rt),
                      "f.pto:7:3: error: kernel 'negation' is operation 77, which the accelerators of the "
                      "backend sim do not have: the program registers it with pto_operation"));
        pto_runtime_destroy(rt);
    }
}

TEST(the_engine_process_has_the_operations_of_the_backend_only)
{
    const PTOConfig c = {.engine = PTO_ENGINE_PROCESS};
    struct job *j = pto_shared_alloc(sizeof *j);
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    EXPECT(j != NULL && rt != NULL);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < N; k++) j->a[i][k] = (float)(10 * i + k);
    memcpy(j->index, (int64_t[]){4, 0, 4}, sizeof j->index);
    EXPECT_EQ(pto_runtime_run(rt, move, j), PTO_OK);
    for (int k = 0; k < N; k++) EXPECT(j->g[0][k] == 2 * (float)(40 + k));
    EXPECT_EQ(pto_operation(rt, NEGATE, zero, NULL), PTO_ERR_UNSUPPORTED);
    EXPECT(strstr(pto_last_error(rt), "the workers of the engine process are another process"));
    struct numbers n = {.scalar = 1};
    EXPECT_EQ(pto_runtime_run(rt, negate_twice, &n), PTO_ERR_UNSUPPORTED);
    EXPECT(strstr(pto_last_error(rt), "f.pto:7:3: error: kernel 'negation' is operation 77"));
    EXPECT(strstr(pto_last_error(rt), "on other engines than process"));
    pto_runtime_destroy(rt);
    pto_shared_free(j, sizeof *j);
}
