/* pins.c - see pins.h. */
#include "pins.h"
#include "map.h"
#include "overlap.h"
#include "separate.h"
#include "stale.h"
#include "tensor.h"
#include "shared/check.h"
#include "shared/thread_error.h"

/* ---- before anything is bound ------------------------------------------------------------------------------------ */

static PTOStatus check(struct pin *p)
{
    PTOTensor *t = p->tensor;
    p->address = p->base = NULL;
    p->bytes = 0;
    p->buffer = NULL;
    if (!t) return PTO_OK;
    if (ptoi_tensor_is_bad(t, "the call")) return PTO_ERR_MISUSE;
    p->buffer = t->buffer;
    if (!(p->access & PTO_WRITE)) return PTO_OK;
    if (t->flags & PTO_READ_ONLY) return ptoi_thread_fail(PTO_ERR_READ_ONLY, "a read-only tensor would be written");
    const struct geometry g = ptoi_geometry_of(t);
    if (!ptoi_geometry_overlaps(&g)) return PTO_OK;
    return ptoi_thread_fail(PTO_ERR_OVERLAP, "a tensor would be written that has two indices on one element");
}

static PTOStatus check_all(struct pin *pins, int count, int *which)
{
    for (int i = 0; i < count; i++) {
        const PTOStatus status = check(&pins[i]);
        if (status == PTO_OK) continue;
        *which = i;
        return status;
    }
    return PTO_OK;
}

/* ---- what is in the way ------------------------------------------------------------------------------------------ */

/* The pins on one block become one, with the accesses of all. */
static void merge(struct pin *pins, int count)
{
    for (int i = 0; i < count; i++) {
        pins[i].is_first = pins[i].buffer != NULL;
        pins[i].merged = (uint8_t)pins[i].access;
        for (int j = 0; j < i && pins[i].is_first; j++) {
            if (!pins[j].is_first || pins[j].buffer->block != pins[i].buffer->block) continue;
            pins[j].merged |= (uint8_t)pins[i].access;
            pins[i].is_first = false;
        }
    }
}

static bool is_free(const struct pin *p)
{
    const struct block *const own = p->buffer->block;
    for (const struct block *k = own; k; k = ptoi_overlap_next(own, k)) {
        if (k->writers > 0 || k->writing_maps > 0) return false;
        if (p->merged & PTO_WRITE && (k->readers > 0 || k->map_count > 0)) return false;
    }
    return true;
}

/* The device of the run has the elements of stale memory, or writes all of them. */
static bool is_served(const struct pin *p)
{
    if (!p->holder) return false;
    return ptoi_place_find(p->buffer->block, p->holder) ||
           (p->access == PTO_WRITE && ptoi_tensor_is_whole(p->tensor)); /* a pin that reads it asks, too */
}

/* Separates what will be written, then looks whether all memory is free.  The index of the pin that waits. */
static enum separation look(struct pin *pins, int count, int *which)
{
    for (int i = 0; i < count; i++) {
        if (!pins[i].buffer || !(pins[i].access & PTO_WRITE)) continue;
        enum separation found = ptoi_separate(pins[i].buffer, true);
        if (found == SEPARATE_READY) found = ptoi_separate_overlapping(pins[i].buffer->block);
        if (found == SEPARATE_READY) found = ptoi_stale_ask(pins[i].buffer, pins[i].holder);
        if (found == SEPARATE_READY) continue;
        *which = i;
        return found;
    }
    merge(pins, count);
    for (int i = 0; i < count; i++) {
        if (!pins[i].is_first || is_free(&pins[i])) continue;
        *which = i;
        return SEPARATE_WAIT;
    }
    for (int i = 0; i < count; i++) {
        struct buffer *b = pins[i].buffer;
        if (!b || !b->block->is_stale || is_served(&pins[i])) continue;
        *which = i;
        return ptoi_stale_save(b);
    }
    return SEPARATE_READY;
}

static void bind(struct pin *pins, int count)
{
    for (int i = 0; i < count; i++) {
        struct pin *p = &pins[i];
        if (!p->buffer) continue;
        struct block *k = p->buffer->block;
        if (p->is_first && p->merged & PTO_WRITE && !p->holder) ptoi_places_leave(k, NULL);
        if (p->is_first && p->merged & PTO_WRITE)
            k->writers++;
        else if (p->is_first)
            k->readers++;
        ptoi_overlap_note(k);
        ptoi_buffer_note(&p->buffer->pins, 1);
        ptoi_buffer_retain(p->buffer);
        p->address = ptoi_tensor_address(p->tensor);
        p->base = k->address;
        p->bytes = k->bytes;
        p->is_whole = p->access == PTO_WRITE && ptoi_tensor_is_whole(p->tensor);
    }
}

