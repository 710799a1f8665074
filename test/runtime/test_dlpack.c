/* test_dlpack.c - DLPack in and out, with structs built by hand as producers build them. */
#include "registry/dlpack.h"
#include "tensors.h"
#include <pthread.h>
#include <pto/pto_runtime.h>

static _Atomic int deleted;
static void delete_versioned(struct DLManagedTensorVersioned *m)
{
    deleted++;
    (void)m;
}
static void delete_unversioned(struct DLManagedTensor *m)
{
    deleted++;
    (void)m;
}

static float data[24];
static int64_t shape[2] = {4, 6}, strides[2] = {6, 1};

static struct dlpack_tensor plain(void)
{
    for (int i = 0; i < 24; i++) data[i] = (float)i;
    return (struct dlpack_tensor){.data = data,
                                  .device_type = DLPACK_CPU,
                                  .ndim = 2,
                                  .code = DLPACK_FLOAT,
                                  .bits = 32,
                                  .lanes = 1,
                                  .shape = shape,
                                  .strides = strides};
}

static struct DLManagedTensorVersioned versioned(struct dlpack_tensor d)
{
    deleted = 0;
    return (struct DLManagedTensorVersioned){.major = 1, .minor = 1, .deleter = delete_versioned, .tensor = d};
}

static float value(PTOTensor *t)
{
    const float *at = pto_tensor_map(t, PTO_READ);
    EXPECT(at != NULL);
    const float v = *at;
    pto_tensor_unmap(t);
    return v;
}

TEST(the_same_memory_comes_in_and_its_deleter_is_called_once)
{
    struct DLManagedTensorVersioned m = versioned(plain());
    PTOTensor *t = pto_tensor_from_dlpack(&m);
    EXPECT(address_of(t) == data);
    EXPECT_EQ(describe(t).shape[1], 6);
    PTOTensor *view = pto_tensor_index(t, 0, 1);
    pto_tensor_release(t);
    EXPECT_EQ(deleted, 0);
    EXPECT(value(view) == 6);
    pto_tensor_release(view);
    EXPECT_EQ(deleted, 1);
    struct DLManagedTensor u = {.tensor = plain(), .deleter = delete_unversioned};
    deleted = 0;
    t = pto_tensor_from_dlpack_unversioned(&u);
    pto_tensor_release(t);
    EXPECT_EQ(deleted, 1);
    u.deleter = NULL; /* which the interface allows */
    pto_tensor_release(pto_tensor_from_dlpack_unversioned(&u));
}

TEST(another_major_version_is_given_back_unread)
{
    /* only what stands before the flags exists: ASan looks */
    const volatile size_t known = offsetof(struct DLManagedTensorVersioned, flags); /* gcc need not look */
    struct DLManagedTensorVersioned *m = malloc(known);
    m->major = 2, m->minor = 0, m->manager_ctx = NULL, m->deleter = delete_versioned;
    deleted = 0;
    EXPECT(pto_tensor_from_dlpack(m) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_VERSION);
    EXPECT_EQ(deleted, 1);
    free(m);
}

TEST(offsets_negative_strides_and_no_strides)
{
    struct dlpack_tensor d = plain();
    int64_t back[2] = {-6, -1};
    d.strides = back;
    d.byte_offset = 23 * sizeof(float);
    struct DLManagedTensorVersioned m = versioned(d);
    PTOTensor *t = pto_tensor_from_dlpack(&m), *last = pto_tensor_index(t, 0, 3);
    EXPECT(value(t) == 23);
    EXPECT(value(last) == 5);
    pto_tensor_release(t);
    pto_tensor_release(last);
    EXPECT_EQ(deleted, 1);
    d = plain(), d.strides = NULL;
    m = versioned(d);
    t = pto_tensor_from_dlpack(&m);
    EXPECT_EQ(describe(t).strides[0], 6);
    pto_tensor_release(t);
}

