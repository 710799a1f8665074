/* pto_submit.h - the fast path of pto_submit_task: tasks that are executed inline, in the caller.  Included by
 * pto_runtime.h.
 *
 * Idea       where tasks are executed inline, because one thread holds all roles or the kernel is known to be very
 *            short, the C compiler knows most of a submit: the number of parameters, their kinds, types and ranks. So
 *            the submit is an inlined function.  While the fast path is enabled, it checks the rest, puts the arguments
 *            on the stack and calls the kernel.  A submit that is not simple, or is wrong, takes the slow path with the
 *            same parameters, as if the fast path had not looked at them.
 * Limits     1 to PTO_SHORT_PARAMS parameters, a constant number of them, and an optimizing compiler; views of up to
 *            PTO_SHORT_RANK dimensions; one new output.  Every other submit takes the slow path.
 * ABI        this header belongs to one build of the library: a program is compiled with the headers of the library
 *            that it is linked with.  The functions of the other headers do not depend on it. */
#ifndef PTO_SUBMIT_H
#define PTO_SUBMIT_H
#include <pto/pto_types.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PTO_SHORT_PARAMS = 8,
    PTO_SHORT_RANK = 2,
    PTO_SHORT_LINE_BITS = 5,
    PTO_SHORT_LINES = 1 << PTO_SHORT_LINE_BITS,
    PTO_HEAP_GRANULE = 64
};

/* A kernel that the fast path may call. */
typedef struct PTOKernelLine {
    const PTOKernel *kernel; /* NULL: none */
    /* calls left until the next one is timed; 0: the next call is timed; negative: the fast path must not call it */
    int64_t left;
} PTOKernelLine;

/* A buffer of the heap: its offset from the start of the heap, and its bytes, which are 0 after its lifetime. */
typedef struct PTOBufferLifetime {
    uint64_t at, bytes;
} PTOBufferLifetime;

/* The first part of every PTORuntime.  Only the orchestrator's thread reads it, and the handlers of its own signals. */
typedef struct PTOShortWay {
    const PTOSite *site; /* pto_at() writes it */
    /* Points to 0 while the fast path is enabled; from the first failure on that word is the run status, so it disables
     * the path */
    const int *closed;
    /* the kernel that the fast path is calling; a crash report names it.  Its arguments are not stored: their addresses
     * would escape, and C compilers could not inline the kernel */
    const PTOKernel *volatile running;
    uint64_t number;                     /* the id the id the id the id the id the id the id of the next task */
    uint64_t heap, heap_bytes;           /* the address of the heap */
    const uint32_t *starts;              /* by granule of the heap: the buffer that begins or last began there */
    const PTOBufferLifetime *lifetime;   /* by buffer; 0 is none */
    bool has_moved;                      /* compaction has moved a buffer: addresses are looked up */
    PTOKernelLine line[PTO_SHORT_LINES]; /* by kernel, pto_kernel_line_() */
} PTOShortWay;

/* The slow path of pto_submit_task.  result: what the kernel returned if the caller has called it and it failed, else
 * 0.
 * Caller     the orchestrator.  Blocks as pto_submit_task does.  Status: as pto_submit_task. */
PTO_API int64_t pto_submit_long_(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                                 int32_t result);

/* Allocates a new output for the fast path.  NULL: the fast path gives up, and the slow path finds the reason.
 * Caller     the orchestrator.  Never blocks.  Status: none. */
PTO_API void *pto_room_(PTORuntime *rt, PTOScope scope, int64_t bytes, const char *name);

/* Begins to time a call of the fast path: the time in ns.  Negative: the caller may not submit, which the slow path
 * reports.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API int64_t pto_measure_(PTORuntime *rt);

/* Ends what pto_measure_ began, at the time `since`.
 * Caller     the orchestrator.  Never blocks.  Status: none. */
PTO_API void pto_measured_(PTORuntime *rt, const PTOKernel *kernel, int64_t since);

/* Calls the kernel so that no exception passes through its caller, which in C++ might catch it.  Returns the kernel's
 * result.
 * Caller     the orchestrator.  Blocks until the kernel has returned.  Status: none. */
PTO_API int32_t pto_call_(const PTOKernel *kernel, const PTOArg *args);
#ifdef __cpp_exceptions
#define PTO_CALL_KERNEL_(kernel, args) pto_call_(kernel, args)
#else
#define PTO_CALL_KERNEL_(kernel, args) (kernel)->fn(args)
#endif

#define PTO_INLINED_         static inline __attribute__((always_inline))
#define PTO_RARE_(condition) __builtin_expect(!!(condition), 0)
#ifdef __clang__
#define PTO_UNROLL_ _Pragma("clang loop unroll(full)")
#else
#define PTO_UNROLL_ _Pragma("GCC unroll 8")
#endif

/* Kernels of one program lie 32 to 64 bytes apart: multiples of the golden ratio put neighbours far from each other. */
PTO_INLINED_ uint32_t pto_kernel_line_(const PTOKernel *kernel)
{
    return (uint32_t)(((uint64_t)(uintptr_t)kernel >> 4) * 0x9e3779b97f4a7c15u >> (64 - PTO_SHORT_LINE_BITS));
}

