/* buffers.c - buffers of the heap: allocated for outputs and for the program, owned by scopes, released.
 *
 * Owner      the orchestrator.
 * Invariant  a buffer that was allocated belongs to one open scope until ptoi_orch_let_go; its birth and its end are
 *            published once each, or neither is: then it was hidden all the time.
 * Blocks     while the heap is full, or the ring of events.
 * Tests      test/runtime/test_runtime.c, test_deadlock.c, test_refused.c, test_hazards.c, test_depth.c,
 *            stress_limits.c */
#include "debug/checked.h"
#include "decode.h"
#include "record/record.h"
#include "shared/limit.h"
#include "shared/references.h"
#include <pto/pto_program.h>
#include <stdio.h>
#include <unistd.h>

/* Where this thread is the scheduler, nobody needs an event. */
static inline void publish_open(struct orchestrator *o, uint32_t buffer)
{
    if (o->inlined.is_active)
        ptoi_references_open(o->inlined.refs, buffer);
    else
        ptoi_publish_event(o, EVENT_OPEN, buffer);
}

static inline void publish_release(struct orchestrator *o, uint32_t buffer)
{
    if (o->inlined.is_active)
        ptoi_references_drop(o->window, o->inlined.refs, buffer);
    else
        ptoi_publish_event(o, EVENT_RELEASE, buffer);
}

/* The scope that owns a new output; below 0: it is closed.  A policy makes no lifetime shorter: what belongs to the run
 * is kept to its end. */
static inline int32_t owner_of(const struct orchestrator *o, PTOScope scope)
{
    const int32_t owner = ptoi_scope_index(&o->scopes, scope);
    return owner > 1 && o->buffers.scope_policy == PTO_SCOPE_OUTERMOST ? 1 : owner;
}

static inline void describe_buffer(struct orchestrator *o, struct buffer_record *r, uint64_t at, uint64_t bytes,
                                   uint64_t birth, const char *name)
{
    r->at = r->place = at;
    r->bytes = bytes;
    r->birth = birth;
    r->maker = o->fast.open->number; /* of the task that is being submitted */
    r->output = 0;
    r->map_is_open = false;
    r->elements = 0;
    r->site = *o->site;
    r->name = name;
    o->run.stats.allocations++;
    o->run.stats.allocated_bytes += (int64_t)bytes;
}

/* Room in the heap that a buffer asks for. */
struct room {
    struct orchestrator *o;
    uint64_t bytes;
    int32_t depth;   /* of the scope that will own it */
    uint32_t buffer; /* what the heap gave, */
    uint64_t at;     /* and where */
    const char *name;
};

/* What the heap gave becomes a buffer that scope room->depth owns. */
static void open_buffer(struct orchestrator *o, const struct room *room, uint64_t birth, const char *name)
{
    struct buffer_record *r = ptoi_record(&o->scopes, room->buffer);
    describe_buffer(o, r, room->at, room->bytes, birth, name);
    r->at = ptoi_compact_name(o, room->buffer, room->at, room->bytes);
    o->buffers.moved += r->at != r->place;
    if (o->flow.recorder) r->recorded = ptoi_record_buffer(o->flow.recorder, room->bytes);
    if (o->buffers.slots) ptoi_slots_forget(o->buffers.slots, room->at, room->bytes);
    ptoi_scope_own(&o->scopes, room->depth, room->buffer);
    if (o->buffers.outliving) ptoi_outliving_born(o->buffers.outliving, room->buffer, o->scopes.serial);
}

static bool heap_fits(void *arg)
{
    struct room *r = arg;
    r->buffer = ptoi_heap_try_alloc(&r->o->buffers.heap, r->depth, r->bytes, &r->at);
    return r->buffer != 0;
}

/* The wait is for that tensor at that place, wherever waits are reported. */
static bool wait_for_room(struct orchestrator *o, struct room *room)
{
    struct recorder *const r = o->flow.recorder;
    const int64_t before = o->flow.stall_ns[PTO_STALL_HEAP_RING];
    const uint64_t waits = r ? r->waits : 0;
    const bool met = ptoi_flow_wait(&o->flow, PTO_STALL_HEAP_RING, heap_fits, room);
    ptoi_meter_waited(&o->flow.meter, CAUSE_HEAP, *o->site, room->name, o->flow.stall_ns[PTO_STALL_HEAP_RING] - before);
    if (r && r->waits > waits) r->wait[waits].site = *o->site, r->wait[waits].tensor = room->name;
    return met;
}

/* false: there is no room, wherever what is held would lie. */
static bool wait_for_heap(struct orchestrator *o, struct room *room)
{
    return heap_fits(room) || wait_for_room(o, room) || (ptoi_compact(o, room->depth, room->bytes) && heap_fits(room));
}

