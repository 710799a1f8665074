/* held.c - see held.h. */
#include "held.h"
#include <string.h>

static const int64_t *copy_numbers(int64_t *to, const int64_t *from, int32_t count)
{
    if (!from) return NULL;
    for (int32_t i = 0; i < count; i++) to[i] = from[i];
    return to;
}

void ptoi_held_copy(struct held *h, const struct task *k)
{
    memcpy(&h->task, k, offsetof(struct task, use) + (size_t)k->uses * sizeof *k->use);
    h->task.params = h->params;
    for (int32_t i = 0; i < k->count; i++) {
        PTOTaskParam *p = &h->params[i];
        *p = k->params[i];
        p->shape = copy_numbers(h->shape[i], p->shape, p->rank);
        p->stride = copy_numbers(h->stride[i], p->stride, p->rank);
        if (p->kind != PTO_PARAM_OUTPUT) continue;
        memcpy(&h->base[i], p->ref, sizeof h->base[i]);
        p->ref = &h->base[i];
    }
}
