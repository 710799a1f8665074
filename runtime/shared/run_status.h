/* run_status.h - the status of a run: the first failure sticks.
 *
 * Owner      any thread may fail a run; the first to claim it writes the message, [RUN_STATUS] publishes it with the
 *            status.  Between runs it is closed: it says what became of the last run, and cannot be claimed.
 * Blocks     never. */
#ifndef PTOI_RUN_STATUS_H
#define PTOI_RUN_STATUS_H
#include "atomics.h"
#include <pto/pto_status.h>
#include <stdarg.h>

enum { RUN_STATUS_BYTES = 4096 };
enum { RUN_STATUS_OPEN = 0, RUN_STATUS_CLOSED = -1 }; /* or claimed, by a process */

struct run_status {
    /* process id of the first to fail, or one of the two above: W the thread that fails or closes it: compares with
     * OPEN and exchanges, acquire [CLAIM]; W reset: store release */
    _Atomic int claimed;
    _Atomic int status; /* W the claimer: store release [RUN_STATUS]; R anyone: load acquire, or relaxed as a hint */
    _Atomic int is_replaced; /* W ptoi_run_status_replace: store release [RUN_STATUS]; R anyone: load acquire */
    /* W the claimer before status; and who replaces it, before is_replaced, so a text that was read stays as it is */
    char message[RUN_STATUS_BYTES], replacement[RUN_STATUS_BYTES];
};

void ptoi_run_status_reset(struct run_status *o); /* no run is active; then it is open */
/* A run ends: what comes later concerns no run, and fails none. */
void ptoi_run_status_close(struct run_status *o);
/* `place` (may be NULL) is put in front: "file:line:col: error: text".  A text that starts with the id of the check it
 * comes from, "[E05] text", gives "error[E05]: text".  The line of the source and the indices of its loops stand under
 * it, see place.h. */
/* true: it is the first, of an open status. */
bool ptoi_fail(struct run_status *o, PTOStatus status, const PTOSite *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Likewise, where the program has left the place, as of a task that was deferred: the indices of its loops would be
 * those of a later iteration, and are not shown. */
bool ptoi_fail_earlier(struct run_status *o, PTOStatus status, const PTOSite *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define PTO_TIMEOUT_TEXT "kernel '%s' runs for longer than its @timeout of %lld ms (task %lld)"
bool ptoi_vfail(struct run_status *o, PTOStatus status, const PTOSite *place, const char *format, va_list args);

/* No run is active: the text becomes the message, and the status stays that of the last run. */
void ptoi_run_status_note(struct run_status *o, const char *text);

/* Another failure is that of the run, which has failed: an older one, of another rank.  At most once in a run.  Other
 * threads may read the message meanwhile: they have the one or the other, whole. */
void ptoi_run_status_replace(struct run_status *o, PTOStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A process that died between its claim and its message leaves the claim to the next failure. */
void ptoi_run_status_disown(struct run_status *o, int dead_process);

static inline PTOStatus ptoi_status(struct run_status *o) { return (PTOStatus)load_acquire(&o->status, RUN_STATUS); }
/* The message: after ptoi_status has returned an error, whole, until the next run begins. */
static inline char *ptoi_run_message(struct run_status *o)
{
    return load_acquire(&o->is_replaced, RUN_STATUS) ? o->replacement : o->message;
}
/* A failure is claimed, though its message may not be complete.  A second failure sees the claim at once and the status
 * later: the scheduler must ask this before it starts what depends on a task that has just failed. */
static inline bool ptoi_is_failing(struct run_status *o) { return load_acquire(&o->claimed, CLAIM) > 0; }
/* The status for the caller of a run or an await.  Tasks are skipped as soon as a failure is claimed, so the function
 * waits for the status, which is stored after the message.  PTO_ERR_LOST: the process that claimed it is dead. */
PTOStatus ptoi_final_status(struct run_status *o);

#endif
