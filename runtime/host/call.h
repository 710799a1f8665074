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

/* Memory that the run was given for a tensor which may become a result. */
struct result_room {
    void *address;
    PTOTensor *bytes;
};

/* A sparse matrix that the call makes of the fields of a struct. */
struct made_matrix {
    PTOSparse **to;
    PTOFormat format;
    const char *extent[2]; /* rows and columns, in the head of the entry */
    PTOTensor *array[PTO_SPARSE_ARRAYS];
};
enum { MATRICES = 4 };

struct calling {
    PTORuntime *rt;
    PTOLoaded *loaded;
    const PTOProgram *program;
    const PTOEntry *entry;
    struct host_error error;
    PTOComplaint complaint;
    bool no_wait, has_run;
    uint32_t cancels; /* of the runtime, when the call began */
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
    struct result_room *rooms;
    int32_t room_count;
    struct made_matrix matrices[MATRICES];
    int32_t matrix_count;
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

/* The arrays of a matrix that the call makes are the fields of this struct, which must be `out`. */
int ptoi_call_give_made_matrix(struct calling *c, const char *name, int32_t *position, PTOSparse **to);
/* After the run: the matrices of their arrays. */
PTOStatus ptoi_call_make_matrices(struct calling *c);

/* Gives each argument to what it names. */
int ptoi_call_match(struct calling *c, const PTOArgument *arguments, int32_t count);

/* call_results.c: a tensor of the call, to be written by its kernels; zeros where no kernel runs.  NULL: the thread's
 * error. */
PTOTensor *ptoi_call_new_tensor(const struct calling *c, PTOType type, int32_t rank, const int64_t *shape);

/* Results whose extents the run decides.  The run keeps them through the runtime's keeper; afterwards
 * those that have no elements, or none that a kernel has written, are made, and what nobody got is freed. */
void ptoi_call_keep_results(struct calling *c);
PTOStatus ptoi_call_make_empty(struct calling *c);
void ptoi_call_forget_rooms(struct calling *c);

/* Everything that needs a value has one. */
int ptoi_call_check_given(struct calling *c);
#endif
