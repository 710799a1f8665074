/* test_pins.c - the memory of a run: readers share, a writer is alone, a set is bound whole or not at all, and nothing
 * dies before its run. */
#include "tensors.h"
#include "registry/pins.h"
#include "shared/caller.h"
#include <pthread.h>
#include <pto/pto_program.h>
#include <unistd.h>

static PTOStatus try_one(PTOTensor *t, PTOAccess access)
{
    struct pin pin = {.tensor = t, .access = access};
    const PTOStatus status = ptoi_pins_take(&pin, 1, NULL, NULL);
    if (status == PTO_OK)
        ptoi_pins_drop(&pin, 1, false);
    else
        EXPECT(strlen(pto_last_error(NULL)) > 10);
    return status;
}

TEST(readers_share_and_a_writer_is_alone)
{
    PTOTensor *t = numbers(1, SHAPE(8)), *half = pto_tensor_slice(t, 0, 4, 4, 1);
    struct pin read = {.tensor = t, .access = PTO_READ}, write = {.tensor = half, .access = PTO_WRITE};
    EXPECT_EQ(ptoi_pins_take(&read, 1, NULL, NULL), PTO_OK);
    EXPECT_EQ(describe(half).pins, 1);
    EXPECT_EQ(describe(half).tensors, 2);
    EXPECT_EQ(try_one(half, PTO_READ), PTO_OK);
    EXPECT_EQ(try_one(half, PTO_WRITE), PTO_ERR_BUSY);
    ptoi_pins_drop(&read, 1, false);
    EXPECT_EQ(ptoi_pins_take(&write, 1, NULL, NULL), PTO_OK);
    EXPECT_EQ(*(int64_t *)write.address, 4);
    EXPECT_EQ(try_one(t, PTO_READ), PTO_ERR_BUSY);
    EXPECT_EQ(try_one(t, PTO_READ_WRITE), PTO_ERR_BUSY);
    ptoi_pins_drop(&write, 1, false);
    EXPECT_EQ(describe(t).pins, 0);
    pto_tensor_release(t);
    pto_tensor_release(half);
}

TEST(all_or_none)
{
    PTOTensor *a = numbers(1, SHAPE(2)), *b = numbers(1, SHAPE(2)), *e = pto_tensor_slice(a, 0, 0, 0, 1);
    struct pin busy = {.tensor = b, .access = PTO_READ_WRITE};
    EXPECT_EQ(ptoi_pins_take(&busy, 1, NULL, NULL), PTO_OK);
    struct pin set[4] = {{.tensor = a, .access = PTO_WRITE},
                         {.tensor = NULL},
                         {.tensor = e, .access = PTO_WRITE},
                         {.tensor = b, .access = PTO_READ}};
    int which = -1;
    EXPECT_EQ(ptoi_pins_take(set, 4, NULL, &which), PTO_ERR_BUSY);
    EXPECT_EQ(which, 3);
    EXPECT_EQ(describe(a).pins, 0);
    ptoi_pins_drop(&busy, 1, false);
    EXPECT_EQ(ptoi_pins_take(set, 4, NULL, &which), PTO_OK);
    EXPECT(set[0].address && !set[1].address && !set[2].address && set[3].address);
    ptoi_pins_drop(set, 4, false);
    PTOTensor *wide = pto_tensor_broadcast(a, 2, SHAPE(3, 2));
    set[1].tensor = wide;
    set[1].access = PTO_WRITE;
    EXPECT_EQ(ptoi_pins_take(set, 4, NULL, &which), PTO_ERR_READ_ONLY);
    EXPECT_EQ(which, 1);
    PTOTensor *all[] = {a, b, e, wide};
    for (int i = 0; i < 4; i++) pto_tensor_release(all[i]);
    EXPECT_EQ(living(), 0);
}

