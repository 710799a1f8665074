/* test_foreign.c - memory of somebody else: checked before it is taken, released once, never by a failed call. */
#include "tensors.h"
#include <pto/pto_runtime.h>

static void refused(const PTOForeign *f, PTOStatus status)
{
    EXPECT(pto_tensor_attach(f) == NULL);
    EXPECT_EQ(pto_last_status(), status);
    EXPECT(strlen(pto_last_error(NULL)) > 10);
}

TEST(a_view_of_foreign_memory_may_have_any_strides)
{
    struct owned o = own(12);
    PTOForeign f = foreign(&o, 12, 2, SHAPE(3, 4));
    f.strides = SHAPE(-4, 1);
    f.first = 8;
    PTOTensor *t = pto_tensor_attach(&f);
    EXPECT_EQ(element(t, SHAPE(0, 1)), 9);
    EXPECT_EQ(element(t, SHAPE(2, 3)), 3);
    set_first(t, 100);
    EXPECT_EQ(o.data[8], 100); /* no copy */
    pto_tensor_release(t);
    EXPECT_EQ(o.released, 1);
}

TEST(it_is_released_once_after_the_last_view) /* K14, K18 */
{
    struct owned o = own(12);
    const PTOForeign f = foreign(&o, 12, 1, SHAPE(12));
    PTOTensor *t = pto_tensor_attach(&f), *a = pto_tensor_slice(t, 0, 2, 3, 1), *b = pto_tensor_slice(a, 0, 1, 1, 1);
    pto_tensor_release(t);
    pto_tensor_release(a);
    EXPECT_EQ(o.released, 0);
    EXPECT_EQ(element(b, NULL), 3);
    pto_tensor_release(b);
    EXPECT_EQ(o.released, 1);
    int64_t plain[2] = {1, 2};
    const PTOForeign g = {.address = plain, .bytes = 16, .type = PTO_I64, .rank = 1, .shape = SHAPE(2)};
    t = pto_tensor_attach(&g); /* no release function: nothing is called */
    EXPECT_EQ(element(t, SHAPE(1)), 2);
    pto_tensor_release(t);
}

TEST(a_failed_attach_has_taken_nothing) /* K16 */
{
    struct owned o = own(12);
    const PTOForeign good = foreign(&o, 12, 2, SHAPE(3, 4));
    PTOForeign f = good;
    f.bytes = 95;
    refused(&f, PTO_ERR_BOUNDS);
    f = good, f.first = 1;
    refused(&f, PTO_ERR_BOUNDS);
    f = good, f.first = -1;
    refused(&f, PTO_ERR_BOUNDS);
    f = good, f.strides = SHAPE(-4, 1);
    refused(&f, PTO_ERR_BOUNDS);
    f = good, f.strides = SHAPE(INT64_MAX, 1);
    refused(&f, PTO_ERR_OVERFLOW);
    f = good, f.shape = SHAPE(INT64_MAX, 4);
    refused(&f, PTO_ERR_OVERFLOW);
    f = good, f.shape = SHAPE(3, -4);
    refused(&f, PTO_ERR_ARGUMENT);
    f = good, f.shape = NULL;
    refused(&f, PTO_ERR_ARGUMENT);
    f = good, f.rank = 9;
    refused(&f, PTO_ERR_ARGUMENT);
    f = good, f.type = (PTOType)-1;
    refused(&f, PTO_ERR_ARGUMENT);
    f = good, f.address = NULL;
    refused(&f, PTO_ERR_ARGUMENT);
    f = (PTOForeign){.bytes = 1, .type = PTO_U8, .rank = 1, .shape = SHAPE(1)};
    refused(&f, PTO_ERR_ARGUMENT);
    f = good, f.address = (char *)f.address + 1;
    refused(&f, PTO_ERR_ARGUMENT);
    f = good, f.bytes = -1;
    refused(&f, PTO_ERR_ARGUMENT);
    f = good, f.flags = 64;
    refused(&f, PTO_ERR_ARGUMENT);
    f = good, f.device = -1;
    refused(&f, PTO_ERR_ARGUMENT);
    EXPECT_EQ(o.released, 0);
    EXPECT_EQ(living(), 0);
    free(o.data);
}

TEST(memory_without_elements_is_released_at_once)
{
    struct owned o = own(1);
    PTOForeign f = foreign(&o, 1, 2, SHAPE(0, 5));
    PTOTensor *t = pto_tensor_attach(&f);
    EXPECT(t != NULL);
    EXPECT_EQ(o.released, 1);
    pto_tensor_release(t);
    EXPECT_EQ(o.released, 1);
}

/* Nothing steps along a dimension of one element, or anywhere without elements. */
TEST(strides_that_nothing_uses_may_be_any_numbers)
{
    struct owned o = own(6);
    PTOForeign f = foreign(&o, 6, 2, SHAPE(1, 6));
    f.strides = SHAPE(INT64_MAX, 1);
    PTOTensor *t = pto_tensor_attach(&f), *copy = pto_tensor_copy(t), *row = pto_tensor_reshape(t, 1, SHAPE(6));
    EXPECT_EQ(describe(t).strides[0], 0);
    EXPECT_EQ(element(copy, SHAPE(0, 5)), element(t, SHAPE(0, 5)));
    EXPECT_EQ(element(row, SHAPE(4)), element(t, SHAPE(0, 4)));
    pto_tensor_release(copy);
    pto_tensor_release(row);
    pto_tensor_release(t);
    EXPECT_EQ(o.released, 1);
    struct owned none = own(1);
    f = foreign(&none, 1, 3, SHAPE(9, 0, 7));
    f.strides = SHAPE(INT64_MAX, INT64_MIN, INT64_MAX / 8);
    t = pto_tensor_attach(&f);
    PTOTensor *some = pto_tensor_slice(t, 0, 8, 4, -2), *one = pto_tensor_index(some, 2, 6);
    copy = pto_tensor_copy(one);
    EXPECT_EQ(describe(some).shape[0], 4);
    EXPECT_EQ(describe(copy).shape[0], 4);
    EXPECT_EQ(describe(copy).shape[1], 0);
    pto_tensor_release(copy);
    pto_tensor_release(one);
    pto_tensor_release(some);
    pto_tensor_release(t);
    EXPECT_EQ(none.released, 1);
}

/* A release function may call the registry: no lock is held. */
static void release_another(void *context)
{
    pto_tensor_release(context);
    PTOTensor *t = numbers(1, SHAPE(5));
    pto_tensor_release(t);
}

TEST(a_release_function_may_call_the_registry)
{
    static int64_t data[4];
    struct owned o = own(3);
    const PTOForeign f = foreign(&o, 3, 1, SHAPE(3));
    const PTOForeign g = {.address = data,
                          .bytes = 32,
                          .type = PTO_I64,
                          .rank = 1,
                          .shape = SHAPE(4),
                          .release = release_another,
                          .context = pto_tensor_attach(&f)};
    PTOTensor *t = pto_tensor_attach(&g), *d = pto_tensor_detach(t);
    pto_tensor_release(t);
    EXPECT_EQ(o.released, 0);
    set_first(d, 1); /* the last one on the block: it stays there */
    pto_tensor_release(d);
    EXPECT_EQ(o.released, 1);
    EXPECT_EQ(living(), 0);
}
