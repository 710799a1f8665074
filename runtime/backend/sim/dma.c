/* dma.c - the fixed-function accelerators of the sim backend: copies, and rows gathered or scattered by an index.
 * Idea       a request carries shapes and strides of its buffers, so one loop nest over elements serves every layout.
 * Blocks     never.  Returns 0, or what is wrong with the request: 1 shapes or types, 2 an index out of range, 3 the opcode.
 * Tests      test/runtime/test_requests.c
 */
#include "backend.h"
#include <string.h>

enum { BAD_REQUEST = 1, BAD_INDEX = 2, BAD_OPCODE = 3 };

static bool same_shape(const PTOArg *a, const PTOArg *b, int from)
{
    if (a->rank != b->rank || a->type != b->type) return false;
    for (int d = from; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

/* Copies what lies below dimension d of both. */
static void copy_from(char *to, const PTOArg *dst, const char *from, const PTOArg *src, int d, size_t element)
{
    if (d == dst->rank) {
        memcpy(to, from, element);
        return;
    }
    if (d == dst->rank - 1 && dst->stride[d] == 1 && src->stride[d] == 1) {
        if (dst->shape[d] > 0) memcpy(to, from, (size_t)dst->shape[d] * element);
        return;
    }
    for (int64_t i = 0; i < dst->shape[d]; i++)
        copy_from(to + i * dst->stride[d] * (int64_t)element, dst, from + i * src->stride[d] * (int64_t)element, src, d + 1, element);
}

static int move_rows(const PTOWorkRequest *r, bool gathers)
{
    if (r->buffer_count != 3) return BAD_REQUEST;
    const PTOArg *src = &r->buffer[0], *index = &r->buffer[1], *dst = &r->buffer[2];
    const PTOArg *whole = gathers ? src : dst, *picked = gathers ? dst : src;
    if (src->rank < 1 || !same_shape(src, dst, 1) || index->rank != 1 || index->type != PTO_I64 || index->shape[0] != picked->shape[0])
        return BAD_REQUEST;
    const int64_t element = pto_type_bytes((PTOType)src->type);
    const int64_t *row = index->ptr;
    for (int64_t k = 0; k < index->shape[0]; k++) { /* all indices before the first byte is written */
        int64_t at = row[k * index->stride[0]];
        if (at < 0 || at >= whole->shape[0]) return BAD_INDEX;
    }
    for (int64_t k = 0; k < index->shape[0]; k++) {
        int64_t at = row[k * index->stride[0]], to = gathers ? k : at, from = gathers ? at : k;
        copy_from((char *)dst->ptr + to * dst->stride[0] * element, dst, (const char *)src->ptr + from * src->stride[0] * element, src, 1,
                  (size_t)element);
    }
    return 0;
}

int ptoi_sim_request(const PTOWorkRequest *r)
{
    switch (r->opcode) {
    case PTO_OP_COPY:
        if (r->buffer_count != 2 || !same_shape(&r->buffer[0], &r->buffer[1], 0)) return BAD_REQUEST;
        copy_from(r->buffer[1].ptr, &r->buffer[1], r->buffer[0].ptr, &r->buffer[0], 0, (size_t)pto_type_bytes((PTOType)r->buffer[0].type));
        return 0;
    case PTO_OP_GATHER_ROWS: return move_rows(r, true);
    case PTO_OP_SCATTER_ROWS: return move_rows(r, false);
    default: return BAD_OPCODE;
    }
}
