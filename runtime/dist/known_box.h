/* known_box.h - where in its tensor the view of a parameter lay the last time.
 *
 * Idea       calls of one kernel mostly differ in where their tensors lie, and not in types, extents and strides; a
 *            rank reads the parameters of all tasks, also of those that others execute.  A view that is a box of its
 *            tensor is a box of the same extents wherever it begins, unless it goes round the end of a row: so a
 *            further task finds its box by a division a dimension.  (submit/known.h is the same idea for what the
 *            window holds.)
 * Owner      the orchestrator, for one run.
 * Invariant  a box that is found is the one that ptoi_home_box() finds, and the view lies inside of its buffer.
 * Tests      test/runtime/test_known_box.c, test/wire/stress_ranks.c */
#ifndef PTOI_KNOWN_BOX_H
#define PTOI_KNOWN_BOX_H
#include "home.h"
#include <pto/detail/fast_path.h>

enum { KNOWN_BOXES = 8 }; /* of a kernel: its first parameters */
#define NO_TENSOR UINT32_MAX

struct tensor;
struct known_box {
    struct tensor *tensor; /* NULL: nothing is known */
    uint32_t number;       /* of the tensor: a later one may have its place */
    uint8_t type, rank;    /* of the parameter; shape, stride: likewise, of a flat range its bytes */
    const char *base;
    int64_t shape[2], stride[2];
    int64_t first, step; /* the view begins at element first + at * step of the tensor */
    int64_t extent[PTO_MAX_RANK];
};

struct known_boxes {
    struct {
        const PTOKernel *kernel;
        uint64_t name; /* the hash of its name */
        struct known_box box[KNOWN_BOXES];
    } line[PTO_FAST_LINES]; /* by kernel, pto_kernel_line_() */
};

/* Nothing is known. */
void ptoi_known_boxes_begin(struct known_boxes *k);
/* The same of one kernel, whose name has that hash. */
struct known_box *ptoi_known_boxes_take(struct known_boxes *k, const PTOKernel *kernel, uint64_t name);
/* The first of KNOWN_BOXES, and the hash of its name; NULL: the kernel is not known. */
static inline struct known_box *ptoi_known_boxes_of(struct known_boxes *k, const PTOKernel *kernel, uint64_t *name)
{
    const uint32_t line = pto_kernel_line_(kernel);
    *name = k->line[line].name;
    return k->line[line].kernel == kernel ? k->line[line].box : NULL;
}

/* The box of a parameter of a kind from PTO_PARAM_INPUT to PTO_PARAM_ACC; false: it is not like the last one, or its
 * tensor has to be looked at. */
bool ptoi_known_box_find(const struct known_box *b, const PTOTaskParam *p, struct box *box);
/* The view is that box of the tensor, of which the program may use every byte. */
void ptoi_known_box_learn(struct known_box *b, const PTOTaskParam *p, const char *base, struct tensor *t,
                          const struct box *box);

#endif
