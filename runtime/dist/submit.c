/* submit.c - a task on several ranks: the messages before it and after it.  See dist.h, place.h.
 *
 * Note [order of transfers]: a rank submits the transfers of a task, and the task, in the order of the program, and
 * transfers are tasks that read or write their piece.  So a receive comes after all earlier users of the old bytes and
 * before all later ones, and a home sends what the program had written there so far.  Nothing else orders two ranks.
 *
 * Tests      test/wire */
#include "held.h"
#include "shared/task.h"
#include "submit/failing.h"
#include <string.h>

/* ---- what is sent ------------------------------------------------------------------------------------------------ */

/* `rank` gets a piece, unless it has it. */
static PTOStatus bring_piece(struct dist *d, struct tensor *t, const struct box *piece, int32_t home, int32_t rank,
                             const PTOTaskParam *priority)
{
    if (home == rank || !ptoi_copies_keep(&d->copies, home, rank)) return PTO_OK;
    if (ptoi_copies_hold(&d->copies, &t->copies, &t->home, home, rank, piece)) {
        d->copies.used_again += rank == d->me; /* counted where the piece is needed, as a message where it is sent */
        return PTO_OK;
    }
    const int32_t source = ptoi_copies_source(&d->copies, &t->copies, &t->home, home, rank, piece);
    const PTOStatus status = ptoi_dist_send(d, t, piece, source, rank, priority);
    if (status == PTO_OK && !ptoi_copies_add(&d->copies, &t->copies, &t->home, home, rank, piece))
        return ptoi_dist_fail_memory(d);
    return status;
}

/* `rank` gets what it has not of a box.  home: of the cell in which it lies, or NO_HOME. */
static PTOStatus bring(struct dist *d, struct tensor *t, const struct box *box, int32_t home, int32_t rank,
                       const PTOTaskParam *priority)
{
    struct box piece;
    PTOStatus status = PTO_OK;
    if (home != NO_HOME) return bring_piece(d, t, box, home, rank, priority);
    for (struct pieces p = ptoi_pieces(&t->home, box, d->ranks);
         status == PTO_OK && ptoi_next_piece(&p, &piece, &home);)
        status = bring_piece(d, t, &piece, home, rank, priority);
    return status;
}

static PTOStatus send_piece_home(struct dist *d, const struct task *k, struct tensor *t, const struct box *piece,
                                 int32_t home)
{
    if (home == k->runs) return PTO_OK;
    const PTOStatus status = ptoi_dist_send(d, t, piece, k->runs, home, &k->priority);
    if (status == PTO_OK && !ptoi_copies_add(&d->copies, &t->copies, &t->home, home, k->runs, piece))
        return ptoi_dist_fail_memory(d);
    return status;
}

/* What the task wrote goes home, and its rank keeps it. */
static PTOStatus send_home(struct dist *d, const struct task *k, const struct use *u)
{
    struct tensor *t = u->tensor;
    struct box piece;
    int32_t home = u->home;
    if (t->home.first == NO_HOME) t->home.first = k->runs; /* its first writer */
    t->is_everywhere = false;
    t->is_written = true;
    if (!ptoi_copies_write(&d->copies, &t->copies, &t->home, &u->box, home != NO_HOME, k->runs))
        return ptoi_dist_fail_memory(d);
    PTOStatus status = PTO_OK;
    if (home != NO_HOME) return send_piece_home(d, k, t, &u->box, home);
    for (struct pieces p = ptoi_pieces(&t->home, &u->box, d->ranks);
         status == PTO_OK && ptoi_next_piece(&p, &piece, &home);)
        status = send_piece_home(d, k, t, &piece, home);
    return status;
}

/* ---- a plan of all ranks ----------------------------------------------------------------------------------------- */

/* The task was submitted here, as the newest. */
static PTOStatus plan_task(struct dist *d, const struct task *k, const PTOKernel *kernel, uint64_t id)
{
    const int64_t cost = ptoi_task_cost(d->core->window, id, d->core->orch.fast.open->params);
    ptoi_plan_add(d->plan, &(struct planned){.kind = PLANNED_TASK,
                                             .worker = (uint8_t)kernel->worker,
                                             .rank = k->runs,
                                             .amount = cost > 0 ? cost : 0});
    for (int32_t i = 0; i < k->uses; i++)
        ptoi_plan_use(d->plan, k->use[i].tensor->number, &k->use[i].tensor->home, &k->use[i].box, k->use[i].reads,
                      k->use[i].writes);
    struct noted *n = ptoi_noted_at(&d->notes, d->core->recorder, id);
    if (n) n->node = d->plan->nodes;
    return d->plan->is_full ? ptoi_dist_fail_memory(d) : PTO_OK;
}

