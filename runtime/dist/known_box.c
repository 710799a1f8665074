/* known_box.c - see known_box.h. */
#include "known_box.h"

enum { UNIT_BITS = 30 }; /* of the bytes that `at` counts: no product overflows */

void ptoi_known_boxes_begin(struct known_boxes *k)
{
    for (int i = 0; i < PTO_FAST_LINES; i++) k->line[i].kernel = NULL;
}

struct known_box *ptoi_known_boxes_take(struct known_boxes *k, const PTOKernel *kernel, uint64_t name)
{
    const uint32_t line = pto_kernel_line_(kernel);
    k->line[line].kernel = kernel;
    k->line[line].name = name;
    for (int i = 0; i < KNOWN_BOXES; i++) k->line[line].box[i].tensor = NULL;
    return k->line[line].box;
}

/* false: the tensor is so large that it cannot be divided by multiplying. */
static bool learn_axes(struct known_box *b, const struct distribution *home, const struct box *box)
{
    uint64_t elements = 1, apart = 1, product;
    for (int32_t k = home->rank - 1; k >= 0; k--) {
        const uint64_t size = (uint64_t)home->shape[k], cell = (uint64_t)home->cell[k], grid = (uint64_t)home->grid[k];
        /* a cell or a grid that is larger than the dimension divides nothing */
        b->axis[k] = (struct known_axis){.size = size,
                                         .cell = cell,
                                         .grid = grid,
                                         .inverse_of_size = ptoi_inverse(size),
                                         .inverse_of_cell = cell < size ? ptoi_inverse(cell) : 0,
                                         .inverse_of_grid = grid < size ? ptoi_inverse(grid) : 0,
                                         .ranks_apart = apart};
        b->extent[k] = (uint64_t)(box->high[k] - box->low[k]);
        elements *= size;
        apart *= grid;
    }
    b->elements = elements;
    for (int32_t k = 0; k < home->rank; k++)
        if (__builtin_mul_overflow(elements, b->axis[k].size, &product)) return false;
    return true;
}

/* What its item has in each step. */
static void sum_item(struct known_box *b, int32_t index, int32_t axes)
{
    b->head = asked_head(ASKED_BOX, index, axes + 1, 0, b->number);
    const uint64_t row = asked_row(b->head), key = asked_key(row, 0);
    b->sum = b->head * key;
    for (int32_t k = 0; k < axes; k++) b->sum += b->extent[k] * asked_key(row, 1 + (uint64_t)k);
    b->key_of_kind = asked_head(0, 0, 0, 1, 0) * key;
    b->key_of_begin = asked_key(row, 1 + (uint64_t)axes);
}

void ptoi_known_box_learn(struct known_box *b, const PTOTaskParam *p, int32_t index, const char *base, struct tensor *t,
                          const struct box *box)
{
    const int64_t unit = p->rank == 0 ? p->bytes : pto_bytes_of_(p->type), home_unit = t->home.unit;
    b->tensor = NULL;
    if (p->rank > FORM_RANK || (uint64_t)unit >> UNIT_BITS || unit % home_unit != 0 ||
        (base - t->base) % home_unit != 0)
        return;
    b->form = ptoi_form_of(p);
    ptoi_form_extents(p, b->view);
    for (int k = 0; k < p->rank; k++)
        if (b->view[p->rank + k] < 0) return; /* it begins below its first element */
    b->base = base;
    b->first = (base - t->base) / home_unit;
    b->step = unit / home_unit;
    b->number = t->number;
    if (!learn_axes(b, &t->home, box)) return;
    sum_item(b, index, t->home.rank);
    b->tensor = t;
}

void ptoi_known_box_write(const struct known_box *b, uint64_t begin, struct box *box)
{
    for (int32_t k = b->tensor->home.rank - 1; k >= 0; k--) {
        const struct known_axis *const x = &b->axis[k];
        const uint64_t row = ptoi_divide(begin, x->inverse_of_size), low = begin - row * x->size;
        box->low[k] = (int64_t)low;
        box->high[k] = (int64_t)(low + b->extent[k]);
        begin = row;
    }
}