TEST(arguments_of_one_call_that_overlap_are_its_own_affair)
{
    PTOTensor *a = numbers(1, SHAPE(2)), *b = pto_tensor_share(a);
    struct pin set[3] = {
        {.tensor = a, .access = PTO_READ}, {.tensor = b, .access = PTO_WRITE}, {.tensor = a, .access = PTO_READ}};
    EXPECT_EQ(ptoi_pins_take(set, 3, NULL, NULL), PTO_OK);
    EXPECT_EQ(describe(a).pins, 1);
    EXPECT_EQ(try_one(a, PTO_READ), PTO_ERR_BUSY);
    ptoi_pins_drop(set, 3, false);
    EXPECT_EQ(try_one(a, PTO_WRITE), PTO_OK);
    pto_tensor_release(a);
    pto_tensor_release(b);
}

TEST(attached_memory_whose_indices_overlap_is_not_written)
{
    struct owned o = own(8);
    PTOForeign f = foreign(&o, 8, 2, SHAPE(4, 3));
    f.strides = SHAPE(1, 2);
    PTOTensor *t = pto_tensor_attach(&f);
    EXPECT_EQ(try_one(t, PTO_READ), PTO_OK);
    EXPECT_EQ(try_one(t, PTO_WRITE), PTO_ERR_OVERLAP);
    EXPECT(pto_tensor_map(t, PTO_READ_WRITE) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_OVERLAP);
    pto_tensor_release(t);
    EXPECT_EQ(o.released, 1);
}

TEST(a_tensor_that_is_released_during_a_run_dies_at_its_end) /* G4, K15 */
{
    struct owned o = own(4);
    const PTOForeign f = foreign(&o, 4, 1, SHAPE(4));
    PTOTensor *t = pto_tensor_attach(&f);
    struct pin pin = {.tensor = t, .access = PTO_READ_WRITE};
    EXPECT_EQ(ptoi_pins_take(&pin, 1, NULL, NULL), PTO_OK);
    pto_tensor_release(t);
    EXPECT_EQ(o.released, 0);
    *(int64_t *)pin.address = 3;
    ptoi_pins_drop(&pin, 1, true);
    EXPECT_EQ(o.released, 1);
    EXPECT_EQ(living(), 0);
}

TEST(what_a_failed_run_may_have_written_is_undefined_until_it_is_written_whole)
{
    PTOTensor *t = numbers(1, SHAPE(4)), *part = pto_tensor_slice(t, 0, 0, 2, 1);
    struct pin set[2] = {{.tensor = part, .access = PTO_WRITE}};
    EXPECT_EQ(ptoi_pins_take(set, 1, NULL, NULL), PTO_OK);
    ptoi_pins_drop(set, 1, true);
    EXPECT_EQ(describe(t).flags, PTO_UNDEFINED);
    EXPECT_EQ(ptoi_pins_take(set, 1, NULL, NULL), PTO_OK);
    ptoi_pins_drop(set, 1, false);
    EXPECT_EQ(describe(t).flags, PTO_UNDEFINED); /* a part only */
    PTOTensor *copy = pto_tensor_copy(t);
    EXPECT_EQ(describe(copy).flags, PTO_UNDEFINED);
    struct pin whole = {.tensor = t, .access = PTO_WRITE};
    EXPECT_EQ(ptoi_pins_take(&whole, 1, NULL, NULL), PTO_OK);
    ptoi_pins_drop(&whole, 1, false);
    EXPECT_EQ(describe(t).flags, 0);
    pto_tensor_map(copy, PTO_WRITE);
    EXPECT_EQ(describe(copy).flags, 0);
    pto_tensor_unmap(copy);
    struct pin read = {.tensor = t, .access = PTO_READ};
    EXPECT_EQ(ptoi_pins_take(&read, 1, NULL, NULL), PTO_OK);
    ptoi_pins_drop(&read, 1, true);
    EXPECT_EQ(describe(t).flags, 0);
    PTOTensor *all[] = {t, part, copy};
    for (int i = 0; i < 3; i++) pto_tensor_release(all[i]);
}

/* ---- maps and runs ----------------------------------------------------------------------------------------------- */

