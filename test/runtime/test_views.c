/* test_views.c - views of views: every element is where index arithmetic says, no element is copied, none is
 * outside. */
#include "pages.h"
#include "tensors.h"
#include <pto/pto_runtime.h>

static void refused(PTOTensor *t, PTOStatus status)
{
    EXPECT(t == NULL);
    EXPECT_EQ(pto_last_status(), status);
    EXPECT(strlen(pto_last_error(NULL)) > 10);
}

TEST(a_slice_steps_forwards_and_backwards)
{
    PTOTensor *t = numbers(2, SHAPE(4, 6));
    PTOTensor *a = pto_tensor_slice(t, 1, 1, 3, 2), *b = pto_tensor_slice(a, 1, 2, 3, -1);
    PTOTensor *c = pto_tensor_slice(b, 0, 3, 2, -3);
    EXPECT_EQ(describe(a).buffer, describe(t).buffer);
    EXPECT_EQ(describe(t).tensors, 4);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 3; j++) {
            EXPECT_EQ(element(a, SHAPE(i, j)), i * 6 + 1 + 2 * j);
            EXPECT_EQ(element(b, SHAPE(i, j)), i * 6 + 5 - 2 * j);
            if (i < 2) EXPECT_EQ(element(c, SHAPE(i, j)), (3 - 3 * i) * 6 + 5 - 2 * j);
        }
    pto_tensor_release(t); /* a view keeps the memory */
    pto_tensor_release(a);
    EXPECT_EQ(element(b, SHAPE(0, 0)), 5);
    pto_tensor_release(b);
    pto_tensor_release(c);
}

TEST(slices_outside_are_refused) /* K10 */
{
    PTOTensor *t = numbers(1, SHAPE(5));
    refused(pto_tensor_slice(t, 1, 0, 1, 1), PTO_ERR_ARGUMENT);
    refused(pto_tensor_slice(t, -1, 0, 1, 1), PTO_ERR_ARGUMENT);
    refused(pto_tensor_slice(t, 0, 0, 1, 0), PTO_ERR_ARGUMENT);
    refused(pto_tensor_slice(t, 0, 0, -1, 1), PTO_ERR_ARGUMENT);
    refused(pto_tensor_slice(t, 0, 0, 6, 1), PTO_ERR_BOUNDS);
    refused(pto_tensor_slice(t, 0, 5, 1, 1), PTO_ERR_BOUNDS);
    refused(pto_tensor_slice(t, 0, -1, 1, 1), PTO_ERR_BOUNDS);
    refused(pto_tensor_slice(t, 0, 1, 3, -1), PTO_ERR_BOUNDS);
    refused(pto_tensor_slice(t, 0, 4, 2, INT64_MAX), PTO_ERR_BOUNDS);
    refused(pto_tensor_slice(t, 0, 4, INT64_MAX, INT64_MIN), PTO_ERR_BOUNDS);
    refused(pto_tensor_slice(t, 0, 6, 0, 1), PTO_ERR_BOUNDS);
    refused(pto_tensor_index(t, 0, 5), PTO_ERR_BOUNDS);
    refused(pto_tensor_index(t, 0, -1), PTO_ERR_BOUNDS);
    refused(pto_tensor_index(t, 1, 0), PTO_ERR_ARGUMENT);
    PTOTensor *none = pto_tensor_slice(t, 0, 5, 0, 1);
    EXPECT_EQ(describe(none).buffer, 0);
    EXPECT_EQ(describe(t).tensors, 1);
    pto_tensor_release(none);
    pto_tensor_release(t);
}

TEST(an_index_drops_its_dimension)
{
    PTOTensor *t = numbers(3, SHAPE(2, 3, 4)), *a = pto_tensor_index(t, 1, 2), *s = a;
    EXPECT_EQ(describe(a).rank, 2);
    EXPECT_EQ(element(a, SHAPE(1, 3)), 12 + 8 + 3);
    for (int i = 0; i < 2; i++) {
        PTOTensor *next = pto_tensor_index(s, 0, 1);
        pto_tensor_release(s);
        s = next;
    }
    EXPECT_EQ(describe(s).rank, 0);
    EXPECT_EQ(element(s, NULL), 12 + 8 + 1);
    pto_tensor_release(s);
    pto_tensor_release(t);
}

