/* test_destroy.c - a runtime that is destroyed gives back all that it mapped, on every engine. */
#include "pages.h"
#include "submit.h"
#include "unit.h"
#include <malloc.h>

static int k_nothing(const PTOArg *a) { return (void)a, 0; }
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = k_nothing};

static void one_task(PTORuntime *rt, void *arg)
{
    void *A = NULL;
    (void)arg;
    PTO_SUBMIT(rt, &nothing, PTO_OUTPUT(&A, 0, 64));
}

/* AddressSanitizer asks this: memory that was freed would count as mapped until its quarantine is full. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "quarantine_size_mb=1:thread_local_quarantine_size_kb=16"; }

static void create_and_destroy(const PTOConfig *config, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        PTORuntime *rt = pto_runtime_create(config, NULL);
        assert_non_null(rt);
        EXPECT_EQ(pto_runtime_run(rt, one_task, NULL), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

static void expect_all_back(const PTOConfig *config)
{
    enum { WARM = 10, ROUNDS = 60 };
    create_and_destroy(config, WARM);
    const long before = pages_now().mapped;
    create_and_destroy(config, ROUNDS);
    const long grown = pages_now().mapped - before;
    if (grown >= ROUNDS / 2)
        fprintf(stderr, "engine %d: %ld pages more after %d rounds\n", (int)config->engine, grown, ROUNDS);
    EXPECT(grown < ROUNDS / 2); /* less than a page a round */
}

TEST(what_a_runtime_mapped_goes_back)
{
    mallopt(M_ARENA_MAX, 1); /* else malloc maps an arena for a thread now and then, which is no leak */
    for (int e = 0; e < PTO_ENGINES; e++)
        expect_all_back(&(PTOConfig){.engine = (PTOEngine)e, .workers = {0, 1}, .heap_bytes = 1 << 16});
}

TEST(the_stack_of_a_scheduler_of_its_own_goes_back)
{
    mallopt(M_ARENA_MAX, 1);
    expect_all_back(&(PTOConfig){.workers = {0, 1}, .heap_bytes = 1 << 16, .dedicated_scheduler = true});
}
