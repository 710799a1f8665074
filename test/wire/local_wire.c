/* local_wire.c - see local_wire.h. */
#include "local_wire.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct message {
    bool is_used, is_taken, is_lost;
    bool is_early, has_ended; /* its send may end before it is taken, and has */
    uint64_t tag;
    void *ticket; /* of the send, in its process */
    int looks;    /* until it may be taken */
    int64_t bytes;
    unsigned char data[]; /* message_bytes */
};

struct reduction {
    uint64_t count; /* that the rank has begun */
    uint64_t number[2][WIRE_REDUCED];
};

/* Bytes on their way from one rank to another, between runs. */
struct mailbox {
    bool is_full;
    int64_t bytes;
    unsigned char data[WIRE_PART];
};

struct medium {
    struct medium_config config;
    size_t bytes;
    pthread_mutex_t lock;
    struct wire_failure failure[2][MOST_RANKS]; /* by run % 2, and rank */
    uint64_t failed_run[2][MOST_RANKS];
    struct reduction ordinary[MOST_RANKS], last[MOST_RANKS];
    struct wire_status status[MOST_RANKS][MOST_RANKS]; /* from, to */
    bool has_status[MOST_RANKS][MOST_RANKS];
    _Atomic int is_ready; /* in a file: the first rank has filled it in */
    _Alignas(64) unsigned char messages[];
};

struct posted {
    int peer;
    uint64_t tag;
    const PTOArg *view;
    int count;
    void *ticket;
};

struct local_wire {
    struct wire wire;
    struct medium *m;
    uint64_t random;
    uint64_t heard[MOST_RANKS]; /* the run whose failure was heard, by rank */
    bool is_reducing;
    struct posted *posted;
    int posted_count, posted_room;
};

