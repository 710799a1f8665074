/* dma.c - the fixed-function accelerators of the sim backend: copies, and rows gathered or scattered by an index.
 * Idea       a request carries shapes and strides of its buffers, so one loop nest over rows serves every layout.
 * Blocks     never.  Returns 0, or PTO_REQUEST_BAD or PTO_REQUEST_INDEX for a bad request.
 * Tests      test/runtime/test_requests.c
 */
#include "backend/transfer.h"
#include "sim.h"
#include <string.h>

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
    struct row_transfer t;
    if (!ptoi_is_row_transfer(r, gathers, &t)) return PTO_REQUEST_BAD;
    const int64_t *row = t.index->ptr;
    for (int64_t k = 0; k < t.count; k++) { /* all indices before the first byte is written */
        int64_t at = row[k * t.index->stride[0]];
        if (at < 0 || at >= t.limit) return PTO_REQUEST_INDEX;
    }
    for (int64_t k = 0; k < t.count; k++) {
        int64_t at = row[k * t.index->stride[0]], to = gathers ? k : at, from = gathers ? at : k;
        copy_from((char *)t.dst->ptr + to * t.dst->stride[0] * t.element, t.dst,
                  (const char *)t.src->ptr + from * t.src->stride[0] * t.element, t.src, 1, (size_t)t.element);
    }
    return 0;
}

int ptoi_sim_move(const PTOWorkRequest *r)
{
    if (r->opcode == PTO_OP_GATHER_ROWS) return move_rows(r, true);
    if (r->opcode == PTO_OP_SCATTER_ROWS) return move_rows(r, false);
    if (r->opcode != PTO_OP_COPY || !ptoi_is_copy(r)) return PTO_REQUEST_BAD;
    const PTOArg *src = &r->buffer[0], *dst = &r->buffer[1];
    copy_from(dst->ptr, dst, src->ptr, src, 0, (size_t)pto_type_bytes((PTOType)src->type));
    return 0;
}
