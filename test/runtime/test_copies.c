/* test_copies.c - the copies of each rank against a table of every element.
 * Idea       each of several ranks keeps its own struct copies and is given the same reads and writes.  A table says
 *            for every element which ranks have its newest value, and what each rank holds. */
#include "dist/copies.h"
#include "unit.h"
#include <string.h>

enum { RANKS = 8, SIDE = 6, TENSORS = 3, ELEMENTS = SIDE * SIDE, STEPS = 6000 };

static uint64_t state = 7;
static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

struct world {
    struct distribution d;
    struct copies copies[RANKS];
    struct tensor_copies tensor[RANKS][TENSORS];
    int64_t newest[TENSORS][ELEMENTS];
    int64_t value[RANKS][TENSORS][ELEMENTS]; /* that the rank has: a copy, or old bytes */
    int64_t messages, relayed, serial;
};

static void open_world(struct world *w, int64_t limit)
{
    *w = (struct world){.d = {.rank = 2, .unit = 8, .shape = {SIDE, SIDE}, .cell = {2, 3}, .grid = {2, 2}}};
    for (int r = 0; r < RANKS; r++) EXPECT(ptoi_copies_init(&w->copies[r], r, RANKS, limit));
}

static void close_world(struct world *w)
{
    for (int r = 0; r < RANKS; r++) ptoi_copies_free(&w->copies[r]);
}

static struct box any_box(void)
{
    struct box b = {{0}, {0}};
    for (int k = 0; k < 2; k++) {
        b.low[k] = below(SIDE);
        b.high[k] = b.low[k] + 1 + below(SIDE - b.low[k]);
    }
    return b;
}

static void read_box(struct world *w, int t, const struct box *b, int reader)
{
    struct box piece = {{0}, {0}};
    int32_t home;
    for (struct pieces p = ptoi_pieces(&w->d, b, RANKS); ptoi_next_piece(&p, &piece, &home);) {
        if (home == reader) continue;
        const bool at_home = ptoi_copies_hold(&w->copies[home], &w->tensor[home][t], &w->d, home, reader, &piece);
        const int source = ptoi_copies_source(&w->copies[home], &w->tensor[home][t], &w->d, home, reader, &piece);
        for (int r = 0; r < RANKS; r++) { /* so the one sends what the other receives */
            const struct tensor_copies *at = &w->tensor[r][t];
            if (!ptoi_copies_keep(&w->copies[r], home, reader)) continue;
            EXPECT_EQ(ptoi_copies_hold(&w->copies[r], at, &w->d, home, reader, &piece), at_home);
            EXPECT(at_home || ptoi_copies_source(&w->copies[r], at, &w->d, home, reader, &piece) == source);
        }
        EXPECT(ptoi_copies_keep(&w->copies[source], home, reader));
        for (int r = 0; r < RANKS; r++)
            EXPECT(at_home || ptoi_copies_add(&w->copies[r], &w->tensor[r][t], &w->d, home, reader, &piece));
        if (at_home) continue;
        w->messages++;
        w->relayed += source != home;
        for (int64_t i = piece.low[0]; i < piece.high[0]; i++)
            for (int64_t j = piece.low[1]; j < piece.high[1]; j++)
                w->value[reader][t][i * SIDE + j] = w->value[source][t][i * SIDE + j];
    }
    for (int64_t i = b->low[0]; i < b->high[0]; i++)
        for (int64_t j = b->low[1]; j < b->high[1]; j++)
            EXPECT_EQ(w->value[reader][t][i * SIDE + j], w->newest[t][i * SIDE + j]);
}

static void write_box(struct world *w, int t, const struct box *b, int writer)
{
    struct box piece = {{0}, {0}};
    int32_t home;
    for (int64_t i = b->low[0]; i < b->high[0]; i++)
        for (int64_t j = b->low[1]; j < b->high[1]; j++)
            w->value[writer][t][i * SIDE + j] = w->newest[t][i * SIDE + j] = ++w->serial;
    const bool is_one = ptoi_home_of_box(&w->d, RANKS, b) != NO_HOME;
    for (int r = 0; r < RANKS; r++)
        EXPECT(ptoi_copies_write(&w->copies[r], &w->tensor[r][t], &w->d, b, is_one, writer));
    for (struct pieces p = ptoi_pieces(&w->d, b, RANKS); ptoi_next_piece(&p, &piece, &home);) {
        if (home == writer) continue;
        for (int r = 0; r < RANKS; r++)
            EXPECT(ptoi_copies_add(&w->copies[r], &w->tensor[r][t], &w->d, home, writer, &piece));
        for (int64_t i = piece.low[0]; i < piece.high[0]; i++)
            for (int64_t j = piece.low[1]; j < piece.high[1]; j++)
                w->value[home][t][i * SIDE + j] = w->value[writer][t][i * SIDE + j];
    }
}

/* The bytes of a pair are the same on all ranks that keep it, and not above the limit. */
static void check_pairs(const struct world *w)
{
    for (int home = 0; home < RANKS; home++)
        for (int holder = 0; holder < RANKS; holder++) {
            const int pair = home * RANKS + holder;
            const int64_t here = w->copies[home].pair[pair].bytes;
            for (int r = 0; r < RANKS && home != holder; r++)
                EXPECT_EQ(w->copies[r].pair[pair].bytes, ptoi_copies_keep(&w->copies[r], home, holder) ? here : 0);
            EXPECT(here <= w->copies[home].limit);
        }
}

