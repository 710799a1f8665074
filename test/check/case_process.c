/* case_process.c - engine/process.c: the orchestrator here, scheduler and workers in another process, which share words
 * and bells.
 *
 * Idea       the file itself, where the calls that make and end a process make and end a fiber: the child has a copy of
 *            struct core, as after a fork, and its first thread is the fiber.  A sleep has no end but a ring, so
 *            the looks every now and then hide nothing. */
#include "cases.h"
#include "shared/check.h"
#include "debug/crash.h"
#include "shared/map_memory.h"
#include "programs.h"
#include "engine/threads.h"
#include "backend/worker.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD = 4711 };

static struct {
    struct core copy;
    struct control *control;
    ptoi_thread first;
    jmp_buf end;
    _Atomic int has_ended;
} child;

static pid_t start_child(struct core *core, struct control *c);
static _Noreturn void end_child(void) { _longjmp(child.end, 1); }
static pid_t has_child_ended(void) { return load_relaxed(&child.has_ended) ? CHILD : 0; }

#define fork()                start_child(core, e->control)
#define _exit(status)         end_child()
#define waitpid(pid, at, how) (((void)(at)), has_child_ended())
#define getppid()             getpid()
#define kill(pid, number)     ((void)(pid))
#define usleep(us)            ptoi_yield()
#define sigaction(s, a, b)    (((void)(b)), 1)
#define signal(s, how)        ((void)0)
#define sigprocmask(a, b, c)  ((void)(b))
#include "engine/process.c"

static void *run_child(void *arg)
{
    (void)arg;
    check_name("child");
    if (_setjmp(child.end) == 0) child_main(&child.copy, child.control, getpid());
    store_relaxed(&child.has_ended, 1);
    return NULL;
}

static pid_t start_child(struct core *core, struct control *c)
{
    child.copy = *core;
    child.control = c;
    store_relaxed(&child.has_ended, 0);
    ptoi_thread_start(&child.first, run_child, NULL);
    return CHILD;
}

static void run(program *p, PTOStatus wanted)
{
    const PTOConfig config = {.engine = PTO_ENGINE_PROCESS, .workers = {[PTO_WORKER_VECTOR] = 1}, PROGRAMS_SMALL};
    program_run(&config, p, wanted);
}

#define PROCESS(name_, about_, program_, status_)                                                                      \
    static void name_##_body(void) { run(program_, status_); }                                                         \
    const struct check_case check_case_##name_ = {.name = #name_, .about = about_, .body = name_##_body};

PROCESS(process_one, "one task in another process", program_one, PTO_OK)
PROCESS(process_chain, "values through buffers", program_chain, PTO_OK)
PROCESS(process_failure, "a kernel fails there", program_failure, PTO_ERR_KERNEL)
PROCESS(process_deadlock, "a deadlock is reported, and nowhere else", program_deadlock, PTO_ERR_DEADLOCK)
