/* outcome.h - how a run ends: the first failure sticks, whoever finds it.
 *
 * Owner      any thread may fail a run; the first to claim it writes the message, [OUTCOME] publishes it with the
 *            status.
 * Blocks     never. */
#ifndef PTOI_OUTCOME_H
#define PTOI_OUTCOME_H
#include "atomics.h"
#include <pto/pto_status.h>
#include <stdarg.h>

struct outcome {
    /* process id of the first to fail: it compares with 0 and exchanges, acquire [CLAIM]; W reset: store release */
    _Atomic int claimed;
    _Atomic int status; /* W the claimer: store release [OUTCOME]; R anyone: load acquire, or relaxed as a hint */
    char message[4096]; /* W the claimer before status */
};

void ptoi_outcome_reset(struct outcome *o); /* no run is active */
/* `place` (may be NULL) is put in front: "file:line:col: error: text".  A text that starts with the id of the check it
 * comes from, "[E05] text", gives "error[E05]: text". */
void ptoi_fail(struct outcome *o, PTOStatus status, const PTOSite *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define PTO_TIMEOUT_TEXT "kernel '%s' runs for longer than its @timeout of %lld ms (task %lld)"
void ptoi_vfail(struct outcome *o, PTOStatus status, const PTOSite *place, const char *format, va_list args);

/* A process that died between its claim and its message leaves the claim to whoever fails next. */
void ptoi_outcome_disown(struct outcome *o, int dead_process);

static inline PTOStatus ptoi_status(struct outcome *o) { return (PTOStatus)load_acquire(&o->status, OUTCOME); }
/* A failure is claimed, though its message may not be complete.  Who fails second sees this at once and the status
 * later: the scheduler must ask this before it starts what depends on a task that has just failed. */
static inline bool ptoi_is_failing(struct outcome *o) { return load_acquire(&o->claimed, CLAIM) != 0; }
/* What the caller of a run or an await is told: tasks were left out as soon as a failure was claimed, so this waits for
 * its status, which comes after a message was written.  PTO_ERR_LOST: the process that claimed it is dead. */
PTOStatus ptoi_final_status(struct outcome *o);

#endif
