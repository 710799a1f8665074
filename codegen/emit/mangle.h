/* mangle.h - C names for the user's names. */
#ifndef PTOC_MANGLE_H
#define PTOC_MANGLE_H
#include "support/arena.h"
#include "support/vec.h"
#include <stdbool.h>

/* Names in use: of the file for ever, of a function until the block that declares them is closed. */
struct names {
    struct arena *mem;
    VEC(const char *) active;
};

bool        mangle_is_reserved(const char *name);  /* a word of C, a macro, a name of libc or of the runtime */
bool        mangle_is_c_keyword(const char *name);
bool        mangle_is_c_identifier(const char *name);
bool        names_is_taken(const struct names *n, const char *name);
const char *names_take(struct names *n, const char *wanted); /* wanted itself, or with `_` or `_2` ... behind it */
void        names_force(struct names *n, const char *name);  /* exactly this name */

#endif
