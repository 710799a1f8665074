/* test_call_closed.c - programs that are closed while they run or after it, and programs that take their place. */
#include "calls.h"
#include "host/loaded.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int64_t first_of(PTORuntime *of, const char *path)
{
    PTOLoaded *const program = pto_program_open(path);
    PTOTensor *y = NULL;
    EXPECT(program != NULL);
    EXPECT_EQ(CALL(of, program, "f", PTO_R("y", &y), PTO_I("N", 4), PTO_I("scale", 21)), PTO_OK);
    const int64_t first = ((const int64_t *)pto_tensor_map(y, PTO_READ))[0];
    pto_tensor_unmap(y);
    pto_tensor_release(y);
    pto_program_close(program);
    return first;
}

/* Of two that lie at the same address, one of which was there when the runtime was created, too. */
TEST(every_engine_runs_the_program_that_is_open_now)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, APART};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        PTOLoaded *const early = pto_program_open("others.so");
        PTORuntime *const other = pto_runtime_create(&(PTOConfig){.engine = engines[i], .heap_bytes = 1 << 20}, NULL);
        pto_program_close(early);
        for (int n = 0; n < 2; n++) {
            EXPECT_EQ(first_of(other, "twice.so"), 42);
            EXPECT_EQ(first_of(other, "others.so"), 21);
        }
        pto_runtime_destroy(other);
    }
}

static void fill_once(PTORuntime *of, PTOTensor *y)
{
    PTOLoaded *const program = pto_program_open("others.so");
    EXPECT_EQ(CALL(of, program, "f", PTO_T("y", y), PTO_I("scale", 21)), PTO_OK);
    pto_program_close(program);
}

TEST(statistics_of_a_run_outlive_its_program)
{
    static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING, APART};
    const int64_t length = 4;
    PTOTensor *const y = pto_tensor_new(NULL, PTO_I64, 1, &length);
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        PTORuntime *const other = pto_runtime_create(&(PTOConfig){.engine = engines[i], .heap_bytes = 1 << 20}, NULL);
        for (int n = 0; n < 8; n++) fill_once(other, y);
        const PTORunStats *const s = pto_get_run_stats(other);
        EXPECT(s->tasks == 1 && s->worker_tasks[PTO_WORKER_VECTOR] == 1);
        EXPECT_EQ(pto_get_run_stats(other)->worker_tasks[PTO_WORKER_VECTOR], 1);
        pto_runtime_destroy(other);
    }
    pto_tensor_release(y);
}

/* What the two reports say of the last run that name parts of its program. */
static char *reports_of(PTORuntime *of)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = open_memstream(&text, &bytes);
    pto_write_flow_stats(of, out);
    pto_write_pinned(of, out);
    fclose(out);
    return text;
}

TEST(reports_of_a_run_outlive_its_program)
{
    begin();
    float x[4] = {0}, y[4] = {0};
    PTOTensor *const tx = row(PTO_F32, x, 4), *const ty = row(PTO_F32, y, 4);
    for (int checked = 0; checked < 2; checked++) {
        PTORuntime *const other =
            pto_runtime_create(&(PTOConfig){.checked = checked, .time_causes = !checked, .always_defer = true}, NULL);
        PTOLoaded *const program = pto_program_open("reported.so");
        char *before = NULL;
        for (int tries = 0; tries < 100 && (!before || !strstr(before, "reported.pto")); tries++) {
            free(before); /* on a busy machine the kernel had ended before the await */
            EXPECT_EQ(CALL(other, program, "f", PTO_T("x", tx), PTO_T("y", ty)), PTO_OK);
            before = reports_of(other);
        }
        EXPECT(strstr(before, "reported.pto") && (!checked || strstr(before, "outlived the scope")));
        pto_program_close(program);
        char *const after = reports_of(other);
        EXPECT_STR(after, before);
        EXPECT_EQ(CALL(other, numbers, "f", PTO_I("none", 4)), PTO_ERR_ARGUMENT); /* which is no run */
        char *const still = reports_of(other);
        EXPECT_STR(still, before);
        pto_runtime_destroy(other);
        free(before);
        free(after);
        free(still);
    }
    pto_tensor_release(tx);
    pto_tensor_release(ty);
}

static PTOStatus waiting;
static PTOLoaded *waited;
static float word;

static void *wait_for_long(void *arg)
{
    PTORuntime *own = arg;
    PTOTensor *t = row(PTO_F32, &word, 1);
    do {
        waiting = CALL(own, waited, "wait", PTO_T("a", t), PTO_I("n", 100000));
    } while (waiting == PTO_ERR_STATE); /* the main thread asked at that moment */
    pto_tensor_release(t);
    return NULL;
}

static bool is_busy(PTORuntime *own) { return pto_program_call(own, waited, "wait", NULL, 0) == PTO_ERR_STATE; }

TEST(a_call_is_cancelled_and_its_program_may_be_closed_meanwhile)
{
    PTORuntime *own = pto_runtime_create(&(PTOConfig){.always_defer = true}, NULL);
    pthread_t thread;
    waited = pto_program_open("numbers.so");
    pthread_create(&thread, NULL, wait_for_long, own);
    while (!is_busy(own)) usleep(100);
    EXPECT_STR(pto_last_error(NULL), "pto_program_call: another thread uses this runtime");
    pto_program_close(waited); /* the call has it, and so has `numbers` of the other tests */
    usleep(2000);
    pto_cancel(own); /* once, whether the run of the call has begun or not */
    pthread_join(thread, NULL);
    EXPECT_EQ(waiting, PTO_ERR_CANCELLED);
    EXPECT_STR(pto_last_error(own), "the run was cancelled");
    pto_runtime_destroy(own);
}

