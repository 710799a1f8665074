/* dist.h - a run on several ranks: which rank executes a task, and what has to be sent for it.
 *
 * Idea       every rank runs the whole orchestration, so each sees every submit, in the same order.  A task is executed
 *            by one rank.  Where it reads bytes that live elsewhere, their home submits a task that sends them, and the
 *            rank of the task one that receives them; both are ordered by the TensorMap, like all tasks.  What it wrote
 *            goes to the homes behind it.
 *            Without a wire one process makes a plan of all ranks (plan.h), and submits every task itself.
 * Owner      the orchestrator.  `transfers` has a thread and a lock of its own.
 * Invariant  everything here but addresses is the same on all ranks at the same step of the program, as far as a rank
 *            is concerned: it keeps no copies of pairs of other lines.
 * Blocks     as the calls of the orchestration do, whose first part these are.
 * Tests      test/wire */
#ifndef PTOI_DIST_H
#define PTOI_DIST_H
#include "asked.h"
#include "known_box.h"
#include "plan.h"
#include "tensor.h"
#include "transfer.h"
#include <pto/pto_strip.h>

struct held;
enum { HELD_TASKS = 8, HELD_ENDS = 32 };

/* A lifetime that ends after so many of the tasks that are held back, see held.h. */
struct held_end {
    uint32_t buffer;
    int32_t tasks;
    const PTOSite *site;
};

/* What the calls of the orchestration do on one rank. */
struct local_calls {
    int64_t (*submit)(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);
    PTOStatus (*alloc)(PTORuntime *rt, PTOScope scope, int64_t bytes, const char *name, void **buffer);
    PTOStatus (*await)(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes, bool for_writing);
};

/* What all ranks were asked to do until a step. */
struct step {
    uint64_t hash;
    const PTOSite *site;
    uint64_t form, first_own; /* numbers of words of struct asked; see ptoi_dist_write_form() */
};
/* After how many steps the ranks compare their hashes, and the steps that are kept, a power of two: where they differ
 * at one comparison, the first difference lies after the comparison before, and is searched at the next.  A comparison
 * begins up to HELD_TASKS + 1 steps late. */
enum { COMPARED_STEPS = 16000, STEPS = 32768 };
_Static_assert(STEPS >= 2 * (COMPARED_STEPS + HELD_TASKS + 1), "what ranks may disagree about is kept");

/* A piece that leaves. */
struct outgoing {
    const struct tensor *tensor;
    struct box box;
    int32_t from;
};
enum { PACKED = 2 * PTO_MAX_PARAMS };

/* Of the steps until some task. */
struct comparison {
    uint64_t mine[WIRE_REDUCED], least[WIRE_REDUCED], most[WIRE_REDUCED];
    bool is_begun, is_answered; /* the latter: least and most are there */
};

/* At the end of a run: who has all memory of the program that tasks have written. */
enum collects { COLLECTS_NOTHING, COLLECTS_AT_FIRST, COLLECTS_EVERYWHERE };
enum { DIST_COPY_BYTES = 32 << 20, DIST_SENDS = 16 }; /* of dist_config, where nobody says more */

struct dist_config {
    struct wire *wire;  /* NULL: this process plans what each rank would do, and executes all tasks itself */
    int32_t ranks;      /* that are planned */
    int64_t copy_bytes; /* that a rank keeps of each other one */
    enum collects collects;
    bool counts_pages; /* of all arrays, not only of those that may waste them */
    int32_t sends;     /* of a pair of ranks that are under way at a time; at least 1 */
};

