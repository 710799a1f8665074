/* transfer.h - pieces on their way between ranks: ordinary tasks, which no worker executes.
 *
 * Idea       the home of a piece submits a task `send`, the rank that needs it a task `recv`.  When the scheduler
 *            starts one, it becomes a transfer here; when its bytes have arrived, the task has completed.  The
 *            transfers from one rank to another are numbered as the program meets them, and the number is the tag.
 * Owner      any thread starts a transfer; workers with nothing to do and a thread of its own carry it out.  `lock` is
 *            held for every look at the lists and for every call of the wire.
 * Invariant  at most `sends` transfers to a rank are with the wire at a time, but the oldest of all that has not ended
 *            does not wait for that, Note [the oldest send].
 * Blocks     where a run begins, ends or agrees.
 * Tests      test/wire */
#ifndef PTOI_TRANSFER_H
#define PTOI_TRANSFER_H
#include "engine/core.h"
#include "looks.h"
#include "noted.h"
#include "shared/system.h"
#include "standstill.h"
#include "waits.h"
#include "wire/wire.h"

/* Note [the oldest send]: sends wait for their receives, and a receive waits for room in the window of its rank.  If
 * younger sends held all the slots, the receives of all of them could wait behind the receive of the oldest, which
 * waits for its send: nothing would ever end.  What is older than all that has not ended anywhere is the oldest of its
 * rank, and its receive is in the window, so it ends if it is with the wire: where nothing ends, it is. */

/* Note [urgent sends]: in the order of the program, what all other ranks need late would leave before what one of them
 * waits for: the rows of a product come one after the other, while all ranks begin at once.  So a transfer counts the
 * tasks of its receiver that stand before it, and the sends of a rank go to the wire in this order, POSTED_BYTES at a
 * time, or one larger one.  If nothing has ended for a while, each look lets one more go, and the oldest: a receiver
 * may be late, and others wait.  Where a recorded schedule is repeated that one needs no slot: the schedule may want a
 * message that had not to wait for a slot when it was recorded, because an older send had ended early. */
enum { POSTED_BYTES = 1 << 20 };

struct transfer {
    struct transfer *next;
    PTOArg *view;
    int32_t count; /* of views, in one message */
    PTOArg first;  /* where there is one view */
    int64_t bytes; /* of all */
    int32_t peer;
    bool is_send, is_posted;
    bool is_odd; /* a receive whose message had another size: it never ends, because the ranks disagree */
    int32_t result;
    uint64_t number; /* among those from the one rank to the other */
    uint64_t order;  /* of a send: among those of this rank */
    int64_t urgency; /* the less, the sooner */
    uint64_t task;   /* its id */
    int64_t started; /* when that was, where waits are counted */
};

/* Note [idle workers ask]: a message that wakes a thread, which wakes a worker, which wakes the thread again to
 * send the answer, costs ten times what the message costs.  So workers with nothing to do ask here themselves:
 * they post, move and end transfers in place of the thread, and run at once what that makes ready.  A transfer
 * leaves from the thread that starts it.  One thread moves at a time (is_moving), until all that has ended is
 * reported: so no more transfers are known here than the window has tasks and one mover holds.  A worker that has
 * asked in vain for a while sleeps; one of them is the watcher, whose naps are short.
 * The thread of the transfers stays for the times when no worker asks, and for failures, the watchdog and the sends
 * of Note [the oldest send]. Between two looks it sleeps (looks.h), for a time that is always limited while a run is
 * active: a missing wake would delay a message by the longest of these times, and cannot stop it.  No wake is missing,
 * because everything is decided under `lock`:
 * - Something is in flight and no worker asks: it looks SOON by itself.
 * - Others ask (asks, watcher): it looks LATE. A thread that stops asking, to sleep or for a long task, takes
 *   that back and wakes it.  If it has not decided yet, it finds that no worker asks.  A worker that goes on to short
 *   tasks says nothing: it asks again soon, or the time of a late look is over.
 * - Nothing is in flight: it looks FAR. The thread that starts a transfer wakes it.  Where others ask and nothing
 *   is in flight, the last of them that stops makes LATE to FAR, so that the next start wakes.
 * The wake itself is a new number in `started`, written under the lock; the sleeper has read the old one under the
 * lock, and the system compares.
 * Where one thread does everything (engine/serial.c), it asks after its kernels, where it waits, and now and then as
 * it submits, so a start wakes no thread, unless that looks FARTHEST, because nothing was in flight for some time.
 * A worker that sleeps without a limit leaves nothing behind: what it would find is found by the watcher or by the
 * thread, and wakes it as any task does, [ROLE] in engine/threads.c. */

/* The transfers between this rank and another one. */
struct peer {
    int32_t posted;          /* sends that were started and have not ended */
    uint64_t sent, received; /* how many tasks were made */
};

