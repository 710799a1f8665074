/* pto_types.h - the plain types that programs, kernels and the runtime share.  Needs only libc. */
#ifndef PTO_TYPES_H
#define PTO_TYPES_H
#include <pto/pto_limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTO_API      __attribute__((visibility("default")))
#define PTO_NORETURN __attribute__((noreturn))
/* f16 is _Float16 in C.  clang before 15 has that type on x86-64 only for processors with AVX512-FP16; its __fp16 is
 * stored alike and computes in float, but is no type for parameters and results of functions. */
#if defined __clang__ && !defined __FLT16_MANT_DIG__
#define _Float16 __fp16
#endif

typedef struct PTORuntime PTORuntime; /* opaque */

/* Element types.  PTO_BYTE is untyped memory: what a flat byte range has. */
typedef enum PTOType {
    PTO_BYTE,
    PTO_F16,
    PTO_BF16,
    PTO_F32,
    PTO_F64,
    PTO_I8,
    PTO_I16,
    PTO_I32,
    PTO_I64,
    PTO_U8,
    PTO_U16,
    PTO_U32,
    PTO_U64,
    PTO_BOOL,
    PTO_TYPE_COUNT
} PTOType;

/* The name of an element type: "f32"; "byte" for PTO_BYTE; "?" for a number that is no type.
 * Caller     any thread.  Status: none. */
PTO_API const char *pto_type_name(PTOType type);

/* The bytes of one element: 4 for PTO_F32; 0 for a number that is no type.
 * Caller     any thread.  Status: none. */
PTO_API int64_t pto_type_bytes(PTOType type);

typedef enum PTOWorkerType {
#define PTO_WORKER(id, name) PTO_WORKER_##id,
#include <pto/workers.def>
#undef PTO_WORKER
    PTO_WORKER_TYPES
} PTOWorkerType;

/* The name of a worker type: "cube", "vector", "cpu", "accel"; "?" for a number that is no type.
 * Caller     any thread.  Status: none. */
PTO_API const char *pto_worker_type_name(PTOWorkerType type);

/* A scalar argument, 8 bytes whatever its type; the kernel knows which member it wants. */
typedef union PTOScalar {
    int64_t i64;
    double f64;
    float f32;
    bool b;
} PTOScalar;

/* One argument as a kernel sees it.  Tensors: ptr is the first element of the view; shape and stride have one entry a
 * dimension, strides in elements.  Scalars: value.  Valid until the kernel returns. */
typedef struct PTOArg {
    void *ptr;
    const int64_t *shape;
    const int64_t *stride;
    PTOScalar value;
    uint8_t kind; /* PTOParamKind */
    uint8_t type; /* PTOType of the elements */
    uint8_t rank;
} PTOArg;

/* A kernel.  Returns 0 for success; any other number fails the task.  Thread: a worker.  It must access only its
 * arguments. */
typedef int (*PTOKernelFn)(const PTOArg *args);

/* A work request: what a fixed-function accelerator receives instead of a call.  The buffers and the scalars are in the
 * order of the parameters.  Valid until the operation has ended. */
typedef struct PTOWorkRequest {
    int32_t opcode; /* PTOOpcode, or a number that pto_operation was given */
    int32_t buffer_count, param_count;
    PTOArg buffer[PTO_MAX_PARAMS];
    int64_t param[PTO_REQUEST_PARAMS];
} PTOWorkRequest;

/* What the accelerators of every backend can do: PTO_OP_COPY ... as opcodes.def lists and explains them. */
typedef enum PTOOpcode {
    PTO_OP_NONE, /* the kernel is a function */
#define PTO_OPCODE(id, name, count, written, formals) PTO_OP_##id,
#include <pto/opcodes.def>
#undef PTO_OPCODE
    PTO_OPCODES,
    PTO_OP_OWN = PTO_OWN_OPCODE /* from here on: operations of a program, see pto_operation */
} PTOOpcode;

/* The results of a copy, gather or scatter that fails its task. */
enum {
    PTO_REQUEST_BAD = 1 /* buffers of the wrong number, shape or type */,
    PTO_REQUEST_INDEX = 2 /* an index is out of range */
};

/* An operation of a program.  Returns 0 for success; any other number fails the task.  Thread: an accelerator worker,
 * several at once if there are several, or the orchestrator's for a task that is executed inline.  It may block; it
 * must not submit or await, and must access only its buffers.  `request` is valid until the operation returns. */