static uint64_t next_random(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Of a pair: those of sends that end when their receives have begun, and those of sends that may end before. */
enum { EARLY = 4 };
static int slots_of(const struct medium *m) { return m->config.slots + EARLY; }

static size_t stride_of(const struct medium_config *c) { return sizeof(struct message) + (size_t)c->message_bytes; }

/* Behind all messages. */
static struct mailbox *mailbox_at(struct medium *m, int from, int to)
{
    const size_t messages = (size_t)(m->config.ranks * m->config.ranks * slots_of(m));
    return (struct mailbox *)(void *)(m->messages + messages * stride_of(&m->config)) + from * m->config.ranks + to;
}

/* Number `slot` of the slots of a pair; behind them lie those to the next rank. */
static struct message *message_at(struct medium *m, int from, int to, int slot)
{
    const int number = (from * m->config.ranks + to) * slots_of(m) + slot;
    return (struct message *)(void *)(m->messages + (size_t)number * stride_of(&m->config));
}

static int64_t unit_of(const PTOArg *view)
{
    return view->type == PTO_U64 ? 8 : view->type == PTO_U32 ? 4 : view->type == PTO_U16 ? 2 : 1;
}

static int64_t bytes_of(const PTOArg *view)
{
    int64_t bytes = unit_of(view);
    for (int d = 0; d < view->rank; d++) bytes *= view->shape[d];
    return bytes;
}

static int64_t bytes_of_all(const PTOArg *view, int count)
{
    int64_t bytes = 0;
    for (int k = 0; k < count; k++) bytes += bytes_of(&view[k]);
    return bytes;
}

/* Between the view and bytes one after the other. */
static void copy_view(const PTOArg *view, unsigned char *data, bool into_view)
{
    int64_t index[PTO_MAX_RANK] = {0}, unit = unit_of(view);
    for (const int64_t bytes = bytes_of(view); bytes > 0;) {
        int64_t at = 0;
        for (int d = 0; d < view->rank; d++) at += index[d] * view->stride[d];
        char *element = (char *)view->ptr + at * unit;
        memcpy(into_view ? (void *)element : (void *)data, into_view ? (void *)data : (void *)element, (size_t)unit);
        data += unit;
        int d = view->rank - 1;
        for (; d >= 0 && ++index[d] == view->shape[d]; d--) index[d] = 0;
        if (d < 0) return;
    }
}

static void copy_views(const PTOArg *view, int count, unsigned char *data, bool into_view)
{
    for (int k = 0; k < count; data += bytes_of(&view[k]), k++) copy_view(&view[k], data, into_view);
}

/* A rank may have begun the next run before another one has cancelled what it sent in this one. */
static uint64_t tag_of(const struct local_wire *w, uint64_t tag) { return w->wire.runs << 48 | tag; }

static bool local_send(struct wire *wire, int32_t peer, uint64_t tag, const PTOArg *view, int32_t count, void *ticket)
{
    struct local_wire *w = (struct local_wire *)wire;
    struct message *x = NULL;
    int held = 0, early = 0;
    if (bytes_of_all(view, count) > w->m->config.message_bytes) {
        snprintf(wire->why, sizeof wire->why, "the message is too large");
        return false;
    }
    pthread_mutex_lock(&w->m->lock);
    for (int slot = 0; slot < slots_of(w->m); slot++) {
        struct message *one = message_at(w->m, wire->rank, peer, slot);
        if (!one->is_used) x = one;
        held += one->is_used && !one->is_early;
        early += one->is_used && one->is_early;
    }
    if (held == w->m->config.slots) x = NULL;
    if (x) {
        const uint64_t r = next_random(&w->random);
        x->is_used = true;
        x->is_taken = x->has_ended = false;
        x->is_early = early < EARLY && (r >> 16) % 2 == 0;
        x->is_lost = w->m->config.lost_of > 0 && r % (uint64_t)w->m->config.lost_of == 0;
        x->tag = tag_of(w, tag);
        x->ticket = ticket;
        x->looks = (int)(r >> 32) & 1 ? (int)((r >> 33) % (uint64_t)(w->m->config.latest + 1)) : 0;
        x->bytes = bytes_of_all(view, count);
        copy_views(view, count, x->data, false);
    }
    pthread_mutex_unlock(&w->m->lock);
    return x != NULL;
}

static bool local_receive(struct wire *wire, int32_t peer, uint64_t tag, const PTOArg *view, int32_t count,
                          void *ticket)
{
    struct local_wire *w = (struct local_wire *)wire;
    if (w->posted_count == w->posted_room) {
        w->posted_room = w->posted_room ? 2 * w->posted_room : 64;
        w->posted = realloc(w->posted, (size_t)w->posted_room * sizeof *w->posted);
        if (!w->posted) abort();
    }
    w->posted[w->posted_count++] = (struct posted){peer, tag_of(w, tag), view, count, ticket};
    return true;
}

/* false: the message is not there yet. */
static bool take(struct local_wire *w, const struct posted *p, struct wire_ended *ended)
{
    for (int slot = 0; slot < slots_of(w->m); slot++) {
        struct message *x = message_at(w->m, p->peer, w->wire.rank, slot);
        if (!x->is_used || x->is_taken || x->is_lost || x->tag != p->tag) continue;
        if (x->looks-- > 0) return false;
        const bool is_good = x->bytes == bytes_of_all(p->view, p->count);
        *ended = (struct wire_ended){p->ticket, is_good ? WIRE_GOOD : WIRE_OTHER_SIZE};
        if (is_good) copy_views(p->view, p->count, x->data, true);
        x->is_taken = true;
        return true;
    }
    return false;
}

static int local_progress(struct wire *wire, struct wire_ended *ended, int max)
{
    struct local_wire *w = (struct local_wire *)wire;
    int n = 0;
    pthread_mutex_lock(&w->m->lock);
    for (int i = 0; i < w->posted_count && n < max;)
        if (take(w, &w->posted[i], &ended[n])) {
            w->posted[i] = w->posted[--w->posted_count];
            n++;
        } else {
            i++;
        }
    for (int slot = 0; slot < slots_of(w->m) * wire->ranks && n < max; slot++) {
        struct message *x = message_at(w->m, wire->rank, 0, slot);
        if (!x->is_used || !(x->is_taken || x->is_lost || (x->is_early && !x->has_ended))) continue;
        if (x->is_lost) snprintf(wire->why, sizeof wire->why, "the message was lost");
        if (!x->has_ended) ended[n++] = (struct wire_ended){x->ticket, x->is_lost ? WIRE_BROKEN : WIRE_GOOD};
        x->has_ended = true;
        x->is_used = !x->is_taken && !x->is_lost;
    }
    pthread_mutex_unlock(&w->m->lock);
    return n;
}

static void local_cancel(struct wire *wire)
{
    struct local_wire *w = (struct local_wire *)wire;
    pthread_mutex_lock(&w->m->lock);
    for (int slot = 0; slot < slots_of(w->m) * wire->ranks; slot++)
        message_at(w->m, wire->rank, 0, slot)->is_used = false;
    w->posted_count = 0;
    pthread_mutex_unlock(&w->m->lock);
}

static enum wire_answer local_reduce(struct wire *wire, bool is_last, const uint64_t *mine, uint64_t *least,
                                     uint64_t *most)
{
    struct local_wire *w = (struct local_wire *)wire;
    struct reduction *r = is_last ? w->m->last : w->m->ordinary, *own = &r[wire->rank];
    enum wire_answer answer = WIRE_DONE;
    pthread_mutex_lock(&w->m->lock);
    if (is_last && own->count < wire->runs) w->is_reducing = false; /* one that failed may be left */
    if (!w->is_reducing) memcpy(own->number[own->count++ % 2], mine, WIRE_REDUCED * sizeof *mine);
    w->is_reducing = true;
    for (int k = 0; k < wire->ranks; k++)
        if (r[k].count < own->count) answer = WIRE_WAITS;
    if (answer == WIRE_DONE) {
        memcpy(least, mine, WIRE_REDUCED * sizeof *mine);
        memcpy(most, mine, WIRE_REDUCED * sizeof *mine);
        for (int k = 0; k < wire->ranks; k++)
            for (int i = 0; i < WIRE_REDUCED; i++) {
                const uint64_t x = r[k].number[(own->count - 1) % 2][i];
                if (x < least[i]) least[i] = x;
                if (x > most[i]) most[i] = x;
            }
        w->is_reducing = false;
        /* Ranks may differ after a failure.  A later run counts from above all that an earlier one can have reached, so
         * a rank that is late is waited for. */
        if (is_last) w->m->ordinary[wire->rank].count = own->count << 20;
    }
    pthread_mutex_unlock(&w->m->lock);
    return answer;
}

/* See tag_of. */
static void local_renew(struct wire *wire) { (void)wire; }

/* Nobody receives any more what is left of the run before. */
static void local_begin(struct wire *wire) { local_cancel(wire); }

static void local_notify(struct wire *wire, const struct wire_failure *failure)
{
    struct local_wire *w = (struct local_wire *)wire;
    pthread_mutex_lock(&w->m->lock);
    w->m->failed_run[wire->runs % 2][wire->rank] = wire->runs;
    w->m->failure[wire->runs % 2][wire->rank] = *failure;
    pthread_mutex_unlock(&w->m->lock);
}

static bool local_listen(struct wire *wire, struct wire_failure *failure)
{
    struct local_wire *w = (struct local_wire *)wire;
    bool has_failed = false;
    pthread_mutex_lock(&w->m->lock);
    for (int k = 0; k < wire->ranks && !has_failed; k++) {
        has_failed = k != wire->rank && w->m->failed_run[wire->runs % 2][k] == wire->runs && w->heard[k] != wire->runs;
        if (!has_failed) continue;
        w->heard[k] = wire->runs;
        *failure = w->m->failure[wire->runs % 2][k];
    }
    pthread_mutex_unlock(&w->m->lock);
    return has_failed;
}

static bool local_give_status(struct wire *wire, int32_t to, const struct wire_status *status)
{
    struct medium *m = ((struct local_wire *)wire)->m;
    pthread_mutex_lock(&m->lock);
    const bool has_room = !m->has_status[wire->rank][to];
    if (has_room) m->status[wire->rank][to] = *status;
    m->has_status[wire->rank][to] = true;
    pthread_mutex_unlock(&m->lock);
    return has_room;
}

static bool local_hear_status(struct wire *wire, struct wire_status *status)
{
    struct medium *m = ((struct local_wire *)wire)->m;
    bool any = false;
    pthread_mutex_lock(&m->lock);
    for (int k = 0; k < wire->ranks && !any; k++) {
        any = m->has_status[k][wire->rank];
        if (any) *status = m->status[k][wire->rank];
        m->has_status[k][wire->rank] = false;
    }
    pthread_mutex_unlock(&m->lock);
    return any;
}

static enum wire_answer local_give(struct wire *wire, int32_t to, const void *data, int64_t bytes)
{
    struct local_wire *w = (struct local_wire *)wire;
    struct mailbox *b = mailbox_at(w->m, wire->rank, to);
    pthread_mutex_lock(&w->m->lock);
    const bool has_room = !b->is_full;
    if (has_room) {
        b->is_full = true;
        b->bytes = bytes;
        memcpy(b->data, data, (size_t)bytes);
    }
    pthread_mutex_unlock(&w->m->lock);
    return has_room ? WIRE_DONE : WIRE_WAITS;
}

static enum wire_answer local_take(struct wire *wire, int32_t from, void *data, int64_t bytes)
{
    struct local_wire *w = (struct local_wire *)wire;
    struct mailbox *b = mailbox_at(w->m, from, wire->rank);
    pthread_mutex_lock(&w->m->lock);
    const enum wire_answer answer = !b->is_full ? WIRE_WAITS : b->bytes == bytes ? WIRE_DONE : WIRE_FAILED;
    if (answer == WIRE_DONE) memcpy(data, b->data, (size_t)bytes);
    b->is_full &= answer != WIRE_DONE;
    pthread_mutex_unlock(&w->m->lock);
    return answer;
}

static bool local_is_over(struct wire *wire)
{
    (void)wire;
    return false;
}

static bool local_is_idle(struct wire *wire)
{
    (void)wire;
    return true;
}

static bool local_have_statuses_left(struct wire *wire)
{
    struct medium *m = ((struct local_wire *)wire)->m;
    bool all = true;
    pthread_mutex_lock(&m->lock);
    for (int k = 0; k < wire->ranks; k++) all &= !m->has_status[wire->rank][k];
    pthread_mutex_unlock(&m->lock);
    return all;
}

static void local_close(struct wire *wire, int code, bool are_all_idle)
{
    (void)code, (void)are_all_idle;
    free(((struct local_wire *)wire)->posted);
    free(wire);
}

static const struct wire_ops local_ops = {.begin = local_begin,
                                          .send = local_send,
                                          .receive = local_receive,
                                          .progress = local_progress,
                                          .cancel = local_cancel,
                                          .renew = local_renew,
                                          .reduce = local_reduce,
                                          .notify = local_notify,
                                          .listen = local_listen,
                                          .give_status = local_give_status,
                                          .hear_status = local_hear_status,
                                          .give = local_give,
                                          .take = local_take,
                                          .is_over = local_is_over,
                                          .is_idle = local_is_idle,
                                          .have_statuses_left = local_have_statuses_left,
                                          .close = local_close};

void *ranks_share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    return memory;
}

