/* local_wire.c - see local_wire.h. */
#include "local_wire.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct message {
    bool is_used, is_taken, is_lost;
    uint64_t tag;
    void *ticket; /* of the send, in its process */
    int looks;    /* until it may be taken */
    int64_t bytes;
    unsigned char data[MESSAGE_BYTES];
};

struct reduction {
    uint64_t count; /* that the rank has begun */
    uint64_t number[2][WIRE_REDUCED];
};

struct medium {
    struct medium_config config;
    size_t bytes;
    pthread_mutex_t lock;
    struct wire_failure failure[2]; /* by run % 2 */
    uint64_t failed_run[2];
    struct reduction ordinary[MOST_RANKS], last[MOST_RANKS];
    struct message message[];
};

struct posted {
    int peer;
    uint64_t tag;
    const PTOArg *view;
    void *ticket;
};

struct local_wire {
    struct wire wire;
    struct medium *m;
    uint64_t run, random;
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

static struct message *messages(struct medium *m, int from, int to)
{
    return &m->message[(from * m->config.ranks + to) * m->config.slots];
}

static int64_t bytes_of(const PTOArg *view)
{
    int64_t bytes = pto_type_bytes((PTOType)view->type);
    for (int d = 0; d < view->rank; d++) bytes *= view->shape[d];
    return bytes;
}

/* Between the view and bytes one after the other. */
static void copy_view(const PTOArg *view, unsigned char *data, bool into_view)
{
    int64_t index[PTO_MAX_RANK] = {0}, unit = pto_type_bytes((PTOType)view->type);
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

static bool local_send(struct wire *wire, int32_t peer, uint64_t tag, const PTOArg *view, void *ticket)
{
    struct local_wire *w = (struct local_wire *)wire;
    struct message *x = messages(w->m, wire->rank, peer);
    if (bytes_of(view) > MESSAGE_BYTES) return false;
    pthread_mutex_lock(&w->m->lock);
    int slot = 0;
    while (slot < w->m->config.slots && x[slot].is_used) slot++;
    const bool has_room = slot < w->m->config.slots;
    if (has_room) {
        const uint64_t r = next_random(&w->random);
        x[slot].is_used = true;
        x[slot].is_taken = false;
        x[slot].is_lost = w->m->config.lost_of > 0 && r % (uint64_t)w->m->config.lost_of == 0;
        x[slot].tag = tag;
        x[slot].ticket = ticket;
        x[slot].looks = (int)(r >> 32) & 1 ? (int)((r >> 33) % (uint64_t)(w->m->config.latest + 1)) : 0;
        x[slot].bytes = bytes_of(view);
        copy_view(view, x[slot].data, false);
    }
    pthread_mutex_unlock(&w->m->lock);
    return has_room;
}

static bool local_receive(struct wire *wire, int32_t peer, uint64_t tag, const PTOArg *view, void *ticket)
{
    struct local_wire *w = (struct local_wire *)wire;
    if (w->posted_count == w->posted_room) {
        w->posted_room = w->posted_room ? 2 * w->posted_room : 64;
        w->posted = realloc(w->posted, (size_t)w->posted_room * sizeof *w->posted);
        if (!w->posted) abort();
    }
    w->posted[w->posted_count++] = (struct posted){peer, tag, view, ticket};
    return true;
}

/* false: the message is not there yet. */
static bool take(struct local_wire *w, const struct posted *p, struct wire_ended *ended)
{
    struct message *x = messages(w->m, p->peer, w->wire.rank);
    for (int slot = 0; slot < w->m->config.slots; slot++) {
        if (!x[slot].is_used || x[slot].is_taken || x[slot].is_lost || x[slot].tag != p->tag) continue;
        if (x[slot].looks-- > 0) return false;
        *ended = (struct wire_ended){p->ticket, x[slot].bytes == bytes_of(p->view)};
        if (ended->is_good) copy_view(p->view, x[slot].data, true);
        x[slot].is_taken = true;
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
    struct message *x = messages(w->m, wire->rank, 0);
    for (int slot = 0; slot < w->m->config.slots * wire->ranks && n < max; slot++) {
        if (!x[slot].is_used || !(x[slot].is_taken || x[slot].is_lost)) continue;
        x[slot].is_used = false;
        ended[n++] = (struct wire_ended){x[slot].ticket, x[slot].is_taken};
    }
    pthread_mutex_unlock(&w->m->lock);
    return n;
}

static void local_cancel(struct wire *wire)
{
    struct local_wire *w = (struct local_wire *)wire;
    pthread_mutex_lock(&w->m->lock);
    struct message *x = messages(w->m, wire->rank, 0);
    for (int slot = 0; slot < w->m->config.slots * wire->ranks; slot++) x[slot].is_used = false;
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
    if (is_last && own->count < w->run) w->is_reducing = false; /* one that failed may be left */
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
        if (is_last) w->m->ordinary[wire->rank].count = 0;
    }
    pthread_mutex_unlock(&w->m->lock);
    return answer;
}

static void local_begin(struct wire *wire) { ((struct local_wire *)wire)->run++; }

static void local_notify(struct wire *wire, const struct wire_failure *failure)
{
    struct local_wire *w = (struct local_wire *)wire;
    pthread_mutex_lock(&w->m->lock);
    if (w->m->failed_run[w->run % 2] != w->run) {
        w->m->failed_run[w->run % 2] = w->run;
        w->m->failure[w->run % 2] = *failure;
    }
    pthread_mutex_unlock(&w->m->lock);
}

static bool local_listen(struct wire *wire, struct wire_failure *failure)
{
    struct local_wire *w = (struct local_wire *)wire;
    pthread_mutex_lock(&w->m->lock);
    const bool has_failed = w->m->failed_run[w->run % 2] == w->run;
    if (has_failed) *failure = w->m->failure[w->run % 2];
    pthread_mutex_unlock(&w->m->lock);
    return has_failed;
}

static const struct wire_ops local_ops = {.begin = local_begin,
                                          .send = local_send,
                                          .receive = local_receive,
                                          .progress = local_progress,
                                          .cancel = local_cancel,
                                          .reduce = local_reduce,
                                          .notify = local_notify,
                                          .listen = local_listen};

void *ranks_share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    return memory;
}

struct medium *medium_open(const struct medium_config *config)
{
    const size_t slots = (size_t)config->ranks * (size_t)config->ranks * (size_t)config->slots;
    const size_t bytes = sizeof(struct medium) + slots * sizeof(struct message);
    struct medium *m = ranks_share(bytes);
    pthread_mutexattr_t shared;
    m->config = *config;
    m->bytes = bytes;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&m->lock, &shared);
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
        alarm(60);
        struct wire *w = medium_wire(m, k);
        const int result = body(w, k, arg);
        free(((struct local_wire *)w)->posted);
        free(w);
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
