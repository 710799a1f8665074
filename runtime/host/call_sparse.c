/* call_sparse.c - a sparse matrix as an argument, or as a result: its arrays are the fields of a struct formal.
 * Idea       the fields have the names that pto_sparse.h gives the arrays of the format.  No array determines the
 *            columns of a CSR matrix, so rows and columns are bound by the declaration, `a: sparse.Csr[R, C, Z]`.
 *            Those of a matrix of blocks are counted in blocks.
 * Tests      test/call/test_call.c
 */
#include "call.h"
#include <ctype.h>
#include <inttypes.h>
#include <strings.h>

static const char *const fields[PTO_FORMAT_COUNT][PTO_SPARSE_ARRAYS] = {
    [PTO_CSR] = {"ptr", "idx", "val"}, [PTO_CSC] = {"ptr", "idx", "val"}, [PTO_COO] = {"row", "column", "val"},
    [PTO_BSR] = {"ptr", "idx", "val"}, [PTO_BSC] = {"ptr", "idx", "val"}, [PTO_CSR4] = {"first", "last", "idx", "val"},
};

/* The formal that a matrix is given to: by name, or the struct at *position.  NULL: there is none. */
static const char *name_of(const struct calling *c, const char *given, int32_t position, size_t *length)
{
    const char *const full = given                               ? given
                             : position < c->entry->formal_count ? c->entry->formals[position].name
                                                                 : NULL;
    if (full) *length = given ? strlen(full) : strcspn(full, ".");
    return full;
}

/* The number of the formal NAME.FIELD, or -1. */
static int32_t find_field(const struct calling *c, const char *name, size_t length, const char *field)
{
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        const char *const text = c->entry->formals[f].name;
        if (strncmp(text, name, length) == 0 && text[length] == '.' && strcmp(text + length + 1, field) == 0) return f;
    }
    return -1;
}

/* Behind the `[` of the declaration of this formal in the head of the entry; NULL: there is none. */
static const char *find_extents(const char *head, const char *name, size_t length)
{
    for (const char *at = head; (at = strstr(at, name)) != NULL; at += length) {
        const char *after = at + length;
        while (*after == ' ') after++;
        if ((at > head && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) || *after != ':') continue;
        for (int depth = 0; *after && (depth > 0 || !strchr("[,)", *after)); after++)
            depth += *after == '<' ? 1 : *after == '>' ? -1 : 0;
        return *after == '[' ? after + 1 : NULL;
    }
    return NULL;
}

static int complain_of_count(struct calling *c, const char *name, const char *what, int64_t value, const char *extent,
                             size_t length, int64_t declared)
{
    return ptoi_call_complain(c, PTO_COMPLAINT_SHAPE, "'%s' has %" PRId64 " %s, declared '%.*s', which is %" PRId64,
                              name, value, what, (int)length, extent, declared);
}

/* The extent `extent` of the declaration, a dimension variable or a number, is `value`.  The arrays bind
 * an expression. */
static int bind_extent(struct calling *c, const char *extent, const char *name, const char *what, int64_t value)
{
    while (*extent == ' ') extent++;
    const size_t length = strcspn(extent, " ,]");
    if (extent[length + strspn(extent + length, " ")] == '\0' ||
        !strchr(",]", extent[length + strspn(extent + length, " ")]))
        return HOST_OK;
    char *end;
    const long long number = strtoll(extent, &end, 10);
    if (end == extent + length && length > 0 && number != value)
        return complain_of_count(c, name, what, value, extent, length, number);
    for (int32_t v = 0; v < c->entry->dim_count; v++) {
        const char *const dim = c->entry->dims[v];
        if (strlen(dim) != length || strncmp(dim, extent, length) != 0) continue;
        if (c->origin[v] == BIND_OPTION && c->dims[v] != value)
            return complain_of_count(c, name, what, value, extent, length, c->dims[v]);
        c->origin[v] = BIND_OPTION;
        c->dims[v] = value;
    }
    return HOST_OK;
}

