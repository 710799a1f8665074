/* region.c - the bytes a view touches, and whether two views share any.
 * Idea       Two views share a byte when low_a + sum(a_k x_k) + u = low_b + sum(b_k y_k) + v has a solution within the
 *            extents and runs: a sum of strides must fall into an interval.  See Note [a sum in an interval].
 * Owner      none: pure functions of their arguments.
 * Invariant  low >= 0, dimensions by descending stride, every count > 1, every stride > run; high - low = run + the sum
 *            of stride * (count - 1).  Nothing here overflows: products are bounded by high.
 * Blocks     never, and never allocates.
 * Tests      test/runtime/test_region.c
 */
#include "region.h"

static bool sum_overflows(int64_t a, int64_t b, int64_t *out) { return __builtin_add_overflow(a, b, out); }

static bool product_overflows(int64_t a, int64_t b, int64_t *out) { return __builtin_mul_overflow(a, b, out); }

static int64_t subtract_saturating(int64_t a, int64_t b)
{
    int64_t d;
    if (!__builtin_sub_overflow(a, b, &d)) return d;
    return b > 0 ? INT64_MIN : INT64_MAX;
}

static int64_t divide_down(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b < 0);
}

static int64_t divide_up(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q + (a % b > 0);
}

/* In [0, b). */
static int64_t modulo(int64_t a, int64_t b)
{
    int64_t m = a % b;
    return m < 0 ? m + b : m;
}

static void set_empty(struct region *r, int64_t address)
{
    r->low = r->high = address;
    r->run = 0;
    r->rank = 0;
}

/* Keeps dims by descending stride. */
static void insert_dim(struct region_dim *dim, int32_t *rank, int64_t count, int64_t stride_bytes)
{
    int32_t at = (*rank)++;
    for (; at > 0 && dim[at - 1].stride_bytes < stride_bytes; at--) dim[at] = dim[at - 1];
    dim[at] = (struct region_dim){count, stride_bytes};
}

/* Joins what joins, from the innermost dimension outwards. */
static void normalize(struct region *r, const struct region_dim *dim, int32_t rank)
{
    struct region_dim kept[PTO_MAX_RANK];
    int32_t count = 0;
    for (int32_t k = rank - 1; k >= 0; k--) {
        struct region_dim d = dim[k];
        struct region_dim *inner = count ? &kept[count - 1] : NULL;
        if (!inner && d.stride_bytes <= r->run) {
            r->run += d.stride_bytes * (d.count - 1);
        } else if (inner && d.stride_bytes % inner->stride_bytes == 0 &&
                   d.stride_bytes / inner->stride_bytes <= inner->count) {
            inner->count += d.stride_bytes / inner->stride_bytes * (d.count - 1);
        } else {
            kept[count++] = d;
        }
    }
    r->rank = count;
    for (int32_t k = 0; k < count; k++) r->dim[k] = kept[count - 1 - k];
}

static bool make_row_major(struct region *r, int64_t address, int64_t element_bytes, int32_t rank, const int64_t *shape)
{
    int64_t bytes = element_bytes;
    for (int32_t k = 0; k < rank; k++)
        if (product_overflows(bytes, shape[k], &bytes)) return false;
    r->low = address;
    r->run = bytes;
    r->rank = 0;
    return !sum_overflows(address, bytes, &r->high);
}

bool ptoi_region_make(struct region *r, int64_t address, int64_t element_bytes, int32_t rank, const int64_t *shape,
                      const int64_t *stride)
{
    if (address < 0 || element_bytes < 0 || rank < 0 || rank > PTO_MAX_RANK) return false;
    bool is_empty = element_bytes == 0;
    for (int32_t k = 0; k < rank; k++) {
        if (shape[k] < 0) return false;
        is_empty |= shape[k] == 0;
    }
    if (is_empty) {
        set_empty(r, address);
        return true;
    }
    if (!stride) return make_row_major(r, address, element_bytes, rank, shape);

    struct region_dim dim[PTO_MAX_RANK];
    int32_t dims = 0;
    int64_t low = address, high;
    if (sum_overflows(address, element_bytes, &high)) return false;
    for (int32_t k = 0; k < rank; k++) {
        int64_t stride_bytes, reach;
        if (shape[k] == 1 || stride[k] == 0) continue;
        if (product_overflows(stride[k], element_bytes, &stride_bytes) || stride_bytes == INT64_MIN ||
            product_overflows(stride_bytes, shape[k] - 1, &reach))
            return false;
        int64_t *end = reach < 0 ? &low : &high; /* the same bytes, counted from the other end */
        if (sum_overflows(*end, reach, end)) return false;
        insert_dim(dim, &dims, shape[k], stride_bytes < 0 ? -stride_bytes : stride_bytes);
    }
    if (low < 0) return false;
    r->low = low;
    r->high = high;
    r->run = element_bytes;
    normalize(r, dim, dims);
    return true;
}

