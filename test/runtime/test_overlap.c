/* test_overlap.c - one array that is attached several times: runs and maps of any of its tensors keep runs of the
 * others away, and a detached tensor of one keeps its elements from what is written through another. */
#include "tensors.h"
#include "registry/pins.h"
#include <pto/pto_runtime.h>

static PTOTensor *attach(int64_t *data, int64_t count)
{
    const PTOForeign f = {.address = data, .bytes = 8 * count, .type = PTO_I64, .rank = 1, .shape = SHAPE(count)};
    PTOTensor *t = pto_tensor_attach(&f);
    EXPECT(t != NULL);
    return t;
}

static PTOStatus try_one(PTOTensor *t, PTOAccess access)
{
    struct pin pin = {.tensor = t, .access = access};
    const PTOStatus status = ptoi_pins_take(&pin, 1, NULL, NULL);
    if (status == PTO_OK) ptoi_pins_drop(&pin, 1, false);
    return status;
}

TEST(a_run_keeps_runs_away_that_use_the_same_memory)
{
    int64_t data[8] = {0};
    PTOTensor *all = attach(data, 8), *front = attach(data, 5), *back = attach(data + 4, 4),
              *last = attach(data + 5, 3);
    struct pin pin = {.tensor = front, .access = PTO_WRITE};
    EXPECT_EQ(ptoi_pins_take(&pin, 1, NULL, NULL), PTO_OK);
    EXPECT_EQ(try_one(all, PTO_READ), PTO_ERR_BUSY);
    EXPECT_EQ(try_one(back, PTO_READ), PTO_ERR_BUSY);
    EXPECT_EQ(try_one(last, PTO_WRITE), PTO_OK);
    ptoi_pins_drop(&pin, 1, false);
    pin.access = PTO_READ;
    EXPECT_EQ(ptoi_pins_take(&pin, 1, NULL, NULL), PTO_OK);
    EXPECT_EQ(try_one(back, PTO_READ), PTO_OK);
    EXPECT_EQ(try_one(back, PTO_WRITE), PTO_ERR_BUSY);
    ptoi_pins_drop(&pin, 1, false);
    EXPECT_EQ(try_one(back, PTO_WRITE), PTO_OK);
    struct pin set[2] = {{.tensor = all, .access = PTO_READ}, {.tensor = front, .access = PTO_WRITE}};
    EXPECT_EQ(ptoi_pins_take(set, 2, NULL, NULL), PTO_OK); /* those of one call are its own affair */
    EXPECT_EQ(try_one(back, PTO_READ), PTO_ERR_BUSY);
    ptoi_pins_drop(set, 2, false);
    PTOTensor *tensors[] = {all, front, back, last};
    for (int i = 0; i < 4; i++) pto_tensor_release(tensors[i]);
    EXPECT_EQ(living(), 0);
}

TEST(a_map_keeps_runs_away_that_use_the_same_memory)
{
    int64_t data[4] = {0};
    PTOTensor *a = attach(data, 4), *b = attach(data, 4);
    EXPECT(pto_tensor_map(a, PTO_READ) != NULL);
    EXPECT_EQ(try_one(b, PTO_READ), PTO_OK);
    struct pin pin = {.tensor = b, .access = PTO_WRITE};
    EXPECT_EQ(ptoi_pins_take(&pin, 1, MAY_WAIT, NULL),
              PTO_ERR_BUSY); /* the map is this thread's: it would wait for ever */
    pto_tensor_unmap(a);
    EXPECT_EQ(try_one(b, PTO_WRITE), PTO_OK);
    pto_tensor_release(a);
    pto_tensor_release(b);
}

TEST(a_detached_tensor_keeps_its_elements)
{
    int64_t data[4] = {1, 2, 3, 4};
    PTOTensor *t = attach(data, 4), *d = pto_tensor_detach(t), *e = pto_tensor_detach(t), *again = attach(data + 1, 3);
    pto_tensor_release(t); /* nobody but the owner of the array knows the address */
    struct pin read = {.tensor = d, .access = PTO_READ}, write = {.tensor = again, .access = PTO_WRITE};
    EXPECT_EQ(ptoi_pins_take(&read, 1, NULL, NULL), PTO_OK);
    EXPECT(read.address == data);
    EXPECT_EQ(try_one(again, PTO_WRITE), PTO_ERR_BUSY); /* a run reads it there */
    ptoi_pins_drop(&read, 1, false);
    EXPECT_EQ(ptoi_pins_take(&write, 1, NULL, NULL), PTO_OK);
    data[1] = 7;
    ptoi_pins_drop(&write, 1, false);
    EXPECT_EQ(element(d, SHAPE(1)), 2);
    EXPECT_EQ(element(e, SHAPE(1)), 2);
    EXPECT_EQ(element(again, NULL), 7);
    PTOTensor *all[] = {d, e, again};
    for (int i = 0; i < 3; i++) pto_tensor_release(all[i]);
    EXPECT_EQ(living(), 0);
}

TEST(a_detached_tensor_leaves_the_array_before_it_is_written)
{
    int64_t data[4] = {1, 2, 3, 4};
    PTOTensor *t = attach(data, 4), *d = pto_tensor_detach(t);
    pto_tensor_release(t);
    PTOTensor *e = pto_tensor_detach(d);
    set_first(d, 9);
    EXPECT_EQ(element(d, NULL), 9);
    EXPECT_EQ(data[0], 1);
    EXPECT(address_of(e) != data); /* nor does anybody else learn where the array is */
    pto_tensor_release(d);
    pto_tensor_release(e);
    EXPECT_EQ(living(), 0);
}
