/* known.h - the views that the tensors of a kernel were the last time.
 *
 * Idea       calls of one kernel mostly differ in where their tensors lie, and not in types, extents and strides.  What
 *            follows from those is derived once, and each further submit compares them: what the window will hold of
 *            the view, how many bytes it spans, and the rows that the map looks at.
 * Owner      the orchestrator, for one run; only plain.c asks.
 * Invariant  a view that is known is plain (pto/detail/decode.h), and its region has at most one outer dimension.
 * Tests      test/runtime/test_plain.c */
#ifndef PTOI_KNOWN_H
#define PTOI_KNOWN_H
#include "depend/tensormap.h"
#include "shared/view_form.h"

enum { KNOWN_PARAMS = 8 };

#define PTO_UNKNOWN UINT16_MAX
struct known_view {
    uint16_t form;    /* type and rank of the parameter; PTO_UNKNOWN: nothing is known */
    uint16_t extents; /* of the array below */
    uint32_t unit;    /* so many bytes `at` counts */
    uint32_t head; /* what follows `buffer` in the arg_head: type and rank of the argument; its kind is to be added */
    int64_t extent[4]; /* as the window holds them: extents, then strides */
    int64_t bytes;     /* from the first byte to the last */
    struct rows rows;
    struct map_buffer *near; /* the outside buffer that the tensor was in; NULL: none */
    bool is_contiguous;      /* row by row: a new output may be like that */
    const PTOKernel *kernel; /* of the first view: that of them all */
    int64_t run;             /* the bytes of rows, if that is one; else 0 */
    uint64_t rest[2];
};
_Static_assert(sizeof(struct known_view) == 128, "the views of a kernel are found by a shift");

struct known {
    const int32_t *workers;                               /* constant: by type */
    struct known_view line[PTO_FAST_LINES][KNOWN_PARAMS]; /* by kernel, pto_kernel_line_() */
};

void ptoi_known_begin(struct known *k); /* a run begins: nothing is known */
/* Another kernel is known in this line from now on: its views.  NULL: it is no kernel, or has no function or worker. */
struct known_view *ptoi_known_take(const struct known *k, struct known_view *first, const PTOKernel *kernel);
/* Derives the known form of the view of a parameter of the kinds PTO_PARAM_INPUT to PTO_PARAM_ACC.  false: it is not
 * plain, or its region has more dimensions. */
bool ptoi_known_learn(struct known_view *v, const PTOTaskParam *p);

/* Of its first parameter; NULL: no task of it is plain. */
static inline struct known_view *ptoi_known_of(struct known *k, const PTOKernel *kernel)
{
    struct known_view *const first = k->line[pto_kernel_line_(kernel)];
    return PTO_RARE_(first->kernel != kernel) ? ptoi_known_take(k, first, kernel) : first;
}

static inline bool ptoi_is_known(const struct known_view *v, const PTOTaskParam *p)
{
    return !PTO_RARE_(v->form != ptoi_form_of(p)) && ptoi_has_extents(v->extent, p);
}

#endif
