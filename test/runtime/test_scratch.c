/* test_scratch.c - memory of a worker for a kernel: it grows and is kept, and kernels of a run that a kernel begins
 * leave the outer kernel's memory alone. */
#include "submit.h"
#include "unit.h"
#include "debug/reason.h"
#include "memory/scratch.h"
#include <pthread.h>
#include <string.h>

static const char *why(void)
{
    static char text[PTOI_REASON_BYTES];
    return ptoi_reason_take(text) ? text : "";
}

TEST(tensors_are_row_major_and_do_not_meet)
{
    PTOScratch t[] = {PTO_SCRATCH("a", char, 2, 3, 5), PTO_SCRATCH("b", double, 1, 0),
                      PTO_SCRATCH("c", double, 3, 2, 3, 4)};
    EXPECT(pto_scratch_tensors(t, 3));
    EXPECT(t[0].stride[0] == 5 && t[0].stride[1] == 1);
    EXPECT(t[2].stride[0] == 12 && t[2].stride[1] == 4 && t[2].stride[2] == 1);
    for (int i = 0; i < 3; i++) EXPECT((uintptr_t)t[i].memory % 64 == 0);
    EXPECT((char *)t[1].memory >= (char *)t[0].memory + 15);
    EXPECT((char *)t[2].memory > (char *)t[1].memory);
}

TEST(an_extent_that_cannot_be_is_said)
{
    PTOScratch negative[] = {PTO_SCRATCH("t", double, 2, 4, -1)};
    EXPECT(!pto_scratch_tensors(negative, 1));
    EXPECT(strcmp(why(), "extent 1 of its scratch tensor 't' is -1") == 0);
    PTOScratch elements[] = {PTO_SCRATCH("a", double, 1, 4), PTO_SCRATCH("t", double, 2, INT64_MAX, 2)};
    EXPECT(!pto_scratch_tensors(elements, 2));
    EXPECT(strcmp(why(), "its scratch tensor 't' is too large") == 0);
    PTOScratch bytes[] = {PTO_SCRATCH("t", double, 1, INT64_MAX / 4)};
    EXPECT(!pto_scratch_tensors(bytes, 1));
    EXPECT(strcmp(why(), "its scratch tensor 't' is too large") == 0);
    PTOScratch most[] = {PTO_SCRATCH("t", char, 1, INT64_MAX / 2 - 1), PTO_SCRATCH("u", char, 1, INT64_MAX / 2 - 1)};
    EXPECT(!pto_scratch_tensors(most, 2));
    EXPECT(strncmp(why(), "there is no memory for its scratch tensors, ", 44) == 0);
}

TEST(the_block_is_kept_and_grows)
{
    PTOScratch small[] = {PTO_SCRATCH("t", char, 1, 100)}, large[] = {PTO_SCRATCH("t", char, 1, 1 << 20)};
    EXPECT(pto_scratch_tensors(small, 1));
    const void *first = small[0].memory;
    EXPECT(pto_scratch_tensors(small, 1) && small[0].memory == first);
    EXPECT(pto_scratch_tensors(large, 1));
    memset(large[0].memory, 2, 1 << 20);
    EXPECT(pto_scratch_tensors(small, 1) && small[0].memory == large[0].memory);
    EXPECT(pto_scratch(1 << 20) == large[0].memory);
    EXPECT(pto_scratch(SIZE_MAX / 2 + 2) == NULL); /* no power of two is so large */
}

static void *no_bytes(void *arg)
{
    *(bool *)arg = pto_scratch(0) != NULL;
    return NULL;
}

TEST(no_bytes_are_no_failure)
{
    pthread_t thread; /* which has no block yet */
    bool has = false;
    EXPECT(pthread_create(&thread, NULL, no_bytes, &has) == 0 && pthread_join(thread, NULL) == 0);
    EXPECT(has);
}

/* ---- a kernel that runs a runtime of its own, on the same thread ---- */

static int k_tensors(const PTOArg *a)
{
    PTOScratch t[] = {PTO_SCRATCH("t", char, 1, 256)};
    if (!pto_scratch_tensors(t, 1)) return 1;
    memset(t[0].memory, 7, 256);
    *(int *)a[0].ptr += ((char *)t[0].memory)[255];
    return 0;
}
static int k_bytes(const PTOArg *a)
{
    char *memory = pto_scratch(1 << 20);
    if (!memory) return 1;
    memset(memory, 7, 1 << 20);
    *(int *)a[0].ptr += memory[255];
    return 0;
}
static const PTOKernel tensors = {.name = "tensors", .worker = PTO_WORKER_VECTOR, .fn = k_tensors};
static const PTOKernel bytes = {.name = "bytes", .worker = PTO_WORKER_VECTOR, .fn = k_bytes};

