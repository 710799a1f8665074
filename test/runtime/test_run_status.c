/* test_run_status.c - the first failure sticks, and a second one stops the scheduler at once even while the first is
 * being written. */
#include "shared/run_status.h"
#include "api/runtime.h"
#include "submit.h"
#include "unit.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

TEST(the_first_failure_sticks)
{
    static struct run_status o;
    ptoi_run_status_reset(&o);
    EXPECT(!ptoi_is_failing(&o) && ptoi_status(&o) == PTO_OK);
    const PTOSite site = {"a.pto", 3, 7, "x"};
    ptoi_fail(&o, PTO_ERR_KERNEL, &site, "first %d", 1);
    ptoi_fail(&o, PTO_ERR_CANCELLED, NULL, "second");
    EXPECT(ptoi_is_failing(&o) && ptoi_status(&o) == PTO_ERR_KERNEL);
    EXPECT_STR(o.message, "a.pto:3:7: error: first 1");
    ptoi_run_status_reset(&o);
    EXPECT(!ptoi_is_failing(&o) && ptoi_status(&o) == PTO_OK && o.message[0] == '\0');
}

TEST(a_closed_status_cannot_be_claimed)
{
    static struct run_status o;
    ptoi_run_status_reset(&o);
    ptoi_run_status_close(&o);
    EXPECT(!ptoi_fail(&o, PTO_ERR_CANCELLED, NULL, "late"));
    EXPECT(!ptoi_is_failing(&o) && ptoi_status(&o) == PTO_OK && ptoi_final_status(&o) == PTO_OK);
    EXPECT_STR(ptoi_run_message(&o), "");
    ptoi_run_status_note(&o, "a note");
    EXPECT(!ptoi_fail(&o, PTO_ERR_CANCELLED, NULL, "late"));
    EXPECT_STR(ptoi_run_message(&o), "a note");
    ptoi_run_status_reset(&o);
    EXPECT(ptoi_fail(&o, PTO_ERR_KERNEL, NULL, "in time"));
    ptoi_run_status_close(&o);
    EXPECT_EQ(ptoi_final_status(&o), PTO_ERR_KERNEL);
    EXPECT_STR(ptoi_run_message(&o), "in time");
    ptoi_run_status_reset(&o);
}

TEST(the_id_of_a_check_stands_where_the_compiler_puts_it)
{
    static struct run_status o;
    const PTOSite site = {"a.pto", 3, 7, "x"};
    const struct {
        const PTOSite *site;
        const char *text, *message;
    } cases[] = {
        {&site, "[E05] index 9", "a.pto:3:7: error[E05]: index 9"},
        {NULL, "[E20] no", "error[E20]: no"},
        {NULL, "plain", "plain"},
        {&site, "[E0", "a.pto:3:7: error: [E0"},
        {&site, "", "a.pto:3:7: error: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ptoi_run_status_reset(&o);
        ptoi_fail(&o, PTO_ERR_BOUNDS, cases[i].site, "%s", cases[i].text);
        EXPECT_STR(o.message, cases[i].message);
    }
    ptoi_run_status_reset(&o);
}

static void nothing_much(PTORuntime *rt, void *arg) { (void)rt, (void)arg; }
static void fails(PTORuntime *rt, void *arg) { (void)arg, pto_scope_end(rt); }

TEST(a_call_outside_a_run_is_refused_and_the_status_stays_that_of_the_last_run)
{
    static void (*const runs[])(PTORuntime * rt, void *arg) = {nothing_much, fails};
    static const PTOStatus last[] = {PTO_OK, PTO_ERR_STATE};
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.workers = {1}}, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_await(rt, rt, 0, 1), PTO_ERR_STATE);
    EXPECT_EQ(pto_runtime_status(rt), PTO_OK);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(pto_runtime_run(rt, runs[i], NULL), last[i]);
        EXPECT_EQ(pto_await(rt, rt, 0, 1), PTO_ERR_STATE);
        EXPECT_STR(pto_last_error(rt), "pto_await outside a run");
        EXPECT_EQ(pto_scope_begin(rt), PTO_SCOPE_CURRENT);
        EXPECT_STR(pto_last_error(rt), "pto_scope_begin outside a run");
        EXPECT_EQ(pto_runtime_status(rt), last[i]);
    }
    EXPECT_EQ(pto_runtime_run(rt, nothing_much, NULL), PTO_OK);
    EXPECT_EQ(pto_runtime_status(rt), PTO_OK);
    pto_runtime_destroy(rt);
}

