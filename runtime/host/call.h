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
#endif