static struct medium_config complete(const struct medium_config *given)
{
    struct medium_config c = *given;
    if (c.message_bytes == 0) c.message_bytes = 8192;
    c.message_bytes = (c.message_bytes + 63) / 64 * 64;
    return c;
}

static size_t medium_bytes(const struct medium_config *c)
{
    const size_t pairs = (size_t)(c->ranks * c->ranks);
    return sizeof(struct medium) + pairs * ((size_t)(c->slots + EARLY) * stride_of(c) + sizeof(struct mailbox));
}

static void fill_in(struct medium *m, const struct medium_config *c)
{
    pthread_mutexattr_t shared;
    m->config = *c;
    m->bytes = medium_bytes(c);
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&m->lock, &shared);
}

struct medium *medium_open(const struct medium_config *config)
{
    const struct medium_config c = complete(config);
    struct medium *m = ranks_share(medium_bytes(&c));
    fill_in(m, &c);
    return m;
}

void medium_close(struct medium *m) { munmap(m, m->bytes); }

struct wire *medium_wire(struct medium *m, int rank)
{
    struct local_wire *w = calloc(1, sizeof *w);
    if (!w) abort();
    *w = (struct local_wire){.wire = {.rank = rank, .ranks = m->config.ranks, .ops = &local_ops},
                             .m = m,
                             .random = m->config.seed * 64 + (uint64_t)rank};
    return &w->wire;
}