static void run_steps(int64_t limit)
{
    static struct world w;
    open_world(&w, limit);
    for (int n = 0; n < STEPS; n++) {
        const int t = (int)below(TENSORS), rank = (int)below(RANKS), choice = (int)below(100);
        const struct box b = any_box();
        if (choice < 70)
            read_box(&w, t, &b, rank);
        else if (choice < 96)
            write_box(&w, t, &b, rank);
        else if (choice < 98)
            for (int r = 0; r < RANKS; r++) ptoi_copies_end(&w.copies[r], &w.tensor[r][t]);
        else
            for (int r = 0; r < RANKS; r++) { /* the program writes it on all ranks */
                const struct box all = {{0}, {SIDE, SIDE}};
                for (int i = 0; i < ELEMENTS; i++) w.value[r][t][i] = w.newest[t][i] = -n;
                EXPECT(ptoi_copies_add_everywhere(&w.copies[r], &w.tensor[r][t], &w.d, &all));
            }
        struct copy forgotten;
        for (int r = 0; r < RANKS; r++)
            while (ptoi_copies_forget(&w.copies[r], &forgotten)) EXPECT(forgotten.bytes > 0);
        check_pairs(&w);
    }
    EXPECT(w.messages > STEPS / 10);
    EXPECT(limit == 0 || w.relayed > 0);
    for (int r = 0; r < RANKS; r++) EXPECT(limit > 1000 || w.copies[r].forgotten_bytes > 0);
    close_world(&w);
}

TEST(copies_hold_what_is_newest)
{
    run_steps(1 << 20);
}
TEST(copies_are_forgotten_alike)
{
    run_steps(100);
}
TEST(no_copy_is_kept_at_all)
{
    run_steps(0);
}

/* A write ends the part of a copy that it overlaps, and only that. */
TEST(a_write_ends_a_part_of_a_copy)
{
    const struct distribution d = {.rank = 2, .unit = 8, .shape = {8, 8}, .cell = {8, 8}, .grid = {1, 1}};
    struct copies c;
    struct tensor_copies t = {0};
    EXPECT(ptoi_copies_init(&c, 1, 2, 1 << 20));
    const struct box all = {{0}, {8, 8}}, middle = {{3, 3}, {5, 5}}, above = {{0, 0}, {3, 8}}, left = {{3, 0}, {5, 3}},
                     across = {{2, 2}, {4, 4}};
    EXPECT(ptoi_copies_add(&c, &t, &d, 0, 1, &all));
    EXPECT(ptoi_copies_hold(&c, &t, &d, 0, 1, &across));
    EXPECT(ptoi_copies_write(&c, &t, &d, &middle, false, 0));
    EXPECT(!ptoi_copies_hold(&c, &t, &d, 0, 1, &middle));
    EXPECT(!ptoi_copies_hold(&c, &t, &d, 0, 1, &across));
    EXPECT(ptoi_copies_hold(&c, &t, &d, 0, 1, &above));
    EXPECT(ptoi_copies_hold(&c, &t, &d, 0, 1, &left));
    EXPECT_EQ(c.pair[1].bytes, (64 - 4) * 8);
    EXPECT(ptoi_copies_write(&c, &t, &d, &all, false, 1)); /* its own: nothing ends */
    EXPECT_EQ(c.pair[1].bytes, (64 - 4) * 8);
    EXPECT(ptoi_copies_write(&c, &t, &d, &all, false, 0));
    EXPECT_EQ(c.pair[1].bytes, 0);
    EXPECT_EQ(t.all.first, 0);
    ptoi_copies_free(&c);
}

/* One home, 31 readers of its row: the home sends to 16 of them, each of these to at most one. */
TEST(half_of_a_line_serves_the_other_half)
{
    enum { LINE = 32, ALL = LINE * LINE, HOME = 3 * LINE + 7 };
    const struct distribution d = {.rank = 1, .unit = 8, .shape = {64}, .cell = {64}, .grid = {1}, .first = HOME};
    const struct box all = {{0}, {64}};
    struct copies c;
    struct tensor_copies t = {0};
    int depth[ALL] = {0}, sends[ALL] = {0}, deepest = 0;
    EXPECT(ptoi_copies_init(&c, ALL_RANKS, ALL, 1 << 20));
    for (int k = 0; k < LINE; k++) {
        const int reader = 3 * LINE + k;
        if (reader == HOME) continue;
        const int source = ptoi_copies_source(&c, &t, &d, HOME, reader, &all);
        EXPECT(source == HOME || ptoi_copies_hold(&c, &t, &d, HOME, source, &all));
        sends[source]++;
        EXPECT(source == HOME || sends[source] == 1);
        depth[reader] = depth[source] + 1;
        if (depth[reader] > deepest) deepest = depth[reader];
        EXPECT(ptoi_copies_add(&c, &t, &d, HOME, reader, &all));
    }
    EXPECT_EQ(sends[HOME], 16);
    EXPECT_EQ(deepest, 2);
    EXPECT_EQ(ptoi_copies_source(&c, &t, &d, HOME, 4 * LINE + 8, &all), HOME); /* no line has both */
    EXPECT_EQ(ptoi_copies_source(&c, &t, &d, HOME, 4 * LINE + 7, &all), HOME); /* the first of its column */
    ptoi_copies_free(&c);
}
