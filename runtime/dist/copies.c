/* copies.c - see copies.h. */
#include "copies.h"
#include <stdlib.h>

enum { LEAST_CELLS = 64 };

bool ptoi_copies_init(struct copies *c, int32_t me, int32_t ranks, int64_t limit)
{
    *c = (struct copies){
        .me = me, .ranks = ranks, .columns = ranks / ptoi_home_rows(ranks), .limit = limit, .cells = LEAST_CELLS};
    c->pair = calloc((size_t)ranks * (size_t)ranks, sizeof *c->pair);
    c->cell = calloc(c->cells, sizeof *c->cell);
    c->place = calloc((size_t)ranks, sizeof *c->place);
    for (int32_t k = 0; c->place && k < ranks; k++)
        c->place[k] = (struct copy_place){.row = k / c->columns, .column = k % c->columns};
    return c->pair && c->cell && c->place;
}

void ptoi_copies_free(struct copies *c)
{
    free(c->copy);
    free(c->pair);
    free(c->cell);
    free(c->place);
    *c = (struct copies){0};
}

static struct copy *copy_at(const struct copies *c, uint32_t number) { return &c->copy[number - 1]; }

/* The pair of a copy; NULL: it has none. */
static struct copy_pair *pair_of(const struct copies *c, int32_t home, int32_t holder)
{
    return home == EVERYWHERE ? NULL : &c->pair[(size_t)home * (size_t)c->ranks + (size_t)holder];
}

/* ---- lines, see Note [lines] ------------------------------------------------------------------------------------- */

static bool is_row(const struct copies *c, int32_t a, int32_t b) { return c->place[a].row == c->place[b].row; }
static bool is_column(const struct copies *c, int32_t a, int32_t b) { return c->place[a].column == c->place[b].column; }

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

