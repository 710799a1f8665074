/* test_arrow.c - Arrow's C data interface in and out: structs are moved, children are released by their parent. */
#include "registry/arrow.h"
#include "tensors.h"
#include <pto/pto_runtime.h>

static int released;
static void release_array(struct ArrowArray *a)
{
    released++;
    a->release = NULL;
}
static void release_schema(struct ArrowSchema *s) { s->release = NULL; }

static int32_t elements[24];
static const void *leaf_buffers[2] = {NULL, elements}, *list_buffers[1] = {NULL};
static struct ArrowArray leaf, list, *leaf_child[1] = {&leaf};
static struct ArrowSchema leaf_schema, list_schema, *leaf_schema_child[1] = {&leaf_schema};

static void build(void)
{
    released = 0;
    for (int i = 0; i < 24; i++) elements[i] = i;
    leaf = (struct ArrowArray){
        .length = 20, .offset = 2, .n_buffers = 2, .buffers = leaf_buffers, .release = release_array};
    leaf_schema = (struct ArrowSchema){.format = "i", .name = "", .release = release_schema};
    list = (struct ArrowArray){.length = 4,
                               .offset = 1,
                               .n_buffers = 1,
                               .n_children = 1,
                               .buffers = list_buffers,
                               .children = leaf_child,
                               .release = release_array};
    list_schema = (struct ArrowSchema){
        .format = "+w:3", .name = "", .n_children = 1, .children = leaf_schema_child, .release = release_schema};
}

static int32_t first(PTOTensor *t)
{
    const int32_t *at = pto_tensor_map(t, PTO_READ);
    EXPECT(at != NULL);
    const int32_t v = *at;
    pto_tensor_unmap(t);
    return v;
}

TEST(an_array_is_moved_and_released_after_its_last_view)
{
    build();
    PTOTensor *t = pto_tensor_from_arrow(&leaf, &leaf_schema);
    EXPECT(leaf.release == NULL && leaf_schema.release != NULL);
    EXPECT_EQ(describe(t).rank, 1);
    EXPECT_EQ(describe(t).shape[0], 20);
    EXPECT_EQ(describe(t).flags, PTO_READ_ONLY);
    EXPECT_EQ(first(t), 2);
    EXPECT(address_of(t) == &elements[2]);
    PTOTensor *view = pto_tensor_slice(t, 0, 4, 2, 1);
    pto_tensor_release(t);
    EXPECT_EQ(released, 0);
    EXPECT_EQ(first(view), 6);
    pto_tensor_release(view);
    EXPECT_EQ(released, 1);
}

TEST(fixed_size_lists_are_further_dimensions)
{
    build();
    PTOTensor *t = pto_tensor_from_arrow(&list, &list_schema), *row = pto_tensor_index(t, 0, 3);
    EXPECT_EQ(describe(t).shape[0], 4);
    EXPECT_EQ(describe(t).shape[1], 3);
    EXPECT_EQ(first(t), 1 * 3 + 2);
    EXPECT_EQ(first(row), 4 * 3 + 2);
    pto_tensor_release(t);
    pto_tensor_release(row);
    EXPECT_EQ(released, 1); /* the parent's; its children are its own affair */
}

static void refused(struct ArrowArray *a, struct ArrowSchema *s, PTOStatus status)
{
    const struct ArrowArray before = *a;
    EXPECT(pto_tensor_from_arrow(a, s) == NULL);
    EXPECT_EQ(pto_last_status(), status);
    EXPECT(memcmp(&before, a, sizeof before) == 0);
    EXPECT_EQ(released, 0);
    build();
}

TEST(what_is_refused_is_untouched)
{
    static const uint8_t some[] = {0xff, 0xf7, 0xff}, all[] = {0xff, 0xff, 0xff};
    build();
    leaf.null_count = 1;
    refused(&leaf, &leaf_schema, PTO_ERR_UNSUPPORTED);
    const void *with_some[2] = {some, elements}, *with_all[2] = {all, elements};
    leaf.null_count = -1, leaf.buffers = with_some;
    refused(&leaf, &leaf_schema, PTO_ERR_UNSUPPORTED);
    leaf_schema.format = "b";
    refused(&leaf, &leaf_schema, PTO_ERR_UNSUPPORTED);
    EXPECT(strstr(pto_last_error(NULL), "u8") != NULL);
    leaf_schema.format = "u";
    refused(&leaf, &leaf_schema, PTO_ERR_UNSUPPORTED);
    leaf_schema.format = "+l";
    refused(&leaf, &leaf_schema, PTO_ERR_UNSUPPORTED);
    leaf.release = NULL;
    refused(&leaf, &leaf_schema, PTO_ERR_ARGUMENT);
    leaf.n_buffers = 3;
    refused(&leaf, &leaf_schema, PTO_ERR_ARGUMENT);
    leaf.dictionary = &list;
    refused(&leaf, &leaf_schema, PTO_ERR_UNSUPPORTED);
    leaf.length = 14; /* the lists need 15 */
    refused(&list, &list_schema, PTO_ERR_ARGUMENT);
    list.n_children = 0;
    refused(&list, &list_schema, PTO_ERR_ARGUMENT);
    list_schema.format = "+w:-3";
    refused(&list, &list_schema, PTO_ERR_UNSUPPORTED);
    list_schema.format = "+w:4611686018427387904";
    refused(&list, &list_schema, PTO_ERR_OVERFLOW);
    leaf.null_count = -1, leaf.buffers = with_all; /* no nulls after all */
    pto_tensor_release(pto_tensor_from_arrow(&leaf, &leaf_schema));
    EXPECT_EQ(released, 1);
}

