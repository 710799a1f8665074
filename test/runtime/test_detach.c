/* test_detach.c - a detached tensor keeps its elements: memory is shared until one side is written, and an address that
 * somebody knows neither changes nor goes stale. */
#include "tensors.h"
#include "registry/pins.h"
#include <pto/pto_runtime.h>

/* Whether two tensors lie on one block: their addresses, without making them known. */
static bool share_memory(PTOTensor *a, PTOTensor *b)
{
    struct pin pins[2] = {{.tensor = a, .access = PTO_READ}, {.tensor = b, .access = PTO_READ}};
    EXPECT_EQ(ptoi_pins_take(pins, 2, NULL, NULL), PTO_OK);
    const bool same = pins[0].address == pins[1].address;
    ptoi_pins_drop(pins, 2, false);
    return same;
}

TEST(memory_is_shared_until_the_first_write)
{
    PTOTensor *t = numbers(1, SHAPE(4)), *d = pto_tensor_detach(t);
    EXPECT(describe(t).buffer != describe(d).buffer);
    EXPECT(share_memory(t, d));
    set_first(t, 5);
    EXPECT(!share_memory(t, d));
    EXPECT_EQ(element(t, NULL), 5);
    EXPECT_EQ(element(d, NULL), 0);
    PTOTensor *e = pto_tensor_detach(d), *f = pto_tensor_detach(e);
    set_first(e, 6);
    EXPECT(share_memory(d, f));
    EXPECT_EQ(element(f, NULL), 0);
    PTOTensor *all[] = {t, d, e, f};
    for (int i = 0; i < 4; i++) pto_tensor_release(all[i]);
    EXPECT_EQ(living(), 0);
}

TEST(the_last_buffer_on_a_block_is_written_in_place)
{
    PTOTensor *t = numbers(1, SHAPE(4)), *d = pto_tensor_detach(t);
    const void *at = address_of(t);
    pto_tensor_release(t);
    set_first(d, 5);
    EXPECT(address_of(d) == at);
    pto_tensor_release(d);
}

TEST(an_address_that_a_map_knows_stays)
{
    PTOTensor *t = numbers(1, SHAPE(4));
    const int64_t *at = pto_tensor_map(t, PTO_READ);
    PTOTensor *d = pto_tensor_detach(t);
    set_first(t, 5); /* its address is out, so d gets the copy */
    EXPECT(address_of(t) == at);
    EXPECT_EQ(at[0], 5);
    EXPECT_EQ(element(d, NULL), 0);
    pto_tensor_unmap(t);
    pto_tensor_release(t);
    pto_tensor_release(d);
}

TEST(the_second_address_that_becomes_known_is_separated)
{
    PTOTensor *t = numbers(1, SHAPE(4)), *d = pto_tensor_detach(t);
    int64_t *first = pto_tensor_map(t, PTO_READ), *second = pto_tensor_map(d, PTO_READ);
    EXPECT(first != second);
    EXPECT_EQ(second[3], 3);
    set_first(t, 5);
    EXPECT(first[0] == 5 && second[0] == 0);
    pto_tensor_unmap(t);
    pto_tensor_unmap(d);
    pto_tensor_release(t);
    pto_tensor_release(d);
}

TEST(a_detach_under_a_writable_map_copies_at_once)
{
    PTOTensor *t = numbers(1, SHAPE(4));
    int64_t *at = pto_tensor_map(t, PTO_READ_WRITE);
    PTOTensor *d = pto_tensor_detach(t);
    at[0] = 9;
    EXPECT_EQ(element(d, NULL), 0);
    pto_tensor_unmap(t);
    pto_tensor_release(t);
    pto_tensor_release(d);
}

TEST(attached_memory_keeps_its_address_unless_it_may_move)
{
    for (int may_move = 0; may_move < 2; may_move++) {
        struct owned o = own(4);
        PTOForeign f = foreign(&o, 4, 1, SHAPE(4));
        f.flags = may_move ? PTO_MAY_MOVE : 0;
        PTOTensor *t = pto_tensor_attach(&f), *d = pto_tensor_detach(t);
        set_first(t, 5);
        EXPECT_EQ(address_of(t) == o.data, !may_move);
        EXPECT_EQ(o.data[0], may_move ? 0 : 5);
        EXPECT_EQ(element(d, NULL), 0);
        pto_tensor_release(t);
        pto_tensor_release(d);
        EXPECT_EQ(o.released, 1);
    }
}

TEST(a_detach_of_read_only_memory_is_written_in_a_copy)
{
    struct owned o = own(4);
    PTOForeign f = foreign(&o, 4, 1, SHAPE(4));
    f.flags = PTO_READ_ONLY;
    PTOTensor *t = pto_tensor_attach(&f), *d = pto_tensor_detach(t);
    EXPECT(pto_tensor_map(t, PTO_WRITE) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_READ_ONLY);
    EXPECT_EQ(describe(d).flags, 0);
    pto_tensor_release(t);
    EXPECT_EQ(o.released, 0);
    set_first(d, 5);
    EXPECT_EQ(o.released, 1); /* nobody needs it any more */
    EXPECT_EQ(element(d, NULL), 5);
    pto_tensor_release(d);
}

TEST(a_run_that_writes_separates)
{
    PTOTensor *t = numbers(1, SHAPE(4)), *d = pto_tensor_detach(t);
    struct pin pins[2] = {{.tensor = t, .access = PTO_READ_WRITE}, {.tensor = d, .access = PTO_READ}};
    EXPECT_EQ(ptoi_pins_take(pins, 2, NULL, NULL), PTO_OK);
    EXPECT(pins[0].address != pins[1].address);
    *(int64_t *)pins[0].address = 8;
    ptoi_pins_drop(pins, 2, false);
    EXPECT_EQ(element(d, NULL), 0);
    EXPECT_EQ(element(t, NULL), 8);
    pto_tensor_release(t);
    pto_tensor_release(d);
}

TEST(a_detach_during_a_run_has_what_the_run_left)
{
    PTOTensor *t = numbers(1, SHAPE(4));
    struct pin pin = {.tensor = t, .access = PTO_READ_WRITE};
    EXPECT_EQ(ptoi_pins_take(&pin, 1, NULL, NULL), PTO_OK);
    PTOTensor *d = pto_tensor_detach(t);
    struct pin other = {.tensor = d, .access = PTO_READ};
    EXPECT_EQ(ptoi_pins_take(&other, 1, NULL, NULL), PTO_ERR_BUSY);
    pto_tensor_release(t);
    *(int64_t *)pin.address = 8;
    ptoi_pins_drop(&pin, 1, false);
    EXPECT_EQ(element(d, NULL), 8);
    pto_tensor_release(d);
    EXPECT_EQ(living(), 0);
}
