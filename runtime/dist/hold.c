/* hold.c - a task that makes buffers, and is like the last one of its kernel, is held back in one pass.
 *
 * Idea       what skipped.c does with a task that writes memory which has a home.  A task whose tensors lie on this
 *            rank, or in several cells, or are made by others, is left to submit.c before anything has changed.
 * Owner      the orchestrator.
 * Invariant  the task that is held back, its buffers and the words are those that submit.c would leave.
 * Blocks     while the heap is full.
 * Tests      test/wire/test_skipped.c, stress_ranks.c */
#include "held.h"
#include "skipped.h"

static inline enum passed pass_tensor(const struct dist *d, struct task *k, struct own_words *own,
                                      const PTOTaskParam *p, struct known_box *known)
{
    if (ptoi_known_form(p) != known->form || !ptoi_known_box_is_like(known, p)) return HAS_OTHER_FORM;
    if (p->kind != PTO_PARAM_INPUT) return CONCERNS_US;
    const uint64_t begin = (uint64_t)(known->first + p->at * known->step);
    struct use *const u = &k->use[k->uses];
    u->home = ptoi_known_box_near_home(known, begin, d->ranks);
    if (u->home < 0 || u->home == d->me) return CONCERNS_US;
    ptoi_known_box_write(known, begin, &u->box);
    u->tensor = known->tensor;
    u->bytes = known->box_elements * known->tensor->home.unit;
    u->reads = true;
    u->writes = false;
    k->uses++;
    ptoi_dist_add_own(own, begin, known->key_of_begin);
    return PASSED;
}

/* Keeps a parameter, of which h->params has a copy, and which has at most FORM_RANK dimensions. */
static inline void keep_extents(struct held *h, PTOTaskParam *p, int32_t index)
{
    if (p->shape) {
        for (int k = 0; k < FORM_RANK && k < p->rank; k++) h->shape[index][k] = p->shape[k];
        p->shape = h->shape[index];
    }
    if (p->stride) {
        for (int k = 0; k < FORM_RANK && k < p->rank; k++) h->stride[index][k] = p->stride[k];
        p->stride = h->stride[index];
    }
}

static inline enum passed pass(const struct dist *d, struct held *h, struct own_words *own,
                               const struct known_step *step, struct known_kernel *known)
{
    struct task *const k = &h->task;
    for (int32_t i = 0; i < k->count; i++) {
        PTOTaskParam *const p = &h->params[i];
        *p = k->params[i];
        const uint8_t kind = step->kind[i];
        if (kind == TENSOR_KIND) {
            const enum passed passed = pass_tensor(d, k, own, p, &known->box[i]);
            if (passed != PASSED) return passed;
            keep_extents(h, p, i);
        } else if (kind == NEW_KIND) {
            void *base = NULL;
            if (ptoi_known_form(p) != known->made[i].form || !ptoi_known_made_is_like(&known->made[i], p) || !p->ref)
                return HAS_OTHER_FORM;
            memcpy(&base, p->ref, sizeof base);
            if (base) return HAS_OTHER_FORM;
            keep_extents(h, p, i);
            k->outputs++;
        } else if (kind == MADE_KIND) {
            return CONCERNS_US;
        } else if (p->kind != kind) {
            return HAS_OTHER_FORM;
        } else if (kind == PTO_PARAM_SCALAR) {
            ptoi_dist_add_own(own, (uint64_t)p->value.i64, step->key[i]);
        } else if (kind == PTO_PARAM_PRIORITY) {
            k->priority = *p;
        }
    }
    return k->outputs > 0 ? PASSED : HAS_OTHER_FORM;
}

/* A tensor for each buffer, which is a use of the task from now on.  false: the run has failed. */
static bool make_buffers(struct dist *d, struct held *h, const struct known_step *step,
                         const struct known_kernel *known)
{
    struct task *const k = &h->task;
    struct orchestrator *const o = &d->core->orch;
    uint8_t output = 0;
    for (int32_t i = 0; i < k->count; i++) {
        if (step->kind[i] != NEW_KIND) continue;
        PTOTaskParam *const p = &h->params[i];
        const struct known_made *const m = &known->made[i];
        void *base = NULL;
        if (d->local.alloc(d->rt, p->scope, m->bytes, p->name, &base) != PTO_OK) return false;
        memcpy(p->ref, &base, sizeof base);
        h->base[i] = base;
        p->ref = &h->base[i];
        const uint32_t buffer = ptoi_orch_holder(o, base);
        struct buffer_record *const r = ptoi_record(&o->scopes, buffer);
        r->maker = (uint64_t)h->number;
        r->output = output++;
        struct use *const u = &k->use[k->uses++];
        u->tensor =
            ptoi_dist_add_whole(d, base, m->bytes, buffer, p->rank, (int32_t)pto_type_bytes((PTOType)p->type), m->view);
        if (!u->tensor) return false;
        u->bytes = m->bytes;
        u->home = NO_HOME;
        u->reads = false;
        u->writes = true;
        for (int32_t n = 0; n < p->rank; n++) u->box.low[n] = 0, u->box.high[n] = m->view[n];
    }
    k->outputs = 0;
    k->params = h->params;
    return true;
}

bool ptoi_dist_hold(struct dist *d, struct known_kernel *known, const PTOTaskParam *params, int32_t count)
{
    struct known_step *const step = &known->step;
    if (d->held_count == HELD_TASKS || d->ranks < 2 ||
        (!ptoi_known_step_is_there(step, &d->asked, count, 0) && !ptoi_known_step_learn(d, known, params, count, 0)))
        return false;
    struct held *const h = &d->held[d->held_count];
    struct task *const k = &h->task;
    uint64_t *const begin = ptoi_ask_next(&d->asked);
    struct own_words own = {.next = begin, .sum = step->sum};
    k->params = params;
    k->count = count;
    k->runs = NO_HOME;
    k->uses = k->outputs = 0;
    k->accumulator = -1;
    k->writes_some = true;
    k->writes_empty = false;
    k->priority.kind = k->at.kind = 0;
    const enum passed passed = pass(d, h, &own, step, known);
    if (passed == HAS_OTHER_FORM) ptoi_known_step_forget(step);
    if (passed != PASSED) return false;
    const int64_t number = load_relaxed(&d->tasks); /* relaxed: see dist.h */
    h->kernel = known->kernel;
    h->site = *d->core->orch.site;
    h->number = number;
    h->first_tensor = d->tensors;
    if (!make_buffers(d, h, step, known)) return false;
    h->end_tensor = d->tensors;
    ptoi_dist_skip_step(d, known, h->site, own.sum, (uint64_t)(own.next - begin));
    store_relaxed(&d->tasks, number + 1); /* relaxed: see dist.h */
    d->number = number;
    d->held_count++;
    return true;
}
