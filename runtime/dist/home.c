/* home.c - see home.h. */
#include "home.h"
#include <string.h>

int64_t ptoi_home_bytes(const struct distribution *d)
{
    int64_t bytes = d->unit, cells = 1;
    if (d->rank < 1 || d->rank > PTO_MAX_RANK) return 0;
    if (d->unit != 1 && d->unit != 2 && d->unit != 4 && d->unit != 8) return 0;
    for (int32_t k = 0; k < d->rank; k++)
        if (d->shape[k] < 1 || d->cell[k] < 1 || d->grid[k] < 1 || __builtin_mul_overflow(bytes, d->shape[k], &bytes) ||
            __builtin_mul_overflow(cells, d->grid[k], &cells))
            return 0;
    return bytes;
}

int32_t ptoi_home_rows(int32_t ranks)
{
    int32_t rows = 1;
    for (int32_t p = 2; p <= ranks / p; p++)
        if (ranks % p == 0) rows = p;
    return rows;
}

struct distribution ptoi_home_whole(int64_t bytes, int32_t home)
{
    return (struct distribution){.rank = 1, .unit = 1, .shape = {bytes}, .cell = {bytes}, .grid = {1}, .first = home};
}

struct distribution ptoi_home_bands(int64_t bytes, int32_t ranks)
{
    enum { LINE = 64 };
    const int64_t band = (bytes / ranks / LINE + 1) * LINE;
    return (struct distribution){.rank = 1, .unit = 1, .shape = {bytes}, .cell = {band}, .grid = {ranks}};
}

void ptoi_home_strides(const struct distribution *d, int64_t *stride)
{
    int64_t dense = 1;
    for (int32_t k = d->rank - 1; k >= 0; k--) {
        stride[k] = dense;
        dense *= d->shape[k];
    }
}

void ptoi_home_element(const struct distribution *d, int64_t byte, int64_t *element)
{
    int64_t rest = byte / d->unit;
    for (int32_t k = d->rank - 1; k >= 0; k--) {
        element[k] = rest % d->shape[k];
        rest /= d->shape[k];
    }
}

/* Cells that are neighbours in dimension k are `step` ranks apart. */
int32_t ptoi_home_cut(const struct distribution *d, int32_t ranks)
{
    int64_t step = 1;
    int32_t k = d->rank - 1;
    for (; k >= 0; step *= d->grid[k--])
        if (d->cell[k] < d->shape[k] && d->grid[k] > 1 && step % ranks != 0) break;
    return k;
}

int64_t ptoi_home_row(const struct distribution *d, int32_t ranks)
{
    const int32_t cut = ptoi_home_cut(d, ranks);
    int64_t bytes = cut < 0 ? d->unit : d->unit * d->cell[cut];
    for (int32_t k = d->rank - 1; k > cut; k--) bytes *= d->shape[k];
    return bytes;
}

static bool region_of(const struct distribution *d, const struct box *b, struct region *region)
{
    int64_t stride[PTO_MAX_RANK], extent[PTO_MAX_RANK], at = 0;
    ptoi_home_strides(d, stride);
    for (int32_t k = 0; k < d->rank; k++) {
        extent[k] = b->high[k] - b->low[k];
        at += b->low[k] * stride[k];
    }
    return ptoi_region_make(region, at * d->unit, d->unit, d->rank, extent, stride);
}

/* Two corners are enough if the region is a box, or lies in the box between them: then no byte of it leaves the columns
 * of its first and last byte.  Else whole rows are taken behind the first dimension in which the corners differ. */
bool ptoi_home_box(const struct distribution *d, const struct region *region, struct box *box)
{
    int64_t low[PTO_MAX_RANK], high[PTO_MAX_RANK];
    struct region candidate;
    bool is_box = true;
    ptoi_home_element(d, region->low, low);
    ptoi_home_element(d, region->high - 1, high);
    for (int32_t k = 0; k < d->rank; k++) {
        is_box &= low[k] <= high[k];
        box->low[k] = low[k];
        box->high[k] = high[k] + 1;
    }
    if (is_box && region_of(d, box, &candidate) && ptoi_region_contains(&candidate, region))
        return ptoi_region_contains(region, &candidate);
    int32_t differs = 0;
    while (differs < d->rank - 1 && low[differs] == high[differs]) differs++;
    for (int32_t k = differs + 1; k < d->rank; k++) {
        box->low[k] = 0;
        box->high[k] = d->shape[k];
    }
    return false;
}