typedef int (*PTOOperationFn)(void *context, const PTOWorkRequest *request);

/* The description of a kernel.  Constant; the program owns it, and it must exist as long as the runtime. */
typedef struct PTOKernel {
    const char *name;
    PTOWorkerType worker;
    PTOKernelFn fn;
    int64_t (*cost)(const PTOArg *args); /* simulated cycles; NULL: 1.  Sees shapes and scalars; ptr is NULL. */
    int32_t opcode; /* accelerators, with fn NULL: the operation of the work request; at most 16 scalars */
    /* its name in the map of kernels of a backend (docs/ascend.md), unique in the program; NULL: name */
    const char *symbol;
    const char *formals; /* "a, b, c": the names of the arguments, for reports; NULL: no names */
} PTOKernel;

/* A place in the program text.  Constant, owned by the program. */
typedef struct PTOSite {
    const char *file;
    int32_t line, column; /* from 1; column 0: unknown; read it with pto_site_column() */
    const char *text;     /* the text of the place: "gemm", "scope \"two sweeps\"", "P" */
} PTOSite;

/* A site of generated code, whose column has PTO_SITE_HAS_LINE: with it a message shows the line of the source. */
enum { PTO_SITE_HAS_LINE = 1 << 30 };
typedef struct PTOSiteLine {
    PTOSite site;
    uint32_t digest;     /* of the bytes of the line, by PTO_LINE_DIGEST */
    int32_t width;       /* how many bytes of the line it is about */
    const char *indices; /* "i, k": the loops around it in its function, the outermost first; "": none */
} PTOSiteLine;
#define PTO_SITE_LINE(file, line, column, text, digest, width, indices)                                                \
    {                                                                                                                  \
        {file, line, (column) | PTO_SITE_HAS_LINE, text}, digest, width, indices                                       \
    }

static inline int32_t pto_site_column(const PTOSite *site) { return site->column & ~PTO_SITE_HAS_LINE; }

/* An open scope: a token that only pto_scope_begin makes. */
typedef int64_t PTOScope;
#define PTO_SCOPE_CURRENT ((PTOScope)0)

typedef enum PTOParamKind {
    PTO_PARAM_INPUT = 1,
    PTO_PARAM_OUTPUT,
    PTO_PARAM_INOUT,
    PTO_PARAM_ACC,
    PTO_PARAM_SCALAR,
    PTO_PARAM_PRIORITY,   /* of the task, not of a parameter: the kernel does not receive it */
    PTO_PARAM_NAME,       /* likewise: the name of the task in reports */
    PTO_PARAM_AT,         /* likewise: which rank executes it */
    PTO_PARAM_TIMEOUT,    /* likewise: the time limit of its kernel */
    PTO_PARAM_INOUT_PART, /* an argument of kind PTO_PARAM_INOUT of which the task writes a part */
    PTO_PARAM_ACC_BY      /* an accumulator whose parts combine; the kernel receives a part, as PTO_PARAM_INOUT */
} PTOParamKind;

/* How the parts of an accumulator combine, element by element: PTO_BY_SUM ... as by.def lists them.  sum, prod, min
 * and max are for integers, which wrap around, and for floats: min and max of a NaN are a NaN.  and, or and xor are
 * for integers and bool.  A part begins with the neutral element: -0.0 and 0 of sum, 1 of prod, the largest value of
 * min, for floats infinity, the smallest of max, all bits of and, 0 of or and xor. */
typedef enum PTOBy {
    PTO_BY_NONE,
#define PTO_BY_OPERATION(id, name, is_bitwise) PTO_BY_##id,
#include <pto/by.def>
    PTO_BY_COUNT
} PTOBy;

/* One parameter of a task; made by the macros below.  rank 0 is a flat byte range: tile number `at` of `bytes` bytes
 * each. rank > 0 is a view: `at` elements after the base, with shape and stride in elements (stride NULL:
 * row-major). */
typedef struct PTOTaskParam {
    uint8_t kind; /* PTOParamKind */
    uint8_t type; /* PTOType */
    uint8_t rank;
    uint8_t flags;  /* PTO_SINGLE_WRITER; ACC_BY: PTOBy */
    void *buffer;   /* INPUT, INOUT, INOUT_PART, ACC, ACC_BY: base of the buffer, never an interior pointer of it */
    void *ref;      /* OUTPUT: address of the variable (a void *) that holds the base or receives it;
                     * INOUT_PART: its PTOPart */
    PTOScope scope; /* OUTPUT: owner of a new allocation */
    int64_t at;
    int64_t bytes;
    const int64_t *shape, *stride;
    PTOScalar value;
    const char *name; /* the program's spelling, for reports */
} PTOTaskParam;

