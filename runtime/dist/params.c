/* params.c - what a task on several ranks touches: the boxes of its tensors.  See place.h.
 *
 * Note [boxes]: a region that is not a box of its tensor, such as every second row, is covered by one.  A read of the
 * cover is harmless.  A task that writes such a region reads all of the cover too, so the bytes between are current,
 * and sending the cover home changes nothing but what the task wrote.
 *
 * Tests      test/wire */
#include "place.h"
#include "submit/failing.h"
#include <string.h>

/* The next use has its box and the home of that. */
static void take_use(struct task *k, struct tensor *t, int64_t elements, bool reads, bool writes)
{
    struct use *u = &k->use[k->uses++];
    u->tensor = t;
    u->reads = reads;
    u->writes = writes;
    u->bytes = elements * t->home.unit;
}

/* The same of a box of which nothing is known. */
static void take_new_use(struct dist *d, struct task *k, struct tensor *t, bool reads, bool writes)
{
    const struct box *box = &k->use[k->uses].box;
    int64_t begin = 0, elements = 1;
    if (t->buffer) ptoi_orch_show(&d->core->orch, t->buffer);
    ptoi_ask_item(&d->asked, asked_head(ASKED_BOX, k->index, t->home.rank + 1, k->params[k->index].kind, t->number));
    for (int32_t i = 0; i < t->home.rank; i++) {
        const int64_t extent = box->high[i] - box->low[i];
        begin = begin * t->home.shape[i] + box->low[i];
        elements *= extent;
        ptoi_ask(&d->asked, (uint64_t)extent);
    }
    ptoi_ask(&d->asked, (uint64_t)begin);
    take_use(k, t, elements, reads, writes);
}

static void ask_view(struct dist *d, const uint64_t *word, int32_t count)
{
    if (count > 0) ptoi_ask_item(&d->asked, word[0]);
    for (int32_t i = 1; i < count; i++) ptoi_ask(&d->asked, word[i]);
}

/* The form of a view, where there is no box yet. */
static void ask_form(struct dist *d, const struct task *k, const PTOArg *view)
{
    const struct distribution nothing = {.unit = 0};
    const struct box none = {{0}, {0}};
    uint64_t word[VIEW_WORDS(PTO_MAX_RANK)];
    ask_view(d, word, ptoi_view_item(word, k->index, 1, view->rank, view->shape, view->stride, &nothing, &none));
}

/* view: NULL: it is a part of one that was asked.  *is_box: it is a box of its tensor. */
static PTOStatus add_use(struct dist *d, struct task *k, struct region *region, const void *base, const PTOArg *view,
                         bool reads, bool writes, bool *is_box)
{
    struct tensor *t = ptoi_dist_tensor(d, base);
    if (t) {
        region->low -= (int64_t)(intptr_t)t->base;
        region->high -= (int64_t)(intptr_t)t->base;
    }
    if (!t || region->low < 0 || region->high > t->bytes)
        return ptoi_orch_fail(&d->core->orch, PTO_ERR_ARGUMENT,
                              "a task names memory that pto_buffer has not registered: on several ranks all memory of "
                              "the program must be");
    struct use *const u = &k->use[k->uses];
    *is_box = ptoi_home_box(&t->home, region, &u->box);
    u->home = ptoi_home_of_box(&t->home, d->ranks, &u->box);
    uint64_t word[VIEW_WORDS(PTO_MAX_RANK)];
    if (view && k->params[k->index].rank > 0)
        ask_view(d, word,
                 ptoi_view_item(word, k->index, pto_type_bytes((PTOType)view->type), view->rank, view->shape,
                                view->stride, &t->home, &u->box));
    take_new_use(d, k, t, reads || !*is_box, writes); /* Note [boxes] */
    return PTO_OK;
}

/* An output that has no buffer yet: all of it will live where the task runs. */
static void add_output(struct dist *d, struct task *k, const PTOArg *view)
{
    ptoi_ask_item(&d->asked, asked_head(ASKED_OUTPUT, k->index, view->rank, 0, 0));
    struct output *const made = &k->output[k->outputs++];
    struct distribution *const home = &made->home;
    home->rank = view->rank;
    home->unit = (int32_t)pto_type_bytes((PTOType)view->type);
    home->first = NO_HOME;
    for (int i = 0; i < view->rank; i++) {
        home->shape[i] = home->cell[i] = view->shape[i];
        home->grid[i] = 1;
        ptoi_ask(&d->asked, (uint64_t)view->shape[i]);
    }
    made->index = k->index;
    made->bytes = ptoi_home_bytes(home);
    k->writes_some = true;
}

