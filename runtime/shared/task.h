/* task.h - what the descriptor of a task in the window says, in the terms of the program: its kernel, its place in the
 * source, its arguments.
 *
 * Owner      any role, of a task that has not retired.
 * Tests      test/runtime/test_arguments.c */
#ifndef PTOI_TASK_H
#define PTOI_TASK_H
#include "window.h"
#include <pto/pto_arithmetic.h>
#include <stddef.h>
#include <string.h>

/* The elements of an argument follow each other, row by row. */
static inline bool ptoi_arg_is_contiguous(const PTOArg *a) { return pto_is_row_major(a->rank, a->shape, a->stride); }

static inline const PTOKernel *ptoi_task_kernel(const struct window *w, uint64_t id)
{
    return ptoi_image_pointer_of(window_task(w, id)->kernel);
}
static inline const PTOSite *ptoi_task_site(const struct window *w, uint64_t id)
{
    return ptoi_image_pointer(window_task(w, id)->site);
}
/* Its number in the run, from 0, as messages name it; on several ranks that of all of them; of a strip, its first. */
static inline uint64_t ptoi_task_number(const struct window *w, uint64_t id) { return *window_number(w, id); }
/* Fills args (room for PTO_MAX_PARAMS); returns how many.  heap_base NULL: the tensors' addresses are not wanted. */
int ptoi_task_args(const struct window *w, char *heap_base, uint64_t id, PTOArg *args);
enum { ARG_FORM_BYTES = 4 };
_Static_assert(offsetof(PTOArg, type) - offsetof(PTOArg, kind) ==
                       offsetof(struct arg_head, type) - offsetof(struct arg_head, kind) &&
                   offsetof(PTOArg, rank) - offsetof(PTOArg, kind) ==
                       offsetof(struct arg_head, rank) - offsetof(struct arg_head, kind) &&
                   offsetof(PTOArg, kind) + ARG_FORM_BYTES <= sizeof(PTOArg),
               "kind, type and rank are copied as one, with a byte that says nothing to a kernel");
/* The same of a task whose kernel is called next. */
static inline __attribute__((always_inline)) int ptoi_unpack_args(const struct window *w, char *heap_base,
                                                                  const struct task_slot *t, PTOArg *args)
{
    const int count = t->param_count;
    const struct arg_head *head = window_args(w, t->arg_begin), *const end = head + count;
    const int64_t *extent = (const int64_t *)end;
    for (; head < end; head++, args++) {
        const int64_t value = head->value;
        const size_t rank = head->rank;
        memcpy(&args->kind, &head->kind, ARG_FORM_BYTES);
        args->value.i64 = value;
        args->shape = extent;
        args->stride = extent + rank;
        if (head->kind == PTO_PARAM_SCALAR) {
            args->ptr = NULL;
            continue;
        }
        extent += 2 * rank;
        args->ptr = (void *)((head->buffer ? (uintptr_t)heap_base : 0) + (uintptr_t)value);
    }
    return count;
}
/* The words that follow the extents and strides of its arguments. */
void *ptoi_task_extras(const struct window *w, uint64_t id);
/* The elements that the kernel may write of an argument of which it writes only a part: `at` elements behind the first
 * one of the argument, with its rank. */
struct task_part {
    int64_t at;
    const int64_t *shape, *stride; /* NULL: the kind of the argument says all */
};
/* Fills parts (room for PTO_MAX_PARAMS), one for each of its arguments.  In the window a part is the number of its
 * argument, `at`, the shape and the strides; -1 ends the list.  false: none is there, and nothing is filled. */
bool ptoi_task_parts(const struct window *w, uint64_t id, struct task_part *parts);
/* Simulated cycles, as the kernel says; 1 where it does not.  params: of the active call. */
int64_t ptoi_task_cost(const struct window *w, uint64_t id, const void *params);
int64_t ptoi_task_timed_ns(const struct window *w, uint64_t id); /* of a task that is TASK_TIMED */
/* How long the kernel may run; 0: as long as it wants. */
static inline int64_t ptoi_task_limit_ns(const struct window *w, uint64_t id)
{
    return window_task(w, id)->flags & TASK_TIMED ? ptoi_task_timed_ns(w, id) : 0;
}

#endif
