/* call.h - one call of an entry of a loaded program, and what it holds. */
#ifndef PTO_HOST_CALL_H
#define PTO_HOST_CALL_H
#include "api/runtime.h"
#include "bind.h"
#include "loaded.h"
#include "registry/dlpack.h"
#include "registry/pins.h"

/* What belongs to one formal. */
struct given {
    bool is_given;      /* a value, a tensor, or where to put the result */
    PTOTensor **result; /* receives the tensor that is made; NULL: nobody wants it */
    PTOTensor *made;    /* or made of `lent` */
    struct DLManagedTensor lent;
    PTOResult decided; /* a result whose extents the run decides */
};

struct calling {
    PTORuntime *rt;
    const PTOProgram *program;
    const PTOEntry *entry;
    struct host_error error;
    PTOComplaint complaint;
    bool no_wait, has_run;
    /* entry->formal_count of each */
    struct bind_formal *formals;
    struct given *given;
    PTOScalar *scalars;
    void **data;
    PTOGivenView *views;
    struct pin *pins;
    int64_t *dims; /* entry->dim_count */
    int32_t *origin;
    bool *params_given; /* program->param_count */
    void *params;
    PTOCall call;
};

static inline bool call_is_written(const PTOFormal *f)
{
    return f->rank > 0 && (f->direction == PTO_OUT || f->direction == PTO_INOUT_ || f->direction == PTO_ACC_);
}

/* All of these return an exit code of fail.h. */
int ptoi_call_complain(struct calling *c, PTOComplaint complaint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int ptoi_call_complain_twice(struct calling *c, const char *name);

/* Gives a tensor to a formal; NULL to an `out` has it made. */
int ptoi_call_give_tensor(struct calling *c, int32_t formal, PTOTensor *t);

/* Gives the arrays of a matrix to the fields of a struct formal.  name NULL: the struct at *position, which moves
 * behind its fields. */
int ptoi_call_give_sparse(struct calling *c, const char *name, int32_t *position, PTOSparse *sparse);

/* Gives each argument to what it names. */
int ptoi_call_match(struct calling *c, const PTOArgument *arguments, int32_t count);

/* Everything that needs a value has one. */
int ptoi_call_check_given(struct calling *c);
#endif
