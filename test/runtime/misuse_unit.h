/* misuse_unit.h - what tests of forbidden calls need: every engine, a small program, and whether a runtime works.
 * Tests      test_misuse.c, test_lifetime.c, test_guard.c, test_stack.c use it */
#ifndef PTO_TEST_MISUSE_UNIT_H
#define PTO_TEST_MISUSE_UNIT_H
#include "submit.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <string.h>

/* The thread sanitizer does not follow threads of a child that was forked by a process with threads: under it
 * test_process alone tests the engine process. */
#ifdef __SANITIZE_THREAD__
#define HAS_CHILDREN 0
static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING};
#else
#define HAS_CHILDREN 1
static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS, PTO_ENGINE_TIMING};
#endif
enum { ENGINES = sizeof engines / sizeof engines[0] };

static inline PTORuntime *create(PTOConfig c)
{
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(&c, &status);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    return rt;
}

static inline bool contains(const char *text, const char *part)
{
    if (strstr(text, part)) return true;
    fprintf(stderr, "'%s' is not in '%s'\n", part, text);
    return false;
}

static inline int k_increment(const PTOArg *a)
{
    ++*(int64_t *)a[0].ptr;
    return 0;
}
static const PTOKernel increment = {.name = "increment", .worker = PTO_WORKER_VECTOR, .fn = k_increment};

static inline void one_task(PTORuntime *rt, void *arg) { SUBMIT(rt, &increment, PTO_INOUT(arg, 0, 8)); }

static inline int k_one(const PTOArg *a)
{
    *(int64_t *)a[0].ptr = 1;
    return 0;
}
static const PTOKernel one = {.name = "one", .worker = PTO_WORKER_VECTOR, .fn = k_one};

static inline void one_and_one(PTORuntime *rt, void *arg)
{
    int64_t *p = NULL;
    SUBMIT(rt, &one, PTO_OUTPUT(&p, 0, 8));
    SUBMIT(rt, &increment, PTO_INOUT(p, 0, 8));
    if (p && pto_await(rt, p, 0, 8) == PTO_OK) *(int64_t *)arg = *p;
}

/* Where a test submits the task that its message has to name. */
static const PTOSite here = {"m.pto", 7, 3, "calls"};

/* The runtime is as good as new. */
static inline bool works(PTORuntime *rt)
{
    int64_t two = 0;
    return pto_runtime_run(rt, one_and_one, &two) == PTO_OK && two == 2;
}

#endif
