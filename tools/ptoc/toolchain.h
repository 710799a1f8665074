/* toolchain.h - the C compiler and the linker: their command lines, and what they have read. */
#ifndef PTOC_TOOLCHAIN_H
#define PTOC_TOOLCHAIN_H
#include "options.h"
#include "reads.h"
#include "support/vec.h"

struct toolchain {
    const struct options *o;
    struct arena *mem;
    const char *prefix; /* the folder that ptoc is installed in */
    const char *temp_dir;
    const char *level;    /* the only one of kernels, where it is not that of this machine; or NULL */
    bool is_ahead;        /* what is compiled becomes a part of an installation, wherever that is */
    bool only_submits;    /* no C of the user stands in the program's file */
    bool defines_kernels; /* none that it calls is in a library */
    struct reads *reads;  /* NULL: they are not collected */
};

/* base, v3 or v4: the level of this machine for kernels in index notation, as pto_cpu() of the runtime sees it.  NULL:
 * its kernels have one level. */
const char *toolchain_level_of_machine(void);

/* Nothing else uses what is built, and the user waits for the C compiler; or it was made ahead for that. */
bool toolchain_is_for_one_run(const struct toolchain *t);

/* New kernels are one file: what the user waits for is the compiler's start, once for each of them. */
bool toolchain_compiles_together(const struct toolchain *t);

/* The command lines of the compiler and the linker, without the names of temporary files. */
void toolchain_describe(const struct toolchain *t, struct strbuf *key);

/* The same of the compiler alone, for one file that ptoc wrote. */
void toolchain_describe_compiler(const struct toolchain *t, struct strbuf *key);

/* The same for a kernel, whatever the installation and the working folder.  False: an environment variable is set that
 * the compiler of a kernel may hear. */
bool toolchain_describe_kernel(const struct toolchain *t, struct strbuf *key);

/* NULL: what the compiler and the linker read can be found out; what the compiler reads.  Else why not. */
const char *toolchain_is_opaque(const struct toolchain *t);
const char *toolchain_compiler_is_opaque(const struct toolchain *t);

/* A C file that is to be compiled.  what: for a message; NULL: the program. */
struct compilation {
    const struct toolchain *t;
    enum compilation_origin { COMPILES_PROGRAM, COMPILES_KERNEL, COMPILES_INPUT } origin;
    const char *source, *object, *what;
};
typedef VEC(struct compilation) compilations;

/* Writes kernels that are a file of their own, by the name of the first; the text as STEM.c.  They and the C files of
 * the command line are to be compiled.  Return an exit code, after a message. */
int toolchain_add_kernel(const struct toolchain *t, const char *name, const struct strbuf *text, const char *object,
                         compilations *work);
int toolchain_add_program(const struct toolchain *t, const char *stem, const struct strbuf *text, compilations *work);
/* Compiles all, as many at a time as there are processors.  Messages are on standard error; returns an exit code. */
int toolchain_compile(const compilations *work);
/* Links all, with the objects of kernels, into `output`.  Messages are on standard error; returns an exit code. */
int toolchain_link(const struct toolchain *t, const char *stem, const char *const *kernels, size_t kernel_count,
                   const char *output);
/* Adds to t->reads the compiler, and where it looks for headers. */
void toolchain_note_compiler(const struct toolchain *t);
/* Adds to t->reads the headers that a text reads where it is in a kernel's file.  False: the compiler does not
 * answer. */
bool toolchain_note_headers(const struct toolchain *t, const struct strbuf *text);

/* What the C compiler says about a text, in English, and its exit code; nothing is made.  Returns EXIT_OK also where
 * the text is refused; another exit code, after a message, where the compiler could not be asked. */
int toolchain_check(const struct toolchain *t, const struct strbuf *text, struct strbuf *said, int *code);

/* The C compiler or the linker ended with a code above 0: prints its words and what is refused, or that a file could
 * not be written, or that it failed itself.  Returns an exit code. */
int toolchain_refused(int code, const char *said, const char *what);

#endif
