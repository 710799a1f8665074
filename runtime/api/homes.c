/* homes.c - what a program says about ranks: how many there are, and where the cells of a tensor live.
 * Idea       one rank has everything, so nothing is distributed there; what is wrong is wrong on any number of ranks.
 * Blocks     never.
 * Tests      test/wire/test_homes.c, test/lit/codegen/homes.pto, test/lit/run/dist-numbers.pto */
#include "misuse.h"
#include "runtime.h"
#include <string.h>

int64_t pto_ranks(PTORuntime *rt) { return rt && rt->dist ? rt->dist->ranks : 1; }

int64_t pto_rank(PTORuntime *rt) { return rt && rt->dist && !rt->dist->plan ? rt->dist->me : 0; }

static bool refuse(PTORuntime *rt, const char *what, int32_t dim, int64_t number)
{
    ptoi_fail(rt->core.run_status, PTO_ERR_ARGUMENT, rt->now.site, "pto_dist: the %s of dimension %d is %lld", what,
              dim, (long long)number);
    return false;
}

/* A program says these numbers with '@dist', one in C with pto_dist: the text fits both. */
static bool refuse_grid(PTORuntime *rt, int32_t dim, int64_t number)
{
    const char *wrong = number < 1 ? "must be at least 1" : "makes a grid of more ranks than fit in 64 bits";
    ptoi_fail(rt->core.run_status, PTO_ERR_ARGUMENT, rt->now.site,
              "[E15] the number %lld for dimension %d of a distribution %s", (long long)number, dim, wrong);
    return false;
}

/* false: refused.  *is_empty: it has no cell. */
static bool read_distribution(PTORuntime *rt, const PTODist *dist, struct distribution *home, bool *is_empty)
{
    int64_t cells = 1;
    *is_empty = false;
    if (!dist || dist->rank < 1 || dist->rank > PTO_MAX_RANK || (unsigned)dist->type >= PTO_TYPE_COUNT) {
        ptoi_fail(rt->core.run_status, PTO_ERR_ARGUMENT, rt->now.site,
                  "pto_dist: no distribution of 1 to %d dimensions", PTO_MAX_RANK);
        return false;
    }
    *home = (struct distribution){.rank = dist->rank, .unit = (int32_t)pto_type_bytes(dist->type)};
    for (int32_t k = 0; k < dist->rank; k++) {
        const int64_t shape = dist->shape[k], grid = dist->is_square ? 1 : dist->grid[k], cell = dist->cell[k];
        if (shape < 0) return refuse(rt, "extent", k, shape);
        if (cell < 0) return refuse(rt, "cell", k, cell);
        if (grid < 1 || __builtin_mul_overflow(cells, grid, &cells)) return refuse_grid(rt, k, grid);
        *is_empty |= shape == 0;
        home->shape[k] = shape;
        home->grid[k] = grid;
        home->cell[k] = cell > 0 ? cell : shape / grid + (shape % grid > 0);
    }
    return true;
}

static enum dealt dealt(const PTODist *dist)
{
    if (!dist->is_square) return DEALT_AS_SAID;
    for (int32_t k = 0; k < dist->rank; k++)
        if (dist->cell[k] > 0) return DEALT_SQUARE;
    return DEALT_IN_BANDS;
}

void pto_dist(PTORuntime *rt, const void *base, const PTODist *dist)
{
    struct distribution home;
    bool is_empty;
    if (!ptoi_may_call(rt)) {
        ptoi_refuse_call(rt, "pto_dist");
        return;
    }
    if (ptoi_status(rt->core.run_status) != PTO_OK) return;
    if (!read_distribution(rt, dist, &home, &is_empty))
        ptoi_end_of_call(rt, PTO_ERR_ARGUMENT);
    else if (rt->dist && base && !is_empty)
        ptoi_dist_say(rt->dist, base, &home, dealt(dist));
}

void pto_bands(PTORuntime *rt, const void *base, PTOType type, int32_t rank, const int64_t *shape)
{
    PTODist bands = {.type = type, .is_square = true}; /* without cells */
    if (shape && rank > 0 && rank <= PTO_MAX_RANK) {   /* else it is refused */
        bands.rank = rank;
        memcpy(bands.shape, shape, (size_t)rank * sizeof *shape);
    }
    pto_dist(rt, base, &bands);
}
