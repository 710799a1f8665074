/* kernel_objects.h - kernels in index notation, compiled apart from the orchestration and kept one by one: one that was
 * compiled before is not compiled again, whatever else of its program changes. */
#ifndef PTOC_KERNEL_OBJECTS_H
#define PTOC_KERNEL_OBJECTS_H
#include "ahead.h"
#include "cache.h"
#include "codegen.h"
#include "toolchain.h"

struct kernel_objects {
    const char **objects; /* paths of `count` objects, which together have all kernels; after the end */
    size_t count;

    const struct toolchain *t;
    const struct codegen_parts *parts;
    struct toolchain noting; /* the same that notes what the kernels read */
    struct reads reads;
    struct cache cache;
    struct ahead ahead;
    struct strbuf *keys; /* of each kernel's object */
    bool *is_found, are_kept;
};

/* Kernels without a kept object are added to the work; k is not moved before kernel_objects_end.  Messages are on
 * standard error; returns an exit code. */
int kernel_objects_begin(struct kernel_objects *k, const struct toolchain *t, const struct codegen_parts *parts,
                         compilations *work);
/* good: they have been compiled.  Frees what is in k but for the paths, which lie in t->mem. */
void kernel_objects_end(struct kernel_objects *k, bool good);

#endif
