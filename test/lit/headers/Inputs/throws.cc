/* throws.cc - kernels and orchestrations that throw, from tasks that workers run, that the library executes inline, and that their
 * caller runs: the run fails, the kernel is named, what the exception owned is freed once, and the next run is good. */
#include <cstdio>
#include <cstring>
#include <exception>
#include <pto/pto_program.h>
#include <pto/pto_runtime.h>

enum { ROUNDS = 3, TASKS = 200 };

static int alive, caught;
struct Owner {
    Owner() { alive++; }
    Owner(const Owner &) { alive++; }
    ~Owner() { alive--; }
};

static int maybe_throw(const PTOArg *a)
{
    Owner on_the_stack;
    if (a[1].value.i64) throw Owner();
    ++*static_cast<int64_t *>(a[0].ptr);
    return 0;
}
static const PTOKernel kernel = {"maybe_throw", PTO_WORKER_VECTOR, maybe_throw, nullptr, 0, nullptr, nullptr};
static const PTOSite here = {"t.pto", 5, 9, "maybe_throw"};
static int64_t *cell;

static void orchestrate(PTORuntime *rt, void *throws)
{
    for (int i = 0; i < TASKS; i++) PTO_SUBMIT(rt, &kernel, PTO_INOUT(cell, 0, 8), PTO_SCALAR(int64_t(0)));
    pto_at(rt, &here);
    try {
        PTO_SUBMIT(rt, &kernel, PTO_INOUT(cell, 0, 8), PTO_SCALAR(int64_t(throws != nullptr)));
    } catch (...) {
        caught++;
        throw;
    }
}

static void throw_outside(PTORuntime *, void *) { throw Owner(); }

static int check(const char *what, bool is_right)
{
    if (!is_right) std::printf("%s\n", what);
    return !is_right;
}

int main()
{
    static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS, PTO_ENGINE_TIMING};
    int wrong = 0;
    cell = static_cast<int64_t *>(pto_shared_alloc(8));
    for (PTOEngine engine : engines)
        for (int defers = 0; defers < 2; defers++) {
            PTOConfig c = PTOConfig();
            c.engine = engine;
            c.always_defer = defers;
            c.workers[PTO_WORKER_VECTOR] = 2;
            PTORuntime *rt = pto_runtime_create(&c, nullptr);
            for (int round = 0; round < ROUNDS; round++) {
                int throws = 1;
                *cell = 0;
                wrong += check("a kernel threw", pto_runtime_run(rt, orchestrate, &throws) == PTO_ERR_MISUSE);
                wrong += check(pto_last_error(rt), std::strstr(pto_last_error(rt), "t.pto:5:9: error: kernel 'maybe_throw' threw an exception (task "));
                wrong += check("what it owned", alive == 0 && caught == 0 && !std::uncaught_exception());
                wrong += check("an orchestration threw", pto_runtime_run(rt, throw_outside, nullptr) == PTO_ERR_MISUSE);
                wrong += check(pto_last_error(rt), std::strstr(pto_last_error(rt), "an exception left the orchestration"));
                wrong += check("the next run", alive == 0 && pto_runtime_run(rt, orchestrate, nullptr) == PTO_OK && *cell == 2 * TASKS + 1);
            }
            pto_runtime_destroy(rt);
        }
    pto_shared_free(cell, 8);
    if (wrong == 0) std::printf("ok\n");
    return wrong != 0;
}
