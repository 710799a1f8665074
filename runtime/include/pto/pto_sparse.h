/* pto_sparse.h - sparse matrices of the host: a format, sizes, and a tensor for each array.
 *
 * Ownership       as in pto_registry.h: a PTOSparse * that a function returns is a reference, given back with
 *                 pto_sparse_release.  A matrix holds a reference to each of its tensors; matrices share tensors.
 * Arrays          PTO_CSR  ptr[rows + 1], idx[nnz], val[nnz]: row i has the elements ptr[i] - ptr[0] to ptr[i + 1] -
 *                          ptr[0] of idx and val.  ptr[0] need not be 0: rows of a larger matrix keep its numbers
 *                 PTO_CSC  the same by columns: ptr[columns + 1], idx has rows
 *                 PTO_COO  row[nnz], column[nnz], val[nnz]
 *                 PTO_BSR  ptr[rows / r + 1], idx[blocks], val[blocks, r, c]: CSR of blocks of r x c elements
 *                 PTO_BSC  the transpose of a BSR: ptr[columns / c + 1], idx[blocks], val[blocks, r, c]
 *                 PTO_CSR4 first[rows], last[rows], idx[nnz], val[nnz]: row i has the elements first[i] to last[i],
 *                          rows anywhere, twice too
 *                 Index arrays are i32 or i64, all of one type.
 * Threads, status as in pto_registry.h. */
#ifndef PTO_SPARSE_H
#define PTO_SPARSE_H
#include <pto/pto_registry.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PTOSparse PTOSparse; /* opaque, immutable, counted */

typedef enum PTOFormat { PTO_CSR, PTO_CSC, PTO_COO, PTO_BSR, PTO_BSC, PTO_CSR4, PTO_FORMAT_COUNT } PTOFormat;

typedef enum PTOSparseCheck {
    PTO_CHECK_SHAPE, /* types, ranks and extents */
    PTO_CHECK_ALL    /* every number too: ptr never falls, indices lie inside; sorted and unique are noted */
} PTOSparseCheck;

enum { PTO_SPARSE_ARRAYS = 4 /* at most */ };
enum {
    PTO_SORTED = 1, /* PTO_CHECK_ALL found the indices of each row (column) in order */
    PTO_UNIQUE = 2  /* and none of them twice */
};

/* What pto_sparse_describe fills. */
typedef struct PTOSparseDescription {
    PTOFormat format;
    int32_t arrays; /* 3, or 4 for PTO_CSR4 */
    int64_t rows, columns;
    int64_t nnz;      /* elements that val holds */
    int64_t block[2]; /* r, c; 1, 1 without blocks */
    PTOType index_type, value_type;
    int64_t references;
    uint32_t flags; /* PTO_SORTED, PTO_UNIQUE */
} PTOSparseDescription;

/* Makes a matrix of tensors in the order of "Arrays" above, and retains them.
 * Caller     any thread.  Blocks, with PTO_CHECK_ALL, until runs that write the arrays have ended.
 * Status     NULL: PTO_ERR_ARGUMENT: a format, check, type, rank, or extents that do not agree; PTO_ERR_BOUNDS: a
 *            number of ptr, first, last or of an index is wrong; PTO_ERR_BUSY: a run writes an array, and the caller is
 *            in a run or in a kernel; PTO_ERR_DEVICE: with PTO_CHECK_ALL, as pto_tensor_map; PTO_ERR_NOMEM;
 *            PTO_ERR_MISUSE: a tensor is NULL. */
PTO_API PTOSparse *pto_sparse_make(PTOFormat format, int64_t rows, int64_t columns, PTOTensor *const *tensors,
                                   PTOSparseCheck check);

/* Makes a matrix of foreign arrays, each with a release function of its own.  A failed call has taken nothing.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_ARGUMENT, PTO_ERR_BOUNDS, PTO_ERR_OVERFLOW, PTO_ERR_DEVICE, PTO_ERR_NOMEM: the reasons are
 *            those of pto_tensor_attach and of pto_sparse_make. */
PTO_API PTOSparse *pto_sparse_attach(PTOFormat format, int64_t rows, int64_t columns, const PTOForeign *arrays,
                                     PTOSparseCheck check);