/* The most that a ring can have: what a configuration allows, and no more than the machine's memory. */
static uint64_t largest_ring(const struct orchestrator *o)
{
    const uint64_t rings = (o->window->heap_bytes + o->buffers.heap.ring_bytes - 1) / o->buffers.heap.ring_bytes;
    const uint64_t allowed = ((uint64_t)UINT32_MAX - 1) * PTO_GRANULE / rings,
                   memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return memory < allowed ? memory : allowed;
}

static PTOStatus refuse_large(struct orchestrator *o, const char *name, uint64_t bytes)
{
    const uint64_t most = largest_ring(o);
    char guard[60] = "";
    if (o->buffers.heap.checked_base)
        snprintf(guard, sizeof guard, ", and %d more for the guard of a checked run", (int)PTOI_GUARD_BYTES);
    if (bytes > most)
        return ptoi_orch_fail(o, PTO_ERR_TOO_LARGE,
                              "%s needs %llu bytes%s, but a heap ring has %llu, and on this machine at most %llu", name,
                              (unsigned long long)bytes, guard, (unsigned long long)o->buffers.heap.ring_bytes,
                              (unsigned long long)most);
    return ptoi_orch_fail(o, PTO_ERR_TOO_LARGE, "%s needs %llu bytes%s, but a heap ring has %llu: %s or more", name,
                          (unsigned long long)bytes, guard, (unsigned long long)o->buffers.heap.ring_bytes,
                          ptoi_advised_heap(o, bytes, (char[LIMIT_TEXT]){0}));
}

