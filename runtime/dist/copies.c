/* copies.c - see copies.h. */
#include "copies.h"
#include <stdlib.h>

bool ptoi_copies_init(struct copies *c, int32_t me, int32_t ranks, int64_t limit)
{
    *c = (struct copies){.me = me, .ranks = ranks, .limit = limit};
    c->pair = calloc(2 * (size_t)ranks, sizeof *c->pair);
    return c->pair != NULL;
}

void ptoi_copies_free(struct copies *c)
{
    free(c->copy);
    free(c->pair);
    *c = (struct copies){0};
}

static struct copy *copy_at(const struct copies *c, uint32_t number) { return &c->copy[number - 1]; }

/* The pair of a copy; NULL: it has none. */
static struct copy_pair *pair_of(const struct copies *c, int32_t home, int32_t holder)
{
    if (home == EVERYWHERE) return NULL;
    return holder == c->me ? &c->pair[home] : &c->pair[c->ranks + holder];
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

#define LINK(c, number, member) (&copy_at(c, number)->member)

/* Before the copy `before`; 0: at the end. */
#define INSERT(c, list_, number, before, member)                                                                       \
    do {                                                                                                               \
        struct copy_list *list = (list_);                                                                              \
        const uint32_t previous = (before) ? LINK(c, before, member)->previous : list->last;                           \
        *LINK(c, number, member) = (struct copy_link){.next = (before), .previous = previous};                         \
        *(previous ? &LINK(c, previous, member)->next : &list->first) = (number);                                      \
        *((before) ? &LINK(c, before, member)->previous : &list->last) = (number);                                     \
    } while (0)

#define REMOVE(c, list_, number, member)                                                                               \
    do {                                                                                                               \
        struct copy_list *list = (list_);                                                                              \
        const struct copy_link at = *LINK(c, number, member);                                                          \
        *(at.previous ? &LINK(c, at.previous, member)->next : &list->first) = at.next;                                 \
        *(at.next ? &LINK(c, at.next, member)->previous : &list->last) = at.previous;                                  \
    } while (0)

/* 0: no memory.  Moves the copies. */
static uint32_t take_number(struct copies *c)
{
    if (c->unused) {
        const uint32_t number = c->unused;
        c->unused = copy_at(c, number)->of_tensor.next;
        return number;
    }
    if (c->count == c->capacity) {
        const uint32_t capacity = c->capacity ? 2 * c->capacity : 64;
        struct copy *copy = capacity > c->capacity ? realloc(c->copy, capacity * sizeof *copy) : NULL;
        if (!copy) return 0;
        c->copy = copy;
        c->capacity = capacity;
    }
    return ++c->count;
}

/* Puts a copy of the box before the copy `before` of the same tensor and pair; 0: as the newest. */
static bool put(struct copies *c, struct copy_list *tensor, const struct distribution *d, int32_t home, int32_t holder,
                const struct box *box, uint32_t before)
{
    const uint32_t number = take_number(c);
    if (!number) return false;
    struct copy_pair *pair = pair_of(c, home, holder);
    *copy_at(c, number) = (struct copy){.box = *box,
                                        .bytes = ptoi_box_elements(box, d->rank) * d->unit,
                                        .home = home,
                                        .holder = holder,
                                        .tensor = tensor};
    INSERT(c, tensor, number, before, of_tensor);
    if (!pair) return true;
    INSERT(c, &pair->list, number, before, of_pair);
    pair->bytes += copy_at(c, number)->bytes;
    return true;
}

static void drop(struct copies *c, uint32_t number)
{
    struct copy *copy = copy_at(c, number);
    struct copy_pair *pair = pair_of(c, copy->home, copy->holder);
    REMOVE(c, copy->tensor, number, of_tensor);
    if (pair) {
        REMOVE(c, &pair->list, number, of_pair);
        pair->bytes -= copy->bytes;
    }
    copy->of_tensor.next = c->unused;
    c->unused = number;
}

/* ---- what the ranks have ----------------------------------------------------------------------------------------- */

bool ptoi_copies_hold(const struct copies *c, const struct copy_list *tensor, int32_t rank, int32_t home,
                      int32_t holder, const struct box *piece)
{
    for (uint32_t n = tensor->first; n; n = copy_at(c, n)->of_tensor.next) {
        const struct copy *copy = copy_at(c, n);
        const bool is_theirs = copy->home == EVERYWHERE || (copy->home == home && copy->holder == holder);
        if (is_theirs && ptoi_box_contains(&copy->box, piece, rank)) return true;
    }
    return false;
}

bool ptoi_copies_add(struct copies *c, struct copy_list *tensor, const struct distribution *d, int32_t home,
                     int32_t holder, const struct box *piece)
{
    if (home == holder || (home != c->me && holder != c->me)) return true;
    for (uint32_t n = tensor->first, next; n; n = next) {
        const struct copy *copy = copy_at(c, n);
        next = copy->of_tensor.next;
        if (copy->home == home && copy->holder == holder && ptoi_box_contains(piece, &copy->box, d->rank)) drop(c, n);
    }
    return put(c, tensor, d, home, holder, piece, 0);
}

bool ptoi_copies_add_everywhere(struct copies *c, struct copy_list *tensor, const struct distribution *d,
                                const struct box *box)
{
    for (uint32_t n = tensor->first, next; n; n = next) {
        const struct copy *copy = copy_at(c, n);
        next = copy->of_tensor.next;
        if (copy->home == EVERYWHERE && ptoi_box_contains(box, &copy->box, d->rank)) drop(c, n);
    }
    return put(c, tensor, d, EVERYWHERE, EVERYWHERE, box, 0);
}

/* What is left of a copy without the box: at most two boxes for each dimension. */
static bool cut(struct copies *c, struct copy_list *tensor, const struct distribution *d, uint32_t number,
                const struct box *box)
{
    const struct copy old = *copy_at(c, number);
    struct box rest = old.box;
    bool ok = true;
    for (int32_t k = 0; k < d->rank && ok; k++) {
        struct box side = rest;
        if (rest.low[k] < box->low[k]) {
            side.high[k] = rest.low[k] = box->low[k];
            ok = put(c, tensor, d, old.home, old.holder, &side, number);
        }
        side = rest;
        if (ok && rest.high[k] > box->high[k]) {
            side.low[k] = rest.high[k] = box->high[k];
            ok = put(c, tensor, d, old.home, old.holder, &side, number);
        }
    }
    drop(c, number);
    return ok;
}

bool ptoi_copies_write(struct copies *c, struct copy_list *tensor, const struct distribution *d, const struct box *box,
                       int32_t writer)
{
    bool ok = true;
    for (uint32_t n = tensor->first, next; n && ok; n = next) {
        const struct copy *copy = copy_at(c, n);
        next = copy->of_tensor.next;
        if (copy->holder != writer && ptoi_box_meets(&copy->box, box, d->rank)) ok = cut(c, tensor, d, n, box);
    }
    return ok;
}

void ptoi_copies_trim(struct copies *c)
{
    for (int32_t k = 0; k < 2 * c->ranks; k++)
        while (c->pair[k].bytes > c->limit) {
            const uint32_t oldest = c->pair[k].list.first;
            c->forgotten_bytes += copy_at(c, oldest)->bytes;
            drop(c, oldest);
        }
}

void ptoi_copies_end(struct copies *c, struct copy_list *tensor)
{
    while (tensor->first) drop(c, tensor->first);
}
