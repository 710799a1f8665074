/* test_region.c - regions against the plain truth: sets of bytes written out one by one.
 * Idea       random small views, every byte of which is marked in an array; overlap and containment of the marks are
 *            what the functions must say.  Large ones are checked at the edges of 64 bits and for known answers.
 */
#include "unit.h"
#include "depend/region.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SPACE = 4096, ROUNDS = 300000 };

static uint64_t rng_state = 88172645463325252u;

static uint64_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

static int64_t pick(int64_t low, int64_t high) { return low + (int64_t)(rng() % (uint64_t)(high - low + 1)); }

struct view {
    int64_t address, element;
    int32_t rank;
    int64_t shape[PTO_MAX_RANK], stride[PTO_MAX_RANK];
    bool row_major;
};

static bool view_make(const struct view *v, struct region *r)
{
    return ptoi_region_make(r, v->address, v->element, v->rank, v->shape, v->row_major ? NULL : v->stride);
}

static void view_mark(const struct view *v, uint8_t *bytes)
{
    memset(bytes, 0, SPACE);
    int64_t total = 1, stride[PTO_MAX_RANK], next = 1;
    for (int32_t k = v->rank - 1; k >= 0; k--) {
        total *= v->shape[k];
        stride[k] = v->row_major ? next : v->stride[k];
        next *= v->shape[k];
    }
    for (int64_t n = 0; n < total; n++) {
        int64_t at = v->address, rest = n;
        for (int32_t k = v->rank - 1; k >= 0; k--) {
            at += rest % v->shape[k] * stride[k] * v->element;
            rest /= v->shape[k];
        }
        for (int64_t u = 0; u < v->element; u++) bytes[at + u] = 1;
    }
}

/* The same bytes from the other end, in some dimensions. */
static void reverse(struct view *v)
{
    if (v->row_major || pick(0, 1)) return;
    for (int32_t k = 0; k < v->rank; k++) {
        if (v->shape[k] == 0 || pick(0, 1)) continue;
        v->address += (v->shape[k] - 1) * v->stride[k] * v->element;
        v->stride[k] = -v->stride[k];
    }
}

static int64_t view_reach(const struct view *v)
{
    int64_t reach = v->element, next = 1;
    for (int32_t k = v->rank - 1; k >= 0; k--) {
        if (v->shape[k] == 0) return 0;
        reach += (v->shape[k] - 1) * (v->row_major ? next : v->stride[k]) * v->element;
        next *= v->shape[k];
    }
    return reach;
}

/* Any view of up to SPACE bytes: overlapping windows, broadcasts and empty ones among them. */
static struct view random_view(void)
{
    struct view v;
    do {
        memset(&v, 0, sizeof v);
        v.element = pick(1, 8);
        v.rank = (int32_t)pick(0, 4);
        v.row_major = pick(0, 5) == 0;
        for (int32_t k = 0; k < v.rank; k++) {
            v.shape[k] = pick(0, 30) == 0 ? 0 : pick(1, 5);
            v.stride[k] = pick(0, 8) == 0 ? 0 : pick(1, pick(0, 1) ? 9 : 60);
        }
        v.address = pick(0, 300);
    } while (v.address + view_reach(&v) > SPACE);
    reverse(&v);
    return v;
}

static bool share(const uint8_t *a, const uint8_t *b)
{
    for (int32_t i = 0; i < SPACE; i += 8) {
        uint64_t x, y;
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x & y) return true;
    }
    return false;
}

static bool covers(const uint8_t *outer, const uint8_t *inner)
{
    for (int32_t i = 0; i < SPACE; i += 8) {
        uint64_t x, y;
        memcpy(&x, outer + i, 8);
        memcpy(&y, inner + i, 8);
        if (y & ~x) return false;
    }
    return true;
}

static int64_t marked(const uint8_t *a)
{
    int64_t n = 0;
    for (int32_t i = 0; i < SPACE; i++) n += a[i];
    return n;
}

static void describe(const struct view *v)
{
    printf("  address %" PRId64 " element %" PRId64 "%s:", v->address, v->element, v->row_major ? " row-major" : "");
    for (int32_t k = 0; k < v->rank; k++) printf(" %" PRId64 "x%" PRId64, v->shape[k], v->stride[k]);
    printf("\n");
}

