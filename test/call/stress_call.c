/* stress_call.c - several threads call one program, each with its own runtime and params; programs are opened and
 * closed in any order meanwhile; so are all handles of a call that runs. */
#include "hosts.h"
#include "unit.h"
#include "registry/dlpack.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { THREADS = 4, CALLS = 5000 };
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
    for (int i = 0; i < CALLS && c->good; i++) {
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
    for (int i = 0; i < CALLS / 50 && c->good; i++) {
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

/* ---- the end of everything that a call uses, while it runs ------------------------------------------------------- */

struct round {
    PTORuntime *rt;
    PTOLoaded *program;
    PTOTensor *given;
    int64_t steps; /* below 0: the thread ends */
    PTOStatus status;
    _Atomic bool is_over;
    sem_t begin, end;
};

static void *call_rounds(void *arg)
{
    struct round *r = arg;
    for (;;) {
        sem_wait(&r->begin);
        if (r->steps < 0) return NULL;
        r->status = CALL(r->rt, r->program, "steps", PTO_T("y", r->given), PTO_I("n", r->steps));
        r->is_over = true;
        sem_post(&r->end);
    }
}

static _Atomic int released;
static void release_counted(void *memory)
{
    released++;
    free(memory);
}

static PTOTensor *counted_memory(void)
{
    enum { ELEMENTS = 16 };
    const int64_t shape = ELEMENTS;
    int64_t *memory = calloc(ELEMENTS, sizeof *memory);
    return pto_tensor_attach(&(PTOForeign){.address = memory,
                                           .bytes = ELEMENTS * (int64_t)sizeof *memory,
                                           .type = PTO_I64,
                                           .rank = 1,
                                           .shape = &shape,
                                           .release = release_counted,
                                           .context = memory});
}

/* The call has bound what it was given, or is over: what is only the caller's may go. */
static void wait_until_bound(struct round *r, const PTOTensor *t)
{
    PTODescription d = {.pins = 0};
    while (!r->is_over && d.pins == 0) pto_tensor_describe(t, &d);
}

static bool end_all(struct round *r, unsigned *seed)
{
    PTOTensor *t = counted_memory();
    struct DLManagedTensorVersioned *m = pto_tensor_to_dlpack(t, 1, 0); /* somebody else has the memory, */
    r->given = pto_tensor_from_dlpack(m);                               /* and gives it to the call */
    r->program = pto_program_open("numbers.so");
    PTOTensor *view = pto_tensor_slice(r->given, 0, 3, 5, 2);
    if (!t || !m || !r->given || !r->program || !view) return false;
    released = 0;
    r->is_over = false;
    r->steps = rand_r(seed) % 100;
    sem_post(&r->begin);
    wait_until_bound(r, view);
    for (unsigned left = 0x1f; left;) {
        const unsigned which = 1u << rand_r(seed) % 5;
        if (!(left & which)) continue;
        left &= ~which;
        if (which == 1) pto_tensor_release(t);
        if (which == 2) pto_tensor_release(r->given);
        if (which == 4) pto_tensor_release(view);
        if (which == 8) pto_cancel(r->rt);
        if (which == 16) pto_program_close(r->program);
    }
    sem_wait(&r->end);
    return released == 1 && (r->status == PTO_OK || r->status == PTO_ERR_CANCELLED);
}

TEST(handles_end_in_any_order_beside_the_call_that_uses_them)
{
    struct round r = {.steps = 0};
    pthread_t thread;
    unsigned seed = 5;
    int good = 0, cancelled = 0, rounds = CALLS;
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    rounds /= 10;
#endif
    sem_init(&r.begin, 0, 0);
    sem_init(&r.end, 0, 0);
    pthread_create(&thread, NULL, call_rounds, &r);
    for (int i = 0; i < rounds; i++) {
        if (i % 500 == 0) {
            pto_runtime_destroy(r.rt);
            r.rt = pto_runtime_create(&(PTOConfig){.always_defer = i % 1000 == 0, .heap_bytes = 1 << 20}, NULL);
        }
        good += end_all(&r, &seed);
        cancelled += r.status == PTO_ERR_CANCELLED;
    }
    r.steps = -1;
    sem_post(&r.begin);
    pthread_join(thread, NULL);
    pto_runtime_destroy(r.rt);
    EXPECT_EQ(good, rounds);
    EXPECT(cancelled > 0);
}
