/* types.h - the types of expressions. */
#ifndef PTOC_TYPES_H
#define PTOC_TYPES_H
#include "size.h"
#include <pto/pto_limits.h>

#define MAX_RANK    PTO_MAX_RANK
#define MAX_FORMALS PTO_MAX_PARAMS

enum elem {
    ELEM_NONE,
    ELEM_F16,
    ELEM_BF16,
    ELEM_F32,
    ELEM_F64,
    ELEM_I8,
    ELEM_I16,
    ELEM_I32,
    ELEM_I64,
    ELEM_U8,
    ELEM_U16,
    ELEM_U32,
    ELEM_U64,
    ELEM_BOOL
};

enum type_kind {
    TYPE_ERROR, /* already reported; agrees with everything */
    TYPE_VOID,
    TYPE_INT, /* i64 */
    TYPE_F64,
    TYPE_F32,
    TYPE_BOOL,
    TYPE_STRING,
    /* elem, rank, extent; also an array of tensors or of scalars: the first array_rank dimensions are those of
     * arrays */
    TYPE_TENSOR,
    /* a tiled view: elem, rank; extent: tiles a dimension; tile: extent of a full tile; whole: extent of the tensor */
    TYPE_GRID,
    TYPE_STRUCT, /* structure, extent: its dimension arguments (rank many) */
    TYPE_ARRAY   /* of structs: element (a STRUCT, or another ARRAY), extent[0], rank 1 */
};

struct type {
    enum type_kind kind;
    enum elem elem;
    int rank, array_rank;
    const struct size *extent[MAX_RANK];
    const struct size *tile[MAX_RANK];
    const struct size *whole[MAX_RANK];
    const struct type *element;
    const struct symbol *structure;
    const struct symbol *variable; /* elem NONE: the element type of a generic kernel that stands for it */
};

const char *elem_name(enum elem e);               /* "f32" */
const char *type_elem_name(const struct type *t); /* "f32"; "E" in a generic kernel */
enum elem elem_named(const char *name);           /* ELEM_NONE: none has that name */
int elem_bytes(enum elem e);
bool type_is_scalar(const struct type *t); /* INT F64 F32 BOOL */
bool type_is_struct(const struct type *t); /* a struct, or an array of structs */
/* `array[n] of i64`: the orchestrator's own, elements are plain values */
bool type_is_scalar_array(const struct type *t);
struct strbuf;
void type_text(const struct type *t, struct strbuf *out); /* "f32[64, N]" */

#endif