static bool is_normal(const struct region *r)
{
    int64_t span = r->run;
    for (int32_t k = 0; k < r->rank; k++) {
        if (r->dim[k].count < 2 || r->dim[k].stride_bytes <= r->run ||
            (k && r->dim[k].stride_bytes > r->dim[k - 1].stride_bytes))
            return false;
        span += r->dim[k].stride_bytes * (r->dim[k].count - 1);
    }
    return r->high - r->low == span && (r->run > 0 || r->rank == 0);
}

static void compare(const struct view *a, const struct view *b, bool must_know_containment)
{
    static uint8_t bytes_a[SPACE], bytes_b[SPACE];
    struct region ra, rb;
    EXPECT(view_make(a, &ra) && view_make(b, &rb));
    EXPECT(is_normal(&ra) && is_normal(&rb));
    view_mark(a, bytes_a);
    view_mark(b, bytes_b);
    bool overlap = share(bytes_a, bytes_b), inside = covers(bytes_a, bytes_b),
         same = inside && covers(bytes_b, bytes_a);
    bool says_inside = ptoi_region_contains(&ra, &rb);
    bool right = ptoi_region_overlaps(&ra, &rb) == overlap && ptoi_region_overlaps(&rb, &ra) == overlap &&
                 (!says_inside || inside) && (!must_know_containment || says_inside == inside) &&
                 (!ptoi_region_equals(&ra, &rb) || same) && ptoi_region_overlaps(&ra, &ra) == (ra.run > 0) &&
                 ptoi_region_contains(&ra, &ra) && ptoi_region_bytes(&ra) >= marked(bytes_a) &&
                 ptoi_region_bytes(&ra) <= ra.high - ra.low &&
                 (!must_know_containment || ptoi_region_bytes(&ra) == marked(bytes_a)) &&
                 (!must_know_containment || !same || ra.run == 0 || ptoi_region_equals(&ra, &rb));
    if (!right) {
        printf("overlap %d, inside %d (said %d), bytes %" PRId64 "\n", overlap, inside, says_inside, marked(bytes_a));
        describe(a);
        describe(b);
    }
    EXPECT(right);
}

TEST(h09_any_two_strided_views_overlap_exactly_when_they_share_a_byte)
{
    for (int32_t n = 0; n < ROUNDS; n++) {
        struct view a = random_view(), b = random_view();
        compare(&a, &b, false);
    }
}

/* A box of a tensor, with steps now and then. */
static struct view random_box(const struct view *parent, bool steps)
{
    struct view v = *parent;
    for (int32_t k = 0; k < v.rank; k++) {
        int64_t first = pick(0, parent->shape[k] - 1), count = pick(1, parent->shape[k] - first);
        int64_t step = steps && pick(0, 3) == 0 ? pick(1, 3) : 1;
        v.shape[k] = (count + step - 1) / step;
        v.stride[k] = parent->stride[k] * step;
        v.address += first * parent->stride[k] * v.element;
    }
    return v;
}

static struct view random_tensor(void)
{
    struct view v;
    do {
        memset(&v, 0, sizeof v);
        v.element = pick(1, 8);
        v.rank = (int32_t)pick(1, 4);
        v.address = pick(0, 100);
        int64_t stride = 1;
        for (int32_t k = v.rank - 1; k >= 0; k--) {
            v.shape[k] = pick(1, 6);
            v.stride[k] = stride;
            stride = stride * v.shape[k] + (pick(0, 2) == 0 ? pick(0, 3) : 0); /* rows may be padded */
        }
    } while (v.address + view_reach(&v) > SPACE);
    return v;
}

TEST(containment_of_boxes_of_one_tensor_is_exact)
{
    for (int32_t n = 0; n < ROUNDS; n++) {
        struct view parent = random_tensor(), a = random_box(&parent, false);
        struct view b = random_box(pick(0, 1) ? &a : &parent, false);
        compare(&a, &b, true);
    }
}

TEST(stepped_and_transposed_boxes_of_one_tensor_compare_right)
{
    const char *scale = getenv("PTO_SCALE"); /* 10: a million pairs */
    for (int32_t n = 0; n < ROUNDS / 3 * (scale ? atoi(scale) : 1); n++) {
        struct view parent = random_tensor(), a = random_box(&parent, true), b = random_box(&parent, true);
        for (int32_t k = b.rank - 1; k > 0; k--) { /* order of dimensions says nothing about bytes */
            int32_t j = (int32_t)pick(0, k);
            int64_t shape = b.shape[j], stride = b.stride[j];
            b.shape[j] = b.shape[k];
            b.stride[j] = b.stride[k];
            b.shape[k] = shape;
            b.stride[k] = stride;
        }
        reverse(&a);
        reverse(&b);
        compare(&a, &b, false);
    }
}

