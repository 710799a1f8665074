/* pto_call.h - programs that are loaded at run time: open, describe, call, close.
 *
 * `ptoc build f.pto --emit=so -o f.so` makes an object, pto_program_open loads it, pto_program_call calls one of its
 * exports on tensors of pto_registry.h:
 *     PTOLoaded *f = pto_program_open("f.so");
 *     pto_program_call(rt, f, "f", (PTOArgument[]){PTO_T("x", x), PTO_I("n", 3), PTO_R("y", &y)}, 3);
 * A host links with libpto.so, which the objects share.  Details: docs/embedding.md */
#ifndef PTO_CALL_H
#define PTO_CALL_H
#include <pto/pto_registry.h>
#include <pto/pto_runtime.h>
#include <pto/pto_sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PTOLoaded PTOLoaded; /* a loaded program; opaque */

typedef enum PTODirection { PTO_IN, PTO_OUT, PTO_INOUT_, PTO_ACC_, PTO_OWN, PTO_HOST } PTODirection;

/* A `param`. */
typedef struct PTOProgramParam {
    const char *name; /* "n", "vec.n" */
    PTOType type;     /* PTO_I64, PTO_F64, PTO_F32, PTO_BOOL */
    int64_t at;       /* the place of its value in the record: an int64_t, double, float or bool */
    bool has_default;
    const char *derived; /* the text of a default that follows from other params, or NULL */
} PTOProgramParam;

/* The run decides this extent of a result, `-> f32[?m]`: data[f] of `run` is a PTOResult. */
enum { PTO_DECIDED = -2 };

/* A formal of an entry; struct formals come field by field, "w.wx".  A tensor that the entry returns is the last one,
 * with direction PTO_OUT. */
typedef struct PTOFormal {
    const char *name;
    PTODirection direction;
    PTOType type; /* of the elements, or of the scalar when rank is 0 */
    int32_t rank;
    const char *text; /* "f32[N + 2, N + 2]", for messages */
    /* rank entries: the dimension variable that this extent simply is, PTO_DECIDED, or -1 */
    const int32_t *exact;
    const uint64_t *uses; /* rank entries: bit v set when the extent mentions dimension variable v */
} PTOFormal;

/* What a program says about itself and one entry.  Everything belongs to the program. */
typedef struct PTOSignature {
    const char *file;           /* "bgemm.pto" */
    const char *const *entries; /* the names of the exports */
    int32_t entry_count;
    const PTOProgramParam *params;
    int32_t param_count;
    const void *defaults; /* the record of the params' defaults */
    /* of the entry; NULL and 0 where none was asked for */
    const char *name;
    const char *head;    /* the line that declares it: "export orch f<N>(in x: f32[N])" */
    const char *comment; /* the comment above that line, or NULL */
    const char *const *dims;
    int32_t dim_count;
    const PTOFormal *formals;
    int32_t formal_count;
    PTOType result; /* of the scalar that it returns; PTO_BYTE: it returns none */
} PTOSignature;

/* Loads an object of `ptoc build --emit=so`.  The caller owns the program and closes it with pto_program_close.
 * Several programs may have entries of one name.
 * Caller     any thread.  Blocks while the object is read.
 * Status     NULL, pto_last_status and pto_last_error(NULL): PTO_ERR_IO: the object cannot be loaded, or is none of
 *            ptoc; PTO_ERR_VERSION: it was built for another version of the library, or is bound to another copy of it;
 *            nothing in it was called; PTO_ERR_UNSUPPORTED: its kernels are made for a newer processor alone;
 *            PTO_ERR_NOMEM. */
PTO_API PTOLoaded *pto_program_open(const char *path);

/* Closes a program.  Calls of it that run end as they would have; the last one unloads it.  NULL is ignored.
 * Caller     any thread.  Blocks while an object is unloaded.  Status: none is returned; a program that was closed
 *            before is left alone, and pto_last_error(NULL) has a message. */
PTO_API void pto_program_close(PTOLoaded *program);