/* Late calls of other threads: there is no run that they could concern. */
static void call_late(PTORuntime *rt)
{
    pto_cancel(rt);
    pto_task_complete(rt, 0);
    pto_task_complete_with(rt, 1, 7);
}

TEST(a_cancel_or_an_end_of_a_task_between_runs_changes_no_status)
{
    static void (*const runs[])(PTORuntime * rt, void *arg) = {nothing_much, fails};
    static const PTOStatus last[] = {PTO_OK, PTO_ERR_STATE};
    static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING, PTO_ENGINE_GRAPH,
                                        PTO_ENGINE_PROCESS};
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = engines[e], .workers = {1}}, NULL);
        assert_non_null(rt);
        call_late(rt);
        EXPECT_EQ(pto_runtime_status(rt), PTO_OK);
        for (int i = 0; i < 4; i++) {
            char message[200];
            EXPECT_EQ(pto_runtime_run(rt, runs[i % 2], NULL), last[i % 2]);
            snprintf(message, sizeof message, "%s", pto_last_error(rt));
            call_late(rt);
            EXPECT_EQ(pto_runtime_status(rt), last[i % 2]);
            EXPECT_STR(pto_last_error(rt), message);
        }
        EXPECT(strstr(pto_last_error(NULL), "pto_task_complete of task 1, which was not started outside"));
        EXPECT_EQ(pto_runtime_run(rt, NULL, NULL), PTO_ERR_ARGUMENT); /* a call that was refused is the last run */
        call_late(rt);
        EXPECT_EQ(pto_runtime_status(rt), PTO_ERR_ARGUMENT);
        pto_runtime_destroy(rt);
    }
}

/* The status is that which the run returned, whenever the cancel comes. */
struct canceller {
    PTORuntime *rt;
    _Atomic bool stop;
    _Atomic int64_t cancels;
};

static void *cancel_always(void *arg)
{
    struct canceller *c = arg;
    while (!load_relaxed(&c->stop)) {
        pto_cancel(c->rt);
        add_relaxed(&c->cancels, 1);
    }
    return NULL;
}

TEST(the_status_of_a_run_that_has_ended_is_what_it_returned)
{
    struct canceller c = {.rt = pto_runtime_create(&(PTOConfig){.workers = {1}}, NULL)};
    pthread_t thread;
    assert_non_null(c.rt);
    assert_int_equal(pthread_create(&thread, NULL, cancel_always, &c), 0);
    for (int i = 0; i < 300; i++) {
        const PTOStatus returned = pto_runtime_run(c.rt, nothing_much, NULL);
        EXPECT(returned == PTO_OK || returned == PTO_ERR_CANCELLED);
        const int64_t before = load_relaxed(&c.cancels);
        while (load_relaxed(&c.cancels) < before + 2) sched_yield(); /* the second began after the run had ended */
        EXPECT_EQ(pto_runtime_status(c.rt), returned);
    }
    store_relaxed(&c.stop, true);
    pthread_join(thread, NULL);
    pto_runtime_destroy(c.rt);
}

/* A cancel has claimed the run status and is still writing its message when a kernel fails: the status says nothing
 * yet, but what depends on that kernel must not start. */
