/* test_call_refused.c - calls whose arguments mean nothing, and calls for whose results there is no memory. */
#include "calls.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* A map of another thread, until the call is over; a call that waits for it is not waited for forever. */
struct holding {
    PTOTensor *tensor;
    sem_t has_map;
    _Atomic bool is_over;
};

static void *hold(void *arg)
{
    struct holding *h = arg;
    if (!pto_tensor_map(h->tensor, PTO_READ_WRITE)) abort();
    sem_post(&h->has_map);
    for (int ms = 0; ms < 2000 && !atomic_load(&h->is_over); ms++) usleep(1000);
    pto_tensor_unmap(h->tensor);
    return NULL;
}

TEST(places_for_results_and_flags_that_mean_nothing_are_refused)
{
    begin();
    PTOScalar scalar;
    const int argument = PTO_COMPLAINT_ARGUMENT;
    const PTOArgument n = PTO_I("N", 1), none = PTO_R("y", NULL);
    float x[3] = {0};
    PTOTensor *tx = row(PTO_F32, x, 3);
    REFUSED(PTO_ERR_ARGUMENT, argument, "PTO_V: 'f' returns no scalar", CALL(rt, numbers, "f", n, PTO_V(&scalar)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "PTO_R of 'y' has no variable", CALL(rt, numbers, "f", n, none));
    const PTOArgument half[] = {PTO_T("a", tx), PTO_I("n", 1), PTO_F("x", 1), PTO_I("big", 0)};
    REFUSED(PTO_ERR_ARGUMENT, argument, "PTO_V has no variable",
            CALL(rt, numbers, "half", half[0], half[1], half[2], half[3], PTO_V(NULL)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'PTO_V' is given twice",
            CALL(rt, numbers, "half", half[0], half[1], half[2], half[3], PTO_V(&scalar), PTO_V(&scalar)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "PTO_CALL_FLAGS has unknown flags, 65",
            CALL(rt, numbers, "f", n, PTO_CALL_FLAGS(64 | PTO_CALL_NO_WAIT)));
    PTOTensor *made = NULL;
    PTOArgument unknown = PTO_T("a", tx);
    unknown.kind = 99;
    REFUSED(PTO_ERR_ARGUMENT, argument, "argument 1 has the kind 99, which is none",
            CALL(rt, numbers, "total", PTO_R("s", &made), unknown));
    REFUSED(PTO_ERR_ARGUMENT, argument, "PTO_R of 'z' has the variable of 'y'",
            CALL(rt, numbers, "two", n, PTO_R("y", &made), PTO_R("z", &made)));
    EXPECT(made == NULL);
    PTOSparse *matrix = NULL;
    const PTOArgument rows = PTO_I("R", 3), columns = PTO_I("C", 3);
    REFUSED(PTO_ERR_ARGUMENT, argument, "two PTO_RS have one variable",
            CALL(rt, numbers, "both", rows, columns, PTO_RS("a", &matrix), PTO_RS("b", &matrix)));
    EXPECT(matrix == NULL);
    /* flags add up: those of pto.hpp are the last ones, and none */
    struct holding holding = {.tensor = tx};
    pthread_t thread;
    EXPECT_EQ(sem_init(&holding.has_map, 0, 0), 0);
    EXPECT_EQ(pthread_create(&thread, NULL, hold, &holding), 0);
    EXPECT_EQ(sem_wait(&holding.has_map), 0);
    const PTOStatus status =
        CALL(rt, numbers, "total", PTO_T("a", tx), PTO_CALL_FLAGS(PTO_CALL_NO_WAIT), PTO_CALL_FLAGS(0));
    atomic_store(&holding.is_over, true);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    sem_destroy(&holding.has_map);
    EXPECT_EQ(status, PTO_ERR_BUSY);
    pto_tensor_release(tx);
}

TEST(a_result_for_which_there_is_no_memory_is_named)
{
    begin();
    enum { COUNT = 30000 };
    PTOPool *pool = pto_pool_shared(65536);
    PTORuntime *const small = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL, .pool = pool}, NULL);
    float *const a = calloc(COUNT, sizeof *a);
    PTOTensor *ta = row(PTO_F32, a, COUNT), *flat = pto_tensor_reshape(ta, 2, (int64_t[]){1, COUNT}), *made;
    EXPECT_EQ(CALL(small, numbers, "plus", PTO_T("a", flat), PTO_T("b", flat), PTO_R("c", &made)), PTO_ERR_NOMEM);
    EXPECT(made == NULL && strstr(pto_last_error(NULL), "'c': no memory for a tensor of 120000 bytes"));
    pto_tensor_release(flat);
    pto_tensor_release(ta);
    free(a);
    pto_runtime_destroy(small);
    pto_pool_destroy(pool);
}

TEST(the_program_is_closed)
{
    begin();
    end();
}
