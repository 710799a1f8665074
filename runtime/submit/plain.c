/* plain.c - a deferred task as nearly all are, submitted in one pass.
 *
 * Idea       its parameters are scalars and plain tensors (pto/detail/decode.h) that exist, and at most one new output;
 *            there is room for all it needs; and nobody watches the run.  So each parameter is read once, its record
 *            goes straight into the window and its access into the map, past the forms that the other tasks need on
 *            their way.  Whatever is not plain is left to deferred.c before anything has changed.
 * Owner      the orchestrator.
 * Invariant  a task has the record, the edges and the buffers that deferred.c would give it.
 * Blocks     while the pool of fan-in entries is full.
 * Tests      test/runtime/test_plain.c, stress_graphs.c */
#include "publish.h"
#include <pto/detail/decode.h>
#include <stddef.h>
#include <string.h>

enum { FORM_BYTES = 4 };
_Static_assert(offsetof(struct arg_head, fresh) - offsetof(struct arg_head, kind) == FORM_BYTES - 1 &&
                   offsetof(struct arg_head, type) - offsetof(struct arg_head, kind) ==
                       offsetof(PTOTaskParam, type) - offsetof(PTOTaskParam, kind) &&
                   offsetof(struct arg_head, rank) - offsetof(struct arg_head, kind) ==
                       offsetof(PTOTaskParam, rank) - offsetof(PTOTaskParam, kind),
               "kind, type and rank are copied as one");

enum { PLAIN_PARAMS = 8, PLAIN_BYTES = sizeof(struct arg_head) + 2 * PTO_PLAIN_RANK * sizeof(int64_t) };

void ptoi_plain_begin(struct orchestrator *o)
{
    const bool has_deferred = !o->inlined.is_allowed || o->flow.ops->is_fine;
    o->is_plain = has_deferred && !o->recorded.history && !o->window->checked && !o->flow.recorder && !o->replay &&
                  !o->flow.meter.is_on && o->buffers.names.bytes == 0 &&
                  !(o->inlined.backend && o->inlined.backend->mirror);
}

/* What the pass over the parameters writes next. */
struct cursor {
    struct arg_head *head;    /* in the window, */
    int64_t *extent;          /* and behind the heads */
    struct map_entry *entry;  /* in the map */
    struct map_buffer **near; /* in o->edges */
};

/* What it finds beside that: mostly little. */
struct pass {
    uint64_t *birth; /* of a buffer of the heap that may not have retired */
    uint32_t exclusive;
    uint8_t flags;            /* of the task */
    const PTOTaskParam *made; /* the new output; NULL: there is none, */
    struct arg_head *made_head;
    uint64_t made_bytes;
};

/* The live buffer of the heap that holds the bytes, if that is found at once; else 0. */
static inline uint32_t holder_of(const struct orchestrator *o, uint64_t at, uint64_t end)
{
    const uint32_t buffer = o->scopes.starts[at / PTO_GRANULE];
    const PTOBufferLifetime *const l = &o->scopes.lifetime[buffer];
    return at - l->at < l->bytes && end - l->at <= l->bytes ? buffer : 0;
}

/* The accesses that the map remembers of the bytes; false: the access is not plain. */
static inline bool find_map(struct orchestrator *o, struct cursor *c, struct pass *q, const PTOTaskParam *p,
                            const char *base, const struct region *r, struct arg_head *head, struct map_buffer **map)
{
    const uint64_t at = (uint64_t)(uintptr_t)base - (uint64_t)(uintptr_t)o->heap_base;
    if (at < o->window->heap_bytes) {
        const uint32_t buffer = holder_of(o, at, (uint64_t)r->high - (uint64_t)(uintptr_t)o->heap_base);
        head->value -= (int64_t)(intptr_t)o->heap_base;
        head->buffer = buffer;
        q->flags = TASK_HOLDS;
        if (buffer == 0) return false;
        struct buffer_record *const record = ptoi_record(&o->scopes, buffer);
        if (record->birth != PTO_NO_BIRTH && record->birth >= o->rings.map_retired) *q->birth++ = record->birth;
        *map = ptoi_map_of_buffer(o, record, p);
        return true;
    }
    if (o->edges.read_only.count > 0) {
        const bool reads = p->kind == PTO_PARAM_INPUT;
        *map = NULL;
        if (reads && ptoi_read_only_holds(&o->edges.read_only, r->low, r->high)) return true;
        if (!reads && ptoi_read_only_meets(&o->edges.read_only, r->low, r->high)) return false;
    }
    *map = ptoi_map_find_near(o->edges.map, r, base, c->near++);
    return *map != NULL;
}

/* What the extents and strides of a tensor say. */
struct shape {
    int64_t unit, bytes; /* of an element, or of the flat range; from the first byte to the last */
    bool is_contiguous;
};

