/* kernels.c - what kernels by index are held to: n products of OpenBLAS, n copies. */
#include <cblas.h>
#include <stdint.h>
#include <string.h>

void products(int64_t size, const float *a, const float *b, float *c, int64_t n)
{
    const int s = (int)size;
    for (int64_t i = 0; i < n; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, s, s, s, 1, a, s, b, s, 0, c, s);
}

void copies(void *to, const void *from, int64_t bytes, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        memcpy(to, from, (size_t)bytes);
        __asm__ volatile("" ::"r"(to) : "memory");
    }
}
