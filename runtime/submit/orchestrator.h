/* orchestrator.h - the role that runs the program: opens scopes, submits tasks, finds what they depend on, allocates,
 * waits.
 *
 * Owner      the thread that called pto_runtime_run.  Notifies the scheduler through window.h only: task_head,
 *            event_head and what they publish.
 * Blocks     while a ring is full: rings.c, buffers.c, await.c.
 * Tests      test/runtime/test_runtime.c, test_refused.c, test_hazards.c, stress_graphs.c */
#ifndef PTOI_ORCHESTRATOR_H
#define PTOI_ORCHESTRATOR_H
#include "state.h"
#include <pto/pto_runtime.h>
#include <pto/pto_strip.h>

/* Answers of a call that has changed nothing; api/accumulate.c acts on them and no program sees them. */
enum {
    ORCH_HAS_PARTS = -1001, /* a parameter is PTO_PARAM_ACC_BY */
    ORCH_NO_ROOM = -1002    /* the heap has no room while a fold would make some, and nothing that runs will */
};

struct orchestrator_config {
    PTONames names; /* limit.h */
    int64_t tensormap_entries;
    int32_t max_scopes;
    uint64_t ring_bytes;
    char *heap_base;
    PTOScopePolicy scope_policy;
    bool count_dependences;
    int64_t record_tasks;
    bool checked;
    const int32_t *workers; /* by type */
};

bool ptoi_orch_init(struct orchestrator *o, struct window *w, struct run_status *run_status,
                    const struct orchestrator_config *c);
void ptoi_orch_free(struct orchestrator *o);

void ptoi_orch_begin(struct orchestrator *o); /* a run: opens the root scope */
/* What flow control has counted begins anew: stalls, and high-water marks but those of the scheduler. */
void ptoi_orch_reset_flow(struct orchestrator *o);
/* Of the heap; PTO_NEED_UNKNOWN, or the second statement in a run: nobody knows what the run needs. */
void ptoi_orch_state_need(struct orchestrator *o, int64_t bytes);
void ptoi_orch_end(struct orchestrator *o); /* closes every scope and waits until nothing is left */
/* Before that, the same wait.  false: the scheduler is lost. */
bool ptoi_orch_wait_all(struct orchestrator *o);
PTOScope ptoi_orch_scope_begin(struct orchestrator *o); /* PTO_SCOPE_CURRENT: the run has failed */
PTOStatus ptoi_orch_scope_end(struct orchestrator *o);
void ptoi_orch_unwind(struct orchestrator *o, int32_t depth); /* closes scopes down to that depth */
int64_t ptoi_orch_submit(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);
/* The same of a task that is plain, plain.c, in a run that is; any other task is left to `other`. */
int64_t ptoi_orch_submit_plain(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params,
                               int32_t count, submit_fn *other);
/* pto_submit_strips, or a status, in a run in which pto_takes_strips holds. */
int64_t ptoi_orch_submit_strips(struct orchestrator *o, int64_t iterations, const PTOStripCall *calls, int32_t count);
/* What a submit reads of params[index], which is a tensor of the kinds up to PTO_PARAM_ACC. */
struct orch_view {
    PTOArg arg;
    int64_t lay[PTO_MAX_RANK];
    uint32_t buffer; /* of the heap, that holds it; 0: none does */
    bool is_empty;
};
PTOStatus ptoi_orch_view(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                         int32_t index, struct orch_view *view);
/* The bytes of the part of a valid parameter of kind PTO_PARAM_INOUT_PART.  false: there are none. */
bool ptoi_orch_part(const PTOTaskParam *p, struct region *part);
/* The region of a parameter.  false: it has none, or a submit refuses it. */
bool ptoi_orch_touches(const PTOTaskParam *p, struct region *region);
/* A checked run, before a submit, or before an await (kernel NULL): refuses a read of bytes that no task has written,
 * and notes the bytes that the task writes.  Not PTO_OK: it was refused. */
PTOStatus ptoi_note_written(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);
/* Of fast_path.h.  A task that was run by its caller failed with that result. */
int64_t ptoi_orch_failed(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                         int32_t result);
/* A call of its kernel, begun at `since`, has ended. */
void ptoi_orch_measured(struct orchestrator *o, const PTOKernel *kernel, int64_t since);
/* A new output of such a task; NULL: there is no room, or something is wrong, and nothing has changed. */
void *ptoi_orch_room(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name);
PTOStatus ptoi_orch_alloc(struct orchestrator *o, PTOScope scope, int64_t bytes, const char *name, void **buffer);
/* The same of a buffer that maybe no task of this rank uses: it is hidden from the scheduler until ptoi_orch_show.
 * Never blocks; 0: there is no room now, or something has to be noted of it, and nothing has changed. */
uint32_t ptoi_orch_hidden_room(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name);
void ptoi_orch_show(struct orchestrator *o, uint32_t buffer); /* before a task uses it, hidden or not */
/* As ptoi_orch_alloc for the current scope, where NULL is an answer: the open scopes leave less than `will_need` bytes
 * for it and all that is made while it is held. */
PTOStatus ptoi_orch_frame(struct orchestrator *o, int64_t bytes, int64_t will_need, void **buffer);
PTOStatus ptoi_orch_release(struct orchestrator *o, const void *buffer);
/* the same; memory that is not from the heap stays */
PTOStatus ptoi_orch_drop(struct orchestrator *o, const void *buffer);
/* An element of an array in the buffer is moved into a function, and comes to its end there.  Its memory stays with the
 * array, so the function leaves the buffer alone. */
void ptoi_orch_move_element(struct orchestrator *o, const void *buffer);
void ptoi_orch_end_element(struct orchestrator *o, const void *buffer);
bool ptoi_orch_owns_element(const struct orchestrator *o, const void *buffer); /* does a function own one? */
bool ptoi_orch_has(const struct orchestrator *o, const void *buffer);          /* is it of the heap? */
/* From now on `scope` owns the buffer; memory that is not from the heap has no owner. */
PTOStatus ptoi_orch_give(struct orchestrator *o, const void *buffer, PTOScope scope);
/* The buffer of the heap that holds the address; 0: none does. */
uint32_t ptoi_orch_holder(const struct orchestrator *o, const void *address);
/* where these bytes lie; memory that is not from the heap: there */
void *ptoi_orch_where(const struct orchestrator *o, void *buffer);
/* An array of the program lies there. */
void ptoi_orch_register(struct orchestrator *o, int64_t low, int64_t high);
/* These bytes, which are not the heap's, are only read from now on; nothing happens while tasks are in flight. */
void ptoi_orch_read_only(struct orchestrator *o, int64_t low, int64_t high);
/* Finds all edges that are not found yet, and records or counts them.  false: there was no memory for that, in this
 * run. */
bool ptoi_orch_find_edges(struct orchestrator *o);
/* fan-in entries */
static inline uint64_t ptoi_orch_deps_used(const struct orchestrator *o)
{
    return o->rings.dep_head - o->rings.dep_tail;
}
/* High-water marks of the rings and of the map, for which this is called before anything is given back. */
void ptoi_orch_note_use(struct orchestrator *o);
/* for_writing: for readers, too. */
PTOStatus ptoi_orch_await(struct orchestrator *o, const void *buffer, int64_t offset, int64_t bytes, bool for_writing);

#endif