TEST(h52_a_failure_that_comes_second_is_seen_before_the_first_has_its_status)
{
    static struct run_status o;
    ptoi_run_status_reset(&o);
    store_release(&o.claimed, 1, CLAIM); /* another thread, in the middle of ptoi_vfail */
    ptoi_fail(&o, PTO_ERR_KERNEL, NULL, "second");
    EXPECT(ptoi_status(&o) == PTO_OK);
    EXPECT(ptoi_is_failing(&o));
    store_release(&o.status, (int)PTO_ERR_CANCELLED, RUN_STATUS);
    ptoi_run_status_reset(&o);
}

/* A cancel that was interrupted between its claim and its status: tasks are left out already, so neither a run nor an
 * await may say that all is well. */
static int k_write(const PTOArg *a)
{
    *(int64_t *)a[0].ptr = 1;
    return 0;
}
static const PTOKernel writer = {.name = "write", .worker = PTO_WORKER_VECTOR, .fn = k_write};

struct claimed_run {
    int64_t cell;
    bool awaits;
    PTOStatus awaited;
    PTORuntime *rt;
    pthread_t thread;
};

static void *set_status_late(void *arg)
{
    struct claimed_run *r = arg;
    usleep(20000);
    store_release(&r->rt->core.run_status->status, (int)PTO_ERR_CANCELLED, RUN_STATUS);
    return NULL;
}

static void is_claimed_meanwhile(PTORuntime *rt, void *arg)
{
    struct claimed_run *r = arg;
    r->rt = rt;
    store_release(&rt->core.run_status->claimed, getpid(), CLAIM);
    assert_int_equal(pthread_create(&r->thread, NULL, set_status_late, r), 0);
    SUBMIT(rt, &writer, PTO_INOUT(&r->cell, 0, 8));
    if (r->awaits) r->awaited = pto_await(rt, &r->cell, 0, 8);
}

TEST(a_run_and_an_await_wait_for_the_status_of_a_failure_that_is_claimed)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING};
    for (int e = 0; e < 3; e++)
        for (int awaits = 0; awaits < 2; awaits++) {
            const PTOConfig c = {.engine = engines[e], .always_defer = true};
            struct claimed_run r = {.awaits = awaits};
            PTORuntime *rt = pto_runtime_create(&c, NULL);
            assert_non_null(rt);
            EXPECT_EQ(pto_runtime_run(rt, is_claimed_meanwhile, &r), PTO_ERR_CANCELLED);
            pthread_join(r.thread, NULL);
            EXPECT_EQ(r.awaited, awaits ? PTO_ERR_CANCELLED : PTO_OK);
            pto_runtime_destroy(rt);
        }
}

/* Another thread prints the message, as the watch of a run that takes too long does, while an older failure replaces
 * it. */
static void *read_until_replaced(void *arg)
{
    struct run_status *o = arg;
    const char *text;
    do {
        text = ptoi_run_message(o);
        if (strcmp(text, "the first, of this rank") != 0 && strcmp(text, "the oldest (on rank 2, host)") != 0)
            return arg;
    } while (text[4] != 'o');
    return NULL;
}

TEST(an_older_failure_replaces_the_message_while_other_threads_read_it)
{
    static struct run_status o;
    for (int k = 0; k < 20; k++) {
        pthread_t thread;
        void *torn = NULL;
        ptoi_run_status_reset(&o);
        EXPECT(ptoi_fail(&o, PTO_ERR_CANCELLED, NULL, "the first, of this rank"));
        const char *const before = ptoi_run_message(&o);
        assert_int_equal(pthread_create(&thread, NULL, read_until_replaced, &o), 0);
        ptoi_run_status_replace(&o, PTO_ERR_KERNEL, "the oldest (on rank %d, %s)", 2, "host");
        pthread_join(thread, &torn);
        EXPECT(torn == NULL);
        EXPECT_STR(before, "the first, of this rank");
        EXPECT_STR(ptoi_run_message(&o), "the oldest (on rank 2, host)");
        EXPECT_EQ(ptoi_status(&o), PTO_ERR_KERNEL);
    }
    ptoi_run_status_reset(&o);
    EXPECT_STR(ptoi_run_message(&o), "");
}
