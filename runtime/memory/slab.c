/* slab.c - see slab.h. */
#include "slab.h"
#include "shared/check.h"
#include "shared/map_memory.h"
#include "shared/process_lock.h"
#include <stddef.h>

enum { CHUNK_BYTES = 64 * 1024 };

struct slab_chunk {
    struct slab_chunk *next;
    uint32_t carved;        /* objects of it that were taken at least once */
    uint32_t count;         /* objects in it */
    _Alignas(64) char at[]; /* count * stride bytes */
};

/* The free link lies behind the object; then whole cache lines. */
static uint32_t stride_of(const struct slab *s) { return (s->bytes + 8 + 63) / 64 * 64; }

static void **link_of(const struct slab *s, void *object) { return (void **)((char *)object + s->bytes); }

static struct slab_chunk *obtain_chunk(const struct slab *s)
{
    struct slab_chunk *c = ptoi_memory_map(CHUNK_BYTES, false);
    if (c) c->count = (uint32_t)((CHUNK_BYTES - offsetof(struct slab_chunk, at)) / stride_of(s));
    return c;
}

static void *take_known(struct slab *s)
{
    if (s->free) {
        void *object = s->free;
        s->free = *link_of(s, object);
        return object;
    }
    struct slab_chunk *c = s->chunks;
    return c && c->carved < c->count ? c->at + (size_t)c->carved++ * stride_of(s) : NULL;
}

void *ptoi_slab_take(struct slab *s)
{
    ptoi_process_lock(PROCESS_LOCK_SLABS);
    void *object = take_known(s);
    if (!object) {
        struct slab_chunk *c = obtain_chunk(s);
        if (c) {
            c->next = s->chunks;
            s->chunks = c;
            object = take_known(s);
        }
    }
    s->used += object != NULL;
    ptoi_process_unlock(PROCESS_LOCK_SLABS);
    return object;
}

void ptoi_slab_give(struct slab *s, void *object)
{
    if (!object) return;
    ptoi_process_lock(PROCESS_LOCK_SLABS);
    CHECK(s->used > 0);
    s->used--;
    *link_of(s, object) = s->free;
    s->free = object;
    ptoi_process_unlock(PROCESS_LOCK_SLABS);
}

void ptoi_slab_visit(struct slab *s, void (*fn)(void *object, void *arg), void *arg)
{
    ptoi_process_lock(PROCESS_LOCK_SLABS);
    for (struct slab_chunk *c = s->chunks; c; c = c->next)
        for (uint32_t i = 0; i < c->carved; i++) fn(c->at + (size_t)i * stride_of(s), arg);
    ptoi_process_unlock(PROCESS_LOCK_SLABS);
}
