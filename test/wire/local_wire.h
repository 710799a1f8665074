/* local_wire.h - a wire for tests: ranks are processes of one machine, and messages lie in memory that they share.
 *
 * Idea       a send puts its message into a slot of the pair; a receive takes it, after so many looks as the seed says.
 *            So messages are late, overtake each other, and are lost where a test wants that: then the send fails.
 *            By the seed some sends end before their messages were taken.
 * Owner      whoever opens the medium, before it forks.
 * Invariant  a pair has `slots` slots, and a send that finds none fails: the bound on what waits for its receive.  A
 *            few more are for sends that end before. */
#ifndef PTO_TEST_LOCAL_WIRE_H
#define PTO_TEST_LOCAL_WIRE_H
#include "wire/wire.h"

enum { MOST_RANKS = 8 };

struct medium_config {
    int ranks, slots;
    int64_t message_bytes; /* at most; 0: 8 KiB */
    uint64_t seed;
    int latest;  /* looks that a message may wait for */
    int lost_of; /* one message of so many is lost; 0: none */
};

struct medium;
struct medium *medium_open(const struct medium_config *config);
void medium_close(struct medium *m);
/* The wire of a rank; once, in its process. */
struct wire *medium_wire(struct medium *m, int rank);

/* Runs body(wire, rank, arg) for each rank in a process of its own, which ends with what the body returns; arg is
 * shared memory.  0: all returned 0.  A rank that takes longer than a minute is killed. */
int ranks_run(const struct medium_config *config, int (*body)(struct wire *w, int rank, void *arg), void *arg);
/* Zeroed memory that ranks share; never freed before the test ends. */
void *ranks_share(size_t bytes);

#endif
