/* block.c - see block.h. */
#include "block.h"
#include "memory/pool.h"
#include "memory/slab.h"
#include "overlap.h"
#include "place.h"
#include "shared/caller.h"
#include "shared/check.h"
#include "shared/process_lock.h"
#include "shared/system.h"
#include "shared/thread_error.h"
#include <string.h>

static struct slab blocks = SLAB_OF(struct block);
static struct slab buffers = SLAB_OF(struct buffer);
static _Atomic uint64_t last_id;

PTOStatus ptoi_refuse_nomem(void) { return ptoi_thread_fail(PTO_ERR_NOMEM, "out of memory"); }

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void *obtain(PTOPool *pool, int64_t bytes)
{
    void *memory = ptoi_pool_obtain(pool, (uint64_t)bytes);
    if (!memory) ptoi_thread_fail(PTO_ERR_NOMEM, "no memory for a tensor of %lld bytes", (long long)bytes);
    return memory;
}

struct block *ptoi_block_new(PTOPool *pool, int64_t bytes)
{
    struct block *k = ptoi_slab_take(&blocks);
    if (!k) {
        ptoi_refuse_nomem();
        return NULL;
    }
    *k = (struct block){.address = obtain(pool, bytes), .bytes = bytes, .pool = pool, .may_move = true};
    if (k->address) return k;
    ptoi_slab_give(&blocks, k);
    return NULL;
}

void ptoi_block_free(struct block *k)
{
    const struct block old = *k;
    ptoi_slab_give(&blocks, k);
    ptoi_place_end(old.foreign);
    if (!old.is_foreign) ptoi_pool_return(old.pool, old.address, (uint64_t)old.bytes);
    if (old.release) old.release(old.context);
}

void ptoi_block_put(struct block *k, struct buffer *b)
{
    b->block = k;
    b->next_on_block = k->buffers;
    k->buffers = b;
}

