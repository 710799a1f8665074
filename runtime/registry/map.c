/* map.c - see map.h. */
#include "map.h"
#include "memory/slab.h"
#include "overlap.h"
#include "separate.h"
#include "stale.h"
#include "shared/thread_error.h"

static struct slab maps = SLAB_OF(struct map);

/* Without elements there is nothing to read, and yet NULL is a failure. */
static char nothing[PTO_CACHELINE] __attribute__((aligned(PTO_CACHELINE)));

bool ptoi_map_is_own(const struct block *k)
{
    const struct map *m = k->maps;
    while (m && m->thread != ptoi_registry_thread()) m = m->next;
    return m != NULL;
}

/* Runs that would write below a reader, or use what a writer changes. */
static bool is_run_in_the_way(const struct block *own, PTOAccess access)
{
    for (const struct block *k = own; k; k = ptoi_overlap_next(own, k))
        if (k->writers > 0 || (access & PTO_WRITE && k->readers > 0)) return true;
    return false;
}

/* Under the lock: until runs are away (for a map, not for an export) and the memory is separate. */
static PTOStatus wait_for_memory(struct buffer *b, PTOAccess access, bool waits_for_runs, const char *call)
{
    for (;;) {
        enum separation found = SEPARATE_WAIT;
        if (!waits_for_runs || !is_run_in_the_way(b->block, access)) {
            found = ptoi_separate(b, access & PTO_WRITE);
            if (found == SEPARATE_READY && access & PTO_WRITE) found = ptoi_separate_overlapping(b->block);
            if (found == SEPARATE_READY && access & PTO_WRITE) found = ptoi_stale_ask(b, NULL);
            if (found == SEPARATE_READY && b->block->writers == 0) found = ptoi_stale_save(b);
            if (found == SEPARATE_READY) {
                if (access & PTO_WRITE && b->block->writers == 0) ptoi_places_leave(b->block, NULL);
                return PTO_OK; /* what a run writes is brought at its end: the address will be known */
            }
            if (found == SEPARATE_AGAIN) continue;
        }
        const PTOStatus status = ptoi_stale_refuse(b, found, call);
        if (status != PTO_OK) return status;
        if (found == SEPARATE_NOMEM) return PTO_ERR_NOMEM; /* with its text */
        if (found == SEPARATE_STUCK)
            return ptoi_thread_fail(PTO_ERR_BUSY, "%s: the address of read-only memory is out", call);
        if (!ptoi_registry_may_wait())
            return ptoi_thread_fail(PTO_ERR_BUSY, "%s: a run uses the tensor, and the caller is in a run", call);
        ptoi_registry_wait();
    }
}

/* ---- maps -------------------------------------------------------------------------------------------------------- */

static PTOStatus refuse_access(const PTOTensor *t, PTOAccess access)
{
    if (access < PTO_READ || access > PTO_READ_WRITE)
        return ptoi_thread_fail(PTO_ERR_ARGUMENT, "pto_tensor_map: access %d is not one of PTOAccess", (int)access);
    if (!(access & PTO_WRITE)) return PTO_OK;
    if (t->flags & PTO_READ_ONLY) return ptoi_thread_fail(PTO_ERR_READ_ONLY, "pto_tensor_map: the tensor is read-only");
    const struct geometry g = ptoi_geometry_of(t);
    if (!ptoi_geometry_overlaps(&g)) return PTO_OK;
    return ptoi_thread_fail(PTO_ERR_OVERLAP, "pto_tensor_map: two indices are one element");
}

static void push(struct map *m)
{
    struct buffer *b = m->tensor->buffer;
    struct block *k = b->block;
    m->next = k->maps;
    k->maps = m;
    k->map_count++;
    ptoi_overlap_note(k);
    ptoi_buffer_note(&b->maps, 1);
    if (m->access & PTO_WRITE) k->writing_maps++;
    if (m->access == PTO_WRITE && ptoi_tensor_is_whole(m->tensor)) k->is_undefined = false;
}

static void *map_elements(PTOTensor *t, PTOAccess access)
{
    struct map *m = ptoi_slab_take(&maps);
    if (!m) {
        ptoi_refuse_nomem();
        return NULL;
    }
    *m = (struct map){.tensor = t, .thread = ptoi_registry_thread(), .access = access};
    ptoi_registry_lock();
    const PTOStatus status = wait_for_memory(t->buffer, access, true, "pto_tensor_map");
    if (status == PTO_OK) push(m);
    void *address = status == PTO_OK ? ptoi_tensor_address(t) : NULL;
    ptoi_registry_unlock();
    if (status == PTO_OK)
        pto_tensor_retain(t);
    else
        ptoi_slab_give(&maps, m);
    return address;
}

