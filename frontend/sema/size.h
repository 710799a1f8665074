/* size.h - integers the compiler knows symbolically: extents, strides, offsets, indices.
 *
 * Immutable, hash-consed in the front end's arena: structurally equal sizes are equal pointers.  The constructors
 * normalise (constants folded, sums flattened and sorted, like terms joined), so `i + 1 - i` is the constant 1.  A
 * `let` keeps its own symbol, so that printed code names it; size_expand() replaces it by its definition when two sizes
 * are compared. */
#ifndef PTOC_SIZE_H
#define PTOC_SIZE_H
#include <stdbool.h>
#include <stdint.h>

struct symbol;
struct arena;
struct strbuf;

enum size_kind {
    SIZE_CONST,  /* value */
    SIZE_SYMBOL, /* an i64 name: const, param, dimension variable, let, var, loop variable, scalar formal */
    SIZE_STRIDE, /* stride `dim` (elements) of the tensor formal, or of the function's result_place, `symbol` */
    SIZE_AT,     /* offset (elements) of the tensor formal, or of the function's result_place, `symbol` */
    /* symbol->captured[dim]: a size that named a `var`, stored where `symbol` (LET or VIEW) was declared */
    SIZE_EXTENT,
    SIZE_ADD, /* sum of count args */
    SIZE_MUL, /* product of count args; a constant factor comes first */
    SIZE_DIV,
    SIZE_MOD,
    SIZE_MINIMUM,
    SIZE_MAXIMUM,
    SIZE_CEIL_DIV,
    SIZE_OR, /* of bits */
    SIZE_XOR,
    SIZE_AND,
    SIZE_SHL,
    SIZE_SHR, /* two args */
    SIZE_ABS,
    SIZE_LOG2 /* one arg */
};

struct size { /* a large program has one for every four bytes of its text */
    enum size_kind kind : 8;
    int dim : 24;
    int count;
    int64_t value;
    const struct symbol *symbol;
    const struct size *const *arg;
};

struct size_table; /* the hash-consing table; lives in the arena */

struct size_table *size_table_create(struct arena *mem);
const struct size *size_const(struct size_table *t, int64_t value);
const struct size *size_symbol(struct size_table *t, const struct symbol *s);
/* STRIDE AT EXTENT */
const struct size *size_leaf(struct size_table *t, enum size_kind kind, const struct symbol *s, int dim);
/* NULL when a constant of the result overflows, or the result of constants has no value (the caller reports E15 of
 * constants; of others the run computes the value). */
const struct size *size_binary(struct size_table *t, enum size_kind kind, const struct size *a, const struct size *b);
const struct size *size_sub(struct size_table *t, const struct size *a, const struct size *b);
const struct size *size_unary(struct size_table *t, enum size_kind kind, const struct size *a);
/* All bits the other way: -1 - a, which always has a value; NULL where no size says it. */
const struct size *size_complement(struct size_table *t, const struct size *a);
const struct size *size_expand(struct size_table *t, const struct size *a); /* lets replaced by their definitions */
/* Every symbol from[i] replaced by to[i].  NULL when a constant overflows or divides by zero. */
const struct size *size_substitute(struct size_table *t, const struct size *a, const struct symbol *const *from,
                                   const struct size *const *to, int count);
bool size_names(const struct size *a, const struct symbol *s);
/* written out, shared parts as often as they occur; at most limit */
int size_node_count(const struct size *a, int limit);
bool size_names_var(const struct size *a); /* any `var`: its value changes */
uint32_t size_id(const struct size *a);    /* order of creation, the same in every run */
/* The terms of a sum.  mono: NULL for the constant, else an atom or a product of atoms.  Returns how many; at most
 * `max`. */
struct size_term {
    int64_t factor;
    const struct size *mono;
};
int size_terms(struct size_table *t, const struct size *a, struct size_term *terms, int max);
const struct size *size_scale(struct size_table *t, const struct size *a, int64_t factor);
bool size_is_const(const struct size *a, int64_t *value);
void size_text(const struct size *a, struct strbuf *out); /* for messages: "N / 2" */

/* ---- size_linear.c ---- */
/* a as factor * s + rest, neither of which names s; false: a does not name s, or not so. */
bool size_is_linear(struct size_table *t, const struct size *a, const struct symbol *s, const struct size **factor,
                    const struct size **rest);
/* q of q * b == a for all values of what they name, of b == 0 too; NULL: there is none, or it is not found. */
const struct size *size_quotient(struct size_table *t, const struct size *a, const struct size *b);

#endif