/* true: the task writes the tensor, which is its next use. */
static inline bool note_write(struct task *k, const PTOTaskParam *p)
{
    const bool writes = p->kind != PTO_PARAM_INPUT;
    k->writes_some |= writes;
    if (p->kind == PTO_PARAM_ACC && k->accumulator < 0) k->accumulator = k->uses;
    return writes;
}

/* The parameter is like that of the last task of the kernel. */
static inline bool add_known(struct dist *d, struct task *k, const struct known_box *known)
{
    const PTOTaskParam *p = &k->params[k->index];
    struct use *const u = &k->use[k->uses];
    if (ptoi_known_form(p) != known->form) return false;
    const uint64_t begin = ptoi_known_box_begin(known, p);
    if (begin == NO_ELEMENT) return false;
    u->home = ptoi_known_box_home(known, begin, d->ranks);
    if (u->home == NO_BOX) return false;
    ptoi_known_box_write(known, begin, &u->box);
    const bool writes = note_write(k, p);
    ptoi_ask_known(&d->asked, known->item, known->words - 1, known->sum);
    ptoi_ask_known(&d->asked, &begin, 1, begin * known->key_of_begin);
    take_use(k, known->tensor, known->box_elements, p->kind != PTO_PARAM_OUTPUT, writes);
    return true;
}

/* The view is all of a buffer that a task has made, in the same form. */
static bool add_whole(struct dist *d, struct task *k)
{
    const PTOTaskParam *p = &k->params[k->index];
    const char *base = p->buffer;
    if (p->kind < PTO_PARAM_INPUT || p->kind > PTO_PARAM_ACC || p->rank == 0 || p->at != 0 || !p->shape) return false;
    if (p->kind == PTO_PARAM_OUTPUT) {
        if (!p->ref) return false;
        memcpy(&base, p->ref, sizeof base);
    }
    const uint32_t buffer = ptoi_orch_holder(&d->core->orch, base);
    struct tensor *t = buffer ? ptoi_dist_of_buffer(d, buffer) : NULL;
    if (!t || t->base != base || t->home.rank != p->rank || t->home.unit != pto_type_bytes((PTOType)p->type))
        return false;
    struct use *const u = &k->use[k->uses];
    int64_t apart = 1;
    for (int n = p->rank - 1; n >= 0; n--) {
        if (p->shape[n] != t->home.shape[n] || t->home.cell[n] != p->shape[n] || (p->stride && p->stride[n] != apart))
            return false;
        apart *= p->shape[n];
        u->box.low[n] = 0;
        u->box.high[n] = p->shape[n];
    }
    u->home = t->home.first;
    const bool writes = note_write(k, p);
    take_new_use(d, k, t, p->kind != PTO_PARAM_OUTPUT, writes);
    return true;
}

/* The next task of the kernel may have one like it.  An array that was registered with fewer bytes than its tensor has
 * is looked at each time. */
static void learn(const struct dist *d, const struct task *k, const char *base, struct known_kernel *known)
{
    const struct use *u = &k->use[k->uses - 1];
    struct tensor *t = u->tensor;
    const int64_t low = (int64_t)(intptr_t)t->base;
    ptoi_known_step_forget(&known->step); /* its tensors have other forms */
    if (t->buffer == 0) ptoi_dist_make_homes(t, d->ranks);
    if (t->buffer || !ptoi_map_exceeds(d->core->orch.edges.map, low, low, low + t->bytes))
        ptoi_known_box_learn(&known->box[k->index], &k->params[k->index], k->index, base, t, &u->box);
}

