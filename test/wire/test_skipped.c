/* test_skipped.c - a rank passes a task of another rank in one pass, exactly where nothing is asked of it.  The others
 * may look at the same task, and agree on its words. */
#include "pick.h"
#include "two_arrays.h"

enum { RANKS = 3, WIDTH = 8, TILES = 12, CELLS = TILES * WIDTH, TASKS = 400 };

struct shared {
    bool makes_buffers; /* a task reads the first parameter and makes a buffer, which the last one reads */
    bool writes_twice;  /* and two tasks between them write it */
    bool reads_results; /* the first parameter lies in the second matrix: bytes have copies when they are written */
    bool reads_again;   /* a task adds the buffer to another tile, so a rank that has skipped it may receive it */
    bool makes_two;     /* and another task makes one, which is released first or last */
    bool registers;     /* the program registers memory between the tasks */
    double result[CELLS];
    int64_t skipped[RANKS], expected[RANKS];
};

/* inout tile */
static int halve(const PTOArg *a)
{
    for (int64_t i = 0; i < WIDTH; i++) ((double *)a[0].ptr)[i] *= 0.5;
    return 0;
}
static const PTOKernel halves = {.name = "halve", .worker = PTO_WORKER_VECTOR, .fn = halve};

enum { NOT_SKIPPED = -1000 };
static int64_t refuse(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    (void)o, (void)kernel, (void)params, (void)count;
    return NOT_SKIPPED;
}

static int home_of(int64_t tile) { return (int)(tile % RANKS); }

/* true: it was skipped, or held back in one pass. */
static bool submit(PTORuntime *rt, const struct program *p, const PTOKernel *kernel, const PTOTaskParam *params,
                   int32_t count, int64_t *number)
{
    const int64_t skipped = p->rank < 0 ? NOT_SKIPPED : ptoi_dist_skip(rt->dist, kernel, params, count, refuse);
    if (skipped != NOT_SKIPPED) EXPECT_EQ(skipped, *number);
    if (skipped == NOT_SKIPPED && pto_submit_task(rt, kernel, params, count) != *number) _exit(4);
    ++*number;
    return skipped != NOT_SKIPPED;
}

/* The first task of a kernel is looked at, and the first one that writes the matrix.  All ranks are one line. */
static void count_task(const struct program *p, bool is_skipped, bool is_expected)
{
    if (p->rank < 0) return;
    p->shared->skipped[p->rank] += is_skipped;
    p->shared->expected[p->rank] += is_expected;
}

/* Another buffer of the tile is made, added and released; now and then the first one is released before it. */
static void make_another(PTORuntime *rt, const struct program *p, int64_t n, const PTOTaskParam *makes,
                         const PTOTaskParam *adds_it, void **made, int64_t *number)
{
    void *another = NULL;
    PTOTaskParam second[] = {makes[0], PTO_OUTPUT(&another, 0, PTO_ARRAY(PTO_F64, WIDTH))};
    PTOTaskParam reads[] = {PTO_INPUT_OF(NULL, 0, PTO_ARRAY(PTO_F64, WIDTH)), adds_it[1], adds_it[2]};
    submit(rt, p, &copies, second, 2, number);
    reads[0].buffer = another;
    submit(rt, p, &adds, reads, 3, number);
    if (n % 3 == 0) pto_release(rt, *made), *made = NULL;
    if (n % 5 != 0) pto_release(rt, another);
}

static void orchestrate(PTORuntime *rt, void *arg)
{
    static double registered[TASKS];
    struct program *p = arg;
    int64_t number = 0;
    rng_state = 7;
    for (int64_t n = 0; n < TASKS; n++) {
        const int64_t from = pick(0, TILES - 1), to = pick(0, TILES - 1);
        const bool is_far = home_of(from) != p->rank, are_far = is_far && home_of(from) == home_of(to);
        PTOTaskParam params[] = {
            PTO_INPUT(p->shared->reads_results ? p->c : p->a, from * WIDTH, PTO_ARRAY(PTO_F64, WIDTH)),
            PTO_INOUT(p->c, to * WIDTH, PTO_ARRAY(PTO_F64, WIDTH)), PTO_SCALAR(n % 5)};
        void *made = NULL;
        PTOTaskParam makes[] = {params[0], PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F64, WIDTH))};
        PTOTaskParam reads[] = {PTO_INPUT_OF(NULL, 0, PTO_ARRAY(PTO_F64, WIDTH))};
        if (p->shared->makes_buffers) {
            pto_scope_begin(rt);
            const bool is_held = submit(rt, p, &copies, makes, 2, &number);
            count_task(p, is_held, n > 0 && is_far);
            reads[0].buffer = made;
            params[0] = reads[0];
            if (p->shared->registers && n % 4 == 0) pto_buffer(rt, &registered[n], sizeof registered[n]);
        }
        if (p->shared->writes_twice) {
            PTOTaskParam writes[] = {PTO_INOUT(made, 0, PTO_ARRAY(PTO_F64, WIDTH))};
            submit(rt, p, &halves, writes, 1, &number); /* it says where the buffer lives */
            count_task(p, submit(rt, p, &halves, writes, 1, &number), is_far);
        }
        count_task(p, submit(rt, p, &adds, params, 3, &number), n > 0 && are_far);
        if (p->shared->makes_two) make_another(rt, p, n, makes, params, &made, &number);
        if (p->shared->reads_again && made) {
            params[1] = (PTOTaskParam)PTO_INOUT(p->c, pick(0, TILES - 1) * WIDTH, PTO_ARRAY(PTO_F64, WIDTH));
            submit(rt, p, &adds, params, 3, &number);
        }
        if (p->shared->makes_buffers) pto_scope_end(rt);
    }
}

