/* arrow.h - the structs of Arrow's C data interface, declared here: no header of another project is needed.  The layout
 * is that of the interface, and is asserted. */
#ifndef PTOI_ARROW_H
#define PTOI_ARROW_H
#include <stddef.h>
#include <stdint.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *); /* NULL: it was released or moved */
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *); /* NULL: it was released or moved */
    void *private_data;
};

_Static_assert(sizeof(void *) != 8 || (sizeof(struct ArrowSchema) == 72 && offsetof(struct ArrowSchema, release) == 56),
               "ArrowSchema");
_Static_assert(sizeof(void *) != 8 || (sizeof(struct ArrowArray) == 80 && offsetof(struct ArrowArray, release) == 64),
               "ArrowArray");

#endif
