/* explore.h - which fiber goes on, and which store a load reads: by depth-first search with partial-order reduction, or
 * at random.
 *
 * Search     the executions of a case are the leaves of a tree of choices.  A choice of the fiber is opened only where
 *            two steps depend on each other and could come in the other order (dynamic partial-order reduction by
 *            source sets and sleep sets: Abdulla, Aronis, Jonsson and Sagonas); a choice of the store that a load reads
 *            is always open.  With a bound a fiber is preempted so often at most, and whatever is opened is opened at
 *            the beginning of the preempted fiber's time slice too (Coons, Musuvathi and McKinley).
 * Random     probabilistic concurrency testing of depth 3: random priorities, changed at two random steps; every other
 *            run a random walk.
 * Replay     a run at random is its seed, a leaf of the tree is the list of its choices. */
#ifndef CHECK_EXPLORE_H
#define CHECK_EXPLORE_H
#include "fiber.h"

/* A case: a function that starts threads, joins them, and calls check_fail when something is wrong. */
struct check_case {
    const char *name, *about;
    void (*body)(void);
    void (*before)(void);         /* once, before the first execution; may be NULL */
    void (*after)(bool is_whole); /* once, after the last; may be NULL.  is_whole: the tree was searched to its end */
    bool is_small;                /* the tree is to be searched to its end, within these bounds, -1: none */
    int preemptions, stale;       /* of an execution: forced switches; loads that read an older store */
};

struct explore_options {
    const struct check_case *of;
    uint64_t seed, runs; /* of random runs; runs 0: no limit */
    double seconds;      /* 0: no limit */
    bool is_random, is_quiet;
    const char *choices; /* replay this leaf; NULL: none */
    bool has_one_seed;   /* replay the run of `seed` */
};

struct explore_result {
    uint64_t executions, steps, pruned;
    bool is_whole;
};

struct explore_result explore(const struct explore_options *options);

/* Before a step: the caller goes on when it is chosen. */
void explore_step(struct op op);
/* Which of n stores a load reads; 0 is the newest. */
int explore_read(int n);
/* The next fiber to go on; NULL: all have ended. */
struct check_fiber *explore_next(void);
void explore_started(const struct check_fiber *f, const struct check_fiber *by); /* by: NULL, the first */

/* The run has found a fault: prints it with the schedule and how to repeat it, and ends the process with status 1. */
_Noreturn void check_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define CHECK_THAT(condition) ((condition) ? (void)0 : check_fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition))

/* trace.c */
void trace_reset(void);
void trace_step(const struct check_fiber *f); /* it takes the step that it stands before */
void trace_value(uint64_t value,
                 int stale); /* what that step read or wrote; read from so many stores before the newest */
void trace_print(void);      /* the last steps of the execution */

#endif