#define PTO_SINGLE_WRITER 1 /* flag: see PTO_INPUT_OF */

/* The part of a view that a task writes: `at` elements after the base, with a shape and strides in elements; it has as
 * many dimensions as the view. */
typedef struct PTOPart {
    int64_t at;
    const int64_t *shape, *stride;
    uint8_t rank;
} PTOPart;

/* The macros that make parameters; for C++ they are in pto_cxx.h, with the same names and arguments.
 *     PTO_INPUT(base, at, extent)      the task reads the region
 *     PTO_INPUT_OF(base, at, extent)   the same, of a buffer that one task wrote as its PTO_OUTPUT and that is never
 *                                      written again: its producer is known without a look-up, and no later task
 *                                      needs to find this reader.  A later write to the buffer is the caller's mistake
 *     PTO_INOUT(base, at, extent)      the task reads and writes the region
 *     PTO_INOUT_PART(base, at, extent, part)  the task reads the region, which is no flat byte range, and writes the
 *                                      part of it that PTO_PART(at, (64, 64), (512, 1)) describes: tasks that do not
 *                                      touch the part run at the same time as this one, unless their own writes meet
 *                                      the region.  A part that goes beyond the lowest or the highest byte of the
 *                                      region is refused; a checked run (PTOConfig.checked) fails a task that writes
 *                                      outside of its part
 *     PTO_ACC(base, at, extent)        the task adds to the region: one task at a time, in any order with others of
 *                                      the same kernel
 *     PTO_ACC_BY(by, base, at, extent)   the task adds to the region, at the same time as others do: its kernel gets
 *                                      a part of its own, a row-major array that is filled with the neutral element of
 *                                      `by` (PTO_BY_MAX), and the runtime combines the parts into the region, in the
 *                                      order of the submits.  The extent is PTO_ARRAY or PTO_STRIDED
 *     PTO_OUTPUT(ref, at, extent)      the task writes the whole region.  If *ref is NULL, the runtime allocates a
 *                                      buffer for it and writes its base to *ref before pto_submit_task returns; else
 *                                      the region of the buffer *ref is overwritten.  An output of 0 bytes leaves *ref
 *     PTO_OUTPUT_IN(scope, ref, at, extent)   the same; `scope` owns a new buffer
 *     PTO_OUTPUT_NAMED(name, scope, ref, at, extent)   the same; messages and reports call the buffer `name`, a
 *                                      constant string, and not by the text of `ref`
 *     PTO_SCALAR(value)                float, double, bool, or any integer, which becomes an int64_t
 *     PTO_PRIORITY(n)                  @priority(n): a higher one starts first among the ready tasks of a worker type;
 *                                      default 0
 *     PTO_NAME(string)                 @name: the name of the task in reports, a constant string
 *     PTO_TIMEOUT(ms)                  @timeout(ms): the run fails with PTO_ERR_TIMEOUT when the kernel runs for more
 *                                      than this many milliseconds of real time, at least 1
 *     PTO_AT(rank)                     @at(e): the task is executed by the rank `rank` modulo the number of ranks
 *     PTO_AT_HOME(base, at, type)      @at(t[i, j]): by the home of element `at` of the buffer; where it has none yet,
 *                                      as if this were not said.  Without effect on one rank
 * A time-out is found while the orchestrator waits, within a tenth of a second, or else when the kernel returns; the
 * engine `serial` finds it only then.  The run waits for a kernel that is running, except on the engine `process`,
 * which kills its worker process.  The engines `timing` and `graph`, and external workers, ignore the limit.
 *
 * `at` and `extent`: see PTOTaskParam.  The extent is a number of bytes, or one of these.
 *     PTO_ARRAY(PTO_F32, 64, 64)                row-major
 *     PTO_STRIDED(PTO_F32, (64, 64), (512, 1))  any strides, in elements
 *
 * A list of parameters is an array of PTOParam, good for as long as its block.  In C that is PTOTaskParam, and the
 * extents of PTO_ARRAY and PTO_STRIDED live as long as the block; in C++ it is a class that keeps its extents
 * (pto_cxx.h). */

