/* unit_kernels.h - the kernels of test_ascend.c, for the backend sim and for the stub: the same C functions. */
#ifndef PTO_TEST_ASCEND_UNIT_KERNELS_H
#define PTO_TEST_ASCEND_UNIT_KERNELS_H
#include <pto/pto_types.h>
#include <stdlib.h>
#include <time.h>

/* y = 31 * y + x + s, element by element: the order of calls shows. */
static int k_mix(const PTOArg *a)
{
    const int64_t *x = a[0].ptr;
    int64_t *y = a[1].ptr;
    for (int64_t i = 0; i < a[1].shape[0]; i++) {
        uint64_t *at = (uint64_t *)&y[i * a[1].stride[0]];
        *at = *at * 31 + (uint64_t)x[i * a[0].stride[0]] + (uint64_t)a[2].value.i64;
    }
    return 0;
}

/* y = s. */
static int k_set(const PTOArg *a)
{
    for (int64_t i = 0; i < a[0].shape[0]; i++) ((int64_t *)a[0].ptr)[i * a[0].stride[0]] = a[1].value.i64;
    return 0;
}

/* Fails on demand. */
static int k_fail(const PTOArg *a) { return (int)a[1].value.i64; }

static int k_sleep(const PTOArg *a)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000 * a[1].value.i64}, NULL);
    return k_set(a);
}

/* Writes so many elements behind its argument. */
static int k_overrun(const PTOArg *a)
{
    ((volatile int64_t *)a[0].ptr)[a[0].shape[0] + a[1].value.i64] = 1;
    return 0;
}
#endif
