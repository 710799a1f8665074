/* placing.c - the parameters of a deferred task: what its kernel will see, and what the map is asked.
 *
 * Owner      the orchestrator.
 * Blocks     where a task writes what was only read until now: until nothing is in flight.
 * Tests      test/runtime/test_hazards.c, test_decode.c, test_read_only.c */
#include "submission.h"
#include "shared/check.h"
#include <stddef.h>
#include <string.h>

/* A tensor that was decoded: the members of PTOArg and PTOAccess_. */
struct decoded {
    char *ptr, *base;
    uint64_t low, high;
    const int64_t *shape, *stride;
    uint8_t kind, type, rank;
    bool is_contiguous;
};

static inline void decoded_of(struct decoded *d, const PTOArg *arg, const PTOAccess_ *a)
{
    d->ptr = arg->ptr;
    d->base = a->base;
    d->low = a->low;
    d->high = a->high;
    d->shape = arg->shape;
    d->stride = arg->stride;
    d->kind = arg->kind;
    d->type = arg->type;
    d->rank = arg->rank;
    d->is_contiguous = a->is_contiguous;
}

_Static_assert(ACCESS_READ == PTO_PARAM_INPUT - 1 && ACCESS_WRITE == PTO_PARAM_OUTPUT - 1 &&
                   ACCESS_UPDATE == PTO_PARAM_INOUT - 1 && ACCESS_ACC == PTO_PARAM_ACC - 1,
               "the access of a parameter is its kind");

void ptoi_orch_read_only(struct orchestrator *o, int64_t low, int64_t high)
{
    if (ptoi_are_all_retired(o)) ptoi_read_only_add(&o->edges.read_only, low, high);
}

/* true: nobody writes where this parameter reads.  A write there waits for all readers, as nobody knows them. */
static __attribute__((noinline)) bool is_read_only(struct orchestrator *o, const struct place *pl)
{
    const int64_t low = pl->region.low, high = pl->region.high;
    if (pl->head->kind == PTO_PARAM_INPUT) return ptoi_read_only_holds(&o->edges.read_only, low, high);
    if (ptoi_read_only_meets(&o->edges.read_only, low, high)) {
        ptoi_wait_drained(o, PTO_STALL_TASK_RING);
        ptoi_read_only_forget(&o->edges.read_only, low, high);
        o->edges.place_again = true; /* this task may have been a reader that needs no entry */
    }
    return false;
}

/* The accesses that the map remembers of that memory, if it has to know this one. */
static inline struct map_buffer *map_of(struct orchestrator *o, int index, struct place *pl, const void *base)
{
    if (pl->head->buffer != 0) {
        struct buffer_record *r = ptoi_record(&o->scopes, pl->head->buffer);
        pl->birth = r->birth;
        return ptoi_map_of_buffer(o, r, pl->param);
    }
    if (o->edges.read_only.count > 0 && is_read_only(o, pl)) return NULL;
    return ptoi_map_find_near(o->edges.map, pl->region.low, pl->region.high, base, &o->edges.near[index]);
}

void ptoi_region_of_rows(struct region *r, int64_t first, int64_t unit, int rank, const int64_t *shape,
                         const int64_t *stride)
{
    if (rank == 2 && stride[1] == 1 && stride[0] > shape[1]) { /* one row is contiguous */
        r->run = shape[1] * unit;
        r->rank = 1;
        r->dim[0] = (struct region_dim){shape[0], stride[0] * unit};
        return;
    }
    const bool fits = ptoi_region_make(r, first, unit, rank, shape, stride);
    CHECK(fits);
}

static inline void make_region(struct region *r, const struct decoded *d)
{
    r->low = (int64_t)d->low;
    r->high = (int64_t)d->high;
    r->run = (int64_t)(d->high - d->low);
    r->rank = 0;
    if (!d->is_contiguous)
        ptoi_region_of_rows(r, (int64_t)(intptr_t)d->ptr, pto_bytes_of_(d->type), d->rank, d->shape, d->stride);
}

/* See Note [parts]: the access to all of it becomes a read. */
static void split_access(struct map_access *access, struct submission *s, const struct place *pl, struct region *part)
{
    const enum refusal why = ptoi_decode_part(pl->param, part);
    CHECK(why == REFUSED_NOT); /* it was decoded before */
    s->part_bytes += (2 + 2 * (uint64_t)pl->head->rank) * sizeof(int64_t);
    const int accesses = s->accesses;
    for (int i = 0; i < accesses; i++) {
        if (access[i].region != &pl->region) continue;
        access[i].access = ACCESS_READ;
        if (part->run == 0) continue;
        access[s->accesses] = access[i];
        access[s->accesses].region = part;
        access[s->accesses++].access = ACCESS_UPDATE;
    }
}

static __attribute__((noinline)) void split_accesses(struct orchestrator *o, struct submission *s)
{
    s->part_bytes = 0;
    for (const struct place *pl = s->place; pl < s->place_end; pl++)
        if (ptoi_has_part(pl->param)) split_access(o->edges.access, s, pl, &o->edges.part[pl - s->place]);
    if (!o->window->checked) return;
    s->arg_bytes += s->part_bytes + sizeof(int64_t);
    s->extras |= TASK_PARTS;
}

/* The shape, and behind it the strides, which may be where the shape will be. */
static inline int64_t *write_extents(int64_t *to, const struct decoded *d)
{
    const int64_t *shape = d->shape, *stride = d->stride;
    const int rank = d->rank;
    if (rank == 1) {
        const int64_t step = stride[0];
        to[0] = shape[0];
        to[1] = step;
        return to + 2;
    }
    for (int k = 0; k < rank; k++) to[rank + k] = stride[k];
    for (int k = 0; k < rank; k++) to[k] = shape[k];
    return to + 2 * (size_t)rank;
}

