/* matrix.h - a struct formal whose fields are the arrays of a sparse matrix, as the head of its entry declares it.
 * Idea       the fields have the names that pto_sparse.h gives the arrays of the format.  No array determines the
 *            columns of a CSR matrix, so rows and columns are bound by the declaration, `a: sparse.Csr[R, C, Z]`.
 * Tests      test/call/test_call.c, test/lit/host/npz-matrix.test
 */
#ifndef PTO_HOST_MATRIX_H
#define PTO_HOST_MATRIX_H
#include "fail.h"
#include <pto/pto_program.h>
#include <pto/pto_sparse.h>

struct matrix_formal {
    const PTOEntry *entry;
    const char *name; /* without a NUL behind it */
    size_t length;
    const char *extents; /* in the head, behind the `[` of the declaration; NULL: there is none */
};

/* The arrays of each format; a format of three has NULL as the fourth. */
extern const char *const ptoi_matrix_fields[PTO_FORMAT_COUNT][PTO_SPARSE_ARRAYS];

struct matrix_formal ptoi_matrix_formal(const PTOEntry *entry, const char *name, size_t length);
/* The number of the formal NAME.FIELD, or -1. */
int32_t ptoi_matrix_field(const struct matrix_formal *m, const char *field);
/* The extent behind the first comma; NULL: there is none. */
const char *ptoi_matrix_columns(const struct matrix_formal *m);
/* The number of the dimension variable that an extent is; -1: it is something else. */
int32_t ptoi_matrix_dim(const PTOEntry *entry, const char *extent);
/* Does ptr of this struct count columns?  Its extent says so where rows and columns are two dimension variables, else
 * the name of the struct, which has "csc" or "bsc" in it. */
bool ptoi_matrix_is_by_columns(const struct matrix_formal *m);
/* Rows and columns, of a matrix of blocks in blocks, are the first two extents of the declaration: binds dimension
 * variables, and compares numbers and what was bound by an option; the arrays bind an expression.  Returns an exit
 * code. */
int ptoi_matrix_bind(const struct matrix_formal *m, int64_t rows, int64_t columns, int64_t *dims, int32_t *origin,
                     struct host_error *e);
#endif