/* known: NULL: nothing of it is remembered. */
static PTOStatus add_tensor(struct dist *d, struct task *k, const PTOKernel *kernel, struct known_kernel *known)
{
    if (add_whole(d, k)) return PTO_OK;
    const PTOTaskParam *p = &k->params[k->index];
    struct orchestrator *o = &d->core->orch;
    PTOTaskParam plain = *p;
    struct orch_view view;
    struct region region;
    bool is_box;
    PTOStatus status = ptoi_orch_view(o, kernel, k->params, k->count, k->index, &view);
    if (status != PTO_OK) return status;
    const bool writes = plain.kind != PTO_PARAM_INPUT;
    if (view.is_empty) {
        ptoi_ask_item(&d->asked, asked_head(ASKED_PARAM, k->index, 0, plain.kind, 0));
        ask_form(d, k, &view.arg); /* what the kernel sees of it */
        k->writes_empty |= writes;
        return PTO_OK;
    }
    void *base = plain.buffer;
    if (plain.kind == PTO_PARAM_OUTPUT) {
        memcpy(&base, plain.ref, sizeof base);
        if (!base) {
            add_output(d, k, &view.arg);
            return PTO_OK;
        }
    }
    k->writes_some |= writes;
    if ((plain.kind == PTO_PARAM_ACC) && k->accumulator < 0) k->accumulator = k->uses;
    struct tensor *t = ptoi_dist_tensor(d, base);
    if (t && !t->is_settled) {
        ask_form(d, k, &view.arg); /* the homes depend on it */
        ptoi_dist_first_use(d, t, &view.arg);
    }
    if (t && t->is_lent) {
        const bool all_fail = o->meet != NULL;
        ptoi_dist_meets(d, false); /* only this rank reads */
        status = ptoi_dist_lend(d, t);
        ptoi_dist_meets(d, all_fail);
        if (status != PTO_OK) return status;
    }
    const bool fits = ptoi_region_make(&region, (int64_t)(intptr_t)view.arg.ptr, pto_type_bytes((PTOType)view.arg.type),
                                       view.arg.rank, view.arg.shape, view.arg.stride);
    if (!fits)
        return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "kernel '%s': parameter %d: the region is too large", kernel->name,
                              k->index);
    if (plain.kind == PTO_PARAM_INOUT_PART) {
        status = add_use(d, k, &region, base, &view.arg, true, false, &is_box);
        if (status != PTO_OK || !ptoi_orch_part(&plain, &region)) return status;
        return add_use(d, k, &region, base, NULL, false, true, &is_box);
    }
    status = add_use(d, k, &region, base, &view.arg, plain.kind != PTO_PARAM_OUTPUT, writes, &is_box);
    if (status == PTO_OK && known && is_box) learn(d, k, base, known);
    return status;
}

static bool is_tensor(uint8_t kind)
{
    return kind != PTO_PARAM_PRIORITY && kind != PTO_PARAM_AT && kind != PTO_PARAM_NAME && kind != PTO_PARAM_TIMEOUT;
}

PTOStatus ptoi_dist_read_params(struct dist *d, struct task *k, const PTOKernel *kernel, const PTOTaskParam *params,
                                int32_t count)
{
    PTOStatus status = PTO_OK;
    struct known_kernel *known = ptoi_known_boxes_of(&d->known, kernel);
    if (!known) {
        const char *const name = ptoi_dist_kernel_name(kernel);
        known = ptoi_known_boxes_take(&d->known, kernel, name, ptoi_dist_mix_text(1, name));
    }
    k->params = params;
    k->count = count;
    k->uses = k->outputs = 0;
    k->accumulator = -1;
    k->writes_some = k->writes_empty = false;
    k->priority.kind = k->at.kind = 0;
    ptoi_dist_begin_step(d);
    ptoi_ask_item(&d->asked, asked_head(ASKED_TASK, 0, 1, 0, 0));
    ptoi_ask(&d->asked, known->name);
    for (int32_t i = 0; i < count && status == PTO_OK; i++) {
        k->index = i;
        struct known_box *const box = i < KNOWN_BOXES ? &known->box[i] : NULL;
        if (box && add_known(d, k, box)) continue;
        if (params[i].kind == PTO_PARAM_SCALAR) {
            ptoi_ask_item(&d->asked, asked_head(ASKED_SCALAR, i, 1, 0, 0));
            ptoi_ask(&d->asked, (uint64_t)params[i].value.i64);
            continue;
        }
        if (!is_tensor(params[i].kind)) {
            ptoi_ask_item(&d->asked, asked_head(ASKED_PARAM, i, 0, params[i].kind, 0));
            if (params[i].kind == PTO_PARAM_PRIORITY) k->priority = params[i];
            if (params[i].kind == PTO_PARAM_AT) k->at = params[i];
        } else if (k->uses + 2 <= 2 * PTO_MAX_PARAMS &&
                   k->outputs < PTO_MAX_PARAMS) { /* else the submit refuses them */
            status = add_tensor(d, k, kernel, box ? known : NULL);
        }
    }
    known->makes_buffers = k->outputs > 0;
    return status;
}