/* Exact when every stride steps over what is inside it, as in every view of a tensor; else at most too large: places
 * that are reached twice would need counting. */
int64_t ptoi_region_bytes(const struct region *r)
{
    int64_t bytes = r->run;
    for (int32_t k = 0; k < r->rank; k++)
        if (product_overflows(bytes, r->dim[k].count, &bytes)) return r->high - r->low;
    return bytes < r->high - r->low ? bytes : r->high - r->low;
}

/* Note [a sum in an interval]
 * With x_k in [0, a_count), y_k in [0, b_count), u in [0, a_run), v in [0, b_run), a common byte is a solution of
 *     sum(a_k x_k) - sum(b_k y_k) = low_b - low_a + v - u,   the right side any value of one interval.
 * So: terms stride * z with z in [first, last], whose sum must fall into [low, high].  Equal strides of a and b are one
 * term with the longer range of z: for two tiles of one tensor that leaves at most as many terms as dimensions.  Terms
 * with strides no longer than the interval only make the interval longer.  The rest is searched from the largest stride
 * down: what the smaller terms can reach leaves few z for it (at most three when strides nest).  The last two terms are
 * decided at once, Note [two strides]. */
struct term {
    int64_t stride;
    int64_t first, last; /* first <= 0 <= last */
};

struct sum {
    struct term term[2 * PTO_MAX_RANK];                                        /* by ascending stride */
    int64_t reach_low[2 * PTO_MAX_RANK + 1], reach_high[2 * PTO_MAX_RANK + 1]; /* of the terms below an index */
    int64_t divisor[2 * PTO_MAX_RANK + 1];                                     /* divides every stride below an index */
    int32_t count;
    int32_t steps_left;
};

/* Strides chosen to be hard (a bounded knapsack with many unrelated strides) could search for hours; views of tensors
 * take tens of steps.  When these are used up the answer is "overlap", which costs an edge and never a result. */
#define SEARCH_STEPS (1 << 20)

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* Note [two strides]
 * Is there k in [0, n] with lo <= a * k mod m <= hi?  Either a multiple of a hits before the first wrap, or the
 * question is the same one for the number of wraps, with (m mod a, a) for (a, m): Euclid's algorithm, and as short. */
static bool hits_interval(uint64_t a, uint64_t m, uint64_t lo, uint64_t hi, uint64_t n)
{
    while (lo > 0) {
        if (a == 0 || a * n < lo) return false;
        uint64_t lo_rest = lo % a, hi_rest = hi % a;
        if (lo_rest == 0 || a - lo_rest <= hi - lo)
            return true; /* at the first k with a * k >= lo, and a * n >= lo; see below */
        n = (a * n - lo) / m;
        uint64_t wrap = m % a;
        m = a;
        lo = a - hi_rest;
        hi = a - lo_rest;
        a = wrap;
    }
    return true;
}

/* The z of the largest term that leave something the smaller terms can reach. */
static bool candidates(const struct sum *s, int32_t count, int64_t low, int64_t high, int64_t *first, int64_t *last)
{
    const struct term *t = &s->term[count - 1];
    int64_t a = divide_up(subtract_saturating(low, s->reach_high[count - 1]), t->stride);
    int64_t b = divide_down(subtract_saturating(high, s->reach_low[count - 1]), t->stride);
    *first = a > t->first ? a : t->first;
    *last = b < t->last ? b : t->last;
    return *first <= *last;
}

/* A multiple of the small stride must lie in [low - big * z, high - big * z].  That it is within the small term's own
 * range needs no test: both ends of its range are multiples, and `candidates` keeps the interval in touch with it. */
static bool search_two(const struct sum *s, int64_t low, int64_t high)
{
    int64_t first, last;
    if (!candidates(s, 2, low, high, &first, &last)) return false;
    int64_t small = s->term[0].stride, big = s->term[1].stride;
    int64_t slack = subtract_saturating(high, low);
    if (slack >= small - 1) return true;
    int64_t rest = modulo(modulo(high, small) - modulo(big * first, small), small);
    if (rest <= slack) return true;
    return hits_interval((uint64_t)modulo(-big, small), (uint64_t)small, (uint64_t)(small - rest),
                         (uint64_t)(small - rest + slack), (uint64_t)(last - first));
}