TEST(a_map_of_the_calling_thread_is_busy_and_not_waited_for)
{
    PTOTensor *t = numbers(1, SHAPE(4));
    struct pin pin = {.tensor = t, .access = PTO_WRITE};
    EXPECT(pto_tensor_map(t, PTO_READ) != NULL);
    EXPECT_EQ(try_one(t, PTO_READ), PTO_OK);
    EXPECT_EQ(ptoi_pins_take(&pin, 1, MAY_WAIT, NULL), PTO_ERR_BUSY);
    EXPECT(pto_tensor_map(t, PTO_READ_WRITE) != NULL); /* maps count */
    EXPECT_EQ(describe(t).pins, 2);
    EXPECT_EQ(try_one(t, PTO_READ), PTO_ERR_BUSY);
    pto_tensor_unmap(t);
    EXPECT_EQ(try_one(t, PTO_READ), PTO_OK);
    pto_tensor_unmap(t);
    EXPECT_EQ(try_one(t, PTO_WRITE), PTO_OK);
    pto_tensor_unmap(t);
    EXPECT_EQ(pto_last_status(), PTO_ERR_MISUSE);
    pto_tensor_release(t);
}

TEST(a_thread_in_a_run_does_not_wait_for_runs)
{
    PTOTensor *t = numbers(1, SHAPE(4));
    struct pin pin = {.tensor = t, .access = PTO_READ_WRITE};
    EXPECT_EQ(ptoi_pins_take(&pin, 1, MAY_WAIT, NULL), PTO_OK);
    int run;
    const void *before = ptoi_orchestrate(&run);
    EXPECT(pto_tensor_map(t, PTO_READ) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_BUSY);
    EXPECT(pto_tensor_copy(t) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_BUSY);
    ptoi_orchestrate(before);
    ptoi_pins_drop(&pin, 1, false);
    pto_tensor_release(t);
}

static void *map_in_vain(void *t)
{
    return (void *)(intptr_t)(pto_tensor_map(t, PTO_READ) || pto_tensor_copy(t) ? PTO_OK : pto_last_status());
}

/* The tensor's pointer is a scalar. */
static int maps_on_a_thread(const PTOArg *args)
{
    pthread_t thread;
    void *status = NULL;
    pthread_create(&thread, NULL, map_in_vain, (void *)(intptr_t)args[0].value.i64);
    pthread_join(thread, &status);
    return (int)(intptr_t)status == PTO_ERR_BUSY ? 0 : 1;
}
static const PTOKernel on_a_thread = {.name = "on a thread", .worker = PTO_WORKER_VECTOR, .fn = maps_on_a_thread};

static void submit_map(PTORuntime *rt, void *t) { PTO_SUBMIT(rt, &on_a_thread, PTO_SCALAR((int64_t)(intptr_t)t)); }

TEST(a_thread_that_a_kernel_of_a_worker_process_creates_does_not_wait_for_the_run)
{
    PTOTensor *t = numbers(1, SHAPE(4));
    struct pin pin = {.tensor = t, .access = PTO_READ_WRITE};
    EXPECT_EQ(ptoi_pins_take(&pin, 1, MAY_WAIT, NULL), PTO_OK);
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_PROCESS}, NULL);
    EXPECT(rt);
    EXPECT_EQ(pto_run_entry(rt, submit_map, t), PTO_OK);
    pto_runtime_destroy(rt);
    ptoi_pins_drop(&pin, 1, false);
    pto_tensor_release(t);
}

static void *map_late(void *t) { return pto_tensor_map(t, PTO_READ); }

