/* check_wire.c - what wire.h promises, asked of a wire: a program that a launcher starts as several ranks.
 * check_wire LIBRARY [sizes]; exit code 0: the promises hold, and a rank can end as MPI wants it.
 * check_wire LIBRARY left: of runs that fail while small messages are under way.  Rank 0 prints that the promises hold;
 * the exit code is that of a job that has failed. */
#include "wire/wire.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 64, SIZES = 1 << 18 };

static struct wire *wire;
static bool has_sizes; /* it reports messages of another size; else they do not arrive, and the job could not end */

static void expect(bool is_so, const char *what)
{
    if (is_so) return;
    fprintf(stderr, "rank %d: %s\n", wire->rank, what);
    exit(1);
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL); }

/* The most of a number of all ranks. */
static uint64_t most_of(bool is_last, uint64_t number)
{
    const uint64_t mine[WIRE_REDUCED] = {number, ~number};
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    enum wire_answer answer;
    while ((answer = wire->ops->reduce(wire, is_last, mine, least, most)) == WIRE_WAITS) nap();
    expect(answer == WIRE_DONE, "a reduction fails");
    expect(~least[1] == most[0] && least[0] == ~most[1], "least and most differ");
    return most[0];
}

/* Numbers of 64 bits without a sign. */
static void check_large(void)
{
    const uint64_t rank = (uint64_t)wire->rank, last = (uint64_t)wire->ranks - 1,
                   mine[WIRE_REDUCED] = {rank ? rank : UINT64_MAX, (uint64_t)1 << 63 | rank, rank << 63, ~rank};
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    enum wire_answer answer;
    while ((answer = wire->ops->reduce(wire, false, mine, least, most)) == WIRE_WAITS) nap();
    expect(answer == WIRE_DONE, "a reduction of large numbers fails");
    expect(least[0] == 1 && most[0] == UINT64_MAX, "the largest number is not the most");
    expect(least[1] == (uint64_t)1 << 63 && most[1] == ((uint64_t)1 << 63 | last), "large numbers have another order");
    expect(least[2] == 0 && most[2] == (uint64_t)1 << 63, "a large number is less than a small one");
    expect(least[3] == ~last && most[3] == UINT64_MAX, "the largest numbers have another order");
}

static void wait_for(int count)
{
    struct wire_ended ended[4];
    while (count > 0) {
        const int n = wire->ops->progress(wire, ended, 4);
        for (int k = 0; k < n; k++) expect(ended[k].how == WIRE_GOOD, "a transfer fails");
        count -= n;
        if (n == 0) nap();
    }
}

/* A dimension that no wire carries. */
static void check_refusal(void)
{
    static const int64_t shape[1] = {(int64_t)1 << 31}, stride[1] = {1};
    static char byte;
    const PTOArg view = {.ptr = &byte, .type = PTO_U8, .rank = 1, .shape = shape, .stride = stride};
    expect(!wire->ops->send(wire, (wire->rank + 1) % wire->ranks, 9, &view, 1, &byte), "too large a message is sent");
    expect(wire->why[0] != '\0', "nobody knows why it is not");
}

static PTOArg columns(int32_t *matrix, const int64_t *shape, const int64_t *stride)
{
    return (PTOArg){.ptr = matrix, .type = PTO_U32, .rank = 2, .shape = shape, .stride = stride};
}

/* Views of several rows go around, the younger tag first. */
static void check_transfers(void)
{
    static int32_t from[2][SIDE * SIDE], to[2][SIDE * SIDE];
    static const int64_t shape[2] = {SIDE, SIDE / 2}, stride[2] = {SIDE, 1};
    const int32_t next = (wire->rank + 1) % wire->ranks, before = (wire->rank + wire->ranks - 1) % wire->ranks;
    PTOArg views[4];
    for (int tag = 1; tag >= 0; tag--) {
        for (int32_t k = 0; k < SIDE * SIDE; k++) from[tag][k] = wire->rank << 20 | tag << 16 | k, to[tag][k] = -1;
        views[tag] = columns(from[tag], shape, stride);
        expect(wire->ops->send(wire, next, (uint64_t)tag, &views[tag], 1, from[tag]), "a send does not begin");
    }
    for (int tag = 0; tag < 2; tag++) {
        views[2 + tag] = columns(to[tag], shape, stride);
        expect(wire->ops->receive(wire, before, (uint64_t)tag, &views[2 + tag], 1, to[tag]),
               "a receive does not begin");
    }
    wait_for(4);
    for (int tag = 0; tag < 2; tag++)
        for (int32_t k = 0; k < SIDE * SIDE; k++)
            expect(to[tag][k] == (k % SIDE < SIDE / 2 ? before << 20 | tag << 16 | k : -1), "other bytes arrive");
}

