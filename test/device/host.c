/* host.c - the host's side of a resident scheduler: it takes the place of the engine `process` in the programs it is
 * linked with.
 *
 * Idea       the window and the run status, mapped already, move into a file that the scheduler's process maps too; the
 *            workers are threads here, each at its mailbox.  Nobody can ring a bell for another instruction set's
 *            process, so everybody polls.
 * Owner      parent: the block's request words, and each worker its mailbox's `done`.
 * Set        PTO_RESIDENT: the command that starts the scheduler; the file's number and size are put behind it.
 * Not here   watchdog, @timeout and crashes of kernels: they are the engines', not the scheduler's. */
#include "host.h"
#include "shared/map_memory.h"
#include "device/resident.h"
#include "engine/core.h"
#include "backend/worker.h"
#include "shared/system.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 128, YIELDS = 64, LOOKS = 64, MAX_WORDS = 16 };

struct host_worker {
    struct core *core;
    struct mailbox *box;
    pthread_t thread;
};

struct host {
    struct resident_block *block;
    uint64_t block_bytes; /* of header and mailboxes, whole pages */
    uint64_t file_bytes;
    _Atomic int stop;
    int started, workers;
    struct host_worker worker[PTO_RESIDENT_WORKERS];
    pid_t child; /* 0: it has ended */
    bool is_lost;
    uint32_t asked;
};

pid_t resident_child;