/* Fills *out.  entry NULL: the only one; if there are several, nothing is said about an entry.  Valid until the program
 * is closed.
 * Caller     any thread.  Never blocks.
 * Status     PTO_OK; PTO_ERR_ARGUMENT: there is no such entry, pto_last_error(NULL) has the nearest name;
 *            PTO_ERR_MISUSE: NULL, or the program was closed. */
PTO_API PTOStatus pto_program_describe(const PTOLoaded *program, const char *entry, PTOSignature *out);

/* ---- calls ------------------------------------------------------------------------------------------------------- */
typedef enum PTOArgumentKind {
    PTO_ARGUMENT_TENSOR = 1,
    PTO_ARGUMENT_INTEGER,
    PTO_ARGUMENT_REAL,
    PTO_ARGUMENT_RESULT,
    PTO_ARGUMENT_SCALAR_RESULT,
    PTO_ARGUMENT_FLAGS,
    PTO_ARGUMENT_DLPACK,
    PTO_ARGUMENT_SPARSE,
    PTO_ARGUMENT_SPARSE_RESULT
} PTOArgumentKind;

enum { PTO_CALL_NO_WAIT = 1 /* PTO_ERR_BUSY, where the call would wait for a run or a map that uses an argument */ };

/* One argument; made by the macros below. */
typedef struct PTOArgument {
    const char *name; /* NULL: by position, the next formal */
    PTOArgumentKind kind;
    union {
        PTOTensor *tensor;
        int64_t integer;
        double real;
        PTOTensor **result;
        PTOScalar *scalar;
        const struct DLManagedTensor *dlpack;
        PTOSparse *sparse;
        PTOSparse **sparse_result;
    } value;
} PTOArgument;

/* The macros that make arguments.  A name is that of a formal, a param, or a dimension variable; a list of arguments is
 * good for as long as the array that holds it.
 *     PTO_T("A", a)          a tensor; NULL for an `out`: it is made and dropped
 *     PTO_I("n", 4096)       an integer or a bool
 *     PTO_F("tol", 1e-6)     a real number
 *     PTO_R("C", &c)         the call makes the tensor, which the caller owns afterwards; NULL if the call fails.
 *                            Two results have two variables
 *     PTO_S("a", matrix)     a sparse matrix, whose arrays are the fields of a struct; it binds rows and columns, too
 *     PTO_RS("c", &matrix)   the call makes the sparse matrix of a struct that is `out` or returned ("result"), whose
 *                            fields have the names of its arrays; the caller owns it; NULL if the call fails
 *     PTO_D("A", m)          a DLPack tensor of before 1.0 (const struct DLManagedTensor *), which is borrowed: it must
 *                            exist until the call returns, and its deleter is not called
 *     PTO_V(&value)          a PTOScalar that receives the scalar which the entry returns
 *     PTO_CALL_FLAGS(f)      PTO_CALL_NO_WAIT; takes no position */
