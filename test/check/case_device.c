/* case_device.c - a scheduler beside its workers, as on a device: orchestrator, scheduler and one worker, who share
 * words and nothing else.
 *
 * Idea       device/resident.c, the real orchestrator and the real worker, each a thread that polls.  It is the
 *            smallest machine with every role on its own, so small programs are searched, not sampled.  It takes the
 *            place of the engine `timing`. */
#include "cases.h"
#include "programs.h"
#include "device/resident.h"
#include "engine/core.h"
#include "backend/worker.h"
#include <stdlib.h>

static struct {
    struct resident_block *block;
    uint32_t asked;
    ptoi_thread scheduler, worker;
    _Alignas(64) char memory[1 << 14]; /* of the scheduler */
    struct resident resident;
    _Atomic int stop;
} device;

static void *schedule(void *arg)
{
    struct resident *r = arg;
    check_name("scheduler");
    if (!ptoi_resident_open(r, device.block, device.memory)) check_fail("the layouts differ");
    while (!r->is_over)
        if (!ptoi_resident_step(r)) ptoi_yield();
    return NULL;
}

static void *work(void *arg)
{
    struct core *core = arg;
    struct mailbox *box = resident_mailbox(device.block, 0);
    check_name("worker");
    for (uint64_t done = 0;;) {
        if (load_acquire(&box->sent, DEVICE_SENT) == done) {
            if (load_relaxed(&device.stop)) return NULL;
            ptoi_yield();
            continue;
        }
        const uint64_t id = box->task[done % PTO_MAILBOX_DEPTH];
        if (load_relaxed(&core->run_status->status) == PTO_OK) {
            const int code = ptoi_worker_run(core->window, core->backend, core->heap, window_task(core->window, id));
            if (code != 0) ptoi_core_failed(core, id, code);
        }
        store_release(&box->done, ++done, DEVICE_ENDED);
    }
}

static void ask(uint32_t request)
{
    device.block->request = request;
    store_release(&device.block->asked, ++device.asked, DEVICE_ASK);
    while (load_acquire(&device.block->answered, DEVICE_ANSWER) != device.asked) ptoi_yield();
}

static void device_close(struct core *core)
{
    ask(RESIDENT_LEAVE);
    store_relaxed(&device.stop, 1);
    ptoi_thread_join(device.scheduler);
    ptoi_thread_join(device.worker);
    free(device.block);
    core->state = NULL;
}

static PTOStatus device_open(struct core *core)
{
    const uint64_t bytes = sizeof(struct resident_block) + sizeof(struct mailbox);
    device.block = aligned_alloc(64, bytes);
    memset(device.block, 0, bytes);
    *device.block = (struct resident_block){.magic = PTO_RESIDENT_MAGIC,
                                            .fingerprint = ptoi_resident_fingerprint(),
                                            .mailbox_at = sizeof(struct resident_block)};
    device.block->run_status_at = (uint64_t)((uintptr_t)core->run_status - (uintptr_t)device.block);
    device.block->window_at = (uint64_t)((uintptr_t)core->window - (uintptr_t)device.block);
    device.block->workers[PTO_WORKER_VECTOR] = 1;
    if (ptoi_resident_bytes(device.block) > sizeof device.memory)
        check_fail("the scheduler needs %llu bytes", (unsigned long long)ptoi_resident_bytes(device.block));
    memset(device.memory, 0, sizeof device.memory);
    store_relaxed(&device.stop, 0);
    store_relaxed(&device.block->asked, device.asked = 1);
    core->state = &device;
    ptoi_thread_start(&device.scheduler, schedule, &device.resident);
    ptoi_thread_start(&device.worker, work, core);
    while (load_acquire(&device.block->answered, DEVICE_ANSWER) != 1) ptoi_yield();
    return PTO_OK;
}

static bool device_wait(void *context, bool (*is_met)(void *arg), void *arg)
{
    struct core *core = context;
    for (;; ptoi_yield()) {
        const bool quiet = ptoi_window_is_quiet(core->window);
        if (is_met(arg)) return true;
        if (quiet) return false;
    }
}

static void device_settle(struct core *core, bool reset)
{
    ask(reset ? RESIDENT_SETTLE_AND_RESET : RESIDENT_SETTLE);
    core->sched.stats = device.block->stats;
}

static void device_begin(struct core *core)
{
    (void)core;
    ask(RESIDENT_BEGIN);
}
static void device_wake(void *context) { (void)context; }
static void device_poke(struct core *core) { (void)core; }
static void device_measure(struct core *core, PTORunStats *stats) { (void)core, (void)stats; }

const struct engine ptoi_engine_timing = {.name = "device",
                                          .is_split = true,
                                          .ops = {.wake = device_wake, .wait = device_wait},
                                          .open = device_open,
                                          .close = device_close,
                                          .begin = device_begin,
                                          .poke = device_poke,
                                          .settle = device_settle,
                                          .measure = device_measure};

#define DEVICE(name_, about_, preemptions_, stale_, body_)                                                             \
    static void name_##_body(void)                                                                                     \
    {                                                                                                                  \
        const PTOConfig config = {.engine = PTO_ENGINE_TIMING, .workers = {[PTO_WORKER_VECTOR] = 1}, PROGRAMS_SMALL};  \
        body_                                                                                                          \
    }                                                                                                                  \
    const struct check_case check_case_##name_ = {.name = #name_,                                                      \
                                                  .about = about_,                                                     \
                                                  .body = name_##_body,                                                \
                                                  .is_small = true,                                                    \
                                                  .preemptions = preemptions_,                                         \
                                                  .stale = stale_};

DEVICE(device_one, "one task", 2, 1, program_run(&config, program_one, PTO_OK);)
DEVICE(device_reuse, "three tasks in two slots", 1, 1, program_run(&config, program_reuse, PTO_OK);)
DEVICE(device_await, "the second of two tasks is awaited, and read", 1, 1, program_run(&config, program_await, PTO_OK);)
DEVICE(device_release, "a buffer is released early, and its memory used again", 1, 1,
       program_run(&config, program_release, PTO_OK);)
DEVICE(device_failure, "a kernel fails; what follows it does not run", 1, 1,
       program_run(&config, program_failure, PTO_ERR_KERNEL);)
DEVICE(device_events, "more events than their ring holds", 1, 1, program_run(&config, program_events, PTO_OK);)
DEVICE(device_deadlock, "an open scope holds the heap: a deadlock is reported, and nowhere else", 1, 1,
       program_run(&config, program_deadlock, PTO_ERR_DEADLOCK);)