static PTOTensor *mapped;
static void *call_with_mapped(void *arg)
{
    do {
        waiting = CALL(arg, numbers, "total", PTO_T("a", mapped));
    } while (waiting == PTO_ERR_STATE); /* likewise */
    return NULL;
}

/* The run that the destroy would disturb has not begun: the call waits for a tensor, and nothing else would end it. */
TEST(a_destroy_ends_a_call_that_waits_for_a_tensor)
{
    begin();
    PTORuntime *own = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    float x = 0;
    pthread_t thread;
    mapped = row(PTO_F32, &x, 1);
    EXPECT(pto_tensor_map(mapped, PTO_READ_WRITE) != NULL);
    pthread_create(&thread, NULL, call_with_mapped, own);
    while (pto_program_call(own, numbers, "total", NULL, 0) != PTO_ERR_STATE) usleep(100);
    usleep(2000);
    pto_runtime_destroy(own);
    EXPECT(strstr(pto_last_error(NULL), "pto_runtime_destroy during a run") != NULL);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    const int late = pthread_timedjoin_np(thread, NULL, &until);
    pto_tensor_unmap(mapped);
    if (late) pthread_join(thread, NULL);
    EXPECT_EQ(late, 0);
    EXPECT_EQ(waiting, PTO_ERR_CANCELLED);
    pto_tensor_release(mapped);
    pto_runtime_destroy(own);
}

static PTOStatus (*run_entry)(PTORuntime *own, const PTOCall *call);
static PTOStatus cancel_and_run(PTORuntime *own, const PTOCall *call)
{
    pto_cancel(own);
    return run_entry(own, call);
}

/* What numbers.so has, but the call is cancelled when all is ready for its run. */
TEST(a_cancel_between_the_beginning_of_a_call_and_that_of_its_run_ends_the_call)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL};
    PTOLoaded *const loaded = pto_program_open("others.so");
    EXPECT(loaded != NULL);
    const PTOProgram *const program = loaded->program;
    EXPECT_EQ(program->entry_count, 1);
    PTOEntry entry = program->entries[0];
    PTOProgram cancelled = *program;
    cancelled.entries = &entry;
    run_entry = entry.run;
    entry.run = cancel_and_run;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        PTORuntime *own = pto_runtime_create(&(PTOConfig){.engine = engines[i]}, NULL);
        loaded->program = &cancelled;
        EXPECT_EQ(CALL(own, loaded, NULL, PTO_I("scale", 8), PTO_I("N", 4)), PTO_ERR_CANCELLED);
        EXPECT_EQ(pto_runtime_status(own), PTO_ERR_CANCELLED);
        EXPECT_STR(pto_last_error(own), "the run was cancelled");
        loaded->program = program;
        pto_cancel(own);
        EXPECT_EQ(CALL(own, loaded, NULL, PTO_I("scale", 8), PTO_I("N", 4)), PTO_OK);
        pto_runtime_destroy(own);
    }
    pto_program_close(loaded);
}

TEST(what_is_recorded_outlives_the_program)
{
    PTORuntime *own = pto_runtime_create(&(PTOConfig){.record_tasks = 100}, NULL);
    PTOLoaded *others = pto_program_open("others.so");
    EXPECT_EQ(CALL(own, others, NULL, PTO_I("scale", 8), PTO_I("N", 4)), PTO_OK);
    pto_program_close(others);
    EXPECT_EQ(pto_runtime_write_trace(own, "trace.json"), PTO_OK);
    pto_runtime_destroy(own);
}

static void expect_misuse(const char *text)
{
    EXPECT_EQ(pto_last_status(), PTO_ERR_MISUSE);
    EXPECT_STR(pto_last_error(NULL), text);
}

TEST(the_use_of_a_closed_program_is_misuse)
{
    PTORuntime *own = pto_runtime_create(NULL, NULL);
    PTOLoaded *const program = pto_program_open("others.so"), *many[40];
    PTOSignature s;
    PTOTensor *y = (PTOTensor *)own;
    pto_program_close(program);
    for (int n = 0; n < 2; n++) {
        pto_program_close(program);
        expect_misuse("pto_program_close of a program that was closed");
        EXPECT_EQ(pto_program_describe(program, NULL, &s), PTO_ERR_MISUSE);
        expect_misuse("pto_program_describe of a program that was closed");
        EXPECT_EQ(CALL(own, program, NULL, PTO_I("scale", 8), PTO_I("N", 4), PTO_R("y", &y)), PTO_ERR_MISUSE);
        expect_misuse("pto_program_call of a program that was closed");
        EXPECT(y == NULL);
        /* also while the object is loaded for others */
        for (size_t i = 0; i < sizeof many / sizeof *many; i++) EXPECT((many[i] = pto_program_open("others.so")));
        for (size_t i = 0; i < sizeof many / sizeof *many; i++) pto_program_close(many[i]);
        EXPECT_EQ(pto_program_describe(program, NULL, &s), PTO_ERR_MISUSE);
    }
    pto_runtime_destroy(own);
}

TEST(many_programs_are_opened_and_closed_one_after_another)
{
    PTOSignature s;
    for (int i = 0; i < 500; i++) {
        PTOLoaded *const program = pto_program_open(i % 2 ? "others.so" : "twice.so");
        EXPECT(program && pto_program_describe(program, NULL, &s) == PTO_OK);
        EXPECT(pto_program_open("missing.so") == NULL);
        pto_program_close(program);
    }
}

TEST(the_program_is_closed)
{
    begin();
    end();
}