struct dist {
    PTORuntime *rt;
    struct core *core;
    struct local_calls local;
    int32_t me, ranks; /* me: ALL_RANKS where they are planned */
    enum collects collects;
    bool counts_pages;
    struct plan *plan; /* NULL: there is a wire */
    struct transfers transfers;
    struct copies copies;
    struct tensor **heap;    /* by buffer of the heap; its number is NO_TENSOR: the buffer has ended */
    uint32_t buffers;        /* no later one has had a tensor */
    struct tensor **outside; /* by address */
    struct tensor *unused;
    int32_t outside_count, outside_room;
    uint32_t tensors; /* that were made */
    /* of the program, in this run.  W orchestrator, R the thread of the transfers; relaxed: it orders nothing */
    _Atomic int64_t tasks;
    int64_t number;    /* of the task for which this rank submits */
    int64_t *tasks_of; /* by rank: of the program, so neither folds nor transfers */
    int64_t folds;     /* that this rank executes */
    struct task_notes notes;
    /* sends of this rank in this run: those that tasks and awaits need, and those of the end of the run */
    struct dist_sends {
        int64_t messages, bytes;
    } sends, collected;
    bool is_collecting;
    uint64_t recorded_run; /* a number that its schedules have on all ranks; 0: they are not written */
    bool has_met;          /* the run has ended, and all ranks have the same status */
    bool is_failing; /* the program ends with an error, and this rank waits for the others before it reports that */
    bool packs;      /* buffers that the task reads travel in one message from each rank: it is a fold */
    int32_t packed_count;
    struct outgoing packed[PACKED];
    struct held *held; /* HELD_TASKS: tasks whose rank is not decided yet */
    int32_t held_count;
    struct held_end ends[HELD_ENDS]; /* in the order of the program; those before `ends_next` have ended */
    int32_t ends_count, ends_next;
    bool looks; /* skipped_strips.c: nothing was taken of the last offer, and no tile of it lies here */
    struct known_boxes known;
    struct asked asked;
    struct step *step;
    uint64_t steps;               /* of this run */
    uint64_t hash;                /* of them all */
    uint64_t agreed;              /* those before it are the same on all ranks */
    uint64_t compared;            /* those before it are in the newest comparison */
    struct comparison comparison; /* that no rank waits for */
};

/* NULL: no memory.  The engine is not open yet; local: of the runtime rt. */
struct dist *ptoi_dist_open(PTORuntime *rt, struct core *core, const struct local_calls *local,
                            const struct dist_config *config);
/* No run follows.  stop ends its thread, before the engine is closed; close frees the rest, after that. */
void ptoi_dist_stop(struct dist *d);
void ptoi_dist_close(struct dist *d);

/* agree.c: a run. */
void ptoi_dist_begin(struct dist *d);
/* No task is in flight; all ranks meet.  The status of the run, the same on all. */
PTOStatus ptoi_dist_end(struct dist *d);
/* A step of the program begins, and ends: its words, which must be the same on all ranks, are asked between.  name: of
 * its kernel, or NULL. */
static inline void ptoi_dist_begin_step(struct dist *d)
{
    d->asked.end = d->asked.begin;
    d->asked.sum = 0;
}
static inline struct step *ptoi_dist_step_at(const struct dist *d, uint64_t number) { return &d->step[number % STEPS]; }
/* The words that were asked since `begin` are followed by three more: their count; a mask with a bit for each word
 * that every step of this form has for itself; the name of the kernel, or NULL where the step is no task.  Returns the
 * position of the first of the three, by which steps name their form. */
static inline uint64_t ptoi_dist_write_form(struct asked *a, uint64_t own, const char *name)
{
    const uint64_t form = a->end;
    a->word[a->end++ % ASKED_WORDS] = form - a->begin;
    a->word[a->end++ % ASKED_WORDS] = own;
    a->word[a->end++ % ASKED_WORDS] = (uint64_t)(uintptr_t)name;
    a->begin = a->end;
    return form;
}
static inline void ptoi_dist_end_step(struct dist *d, const char *name)
{
    struct asked *a = &d->asked;
    const uint64_t words = a->end - a->begin;
    d->hash = ptoi_dist_mix(d->hash, a->sum + words);
    *ptoi_dist_step_at(d, d->steps++) = (struct step){
        .hash = d->hash, .site = *d->core->orch.site, .form = ptoi_dist_write_form(a, 0, name), .first_own = 0};
}
/* steps.c: the answer of this rank to a question about its steps, but what the transfers know; returns where the
 * program was at that step.  The orchestrator calls it. */