static int32_t rank_of_cell(const struct distribution *d, int32_t ranks, const int64_t *cell)
{
    int64_t at = 0;
    for (int32_t k = 0; k < d->rank; k++) {
        const int64_t grid = d->grid[k];
        at = at * grid + (cell[k] < grid ? cell[k] : cell[k] % grid);
    }
    at += d->first;
    return (int32_t)(at < ranks ? at : at % ranks);
}

int32_t ptoi_home_of(const struct distribution *d, int32_t ranks, const int64_t *element)
{
    int64_t cell[PTO_MAX_RANK];
    for (int32_t k = 0; k < d->rank; k++) cell[k] = element[k] / d->cell[k];
    return rank_of_cell(d, ranks, cell);
}

int64_t ptoi_box_elements(const struct box *b, int32_t rank)
{
    int64_t elements = 1;
    for (int32_t k = 0; k < rank; k++) elements *= b->high[k] - b->low[k];
    return elements;
}

bool ptoi_box_contains(const struct box *outer, const struct box *inner, int32_t rank)
{
    for (int32_t k = 0; k < rank; k++)
        if (inner->low[k] < outer->low[k] || inner->high[k] > outer->high[k]) return false;
    return true;
}

bool ptoi_box_meets(const struct box *a, const struct box *b, int32_t rank)
{
    for (int32_t k = 0; k < rank; k++)
        if (a->low[k] >= b->high[k] || b->low[k] >= a->high[k]) return false;
    return true;
}

int32_t ptoi_home_of_box(const struct distribution *d, int32_t ranks, const struct box *box)
{
    int64_t cell[PTO_MAX_RANK];
    if (d->first == NO_HOME) return NO_HOME;
    for (int32_t k = 0; k < d->rank; k++) {
        const int64_t size = d->cell[k], low = box->low[k], at = low < size ? 0 : low / size;
        if (box->high[k] - at * size > size || box->high[k] <= low) return NO_HOME;
        cell[k] = at;
    }
    return rank_of_cell(d, ranks, cell);
}

struct pieces ptoi_pieces(const struct distribution *d, const struct box *box, int32_t ranks)
{
    struct pieces p;
    p.d = d;
    p.box = box;
    p.ranks = ranks;
    p.is_over = d->first == NO_HOME;
    for (int32_t k = 0; k < d->rank; k++) {
        const int64_t cell = d->cell[k], low = box->low[k], last = box->high[k] - 1;
        p.cell[k] = p.first[k] = low < cell ? 0 : low / cell;
        p.last[k] = last - p.first[k] * cell < cell ? p.first[k] : last / cell;
        p.is_over |= low > last;
    }
    return p;
}

bool ptoi_next_piece(struct pieces *p, struct box *piece, int32_t *home)
{
    const struct distribution *d = p->d;
    if (p->is_over) return false;
    *home = rank_of_cell(d, p->ranks, p->cell);
    for (int32_t k = 0; k < d->rank; k++) {
        const int64_t low = p->cell[k] * d->cell[k], left = d->shape[k] - low,
                      high = low + (left < d->cell[k] ? left : d->cell[k]);
        piece->low[k] = low > p->box->low[k] ? low : p->box->low[k];
        piece->high[k] = high < p->box->high[k] ? high : p->box->high[k];
    }
    int32_t k = d->rank - 1;
    for (; k >= 0; k--) {
        if (++p->cell[k] <= p->last[k]) break;
        p->cell[k] = p->first[k];
    }
    p->is_over = k < 0;
    return true;
}

int64_t ptoi_home_owned(const struct distribution *d, int32_t ranks, int32_t rank)
{
    struct box all = {{0}, {0}}, piece;
    int64_t bytes = 0;
    int32_t home;
    for (int32_t k = 0; k < d->rank; k++) all.high[k] = d->shape[k];
    for (struct pieces p = ptoi_pieces(d, &all, ranks); ptoi_next_piece(&p, &piece, &home);)
        if (home == rank) bytes += ptoi_box_elements(&piece, d->rank) * d->unit;
    return bytes;
}
