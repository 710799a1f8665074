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
#include "depend/tensormap_tiles.h"
#include <pto/detail/decode.h>
#include <string.h>

enum { PLAIN_PARAMS = KNOWN_PARAMS, PLAIN_BYTES = sizeof(struct arg_head) + 2 * PTO_PLAIN_RANK * sizeof(int64_t) };

void ptoi_plain_begin(struct orchestrator *o)
{
    const bool has_deferred = !o->inlined.is_allowed || o->flow.ops->is_fine;
    const bool is_seen = o->recorded.history || o->window->checked || o->flow.recorder || o->replay ||
                         o->buffers.names.bytes != 0 || (o->inlined.backend && o->inlined.backend->mirror);
    const bool is_free = has_deferred && !is_seen;
    o->is_plain = is_free && !o->flow.meter.is_on;
    if (o->is_plain) ptoi_known_begin(&o->known);
    ptoi_strips_begin(o, !is_seen && (o->buffers.ranks_agree || (has_deferred && o->may_take_strips)));
}

#define PTO_OFTEN_(condition) __builtin_expect(!!(condition), 1)

/* A tile that is written when the task is known to be plain. */
struct tile_write {
    struct tile *tile;
    const struct map_buffer *map;
};

/* The pass over the parameters. */
struct pass {
    struct orchestrator *o;
    struct task_slot *slot;
    struct arg_head *head;               /* the next one to be written, in the window */
    int64_t *extent;                     /* likewise; the extents follow the heads */
    int32_t count;                       /* arguments */
    int32_t found;                       /* producers, in o->edges.found */
    uint64_t own, retired;               /* the task; the map's */
    struct map_entry *entry, *entry_end; /* accesses that are no tiles, where the map keeps them; NULL: there is none */
    const PTOTaskParam *made;            /* the new output; NULL: there is none */
    struct tile_write *write, *write_end;
};

/* The live buffer of the heap that holds the bytes, if that is found at once; else 0. */
static inline uint32_t holder_of(const struct orchestrator *o, uint64_t at, uint64_t end)
{
    const uint32_t buffer = o->scopes.starts[at / PTO_GRANULE];
    const PTOBufferLifetime *const l = &o->scopes.lifetime[buffer];
    return at - l->at < l->bytes && end - l->at <= l->bytes ? buffer : 0;
}

/* A producer: 1 + its id. */
static inline void note(struct pass *q, uint64_t mark)
{
    q->found = few_note(q->o->edges.found.task_id, q->found, q->retired, mark, q->own + 1);
}

/* The accesses that the map remembers of a buffer of the heap; false: the access is not plain. */
static inline bool find_in_heap(struct pass *q, const PTOTaskParam *p, uint64_t at, int64_t high, struct arg_head *head,
                                struct map_buffer **map)
{
    struct orchestrator *const o = q->o;
    const uint32_t buffer = holder_of(o, at, (uint64_t)high - (uint64_t)(uintptr_t)o->heap_base);
    head->value -= (int64_t)(intptr_t)o->heap_base;
    head->buffer = buffer;
    q->slot->flags = TASK_HOLDS;
    if (buffer == 0) return false;
    struct buffer_record *const record = ptoi_record(&o->scopes, buffer);
    _Static_assert(PTO_NO_BIRTH + 1 == 0, "no mark");
    note(q, record->birth + 1);
    *map = ptoi_map_of_buffer(o, record, p);
    return true;
}

/* Note [near]: where the buffer in which a tensor was the last time has a table of tiles, and the access lies in it,
 * nothing else is asked: neither the heap nor the ranges that are only read, which a buffer that is remembered does not
 * meet.  A buffer with a table was registered.  It gets the bytes of another one when that is registered, and then no
 * buffer is remembered, or when the two are joined, which closes the table. */

/* A look-up has found another buffer than the last time; NULL: none.  It may have joined buffers, which closes their
 * tables: false, if one is among them of which a tile is written. */
static __attribute__((noinline)) bool see_other(const struct orchestrator *o, const struct map_buffer *found,
                                                struct map_buffer **near, const struct tile_write *w,
                                                const struct tile_write *end)
{
    const int64_t heap = (int64_t)(intptr_t)o->heap_base, heap_end = heap + (int64_t)o->window->heap_bytes;
    if (found && ((found->low < heap_end && heap < found->high) ||
                  ptoi_read_only_meets(&o->edges.read_only, found->low, found->high)))
        *near = NULL; // see Note [near]
    for (; w < end; w++)
        if (!w->map->tiled) return false;
    return found != NULL;
}