static bool may_wait(const struct pin *p, const struct pins_wait *wait)
{
    const struct block *const own = p->buffer->block;
    if (!wait || !ptoi_registry_may_wait()) return false;
    for (const struct block *k = own; k; k = ptoi_overlap_next(own, k))
        if (ptoi_map_is_own(k)) return false;
    return true;
}

static PTOStatus refuse_busy(const char *why)
{
    return ptoi_thread_fail(PTO_ERR_BUSY, "the memory of a tensor is in use: %s", why);
}

void ptoi_pins_cancel(_Atomic uint32_t *cancels)
{
    ptoi_registry_lock();
    add_relaxed(cancels, 1); /* relaxed: under the lock */
    ptoi_registry_changed();
    ptoi_registry_unlock();
}

uint32_t ptoi_pins_count(const _Atomic uint32_t *cancels)
{
    ptoi_registry_lock();
    const uint32_t count = load_relaxed(cancels); /* relaxed: under the lock */
    ptoi_registry_unlock();
    return count;
}

static bool is_cancelled(const struct pins_wait *wait)
{
    return wait && load_relaxed(wait->cancels) != wait->seen; /* relaxed: under the lock */
}

PTOStatus ptoi_pins_take(struct pin *pins, int count, const struct pins_wait *wait, int *which)
{
    int unused;
    if (!which) which = &unused;
    PTOStatus status = check_all(pins, count, which);
    if (status != PTO_OK) return status;
    ptoi_registry_lock();
    enum separation found;
    while ((found = look(pins, count, which)) != SEPARATE_READY) {
        if (found == SEPARATE_AGAIN) continue;
        if (found != SEPARATE_WAIT || !may_wait(&pins[*which], wait) || is_cancelled(wait)) break;
        ptoi_registry_wait();
    }
    if (found == SEPARATE_READY)
        bind(pins, count);
    else if (found == SEPARATE_WAIT && is_cancelled(wait))
        status = ptoi_thread_fail(PTO_ERR_CANCELLED, "the call was cancelled while it waited for a run or a map");
    else
        status = ptoi_stale_refuse(pins[*which].buffer, found, "the call");
    ptoi_registry_unlock();
    if (found == SEPARATE_READY || status != PTO_OK) return status;
    if (found == SEPARATE_NOMEM) return PTO_ERR_NOMEM; /* with its text */
    return refuse_busy(found == SEPARATE_WAIT ? "by a run or a map that the call would wait for"
                                              : "its address is out, and it must not be written");
}

/* ---- and let go -------------------------------------------------------------------------------------------------- */

struct block *ptoi_pin_block(const struct pin *p, bool *is_output)
{
    if (!p->buffer || !p->is_first) return NULL;
    struct block *const k = p->buffer->block;
    ptoi_registry_lock();
    const bool may_stay = !k->is_foreign && k->writing_exports == 0;
    ptoi_registry_unlock();
    *is_output = p->merged == PTO_WRITE && p->is_whole;
    return may_stay ? k : NULL;
}

/* The owner of foreign memory on a device finds the elements there. */
static bool is_known_on_host(const struct buffer *b)
{
    return b->block->foreign ? load_relaxed(&b->maps) > 0 || b->exports > 0 : ptoi_buffer_is_known(b);
}

/* Who knows an address finds there what the run wrote. */
static void bring_known(struct pin *pins, int count)
{
    for (int i = 0; i < count; i++) {
        struct buffer *b = pins[i].buffer;
        if (!b || !is_known_on_host(b)) continue;
        if (b->block->is_stale) {
            if (ptoi_stale_save(b) == SEPARATE_AGAIN) i = -1; /* the lock was left */
        } else if (b->block->writing_exports > 0) {
            ptoi_places_leave(b->block, NULL);
        }
    }
}

void ptoi_pins_drop(struct pin *pins, int count, bool failed)
{
    ptoi_registry_lock();
    bring_known(pins, count);
    for (int i = 0; i < count; i++) {
        struct pin *p = &pins[i];
        if (!p->buffer) continue;
        struct block *k = p->buffer->block; /* a buffer with pins never moves */
        int64_t *held = p->merged & PTO_WRITE ? &k->writers : &k->readers;
        if (p->is_first) {
            CHECK(*held > 0);
            --*held;
            ptoi_overlap_note(k);
        }
        ptoi_buffer_note(&p->buffer->pins, -1);
        if (failed && p->access & PTO_WRITE) k->is_undefined = true;
    }
    /* after every mark: the same memory may stand twice */
    for (int i = 0; i < count && !failed; i++)
        if (pins[i].buffer && pins[i].is_whole) pins[i].buffer->block->is_undefined = false;
    ptoi_registry_changed();
    ptoi_registry_unlock();
    for (int i = 0; i < count; i++)
        if (pins[i].buffer) ptoi_buffer_release(pins[i].buffer);
}
