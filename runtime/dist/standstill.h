/* standstill.h - the watchdog of several ranks: a kernel does not return, a rank does not answer, or all wait for each
 * other.
 *
 * Idea       a rank with a watchdog that has seen nothing happen for half of its time asks all others what they do.
 *            Whoever is asked answers, whether it has a watchdog or not.  When nothing has happened anywhere for the
 *            whole time, or a kernel here has run for it, or a rank does not answer, the run fails, and the message
 *            says of each rank the oldest task and which rank it waits for.  While something happens nobody asks.
 * Owner      the transfers of the rank, whose lock is held for every call; the thread that carries them out looks.
 * Invariant  of this rank at most one question and one answer to each other one are under way.
 * Blocks     never.
 * Tests      test/wire/test_standstill.c, check_options.py, check_programs.py */
#ifndef PTOI_STANDSTILL_H
#define PTOI_STANDSTILL_H
#include "wire/wire.h"

struct transfers;

/* What is known of another rank. */
struct other_rank {
    int64_t asked, answered;   /* when; 0: not yet */
    bool is_asked;             /* the question has left */
    bool was_heard;            /* in this run, so it has begun it */
    struct wire_status newest; /* answer */
};

struct standstill {
    int64_t limit_ns; /* 0: this rank has no watchdog, and only answers */
    /* the limit is that of a run that repeats schedules, which may not fit it: then it fails only where all ranks wait
     * for others */
    bool is_for_replay;
    /* all ranks begin a run at the same time; else one that was never heard may not have begun it */
    bool begins_together;
    uint64_t run;                  /* the number of the run, the same on all ranks */
    const _Atomic int64_t *passed; /* tasks of the program that the orchestrator has come to */
    uint64_t *owed;                /* by rank: the run of its question, which waits for an answer; 0: none does */
    uint64_t ended;                /* transfers and agreements that have ended here */
    uint64_t events, kernels;      /* all that has happened here, and kernels that have ended, at the newest look */
    int64_t since, kernel_since;   /* when each was another number; of the latter also: when no kernel ran */
    int64_t looked;
    struct other_rank *other; /* by rank; NULL: there is no watchdog */
    int64_t round, next;      /* when all were asked, 0: they are not; and when they may be asked again */
    int32_t silent;           /* does not answer, so the run has failed; -1: none is known */
};

/* seconds: of the watchdog; 0: there is none.  false: no memory. */
bool ptoi_standstill_open(struct standstill *s, int32_t ranks, double seconds, bool has_replay, bool begins_together,
                          const _Atomic int64_t *passed);
void ptoi_standstill_close(struct standstill *s);
void ptoi_standstill_begin(struct standstill *s, int32_t ranks); /* a run */
/* A run is active.  Answers, asks, and may fail the run. */
void ptoi_standstill_look(struct transfers *t);

#endif
