/* jacobi.c - sweeps of the five-point mean between two arrays with a border, each with its greatest change.  A change
 * that is not a number stays the greatest, as in NumPy, PyTorch and jacobi.pto: -ffast-math would drop it. */
#pragma GCC optimize("no-finite-math-only")
#include "whole.h"

static inline float larger(float a, float b) { return a > b || a != a ? a : b; }
#pragma omp declare reduction(largest:float : omp_out = larger(omp_out, omp_in)) initializer(omp_priv = 0)

static float sweep(int64_t n, const float *restrict u, float *restrict v)
{
    const int64_t pitch = n + 2;
    float most = 0;
#pragma omp parallel for reduction(largest : most)
    for (int64_t i = 1; i <= n; i++) {
        const float *c = u + i * pitch;
        float *to = v + i * pitch;
#pragma omp simd reduction(largest : most)
        for (int64_t j = 1; j <= n; j++) {
            const float x = 0.25f * (c[j - 1] + c[j + 1] + c[j - pitch] + c[j + pitch]), change = fabsf(x - c[j]);
            most = larger(change, most);
            to[j] = x;
        }
    }
    return most;
}

void whole(void *const *p, const int64_t *n)
{
    float change = 1;
    for (int64_t k = 0; k < n[1] && change > 0; k += 2) {
        sweep(n[0], p[0], p[1]);
        change = sweep(n[0], p[1], p[0]);
    }
}