TEST(a_map_waits_for_the_run_and_the_run_for_the_map)
{
    PTOTensor *t = numbers(1, SHAPE(4));
    struct pin pin = {.tensor = t, .access = PTO_READ_WRITE};
    pthread_t thread;
    void *at;
    EXPECT_EQ(ptoi_pins_take(&pin, 1, MAY_WAIT, NULL), PTO_OK);
    pthread_create(&thread, NULL, map_late, t);
    usleep(20000);
    *(int64_t *)pin.address = 42;
    ptoi_pins_drop(&pin, 1, false);
    pthread_join(thread, &at);
    EXPECT_EQ(*(int64_t *)at, 42); /* the map of a thread that ended is still open */
    EXPECT_EQ(try_one(t, PTO_WRITE), PTO_ERR_BUSY);
    pto_tensor_unmap(t); /* and another thread may end it */
    EXPECT_EQ(try_one(t, PTO_WRITE), PTO_OK);
    pto_tensor_release(t);
}

static _Atomic uint32_t cancels;

static void *take_late(void *t)
{
    const struct pins_wait wait = {&cancels, 0};
    struct pin pin = {.tensor = t, .access = PTO_READ};
    return (void *)(intptr_t)ptoi_pins_take(&pin, 1, &wait, NULL);
}

TEST(who_waits_for_a_run_can_be_cancelled)
{
    PTOTensor *t = numbers(1, SHAPE(4));
    struct pin pin = {.tensor = t, .access = PTO_READ_WRITE};
    pthread_t thread;
    void *status;
    EXPECT_EQ(ptoi_pins_take(&pin, 1, MAY_WAIT, NULL), PTO_OK);
    for (int late = 0; late < 2; late++) { /* before it waits, and while it does */
        cancels = 1 - (uint32_t)late;      /* W under the lock, but for this one */
        pthread_create(&thread, NULL, take_late, t);
        usleep(late * 20000);
        ptoi_pins_cancel(&cancels);
        pthread_join(thread, &status);
        EXPECT_EQ((intptr_t)status, PTO_ERR_CANCELLED);
        EXPECT_EQ(describe(t).pins, 1);
    }
    ptoi_pins_drop(&pin, 1, false);
    pto_tensor_release(t);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { CALLERS = 4, TENSORS = 5, CALLS = 3000 };
static PTOTensor *all[TENSORS];
static _Atomic int writers[TENSORS], readers[TENSORS];

static void *call_often(void *arg)
{
    uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)((intptr_t)arg + 1);
    intptr_t bad = 0;
    for (int i = 0; i < CALLS; i++) {
        struct pin set[3] = {0};
        for (int j = 0; j < 3; j++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            const int at = (int)((state >> 8) % TENSORS);
            bool again = false;
            for (int k = 0; k < j; k++) again |= set[k].tensor == all[at];
            if (!again) set[j] = (struct pin){.tensor = all[at], .access = state % 3 ? PTO_READ : PTO_READ_WRITE};
        }
        if (ptoi_pins_take(set, 3, MAY_WAIT, NULL) != PTO_OK) return (void *)(intptr_t)-1;
        for (int j = 0; j < 3; j++)
            for (int at = 0; at < TENSORS; at++) {
                if (set[j].tensor != all[at]) continue;
                if (set[j].access == PTO_READ) {
                    readers[at]++;
                    bad += writers[at] != 0;
                } else {
                    bad += writers[at]++ != 0 || readers[at] != 0;
                    ++*(int64_t *)set[j].address; /* plain: TSan looks */
                }
            }
        for (int j = 0; j < 3; j++)
            for (int at = 0; at < TENSORS; at++)
                if (set[j].tensor == all[at]) --*(set[j].access == PTO_READ ? &readers[at] : &writers[at]);
        ptoi_pins_drop(set, 3, false);
    }
    return (void *)bad;
}

TEST(calls_of_many_threads_wait_for_each_other_and_end)
{
    pthread_t threads[CALLERS];
    for (int i = 0; i < TENSORS; i++) all[i] = numbers(1, SHAPE(2));
    for (intptr_t i = 0; i < CALLERS; i++) pthread_create(&threads[i], NULL, call_often, (void *)i);
    for (int i = 0; i < CALLERS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        EXPECT(bad == NULL);
    }
    for (int i = 0; i < TENSORS; i++) pto_tensor_release(all[i]);
    EXPECT_EQ(living(), 0);
}
