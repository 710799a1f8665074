/* tensormap_grid.c - which places of a buffer are near each other.
 * Idea       Note [cells]: a buffer is cut into cells of the size of what is used; only accesses that share a cell are compared.
 * Owner      the orchestrator, through tensormap.c.
 * Invariant  Every byte is in one cell.  A grid does not change while its buffer has entries that hang by it.
 * Tests      test/runtime/test_tensormap.c
 */
#include "tensormap_parts.h"

static int8_t shift_of(int64_t a)
{
    return (a & (a - 1)) == 0 ? (int8_t)__builtin_ctzll((unsigned long long)a) : -1;
}

void ptoi_grid_cells(const struct map_buffer *b, const struct region *r, struct cells *c)
{
    int64_t at = r->low - b->origin, span = r->high - r->low;
    int32_t i = 0;
    *c = (struct cells){.count = {1, 1, 1}, .total = 1};
    for (uint32_t k = 0; k < b->levels; k++) {
        const int64_t stride = b->cell[k];
        const int8_t shift = b->cell_shift[k];
        int64_t row = grid_divide(at, stride, shift), last_row = row;
        at -= row * stride;
        /* Dimensions that step by whole strides stay at one place inside a stride.  Another one that is as long makes the
         * span longer than the stride, see below. */
        for (; i < r->rank && r->dim[i].stride_bytes >= stride; i++) {
            int64_t d = r->dim[i].stride_bytes, last = r->dim[i].count - 1;
            int64_t rows = d == stride ? 1 : grid_divide(d, stride, shift);
            if (rows * stride == d) {
                last_row += rows * last;
                span -= d * last;
            }
        }
        if (at + span > stride) { /* runs over the end of a row: anywhere inside a row */
            last_row += grid_divide(at + span - 1, stride, shift);
            i = r->rank;
            at = 0;
            span = stride;
        }
        c->first[k] = grid_divide(row, b->tile[k], b->tile_shift[k]);
        if (last_row > row)
            c->count[k] = grid_divide(last_row, b->tile[k], b->tile_shift[k]) - c->first[k] + 1;
        if (c->count[k] > 1 && __builtin_mul_overflow(c->total, c->count[k], &c->total))
            c->total = INT64_MAX;
    }
}

static void grid_level(struct map_buffer *b, int64_t stride, int64_t count, int64_t *at)
{
    uint32_t k = b->levels++;
    b->cell[k] = stride;
    b->tile[k] = (int32_t)(count < INT32_MAX ? count : INT32_MAX);
    b->cell_shift[k] = shift_of(stride);
    b->tile_shift[k] = shift_of(b->tile[k]);
    int64_t row = grid_divide(*at, stride, b->cell_shift[k]);
    *at -= row * stride;
    b->origin += (row - grid_divide(row, b->tile[k], b->tile_shift[k]) * b->tile[k]) * stride;
}

/* Its origin lies so that the buffer's first row begins near the beginning of a cell: rows are cut where the tensor's rows end, not
 * in the middle. */
void ptoi_grid_choose(struct tensormap *m, struct map_buffer *b, const struct region *r)
{
    int64_t at = r->low - b->low, span = r->high - r->low;
    b->grid = ++m->grids;
    b->levels = 0;
    b->waste = 0;
    b->origin = b->low;
    for (int32_t k = 0; k < r->rank && k < LEVELS - 1; k++) {
        int64_t inner = span - r->dim[k].stride_bytes * (r->dim[k].count - 1);
        if (inner > r->dim[k].stride_bytes)
            break;
        grid_level(b, r->dim[k].stride_bytes, r->dim[k].count, &at);
        span = inner;
    }
    grid_level(b, span, 1, &at);
    b->origin += at;
    b->key = (uint64_t)b->origin * UINT64_C(0xD6E8FEB86659FD93);
}

bool ptoi_grid_fits(const struct map_buffer *b, const struct region *r)
{
    if (b->levels != (uint32_t)r->rank + 1 || b->cell[r->rank] != r->run)
        return false;
    for (int32_t k = 0; k < r->rank; k++)
        if (b->cell[k] != r->dim[k].stride_bytes || b->tile[k] != r->dim[k].count)
            return false;
    return true;
}
