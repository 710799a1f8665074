/* accumulate.c - see accumulate.h.
 *
 * Note [when a group is folded]: before any other access to its region, which may be an access of an accumulator with
 * another operation or of a region that overlaps; before its accumulator or a part of it ends its lifetime; when it is
 * full; when the heap has no room and nothing in flight will free any; at the end of the run.  All of these depend on
 * the program and the sizes of the rings only, not on what runs when.  So a fold has the same place among the tasks in
 * every run, which --replay needs, and a part is the only room that a task needs beyond its outputs.
 *   But for the heap: where a C program uses its own addresses, buffers are not moved, so whether a hole is large
 * enough depends on what ran when.  On several ranks all have to fold at the same place, so there a group is folded as
 * soon as the program would hold more than half of the heap, whatever room a rank finds.
 *
 * Note [folds on a device]: a backend with memory of its own has no kernel for a fold.  There the orchestrator waits
 * for the tasks of the group, folds in the host's memory, and the next submit sends the result.  That costs the overlap
 * of a group with what follows it, and no copy more than an await of the accumulator.
 *
 * Note [parts on several ranks]: each rank keeps the same groups, because each sees the same program.  A part is a
 * buffer without a home until its task is placed, by its other arguments, and only the rank that executes the task
 * fills it.  A fold runs where its region lives, and brings the parts there, as any task does.
 *
 * Note [the number of a fold]: where a program is folded depends on the engine, and messages name a task by the same
 * number on every engine and any number of ranks.  So a fold takes no number: its own is that of the program's next
 * task.  Records keep the order of the window, in which a fold has a place of its own. */
#include "accumulate.h"
#include "runtime.h"
#include "shared/combine.h"
#include "shared/limit.h"
#include "shared/map_memory.h"
#include "submit/failing.h"
#include <string.h>

/* ---- the kernels of folds ---------------------------------------------------------------------------------------- */

/* Arguments: the region, the number of parts, the parts. */
static int fold(int by, const PTOArg *args)
{
    for (int64_t i = 0; i < args[1].value.i64; i++) ptoi_combine(by, &args[0], args[2 + i].ptr);
    return 0;
}

/* A vector unit combines 32 elements in a cycle. */
static int64_t cost_of_fold(const PTOArg *args)
{
    int64_t elements = args[1].value.i64;
    for (int d = 0; d < args[0].rank; d++) elements *= args[0].shape[d];
    return elements / 32 + 1;
}

#define PTO_BY_OPERATION(id, name, is_bitwise)                                                                         \
    static int fold_##name##_(const PTOArg *args) { return fold(PTO_BY_##id, args); }
#include <pto/by.def>

