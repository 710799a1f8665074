/* parts.h - what the files of the orchestrator's role ask of each other; nobody else includes it.
 *
 * Idea       the sections stand in the order of calls: a file calls only files of the sections above its own.
 * Owner      the orchestrator. */
#ifndef PTOI_PARTS_H
#define PTOI_PARTS_H
#include "orchestrator.h"
#include "failing.h"

struct submission; /* submission.h */
struct terms;      /* decode.h */
struct strip_text; /* shared/strip.h */

/* ---- rings.c ----------------------------------------------------------------------------------------------------- */

/* Reads which tasks have retired, and takes back what they held of each ring and of the map. */
void ptoi_see_retired(struct orchestrator *o);

/* The same, now and then, and where no slot is free. */
enum { TASKS_A_LOOK = 16 };
static inline void ptoi_look_at_retired(struct orchestrator *o)
{
    if (o->rings.head % TASKS_A_LOOK == 0 || o->rings.head - o->rings.tail > o->window->task_mask) ptoi_see_retired(o);
}

static inline bool ptoi_is_completed(const struct orchestrator *o, uint64_t id)
{
    return id < o->rings.tail || load_acquire(window_completed(o->window, id), DONE) == id + 1; /* [DONE] */
}

/* Where the arguments of the next task begin: a record does not cross the end of the ring. */
static inline uint64_t ptoi_arg_start(const struct orchestrator *o, uint64_t bytes)
{
    uint64_t ring = o->window->arg_mask + 1, left = ring - (o->rings.arg_head & o->window->arg_mask);
    return bytes <= left ? o->rings.arg_head : o->rings.arg_head + left;
}

/* Sets o->rings.clear: so many of the next tasks surely have room, each for that much; a task that takes more sets it
 * to 0.  false: not even one. */
bool ptoi_see_clear(struct orchestrator *o, uint64_t arg_bytes, uint64_t accesses);
bool ptoi_are_all_retired(struct orchestrator *o);
/* Each blocks until there is room.  A run that has failed gets it too: its tasks are cancelled, which retires them. */
void ptoi_wait_for_slot(struct orchestrator *o);
void ptoi_wait_for_args(struct orchestrator *o, uint64_t bytes);
void ptoi_wait_for_map(struct orchestrator *o, uint64_t accesses);
/* For the tasks in o->edges.found, of which those that have completed may be gone afterwards.  false: the run has
 * failed. */
bool ptoi_wait_for_fan_in(struct orchestrator *o);
/* Until nothing is in flight. */
void ptoi_wait_drained(struct orchestrator *o, PTOStallReason reason);
/* The same for all events too, and not a stall: the program has nothing more to submit.  false: the scheduler is lost.
 */
bool ptoi_wait_all_taken(struct orchestrator *o);
void ptoi_publish_event(struct orchestrator *o, enum event_kind kind, uint32_t buffer);

/* ---- deadlock.c -------------------------------------------------------------------------------------------------- */

/* Fails the run: it is proved that nothing will free so many bytes. */
PTOStatus ptoi_deadlock(struct orchestrator *o, uint64_t bytes);
/* The setting of a heap that is advised where a buffer finds no room; text has LIMIT_TEXT bytes. */
const char *ptoi_advised_heap(const struct orchestrator *o, uint64_t bytes, char *text);

/* ---- compaction.c ------------------------------------------------------------------------------------------------ */

/* Is it a buffer's address, as the program knows it? */
static inline bool ptoi_orch_is_in_heap(const struct orchestrator *o, const void *p)
{
    uint64_t offset = (uint64_t)((uintptr_t)p - (uintptr_t)o->heap_base);
    return offset < o->window->heap_bytes || ptoi_names_hold(&o->buffers.names, offset);
}

/* Nothing is in flight, and the heap has no room: live buffers are moved until it has room.  false: it never will. */
bool ptoi_compact(struct orchestrator *o, int32_t depth, uint64_t bytes);
uint64_t ptoi_compact_choose(struct orchestrator *o, uint32_t buffer, uint64_t bytes);
/* The program's address of a new buffer. */
static inline uint64_t ptoi_compact_name(struct orchestrator *o, uint32_t buffer, uint64_t place, uint64_t bytes)
{
    return o->buffers.moved == 0 ? place : ptoi_compact_choose(o, buffer, bytes);
}
uint32_t ptoi_compact_find(const struct orchestrator *o, uint64_t offset);
/* ptoi_buffer_at, by any name. */
static inline uint32_t ptoi_compact_buffer(const struct orchestrator *o, uint64_t offset)
{
    return offset < o->window->heap_bytes ? ptoi_buffer_at(&o->scopes, offset) : ptoi_compact_find(o, offset);
}

/* ---- recorded_edges.c, where the run has a history --------------------------------------------------------------- */

void ptoi_recorded_begin(struct orchestrator *o);
void ptoi_recorded_buffer_gone(struct orchestrator *o, uint32_t buffer);
/* All that the task touches: also what the map need not know.  false: no memory. */
bool ptoi_recorded_touch(struct orchestrator *o, enum history_entry entry, uint64_t number, const struct submission *s,
                         const PTOKernel *kernel);