/* Writes them to the window: behind them, or NULL, where they are not plain, see pto_decode_tensor_. */
static inline int64_t *take_shape(const PTOTaskParam *p, struct shape *s, struct arg_head *head, int64_t *to)
{
    const int64_t *const shape = p->shape, *const stride = p->stride;
    const uint8_t rank = p->rank;
    uint64_t far = (uint64_t)p->at >> 40;
    uint64_t elements; /* as unsigned numbers, which may be too large: nobody uses them then */
    int64_t step = 1;
    s->is_contiguous = true;
    if (rank == 0) { /* a flat range: a vector of bytes */
        head->rank = 1;
        s->unit = s->bytes = to[0] = p->bytes;
        to[1] = 1;
        return p->type == PTO_BYTE && (((uint64_t)s->bytes - 1) | (uint64_t)p->at) >> 30 == 0 ? to + 2 : NULL;
    }
    if (!shape || p->type >= PTO_TYPE_COUNT) return NULL;
    if (rank == 1) {
        const int64_t n = shape[0];
        if (stride) step = stride[0];
        elements = ((uint64_t)n - 1) * (uint64_t)step + 1;
        far |= ((uint64_t)n - 1) >> 30;
        if (step != 1) s->is_contiguous = n == 1;
        *to++ = n;
        *to++ = step;
    } else {
        if (rank != 2) return NULL;
        const int64_t rows = shape[0], n = shape[1];
        int64_t row = n;
        if (stride) row = stride[0], step = stride[1];
        elements = ((uint64_t)n - 1) * (uint64_t)step + ((uint64_t)rows - 1) * (uint64_t)row + 1;
        far |= ((uint64_t)n - 1) >> 30 | ((uint64_t)rows - 1) >> 30 | (uint64_t)row >> 24;
        if (step != 1 || row != n) s->is_contiguous = (step == 1 || n == 1) && (row == n || rows == 1);
        *to++ = rows;
        *to++ = n;
        *to++ = row;
        *to++ = step;
    }
    s->unit = pto_bytes_of_(p->type);
    s->bytes = (int64_t)(elements * (uint64_t)s->unit);
    return (far | (uint64_t)step >> 24) == 0 ? to : NULL;
}

static inline bool take_new(struct pass *q, const PTOTaskParam *p, const struct shape *s, struct arg_head *head)
{
    if (q->made || p->at != 0 || !s->is_contiguous) return false;
    q->made = p;
    q->made_head = head;
    q->flags = TASK_HOLDS;
    q->made_bytes = (uint64_t)s->bytes;
    head->fresh = true;
    return true;
}

/* false: it is not plain. */
PTO_INLINED_ bool take_tensor(struct orchestrator *o, struct cursor *c, struct pass *q, const PTOTaskParam *p,
                              uint8_t kind)
{
    struct arg_head *const head = c->head++;
    int64_t *const extent = c->extent;
    char *base = p->buffer;
    struct shape s;
    struct map_buffer *map;
    if (kind == PTO_PARAM_OUTPUT) {
        if (!p->ref) return false;
        memcpy(&base, p->ref, sizeof base); /* the program's variable may be of any pointer type */
    }
    head->buffer = 0;
    memcpy(&head->kind, &p->kind, FORM_BYTES);
    head->fresh = false;
    c->extent = take_shape(p, &s, head, extent);
    if (!c->extent) return false;
    if (kind == PTO_PARAM_OUTPUT && !base) return take_new(q, p, &s, head);
    if (((uint64_t)(uintptr_t)base - 1) >> 60) return false;
    const int64_t low = (int64_t)(intptr_t)base + p->at * s.unit;
    struct map_entry *const e = c->entry;
    head->value = low;
    e->region.low = low;
    e->region.high = low + s.bytes;
    e->region.run = s.bytes;
    e->region.rank = 0;
    if (!s.is_contiguous) ptoi_region_of_rows(&e->region, low, s.unit, head->rank, extent, extent + head->rank);
    if (!find_map(o, c, q, p, base, &e->region, head, &map)) return false;
    if (kind == PTO_PARAM_ACC) q->exclusive |= ptoi_accumulator_set(low);
    if (!map) return true;
    e->buffer = map;
    e->access = (uint8_t)(kind - PTO_PARAM_INPUT);
    c->entry++;
    return true;
}

/* Its buffer, which is not published yet. */
static inline bool make_output(struct orchestrator *o, const PTOTaskParam *p, uint64_t bytes, struct arg_head *head)
{
    const uint32_t buffer = ptoi_try_output(o, p->scope, bytes, p->name);
    if (buffer == 0) return false;
    head->buffer = buffer;
    head->value = (int64_t)ptoi_record(&o->scopes, buffer)->at;
    return true;
}

