/* transfer.c - see transfer.h. */
#include "transfer.h"

static bool same_shape(const PTOArg *a, const PTOArg *b, int from)
{
    if (a->rank != b->rank || a->type != b->type) return false;
    for (int d = from; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

bool ptoi_is_copy(const PTOWorkRequest *r)
{
    return r->buffer_count == 2 && same_shape(&r->buffer[0], &r->buffer[1], 0);
}

bool ptoi_is_row_transfer(const PTOWorkRequest *r, bool gathers, struct row_transfer *t)
{
    if (r->buffer_count != 3) return false;
    const PTOArg *src = &r->buffer[0], *index = &r->buffer[1], *dst = &r->buffer[2];
    const PTOArg *whole = gathers ? src : dst, *picked = gathers ? dst : src;
    if (src->rank < 1 || !same_shape(src, dst, 1) || index->rank != 1 || index->type != PTO_I64 ||
        index->shape[0] != picked->shape[0])
        return false;
    *t = (struct row_transfer){.src = src, .index = index, .dst = dst, .count = index->shape[0]};
    t->limit = whole->shape[0];
    t->element = pto_type_bytes((PTOType)src->type);
    return true;
}
