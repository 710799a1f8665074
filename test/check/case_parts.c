/* case_parts.c - parts of the runtime that threads share, each for itself: bells, parkers, the first failure, the pool,
 * time limits. */
#include "cases.h"
#include "shared/run_status.h"
#include "shared/park.h"
#include "memory/pool.h"
#include "engine/running.h"
#include <pto/pto_runtime.h>
#include <string.h>

#define PART(name_, about_, preemptions_, stale_)                                                                      \
    const struct check_case check_case_##name_ = {.name = #name_,                                                      \
                                                  .about = about_,                                                     \
                                                  .body = name_##_body,                                                \
                                                  .is_small = true,                                                    \
                                                  .preemptions = preemptions_,                                         \
                                                  .stale = stale_};

/* ---- a bell: who rings has made input, who sleeps has looked for it ---------------------------------------------- */

static struct bell bell;
static int input;

static void *ring(void *arg)
{
    (void)arg;
    check_name("ringer");
    input = 1;
    ptoi_bell_ring(&bell);
    ptoi_bell_wake(&bell);
    return NULL;
}

static void bell_body(void)
{
    ptoi_thread t;
    bell = (struct bell){0};
    input = 0;
    ptoi_thread_start(&t, ring, NULL);
    for (uint32_t heard; (heard = ptoi_bell_heard(&bell)) == 0;) ptoi_bell_wait(&bell, heard, PTO_FOR_EVER);
    CHECK_THAT(input == 1);
    ptoi_thread_join(t);
}
PART(bell, "no ring is missed, and input that was made before it is seen", -1, -1)

/* What is rung for is a word of its own, as `asked` in engine/process.c: it is looked at between the bell and the
 * sleep. */
static _Atomic uint32_t asked;

static void *ask(void *arg)
{
    (void)arg;
    check_name("ringer");
    for (int i = 0; i < 2; i++) {
        store_relaxed(&asked, (uint32_t)i + 1);
        ptoi_bell_ring(&bell);
        ptoi_bell_wake(&bell);
    }
    return NULL;
}

static void bell_twice_body(void)
{
    ptoi_thread t;
    bell = (struct bell){0};
    store_relaxed(&asked, 0);
    ptoi_thread_start(&t, ask, NULL);
    for (;;) {
        const uint32_t heard = ptoi_bell_heard(&bell);
        if (load_relaxed(&asked) == 2) break;
        ptoi_bell_wait(&bell, heard, PTO_FOR_EVER);
    }
    ptoi_thread_join(t);
}
PART(bell_twice, "of two rings, too", 3, -1)

/* ---- a parker ---------------------------------------------------------------------------------------------------- */

static struct parker parker;
static _Atomic int go;

static void *wake(void *arg)
{
    (void)arg;
    check_name("waker");
    store_relaxed(&go, 1);
    ptoi_park_wake(&parker);
    return NULL;
}

static void park_body(void)
{
    ptoi_thread t;
    ptoi_park_init(&parker);
    store_relaxed(&go, 0);
    ptoi_thread_start(&t, wake, NULL);
    ptoi_park_announce(&parker);
    while (!load_relaxed(&go))
        ptoi_park_wait(&parker, PTO_FOR_EVER); /* a wake that finds nothing to do is not followed by another */
    ptoi_park_cancel(&parker);
    ptoi_thread_join(t);
}
PART(park, "what was stored before a wake is seen after it", -1, -1)

/* ---- the first failure ------------------------------------------------------------------------------------------- */

static struct run_status run_status;

static void *fail_first(void *arg)
{
    (void)arg;
    ptoi_fail(&run_status, PTO_ERR_KERNEL, NULL, "first");
    return NULL;
}
static void *fail_second(void *arg)
{
    (void)arg;
    ptoi_fail(&run_status, PTO_ERR_CANCELLED, NULL, "second");
    return NULL;
}

static void expect_message(void)
{
    const PTOStatus status = ptoi_status(&run_status);
    if (status == PTO_ERR_KERNEL) CHECK_THAT(run_status.message[0] == 'f' && strcmp(run_status.message, "first") == 0);
    if (status == PTO_ERR_CANCELLED)
        CHECK_THAT(run_status.message[0] == 's' && strcmp(run_status.message, "second") == 0);
}

static void status_body(void)
{
    ptoi_thread t[2];
    ptoi_run_status_reset(&run_status);
    ptoi_thread_start(&t[0], fail_first, NULL);
    ptoi_thread_start(&t[1], fail_second, NULL);
    expect_message();
    expect_message();
    for (int i = 0; i < 2; i++) ptoi_thread_join(t[i]);
    CHECK_THAT(ptoi_status(&run_status) != PTO_OK);
    expect_message();
}
PART(status, "one of two failures sticks, and whoever sees it may read why", -1, -1)

