/* strip_buffers.c - memory for tensors that the calls of a strip make.
 *
 * Idea       a tensor of the loop's body is made once for each strip, and belongs to the scope of that strip as it
 *            would belong to the scope of an iteration.  One that outlives the loop is made before the first strip,
 *            where the first iteration would make it.
 * Owner      the orchestrator.
 * Invariant  a heap without room fails no run here: the loop goes on with single tasks, which need less at a time, and
 *            whose submit compacts the heap or proves the deadlock.
 * Blocks     while the heap is full.
 * Tests      test/runtime/test_strips.c */
#include "parts.h"
#include <pto/pto_arithmetic.h>
#include <pto/pto_strip.h>
#include <string.h>

static bool has_memory(const PTOTaskParam *p)
{
    void *at;
    memcpy(&at, p->ref, sizeof at); /* the program's variable may be of any pointer type */
    return at != NULL;
}

static bool is_made(const PTOTaskParam *p, bool is_private)
{
    return p->kind == PTO_PARAM_OUTPUT && p->ref && (p->flags & PTO_IS_PRIVATE_) == (is_private ? PTO_IS_PRIVATE_ : 0);
}

/* The bytes of a buffer for it; 0: a submit would refuse it, or make none. */
static int64_t bytes_of(const PTOTaskParam *p)
{
    if (p->type >= PTO_TYPE_COUNT || p->at != 0 || p->rank < 1 || p->rank > PTO_MAX_RANK || !p->shape) return 0;
    int64_t bytes = pto_bytes_of_(p->type);
    if (p->stride && !pto_is_row_major(p->rank, p->shape, p->stride)) return 0;
    for (int d = 0; d < p->rank; d++)
        if (p->shape[d] <= 0 || __builtin_mul_overflow(bytes, p->shape[d], &bytes)) return 0;
    return bytes;
}

bool ptoi_strip_lacks(const PTOStripCall *calls, int32_t count, bool *has_private)
{
    bool lacks = false;
    *has_private = false;
    for (int32_t c = 0; c < count; c++)
        for (int32_t i = 0; i < calls[c].count; i++) {
            const PTOTaskParam *const p = &calls[c].params[i];
            *has_private |= is_made(p, true);
            lacks |= is_made(p, false) && !has_memory(p);
        }
    return lacks;
}

PTOStatus ptoi_strip_make(struct orchestrator *o, const PTOStripCall *calls, int32_t count, bool is_private)
{
    for (int32_t c = 0; c < count; c++)
        for (int32_t i = 0; i < calls[c].count; i++) {
            const PTOTaskParam *const p = &calls[c].params[i];
            if (!is_made(p, is_private) || has_memory(p)) continue;
            const int64_t bytes = calls[c].step[i] == 0 ? bytes_of(p) : 0;
            if (bytes == 0) continue; /* without memory the strip is not built */
            void *made;
            const PTOStatus status = ptoi_strip_room(o, p->scope, (uint64_t)bytes, p->name, &made);
            if (status != PTO_OK) return status;
            memcpy(p->ref, &made, sizeof made);
        }
    return PTO_OK;
}

void ptoi_strip_forget(const PTOStripCall *calls, int32_t count)
{
    static void *const none = NULL;
    for (int32_t c = 0; c < count; c++)
        for (int32_t i = 0; i < calls[c].count; i++)
            if (is_made(&calls[c].params[i], true)) memcpy(calls[c].params[i].ref, &none, sizeof none);
}
