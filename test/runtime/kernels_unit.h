/* kernels_unit.h - random strided operands for the tests of the kernels.
 * Idea       An operand lies in a buffer of its own, just as large as its strides reach, in one of the layouts that
 *            programs make: dense, rows of a wider matrix, transposed, every other column, and for inputs repeated rows
 *            or columns. A second buffer with the same bytes is for the reference.  Afterwards the elements must agree,
 *            and every byte between them must be what it was.
 * Owner      the operands of one check; operands_free() ends them.
 * Tests      test_kernels_*.c use it
 */
#ifndef PTO_KERNELS_UNIT_H
#define PTO_KERNELS_UNIT_H
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* ---- random numbers: the same in every run, unless PTO_TEST_SEED says otherwise ---------------------------------- */
static uint64_t random_state;

static inline uint64_t random_u64(void)
{
    if (random_state == 0) {
        const char *text = getenv("PTO_TEST_SEED");
        random_state = text != NULL ? strtoull(text, NULL, 0) | 1 : 0x9e3779b97f4a7c15u;
        printf("seed %llu\n", (unsigned long long)random_state);
    }
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static inline int64_t random_below(int64_t limit) { return (int64_t)(random_u64() >> 11) % limit; }
static inline double random_real(double low, double high)
{
    return low + (high - low) * (double)(random_u64() >> 11) * 0x1p-53;
}

/* An extent: often 0, 1, or next to a block size. */
static inline int64_t random_extent(void)
{
    static const int64_t edges[] = {0, 1, 2, 7, 8, 16, 31, 33, 63, 64, 65, 100, 129};
    return random_below(3) == 0 ? random_below(40) : edges[random_below((int64_t)(sizeof edges / sizeof *edges))];
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */
struct operand {
    void *p, *twin; /* first element: for the kernel, for the reference.  NULL when there is none. */
    int64_t stride[2], extent[2];
    char *bytes, *twin_bytes;
    size_t size;
    bool is_f64;
};

enum { MAX_OPERANDS = 8 };
static struct operand operands[MAX_OPERANDS];
static int operand_count;

/* Whole numbers make every product and sum exact, so that any correct order of operations gives the same bits. */
static bool whole_numbers;

static inline double random_value(void) { return whole_numbers ? (double)(random_below(9) - 4) : random_real(-1, 1); }

static inline void choose_strides(int64_t rows, int64_t columns, bool is_written, int64_t stride[2])
{
    int64_t pad = 1 + random_below(5), step = 2 + random_below(2);
    switch (random_below(is_written ? 5 : 8)) {
    case 0: stride[0] = columns, stride[1] = 1; break;
    case 1: stride[0] = columns + pad, stride[1] = 1; break;
    case 2: stride[0] = 1, stride[1] = rows; break;
    case 3: stride[0] = 1, stride[1] = rows + pad; break;
    case 4: stride[0] = columns * step + pad, stride[1] = step; break;
    case 5: stride[0] = 0, stride[1] = 1; break;
    case 6: stride[0] = 1 + random_below(2), stride[1] = 0; break;
    default: stride[0] = 0, stride[1] = 0; break;
    }
    if (columns == 1 && random_below(2)) stride[1] = random_below(50); // never taken, so it may be anything
    if (rows == 1 && random_below(2)) stride[0] = random_below(50);
}

static inline double operand_get(const struct operand *o, const void *first, int64_t i, int64_t j)
{
    int64_t at = i * o->stride[0] + j * o->stride[1];
    return o->is_f64 ? ((const double *)first)[at] : (double)((const float *)first)[at];
}

/* Sets an element in both buffers. */
static inline void operand_set(struct operand *o, int64_t i, int64_t j, double value)
{
    int64_t at = i * o->stride[0] + j * o->stride[1];
    if (o->is_f64)
        ((double *)o->p)[at] = ((double *)o->twin)[at] = value;
    else
        ((float *)o->p)[at] = ((float *)o->twin)[at] = (float)value;
}

static inline struct operand *operand_strided(bool is_f64, int64_t rows, int64_t columns, const int64_t stride[2])
{
    assert_true(operand_count < MAX_OPERANDS);
    struct operand *o = &operands[operand_count++];
    *o = (struct operand){.extent = {rows, columns}, .stride = {stride[0], stride[1]}, .is_f64 = is_f64};
    if (rows == 0 || columns == 0) return o;
    size_t element = is_f64 ? sizeof(double) : sizeof(float);
    size_t lead = (size_t)random_below(4);
    size_t count = lead + (size_t)((rows - 1) * o->stride[0] + (columns - 1) * o->stride[1] + 1);
    o->size = count * element;
    o->bytes = malloc(o->size);
    o->twin_bytes = malloc(o->size);
    assert_true(o->bytes != NULL && o->twin_bytes != NULL);
    for (size_t i = 0; i < count; i++)
        if (is_f64)
            ((double *)o->bytes)[i] = random_value();
        else
            ((float *)o->bytes)[i] = (float)random_value();
    memcpy(o->twin_bytes, o->bytes, o->size);
    o->p = o->bytes + lead * element;
    o->twin = o->twin_bytes + lead * element;
    return o;
}

static inline struct operand *operand_new(bool is_f64, int64_t rows, int64_t columns, bool is_written)
{
    int64_t stride[2];
    choose_strides(rows, columns, is_written, stride);
    return operand_strided(is_f64, rows, columns, stride);
}

static inline void operands_free(void)
{
    while (operand_count > 0) {
        operand_count--;
        free(operands[operand_count].bytes);
        free(operands[operand_count].twin_bytes);
    }
}

/* |got - want| <= absolute + relative |want| for every element, and not one byte beside them has changed. */
static inline void expect_agree(struct operand *o, double absolute, double relative)
{
    if (o->size == 0) return;
    size_t element = o->is_f64 ? sizeof(double) : sizeof(float);
    for (int64_t i = 0; i < o->extent[0]; i++)
        for (int64_t j = 0; j < o->extent[1]; j++) {
            double got = operand_get(o, o->p, i, j), want = operand_get(o, o->twin, i, j);
            bool same = got == want || (isnan(got) && isnan(want));
            if (!same && !(fabs(got - want) <= absolute + relative * fabs(want)))
                fail_msg("(%lld, %lld) of [%lld, %lld], strides %lld %lld: got %.17g, want %.17g", (long long)i,
                         (long long)j, (long long)o->extent[0], (long long)o->extent[1], (long long)o->stride[0],
                         (long long)o->stride[1], got, want);
            int64_t at = (i * o->stride[0] + j * o->stride[1]) * (int64_t)element;
            memcpy((char *)o->p + at, (char *)o->twin + at, element);
        }
    EXPECT(memcmp(o->bytes, o->twin_bytes, o->size) == 0);
}
#endif
