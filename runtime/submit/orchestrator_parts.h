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
/* The scope that owns a new output; below 0: it is closed. */
int32_t ptoi_orch_owner(const struct orchestrator *o, PTOScope scope);

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

/* "P" of PTO_OUTPUT(&P, ...): the program calls it P. */
static inline const char *ptoi_param_text(const PTOTaskParam *p)
{
    return p->name ? p->name + (p->name[0] == '&') : "an argument";
}

/* Of a PTO_TIMEOUT; false: it is none, and the run has failed. */
bool ptoi_orch_limit(struct orchestrator *o, const PTOTaskParam *p, int64_t *ms);

static inline int64_t ptoi_element_bytes(uint8_t type)
{
    static const uint8_t bytes[PTO_TYPE_COUNT] = {
        [PTO_BYTE] = 1, [PTO_F16] = 2, [PTO_BF16] = 2, [PTO_F32] = 4, [PTO_F64] = 8, [PTO_I8] = 1,  [PTO_I16] = 2,
        [PTO_I32] = 4,  [PTO_I64] = 8, [PTO_U8] = 1,   [PTO_U16] = 2, [PTO_U32] = 4, [PTO_U64] = 8, [PTO_BOOL] = 1,
    };
    return bytes[type];
}

/* Row-major strides of a shape without negative extents, and how many elements it has, 0 included.  false: they are too
 * many. */
static inline bool ptoi_lay_out(int32_t rank, const int64_t *shape, int64_t *stride, int64_t *elements)
{
    int64_t step = 1;
    bool fits = true, empty = false;
    for (int32_t d = rank - 1; d >= 0; d--) {
        stride[d] = step;
        empty |= shape[d] == 0;
        fits &= !__builtin_mul_overflow(step, shape[d] + (shape[d] == 0), &step);
    }
    *elements = empty ? 0 : step;
    return fits;
}

/* elide.c: what pto_submit_task does when o->elides; false: this task can not run at its submit, and nothing was
 * done. */
bool ptoi_orch_submit_now(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                          int64_t *number);

#endif
