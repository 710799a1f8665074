/* frames_offsets.c - --plan=min: where each tensor of a function lies in the smallest frame.
 * Idea       any two tensors whose lifetimes do not meet may share bytes.  Where all sizes are multiples of one size,
 *            offsets.c places the multiples; other sizes are placed largest first, each at the lowest offset that is
 *            proved to be free.  Tensors that begin at one offset are a slot.
 * Tests      test/lit/memory/min.pto, min.test, plans.test
 */
#include "frames_parts.h"
#include "offsets.h"
#include "support/arena.h"
#include <stdlib.h>

enum {
    MAX_PROVED = 32,    /* offsets that are compared for one tensor of a size in several names */
    MAX_SIZE_NODES = 64 /* an offset of more is not used */
};

struct placing {
    struct walk *walk;
    struct lifetime *list;
    size_t count;
    const struct size **at, **end; /* of each; NULL: it has no place */
    const struct size *top;        /* the highest end */
    struct offset *multiples;      /* where all sizes are multiples of one; NULL: they are not */
    size_t *known;                 /* room for `count` numbers */
};

static bool are_together(const struct lifetime *a, const struct lifetime *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static bool is_at_most(const struct placing *p, const struct size *a, const struct size *b)
{
    const struct size *difference = size_sub(p->walk->sizes, a, b);
    return difference && range_of_size(&p->walk->plan->ranges, difference).hi <= 0;
}

/* ---- multiples of one size ---- */

/* The size of which all are multiples; NULL with *is_common: they are constants. */
static const struct size *common_unit(const struct placing *p, bool *is_common)
{
    const struct size *unit = NULL;
    *is_common = true;
    for (size_t i = 0; i < p->count && *is_common; i++) {
        struct size_term term;
        const bool is_product = p->list[i].plan->room->kind != SIZE_ADD;
        *is_common = is_product && size_terms(p->walk->sizes, p->list[i].plan->room, &term, 1) == 1 &&
                     term.factor >= 0 && (i == 0 || term.mono == unit);
        if (*is_common) unit = term.mono;
    }
    return unit;
}

static const struct size *multiple(const struct placing *p, const struct size *unit, int64_t factor)
{
    struct size_table *sizes = p->walk->sizes;
    return unit ? size_scale(sizes, unit, factor) : size_const(sizes, factor);
}

static void place_multiples(struct placing *p, const struct size *unit)
{
    struct offset *offsets = p->multiples = arena_array(p->walk->plan->mem, struct offset, p->count);
    for (size_t i = 0; i < p->count; i++) {
        struct size_term term;
        size_terms(p->walk->sizes, p->list[i].plan->room, &term, 1);
        offsets[i] = (struct offset){p->list[i].first, p->list[i].last, term.factor, 0};
    }
    const int64_t bytes = offsets_place(offsets, p->count);
    for (size_t i = 0; i < p->count && bytes >= 0; i++) p->at[i] = multiple(p, unit, offsets[i].at);
    if (bytes >= 0) p->top = multiple(p, unit, bytes);
}

/* ---- sizes in several names ---- */

static bool is_proved_free(const struct placing *p, const size_t *others, size_t count, const struct size *at,
                           const struct size *end)
{
    for (size_t k = 0; k < count; k++)
        if (!is_at_most(p, p->end[others[k]], at) && !is_at_most(p, end, p->at[others[k]])) return false;
    return true;
}

/* The lowest offset of those known that is proved to be free, or else the end of all `others`. */
static const struct size *free_offset(const struct placing *p, const size_t *others, size_t count,
                                      const struct size *bytes)
{
    struct size_table *sizes = p->walk->sizes;
    const struct size *zero = size_const(sizes, 0), *best = NULL, *end_of_all = zero;
    if (count > MAX_PROVED) return p->top;
    for (size_t k = 0; k <= count; k++) {
        const struct size *at = k < count ? p->end[others[k]] : zero, *end = size_binary(sizes, SIZE_ADD, at, bytes);
        const bool is_lower = end && (!best || is_at_most(p, at, best));
        if (is_lower && is_proved_free(p, others, count, at, end)) best = at;
    }
    for (size_t k = 0; k < count && !best && end_of_all; k++)
        end_of_all = is_at_most(p, p->end[others[k]], end_of_all)
                         ? end_of_all
                         : size_binary(sizes, SIZE_MAXIMUM, end_of_all, p->end[others[k]]);
    return best ? best : end_of_all;
}

struct ranked {
    size_t number;
    struct interval bytes;
};

static int by_decreasing_size(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    if (a->bytes.hi != b->bytes.hi) return a->bytes.hi > b->bytes.hi ? -1 : 1;
    if (a->bytes.lo != b->bytes.lo) return a->bytes.lo > b->bytes.lo ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool is_short(const struct size *s) { return s && size_node_count(s, MAX_SIZE_NODES) < MAX_SIZE_NODES; }

static void place_sizes(struct placing *p)
{
    struct walk *w = p->walk;
    struct ranked *order = arena_array(w->plan->mem, struct ranked, p->count);
    size_t *others = arena_array(w->plan->mem, size_t, p->count);
    p->top = size_const(w->sizes, 0);
    for (size_t i = 0; i < p->count; i++)
        order[i] = (struct ranked){i, range_of_size(&w->plan->ranges, p->list[i].plan->room)};
    qsort(order, p->count, sizeof *order, by_decreasing_size);
    for (size_t i = 0; i < p->count; i++) {
        const size_t n = order[i].number;
        size_t count = 0;
        for (size_t k = 0; k < i; k++)
            if (p->at[order[k].number] && are_together(&p->list[n], &p->list[order[k].number]))
                others[count++] = order[k].number;
        const struct size *at = free_offset(p, others, count, p->list[n].plan->room);
        const struct size *end = at ? size_binary(w->sizes, SIZE_ADD, at, p->list[n].plan->room) : NULL;
        const struct size *top = !end || is_at_most(p, end, p->top) ? p->top
                                 : is_at_most(p, p->top, end)       ? end
                                                                    : size_binary(w->sizes, SIZE_MAXIMUM, p->top, end);
        if (!is_short(end) || !is_short(top)) continue;
        p->at[n] = at;
        p->end[n] = end;
        p->top = top;
    }
}

/* ---- slots and waits ---- */

static int slot_at(struct frame_plan *out, const struct size *at)
{
    for (size_t i = 0; i < out->slots.count; i++)
        if (out->slots.data[i].at == at) return (int)i;
    vec_push(&out->slots, ((struct slot){at, NULL}));
    return (int)out->slots.count - 1;
}

static bool share_bytes(const struct placing *p, size_t a, size_t b)
{
    if (p->multiples) {
        const struct offset *x = &p->multiples[a], *y = &p->multiples[b];
        return x->at < y->at + y->bytes && y->at < x->at + x->bytes;
    }
    return !is_at_most(p, p->end[a], p->at[b]) && !is_at_most(p, p->end[b], p->at[a]);
}

/* The last task that touches `before`, and that the first task of `l` does not wait for anyway; -1: there is none. */
static int unordered_user(const struct walk *w, const struct lifetime *before, const struct lifetime *l)
{
    for (size_t u = before->home->users.count; u-- > 0;) {
        const int user = before->home->users.data[u];
        if (!frames_is_before(w, user, l->first)) return user;
    }
    return -1;
}

/* Tensor n takes bytes of earlier ones, and waits for them; with one of these it waits for those that lay in its bytes
 * before. */
static void note_waits(struct placing *p, size_t n)
{
    struct walk *w = p->walk;
    const struct lifetime *l = &p->list[n];
    size_t count = 0;
    for (size_t i = n; i-- > 0;) {
        const struct lifetime *before = &p->list[i];
        bool is_new = p->at[i] && before->last < l->first && share_bytes(p, i, n);
        for (size_t k = 0; k < count && is_new; k++)
            is_new = before->last >= p->list[p->known[k]].first || !share_bytes(p, i, p->known[k]);
        if (!is_new) continue;
        p->known[count++] = i;
        const int user = unordered_user(w, before, l);
        /* In a loop the next iteration's first use follows this iteration's last, whatever their textual order. */
        if (user < 0 && before->home->loop < 0 && l->home->loop < 0) continue;
        vec_push(&w->out->added, ((struct added_order){l->plan->tensor, before->plan->tensor, l->plan->first,
                                                       user >= 0 ? w->tasks.data[user]->at : before->plan->last}));
    }
}

void frames_make_offsets(struct walk *w, struct lifetime *list, size_t count)
{
    struct placing p = {.walk = w,
                        .list = list,
                        .count = count,
                        .at = arena_array(w->plan->mem, const struct size *, count + 1),
                        .end = arena_array(w->plan->mem, const struct size *, count + 1),
                        .known = arena_array(w->plan->mem, size_t, count + 1)};
    bool is_common;
    const struct size *unit = common_unit(&p, &is_common);
    if (count == 0) return;
    if (is_common)
        place_multiples(&p, unit);
    else
        place_sizes(&p);
    for (size_t i = 0; i < count; i++) {
        struct tensor_plan *t = list[i].plan;
        if (!p.at[i]) {
            t->why = "its offset is too long to be written";
            continue;
        }
        p.end[i] = size_binary(w->sizes, SIZE_ADD, p.at[i], t->room);
        t->slot = slot_at(w->out, p.at[i]);
        struct slot *slot = &w->out->slots.data[t->slot];
        if (!slot->bytes || !is_at_most(&p, t->room, slot->bytes)) slot->bytes = t->room;
        t->storage = STORAGE_SLOT;
        frames_note_loops(w, &list[i]);
        note_waits(&p, i);
    }
    w->out->bytes = w->out->slots.count > 0 ? p.top : NULL;
}
