/* test_call_kernel.c - calls of a kernel: none waits for the run of the kernel, which would wait for the kernel. */
#include "calls.h"
#include <unistd.h>

static PTOTensor *written; /* by the run */
static PTORuntime *own, *other;
static bool is_split; /* the kernel runs in another process, which knows no runtime */

static int refused(PTOStatus status) { return status == PTO_ERR_BUSY && strstr(pto_last_error(NULL), "in a run"); }
static int none(const void *made) { return !made && refused(pto_last_status()); }

static int wrong;
#define ASK(condition)                                                                                                 \
    do {                                                                                                               \
        if (!(condition)) wrong++, print_message("%s: %s\n", #condition, pto_last_error(NULL));                        \
    } while (0)

/* In the kernel. */
static int ask_for_tensors(void)
{
    PTOTensor *t = pto_tensor_retain(written), *apart = pto_tensor_detach(t);
    PTODetached out;
    wrong = 0;
    ASK(none(pto_tensor_map(t, PTO_READ)));
    ASK(none(pto_tensor_map(t, PTO_WRITE)));
    ASK(none(pto_tensor_map(t, PTO_READ_WRITE)));
    ASK(none(pto_tensor_copy(t)));
    ASK(none(pto_tensor_to_dlpack(apart, 1, 0)));
    ASK(refused(pto_tensor_writable(&t)));
    ASK(refused(pto_tensor_take(&t, &out)));
    ASK(t == written);
    ASK(is_split || CALL(other, numbers, "total", PTO_T("a", t)) == PTO_ERR_BUSY);
    ASK(is_split || CALL(own, numbers, "total", PTO_T("a", t)) == PTO_ERR_STATE);
    pto_tensor_release(apart);
    pto_tensor_release(t);
    return wrong;
}

TEST(a_tensor_that_its_run_writes_is_busy_in_a_kernel)
{
    begin();
    float x[] = {1};
    static const PTOConfig configs[] = {
        {.engine = PTO_ENGINE_SERIAL},  {.engine = PTO_ENGINE_SERIAL, .always_defer = true},
        {.engine = PTO_ENGINE_THREADS}, {.engine = PTO_ENGINE_THREADS, .always_defer = true},
        {.engine = PTO_ENGINE_TIMING},  {.engine = APART}};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        own = pto_runtime_create(&configs[i], NULL);
        other = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
        written = row(PTO_F32, x, 1);
        is_split = configs[i].engine == PTO_ENGINE_PROCESS;
        pto_program_close(
            pto_program_open("others.so")); /* then another process begins with the run: it knows the tensor */
        const PTOArgument f = PTO_I("f", (int64_t)(intptr_t)ask_for_tensors);
        alarm(60);
        EXPECT_EQ(CALL(own, numbers, "asks", PTO_T("a", written), f), PTO_OK);
        alarm(0);
        EXPECT_EQ((int)x[0], 0);
        pto_tensor_release(written);
        pto_runtime_destroy(other);
        pto_runtime_destroy(own);
    }
}

TEST(the_program_is_closed)
{
    begin();
    end();
}