/* Four bits for each type. */
PTO_INLINED_ int64_t pto_bytes_of_(uint8_t type) { return (int64_t)(0x18421842184221u >> 4 * type & 15); }

/* Are the bytes inside the buffer that this address of the heap lies in? */
PTO_INLINED_ bool pto_is_held_(const PTOShortWay *w, uint64_t at, uint64_t end)
{
    const PTOBufferLifetime *lifetime = &w->lifetime[w->starts[at / PTO_HEAP_GRANULE]];
    const uint64_t before = at - lifetime->at;
    return before < lifetime->bytes && end <= lifetime->bytes - before;
}

/* Makes an argument of a parameter.  false: the parameter is not simple, or wrong.  `lay` has room for strides and
 * extents that the parameter does not have.  A new output has no address yet; *bytes is its size. */
PTO_INLINED_ bool pto_take_(const PTOShortWay *w, const PTOTaskParam *p, PTOArg *a, int64_t *lay, int64_t *bytes)
{
    const int64_t *shape = p->shape, *stride = p->stride;
    int64_t unit = 1;
    bool is_dense = true;
    char *base = (char *)p->buffer;
    a->kind = p->kind;
    a->type = p->type;
    a->rank = p->rank;
    a->value = p->value;
    if (p->kind == PTO_PARAM_SCALAR) {
        a->ptr = NULL;
        a->shape = a->stride = NULL;
        return true;
    }
    if (p->kind < PTO_PARAM_INPUT || p->kind > PTO_PARAM_ACC || p->type >= PTO_TYPE_COUNT || p->rank > PTO_SHORT_RANK)
        return false;
    if (p->rank == 0) { /* a flat range: a vector of bytes */
        if (p->type != PTO_BYTE || PTO_RARE_((((uint64_t)p->bytes - 1) | (uint64_t)p->at) >> 30)) return false;
        lay[0] = 1;
        lay[1] = *bytes = unit = p->bytes;
        stride = lay;
        shape = lay + 1;
        a->rank = 1;
    } else { /* with extents below 2^30 and strides below 2^24 nothing overflows */
        const int last = p->rank - 1;
        if (!shape) return false;
        if (!stride) {
            lay[0] = last == 1 ? shape[1] : 1;
            lay[1] = 1;
            stride = lay;
        }
        uint64_t extents = (uint64_t)shape[last] - 1, steps = (uint64_t)stride[last] >> 24;
        if (last == 1) extents |= (uint64_t)shape[0] - 1, steps |= (uint64_t)stride[0] >> 24;
        if (PTO_RARE_(steps | extents >> 30 | (uint64_t)p->at >> 40)) return false;
        unit = pto_bytes_of_(p->type);
        *bytes = (shape[last] - 1) * stride[last] + 1;
        if (last == 1) *bytes += (shape[0] - 1) * stride[0];
        *bytes *= unit;
        is_dense = !p->stride ||
                   ((stride[last] == 1 || shape[last] == 1) && (last == 0 || stride[0] == shape[1] || shape[0] == 1));
    }
    a->shape = shape;
    a->stride = stride;
    if (p->kind == PTO_PARAM_OUTPUT) {
        if (!p->ref) return false;
        memcpy(&base, p->ref, sizeof base); /* the caller's variable may be of any pointer type */
        if (!base) {
            a->ptr = NULL;
            return p->at == 0 && is_dense;
        }
    }
    if (PTO_RARE_(((uint64_t)(uintptr_t)base - 1) >> 60)) return false;
    a->ptr = base + p->at * unit;
    const uint64_t at = (uint64_t)(uintptr_t)base - w->heap;
    return at >= w->heap_bytes || pto_is_held_(w, at, (uint64_t)(p->at * unit + *bytes));
}