static void plan_output(struct dist *d, const struct tensor *t)
{
    struct box all = {{0}, {0}};
    for (int32_t k = 0; k < t->home.rank; k++) all.high[k] = t->home.shape[k];
    ptoi_plan_use(d->plan, t->number, &t->home, &all, false, true);
}

static void plan_await(struct dist *d, const struct tensor *t, const struct box *box)
{
    for (int32_t k = 0; k < d->ranks; k++) {
        ptoi_plan_add(d->plan, &(struct planned){.kind = PLANNED_AWAIT, .rank = k});
        ptoi_plan_use(d->plan, t->number, &t->home, box, true, false);
    }
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* Another rank makes the outputs; here they get an address and no memory.  They have no birth, so a reader is in the
 * map, where a receive finds it, even if it says that the buffer has a single writer. */
static PTOStatus name_outputs(struct dist *d, const struct task *k)
{
    PTOStatus status = PTO_OK;
    for (int32_t i = 0; i < k->outputs && status == PTO_OK; i++) {
        const PTOTaskParam *p = &k->params[k->output[i].index];
        void *base = NULL;
        status = d->local.alloc(d->rt, p->scope, k->output[i].bytes, p->name, &base);
        if (status == PTO_OK) memcpy(p->ref, &base, sizeof base);
    }
    return status;
}

/* Of the task of that number. */
static PTOStatus own_outputs(struct dist *d, struct task *k, int64_t number)
{
    struct orchestrator *o = &d->core->orch;
    for (int32_t i = 0; i < k->outputs; i++) {
        void *base;
        struct output *const made = &k->output[i];
        memcpy(&base, k->params[made->index].ref, sizeof base);
        struct buffer_record *r = ptoi_record(&o->scopes, ptoi_orch_holder(o, base));
        r->maker = (uint64_t)number;
        r->output = (uint8_t)i;
        made->home.first = k->runs;
        struct tensor *t = made->tensor = ptoi_dist_add(d, base, made->bytes, &made->home);
        if (!t) return PTO_ERR_NOMEM;
        t->is_settled = true;
        if (d->plan && k->runs != NO_HOME) plan_output(d, t);
    }
    return PTO_OK;
}

static bool is_valid(const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    return kernel && (unsigned)kernel->worker < PTO_WORKER_TYPES && count >= 0 && count <= PTO_TASK_PARAMS &&
           (count == 0 || params);
}

/* The task, with the messages before it and after it.  model: RANK_SUBMIT */
static PTOStatus submit(struct dist *d, struct task *k, const PTOKernel *kernel, int64_t number)
{
    PTOStatus status = PTO_OK;
    const bool is_fold = d->packs;
    d->number = number;
    for (int32_t i = 0; i < k->uses && status == PTO_OK; i++)
        if (k->use[i].reads && k->use[i].home != k->runs)
            status = bring(d, k->use[i].tensor, &k->use[i].box, k->use[i].home, k->runs, &k->priority);
    if (status == PTO_OK && d->packed_count > 0) status = ptoi_dist_send_packed(d, k->runs, &k->priority);
    d->packs = false;
    if (status != PTO_OK) return status;
    if (k->runs == d->me || d->plan) {
        const int64_t id = ptoi_dist_submit_here(d, kernel, k->params, k->count);
        if (id < 0) return (PTOStatus)id;
        if (d->plan) status = plan_task(d, k, kernel, (uint64_t)id);
    } else {
        status = name_outputs(d, k);
    }
    if (status == PTO_OK) status = own_outputs(d, k, number);
    for (int32_t i = 0; i < k->uses && status == PTO_OK; i++)
        if (k->use[i].writes) status = send_home(d, k, &k->use[i]);
    if (status == PTO_OK && d->copies.over) status = ptoi_dist_trim(d);
    d->tasks_of[k->runs] += !is_fold;
    d->folds += is_fold && k->runs == d->me;
    return status;
}

/* ---- tasks that are held back ------------------------------------------------------------------------------------ */

/* Nothing but new buffers says where it runs. */
static bool can_be_held(const struct dist *d, const struct task *k)
{
    for (int32_t i = 0; i < k->uses; i++)
        if (k->use[i].writes) return false;
    return d->ranks > 1 && k->outputs > 0 && !k->writes_empty && k->at.kind == 0;
}

/* Its new buffers, which have no home yet, are uses from now on. */
static void use_outputs(struct task *k)
{
    for (int32_t i = 0; i < k->outputs; i++) ptoi_held_use_output(k, k->output[i].tensor);
    k->outputs = 0;
}

/* The buffers have no home until the task has a rank. */
static PTOStatus hold(struct dist *d, struct task *k, const PTOKernel *kernel, int64_t number)
{
    uint64_t bytes = 0;
    for (int32_t i = 0; i < k->outputs; i++) bytes += (uint64_t)k->output[i].bytes + PTO_GRANULE;
    ptoi_dist_makes_room(d, bytes);
    PTOStatus status = d->held_count == HELD_TASKS ? ptoi_dist_flush(d) : ptoi_status(d->core->run_status);
    if (status == PTO_OK) status = name_outputs(d, k);
    if (status != PTO_OK) return status;
    struct held *h = &d->held[d->held_count];
    h->kernel = kernel;
    h->site = *d->core->orch.site;
    h->number = number;
    h->first_tensor = d->tensors;
    k->runs = NO_HOME;
    status = own_outputs(d, k, number);
    if (status != PTO_OK) return status;
    h->outputs = k->outputs;
    for (int32_t i = 0; i < k->outputs; i++) h->output[i] = k->output[i].tensor;
    use_outputs(k);
    ptoi_held_copy(h, k);
    h->like = NULL;
    h->common_home = NO_HOME;
    d->held_count++;
    return PTO_OK;
}

static bool does_read(const struct task *k, const struct held *h)
{
    for (int32_t i = 0; i < k->uses; i++)
        if (k->use[i].reads && k->use[i].tensor->number - h->first_tensor < (uint32_t)h->outputs) return true;
    return false;
}

/* The buffers that the task uses may have their home meanwhile. */
static void look_again(const struct dist *d, struct task *k)
{
    for (int32_t i = 0; i < k->uses; i++)
        if (k->use[i].home == NO_HOME)
            k->use[i].home = ptoi_home_of_box(&k->use[i].tensor->home, d->ranks, &k->use[i].box);
}

static void ask_rank(struct dist *d, const struct task *k)
{
    ptoi_ask_item(&d->asked, asked_head(ASKED_RANK, 0, 1, 0, 0));
    ptoi_ask(&d->asked, (uint64_t)k->runs);
}

/* A bit for each task that was held back: does the task, or one of them for it, read its buffers? */
static uint32_t find_makers(const struct dist *d, const struct task *next)
{
    uint32_t makers = 0;
    for (int32_t i = d->held_count - 1; i >= 0; i--) {
        bool is_read = does_read(next, &d->held[i]);
        for (int32_t n = i + 1; n < d->held_count && !is_read; n++)
            is_read = makers >> n & 1 && does_read(&d->held[n].task, &d->held[i]);
        makers |= (uint32_t)is_read << i;
    }
    return makers;
}

/* The tasks that are held back have a rank from now on: that of the next task, if they make what it reads. */
static void place_held(struct dist *d, const struct task *next, int32_t rank)
{
    const uint32_t makers = rank != NO_HOME ? find_makers(d, next) : 0;
    for (int32_t i = 0; i < d->held_count; i++) {
        struct held *const h = &d->held[i];
        struct task *const k = &h->task;
        look_again(d, k);
        k->runs = makers >> i & 1 ? rank : ptoi_place_by_reads(d, k, h->number);
        ask_rank(d, k);
        for (int32_t n = 0; n < k->uses; n++)
            if (k->use[n].writes) k->use[n].tensor->home.first = k->use[n].home = k->runs;
    }
}

/* In their order, with the lifetimes that end between them; all have a rank. */
static PTOStatus submit_held(struct dist *d)
{
    const PTOSite *const site = *d->core->orch.site;
    const int32_t count = d->held_count;
    PTOStatus status = PTO_OK;
    d->held_count = 0;
    for (int32_t i = 0; i < count && status == PTO_OK; i++) {
        struct held *const h = &d->held[i];
        pto_at(d->rt, h->site);
        status = submit(d, &h->task, h->kernel, h->number);
        if (status == PTO_OK) status = ptoi_held_release(d, i + 1);
    }
    d->ends_count = d->ends_next = 0;
    pto_at(d->rt, site);
    return status;
}

PTOStatus ptoi_dist_flush(struct dist *d)
{
    if (ptoi_orch_has_failed(&d->core->orch)) d->held_count = d->ends_count = 0;
    if (d->held_count == 0) return PTO_OK;
    ptoi_held_complete(d);
    ptoi_dist_begin_step(d);
    place_held(d, NULL, NO_HOME);
    ptoi_dist_end_step(d, NULL);
    return submit_held(d);
}

/* Does the task name a buffer that the program has released? */
static bool names_ended(const struct dist *d, const PTOTaskParam *params, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        void *base = params[i].buffer;
        if (params[i].kind == PTO_PARAM_OUTPUT && params[i].ref) memcpy(&base, params[i].ref, sizeof base);
        if (base && ptoi_dist_has_released(d, ptoi_orch_holder(&d->core->orch, base))) return true;
    }
    return false;
}