/* One more reference to a, which is returned.  NULL is ignored.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API PTOSparse *pto_sparse_retain(PTOSparse *a);

/* Drops a reference; the last one releases the tensors.  NULL is ignored.  One release too many ends the program.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API void pto_sparse_release(PTOSparse *a);

/* Fills *out.
 * Caller     any thread.  Never blocks.  Status: PTO_OK; PTO_ERR_MISUSE: NULL. */
PTO_API PTOStatus pto_sparse_describe(const PTOSparse *a, PTOSparseDescription *out);

/* Array number `which` of a, borrowed: it lives as long as a.  NULL: there is none.
 * Caller     any thread.  Never blocks.  Status: NULL: PTO_ERR_ARGUMENT; PTO_ERR_MISUSE. */
PTO_API PTOTensor *pto_sparse_array(PTOSparse *a, int which);

/* Another matrix on the same buffers: both see writes.
 * Caller     any thread.  Never blocks.  Status: NULL: PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOSparse *pto_sparse_share(PTOSparse *a);

/* Another matrix with buffers of its own, as pto_tensor_detach makes them.
 * Caller     any thread.  Never blocks, except as pto_tensor_detach.  Status: NULL: PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOSparse *pto_sparse_detach(PTOSparse *a);

/* All arrays leave the library with their sizes and release functions, in the order of "Arrays", and *a becomes NULL.
 * out has room for PTO_SPARSE_ARRAYS.  Arrays that are shared, or parts of their memory, are copied and the copies
 * leave.  All or none.
 * Caller     any thread.  Blocks as pto_tensor_take does.
 * Status     PTO_OK; PTO_ERR_NOMEM, PTO_ERR_BUSY, PTO_ERR_DEVICE: *a stays; PTO_ERR_MISUSE: NULL. */
PTO_API PTOStatus pto_sparse_take(PTOSparse **a, PTODetached *out);

/* Rows first to first + count, without a copy.  CSR and BSR keep the numbers of ptr; idx and val begin at ptr[first].
 * BSR takes multiples of the block; CSR4 keeps idx and val whole.
 * Caller     any thread.  Blocks until runs that write ptr have ended.
 * Status     NULL: PTO_ERR_BOUNDS: rows outside, or numbers of ptr that are wrong; PTO_ERR_ARGUMENT: no multiple of the
 *            block; PTO_ERR_UNSUPPORTED: CSC, BSC, COO; PTO_ERR_BUSY; PTO_ERR_DEVICE; PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOSparse *pto_sparse_rows(PTOSparse *a, int64_t first, int64_t count);

/* These n rows of a CSR or CSR4 matrix, in any order, twice too, as PTO_CSR4: elements are shared, first and last are
 * new.
 * Caller     any thread.  Blocks until runs that write the index arrays have ended.
 * Status     NULL: PTO_ERR_BOUNDS: a row outside, or numbers of ptr that are wrong; PTO_ERR_ARGUMENT: n < 0;
 *            PTO_ERR_UNSUPPORTED: another format; PTO_ERR_BUSY; PTO_ERR_DEVICE; PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOSparse *pto_sparse_pick(PTOSparse *a, const int64_t *rows, int64_t n);

/* The transpose, without a copy: CSR and CSC become each other, BSR and BSC too, with the dimensions of a block
 * exchanged; COO exchanges its index arrays.
 * Caller     any thread.  Never blocks.  Status: NULL: PTO_ERR_UNSUPPORTED: CSR4; PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOSparse *pto_sparse_transpose(PTOSparse *a);

/* A matrix of another format (CSR, CSC, COO or CSR4) with memory of its own; any format is read.
 * Caller     any thread.  Blocks until runs that write the arrays have ended.
 * Status     NULL: PTO_ERR_UNSUPPORTED: to BSR or BSC; PTO_ERR_BOUNDS: a number of the matrix is wrong;
 *            PTO_ERR_OVERFLOW: more elements than i32 counts; PTO_ERR_ARGUMENT: no format; PTO_ERR_BUSY;
 *            PTO_ERR_DEVICE; PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOSparse *pto_sparse_convert(PTOSparse *a, PTOFormat format);

#ifdef __cplusplus
}
#endif
#endif
