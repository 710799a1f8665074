#include "other.h"
int my_add(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t N)
{
    for (int64_t i = 0; i < N; i++) y[i * y_stride[0]] += x[i * x_stride[0]];
    return 0;
}
