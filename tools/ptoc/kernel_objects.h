/* kernel_objects.h - kernels in index notation, compiled apart from the orchestration and kept one by one: one that was
 * compiled before is not compiled again, whatever else of its program changes. */
#ifndef PTOC_KERNEL_OBJECTS_H
#define PTOC_KERNEL_OBJECTS_H
#include "codegen.h"
#include "toolchain.h"

/* objects: has room for a path for each part; gets those of *object_count objects, below t->temp_dir, which together
 * have all kernels.  Messages are on standard error; returns an exit code. */
int kernel_objects_make(const struct toolchain *t, const struct codegen_parts *parts, const char **objects,
                        size_t *object_count);

#endif