int ptoi_call_give_sparse(struct calling *c, const char *given_name, int32_t *position, PTOSparse *sparse)
{
    PTOSparseDescription d;
    char name[128];
    size_t length = 0;
    const char *const full = name_of(c, given_name, *position, &length);
    if (pto_sparse_describe(sparse, &d) != PTO_OK || !full)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "there is no formal for the sparse matrix, or it is NULL");
    snprintf(name, sizeof name, "%.*s", (int)length, full);
    int code = HOST_OK;
    for (int i = 0; i < d.arrays && code == HOST_OK; i++) {
        const int32_t f = find_field(c, name, length, fields[d.format][i]);
        if (f < 0)
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' has no formal '%s.%s' for the sparse matrix",
                                      c->entry->name, name, fields[d.format][i]);
        code = ptoi_call_give_tensor(c, f, pto_sparse_array(sparse, i));
        if (!given_name) (*position)++;
    }
    const char *const rows = find_extents(c->entry->head, name, length), *const comma = rows ? strchr(rows, ',') : NULL;
    if (code == HOST_OK && rows) code = bind_extent(c, rows, name, "rows", d.rows / d.block[0]);
    if (code == HOST_OK && comma) code = bind_extent(c, comma + 1, name, "columns", d.columns / d.block[1]);
    return code;
}

/* ---- matrices that the call makes -------------------------------------------------------------------------------- */

/* The format whose arrays are the fields of this struct; of those that have the same, a matrix of blocks has values of
 * rank 3, and a struct with "csc" in its name has columns first.  -1: none. */
static int format_of(const struct calling *c, const char *name, size_t length, const char *extents)
{
    for (int format = 0; format < PTO_FORMAT_COUNT; format++) {
        int found = 0, wanted = 0, val = -1;
        for (; wanted < PTO_SPARSE_ARRAYS && fields[format][wanted]; wanted++) {
            val = find_field(c, name, length, fields[format][wanted]);
            found += val >= 0;
        }
        if (found < wanted) continue;
        if (c->entry->formals[val].rank == 3) return PTO_BSR;
        const char *kind = extents;
        while (kind > c->entry->head && strchr(" .:", kind[-1]) == NULL) kind--;
        for (; kind < extents && format == PTO_CSR; kind++)
            if (strncasecmp(kind, "csc", 3) == 0) return PTO_CSC;
        return format;
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
    for (int32_t v = 0; v < c->entry->dim_count; v++)
        if (strlen(c->entry->dims[v]) == length && strncmp(c->entry->dims[v], extent, length) == 0) return c->dims[v];
    return -1;
}

int ptoi_call_give_made_matrix(struct calling *c, const char *given_name, int32_t *position, PTOSparse **to)
{
    char name[128];
    size_t length = 0;
    const char *const full = name_of(c, given_name, *position, &length);
    if (!to || !full || c->matrix_count == MATRICES)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT,
                                  "there is no formal for the sparse matrix, or no variable");
    snprintf(name, sizeof name, "%.*s", (int)length, full);
    const char *extents = find_extents(c->entry->head, name, length), *const arrow = strstr(c->entry->head, "->");
    if (!extents && arrow && strcmp(name, "result") == 0 && strchr(arrow, '[')) extents = strchr(arrow, '[') + 1;
    const char *const comma = extents ? strchr(extents, ',') : NULL;
    const int format = comma ? format_of(c, name, length, extents) : -1;
    if (format < 0 || extent_value(c, extents) < 0 || extent_value(c, comma + 1) < 0)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT,
                                  "'%s' of '%s' is no struct with the arrays of a sparse matrix, and with rows and "
                                  "columns that are dimension variables or numbers",
                                  name, c->entry->name);
    struct made_matrix *m = &c->matrices[c->matrix_count];
    *m = (struct made_matrix){.to = to, .format = (PTOFormat)format, .extent = {extents, comma + 1}};
    for (int i = 0; i < PTO_SPARSE_ARRAYS && fields[format][i]; i++) {
        const int32_t f = find_field(c, name, length, fields[format][i]);
        if (c->given[f].is_given) return ptoi_call_complain_twice(c, c->entry->formals[f].name);
        if (c->entry->formals[f].direction != PTO_OUT)
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is not 'out': a call makes what is 'out'", name);
        c->given[f].is_given = true;
        c->given[f].result = &m->array[i];
        if (!given_name) (*position)++;
    }
    c->matrix_count++;
    return HOST_OK;
}

static PTOStatus make_matrix(struct calling *c, const struct made_matrix *m)
{
    PTODescription val = {.rank = 0};
    int64_t block[2] = {1, 1};
    if (m->format == PTO_BSR && pto_tensor_describe(m->array[2], &val) == PTO_OK)
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
