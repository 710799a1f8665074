/* names.h - every name in the text of a result, and where it is declared. */
#ifndef PTOC_LSP_NAMES_H
#define PTOC_LSP_NAMES_H
#include "result.h"

enum name_kind {
    NAME_MODULE,
    NAME_STRUCT,
    NAME_FIELD,
    NAME_KERNEL,
    NAME_FUNCTION,
    NAME_CONSTANT, /* const, param */
    NAME_DIMENSION,
    NAME_ELEMENTS, /* an element type of a generic kernel */
    NAME_FORMAL,   /* a scalar */
    NAME_SCALAR,   /* let, var */
    NAME_TENSOR,   /* a tensor or a struct with tensors: formal, let, var */
    NAME_VIEW,
    NAME_INDEX /* of a loop, or in index notation */
};

struct name_use {
    struct span at;
    struct span declared;        /* the same name where it is declared; of kernels of one name the first of them */
    const struct symbol *symbol; /* NULL: in index notation, or below an error */
    const struct ast *node;      /* the node that has the name; NULL: it is in C */
    enum name_kind kind;
    bool declares;
    bool is_path; /* a module without `as`: the stem of its path */
    bool is_in_c; /* in the C body of a kernel */
};

struct name_list { /* a VEC */
    struct name_use *data;
    size_t count, capacity;
};

/* All of them, in the order of file and place. */
const struct name_list *result_names(struct result *r);
/* The name that the place is in or touches; NULL: there is none. */
const struct name_use *names_at(const struct name_list *names, uint32_t file, size_t offset);
/* Where the symbol itself is declared: of kernels of one name this one.  false: nowhere in a text. */
bool names_declaration(const struct symbol *s, struct span *at);

#endif