PTOStatus ptoi_recorded_fail(struct orchestrator *o);

/* ---- record_task.c ----------------------------------------------------------------------------------------------- */

/* The newest task, which is published next, is recorded: nothing of it has begun. */
void ptoi_orch_record(struct orchestrator *o, uint64_t id);

/* ---- buffers.c --------------------------------------------------------------------------------------------------- */

/* New output number `output` of the task that reads p.  Blocks while the heap is full. */
PTOStatus ptoi_make_output(struct orchestrator *o, const struct terms *t, const PTOTaskParam *p, uint64_t bytes,
                           uint64_t birth, uint8_t output, uint32_t *buffer);
/* The only new output of a task, if nothing has to be waited for.  0: it is not made, for whatever reason. */
uint32_t ptoi_try_output(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name);
/* When a task fails to get all it needs, no task will ever make what it already took. */
void ptoi_give_output_back(struct orchestrator *o, uint32_t buffer);
/* The owner's reference is dropped. */
void ptoi_orch_let_go(struct orchestrator *o, uint32_t buffer);
/* A buffer for tasks that could do without it.  *buffer NULL: there is no room, even when nothing is in flight. */
PTOStatus ptoi_strip_room(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name, void **buffer);

/* ---- placing.c, edges.c: the parts of a deferred submit, and of an await ----------------------------------------- */

/* The accesses that the map remembers of a buffer of the heap; NULL: it need not know this one. */
static inline struct map_buffer *ptoi_map_of_buffer(struct orchestrator *o, struct buffer_record *r,
                                                    const PTOTaskParam *p)
{
    /* Note [single writer]: the producer is the birth, and no later write will look for this reader. */
    if (p->kind == PTO_PARAM_INPUT && (p->flags & PTO_SINGLE_WRITER) && r->birth != PTO_NO_BIRTH) return NULL;
    if (!r->map_is_open) { /* most buffers with a single writer never need it */
        const int64_t start = (int64_t)(intptr_t)o->heap_base + (int64_t)r->at;
        ptoi_map_open(o->edges.map, &r->map, start, start + (int64_t)r->bytes);
        r->map_is_open = true;
    }
    return &r->map;
}
/* Writes all but low and high of the region of an access that has bytes between its rows.  first: the address of the
 * element whose indices are all 0.  Cannot fail: the decoder has seen that the access is one. */
void ptoi_region_of_rows(struct region *r, int64_t first, int64_t unit, int rank, const int64_t *shape,
                         const int64_t *stride);
PTOStatus ptoi_place_params(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                            struct submission *s);
/* Everything in the window that an await must follow goes to o->edges.found, completed or not. */
void ptoi_find_producers(struct orchestrator *o, struct submission *s);
static inline void ptoi_note_producer(struct map_found *found, uint64_t id) /* unless it is there */
{
    for (int32_t k = 0; k < found->count; k++)
        if (found->task_id[k] == id) return;
    found->task_id[found->count++] = id;
}

/* ---- plain.c, deferred.c, inline.c: the ways of a task ---------------------------------------------------------- */

/* A run begins. */
void ptoi_plain_begin(struct orchestrator *o);
/* strips.c.  The same; may its loops be handed over in strips? */
void ptoi_strips_begin(struct orchestrator *o, bool are_taken);
/* The number of the task, PTO_NO_TASK, or a status. */
int64_t ptoi_submit_deferred(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params,
                             int32_t count);
/* The same of a task that is several iterations: the kernel is that of its first call, the parameters are all that it
 * accesses. */
int64_t ptoi_submit_strip(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                          const struct strip_text *strip);
/* Where o->inlined.is_active.  false: this task cannot be executed inline, and nothing was done. */
bool ptoi_orch_submit_now(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                          int64_t *number);

/* ---- strip_buffers.c --------------------------------------------------------------------------------------------- */

/* Has an output of the calls no memory yet, other than those that each strip has of its own? */
bool ptoi_strip_lacks(const PTOStripCall *calls, int32_t count, bool *has_private);
/* Makes it where there is room, for those of a strip, which belong to the current scope, or for the others. */
PTOStatus ptoi_strip_make(struct orchestrator *o, const PTOStripCall *calls, int32_t count, bool is_private);
/* The variables of those of a strip are NULL again. */
void ptoi_strip_forget(const PTOStripCall *calls, int32_t count);

/* ---- submit.c ---------------------------------------------------------------------------------------------------- */

/* Tasks go through the window from now on. */
void ptoi_stop_inline(struct orchestrator *o);
/* The engine has other threads: is a task of the kernel to be executed inline now?  Then nothing else is in flight. */
bool ptoi_runs_if_fine(struct orchestrator *o, const PTOKernel *kernel);
static inline bool ptoi_runs_now(struct orchestrator *o, const PTOKernel *kernel)
{
    return o->inlined.is_allowed && (!o->flow.ops->is_fine || ptoi_runs_if_fine(o, kernel));
}

#endif