void *pto_tensor_map(PTOTensor *t, PTOAccess access)
{
    if (ptoi_tensor_is_bad(t, "pto_tensor_map") || refuse_access(t, access) != PTO_OK) return NULL;
    return t->buffer ? map_elements(t, access) : nothing;
}

/* The latest map of t, rather one of the calling thread. */
static struct map **find(struct block *k, const PTOTensor *t)
{
    struct map **any = NULL;
    for (struct map **at = &k->maps; *at; at = &(*at)->next) {
        if ((*at)->tensor != t) continue;
        if ((*at)->thread == ptoi_registry_thread()) return at;
        if (!any) any = at;
    }
    return any;
}

static struct map *pop(PTOTensor *t)
{
    struct block *k = t->buffer->block;
    struct map **at = find(k, t);
    if (!at) return NULL;
    struct map *m = *at;
    *at = m->next;
    k->map_count--;
    ptoi_overlap_note(k);
    ptoi_buffer_note(&t->buffer->maps, -1);
    if (m->access & PTO_WRITE) k->writing_maps--;
    ptoi_registry_changed();
    return m;
}

void pto_tensor_unmap(PTOTensor *t)
{
    if (ptoi_tensor_is_bad(t, "pto_tensor_unmap") || !t->buffer) return;
    ptoi_registry_lock();
    struct map *m = pop(t);
    ptoi_registry_unlock();
    if (!m) {
        ptoi_thread_fail(PTO_ERR_MISUSE, "pto_tensor_unmap: the tensor has no map");
        return;
    }
    ptoi_slab_give(&maps, m);
    pto_tensor_release(t);
}

/* ---- exports and short reads ------------------------------------------------------------------------------------- */

void *ptoi_export_begin(PTOTensor *t, bool is_writable, const char *call)
{
    if (!t->buffer) return nothing;
    ptoi_registry_lock();
    const PTOStatus status = wait_for_memory(t->buffer, is_writable ? PTO_READ_WRITE : PTO_READ, false, call);
    if (status == PTO_OK) {
        t->buffer->exports++;
        t->buffer->block->writing_exports += is_writable;
    }
    void *address = status == PTO_OK ? ptoi_tensor_address(t) : NULL;
    ptoi_registry_unlock();
    return address;
}

void ptoi_export_end(PTOTensor *t, bool is_writable)
{
    if (!t->buffer) return;
    ptoi_registry_lock();
    t->buffer->exports--;
    t->buffer->block->writing_exports -= is_writable;
    ptoi_registry_changed();
    ptoi_registry_unlock();
}

PTOStatus ptoi_read_begin(PTOTensor *t, const char *call)
{
    if (!t->buffer) return PTO_OK;
    PTOStatus status = PTO_OK;
    ptoi_registry_lock();
    while (status == PTO_OK) {
        const bool is_written = is_run_in_the_way(t->buffer->block, PTO_READ);
        const enum separation found = is_written ? SEPARATE_WAIT : ptoi_stale_save(t->buffer);
        if (found == SEPARATE_READY) break;
        if (found != SEPARATE_WAIT)
            status = ptoi_stale_refuse(t->buffer, found, call);
        else if (ptoi_registry_may_wait())
            ptoi_registry_wait();
        else
            status = ptoi_thread_fail(PTO_ERR_BUSY, "%s: a run writes the tensor, and the caller is in a run", call);
    }
    if (status == PTO_OK) {
        t->buffer->block->readers++;
        ptoi_overlap_note(t->buffer->block);
        ptoi_buffer_note(&t->buffer->pins, 1);
        ptoi_buffer_retain(t->buffer);
    }
    ptoi_registry_unlock();
    return status;
}

void ptoi_read_end(PTOTensor *t)
{
    if (!t->buffer) return;
    ptoi_registry_lock();
    t->buffer->block->readers--;
    ptoi_overlap_note(t->buffer->block);
    ptoi_buffer_note(&t->buffer->pins, -1);
    ptoi_registry_changed();
    ptoi_registry_unlock();
    ptoi_buffer_release(t->buffer);
}
