/* ahead.h - objects of kernels that were compiled with ptoc itself, so that a program that was never seen need not wait
 * for them.  They lie in PREFIX/lib/pto/kernels/LEVEL, in the form of the cache, and nothing writes there but
 * `ptoc build --emit=objects`.
 *
 * The file `facts` of the folder says what all its objects were made from but for the texts of their kernels: the
 * compiler's words, its programs and the headers by their contents.  Its digest is a part of the key of each object. */
#ifndef PTOC_AHEAD_H
#define PTOC_AHEAD_H
#include "cache.h"
#include "codegen.h"
#include "toolchain.h"

struct ahead {
    const struct toolchain *t;
    struct cache cache;
    struct strbuf facts, headers; /* headers: the lines of C whose headers count */
    enum { AHEAD_UNKNOWN, AHEAD_HOLDS, AHEAD_HOLDS_NOT } state;
};

/* Finds nothing where the words of the compiler, or the environment, are others. */
void ahead_open(struct ahead *a, const struct toolchain *t);
void ahead_close(struct ahead *a);
/* As cache_find.  The first that is found costs a look at what the compiler is and what it reads, and that is added to
 * t->reads. */
int ahead_find(struct ahead *a, const struct codegen_part *kernel, char **path);

/* Makes the objects of a folder, or those that it lacks, in a folder for each level.  Messages are on standard error;
 * returns an exit code. */
int ahead_make(const struct toolchain *t, const struct codegen_parts *kernels, const char *folder);

#endif
