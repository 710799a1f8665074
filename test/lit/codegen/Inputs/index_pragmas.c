/* index_pragmas.c - a loop between the pragmas of kernels in index notation; index-pragmas.test looks at its dumps. */
#include <pto/pto_mathematics.h>

PTO_ELEMENTS_BEGIN
#ifdef __x86_64__
__attribute__((target("avx2,fma")))
#endif
void kernel(float *restrict a, const float *restrict b, long n);
void kernel(float *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < n; i++) a[i] += b[i] * b[i + 1];
}
PTO_ELEMENTS_END
