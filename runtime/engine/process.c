/* process.c - the caller orchestrates; the scheduler and the workers are another process, and the two share the window.
 *
 * Idea       what both use (window, heap, run status, record, and `struct control` here) is mapped before the fork.
 *            The child opens the lanes of threads.c in itself; its first thread schedules when no worker does, and
 *            sleeps. Between the processes every word has one writer: no lock, no read-modify-write.
 * Owner      parent: asked, request, the bell `call`.  Child: everything else in struct control.
 * Invariant  the child is this runtime's until it is dismissed, or dead; when it died, the run has failed, and nothing
 *            waits for it any more.  A run begins with a child that has what is loaded now: Note [code of the child].
 * Blocks     the orchestrator and the child's first thread, after a short spin, at a bell.  Both look now and then
 *            whether the other one lives.  (Not by a signal that ends the child: PR_SET_PDEATHSIG fires also when the
 *            thread that created the runtime ends.)
 *
 * [ASK]      request is complete when `asked` says so.
 * [ANSWER]   what the child answers is complete when `answered` says so.
 * Tests      test/runtime/test_process.c, test_runtime.c, stress_graphs.c */
#include "shared/caller.h"
#include "shared/check.h"
#include "debug/crash.h"
#include "shared/map_memory.h"
#include "shared/system.h"
#include "threads.h"
#include "backend/worker.h"
#include "shared/task.h"
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPINS = 256, YIELDS = 2 };
#define LOOK_AT_CHILD_NS  (20 * 1000000ll)
#define LOOK_AT_PARENT_NS (200 * 1000000ll)
#define LEAVE_NS          (5 * 1000000000ll) /* how long the child may take to end when asked to */

enum request { BEGIN_RUN, SETTLE, SETTLE_AND_RESET, LEAVE };

struct control {
    struct bell call;   /* the parent rings, the child's first thread sleeps */
    struct bell notify; /* the holder of the child's role rings, the parent sleeps */
    /* W parent, R child: store release [ASK], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint32_t asked;
    int32_t request;
    uint64_t first_id; /* of the run */
    /* W child, R parent: store release [ANSWER], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint32_t answered;
    int32_t status; /* of opening */
    struct scheduler_stats stats;
    uint64_t ready_max[PTO_WORKER_TYPES];
    uint64_t steps;
    struct crash_note crash;
    struct running_line line[]; /* one a worker, which writes it */
};

struct process {
    struct control *control;
    uint64_t control_bytes;
    int workers;
    pid_t child; /* 0: it has ended and is no zombie */
    bool is_lost;
    uint32_t asked;
    uint64_t loads; /* count_loads() when it was forked, or before */
};

/* ---- the child --------------------------------------------------------------------------------------------------- */

