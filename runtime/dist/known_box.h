/* known_box.h - where in its tensor the view of a parameter lay the last time.
 *
 * Idea       calls of one kernel mostly differ in where their tensors lie, and not in types, extents and strides; a
 *            rank reads the parameters of all tasks, also of those that others execute.  A view that is a box of its
 *            tensor is a box of the same extents wherever it begins, unless it goes round the end of a row: so a
 *            further task finds its box, and the cell of it, by multiplications; at once where boxes are cells, whose
 *            homes stand in a table, or where the last box lay in that cell.  (submit/known.h is the same idea for what
 *            the window holds.)
 * Owner      the orchestrator, for one run.
 * Invariant  a tensor of which a box is known is settled and not lent, and stays so.  A box that is found is the one
 *            that ptoi_home_box() finds, its home that of ptoi_home_of_box(), and the view lies inside of its buffer.
 * Source     division by multiplication with an inverse that is rounded down: A. D. Robison, "N-bit unsigned division
 *            via N-bit multiply-add", ARITH 2005.  Of multiples: T. Granlund, P. Montgomery, "Division by invariant
 *            integers using multiplication", PLDI 1994, section 9.
 * Tests      test/runtime/test_known_box.c, test/wire/stress_ranks.c */
#ifndef PTOI_KNOWN_BOX_H
#define PTOI_KNOWN_BOX_H
#include "asked.h"
#include "tensor.h"
#include "shared/view_form.h"
#include <pto/detail/fast_path.h>

enum { KNOWN_BOXES = 8 }; /* of a kernel: its first parameters */

/* The kind, the type and the number of dimensions of a parameter. */
static inline uint32_t ptoi_known_form(const PTOTaskParam *p)
{
    static const PTOTaskParam all = {.kind = UINT8_MAX, .type = UINT8_MAX, .rank = UINT8_MAX};
    uint32_t form, mask;
    memcpy(&form, p, sizeof form);
    memcpy(&mask, &all, sizeof mask);
    return form & mask;
}
#define NO_FORM UINT32_MAX /* nothing is known */

/* One dimension of the tensor; inverse_of_: ptoi_inverse(). */
struct known_axis {
    uint64_t size, cell, grid;
    uint64_t inverse_of_size, inverse_of_cell, inverse_of_grid;
    uint64_t begins, begins_in_cell; /* where the box may begin: in the dimension; in a cell, so that it lies in it */
    uint64_t extent;                 /* of the box */
    uint64_t ranks_apart;            /* cells that are neighbours in it, inside of the grid */
};

/* A cell of a tensor of one or two dimensions; of another one it has no rows. */
struct known_cell {
    uint64_t begin;                 /* its first element */
    uint64_t size, inverse_of_size; /* of a row of the tensor */
    uint64_t rows, columns;         /* in which a box may begin, so that it lies in the cell */
    uint16_t home;                  /* never NO_HOME, as a compiler sees */
};

/* Where boxes are cells, and rows of the tensor are rows of whole cells. */
struct known_tiles {
    const uint16_t *home;         /* by cell, struct tensor; NULL: it is not so */
    uint64_t row, inverse_of_row; /* elements of a row of cells */
    uint64_t rows, columns;       /* of cells */
    uint64_t odd_inverse;         /* the width of a cell, see ptoi_divide_exactly() */
    int32_t twos;
};

/* The item of a view; a rank that only knows its box could take another view for it. */
#define VIEW_WORDS(rank) (1 + 2 * (rank))
/* Whose box does not show its form, as where a dimension has one element and a step, or where dimensions have another
 * order.  unit: bytes of an element.  Returns how many words; 0: the box shows it, or rank is 0. */
int32_t ptoi_view_item(uint64_t *word, int32_t index, int64_t unit, int32_t rank, const int64_t *shape,
                       const int64_t *stride, const struct distribution *home, const struct box *box);

/* A buffer that a task makes, or reads or writes as a whole: a row-major array of one or two dimensions. */
struct known_made {
    uint32_t form;                      /* known_form() of the parameter; NO_FORM: it is none */
    int32_t rank, unit;                 /* its dimensions, and the bytes of an element */
    int64_t view[2 * FORM_RANK], bytes; /* its extents and strides */
    uint64_t head, key;                 /* of the item of one that is there: but for its number; of that word */
};

