/* mpi.c - the wire over MPI: a library of its own; with mpi_types.c all that knows MPI.
 *
 * Idea       a transfer is a send, mostly synchronous, or a receive of a derived type, so nothing is packed; what has
 *            ended is found by asking, never by waiting.  MPI_COMM_WORLD belongs to the program: it is copied and,
 *            where a job ends with an error, aborted; no other call uses it.
 * Owner      a rank; two threads never call at the same time (MPI_THREAD_SERIALIZED).
 * Limits     after a failure the job has to end: sends that were not received cannot be taken back, so no rank
 *            finalizes MPI then, Note [all finalize or none].
 *            Host programs begin no run behind it (api/join.c), and a built program has one; what a later run would
 *            receive is promised by wire.h alone.
 * Tests      test/wire/check_wire.c, check_programs.py, check_later.py */
#include "mpi_sizes.h"
#include "mpi_types.h"
#include "shared/system.h"
#include "wire.h"
#include <dlfcn.h>
#include <mpi.h>
#include <pto/detail/decode.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Note [ordinary reductions]: MPI cannot cancel a reduction.  Where a run fails, some ranks have begun an ordinary one
 * that the others leave out.  So the last reduction of the run compares how many each rank has begun, and those that
 * have begun fewer begin the rest, whose numbers are dropped.  Otherwise the next run would read them, and the job
 * could not finalize. */

/* Note [small messages]: a synchronous send needs an answer when its receive has begun, which costs as much as a small
 * message.  So small messages are sent without, but each SYNCHRONOUS-th to a rank.  What arrives without a receive is
 * bounded still: such a send ends when the other rank has come to its receive, and this rank is ahead of one that has
 * not ended by its window at most. */
enum { SMALL_BYTES = 1024, SYNCHRONOUS = 8 };

/* Note [signed numbers]: MPI_MAX of MPICH 4.0.2 and of Open MPI 4.1.2 compares numbers of MPI_UINT64_T as signed ones
 * (pmodels/mpich #6083, open-mpi/ompi #10276).  So numbers are given as signed ones that have the same order. */

/* Note [who yields]: Open MPI can give the processor away in each call that finds nothing (mpi_yield_when_idle, which
 * its launcher chooses where there are more ranks than processors).  That call of the system takes ten times as long as
 * the look, and a message that comes meanwhile waits.  Who asks here gives the processor away itself, when it has asked
 * in vain for a while.  So where MPI is started here, and has no other user, it does not yield between the beginning
 * and the end.  No interface of MPI changes that after the start; Open MPI's own function does, where it is found. */

/* What is reduced: the numbers, their complements, and in the last reduction of a run how many ordinary ones the rank
 * has begun. */
enum { BEGUN = 2 * WIRE_REDUCED, WORDS };

/* Of messages about failures, and about how ranks are. */
enum { FAILURE_TAG, STATUS_TAG };

/* Reductions of one kind, one after the other; is_begun: all ranks have not come to the newest yet. */
struct reduction {
    MPI_Comm ranks;
    MPI_Request request;
    bool is_begun;
    uint64_t count; /* that were begun */
    int64_t given[WORDS], found[WORDS];
};

/* A failure that is being sent. */
struct report {
    uint64_t run; /* that failed, among those of this wire */
    struct wire_failure failure;
};

/* The failure that this rank reports to all.  It stays until it was sent. */
struct reporting {
    struct reporting *next;
    struct report report;
    int count;
    MPI_Request request[];
};

/* The newest status that left for a rank.  It stays until MPI has taken it. */
struct leaving {
    struct wire_status status;
    MPI_Request request;
    bool is_begun;
};

/* Bytes on their way between runs. */
struct passing {
    MPI_Request request;
    bool is_begun;
};

