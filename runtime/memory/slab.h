/* slab.h - small objects of one size, which are used again and never given back to the system.
 *
 * Idea       memory of a slab stays memory of its type, so a stale handle finds a dead object and not a stranger's. 
 *            The link of the free list lies behind the object, whose words stay as they were.
 * Owner      the process: PROCESS_LOCK_SLABS guards every slab, and nothing else is taken under it.
 * Invariant  an item is in use or on the free list; chunks are never unmapped.
 * Tests      test/runtime/test_slab.c */
#ifndef PTOI_SLAB_H
#define PTOI_SLAB_H
#include <stdbool.h>
#include <stdint.h>

struct slab_chunk;
struct slab {
    uint32_t bytes;            /* of an object, a multiple of 8 */
    struct slab_chunk *chunks; /* the newest first */
    void *free;                /* the object last given back */
    int64_t used;              /* objects that are taken */
};
#define SLAB_OF(type)                                                                                                  \
    {                                                                                                                  \
        .bytes = (uint32_t)((sizeof(type) + 7) / 8 * 8)                                                                \
    }

void *ptoi_slab_take(struct slab *s); /* a new object is zeroed, a used one is as it was given; NULL: no memory */
void ptoi_slab_give(struct slab *s, void *object); /* NULL is fine */
/* Calls fn(object, arg) for every object, taken or not, under the lock: what fn reads of it must be readable then. */
void ptoi_slab_visit(struct slab *s, void (*fn)(void *object, void *arg), void *arg);

#endif
