/* known.c - see known.h. */
#include "known.h"
#include "parts.h"
#include <pto/pto_arithmetic.h>
#include <stddef.h>
#include <string.h>

enum { HEAD_AT = offsetof(struct arg_head, kind) };
_Static_assert(sizeof(struct arg_head) - HEAD_AT == sizeof(uint32_t), "the rest of a head is written as one");

static const PTOKernel nothing; /* no kernel of a program */

void ptoi_known_begin(struct known *k)
{
    for (int i = 0; i < PTO_FAST_LINES; i++) k->line[i]->kernel = &nothing;
}

struct known_view *ptoi_known_take(const struct known *k, struct known_view *first, const PTOKernel *kernel)
{
    if (!kernel || !kernel->fn || (unsigned)kernel->worker >= PTO_WORKER_TYPES || k->workers[kernel->worker] <= 0)
        return NULL;
    first->kernel = kernel;
    for (struct known_view *v = first; v < first + KNOWN_PARAMS; v++) {
        v->form = PTO_UNKNOWN;
        v->near = NULL;
    }
    return first;
}

/* Sets extents, unit and bytes; false: they are not plain, see pto_decode_tensor_. */
static bool learn_extents(struct known_view *v, const PTOTaskParam *p)
{
    int64_t *const e = v->extent;
    const uint8_t rank = p->rank;
    if (rank > PTO_PLAIN_RANK || (rank > 0 && (!p->shape || p->type >= PTO_TYPE_COUNT))) return false;
    ptoi_form_extents(p, e);
    if (rank == 0) {
        v->unit = (uint32_t)p->bytes;
        v->bytes = p->bytes;
        return p->type == PTO_BYTE && (((uint64_t)p->bytes - 1) | (uint64_t)p->at) >> 30 == 0;
    }
    uint64_t elements = 1, far = (uint64_t)p->at >> 40; /* unsigned; where one is too large, it is not used */
    for (int d = 0; d < rank; d++) {
        elements += ((uint64_t)e[d] - 1) * (uint64_t)e[rank + d];
        far |= ((uint64_t)e[d] - 1) >> 30 | (uint64_t)e[rank + d] >> 24;
    }
    v->unit = (uint32_t)pto_bytes_of_(p->type);
    v->bytes = (int64_t)(elements * v->unit);
    return far == 0;
}

static bool learn_rows(struct known_view *v, int rank)
{
    struct region r = {.low = 0, .rank = 0, .run = v->bytes};
    v->is_contiguous = pto_is_row_major(rank, v->extent, v->extent + rank);
    if (!v->is_contiguous) ptoi_region_of_rows(&r, 0, v->unit, rank, v->extent, v->extent + rank);
    v->rows = r.rank ? (struct rows){r.run, r.dim[0].count, r.dim[0].stride_bytes} : (struct rows){r.run, 1, 0};
    v->run = v->rows.count == 1 ? v->rows.run : 0;
    return r.rank <= 1;
}

bool ptoi_known_learn(struct known_view *v, const PTOTaskParam *p)
{
    const int rank = p->rank == 0 ? 1 : p->rank;
    v->form = PTO_UNKNOWN;
    if (!learn_extents(v, p) || !learn_rows(v, rank)) return false;
    const struct arg_head head = {.type = p->type, .rank = (uint8_t)rank};
    memcpy(&v->head, (const char *)&head + HEAD_AT, sizeof v->head);
    v->form = ptoi_form_of(p);
    v->extents = (uint16_t)(2 * rank);
    return true;
}
