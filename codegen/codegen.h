/* codegen.h - checked program to C: all that the driver calls. */
#ifndef PTOC_CODEGEN_H
#define PTOC_CODEGEN_H
#include "memory_plan.h"
#include "sema/sema.h"
#include "support/strbuf.h"
#include "support/vec.h"

/* Checks a program: sema_check() and the passes that report with it. */
struct checked *codegen_check(struct front *front, const char *path, const struct sema_options *options);

/* A kernel in index notation as a C file of its own: orchestrations change more often than their kernels. */
struct codegen_part {
    struct strbuf name; /* of the function, and of the file without .c */
    struct strbuf text;
};

struct codegen_parts {
    VEC(struct codegen_part) list;
    bool are_all;     /* no body of a kernel is left in the program's file */
    bool defines_all; /* with the program's file: every kernel that is called */
};

void codegen_parts_free(struct codegen_parts *parts);

struct codegen_options {
    const char *input; /* the main file as the user named it, for the heading */
    bool no_line;      /* no #line */
    bool no_fma;       /* kernels in index notation round a product and its addition apart */
    const char *cpu;   /* base, v3 or v4: the only level of kernels in index notation; NULL: every level */
    struct memory_plan memory;
    bool checked;                /* every run of the program is checked */
    bool no_main;                /* no main(): for a C host program */
    const char *prefix;          /* of every name that such a program sees, or NULL */
    bool is_shared;              /* no main() either: the table is exported */
    struct codegen_parts *parts; /* NULL: codegen_c() prints one file with all kernels */
};

/* The whole translation unit, or the one that calls the parts.  What cannot be lowered is reported as E99 through
 * front->diag; then *out is not to be used. */
void codegen_c(struct front *front, const struct checked *checked, const struct codegen_options *options,
               struct strbuf *out);

/* The C bodies of kernels, called or not, for a C compiler to look at; see bodies.h. */
void codegen_bodies(struct front *front, const struct checked *checked, const struct codegen_options *options,
                    struct strbuf *out);

/* Declarations for a C program that calls the exports, and for one that implements the external kernels. */
void codegen_header(struct front *front, const struct checked *checked, const struct codegen_options *options,
                    struct strbuf *out);

/* --emit=kernels: the kernels as C functions of the argument block of docs/ascend.md. */
void codegen_kernels(struct front *front, const struct checked *checked, const struct codegen_options *options,
                     struct strbuf *out);

/* --emit=ascendc: the kernels as sources for a device, but for what they compute. */
void codegen_ascendc(struct front *front, const struct checked *checked, const struct codegen_options *options,
                     struct strbuf *out);

/* --emit=bounds: for each function and scope how much heap it needs, and by which statement. */
void codegen_bounds(struct front *front, const struct checked *checked, const struct codegen_options *options,
                    struct strbuf *out);

/* --emit=memory: for each function where each tensor lies, and why. */
void codegen_memory(struct front *front, const struct checked *checked, const struct codegen_options *options,
                    struct strbuf *out);

/* The words of --dump, whose sets have a bit for each.  USES is what codegen_check() shows. */
enum dump {
#define DUMP(id, word) DUMP_##id,
#include "passes.def"
    DUMP_COUNT
};
extern const char *const codegen_dump_words[DUMP_COUNT];

/* --dump: what the analyses of memory decided, a line a decision; the IR, a line an operation.  last: the pass after
 * which it is shown; NULL: what is printed as C. */
void codegen_dump(struct front *front, const struct checked *checked, const struct memory_plan *memory, unsigned dumps,
                  const char *last, struct strbuf *out);
bool codegen_has_pass(const char *name);

/* --emit=types: every declaration of the program with its type; std/ is left out. */
void codegen_types(struct front *front, const struct checked *checked, const struct codegen_options *options,
                   struct strbuf *out);

/* --emit=grad: the main file with the items that `@grad` asked for in its place. */
void codegen_grad(struct front *front, const struct checked *checked, const struct codegen_options *options,
                  struct strbuf *out);

/* --emit=tasks: for each function the tasks that it submits, and what each may have to wait for. */
void codegen_tasks(struct front *front, const struct checked *checked, const struct codegen_options *options,
                   struct strbuf *out);

/* The same of one function, without a plan of the program. */
void codegen_tasks_of(struct front *front, const struct checked *checked, const struct symbol *orch,
                      struct strbuf *out);

/* Of dimensions and integer formals of the entry: what a run is given. */
struct codegen_run {
    const char *entry; /* NULL: every exported function */
    const struct define *values;
    int value_count;
};
/* The bytes of a heap ring in which every exported function completes, of those whose need is a number in that run; -1:
 * of none it is. */
int64_t codegen_least_ring(struct front *front, const struct checked *checked, int rings,
                           const struct codegen_run *run);

/* E14 for what surely does not fit into so many rings of so many bytes, in that run or in any. */
void codegen_check_heap(struct front *front, const struct checked *checked, int64_t heap_bytes, int rings,
                        const struct codegen_run *run);

bool codegen_has_entry(const struct checked *checked); /* any `export orch` in the main file? */

/* The C function that does the work of a kernel without body; NULL: it has a body. */
const char *codegen_kernel_symbol(const struct symbol *kernel);

#endif