/* The host's handlers are not for this process; what the terminal sends is for the parent, whose end is ours. */
static void settle_signals(void)
{
    sigset_t none;
    for (int s = 1; s < NSIG; s++) {
        struct sigaction a;
        if (sigaction(s, NULL, &a) != 0) continue;
        const bool is_handled = (a.sa_flags & SA_SIGINFO) || (a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN);
        if (s == SIGINT || s == SIGQUIT || s == SIGHUP)
            signal(s, SIG_IGN);
        else if (is_handled) /* the host answers a question, also where both processes are asked by name */
            signal(s, s == SIGUSR1 ? SIG_IGN : SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void answer(struct control *c, uint32_t asked)
{
    PTO_LABEL(ANSWER);
    store_release(&c->answered, asked, ANSWER); /* [ANSWER] */
}

/* As the scheduler: nothing else changes its state or its statistics meanwhile. */
static void serve(struct core *core, struct control *c, uint32_t asked)
{
    ptoi_threads_take_role(core);
    if (c->request == BEGIN_RUN) {
        ptoi_threads_begin(core);
        ptoi_sched_begin_run(&core->sched);
        if (core->recorder) {
            core->recorder->first_id = c->first_id;
            core->recorder->steps = 0;
        }
    }
    if (c->request == SETTLE_AND_RESET) ptoi_sched_reset_marks(&core->sched);
    c->stats = core->sched.stats;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) c->ready_max[t] = core->sched.ready[t].count_max;
    c->steps = core->recorder ? core->recorder->steps : 0;
    answer(c, asked);
    ptoi_threads_leave_role(core, true);
}

static _Noreturn void child_main(struct core *core, struct control *c, pid_t parent)
{
    ptoi_is_worker_process = true;
    settle_signals();
    prctl(PR_SET_PDEATHSIG,
          SIGCONT); /* one that is stopped goes on, to see that the parent is gone; others ignore it */
    if (core->config.watchdog_seconds > 0) ptoi_backtrace_answer();
    ptoi_crash_report_to(&c->crash);
    ptoi_crash_watch();
    c->status = ptoi_threads_open_apart(core, c->line, &c->notify);
    uint32_t answered = 1;
    if (c->status != PTO_OK) {
        answer(c, answered);
        _exit(1);
    }
    ptoi_threads_take_role(core);
    answer(c, answered);
    ptoi_threads_leave_role(core, true);
    for (int spins = 0;;) {
        const uint32_t heard = ptoi_bell_heard(&c->call);
        const uint32_t asked = load_acquire(&c->asked, ASK); /* [ASK] */
        if (asked != answered) {
            if (c->request == LEAVE) break;
            serve(core, c, asked);
            answered = asked;
        }
        if (ptoi_threads_schedule(core)) {
            spins = 0;
        } else if (++spins < SPINS) {
            pto_relax();
        } else if (spins < SPINS + YIELDS) {
            ptoi_yield();
        } else {
            ptoi_bell_wait(&c->call, heard, LOOK_AT_PARENT_NS);
            if (getppid() != parent) _exit(1);
            spins = 0;
        }
    }
    ptoi_threads_close(core);
    fflush(stdout); /* what kernels printed */
    _exit(0);
}

/* ---- the child's lifetime, seen from the parent ------------------------------------------------------------------ */

static void describe_end(char *text, size_t size, bool is_known, int status)
{
    if (is_known && WIFSIGNALED(status))
        snprintf(text, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (is_known && WIFEXITED(status))
        snprintf(text, size, "exit code %d", WEXITSTATUS(status));
    else
        snprintf(text, size, "somebody else waited for it");
}

/* What the child ran. */
struct ran {
    const PTOSite *site; /* of the first */
    char text[3000];
};

/* process: 0 where it is dead. */
static void describe_ran(struct core *core, int32_t process, struct ran *r)
{
    const struct process *e = core->state;
    ptoi_running_describe(core->window, e->control->line, e->workers, process, r->text, sizeof r->text, &r->site);
}

/* The task of that number and kernel, which is in flight: a fold has the number of another task.  false: none is. */
static bool find_task(const struct window *w, uint64_t number, const PTOKernel *kernel, uint64_t *id)
{
    const uint64_t head = load_relaxed(&w->task_head); /* relaxed: the caller's own word */
    for (uint64_t back = 1; back <= w->task_mask + 1 && ptoi_running_task(w, head - back + 1, id); back++)
        if (ptoi_task_number(w, *id) == number && ptoi_task_kernel(w, *id) == kernel) return true;
    return false;
}

/* The run fails with what is known: the kernel that crashed, or those that ran. */
static void note_loss(struct core *core, PTOStatus status, const char *reason, const struct ran *then)
{
    struct process *e = core->state;
    struct control *c = e->control;
    const PTOSite *site = then->site;
    char why[3600];
    uint64_t id;
    const uint64_t crashed = load_relaxed(&c->crash.task); /* relaxed: its writer is dead */
    if (crashed && find_task(core->window, crashed - 1, c->crash.kernel, &id)) {
        site = ptoi_task_site(core->window, id);
        PTOArg args[PTO_MAX_PARAMS];
        struct crash_text text = {0};
        ptoi_crash_describe(&text, ptoi_task_kernel(core->window, id), args,
                            ptoi_task_args(core->window, core->heap, id, args), &c->crash.address, c->crash.calls);
        snprintf(why, sizeof why, "kernel '%s' crashed (task %lld): %s%.2800s",
                 ptoi_task_kernel(core->window, id)->name, (long long)ptoi_task_number(core->window, id), reason,
                 text.bytes);
    } else {
        snprintf(why, sizeof why, "%s%s%s", reason, then->text[0] ? "; what ran then:" : "", then->text);
    }
    e->is_lost = core->orch.is_lost = true;
    ptoi_fail_earlier(core->run_status, status, site, "%s", why);
}

/* true: there is no child, and the run has failed. */
static bool is_lost(struct core *core)
{
    struct process *e = core->state;
    int status = 0;
    if (e->is_lost) return true;
    pid_t ended = waitpid(e->child, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    char end[120], reason[200];
    describe_end(end, sizeof end, ended > 0, status);
    snprintf(reason, sizeof reason, "the worker process died: %s", end);
    ptoi_run_status_disown(core->run_status, e->child);
    e->child = 0;
    struct ran then;
    describe_ran(core, 0, &then);
    note_loss(core, PTO_ERR_LOST, reason, &then);
    return true;
}

static void kill_child(struct process *e)
{
    if (e->child == 0) return;
    kill(e->child, SIGKILL);
    while (waitpid(e->child, NULL, 0) < 0 && errno == EINTR) {}
    e->child = 0;
}

static void stop_by_watchdog(struct core *core)
{
    struct process *e = core->state;
    const pid_t child = e->child;
    char reason[120];
    struct ran then;
    describe_ran(core, child, &then);
    kill_child(e);
    ptoi_run_status_disown(core->run_status, child);
    snprintf(reason, sizeof reason, "no task finished for %g s, the worker process was stopped",
             core->config.watchdog_seconds);
    note_loss(core, PTO_ERR_WATCHDOG, reason, &then);
}

/* A kernel runs for longer than its @timeout. */
static void stop_overdue(struct core *core, uint64_t id)
{
    struct process *e = core->state;
    const pid_t child = e->child;
    char reason[400];
    snprintf(reason, sizeof reason, PTO_TIMEOUT_TEXT ", the worker process was stopped",
             ptoi_task_kernel(core->window, id)->name, (long long)(ptoi_task_limit_ns(core->window, id) / 1000000),
             (long long)ptoi_task_number(core->window, id));
    struct ran then;
    describe_ran(core, child, &then);
    kill_child(e);
    ptoi_run_status_disown(core->run_status, child);
    note_loss(core, PTO_ERR_TIMEOUT, reason, &then);
}

static void call(struct control *c)
{
    ptoi_bell_ring(&c->call);
    ptoi_bell_wake(&c->call);
}

static void post(struct process *e, enum request request)
{
    e->control->request = (int32_t)request;
    PTO_LABEL(ASK);
    store_release(&e->control->asked, ++e->asked, ASK); /* [ASK] */
    call(e->control);
}

/* false: the child is lost. */
static bool wait_answer(struct core *core)
{
    struct process *e = core->state;
    struct control *c = e->control;
    for (;;) {
        const uint32_t heard = ptoi_bell_heard(&c->notify);
        if (load_acquire(&c->answered, ANSWER) == e->asked) return true; /* [ANSWER] */
        if (e->is_lost) return false;
        ptoi_bell_wait(&c->notify, heard, LOOK_AT_CHILD_NS);
        if (ptoi_bell_heard(&c->notify) == heard) is_lost(core);
    }
}

/* ---- a child, and another one ------------------------------------------------------------------------------------ */

/* Note [code of the child]: the child runs the code that was loaded when it was forked.  What the host loads later is
 * not there, or other code is, of an object that was unloaded since.  So a run begins with another child where anything
 * was loaded or unloaded meanwhile, which the dynamic linker counts, whoever asked for it. */
static int read_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(uint64_t *)loads = info->dlpi_adds + info->dlpi_subs;
    return 1; /* every object has the same numbers */
}

static uint64_t count_loads(void)
{
    uint64_t loads = 0;
    dl_iterate_phdr(read_loads, &loads);
    return loads;
}

/* There is no child, and struct control is zeroes.  What it has to know of the runtime is in `core`. */
static PTOStatus fork_child(struct core *core)
{
    struct process *e = core->state;
    fflush(stdout); /* what waits there must not be written by both */
    fflush(stderr);
    ptoi_backtrace_prepare(); /* else the next run would load something */
    e->loads = count_loads();
    e->asked = 1;                                /* it answers when it is open */
    store_relaxed(&e->control->asked, e->asked); /* relaxed: the fork comes after it */
    const pid_t parent = getpid();
    e->child = fork();
    if (e->child == 0) child_main(core, e->control, parent);
    if (e->child < 0) e->child = 0;
    if (e->child == 0) return PTO_ERR_NOMEM;
    return wait_answer(core) ? (PTOStatus)e->control->status : PTO_ERR_LOST;
}

/* No run is active. */
static bool is_alive(struct process *e)
{
    const pid_t ended = e->child ? waitpid(e->child, NULL, WNOHANG) : 0;
    if (ended > 0 || (ended < 0 && errno != EINTR)) e->child = 0;
    return e->child != 0;
}

static void dismiss_child(struct process *e)
{
    if (e->child && !e->is_lost) {
        post(e, LEAVE);
        const int64_t since = ptoi_clock_ns();
        while (is_alive(e) && ptoi_clock_ns() - since < LEAVE_NS) usleep(500);
    }
    kill_child(e);
}

/* No run is active: nothing is in flight.  false: there is no child, and the run has failed. */
static bool renew_child(struct core *core)
{
    struct process *e = core->state;
    dismiss_child(e);
    e->is_lost = core->orch.is_lost = false;
    ptoi_window_abandon(core->window);
    ptoi_sched_resume(&core->sched);
    memset(e->control, 0, e->control_bytes); /* nobody else uses it now */
    const PTOStatus status = fork_child(core);
    if (status == PTO_OK) return true;
    kill_child(e);
    e->is_lost = core->orch.is_lost = true;
    ptoi_fail(core->run_status, status, NULL, "the worker process could not be started again");
    return false;
}

/* ---- the orchestrator's side ------------------------------------------------------------------------------------- */

static void process_wake(void *context)
{
    struct process *e = ((struct core *)context)->state;
    call(e->control);
}

static bool process_wait(void *context, bool (*is_met)(void *arg), void *arg)
{
    struct core *core = context;
    struct process *e = core->state;
    struct control *c = e->control;
    struct watchdog dog;
    call(c); /* events are published without a call */
    ptoi_watchdog_start(&dog, core->config.watchdog_seconds, c->line, e->workers);
    for (int spins = 0;;) {
        const uint32_t heard = ptoi_bell_heard(&c->notify);
        /* [QUIET] before is_met: it sees everything that was published */
        const bool quiet = ptoi_window_is_quiet(core->window);
        if (is_met(arg)) return true;
        if (quiet || e->is_lost) return false;
        if (++spins < SPINS) {
            pto_relax();
        } else if (spins < SPINS + YIELDS) {
            ptoi_yield();
        } else {
            uint64_t late;
            ptoi_bell_wait(&c->notify, heard, LOOK_AT_CHILD_NS);
            if (core->orch.run.least_limit_ms > 0 && ptoi_running_overdue(core->window, c->line, e->workers, &late) &&
                !is_lost(core))
                stop_overdue(core, late);
            else if (ptoi_bell_heard(&c->notify) == heard && !is_lost(core) &&
                     ptoi_watchdog_bites(&dog, c->line, e->workers))
                stop_by_watchdog(core);
            spins = 0;
        }
    }
}

static void process_begin(struct core *core)
{
    struct process *e = core->state;
    if ((!is_alive(e) || e->loads != count_loads()) && !renew_child(core)) return;
    e->control->first_id = core->orch.rings.head;
    post(e, BEGIN_RUN);
    wait_answer(core);
}

/* whatever the orchestrator waits for, the child looks at the run status after it */
static void process_poke(struct core *core) { (void)core; }

static void process_settle(struct core *core, bool reset)
{
    struct process *e = core->state;
    const struct control *c = e->control;
    if (e->is_lost) return;
    post(e, reset ? SETTLE_AND_RESET : SETTLE);
    if (!wait_answer(core)) return;
    core->sched.stats = c->stats;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) core->sched.ready[t].count_max = c->ready_max[t];
    if (core->recorder) core->recorder->steps = c->steps;
}

static const struct running_line *process_lines(struct core *core, int *count)
{
    const struct process *e = core->state;
    *count = e->workers;
    return e->control->line;
}

static void process_measure(struct core *core, PTORunStats *stats)
{
    const struct process *e = core->state;
    int at = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        for (int i = 0; i < core->config.workers[t]; i++) /* relaxed: [RETIRE] came after them */
            stats->worker_busy_ns[t] += load_relaxed(&e->control->line[at++].busy_ns);
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static void process_close(struct core *core)
{
    struct process *e = core->state;
    dismiss_child(e);
    if (e->asked && core->config.watchdog_seconds > 0) ptoi_backtrace_unlisten(); /* it was opened */
    ptoi_memory_unmap(e->control, e->control_bytes);
    free(e);
    core->state = NULL;
}

/* A child that can run sees that it has no parent any more; one that was stopped cannot. */
static void process_abandon(struct core *core)
{
    const struct process *e = core->state;
    const pid_t child = e ? e->child : 0;
    if (child > 0) kill(child, SIGKILL);
}

static PTOStatus process_open(struct core *core)
{
    struct process *e = calloc(1, sizeof *e);
    if (!e) return PTO_ERR_NOMEM;
    core->state = e;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) e->workers += core->config.workers[t];
    e->control_bytes = sizeof *e->control + (uint64_t)e->workers * sizeof e->control->line[0];
    e->control = ptoi_memory_map(e->control_bytes, true);
    if (!e->control) {
        process_close(core);
        return PTO_ERR_NOMEM;
    }
    if (core->config.watchdog_seconds > 0) ptoi_backtrace_listen();
    const PTOStatus status = fork_child(core);
    if (status != PTO_OK) process_close(core);
    return status;
}

const struct engine ptoi_engine_process = {.name = "process",
                                           .is_split = true,
                                           .ops = {.wake = process_wake, .wait = process_wait},
                                           .open = process_open,
                                           .close = process_close,
                                           .abandon = process_abandon,
                                           .begin = process_begin,
                                           .poke = process_poke,
                                           .settle = process_settle,
                                           .lines = process_lines,
                                           .measure = process_measure};