static int64_t give_up(struct orchestrator *o, const PTOTaskParam *made, const struct arg_head *head)
{
    ptoi_map_forget_task(o->edges.map, o->rings.head);
    if (made) ptoi_give_output_back(o, head->buffer);
    return ptoi_status(o->run_status);
}

/* Mostly the last look at what has retired said so for this task too.  Its arguments begin at o->rings.arg_head. */
static inline bool has_room(struct orchestrator *o, int32_t count)
{
    uint64_t begin;
    if (PTO_RARE_(o->rings.head >= o->rings.clear) && !ptoi_see_clear(o, PLAIN_PARAMS * PLAIN_BYTES, PLAIN_PARAMS)) {
        if (!ptoi_has_room(o, (uint64_t)count * PLAIN_BYTES, count, &begin)) return false;
        o->rings.arg_head = begin;
    }
    CHECK(ptoi_fits(o, (uint64_t)count * PLAIN_BYTES, count, &begin) && o->rings.arg_head == begin);
    return true;
}

/* What of the task is known before its parameters are looked at, in a slot that no other role reads yet. */
static inline void begin_slot(const struct orchestrator *o, struct task_slot *t, const PTOKernel *kernel)
{
    t->id = o->rings.head;
    t->kernel = ptoi_image_offset_of(kernel);
    t->site = ptoi_image_offset(*o->site);
    t->arg_begin = o->rings.arg_head;
    t->priority = 0;
    t->worker = (uint8_t)kernel->worker;
    t->name = 0;
}

/* What is said of the task, which comes first, if at all.  The first parameter behind that; NULL: it is not plain. */
static __attribute__((noinline)) const PTOTaskParam *read_terms(const PTOTaskParam *p, const PTOTaskParam *end,
                                                                struct task_slot *t)
{
    for (; p < end && p->kind > PTO_PARAM_SCALAR; p++)
        if (p->kind == PTO_PARAM_PRIORITY && p->at == (int32_t)p->at)
            t->priority = (int32_t)p->at;
        else if (p->kind == PTO_PARAM_NAME)
            t->name = ptoi_image_offset(p->buffer);
        else if (p->kind != PTO_PARAM_AT) /* dist/submit.c has read it */
            return NULL;
    return p;
}

int64_t ptoi_submit_plain(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    uint64_t birth[PLAIN_PARAMS];
    const PTOTaskParam *p = params, *const end = params + count;
    if ((uint32_t)count > PLAIN_PARAMS || !has_room(o, count)) return ORCH_NOT_PLAIN;
    struct task_slot *const t = &o->rings.slot[o->rings.head & o->window->task_mask];
    begin_slot(o, t, kernel);
    if (count > 0 && PTO_RARE_(p->kind > PTO_PARAM_SCALAR)) {
        p = read_terms(p, end, t);
        if (!p) return ORCH_NOT_PLAIN;
        count = (int32_t)(end - p);
    }
    struct arg_head *const head = window_args(o->window, o->rings.arg_head);
    struct map_entry *const entry = ptoi_map_place(o->edges.map, count);
    struct cursor c = {head, (int64_t *)(head + count), entry, o->edges.near};
    struct pass q;
    if (!entry) return ORCH_NOT_PLAIN;
    t->param_count = (uint16_t)count;
    q.birth = birth;
    q.exclusive = 0;
    q.flags = 0;
    q.made = NULL;
    for (; p < end; p++) {
        const uint8_t kind = p->kind;
        if (kind >= PTO_PARAM_INPUT && kind <= PTO_PARAM_ACC) {
            if (!take_tensor(o, &c, &q, p, kind)) return ORCH_NOT_PLAIN;
        } else if (kind == PTO_PARAM_SCALAR) {
            *c.head++ = (struct arg_head){.value = p->value.i64, .kind = PTO_PARAM_SCALAR, .type = p->type};
        } else {
            return ORCH_NOT_PLAIN;
        }
    }
    if (q.made && !make_output(o, q.made, q.made_bytes, q.made_head)) return ORCH_NOT_PLAIN;
    struct map_found *const found = &o->edges.found;
    ptoi_map_take_in_place(o->edges.map, entry, c.entry, kernel, o->rings.head, found);
    for (const uint64_t *b = birth; b < q.birth; b++) ptoi_note_producer(found, *b);
    o->run.stats.dependences += found->count;
    if (!ptoi_have_fan_in(o)) return give_up(o, q.made, q.made_head);
    t->exclusive = q.exclusive;
    t->flags = q.flags;
    t->dep_begin = o->rings.dep_head;
    t->dep_count = ptoi_write_fan_in(o);
    o->rings.arg_head += (uint64_t)((char *)c.extent - (char *)head);
    if (q.made) {
        const char *const made = o->heap_base + q.made_head->value;
        memcpy(q.made->ref, &made, sizeof made);
    }
    const uint64_t number = ptoi_publish_task(o);
    o->flow.ops->wake(o->flow.context);
    return (int64_t)number;
}