/* A contiguous view goes to a strided one, and the reverse; one message is empty. */
static void check_dense(void)
{
    static int16_t from[2][SIDE * SIDE], to[2][SIDE * SIDE];
    static const int64_t shape[2] = {SIDE, SIDE / 2}, empty[2] = {0, SIDE / 2}, stride[2] = {SIDE, 1},
                         dense[2] = {SIDE / 2, 1};
    const int32_t next = (wire->rank + 1) % wire->ranks, before = (wire->rank + wire->ranks - 1) % wire->ranks;
    PTOArg sent[3], received[3];
    for (int32_t m = 0; m < 2; m++) {
        for (int32_t k = 0; k < SIDE * SIDE; k++) from[m][k] = (int16_t)(wire->rank << 13 | (m * SIDE * SIDE + k));
        sent[m] = (PTOArg){.ptr = from[m], .type = PTO_U16, .rank = 2, .shape = shape, .stride = m ? stride : dense};
        received[m] = (PTOArg){.ptr = to[m], .type = PTO_U16, .rank = 2, .shape = shape, .stride = m ? dense : stride};
    }
    sent[2] = received[2] = (PTOArg){.ptr = to[0], .type = PTO_U16, .rank = 2, .shape = empty, .stride = dense};
    for (int32_t m = 0; m < 3; m++) {
        expect(wire->ops->send(wire, next, (uint64_t)m + 20, &sent[m], 1, &sent[m]), "a send does not begin");
        expect(wire->ops->receive(wire, before, (uint64_t)m + 20, &received[m], 1, &received[m]),
               "a receive does not begin");
    }
    wait_for(6);
    for (int32_t i = 0; i < SIDE; i++)
        for (int32_t j = 0; j < SIDE / 2; j++) {
            const int32_t at = before << 13;
            expect(to[0][i * SIDE + j] == (int16_t)(at | (i * SIDE / 2 + j)), "other bytes arrive in a strided view");
            expect(to[1][i * SIDE / 2 + j] == (int16_t)(at | (SIDE * SIDE + i * SIDE + j)), "other bytes arrive");
        }
}

/* Both in one message, and other views of as many bytes. */
static void check_several(void)
{
    static int32_t from[2][SIDE * SIDE], to[2][SIDE * SIDE];
    static const int64_t shape[2] = {SIDE, SIDE / 2}, stride[2] = {SIDE, 1}, dense[2] = {SIDE / 2, 1};
    const int32_t next = (wire->rank + 1) % wire->ranks, before = (wire->rank + wire->ranks - 1) % wire->ranks;
    const PTOArg sent[2] = {columns(from[0], shape, stride), columns(from[1] + 1, shape, stride)},
                 received[2] = {columns(to[0], shape, dense), columns(to[1], shape, stride)};
    for (int32_t m = 0; m < 2; m++)
        for (int32_t k = 0; k < SIDE * SIDE; k++) from[m][k] = wire->rank << 20 | (m * SIDE * SIDE + k);
    expect(wire->ops->send(wire, next, 5, sent, 2, from), "a send of two views does not begin");
    expect(wire->ops->receive(wire, before, 5, received, 2, to), "a receive of two views does not begin");
    wait_for(2);
    for (int32_t i = 0; i < SIDE; i++)
        for (int32_t j = 0; j < SIDE / 2; j++) {
            const int32_t at = before << 20 | (i * SIDE + j);
            expect(to[0][i * SIDE / 2 + j] == at, "other bytes of the first view arrive");
            expect(to[1][i * SIDE + j] == at + SIDE * SIDE + 1, "other bytes of the second view arrive");
        }
}

/* A message to the next rank of `sent` bytes, and the receive of `wanted` from the one before; is_late: it begins when
 * the message may be there. */
