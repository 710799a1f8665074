/* role_ops.h - what scheduler and orchestrator ask of the engine that runs them: one table, handed to both.
 *
 * Idea       a role knows rules and no threads.  Where it needs a worker, a sleep, a wake or the time, it asks this
 *            table; every call is given the context that the role was given with the table.
 * Owner      the engine; a constant.
 * Tests      test/runtime/test_chaining.c, test_second_mapping.c, which hand out tables of their own */
#ifndef PTOI_ROLE_OPS_H
#define PTOI_ROLE_OPS_H
#include <pto/pto_types.h>

/* A place is the lane of a worker, which executes tasks in the order in which they were sent. */
enum { NO_PLACE = -1 };

struct completion {
    uint64_t id;
    int32_t result; /* of the kernel; 0: success */
};

struct role_ops {
    /* ---- asked by the scheduler ---- */
    /* Starts a task on a worker of that type; false: all are busy.  Does not wait.  *place, NO_PLACE before: where what
     * follows may be sent. */
    bool (*start)(void *context, PTOWorkerType type, uint64_t id, int *place);
    /* A start that was refused is refused until collect returns a task, so the scheduler does not ask before. */
    bool refuses_until_end;
    /* Returns how many tasks have ended since the last call, those of one place in their order. */
    int (*collect)(void *context, struct completion *out, int max);
    /* Sends a task to the end of the place.  false: that is not possible now.  NULL: start never sets a place. */
    bool (*follow)(void *context, int place, uint64_t id);
    /* Reports a task that failed, once.  NULL: its worker has reported it. */
    void (*failed)(void *context, uint64_t id, int32_t result);

    /* ---- asked by the orchestrator ---- */
    /* A task was published: wakes a thread that sleeps and could take it. */
    void (*wake)(void *context);
    /* Waits until is_met(arg), which is asked until it answers true and not once more, because it may take what it
     * waited for.  false: it is proved that it never will be met. */
    bool (*wait)(void *context, bool (*is_met)(void *arg), void *arg);
    /* The waiting thread runs what it waits for: a wait has no sleep to pay for, so it may be short. */
    bool runs_in_waits;
    /* Simulated cycles.  NULL: the engine's time is that of the system, in ns. */
    int64_t (*clock)(void *context);
    /* The task that is submitted next follows `from`; the call comes before its publication.  NULL: the engine does not
     * ask. */
    void (*edge)(void *context, uint64_t from);

    /* ---- inline execution, asked by the orchestrator; all of them NULL: one thread has every role, and executes
     * every task inline ---- */
    /* Is a task of this kernel shorter than what it costs to hand it over? */
    bool (*is_fine)(void *context, const PTOKernel *kernel);
    /* The window is empty, and the caller becomes the scheduler, until `leave`. */
    void (*enter)(void *context);
    void (*leave)(void *context);
    /* How long a call of this kernel takes, ns; 0: unknown.  NULL: loops are not handed over in strips. */
    int64_t (*known_ns)(void *context, const PTOKernel *kernel);
    /* Do the same workers run tasks of both types? */
    bool (*shares_workers)(void *context, PTOWorkerType a, PTOWorkerType b);
    /* Reports how long a measured call took. */
    void (*measured)(void *context, const PTOKernel *kernel, int64_t ns);
};

#endif