struct mpi_wire {
    struct wire wire;
    MPI_Comm transfers, failures, passed;
    struct passing given, taken;
    struct reduction ordinary, last;
    bool is_last_found; /* and the ordinary reductions are being completed */
    struct mpi_tags tags;
    MPI_Errhandler handler;  /* of MPI_COMM_WORLD, which belongs to a host program */
    MPI_Request *request;    /* of transfers that have not ended */
    struct pending *pending; /* likewise */
    int count, room;
    uint8_t *small;              /* by rank: small messages sent since the last synchronous one */
    bool has_sent_small;         /* in this run */
    struct reporting *reporting; /* of all runs */
    struct report *early;        /* by rank, of the next run: it is ahead; run 0: none */
    int early_count;
    struct leaving *leaving; /* by rank; NULL: none has left yet */
    bool has_left_sends, has_begun_mpi;
    bool (*set_yields)(bool yields); /* see Note [who yields]; NULL: there is no such function, or MPI is not ours */
    bool yields;                     /* what it was before */
};

struct pending {
    void *ticket;
    bool is_send;
    int64_t bytes; /* of a receive; -1 */
};

static struct mpi_wire *of(struct wire *w) { return (struct mpi_wire *)w; }

static bool is_fine(int error) { return error == MPI_SUCCESS; }

/* ---- transfers --------------------------------------------------------------------------------------------------- */

static bool make_room(struct mpi_wire *w)
{
    if (w->count < w->room) return true;
    const int room = w->room ? 2 * w->room : 64;
    MPI_Request *request = realloc(w->request, (size_t)room * sizeof(MPI_Request));
    if (request) w->request = request;
    struct pending *pending = request ? realloc(w->pending, (size_t)room * sizeof *pending) : NULL;
    if (!pending) return false;
    w->pending = pending;
    w->room = room;
    return true;
}

typedef int send_fn(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks, MPI_Request *made);

/* See Note [small messages]. */
static send_fn *choose_send(struct mpi_wire *w, int32_t peer, int64_t bytes)
{
    if (bytes > SMALL_BYTES || ++w->small[peer] == SYNCHRONOUS) {
        w->small[peer] = 0;
        return MPI_Issend;
    }
    w->has_sent_small = true;
    return MPI_Isend;
}

static bool begin_transfer(struct wire *wire, bool is_send, int32_t peer, uint64_t number, const PTOArg *view,
                           int32_t count, void *ticket)
{
    struct mpi_wire *w = of(wire);
    int elements = 1;
    const int64_t bytes = ptoi_mpi_bytes(view, count);
    const int tag = ptoi_mpi_tag(&w->tags, number, bytes);
    const bool is_plain = count == 1 && ptoi_mpi_is_dense(view, &elements);
    MPI_Datatype type = ptoi_mpi_element(view);
    if (!is_plain) elements = 1;
    if (!make_room(w)) return false;
    if (!is_plain && !ptoi_mpi_type(wire, view, count, &type)) return false;
    MPI_Request *request = &w->request[w->count];
    void *from = count == 1 ? view->ptr : MPI_BOTTOM;
    const int error = is_send ? choose_send(w, peer, is_plain ? bytes : INT64_MAX)(from, elements, type, peer, tag,
                                                                                   w->transfers, request)
                              : MPI_Irecv(from, elements, type, peer, tag, w->transfers, request);
    if (!is_plain) MPI_Type_free(&type);
    if (!ptoi_mpi_explain(wire, error)) return false;
    w->pending[w->count++] = (struct pending){ticket, is_send, is_send ? -1 : bytes};
    return true;
}

static bool mpi_send(struct wire *w, int32_t peer, uint64_t tag, const PTOArg *view, int32_t count, void *ticket)
{
    return begin_transfer(w, true, peer, tag, view, count, ticket);
}

static bool mpi_receive(struct wire *w, int32_t peer, uint64_t tag, const PTOArg *view, int32_t count, void *ticket)
{
    return begin_transfer(w, false, peer, tag, view, count, ticket);
}

/* Looks at all requests.  Open MPI 4.1 makes progress once where none has ended: MPI_Test looks at its request again
 * behind that, but MPI_Testany leaves that to the next call. */
static int find_ended(struct mpi_wire *w, int *at, int *any, MPI_Status *status)
{
    *at = 0;
    if (w->count == 1) return MPI_Test(w->request, any, status);
    return MPI_Testany(w->count, w->request, at, any, status);
}