/* A run begins while somebody cancels: the cancel is of the run before, or of this one. */
static void status_reset_body(void)
{
    ptoi_thread t;
    ptoi_run_status_reset(&run_status);
    ptoi_thread_start(&t, fail_second, NULL);
    ptoi_run_status_reset(&run_status);
    expect_message();
    ptoi_thread_join(t);
    expect_message();
}
PART(status_reset, "a failure while a run begins", -1, -1)

/* ---- the pool ---------------------------------------------------------------------------------------------------- */

enum { BLOCK = 4096 };

static void *take_and_give(void *arg)
{
    (void)arg;
    char *block = ptoi_pool_take(BLOCK, false, false);
    CHECK_THAT(block != NULL);
    block[0] = 1; /* a race, if somebody else has it too */
    ptoi_pool_give(block, BLOCK, false);
    return NULL;
}

static void *trim(void *arg)
{
    (void)arg;
    ptoi_pool_trim();
    return NULL;
}

static void pool_body(void)
{
    PTOPoolStats before, after;
    ptoi_thread t[2];
    pto_pool_stats(&before);
    char *first = ptoi_pool_take(BLOCK, false, false);
    first[0] = 1;
    ptoi_pool_give(first, BLOCK, false); /* one is kept: both want it */
    ptoi_thread_start(&t[0], take_and_give, NULL);
    ptoi_thread_start(&t[1], trim, NULL);
    take_and_give(NULL);
    for (int i = 0; i < 2; i++) ptoi_thread_join(t[i]);
    ptoi_pool_trim();
    pto_pool_stats(&after);
    CHECK_THAT(after.used_bytes == before.used_bytes && after.total_bytes == before.total_bytes);
}
PART(pool, "two threads take and give back a block, a third trims", -1, -1)

/* ---- time limits ------------------------------------------------------------------------------------------------- */

static struct window *window;
static struct running_line line;

static void set_limit(uint64_t id, int64_t ms)
{
    struct task_slot *t = window_task(window, id);
    *t = (struct task_slot){.id = id, .arg_begin = id * 64, .flags = ms ? TASK_TIMED : 0};
    *(int64_t *)window_args(window, t->arg_begin) = ms;
}

static void *run_two(void *arg)
{
    (void)arg;
    check_name("worker");
    ptoi_running_begin(&line, window, 0, -10000000, 1); /* long ago, and it ends in time */
    ptoi_running_end_timed(&line, window, &run_status, 0, -10000000, -9999999);
    ptoi_running_begin(&line, window, 1, 1, 1);
    ptoi_running_end_timed(&line, window, &run_status, 1, 1, 2);
    return NULL;
}

static void overdue_before(void)
{
    static _Alignas(64) char memory[1 << 20];
    const struct window_sizes sizes = {.tasks = 2, .deps = 2, .heap_bytes = 64};
    CHECK_THAT(ptoi_window_bytes(&sizes) <= sizeof memory);
    window = (struct window *)memory;
    ptoi_window_init(window, &sizes);
    store_relaxed(&window->task_head, 2);
    set_limit(0, 1);
    set_limit(1, 0);
}

static void overdue_body(void)
{
    ptoi_thread t;
    uint64_t id;
    line = (struct running_line){0};
    ptoi_run_status_reset(&run_status);
    ptoi_thread_start(&t, run_two, NULL);
    if (ptoi_running_overdue(window, &line, 1, &id)) CHECK_THAT(id == 0); /* the second has no limit */
    ptoi_thread_join(t);
    CHECK_THAT(ptoi_status(&run_status) == PTO_OK);
}
const struct check_case check_case_overdue = {.name = "overdue",
                                              .about = "the limit of one task is not taken for the limit of another",
                                              .body = overdue_body,
                                              .before = overdue_before,
                                              .is_small = true,
                                              .preemptions = -1,
                                              .stale = -1};

/* ---- which kernel runs now --------------------------------------------------------------------------------------- */

static const PTOKernel no_kernel = {.name = "none"}, this_kernel = {.name = "this"};

static void *run_one(void *arg)
{
    (void)arg;
    check_name("worker");
    ptoi_running_begin(&line, window, 0, 1, 1);
    ptoi_running_end(&line);
    return NULL;
}

static void running_before(void)
{
    overdue_before();
    window_task(window, 0)->kernel = ptoi_image_offset(&this_kernel);
}

static void running_body(void)
{
    ptoi_thread t;
    char text[512];
    const PTOSite *site;
    line = (struct running_line){0};
    store_relaxed(&line.kernel, &no_kernel); /* of an earlier run */
    ptoi_thread_start(&t, run_one, NULL);
    ptoi_running_describe(window, &line, 1, 0, text, sizeof text, &site);
    CHECK_THAT(strstr(text, "none") == NULL);
    ptoi_thread_join(t);
}
const struct check_case check_case_running = {.name = "running",
                                              .about = "a task that is named as running has its own kernel's name",
                                              .body = running_body,
                                              .before = running_before,
                                              .is_small = true,
                                              .preemptions = -1,
                                              .stale = -1};