/* Likewise of an outside buffer; NULL: it need not know this access. */
static inline bool find_outside(struct pass *q, struct known_view *v, const PTOTaskParam *p, const char *base,
                                int64_t low, struct map_buffer **map)
{
    const struct orchestrator *const o = q->o;
    const struct read_only *const read_only = &o->edges.read_only;
    const int64_t high = low + v->bytes;
    if (read_only->count > 0) {
        const bool reads = p->kind == PTO_PARAM_INPUT;
        *map = NULL;
        if (reads && ptoi_read_only_holds(read_only, low, high)) return true;
        if (!reads && ptoi_read_only_meets(read_only, low, high)) return false;
    }
    struct map_buffer *const near = v->near;
    *map = ptoi_map_find_near(o->edges.map, low, high, base, &v->near);
    return *map == near ? near != NULL : see_other(o, *map, &v->near, q->write, q->write_end);
}

/* See Note [near]. */
static inline bool is_near(const struct known_view *v, int64_t low)
{
    const struct map_buffer *const near = v->near;
    return PTO_OFTEN_(near && near->low <= low && low + v->bytes <= near->high && near->tiled);
}

/* The tile that the access is; NULL: it may be one all the same. */
static inline struct tile *tile_of_run(const struct known_view *v, int64_t low)
{
    return PTO_OFTEN_(v->near != NULL) ? tile_at_run(v->near, low, v->run) : NULL;
}

static inline bool take_new(struct pass *q, const PTOTaskParam *p, const struct known_view *v, struct arg_head *head)
{
    if (q->made || p->at != 0 || !v->is_contiguous) return false;
    q->made = p;
    q->slot->flags = TASK_HOLDS;
    head->fresh = true;
    return true;
}

/* An access that is a tile: what it follows is found.  A read is there at once, a write when the whole task is known to
 * be plain.  false: the tile has so many readers that it needs an entry. */
static inline bool take_tile(struct pass *q, struct tile *t, const struct map_buffer *map, uint8_t kind)
{
    const struct tensormap *const m = q->o->edges.map;
    if (kind == PTO_PARAM_INPUT) {
        if (PTO_RARE_(!tile_read(m->retired, t, q->own))) return false;
        note(q, t->writer);
        return true;
    }
    if (PTO_RARE_(tile_holds(m, t->more))) return false;
    q->found = few_note_all(q->o->edges.found.task_id, q->found, q->retired, t, q->own + 1);
    *q->write_end++ = (struct tile_write){t, map};
    return true;
}

/* false: there is no place for it. */
static inline bool take_entry(struct pass *q, struct map_buffer *map, const struct known_view *v, int64_t low,
                              uint8_t kind)
{
    if (!q->entry && !(q->entry = q->entry_end = ptoi_map_place(q->o->edges.map, q->count))) return false;
    struct map_entry *const e = q->entry_end++;
    e->buffer = map;
    e->access = (uint8_t)(kind - PTO_PARAM_INPUT);
    e->region.low = low;
    e->region.high = low + v->bytes;
    e->region.run = v->rows.run;
    e->region.rank = v->rows.count > 1;
    if (v->rows.count > 1) e->region.dim[0] = (struct region_dim){v->rows.count, v->rows.row_bytes};
    return true;
}