struct known_box {
    struct known_made made;
    uint32_t form;   /* known_form() of the parameter */
    uint32_t matrix; /* the same where ptoi_known_box_is_matrix() may be asked, else NO_FORM */
    uint32_t number; /* of the tensor: a later one may have its place */
    const char *base;
    int64_t view[2 * FORM_RANK]; /* its extents and strides; shared/view_form.h */
    struct tensor *tensor;
    int64_t first, step; /* the view begins at element first + at * step of the tensor */
    struct known_tiles tiles;
    struct known_cell cell;     /* in which the last box lay; not where there are tiles */
    uint64_t words;             /* of its items, of which the last one is the first element, and the others are here */
    uint64_t sum, key_of_begin; /* of those here, each times its key; the key of the last one */
    uint64_t item[VIEW_WORDS(FORM_RANK) + 1 + PTO_MAX_RANK];
    uint64_t elements; /* of the tensor */
    int64_t box_elements;
    int32_t home, rows;                   /* of the first cell; the dimensions that have another one outside of them */
    struct known_axis axis[PTO_MAX_RANK]; /* the innermost first */
};

static inline void ptoi_known_box_forget(struct known_box *b) { b->form = b->matrix = NO_FORM; }

/* The words of its last task, see known_step.h. */
enum { NOT_KNOWN = -1 };
struct known_step {
    int32_t count;             /* parameters; NOT_KNOWN: of none */
    int32_t ranks;             /* how many it names: its own, and those of tasks that were held back */
    uint8_t kind[KNOWN_BOXES]; /* of each parameter; TENSOR_KIND and so on */
    uint64_t last_use;         /* where the step's own words may begin at last */
    uint64_t key[KNOWN_BOXES]; /* of the word of a scalar */
    uint64_t form, words;      /* see struct step */
    uint64_t own, sum;         /* own: a bit for each word that a step has for itself; sum: the others, each times its
                                * key, and the count of all words */
};

enum { NO_USUAL = INT32_MIN }; /* the home of nothing */

/* What is known of the parameters of a kernel. */
struct known_kernel {
    const PTOKernel *kernel;
    const char *text;   /* its name */
    uint64_t name;      /* the hash of that */
    bool makes_buffers; /* its last task did */
    int32_t usual;      /* the rank of its last task that was skipped, which is not this one; NO_USUAL: none was */
    struct known_step step;
    struct known_box box[KNOWN_BOXES];
};

static inline void ptoi_known_step_forget(struct known_step *k) { k->count = NOT_KNOWN; }

struct known_boxes {
    struct known_kernel line[PTO_FAST_LINES]; /* pto_kernel_line_() */
};

/* Nothing is known. */
void ptoi_known_boxes_begin(struct known_boxes *k);
/* The same of one kernel, whose name has that hash. */
struct known_kernel *ptoi_known_boxes_take(struct known_boxes *k, const PTOKernel *kernel, const char *text,
                                           uint64_t name);
/* NULL: the kernel is not known. */
static inline struct known_kernel *ptoi_known_boxes_of(struct known_boxes *k, const PTOKernel *kernel)
{
    struct known_kernel *const line = &k->line[pto_kernel_line_(kernel)];
    return line->kernel == kernel ? line : NULL;
}

/* The view, parameter `index`, is that box of the tensor, of which the program may use every byte.  Nothing is learned
 * of a tensor that has no home yet. */
void ptoi_known_box_learn(struct known_box *b, const PTOTaskParam *p, int32_t index, const char *base, struct tensor *t,
                          const struct box *box);

/* Of a divisor of numbers n with (n + 1) * divisor < 2^64; 0 divides all of them to 0. */
static inline uint64_t ptoi_inverse(uint64_t divisor) { return UINT64_MAX / divisor; }
static inline uint64_t ptoi_divide(uint64_t n, uint64_t inverse)
{
    return (uint64_t)((unsigned __int128)(n + 1) * inverse >> 64);
}

/* n / divisor, where that is whole, else a number above UINT64_MAX / divisor.  The divisor is 2^twos times an odd
 * number that has the inverse modulo 2^64. */
static inline uint64_t ptoi_divide_exactly(uint64_t n, uint64_t odd_inverse, int32_t twos)
{
    const uint64_t product = n * odd_inverse;
    return product >> twos | product << (-(uint32_t)twos & 63);
}

#define NO_ELEMENT UINT64_MAX

/* Is the view of a parameter of the same form like the last one, and has its tensor not to be looked at? */
static inline bool ptoi_known_box_is_like(const struct known_box *b, const PTOTaskParam *p)
{
    const char *base = p->buffer;
    if (p->kind == PTO_PARAM_OUTPUT) {
        if (!p->ref) return false;
        memcpy(&base, p->ref, sizeof base); /* a new one has no address yet */
    }
    if (base != b->base || b->tensor->number != b->number) return false;
    return ptoi_has_extents(b->view, p);
}
/* The same of two dimensions of an array of the program, of which the task makes nothing; it is so mostly.  false: it
 * has to be looked at. */