/* A buffer owned by scope `owner`, in the chain of that depth. */
static PTOStatus take_buffer(struct orchestrator *o, int32_t owner, uint64_t bytes, uint64_t birth, const char *name,
                             uint32_t *buffer)
{
    if (name && name[0] == '&') name++; /* PTO_OUTPUT(&P, ...): the program calls it P */
    if (ptoi_heap_is_too_large(&o->buffers.heap, bytes)) return refuse_large(o, name ? name : "a buffer", bytes);
    struct room room = {.o = o, .bytes = bytes, .depth = owner, .name = name};
    if (!wait_for_heap(o, &room)) {
        if (o->is_lost || ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
        const bool may_fold = o->buffers.parts_wait && !o->buffers.ranks_agree;
        return may_fold ? (PTOStatus)ORCH_NO_ROOM : ptoi_deadlock(o, bytes);
    }
    open_buffer(o, &room, birth, name);
    *buffer = room.buffer;
    return PTO_OK;
}

PTOStatus ptoi_make_output(struct orchestrator *o, const struct terms *t, const PTOTaskParam *p, uint64_t bytes,
                           uint64_t birth, uint8_t output, uint32_t *buffer)
{
    const int32_t owner = owner_of(o, p->scope);
    *buffer = 0;
    if (owner < 0) return ptoi_refuse_param(o, t, REFUSED_SCOPE, p, 0);
    const PTOStatus status = take_buffer(o, owner, bytes, birth, p->name, buffer);
    if (status == PTO_OK) ptoi_record(&o->scopes, *buffer)->output = output;
    return status;
}

uint32_t ptoi_try_output(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name)
{
    const int32_t owner = owner_of(o, scope);
    struct room room = {.o = o, .bytes = bytes, .depth = owner};
    if (owner < 0 || ptoi_heap_is_too_large(&o->buffers.heap, bytes) || !heap_fits(&room)) return 0;
    open_buffer(o, &room, o->rings.head, name && name[0] == '&' ? name + 1 : name);
    return room.buffer;
}

void ptoi_give_output_back(struct orchestrator *o, uint32_t buffer) /* model: GIVE_BACK */
{
    ptoi_publish_event(o, EVENT_OPEN, buffer);
    ptoi_orch_let_go(o, buffer);
}

void *ptoi_orch_room(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name)
{
    uint64_t at;
    const int32_t owner = owner_of(o, scope);
    const uint32_t buffer =
        owner < 0 || bytes > o->buffers.heap.ring_bytes ? 0 : ptoi_heap_try_alloc(&o->buffers.heap, owner, bytes, &at);
    if (buffer == 0) return NULL;
    CHECK(o->inlined.is_active && o->buffers.moved == 0 && !o->buffers.outliving); /* else the fast path is disabled */
    describe_buffer(o, ptoi_record(&o->scopes, buffer), at, bytes, PTO_NO_BIRTH,
                    name && name[0] == '&' ? name + 1 : name);
    ptoi_scope_own(&o->scopes, owner, buffer);
    ptoi_references_open(o->inlined.refs, buffer);
    return o->heap_base + at;
}

/* ---- hidden buffers ---------------------------------------------------------------------------------------------- */

uint32_t ptoi_orch_hidden_room(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name)
{
    uint64_t at;
    const int32_t owner = owner_of(o, scope);
    if (PTO_RARE_(owner < 0 || bytes > o->buffers.heap.ring_bytes || !o->buffers.may_hide || o->buffers.moved > 0))
        return 0;
    uint32_t buffer = ptoi_heap_try_near(&o->buffers.heap, owner, bytes, &at);
    if (PTO_RARE_(buffer == 0)) buffer = ptoi_heap_try_alloc(&o->buffers.heap, owner, bytes, &at);
    if (PTO_RARE_(buffer == 0)) return 0;
    struct buffer_record *const r = ptoi_record(&o->scopes, buffer);
    if (!name && *o->site) name = (*o->site)->text;
    describe_buffer(o, r, at, bytes, PTO_NO_BIRTH, name && name[0] == '&' ? name + 1 : name);
    r->maker = PTO_NO_MAKER;
    r->is_hidden = o->buffers.has_hidden = true;
    ptoi_scope_own(&o->scopes, owner, buffer);
    return buffer;
}

void ptoi_orch_show(struct orchestrator *o, uint32_t buffer)
{
    struct buffer_record *const r = ptoi_record(&o->scopes, buffer);
    if (!r->is_hidden) return;
    r->is_hidden = false;
    publish_open(o, buffer);
}

/* A hidden buffer ends.  false: it is not the newest of its chunk, or was moved; it is hidden no longer. */
static __attribute__((noinline)) bool let_hidden_go(struct orchestrator *o, uint32_t buffer)
{
    struct buffer_record *const r = ptoi_record(&o->scopes, buffer);
    if (o->buffers.moved > 0 || !ptoi_heap_take_back(&o->buffers.heap, buffer, r->bytes)) {
        ptoi_orch_show(o, buffer);
        return false;
    }
    r->is_hidden = false;
    ptoi_scope_disown(&o->scopes, buffer);
    return true;
}

void ptoi_orch_let_go(struct orchestrator *o, uint32_t buffer) /* model: LET_GO */
{
    struct buffer_record *r = ptoi_record(&o->scopes, buffer);
    if (PTO_RARE_(r->is_hidden) && let_hidden_go(o, buffer)) return;
    ptoi_scope_disown(&o->scopes, buffer);
    o->buffers.moved -= r->at != r->place;
    if (ptoi_names_hold(&o->buffers.names, r->at)) ptoi_names_give_back(&o->buffers.names, r->at);
    if (o->buffers.outliving) ptoi_outliving_gone(o->buffers.outliving, buffer, r->bytes);
    if (o->recorded.history) ptoi_recorded_buffer_gone(o, buffer);
    publish_release(o, buffer);
}

PTOStatus ptoi_orch_alloc(struct orchestrator *o, PTOScope scope, int64_t bytes, const char *name, void **buffer)
{
    *buffer = NULL;
    if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    if (bytes < 0) return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "a buffer of %lld bytes", (long long)bytes);
    if (bytes == 0) return PTO_OK;
    const int32_t owner = owner_of(o, scope);
    if (owner < 0) return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "a buffer in a scope that is closed");
    uint32_t at;
    if (!name && *o->site) name = (*o->site)->text;
    PTOStatus status = take_buffer(o, owner, (uint64_t)bytes, PTO_NO_BIRTH, name, &at);
    if (status != PTO_OK) return status;
    publish_open(o, at);
    struct buffer_record *r = ptoi_record(&o->scopes, at);
    r->maker = PTO_NO_MAKER;
    *buffer = o->heap_base + r->at;
    return PTO_OK;
}

/* Note [optional frames]: whether a frame is taken depends on what the program holds, never on what runs or where
 * buffers lie, and it is taken only where the program surely completes with it.  So a larger heap has the frames of a
 * smaller one, and more, and completes where that does. Guards count: no buffer takes more than twice its room with
 * one. */
static bool may_have_frame(const struct orchestrator *o, uint64_t will_need)
{
    const uint64_t held = o->scopes.held * PTO_GRANULE,
                   free = o->window->heap_bytes > held ? o->window->heap_bytes - held : 0;
    return will_need <= (o->buffers.heap.checked_base ? free / 2 : free);
}

PTOStatus ptoi_strip_room(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name, void **buffer)
{
    struct room room = {.o = o, .bytes = bytes, .depth = owner_of(o, scope), .name = name};
    *buffer = NULL;
    if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    if (room.depth < 0 || ptoi_heap_is_too_large(&o->buffers.heap, bytes)) return PTO_OK;
    if (name && name[0] == '&') room.name = ++name; /* as in take_buffer() */
    if (!heap_fits(&room) && !wait_for_room(o, &room))
        return o->is_lost || ptoi_orch_has_failed(o) ? ptoi_status(o->run_status) : PTO_OK;
    open_buffer(o, &room, PTO_NO_BIRTH, name);
    publish_open(o, room.buffer);
    ptoi_record(&o->scopes, room.buffer)->maker = PTO_NO_MAKER;
    *buffer = o->heap_base + ptoi_record(&o->scopes, room.buffer)->at;
    return PTO_OK;
}

