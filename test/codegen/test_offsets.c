/* test_offsets.c - random lifetimes: no two that meet overlap, few are placed as well as any answer can be, and many
 * never worse than greedily.
 * Idea       the best answer is found again by trying all orders of placing; an order ends only where it is no better
 *            already.
 */
#include "unit.h"

#include "passes/offsets.h"
#include <stdbool.h>
#include <string.h>

enum { MANY = 200, ALL_ORDERS = 8 };

static uint64_t seed = 1;

static int below(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static void make(struct offset *list, int count)
{
    for (int i = 0; i < count; i++) {
        const int first = below(count), length = below(count / 2 + 1);
        list[i] = (struct offset){first, first + length, 64 * (1 + below(below(2) ? 4 : 64)), -1};
    }
}

static bool meet(const struct offset *a, const struct offset *b) { return a->first <= b->last && b->first <= a->last; }

static void expect_valid(const struct offset *list, int count, int64_t bytes)
{
    int64_t top = 0;
    for (int i = 0; i < count; i++) {
        EXPECT(list[i].at >= 0);
        if (list[i].at + list[i].bytes > top) top = list[i].at + list[i].bytes;
        for (int k = 0; k < i; k++)
            EXPECT(!meet(&list[i], &list[k]) || list[i].at + list[i].bytes <= list[k].at ||
                   list[k].at + list[k].bytes <= list[i].at);
    }
    EXPECT(top == bytes);
}

/* All orders, each tensor at the lowest offset that is free. */
static void try_all(struct offset *list, int count, unsigned placed, int64_t top, int64_t *best)
{
    if (top >= *best) return;
    if (placed == (1U << count) - 1) *best = top;
    for (int n = 0; n < count; n++) {
        if (placed >> n & 1) continue;
        int64_t at = 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (int k = 0; k < count; k++)
                if ((placed >> k & 1) && meet(&list[k], &list[n]) && list[k].at < at + list[n].bytes &&
                    at < list[k].at + list[k].bytes)
                    at = list[k].at + list[k].bytes, moved = true;
        }
        list[n].at = at;
        try_all(list, count, placed | 1U << n, at + list[n].bytes > top ? at + list[n].bytes : top, best);
    }
}

TEST(few_are_placed_as_well_as_any_answer_can_be)
{
    for (int round = 0; round < 2000; round++) {
        struct offset list[ALL_ORDERS], copy[ALL_ORDERS];
        const int count = 1 + below(ALL_ORDERS);
        make(list, count);
        memcpy(copy, list, sizeof copy);
        int64_t best = INT64_MAX;
        try_all(copy, count, 0, 0, &best);
        const int64_t bytes = offsets_place(list, (size_t)count);
        expect_valid(list, count, bytes);
        EXPECT(bytes == best);
    }
}

TEST(never_above_greedy_by_size)
{
    int better = 0;
    for (int round = 0; round < 400; round++) {
        struct offset list[MANY], greedy[MANY];
        const int count = round % 2 ? 1 + below(OFFSETS_EXACT) : 1 + below(MANY);
        make(list, count);
        memcpy(greedy, list, sizeof list);
        const int64_t bytes = offsets_place(list, (size_t)count);
        const int64_t most = offsets_place_greedily(greedy, (size_t)count);
        expect_valid(list, count, bytes);
        expect_valid(greedy, count, most);
        EXPECT(bytes <= most);
        better += bytes < most;
    }
    EXPECT(better > 0);
}

TEST(edges)
{
    struct offset list[OFFSETS_EXACT];
    EXPECT(offsets_place(list, 0) == 0);
    for (int i = 0; i < OFFSETS_EXACT; i++) list[i] = (struct offset){0, 0, 0, -1}; /* nothing takes no place */
    EXPECT(offsets_place(list, OFFSETS_EXACT) == 0);
    for (int i = 0; i < OFFSETS_EXACT; i++) list[i] = (struct offset){i, i + 1, 64, -1};
    EXPECT(offsets_place(list, OFFSETS_EXACT) == 128);
    list[0].bytes = list[1].bytes = INT64_MAX;
    EXPECT(offsets_place(list, OFFSETS_EXACT) == -1);
}