/* Does a sum of the `count` smallest terms fall into [low, high]? */
static bool search(struct sum *s, int32_t count, int64_t low, int64_t high)
{
    if (low > s->reach_high[count] || high < s->reach_low[count]) return false;
    if (low < s->reach_low[count]) low = s->reach_low[count];
    if (high > s->reach_high[count]) high = s->reach_high[count];
    int64_t divisor = s->divisor[count];
    if (divisor && subtract_saturating(high, low) < divisor - 1 && modulo(high, divisor) > high - low) return false;
    if (count <= 1) /* both ends of the reach are multiples of the stride, and there is one between low and high */
        return true;
    if (count == 2) return search_two(s, low, high);
    int64_t first, last, stride = s->term[count - 1].stride;
    if (!candidates(s, count, low, high, &first, &last)) return false;
    for (int64_t z = first; z <= last; z++) {
        if (--s->steps_left < 0) return true;
        if (search(s, count - 1, subtract_saturating(low, stride * z), subtract_saturating(high, stride * z)))
            return true;
    }
    return false;
}

/* The terms of Note [a sum in an interval]; joins as in `normalize`, and lengthens [*low, *high] by the small ones. */
static void sum_build(struct sum *s, const struct region *a, const struct region *b, int64_t *low, int64_t *high)
{
    int32_t i = a->rank - 1, j = b->rank - 1;
    s->count = 0;
    s->steps_left = SEARCH_STEPS;
    while (i >= 0 || j >= 0) {
        int64_t stride_a = i >= 0 ? a->dim[i].stride_bytes : INT64_MAX;
        int64_t stride_b = j >= 0 ? b->dim[j].stride_bytes : INT64_MAX;
        struct term t = {stride_a < stride_b ? stride_a : stride_b, 0, 0};
        if (i >= 0 && stride_a == t.stride) t.last = a->dim[i--].count - 1;
        if (j >= 0 && stride_b == t.stride) t.first = -(b->dim[j--].count - 1);

        struct term *inner = s->count ? &s->term[s->count - 1] : NULL;
        if (!inner && t.stride - 1 <= subtract_saturating(*high, *low)) {
            *low = subtract_saturating(*low, t.stride * t.last);
            *high = subtract_saturating(*high, t.stride * t.first);
        } else if (inner && t.stride % inner->stride == 0 &&
                   t.stride / inner->stride - 1 <= inner->last - inner->first) {
            inner->first += t.stride / inner->stride * t.first;
            inner->last += t.stride / inner->stride * t.last;
        } else {
            s->term[s->count++] = t;
        }
    }
    s->reach_low[0] = s->reach_high[0] = s->divisor[0] = 0;
    for (int32_t k = 0; k < s->count; k++) {
        s->reach_low[k + 1] = s->reach_low[k] + s->term[k].stride * s->term[k].first;
        s->reach_high[k + 1] = s->reach_high[k] + s->term[k].stride * s->term[k].last;
        s->divisor[k + 1] = greatest_common_divisor(s->term[k].stride, s->divisor[k]);
    }
}

bool ptoi_region_overlaps(const struct region *a, const struct region *b)
{
    if (a->low >= b->high || b->low >= a->high || a->run == 0 || b->run == 0) return false;
    if (a->low == b->low || a->rank + b->rank == 0) /* every view touches its first byte */
        return true;
    int64_t shift = b->low - a->low;
    int64_t low = shift - (a->run - 1), high = shift + (b->run - 1);
    struct sum s;
    sum_build(&s, a, b, &low, &high);
    return search(&s, s.count, low, high);
}

/* Each stride of outer cuts the bytes into slabs, of which outer holds `count` beginnings.  Dimensions of inner that
 * step by whole slabs must stay among those; the rest of inner must stay inside one of the beginnings, which is the
 * same question with one stride less.  Two rectangles of one tensor step by the same slabs, so for them a "no" is exact
 * as well. */
bool ptoi_region_contains(const struct region *outer, const struct region *inner)
{
    if (inner->run == 0) return true;
    if (outer->run == 0 || inner->low < outer->low || inner->high > outer->high) return false;
    if (ptoi_region_equals(outer, inner)) return true;
    int64_t at = inner->low - outer->low, span = inner->high - inner->low, reach = outer->high - outer->low;
    uint32_t placed = 0;
    for (int32_t k = 0; k < outer->rank; k++) {
        int64_t stride = outer->dim[k].stride_bytes, last = outer->dim[k].count - 1, steps = 0;
        reach -= stride * last;
        for (int32_t i = 0; i < inner->rank; i++) {
            const struct region_dim *d = &inner->dim[i];
            if (placed >> i & 1 || (d->stride_bytes != stride && d->stride_bytes % stride != 0)) continue;
            placed |= 1u << i;
            steps += d->stride_bytes / stride * (d->count - 1);
            span -= d->stride_bytes * (d->count - 1);
        }
        if (steps > last) return false;
        int64_t slab = at / stride < last - steps ? at / stride : last - steps;
        at -= slab * stride;
        if (at + span > reach) return false;
    }
    return true;
}
