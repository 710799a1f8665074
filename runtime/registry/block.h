/* block.h - memory, and the identities for overlap that lie on it.
 *
 * Idea       a block is bytes somewhere and how they are freed; a buffer is an identity: views of one buffer may share
 *            elements, views of two never do.  More than one buffer lies on a block only between a detach and the first
 *            write (separate.h).
 * Owner      a block: its buffers.  A buffer: its tensors, and the pins of runs; its last reference frees it, and the
 *            last buffer of a block frees the block, after both are unknown to everybody and with no lock held.
 * Guarded    by PROCESS_LOCK_REGISTRY: every member that is neither constant nor a count.  No slab, pool or foreign
 *            function is called under it.
 * Invariant  readers, writers and maps of a block keep runs apart: docs/registry.md.  While a map or an export may
 *            write a block, one buffer lies on it; at most one buffer of a block has an address that somebody knows.
 * Tests      test/runtime/test_tensor.c, test_detach.c, test_pins.c */
#ifndef PTOI_BLOCK_H
#define PTOI_BLOCK_H
#include "count.h"
#include <pto/pto_registry.h>

struct buffer;
struct map;
struct place;

struct block {
    /* constant */
    void *address;
    int64_t bytes;         /* more than 0 */
    int32_t device;        /* 0: the host; 1 + n: the number n of a device, where `foreign` is */
    struct place *foreign; /* NULL, or memory of somebody else on a device: `address` is a copy for the host, a room */
    bool is_read_only, may_move; /* of foreign memory: may it be written; may its address be left */
    PTOPool *pool;               /* whose memory it is; NULL: the host's, or foreign with `release` */
    bool is_foreign;
    void (*release)(void *);
    void *context;
    /* guarded */
    struct buffer *buffers;   /* on it, chained by next_on_block */
    int64_t readers, writers; /* sets of pins, and copies that read it; writers is 0 or 1 */
    struct map *maps;         /* open, the latest first */
    int64_t map_count, writing_maps, writing_exports;
    bool is_undefined;    /* a failed run may have written parts of it */
    struct place *places; /* copies that devices have */
    bool is_stale;        /* a run on a device wrote it, and only places are current */
    bool is_saved;        /* a thread copies a place to the host's memory */
    bool is_listed;       /* overlap.h, */
    struct block *next_listed;
};

struct buffer {
    struct count count; /* tensors, and pins */
    uint64_t id;        /* constant, from 1 */
    /* guarded */
    struct block *block;
    struct buffer *next_on_block;
    /* W under the lock, R under the lock, and the dump relaxed. */
    _Atomic int64_t pins;   /* references of pins; its run knows the address */
    _Atomic int64_t maps;   /* somebody knows the address, */
    int64_t exports;        /* or had it from us */
    struct block *original; /* the foreign block that it was attached to, whose address somebody knows; or NULL */
    bool is_detached;       /* it lies on the block of the buffer that it was detached from */
};

/* A block of the pool with a buffer on it: NULL and the thread's error: no memory. */
struct buffer *ptoi_buffer_new(PTOPool *pool, int64_t bytes);
/* A buffer on a new block of foreign memory, on the host or on a device.  NULL: no memory, nothing is released. */
struct buffer *ptoi_buffer_attach(const struct block *foreign);
/* Another buffer on the block of `b`, whose elements it keeps.  NULL: no memory; PTO_ERR_WOULD_COPY in the thread's
 * status: somebody outside may write the memory at any time. */
struct buffer *ptoi_buffer_detach(struct buffer *b);

static inline void ptoi_buffer_retain(struct buffer *b) { ptoi_count_retain(&b->count); }
void ptoi_buffer_release(struct buffer *b);
/* Somebody who is no run knows the address; under the lock. */
static inline bool ptoi_buffer_is_known(const struct buffer *b)
{
    return load_relaxed(&b->maps) > 0 || b->exports > 0 || b->original == b->block;
}
/* One more or one less, under the lock. */
static inline void ptoi_buffer_note(_Atomic int64_t *pins, int64_t change)
{
    store_relaxed(pins, load_relaxed(pins) + change);
}

struct block *ptoi_block_new(PTOPool *pool, int64_t bytes); /* without a buffer; NULL and the thread's error */
void ptoi_block_free(struct block *k);                      /* without a buffer; calls its release function */
void ptoi_block_put(struct block *k, struct buffer *b);     /* b lies on k; under the lock, or nobody knows them yet */
bool ptoi_block_remove(struct buffer *b); /* b lies nowhere; true: the caller frees its block after the lock */
static inline bool ptoi_block_is_shared(const struct block *k) { return k->buffers && k->buffers->next_on_block; }

/* The memory of b leaves, whose only reference and only buffer the caller has.  Afterwards b is forgotten. */
PTOStatus ptoi_block_leave(struct buffer *b, PTODetached *out);
void ptoi_buffer_forget(struct buffer *b);
void ptoi_block_stay(const PTODetached *out); /* it does not leave after all */

/* ---- waiting for a change, under the lock ---- */

void ptoi_registry_lock(void);
void ptoi_registry_unlock(void);
void ptoi_registry_changed(void); /* under the lock: waiting threads look again */
void ptoi_registry_wait(void);    /* leaves the lock, sleeps until a change, takes the lock */
/* false: the calling thread is in a run or in a kernel, or in the worker process of a run, so not for runs */
bool ptoi_registry_may_wait(void);
const void *ptoi_registry_thread(void); /* the calling thread's identity */

PTOStatus ptoi_refuse_nomem(void);

#endif
