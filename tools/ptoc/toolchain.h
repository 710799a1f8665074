/* toolchain.h - the C compiler and the linker: their command lines, and what they have read. */
#ifndef PTOC_TOOLCHAIN_H
#define PTOC_TOOLCHAIN_H
#include "options.h"
#include "reads.h"

struct toolchain {
    const struct options *o;
    struct arena *mem;
    const char *prefix; /* the folder that ptoc is installed in */
    const char *temp_dir;
    struct reads *reads; /* NULL: nobody wants to know */
};

/* The command lines of the compiler and the linker, without the names of temporary files. */
void toolchain_describe(const struct toolchain *t, struct strbuf *key);

/* NULL: what the compiler reads can be found out.  Else why not. */
const char *toolchain_is_opaque(const struct toolchain *t);

/* Writes the text as STEM.c, compiles it and the C files of the command line, and links all into `output`.  Messages
 * are on standard error; returns an exit code. */
int toolchain_build(const struct toolchain *t, const char *stem, const struct strbuf *text, const char *output);

/* What the C compiler says about a text, in English; nothing is made.  false: it could not be asked. */
bool toolchain_ask(const struct options *o, const struct strbuf *text, struct strbuf *said);

#endif