const PTOSite *ptoi_dist_say_steps(void *dist, const struct search_question *question, struct search_answer *said,
                                   struct wire_status *status);
uint64_t ptoi_dist_mix_text(uint64_t hash, const char *text);
/* false: the ranks disagree, or the run has failed. */
bool ptoi_dist_agree(struct dist *d);
/* Before this rank fails where all ranks do: they have done all that stands before it, so rank 0 has printed it. */
void ptoi_dist_meet(void *dist);
/* all_fail: where this rank fails from now on, all ranks do at the same step. */
void ptoi_dist_meets(struct dist *d, bool all_fail);
static inline bool ptoi_dist_is_time_to_compare(const struct dist *d)
{
    return d->steps - d->compared >= COMPARED_STEPS;
}
/* Before a step: begins a comparison when it is time.  false: as ptoi_dist_agree, about the one before. */
bool ptoi_dist_compare(struct dist *d);

/* tensors.c: the memory of the program.  All ranks have its bytes; until its first use homes are bands of it. */
void ptoi_dist_buffer(struct dist *d, const void *base, int64_t bytes);
/* Before a run that touches them: the bytes have these homes, and only the homes have them.  PTO_ERR_ARGUMENT: the
 * distribution is invalid, or they are known already. */
PTOStatus ptoi_dist_distribute(struct dist *d, const void *base, const struct distribution *home);
/* A buffer of the heap that no task makes; is_zero: all ranks have its bytes. */
bool ptoi_dist_made(struct dist *d, void *buffer, int64_t bytes, bool is_zero);
/* All ranks have all of it; false: no memory, and the run has failed. */
bool ptoi_dist_spread(struct dist *d, struct tensor *t);
void ptoi_dist_forget(struct dist *d, uint32_t buffer); /* of the heap; 0: of nothing */
void ptoi_dist_forget_scope(struct dist *d);            /* what the innermost owns */
void ptoi_dist_forget_heap(struct dist *d);
void ptoi_dist_forget_all(struct dist *d); /* the run has failed: nobody knows what the ranks have */
/* Memory of the program; NULL: no memory, or other tensors lie there. */
struct tensor *ptoi_dist_add_outside(struct dist *d, const void *base, int64_t bytes, const struct distribution *home);
/* NULL: no memory, and the run has failed. */
struct tensor *ptoi_dist_add(struct dist *d, void *base, int64_t bytes, const struct distribution *home);
/* The same of a buffer of the heap, a row-major array that no task has written: all of it will have one home. */
struct tensor *ptoi_dist_add_whole(struct dist *d, char *base, uint32_t buffer, const struct known_made *made);
/* Of a buffer of the heap; NULL: none. */
static inline struct tensor *ptoi_dist_of_buffer(const struct dist *d, uint32_t buffer)
{
    struct tensor *const t = d->heap[buffer];
    return t && t->number != NO_TENSOR ? t : NULL;
}
/* The tensor that has the byte; NULL: none. */
struct tensor *ptoi_dist_tensor(const struct dist *d, const void *address);
void ptoi_dist_close_tensors(struct dist *d);

/* cells.c: an array of the program, before a run that touches it.  home NULL: the program says it, or the first use.
 * read NULL: all ranks have its bytes, else only the homes will.  An error is that of the next run. */
void ptoi_dist_give(struct dist *d, void *base, int64_t bytes, const struct distribution *home,
                    const struct dist_source *source);
/* Its distribution is what it is, and its homes have its first bytes. */
void ptoi_dist_settle(struct dist *d, struct tensor *t);
/* Reads a piece of it here. */
bool ptoi_dist_read_piece(const struct tensor *t, const struct box *piece);
/* What the program says before the first use of the tensor; ignored where that has been, and where it is not
 * about all of one. */
