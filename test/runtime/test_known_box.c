/* test_known_box.c - a view that is like the last one has the box that a look at its tensor finds. */
#include "dist/dist.h"
#include "pick.h"
#include "unit.h"
#include <stdlib.h>

enum { VIEWS = 20000, LATER = 8, RANKS = 5 };

static int64_t below(int64_t n) { return pick(0, n - 1); }

/* At address 4096 at the least, so that a view that leaves the tensor has an address all the same. */
static struct tensor any_tensor(void)
{
    struct tensor t = {.number = (uint32_t)below(9), .is_settled = true};
    t.home = (struct distribution){.rank = 1 + (int32_t)below(3), .unit = 1 << below(4)};
    for (int32_t k = 0; k < t.home.rank; k++) {
        t.home.shape[k] = 1 + below(9);
        t.home.cell[k] = 1 + below(10);
        t.home.grid[k] = 1 + below(4);
    }
    t.home.first = (int32_t)below(5);
    t.base = (char *)(uintptr_t)(4096 + 64 * below(9));
    t.bytes = ptoi_home_bytes(&t.home);
    return t;
}

/* A parameter of any form, whose numbers are `shape` and `stride`. */
static PTOTaskParam any_view(const struct tensor *t, int64_t *shape, int64_t *stride)
{
    static const uint8_t types[] = {PTO_U8, PTO_F16, PTO_F32, PTO_F64};
    PTOTaskParam p = {.kind = PTO_PARAM_INOUT, .rank = (uint8_t)below(4), .buffer = t->base};
    p.type = p.rank == 0 ? PTO_BYTE : types[below(4)];
    if (p.rank == 0) p.bytes = 1 + below(16);
    for (int k = 0; k < p.rank; k++) {
        shape[k] = 1 + below(4);
        stride[k] = below(12) - 1;
    }
    if (p.rank > 0) p.shape = shape;
    if (p.rank > 0 && below(3) > 0) p.stride = stride;
    p.at = below(40);
    return p;
}

/* As dist/submit.c does it; false: it is no box, or lies not in the tensor. */
static bool look(const struct tensor *t, const PTOTaskParam *p, struct box *box)
{
    struct region r;
    const int64_t bytes[1] = {p->bytes}, unit = p->rank ? pto_bytes_of_(p->type) : 1;
    const int64_t address = (int64_t)(intptr_t)p->buffer + p->at * (p->rank ? unit : p->bytes);
    if (!ptoi_region_make(&r, address, unit, p->rank ? p->rank : 1, p->rank ? p->shape : bytes, p->stride))
        return false;
    r.low -= (int64_t)(intptr_t)t->base;
    r.high -= (int64_t)(intptr_t)t->base;
    return r.low >= 0 && r.high <= t->bytes && ptoi_home_box(&t->home, &r, box);
}

static bool is_same(const struct box *a, const struct box *b, int32_t rank)
{
    return ptoi_box_contains(a, b, rank) && ptoi_box_contains(b, a, rank);
}

/* The home is that of the cell. */
static bool find(struct known_box *known, const PTOTaskParam *p, struct box *box)
{
    if (ptoi_known_form(p) != known->form) return false;
    const uint64_t begin = ptoi_known_box_begin(known, p);
    const int32_t home = begin == NO_ELEMENT ? NO_BOX : ptoi_known_box_home(known, begin, RANKS);
    if (begin != NO_ELEMENT) EXPECT_EQ(ptoi_known_box_near_home(known, begin, RANKS), home);
    if (home == NO_BOX) return false;
    ptoi_known_box_write(known, begin, box);
    EXPECT_EQ(home, ptoi_home_of_box(&known->tensor->home, RANKS, box));
    return true;
}

