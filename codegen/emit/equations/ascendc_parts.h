/* ascendc_parts.h - what the printers of AscendC share; no other file includes it.
 *
 *   ascendc.c         the kernel: which statement is of a row, passes over its pieces, local memory
 *   ascendc_cube.c    a contraction on a cube core
 *   ascendc_value.c   values: numbers of a row, loads of pieces, instructions */
#ifndef PTOC_EMIT_ASCENDC_PARTS_H
#define PTOC_EMIT_ASCENDC_PARTS_H
#include "parts.h"

enum { MOST = 32 };

/* A value: a float of C++, or the name of a local tensor. */
struct value {
    bool is_scalar;
    const char *text;
    int temp; /* the temporary that it is, free after its use; -1: none */
};

struct piece_load {
    const char *formal, *offset, *stride;
};

struct ascendc {
    struct eq_printer p;
    const struct equations *q;
    struct arena *mem;
    int rows;                   /* variables of a row */
    const struct eq_stmt *main; /* the statement that says over what they run */
    const struct eq_var **main_vars;
    const struct symbol *column;    /* of the statement or reduction that is printed; NULL: it is of the row */
    struct out before, loads, work; /* of a pass: numbers of the row, loads, instructions */
    struct piece_load load[MOST];   /* of the pass */
    int load_count, most_loads;
    bool is_used[MOST];
    int most_temps;
    int numbers; /* names given to numbers of a row */
    bool has_mask;
    const struct eq_expr *root;        /* its result is `y` */
    const struct eq_expr *known[MOST]; /* reductions that were done, and their names */
    const char *known_name[MOST];
    int known_count;
    bool is_shared;  /* the cores share the pieces of the only row */
    const char *why; /* it cannot be printed; at `at` */
    struct span at;
};

/* ---- ascendc.c ---- */
/* The variables of a statement in the order of the dimensions that it writes; -1: some dimension has another index. */
int ascendc_target_vars(struct ascendc *a, const struct eq_stmt *s, const struct eq_var **vars);
/* Gives every variable of a row the name of its place in the row; false: refused. */
bool ascendc_name_rows(struct ascendc *a, const struct eq_stmt *s, const struct eq_var *const *vars, int count);

/* ---- ascendc_cube.c ---- */
/* NULL, or why there is none: at *at, with nothing printed. */
const char *ascendc_emit_cube(struct emitter *e, const struct symbol *kernel, struct span *at);

/* ---- ascendc_value.c ---- */
struct value ascendc_refuse(struct ascendc *a, struct span at, const char *why); /* the first reason stays */
struct value ascendc_value(struct ascendc *a, const struct eq_expr *x);
struct value ascendc_element(struct ascendc *a, const struct eq_access *x); /* of a formal */
struct value ascendc_new_temp(struct ascendc *a);
struct value ascendc_as_tensor(struct ascendc *a, struct value v);
/* Offset where the piece begins, and the distance between its elements ("": it is one number of the row). */
bool ascendc_locate(struct ascendc *a, const struct eq_access *x, const char **offset, const char **stride);
bool ascendc_reads_written(const struct ascendc *a,
                           const struct eq_stmt *s); /* it reads an array that the kernel writes */
bool ascendc_is_plain(const struct size *s); /* a sum of products of names: it has one meaning in both languages */
const char *ascendc_let_name(struct ascendc *a, const struct eq_temp *t);
const char *ascendc_number_name(struct ascendc *a);

#endif
