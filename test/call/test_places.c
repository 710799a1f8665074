/* test_places.c - tensors that stay on a device between calls: what crosses is counted by the stub.  ABI stub, not run
 * on Ascend. */
#include "places.h"
#include <pthread.h>

/* ---- what crosses ------------------------------------------------------------------------------------------------ */

TEST(weights_cross_once_intermediates_never_and_the_result_when_it_is_asked_for)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING};
    enum { SIDE = MEBI >> 8 > 512 ? 4096 : 512, CALLS = 10 }; /* 64 MEBI bytes */
    const int64_t square[] = {SIDE, SIDE}, side = SIDE;
    PTOTensor *w = pto_tensor_new(NULL, PTO_F32, 2, square);
    float *weights = pto_tensor_map(w, PTO_WRITE);
    memset(weights, 0, (size_t)SIDE * SIDE * 4);
    for (int64_t i = 0; i < SIDE; i++) weights[i * SIDE + (i + 1) % SIDE] = 2;
    pto_tensor_unmap(w);
    for (size_t e = 0; e < 3; e++) {
        PTORuntime *rt = open_device(engines[e]);
        PTOTensor *x = pto_tensor_new(NULL, PTO_F32, 1, &side);
        float *at = pto_tensor_map(x, PTO_WRITE);
        for (int i = 0; i < SIDE; i++) at[i] = (float)i;
        pto_tensor_unmap(x);
        for (int i = 0; i < CALLS; i++) {
            PTOTensor *y = NULL;
            EXPECT_EQ(CALL(rt, places, "layer", PTO_T("w", w), PTO_T("x", x), PTO_R("y", &y)), PTO_OK);
            pto_tensor_release(x);
            x = y;
        }
        CROSSED(64 * MEBI + 4 * SIDE, 0);
        const float *y = pto_tensor_map(x, PTO_READ);
        for (int i = 0; i < SIDE; i++) EXPECT(y[i] == 1024 * (float)((i + CALLS) % SIDE));
        CROSSED(0, 4 * SIDE);
        EXPECT(pto_tensor_map(x, PTO_READ) == y);
        pto_tensor_unmap(x);
        pto_tensor_unmap(x);
        CROSSED(0, 0);
        pto_tensor_release(x);
        close_device(rt);
        CROSSED(0, 0); /* the host has the weights, too */
    }
    pto_tensor_release(w);
}

