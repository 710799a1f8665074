/* tensors.c - the buffers that tasks name, with their homes.  See dist.h.
 *
 * Idea       a buffer of the heap is found by its number there, memory of the program by its address.  A rank that does
 *            not execute the producer of an output allocates it too: that gives it an address and no memory.
 * Invariant  a buffer's tensor is that of its number: where the buffer has ended it waits there for the next one.
 * Tests      test/wire */
#include "dist.h"
#include "submit/failing.h"
#include <stdlib.h>
#include <string.h>

static void fail_memory(struct dist *d)
{
    ptoi_orch_fail(&d->core->orch, PTO_ERR_NOMEM, "no memory for the homes of a buffer");
}

static struct tensor *take_tensor(struct dist *d)
{
    struct tensor *t = d->unused;
    if (t)
        d->unused = t->next;
    else
        t = calloc(1, sizeof *t);
    if (!t) fail_memory(d);
    return t;
}

/* Nothing belongs to it any longer. */
static inline void end_tensor(struct dist *d, struct tensor *t)
{
    if (t->home_of_cell) free(t->home_of_cell);
    t->home_of_cell = NULL;
    if (t->copies.all.first) ptoi_copies_end(&d->copies, &t->copies);
    t->number = NO_TENSOR;
}

static void give_tensor(struct dist *d, struct tensor *t)
{
    end_tensor(d, t);
    t->next = d->unused;
    d->unused = t;
}

static void make(struct dist *d, struct tensor *t, const void *base, int64_t bytes, const struct distribution *home)
{
    *t = (struct tensor){.number = d->tensors++, .base = (char *)(uintptr_t)base, .bytes = bytes, .home = *home};
}

enum { CELLS_IN_TABLE = 1 << 16 };

void ptoi_dist_make_homes(struct tensor *t, int32_t ranks)
{
    const struct distribution *const home = &t->home;
    int64_t cells[2] = {1, 1}, element[2];
    if (t->home_of_cell || !t->is_settled || home->first == NO_HOME || home->rank > 2 || ranks > UINT16_MAX) return;
    for (int32_t k = 0; k < home->rank; k++) cells[2 - home->rank + k] = home->shape[k] / home->cell[k];
    if (cells[0] == 0 || cells[1] == 0 || cells[0] > CELLS_IN_TABLE / cells[1]) return;
    t->home_of_cell = malloc((size_t)(cells[0] * cells[1]) * sizeof *t->home_of_cell);
    for (int64_t n = 0; t->home_of_cell && n < cells[0] * cells[1]; n++) {
        const int64_t cell[2] = {n / cells[1], n % cells[1]};
        for (int32_t k = 0; k < home->rank; k++) element[k] = cell[2 - home->rank + k] * home->cell[k];
        t->home_of_cell[n] = (uint16_t)ptoi_home_of(home, ranks, element);
    }
}

bool ptoi_dist_spread(struct dist *d, struct tensor *t)
{
    struct box all = {{0}, {0}};
    for (int32_t k = 0; k < t->home.rank; k++) all.high[k] = t->home.shape[k];
    t->is_everywhere = ptoi_copies_add_everywhere(&d->copies, &t->copies, &t->home, &all);
    if (!t->is_everywhere) fail_memory(d);
    return t->is_everywhere;
}

/* ---- the heap ---------------------------------------------------------------------------------------------------- */

static inline void forget(struct dist *d, uint32_t buffer)
{
    struct tensor *const t = d->heap[buffer];
    if (t && t->number != NO_TENSOR) end_tensor(d, t);
}

void ptoi_dist_forget(struct dist *d, uint32_t buffer)
{
    if (buffer) forget(d, buffer);
}

void ptoi_dist_forget_scope(struct dist *d)
{
    const struct scope_stack *const s = &d->core->orch.scopes;
    for (uint32_t b = s->scope[s->depth - 1].first; b; b = ptoi_record(s, b)->next) forget(d, b);
}

static __attribute__((noinline)) struct tensor *take_for_buffer(struct dist *d, uint32_t buffer)
{
    struct tensor *const t = take_tensor(d);
    if (!t) return NULL;
    *t = (struct tensor){.buffer = buffer};
    d->heap[buffer] = t;
    if (buffer > d->buffers) d->buffers = buffer;
    return t;
}

/* A tensor for the buffer, which has ended; NULL: no memory. */
static inline struct tensor *tensor_for(struct dist *d, uint32_t buffer)
{
    if (PTO_RARE_(!d->heap[buffer])) return take_for_buffer(d, buffer);
    forget(d, buffer);
    return d->heap[buffer];
}

struct tensor *ptoi_dist_add(struct dist *d, void *base, int64_t bytes, const struct distribution *home)
{
    const uint32_t buffer = ptoi_orch_holder(&d->core->orch, base);
    struct tensor *const t = tensor_for(d, buffer);
    if (!t) return NULL;
    make(d, t, base, bytes, home);
    t->buffer = buffer;
    return t;
}