TEST(high_rank_views_compare_right)
{
    for (int32_t n = 0; n < ROUNDS / 10; n++) {
        struct view v[2];
        for (int32_t i = 0; i < 2; i++) do {
                memset(&v[i], 0, sizeof v[i]);
                v[i].element = pick(1, 3);
                v[i].rank = (int32_t)pick(5, 8);
                for (int32_t k = 0; k < v[i].rank; k++) {
                    v[i].shape[k] = pick(1, 3);
                    v[i].stride[k] = pick(1, 200);
                }
                v[i].address = pick(0, 500);
            } while (v[i].address + view_reach(&v[i]) > SPACE);
        compare(&v[0], &v[1], false);
    }
}

TEST(two_spellings_of_one_set_of_bytes_are_equal)
{
    struct region a, b;
    EXPECT(ptoi_region_make(&a, 4096, 4, 2, (int64_t[]){64, 64}, (int64_t[]){64, 1}));
    EXPECT(ptoi_region_make(&b, 4096, 1, 1, (int64_t[]){16384}, NULL));
    EXPECT(ptoi_region_equals(&a, &b) && a.rank == 0 && a.run == 16384);
    EXPECT(ptoi_region_make(&a, 0, 4, 3, (int64_t[]){1, 64, 32}, (int64_t[]){7, 128, 1}));
    EXPECT(ptoi_region_make(&b, 0, 4, 3, (int64_t[]){32, 1, 64}, (int64_t[]){1, 0, 128}));
    EXPECT(ptoi_region_equals(&a, &b) && a.rank == 1 && a.run == 128 && a.dim[0].count == 64);
    EXPECT(ptoi_region_make(&a, 0, 4, 2, (int64_t[]){1000, 64}, (int64_t[]){0, 1})); /* a broadcast row */
    EXPECT(a.rank == 0 && a.run == 256 && ptoi_region_bytes(&a) == 256);
}

TEST(empty_regions_overlap_nothing_and_are_in_everything)
{
    struct region e, r;
    EXPECT(ptoi_region_make(&e, 100, 4, 2, (int64_t[]){0, INT64_MAX}, (int64_t[]){INT64_MAX, INT64_MAX}));
    EXPECT(ptoi_region_make(&r, 0, 1, 1, (int64_t[]){1000}, NULL));
    EXPECT(e.run == 0 && e.low == 100 && e.high == 100 && ptoi_region_bytes(&e) == 0);
    EXPECT(!ptoi_region_overlaps(&e, &r) && !ptoi_region_overlaps(&r, &e) && !ptoi_region_overlaps(&e, &e));
    EXPECT(ptoi_region_contains(&r, &e) && !ptoi_region_contains(&e, &r));
    EXPECT(ptoi_region_make(&e, 100, 0, 0, NULL, NULL) && e.run == 0);
}

TEST(h42_negative_extents_and_overflowing_sizes_are_refused)
{
    struct region r;
    const int64_t big = INT64_C(1) << 62;
    EXPECT(!ptoi_region_make(&r, 0, 4, 1, (int64_t[]){-1}, NULL));
    EXPECT(!ptoi_region_make(&r, 0, 4, 2, (int64_t[]){0, -1}, NULL));
    EXPECT(!ptoi_region_make(&r, 7, 4, 1, (int64_t[]){3}, (int64_t[]){-1})); /* its last element is at -1 */
    EXPECT(ptoi_region_make(&r, 8, 4, 1, (int64_t[]){3}, (int64_t[]){-1}) && r.low == 0 && r.high == 12);
    EXPECT(!ptoi_region_make(&r, big, 4, 1, (int64_t[]){3}, (int64_t[]){INT64_MIN}));
    EXPECT(!ptoi_region_make(&r, big, 1, 1, (int64_t[]){3}, (int64_t[]){INT64_MIN / 2}));
    EXPECT(!ptoi_region_make(&r, big, 1, 1, (int64_t[]){2}, (int64_t[]){INT64_MIN}));
    EXPECT(!ptoi_region_make(&r, -1, 4, 0, NULL, NULL));
    EXPECT(!ptoi_region_make(&r, 0, -4, 0, NULL, NULL));
    EXPECT(!ptoi_region_make(&r, 0, 1, -1, NULL, NULL));
    EXPECT(!ptoi_region_make(&r, 0, 1, PTO_MAX_RANK + 1, (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, NULL));
    EXPECT(!ptoi_region_make(&r, 0, 4, 2, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}, NULL));
    EXPECT(!ptoi_region_make(&r, 0, 1, 1, (int64_t[]){3}, (int64_t[]){big}));
    EXPECT(!ptoi_region_make(&r, 0, 2, 1, (int64_t[]){2}, (int64_t[]){big}));
    EXPECT(!ptoi_region_make(&r, INT64_MAX, 1, 0, NULL, NULL));
    EXPECT(!ptoi_region_make(&r, INT64_MAX - 5, 1, 1, (int64_t[]){3}, (int64_t[]){3}));
    EXPECT(ptoi_region_make(&r, INT64_MAX - 7, 1, 1, (int64_t[]){3}, (int64_t[]){3}) && r.high == INT64_MAX);
    EXPECT(ptoi_region_make(&r, 0, 1, 1, (int64_t[]){2}, (int64_t[]){big}) && r.high == big + 1);
    EXPECT(ptoi_region_make(&r, 0, 1, 1, (int64_t[]){1}, (int64_t[]){INT64_MAX}) && r.high == 1);
}

