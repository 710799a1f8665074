/* strip.h - what the window holds of a strip, a task that is several iterations of a loop (pto_strip.h).
 *
 * Idea       the arguments of the task are what all its iterations access, one for each tensor.  The strip follows
 *            them: which kernels an iteration calls, and for each of their arguments where it lies in an argument of
 *            the task, and how far it moves from one iteration to the next.
 * Owner      as the arguments of a task; failed_call and failed_iteration: W its worker, before it completes.
 * Tests      test/runtime/test_strips.c */
#ifndef PTOI_STRIP_H
#define PTOI_STRIP_H
#include "task.h"
#include <pto/pto_strip.h>

struct strip {
    int64_t iterations, expected_ns; /* of all of it */
    int32_t calls, args;             /* of an iteration; of all its calls */
    int32_t failed_call;             /* of the calls, once the task has failed */
    int32_t reserved;
    int64_t failed_iteration;
};

struct strip_call {
    int64_t kernel, site; /* as in a task_slot */
    int64_t args;
};

/* An argument of the first iteration.  Its extents and strides follow all arguments, as those of a task do. */
struct strip_arg {
    int64_t
        value; /* scalar bits; the number that is compared; or bytes from the first one of the task's argument `of` */
    int64_t step;
    int64_t limit; /* of a comparison */
    uint8_t kind, type, rank, of;
    int32_t test; /* a scalar: PTO_IS_TEST_ and its results; 0: it is no comparison */
};
_Static_assert(sizeof(struct strip) == 40 && sizeof(struct strip_call) == 24 && sizeof(struct strip_arg) == 32,
               "words without padding between them");

/* A strip as it is submitted: it is copied to the end of the arguments of its task. */
struct strip_text {
    struct strip head;
    struct strip_call call[PTO_STRIP_CALLS];
    struct strip_arg arg[PTO_STRIP_PARAMS];
    int64_t extent[PTO_STRIP_PARAMS * 2 * PTO_MAX_RANK];
    int32_t extents;
};

static inline uint64_t ptoi_strip_bytes(const struct strip_text *s)
{
    return sizeof s->head + (size_t)s->head.calls * sizeof *s->call + (size_t)s->head.args * sizeof *s->arg +
           (size_t)s->extents * sizeof *s->extent;
}

static inline void ptoi_strip_write(const struct strip_text *s, void *to)
{
    char *at = to;
    memcpy(at, &s->head, sizeof s->head);
    memcpy(at += sizeof s->head, s->call, (size_t)s->head.calls * sizeof *s->call);
    memcpy(at += (size_t)s->head.calls * sizeof *s->call, s->arg, (size_t)s->head.args * sizeof *s->arg);
    memcpy(at + (size_t)s->head.args * sizeof *s->arg, s->extent, (size_t)s->extents * sizeof *s->extent);
}

static inline const struct strip_call *ptoi_strip_calls(const struct strip *s)
{
    return (const struct strip_call *)(s + 1);
}
static inline const struct strip_arg *ptoi_strip_args(const struct strip *s)
{
    return (const struct strip_arg *)(ptoi_strip_calls(s) + s->calls);
}
static inline const int64_t *ptoi_strip_extents(const struct strip *s)
{
    return (const int64_t *)(ptoi_strip_args(s) + s->args);
}

/* All arguments of the first iteration, of which `own` are those of the task (room for PTO_STRIP_PARAMS).  own NULL:
 * tensors get no addresses. */
void ptoi_strip_first_args(const struct strip *s, const PTOArg *own, PTOArg *args);
/* Those of the call that failed, without addresses; how many they are. */
int ptoi_strip_failed_args(const struct strip *s, PTOArg *args);

/* What grows by `step`, so many iterations later.  It stays within 64 bits, unlike the product. */
static inline int64_t ptoi_strip_grown(int64_t value, int64_t step, int64_t times)
{
    return (int64_t)((uint64_t)value + (uint64_t)step * (uint64_t)times);
}

/* The bits of a scalar in that iteration, from 0. */
static inline int64_t ptoi_strip_scalar(const struct strip_arg *of, int64_t iteration)
{
    const int64_t number = ptoi_strip_grown(of->value, of->step, iteration);
    if (of->test == 0) return number;
    return of->test >> (number < of->limit ? 0 : number == of->limit ? 1 : 2) & 1;
}

/* The argument so many iterations later, which is that iteration. */
static inline void ptoi_strip_move(PTOArg *a, const struct strip_arg *by, int64_t times, int64_t iteration)
{
    if (by->kind == PTO_PARAM_SCALAR)
        a->value.i64 = ptoi_strip_scalar(by, iteration);
    else if (a->ptr)
        a->ptr = (char *)a->ptr + by->step * times;
}

/* The strip of a task that is TASK_STRIP. */
static inline struct strip *ptoi_task_strip(const struct window *w, uint64_t id) { return ptoi_task_extras(w, id); }

#endif