enum dealt { DEALT_AS_SAID, DEALT_SQUARE, DEALT_IN_BANDS /* the same, and bands where there is one cell */ };
void ptoi_dist_say(struct dist *d, const void *base, const struct distribution *home, enum dealt dealt);
/* A task names the view, the first of the tensor, which is not settled. */
void ptoi_dist_first_use(struct dist *d, struct tensor *t, const PTOArg *view);

/* touched.c: the memory that reserved arrays take.  All ranks have agreed at the end of the program, and nothing is
 * collected; tasks may be in flight. */
void ptoi_dist_choose_counted(struct dist *d);
void ptoi_dist_count_pages(struct dist *d); /* nothing is in flight: of those chosen that are not counted yet */
/* May pages of the tensor have cells of several ranks, on any system? */
bool ptoi_dist_may_share_pages(const struct dist *d, const struct tensor *t);

/* messages.c: a task of this rank, which is the one of the program that has the number, or serves it. */
int64_t ptoi_dist_submit_here(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);
uint8_t ptoi_dist_type_of(int32_t unit); /* the type of an element of so many bytes */
/* A piece goes from one rank to another, where this rank is one of them, or the ranks are planned; while `packs` at
 * ptoi_dist_send_packed, for which all such pieces of one task wait. */
PTOStatus ptoi_dist_send(struct dist *d, const struct tensor *t, const struct box *box, int32_t from, int32_t to,
                         const PTOTaskParam *priority);
PTOStatus ptoi_dist_send_packed(struct dist *d, int32_t to, const PTOTaskParam *priority);

/* lend.c: the first use of the tensor: its homes that cannot read get their pieces from rank 0, one after the other.
 * Rank 0 keeps them as copies, or gives their pages back. */
PTOStatus ptoi_dist_lend(struct dist *d, struct tensor *t);
/* Forgets the oldest copies of pairs that have too many bytes, and gives their pages back. */
PTOStatus ptoi_dist_trim(struct dist *d);
PTOStatus ptoi_dist_fail_memory(struct dist *d); /* for copies */

/* skipped.c: the task is another rank's, and asks nothing of this one: its number, which is d->number, and all is done.
 * Else `other` submits it, and nothing has changed before. */
int64_t ptoi_dist_skip(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                       submit_fn *other);

/* skipped_strips.c: so many iterations of a loop are other ranks', ask nothing of this one, and are done; the first one
 * that is left is the caller's.  When the loop makes its next offer depends on that. */
int64_t ptoi_dist_skip_strips(struct dist *d, int64_t iterations, const PTOStripCall *calls, int32_t count);

/* submit.c: no parameter is PTO_PARAM_ACC_BY. */
int64_t ptoi_dist_submit(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);
/* Before anything but a task that the program asks for: the tasks that were held back are submitted. */
PTOStatus ptoi_dist_flush(struct dist *d);
/* Before the program releases a buffer.  true: that is held back with the tasks, and done when they are submitted. */
bool ptoi_dist_releases(struct dist *d, const void *buffer);
void ptoi_dist_scope_ends(struct dist *d); /* the innermost */
/* Has the program released the buffer, and that is held back? */
static inline bool ptoi_dist_has_released(const struct dist *d, uint32_t buffer)
{
    for (int32_t i = 0; i < d->ends_count; i++)
        if (d->ends[i].buffer == buffer) return true;
    return false;
}
/* Before the program names a buffer otherwise than as a parameter of a task: if it has released it, it is released. */
void ptoi_dist_names(struct dist *d, const void *buffer);
void ptoi_dist_makes_room(struct dist *d, uint64_t bytes); /* of the heap, which are taken next */
void ptoi_dist_finish(struct dist *d);                     /* the orchestration has returned, tasks may be in flight */
PTOStatus ptoi_dist_await(struct dist *d, const void *buffer, int64_t offset, int64_t bytes, bool for_writing);

#endif
