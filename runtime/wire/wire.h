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

/* WIRE_LEAVES: a rank ends its runtime, or its process; of leave.c alone. */
enum wire_kind { WIRE_QUESTION, WIRE_ANSWER, WIRE_LEAVES };

/* What a rank does during a run, or the question for it, which has `run` and `word` alone. */
struct wire_status {
    int32_t rank; /* that sent it */
    enum wire_kind kind;
    bool waits;                /* for another rank, and nothing else is known to run */
    uint64_t run;              /* of the question */
    int64_t idle_ns;           /* for so long nothing has happened there */
    int64_t limit_ns;          /* a kernel runs there, and may for so long; 0: none runs, or there is no watchdog */
    uint64_t word[WIRE_WORDS]; /* what dist/search.h asks, and the answer; */
    char name[WIRE_NAME], file[WIRE_FILE]; /* likewise */
    char text[WIRE_STATUS];
};

/* A rank that has left, and how many runs it had begun until then. */
struct wire_left {
    bool is_known;
    int32_t rank;
    uint64_t runs;
};

/* The notices of ranks that have left, which come in runs and between them: see leave.c. */
struct wire_others {
    uint64_t leaves;              /* of this rank: runtimes that it has ended */
    struct wire_left left, ended; /* with the fewest runs: has left once more than this rank; has ended its process */
    int32_t ended_count;
    int32_t code;                   /* of those that have ended: an exit code that is an error, if there is one; */
    bool is_any_alone, is_any_busy; /* one does not wait for the others; one cannot end its wire */
};

struct wire {
    int32_t rank, ranks;
    uint64_t runs; /* that this rank has begun, of all its runtimes */
    struct wire_others others;
    const struct wire_ops *ops;
    void (*ends)(struct wire *w); /* NULL, or the wire calls it before a host program ends what it lies on */
    char why[WIRE_WHY];           /* the newest transfer failed; "": nothing is known */
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
     * And one that has come; a status of another run may come too. */
    bool (*give_status)(struct wire *w, int32_t to, const struct wire_status *status);
    bool (*hear_status)(struct wire *w, struct wire_status *status);
    /* Between runs, and asked until they answer: at most WIRE_PART bytes to another rank, and from one.  What a rank
     * gives to another one, that one takes in the same order, each as many bytes.  A give may end before its take
     * begins, or not before. */
    enum wire_answer (*give)(struct wire *w, int32_t to, const void *data, int64_t bytes);
    enum wire_answer (*take)(struct wire *w, int32_t from, void *data, int64_t bytes);
    /* A host program has ended what it lies on: nothing else may be called any more but close. */
    bool (*is_over)(struct wire *w);
    /* Nothing of this rank is under way but statuses; and these neither.  Asked before the wire is closed. */
    bool (*is_idle)(struct wire *w);
    bool (*have_statuses_left)(struct wire *w);
    /* The wire is gone, and the job ends with `code`.  are_all_idle: every rank closes it, and nothing of any is
     * under way.  If not, and the code is not 0, this may end the job and not return. */
    void (*close)(struct wire *w, int code, bool are_all_idle);
};

/* The function of a library that is a wire; the library belongs to one build of the runtime. */
#define WIRE_SYMBOL "pto_wire_open_6"
/* Joins the ranks of the job.  NULL: `message` says why not. */
typedef struct wire *wire_open(char *message, size_t size);

/* open.c: the wire of this process.  NULL: it is the only rank, and *is_launched is false; or it was started as one of
 * several, and `message` says why it cannot join them. */
struct wire *ptoi_wire_open(bool *is_launched, char *message, size_t size);

/* pass.c: all of it, however much.  Blocks until the other rank has come.  false: the wire failed. */
bool ptoi_wire_give(struct wire *w, int32_t to, const void *data, int64_t bytes);
bool ptoi_wire_take(struct wire *w, int32_t from, void *data, int64_t bytes);

/* leave.c: this rank ends its runtime, and notifies all others. */
void ptoi_wire_leave(struct wire *w);
/* A question or an answer that has come: see hear_status.  Notices of ranks that leave are kept. */
bool ptoi_wire_hear(struct wire *w, struct wire_status *status);
/* A rank that has left before the newest run of this one, and comes to it no more; NULL: none is known. */
const struct wire_left *ptoi_wire_left_before(const struct wire *w);
/* This process makes no further run, and ends with `code`.  Waits for all ranks; for a while only, where this one does
 * not, or another one says so. */
void ptoi_wire_end(struct wire *w, int code, bool waits);
/* The same, and the wire is gone. */
void ptoi_wire_close(struct wire *w, int code, bool waits);

#endif