/* A rank that hangs ends the test: ten times the longest under ThreadSanitizer on two busy cores. */
enum { LONGEST_SECONDS = 600 };

int ranks_run(const struct medium_config *config, int (*body)(struct wire *w, int rank, void *arg), void *arg)
{
    struct medium *m = medium_open(config);
    pid_t process[MOST_RANKS];
    int failed = 0;
    fflush(stdout);
    fflush(stderr);
    for (int k = 0; k < config->ranks; k++) {
        process[k] = fork();
        if (process[k] < 0) abort();
        if (process[k] > 0) continue;
        alarm(LONGEST_SECONDS);
        struct wire *w = medium_wire(m, k);
        const int result = body(w, k, arg);
        w->ops->close(w, 0, true);
        fflush(stderr);
        _exit(result);
    }
    for (int left = config->ranks; left > 0; left--) {
        int status, k = 0;
        const pid_t ended = waitpid(-1, &status, 0);
        while (k < config->ranks && process[k] != ended) k++;
        if (k < config->ranks) process[k] = -1;
        if (k < config->ranks && WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        fprintf(stderr, "rank %d of %d, seed %llu: status %#x\n", k, config->ranks, (unsigned long long)config->seed,
                status);
        failed++;
        /* the others would wait for it */
        for (int other = 0; WIFSIGNALED(status) && other < config->ranks; other++)
            if (process[other] > 0) kill(process[other], SIGKILL);
    }
    medium_close(m);
    return failed;
}

/* ---- a library for built programs: the launcher, ranks.py, has made a file of zeros ------------------------------ */

static int number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

__attribute__((visibility("default"))) struct wire *pto_wire_open_6(char *message, size_t size)
{
    const struct medium_config given = {.ranks = number_of("PTO_LOCAL_RANKS"),
                                        .slots = 18,
                                        .seed = (uint64_t)number_of("PTO_LOCAL_SEED"),
                                        .latest = number_of("PTO_LOCAL_LATEST"),
                                        .message_bytes = 4 << 20};
    const struct medium_config c = complete(&given);
    const char *path = getenv("PTO_LOCAL_FILE");
    const int rank = number_of("PTO_LOCAL_RANK"), file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct medium *m = MAP_FAILED;
    if (file >= 0 && c.ranks >= 1 && c.ranks <= MOST_RANKS && ftruncate(file, (off_t)medium_bytes(&c)) == 0)
        m = mmap(NULL, medium_bytes(&c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (file >= 0) close(file);
    if (m == MAP_FAILED) {
        snprintf(message, size, "the wire for tests has no file, or a wrong number of ranks");
        return NULL;
    }
    if (rank == 0) {
        fill_in(m, &c);
        atomic_store(&m->is_ready, 1);
    }
    while (!atomic_load(&m->is_ready)) usleep(100);
    return medium_wire(m, rank);
}
