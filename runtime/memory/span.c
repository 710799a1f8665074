/* span.c - see span.h. */
#include "span.h"
#include "shared/check.h"
#include "shared/map_memory.h"
#include <stddef.h>

enum { HEAD_BYTES = 64 };
_Static_assert(sizeof(struct span) <= HEAD_BYTES, "the head of a span");

struct span *ptoi_span_obtain(void)
{
    char *at = ptoi_memory_map(2 * SPAN_BYTES, false);
    if (!at) return NULL;
    const uint64_t before = (SPAN_BYTES - (uintptr_t)at % SPAN_BYTES) % SPAN_BYTES;
    if (before > 0) ptoi_memory_unmap(at, before);
    ptoi_memory_unmap(at + before + SPAN_BYTES, SPAN_BYTES - before);
    return (struct span *)(void *)(at + before);
}

void ptoi_span_return(struct span *s)
{
    if (s) ptoi_memory_unmap(s, SPAN_BYTES);
}

static void list(struct spans *all, struct span *s)
{
    struct span **first = &all->with_room[ptoi_size_class_index(s->block_bytes)];
    s->next = *first;
    s->link = first;
    if (s->next) s->next->link = &s->next;
    *first = s;
}

static void unlist(struct span *s)
{
    *s->link = s->next;
    if (s->next) s->next->link = s->link;
    s->link = NULL;
}

void ptoi_span_add(struct spans *all, struct span *s, uint64_t block_bytes)
{
    *s = (struct span){.block_bytes = (uint32_t)block_bytes,
                       .count = (uint32_t)((SPAN_BYTES - HEAD_BYTES) / block_bytes)};
    list(all, s);
}

void *ptoi_span_take(struct spans *all, uint64_t block_bytes)
{
    struct span *s = all->with_room[ptoi_size_class_index(block_bytes)];
    if (!s) return NULL;
    void *block = s->free;
    if (block)
        s->free = *(void **)block;
    else
        block = (char *)s + HEAD_BYTES + (uint64_t)s->carved++ * block_bytes;
    s->used++;
    if (!s->free && s->carved == s->count) unlist(s);
    return block;
}

struct span *ptoi_span_give(struct spans *all, void *block, bool keeps_empty)
{
    struct span *s = (struct span *)((uintptr_t)block & ~(uintptr_t)(SPAN_BYTES - 1));
    CHECK(s->used > 0 && (uintptr_t)block % 64 == 0);
    *(void **)block = s->free;
    s->free = block;
    s->used--;
    if (!s->link) list(all, s);
    if (s->used > 0 || keeps_empty) return NULL;
    unlist(s);
    return s;
}

struct span *ptoi_span_empty(struct spans *all)
{
    for (int i = 0; i <= ptoi_size_class_index(SPAN_MAX_BLOCK); i++)
        for (struct span *s = all->with_room[i]; s; s = s->next)
            if (s->used == 0) {
                unlist(s);
                return s;
            }
    return NULL;
}
