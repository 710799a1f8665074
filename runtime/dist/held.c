/* held.c - see held.h. */
#include "held.h"
#include <string.h>

static const int64_t *copy_numbers(int64_t *to, const int64_t *from, int32_t count)
{
    return from ? memcpy(to, from, (size_t)count * sizeof *from) : NULL;
}

void ptoi_held_copy(struct held *h, const PTOTaskParam *params, int32_t count)
{
    h->count = count;
    for (int32_t i = 0; i < count; i++) {
        PTOTaskParam *p = &h->params[i];
        *p = params[i];
        p->shape = copy_numbers(h->shape[i], p->shape, p->rank);
        p->stride = copy_numbers(h->stride[i], p->stride, p->rank);
        if (p->kind != PTO_PARAM_OUTPUT) continue;
        memcpy(&h->base[i], p->ref, sizeof h->base[i]);
        p->ref = &h->base[i];
    }
}
