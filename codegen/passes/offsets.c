/* offsets.c - places in one piece of memory for tensors of which some are never alive together, in as few bytes as
 * possible: the problem of dynamic storage allocation.
 * Idea       greedy by decreasing size: each tensor takes the smallest gap that has room for it between those that are
 *            alive with it and have a place.  Few tensors are then placed by an exact search, branch and bound.
 * Source     Y. Pisarchyk, J. Lee: Efficient Memory Management for Deep Neural Net Inference (2020), section 5.2
 *            "greedy by size for offset calculation", as in TensorFlow Lite; the problem is NP-hard (Garey and
 *            Johnson 1979, problem SR2), so the search ends at OFFSETS_EXACT tensors.
 * Invariant  two tensors that are alive together share no byte.
 * Tests      test/codegen/test_offsets.c
 *
 * Note [bottom first]: in some best answer each tensor lies at 0 or on one that is alive with it, since it can be
 * moved down otherwise.  Placed in the order of their offsets, each lies at the highest end of those that are alive
 * with it and have a place.  So the search tries orders, not offsets, and drops an order whose offsets decrease.
 */
#include "offsets.h"
#include <stdbool.h>
#include <stdlib.h>

static bool meet(const struct offset *a, const struct offset *b) { return a->first <= b->last && b->first <= a->last; }

static int64_t end_of(const struct offset *o) { return o->at + o->bytes; }

/* ---- greedy ---- */

static int by_decreasing_size(const void *pa, const void *pb)
{
    const struct offset *a = *(struct offset *const *)pa, *b = *(struct offset *const *)pb;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return (a > b) - (a < b);
}

/* The smallest gap between those that are alive with o; `placed` is in the order of offsets. */
static int64_t best_gap(struct offset *const *placed, size_t count, const struct offset *o)
{
    int64_t best = -1, best_room = INT64_MAX, end = 0; /* end: of all that were looked at */
    for (size_t i = 0; i < count; i++) {
        if (!meet(placed[i], o)) continue;
        const int64_t room = placed[i]->at - end;
        if (room >= o->bytes && room < best_room) best = end, best_room = room;
        if (end_of(placed[i]) > end) end = end_of(placed[i]);
    }
    return best >= 0 ? best : end;
}

int64_t offsets_place_greedily(struct offset *list, size_t count)
{
    struct offset **order = malloc(2 * (count + 1) * sizeof(struct offset *));
    if (!order) return -1;
    struct offset **placed = order + count; /* in the order of offsets */
    int64_t top = 0, sum = 0;
    for (size_t i = 0; i < count && top >= 0; i++) {
        order[i] = &list[i];
        if (__builtin_add_overflow(sum, list[i].bytes, &sum)) top = -1;
    }
    if (top >= 0 && count > 0) qsort(order, count, sizeof *order, by_decreasing_size);
    for (size_t i = 0; i < count && top >= 0; i++) {
        struct offset *o = order[i];
        o->at = best_gap(placed, i, o);
        if (end_of(o) > top) top = end_of(o);
        size_t k = i;
        for (; k > 0 && placed[k - 1]->at > o->at; k--) placed[k] = placed[k - 1];
        placed[k] = o;
    }
    free(order);
    return top;
}

/* ---- exact ---- */

struct search {
    struct offset *list;
    int count;
    int64_t at[OFFSETS_EXACT]; /* on the way */
    unsigned placed;           /* a bit for each */
    int64_t best, least;       /* the best answer so far; no answer has fewer bytes */
};

/* No answer that goes on from here has fewer bytes: slots not yet placed lie at `from` or above, and above the placed
 * slots that are alive with them. */
static int64_t least_from_here(const struct search *s, int64_t from)
{
    int64_t most = 0;
    for (int i = 0; i < s->count; i++) { /* where most are alive, one begins */
        int64_t bytes = 0, end = from;
        for (int k = 0; k < s->count; k++) {
            const struct offset *o = &s->list[k];
            if (o->first > s->list[i].first || o->last < s->list[i].first) continue;
            const bool is_placed = s->placed >> k & 1;
            if (!is_placed) bytes += o->bytes;
            if (is_placed && s->at[k] + o->bytes > end) end = s->at[k] + o->bytes;
        }
        if (bytes > 0 && end + bytes > most) most = end + bytes;
    }
    return most;
}

static int64_t lowest(const struct search *s, int n)
{
    int64_t at = 0;
    for (int k = 0; k < s->count; k++)
        if ((s->placed >> k & 1) && meet(&s->list[k], &s->list[n]) && s->at[k] + s->list[k].bytes > at)
            at = s->at[k] + s->list[k].bytes;
    return at;
}

/* from, after: offset and number of the one that was placed last; see Note [bottom first]. */
static void go_on(struct search *s, int64_t from, int after, int64_t top)
{
    if (s->placed == (1U << s->count) - 1) {
        s->best = top;
        for (int i = 0; i < s->count; i++) s->list[i].at = s->at[i];
        return;
    }
    if (least_from_here(s, from) >= s->best) return;
    for (int n = 0; n < s->count && s->best > s->least; n++) {
        if (s->placed >> n & 1) continue;
        const int64_t at = lowest(s, n), end = at + s->list[n].bytes;
        if (at < from || (at == from && n < after) || end >= s->best) continue;
        s->at[n] = at;
        s->placed |= 1U << n;
        go_on(s, at, n, end > top ? end : top);
        s->placed &= ~(1U << n);
    }
}

int64_t offsets_place(struct offset *list, size_t count)
{
    struct search s = {.list = list, .count = (int)count, .best = offsets_place_greedily(list, count)};
    if (s.best < 0 || count > OFFSETS_EXACT) return s.best;
    s.least = least_from_here(&s, 0);
    if (s.best > s.least) go_on(&s, 0, 0, 0);
    return s.best;
}
