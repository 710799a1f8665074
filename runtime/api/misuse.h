/* misuse.h - calls that the rules of the library forbid, and the message for each.
 *
 * Idea       each thread knows whose run it orchestrates at the moment; inside a kernel it orchestrates none.  So one
 *            comparison at the beginning of a call finds a second thread, a kernel, a NULL runtime, the child of a
 *            fork, and a call outside a run.  The cause is determined afterwards.  Misuse ends the run, if
 *            one is active, with PTO_ERR_MISUSE; pto_last_error(NULL) has the sentence too.
 * Owner      each thread: its own words.
 * Limits     a submit that its caller carries out (fast_path.h) is not looked at.
 * Tests      test/runtime/test_misuse.c, test_lifetime.c */
#ifndef PTOI_MISUSE_H
#define PTOI_MISUSE_H
#include "shared/caller.h"
#include "shared/thread_error.h"
#include <pto/pto_runtime.h>

void ptoi_note_create(const char *failure); /* why this thread's last create failed; "": it did not */

/* Is this a call of the orchestration, and not of a kernel? */
static inline bool ptoi_may_call(const PTORuntime *rt)
{
    return ptoi_orchestrated == rt && !((const PTOFastPath *)rt)->running;
}

/* `call` was made where ptoi_may_call is false.  PTO_ERR_MISUSE, or PTO_ERR_STATE outside a run. */
PTOStatus ptoi_refuse_call(PTORuntime *rt, const char *call);
/* PTO_OK: the runtime exists, and no run of it is active, else PTO_ERR_STATE or PTO_ERR_MISUSE. */
PTOStatus ptoi_refuse_unless_idle(PTORuntime *rt, const char *call);
/* PTO_OK: the runtime exists in this process, else PTO_ERR_MISUSE. */
PTOStatus ptoi_refuse_unless_alive(PTORuntime *rt, const char *call);
/* Is this the worker process of the engine process, and does a kernel of the run call? */
bool ptoi_is_split_kernel(PTORuntime *rt);
PTOStatus ptoi_take_for_trim(PTORuntime *rt); /* PTO_OK: the runtime is taken */
/* PTO_OK: this thread calls a program until ptoi_lifetime_return. */
PTOStatus ptoi_take_for_call(PTORuntime *rt);
/* PTO_OK: a run may begin; take: the runtime is taken for it.  PTO_ERR_STATE: this thread is in a run of it. */
PTOStatus ptoi_refuse_run(PTORuntime *rt, const char *call);
PTOStatus ptoi_take_for_run(PTORuntime *rt, const char *call);
/* PTO_OK: the runtime is unknown from now on, and the caller destroys it. */
PTOStatus ptoi_take_for_destroy(PTORuntime *rt);

/* There is nothing to ask: rt is NULL, was destroyed, or belongs to the parent of a fork. */
static inline bool ptoi_is_gone(PTORuntime *rt, const char *call)
{
    return ptoi_refuse_unless_alive(rt, call) != PTO_OK;
}

/* Fails the active run, and sets this thread's message.  rt NULL: there is no run. */
PTOStatus ptoi_misuse(PTORuntime *rt, const PTOSite *site, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void ptoi_misuse_forked(void); /* the calling thread is the only one of a new child process */

#endif