static uint64_t whole_pages(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

static void pause_for(int round)
{
    if (round < SPINS)
        pto_relax();
    else if (round < SPINS + YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

/* ---- workers ---- */

static void *work(void *arg)
{
    struct host_worker *me = arg;
    struct host *h = me->core->state;
    uint64_t done = 0;
    for (int idle = 0; !load_acquire(&h->stop, STOP);) {
        if (load_acquire(&me->box->sent, DEVICE_SENT) == done) { /* [DEVICE_SENT] */
            pause_for(idle++);
            continue;
        }
        const uint64_t id = me->box->task[done % PTO_MAILBOX_DEPTH];
        /* a failed run starts nothing more; relaxed: a hint, later is fine */
        if (load_relaxed(&me->core->run_status->status) == PTO_OK) {
            struct recorded_task *r = ptoi_record_task(me->core->recorder, id);
            const int64_t since = ptoi_clock_ns();
            const int result =
                ptoi_worker_run(me->core->window, me->core->backend, me->core->heap, window_task(me->core->window, id));
            if (r) r->begin = since, r->end = ptoi_clock_ns(), r->row = (int32_t)(me - h->worker);
            /* before [DEVICE_ENDED]: nothing that depends on it starts */
            if (result != 0) ptoi_core_failed(me->core, id, result);
        }
        store_release(&me->box->done, ++done, DEVICE_ENDED); /* [DEVICE_ENDED] */
        idle = 0;
    }
    return NULL;
}

/* ---- the scheduler's process ---- */

static bool is_lost(struct core *core)
{
    struct host *h = core->state;
    int status;
    if (h->is_lost || h->child == 0) return true;
    if (waitpid(h->child, &status, WNOHANG) == 0) return false;
    h->child = 0;
    h->is_lost = core->orch.is_lost = true;
    ptoi_fail(core->run_status, PTO_ERR_LOST, NULL, "the resident scheduler died: %s %d",
              WIFSIGNALED(status) ? "signal" : "exit code",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return true;
}

static bool ask(struct core *core, uint32_t request)
{
    struct host *h = core->state;
    if (h->is_lost) return false;
    h->block->request = request;
    store_release(&h->block->asked, ++h->asked, DEVICE_ASK); /* [DEVICE_ASK] */
    /* [DEVICE_ANSWER] */
    for (int round = 0; load_acquire(&h->block->answered, DEVICE_ANSWER) != h->asked; pause_for(round++))
        if (round % LOOKS == LOOKS - 1 && is_lost(core)) return false;
    return true;
}

static void start_scheduler(struct host *h, int fd)
{
    char *command = strdup(getenv("PTO_RESIDENT") ? getenv("PTO_RESIDENT") : ""), *rest = NULL, number[16], size[32];
    char *argv[MAX_WORDS + 3];
    int count = 0;
    for (char *w = strtok_r(command, " ", &rest); w && count < MAX_WORDS; w = strtok_r(NULL, " ", &rest))
        argv[count++] = w;
    snprintf(number, sizeof number, "%d", fd);
    snprintf(size, sizeof size, "%llu", (unsigned long long)h->file_bytes);
    argv[count] = number, argv[count + 1] = size, argv[count + 2] = NULL;
    h->child = count > 0 ? fork() : -1;
    if (h->child == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    if (h->child < 0) h->child = 0;
    resident_child = h->child;
    free(command);
}

/* What is there moves into the file at `offset`, and stays where it is. */
static bool move_in(void *at, uint64_t bytes, int fd, uint64_t offset)
{
    static const char zeros[4096];
    for (uint64_t n = 0; n < bytes; n += 4096) {
        const uint64_t left = bytes - n < 4096 ? bytes - n : 4096;
        if (memcmp((char *)at + n, zeros, left) != 0 &&
            pwrite(fd, (char *)at + n, left, (off_t)(offset + n)) != (ssize_t)left)
            return false;
    }
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) == at;
}

/* ---- the engine ---- */

static void host_close(struct core *core)
{
    struct host *h = core->state;
    if (h->child && h->block && !h->is_lost) ask(core, RESIDENT_LEAVE);
    store_release(&h->stop, 1, STOP);
    for (int i = 0; i < h->started; i++) pthread_join(h->worker[i].thread, NULL);
    if (h->child) {
        if (h->is_lost) kill(h->child, SIGKILL);
        while (waitpid(h->child, NULL, 0) < 0 && errno == EINTR) {}
    }
    ptoi_memory_unmap(h->block, h->block_bytes);
    free(h);
    core->state = NULL;
}

static PTOStatus fail_open(struct core *core, PTOStatus status)
{
    host_close(core);
    return status;
}

static PTOStatus host_open(struct core *core)
{
    struct host *h = calloc(1, sizeof *h);
    if (!h) return PTO_ERR_NOMEM;
    core->state = h;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) h->workers += core->config.workers[t];
    if (h->workers > PTO_RESIDENT_WORKERS) return fail_open(core, PTO_ERR_CONFIG);
    const uint64_t run_status_at =
        whole_pages(sizeof(struct resident_block) + (uint64_t)h->workers * sizeof(struct mailbox));
    const uint64_t window_at = run_status_at + whole_pages(sizeof *core->run_status);
    h->block_bytes = run_status_at;
    h->file_bytes = window_at + whole_pages(core->window_bytes);
    const int fd = memfd_create("pto resident", 0);
    if (fd < 0 || ftruncate(fd, (off_t)h->file_bytes) != 0) return fail_open(core, PTO_ERR_NOMEM);
    h->block = mmap(NULL, h->block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (h->block == MAP_FAILED) h->block = NULL;
    if (!h->block || !move_in(core->run_status, sizeof *core->run_status, fd, run_status_at) ||
        !move_in(core->window, core->window_bytes, fd, window_at))
        return fail_open(core, PTO_ERR_NOMEM);
    *h->block = (struct resident_block){.magic = PTO_RESIDENT_MAGIC,
                                        .fingerprint = ptoi_resident_fingerprint(),
                                        .bytes = h->file_bytes,
                                        .mailbox_at = sizeof(struct resident_block),
                                        .run_status_at = run_status_at,
                                        .window_at = window_at};
    for (int t = 0; t < PTO_WORKER_TYPES; t++) h->block->workers[t] = (uint32_t)core->config.workers[t];
    if (getenv("PTO_RESIDENT_OTHER_LAYOUT")) h->block->fingerprint++; /* as if it had been built from other sources */
    start_scheduler(h, fd);
    close(fd);
    if (!ask(core, RESIDENT_SETTLE) || h->block->state != RESIDENT_SERVES) {
        ptoi_fail(core->run_status, PTO_ERR_LOST, NULL, "there is no resident scheduler of this layout (PTO_RESIDENT)");
        h->is_lost = true;
        return fail_open(core, PTO_ERR_LOST);
    }
    for (; h->started < h->workers; h->started++) {
        struct host_worker *w = &h->worker[h->started];
        *w = (struct host_worker){.core = core, .box = resident_mailbox(h->block, h->started)};
        if (pthread_create(&w->thread, NULL, work, w) != 0) return fail_open(core, PTO_ERR_NOMEM);
    }
    return PTO_OK;
}

static void host_begin(struct core *core)
{
    if (!ask(core, RESIDENT_BEGIN))
        ptoi_fail(core->run_status, PTO_ERR_LOST, NULL, "the resident scheduler died in a run before");
}

static void host_settle(struct core *core, bool reset)
{
    struct host *h = core->state;
    if (!ask(core, reset ? RESIDENT_SETTLE_AND_RESET : RESIDENT_SETTLE)) return;
    core->sched.stats = h->block->stats;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) core->sched.ready[t].count_max = h->block->ready_max[t];
}

static bool host_wait(void *context, bool (*is_met)(void *arg), void *arg)
{
    struct core *core = context;
    struct host *h = core->state;
    for (int round = 0;; pause_for(round++)) {
        /* [QUIET] before is_met: it sees everything that was published */
        const bool quiet = ptoi_window_is_quiet(core->window);
        if (is_met(arg)) return true;
        if (quiet || h->is_lost) return false;
        if (round % LOOKS == LOOKS - 1) is_lost(core);
    }
}

static void host_wake(void *context) { (void)context; } /* the scheduler looks by itself */
static void host_poke(struct core *core) { (void)core; }
static void host_measure(struct core *core, PTORunStats *stats) { (void)core, (void)stats; }

const struct engine ptoi_engine_process = {.name = "resident",
                                           .is_split = true,
                                           .ops = {.wake = host_wake, .wait = host_wait},
                                           .open = host_open,
                                           .close = host_close,
                                           .begin = host_begin,
                                           .poke = host_poke,
                                           .settle = host_settle,
                                           .measure = host_measure};