static void names(struct ArrowArray *a, struct ArrowSchema *s, PTOStatus status, const char *text)
{
    refused(a, s, status);
    EXPECT(strstr(pto_last_error(NULL), text) != NULL);
}

TEST(numbers_that_are_too_large_are_named)
{
    build();
    leaf.offset = INT64_MAX - 19;
    names(&leaf, &leaf_schema, PTO_ERR_OVERFLOW, "offset 9223372036854775788 + length 20 of 'i'");
    leaf.offset = INT64_MAX - 20;
    leaf_schema.format = "c"; /* as many bytes as elements */
    names(&leaf, &leaf_schema, PTO_ERR_OVERFLOW,
          "20 elements from element 9223372036854775787 are more than 2^62 bytes");
    leaf.offset = INT64_MAX;
    leaf.null_count = -1; /* nothing is read of the bits */
    names(&leaf, &leaf_schema, PTO_ERR_OVERFLOW, "offset 9223372036854775807 + length 20 of 'i'");
    leaf.offset = (int64_t)1 << 61;
    names(&leaf, &leaf_schema, PTO_ERR_OVERFLOW, "20 elements from element 2305843009213693952");
    list.offset = INT64_MAX - 3;
    names(&list, &list_schema, PTO_ERR_OVERFLOW, "offset 9223372036854775804 + length 4 of '+w:3'");
    list.offset = INT64_MAX / 3;
    names(&list, &list_schema, PTO_ERR_OVERFLOW,
          "offset 3074457345618258602 + length 4 of lists of 3, and offset 2 of their child");
    leaf.offset = INT64_MAX;
    names(&list, &list_schema, PTO_ERR_OVERFLOW, "and offset 9223372036854775807 of their child");
    leaf.length = 14;
    names(&list, &list_schema, PTO_ERR_ARGUMENT, "the child 'i' of a list has length 14, the list needs 15");
}

TEST(a_tensor_goes_out_and_comes_back)
{
    PTOTensor *t = numbers(3, SHAPE(2, 3, 4));
    struct ArrowArray a;
    struct ArrowSchema s;
    EXPECT_EQ(pto_tensor_to_arrow(t, &a, &s), PTO_OK);
    EXPECT_STR(s.format, "+w:3");
    EXPECT_STR(s.children[0]->format, "+w:4");
    EXPECT_STR(s.children[0]->children[0]->format, "l");
    EXPECT_EQ(a.length, 2);
    EXPECT_EQ(a.children[0]->children[0]->length, 24);
    EXPECT(a.children[0]->children[0]->buffers[1] == address_of(t));
    PTOTensor *back = pto_tensor_from_arrow(&a, &s);
    EXPECT(back && !a.release);
    s.release(&s);
    EXPECT(s.release == NULL);
    pto_tensor_release(t);
    EXPECT_EQ(element(back, SHAPE(1, 2, 3)), 23);
    EXPECT_EQ(living(), 2);
    pto_tensor_release(back);
    EXPECT_EQ(living(), 0);
}

TEST(a_child_that_was_moved_outlives_its_parent)
{
    PTOTensor *t = numbers(2, SHAPE(2, 3));
    struct ArrowArray a;
    struct ArrowSchema s;
    EXPECT_EQ(pto_tensor_to_arrow(t, &a, &s), PTO_OK);
    pto_tensor_release(t);
    struct ArrowArray child = *a.children[0];
    struct ArrowSchema child_schema = *s.children[0];
    a.children[0]->release = NULL; /* moved */
    s.children[0]->release = NULL;
    a.release(&a);
    s.release(&s);
    EXPECT_EQ(living(), 1);
    EXPECT_EQ(((const int64_t *)child.buffers[1])[5], 5);
    EXPECT_STR(child_schema.format, "l");
    child.release(&child);
    child_schema.release(&child_schema);
    EXPECT_EQ(living(), 0);
}

TEST(what_arrow_has_not_is_refused)
{
    struct ArrowArray a;
    struct ArrowSchema s;
    PTOTensor *t = numbers(2, SHAPE(2, 3)), *u = pto_tensor_transpose(t, NULL), *z = numbers(0, NULL);
    PTOTensor *b = pto_tensor_new(NULL, PTO_BF16, 1, SHAPE(2));
    EXPECT_EQ(pto_tensor_to_arrow(u, &a, &s), PTO_ERR_WOULD_COPY);
    EXPECT_EQ(pto_tensor_to_arrow(z, &a, &s), PTO_ERR_UNSUPPORTED);
    EXPECT_EQ(pto_tensor_to_arrow(b, &a, &s), PTO_ERR_UNSUPPORTED);
    EXPECT_EQ(pto_tensor_to_arrow(t, NULL, &s), PTO_ERR_MISUSE);
    PTOTensor *all[] = {t, u, z, b};
    for (int i = 0; i < 4; i++) pto_tensor_release(all[i]);
}
