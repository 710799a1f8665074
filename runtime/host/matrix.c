/* matrix.c - see matrix.h. */
#include "matrix.h"
#include "bind.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

const char *const ptoi_matrix_fields[PTO_FORMAT_COUNT][PTO_SPARSE_ARRAYS] = {
    [PTO_CSR] = {"ptr", "idx", "val"}, [PTO_CSC] = {"ptr", "idx", "val"}, [PTO_COO] = {"row", "column", "val"},
    [PTO_BSR] = {"ptr", "idx", "val"}, [PTO_BSC] = {"ptr", "idx", "val"}, [PTO_CSR4] = {"first", "last", "idx", "val"},
};

/* Behind the `[` of the declaration of this formal in the head of the entry; NULL: there is none. */
static const char *find_extents(const char *head, const char *name, size_t length)
{
    for (const char *at = head; (at = strstr(at, ":")) != NULL; at++) {
        const char *end = at;
        while (end > head && end[-1] == ' ') end--;
        if ((size_t)(end - head) <= length || strncmp(end - length, name, length) != 0) continue;
        if (isalnum((unsigned char)end[-(ptrdiff_t)length - 1]) || end[-(ptrdiff_t)length - 1] == '_') continue;
        const char *after = at;
        for (int depth = 0; *after && (depth > 0 || !strchr("[,)", *after)); after++)
            depth += *after == '<' ? 1 : *after == '>' ? -1 : 0;
        return *after == '[' ? after + 1 : NULL;
    }
    return NULL;
}

struct matrix_formal ptoi_matrix_formal(const PTOEntry *entry, const char *name, size_t length)
{
    return (struct matrix_formal){entry, name, length, find_extents(entry->head, name, length)};
}

int32_t ptoi_matrix_field(const struct matrix_formal *m, const char *field)
{
    for (int32_t f = 0; f < m->entry->formal_count; f++) {
        const char *const text = m->entry->formals[f].name;
        if (strncmp(text, m->name, m->length) == 0 && text[m->length] == '.' &&
            strcmp(text + m->length + 1, field) == 0)
            return f;
    }
    return -1;
}

const char *ptoi_matrix_columns(const struct matrix_formal *m)
{
    const char *const comma = m->extents ? strchr(m->extents, ',') : NULL;
    return comma ? comma + 1 : NULL;
}

/* Where the extent begins, and its length. */
static const char *extent_text(const char *extent, size_t *length)
{
    while (*extent == ' ') extent++;
    *length = strcspn(extent, " ,]");
    return extent;
}

int32_t ptoi_matrix_dim(const PTOEntry *entry, const char *extent)
{
    size_t length;
    const char *const text = extent_text(extent, &length);
    const char after = text[length + strspn(text + length, " ")];
    for (int32_t v = 0; (after == ',' || after == ']') && v < entry->dim_count; v++)
        if (strlen(entry->dims[v]) == length && strncmp(entry->dims[v], text, length) == 0) return v;
    return -1;
}

bool ptoi_matrix_is_by_columns(const struct matrix_formal *m)
{
    const char *const second = ptoi_matrix_columns(m);
    const int32_t ptr = ptoi_matrix_field(m, "ptr"), rows = m->extents ? ptoi_matrix_dim(m->entry, m->extents) : -1,
                  columns = second ? ptoi_matrix_dim(m->entry, second) : -1;
    if (ptr >= 0 && m->entry->formals[ptr].rank == 1 && rows >= 0 && columns >= 0 && rows != columns) {
        const uint64_t uses = m->entry->formals[ptr].uses[0];
        const bool has_rows = uses >> rows & 1, has_columns = uses >> columns & 1;
        if (has_rows != has_columns) return has_columns;
    }
    const char *kind = m->extents;
    while (kind && kind > m->entry->head && strchr(" .:", kind[-1]) == NULL) kind--;
    for (; kind && kind < m->extents; kind++)
        if (strncasecmp(kind, "csc", 3) == 0 || strncasecmp(kind, "bsc", 3) == 0) return true;
    return false;
}

static int complain(const struct matrix_formal *m, const char *what, int64_t value, const char *extent,
                    int64_t declared, struct host_error *e)
{
    size_t length;
    const char *const text = extent_text(extent, &length);
    return host_fail(e, HOST_FILE, "'%.*s' has %" PRId64 " %s, declared '%.*s', which is %" PRId64, (int)m->length,
                     m->name, value, what, (int)length, text, declared);
}

static int bind_extent(const struct matrix_formal *m, const char *extent, const char *what, int64_t value,
                       int64_t *dims, int32_t *origin, struct host_error *e)
{
    size_t length;
    char *end;
    if (!extent) return HOST_OK;
    const char *const text = extent_text(extent, &length);
    const long long number = strtoll(text, &end, 10);
    const char after = text[length + strspn(text + length, " ")];
    const bool is_number = end == text + length && length > 0 && (after == ',' || after == ']');
    if (is_number && number != value) return complain(m, what, value, extent, number, e);
    const int32_t v = ptoi_matrix_dim(m->entry, extent);
    if (v < 0) return HOST_OK;
    if (origin[v] == BIND_OPTION && dims[v] != value) return complain(m, what, value, extent, dims[v], e);
    origin[v] = BIND_OPTION;
    dims[v] = value;
    return HOST_OK;
}

int ptoi_matrix_bind(const struct matrix_formal *m, int64_t rows, int64_t columns, int64_t *dims, int32_t *origin,
                     struct host_error *e)
{
    const int code = bind_extent(m, m->extents, "rows", rows, dims, origin, e);
    return code == HOST_OK ? bind_extent(m, ptoi_matrix_columns(m), "columns", columns, dims, origin, e) : code;
}
