/* view_form.h - the form of a view: its type, extents and strides, as a parameter of a task says them.
 *
 * Idea       calls of one kernel mostly differ in where their tensors lie, so what follows from a form is derived once,
 *            and each further call compares forms.
 * Owner      none: pure functions of their arguments.
 * Tests      test/runtime/test_plain.c, test_known_box.c */
#ifndef PTOI_VIEW_FORM_H
#define PTOI_VIEW_FORM_H
#include <pto/pto_submit.h>
#include <stddef.h>
#include <string.h>

enum { FORM_AT_BITS = 30 /* of `at`, of a view that is compared */, FORM_RANK = 2 };
_Static_assert(offsetof(PTOTaskParam, rank) - offsetof(PTOTaskParam, type) == 1, "type and rank are compared as one");

/* Type and rank. */
static inline uint16_t ptoi_form_of(const PTOTaskParam *p)
{
    uint16_t form;
    memcpy(&form, &p->type, sizeof form);
    return form;
}

/* Extents, then strides, as the window holds them; a flat range is a vector of bytes.  Of at most FORM_RANK dimensions,
 * which the parameter has. */
static inline void ptoi_form_extents(const PTOTaskParam *p, int64_t *extent)
{
    const int rank = p->rank;
    if (rank == 0) {
        extent[0] = p->bytes;
        extent[1] = 1;
    }
    for (int d = 0; d < rank; d++) {
        extent[d] = p->shape[d];
        extent[rank + d] = p->stride ? p->stride[d] : d == rank - 1 ? 1 : p->shape[rank - 1];
    }
}

/* Has a parameter of that form these extents, and does it begin at an element that is not far? */
static inline bool ptoi_has_extents(const int64_t *extent, const PTOTaskParam *p)
{
    const int64_t *const e = extent;
    const uint64_t far = (uint64_t)p->at >> FORM_AT_BITS;
    if (p->rank == 0) return !PTO_RARE_((far | ((uint64_t)p->bytes ^ (uint64_t)e[0])) != 0);
    const int64_t *const shape = p->shape, *const stride = p->stride;
    if (PTO_RARE_(far != 0)) return false;
    if (PTO_RARE_(!shape || shape[0] != e[0])) return false;
    if (p->rank == 1) return stride ? stride[0] == e[1] : e[1] == 1;
    return shape[1] == e[1] && (stride ? stride[0] == e[2] && stride[1] == e[3] : e[2] == e[1] && e[3] == 1);
}

#endif
