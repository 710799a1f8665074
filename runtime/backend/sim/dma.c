/* dma.c - the fixed-function accelerators of the sim backend: copies, and rows gathered or scattered by an index.
 * Idea       a request carries shapes and strides of its buffers, so one loop nest over rows serves every layout.
 * Blocks     never.  Returns 0, or PTO_REQUEST_BAD or PTO_REQUEST_INDEX for a bad request.
 * Tests      test/runtime/test_requests.c
 */
#include "sim.h"
#include <string.h>

static bool same_shape(const PTOArg *a, const PTOArg *b, int from)
{
    if (a->rank != b->rank || a->type != b->type) return false;
    for (int d = from; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

#define COPY_ELEMENTS(bytes)                                                                                           \
    for (int64_t i = 0; i < count; i++) memcpy(to + i * to_step * (bytes), from + i * from_step * (bytes), (bytes))

static void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count, size_t element)
{
    if (count <= 0) return;
    if (to_step == 1 && from_step == 1) {
        memcpy(to, from, (size_t)count * element);
        return;
    }
    switch (element) {
    case 1: COPY_ELEMENTS(1); break;
    case 2: COPY_ELEMENTS(2); break;
    case 4: COPY_ELEMENTS(4); break;
    default: COPY_ELEMENTS(8); break;
    }
}

/* Copies what lies below dimension d of both. */
static void copy_from(char *to, const PTOArg *dst, const char *from, const PTOArg *src, int d, size_t element)
{
    if (d == dst->rank) {
        memcpy(to, from, element);
        return;
    }
    if (d == dst->rank - 1) {
        copy_row(to, dst->stride[d], from, src->stride[d], dst->shape[d], element);
        return;
    }
    for (int64_t i = 0; i < dst->shape[d]; i++)
        copy_from(to + i * dst->stride[d] * (int64_t)element, dst, from + i * src->stride[d] * (int64_t)element, src,
                  d + 1, element);
}

static int move_rows(const PTOWorkRequest *r, bool gathers)
{
    if (r->buffer_count != 3) return PTO_REQUEST_BAD;
    const PTOArg *src = &r->buffer[0], *index = &r->buffer[1], *dst = &r->buffer[2];
    const PTOArg *whole = gathers ? src : dst, *picked = gathers ? dst : src;
    if (src->rank < 1 || !same_shape(src, dst, 1) || index->rank != 1 || index->type != PTO_I64 ||
        index->shape[0] != picked->shape[0])
        return PTO_REQUEST_BAD;
    const int64_t element = pto_type_bytes((PTOType)src->type);
    const int64_t *row = index->ptr;
    for (int64_t k = 0; k < index->shape[0]; k++) { /* all indices before the first byte is written */
        int64_t at = row[k * index->stride[0]];
        if (at < 0 || at >= whole->shape[0]) return PTO_REQUEST_INDEX;
    }
    for (int64_t k = 0; k < index->shape[0]; k++) {
        int64_t at = row[k * index->stride[0]], to = gathers ? k : at, from = gathers ? at : k;
        copy_from((char *)dst->ptr + to * dst->stride[0] * element, dst,
                  (const char *)src->ptr + from * src->stride[0] * element, src, 1, (size_t)element);
    }
    return 0;
}

int ptoi_sim_move(const PTOWorkRequest *r)
{
    if (r->opcode == PTO_OP_GATHER_ROWS) return move_rows(r, true);
    if (r->opcode == PTO_OP_SCATTER_ROWS) return move_rows(r, false);
    const PTOArg *src = &r->buffer[0], *dst = &r->buffer[1];
    if (r->opcode != PTO_OP_COPY || r->buffer_count != 2 || !same_shape(src, dst, 0)) return PTO_REQUEST_BAD;
    copy_from(dst->ptr, dst, src->ptr, src, 0, (size_t)pto_type_bytes((PTOType)src->type));
    return 0;
}