/* One at a time, because somebody waits for what has ended. */
static int mpi_progress(struct wire *wire, struct wire_ended *ended, int max)
{
    struct mpi_wire *w = of(wire);
    MPI_Status status;
    int at = MPI_UNDEFINED, any = 0;
    if (w->count == 0 || max == 0) return 0;
    if (!w->has_begun_mpi) ptoi_mpi_begin_returning(&w->handler);
    const int error = find_ended(w, &at, &any, &status);
    if (!w->has_begun_mpi) ptoi_mpi_end_returning(&w->handler);
    if (!any || at == MPI_UNDEFINED) return 0;
    const struct pending *p = &w->pending[at];
    ended[0] = (struct wire_ended){p->ticket, ptoi_mpi_end(wire, p->bytes, error, &status)};
    w->request[at] = w->request[--w->count];
    w->pending[at] = w->pending[w->count];
    return 1;
}

static void mpi_cancel(struct wire *wire)
{
    struct mpi_wire *w = of(wire);
    w->has_left_sends |= w->has_sent_small; /* no answer says that they were received */
    if (!w->has_begun_mpi) ptoi_mpi_begin_returning(&w->handler);
    for (; w->count > 0; w->count--) {
        MPI_Request *request = &w->request[w->count - 1];
        if (w->pending[w->count - 1].is_send) {
            MPI_Request_free(request);
            w->has_left_sends = true;
        } else {
            MPI_Cancel(request);
            MPI_Wait(request, MPI_STATUS_IGNORE);
        }
    }
    if (!w->has_begun_mpi) ptoi_mpi_end_returning(&w->handler);
}

/* Tags begin anew with each run, and a small message that nobody received cannot be called back: it stays with the
 * communicator of its run.  That is never freed: MPICH gives the number of one that was freed to a later one, which
 * then receives the message.  A rank that had ended well when another one failed was not cancelled. */
static void mpi_renew(struct wire *wire)
{
    struct mpi_wire *w = of(wire);
    MPI_Comm made;
    w->has_left_sends |= w->has_sent_small;
    if (MPI_Comm_dup(w->transfers, &made) == MPI_SUCCESS) w->transfers = made;
}

/* ---- agreement --------------------------------------------------------------------------------------------------- */

/* See Note [signed numbers]; each is the other's inverse. */
static int64_t to_signed(uint64_t number) { return (int64_t)(number ^ (uint64_t)INT64_MIN); }
static uint64_t from_signed(int64_t number) { return (uint64_t)number ^ (uint64_t)INT64_MIN; }

/* The least is the complement of the most of the complements. */
static uint64_t least_of(const struct reduction *r, int i) { return ~from_signed(r->found[WIRE_REDUCED + i]); }

static bool begin_reduction(struct reduction *r, const uint64_t *mine, uint64_t ordinary)
{
    for (int i = 0; i < WIRE_REDUCED; i++) {
        r->given[i] = to_signed(mine[i]);
        r->given[WIRE_REDUCED + i] = to_signed(~mine[i]);
    }
    r->given[BEGUN] = to_signed(ordinary);
    r->is_begun = is_fine(MPI_Iallreduce(r->given, r->found, WORDS, MPI_INT64_T, MPI_MAX, r->ranks, &r->request));
    r->count += r->is_begun;
    return r->is_begun;
}

static enum wire_answer test_reduction(struct reduction *r)
{
    int any = 0;
    if (!is_fine(MPI_Test(&r->request, &any, MPI_STATUS_IGNORE))) return WIRE_FAILED;
    r->is_begun = !any;
    return any ? WIRE_DONE : WIRE_WAITS;
}

/* See Note [ordinary reductions]. */
static enum wire_answer complete_ordinary(struct mpi_wire *w)
{
    static const uint64_t nothing[WIRE_REDUCED];
    struct reduction *r = &w->ordinary;
    for (;;) {
        const enum wire_answer answer = r->is_begun ? test_reduction(r) : WIRE_DONE;
        if (answer != WIRE_DONE || r->count >= from_signed(w->last.found[BEGUN])) return answer;
        if (!begin_reduction(r, nothing, 0)) return WIRE_FAILED;
    }
}

