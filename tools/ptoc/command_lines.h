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
void command_add_libraries(words *argv, const struct toolchain *t);

#endif
