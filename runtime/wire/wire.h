/* wire.h - what ranks ask of the machine between them.
 *
 * Idea       a wire moves views between ranks, agrees on numbers, and carries one failure to all.  It knows no tasks
 *            and no tensors.
 * Owner      a rank.  No two threads call at the same time: dist/transfer.h has the lock.
 * Blocks     never: whoever waits asks again.
 * Tests      test/wire, whose wire joins processes of one machine */
#ifndef PTOI_WIRE_H
#define PTOI_WIRE_H
#include <pto/pto_types.h>

/* A transfer that has ended. */
struct wire_ended {
    void *ticket;
    bool is_good;
};

/* The answer of a reduction. */
enum wire_answer { WIRE_WAITS, WIRE_DONE, WIRE_FAILED };

enum { WIRE_REDUCED = 4, WIRE_TEXT = 1024 };

/* A failure of a run, as its rank reports it to the others. */
struct wire_failure {
    int32_t rank, status;
    int32_t signal; /* that has cancelled the run there; 0: none */
    char text[WIRE_TEXT];
};

struct wire {
    int32_t rank, ranks;
    const struct wire_ops *ops;
};

struct wire_ops {
    /* A run begins: what was reported in those before is forgotten. */
    void (*begin)(struct wire *w);
    /* Begins to send a view, or to receive one.  The tags of the transfers from one rank to another are different while
     * they are in flight; no order of arrival is relied on.  The view, the ticket and the memory stay until the
     * transfer has ended or was cancelled.  A send ends when its receive has begun.  false: the wire failed. */
    bool (*send)(struct wire *w, int32_t peer, uint64_t tag, const PTOArg *view, void *ticket);
    bool (*receive)(struct wire *w, int32_t peer, uint64_t tag, const PTOArg *view, void *ticket);
    /* Moves bytes; returns how many transfers have ended. */
    int (*progress)(struct wire *w, struct wire_ended *ended, int max);
    /* Gives up all transfers that have not ended: afterwards nothing touches their memory, and none of them ends. */
    void (*cancel)(struct wire *w);
    /* Asked until it answers: the least and the most of WIRE_REDUCED numbers of all ranks.  Every rank reduces in the
     * same order.  is_last: of the run; it needs all ranks, in whatever order they came before, and does not fail. */
    enum wire_answer (*reduce)(struct wire *w, bool is_last, const uint64_t *mine, uint64_t *least, uint64_t *most);
    /* Reports the failure of this rank to all; has another one reported one?  The first of a run counts. */
    void (*notify)(struct wire *w, const struct wire_failure *failure);
    bool (*listen)(struct wire *w, struct wire_failure *failure);
    /* is_good: no run has failed, so nothing is in flight.  The wire is gone. */
    void (*close)(struct wire *w, bool is_good);
};

/* The function of a library that is a wire; the library belongs to one build of the runtime. */
#define WIRE_SYMBOL "pto_wire_open_1"
/* Joins the ranks of the job.  NULL: `message` says why not. */
typedef struct wire *wire_open(char *message, size_t size);

/* open.c: the wire of this process.  NULL: it is the only rank, and *is_launched is false; or it was started as one of
 * several, and `message` says why it cannot join them. */
struct wire *ptoi_wire_open(bool *is_launched, char *message, size_t size);

#endif
