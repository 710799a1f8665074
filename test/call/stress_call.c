/* stress_call.c - several threads call one program, each with its own runtime and params; programs are opened and
 * closed in any order meanwhile. */
#include "hosts.h"
#include "unit.h"
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4 };
static int calls = 10000;
static PTOLoaded *shared;

struct caller {
    pthread_t thread;
    int64_t number;
    bool good;
};

/* Each its own params, and reads of one tensor by all. */
static void *call_often(void *arg)
{
    struct caller *c = arg;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.workers = {[PTO_WORKER_VECTOR] = 1}}, NULL);
    int64_t y[4];
    PTOTensor *ty = row(PTO_I64, y, 4);
    c->good = rt && ty;
    for (int i = 0; i < calls && c->good; i++) {
        const int64_t from = c->number * 1000000 + i;
        c->good = CALL(rt, shared, "f", PTO_T("y", ty), PTO_I("from", from), PTO_I("by", c->number)) == PTO_OK &&
                  y[0] == from && y[3] == from + 3 * c->number;
    }
    pto_tensor_release(ty);
    pto_runtime_destroy(rt);
    return NULL;
}

static void run_threads(void *(*body)(void *))
{
    struct caller callers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        callers[i].number = i + 1;
        pthread_create(&callers[i].thread, NULL, body, &callers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(callers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) EXPECT(callers[i].good);
}

TEST(threads_with_a_runtime_each_get_their_own_params)
{
    shared = pto_program_open("numbers.so");
    EXPECT(shared != NULL);
    run_threads(call_often);
    pto_program_close(shared);
}

/* Programs, tensors and runtimes end in a random order. */
static void *end_in_any_order(void *arg)
{
    struct caller *c = arg;
    unsigned seed = (unsigned)c->number;
    c->good = true;
    for (int i = 0; i < calls / 50 && c->good; i++) {
        PTORuntime *rt = pto_runtime_create(&(PTOConfig){.record_tasks = rand_r(&seed) % 2 * 16}, NULL);
        PTOLoaded *f = pto_program_open(rand_r(&seed) % 2 ? "numbers.so" : "others.so");
        PTOTensor *y = NULL;
        PTOSignature s;
        c->good = rt && f && pto_program_describe(f, "f", &s) == PTO_OK &&
                  CALL(rt, f, "f", PTO_R("y", &y), PTO_I("N", 5), PTO_I(s.params[0].name, 3)) == PTO_OK;
        if (rand_r(&seed) % 2) pto_program_close(f), f = NULL;
        if (rand_r(&seed) % 2) pto_runtime_destroy(rt), rt = NULL;
        const int64_t *data = pto_tensor_map(y, PTO_READ);
        c->good = c->good && data && data[0] == 3;
        pto_tensor_unmap(y);
        pto_program_close(f);
        pto_tensor_release(y);
        pto_runtime_destroy(rt);
    }
    return NULL;
}

TEST(programs_runtimes_and_results_end_in_any_order)
{
    run_threads(end_in_any_order);
}