static void submit_inner(PTORuntime *rt, void *arg)
{
    SUBMIT(rt, &tensors, PTO_INOUT(arg, 0, sizeof(int)));
    SUBMIT(rt, &bytes, PTO_INOUT(arg, 0, sizeof(int)));
}

/* Twice: what the first inner run leaves behind must not be the second one's. */
static int k_outer(const PTOArg *a)
{
    PTOScratch t[] = {PTO_SCRATCH("t", char, 1, 256)};
    if (!pto_scratch_tensors(t, 1)) return 1;
    memset(t[0].memory, 1, 256);
    for (int i = 0; i < 2; i++) {
        PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
        const PTOStatus status = rt ? pto_runtime_run(rt, submit_inner, a[0].ptr) : PTO_ERR_NOMEM;
        pto_runtime_destroy(rt);
        if (status != PTO_OK) return 1;
    }
    for (int i = 0; i < 256; i++)
        if (((char *)t[0].memory)[i] != 1) return 2;
    *(int *)a[0].ptr += 1;
    return 0;
}
static const PTOKernel outer = {.name = "outer", .worker = PTO_WORKER_VECTOR, .fn = k_outer};

static void submit_outer(PTORuntime *rt, void *arg)
{
    for (int i = 0; i < 3; i++) SUBMIT(rt, &outer, PTO_INOUT(arg, 0, sizeof(int)));
    SUBMIT(rt, &tensors, PTO_INOUT(arg, 0, sizeof(int)));
}

TEST(a_run_inside_of_a_kernel_has_memory_of_its_own)
{
    static const PTOConfig configs[] = {{.engine = PTO_ENGINE_SERIAL},
                                        {.engine = PTO_ENGINE_THREADS},
                                        {.engine = PTO_ENGINE_THREADS, .always_defer = true},
                                        {.engine = PTO_ENGINE_THREADS, .checked = true},
                                        {.engine = PTO_ENGINE_TIMING}};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        int sum = 0;
        PTORuntime *rt = pto_runtime_create(&configs[i], NULL);
        EXPECT_EQ(pto_runtime_run(rt, submit_outer, &sum), PTO_OK);
        pto_runtime_destroy(rt);
        EXPECT_EQ(sum, 3 * (4 * 7 + 1) + 7);
    }
}

TEST(runs_of_one_thread_use_one_block)
{
    int sum = 0;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    const void *kept = pto_scratch(1 << 20);
    ptoi_scratch_end_run((struct scratch){0}); /* no kernel has it */
    for (int i = 0; i < 3; i++) EXPECT_EQ(pto_runtime_run(rt, submit_inner, &sum), PTO_OK);
    EXPECT(pto_scratch(1) == kept);
    pto_runtime_destroy(rt);
}

/* ---- a checked run ---- */

static int k_spoil(const PTOArg *a)
{
    PTOScratch t[] = {PTO_SCRATCH("t", char, 1, 10), PTO_SCRATCH("u", int, 1, 3)};
    if (!pto_scratch_tensors(t, 2)) return 1;
    if (((unsigned char *)t[0].memory)[9] != 0xE5) return 2;
    ((int *)t[1].memory)[a[1].value.i64] = 5;
    return 0;
}
static const PTOKernel spoil = {.name = "spoil", .worker = PTO_WORKER_VECTOR, .fn = k_spoil};

static void submit_spoil(PTORuntime *rt, void *arg)
{
    SUBMIT(rt, &spoil, PTO_INOUT(arg, 0, sizeof(int)), PTO_SCALAR((int64_t)2));
    SUBMIT(rt, &spoil, PTO_INOUT(arg, 0, sizeof(int)), PTO_SCALAR((int64_t)3));
}

TEST(a_checked_run_finds_a_write_behind_a_tensor)
{
    int nothing = 0;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_THREADS, .checked = true}, NULL);
    EXPECT_EQ(pto_runtime_run(rt, submit_spoil, &nothing), PTO_ERR_KERNEL);
    EXPECT(strstr(pto_last_error(rt), "'spoil' failed: it wrote behind its scratch tensor 'u' (task 1)") != NULL);
    pto_runtime_destroy(rt);
}

/* ---- threads ---- */

static void *use(void *arg)
{
    for (int i = 0; i < 100; i++) {
        PTOScratch t[] = {PTO_SCRATCH("t", char, 1, 4096)};
        if (!pto_scratch_tensors(t, 1)) return arg;
        memset(t[0].memory, i, 4096);
    }
    return NULL;
}

TEST(what_a_thread_keeps_ends_with_it)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) EXPECT_EQ(pthread_create(&thread[i], NULL, use, thread), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        EXPECT_EQ(pthread_join(thread[i], &failed), 0);
        EXPECT(failed == NULL);
    }
}