static inline PTOScalar pto_scalar_i64(int64_t v)
{
    PTOScalar s = {0};
    s.i64 = v;
    return s;
}
static inline PTOScalar pto_scalar_f64(double v)
{
    PTOScalar s = {0};
    s.f64 = v;
    return s;
}
static inline PTOScalar pto_scalar_f32(float v)
{
    PTOScalar s = {0};
    s.f32 = v;
    return s;
}
static inline PTOScalar pto_scalar_bool(bool v)
{
    PTOScalar s = {0};
    s.i64 = v;
    return s;
}

#ifndef __cplusplus
#define PTO_LIST_(...)  ((const int64_t[]){__VA_ARGS__})
#define PTO_COUNT_(...) ((uint8_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))
#define PTO_ARRAY(elem, ...)                                                                                           \
    0, .type = (uint8_t)(elem), .rank = PTO_COUNT_(__VA_ARGS__), .shape = PTO_LIST_(__VA_ARGS__), .stride = NULL
/* The number of extents; an error at compile time if there are fewer or more strides. */
#define PTO_RANK_(extents, strides)                                                                                    \
    ((uint8_t)(PTO_COUNT_ extents +                                                                                    \
               0 * sizeof(char[PTO_COUNT_ extents == PTO_COUNT_ strides ? 1 : -1 /* as many strides as extents */])))
#define PTO_STRIDED(elem, extents, strides)                                                                            \
    0, .type = (uint8_t)(elem), .rank = PTO_RANK_(extents, strides), .shape = PTO_LIST_ extents,                       \
       .stride = PTO_LIST_ strides

/* Every member is initialized: if one is left out, C compilers clear the whole list of parameters first, which takes
 * half as long as a submit. */
#define PTO_REST_(kind_, flags_, buffer_, ref_, scope_, at_, ...)                                                      \
    .kind = (kind_), .flags = (flags_), .buffer = (void *)(buffer_), .ref = (ref_), .scope = (scope_), .at = (at_),    \
    .value = {.i64 = 0}, PTO_EXTENT_(__VA_ARGS__)
#define PTO_EXTENT_(...) PTO_EXTENT_PICK_(__VA_ARGS__, VIEW, VIEW, VIEW, VIEW, FLAT, )(__VA_ARGS__)

#define PTO_EXTENT_PICK_(a, b, c, d, e, form, ...) PTO_EXTENT_##form##_
#define PTO_EXTENT_VIEW_(...)                      .bytes = __VA_ARGS__
#define PTO_EXTENT_FLAT_(bytes_)                   .bytes = bytes_, .type = 0, .rank = 0, .shape = NULL, .stride = NULL
#define PTO_INPUT(base, at_, extent)                                                                                   \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_INPUT, 0, base, NULL, 0, at_, extent), .name = NULL                                        \
    }
#define PTO_INPUT_OF(base, at_, extent)                                                                                \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_INPUT, PTO_SINGLE_WRITER, base, NULL, 0, at_, extent), .name = NULL                        \
    }
#define PTO_INOUT(base, at_, extent)                                                                                   \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_INOUT, 0, base, NULL, 0, at_, extent), .name = NULL                                        \
    }
#define PTO_PART(at_, extents, strides)                                                                                \
    (&(const PTOPart){                                                                                                 \
        .at = (at_), .shape = PTO_LIST_ extents, .stride = PTO_LIST_ strides, .rank = PTO_RANK_(extents, strides)})
#define PTO_INOUT_PART(base, at_, extent, part)                                                                        \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_INOUT_PART, 0, base, (void *)(uintptr_t)(part), 0, at_, extent), .name = NULL              \
    }
#define PTO_ACC(base, at_, extent)                                                                                     \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_ACC, 0, base, NULL, 0, at_, extent), .name = NULL                                          \
    }
#define PTO_ACC_BY(by, base, at_, extent)                                                                              \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_ACC_BY, by, base, NULL, 0, at_, extent), .name = NULL                                      \
    }
#define PTO_OUTPUT(ref_, at_, extent)                                                                                  \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_OUTPUT, 0, NULL, ref_, 0, at_, extent), .name = #ref_                                      \
    }
#define PTO_OUTPUT_IN(scope_, ref_, at_, extent)                                                                       \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_OUTPUT, 0, NULL, ref_, scope_, at_, extent), .name = #ref_                                 \
    }
#define PTO_OUTPUT_NAMED(name_, scope_, ref_, at_, extent)                                                             \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_OUTPUT, 0, NULL, ref_, scope_, at_, extent), .name = (name_)                               \
    }
