/* request.c - work requests: copies from device to device, and rows gathered or scattered by an index.
 *
 * Idea       a piece that is contiguous in both views is one aclrtMemcpyAsync; all copies of a request are on one
 *            stream, in order, and waited for once.  The host reads the indices first, so that a bad index fails before
 *            anything is written.
 * Blocks     until the copies have ended.
 * Tests      test/ascend, and what test/runtime/test_requests.c asks of sim */
#include "backend/transfer.h"
#include "device.h"
#include <stdlib.h>

struct move {
    struct device *d;
    struct stream *s;
};

static bool move_bytes(struct move *m, char *to, const char *from, int64_t bytes)
{
    m->s->is_lost = true;
    return ptoi_ascend_is_fine(
        m->d, "aclrtMemcpyAsync",
        m->d->acl->aclrtMemcpyAsync(to, (size_t)bytes, from, (size_t)bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, m->s->stream));
}

/* Elements that lie behind each other in both views, from dimension k on; 0: there are several pieces. */
static int64_t contiguous(const PTOArg *dst, const PTOArg *src, int k)
{
    int64_t elements = 1;
    for (int i = dst->rank - 1; i >= k; i--) {
        if (dst->shape[i] != 1 && (dst->stride[i] != elements || src->stride[i] != elements)) return 0;
        elements *= dst->shape[i];
    }
    return elements;
}

/* The part of both below dimension k. */
static bool move_from(struct move *m, char *to, const PTOArg *dst, const char *from, const PTOArg *src, int k,
                      int64_t element)
{
    const int64_t elements = contiguous(dst, src, k);
    if (elements > 0) return move_bytes(m, to, from, elements * element);
    for (int64_t i = 0; i < dst->shape[k]; i++)
        if (!move_from(m, to + i * dst->stride[k] * element, dst, from + i * src->stride[k] * element, src, k + 1,
                       element))
            return false;
    return true;
}

static bool move_view(struct move *m, char *to, const PTOArg *dst, const char *from, const PTOArg *src, int k,
                      int64_t element)
{
    for (int i = k; i < dst->rank; i++)
        if (dst->shape[i] == 0) return true;
    if (to && from) return move_from(m, to, dst, from, src, k, element);
    ptoi_ascend_fail(m->d, false,
                     "a buffer of a work request is not in memory that the device knows: register it with pto_buffer");
    return false;
}

/* The index, dense, on the host; NULL: that failed. */
static int64_t *read_index(struct move *m, const PTOArg *index)
{
    const int64_t count = index->shape[0], stride = index->stride[0];
    int64_t *row = malloc((size_t)(count > 0 ? count : 1) * sizeof *row);
    const char *from = ptoi_ascend_reach(m->d, index->ptr);
    if (!row || (!from && count > 0)) {
        ptoi_ascend_fail(m->d, false,
                         row ? "the index is not in memory that the device knows" : "no memory for an index");
        free(row);
        return NULL;
    }
    const int64_t pieces = count > 0 && stride != 1 ? count : 1, bytes = (count / pieces) * (int64_t)sizeof *row;
    bool ok = true;
    for (int64_t i = 0; i < pieces && bytes > 0 && ok; i++)
        ok =
            ptoi_ascend_is_fine(m->d, "aclrtMemcpy",
                                m->d->acl->aclrtMemcpy(&row[i], (size_t)bytes, from + i * stride * (int64_t)sizeof *row,
                                                       (size_t)bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    if (ok) return row;
    free(row);
    return NULL;
}

static int move_rows(struct move *m, const PTOWorkRequest *r, bool gathers)
{
    struct row_transfer t;
    if (!ptoi_is_row_transfer(r, gathers, &t)) return PTO_REQUEST_BAD;
    const char *from = ptoi_ascend_reach(m->d, t.src->ptr);
    char *to = ptoi_ascend_reach(m->d, t.dst->ptr);
    int64_t *row = read_index(m, t.index);
    if (!row) return PTOI_MACHINE_FAILED;
    int result = 0;
    for (int64_t k = 0; k < t.count && result == 0; k++)
        if (row[k] < 0 || row[k] >= t.limit) result = PTO_REQUEST_INDEX;
    for (int64_t k = 0; k < t.count && result == 0; k++) {
        const int64_t here = gathers ? k : row[k], there = gathers ? row[k] : k;
        if (!move_view(m, to ? to + here * t.dst->stride[0] * t.element : NULL, t.dst,
                       from ? from + there * t.src->stride[0] * t.element : NULL, t.src, 1, t.element))
            result = PTOI_MACHINE_FAILED;
    }
    free(row);
    return result;
}

static int copy(struct move *m, const PTOWorkRequest *r)
{
    if (!ptoi_is_copy(r)) return PTO_REQUEST_BAD;
    const PTOArg *src = &r->buffer[0], *dst = &r->buffer[1];
    const bool is_fine = move_view(m, ptoi_ascend_reach(m->d, dst->ptr), dst, ptoi_ascend_reach(m->d, src->ptr), src, 0,
                                   pto_type_bytes((PTOType)src->type));
    return is_fine ? 0 : PTOI_MACHINE_FAILED;
}

int ptoi_ascend_request(const struct backend *b, const PTOKernel *kernel, const PTOWorkRequest *request)
{
    struct move m = {.d = device_of(b)};
    m.s = ptoi_ascend_stream(m.d, kernel->worker);
    if (!m.s) return PTOI_MACHINE_FAILED;
    int result = PTO_REQUEST_BAD;
    if (request->opcode == PTO_OP_COPY) result = copy(&m, request);
    if (request->opcode == PTO_OP_GATHER_ROWS) result = move_rows(&m, request, true);
    if (request->opcode == PTO_OP_SCATTER_ROWS) result = move_rows(&m, request, false);
    if (m.s->is_lost && result == 0 && !ptoi_ascend_wait(m.d, m.s, "a copy")) return PTOI_MACHINE_FAILED;
    return result;
}

bool ptoi_ascend_has_operation(const struct backend *b, int32_t opcode)
{
    (void)b;
    return opcode > PTO_OP_NONE && opcode < PTO_OPCODES;
}