PTOStatus ptoi_orch_frame(struct orchestrator *o, int64_t bytes, int64_t will_need, void **buffer)
{
    *buffer = NULL;
    if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    if (will_need < 0 || !may_have_frame(o, (uint64_t)will_need)) return PTO_OK;
    struct room room = {.o = o, .bytes = (uint64_t)bytes, .depth = owner_of(o, PTO_SCOPE_CURRENT)};
    if (bytes <= 0 || ptoi_heap_is_too_large(&o->buffers.heap, room.bytes)) return PTO_OK;
    if (!wait_for_heap(o, &room)) return o->is_lost ? ptoi_status(o->run_status) : PTO_OK;
    open_buffer(o, &room, PTO_NO_BIRTH, *o->site ? (*o->site)->text : NULL);
    publish_open(o, room.buffer);
    ptoi_record(&o->scopes, room.buffer)->maker = PTO_NO_MAKER;
    *buffer = o->heap_base + ptoi_record(&o->scopes, room.buffer)->at;
    return PTO_OK;
}

PTOStatus ptoi_orch_release(struct orchestrator *o, const void *buffer)
{
    if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    if (!buffer) return PTO_OK;
    if (!ptoi_orch_is_in_heap(o, buffer))
        return ptoi_orch_fail(o, PTO_ERR_HANDLE, "pto_release of memory that is not from the heap");
    uint64_t offset = (uint64_t)((uintptr_t)buffer - (uintptr_t)o->heap_base);
    uint32_t at = ptoi_compact_buffer(o, offset);
    if (at == 0) return ptoi_orch_fail(o, PTO_ERR_HANDLE, "pto_release of a buffer whose lifetime has ended");
    if (ptoi_record(&o->scopes, at)->at != offset)
        return ptoi_orch_fail(o, PTO_ERR_HANDLE,
                              "pto_release of an address inside a buffer, or of one whose lifetime has ended");
    ptoi_orch_let_go(o, at);
    return PTO_OK;
}

PTOStatus ptoi_orch_drop(struct orchestrator *o, const void *buffer)
{
    return ptoi_orch_is_in_heap(o, buffer) ? ptoi_orch_release(o, buffer) : PTO_OK;
}

/* The buffer, or the frame that it lies in; NULL: it is not from the heap, or has ended. */
static struct buffer_record *record_of(const struct orchestrator *o, const void *buffer)
{
    if (!ptoi_orch_is_in_heap(o, buffer)) return NULL;
    const uint32_t at = ptoi_compact_buffer(o, (uint64_t)((uintptr_t)buffer - (uintptr_t)o->heap_base));
    return at ? ptoi_record(&o->scopes, at) : NULL;
}

void ptoi_orch_move_element(struct orchestrator *o, const void *buffer)
{
    struct buffer_record *r = record_of(o, buffer);
    if (r) r->elements++;
}

bool ptoi_orch_owns_element(const struct orchestrator *o, const void *buffer)
{
    const struct buffer_record *r = record_of(o, buffer);
    return r && r->elements > 0;
}

void ptoi_orch_end_element(struct orchestrator *o, const void *buffer) { record_of(o, buffer)->elements--; }

bool ptoi_orch_has(const struct orchestrator *o, const void *buffer) { return ptoi_orch_is_in_heap(o, buffer); }

PTOStatus ptoi_orch_give(struct orchestrator *o, const void *buffer, PTOScope scope)
{
    if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    if (!ptoi_orch_is_in_heap(o, buffer)) return PTO_OK;
    const uint64_t offset = (uint64_t)((uintptr_t)buffer - (uintptr_t)o->heap_base);
    const uint32_t at = ptoi_compact_buffer(o, offset);
    const int32_t owner = ptoi_scope_index(&o->scopes, scope);
    if (at == 0 || ptoi_record(&o->scopes, at)->at != offset || owner < 0)
        return ptoi_orch_fail(o, PTO_ERR_HANDLE, "a buffer whose lifetime has ended, or a scope that is closed");
    if (owner > 0 && o->buffers.scope_policy == PTO_SCOPE_OUTERMOST) return PTO_OK; /* it lives as long already */
    ptoi_scope_disown(&o->scopes, at);
    ptoi_scope_own(&o->scopes, owner, at);
    return PTO_OK;
}
