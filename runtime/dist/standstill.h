/* standstill.h - nothing happens on several ranks: they disagree, all of them wait for each other, or with a watchdog a
 * kernel does not return, or a rank does not answer.
 *
 * Idea       a rank with a watchdog that has seen nothing happen for half of its time asks all others what they do, and
 *            rank 0 does so after STILL_NS, with a watchdog or without.  A rank that is asked answers.  When nothing
 *            has happened anywhere for the whole time of a watchdog, or a kernel here has run for it, or a rank does
 *            not answer, the run fails, and the message says of each rank the oldest task and which rank it waits for.
 *            While something happens no rank asks.
 * Owner      the transfers of the rank, whose lock is held for every call but ptoi_standstill_say; the thread that
 *            carries them out looks.
 * Invariant  of this rank at most one question and one answer to each other one are under way.
 * Blocks     never.
 * Tests      test/wire/test_standstill.c, check_disagree.py, check_options.py, check_programs.py */
#ifndef PTOI_STANDSTILL_H
#define PTOI_STANDSTILL_H
#include "search.h"
#include <pto/pto_types.h>

struct transfers;

/* Note [comparing]: ranks that were asked to do different things may wait for messages that no rank will send, and then
 * none of them comes to its next comparison (agree.c).  So rank 0 compares where nothing happens, too, and one search
 * (search.h) serves both: it begins when nothing has happened here for STILL_NS, or at once when all ranks have reduced
 * different hashes.
 * - Rank 0 alone asks, so there is one search at a time.  A question goes to all ranks, and to rank 0 itself, with the
 *   next one only when all have answered.  Each carries the number of the run; of another run none is answered.
 * - The steps belong to the orchestrator.  It answers by itself, where it has waited for a while: before it sleeps for
 *   room in the window or for its tasks, and while it waits for all ranks.  Where it does not come by for PATIENCE_NS,
 *   because it executes the program or a kernel, the rank answers without steps, and rank 0 asks again after AGAIN_NS.
 *   A process that was stopped, or a rank that has not begun the run, does not answer: rank 0 waits, for ever if need
 *   be.
 * - Answers may be late: steps that a rank has made never change, so what they say stays right.  If something happens
 *   on rank 0 meanwhile, it forgets the search, and drops what still comes.
 * - Where steps differ, the run fails, whether it stands still or not: it would fail at its next comparison.
 * - Where all agree as far as they have come, the run fails only when it is proved that it stands still: in two
 *   searches one after the other each rank has answered that its program waits, that nothing is ready or runs there,
 *   and that nothing has to leave; between the two nothing has happened on any; as many messages have come on all ranks
 *   as the wires were given; and no reduction waits to which all ranks have come.  A rank does something only when a
 *   kernel, a message or a reduction ends, so from the first of these answers to the second none did, and none is to
 *   come.  (F. Mattern, "Algorithms for distributed termination detection", Distributed Computing 2, 1987: four
 *   counters.)
 * - The rest is for a watchdog: a message that is never received counts as under way, and a kernel may be long.
 * - A rank whose program ends with an error that all ranks would meet waits for them; its next step is that error. */
enum { STILL_NS = 2000000000 };

/* What is asked of the program: tasks that the orchestrator has come to; and the steps of it, which the orchestrator
 * says.  That returns where the program was. */
struct ranked_program {
    const _Atomic int64_t *passed;
    const PTOSite *(*say_steps)(void *context, const struct search_question *question, struct search_answer *said,
                                struct wire_status *status);
    void *context;
};

/* A question that waits for an answer; run 0: none does. */
struct owed {
    uint64_t run;
    struct search_question question;
    int64_t since;
};

/* What is known of another rank. */
struct other_rank {
    int64_t asked, answered;   /* when; 0: not yet */
    bool is_asked;             /* the question has left */
    bool was_heard;            /* in this run, so it has begun it */
    struct wire_status newest; /* answer */
    uint64_t still_events;     /* when all ranks were found to be still; */
    bool was_still;            /* this one has been then */
};

struct standstill {
    int64_t limit_ns; /* 0: this rank has no watchdog, and only answers */
    /* the limit is that of a run that repeats schedules, which may not fit it: then it fails only where all ranks wait
     * for others */
    bool is_for_replay;
    /* all ranks begin a run at the same time; else one that was never heard may not have begun it */
    bool begins_together;
    uint64_t run; /* the number of the run, the same on all ranks */
    struct ranked_program program;
    struct owed *owed; /* by rank, that of this one too */
    /* W the holder of the lock, R the orchestrator, relaxed: a hint.  Some rank wants to know its steps. */
    _Atomic int32_t is_asked;
    bool compares;               /* this is rank 0 of several */
    bool differs;                /* the ranks have found that they disagree */
    bool asks_steps;             /* the newest question is about steps */
    struct search search;        /* likewise */
    struct search_answer *said;  /* by rank: the answers to it */
    const PTOSite *site;         /* of the newest answer of this rank */
    uint64_t ended;              /* transfers and agreements that have ended here */
    uint64_t events, kernels;    /* all that has happened here, and kernels that have ended, at the newest look */
    int64_t since, kernel_since; /* when each was another number; of the latter also: when no kernel ran */
    int64_t looked;
    struct other_rank *other; /* by rank; NULL: this one never asks */
    int64_t round, next;      /* when all were asked, 0: they are not; and when they may be asked again */
    int32_t silent;           /* does not answer, so the run has failed; -1: none is known */
};

/* seconds: of the watchdog; 0: there is none.  false: no memory. */
bool ptoi_standstill_open(struct standstill *s, const struct wire *w, double seconds, bool has_replay,
                          bool begins_together, const struct ranked_program *program);
void ptoi_standstill_close(struct standstill *s);
void ptoi_standstill_begin(struct standstill *s, const struct wire *w); /* a run */
/* A run is active.  Answers, asks, and may fail the run. */
void ptoi_standstill_look(struct transfers *t);
/* The orchestrator waits, and answers what ranks have asked about its steps.  It has no lock, and not the scheduler's
 * role. */
void ptoi_standstill_say(struct transfers *t);

#endif
