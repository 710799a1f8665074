/* fast_path.h - the fast path of pto_submit_task: tasks that are executed inline, in the caller.  Included by
 * pto_submit.h.
 *
 * Idea       where tasks are executed inline, because one thread holds all roles or the kernel is known to be very
 *            short, the C compiler knows most of a submit: the number of parameters, their kinds, types and ranks.  So
 *            the submit is an inlined function.  While the fast path is enabled, it checks the rest, puts the arguments
 *            on the stack and calls the kernel.  A submit that is not plain, or is wrong, takes the slow path with the
 *            same parameters, as if the fast path had not looked at them.
 * Limits     1 to PTO_FAST_PARAMS parameters, a constant number of them, and an optimizing compiler; parameters that
 *            decode.h accepts; one new output.  Every other submit takes the slow path.
 * ABI        the headers of this folder belong to one build of the library: a program is compiled with the headers of
 *            the library that it is linked with.  The functions of the other headers do not depend on them.
 * Tests      test/runtime/test_fast_path.c */
#ifndef PTO_DETAIL_FAST_PATH_H
#define PTO_DETAIL_FAST_PATH_H
#include <pto/detail/decode.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PTO_FAST_PARAMS = 8, PTO_FAST_LINE_BITS = 5, PTO_FAST_LINES = 1 << PTO_FAST_LINE_BITS };

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
typedef struct PTOFastPath {
    const PTOSite *site; /* pto_at() writes it */
    /* Points to 0 while the fast path is enabled; from the first failure on that word is the run status, so it disables
     * the path */
    const int *closed;
    /* the kernel that the fast path is calling; a crash report names it.  Its arguments are not stored: their addresses
     * would escape, and C compilers could not inline the kernel */
    const PTOKernel *volatile running;
    uint64_t number;                    /* the id of the next task */
    uint64_t heap, heap_bytes;          /* the address of the heap */
    const uint32_t *starts;             /* by granule of the heap: the buffer that begins or last began there */
    const PTOBufferLifetime *lifetime;  /* by buffer; 0 is none */
    bool has_moved;                     /* compaction has moved a buffer: addresses are looked up */
    bool takes_strips;                  /* see pto_strip.h */
    int32_t offer_gap;                  /* pto_next_offer() */
    PTOKernelLine line[PTO_FAST_LINES]; /* by kernel, pto_kernel_line_() */
    const void *params;                 /* the record of the params of the active call, see pto_program.h */
} PTOFastPath;

/* The slow path of pto_submit_task.  result: what the kernel returned if the caller has called it and it failed, else
 * 0.
 * Caller     the orchestrator.  Blocks as pto_submit_task does.  Status: as pto_submit_task. */
PTO_API int64_t pto_submit_slow_(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
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

#ifdef __clang__
#define PTO_UNROLL_ _Pragma("clang loop unroll(full)")
#else
#define PTO_UNROLL_ _Pragma("GCC unroll 8")
#endif

/* Kernels of one program lie 32 to 64 bytes apart: multiples of the golden ratio put neighbours far from each other. */
PTO_INLINED_ uint32_t pto_kernel_line_(const PTOKernel *kernel)
{
    return (uint32_t)(((uint64_t)(uintptr_t)kernel >> 4) * 0x9e3779b97f4a7c15u >> (64 - PTO_FAST_LINE_BITS));
}

/* Does the access lie inside its buffer?  Memory that is not the heap's is the program's business. */
PTO_INLINED_ bool pto_is_held_(const PTOFastPath *w, const PTOAccess_ *a)
{
    const uint64_t at = (uint64_t)(uintptr_t)a->base - w->heap;
    if (at >= w->heap_bytes) return true;
    const PTOBufferLifetime *lifetime = &w->lifetime[w->starts[at / PTO_GRANULE]];
    const uint64_t before = at - lifetime->at;
    return before < lifetime->bytes && a->high - (uint64_t)(uintptr_t)a->base <= lifetime->bytes - before;
}

/* false: take the slow path; *result is for pto_submit_slow_. */
PTO_INLINED_ bool pto_submit_fast_(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                                   int64_t *number, int32_t *result)
{
    PTOFastPath *w = (PTOFastPath *)rt;
    PTOArg arg[PTO_FAST_PARAMS];
    int64_t lay[PTO_FAST_PARAMS][PTO_PLAIN_RANK], bytes = 0;
    int made = -1; /* the new output */
    *result = 0;
    if (!rt) return false;
    PTOKernelLine *line = &w->line[pto_kernel_line_(kernel)];
    if (PTO_RARE_(line->kernel != kernel || line->left < 0) || !kernel || !kernel->fn) return false;
    PTO_UNROLL_ for (int i = 0, n = 0; i < count; i++)
    {
        /* nothing waits, and nothing is recorded */
        if (params[i].kind >= PTO_PARAM_PRIORITY && params[i].kind <= PTO_PARAM_AT) continue;
        if ((params[i].kind < PTO_PARAM_INPUT || params[i].kind > PTO_PARAM_SCALAR) &&
            params[i].kind != PTO_PARAM_INOUT_PART)
            return false;
        PTOAccess_ a;
        if (PTO_RARE_(!pto_decode_(&params[i], &arg[n], lay[n], &a))) return false;
        if (params[i].kind == PTO_PARAM_OUTPUT && !a.base) {
            if (made >= 0) return false;
            made = n;
            bytes = (int64_t)a.high;
        } else if (params[i].kind != PTO_PARAM_SCALAR && PTO_RARE_(!pto_is_held_(w, &a))) {
            return false;
        }
        if (params[i].kind == PTO_PARAM_INOUT_PART) {
            if (!pto_is_part_(&params[i], &a)) return false;
            arg[n].kind = PTO_PARAM_INOUT;
        }
        n++;
    }
    /* Not earlier: the load is ordered, and after it C compilers no longer know the contents of the caller's lists. */
    if (PTO_RARE_(__atomic_load_n(w->closed, __ATOMIC_ACQUIRE) != 0)) return false; /* [RUN_STATUS] */
    PTO_UNROLL_ for (int i = 0, n = 0; i < count; i++)
    {
        if (params[i].kind >= PTO_PARAM_PRIORITY && params[i].kind <= PTO_PARAM_AT) continue;
        if (params[i].kind == PTO_PARAM_OUTPUT && n == made) {
            arg[n].ptr = pto_room_(rt, params[i].scope, bytes, params[i].name);
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
    if (!__builtin_constant_p(count) || count < 1 || count > PTO_FAST_PARAMS || !params)
        return pto_submit_slow_(rt, kernel, params, count, 0);
    if (__builtin_expect(pto_submit_fast_(rt, kernel, params, count, &number, &result), 1)) return number;
    /* the address of `params` does not escape, so they need not be in memory before */
    PTOTaskParam copy[PTO_FAST_PARAMS];
    PTO_UNROLL_ for (int i = 0; i < count; i++) { copy[i] = params[i]; }
    return pto_submit_slow_(rt, kernel, copy, count, result);
}

#ifdef __cplusplus
}
#endif
#endif
