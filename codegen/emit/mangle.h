/* mangle.h - C names for the user's names. */
#ifndef PTOC_MANGLE_H
#define PTOC_MANGLE_H
#include "support/arena.h"
#include "support/vec.h"
#include <stdbool.h>
#include <stdint.h>

/* Names in use: of the file for ever, of a function until the block that declares them is closed. */
struct name_in_use {
    const char *text; /* NULL: free again */
    uint64_t hash;
    size_t older; /* the one before in the same bucket, counted from 1 */
    /* P_2, P_3 ... are tried from the last number that P was given: the numbers below it are all taken. */
    size_t base;            /* of a numbered name: the name without the number, counted from 1 */
    int number;             /* of a numbered name */
    size_t last_numbered;   /* of a base: its newest numbered name, counted from 1 */
    size_t numbered_before; /* of a numbered name: what was the newest before it */
};

struct names {
    struct arena *mem;
    VEC(struct name_in_use) active;
    size_t *bucket; /* the newest name of each, counted from 1 */
    size_t bucket_count;
};

bool mangle_is_reserved(const char *name); /* a word of C, a macro, a name of libc or of the runtime */
bool mangle_is_c_keyword(const char *name);
bool mangle_is_c_identifier(const char *name);
/* "w_wx" for "w.wx", "axpy_f32" for "axpy<f32>". */
const char *mangle_plain(struct arena *mem, const char *name);
bool names_is_taken(const struct names *n, const char *name);
const char *names_take(struct names *n, const char *wanted); /* wanted itself, or with `_` or `_2` ... behind it */
void names_force(struct names *n, const char *name);         /* exactly this name */
bool names_force_free(struct names *n, const char *const *names,
                      int count); /* exactly these, or none if one is taken */
size_t names_mark(const struct names *n);
void names_close(struct names *n, size_t mark);       /* what was taken since then is free again */
void names_free_first(struct names *n, size_t count); /* the first that were taken may be taken by others */
void names_free(struct names *n);

#endif