/* false: it is not plain. */
PTO_INLINED_ bool take_tensor(struct pass *q, const PTOTaskParam *p, struct known_view *v, uint8_t kind)
{
    struct orchestrator *const o = q->o;
    struct arg_head *const head = q->head;
    char *base = p->buffer;
    struct map_buffer *map = NULL;
    if (PTO_RARE_(!ptoi_is_known(v, p)) && !ptoi_known_learn(v, p)) return false;
    head->buffer = 0;
    memcpy(&head->kind, &v->head, sizeof v->head);
    head->kind = kind;
    memcpy(q->extent, v->extent, sizeof v->extent); /* there is room for two dimensions */
    q->extent += v->extents;
    if (kind == PTO_PARAM_OUTPUT) {
        if (!p->ref) return false;
        memcpy(&base, p->ref, sizeof base); /* the program's variable may be of any pointer type */
        if (!base) return take_new(q, p, v, head);
    }
    if (PTO_RARE_(((uint64_t)(uintptr_t)base - 1) >> 60)) return false;
    const int64_t low = (int64_t)(intptr_t)base + p->at * v->unit;
    head->value = low;
    struct tile *t = tile_of_run(v, low);
    if (t || is_near(v, low)) {
        if (!t) t = tile_at(v->near, low, &v->rows);
        if (PTO_RARE_(!t || kind == PTO_PARAM_ACC)) return false; /* it closes the table, once for all */
        if (PTO_OFTEN_(take_tile(q, t, v->near, kind))) return true;
        map = v->near;
    } else {
        const uint64_t in_heap = (uint64_t)(uintptr_t)base - (uint64_t)(uintptr_t)o->heap_base;
        if (in_heap < o->window->heap_bytes ? !find_in_heap(q, p, in_heap, low + v->bytes, head, &map)
                                            : !find_outside(q, v, p, base, low, &map))
            return false;
    }
    if (map && !take_entry(q, map, v, low, kind)) return false;
    if (PTO_RARE_(kind == PTO_PARAM_ACC)) q->slot->exclusive |= ptoi_accumulator_set(low);
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

static void give_up(struct orchestrator *o, const PTOTaskParam *made, const struct arg_head *head)
{
    ptoi_map_forget_task(o->edges.map, o->rings.head);
    if (made) ptoi_give_output_back(o, head->buffer);
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
    t->flags = 0;
    t->exclusive = 0;
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

/* The marks of readers are taken back: of an argument that reads a tile of its view's outside buffer. */
static __attribute__((noinline)) void take_back(struct tensormap *m, const struct known_view *v,
                                                const struct arg_head *arg, const struct arg_head *end, uint64_t own)
{
    for (; arg < end; arg++, v++) {
        if (arg->kind != PTO_PARAM_INPUT || !v->near) continue;
        struct tile *const t = v->near->tiled ? tile_at(v->near, arg->value, &v->rows) : NULL;
        if (t)
            ptoi_tile_forget(t, own);
        else if (v->near->joined || v->near->tables) /* the table may have been in use */
            ptoi_tiles_forget_task(m, own);
    }
}

/* NOT_PLAIN: nothing has changed, or the run has failed. */
enum { NOT_PLAIN = -1 };
PTO_INLINED_ int64_t submit(struct orchestrator *o, const PTOKernel *kernel, struct known_view *const views,
                            const PTOTaskParam *params, int32_t count)
{
    struct tile_write write[PLAIN_PARAMS];
    const PTOTaskParam *p = params, *const end = params + count;
    struct known_view *v = views;
    if ((uint32_t)count > PLAIN_PARAMS || !has_room(o, count)) return NOT_PLAIN;
    struct task_slot *const t = &o->rings.slot[o->rings.head & o->window->task_mask];
    begin_slot(o, t, kernel);
    if (count > 0 && PTO_RARE_(p->kind > PTO_PARAM_SCALAR)) {
        params = p = read_terms(p, end, t);
        if (!p) return NOT_PLAIN;
        count = (int32_t)(end - p);
    }
    struct map_found *const found = &o->edges.found;
    struct arg_head *const head = window_args(o->window, o->rings.arg_head);
    struct pass q;
    t->param_count = (uint16_t)count;
    q.o = o;
    q.slot = t;
    q.head = head;
    q.extent = (int64_t *)(head + count);
    q.count = count;
    q.found = 0;
    q.own = o->rings.head;
    q.retired = o->edges.map->retired;
    q.entry = q.entry_end = NULL;
    q.made = NULL;
    q.write = q.write_end = write;
    for (; p < end; p++, v++, q.head++) {
        const uint8_t kind = p->kind;
        if (PTO_OFTEN_(kind >= PTO_PARAM_INPUT && kind <= PTO_PARAM_ACC)) {
            if (!take_tensor(&q, p, v, kind)) goto not_plain;
        } else if (kind == PTO_PARAM_SCALAR) {
            *q.head = (struct arg_head){.value = p->value.i64, .kind = PTO_PARAM_SCALAR, .type = p->type};
        } else {
            goto not_plain;
        }
    }
    struct arg_head *const fresh = q.made ? head + (q.made - params) : NULL;
    if (fresh && !make_output(o, q.made, (uint64_t)views[q.made - params].bytes, fresh)) goto not_plain;
    for (const struct tile_write *w = write; w < q.write_end; w++) tile_write(w->tile, q.own);
    found->count = q.found;
    if (q.entry) ptoi_map_take_in_place(o->edges.map, q.entry, q.entry_end, kernel, q.own, found);
    o->run.stats.dependences += found->count;
    if (!ptoi_have_fan_in(o)) {
        give_up(o, q.made, fresh);
        return NOT_PLAIN;
    }
    t->dep_begin = o->rings.dep_head;
    t->dep_count = ptoi_write_fan_in(o);
    o->rings.arg_head += (uint64_t)((char *)q.extent - (char *)head);
    if (fresh) {
        const char *const made = o->heap_base + fresh->value;
        memcpy(q.made->ref, &made, sizeof made);
    }
    const uint64_t number = ptoi_publish_task(o);
    o->flow.ops->wake(o->flow.context);
    return (int64_t)number;
not_plain:
    take_back(o->edges.map, views, head, q.head, q.own);
    return NOT_PLAIN;
}

int64_t ptoi_orch_submit_plain(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params,
                               int32_t count, submit_fn *other)
{
    if (o->is_plain && params && !ptoi_orch_has_failed(o)) {
        struct known_view *const views = ptoi_known_of(&o->known, kernel);
        if (views && !ptoi_runs_now(o, kernel)) {
            const int64_t number = submit(o, kernel, views, params, count);
            if (number != NOT_PLAIN) return number;
        }
    }
    return other(o, kernel, params, count);
}