static inline bool ptoi_known_box_is_matrix(const struct known_box *b, const PTOTaskParam *p)
{
    const int64_t *const shape = p->shape, *const stride = p->stride, *const v = b->view;
    if (PTO_RARE_(p->buffer != b->base || !shape || !stride)) return false;
    if (PTO_RARE_(((uint64_t)p->at >> FORM_AT_BITS) |
                  (uint64_t)((shape[0] ^ v[0]) | (shape[1] ^ v[1]) | (stride[0] ^ v[2]) | (stride[1] ^ v[3]))))
        return false;
    return true;
}
/* The element of the tensor at which the view begins; NO_ELEMENT: it is not like the last one, or leaves the tensor. */
static inline uint64_t ptoi_known_box_begin(const struct known_box *b, const PTOTaskParam *p)
{
    const uint64_t begin = (uint64_t)(b->first + p->at * b->step);
    return ptoi_known_box_is_like(b, p) && begin < b->elements ? begin : NO_ELEMENT;
}

/* false: a box that begins there leaves the dimension.  *rank grows by the ranks that its cell is apart from cell 0;
 * *is_one: it lies in that cell. */
static inline bool ptoi_known_axis_pass(const struct known_axis *x, uint64_t low, uint64_t *rank, bool *is_one)
{
    const uint64_t cell = ptoi_divide(low, x->inverse_of_cell);
    if (PTO_RARE_(low - cell * x->cell >= x->begins_in_cell)) *is_one = false;
    *rank += (cell - ptoi_divide(cell, x->inverse_of_grid) * x->grid) * x->ranks_apart;
    return low < x->begins;
}

/* The rank of the cell in which all of a box with that first element lies; NO_HOME: it lies in several; NO_BOX: it
 * would go round the end of a row, or leaves the tensor. */
enum { NO_BOX = NO_HOME - 1 };
static inline int32_t ptoi_known_box_home(const struct known_box *b, uint64_t begin, int32_t ranks)
{
    const struct known_axis *x = b->axis;
    uint64_t rank = (uint64_t)b->home;
    bool is_one = true;
    for (int32_t k = b->rows; k > 0; k--, x++) {
        const uint64_t row = ptoi_divide(begin, x->inverse_of_size);
        if (PTO_RARE_(!ptoi_known_axis_pass(x, begin - row * x->size, &rank, &is_one))) return NO_BOX;
        begin = row;
    }
    if (PTO_RARE_(!ptoi_known_axis_pass(x, begin, &rank, &is_one))) return NO_BOX;
    if (PTO_RARE_(!is_one)) return NO_HOME;
    return (int32_t)(rank < (uint64_t)ranks ? rank : rank % (uint64_t)ranks);
}
/* The same, where boxes are cells, or where the last one lay in that cell; else NOT_SEEN. */
enum { NOT_SEEN = NO_BOX - 1 };
static inline int32_t ptoi_known_box_seen_home(const struct known_box *b, uint64_t begin)
{
    const struct known_tiles *const x = &b->tiles;
    if (x->home) {
        const uint64_t row = ptoi_divide(begin, x->inverse_of_row);
        const uint64_t column = ptoi_divide_exactly(begin - row * x->row, x->odd_inverse, x->twos);
        if (column < x->columns && row < x->rows) return x->home[row * x->columns + column];
    }
    const struct known_cell *const c = &b->cell;
    const uint64_t at = begin - c->begin, row = ptoi_divide(at, c->inverse_of_size); /* huge, if it begins before it */
    return row < c->rows && at - row * c->size < c->columns ? c->home : NOT_SEEN;
}
/* The same of any element: NO_BOX where there is none. */
int32_t ptoi_known_box_other_home(struct known_box *b, uint64_t begin, int32_t ranks);
static inline int32_t ptoi_known_box_near_home(struct known_box *b, uint64_t begin, int32_t ranks)
{
    const int32_t home = ptoi_known_box_seen_home(b, begin);
    return PTO_RARE_(home == NOT_SEEN) ? ptoi_known_box_other_home(b, begin, ranks) : home;
}
/* The box, if there is one. */
static inline void ptoi_known_box_write(const struct known_box *b, uint64_t begin, struct box *box)
{
    const struct known_axis *x = b->axis;
    for (int32_t k = b->rows; k >= 0; k--, x++) {
        const uint64_t row = ptoi_divide(begin, x->inverse_of_size), low = begin - row * x->size;
        box->low[k] = (int64_t)low;
        box->high[k] = (int64_t)(low + x->extent);
        begin = row;
    }
}

#endif
