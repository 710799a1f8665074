/* call_sparse.c - a sparse matrix as an argument: its arrays are the fields of a struct formal.
 * Idea       the fields have the names that pto_sparse.h gives the arrays of the format.  No array determines the
 *            columns of a CSR matrix, so rows and columns are bound by the declaration, `a: sparse.Csr[R, C, Z]`.
 *            Those of a matrix of blocks are counted in blocks.
 * Tests      test/call/test_call.c
 */
#include "call.h"
#include <ctype.h>
#include <inttypes.h>

static const char *const fields[PTO_FORMAT_COUNT][PTO_SPARSE_ARRAYS] = {
    [PTO_CSR] = {"ptr", "idx", "val"}, [PTO_CSC] = {"ptr", "idx", "val"}, [PTO_COO] = {"row", "column", "val"},
    [PTO_BSR] = {"ptr", "idx", "val"}, [PTO_BSC] = {"ptr", "idx", "val"}, [PTO_CSR4] = {"first", "last", "idx", "val"},
};

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
    const char *full = given_name;
    if (!full && *position < c->entry->formal_count) full = c->entry->formals[*position].name;
    if (pto_sparse_describe(sparse, &d) != PTO_OK || !full)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "there is no formal for the sparse matrix, or it is NULL");
    const size_t length = given_name ? strlen(full) : strcspn(full, ".");
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