/* ---- the program's call ------------------------------------------------------------------------------------------ */

int64_t ptoi_dist_submit(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    struct task k;
    const bool packs = d->packs; /* it is not about the tasks that were held back */
    d->packs = false;
    if (ptoi_orch_has_failed(&d->core->orch)) return ptoi_status(d->core->run_status);
    if (!is_valid(kernel, params, count)) return ptoi_dist_submit_here(d, kernel, params, count);
    if (!ptoi_dist_compare(d)) return ptoi_final_status(d->core->run_status);
    if (d->ends_count > 0 && names_ended(d, params, count)) ptoi_dist_flush(d); /* it is refused below */
    ptoi_held_complete(d);
    ptoi_dist_meets(d, true); /* what is wrong with the parameters is wrong on all ranks */
    PTOStatus status = ptoi_dist_read_params(d, &k, kernel, params, count);
    ptoi_dist_meets(d, false);
    if (status != PTO_OK) return status;
    if (k.writes_empty && !k.writes_some) return PTO_NO_TASK;
    const int64_t number = load_relaxed(&d->tasks); /* relaxed: see dist.h */
    store_relaxed(&d->tasks, number + !packs);      /* likewise; Note [the number of a fold] */
    const bool is_held = can_be_held(d, &k), has_held = d->held_count > 0;
    if (!is_held) {
        const bool is_there = k.at.kind == PTO_PARAM_AT && k.at.buffer; /* the buffer may be one of theirs */
        if (has_held && is_there) place_held(d, NULL, NO_HOME);
        k.runs = ptoi_place_by_result(d, &k);
        if (has_held && !is_there) place_held(d, &k, k.runs);
        if (has_held) look_again(d, &k);
        if (k.runs == NO_HOME) k.runs = ptoi_place_by_reads(d, &k, number);
        ask_rank(d, &k);
    }
    ptoi_dist_end_step(d, ptoi_dist_kernel_name(kernel));
    if (!is_held && has_held) status = submit_held(d);
    d->packs = packs;
    if (status == PTO_OK) status = is_held ? hold(d, &k, kernel, number) : submit(d, &k, kernel, number);
    return status == PTO_OK ? number : status;
}

