/* command_lines.h - the words of the C compiler and of the linker, but for the names of temporary files. */
#ifndef PTOC_COMMAND_LINES_H
#define PTOC_COMMAND_LINES_H
#include "support/vec.h"
#include "toolchain.h"

typedef VEC(const char *) words;

void command_add_compiler(words *argv, const struct toolchain *t);
void command_add_common(words *argv, const struct toolchain *t);  /* options for any C file */
void command_add_strict(words *argv, const struct toolchain *t);  /* for C that ptoc wrote */
void command_add_kernel(words *argv, const struct toolchain *t);  /* for a kernel in index notation */
void command_add_program(words *argv, const struct toolchain *t); /* for the orchestration */

/* The user waits for the linker, more than for the program: a run, or a build with -O0.  Such a link is tried first;
 * where it fails, the plain one says why. */
bool command_links_quickly(const struct toolchain *t);
void command_add_quick_link(words *argv);
/* is_quick: not those that nothing of ours refers to. */
void command_add_libraries(words *argv, const struct toolchain *t, bool is_quick);

#endif
