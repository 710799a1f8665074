/* call_sparse.c - a sparse matrix as an argument, or as a result: its arrays are the fields of a struct formal.
 * Idea       matrix.h finds the fields and the extents of the declaration.
 * Tests      test/call/test_call.c
 */
#include "call.h"
#include "matrix.h"
#include "registry/sparse.h"

/* The formal that a matrix is given to: by name, or the struct at *position.  NULL: there is none. */
static const char *name_of(const struct calling *c, const char *given, int32_t position, size_t *length)
{
    const char *const full = given                               ? given
                             : position < c->entry->formal_count ? c->entry->formals[position].name
                                                                 : NULL;
    if (full) *length = given ? strlen(full) : strcspn(full, ".");
    return full;
}

int ptoi_call_give_sparse(struct calling *c, const char *given_name, int32_t *position, PTOSparse *sparse)
{
    PTOSparseDescription d;
    size_t length = 0;
    const char *const name = name_of(c, given_name, *position, &length);
    if (pto_sparse_describe(sparse, &d) != PTO_OK || !name)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "there is no formal for the sparse matrix, or it is NULL");
    const struct matrix_formal m = ptoi_matrix_formal(c->entry, name, length);
    const char *const *const fields = ptoi_matrix_fields[d.format];
    const bool has_ptr = strcmp(fields[0], "ptr") == 0, by_columns = ptoi_sparse_by_column(d.format);
    if (has_ptr && m.extents && ptoi_matrix_is_by_columns(&m) != by_columns)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT,
                                  "the ptr of '%.*s' counts %s, that of the matrix, which is %s, counts %s: "
                                  "pto_sparse_convert makes another format, in Python Sparse.convert(), "
                                  "and of a matrix of SciPy a.tocsr() or a.tocsc()",
                                  (int)length, name, by_columns ? "rows" : "columns", ptoi_sparse_format_name(d.format),
                                  by_columns ? "columns" : "rows");
    int code = HOST_OK;
    for (int i = 0; i < d.arrays && code == HOST_OK; i++) {
        const int32_t f = ptoi_matrix_field(&m, fields[i]);
        if (f < 0)
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' has no formal '%.*s.%s' for the sparse matrix",
                                      c->entry->name, (int)length, name, fields[i]);
        code = ptoi_call_give_tensor(c, f, pto_sparse_array(sparse, i));
        if (!given_name) (*position)++;
    }
    if (code != HOST_OK) return code;
    code = ptoi_matrix_bind(&m, d.rows / d.block[0], d.columns / d.block[1], c->dims, c->origin, &c->error);
    if (code != HOST_OK) c->complaint = PTO_COMPLAINT_SHAPE;
    return code;
}

/* ---- matrices that the call makes -------------------------------------------------------------------------------- */

/* The format whose arrays are the fields of this struct; of those that have the same, a matrix of blocks has values of
 * rank 3.  -1: none. */
static int format_of(const struct calling *c, const struct matrix_formal *m)
{
    for (int format = 0; format < PTO_FORMAT_COUNT; format++) {
        const char *const *const fields = ptoi_matrix_fields[format];
        int found = 0, wanted = 0, val = -1;
        for (; wanted < PTO_SPARSE_ARRAYS && fields[wanted]; wanted++) {
            val = ptoi_matrix_field(m, fields[wanted]);
            found += val >= 0;
        }
        if (found < wanted) continue;
        if (format != PTO_CSR) return format;
        const bool by_columns = ptoi_matrix_is_by_columns(m);
        if (c->entry->formals[val].rank == 3) return by_columns ? PTO_BSC : PTO_BSR;
        return by_columns ? PTO_CSC : PTO_CSR;
    }
    return -1;
}

