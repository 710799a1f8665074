/* known_box.c - see known_box.h. */
#include "known_box.h"
#include "dist.h"
#include <string.h>

enum { AT_BITS = 30, UNIT_BITS = 30 }; /* of `at`, and of the bytes that it counts: no product overflows */

void ptoi_known_boxes_begin(struct known_boxes *k)
{
    for (int i = 0; i < PTO_FAST_LINES; i++) k->line[i].kernel = NULL;
}

struct known_box *ptoi_known_boxes_take(struct known_boxes *k, const PTOKernel *kernel, uint64_t name)
{
    const uint32_t line = pto_kernel_line_(kernel);
    k->line[line].kernel = kernel;
    k->line[line].name = name;
    for (int i = 0; i < KNOWN_BOXES; i++) k->line[line].box[i].tensor = NULL;
    return k->line[line].box;
}

/* Row-major strides are those that the parameter does not bring along. */
static int64_t stride_of(const PTOTaskParam *p, int dimension)
{
    return p->stride ? p->stride[dimension] : dimension == 0 && p->rank == 2 ? p->shape[1] : 1;
}

static bool has_form(const struct known_box *b, const PTOTaskParam *p)
{
    if (p->type != b->type || p->rank != b->rank) return false;
    if (p->rank == 0) return p->bytes == b->shape[0];
    if (!p->shape || p->shape[0] != b->shape[0] || stride_of(p, 0) != b->stride[0]) return false;
    return p->rank == 1 || (p->shape[1] == b->shape[1] && stride_of(p, 1) == b->stride[1]);
}

bool ptoi_known_box_find(const struct known_box *b, const PTOTaskParam *p, struct box *box)
{
    const struct tensor *const t = b->tensor;
    const char *base = p->buffer;
    if (!t || (p->kind == PTO_PARAM_OUTPUT && !p->ref)) return false;
    if (p->kind == PTO_PARAM_OUTPUT) memcpy(&base, p->ref, sizeof base); /* a new one has no address yet */
    if (base != b->base || !has_form(b, p) || (uint64_t)p->at >> AT_BITS) return false;
    if (t->number != b->number || !t->is_settled || t->is_lent) return false;
    int64_t at = b->first + p->at * b->step;
    for (int32_t k = t->home.rank - 1; k > 0; k--) {
        const int64_t extent = t->home.shape[k], row = at / extent, low = at - row * extent;
        if (low + b->extent[k] > extent) return false;
        box->low[k] = low;
        box->high[k] = low + b->extent[k];
        at = row;
    }
    box->low[0] = at;
    box->high[0] = at + b->extent[0];
    return box->high[0] <= t->home.shape[0];
}

void ptoi_known_box_learn(struct known_box *b, const PTOTaskParam *p, const char *base, struct tensor *t,
                          const struct box *box)
{
    const int64_t unit = p->rank == 0 ? p->bytes : pto_bytes_of_(p->type), home_unit = t->home.unit;
    b->tensor = NULL;
    if (p->rank > 2 || (uint64_t)unit >> UNIT_BITS || unit % home_unit != 0 || (base - t->base) % home_unit != 0)
        return;
    for (int k = 0; k < p->rank; k++) {
        b->shape[k] = p->shape[k];
        b->stride[k] = stride_of(p, k);
        if (b->stride[k] < 0) return; /* it begins below its first element */
    }
    if (p->rank == 0) b->shape[0] = p->bytes;
    b->type = p->type;
    b->rank = p->rank;
    b->base = base;
    b->first = (base - t->base) / home_unit;
    b->step = unit / home_unit;
    for (int32_t k = 0; k < t->home.rank; k++) b->extent[k] = box->high[k] - box->low[k];
    b->number = t->number;
    b->tensor = t;
}
