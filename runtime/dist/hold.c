/* hold.c - a task that makes buffers, and is like the last one of its kernel, is held back in one pass.
 *
 * Idea       what skipped.c does with a task that writes memory which has a home.  A task whose tensors lie on this
 *            rank, or in several cells, or are made by others, is left to submit.c before anything has changed.
 *            As much of it is kept as ptoi_held_complete() needs.
 * Owner      the orchestrator.
 * Invariant  the task that is held back, when it is complete, its buffers and the words are those that submit.c would
 *            leave.
 * Blocks     while the heap is full.
 * Tests      test/wire/test_skipped.c, stress_ranks.c */
#include "held.h"
#include "skipped.h"

/* A pass over the parameters. */
struct pass {
    struct own_words own;
    int32_t *home; /* of the next tensor that it reads */
    int32_t outputs;
    int32_t usual;   /* the rank of the kernel's last task */
    bool has_others; /* something that it reads has another home */
    struct {
        const PTOTaskParam *param;
        const struct known_made *like;
    } made[KNOWN_BOXES]; /* the new buffers */
};

static inline enum passed pass_read(const struct dist *d, struct pass *s, const PTOTaskParam *p,
                                    struct known_box *known)
{
    if (PTO_RARE_(p->kind != PTO_PARAM_INPUT)) return CONCERNS_US;
    const uint64_t begin = (uint64_t)(known->first + p->at * known->step);
    const int32_t home = ptoi_known_box_near_home(known, begin, d->ranks);
    if (PTO_RARE_(!ptoi_dist_is_foreign(d, home, s->usual, &s->has_others))) return CONCERNS_US;
    *s->home++ = home;
    ptoi_dist_add_own(&s->own, begin, known->key_of_begin);
    return PASSED;
}

static inline enum passed pass_made(struct pass *s, const PTOTaskParam *p, const struct known_made *known)
{
    void *base;
    if (PTO_RARE_(p->kind != PTO_PARAM_OUTPUT)) return CONCERNS_US;
    if (PTO_RARE_(!ptoi_known_made_is_like(known, p) || !p->ref)) return HAS_OTHER_FORM;
    memcpy(&base, p->ref, sizeof base);
    if (PTO_RARE_(base != NULL)) return HAS_OTHER_FORM;
    s->made[s->outputs].param = p;
    s->made[s->outputs++].like = known;
    return PASSED;
}

/* It is no tensor; the form says what it was. */
static inline enum passed pass_number(struct pass *s, const PTOTaskParam *p, int32_t index,
                                      const struct known_kernel *known)
{
    if (p->kind != known->step.kind[index]) return HAS_OTHER_FORM;
    if (p->kind == PTO_PARAM_SCALAR) ptoi_dist_add_own(&s->own, (uint64_t)p->value.i64, known->step.key[index]);
    return PASSED;
}

static inline enum passed pass(const struct dist *d, struct pass *s, const PTOTaskParam *params, int32_t count,
                               struct known_kernel *known)
{
    struct known_box *box = known->box;
    for (const PTOTaskParam *p = params; p < params + count; p++, box++) {
        const uint32_t form = ptoi_known_form(p);
        enum passed passed;
        if (form == box->matrix && ptoi_known_box_is_matrix(box, p))
            passed = pass_read(d, s, p, box);
        else if (form == box->form)
            passed = ptoi_known_box_is_like(box, p) ? pass_read(d, s, p, box) : HAS_OTHER_FORM;
        else if (form == box->made.form)
            passed = pass_made(s, p, &box->made);
        else
            passed = pass_number(s, p, (int32_t)(p - params), known);
        if (PTO_RARE_(passed != PASSED)) return passed;
    }
    return s->outputs > 0 ? PASSED : HAS_OTHER_FORM;
}

/* There is no room at once, or something is to be noted of the buffer.  0: the run has failed. */
static __attribute__((noinline)) uint32_t wait_for_room(struct dist *d, const PTOTaskParam *p, int64_t bytes)
{
    void *base = NULL;
    if (d->local.alloc(d->rt, p->scope, bytes, p->name, &base) != PTO_OK) return 0;
    return ptoi_orch_holder(&d->core->orch, base);
}

/* Output number `output` of the task.  false: the run has failed. */
static inline bool make_buffer(struct dist *d, struct held *h, int32_t output, const PTOTaskParam *p,
                               const struct known_made *m)
{
    struct orchestrator *const o = &d->core->orch;
    uint32_t buffer = ptoi_orch_hidden_room(o, p->scope, (uint64_t)m->bytes, p->name);
    if (PTO_RARE_(buffer == 0)) buffer = wait_for_room(d, p, m->bytes);
    if (PTO_RARE_(buffer == 0)) return false;
    struct buffer_record *const r = ptoi_record(&o->scopes, buffer);
    char *const base = o->heap_base + r->at;
    memcpy(p->ref, &base, sizeof base);
    r->maker = (uint64_t)h->number;
    r->output = (uint8_t)output;
    h->output[output] = ptoi_dist_add_whole(d, base, buffer, m);
    return h->output[output] != NULL;
}

/* Is it like the last one, or does it say from now on what the next one is like? */
static inline bool has_form(struct dist *d, struct known_kernel *known, const PTOTaskParam *params, int32_t count)
{
    if (ptoi_known_step_is_there(&known->step, &d->asked, count, 0)) return true;
    ptoi_held_complete(d);
    return ptoi_known_step_learn(d, known, params, count, 0);
}

static inline bool hold(struct dist *d, struct known_kernel *known, const PTOTaskParam *params, int32_t count)
{
    if (d->held_count == HELD_TASKS || d->ranks < 2 || !has_form(d, known, params, count)) return false;
    struct held *const h = &d->held[d->held_count];
    uint64_t *const begin = ptoi_ask_next(&d->asked);
    struct pass s;
    s.own = (struct own_words){.next = begin, .sum = known->step.sum};
    s.home = h->home;
    s.outputs = 0;
    s.usual = known->usual;
    s.has_others = false;
    const enum passed passed = pass(d, &s, params, count, known);
    if (PTO_RARE_(passed != PASSED)) {
        if (passed == HAS_OTHER_FORM) ptoi_known_step_forget(&known->step);
        return false;
    }
    const int64_t number = load_relaxed(&d->tasks); /* relaxed: see dist.h */
    h->site = *d->core->orch.site;
    h->number = number;
    h->first_tensor = d->tensors;
    h->kernel = known->kernel;
    h->like = known;
    h->count = count;
    memcpy(h->params, params, (size_t)count * sizeof *params);
    h->reads = (int32_t)(s.home - h->home);
    h->common_home = s.has_others ? NO_HOME : s.usual;
    h->outputs = s.outputs;
    for (int32_t i = 0; i < s.outputs; i++)
        if (!make_buffer(d, h, i, s.made[i].param, s.made[i].like)) return false;
    ptoi_dist_skip_step(d, known, h->site, s.own.sum, (uint64_t)(s.own.next - begin));
    store_relaxed(&d->tasks, number + 1); /* relaxed: see dist.h */
    d->number = number;
    d->held_count++;
    return true;
}

int64_t ptoi_dist_hold(struct dist *d, struct known_kernel *known, const PTOTaskParam *params, int32_t count,
                       submit_fn *other)
{
    if (!hold(d, known, params, count)) return other(&d->core->orch, known->kernel, params, count);
    return d->number;
}