/* false: take the slow path; *result is for pto_submit_long_. */
PTO_INLINED_ bool pto_submit_short_(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                                    int64_t *number, int32_t *result)
{
    PTOShortWay *w = (PTOShortWay *)rt;
    PTOArg arg[PTO_SHORT_PARAMS];
    int64_t lay[PTO_SHORT_PARAMS][PTO_SHORT_RANK], bytes[PTO_SHORT_PARAMS];
    int made = 0;
    *result = 0;
    if (!rt) return false;
    PTOKernelLine *line = &w->line[pto_kernel_line_(kernel)];
    if (PTO_RARE_(line->kernel != kernel || line->left < 0) || !kernel->fn) return false;
    PTO_UNROLL_ for (int i = 0, n = 0; i < count; i++)
    {
        /* nothing waits, and nothing is recorded */
        if (params[i].kind == PTO_PARAM_PRIORITY || params[i].kind == PTO_PARAM_NAME) continue;
        bytes[n] = 0;
        if (PTO_RARE_(!pto_take_(w, &params[i], &arg[n], lay[n], &bytes[n]))) return false;
        if (params[i].kind == PTO_PARAM_OUTPUT) made += arg[n].ptr == NULL;
        n++;
    }
    /* Not earlier: the load is ordered, and after it C compilers no longer know the contents of the caller's lists. */
    if (made > 1 || PTO_RARE_(__atomic_load_n(w->closed, __ATOMIC_ACQUIRE) != 0)) return false; /* [RUN_STATUS] */
    PTO_UNROLL_ for (int i = 0, n = 0; i < count; i++)
    {
        if (params[i].kind == PTO_PARAM_PRIORITY || params[i].kind == PTO_PARAM_NAME) continue;
        if (params[i].kind == PTO_PARAM_OUTPUT && !arg[n].ptr) {
            arg[n].ptr = pto_room_(rt, params[i].scope, bytes[n], params[i].name);
            if (PTO_RARE_(!arg[n].ptr)) return false;
            memcpy(params[i].ref, &arg[n].ptr, sizeof arg[n].ptr);
        }
        n++;
    }
    const bool is_due = line->left == 0;
    int64_t since = 0;
    if (PTO_RARE_(is_due)) {
        since = pto_measure_(rt);
        if (since < 0) return false;
    } else {
        line->left--;
    }
    *number = (int64_t)w->number++;
    w->running = kernel;
    __asm__ volatile("" ::: "memory"); /* a crash in the kernel finds its name */
    *result = PTO_CALL_KERNEL_(kernel, arg);
    __asm__ volatile("" ::: "memory");
    w->running = NULL;
    if (PTO_RARE_(is_due)) pto_measured_(rt, kernel, since);
    return __builtin_expect(*result == 0, 1);
}

PTO_INLINED_ int64_t pto_submit_inlined_(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params,
                                         int32_t count)
{
    int64_t number;
    int32_t result = 0;
    if (!__builtin_constant_p(count) || count < 1 || count > PTO_SHORT_PARAMS || !params)
        return pto_submit_long_(rt, kernel, params, count, 0);
    if (__builtin_expect(pto_submit_short_(rt, kernel, params, count, &number, &result), 1)) return number;
    /* the address of `params` does not escape, so they need not be in memory before */
    PTOTaskParam copy[PTO_SHORT_PARAMS];
    PTO_UNROLL_ for (int i = 0; i < count; i++) { copy[i] = params[i]; }
    return pto_submit_long_(rt, kernel, copy, count, result);
}

/* A call over several lines belongs to its first line, because all that a macro prints does.  PTO_CALL_SUBMITS: a
 * program with many submits is compiled faster, and smaller, when they are calls.  With a sanitizer, which instruments
 * each access of an inlined submit, one submit takes a C compiler half a second; so they are calls there too, unless
 * PTO_INLINE_SUBMITS is defined. */
#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PTO_IS_SANITIZED_ 1
#endif
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define PTO_IS_SANITIZED_ 1
#endif
#if defined PTO_CALL_SUBMITS || (defined PTO_IS_SANITIZED_ && !defined PTO_INLINE_SUBMITS)
#define pto_submit_task(...) (pto_submit_task)(__VA_ARGS__)
#else
#define pto_submit_task(...) pto_submit_inlined_(__VA_ARGS__)
#endif

/* pto_submit_task with the parameters, at least one, as arguments:
 *     PTO_SUBMIT(rt, &kernel, PTO_INPUT(a, 0, 64), PTO_OUTPUT(&p, 0, 64)) */
#ifndef __cplusplus
#define PTO_SUBMIT(rt, kernel, ...)                                                                                    \
    pto_submit_task(rt, kernel, (const PTOTaskParam[]){__VA_ARGS__},                                                   \
                    (int32_t)(sizeof((const PTOTaskParam[]){__VA_ARGS__}) / sizeof(PTOTaskParam)))
#else
#define PTO_SUBMIT(rt, kernel, ...) pto_submit_each_(rt, kernel, __VA_ARGS__)
/* pto_runtime.h */
PTO_API int64_t(pto_submit_task)(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);
}

/* pto_submit_task of a list of PTOParam, which keep their extents. */
PTO_INLINED_ int64_t pto_submit_inlined_(PTORuntime *rt, const PTOKernel *kernel, const PTOParam *params, int32_t count)
{
    PTOTaskParam plain[PTO_MAX_PARAMS + 2];
    const bool is_list = params && count >= 0 && count <= PTO_MAX_PARAMS + 2;
    for (int32_t i = 0; is_list && i < count; i++) plain[i] = params[i].pto_plain();
    return (pto_submit_task)(rt, kernel, is_list ? static_cast<const PTOTaskParam *>(plain) : nullptr, count);
}
static inline int64_t(pto_submit_task)(PTORuntime *rt, const PTOKernel *kernel, const PTOParam *params, int32_t count)
{
    return pto_submit_inlined_(rt, kernel, params, count);
}

template <typename... Params>
PTO_INLINED_ int64_t pto_submit_each_(PTORuntime *rt, const PTOKernel *kernel, const Params &...params)
{
    const PTOTaskParam plain[] = {pto_plain_(params)...}; /* the extents live until the submit has returned */
    return pto_submit_task(rt, kernel, plain, static_cast<int32_t>(sizeof...(Params)));
}
#endif
#endif
