/* A C function of a kernel with a scratch tensor, which is given as any other tensor. */
#include <stdint.h>
int rotate_pairs(int64_t *x, const int64_t *x_stride, int64_t *t, const int64_t *t_stride, int64_t by, int64_t N);
int rotate_pairs(int64_t *x, const int64_t *x_stride, int64_t *t, const int64_t *t_stride, int64_t by, int64_t N)
{
    if (t_stride[0] != 2 || t_stride[1] != 1) return 1;
    for (int64_t i = 0; i < N; i++) t[2 * ((i + by) % N) + 1] = x[i * x_stride[0]];
    for (int64_t i = 0; i < N; i++) x[i * x_stride[0]] = t[2 * i + 1];
    return 0;
}
