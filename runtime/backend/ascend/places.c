/* places.c - device memory for arrays, and the tensors whose elements stay in it between runs.
 *
 * Idea       a call hands its tensors over before its run.  What the device has of them is found again; what a task
 *            names is copied in once, unless all of it will be written; at the end of the run nothing is copied back,
 *            and the device's copy of what was written is the current one.  Where memory is short, what nobody uses
 *            goes, the place that was used longest ago first.
 * Owner      the orchestrator; `save` is for any thread.
 * Invariant  between runs no place is in use, and no array has device memory.
 * Tests      test/call/test_places.c */
#include "device.h"
#include "registry/block.h"
#include "registry/pins.h"
#include "registry/stale.h"
#include "shared/atomics.h"
#include <stdlib.h>

static bool save(struct holder *h, const struct place *p, void *host, int64_t bytes)
{
    struct device *d = (struct device *)(uintptr_t)((char *)h - offsetof(struct device, holder));
    return !load_relaxed(&d->has_failed) && ptoi_ascend_enter_from_outside(d) &&
           ptoi_ascend_download(d, host, p->memory, bytes);
}

void ptoi_ascend_open_places(struct device *d)
{
    d->holder.save = save;
    d->holder.device = 1 + d->number;
    ptoi_registry_lock();
    ptoi_holder_open(&d->holder);
    ptoi_registry_unlock();
}

struct holder *ptoi_ascend_holder(const struct backend *b) { return &device_of(b)->holder; }

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool free_memory(struct device *d, char *memory)
{
    return ptoi_ascend_is_fine(d, "aclrtFree", d->acl->aclrtFree(memory));
}

static bool free_place(struct device *d, struct place *p)
{
    const bool is_fine = free_memory(d, p->memory);
    free(p);
    return is_fine;
}

/* Gives back what is kept, or the elements that were not used for longest; false: there is nothing, or that failed. */
static bool make_room(struct device *d)
{
    if (d->spare_count > 0) return free_memory(d, d->spare[--d->spare_count].device);
    ptoi_registry_lock();
    struct place *p = ptoi_place_evict(&d->holder);
    if (p) ptoi_place_forget(p);
    ptoi_registry_unlock();
    return p && free_place(d, p);
}