static inline PTOArgument pto_argument_(const char *name, PTOArgumentKind kind)
{
    PTOArgument a;
    a.name = name;
    a.kind = kind;
    a.value.integer = 0;
    return a;
}
static inline PTOArgument pto_argument_tensor_(const char *name, PTOTensor *t)
{
    PTOArgument a = pto_argument_(name, PTO_ARGUMENT_TENSOR);
    a.value.tensor = t;
    return a;
}
static inline PTOArgument pto_argument_integer_(const char *name, int64_t i)
{
    PTOArgument a = pto_argument_(name, PTO_ARGUMENT_INTEGER);
    a.value.integer = i;
    return a;
}
static inline PTOArgument pto_argument_real_(const char *name, double r)
{
    PTOArgument a = pto_argument_(name, PTO_ARGUMENT_REAL);
    a.value.real = r;
    return a;
}
static inline PTOArgument pto_argument_result_(const char *name, PTOTensor **r)
{
    PTOArgument a = pto_argument_(name, PTO_ARGUMENT_RESULT);
    a.value.result = r;
    return a;
}
static inline PTOArgument pto_argument_scalar_(PTOScalar *s)
{
    PTOArgument a = pto_argument_(NULL, PTO_ARGUMENT_SCALAR_RESULT);
    a.value.scalar = s;
    return a;
}
static inline PTOArgument pto_argument_sparse_(const char *name, PTOSparse *matrix)
{
    PTOArgument a = pto_argument_(name, PTO_ARGUMENT_SPARSE);
    a.value.sparse = matrix;
    return a;
}
static inline PTOArgument pto_argument_sparse_result_(const char *name, PTOSparse **r)
{
    PTOArgument a = pto_argument_(name, PTO_ARGUMENT_SPARSE_RESULT);
    a.value.sparse_result = r;
    return a;
}
static inline PTOArgument pto_argument_dlpack_(const char *name, const struct DLManagedTensor *m)
{
    PTOArgument a = pto_argument_(name, PTO_ARGUMENT_DLPACK);
    a.value.dlpack = m;
    return a;
}
static inline PTOArgument pto_argument_flags_(int64_t flags)
{
    PTOArgument a = pto_argument_(NULL, PTO_ARGUMENT_FLAGS);
    a.value.integer = flags;
    return a;
}
#define PTO_T(name, t)         pto_argument_tensor_(name, t)
#define PTO_I(name, i)         pto_argument_integer_(name, i)
#define PTO_F(name, r)         pto_argument_real_(name, r)
#define PTO_R(name, variable)  pto_argument_result_(name, variable)
#define PTO_S(name, matrix)    pto_argument_sparse_(name, matrix)
#define PTO_RS(name, variable) pto_argument_sparse_result_(name, variable)
#define PTO_D(name, m)         pto_argument_dlpack_(name, m)
#define PTO_V(variable)        pto_argument_scalar_(variable)
#define PTO_CALL_FLAGS(flags)  pto_argument_flags_(flags)

/* Runs an entry (NULL: the only one) on these arguments, in their buffers.  A tensor may have any strides that the
 * kernels of its formal take.  `out` formals that are not given are made and dropped.  Params have the values given
 * here, else their defaults; they belong to this call.  The arguments may be released, and the program closed, at any
 * time.  What it prints has been written when the call returns.  pto_cancel(rt) ends the call, also while it waits.
 * Where no kernel runs (engine graph, skip_kernels) what the call makes is zeros, and what it was given stays as it is.
 * Caller     any thread, outside a run of rt; several runtimes may call one program at once.  Blocks until every task
 *            has completed, and before that while other runs or maps use an argument.
 * Status     as pto_run_entry, and before anything runs: PTO_ERR_ARGUMENT: a wrong or missing argument (its text is
 *            that of the command line, pto_last_complaint says more); PTO_ERR_STATE: rt is in a run; PTO_ERR_BUSY;
 *            PTO_ERR_READ_ONLY, PTO_ERR_OVERLAP: a written argument that is read-only, or shares elements with another
 *            one; PTO_ERR_NOMEM; PTO_ERR_MISUSE: the program was closed before the call.  pto_last_error(NULL) has
 *            the text, and pto_last_error(rt) where rt was idle and the misuse is not of the program. */
PTO_API PTOStatus pto_program_call(PTORuntime *rt, PTOLoaded *program, const char *entry, const PTOArgument *arguments,
                                   int32_t count);

/* What this thread's last call was refused for. */
typedef enum PTOComplaint {
    PTO_COMPLAINT_NONE,     /* it was not, or for another reason */
    PTO_COMPLAINT_ENTRY,    /* there is no such entry */
    PTO_COMPLAINT_ARGUMENT, /* unknown, missing, given twice, or of another type */
    PTO_COMPLAINT_SHAPE     /* rank, extents, a param or dimension variable out of range */
} PTOComplaint;

/* Caller: any thread.  Never blocks.  Status: none. */
PTO_API PTOComplaint pto_last_complaint(void);

#ifdef __cplusplus
}
#endif
#endif