static void pass_sizes(int64_t sent, int64_t wanted, bool is_late)
{
    static char from[SIZES], to[SIZES + 1];
    static const int64_t stride[1] = {1};
    const PTOArg give = {.ptr = from, .type = PTO_U8, .rank = 1, .shape = &sent, .stride = stride},
                 take = {.ptr = to, .type = PTO_U8, .rank = 1, .shape = &wanted, .stride = stride};
    const int32_t next = (wire->rank + 1) % wire->ranks, before = (wire->rank + wire->ranks - 1) % wire->ranks;
    struct wire_ended ended[2];
    enum { LOOKS = 20 };
    static uint64_t tag = 90; /* a send may end before its message was taken */
    int left = 2;
    tag++;
    to[wanted] = 'x';
    if (!is_late) expect(wire->ops->receive(wire, before, tag, &take, 1, to), "a receive does not begin");
    expect(wire->ops->send(wire, next, tag, &give, 1, from), "a send does not begin");
    for (int look = 0; is_late && look < LOOKS; look++, nap()) left -= wire->ops->progress(wire, ended, 1);
    if (is_late) expect(wire->ops->receive(wire, before, tag, &take, 1, to), "a late receive does not begin");
    for (; left > 0; nap()) {
        const int n = wire->ops->progress(wire, ended, 2);
        for (int k = 0; k < n; k++)
            expect(ended[k].how == (ended[k].ticket == to && sent != wanted ? WIRE_OTHER_SIZE : WIRE_GOOD),
                   "a message of another size is taken for one of its size");
        left -= n;
    }
    expect(to[wanted] == 'x', "a message writes behind its receive");
}

static void check_sizes(void)
{
    for (int is_late = 0; is_late < 2; is_late++) {
        pass_sizes(16, 8, is_late);
        pass_sizes(8, 16, is_late);
        pass_sizes(SIZES, 16, is_late);
        pass_sizes(SIZES, SIZES - 1, is_late);
        pass_sizes(16, SIZES, is_late);
        pass_sizes(SIZES, SIZES, is_late);
    }
}

/* Small messages whose receives have not begun: not all sends end. */
static void check_small(uint64_t run)
{
    enum { MANY = 16, LOOKS = 50 };
    static int64_t from[MANY], to[MANY];
    static const int64_t shape[1] = {1}, stride[1] = {1};
    const int32_t next = (wire->rank + 1) % wire->ranks, before = (wire->rank + wire->ranks - 1) % wire->ranks;
    PTOArg sent[MANY], received[MANY];
    struct wire_ended ended[MANY];
    int count = 0;
    for (int32_t m = 0; m < MANY; m++) {
        from[m] = wire->rank << 20 | m;
        sent[m] = (PTOArg){.ptr = &from[m], .type = PTO_U64, .rank = 1, .shape = shape, .stride = stride};
        received[m] = (PTOArg){.ptr = &to[m], .type = PTO_U64, .rank = 1, .shape = shape, .stride = stride};
        expect(wire->ops->send(wire, next, (uint64_t)m + 40, &sent[m], 1, &sent[m]), "a small send does not begin");
    }
    for (int look = 0; look < LOOKS; look++, nap()) count += wire->ops->progress(wire, ended, MANY);
    expect(count < MANY, "small messages that wait for their receives have no bound");
    expect(most_of(false, run) == run, "a reduction has other numbers");
    for (int32_t m = MANY - 1; m >= 0; m--)
        expect(wire->ops->receive(wire, before, (uint64_t)m + 40, &received[m], 1, &received[m]),
               "a small receive does not begin");
    wait_for(2 * MANY - count);
    for (int32_t m = 0; m < MANY; m++) expect(to[m] == (before << 20 | m), "other small messages arrive");
}