TEST(scalars_and_empty_tensors)
{
    struct dlpack_tensor d = plain();
    d.ndim = 0, d.shape = d.strides = NULL, d.byte_offset = 8;
    struct DLManagedTensorVersioned m = versioned(d);
    PTOTensor *t = pto_tensor_from_dlpack(&m);
    EXPECT(value(t) == 2);
    pto_tensor_release(t);
    EXPECT_EQ(deleted, 1);
    int64_t none[2] = {0, 6}, any[2] = {INT64_MIN, INT64_MAX};
    d = plain(), d.shape = none, d.strides = any, d.data = NULL;
    m = versioned(d);
    t = pto_tensor_from_dlpack(&m);
    EXPECT_EQ(describe(t).shape[1], 6);
    pto_tensor_release(t);
    EXPECT_EQ(deleted, 1);
}

static void refused(struct dlpack_tensor d, PTOStatus status)
{
    struct DLManagedTensorVersioned m = versioned(d);
    EXPECT(pto_tensor_from_dlpack(&m) == NULL);
    EXPECT_EQ(pto_last_status(), status);
    EXPECT_EQ(deleted, 0); /* the producer keeps it */
}

TEST(what_is_refused_stays_with_its_producer)
{
    struct dlpack_tensor d = plain();
    d.lanes = 4;
    refused(d, PTO_ERR_UNSUPPORTED);
    EXPECT(strstr(pto_last_error(NULL), "elements are float32 in vectors of 4; there is"));
    d = plain(), d.code = 5; /* complex */
    refused(d, PTO_ERR_UNSUPPORTED);
    d = plain(), d.bits = 128;
    refused(d, PTO_ERR_UNSUPPORTED);
    EXPECT(strstr(pto_last_error(NULL), "elements are float128; there is"));
    d = plain(), d.code = 77;
    refused(d, PTO_ERR_UNSUPPORTED);
    EXPECT(strstr(pto_last_error(NULL), "elements are type code 77 of bits 32; there is"));
    d = plain(), d.device_type = 2;
    refused(d, PTO_ERR_UNSUPPORTED);
    d = plain(), d.device_type = DLPACK_ASCEND, d.device_id = -1;
    refused(d, PTO_ERR_UNSUPPORTED);
    d = plain(), d.ndim = 9;
    refused(d, PTO_ERR_ARGUMENT);
    d = plain(), d.byte_offset = 2; /* not aligned */
    refused(d, PTO_ERR_ARGUMENT);
    d = plain(), d.byte_offset = UINT64_MAX - 3; /* the address before data */
    refused(d, PTO_ERR_ARGUMENT);
    EXPECT(strstr(pto_last_error(NULL),
                  "from the byte offset 18446744073709551612 the tensor reaches out of the address space"));
    int64_t back[2] = {-(INT64_MAX >> 4), 1};
    d = plain(), d.strides = back;
    refused(d, PTO_ERR_ARGUMENT);
    d = plain(), d.byte_offset = ~(uint64_t)(uintptr_t)d.data - 3; /* the last elements lie past the end */
    refused(d, PTO_ERR_ARGUMENT);
    EXPECT(strstr(pto_last_error(NULL), "the tensor reaches out of the address space"));
    int64_t far[2] = {INT64_MAX, 1}, both[2] = {INT64_MAX, INT64_MIN / 4}, fits[2] = {2, 3};
    d = plain(), d.strides = far;
    refused(d, PTO_ERR_OVERFLOW);
    d = plain(), d.shape = fits, d.strides = both; /* from the lowest element to the highest */
    refused(d, PTO_ERR_OVERFLOW);
    d = plain(), d.data = NULL;
    refused(d, PTO_ERR_ARGUMENT);
    EXPECT(pto_tensor_from_dlpack(NULL) == NULL);
    EXPECT(pto_tensor_from_dlpack_unversioned(NULL) == NULL);
}