TEST(a_transpose_takes_any_permutation)
{
    PTOTensor *t = numbers(3, SHAPE(2, 3, 4)), *a = pto_tensor_transpose(t, (const int[]){2, 0, 1});
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 3; j++)
            for (int64_t k = 0; k < 4; k++) EXPECT_EQ(element(a, SHAPE(k, i, j)), i * 12 + j * 4 + k);
    refused(pto_tensor_transpose(t, (const int[]){0, 0, 1}), PTO_ERR_ARGUMENT);
    refused(pto_tensor_transpose(t, (const int[]){0, 1, 3}), PTO_ERR_ARGUMENT);
    refused(pto_tensor_transpose(t, (const int[]){0, 1, -1}), PTO_ERR_ARGUMENT);
    pto_tensor_release(a);
    pto_tensor_release(t);
}

static void expect_order(PTOTensor *t, const int64_t *wanted, int64_t count)
{
    PTOTensor *c = pto_tensor_copy(t);
    const int64_t *at = pto_tensor_map(c, PTO_READ);
    for (int64_t i = 0; i < count; i++) EXPECT_EQ(at[i], wanted[i]);
    pto_tensor_unmap(c);
    pto_tensor_release(c);
}

TEST(a_reshape_keeps_the_order_or_says_that_it_would_copy)
{
    int64_t all[24];
    for (int i = 0; i < 24; i++) all[i] = i;
    PTOTensor *t = numbers(2, SHAPE(4, 6));
    const int64_t shapes[][4] = {{24, 1, 1, 1}, {2, 2, 3, 2}, {8, 3, 1, 1}, {1, 4, 1, 6}, {3, 8, 1, 1}};
    for (int i = 0; i < 5; i++) {
        PTOTensor *r = pto_tensor_reshape(t, 4, shapes[i]);
        EXPECT(r != NULL);
        expect_order(r, all, 24);
        pto_tensor_release(r);
    }
    PTOTensor *u = pto_tensor_transpose(t, NULL);
    refused(pto_tensor_reshape(u, 1, SHAPE(24)), PTO_ERR_WOULD_COPY);
    PTOTensor *split = pto_tensor_reshape(u, 3, SHAPE(2, 3, 4)); /* 6 is cut, 4 stays */
    EXPECT_EQ(element(split, SHAPE(1, 2, 3)), 3 * 6 + 5);
    PTOTensor *half = pto_tensor_slice(t, 1, 0, 3, 1);
    refused(pto_tensor_reshape(half, 1, SHAPE(12)), PTO_ERR_WOULD_COPY);
    PTOTensor *back = pto_tensor_slice(t, 0, 3, 4, -1), *flat = pto_tensor_slice(t, 1, 0, 6, 1);
    refused(pto_tensor_reshape(back, 1, SHAPE(24)), PTO_ERR_WOULD_COPY);
    PTOTensor *rows = pto_tensor_reshape(back, 3, SHAPE(2, 2, 6));
    EXPECT_EQ(element(rows, SHAPE(1, 1, 5)), 5);
    refused(pto_tensor_reshape(t, 1, SHAPE(23)), PTO_ERR_ARGUMENT);
    refused(pto_tensor_reshape(t, 2, SHAPE(INT64_MAX, 3)), PTO_ERR_OVERFLOW);
    PTOTensor *one = numbers(0, NULL), *ones = pto_tensor_reshape(one, 3, SHAPE(1, 1, 1));
    PTOTensor *zero = pto_tensor_reshape(ones, 0, NULL);
    EXPECT_EQ(element(zero, NULL), 0);
    PTOTensor *made[] = {t, u, split, half, back, flat, rows, one, ones, zero};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) pto_tensor_release(made[i]);
}

