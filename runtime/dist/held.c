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

void ptoi_held_use_output(struct task *k, struct tensor *t)
{
    struct use *const u = &k->use[k->uses++];
    u->tensor = t;
    u->bytes = t->bytes;
    u->home = NO_HOME;
    u->reads = false;
    u->writes = true;
    for (int32_t n = 0; n < t->home.rank; n++) u->box.low[n] = 0, u->box.high[n] = t->home.shape[n];
}

/* Extents and strides are those of the form, where the program has given any. */
static void complete_extents(struct held *h, int32_t index, const int64_t *view)
{
    PTOTaskParam *const p = &h->params[index];
    p->shape = copy_numbers(h->shape[index], p->shape ? view : NULL, p->rank);
    p->stride = copy_numbers(h->stride[index], p->stride ? view + p->rank : NULL, p->rank);
}

static void complete_read(struct task *k, const struct known_box *box, const PTOTaskParam *p, int32_t home)
{
    struct use *const u = &k->use[k->uses++];
    ptoi_known_box_write(box, (uint64_t)(box->first + p->at * box->step), &u->box);
    u->tensor = box->tensor;
    u->bytes = box->box_elements * box->tensor->home.unit;
    u->home = home;
    u->reads = true;
    u->writes = false;
}

static void complete(struct dist *d, struct held *h)
{
    struct task *const k = &h->task;
    const struct known_kernel *const like = h->like;
    int32_t reads = 0, outputs = 0;
    k->params = h->params;
    k->count = h->count;
    k->runs = NO_HOME;
    k->uses = k->outputs = 0;
    k->accumulator = -1;
    k->writes_some = true;
    k->writes_empty = false;
    k->priority.kind = k->at.kind = 0;
    for (int32_t i = 0; i < h->count; i++) {
        PTOTaskParam *const p = &h->params[i];
        if (p->kind == PTO_PARAM_INPUT) {
            complete_read(k, &like->box[i], p, h->home[reads++]);
            complete_extents(h, i, like->box[i].view);
        } else if (p->kind == PTO_PARAM_OUTPUT) {
            h->base[i] = h->output[outputs++]->base;
            p->ref = &h->base[i];
            complete_extents(h, i, like->box[i].made.view);
        } else if (p->kind == PTO_PARAM_PRIORITY) {
            k->priority = *p;
        }
    }
    for (int32_t i = 0; i < h->outputs; i++) {
        ptoi_orch_show(&d->core->orch, h->output[i]->buffer);
        ptoi_held_use_output(k, h->output[i]);
    }
    h->like = NULL;
    h->common_home = NO_HOME;
}

void ptoi_held_complete(struct dist *d)
{
    for (int32_t i = 0; i < d->held_count; i++)
        if (d->held[i].like) complete(d, &d->held[i]);
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
        const struct held *const h = &d->held[i];
        for (int32_t n = 0; n < h->outputs; n++) {
            const uint32_t buffer = h->output[n]->buffer;
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
