/* runtime.h - what stands behind PTORuntime: the core that its engine sees, and what the public calls keep beside it.
 *
 * Owner      the thread that created the runtime; of the active run: the thread that orchestrates it. */
#ifndef PTOI_RUNTIME_H
#define PTOI_RUNTIME_H
#include "accumulate.h"
#include "lifetime.h"
#include "own_stack.h"
#include "debug/slots.h"
#include "dist/dist.h"
#include "engine/core.h"
#include "memory/outliving.h"
#include "shared/place.h"
#include <pto/pto_program.h>
#include <setjmp.h>

struct PTORuntime {
    PTOFastPath now; /* first: the callers of pto_submit_task and pto_at look at it */
    struct lifetime lifetime;
    struct core core;
    /* Where pto_runtime_execute copies arrays that the workers do not share, and how much of it has memory; NULL: there
     * is none. */
    char *exchange;
    uint64_t exchange_ready;
    uint64_t shared_youngest; /* the blocks of pto_shared_alloc up to this one are shared with the workers */
    struct slots slots;       /* of a checked run, like outliving */
    struct outliving outliving;
    struct accumulators accumulators; /* of the active run */
    bool attends;                     /* a submit looks at one of the two: parts wait, or there are several ranks */
    bool is_joined;                   /* it is a rank of a host program: join.h */
    int hushed;                       /* where its standard output goes else, during a run; -1: nowhere */
    struct dist *dist;                /* NULL: one rank */
    void *sched_memory;
    uint64_t sched_bytes;
    /* of the active run */
    bool is_entry;              /* it is one call of pto_run_entry */
    bool unwinds;               /* a failing submit comes back at pto_run_entry */
    bool notes_writes;          /* of a checked run on several ranks: each notes what the tasks of all write */
    jmp_buf *catcher;           /* where pto_raise goes; NULL: no run */
    struct open_functions open; /* `list` has recursion_limit many */
    char *crash_stack;          /* for handlers of crashes in kernels that this thread runs */
    struct stack_bounds stack;  /* that the orchestration runs on */
    struct own_stack own_stack;
    PTOFlowControlStats flow_stats;
    _Atomic uint32_t cancels; /* how often pto_cancel was called; W under the lock of the registry */
    const uint32_t *called;   /* the same, when the call of a program began that makes the run; NULL: none makes it */
    struct joined *joined;    /* of rank 0: the records of all ranks, report/joined.h; NULL: this one's alone */
    PTOLoaded *named;         /* the program of the last run, where a report of it names parts of it; NULL: none */
    void (*forget)(PTOLoaded *named);
    void *keeper;          /* the call that runs; NULL: none */
    PTOScope result_scope; /* of the run: who is given a tensor of this scope keeps it */
    /* host/call_results.c: memory for a tensor that may become a result, until the call is over; NULL: none. */
    void *(*make_room)(void *keeper, int64_t bytes);
    /* host/call.c: takes the elements of a result, whose shape is set.  PTO_ERR_ARGUMENT: it is none of the call's;
     * PTO_ERR_NOMEM, with the thread's error. */
    PTOStatus (*keep_result)(void *keeper, PTOResult *to, PTOType type, int32_t rank, const void *from);
    PTORunStats run_stats;
};

/* result_room.c: do kernels run?  Memory of the keeper for a tensor of that scope; NULL: it lies in the heap. */
bool ptoi_runs_kernels(const PTORuntime *rt);
void *ptoi_result_room(PTORuntime *rt, PTOScope scope, int64_t bytes);

/* operations.c: fails the run where no accelerator can carry out the work request. */
void ptoi_look_at_operation(PTORuntime *rt, const PTOKernel *kernel);

/* Before a report: all edges are in the record, and its times are of the engine's clock.  PTO_ERR_STATE: nothing is
 * recorded; PTO_ERR_NOMEM: no memory to find the edges. */
PTOStatus ptoi_settle_record(PTORuntime *rt);

/* mirrored.c: is it PTO_OK, which a function of `mirror` has returned?  If not, the run has failed. */
bool ptoi_is_mirror_fine(PTORuntime *rt, PTOStatus status);
/* Awaits the producers of bytes that no part waits for, for_writing all users, and has them in the host's memory. */
PTOStatus ptoi_await_bytes(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes, bool for_writing);
/* calls.c: what the calls do where this is the only rank. */
extern const struct local_calls ptoi_local_calls;
/* create.c: pto_runtime_create of one of several ranks; all create theirs alike.  The caller closes the wire after it
 * has destroyed the runtime.  Engines threads and serial, backend sim. */
PTORuntime *ptoi_create_ranked(const PTOConfig *config, const struct dist_config *ranks, PTOStatus *status);
/* As pto_runtime_destroy; true: it was a rank of a host program. */
bool ptoi_destroy(PTORuntime *rt);
PTOStatus ptoi_unwind_call(PTORuntime *rt, PTOStatus status); /* unwind.c */

/* relaxed: a hint */
static inline bool ptoi_is_running(const PTORuntime *rt) { return load_relaxed(&rt->lifetime.use) == LIFETIME_RUNNING; }

/* Comes back only if all is well, or the caller wants the status. */
static inline PTOStatus ptoi_end_of_call(PTORuntime *rt, PTOStatus status)
{
    return status == PTO_OK ? PTO_OK : ptoi_unwind_call(rt, status);
}

#endif