static char *obtain(struct device *d, int64_t bytes)
{
    void *memory = NULL;
    for (;;) {
        const aclError error = d->acl->aclrtMalloc(&memory, (size_t)bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        if (error == ACL_SUCCESS) return memory;
        if (!make_room(d)) return ptoi_ascend_is_fine(d, "aclrtMalloc", error), NULL;
    }
}

static bool fits(int64_t capacity, int64_t bytes) { return capacity >= bytes && capacity / 2 <= bytes; }

char *ptoi_ascend_take_memory(struct device *d, int64_t bytes, int64_t *capacity)
{
    int best = -1;
    for (int i = 0; i < d->spare_count; i++)
        if (fits(d->spare[i].capacity, bytes) && (best < 0 || d->spare[i].capacity < d->spare[best].capacity)) best = i;
    *capacity = best >= 0 ? d->spare[best].capacity : bytes;
    if (best < 0) return obtain(d, bytes);
    char *memory = d->spare[best].device;
    d->spare[best] = d->spare[--d->spare_count];
    return memory;
}

static void keep_memory(struct device *d, struct array *a)
{
    if (!a->device) return;
    if (d->spare_count == d->spare_room) {
        const int room = d->spare_room ? 2 * d->spare_room : 16;
        struct block_memory *grown = realloc(d->spare, (size_t)room * sizeof *grown);
        if (!grown) {
            free_memory(d, a->device);
            a->device = NULL;
            return;
        }
        d->spare = grown;
        d->spare_room = room;
    }
    d->spare[d->spare_count++] = (struct block_memory){.device = a->device, .capacity = a->capacity};
    a->device = NULL;
}

bool ptoi_ascend_free_memory(struct device *d)
{
    bool is_fine = true;
    ptoi_places_end(&d->holder);
    while (d->spare_count > 0) is_fine &= free_memory(d, d->spare[--d->spare_count].device);
    for (struct place *p; (p = d->holder.places) != NULL;) { /* they are of no block: nobody else sees them */
        ptoi_place_forget(p);
        is_fine &= free_place(d, p);
    }
    return is_fine;
}

/* ---- tensors of a call ------------------------------------------------------------------------------------------- */

static void use(struct device *d, struct array *a, struct place *p)
{
    p->is_used = true;
    if (p->holder) ptoi_place_touch(p); /* foreign memory does not go */
    ptoi_lock_take(&d->lock);
    a->place = p;
    a->device = p->memory;
    a->capacity = p->capacity;
    ptoi_lock_leave(&d->lock);
}

static void hand_block(struct device *d, struct block *k, bool is_output)
{
    struct array *a = ptoi_ascend_find(d, k->address);
    if (!a || a->host != k->address || a->bytes != k->bytes) return; /* it is part of another's memory */
    ptoi_registry_lock();
    struct place *p = ptoi_place_find(k, &d->holder);
    a->block = k;
    a->is_output = is_output;
    a->is_newer = k->is_stale;
    if (p) use(d, a, p);
    ptoi_registry_unlock();
}

PTOStatus ptoi_ascend_hand(const struct backend *b, const struct pin *pins, int count)
{
    struct device *d = device_of(b);
    PTOStatus status = PTO_OK;
    bool is_output;
    for (int i = 0; i < count && status == PTO_OK; i++) {
        const struct block *k = ptoi_pin_block(&pins[i], &is_output);
        if (k) status = ptoi_ascend_register(b, k->address, k->bytes);
    }
    for (int i = 0; i < count && status == PTO_OK; i++) {
        struct block *k = ptoi_pin_block(&pins[i], &is_output);
        if (k) hand_block(d, k, is_output);
    }
    return status;
}

bool ptoi_ascend_place(struct device *d, struct array *a)
{
    struct place *p = NULL;
    ptoi_registry_lock();
    for (struct place *at = d->holder.places; at && !p; at = at->older) /* of a tensor that is gone */
        if (!at->block && !at->is_used && at->savers == 0 && fits(at->capacity, a->bytes)) p = at;
    if (p) use(d, a, p);
    ptoi_registry_unlock();
    if (p) return true;
    p = calloc(1, sizeof *p);
    if (!p) return false;
    p->holder = &d->holder;
    p->memory = ptoi_ascend_take_memory(d, a->bytes, &p->capacity);
    if (!p->memory) {
        free(p);
        return false;
    }
    ptoi_registry_lock();
    use(d, a, p);
    ptoi_registry_unlock();
    return true;
}

/* Under the lock: what the run has done to a tensor. */
static void settle(struct array *a, bool is_good)
{
    struct block *k = a->block;
    struct place *p = a->place;
    const bool is_changed = a->is_written || a->is_touched;
    const bool is_current = is_good || !is_changed; /* a failed run copies nothing back */
    if (is_changed) ptoi_places_leave(k, k->is_stale || is_current ? p : NULL);
    if (!p) return;
    if (!p->block && is_current) ptoi_place_put(p, k);
    if (p->block && a->is_written && (is_good || p == k->foreign)) k->is_stale = true;
    p->is_used = false;
}

bool ptoi_ascend_bring(struct array *a)
{
    enum separation found;
    ptoi_registry_lock();
    while ((found = ptoi_stale_save(a->block->buffers)) == SEPARATE_AGAIN) {} /* a pin holds each of them */
    ptoi_registry_unlock();
    a->is_newer = false;
    return found == SEPARATE_READY;
}

bool ptoi_ascend_let_arrays_go(struct device *d, bool is_good)
{
    bool is_fine = is_good;
    for (int i = 0; i < d->array_count; i++) {
        struct array *a = &d->array[i];
        if (!a->block && a->device && a->is_written && is_fine)
            is_fine = ptoi_ascend_download(d, a->host, a->device, a->bytes);
    }
    for (int i = 0; i < d->array_count; i++) {
        struct array *a = &d->array[i];
        if (!a->block) {
            keep_memory(d, a);
            continue;
        }
        ptoi_registry_lock();
        settle(a, is_fine);
        ptoi_registry_unlock();
    }
    d->array_count = 0;
    return is_fine || !is_good;
}