/* A run that fails: rank 0 has begun a reduction that the others leave out, and a receive of what nobody sends. */
static void check_failure(uint64_t run)
{
    static int32_t bytes[SIDE * SIDE];
    static const int64_t shape[2] = {SIDE, SIDE}, stride[2] = {SIDE, 1};
    const PTOArg view = columns(bytes, shape, stride);
    const uint64_t mine[WIRE_REDUCED] = {99};
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    struct wire_failure failure = {.rank = wire->rank, .status = -(int32_t)run};
    wire->runs++, wire->ops->begin(wire);
    snprintf(failure.text, sizeof failure.text, "run %d", (int)run);
    if (wire->rank == 0) {
        expect(wire->ops->reduce(wire, false, mine, least, most) == WIRE_WAITS, "a reduction needs all ranks");
        expect(wire->ops->receive(wire, wire->ranks - 1, 7, &view, 1, bytes), "a receive does not begin");
    }
    if (run % 2 == 1) { /* all ranks report one, and each hears those of the others, once */
        bool heard[64] = {false};
        wire->ops->notify(wire, &failure);
        for (int32_t others = wire->ranks - 1; others > 0; others--) {
            while (!wire->ops->listen(wire, &failure)) nap();
            expect(failure.rank != wire->rank && !heard[failure.rank], "a failure is heard twice");
            expect(failure.status == -(int32_t)run, "the failure of another run is heard");
            heard[failure.rank] = true;
        }
    } else if (wire->rank == 0) {
        wire->ops->notify(wire, &failure);
    } else {
        while (!wire->ops->listen(wire, &failure)) nap();
        expect(failure.rank == 0 && failure.status == -(int32_t)run, "the failure of another run is heard");
    }
    wire->ops->cancel(wire);
    expect(most_of(true, (uint64_t)wire->rank) == (uint64_t)wire->ranks - 1, "the last reduction has other numbers");
}

/* Each rank asks the next one, and answers the one before.  What is left of an earlier run may come, and is in the way
 * until it was heard. */
static void check_status(uint64_t run)
{
    const int32_t next = (wire->rank + 1) % wire->ranks, before = (wire->rank + wire->ranks - 1) % wire->ranks;
    struct wire_status question = {.rank = wire->rank, .run = run}, heard,
                       answer = {.rank = wire->rank,
                                 .kind = WIRE_ANSWER,
                                 .waits = true,
                                 .run = run,
                                 .idle_ns = 1000 + wire->rank,
                                 .limit_ns = 7,
                                 .text = "is well"};
    for (bool has_asked = false, was_asked = false, answers = false, is_answered = false; !answers || !is_answered;) {
        has_asked = has_asked || wire->ops->give_status(wire, next, &question);
        answers = answers || (was_asked && wire->ops->give_status(wire, before, &answer));
        if (!wire->ops->hear_status(wire, &heard)) {
            nap();
        } else if (heard.run == run) {
            expect(heard.rank == (heard.kind == WIRE_ANSWER ? next : before), "a status comes from another rank");
            expect(heard.kind == WIRE_QUESTION || (heard.idle_ns == 1000 + next && heard.limit_ns == 7 && heard.waits &&
                                                   !strcmp(heard.text, "is well")),
                   "another status arrives");
            was_asked |= heard.kind == WIRE_QUESTION;
            is_answered |= heard.kind == WIRE_ANSWER;
        }
    }
    question.run = 0; /* and one that nobody answers */
    if (run % 2 == 0) wire->ops->give_status(wire, next, &question);
}

static void check_run(uint64_t run)
{
    struct wire_failure failure;
    wire->runs++, wire->ops->begin(wire);
    expect(!wire->ops->listen(wire, &failure), "the failure of an earlier run is heard");
    expect(most_of(false, run * 8 + (uint64_t)wire->rank) == run * 8 + (uint64_t)wire->ranks - 1,
           "a reduction has the numbers of an earlier one");
    check_transfers();
    check_dense();
    check_several();
    if (has_sizes) check_sizes();
    check_small(run);
    check_status(run);
    expect(!wire->ops->listen(wire, &failure), "a failure is heard that nobody has");
    expect(most_of(true, run) == run, "the last reduction of a run has other numbers");
}

