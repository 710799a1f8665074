/* sparse.h - what a sparse matrix is, and how its numbers are read.
 *
 * Idea       one tensor an array, never one a row; slices of a matrix are views of its tensors.
 * Owner      its references; a matrix holds a reference to each of its tensors.
 * Invariant  immutable; extents and types of the arrays agree (PTO_CHECK_SHAPE), but the numbers are somebody
 *            else's, so whoever uses them checks them.
 * Tests      test/runtime/test_sparse.c */
#ifndef PTOI_SPARSE_H
#define PTOI_SPARSE_H
#include "map.h"
#include <pto/pto_sparse.h>

struct PTOSparse {
    struct count count;
    PTOFormat format;
    uint32_t flags;
    int64_t rows, columns, nnz, block[2];
    PTOTensor *array[PTO_SPARSE_ARRAYS];
};

/* An index array that is read: between ptoi_read_begin and ptoi_read_end. */
struct indices {
    const char *at;
    int64_t stride, count;
    bool is_32;
};

static inline int64_t index_at(const struct indices *x, int64_t i)
{
    const char *at = x->at + i * x->stride;
    return x->is_32 ? *(const int32_t *)(const void *)at : *(const int64_t *)(const void *)at;
}

static inline int ptoi_sparse_arrays(PTOFormat format) { return format == PTO_CSR4 ? 4 : 3; }
static inline bool ptoi_sparse_by_column(PTOFormat format) { return format == PTO_CSC || format == PTO_BSC; }

/* All arrays are read; the thread's error. */
PTOStatus ptoi_sparse_read_begin(PTOSparse *a, const char *call);
void ptoi_sparse_read_end(PTOSparse *a);
/* "CSR"; format: one of PTOFormat. */
const char *ptoi_sparse_format_name(PTOFormat format);
struct indices ptoi_sparse_indices(const PTOSparse *a, int array);

/* A matrix of these arrays, whose references it takes over, also on failure. */
PTOSparse *ptoi_sparse_of(PTOFormat format, int64_t rows, int64_t columns, PTOTensor **arrays);
/* PTO_CHECK_ALL, and notes what is sorted and unique. */
PTOStatus ptoi_sparse_check_numbers(PTOSparse *a);
bool ptoi_sparse_is_bad(const PTOSparse *a, const char *call);

#endif