TEST(h42_regions_near_the_end_of_64_bits_compare_right)
{
    struct region a, b;
    const int64_t big = INT64_C(1) << 61;
    EXPECT(ptoi_region_make(&a, 0, 1, 1, (int64_t[]){4}, (int64_t[]){big}));
    EXPECT(ptoi_region_make(&b, 1, 1, 1, (int64_t[]){3}, (int64_t[]){big}));
    EXPECT(!ptoi_region_overlaps(&a, &b) && !ptoi_region_contains(&a, &b));
    EXPECT(ptoi_region_make(&b, big, 1, 1, (int64_t[]){3}, (int64_t[]){big}));
    EXPECT(ptoi_region_overlaps(&b, &a) && ptoi_region_contains(&a, &b) && !ptoi_region_contains(&b, &a));
    EXPECT(ptoi_region_make(&b, 1, 1, 2, (int64_t[]){3, INT64_C(1) << 40}, (int64_t[]){big, INT64_C(1) << 20}));
    EXPECT(!ptoi_region_overlaps(&a, &b) && !ptoi_region_overlaps(&b, &a));
    EXPECT(ptoi_region_make(&b, big - (INT64_C(1) << 59), 1, 2, (int64_t[]){2, INT64_C(1) << 40},
                            (int64_t[]){big, INT64_C(1) << 20}));
    EXPECT(ptoi_region_overlaps(&a, &b) && ptoi_region_overlaps(&b, &a));
    /* Strides without a common divisor and 2^30 places each: found by Euclid's algorithm, not by trying. */
    EXPECT(ptoi_region_make(&a, 0, 1, 1, (int64_t[]){1 << 30}, (int64_t[]){1000000007}));
    EXPECT(ptoi_region_make(&b, 1, 1, 1, (int64_t[]){1 << 30}, (int64_t[]){1000000009}));
    EXPECT(ptoi_region_overlaps(&a, &b)); /* at x = 500000004, y = 500000003 and nowhere before */
    EXPECT(ptoi_region_make(&b, 1, 1, 1, (int64_t[]){1 << 28}, (int64_t[]){1000000009}));
    EXPECT(!ptoi_region_overlaps(&a, &b));
}