/* The same kernel makes a buffer, writes it again, and makes another one, whose parameter names the first as well. */
static void make_alternately(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    int64_t number = 0;
    rng_state = 11;
    for (int64_t n = 0; n < TASKS / 4; n++) {
        void *made = NULL, *other = NULL;
        PTOTaskParam makes[] = {PTO_INPUT(p->a, pick(0, TILES - 1) * WIDTH, PTO_ARRAY(PTO_F64, WIDTH)),
                                PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F64, WIDTH))};
        PTOTaskParam params[] = {PTO_INPUT(NULL, 0, PTO_ARRAY(PTO_F64, WIDTH)),
                                 PTO_INOUT(p->c, pick(0, TILES - 1) * WIDTH, PTO_ARRAY(PTO_F64, WIDTH)),
                                 PTO_SCALAR(n % 5)};
        pto_scope_begin(rt);
        for (int use = 0; use < 3; use++) {
            if (use == 2) makes[1].buffer = made, makes[1].ref = &other;
            submit(rt, p, &copies, makes, 2, &number);
            params[0].buffer = use == 2 ? other : made;
            if (!params[0].buffer) _exit(5);
            submit(rt, p, &adds, params, 3, &number);
        }
        pto_scope_end(rt);
    }
}

/* The results are those of one rank, and the ranks agree. */
static struct shared *run_tasks(struct shared what, void (*tasks)(PTORuntime *rt, void *program))
{
    static struct shared *s;
    if (!s) s = ranks_share(sizeof *s);
    *s = what;
    run_arrays((struct two_arrays){
        .ranks = RANKS, .numbers = CELLS, .cell = WIDTH, .orchestrate = tasks, .shared = s, .result = s->result});
    return s;
}
static struct shared *run(struct shared what) { return run_tasks(what, orchestrate); }

TEST(a_task_of_which_a_rank_needs_nothing_is_skipped)
{
    const struct shared *s = run((struct shared){.makes_buffers = false});
    for (int k = 0; k < RANKS; k++) {
        EXPECT(s->expected[k] > TASKS / 10);
        EXPECT_EQ(s->skipped[k], s->expected[k]);
    }
}

/* A rank that has a copy of what the task writes must forget it. */
TEST(a_write_to_bytes_of_which_there_are_copies_is_not_skipped)
{
    const struct shared *s = run((struct shared){.reads_results = true});
    for (int k = 0; k < RANKS; k++) {
        EXPECT(s->skipped[k] > 0);
        EXPECT(s->skipped[k] < s->expected[k]);
    }
}

/* Tasks that make buffers are held back in one pass, and skipped with the task that reads these. */
TEST(tasks_with_a_buffer_between_them_are_skipped)
{
    const struct shared *s = run((struct shared){.makes_buffers = true});
    for (int k = 0; k < RANKS; k++) {
        EXPECT(s->expected[k] > TASKS / 2);
        EXPECT_EQ(s->skipped[k], s->expected[k]);
    }
}

TEST(tasks_that_write_a_made_buffer_are_skipped)
{
    const struct shared *s = run((struct shared){.makes_buffers = true, .writes_twice = true});
    for (int k = 0; k < RANKS; k++) {
        EXPECT(s->expected[k] > TASKS);
        EXPECT(s->skipped[k] > s->expected[k] * 9 / 10);
        EXPECT(s->skipped[k] <= s->expected[k]);
    }
}

TEST(a_made_buffer_whose_maker_reads_copies_is_right)
{
    const struct shared *s = run((struct shared){.makes_buffers = true, .reads_results = true});
    for (int k = 0; k < RANKS; k++) EXPECT(s->skipped[k] > 0);
}

/* A rank that has skipped the maker knows the buffer when it receives it; one that ends earlier leaves nothing. */
TEST(a_buffer_that_was_skipped_is_received_and_released)
{
    for (int what = 1; what < 4; what++) {
        const struct shared *s =
            run((struct shared){.makes_buffers = true, .reads_again = what & 1, .makes_two = what & 2});
        for (int k = 0; k < RANKS; k++) EXPECT(s->skipped[k] > 0);
    }
}

/* What is known of a kernel is forgotten while a task of it is held back. */
TEST(memory_may_be_registered_between_a_maker_and_its_reader)
{
    const struct shared *s = run((struct shared){.makes_buffers = true, .registers = true});
    for (int k = 0; k < RANKS; k++) EXPECT(s->skipped[k] > 0);
}

TEST(a_kernel_that_makes_and_writes_buffers_alternately_is_right)
{
    run_tasks((struct shared){.makes_buffers = true}, make_alternately);
}