/* The value of an extent: a number or a dimension variable.  -1: it is neither. */
static int64_t extent_value(const struct calling *c, const char *extent)
{
    while (*extent == ' ') extent++;
    const size_t length = strcspn(extent, " ,]");
    char *end;
    const long long number = strtoll(extent, &end, 10);
    if (length > 0 && end == extent + length) return number;
    const int32_t v = ptoi_matrix_dim(c->entry, extent);
    return v >= 0 ? c->dims[v] : -1;
}

int ptoi_call_give_made_matrix(struct calling *c, const char *given_name, int32_t *position, PTOSparse **to)
{
    size_t length = 0;
    const char *const name = name_of(c, given_name, *position, &length);
    if (!to || !name || c->matrix_count == MATRICES)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT,
                                  "there is no formal for the sparse matrix, or no variable");
    struct matrix_formal formal = ptoi_matrix_formal(c->entry, name, length);
    const char *const arrow = strstr(c->entry->head, "->");
    if (!formal.extents && arrow && length == strlen("result") && strncmp(name, "result", length) == 0 &&
        strchr(arrow, '['))
        formal.extents = strchr(arrow, '[') + 1;
    const char *const columns = ptoi_matrix_columns(&formal);
    const int format = columns ? format_of(c, &formal) : -1;
    if (format < 0 || extent_value(c, formal.extents) < 0 || extent_value(c, columns) < 0)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT,
                                  "'%.*s' of '%s' is no struct with the arrays of a sparse matrix, and with rows and "
                                  "columns that are dimension variables or numbers",
                                  (int)length, name, c->entry->name);
    struct made_matrix *m = &c->matrices[c->matrix_count];
    *m = (struct made_matrix){.to = to, .format = (PTOFormat)format, .extent = {formal.extents, columns}};
    const char *const *const fields = ptoi_matrix_fields[format];
    for (int i = 0; i < PTO_SPARSE_ARRAYS && fields[i]; i++) {
        const int32_t f = ptoi_matrix_field(&formal, fields[i]);
        if (c->given[f].is_given) return ptoi_call_complain_twice(c, c->entry->formals[f].name);
        if (c->entry->formals[f].direction != PTO_OUT)
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%.*s' is not 'out': a call makes what is 'out'",
                                      (int)length, name);
        c->given[f].is_given = true;
        c->given[f].result = &m->array[i];
        if (!given_name) (*position)++;
    }
    for (int32_t i = 0; i < c->matrix_count; i++)
        if (c->matrices[i].to == to)
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "two PTO_RS have one variable");
    c->matrix_count++;
    return HOST_OK;
}

static PTOStatus make_matrix(struct calling *c, const struct made_matrix *m)
{
    PTODescription val = {.rank = 0};
    int64_t block[2] = {1, 1};
    if ((m->format == PTO_BSR || m->format == PTO_BSC) && pto_tensor_describe(m->array[2], &val) == PTO_OK)
        block[0] = val.shape[1], block[1] = val.shape[2];
    *m->to = pto_sparse_make(m->format, extent_value(c, m->extent[0]) * block[0],
                             extent_value(c, m->extent[1]) * block[1], m->array, PTO_CHECK_SHAPE);
    return *m->to ? PTO_OK : pto_last_status();
}

PTOStatus ptoi_call_make_matrices(struct calling *c)
{
    PTOStatus status = PTO_OK;
    for (int32_t i = 0; i < c->matrix_count; i++) {
        if (status == PTO_OK) status = make_matrix(c, &c->matrices[i]);
        for (int a = 0; a < PTO_SPARSE_ARRAYS; a++) pto_tensor_release(c->matrices[i].array[a]);
    }
    if (status == PTO_OK) return PTO_OK;
    host_fail(&c->error, HOST_INTERNAL, "the sparse matrix: %s", pto_last_error(NULL));
    for (int32_t i = 0; i < c->matrix_count; i++) {
        pto_sparse_release(*c->matrices[i].to);
        *c->matrices[i].to = NULL;
    }
    c->has_run = false; /* the message is not of the run */
    return status;
}
