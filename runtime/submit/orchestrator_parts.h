/* orchestrator_parts.h - what the files of the orchestrator's role share; nobody else includes it. */
#ifndef PTOI_ORCHESTRATOR_PARTS_H
#define PTOI_ORCHESTRATOR_PARTS_H
#include "orchestrator.h"

/* Fails the run at the program's place; the status of the failure that sticks. */
PTOStatus ptoi_orch_fail(struct orchestrator *o, PTOStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A buffer owned by scope `owner`, in the chain of that depth.  Blocks while the heap is full. */
PTOStatus ptoi_orch_take_buffer(struct orchestrator *o, int32_t owner, uint64_t bytes, uint64_t birth, const char *name,
                                uint32_t *buffer);
/* record_task.c.  The newest task, which is published, is recorded. */
void ptoi_orch_record(struct orchestrator *o, uint64_t id);
/* The owner's reference is dropped. */
void ptoi_orch_let_go(struct orchestrator *o, uint32_t buffer);

/* Is it a buffer's address, as the program knows it? */
static inline bool ptoi_orch_is_in_heap(const struct orchestrator *o, const void *p)
{
    uint64_t offset = (uint64_t)((uintptr_t)p - (uintptr_t)o->heap_base);
    return offset < o->window->heap_bytes || ptoi_names_hold(&o->names, offset);
}

/* compaction.c.  Nothing is in flight, and the heap has no room: live buffers are moved until it has room.  false: it
 * never will. */
bool ptoi_compact(struct orchestrator *o, int32_t depth, uint64_t bytes);
uint64_t ptoi_compact_choose(struct orchestrator *o, uint32_t buffer, uint64_t bytes);
/* The program's address of a new buffer. */
static inline uint64_t ptoi_compact_name(struct orchestrator *o, uint32_t buffer, uint64_t place, uint64_t bytes)
{
    return o->moved == 0 ? place : ptoi_compact_choose(o, buffer, bytes);
}
uint32_t ptoi_compact_find(const struct orchestrator *o, uint64_t offset);
/* ptoi_buffer_at, by any name. */
static inline uint32_t ptoi_compact_buffer(const struct orchestrator *o, uint64_t offset)
{
    return offset < o->window->heap_bytes ? ptoi_buffer_at(&o->scopes, offset) : ptoi_compact_find(o, offset);
}

/* inline.c: what pto_submit_task does when o->runs_inline; false: this task cannot be executed inline, and nothing was
 * done. */
bool ptoi_orch_submit_now(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                          int64_t *number);

#endif