static uint64_t hash_cell(const struct tensor_copies *tensor, const struct distribution *d, const struct box *piece)
{
    uint64_t hash = (uint64_t)(uintptr_t)tensor;
    for (int32_t k = 0; k < d->rank; k++) {
        hash = (hash ^ (uint64_t)(piece->low[k] / d->cell[k])) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static struct copy_list *list_of_cell(const struct copies *c, uint64_t cell) { return &c->cell[cell & (c->cells - 1)]; }

static struct copy_list *cell_list(const struct copies *c, const struct copy *copy)
{
    return copy->home == EVERYWHERE ? &copy->tensor->everywhere : list_of_cell(c, copy->cell);
}

/* As many lists as copies; the order within a cell stays. */
static bool make_cells(struct copies *c)
{
    if (c->count < c->cells) return true;
    const struct copies old = *c;
    c->cell = c->cells <= UINT32_MAX / 2 ? calloc(2 * (size_t)c->cells, sizeof *c->cell) : NULL;
    if (!c->cell) {
        c->cell = old.cell;
        return false;
    }
    c->cells *= 2;
    for (uint32_t k = 0; k < old.cells; k++)
        for (uint32_t n = old.cell[k].first, next; n; n = next) {
            next = copy_at(c, n)->of_cell.next;
            INSERT(c, list_of_cell(c, copy_at(c, n)->cell), n, 0, of_cell);
        }
    free(old.cell);
    return true;
}

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

static void add_bytes(struct copies *c, struct copy_pair *pair, int64_t bytes)
{
    pair->bytes += bytes;
    if (pair->bytes <= c->limit || pair->is_over) return;
    pair->is_over = true;
    pair->next = c->over;
    c->over = (uint32_t)(pair - c->pair) + 1;
}

/* Puts a copy of the box before the copy `before` of the same tensor, cell and pair; 0: as the newest. */
static bool put(struct copies *c, struct tensor_copies *tensor, const struct distribution *d, int32_t home,
                int32_t holder, const struct box *box, uint32_t before)
{
    const uint32_t number = take_number(c);
    if (!number) return false;
    struct copy_pair *pair = pair_of(c, home, holder);
    *copy_at(c, number) = (struct copy){.box = *box,
                                        .bytes = ptoi_box_elements(box, d->rank) * d->unit,
                                        .home = home,
                                        .holder = holder,
                                        .cell = hash_cell(tensor, d, box),
                                        .tensor = tensor};
    INSERT(c, &tensor->all, number, before, of_tensor);
    INSERT(c, cell_list(c, copy_at(c, number)), number, before, of_cell);
    if (!pair) return true;
    INSERT(c, &pair->list, number, before, of_pair);
    add_bytes(c, pair, copy_at(c, number)->bytes);
    return true;
}

static void drop(struct copies *c, uint32_t number)
{
    struct copy *copy = copy_at(c, number);
    struct copy_pair *pair = pair_of(c, copy->home, copy->holder);
    REMOVE(c, &copy->tensor->all, number, of_tensor);
    REMOVE(c, cell_list(c, copy), number, of_cell);
    if (pair) {
        REMOVE(c, &pair->list, number, of_pair);
        pair->bytes -= copy->bytes;
    }
    copy->of_tensor.next = c->unused;
    c->unused = number;
}

/* ---- what the ranks have ----------------------------------------------------------------------------------------- */

bool ptoi_copies_hold(const struct copies *c, const struct tensor_copies *tensor, const struct distribution *d,
                      int32_t home, int32_t holder, const struct box *piece)
{
    for (uint32_t n = tensor->everywhere.first; n; n = copy_at(c, n)->of_cell.next)
        if (ptoi_box_contains(&copy_at(c, n)->box, piece, d->rank)) return true;
    for (uint32_t n = list_of_cell(c, hash_cell(tensor, d, piece))->first; n; n = copy_at(c, n)->of_cell.next) {
        const struct copy *copy = copy_at(c, n);
        if (copy->tensor == tensor && copy->home == home && copy->holder == holder &&
            ptoi_box_contains(&copy->box, piece, d->rank))
            return true;
    }
    return false;
}

/* The next copy of the piece, from copy n on, whose holder lies in the line of home and reader; 0: there is none. */
static uint32_t find_holder(const struct copies *c, const struct tensor_copies *tensor, const struct distribution *d,
                            int32_t home, int32_t reader, const struct box *piece, uint32_t n)
{
    for (; n; n = copy_at(c, n)->of_cell.next) {
        const struct copy *copy = copy_at(c, n);
        if (copy->tensor == tensor && copy->home == home && ptoi_copies_are_line(c, home, reader, copy->holder) &&
            ptoi_box_contains(&copy->box, piece, d->rank))
            return n;
    }
    return 0;
}

/* How many readers the home serves. */
static uint32_t first_half(const struct copies *c, int32_t home, int32_t reader)
{
    return (uint32_t)((is_row(c, home, reader) ? c->columns : c->ranks / c->columns) + 1) / 2;
}

int32_t ptoi_copies_source(const struct copies *c, const struct tensor_copies *tensor, const struct distribution *d,
                           int32_t home, int32_t reader, const struct box *piece)
{
    uint32_t holders = 0;
    if (!is_row(c, home, reader) && !is_column(c, home, reader)) return home;
    const uint32_t half = first_half(c, home, reader), first = list_of_cell(c, hash_cell(tensor, d, piece))->first;
    uint32_t n = find_holder(c, tensor, d, home, reader, piece, first);
    for (uint32_t k = n; k; k = find_holder(c, tensor, d, home, reader, piece, copy_at(c, k)->of_cell.next)) holders++;
    if (holders < half) return home;
    for (uint32_t k = holders - half; k > 0; k--)
        n = find_holder(c, tensor, d, home, reader, piece, copy_at(c, n)->of_cell.next);
    return copy_at(c, n)->holder;
}

bool ptoi_copies_add(struct copies *c, struct tensor_copies *tensor, const struct distribution *d, int32_t home,
                     int32_t holder, const struct box *piece)
{
    if (home == holder || !ptoi_copies_keep(c, home, holder)) return true;
    if (!make_cells(c)) return false;
    for (uint32_t n = list_of_cell(c, hash_cell(tensor, d, piece))->first, next; n; n = next) {
        const struct copy *copy = copy_at(c, n);
        next = copy->of_cell.next;
        if (copy->tensor == tensor && copy->home == home && copy->holder == holder &&
            ptoi_box_contains(piece, &copy->box, d->rank))
            drop(c, n);
    }
    return put(c, tensor, d, home, holder, piece, 0);
}

bool ptoi_copies_add_everywhere(struct copies *c, struct tensor_copies *tensor, const struct distribution *d,
                                const struct box *box)
{
    for (uint32_t n = tensor->everywhere.first, next; n; n = next) {
        const struct copy *copy = copy_at(c, n);
        next = copy->of_cell.next;
        if (ptoi_box_contains(box, &copy->box, d->rank)) drop(c, n);
    }
    return put(c, tensor, d, EVERYWHERE, EVERYWHERE, box, 0);
}

/* What is left of a copy without the box: at most two boxes for each dimension. */
static bool cut(struct copies *c, const struct distribution *d, uint32_t number, const struct box *box)
{
    const struct copy old = *copy_at(c, number);
    struct box rest = old.box;
    bool ok = true;
    for (int32_t k = 0; k < d->rank && ok; k++) {
        struct box side = rest;
        if (rest.low[k] < box->low[k]) {
            side.high[k] = rest.low[k] = box->low[k];
            ok = put(c, old.tensor, d, old.home, old.holder, &side, number);
        }
        side = rest;
        if (ok && rest.high[k] > box->high[k]) {
            side.low[k] = rest.high[k] = box->high[k];
            ok = put(c, old.tensor, d, old.home, old.holder, &side, number);
        }
    }
    drop(c, number);
    return ok;
}

static bool cut_list(struct copies *c, const struct copy_list *list, const struct tensor_copies *tensor,
                     const struct distribution *d, const struct box *box, int32_t writer)
{
    bool ok = true;
    for (uint32_t n = list->first, next; n && ok; n = next) {
        const struct copy *copy = copy_at(c, n);
        next = copy->of_cell.next;
        if (copy->tensor == tensor && copy->holder != writer && ptoi_box_meets(&copy->box, box, d->rank))
            ok = cut(c, d, n, box);
    }
    return ok;
}

bool ptoi_copies_write(struct copies *c, struct tensor_copies *tensor, const struct distribution *d,
                       const struct box *box, bool is_one, int32_t writer)
{
    struct box piece;
    int32_t home;
    if (!tensor->all.first) return true;
    bool ok = cut_list(c, &tensor->everywhere, tensor, d, box, writer);
    if (is_one) return ok && cut_list(c, list_of_cell(c, hash_cell(tensor, d, box)), tensor, d, box, writer);
    for (struct pieces p = ptoi_pieces(d, box, c->ranks);
         ok && tensor->all.first && ptoi_next_piece(&p, &piece, &home);)
        ok = cut_list(c, list_of_cell(c, hash_cell(tensor, d, &piece)), tensor, d, box, writer);
    return ok;
}

bool ptoi_copies_forget(struct copies *c, struct copy *forgotten)
{
    while (c->over) {
        struct copy_pair *pair = &c->pair[c->over - 1];
        if (pair->bytes > c->limit) {
            *forgotten = *copy_at(c, pair->list.first);
            if (forgotten->home == c->me || forgotten->holder == c->me) c->forgotten_bytes += forgotten->bytes;
            drop(c, pair->list.first);
            return true;
        }
        c->over = pair->next;
        pair->is_over = false;
    }
    return false;
}

bool ptoi_copies_meet(const struct copies *c, const struct tensor_copies *tensor, const struct distribution *d,
                      int32_t holder, const struct box *box)
{
    for (uint32_t n = tensor->everywhere.first; n; n = copy_at(c, n)->of_cell.next)
        if (ptoi_box_meets(&copy_at(c, n)->box, box, d->rank)) return true;
    for (uint32_t n = list_of_cell(c, hash_cell(tensor, d, box))->first; n; n = copy_at(c, n)->of_cell.next) {
        const struct copy *copy = copy_at(c, n);
        if (copy->tensor == tensor && copy->holder == holder && ptoi_box_meets(&copy->box, box, d->rank)) return true;
    }
    return false;
}

bool ptoi_copies_are_there(const struct copies *c, const struct tensor_copies *tensor, const struct distribution *d,
                           const struct box *box)
{
    return tensor->everywhere.first || list_of_cell(c, hash_cell(tensor, d, box))->first;
}

void ptoi_copies_end(struct copies *c, struct tensor_copies *tensor)
{
    while (tensor->all.first) drop(c, tensor->all.first);
}