#define PTO_NO_REGION_                                                                                                 \
    .flags = 0, .ref = NULL, .scope = 0, .type = 0, .rank = 0, .bytes = 0, .shape = NULL, .stride = NULL
#define PTO_SCALAR(v)                                                                                                  \
    {                                                                                                                  \
        .kind = PTO_PARAM_SCALAR, .flags = 0, .ref = NULL, .scope = 0, .rank = 0, .bytes = 0, .shape = NULL,           \
        .stride = NULL, .buffer = NULL, .at = 0, .name = NULL,                                                         \
        .type = _Generic((v), float                                                                                    \
                         : PTO_F32, double                                                                             \
                         : PTO_F64, bool                                                                               \
                         : PTO_BOOL, default                                                                           \
                         : PTO_I64),                                                                                   \
        .value = _Generic((v), float                                                                                   \
                          : pto_scalar_f32, double                                                                     \
                          : pto_scalar_f64, bool                                                                       \
                          : pto_scalar_bool, default                                                                   \
                          : pto_scalar_i64)(v)                                                                         \
    }

#define PTO_PRIORITY(n)                                                                                                \
    {                                                                                                                  \
        .kind = PTO_PARAM_PRIORITY, PTO_NO_REGION_, .buffer = NULL, .at = (n), .value = {.i64 = 0}, .name = NULL       \
    }
#define PTO_NAME(string)                                                                                               \
    {                                                                                                                  \
        .kind = PTO_PARAM_NAME, PTO_NO_REGION_, .buffer = (void *)(string), .at = 0, .value = {.i64 = 0}, .name = NULL \
    }
#define PTO_TIMEOUT(ms)                                                                                                \
    {                                                                                                                  \
        .kind = PTO_PARAM_TIMEOUT, PTO_NO_REGION_, .buffer = NULL, .at = (ms), .value = {.i64 = 0}, .name = NULL       \
    }
#define PTO_AT(n)                                                                                                      \
    {                                                                                                                  \
        .kind = PTO_PARAM_AT, PTO_NO_REGION_, .buffer = NULL, .at = (n), .value = {.i64 = 0}, .name = NULL             \
    }
#define PTO_AT_HOME(base, at_, elem)                                                                                   \
    {                                                                                                                  \
        .kind = PTO_PARAM_AT, .type = (uint8_t)(elem), .rank = 1, .flags = 0, .buffer = (void *)(base), .ref = NULL,   \
        .scope = 0, .at = (at_), .bytes = 0, .shape = NULL, .stride = NULL, .value = {.i64 = 0}, .name = NULL          \
    }
typedef PTOTaskParam PTOParam;
#endif

/* The distribution of a tensor, for pto_dist: it is cut into cells, and cell (i, j) lives on rank
 * ((i mod grid[0]) * grid[1] + j mod grid[1]) mod ranks. */
typedef struct PTODist {
    PTOType type;
    int32_t rank;                /* dimensions of the tensor, 1 ... PTO_MAX_RANK */
    int64_t shape[PTO_MAX_RANK]; /* of the whole tensor, which is row-major */
    int64_t cell[PTO_MAX_RANK];  /* extents of a cell; 0: a band, of which a dimension has as many as `grid` says */
    int64_t grid[PTO_MAX_RANK];  /* at least 1 each */
    bool is_square;              /* `grid` is not read: as square as possible; bands, if there are no cells */
} PTODist;

/* A tensor that an entry returns and whose extents the run decides, `-> f32[?m]`.  Before the run it is {0}. */
typedef struct PTOResult {
    void *data; /* C order; NULL if an extent is 0, or no kernel runs.  The caller owns it: free() */
    int64_t shape[PTO_MAX_RANK];
} PTOResult;

/* A tensor handed to an orchestration function: a view by base, offset and strides, in elements. */
typedef struct PTOView {
    void *base;
    int64_t at;
    int64_t s[PTO_MAX_RANK];
} PTOView;

/* The destination of a tensor that an orchestration function returns: the caller's variable, and the scope that owns a
 * new buffer.  *ref not NULL: the tensor is written there, at `at` with strides s; NULL: the producing task allocates
 * it, row-major. */
typedef struct PTOPlace {
    void *ref;
    PTOScope scope;
    int64_t at;
    int64_t s[PTO_MAX_RANK];
} PTOPlace;

#ifdef __cplusplus
}
#include <pto/pto_cxx.h>
#endif
#endif
