/* cells.h - programs over cells of memory that the workers of every engine reach: the cells, and kernels on them.
 * Owner      the test: renew() makes the cells what its run begins with. */
#ifndef PTO_TEST_CELLS_H
#define PTO_TEST_CELLS_H
#include "submit.h"
#include "unit.h"
#include <pto/pto_runtime.h>

#define I64(n) PTO_ARRAY(PTO_I64, n)

struct shared {
    int64_t x[64];
    int64_t cells[63];
    int64_t n;
    int64_t got;
    PTORuntime *rt;
};

/* What kernels write must be memory that the workers of every engine reach, made before the runtime is. */
static struct shared *share;
__attribute__((constructor)) static void make_share(void) { share = pto_shared_alloc(sizeof *share); }
static inline struct shared *renew(struct shared to)
{
    *share = to;
    return share;
}

static inline int k_set(const PTOArg *a) /* out[i] = value */
{
    for (int64_t i = 0; i < a[0].shape[0]; i++) ((int64_t *)a[0].ptr)[i * a[0].stride[0]] = a[1].value.i64;
    return 0;
}
static const PTOKernel set = {.name = "set", .worker = PTO_WORKER_VECTOR, .fn = k_set};

static inline int k_add(const PTOArg *a) /* inout[i] += in[i] */
{
    for (int64_t i = 0; i < a[0].shape[0]; i++)
        ((int64_t *)a[1].ptr)[i * a[1].stride[0]] += ((int64_t *)a[0].ptr)[i * a[0].stride[0]];
    return 0;
}
static const PTOKernel add = {.name = "add", .worker = PTO_WORKER_CUBE, .fn = k_add};

static inline int k_twice(const PTOArg *a) /* inout = 2 * inout + 1: order matters */
{
    *(int64_t *)a[0].ptr = (int64_t)(2u * *(uint64_t *)a[0].ptr + 1u);
    return 0;
}
static const PTOKernel twice = {.name = "twice", .worker = PTO_WORKER_AI_CPU, .fn = k_twice};

static inline int k_nothing(const PTOArg *a) { return (void)a, 0; }
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = k_nothing};

/* Mode B: each iteration's output is added to x. */
static inline void mode_b(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int64_t i = 0; i < s->n; i++) {
        pto_scope_begin(rt);
        void *P = NULL;
        int64_t id = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(8)), PTO_SCALAR(i));
        assert_true(id >= 0 && P != NULL && (uintptr_t)P % 64 == 0);
        SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(8)), PTO_INOUT(s->x, 0, I64(8)));
        pto_scope_end(rt);
    }
}

#endif