/* Members of dimensions that it has not are not set, nor what no tensor of a buffer has when it has ended: many such
 * tensors are made. */
struct tensor *ptoi_dist_add_whole(struct dist *d, char *base, uint32_t buffer, const struct known_made *made)
{
    struct tensor *const t = tensor_for(d, buffer);
    if (PTO_RARE_(!t)) return NULL;
    t->number = d->tensors++;
    t->is_everywhere = t->is_written = t->is_lent = t->is_awaited = t->is_counted = false;
    t->is_settled = t->is_whole = true;
    t->base = base;
    t->bytes = made->bytes;
    t->home.rank = made->rank;
    t->home.unit = made->unit;
    t->home.first = NO_HOME;
    t->home.shape[0] = t->home.cell[0] = made->view[0];
    t->home.grid[0] = 1;
    if (made->rank == 2) {
        t->home.shape[1] = t->home.cell[1] = made->view[1];
        t->home.grid[1] = 1;
    }
    return t;
}

bool ptoi_dist_made(struct dist *d, void *buffer, int64_t bytes, bool is_zero)
{
    const struct distribution home = ptoi_home_whole(bytes, NO_HOME);
    struct tensor *t = ptoi_dist_tensor(d, buffer);
    if (!t) t = ptoi_dist_add(d, buffer, bytes, &home);
    return t && (!is_zero || ptoi_dist_spread(d, t));
}

void ptoi_dist_forget_heap(struct dist *d)
{
    for (uint32_t b = 1; b <= d->buffers; b++) forget(d, b);
}

/* ---- memory of the program --------------------------------------------------------------------------------------- */

/* The first that ends behind the address. */
static int32_t place_of(const struct dist *d, const char *address)
{
    int32_t low = 0, high = d->outside_count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (d->outside[middle]->base + d->outside[middle]->bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct tensor *ptoi_dist_tensor(const struct dist *d, const void *address)
{
    const uint32_t buffer = ptoi_orch_holder(&d->core->orch, address);
    if (buffer) return ptoi_dist_of_buffer(d, buffer);
    const int32_t at = place_of(d, address);
    return at < d->outside_count && d->outside[at]->base <= (const char *)address ? d->outside[at] : NULL;
}

struct tensor *ptoi_dist_add_outside(struct dist *d, const void *base, int64_t bytes, const struct distribution *home)
{
    const int32_t at = place_of(d, base);
    if (at < d->outside_count && d->outside[at]->base < (const char *)base + bytes) return NULL;
    if (d->outside_count == d->outside_room) {
        const int32_t room = d->outside_room ? 2 * d->outside_room : 16;
        struct tensor **outside = realloc(d->outside, (size_t)room * sizeof *outside);
        if (!outside) return NULL;
        d->outside = outside;
        d->outside_room = room;
    }
    struct tensor *t = take_tensor(d);
    if (!t) return NULL;
    make(d, t, base, bytes, home);
    memmove(&d->outside[at + 1], &d->outside[at], (size_t)(d->outside_count++ - at) * sizeof(struct tensor *));
    d->outside[at] = t;
    return t;
}

void ptoi_dist_buffer(struct dist *d, const void *base, int64_t bytes)
{
    ptoi_known_boxes_begin(&d->known); /* its bounds may be others now */
    const struct distribution home = ptoi_home_bands(bytes, d->ranks);
    const struct tensor *known = ptoi_dist_tensor(d, base);
    if (known && known->base == base && known->bytes >= bytes) return;
    struct tensor *t = ptoi_dist_add_outside(d, base, bytes, &home);
    if (t)
        ptoi_dist_spread(d, t);
    else
        ptoi_orch_fail(&d->core->orch, PTO_ERR_ARGUMENT,
                       "pto_buffer of %lld bytes that overlap others: on several ranks a byte belongs to one buffer",
                       (long long)bytes);
}

PTOStatus ptoi_dist_distribute(struct dist *d, const void *base, const struct distribution *home)
{
    const int64_t bytes = ptoi_home_bytes(home);
    struct tensor *t = bytes > 0 && base ? ptoi_dist_add_outside(d, base, bytes, home) : NULL;
    if (t) t->is_settled = true;
    return t ? PTO_OK : PTO_ERR_ARGUMENT;
}

void ptoi_dist_forget_all(struct dist *d)
{
    ptoi_dist_forget_heap(d);
    while (d->outside_count > 0) give_tensor(d, d->outside[--d->outside_count]);
    d->tensors = 0;
}

void ptoi_dist_close_tensors(struct dist *d)
{
    ptoi_dist_forget_all(d);
    for (uint32_t b = 1; b <= d->buffers; b++) free(d->heap[b]);
    d->buffers = 0;
    free(d->outside);
    while (d->unused) {
        struct tensor *t = d->unused;
        d->unused = t->next;
        free(t);
    }
}
