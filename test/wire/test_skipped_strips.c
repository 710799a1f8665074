/* test_skipped_strips.c - a rank takes of an offer exactly the iterations before the first one that concerns it, and
 * comes back soon. */
#include "dist/known_step.h"
#include "two_arrays.h"

enum { RANKS = 3, WIDTH = 8, RUN = 6, TILES = 4 * RANKS * RUN, CELLS = TILES * WIDTH };

enum what { PLAIN, WITH_A_BUFFER, WHERE_A_TASK_IS_HELD, WATCHED, WITH_MESSAGES };

struct shared {
    enum what what;
    int64_t sweeps;
    int64_t iterations[RANKS], offers[RANKS];
    int64_t wrong[RANKS]; /* offers of which more or less was taken than should be */
    int64_t steps[RANKS];
    uint64_t hash[RANKS];
    double result[CELLS];
};

static const PTOSiteLine sites[2];

#define TILE_OF(kind, base, k) kind(base, (k)*WIDTH, PTO_ARRAY(PTO_F64, WIDTH))

static bool has_buffer(const struct program *p)
{
    return p->shared->what == WITH_A_BUFFER || p->shared->what == WHERE_A_TASK_IS_HELD;
}

/* From the tile that is read to the one that is written. */
static int64_t apart(const struct program *p) { return p->shared->what == WITH_MESSAGES ? RUN : 0; }

static void iterate(PTORuntime *rt, const struct program *p, int64_t k)
{
    void *made = NULL;
    if (has_buffer(p)) {
        pto_scope_begin(rt);
        pto_submit_task(rt, &copies,
                        (PTOTaskParam[]){TILE_OF(PTO_INPUT, p->a, k), PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F64, WIDTH))},
                        2);
        pto_submit_task(rt, &adds,
                        (PTOTaskParam[]){PTO_INPUT_OF(made, 0, PTO_ARRAY(PTO_F64, WIDTH)),
                                         TILE_OF(PTO_INOUT, p->c, k + apart(p)), PTO_SCALAR(k)},
                        3);
        pto_scope_end(rt);
    } else {
        pto_submit_task(
            rt, &adds,
            (PTOTaskParam[]){TILE_OF(PTO_INPUT, p->a, k), TILE_OF(PTO_INOUT, p->c, k + apart(p)), PTO_SCALAR(k)}, 3);
    }
}

static int64_t offer(PTORuntime *rt, const struct program *p, int64_t k, int64_t end, int64_t by)
{
    void *made = NULL;
    const int64_t step = by * WIDTH;
    if (!has_buffer(p))
        return pto_submit_strips(
            rt, k, end, by,
            (PTOStripCall[]){
                {&adds, &sites[0],
                 (PTOTaskParam[]){TILE_OF(PTO_INPUT, p->a, k), TILE_OF(PTO_INOUT, p->c, k + apart(p)), PTO_SCALAR(k)},
                 (int64_t[]){step, step, by}, 3}},
            1);
    return pto_submit_strips(rt, k, end, by,
                             (PTOStripCall[]){{&copies, &sites[0],
                                               (PTOTaskParam[]){TILE_OF(PTO_INPUT, p->a, k),
                                                                PTO_STRIP_PRIVATE(&made, 0, PTO_ARRAY(PTO_F64, WIDTH))},
                                               (int64_t[]){step, 0}, 2},
                                              {&adds, &sites[1],
                                               (PTOTaskParam[]){PTO_STRIP_INPUT(&made, 0, PTO_ARRAY(PTO_F64, WIDTH)),
                                                                TILE_OF(PTO_INOUT, p->c, k + apart(p)), PTO_SCALAR(k)},
                                               (int64_t[]){0, step, by}, 3}},
                             2);
}

static int home_of(int64_t tile) { return (int)(tile / RUN % RANKS); }

/* How many iterations from there on are others'. */
static int64_t others(const struct program *p, int64_t k, int64_t end, int64_t by)
{
    int64_t n = 0;
    if (apart(p) > 0) return 0; /* one of the two ranks is this one, or it keeps what they have of each other */
    for (; k != end && home_of(k) != p->rank; k += by) n++;
    return n;
}

/* Tiles from first to before end. */
static void run_loop(PTORuntime *rt, const struct program *p, int64_t first, int64_t end, int64_t by)
{
    struct shared *const s = p->shared;
    for (int64_t k = first; k != end;) {
        if (p->rank >= 0 && pto_takes_strips(rt) && k + by != end) {
            const int64_t next = offer(rt, p, k, end, by), taken = (next - k) / by;
            s->offers[p->rank]++;
            s->iterations[p->rank] += taken;
            s->wrong[p->rank] += taken != others(p, k, end, by);
            k = next;
        }
        for (const int64_t part = pto_next_offer(rt, k, end, by); k != part; k += by) iterate(rt, p, k);
    }
}