bool ptoi_block_remove(struct buffer *b)
{
    struct block *k = b->block;
    struct buffer **at = &k->buffers;
    while (*at != b) at = &(*at)->next_on_block;
    *at = b->next_on_block;
    b->block = NULL;
    return !k->buffers;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

static struct buffer *make_buffer(void)
{
    struct buffer *b = ptoi_slab_take(&buffers);
    if (!b) {
        ptoi_refuse_nomem();
        return NULL;
    }
    *b = (struct buffer){.id = add_relaxed(&last_id, 1) + 1};
    ptoi_count_open(&b->count);
    return b;
}

struct buffer *ptoi_buffer_new(PTOPool *pool, int64_t bytes)
{
    struct buffer *b = make_buffer();
    struct block *k = b ? ptoi_block_new(pool, bytes) : NULL;
    if (k) {
        ptoi_block_put(k, b);
        return b;
    }
    ptoi_slab_give(&buffers, b);
    return NULL;
}

/* The program names memory of a device by addresses of the host, where its elements come when the host needs them. */
static struct block *attach_on_device(const struct block *foreign)
{
    struct block *k = ptoi_block_new(NULL, foreign->bytes);
    if (!k) return NULL;
    k->device = foreign->device;
    k->is_read_only = foreign->is_read_only;
    k->may_move = foreign->may_move;
    k->context = foreign->context;
    if (ptoi_place_attach(k, foreign->address)) return k;
    ptoi_block_free(k);
    ptoi_refuse_nomem();
    return NULL;
}

static struct block *attach_on_host(const struct block *foreign)
{
    struct block *k = ptoi_slab_take(&blocks);
    if (k)
        *k = *foreign;
    else
        ptoi_refuse_nomem();
    return k;
}

struct buffer *ptoi_buffer_attach(const struct block *foreign)
{
    struct buffer *b = make_buffer();
    struct block *k = !b ? NULL : foreign->device == 0 ? attach_on_host(foreign) : attach_on_device(foreign);
    if (!k) {
        ptoi_slab_give(&buffers, b);
        return NULL;
    }
    ptoi_block_put(k, b);
    if (!k->may_move) b->original = k;
    return b;
}

struct buffer *ptoi_buffer_detach(struct buffer *b)
{
    struct buffer *other = make_buffer();
    if (!other) return NULL;
    ptoi_registry_lock();
    const bool is_possible = b->block->writing_maps == 0 && b->block->writing_exports == 0;
    if (is_possible) {
        ptoi_block_put(b->block, other);
        other->is_detached = true;
        ptoi_overlap_note(b->block);
    }
    ptoi_registry_unlock();
    if (is_possible) return other;
    ptoi_slab_give(&buffers, other);
    ptoi_thread_status = PTO_ERR_WOULD_COPY;
    return NULL;
}

/* A count of 1 is the caller's reference: nobody else has one, and who finds the buffer on a list waits for the
 * lock. */
static int64_t drop_under_lock(struct count *c)
{
    if (!ptoi_count_is_one(c)) {
        const int64_t left = ptoi_count_release(c);
        CHECK(left >= 0);
        return left;
    }
    store_relaxed(&c->word, 0);
    return 0;
}

/* The count becomes 0 under the lock only, where the buffer leaves its block's list too: whoever finds a buffer on a
 * list may retain it. */
void ptoi_buffer_release(struct buffer *b)
{
    int64_t seen = load_relaxed(&b->count.word);
    while (seen > 1)
        if (swap_if_release(&b->count.word, &seen, seen - 1, COUNT_WORD)) return; /* [COUNT_WORD] */
    ptoi_registry_lock();
    const int64_t left = drop_under_lock(&b->count);
    struct block *k = b->block;
    const bool is_last = left == 0 && ptoi_block_remove(b);
    if (is_last) ptoi_places_leave(k, NULL);
    if (left == 0) ptoi_overlap_note(k);
    if (left == 0) ptoi_registry_changed();
    ptoi_registry_unlock();
    if (left == 0) ptoi_slab_give(&buffers, b);
    if (is_last) ptoi_block_free(k);
}

/* ---- memory that leaves ------------------------------------------------------------------------------------------ */

struct leaver {
    PTOPool *pool;
    void *address;
    uint64_t bytes;
};
static struct slab leavers = SLAB_OF(struct leaver);

static void return_to_pool(void *context)
{
    const struct leaver l = *(struct leaver *)context;
    ptoi_slab_give(&leavers, context);
    ptoi_pool_return(l.pool, l.address, l.bytes);
}

PTOStatus ptoi_block_leave(struct buffer *b, PTODetached *out)
{
    struct block *k = b->block;
    *out = (PTODetached){k->address, k->bytes, k->device, k->release, k->context};
    if (!k->is_foreign) {
        struct leaver *l = ptoi_slab_take(&leavers);
        if (!l) return ptoi_refuse_nomem();
        *l = (struct leaver){k->pool, k->address, (uint64_t)k->bytes};
        out->release = return_to_pool;
        out->context = l;
    }
    return PTO_OK;
}

void ptoi_block_stay(const PTODetached *out)
{
    if (out->release == return_to_pool) ptoi_slab_give(&leavers, out->context);
}

void ptoi_buffer_forget(struct buffer *b)
{
    struct block *k = b->block;
    ptoi_registry_lock();
    ptoi_places_leave(k, NULL);
    ptoi_block_remove(b);
    ptoi_overlap_note(k);
    ptoi_registry_unlock();
    ptoi_slab_give(&blocks, k);
    ptoi_slab_give(&buffers, b);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

static _Atomic uint32_t changes; /* W under the lock, R sleepers; relaxed: the lock orders what it counts */
static int32_t sleepers;         /* guarded */

void ptoi_registry_lock(void) { ptoi_process_lock(PROCESS_LOCK_REGISTRY); }
void ptoi_registry_unlock(void) { ptoi_process_unlock(PROCESS_LOCK_REGISTRY); }

void ptoi_registry_changed(void)
{
    if (sleepers == 0) return;
    add_relaxed(&changes, 1);
    ptoi_wake_all_on(&changes);
}

void ptoi_registry_wait(void)
{
    const uint32_t seen = load_relaxed(&changes);
    sleepers++;
    ptoi_registry_unlock();
    ptoi_sleep_on(&changes, seen, PTO_FOR_EVER, false);
    ptoi_registry_lock();
    sleepers--;
}

bool ptoi_registry_may_wait(void) { return ptoi_orchestrated == &ptoi_none && !ptoi_is_worker_process; }

const void *ptoi_registry_thread(void) { return &ptoi_thread_status; }