/* Few places, far apart: the places can be compared one with another although the bytes cannot be marked. */
TEST(h42_huge_strides_and_runs_compare_right)
{
    for (int32_t n = 0; n < ROUNDS; n++) {
        struct region r[2];
        int64_t place[2][27], run[2], shape[2][3], stride[2][3];
        int64_t address = pick(0, 1000);
        for (int32_t i = 0; i < 2; i++) {
            run[i] = INT64_C(1) << pick(0, pick(0, 1) ? 4 : 60);
            int64_t left = INT64_MAX - 4000 - run[i];
            for (int32_t k = 0; k < 3; k++) {
                shape[i][k] = pick(1, 3);
                stride[i][k] = left / (shape[i][k] * pick(1, 2) + pick(0, 1)) / run[i] - pick(0, 1);
                if (stride[i][k] <= 0) shape[i][k] = stride[i][k] = 1;
                left -= (shape[i][k] - 1) * stride[i][k] * run[i];
            }
            for (int32_t k = 0; k < 27; k++)
                place[i][k] = k / 9 % shape[i][0] * stride[i][0] * run[i] +
                              k / 3 % 3 % shape[i][1] * stride[i][1] * run[i] +
                              k % 3 % shape[i][2] * stride[i][2] * run[i];
        }
        int64_t near = place[0][pick(0, 26)] - place[1][pick(0, 26)] + pick(-3, 3); /* some places nearly meet */
        int64_t low[2] = {address + (near < 0 ? -near : 0), address + (near > 0 ? near : 0)};
        bool fits = true, overlap = false;
        for (int32_t i = 0; i < 2; i++) fits = fits && ptoi_region_make(&r[i], low[i], run[i], 3, shape[i], stride[i]);
        if (!fits) continue;
        for (int32_t i = 0; i < 27; i++)
            for (int32_t k = 0; k < 27; k++)
                overlap |= low[0] + place[0][i] < low[1] + place[1][k] + run[1] &&
                           low[1] + place[1][k] < low[0] + place[0][i] + run[0];
        EXPECT(ptoi_region_overlaps(&r[0], &r[1]) == overlap && ptoi_region_overlaps(&r[1], &r[0]) == overlap);
    }
}

TEST(h08_two_tilings_of_one_matrix)
{
    /* 1024 x 1024 f32: tiles of 64 x 64 against tiles of 48 x 80, all pairs, by rows and columns. */
    for (int64_t i = 0; i < 16; i++)
        for (int64_t j = 0; j < 16; j++)
            for (int64_t p = 0; p < 21; p++)
                for (int64_t q = 0; q < 12; q++) {
                    struct region a, b;
                    EXPECT(ptoi_region_make(&a, 4096 + (i * 64 * 1024 + j * 64) * 4, 4, 2, (int64_t[]){64, 64},
                                            (int64_t[]){1024, 1}));
                    EXPECT(ptoi_region_make(&b, 4096 + (p * 48 * 1024 + q * 80) * 4, 4, 2, (int64_t[]){48, 80},
                                            (int64_t[]){1024, 1}));
                    bool rows = i * 64 < p * 48 + 48 && p * 48 < i * 64 + 64;
                    bool columns = j * 64 < q * 80 + 80 && q * 80 < j * 64 + 64;
                    EXPECT(ptoi_region_overlaps(&a, &b) == (rows && columns));
                }
}

/* Views that real programs have, by the thousand, with steps counted by the test's time limit: none may search for
 * long. */
TEST(realistic_high_rank_views_are_decided_quickly)
{
    struct region a, b;
    int64_t overlaps = 0;
    for (int64_t n = 0; n < 2000; n++) {
        int64_t t = n % 16;
        /* batch x heads x rows x columns, tile by tile; the same memory seen with another order and other paddings */
        EXPECT(
            ptoi_region_make(&a, t * 64 * 4, 4, 4, (int64_t[]){8, 4, 64, 48}, (int64_t[]){4194304, 524288, 1024, 1}));
        EXPECT(ptoi_region_make(&b, (t ^ 1) * 48 * 4 + 4, 4, 4, (int64_t[]){64, 8, 3, 32},
                                (int64_t[]){1000, 4000000, 500000, 3}));
        overlaps += ptoi_region_overlaps(&a, &b);
        /* columns of one matrix against every other row of it read with another width */
        EXPECT(ptoi_region_make(&a, 4 * t, 4, 2, (int64_t[]){4096, 1}, (int64_t[]){4096, 1}));
        EXPECT(ptoi_region_make(&b, 8 * t + 4, 4, 2, (int64_t[]){2000, 1024}, (int64_t[]){8000, 2}));
        overlaps += ptoi_region_overlaps(&a, &b);
    }
    EXPECT(overlaps > 0);
}

TEST(hopeless_strides_end_with_overlap_and_do_not_hang)
{
    struct region a, b;
    int64_t shape[8], stride_a[8], stride_b[8];
    for (int32_t k = 0; k < 8; k++) {
        shape[k] = 40;
        stride_a[k] = 1000003 * (k + 20) + 2 * k * k + 1;
        stride_b[k] = 1000033 * (k + 20) + 14 * k * k + 7;
    }
    EXPECT(ptoi_region_make(&a, 0, 1, 8, shape, stride_a));
    EXPECT(ptoi_region_make(&b, 77, 1, 8, shape, stride_b));
    EXPECT(ptoi_region_overlaps(&a, &b) == ptoi_region_overlaps(&b, &a));
}
