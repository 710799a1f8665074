/* held.c - see held.h. */
#include "held.h"
#include "submit/failing.h"
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

/* ---- lifetimes --------------------------------------------------------------------------------------------------- */

bool ptoi_held_has_room(const struct dist *d, uint64_t bytes)
{
    const uint64_t half = d->core->heap_bytes / 2, taken = d->core->orch.scopes.held * PTO_GRANULE;
    return taken <= half && bytes <= half - taken;
}

static void add_end(struct dist *d, uint32_t buffer)
{
    d->ends[d->ends_count++] = (struct held_end){.buffer = buffer, .tasks = d->held_count, .site = *d->core->orch.site};
}

bool ptoi_held_end(struct dist *d, uint32_t buffer)
{
    if (d->held_count == 0 || d->ends_count == HELD_ENDS || !ptoi_held_has_room(d, 0)) return false;
    add_end(d, buffer);
    return true;
}

static bool makes_for_outside(const struct dist *d)
{
    const struct scope_stack *const s = &d->core->orch.scopes;
    for (int32_t i = 0; i < d->held_count; i++) {
        const struct task *const k = &d->held[i].task;
        for (int32_t n = k->uses; n > 0 && k->use[n - 1].writes; n--) {
            const uint32_t buffer = k->use[n - 1].tensor->buffer;
            if (ptoi_record(s, buffer)->owner < s->depth && !ptoi_dist_has_released(d, buffer)) return true;
        }
    }
    return false;
}

bool ptoi_held_end_scope(struct dist *d)
{
    struct scope_stack *const s = &d->core->orch.scopes;
    const int32_t inner = s->depth - 1;
    int32_t count = 0;
    if (d->held_count == 0 || d->core->orch.buffers.outliving || !ptoi_held_has_room(d, 0) || !makes_for_outside(d))
        return false;
    for (uint32_t b = s->scope[inner].first; b && count <= HELD_ENDS; b = ptoi_record(s, b)->next)
        count += !ptoi_dist_has_released(d, b);
    if (count > HELD_ENDS - d->ends_count) return false;
    while (s->scope[inner].first) {
        const uint32_t b = s->scope[inner].first;
        if (!ptoi_dist_has_released(d, b)) add_end(d, b);
        ptoi_scope_disown(s, b);
        ptoi_scope_own(s, inner - 1, b);
    }
    return true;
}

PTOStatus ptoi_held_release(struct dist *d, int32_t tasks)
{
    struct orchestrator *const o = &d->core->orch;
    PTOStatus status = PTO_OK;
    for (; d->ends_next < d->ends_count && d->ends[d->ends_next].tasks <= tasks && status == PTO_OK; d->ends_next++) {
        const struct held_end *const e = &d->ends[d->ends_next];
        pto_at(d->rt, e->site);
        ptoi_dist_forget(d, e->buffer);
        status = ptoi_orch_release(o, o->heap_base + ptoi_record(&o->scopes, e->buffer)->at);
    }
    return status;
}