TEST(a_later_view_has_the_box_that_a_look_finds)
{
    int64_t found = 0, moved = 0, tiled = 0;
    rng_state = 1;
    for (int i = 0; i < VIEWS; i++) {
        struct tensor t = any_tensor();
        struct known_box known = {.form = NO_FORM};
        struct box first, later, want;
        int64_t shape[PTO_MAX_RANK], stride[PTO_MAX_RANK];
        PTOTaskParam p = any_view(&t, shape, stride);
        if (!look(&t, &p, &first)) continue;
        for (int32_t k = 0; i % 2 > 0 && k < t.home.rank; k++) t.home.cell[k] = first.high[k] - first.low[k];
        if (below(4) > 0) ptoi_dist_make_homes(&t, RANKS);
        ptoi_known_box_learn(&known, &p, 0, p.buffer, &t, &first);
        tiled += known.tiles.home != NULL;
        for (int k = 0; k < LATER; k++) {
            p.at = below(40);
            if (!find(&known, &p, &later)) continue;
            EXPECT(look(&t, &p, &want));
            EXPECT(is_same(&later, &want, t.home.rank));
            found++;
            moved += !is_same(&later, &first, t.home.rank);
        }
        EXPECT_EQ(ptoi_known_box_near_home(&known, known.elements + (uint64_t)below(9), RANKS), NO_BOX);
        EXPECT_EQ(ptoi_known_box_near_home(&known, (uint64_t)-1 - (uint64_t)below(9), RANKS), NO_BOX);
        free(t.home_of_cell);
    }
    EXPECT(found > VIEWS / 4);
    EXPECT(moved > VIEWS / 8);
    EXPECT(tiled > VIEWS / 200);
}

/* Of widths that are odd, powers of two, and both; of numbers that wrap around, too. */
TEST(what_is_no_tile_is_in_no_column)
{
    for (uint64_t width = 1; width <= 96; width++) {
        int32_t twos = 0;
        uint64_t inverse = 1;
        while (!(width >> twos & 1)) twos++;
        while (inverse * (width >> twos) != 1) inverse *= 2 - (width >> twos) * inverse;
        for (uint64_t n = 0; n < 1000; n++) {
            const uint64_t column = ptoi_divide_exactly(n, inverse, twos);
            EXPECT(n % width == 0 ? column == n / width : column > UINT64_MAX / width);
        }
        for (uint64_t n = 1; n < 100; n++) EXPECT(ptoi_divide_exactly(0 - n, inverse, twos) >= 1000);
    }
}

/* What may have changed since then. */
TEST(another_form_or_tensor_is_looked_at)
{
    struct tensor t = {.number = 3, .is_settled = true, .base = (char *)4096, .bytes = 8 * 8 * 4};
    t.home = (struct distribution){.rank = 2, .unit = 4, .shape = {8, 8}, .cell = {4, 8}, .grid = {2, 1}};
    int64_t shape[2] = {2, 4}, stride[2] = {8, 1};
    struct known_box known = {.form = NO_FORM};
    struct box box;
    PTOTaskParam p = {
        .kind = PTO_PARAM_INPUT, .type = PTO_F32, .rank = 2, .buffer = t.base, .shape = shape, .stride = stride};
    EXPECT(look(&t, &p, &box));
    EXPECT(!find(&known, &p, &box));
    t.home.first = NO_HOME; /* it may have any later */
    ptoi_known_box_learn(&known, &p, 0, p.buffer, &t, &box);
    EXPECT(!find(&known, &p, &box));
    t.home.first = 0;
    ptoi_known_box_learn(&known, &p, 0, p.buffer, &t, &box);
    EXPECT(find(&known, &p, &box));
    p.at = 5; /* goes round the end of a row */
    EXPECT(!find(&known, &p, &box));
    p.at = 7 * 8; /* behind the last row */
    EXPECT(!find(&known, &p, &box));
    p.at = -8;
    EXPECT(!find(&known, &p, &box));
    p.at = 0;
    shape[1] = 3;
    EXPECT(!find(&known, &p, &box));
    shape[1] = 4;
    stride[0] = 16;
    EXPECT(!find(&known, &p, &box));
    stride[0] = 8;
    p.type = PTO_I32;
    EXPECT(!find(&known, &p, &box));
    p.type = PTO_F32;
    p.buffer = t.base + 4;
    EXPECT(!find(&known, &p, &box));
    p.buffer = t.base;
    EXPECT(find(&known, &p, &box));
    void *made = NULL;
    p.kind = PTO_PARAM_OUTPUT;
    p.ref = &made;
    EXPECT(!find(&known, &p, &box));
    ptoi_known_box_learn(&known, &p, 0, t.base, &t, &box);
    EXPECT(!find(&known, &p, &box));
    made = t.base;
    EXPECT(find(&known, &p, &box));
    t.number = NO_TENSOR;
    EXPECT(!find(&known, &p, &box));
}
