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

/* How a transfer has ended.  OTHER_SIZE: of a receive, whose message had more bytes or fewer; what it has got is not
 * defined.  On some wires such a receive never ends. */
enum wire_end { WIRE_GOOD, WIRE_BROKEN, WIRE_OTHER_SIZE };
struct wire_ended {
    void *ticket;
    enum wire_end how;
};

/* The answer of a reduction. */
enum wire_answer { WIRE_WAITS, WIRE_DONE, WIRE_FAILED };

enum { WIRE_REDUCED = 4, WIRE_TEXT = 3072, WIRE_HOST = 64, WIRE_WHY = 256, WIRE_STATUS = 400, WIRE_PART = 64 << 10 };
enum { WIRE_WORDS = 24, WIRE_NAME = 64, WIRE_FILE = 256 };

/* A failure of a run, as its rank reports it to the others. */
struct wire_failure {
    int32_t rank, status;
    int32_t signal;       /* that has cancelled the run there; 0: none */
    char host[WIRE_HOST]; /* the name of its machine */
    char text[WIRE_TEXT];
};

/* What a rank does during a run, or the question for it, which has `run` and `word` alone. */
struct wire_status {
    int32_t rank;              /* that sent it */
    bool is_answer, waits;     /* the latter: for another rank, and nothing else is known to run */
    uint64_t run;              /* of the question */
    int64_t idle_ns;           /* for so long nothing has happened there */
    int64_t limit_ns;          /* a kernel runs there, and may for so long; 0: none runs, or there is no watchdog */
    uint64_t word[WIRE_WORDS]; /* what dist/search.h asks, and the answer; */
    char name[WIRE_NAME], file[WIRE_FILE]; /* likewise */
    char text[WIRE_STATUS];
};

struct wire {
    int32_t rank, ranks;
    const struct wire_ops *ops;
    char why[WIRE_WHY]; /* the newest transfer failed; "": nothing is known */
};

struct wire_ops {
    /* A run begins: what was reported in those before is forgotten. */
    void (*begin)(struct wire *w);
    /* Begins to send `count` views in one message, or to receive as many of the same bytes each.  The tags of the
     * transfers from one rank to another are different while they are in flight; no order of arrival is relied on.  The
     * views, the ticket and the memory stay until the transfer has ended or was cancelled.  A send ends when its
     * receive has begun; a few to each rank may end before, when the wire has their bytes.  false: the wire failed. */
    bool (*send)(struct wire *w, int32_t peer, uint64_t tag, const PTOArg *view, int32_t count, void *ticket);
    bool (*receive)(struct wire *w, int32_t peer, uint64_t tag, const PTOArg *view, int32_t count, void *ticket);
    /* Moves bytes; returns how many transfers have ended. */
    int (*progress)(struct wire *w, struct wire_ended *ended, int max);
    /* Gives up all transfers that have not ended: afterwards nothing touches their memory, and none of them ends. */
    void (*cancel)(struct wire *w);
    /* All ranks know that the run has failed, and call this before the next one begins: what was sent in it and not
     * received is received in no later one.  May block until all have come. */
    void (*renew)(struct wire *w);
    /* Asked until it answers: the least and the most of WIRE_REDUCED numbers of all ranks.  Every rank reduces in the
     * same order.  is_last: of the run; it needs all ranks, in whatever order they came before, and does not fail. */
    enum wire_answer (*reduce)(struct wire *w, bool is_last, const uint64_t *mine, uint64_t *least, uint64_t *most);
    /* Reports the failure of this rank to all, at most once in a run; has another one reported one that was not heard
     * yet? */
    void (*notify)(struct wire *w, const struct wire_failure *failure);
    bool (*listen)(struct wire *w, struct wire_failure *failure);
    /* A status to another rank.  false: the one before to that rank has not left yet, so only one to each is under way.
     * And one that has come; a status of another run may come too.  While no run is active none is looked for. */
    bool (*give_status)(struct wire *w, int32_t to, const struct wire_status *status);
    bool (*hear_status)(struct wire *w, struct wire_status *status);
    /* Between runs, and asked until they answer: at most WIRE_PART bytes to another rank, and from one.  What a rank
     * gives to another one, that one takes in the same order, each as many bytes.  A give may end before its take
     * begins, or not before. */
    enum wire_answer (*give)(struct wire *w, int32_t to, const void *data, int64_t bytes);
    enum wire_answer (*take)(struct wire *w, int32_t from, void *data, int64_t bytes);
    /* The wire is gone, and the process ends with `code`.  If that is not 0, this may end the job and not return.
     * all_come: every rank closes it, so this one may wait for them; else it waits for a while. */
    void (*close)(struct wire *w, int code, bool all_come);
};

/* The function of a library that is a wire; the library belongs to one build of the runtime. */
#define WIRE_SYMBOL "pto_wire_open_5"
/* Joins the ranks of the job.  NULL: `message` says why not. */
typedef struct wire *wire_open(char *message, size_t size);

/* open.c: the wire of this process.  NULL: it is the only rank, and *is_launched is false; or it was started as one of
 * several, and `message` says why it cannot join them. */
struct wire *ptoi_wire_open(bool *is_launched, char *message, size_t size);

/* pass.c: all of it, however much.  Blocks until the other rank has come.  false: the wire failed. */
bool ptoi_wire_give(struct wire *w, int32_t to, const void *data, int64_t bytes);
bool ptoi_wire_take(struct wire *w, int32_t from, void *data, int64_t bytes);

#endif
