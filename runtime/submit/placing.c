/* placing.c - the parameters of a deferred task: what its kernel will see, and what the map is asked.
 *
 * Owner      the orchestrator.
 * Blocks     where a task writes what was only read until now: until nothing is in flight.
 * Tests      test/runtime/test_hazards.c, test_decode.c, test_read_only.c */
#include "submission.h"
#include "shared/check.h"

_Static_assert(ACCESS_READ == PTO_PARAM_INPUT - 1 && ACCESS_WRITE == PTO_PARAM_OUTPUT - 1 &&
                   ACCESS_UPDATE == PTO_PARAM_INOUT - 1 && ACCESS_ACC == PTO_PARAM_ACC - 1,
               "the access of a parameter is its kind");

void ptoi_orch_read_only(struct orchestrator *o, int64_t low, int64_t high)
{
    if (ptoi_are_all_retired(o)) ptoi_read_only_add(&o->edges.read_only, low, high);
}

/* true: nobody writes where this parameter reads.  A write there waits for all readers, as nobody knows them. */
static bool is_read_only(struct orchestrator *o, const struct place *pl)
{
    const int64_t low = pl->region.low, high = pl->region.high;
    if (o->edges.read_only.count == 0) return false;
    if (pl->arg.kind == PTO_PARAM_INPUT) return ptoi_read_only_holds(&o->edges.read_only, low, high);
    if (ptoi_read_only_meets(&o->edges.read_only, low, high)) {
        ptoi_wait_drained(o, PTO_STALL_TASK_RING);
        ptoi_read_only_forget(&o->edges.read_only, low, high);
        o->edges.place_again = true; /* this task may have been a reader that needs no entry */
    }
    return false;
}

/* The accesses that the map remembers of the memory, if it has to know this one. */
static struct map_buffer *map_of(struct orchestrator *o, int index, struct place *pl)
{
    if (pl->buffer == 0)
        return is_read_only(o, pl) ? NULL : ptoi_map_find_near(o->edges.map, &pl->region, &o->edges.near[index]);
    struct buffer_record *r = ptoi_record(&o->scopes, pl->buffer);
    const int64_t start = (int64_t)(intptr_t)o->heap_base + (int64_t)r->at;
    pl->birth = r->birth;
    if (r->map.low != start || r->map.high != start + (int64_t)r->bytes) /* made while tasks executed inline */
        ptoi_map_open(o->edges.map, &r->map, start, start + (int64_t)r->bytes);
    /* Note [single writer]: the producer is the birth, and no later write will look for this reader. */
    const bool bypass =
        pl->arg.kind == PTO_PARAM_INPUT && (pl->param->flags & PTO_SINGLE_WRITER) && r->birth != PTO_NO_BIRTH;
    return bypass ? NULL : &r->map;
}

/* Cannot fail: the decoder has seen that the access is one. */
static inline void make_region(struct region *r, const PTOAccess_ *a, const PTOArg *arg)
{
    if (a->is_contiguous) {
        r->low = (int64_t)a->low;
        r->high = (int64_t)a->high;
        r->run = (int64_t)(a->high - a->low);
        r->rank = 0;
        return;
    }
    const int64_t unit = pto_bytes_of_(arg->type), *shape = arg->shape, *stride = arg->stride;
    if (arg->rank == 2 && stride[1] == 1 && stride[0] > shape[1]) { /* of several rows: one is contiguous */
        r->low = (int64_t)a->low;
        r->high = (int64_t)a->high;
        r->run = shape[1] * unit;
        r->rank = 1;
        r->dim[0] = (struct region_dim){shape[0], stride[0] * unit};
        return;
    }
    const bool fits = ptoi_region_make(r, (int64_t)(intptr_t)arg->ptr, unit, arg->rank, shape, stride);
    CHECK(fits);
}

static void note_access(struct orchestrator *o, struct submission *s, const struct place *pl)
{
    struct map_access *a = &o->edges.access[s->accesses++];
    a->buffer = pl->map;
    a->region = &pl->region;
    a->access = pl->access;
}

/* See Note [parts]: the access to all of it becomes a read. */
static void split_access(struct map_access *access, struct submission *s, const struct place *pl, struct region *part)
{
    const enum refusal why = ptoi_decode_part(pl->param, part);
    CHECK(why == REFUSED_NOT); /* it was decoded before */
    s->part_bytes += (2 + 2 * (uint64_t)pl->arg.rank) * sizeof(int64_t);
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
    for (int i = 0; i < s->terms.arguments; i++)
        if (s->place[i].arg.kind == PTO_PARAM_INOUT && ptoi_has_part(s->place[i].param))
            split_access(o->edges.access, s, &s->place[i], &o->edges.part[i]);
    if (!o->window->checked) return;
    s->arg_bytes += s->part_bytes + sizeof(int64_t);
    s->extras |= TASK_PARTS;
}

PTOStatus ptoi_place_params(struct orchestrator *o, const PTOTaskParam *params, int32_t count, struct submission *s)
{
    PTOStatus status = PTO_OK;
    struct terms t = {.params = params, .count = count};
    struct place *pl = s->place;
    uint64_t arg_bytes = 0;
    uint32_t holds = 0, accumulates = 0;
    s->accesses = 0;
    o->edges.place_again = false;
    for (int i = 0; i < count; i++) {
        const PTOTaskParam *const p = &params[i];
        struct operand x;
        if (!ptoi_decode(o, &t, p, &pl->arg, pl->lay, &x, &status)) {
            if (status != PTO_OK) return status;
            continue;
        }
        const uint8_t kind = x.kind;
        pl->buffer = x.buffer;
        pl->is_new = ptoi_is_new(&x.access);
        pl->birth = PTO_NO_BIRTH;
        if (kind != PTO_PARAM_SCALAR) {
            pl->param = p;
            pl->access = (enum access)(kind - PTO_PARAM_INPUT);
            make_region(&pl->region, &x.access, &pl->arg);
            if (x.access.base && (pl->map = map_of(o, i, pl)) != NULL) note_access(o, s, pl);
            holds |= x.buffer;
            accumulates |= kind == PTO_PARAM_ACC;
        }
        arg_bytes += sizeof(struct arg_head) + 2 * sizeof(int64_t) * pl->arg.rank;
        pl++;
    }
    s->extras = t.limit_ms > 0 ? TASK_TIMED : 0;
    s->arg_bytes = arg_bytes + (t.limit_ms > 0 ? sizeof t.limit_ms : 0);
    s->holds = holds != 0;
    s->accumulates = accumulates != 0;
    s->terms = t;
    if (__builtin_expect(t.parts, 0)) split_accesses(o, s);
    return o->edges.place_again ? ptoi_place_params(o, params, count, s) : PTO_OK;
}