TEST(a_broadcast_is_read_only)
{
    PTOTensor *t = numbers(2, SHAPE(3, 1)), *b = pto_tensor_broadcast(t, 3, SHAPE(2, 3, 4));
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 3; j++)
            for (int64_t k = 0; k < 4; k++) EXPECT_EQ(element(b, SHAPE(i, j, k)), j);
    EXPECT_EQ(describe(b).flags, PTO_READ_ONLY);
    EXPECT(pto_tensor_map(b, PTO_READ_WRITE) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_READ_ONLY);
    PTOTensor *view = pto_tensor_index(b, 0, 0); /* and so is a view of it */
    EXPECT_EQ(describe(view).flags, PTO_READ_ONLY);
    refused(pto_tensor_broadcast(t, 2, SHAPE(2, 4)), PTO_ERR_ARGUMENT);
    refused(pto_tensor_broadcast(t, 1, SHAPE(3)), PTO_ERR_ARGUMENT);
    EXPECT_EQ(pto_tensor_writable(&b), PTO_OK); /* a copy */
    set_first(b, 9);
    EXPECT_EQ(element(t, NULL), 0);
    pto_tensor_release(view);
    pto_tensor_release(b);
    pto_tensor_release(t);
}

/* 2^61 elements of 8 bytes, and 2^61 + 2^29: their bytes as 64 bits are 0, and 2^32. */
TEST(a_copy_of_more_bytes_than_there_can_be_is_refused)
{
    PTOTensor *t = numbers(1, SHAPE(1));
    PTOTensor *wide = pto_tensor_broadcast(t, 2, SHAPE(INT64_C(1) << 32, INT64_C(1) << 29));
    PTOTensor *wider = pto_tensor_broadcast(t, 2, SHAPE((INT64_C(1) << 32) + 1, INT64_C(1) << 29));
    EXPECT(wide != NULL && wider != NULL);
    refused(pto_tensor_copy(wide), PTO_ERR_OVERFLOW);
    refused(pto_tensor_copy(wider), PTO_ERR_OVERFLOW);
    refused(pto_tensor_dense(wide), PTO_ERR_OVERFLOW);
    PTOTensor *taken = wide;
    EXPECT_EQ(pto_tensor_writable(&taken), PTO_ERR_OVERFLOW);
    EXPECT(taken == wide);
    PTODetached out;
    EXPECT_EQ(pto_tensor_take(&taken, &out), PTO_ERR_OVERFLOW);
    EXPECT(taken == wide);
    pto_tensor_release(wider);
    pto_tensor_release(wide);
    pto_tensor_release(t);
    EXPECT_EQ(living(), 0);
}

TEST(a_share_sees_writes_and_a_detach_does_not)
{
    PTOTensor *t = numbers(1, SHAPE(3)), *s = pto_tensor_share(t), *d = pto_tensor_detach(t);
    set_first(t, 5);
    EXPECT_EQ(element(s, NULL), 5);
    EXPECT_EQ(element(d, NULL), 0);
    set_first(s, 6);
    EXPECT_EQ(element(t, NULL), 6);
    pto_tensor_release(t);
    pto_tensor_release(s);
    pto_tensor_release(d);
    EXPECT_EQ(living(), 0);
}

