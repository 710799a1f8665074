/* test_parted.c - tasks that share an accumulator with `by` run on the ranks of their data, and its parts travel. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"
#include <string.h>

enum { ROWS = 150, WIDTH = 8, SUMS = 3, HEAP = 1 << 20, SMALL_HEAP = 4096, SEEDS = 30 };

struct shared {
    int number; /* of the program */
    bool is_serial;
    int64_t window, heap;
    int32_t rings;
    uint64_t seed; /* of the wire */
    float sum[MOST_RANKS][SUMS * WIDTH];
    int64_t tasks[MOST_RANKS], messages[MOST_RANKS], folds[MOST_RANKS];
};

struct program {
    struct shared *shared;
    float (*rows)[WIDTH], *sum;
};

static _Atomic int64_t executed;

/* Terms of very different sizes: another order of the sum has other bits. */
static float term(const float *row, int64_t j, int64_t n)
{
    return row[j] * (n % 7 == 0 ? 1e8f : n % 3 == 0 ? -1e4f : 0.1f);
}

/* in row, by sum part, number */
static int add(const PTOArg *a)
{
    for (int64_t j = 0; j < WIDTH; j++) ((float *)a[1].ptr)[j] += term(a[0].ptr, j, a[2].value.i64);
    executed++;
    return 0;
}
/* in row, by sum part, by max part, number */
static int add_two(const PTOArg *a)
{
    for (int64_t j = 0; j < WIDTH; j++) {
        const float x = term(a[0].ptr, j, a[3].value.i64), *most = &((float *)a[2].ptr)[j];
        ((float *)a[1].ptr)[j] += x;
        ((float *)a[2].ptr)[j] = x > *most ? x : *most;
    }
    executed++;
    return 0;
}
/* inout sum */
static int halve(const PTOArg *a)
{
    for (int64_t j = 0; j < WIDTH; j++) ((float *)a[0].ptr)[j] /= 3;
    executed++;
    return 0;
}
/* in, out */
static int copy(const PTOArg *a)
{
    memcpy(a[1].ptr, a[0].ptr, WIDTH * sizeof(float));
    executed++;
    return 0;
}
static const PTOKernel adds = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = add};
static const PTOKernel adds_two = {.name = "add two", .worker = PTO_WORKER_VECTOR, .fn = add_two};
static const PTOKernel halves = {.name = "halve", .worker = PTO_WORKER_VECTOR, .fn = halve};
static const PTOKernel copies = {.name = "copy", .worker = PTO_WORKER_VECTOR, .fn = copy};

#define ROW PTO_ARRAY(PTO_F32, WIDTH)

static void submit_add(PTORuntime *rt, const struct program *p, int64_t n, void *to, int64_t at)
{
    const PTOTaskParam params[] = {PTO_INPUT(p->rows, n * WIDTH, ROW), PTO_ACC_BY(PTO_BY_SUM, to, at, ROW),
                                   PTO_SCALAR(n)};
    if (pto_submit_task(rt, &adds, params, 3) < 0) _exit(4);
}

static void orchestrate(PTORuntime *rt, void *arg)
{
    const struct program *p = arg;
    void *local = NULL;
    for (int64_t n = 0; n < ROWS; n++) {
        const PTOTaskParam half[] = {PTO_INOUT(p->sum, 0, ROW)};
        const PTOTaskParam two[] = {PTO_INPUT(p->rows, n * WIDTH, ROW), PTO_ACC_BY(PTO_BY_SUM, p->sum, WIDTH, ROW),
                                    PTO_ACC_BY(PTO_BY_MAX, p->sum, 2 * WIDTH, ROW), PTO_SCALAR(n)};
        switch (p->shared->number) {
        case 1: /* another access of the accumulator, and waits for it */
            if (n % 20 == 19 && pto_submit_task(rt, &halves, half, 1) < 0) _exit(5);
            if (n % 50 == 49 && pto_await(rt, p->sum, 0, 4) != PTO_OK) _exit(6);
            break;
        case 2: /* two accumulators, of two operations */
            if (pto_submit_task(rt, &adds_two, two, 4) < 0) _exit(7);
            break;
        case 3: /* an accumulator of a scope, which ends with parts that wait */
            if (n % 30 == 0) {
                pto_scope_begin(rt);
                local = pto_alloc_zeroed(rt, PTO_SCOPE_CURRENT, WIDTH * 4);
            }
            submit_add(rt, p, n, local, 0);
            if (n % 30 < 29) break;
            const PTOTaskParam out[] = {PTO_INPUT(local, 0, ROW), PTO_INOUT(p->sum, WIDTH * (1 + n / 30 % 2), ROW)};
            if (n % 60 == 29 && pto_submit_task(rt, &copies, out, 2) < 0) _exit(8);
            pto_scope_end(rt);
            break;
        case 4: /* buffers of several sizes come and go, so that a full heap has holes, other ones in each run */
            submit_add(rt, p, n, p->sum, 2 * WIDTH);
            void *made = NULL;
            const PTOTaskParam make[] = {PTO_INPUT(p->rows, n * WIDTH, ROW),
                                         PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F32, WIDTH * (1 + n * 5 % 7 % 3 * 2)))};
            if (pto_submit_task(rt, &copies, make, 2) < 0) _exit(9);
            const PTOTaskParam use[] = {PTO_INPUT(made, 0, ROW), PTO_INOUT(p->sum, WIDTH, ROW)};
            if (pto_submit_task(rt, &copies, use, 2) < 0) _exit(10);
            pto_release(rt, made);
            break;
        }
        submit_add(rt, p, n, p->sum, 0);
    }
}