struct transfers {
    struct core *core;
    struct wire *wire;
    int32_t limit; /* of sends to a rank that are with the wire */
    bool has_thread;
    ptoi_thread thread;
    ptoi_lock lock;
    struct peer *peer;
    uint64_t sent;   /* how many tasks were made, to all ranks */
    uint64_t oldest; /* no send below this order is in flight */
    uint64_t *ended,
        ended_slots;             /* by order % slots, at least the tasks of the window: order + 1 of the newest ended */
    struct transfer *sends;      /* that were started and have not ended, by urgency */
    struct transfer *receives;   /* that have not ended */
    struct transfer *forgotten;  /* pages to be given back */
    int64_t posted_bytes, extra; /* of sends; how many more may be posted, because nothing ends */
    const struct task_notes *notes; /* where the times of transfers are recorded */
    struct transfer *block, *unused;
    /* W the holder of the lock; R anyone, relaxed: a hint */
    _Atomic int32_t in_flight;
    /* W the thread of the transfers, R threads that ask, relaxed: a hint.  The former waits for the lock, and a thread
     * that asks lets it have that: a call of MPI may give the processor away, so on one processor it would find the
     * lock taken each time. */
    _Atomic int is_wanted;
    bool is_moving; /* a thread moves transfers, and has not reported all that has ended */
    struct looks looks;
    int64_t asks;        /* of threads that have nothing else to do, since the thread of the transfers has looked */
    const void *watcher; /* such a thread, which has short naps; NULL: none has */
    int64_t naps;        /* of it, since so many have ended: */
    uint64_t napped;
    bool is_running, is_cancelled, stops;
    bool has_notified;        /* this rank has reported its failure, or heard of another one, or all fail alike */
    bool has_reported;        /* the first of these */
    int32_t heard;            /* the rank whose failure is that of this run here; -1: its own, or none */
    struct wire_failure kept; /* of another rank, heard while this one failed by itself; rank -1: none */
    int64_t messages, bytes;  /* of sends that have ended */
    uint64_t given, taken;    /* messages of this run that the wire has from this rank, and that have come here */
    uint64_t reductions;      /* of this run that were begun here; */
    bool is_reducing;         /* the newest has not ended */
    struct standstill standstill;
    struct waits waits;
    bool meets;              /* the orchestrator waits for all ranks, */
    const PTOSite *meets_at; /* where the program is then; NULL: at its end */
    /* W the holder of the lock, R the thread of the transfers, which sleeps there, relaxed: what is looked at lies
     * under the lock.  Transfers were started. */
    _Atomic uint32_t started;
    /* W a handler of signals, and the thread that receives one from another rank; R the watch of the run, and its end;
     * relaxed: it orders nothing else.  The signal that has cancelled the run, on any rank; 0: none. */
    _Atomic int32_t signal;
};

/* begins_together, program: see standstill.h. */
bool ptoi_transfers_open(struct transfers *t, struct core *core, struct wire *wire, int32_t sends,
                         const struct task_notes *notes, bool begins_together, const struct ranked_program *program);
/* Its thread ends.  Afterwards the engine may be closed, and before ptoi_transfers_close it has to be. */
void ptoi_transfers_stop(struct transfers *t);
void ptoi_transfers_close(struct transfers *t);
void ptoi_transfers_begin(struct transfers *t); /* a run */
/* ---- failures.c ---- */

/* Under the lock: reports the failure of this rank to all others, and takes those that they have reported. */
void ptoi_transfers_notify(struct transfers *t);
void ptoi_transfers_hear(struct transfers *t);
/* Each rank is about to fail by itself, with the same message: none reports it to the others. */
void ptoi_transfers_all_fail(struct transfers *t);
/* Every task of the run has completed here.  true: the run has failed here, and the failure is reported. */
bool ptoi_transfers_end(struct transfers *t);
/* The failure that this rank has reported, as a number: the less, the older its task; NO_FAILURE: none. */
#define NO_FAILURE UINT64_MAX
uint64_t ptoi_transfers_failure(const struct transfers *t);
/* The same on all ranks, and they have agreed whether the run has failed on one of them, and on the oldest failure that
 * was reported.  Blocks until that is heard.  Returns the status of the run on all ranks: what fails here later no
 * longer counts. */
PTOStatus ptoi_transfers_over(struct transfers *t, bool has_failed, uint64_t oldest);
/* After that, where the run has failed on all ranks: its messages are received in no later run.  Blocks until all ranks
 * have come. */
void ptoi_transfers_renew(struct transfers *t);

/* ---- transfer.c ---- */

/* Agrees with all ranks on WIRE_REDUCED numbers; blocks until all have come.  false: the run has failed. */
bool ptoi_transfers_reduce(struct transfers *t, bool is_last, const uint64_t *mine, uint64_t *least, uint64_t *most);
/* Begins that and does not wait; true: all have come.  Where they have not, ptoi_transfers_reduce ends it. */
bool ptoi_transfers_try_reduce(struct transfers *t, const uint64_t *mine, uint64_t *least, uint64_t *most);
/* All ranks have reduced numbers that must be the same and are not, and call this.  Blocks until the run has failed. */
void ptoi_transfers_differ(struct transfers *t);

/* The two kernels; their arguments are scalars, and then the pieces of the message, each of another tensor. */
extern const PTOKernel ptoi_send_kernel, ptoi_receive_kernel;
/* And one that gives back the pages of the view, its only argument. */
extern const PTOKernel ptoi_forget_kernel;
/* The arguments of such a task. */
enum {
    TRANSFER_PEER, /* and, TRANSFER_SHIFT bits higher, the number of views */
    TRANSFER_NUMBER,
    TRANSFER_ORDER,
    TRANSFER_URGENCY,
    TRANSFER_VIEWS,
    TRANSFER_SHIFT = 32,
    TRANSFER_MOST = PTO_MAX_PARAMS - TRANSFER_VIEWS /* pieces */
};

bool ptoi_is_transfer(const PTOKernel *kernel);

#endif