static inline void place_scalar(struct submission *s, const PTOTaskParam *p)
{
    *s->head_end++ = (struct arg_head){.value = p->value.i64, .kind = PTO_PARAM_SCALAR, .type = p->type};
}

_Static_assert(offsetof(struct arg_head, fresh) - offsetof(struct arg_head, kind) ==
                       offsetof(struct decoded, is_contiguous) - offsetof(struct decoded, kind) &&
                   offsetof(struct arg_head, type) - offsetof(struct arg_head, kind) == 1 &&
                   offsetof(struct decoded, type) - offsetof(struct decoded, kind) == 1,
               "kind, type and rank are copied as one");

PTO_INLINED_ void place_tensor(struct orchestrator *o, struct submission *s, const PTOTaskParam *p,
                               const struct decoded *d, uint32_t buffer)
{
    struct arg_head *const head = s->head_end++;
    struct place *const pl = s->place_end++;
    head->value = (int64_t)(intptr_t)d->ptr;
    head->buffer = buffer;
    memcpy(&head->kind, &d->kind, 4);
    head->fresh = !d->base && d->low != d->high;
    if (buffer != 0) {
        head->value -= (int64_t)(intptr_t)o->heap_base;
        s->holds = true;
    }
    s->extent_end = write_extents(s->extent_end, d);
    pl->head = head;
    pl->param = p;
    pl->birth = PTO_NO_BIRTH;
    make_region(&pl->region, d);
    if (d->kind == PTO_PARAM_ACC) s->accumulates = true;
    if (!d->base) return;
    struct map_buffer *map = map_of(o, (int)(pl - s->place), pl, d->base);
    if (!map) return;
    struct map_access *access = s->access_end++;
    access->buffer = map;
    access->region = &pl->region;
    access->access = (enum access)(d->kind - PTO_PARAM_INPUT);
}

/* Any parameter, valid or not. */
static __attribute__((noinline)) PTOStatus place_any(struct orchestrator *o, struct submission *s,
                                                     const PTOTaskParam *p)
{
    PTOStatus status = PTO_OK;
    PTOArg arg = {0};
    struct operand x;
    struct decoded d;
    if (!ptoi_decode(o, &s->terms, p, &arg, s->extent_end, &x, &status)) return status;
    if (x.kind == PTO_PARAM_SCALAR) {
        place_scalar(s, p);
        return status;
    }
    decoded_of(&d, &arg, &x.access);
    place_tensor(o, s, p, &d, x.buffer);
    return status;
}

/* A new output that is plain and valid. */
static __attribute__((noinline)) bool place_new(struct orchestrator *o, struct submission *s, const PTOTaskParam *p,
                                                const struct decoded *d)
{
    s->terms.makes = s->terms.writes_some = true;
    s->terms.arguments++;
    place_tensor(o, s, p, d, 0);
    return true;
}

/* A tensor that is plain and valid, as most are.  false: another one, and nothing was done. */
static inline bool place_plain(struct orchestrator *o, struct submission *s, const PTOTaskParam *p)
{
    PTOArg arg;
    PTOAccess_ a;
    struct decoded d;
    uint32_t buffer = 0;
    long long number;
    const uint8_t kind = p->kind;
    if (!pto_decode_tensor_(p, &arg, s->extent_end, &a)) return false;
    decoded_of(&d, &arg, &a);
    if (__builtin_expect(!a.base, 0)) {
        const struct decoded whole = d; /* a copy, so that d may be in registers */
        return place_new(o, s, p, &whole);
    }
    if (__builtin_expect(ptoi_find_holder(o, &a, &buffer, &number) != REFUSED_NOT, 0)) return false;
    if (kind != PTO_PARAM_INPUT) s->terms.writes_some = true;
    s->terms.arguments++;
    place_tensor(o, s, p, &d, buffer);
    return true;
}

PTOStatus ptoi_place_params(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                            struct submission *s)
{
    s->terms = (struct terms){.kernel = kernel, .params = params, .count = count};
    s->place_end = s->place;
    s->head_end = s->head;
    s->extent_end = s->extent;
    s->access_end = o->edges.access;
    s->holds = s->accumulates = false;
    o->edges.place_again = false;
    for (const PTOTaskParam *p = params, *end = params + count; p < end; p++) {
        const uint8_t kind = p->kind;
        const bool has_room = s->terms.arguments < PTO_MAX_PARAMS;
        if (kind == PTO_PARAM_SCALAR && has_room) {
            place_scalar(s, p);
            s->terms.arguments++;
        } else if (kind < PTO_PARAM_INPUT || kind > PTO_PARAM_ACC || !has_room || !place_plain(o, s, p)) {
            const PTOStatus status = place_any(o, s, p);
            if (status != PTO_OK) return status;
        }
    }
    s->accesses = (int)(s->access_end - o->edges.access);
    s->extras = s->terms.limit_ms > 0 ? TASK_TIMED : 0;
    s->arg_bytes = (uint64_t)((char *)s->head_end - (char *)s->head) +
                   (uint64_t)((char *)s->extent_end - (char *)s->extent) +
                   (s->terms.limit_ms > 0 ? sizeof s->terms.limit_ms : 0);
    if (__builtin_expect(s->terms.parts, 0)) split_accesses(o, s);
    return o->edges.place_again ? ptoi_place_params(o, kernel, params, count, s) : PTO_OK;
}