#define FOLD(id, by, type)                                                                                             \
    [PTO_BY_##id] = {                                                                                                  \
        .name = "fold " #by, .worker = (type), .fn = fold_##by##_, .cost = cost_of_fold, .symbol = "pto_fold_" #by},
static const PTOKernel on_vector[PTO_BY_COUNT] = {
#define PTO_BY_OPERATION(id, name, is_bitwise) FOLD(id, name, PTO_WORKER_VECTOR)
#include <pto/by.def>
};
static const PTOKernel on_cpu[PTO_BY_COUNT] = {
#define PTO_BY_OPERATION(id, name, is_bitwise) FOLD(id, name, PTO_WORKER_AI_CPU)
#include <pto/by.def>
};
static const PTOKernel on_cube[PTO_BY_COUNT] = {
#define PTO_BY_OPERATION(id, name, is_bitwise) FOLD(id, name, PTO_WORKER_CUBE)
#include <pto/by.def>
};

/* The first workers that there are, rather those of the library than external ones.  NULL: there are none. */
static const PTOKernel *kernel_of(const PTORuntime *rt, PTOBy by)
{
    static const PTOKernel *const kernels[] = {on_vector, on_cpu, on_cube};
    const PTOConfig *c = &rt->core.config;
    const PTOKernel *found = NULL;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const PTOKernel *k = &kernels[i][by];
        if (c->workers[k->worker] == 0) continue;
        if (!c->external[k->worker]) return k;
        if (!found) found = k;
    }
    return found;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

bool ptoi_accumulators_open(struct accumulators *a)
{
    for (int i = 0; i < ACCUMULATE_GROUPS; i++) a->order[i] = (uint8_t)i;
    a->group = ptoi_memory_map(ACCUMULATE_GROUPS * sizeof *a->group, false);
    return a->group != NULL;
}

void ptoi_accumulators_close(struct accumulators *a)
{
    ptoi_memory_unmap(a->group, ACCUMULATE_GROUPS * sizeof *a->group);
}

void ptoi_accumulators_begin(struct accumulators *a)
{
    for (int i = 0; i < a->count; i++) a->group[a->order[i]].count = 0;
    a->count = 0;
    a->hull.run = 0;
    a->folds = a->folds_inline = 0;
}

/* The oldest is 0. */
static struct group *group_at(struct accumulators *a, int32_t at) { return &a->group[a->order[at]]; }

static struct group take_group(struct accumulators *a, int32_t at)
{
    const uint8_t place = a->order[at];
    const struct group taken = a->group[place];
    memmove(&a->order[at], &a->order[at + 1], (size_t)(--a->count - at));
    a->order[a->count] = place;
    a->group[place].count = 0;
    if (a->count == 0) a->hull.run = 0;
    return taken;
}

static bool is_region_of(const struct group *g, const PTOTaskParam *p, const struct orch_view *v)
{
    const size_t bytes = g->view.rank * sizeof(int64_t);
    return v->arg.ptr == g->view.ptr && p->flags == g->by && v->arg.type == g->view.type &&
           v->arg.rank == g->view.rank && memcmp(v->arg.shape, g->shape, bytes) == 0 &&
           memcmp(v->arg.stride, g->stride, bytes) == 0;
}

/* The group of the region, or NULL.  No two regions overlap, so one address belongs to one group at most, and that is
 * mostly the one which was found for it the last time, if it still waits: it has parts then. */
static struct group *find_group(struct accumulators *a, const PTOTaskParam *p, const struct orch_view *v)
{
    uint8_t *hint = &a->hint[(uint64_t)(uintptr_t)v->arg.ptr * 0x9e3779b97f4a7c15u >> 32 & (ACCUMULATE_HINTS - 1)];
    struct group *g = &a->group[*hint];
    if (g->count > 0 && is_region_of(g, p, v)) return g;
    for (int32_t i = 0; i < a->count; i++) {
        g = group_at(a, i);
        if (!is_region_of(g, p, v)) continue;
        *hint = a->order[i];
        return g;
    }
    return NULL;
}

static void widen(struct region *hull, const struct region *r)
{
    if (hull->run == 0 || r->low < hull->low) hull->low = r->low;
    if (hull->run == 0 || r->high > hull->high) hull->high = r->high;
    hull->run = hull->high - hull->low;
}

/* ---- folds ------------------------------------------------------------------------------------------------------- */

static bool runs_kernels(const PTORuntime *rt)
{
    return rt->core.config.engine != PTO_ENGINE_GRAPH && !rt->core.config.skip_kernels;
}

static PTOStatus release_parts(PTORuntime *rt, void *const *part, int32_t count)
{
    PTOStatus status = PTO_OK;
    for (int32_t i = 0; i < count && status == PTO_OK; i++) {
        if (rt->dist && ptoi_dist_releases(rt->dist, part[i])) continue;
        status = ptoi_orch_release(&rt->core.orch, part[i]);
    }
    return status;
}

/* Of this rank, or of all: no parameter is PTO_PARAM_ACC_BY. */
static int64_t submit_plainly(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    return rt->dist ? ptoi_dist_submit(rt->dist, kernel, params, count)
                    : ptoi_orch_submit(&rt->core.orch, kernel, params, count);
}

/* Note [folds on a device].  The region is awaited last: a later wait would send it before it is combined. */
static PTOStatus fold_on_host(PTORuntime *rt, const struct group *g)
{
    const int64_t low = g->region.low - (int64_t)(intptr_t)g->base, bytes = g->region.high - g->region.low;
    int64_t part_bytes = pto_type_bytes((PTOType)g->view.type);
    for (int d = 0; d < g->view.rank; d++) part_bytes *= g->view.shape[d];
    PTOStatus status = PTO_OK;
    for (int32_t i = 0; i < g->count && status == PTO_OK; i++)
        status = ptoi_await_bytes(rt, g->part[i], 0, part_bytes, false);
    if (status == PTO_OK) status = ptoi_await_bytes(rt, g->base, low, bytes, true);
    for (int32_t i = 0; i < g->count && status == PTO_OK; i++) ptoi_combine(g->by, &g->view, g->part[i]);
    return status;
}

static PTOTaskParam parameter(PTOParamKind kind, void *buffer, const PTOArg *view)
{
    return (PTOTaskParam){
        .kind = (uint8_t)kind, .type = view->type, .rank = view->rank, .buffer = buffer, .shape = view->shape};
}

static PTOStatus fold_as_task(PTORuntime *rt, const struct group *g)
{
    struct orchestrator *o = &rt->core.orch;
    const PTOKernel *kernel = kernel_of(rt, g->by);
    PTOTaskParam params[PTO_MAX_PARAMS];
    if (!kernel)
        return ptoi_orch_fail(o, PTO_ERR_CONFIG,
                              "the parts of an accumulator are combined by vector, cpu or cube "
                              "workers, but there are none: %s",
                              ptoi_limit_worker(PTO_WORKER_VECTOR, rt->core.config.names, (char[LIMIT_TEXT]){0}));
    params[0] = parameter(PTO_PARAM_INOUT, g->base, &g->view);
    params[0].at = ((char *)g->view.ptr - g->base) / pto_type_bytes((PTOType)g->view.type);
    params[0].stride = g->view.stride;
    params[1] = (PTOTaskParam){.kind = PTO_PARAM_SCALAR, .type = PTO_I64, .value = pto_scalar_i64(g->count)};
    for (int32_t i = 0; i < g->count; i++) params[2 + i] = parameter(PTO_PARAM_INPUT, g->part[i], &g->view);
    rt->accumulators.fold = kernel;
    if (rt->dist) rt->dist->packs = true;
    const int64_t id = submit_plainly(rt, kernel, params, 2 + g->count);
    rt->accumulators.fold = NULL;
    if (id < 0) return (PTOStatus)id;
    if (!rt->dist) o->fast.open->number--; /* Note [the number of a fold]; dist/submit.c counts its own */
    rt->accumulators.folds += !rt->dist;   /* else dist/submit.c counts those of this rank */
    rt->accumulators.folds_inline += o->inlined.is_active;
    return PTO_OK;
}

static PTOStatus fold_group(PTORuntime *rt, int32_t which)
{
    struct accumulators *a = &rt->accumulators;
    struct group g = take_group(a, which);
    rt->core.orch.buffers.parts_wait = a->count > 0;
    rt->attends = a->count > 0 || rt->dist;
    g.view.shape = g.shape;
    g.view.stride = g.stride;
    const PTOSite *const site = rt->now.site;
    rt->now.site = g.site;
    PTOStatus status = rt->core.backend->mirror && runs_kernels(rt) ? fold_on_host(rt, &g) : fold_as_task(rt, &g);
    if (status == PTO_OK) status = release_parts(rt, g.part, g.count);
    rt->now.site = site;
    return status;
}

PTOStatus ptoi_fold_all(PTORuntime *rt)
{
    PTOStatus status = ptoi_status(rt->core.run_status);
    while (rt->accumulators.count > 0 && status == PTO_OK) status = fold_group(rt, 0);
    return status;
}

PTOStatus ptoi_fold_for_room(PTORuntime *rt, uint64_t bytes)
{
    const uint64_t half = rt->core.heap_bytes / 2, held = rt->core.orch.scopes.held * PTO_GRANULE;
    if (!rt->dist || (held <= half && bytes <= half - held)) return PTO_OK;
    return ptoi_fold_all(rt);
}

/* view: of p where it is an accumulator, or NULL. */
static PTOStatus fold_param(PTORuntime *rt, const PTOTaskParam *p, const struct orch_view *view)
{
    struct accumulators *a = &rt->accumulators;
    struct region r;
    if (a->count == 0 || (view && find_group(a, p, view))) return PTO_OK; /* no region overlaps that of a group */
    if (!ptoi_orch_touches(p, &r) || !ptoi_region_overlaps(&r, &a->hull)) return PTO_OK;
    for (int32_t i = 0; i < a->count;) {
        if (!ptoi_region_overlaps(&r, &group_at(a, i)->region)) {
            i++;
            continue;
        }
        const PTOStatus status = fold_group(rt, i);
        if (status != PTO_OK) return status;
    }
    return PTO_OK;
}

/* What the parameter takes of the heap, as a new buffer or a part; of one that the submit refuses, anything. */
static uint64_t room_of(const PTOTaskParam *p)
{
    const void *made = NULL;
    if (p->kind == PTO_PARAM_OUTPUT && p->ref) memcpy(&made, p->ref, sizeof made);
    if ((p->kind != PTO_PARAM_OUTPUT || made) && p->kind != PTO_PARAM_ACC_BY) return 0;
    uint64_t bytes = p->rank > 0 ? (uint64_t)pto_type_bytes((PTOType)p->type) : (uint64_t)p->bytes;
    for (int d = 0; d < p->rank && p->rank <= PTO_MAX_RANK && p->shape; d++) bytes *= (uint64_t)p->shape[d];
    return (bytes + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE;
}

PTOStatus ptoi_fold_params(PTORuntime *rt, const PTOTaskParam *params, int32_t count)
{
    PTOStatus status = ptoi_status(rt->core.run_status);
    if (!params || count > PTO_TASK_PARAMS) return status; /* the submit will refuse it */
    uint64_t room = 0;
    for (int32_t i = 0; rt->dist && i < count; i++) room += room_of(&params[i]);
    if (status == PTO_OK) status = ptoi_fold_for_room(rt, room);
    for (int32_t i = 0; i < count && status == PTO_OK; i++)
        if (params[i].kind != PTO_PARAM_ACC_BY) status = fold_param(rt, &params[i], NULL);
    return status;
}

PTOStatus ptoi_fold_bytes(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes)
{
    const PTOTaskParam p = {
        .kind = PTO_PARAM_INPUT, .buffer = (char *)(uintptr_t)buffer + (offset > 0 ? offset : 0), .bytes = bytes};
    return ptoi_fold_params(rt, &p, 1);
}

PTOStatus ptoi_fold_buffer(PTORuntime *rt, const void *buffer)
{
    const uint32_t holder = ptoi_orch_holder(&rt->core.orch, buffer);
    PTOStatus status = ptoi_status(rt->core.run_status);
    for (int32_t i = rt->accumulators.count - 1; i >= 0 && holder > 0 && status == PTO_OK; i--)
        if (group_at(&rt->accumulators, i)->buffer == holder) status = fold_group(rt, i);
    return status;
}

PTOStatus ptoi_fold_scope(PTORuntime *rt)
{
    PTOStatus status = ptoi_status(rt->core.run_status);
    for (int32_t i = rt->accumulators.count - 1; i >= 0 && status == PTO_OK; i--)
        if (group_at(&rt->accumulators, i)->scope >= rt->core.orch.scopes.depth - 1) status = fold_group(rt, i);
    return status;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* An accumulator of the task that is being submitted. */
struct part {
    int32_t index; /* of its parameter */
    PTOTaskParam param;
    struct orch_view view;
    int64_t elements;
    void *buffer; /* NULL: not taken */
};

/* A task that is being submitted on several ranks. */
struct parted_task {
    const PTOTaskParam *params;
    const struct part *part;
    int32_t parts;
};

static PTOStatus look_at(PTORuntime *rt, const PTOKernel *kernel, PTOTaskParam *task, int32_t count, int32_t index,
                         struct part *p)
{
    struct orchestrator *o = &rt->core.orch;
    *p = (struct part){.index = index, .param = task[index], .elements = 1};
    task[index].kind = PTO_PARAM_ACC;
    task[index].flags = 0;
    if (rt->dist) ptoi_dist_meets(rt->dist, true); /* an error in it is one on all ranks */
    const PTOStatus status = ptoi_orch_view(o, kernel, task, count, index, &p->view);
    if (rt->dist) ptoi_dist_meets(rt->dist, false);
    if (status != PTO_OK) return status;
    if (!ptoi_can_combine(p->param.flags, p->view.arg.type))
        return ptoi_orch_fail(o, PTO_ERR_ARGUMENT,
                              "kernel '%s': parameter %d: elements of type %s do not combine by %s", kernel->name,
                              index, pto_type_name((PTOType)p->view.arg.type), ptoi_by_name(p->param.flags));
    for (int d = 0; d < p->view.arg.rank; d++) p->elements *= p->view.arg.shape[d];
    return PTO_OK;
}

/* A part belongs to the owner of its accumulator, so that it may wait for as long as that exists. */
static PTOScope owner_of(const struct scope_stack *s, uint32_t buffer)
{
    return ptoi_scope_token(s, buffer > 0 ? ptoi_record(s, buffer)->owner - 1 : 0);
}

static void fill(PTORuntime *rt, const struct part *p)
{
    ptoi_fill_neutral(p->param.flags, p->view.arg.type, ptoi_orch_where(&rt->core.orch, p->buffer), p->elements);
}

static PTOStatus take_part(PTORuntime *rt, struct part *p, PTOTaskParam *param)
{
    struct orchestrator *o = &rt->core.orch;
    const struct mirror *mirror = rt->core.backend->mirror;
    const int64_t bytes = p->elements * pto_type_bytes((PTOType)p->view.arg.type);
    if (rt->dist) ptoi_dist_makes_room(rt->dist, (uint64_t)bytes);
    PTOStatus status = ptoi_orch_alloc(o, owner_of(&o->scopes, p->view.buffer), bytes, NULL, &p->buffer);
    if (status != PTO_OK) return status;
    *param = parameter(PTO_PARAM_INOUT, p->buffer, &p->view.arg);
    if (rt->dist) return ptoi_dist_made(rt->dist, p->buffer, bytes, false) ? PTO_OK : PTO_ERR_NOMEM;
    if (!runs_kernels(rt)) return PTO_OK;
    if (mirror && !ptoi_is_mirror_fine(rt, mirror->own(rt->core.backend, p->buffer, bytes)))
        return ptoi_status(rt->core.run_status);
    fill(rt, p);
    return PTO_OK;
}

void ptoi_accumulate_here(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params)
{
    const struct parted_task *t = rt->accumulators.task;
    rt->accumulators.folds += kernel == rt->accumulators.fold;
    for (int32_t i = 0; t && t->params == params && runs_kernels(rt) && i < t->parts; i++)
        if (t->part[i].buffer) fill(rt, &t->part[i]);
}

/* The part waits behind those of the same region. */
static PTOStatus keep_part(PTORuntime *rt, const struct part *p)
{
    struct accumulators *a = &rt->accumulators;
    struct orchestrator *o = &rt->core.orch;
    PTOStatus status = fold_param(rt, &p->param, &p->view);
    if (status != PTO_OK) return status;
    struct group *g = find_group(a, &p->param, &p->view);
    const PTOArg *view = &p->view.arg;
    if (!g && a->count == ACCUMULATE_GROUPS) {
        status = fold_group(rt, 0);
        if (status != PTO_OK) return status;
    }
    if (!g) {
        g = group_at(a, a->count);
        *g = (struct group){.by = (PTOBy)p->param.flags,
                            .site = rt->now.site,
                            .base = p->param.buffer,
                            .view = *view,
                            .buffer = p->view.buffer};
        memcpy(g->shape, view->shape, view->rank * sizeof *g->shape);
        memcpy(g->stride, view->stride, view->rank * sizeof *g->stride);
        const bool fits = ptoi_region_make(&g->region, (int64_t)(intptr_t)view->ptr,
                                           pto_type_bytes((PTOType)view->type), view->rank, g->shape, g->stride);
        CHECK(fits); /* the submit has decoded it */
        widen(&a->hull, &g->region);
        a->count++;
        o->buffers.parts_wait = rt->attends = true;
    }
    const uint32_t buffer = ptoi_orch_holder(o, p->buffer);
    const int32_t scope = ptoi_record(&o->scopes, buffer)->owner - 1;
    if (scope > g->scope) g->scope = scope;
    g->part[g->count++] = p->buffer;
    for (int32_t at = 0; g->count == ACCUMULATE_PARTS; at++)
        if (group_at(a, at) == g) return fold_group(rt, at);
    return PTO_OK;
}

/* A fold may have happened since the arguments were sent to the machine. */
static int64_t submit_again(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    const struct mirror *mirror = rt->core.backend->mirror;
    if (mirror && !ptoi_is_mirror_fine(rt, mirror->submitting(rt->core.backend, params, count)))
        return ptoi_status(rt->core.run_status);
    return ptoi_orch_submit(&rt->core.orch, kernel, params, count);
}

/* The parts are taken and the task is submitted, all or nothing. */
static int64_t submit_parts(PTORuntime *rt, const PTOKernel *kernel, PTOTaskParam *task, int32_t count,
                            struct part *part, int32_t parts)
{
    const struct mirror *mirror = rt->core.backend->mirror;
    PTOStatus status = PTO_OK;
    for (int32_t i = 0; i < parts && status == PTO_OK; i++)
        if (!part[i].view.is_empty) status = take_part(rt, &part[i], &task[part[i].index]);
    rt->accumulators.task = rt->dist ? &(struct parted_task){task, part, parts} : NULL;
    int64_t id = status != PTO_OK ? status
                 : rt->dist       ? ptoi_dist_submit(rt->dist, kernel, task, count)
                                  : submit_again(rt, kernel, task, count);
    rt->accumulators.task = NULL;
    if (mirror && id >= 0) mirror->submitted(rt->core.backend, task, count);
    for (int32_t i = 0; (id < 0 || id == PTO_NO_TASK) && i < parts; i++) {
        if (!part[i].buffer) continue;
        status = release_parts(rt, &part[i].buffer, 1);
        part[i].buffer = NULL;
        if (id == PTO_NO_TASK && status != PTO_OK) id = status;
    }
    return id;
}

static int64_t submit_with_parts(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    PTOTaskParam task[PTO_TASK_PARAMS];
    struct part part[PTO_MAX_PARAMS];
    int32_t parts = 0;
    PTOStatus status = PTO_OK;
    memcpy(task, params, (size_t)count * sizeof *task);
    for (int32_t i = 0; i < count && status == PTO_OK; i++) {
        if (params[i].kind != PTO_PARAM_ACC_BY) continue;
        status = parts == PTO_MAX_PARAMS ? ptoi_orch_fail(&rt->core.orch, PTO_ERR_ARGUMENT,
                                                          "a task has at most %d parameters", PTO_MAX_PARAMS)
                                         : look_at(rt, kernel, task, count, i, &part[parts++]);
        if (status == PTO_OK) status = fold_param(rt, &params[i], &part[parts - 1].view);
    }
    if (status != PTO_OK) return status;
    int64_t id;
    while ((id = submit_parts(rt, kernel, task, count, part, parts)) == ORCH_NO_ROOM) {
        status = ptoi_fold_all(rt);
        if (status != PTO_OK) return status;
    }
    if (id == PTO_NO_TASK) return id;
    for (int32_t i = 0; id >= 0 && i < parts && status == PTO_OK; i++)
        if (part[i].buffer) status = keep_part(rt, &part[i]);
    if (rt->core.orch.inlined.is_active && status == PTO_OK) status = ptoi_fold_all(rt);
    return status == PTO_OK ? id : status;
}

int64_t ptoi_accumulate(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                        int64_t answer)
{
    while (answer == ORCH_NO_ROOM) {
        const PTOStatus status = ptoi_fold_all(rt);
        answer = status == PTO_OK ? submit_again(rt, kernel, params, count) : status;
    }
    return answer == ORCH_HAS_PARTS ? submit_with_parts(rt, kernel, params, count) : answer;
}