static void orchestrate(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    struct shared *const s = p->shared;
    for (int64_t k = 0; k < TILES - apart(p); k++) iterate(rt, p, k); /* the kernels are known, and all is written */
    for (int64_t n = 0; n < s->sweeps; n++) {
        void *made = NULL;
        if (s->what == WHERE_A_TASK_IS_HELD) {
            const int64_t far = RUN * ((p->rank + 1) % RANKS);
            pto_scope_begin(rt);
            pto_submit_task(
                rt, &copies,
                (PTOTaskParam[]){TILE_OF(PTO_INPUT, p->a, 0), PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F64, WIDTH))}, 2);
            if (p->rank >= 0) s->wrong[p->rank] += offer(rt, p, far, TILES, 1) != far;
            pto_scope_end(rt);
        }
        run_loop(rt, p, 0, TILES - apart(p), 1);
        run_loop(rt, p, TILES - apart(p) - 1, -1, -1);
    }
}

static void note_steps(PTORuntime *rt, const struct program *p)
{
    p->shared->steps[p->rank] = (int64_t)rt->dist->steps;
    p->shared->hash[p->rank] = rt->dist->hash;
}

/* The results are those of one rank, and the ranks agree. */
static struct shared *run(struct shared what)
{
    static struct shared *s;
    if (!s) s = ranks_share(sizeof *s);
    *s = what;
    run_arrays((struct two_arrays){.ranks = RANKS,
                                   .numbers = CELLS,
                                   .cell = RUN * WIDTH,
                                   .records = what.what == WATCHED ? 1000 : 0,
                                   .orchestrate = orchestrate,
                                   .look = note_steps,
                                   .shared = s,
                                   .result = s->result});
    for (int k = 1; k < RANKS; k++) EXPECT(s->hash[k] == s->hash[0]);
    return s;
}

TEST(an_offer_is_taken_up_to_the_first_iteration_of_this_rank)
{
    enum { SWEEPS = 20 };
    const struct shared *s = run((struct shared){.what = PLAIN, .sweeps = SWEEPS});
    for (int k = 0; k < RANKS; k++) {
        const int64_t mine = TILES / RANKS, others = TILES - mine;
        EXPECT_EQ(s->wrong[k], 0);
        EXPECT(s->iterations[k] > SWEEPS * 2 * others * 3 / 4); /* it comes back soon */
        EXPECT(s->offers[k] < SWEEPS * 2 * TILES / 2);          /* and does not ask in vain each time */
    }
}

TEST(iterations_with_a_buffer_of_their_own_are_taken)
{
    const struct shared *s = run((struct shared){.what = WITH_A_BUFFER, .sweeps = 20});
    for (int k = 0; k < RANKS; k++) {
        EXPECT_EQ(s->wrong[k], 0);
        EXPECT(s->iterations[k] > 20 * TILES);
    }
}

/* The loop's first task that writes anything else decides where the task runs that is held back. */
TEST(nothing_is_taken_while_a_task_is_held_back)
{
    const struct shared *s = run((struct shared){.what = WHERE_A_TASK_IS_HELD, .sweeps = 3});
    for (int k = 0; k < RANKS; k++) EXPECT_EQ(s->wrong[k], 0);
}

/* A record would lack the buffers and scopes of what is skipped in strips. */
TEST(a_run_that_is_recorded_has_no_strips)
{
    const struct shared *s = run((struct shared){.what = WATCHED, .sweeps = 2});
    for (int k = 0; k < RANKS; k++) EXPECT_EQ(s->offers[k], 0);
}

/* Ranks compare their hashes at the same steps, and the form of a kernel is written again: the loops have many more
 * steps than are kept. */
TEST(ranks_compare_hashes_between_strips)
{
    const struct shared *s = run((struct shared){.what = PLAIN, .sweeps = 1000});
    for (int k = 0; k < RANKS; k++) {
        EXPECT_EQ(s->steps[k], TILES + 2000 * TILES + 1);
        EXPECT(s->iterations[k] > 1000 * TILES);
        const int64_t compares = s->steps[k] / COMPARED_STEPS, forms = s->steps[k] * 4 / FORM_WORDS;
        EXPECT(s->wrong[k] <= 3 * (compares + forms)); /* a strip ends there, and a task or two are looked at */
    }
}

/* All ranks lie in one line, so each knows who has a piece. */
TEST(a_message_between_other_ranks_of_the_line_is_not_skipped)
{
    const struct shared *s = run((struct shared){.what = WITH_MESSAGES, .sweeps = 3});
    for (int k = 0; k < RANKS; k++) {
        EXPECT(s->offers[k] > 0);
        EXPECT_EQ(s->iterations[k], 0);
    }
}