TEST(the_side_that_was_written_last_is_the_one_that_counts)
{
    PTORuntime *rt = open_device(PTO_ENGINE_THREADS), *host = pto_runtime_create(NULL, NULL);
    PTOTensor *a = numbers(N, 0), *b = NULL;
    PTOScalar value;
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    CROSSED(BYTES, 0);
    EXPECT_EQ(CALL(rt, places, "first", PTO_T("a", a), PTO_V(&value)), PTO_OK); /* the orchestration reads it */
    EXPECT_EQ(value.i64, 2);
    EXPECT_EQ(CALL(rt, places, "host_first", PTO_T("a", a), PTO_V(&value)), PTO_OK);
    EXPECT_EQ(value.i64, 2);
    CROSSED(0, BYTES);
    EXPECT_EQ(CALL(rt, places, "double", PTO_T("a", a), PTO_R("b", &b)), PTO_OK); /* both sides are current */
    CROSSED(0, 0);
    ((int64_t *)pto_tensor_map(a, PTO_READ_WRITE))[0] = 100; /* the host's alone */
    pto_tensor_unmap(a);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    CROSSED(BYTES, 0);
    EXPECT_EQ(CALL(host, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK); /* a run of the host, too */
    CROSSED(0, BYTES);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    CROSSED(BYTES, 0);
    EXPECT_EQ(element(a, 0), 103);
    EXPECT_EQ(element(a, 1), 6);
    EXPECT_EQ(element(b, 1), 6);
    pto_tensor_release(a);
    pto_tensor_release(b);
    pto_runtime_destroy(host);
    close_device(rt);
}

TEST(two_devices_have_a_copy_each_until_one_of_them_writes)
{
    PTORuntime *one = open_device(PTO_ENGINE_THREADS), *two = open_device(PTO_ENGINE_SERIAL);
    PTOTensor *a = numbers(N, 0), *b = NULL;
    EXPECT_EQ(CALL(one, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(CALL(two, places, "double", PTO_T("a", a), PTO_R("b", &b)), PTO_OK);
    CROSSED(2 * BYTES, BYTES); /* by way of the host */
    EXPECT_EQ(CALL(one, places, "double", PTO_T("a", a), PTO_T("b", b)), PTO_OK);
    CROSSED(0, 0);
    EXPECT_EQ(element(b, 3), 8);
    EXPECT_EQ(CALL(two, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    crossed();
    EXPECT_EQ(CALL(one, places, "double", PTO_T("a", a), PTO_T("b", b)), PTO_OK);
    CROSSED(BYTES, BYTES);
    EXPECT_EQ(element(b, 3), 10);
    pto_tensor_release(a);
    pto_tensor_release(b);
    close_device(one);
    close_device(two);
}

/* ---- every way in which the host sees the elements ---------------------------------------------------------------*/

TEST(copies_exports_detached_and_taken_memory_have_what_the_device_wrote)
{
    PTORuntime *rt = open_device(PTO_ENGINE_THREADS);
    PTOTensor *a = numbers(N, 0);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    PTOTensor *part = pto_tensor_slice(a, 0, 10, 3, 2), *copy = pto_tensor_copy(part), *kept = pto_tensor_detach(a);
    EXPECT_EQ(element(copy, 1), 13);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK); /* they part */
    EXPECT_EQ(element(kept, 10), 11);
    EXPECT_EQ(element(part, 0), 12);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", kept), PTO_I("by", 1)), PTO_OK);
    PTODetached out;
    EXPECT_EQ(pto_tensor_take(&kept, &out), PTO_OK);
    EXPECT_EQ(((int64_t *)out.address)[10], 12);
    out.release(out.context);
    /* while an address is out, the elements come back at the end of each run */
    struct DLManagedTensorVersioned *const m = pto_tensor_to_dlpack(a, 1, 0);
    EXPECT(m != NULL);
    int64_t *const at = *(int64_t **)((char *)m + 32); /* version, context, deleter, flags; the data */
    EXPECT_EQ(at[0], 2);
    crossed();
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(at[0], 3);
    at[0] = 50; /* somebody else writes it */
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(at[0], 51);
    CROSSED(2 * BYTES, 2 * BYTES);
    (*(void (**)(void *))((char *)m + 16))(m);
    pto_tensor_release(a);
    pto_tensor_release(part);
    pto_tensor_release(copy);
    /* and so do those of attached memory */
    int64_t own[4] = {1, 2, 3, 4};
    PTOTensor *mine = row(PTO_I64, own, 4);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", mine), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(own[3], 5);
    own[3] = 70;
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", mine), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(own[3], 71);
    pto_tensor_release(mine);
    close_device(rt);
}

TEST(tensors_outlive_their_device)
{
    PTORuntime *rt = open_device(PTO_ENGINE_THREADS);
    PTOTensor *a = numbers(N, 0), *gone = NULL;
    EXPECT_EQ(CALL(rt, places, "double", PTO_T("a", a), PTO_R("b", &gone)), PTO_OK);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 7)), PTO_OK);
    pto_tensor_release(gone); /* nobody asked for it */
    CROSSED(BYTES, 0);
    close_device(rt);
    CROSSED(0, BYTES);
    EXPECT_EQ(element(a, 3), 10);
    pto_tensor_release(a);
}

/* ---- short of memory ---------------------------------------------------------------------------------------------*/

TEST(what_was_not_used_for_longest_makes_room_and_is_saved_if_it_must_be)
{
    enum { EACH = 16 * MEBI, COUNT = 9 };
    PTORuntime *rt = open_device(PTO_ENGINE_THREADS);
    PTOTensor *t[COUNT];
    for (int i = 0; i < COUNT; i++) {
        t[i] = numbers(EACH / 8, 1000 * i);
        const PTOStatus status = CALL(rt, places, "add", PTO_T("a", t[i]), PTO_I("by", 1));
        if (status != PTO_OK) print_message("%s\n", pto_last_error(rt));
        EXPECT_EQ(status, PTO_OK);
    }
    struct crossed c = crossed();
    EXPECT_EQ(c.in, (int64_t)COUNT * EACH);
    EXPECT(c.out >= (COUNT - 5) * (int64_t)EACH && c.out <= (COUNT - 4) * (int64_t)EACH);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", t[COUNT - 1]), PTO_I("by", 1)), PTO_OK); /* the latest is there */
    EXPECT_EQ(crossed().in, 0);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", t[0]), PTO_I("by", 1)), PTO_OK); /* the first is not */
    EXPECT_EQ(crossed().in, EACH);
    for (int i = 0; i < COUNT; i++) {
        EXPECT_EQ(element(t[i], 5), 1000 * i + 5 + 1 + (i == 0 || i == COUNT - 1));
        pto_tensor_release(t[i]);
    }
    PTOTensor *large = numbers(DEVICE_MEMORY / 8, 0); /* more than the device has */
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", large), PTO_I("by", 1)), PTO_ERR_NOMEM);
    EXPECT_EQ(element(large, 5), 5);
    pto_tensor_release(large);
    pto_runtime_destroy(rt);
}

/* ---- failures ----------------------------------------------------------------------------------------------------*/

static uint32_t flags(const PTOTensor *t)
{
    PTODescription d;
    EXPECT_EQ(pto_tensor_describe(t, &d), PTO_OK);
    return d.flags;
}

TEST(what_a_failed_run_wrote_is_undefined_and_crosses_again)
{
    PTORuntime *rt = open_device(PTO_ENGINE_THREADS);
    PTOTensor *a = numbers(N, 0), *b = numbers(N, 0);
    EXPECT_EQ(CALL(rt, places, "fail", PTO_T("a", a)), PTO_ERR_ASSERT);
    EXPECT(flags(a) & PTO_UNDEFINED);
    EXPECT_EQ(element(a, 4), 4); /* a failed run copies nothing back */
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", b), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(CALL(rt, places, "fail", PTO_T("a", b)), PTO_ERR_ASSERT); /* the device alone has it */
    EXPECT(flags(b) & PTO_UNDEFINED);
    EXPECT(element(b, 4) >= 5);
    EXPECT_EQ(CALL(rt, places, "double", PTO_T("a", a), PTO_T("b", b)), PTO_OK);
    EXPECT(!(flags(b) & PTO_UNDEFINED));
    EXPECT_EQ(element(b, 4), 8);
    pto_tensor_release(a);
    pto_tensor_release(b);
    close_device(rt);
}

TEST(elements_that_a_failed_device_had_are_lost_and_said_to_be)
{
    PTORuntime *rt = open_device(PTO_ENGINE_THREADS);
    PTOTensor *a = numbers(N, 0), *b = numbers(N, 0);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", b), PTO_I("by", 1)), PTO_OK);
    setenv("PTO_STUB_FAIL", "aclrtMemcpy@aclInit:1", 1);
    EXPECT(pto_tensor_map(a, PTO_READ) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_DEVICE);
    unsetenv("PTO_STUB_FAIL");
    EXPECT(flags(a) & PTO_UNDEFINED);
    EXPECT(pto_tensor_map(a, PTO_READ) != NULL); /* the host's memory, whatever it has */
    pto_tensor_unmap(a);
    EXPECT(pto_tensor_copy(b) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_DEVICE);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", b), PTO_I("by", 1)), PTO_ERR_DEVICE);
    pto_tensor_release(a);
    pto_runtime_destroy(rt);
    EXPECT(flags(b) & PTO_UNDEFINED);
    pto_tensor_release(b);
}

/* ---- threads -----------------------------------------------------------------------------------------------------*/

enum { SHARED = 6, ROUNDS = 150 };
static PTOTensor *shared[SHARED];
static _Atomic int64_t added[SHARED];

/* Its own runtime, on the device or on the host; the tensors are everybody's. */
static void *use_shared(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    const PTOConfig device = {.engine = seed % 2 ? PTO_ENGINE_THREADS : PTO_ENGINE_SERIAL,
                              .backend = "ascend",
                              .kernels = PTO_TEST_MAP,
                              .heap_bytes = 1 << 16,
                              .workers = {1, 1, 1, 1}};
    PTORuntime *rt = pto_runtime_create(seed == 4 ? NULL : &device, NULL);
    bool is_good = rt != NULL;
    for (int i = 0; i < ROUNDS && is_good; i++) {
        const int which = rand_r(&seed) % SHARED;
        PTOTensor *t = pto_tensor_retain(shared[which]), *made = NULL;
        PTOScalar value;
        switch (rand_r(&seed) % 6) {
        case 0:
        case 1:
            is_good = CALL(rt, places, "add", PTO_T("a", t), PTO_I("by", 1)) == PTO_OK;
            added[which]++;
            break;
        case 2: is_good = CALL(rt, places, "double", PTO_T("a", t), PTO_R("b", &made)) == PTO_OK; break;
        case 3: is_good = CALL(rt, places, "first", PTO_T("a", t), PTO_V(&value)) == PTO_OK; break;
        case 4: {
            const int64_t *at = pto_tensor_map(t, PTO_READ);
            is_good = at && at[1] == at[0] + 1 && at[N - 1] == at[0] + N - 1;
            if (at) pto_tensor_unmap(t);
            break;
        }
        default: made = rand_r(&seed) % 2 ? pto_tensor_copy(t) : pto_tensor_detach(t); is_good = made != NULL;
        }
        if (!is_good) print_message("%s / %s\n", pto_last_error(NULL), rt ? pto_last_error(rt) : "");
        pto_tensor_release(t);
        if (made) is_good = is_good && element(made, 1) - element(made, 0) <= 2;
        pto_tensor_release(made);
    }
    pto_runtime_destroy(rt);
    return is_good ? arg : NULL;
}

TEST(threads_with_a_device_each_share_tensors)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    close_device(open_device(PTO_ENGINE_SERIAL)); /* the program is there */
    for (int i = 0; i < SHARED; i++) shared[i] = numbers(N, 0);
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, use_shared, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(thread[i], &result);
        EXPECT(result != NULL);
    }
    for (int i = 0; i < SHARED; i++) {
        EXPECT_EQ(element(shared[i], 0), added[i]);
        pto_tensor_release(shared[i]);
    }
    pto_program_close(places); /* the last test */
}