static enum wire_answer mpi_reduce(struct wire *wire, bool is_last, const uint64_t *mine, uint64_t *least,
                                   uint64_t *most)
{
    struct mpi_wire *w = of(wire);
    struct reduction *r = is_last ? &w->last : &w->ordinary;
    enum wire_answer answer = WIRE_DONE;
    if (!is_last || !w->is_last_found) {
        if (!r->is_begun && !begin_reduction(r, mine, w->ordinary.count)) return WIRE_FAILED;
        answer = test_reduction(r);
    }
    if (is_last && answer == WIRE_DONE) {
        answer = complete_ordinary(w);
        w->is_last_found = answer == WIRE_WAITS;
    }
    for (int i = 0; i < WIRE_REDUCED && answer == WIRE_DONE; i++) {
        most[i] = from_signed(r->found[i]);
        least[i] = least_of(r, i);
    }
    return answer;
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void mpi_begin(struct wire *w) { of(w)->has_sent_small = false; }

/* Without memory the others are not notified, and wait; the launcher ends them when this rank ends. */
static void mpi_notify(struct wire *wire, const struct wire_failure *failure)
{
    struct mpi_wire *w = of(wire);
    struct reporting *x = malloc(sizeof *x + (size_t)wire->ranks * sizeof *x->request);
    if (!x) return;
    *x = (struct reporting){.next = w->reporting, .report = {wire->runs, *failure}};
    w->reporting = x;
    for (int k = 0; k < wire->ranks; k++)
        if (k != wire->rank && is_fine(MPI_Isend(&x->report, sizeof x->report, MPI_BYTE, k, FAILURE_TAG, w->failures,
                                                 &x->request[x->count])))
            x->count++;
}

/* One that came when the run before was here. */
static bool take_early(struct mpi_wire *w, struct report *report)
{
    for (int k = 0; k < w->wire.ranks && w->early_count > 0; k++) {
        if (w->early[k].run == 0 || w->early[k].run > w->wire.runs) continue;
        *report = w->early[k];
        w->early[k].run = 0;
        w->early_count--;
        return true;
    }
    return false;
}

/* Reports of earlier runs are dropped.  Those of the next run wait for it: that run begins after this one has ended, so
 * each rank has one at most. */
static bool mpi_listen(struct wire *wire, struct wire_failure *failure)
{
    struct mpi_wire *w = of(wire);
    struct report report;
    MPI_Status status;
    int any = 0;
    report.run = 0; /* none yet; its text is long, and is not cleared */
    while (report.run != wire->runs) {
        if (report.run > wire->runs) {
            w->early[status.MPI_SOURCE] = report;
            w->early_count++;
        }
        if (take_early(w, &report)) continue;
        if (!is_fine(MPI_Iprobe(MPI_ANY_SOURCE, FAILURE_TAG, w->failures, &any, &status)) || !any ||
            !is_fine(MPI_Recv(&report, sizeof report, MPI_BYTE, status.MPI_SOURCE, FAILURE_TAG, w->failures,
                              MPI_STATUS_IGNORE)))
            return false;
    }
    *failure = report.failure;
    return true;
}

/* ---- how ranks are ----------------------------------------------------------------------------------------------- */

static bool has_left(struct leaving *x)
{
    int any = 0;
    if (x->is_begun && (!is_fine(MPI_Test(&x->request, &any, MPI_STATUS_IGNORE)) || !any)) return false;
    x->is_begun = false;
    return true;
}

static bool mpi_give_status(struct wire *wire, int32_t to, const struct wire_status *status)
{
    struct mpi_wire *w = of(wire);
    if (!w->leaving) w->leaving = calloc((size_t)wire->ranks, sizeof *w->leaving);
    if (!w->leaving || !has_left(&w->leaving[to])) return false;
    struct leaving *x = &w->leaving[to];
    x->status = *status;
    const size_t bytes = offsetof(struct wire_status, text) + strlen(status->text) + 1;
    x->is_begun = is_fine(MPI_Isend(&x->status, (int)bytes, MPI_BYTE, to, STATUS_TAG, w->failures, &x->request));
    return x->is_begun;
}

static bool mpi_hear_status(struct wire *wire, struct wire_status *status)
{
    struct mpi_wire *w = of(wire);
    MPI_Status from;
    int any = 0;
    return is_fine(MPI_Iprobe(MPI_ANY_SOURCE, STATUS_TAG, w->failures, &any, &from)) && any &&
           is_fine(
               MPI_Recv(status, sizeof *status, MPI_BYTE, from.MPI_SOURCE, STATUS_TAG, w->failures, MPI_STATUS_IGNORE));
}

/* ---- the beginning and the end ----------------------------------------------------------------------------------- */

/* Note [all finalize or none]: MPI_Finalize waits for all ranks.  A rank that finalized while another one ends without
 * it would wait until the launcher ends it.  So the ranks agree on it, wire/leave.c. */

/* MPI may belong to a host program, which ends it. */
static bool mpi_is_over(struct wire *wire)
{
    int is_over = 0;
    (void)wire;
    MPI_Finalized(&is_over);
    return is_over;
}

static bool mpi_is_idle(struct wire *wire)
{
    struct mpi_wire *w = of(wire);
    bool is_idle = w->count == 0 && !w->has_left_sends && !w->ordinary.is_begun && !w->last.is_begun;
    for (struct reporting *x = w->reporting; x; x = x->next)
        for (int k = 0, any = 0; k < x->count; k++)
            is_idle &= is_fine(MPI_Test(&x->request[k], &any, MPI_STATUS_IGNORE)) && any;
    return is_idle;
}

static bool mpi_have_statuses_left(struct wire *wire)
{
    struct mpi_wire *w = of(wire);
    bool all = true;
    for (int k = 0; k < wire->ranks && w->leaving; k++) all &= has_left(&w->leaving[k]);
    return all;
}

/* So long the other ranks leave MPI_Abort to rank 0, which is so long after the last words of a rank: the launcher of
 * MPICH reads no more of them once it has been called. */
enum { ABORT_NS = 2000000000, LAST_WORDS_NS = 50000000 };

static void abort_all(const struct mpi_wire *w, int code)
{
    fflush(NULL); /* a host program comes here from exit, before its streams are closed */
    ptoi_sleep_ns(w->wire.rank == 0 ? LAST_WORDS_NS : ABORT_NS);
    MPI_Abort(MPI_COMM_WORLD, code);
}

/* The process ends without MPI_Finalize.  The launcher of MPICH kills the other ranks then, and reports their SIGKILL
 * in place of the exit code; MPI_Abort names the code.  Of another communicator than that of all ranks it has each rank
 * exit by itself, in MPICH 4.0.  Rank 0 aborts for all, unless it is not here.  The launcher of Open MPI reports the
 * first exit code, and for MPI_Abort errors of its own, too. */
static void end_without_finalize(const struct mpi_wire *w, int code)
{
#ifdef OPEN_MPI
    (void)w, (void)code;
#else
    if (code != 0) abort_all(w, code);
#endif
}

static void mpi_close(struct wire *wire, int code, bool are_all_idle)
{
    struct mpi_wire *w = of(wire);
    if (mpi_is_over(wire)) return;
    if (!are_all_idle) { /* MPI still uses its memory */
        end_without_finalize(w, code);
        return;
    }
    MPI_Comm_free(&w->transfers);
    MPI_Comm_free(&w->failures);
    MPI_Comm_free(&w->passed);
    MPI_Comm_free(&w->ordinary.ranks);
    MPI_Comm_free(&w->last.ranks);
    if (w->set_yields) w->set_yields(w->yields);
    if (w->has_begun_mpi) MPI_Finalize();
    while (w->reporting) {
        struct reporting *next = w->reporting->next;
        free(w->reporting);
        w->reporting = next;
    }
    free(w->early);
    free(w->small);
    free(w->leaving);
    free(w->request);
    free(w->pending);
    free(w);
}

/* ---- between runs ------------------------------------------------------------------------------------------------ */

/* Asked again until the request has ended. */
static enum wire_answer test_passing(struct passing *p, int begun)
{
    int any = 0;
    if (!p->is_begun && !is_fine(begun)) return WIRE_FAILED;
    p->is_begun = true;
    if (!is_fine(MPI_Test(&p->request, &any, MPI_STATUS_IGNORE))) return WIRE_FAILED;
    p->is_begun = !any;
    return any ? WIRE_DONE : WIRE_WAITS;
}

static enum wire_answer mpi_give(struct wire *wire, int32_t to, const void *data, int64_t bytes)
{
    struct mpi_wire *w = of(wire);
    struct passing *p = &w->given;
    return test_passing(p, p->is_begun ? MPI_SUCCESS
                                       : MPI_Isend(data, (int)bytes, MPI_BYTE, to, 0, w->passed, &p->request));
}

static enum wire_answer mpi_take(struct wire *wire, int32_t from, void *data, int64_t bytes)
{
    struct mpi_wire *w = of(wire);
    struct passing *p = &w->taken;
    return test_passing(p, p->is_begun ? MPI_SUCCESS
                                       : MPI_Irecv(data, (int)bytes, MPI_BYTE, from, 0, w->passed, &p->request));
}

static const struct wire_ops mpi_ops = {.begin = mpi_begin,
                                        .send = mpi_send,
                                        .receive = mpi_receive,
                                        .progress = mpi_progress,
                                        .cancel = mpi_cancel,
                                        .renew = mpi_renew,
                                        .reduce = mpi_reduce,
                                        .notify = mpi_notify,
                                        .listen = mpi_listen,
                                        .give_status = mpi_give_status,
                                        .hear_status = mpi_hear_status,
                                        .give = mpi_give,
                                        .take = mpi_take,
                                        .is_over = mpi_is_over,
                                        .is_idle = mpi_is_idle,
                                        .have_statuses_left = mpi_have_statuses_left,
                                        .close = mpi_close};

static bool begin_mpi(struct mpi_wire *w, char *message, size_t size)
{
    int has_begun = 0, threads = MPI_THREAD_SINGLE;
    MPI_Initialized(&has_begun);
    if (has_begun)
        MPI_Query_thread(&threads);
    else if (!is_fine(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &threads))) {
        snprintf(message, size, "MPI does not start");
        return false;
    }
    w->has_begun_mpi = !has_begun;
    if (w->has_begun_mpi) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (threads >= MPI_THREAD_SERIALIZED) return true;
    snprintf(message, size, "this MPI can be called by one thread only");
    return false;
}