/* ---- lifetimes end, which tasks that were held back may need ---------------------------------------------------- */

bool ptoi_dist_releases(struct dist *d, const void *buffer)
{
    const struct orchestrator *const o = &d->core->orch;
    const uint32_t ends = ptoi_orch_holder(o, buffer);
    if (!buffer) return false;
    const bool is_right = ends > 0 && o->heap_base + ptoi_record(&o->scopes, ends)->at == buffer; /* else it fails */
    if (is_right && !ptoi_dist_has_released(d, ends) && ptoi_held_end(d, ends)) return true;
    ptoi_dist_flush(d); /* a failure is that of the run */
    ptoi_dist_forget(d, ptoi_orch_holder(o, buffer));
    return false;
}

void ptoi_dist_names(struct dist *d, const void *buffer)
{
    if (ptoi_dist_has_released(d, ptoi_orch_holder(&d->core->orch, buffer))) ptoi_dist_flush(d); /* likewise */
}

void ptoi_dist_makes_room(struct dist *d, uint64_t bytes)
{
    if (d->ends_count > 0 && !ptoi_held_has_room(d, bytes)) ptoi_dist_flush(d); /* likewise */
}

void ptoi_dist_scope_ends(struct dist *d)
{
    if (d->held_count > 0) {
        if (ptoi_held_end_scope(d)) return;
        ptoi_dist_flush(d); /* likewise */
    }
    ptoi_dist_forget_scope(d);
}

