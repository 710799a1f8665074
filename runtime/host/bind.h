/* bind.h - dimension variables from the arrays that were given. */
#ifndef PTO_HOST_BIND_H
#define PTO_HOST_BIND_H
#include "array.h"
#include "fail.h"

#include <pto/pto_program.h>

/* A result whose extents the run decides. */
static inline bool bind_is_decided(const PTOFormal *f)
{
    for (int32_t d = 0; d < f->rank; d++)
        if (f->exact[d] == PTO_DECIDED) return true;
    return false;
}

/* Where the value of a dimension variable came from: a formal's index, or one of these. */
enum { BIND_NOTHING = -1, BIND_OPTION = -2 };

struct bind_formal {
    struct host_array array; /* type and rank always; shape where given, else filled in */
    bool given;              /* a file says the shape */
};

struct binding {
    const PTOEntry *entry;
    struct bind_formal *formals; /* entry->formal_count */
    int64_t *dims;               /* entry->dim_count; those of `call` */
    int32_t *origin;             /* entry->dim_count */
    const PTOCall *call;         /* extents may name its scalars and params */
};

/* Binds what --dim (origin BIND_OPTION) left open, checks every extent of every array, and completes the shapes and
 * sizes of those not given.  Returns an exit code of fail.h. */
int ptoi_bind(struct binding *b, struct host_error *e);
#endif
