/* known_box.c - see known_box.h. */
#include "known_box.h"

enum { UNIT_BITS = 30 }; /* of the bytes that `at` counts: no product overflows */

/* Of a line of which nothing is known: no call of a program has it, and NULL may be in a wrong one. */
static const PTOKernel no_kernel;

void ptoi_known_boxes_begin(struct known_boxes *k)
{
    for (int i = 0; i < PTO_FAST_LINES; i++) k->line[i].kernel = &no_kernel;
}

struct known_kernel *ptoi_known_boxes_take(struct known_boxes *k, const PTOKernel *kernel, const char *text,
                                           uint64_t name)
{
    struct known_kernel *const line = &k->line[pto_kernel_line_(kernel)];
    line->kernel = kernel;
    line->text = text;
    line->name = name;
    line->makes_buffers = false;
    line->usual = NO_USUAL;
    ptoi_known_step_forget(&line->step);
    for (int i = 0; i < KNOWN_BOXES; i++) ptoi_known_box_forget(&line->box[i]);
    return line;
}

/* false: the tensor is so large that it cannot be divided by multiplying. */
static bool learn_axes(struct known_box *b, const struct distribution *home, const struct box *box)
{
    uint64_t elements = 1, apart = 1, product;
    for (int32_t k = home->rank - 1; k >= 0; k--) {
        const uint64_t size = (uint64_t)home->shape[k], cell = (uint64_t)home->cell[k], grid = (uint64_t)home->grid[k];
        const uint64_t extent = (uint64_t)(box->high[k] - box->low[k]);
        /* a cell or a grid that is larger than the dimension divides nothing */
        b->axis[home->rank - 1 - k] = (struct known_axis){.size = size,
                                                          .cell = cell,
                                                          .grid = grid,
                                                          .inverse_of_size = ptoi_inverse(size),
                                                          .inverse_of_cell = cell < size ? ptoi_inverse(cell) : 0,
                                                          .inverse_of_grid = grid < size ? ptoi_inverse(grid) : 0,
                                                          .begins = size - extent + 1,
                                                          .extent = extent,
                                                          .begins_in_cell = extent <= cell ? cell - extent + 1 : 0,
                                                          .ranks_apart = apart};
        elements *= size;
        apart *= grid;
    }
    b->elements = elements;
    for (int32_t k = 0; k < home->rank; k++)
        if (__builtin_mul_overflow(elements, b->axis[k].size, &product)) return false;
    return true;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* What b->cell says of a dimension: where the cell of `low` begins, and where boxes may begin from there. */
static uint64_t pass_cell(const struct known_axis *x, uint64_t low, uint64_t *begins)
{
    const uint64_t first = ptoi_divide(low, x->inverse_of_cell) * x->cell;
    *begins = least(x->begins_in_cell, x->begins - first);
    return first;
}

int32_t ptoi_known_box_other_home(struct known_box *b, uint64_t begin, int32_t ranks)
{
    const int32_t home = begin < b->elements ? ptoi_known_box_home(b, begin, ranks) : NO_BOX;
    struct known_cell *const c = &b->cell;
    if (home < 0 || home > UINT16_MAX || c->size == 0) return home;
    const struct known_axis *const x = b->axis;
    const uint64_t row = b->rows ? ptoi_divide(begin, x->inverse_of_size) : 0;
    c->rows = 1;
    c->begin = pass_cell(x, begin - row * x->size, &c->columns);
    if (b->rows) c->begin += pass_cell(x + 1, row, &c->rows) * x->size;
    c->home = (uint16_t)home;
    return home;
}

/* Nothing is known of a cell; all rows of one dimension are one. */
static void forget_cell(struct known_box *b)
{
    b->cell = (struct known_cell){.rows = 0, .size = b->rows <= 1 ? b->axis[0].size : 0};
    b->cell.inverse_of_size = b->cell.size ? ptoi_inverse(b->cell.size) : 0;
}

/* Modulo 2^64.  Each step of Newton's doubles the right bits, of which an odd number itself has three. */
static uint64_t inverse_of_odd(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - odd * inverse;
    return inverse;
}

/* Of one or two dimensions. */
static void learn_tiles(struct known_box *b, const struct tensor *t)
{
    struct known_tiles *const x = &b->tiles;
    const struct known_axis *const inner = b->axis, *const outer = b->axis + b->rows;
    *x = (struct known_tiles){.home = NULL};
    if (!t->home_of_cell || b->rows > 1 || inner->size % inner->cell != 0 || inner->begins_in_cell != 1 ||
        outer->begins_in_cell != 1)
        return;
    x->twos = __builtin_ctzll(inner->cell);
    x->odd_inverse = inverse_of_odd(inner->cell >> x->twos);
    x->columns = inner->size / inner->cell;
    x->rows = b->rows ? outer->size / outer->cell : 1;
    x->row = b->rows ? outer->cell * inner->size : 0; /* one row: no tile lies in another one */
    x->inverse_of_row = b->rows ? ptoi_inverse(x->row) : 0;
    x->home = t->home_of_cell;
    b->cell.size = 0;
}

int32_t ptoi_view_item(uint64_t *word, int32_t index, int64_t unit, int32_t rank, const int64_t *shape,
                       const int64_t *stride, const struct distribution *home, const struct box *box)
{
    const int32_t outer = home->rank - rank;
    bool is_shown = outer >= 0 && unit == home->unit;
    int64_t apart = 1;
    for (int32_t n = rank - 1; is_shown && n >= 0; n--) {
        is_shown = shape[n] == box->high[outer + n] - box->low[outer + n] && stride[n] == apart;
        apart *= home->shape[outer + n];
    }
    if (is_shown || rank == 0) return 0;
    word[0] = asked_head(ASKED_VIEW, index, 2 * rank, 0, 0);
    for (int32_t n = 0; n < rank; n++) {
        word[1 + n] = (uint64_t)shape[n];
        word[1 + rank + n] = (uint64_t)stride[n];
    }
    return VIEW_WORDS(rank);
}

static uint64_t sum_of(const uint64_t *item, uint64_t words)
{
    const uint64_t row = asked_row(item[0]);
    uint64_t sum = 0;
    for (uint64_t k = 0; k < words; k++) sum += item[k] * asked_key(row, k);
    return sum;
}

/* Its items. */
static void make_items(struct known_box *b, const PTOTaskParam *p, int32_t index, const struct distribution *home,
                       const struct box *box)
{
    const int32_t axes = home->rank;
    const uint64_t view = (uint64_t)ptoi_view_item(b->item, index, pto_bytes_of_(p->type), p->rank, b->view,
                                                   b->view + p->rank, home, box);
    uint64_t *const item = b->item + view;
    item[0] = asked_head(ASKED_BOX, index, axes + 1, p->kind, b->number);
    for (int32_t k = 0; k < axes; k++) item[1 + k] = (uint64_t)(box->high[k] - box->low[k]);
    b->words = view + 2 + (uint64_t)axes;
    b->sum = sum_of(item, 1 + (uint64_t)axes) + (view > 0 ? sum_of(b->item, view) : 0);
    b->key_of_begin = asked_key(asked_row(item[0]), 1 + (uint64_t)axes);
}

void ptoi_known_box_learn(struct known_box *b, const PTOTaskParam *p, int32_t index, const char *base, struct tensor *t,
                          const struct box *box)
{
    const int64_t unit = p->rank == 0 ? p->bytes : pto_bytes_of_(p->type), home_unit = t->home.unit;
    ptoi_known_box_forget(b);
    if (p->rank > FORM_RANK || (uint64_t)unit >> UNIT_BITS || unit % home_unit != 0 ||
        (base - t->base) % home_unit != 0 || t->home.first == NO_HOME)
        return;
    ptoi_form_extents(p, b->view);
    for (int k = 0; k < p->rank; k++)
        if (b->view[p->rank + k] < 0) return; /* it begins below its first element */
    b->base = base;
    b->first = (base - t->base) / home_unit;
    b->step = unit / home_unit;
    b->number = t->number;
    b->home = t->home.first;
    b->rows = t->home.rank - 1;
    if (!learn_axes(b, &t->home, box)) return;
    forget_cell(b);
    learn_tiles(b, t);
    b->box_elements = ptoi_box_elements(box, t->home.rank);
    make_items(b, p, index, &t->home, box);
    b->tensor = t;
    b->form = ptoi_known_form(p);
    /* an array of the program has its number until the run ends */
    if (p->rank == 2 && p->kind != PTO_PARAM_OUTPUT && t->buffer == 0) b->matrix = b->form;
}