/* ---- the program waits ------------------------------------------------------------------------------------------- */

/* Every rank gets the bytes, and waits for its own. */
PTOStatus ptoi_dist_await(struct dist *d, const void *buffer, int64_t offset, int64_t bytes, bool for_writing)
{
    const PTOStatus flushed = ptoi_dist_flush(d);
    struct tensor *t = offset < 0 ? NULL : ptoi_dist_tensor(d, buffer);
    const int64_t from = t ? (const char *)buffer + offset - t->base : 0;
    if (t && t->buffer) ptoi_orch_show(&d->core->orch, t->buffer);
    if (ptoi_orch_has_failed(&d->core->orch) || !t || bytes <= 0 || from + bytes > t->bytes) {
        ptoi_dist_meets(d, true); /* likewise */
        const PTOStatus refused = d->local.await(d->rt, buffer, offset, bytes, for_writing);
        ptoi_dist_meets(d, false);
        return refused;
    }
    /* before what it waits for, so that ranks that wait here know it of each other */
    ptoi_dist_begin_step(d);
    ptoi_ask_item(&d->asked, asked_head(ASKED_AWAIT, 0, 2, 0, t->number));
    ptoi_ask(&d->asked, (uint64_t)from);
    ptoi_ask(&d->asked, (uint64_t)bytes);
    ptoi_dist_end_step(d, NULL);
    ptoi_dist_settle(d, t);
    const PTOStatus lent = t->is_lent ? ptoi_dist_lend(d, t) : PTO_OK;
    if (lent != PTO_OK) return lent;
    const struct region region = {.low = from, .high = from + bytes, .run = bytes};
    PTOStatus status = flushed;
    struct box box;
    ptoi_home_box(&t->home, &region, &box);
    for (int32_t k = 0; k < d->ranks && status == PTO_OK; k++) status = bring(d, t, &box, NO_HOME, k, NULL);
    if (status == PTO_OK && for_writing && !ptoi_copies_add_everywhere(&d->copies, &t->copies, &t->home, &box))
        status = ptoi_dist_fail_memory(d);
    t->is_awaited = true;
    if (status == PTO_OK) status = ptoi_dist_trim(d);
    if (status != PTO_OK) return status;
    if (d->plan) plan_await(d, t, &box);
    if (!ptoi_dist_agree(d)) return ptoi_final_status(d->core->run_status);
    return d->local.await(d->rt, buffer, offset, bytes, for_writing);
}

/* What tasks have written, in the order of the numbers, which all ranks know; addresses differ. */
static void collect(struct dist *d)
{
    PTOStatus status = PTO_OK;
    for (uint32_t number = 0; number < d->tensors; number++)
        for (int32_t i = 0; i < d->outside_count && status == PTO_OK; i++) {
            struct tensor *t = d->outside[i];
            struct box all = {{0}, {0}};
            if (t->number != number || !ptoi_dist_is_result(t)) continue;
            ptoi_dist_settle(d, t);
            if (t->is_lent) status = ptoi_dist_lend(d, t);
            if (t->source.stays || status != PTO_OK) continue;
            for (int32_t k = 0; k < t->home.rank; k++) all.high[k] = t->home.shape[k];
            const int32_t end = d->collects == COLLECTS_EVERYWHERE ? d->ranks : 1;
            for (int32_t k = 0; k < end && status == PTO_OK; k++) status = bring(d, t, &all, NO_HOME, k, NULL);
        }
    ptoi_dist_trim(d);
}

void ptoi_dist_finish(struct dist *d)
{
    ptoi_dist_flush(d); /* a failure is that of the run */
    ptoi_dist_begin_step(d);
    ptoi_ask_item(&d->asked, asked_head(ASKED_END, 0, 0, 0, 0));
    ptoi_dist_end_step(d, NULL);
    d->is_collecting = true;
    if (!ptoi_dist_agree(d) || d->collects == COLLECTS_NOTHING) return;
    ptoi_dist_choose_counted(d);
    collect(d);
}