/* Between runs: more than a part from each rank to the first, in two pieces, and back. */
static void check_passing(unsigned seed)
{
    enum { BYTES = 3 * WIRE_PART + 5, FIRST = 7 };
    static unsigned char data[BYTES];
    for (int32_t k = 1; k < wire->ranks; k++) {
        const int32_t other = wire->rank == 0 ? k : 0;
        if (wire->rank != 0 && wire->rank != k) continue;
        for (int i = 0; i < BYTES; i++)
            data[i] = (unsigned char)(wire->rank == 0 ? 0 : (unsigned)i * seed + (unsigned)k);
        if (wire->rank != 0) {
            expect(ptoi_wire_give(wire, other, data, FIRST), "bytes are not given");
            expect(ptoi_wire_give(wire, other, data + FIRST, BYTES - FIRST), "bytes are not given");
            expect(ptoi_wire_take(wire, other, data, BYTES), "bytes are not taken");
        } else {
            expect(ptoi_wire_take(wire, other, data, FIRST), "bytes are not taken");
            expect(ptoi_wire_take(wire, other, data + FIRST, BYTES - FIRST), "bytes are not taken");
            expect(ptoi_wire_give(wire, other, data, BYTES), "bytes are not given");
        }
        for (int i = 0; i < BYTES; i++)
            expect(data[i] == (unsigned char)((unsigned)i * seed + (unsigned)k), "other bytes have arrived");
    }
}

/* A run that fails on another rank when all sends of this one have ended: one of them was not received, so the job must
 * not finalize MPI, which would complain of it on standard output. */
static void check_unreceived(void)
{
    static int64_t from;
    static const int64_t shape[1] = {1}, stride[1] = {1};
    const PTOArg view = {.ptr = &from, .type = PTO_U64, .rank = 1, .shape = shape, .stride = stride};
    wire->runs++, wire->ops->begin(wire);
    expect(wire->ops->send(wire, (wire->rank + 1) % wire->ranks, 30, &view, 1, &from), "a send does not begin");
    wait_for(1);
    expect(wire->ops->is_idle(wire), "a send that has ended is under way");
    expect(most_of(true, 1) == 1, "the last reduction of a run that fails has other numbers");
    wire->ops->renew(wire);
    expect(!wire->ops->is_idle(wire), "a message that nobody received is forgotten");
}

/* Runs that fail, each with small messages that nobody receives and that have the tags of those in the next run. */
static void check_left(void)
{
    enum { MANY = 16, LOOKS = 50, RUNS = 5 };
    static int64_t old[MANY];
    static const int64_t shape[1] = {1}, stride[1] = {1};
    const int32_t next = (wire->rank + 1) % wire->ranks;
    PTOArg sent[MANY];
    struct wire_ended ended[MANY];
    int count = 0;
    check_unreceived();
    for (uint64_t run = 1; run <= RUNS; run++) {
        wire->runs++, wire->ops->begin(wire);
        for (int32_t m = 0; m < MANY; m++) {
            old[m] = -1;
            sent[m] = (PTOArg){.ptr = &old[m], .type = PTO_U64, .rank = 1, .shape = shape, .stride = stride};
            expect(wire->ops->send(wire, next, (uint64_t)m + 40, &sent[m], 1, &sent[m]), "a send does not begin");
        }
        for (int look = 0; look < LOOKS; look++, nap()) count += wire->ops->progress(wire, ended, MANY);
        wire->ops->cancel(wire);
        expect(most_of(true, run) == run, "the last reduction of a run that fails has other numbers");
        wire->ops->renew(wire);
        wire->runs++, wire->ops->begin(wire);
        check_small(run);
        expect(most_of(true, run) == run, "the last reduction of a run has other numbers");
    }
    expect(count > 0, "no send has ended before its receive has begun");
    if (wire->rank == 0) puts("what was left is received in no later run");
    fflush(stdout);
    wire->ops->close(wire, 1, true);
}

int main(int argc, char **argv)
{
    char message[512] = "";
    const bool is_left = argc == 3 && strcmp(argv[2], "left") == 0;
    has_sizes = argc == 3 && strcmp(argv[2], "sizes") == 0;
    void *library = argc == 2 || is_left || has_sizes ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    void *symbol = library ? dlsym(library, WIRE_SYMBOL) : NULL;
    wire_open *open = NULL;
    memcpy(&open, &symbol, sizeof open);
    wire = open ? open(message, sizeof message) : NULL;
    if (!wire) {
        fprintf(stderr, "no wire: %s\n", library ? message : dlerror());
        return 2;
    }
    if (is_left) {
        check_left();
        return 1;
    }
    check_refusal();
    check_large();
    for (uint64_t run = 1; run <= 40; run++) {
        if (run % 3 == 0)
            check_run(run);
        else
            check_failure(run);
        check_passing((unsigned)run);
    }
    ptoi_wire_close(wire, 0, true);
    return 0;
}