TEST(read_only_is_honoured_both_ways)
{
    struct DLManagedTensorVersioned m = versioned(plain());
    m.flags = DLPACK_FLAG_READ_ONLY;
    PTOTensor *t = pto_tensor_from_dlpack(&m);
    EXPECT(pto_tensor_map(t, PTO_WRITE) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_READ_ONLY);
    EXPECT(pto_tensor_to_dlpack_unversioned(t) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_READ_ONLY);
    struct DLManagedTensorVersioned *out = pto_tensor_to_dlpack(t, 1, 0);
    EXPECT_EQ(out->flags, DLPACK_FLAG_READ_ONLY);
    pto_tensor_release(t);
    EXPECT_EQ(deleted, 0);
    out->deleter(out);
    EXPECT_EQ(deleted, 1);
}

static void *delete_on_thread(void *m)
{
    struct DLManagedTensorVersioned *out = m;
    out->deleter(out);
    return NULL;
}

TEST(an_export_keeps_the_tensor_and_ends_on_any_thread)
{
    PTOTensor *t = numbers(2, SHAPE(3, 4)), *u = pto_tensor_transpose(t, NULL);
    struct DLManagedTensorVersioned *m = pto_tensor_to_dlpack(u, 1, 5);
    const void *at = address_of(t);
    EXPECT(m->tensor.data == at && m->tensor.byte_offset == 0);
    EXPECT_EQ(m->major, 1);
    EXPECT_EQ(m->flags, 0);
    EXPECT_EQ(m->tensor.ndim, 2);
    EXPECT_EQ(m->tensor.shape[0], 4);
    EXPECT_EQ(m->tensor.strides[0], 1);
    EXPECT_EQ(m->tensor.code, DLPACK_INT);
    EXPECT_EQ(m->tensor.bits, 64);
    pto_tensor_release(t);
    pto_tensor_release(u);
    EXPECT_EQ(living(), 1);
    pthread_t thread;
    pthread_create(&thread, NULL, delete_on_thread, m);
    pthread_join(thread, NULL);
    EXPECT_EQ(living(), 0);
}

TEST(memory_whose_address_went_out_does_not_move)
{
    PTOTensor *t = numbers(1, SHAPE(4)), *d = pto_tensor_detach(t);
    struct DLManagedTensorVersioned *m = pto_tensor_to_dlpack(t, 1, 0);
    ((int64_t *)m->tensor.data)[0] = 9; /* the consumer writes: t sees it, d does not */
    EXPECT_EQ(element(t, NULL), 9);
    EXPECT_EQ(element(d, NULL), 0);
    set_first(t, 10);
    EXPECT_EQ(((int64_t *)m->tensor.data)[0], 10);
    PTOTensor *late = pto_tensor_detach(t);
    ((int64_t *)m->tensor.data)[0] = 11;
    EXPECT_EQ(element(late, NULL), 10);
    m->deleter(m);
    PTOTensor *all[] = {t, d, late};
    for (int i = 0; i < 3; i++) pto_tensor_release(all[i]);
    EXPECT_EQ(living(), 0);
}

TEST(every_type_goes_out_and_comes_back)
{
    for (int type = PTO_BYTE; type < PTO_TYPE_COUNT; type++) {
        PTOTensor *t = pto_tensor_new(NULL, (PTOType)type, 1, SHAPE(3));
        struct DLManagedTensorVersioned *m = pto_tensor_to_dlpack(t, 1, 0);
        EXPECT_EQ(m == NULL, type == PTO_BYTE);
        if (m) {
            PTOTensor *back = pto_tensor_from_dlpack(m);
            EXPECT_EQ(describe(back).type, type);
            EXPECT(address_of(back) == address_of(t));
            pto_tensor_release(back);
        } else {
            EXPECT_EQ(pto_last_status(), PTO_ERR_UNSUPPORTED);
        }
        pto_tensor_release(t);
    }
    PTOTensor *e = pto_tensor_new(NULL, PTO_BF16, 2, SHAPE(0, 2));
    struct DLManagedTensor *m = pto_tensor_to_dlpack_unversioned(e);
    EXPECT(m->tensor.data == NULL && m->tensor.code == DLPACK_BFLOAT);
    m->deleter(m);
    EXPECT(pto_tensor_to_dlpack(e, 0, 9) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_VERSION);
    pto_tensor_release(e);
    EXPECT_EQ(living(), 0);
}