static void fill(const struct program *p)
{
    for (int64_t n = 0; n < ROWS; n++)
        for (int64_t j = 0; j < WIDTH; j++) p->rows[n][j] = (float)((n * 37 + j * 11) % 101) / 7;
    for (int64_t j = 0; j < SUMS * WIDTH; j++) p->sum[j] = (float)j;
}

static int run_rank(struct wire *w, int rank, void *arg)
{
    static float rows[ROWS][WIDTH], sum[SUMS * WIDTH];
    struct program p = {.shared = arg, .rows = rows, .sum = sum};
    const struct dist_config ranks = {.wire = w, .copy_bytes = 1 << 20, .sends = 2};
    const PTOConfig config = {.engine = p.shared->is_serial ? PTO_ENGINE_SERIAL : PTO_ENGINE_THREADS,
                              .task_window = p.shared->window,
                              .heap_bytes = p.shared->heap,
                              .heap_rings = p.shared->rings,
                              .workers = {1, 1, 1, 1}};
    PTORuntime *rt = ptoi_create_ranked(&config, &ranks, NULL);
    const struct distribution
        bands = {.rank = 2, .unit = 4, .shape = {ROWS, WIDTH}, .cell = {1, WIDTH}, .grid = {w->ranks, 1}},
        whole = {.rank = 1, .unit = 4, .shape = {SUMS * WIDTH}, .cell = {SUMS * WIDTH}, .grid = {1}};
    fill(&p);
    executed = 0;
    if (!rt || ptoi_dist_distribute(rt->dist, rows, &bands) != PTO_OK ||
        ptoi_dist_distribute(rt->dist, sum, &whole) != PTO_OK)
        return 1;
    for (int64_t n = 0; n < ROWS; n++)
        if (n % w->ranks != rank) memset(rows[n], 0xff, sizeof rows[n]); /* its home alone has it */
    const PTOStatus status = pto_runtime_run(rt, orchestrate, &p);
    if (status != PTO_OK) fprintf(stderr, "rank %d: %s\n", rank, pto_last_error(rt));
    memcpy(p.shared->sum[rank], sum, sizeof sum);
    p.shared->tasks[rank] = executed;
    p.shared->folds[rank] = pto_get_run_stats(rt)->folds;
    p.shared->messages[rank] = rt->dist->transfers.messages;
    pto_runtime_destroy(rt);
    return status != PTO_OK;
}

/* The results are those of one rank, to the bit. */
static const struct shared *run(struct shared wanted, int ranks)
{
    static float rows[ROWS][WIDTH], sum[SUMS * WIDTH];
    static struct shared *s;
    if (!s) s = ranks_share(sizeof *s);
    *s = wanted;
    const struct medium_config medium = {
        .ranks = ranks, .slots = 4, .seed = 3 + wanted.seed, .latest = 3 + 10 * (wanted.seed > 0)};
    EXPECT_EQ(ranks_run(&medium, run_rank, s), 0);
    struct program alone = {.shared = s, .rows = rows, .sum = sum};
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    fill(&alone);
    executed = 0;
    EXPECT_EQ(pto_runtime_run(rt, orchestrate, &alone), PTO_OK);
    pto_runtime_destroy(rt);
    int64_t tasks = 0;
    for (int k = 0; k < ranks; k++) tasks += s->tasks[k];
    EXPECT_EQ(tasks, executed);
    EXPECT(memcmp(s->sum[0], sum, sizeof sum) == 0);
    return s;
}

TEST(tasks_run_where_their_data_lives)
{
    const struct shared *s = run((struct shared){.window = 16, .heap = HEAP}, 3);
    for (int k = 0; k < 3; k++) EXPECT_EQ(s->tasks[k], ROWS / 3);
    for (int k = 0; k < 3; k++) EXPECT_EQ(s->folds[k], k == 0 ? (ROWS - 1) / 62 + 1 : 0);
    /* the parts of a fold, from each rank, in one message */
    EXPECT_EQ(s->messages[0], 0);
    for (int k = 1; k < 3; k++) EXPECT_EQ(s->messages[k], (ROWS - 1) / 62 + 1);
}

TEST(results_are_those_of_one_fold_in_program_order)
{
    for (int number = 0; number <= 3; number++)
        for (int ranks = 2; ranks <= 4; ranks++)
            for (int is_serial = 0; is_serial < 2; is_serial++)
                for (int small = 0; small < 2; small++)
                    run((struct shared){.number = number,
                                        .is_serial = is_serial,
                                        .window = is_serial ? 0 : 2 << small,
                                        .heap = small ? SMALL_HEAP : HEAP},
                        ranks);
}

/* A rank folds where all ranks do, whatever room it finds. */
TEST(a_fold_does_not_depend_on_the_room_of_one_rank)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run((struct shared){.number = 4, .window = 64, .heap = 512, .rings = 2, .seed = seed}, 2 + (int)seed % 3);
}