/* Random chains of views of random tensors against plain index arithmetic. */
static uint64_t state = 88172645463325252u;
static int64_t below(int64_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

struct reference { /* which number each element is */
    int rank;
    int64_t shape[8], count, *at;
};

static int64_t offset_of(const struct reference *r, const int64_t *index)
{
    int64_t at = 0;
    for (int i = 0; i < r->rank; i++) at = at * r->shape[i] + index[i];
    return at;
}

static void each(struct reference *to, const struct reference *from,
                 void (*map)(const int64_t *index, int64_t *source, const int64_t *arg), const int64_t *arg)
{
    int64_t index[8], source[8];
    to->count = 1;
    for (int i = 0; i < to->rank; i++) to->count *= to->shape[i];
    to->at = malloc((size_t)(to->count + 1) * sizeof *to->at);
    for (int64_t n = 0; n < to->count; n++) {
        int64_t left = n;
        for (int i = to->rank; i-- > 0;) index[i] = left % to->shape[i], left /= to->shape[i];
        map(index, source, arg);
        to->at[n] = from->at[offset_of(from, source)];
    }
}

static void map_slice(const int64_t *index, int64_t *source, const int64_t *arg)
{
    memcpy(source, index, 8 * sizeof *index);
    source[arg[0]] = arg[1] + index[arg[0]] * arg[2];
}
static void map_transpose(const int64_t *index, int64_t *source, const int64_t *arg)
{
    for (int i = 0; i < arg[8]; i++) source[arg[i]] = index[i];
}

static PTOTensor *slice_both(PTOTensor *t, const struct reference *from, struct reference *to)
{
    const int64_t dim = below(from->rank), extent = from->shape[dim];
    const int64_t step = below(2) ? 1 + below(2) : -1 - below(2), first = below(extent);
    const int64_t room = step > 0 ? (extent - 1 - first) / step : first / -step;
    const int64_t count = 1 + below(room + 1), arg[3] = {dim, first, step};
    *to = *from;
    to->shape[dim] = count;
    each(to, from, map_slice, arg);
    return pto_tensor_slice(t, (int)dim, first, count, step);
}

static PTOTensor *transpose_both(PTOTensor *t, const struct reference *from, struct reference *to)
{
    int order[8];
    int64_t arg[9] = {[8] = from->rank};
    for (int i = 0; i < from->rank; i++) order[i] = i;
    for (int i = from->rank - 1; i > 0; i--) {
        const int64_t j = below(i + 1);
        const int swap = order[i];
        order[i] = order[j], order[j] = swap;
    }
    *to = *from;
    for (int i = 0; i < from->rank; i++) arg[i] = order[i], to->shape[i] = from->shape[order[i]];
    each(to, from, map_transpose, arg);
    return pto_tensor_transpose(t, order);
}

static PTOTensor *reshape_both(PTOTensor *t, const struct reference *from, struct reference *to)
{
    *to = *from;
    to->at = malloc((size_t)(from->count + 1) * sizeof *to->at);
    memcpy(to->at, from->at, (size_t)from->count * sizeof *to->at);
    to->rank = 0;
    int64_t left = from->count;
    while (left > 1 && to->rank < 7) {
        int64_t part = 1 + below(left);
        while (left % part != 0) part--;
        to->shape[to->rank++] = part;
        left /= part;
    }
    to->shape[to->rank++] = left;
    PTOTensor *r = pto_tensor_reshape(t, to->rank, to->shape);
    if (r) return r;
    EXPECT_EQ(pto_last_status(), PTO_ERR_WOULD_COPY);
    PTOTensor *dense = pto_tensor_dense(t);
    r = pto_tensor_reshape(dense, to->rank, to->shape);
    pto_tensor_release(dense);
    return r;
}

TEST(random_chains_of_views_are_what_index_arithmetic_says)
{
    for (int round = 0; round < 2000; round++) {
        struct reference r = {.rank = 1 + (int)below(4)};
        r.count = 1;
        for (int i = 0; i < r.rank; i++) r.shape[i] = 1 + below(5), r.count *= r.shape[i];
        r.at = malloc((size_t)(r.count + 1) * sizeof *r.at);
        for (int64_t i = 0; i < r.count; i++) r.at[i] = i;
        PTOTensor *t = numbers(r.rank, r.shape);
        for (int step = 0; step < 5; step++) {
            struct reference next;
            const int64_t kind = below(3);
            PTOTensor *view = kind == 0   ? slice_both(t, &r, &next)
                              : kind == 1 ? transpose_both(t, &r, &next)
                                          : reshape_both(t, &r, &next);
            EXPECT(view != NULL);
            pto_tensor_release(t);
            free(r.at);
            t = view;
            r = next;
        }
        expect_order(t, r.at, r.count);
        pto_tensor_release(t);
        free(r.at);
    }
    EXPECT_EQ(living(), 0);
}

TEST(ten_million_views_leave_no_memory_behind)
{
    enum { MANY = 10000000, FEW = 1000 };
    PTOTensor *t = pto_tensor_new(NULL, PTO_F32, 2, (const int64_t[]){8, 8});
    int64_t after_few = 0;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    const int64_t count = MANY / 100; /* the sanitizer keeps what was freed */
#else
    const int64_t count = MANY;
#endif
    for (int64_t i = 0; i < count; i++) {
        PTOTensor *slice = pto_tensor_slice(t, (int)(i & 1), i % 3, 4, 1);
        pto_tensor_release(slice);
        if (i == FEW) after_few = pages_now().resident;
    }
    EXPECT(pages_now().resident <= after_few + 256);
    pto_tensor_release(t);
}
