/* tensormap_grid.c - which places of a buffer are near each other.
 * Idea       Note [cells]: a buffer is cut into cells of the size of what is used; only accesses that share a cell are
 *            compared.
 * Owner      the orchestrator, through tensormap.c.
 * Invariant  Every byte is in one cell.  A grid does not change while its buffer has entries that hang by it.
 * Tests      test/runtime/test_tensormap_grid.c, test_tensormap_model.c
 */
#include "tensormap_parts.h"

static int64_t divide_down(int64_t a, int64_t b)
{
    if (a == 0) /* as mostly */
        return 0;
    const int64_t q = a / b;
    return q - (a % b < 0);
}

/* The same, where b is of the grid, and its inverse. */
static int64_t divide_soon(const struct map_buffer *grid, int64_t a, int64_t b, uint64_t inverse)
{
    if (b == 1) return a;
    return (uint64_t)a < grid->reach ? grid_divide(a, inverse) : divide_down(a, b); // see Note [inverse]
}

/* Every cell that r touches, as a box, perhaps with some that it does not touch. */
static void cells_touched(const struct map_buffer *b, const struct region *r, struct map_cells *c)
{
    int64_t at = r->low - b->origin, span = r->high - r->low;
    int32_t i = 0;
    if (b->levels == 1 && r->rank == 0) { /* as often as not: a run that crosses the cuts of runs */
        const int64_t x = divide_soon(b, at, b->cell[0], b->cell_inverse[0]);
        const int64_t count = divide_soon(b, at + span - 1, b->cell[0], b->cell_inverse[0]) - x + 1;
        *c = (struct map_cells){.first = {x, 0, 0}, .count = {count, 1, 1}, .total = count};
        return;
    }
    *c = (struct map_cells){.count = {1, 1, 1}, .total = 1};
    for (uint32_t k = 0; k < b->levels; k++) {
        const int64_t stride = b->cell[k];
        const uint64_t inverse = b->cell_inverse[k];
        int64_t row = divide_soon(b, at, stride, inverse), last_row = row;
        at -= row * stride;
        /* Dimensions that step by whole strides stay at one place inside a stride.  Another one that is as long makes
         * the span longer than the stride, see below. */
        for (; i < r->rank && r->dim[i].stride_bytes >= stride; i++) {
            int64_t d = r->dim[i].stride_bytes, last = r->dim[i].count - 1;
            int64_t rows = d == stride ? 1 : divide_soon(b, d, stride, inverse);
            if (rows * stride == d) {
                last_row += rows * last;
                span -= d * last;
            }
        }
        if (at + span > stride) { /* runs over the end of a row: anywhere inside a row */
            last_row += divide_soon(b, at + span - 1, stride, inverse);
            i = r->rank;
            at = 0;
            span = stride;
        }
        c->first[k] = divide_soon(b, row, b->tile[k], b->tile_inverse[k]);
        if (last_row > row) c->count[k] = divide_soon(b, last_row, b->tile[k], b->tile_inverse[k]) - c->first[k] + 1;
        if (c->count[k] > 1 && __builtin_mul_overflow(c->total, c->count[k], &c->total)) c->total = INT64_MAX;
    }
}

/* See Note [inverse].  1 has none of 64 bits. */
static uint64_t inverse_of(int64_t b)
{
    if (b == 1) return 0;
    const bool is_power = (b & (b - 1)) == 0; /* most are, and that needs no division */
    return is_power ? UINT64_C(1) << (64 - __builtin_ctzll((unsigned long long)b)) : UINT64_MAX / (uint64_t)b + 1;
}

static void reach_within(struct map_buffer *b, uint64_t inverse)
{
    const uint64_t reach = inverse / 2;
    if (reach < b->reach) b->reach = reach;
}

static void grid_level(struct map_buffer *b, int64_t stride, int64_t count, int64_t *at)
{
    uint32_t k = b->levels++;
    b->cell[k] = stride;
    b->cell_inverse[k] = inverse_of(stride);
    reach_within(b, b->cell_inverse[k]);
    b->tile[k] = (int32_t)(count < INT32_MAX ? count : INT32_MAX);
    const int64_t row = divide_down(*at, stride);
    *at -= row * stride;
    if (b->tile[k] == 1) /* the last level: nobody divides by it */
        return;
    b->tile_inverse[k] = inverse_of(b->tile[k]);
    reach_within(b, b->tile_inverse[k]);
    b->origin += (row - divide_down(row, b->tile[k]) * b->tile[k]) * stride;
}

/* Its origin lies so that the buffer's first row begins near the beginning of a cell: rows are cut where the tensor's
 * rows end, not in the middle. */
void ptoi_grid_choose(struct map_buffer *b, const struct region *r)
{
    int64_t at = r->low - b->low, span = r->high - r->low;
    b->levels = 0;
    b->waste = 0;
    b->reach = INT64_MAX;
    b->origin = b->low;
    for (int32_t k = 0; k < r->rank && k < LEVELS - 1; k++) {
        int64_t inner = span - r->dim[k].stride_bytes * (r->dim[k].count - 1);
        if (inner > r->dim[k].stride_bytes) break;
        grid_level(b, r->dim[k].stride_bytes, r->dim[k].count, &at);
        span = inner;
    }
    grid_level(b, span, 1, &at);
    ptoi_map_shift(b, at);
    ptoi_map_set_near(b);
}

bool ptoi_grid_fits(const struct map_buffer *b, const struct region *r)
{
    if (b->levels != (uint32_t)r->rank + 1 || b->cell[r->rank] != r->run) return false;
    for (int32_t k = 0; k < r->rank; k++)
        if (b->cell[k] != r->dim[k].stride_bytes || b->tile[k] != r->dim[k].count) return false;
    return true;
}

int64_t ptoi_grid_where(const struct tensormap *m, const struct map_buffer *b, const struct region *r,
                        struct map_cells *cells)
{
    const int64_t head = cell_of(m, b, r);
    if (head != MANY) return head;
    cells_touched(b, r, cells);
    return cells->total == 1 ? (int64_t)head_of_cell(m, b, cells->first[0], cells->first[1], cells->first[2]) : MANY;
}