/* MPI calls it in MPI_Finalize of a host program, before anything has ended. */
static int before_finalize(MPI_Comm self, int key, void *wire, void *nothing)
{
    struct wire *w = wire;
    (void)self, (void)key, (void)nothing;
    if (w->ends) w->ends(w);
    if (w->others.code != 0) abort_all(of(w), w->others.code); /* MPI_Finalize would not return */
    return MPI_SUCCESS;
}

static bool watch_finalize(struct mpi_wire *w)
{
    int key;
    return is_fine(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, before_finalize, &key, NULL)) &&
           is_fine(MPI_Comm_set_attr(MPI_COMM_SELF, key, &w->wire));
}

static bool join(struct mpi_wire *w)
{
    MPI_Comm *const comms[] = {&w->transfers, &w->failures, &w->passed, &w->ordinary.ranks, &w->last.ranks};
    for (size_t i = 0; i < sizeof comms / sizeof *comms; i++)
        if (!is_fine(MPI_Comm_dup(MPI_COMM_WORLD, comms[i])) ||
            !is_fine(MPI_Comm_set_errhandler(*comms[i], MPI_ERRORS_RETURN)))
            return false;
    MPI_Comm_rank(w->transfers, &w->wire.rank);
    MPI_Comm_size(w->transfers, &w->wire.ranks);
    w->early = calloc((size_t)w->wire.ranks, sizeof *w->early);
    w->small = calloc((size_t)w->wire.ranks, sizeof *w->small);
    if (!w->early || !w->small) return false;
    w->tags = ptoi_mpi_tags(w->transfers);
    return w->has_begun_mpi || watch_finalize(w);
}

/* See Note [who yields].  Afterwards no call waits. */
static void stop_yields(struct mpi_wire *w)
{
    void *symbol = w->has_begun_mpi ? dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle") : NULL;
    memcpy(&w->set_yields, &symbol, sizeof symbol);
    if (w->set_yields) w->yields = w->set_yields(false);
}

__attribute__((visibility("default"))) struct wire *pto_wire_open_6(char *message, size_t size)
{
    struct mpi_wire *w = calloc(1, sizeof *w);
    if (!w) {
        snprintf(message, size, "no memory");
        return NULL;
    }
    w->wire.ops = &mpi_ops;
    if (begin_mpi(w, message, size)) {
        if (join(w)) {
            stop_yields(w);
            return &w->wire;
        }
        snprintf(message, size, "MPI does not give communicators");
    }
    free(w);
    return NULL;
}
