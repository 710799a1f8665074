/* pto_submit.h - the forms of a submit: pto_submit_task and PTO_SUBMIT, in C and in C++.  Included by pto_runtime.h.
 *
 * Idea       both are macros: a task that can be executed by its submit is, without a call of the library
 *            (detail/fast_path.h); every other task goes to the function of the same name.
 * Tests      test/lit/headers, test/runtime/test_fast_path.c */
#ifndef PTO_SUBMIT_H
#define PTO_SUBMIT_H
#include <pto/detail/fast_path.h>

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
extern "C" {
PTO_API int64_t(pto_submit_task)(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);
}

/* pto_submit_task of a list of PTOParam, which keep their extents. */
PTO_INLINED_ int64_t pto_submit_inlined_(PTORuntime *rt, const PTOKernel *kernel, const PTOParam *params, int32_t count)
{
    PTOTaskParam plain[PTO_TASK_PARAMS];
    const bool is_list = params && count >= 0 && count <= PTO_TASK_PARAMS;
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
