/* index_guard.c - calls the functions of the kernels of index-guard.pto with arrays beside pages that nobody may touch. */
#include KERNELS
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* `bytes` bytes that end at a page without access, or begin behind one. */
static void *beside_guard(size_t bytes, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    unsigned char *block = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED || mprotect(block + page, room ? room : page, PROT_READ | PROT_WRITE) != 0) exit(2);
    if (room == 0) mprotect(block + page, page, PROT_NONE);
    return at_end ? block + page + room - bytes : block + page;
}

static void release(void *p, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    unsigned char *begin = (unsigned char *)((uintptr_t)p / page * page);
    munmap(begin - page, room + 2 * page);
}

/* The functions of a level of the processor. */
struct level {
    int (*softmax)(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t M, int64_t N);
    int (*shift)(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t N);
    int (*dot)(const double *x, const int64_t *x_stride, const double *y, const int64_t *y_stride, double *r,
               const int64_t *r_stride, int64_t N);
    int (*bytes)(const int8_t *x, const int64_t *x_stride, int8_t *y, const int64_t *y_stride, int64_t N);
};

static void run(const struct level *level, int64_t n, int64_t step, bool at_end)
{
    const int64_t rows = 3, stride[1] = {step}, wide[2] = {n * step > 0 ? (n - 1) * step + 1 : 0, step}, one[1] = {1};
    const size_t span = n > 0 ? (size_t)((n - 1) * step + 1) : 0, all = rows * span;
    float *x = beside_guard(all * 4, at_end), *y = beside_guard(all * 4, at_end), *v = beside_guard(span * 4, at_end);
    float *w = beside_guard(span * 4, at_end);
    double *d = beside_guard(span * 8, at_end), *r = beside_guard(8, at_end);
    int8_t *b = beside_guard(span, at_end), *c = beside_guard(span, at_end);
    level->softmax(x, wide, y, wide, rows, n);
    level->shift(v, stride, w, stride, n);
    level->dot(d, stride, d, stride, r, one, n);
    level->bytes(b, stride, c, stride, n);
    /* a is 3 by n, b is n by 3 with the rows of x for columns, c is 3 by 3 */
    const int64_t across[2] = {wide[1], wide[0]}, square[2] = {3, 1};
    float *p = beside_guard(36, at_end);
    product_body(x, wide, y, across, p, square, rows, rows, n);
    turned_body(x, wide, y, wide, p, square, rows, rows, n);
    /* a is 3 by 3, b is 3 by n */
    product_body(p, square, x, wide, y, wide, rows, n, rows);
    turned_body(p, square, x, across, y, wide, rows, n, rows);
    release(x, all * 4), release(y, all * 4), release(v, span * 4), release(w, span * 4), release(d, span * 8);
    release(r, 8), release(b, span), release(c, span), release(p, 36);
}

int main(void)
{
    struct level levels[3] = {{softmax_body, shift_body, dot_body, bytes_body}};
    int count = 1;
#if PTO_HAS_LEVELS
    levels[0] = (struct level){softmax_body_base, shift_body_base, dot_body_base, bytes_body_base};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        levels[count++] = (struct level){softmax_body_v3, shift_body_v3, dot_body_v3, bytes_body_v3};
    if (pto_cpu() == PTO_CPU_V4)
        levels[count++] = (struct level){softmax_body_v4, shift_body_v4, dot_body_v4, bytes_body_v4};
#endif
    for (int64_t n = 0; n <= 200; n++)
        for (int64_t step = 1; step <= 3; step++)
            for (int at_end = 0; at_end < 2; at_end++)
                for (int i = 0; i < count; i++) run(&levels[i], n, step, at_end != 0);
    puts("3 levels at most, 0 faults");
    return 0;
}
