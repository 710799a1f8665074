/* test_registry_failures.c - each failing return that pto_registry.h and pto_sparse.h name: its status, its text, and
 * nothing is half done.
 * Method     a line of the tables below is one failing return: NONE(status, part of the text, a call that returns NULL)
 *            or REFUSED(status, part of the text, a call that returns the status).  test/style/failures.py compares
 *            them with the headers.  PTO_ERR_NOMEM is in test_registry_nomem.c. */
#include "tensors.h"
#include "registry/arrow.h"
#include "registry/dlpack.h"
#include "registry/pins.h"
#include "shared/caller.h"
#include <pto/pto_runtime.h>
#include <pto/pto_sparse.h>

#define LARGE ((int64_t)1 << 62)

static void expect_failure(PTOStatus status, const char *text, PTOStatus got, int line)
{
    if (got != status || !strstr(pto_last_error(NULL), text))
        fail_msg("line %d: expected %s with \"%s\", got %s: \"%s\"", line, pto_status_name(status), text,
                 pto_status_name(got), pto_last_error(NULL));
}
#define NONE(status, text, call)    (EXPECT((call) == NULL), expect_failure(status, text, pto_last_status(), __LINE__))
#define REFUSED(status, text, call) expect_failure(status, text, call, __LINE__)

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

TEST(new_tensors)
{
    NONE(PTO_ERR_ARGUMENT, "type 99", pto_tensor_new(NULL, (PTOType)99, 1, SHAPE(1)));
    NONE(PTO_ERR_ARGUMENT, "rank 9, expected 0 to 8", pto_tensor_new(NULL, PTO_F32, 9, SHAPE(1)));
    NONE(PTO_ERR_ARGUMENT, "shape is NULL", pto_tensor_new(NULL, PTO_F32, 1, NULL));
    NONE(PTO_ERR_ARGUMENT, "extent -1 of dimension 1", pto_tensor_new(NULL, PTO_F32, 2, SHAPE(1, -1)));
    NONE(PTO_ERR_OVERFLOW, "2^63 bytes", pto_tensor_new(NULL, PTO_F32, 2, SHAPE(LARGE, 8)));
    NONE(PTO_ERR_OVERFLOW, "2^63 bytes", pto_tensor_new(NULL, PTO_F32, 1, SHAPE(LARGE)));
}

static int64_t words[8], eight_words[1] = {8};
static PTOForeign eight(void)
{
    return (PTOForeign){.address = words, .bytes = sizeof words, .type = PTO_I64, .rank = 1, .shape = eight_words};
}
/* eight(), changed */
#define ATTACHED(change) (f = eight(), (change), pto_tensor_attach(&f))

TEST(attached_tensors)
{
    PTOForeign f;
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_attach(NULL));
    NONE(PTO_ERR_ARGUMENT, "64 bytes at", ATTACHED(f.address = NULL));
    NONE(PTO_ERR_ARGUMENT, "type 99", ATTACHED(f.type = (PTOType)99));
    NONE(PTO_ERR_ARGUMENT, "rank -1", ATTACHED(f.rank = -1));
    NONE(PTO_ERR_ARGUMENT, "extent -8", ATTACHED(f.shape = SHAPE(-8)));
    NONE(PTO_ERR_ARGUMENT, "flags 0x80", ATTACHED(f.flags = 0x80));
    NONE(PTO_ERR_ARGUMENT, "device -1", ATTACHED(f.device = -1));
    NONE(PTO_ERR_ARGUMENT, "not aligned to i64", ATTACHED((f.address = (char *)words + 1, f.bytes = 63)));
    NONE(PTO_ERR_BOUNDS, "elements 0 to 8 of 64 bytes", ATTACHED(f.shape = SHAPE(9)));
    NONE(PTO_ERR_BOUNDS, "elements -7 to 0", ATTACHED(f.strides = SHAPE(-1)));
    NONE(PTO_ERR_OVERFLOW, "overflow", ATTACHED(f.strides = SHAPE(LARGE)));
    NONE(PTO_ERR_OVERFLOW, "2^63 elements", ATTACHED((f.rank = 2, f.shape = SHAPE(LARGE, 8))));
}

TEST(views)
{
    PTOTensor *t = numbers(2, SHAPE(4, 6)), *flipped = pto_tensor_transpose(t, NULL);
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_slice(NULL, 0, 0, 1, 1));
    NONE(PTO_ERR_ARGUMENT, "dimension 2, and the tensor has 2", pto_tensor_slice(t, 2, 0, 1, 1));
    NONE(PTO_ERR_ARGUMENT, "step 0", pto_tensor_slice(t, 0, 0, 1, 0));
    NONE(PTO_ERR_ARGUMENT, "count -1", pto_tensor_slice(t, 0, 0, -1, 1));
    NONE(PTO_ERR_BOUNDS, "5 elements from 0", pto_tensor_slice(t, 0, 0, 5, 1));
    NONE(PTO_ERR_BOUNDS, "step -1", pto_tensor_slice(t, 0, 0, 2, -1));
    NONE(PTO_ERR_BOUNDS, "elements from", pto_tensor_slice(t, 0, 1, LARGE, 4));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_index(NULL, 0, 0));
    NONE(PTO_ERR_ARGUMENT, "dimension -1", pto_tensor_index(t, -1, 0));
    NONE(PTO_ERR_BOUNDS, "index 6, and dimension 1 has 6", pto_tensor_index(t, 1, 6));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_transpose(NULL, NULL));
    NONE(PTO_ERR_ARGUMENT, "order[1] = 0", pto_tensor_transpose(t, (const int[]){0, 0}));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_reshape(NULL, 1, SHAPE(24)));
    NONE(PTO_ERR_WOULD_COPY, "strides", pto_tensor_reshape(flipped, 1, SHAPE(24)));
    NONE(PTO_ERR_ARGUMENT, "25 elements, and the tensor has 24", pto_tensor_reshape(t, 1, SHAPE(25)));
    NONE(PTO_ERR_OVERFLOW, "2^63 elements", pto_tensor_reshape(t, 2, SHAPE(LARGE, 8)));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_broadcast(NULL, 1, SHAPE(24)));
    NONE(PTO_ERR_ARGUMENT, "extent", pto_tensor_broadcast(t, 2, SHAPE(4, 7)));
    NONE(PTO_ERR_ARGUMENT, "rank", pto_tensor_broadcast(t, 1, SHAPE(6)));
    NONE(PTO_ERR_OVERFLOW, "2^63 elements", pto_tensor_broadcast(t, 4, SHAPE(LARGE, 8, 4, 6)));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_share(NULL));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_detach(NULL));
    EXPECT_EQ(describe(t).tensors, 2);
    EXPECT_EQ(describe(t).references, 1);
    pto_tensor_release(flipped);
    pto_tensor_release(t);
}

TEST(elements)
{
    PTOTensor *t = numbers(1, SHAPE(4)), *wide = pto_tensor_broadcast(t, 2, SHAPE(2, 4)), *none = NULL;
    PTOForeign f = eight();
    f.strides = SHAPE(0);
    PTOTensor *one = pto_tensor_attach(&f);
    PTODetached out;
    PTODescription d;
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_copy(NULL));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_dense(NULL));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_tensor_writable(NULL));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_tensor_writable(&none));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_tensor_take(NULL, &out));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_tensor_take(&t, NULL));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_tensor_describe(NULL, &d));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_tensor_describe(t, NULL));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_map(NULL, PTO_READ));
    NONE(PTO_ERR_ARGUMENT, "access 4", pto_tensor_map(t, (PTOAccess)4));
    NONE(PTO_ERR_READ_ONLY, "read-only", pto_tensor_map(wide, PTO_WRITE));
    NONE(PTO_ERR_OVERLAP, "two indices are one element", pto_tensor_map(one, PTO_READ_WRITE));
    pto_tensor_unmap(t);
    EXPECT_EQ(pto_last_status(), PTO_ERR_MISUSE);
    EXPECT_EQ(describe(t).pins, 0);
    pto_tensor_release(one);
    pto_tensor_release(wide);
    pto_tensor_release(t);
}

TEST(copies_that_are_too_large)
{
    PTOForeign f = eight();
    f.strides = SHAPE(0, 8);
    f.rank = 2;
    f.shape = SHAPE(LARGE, 1);
    PTOTensor *t = pto_tensor_attach(&f), *was = t;
    PTODetached out;
    NONE(PTO_ERR_OVERFLOW, "2^63 bytes", pto_tensor_copy(t));
    NONE(PTO_ERR_OVERFLOW, "2^63 bytes", pto_tensor_dense(t));
    REFUSED(PTO_ERR_OVERFLOW, "2^63 bytes", pto_tensor_writable(&t));
    REFUSED(PTO_ERR_OVERFLOW, "2^63 bytes", pto_tensor_take(&t, &out));
    EXPECT(t == was);
    PTOTensor *one = pto_tensor_index(t, 0, 0);
    EXPECT(pto_tensor_map(one, PTO_READ_WRITE) == words); /* so a detach copies at once */
    NONE(PTO_ERR_OVERFLOW, "2^63 bytes", pto_tensor_detach(t));
    pto_tensor_unmap(one);
    pto_tensor_release(one);
    pto_tensor_release(t);
}

/* No runtime has the device open. */
TEST(elements_on_a_device)
{
    PTOForeign f = eight();
    f.device = 1;
    PTOTensor *t = pto_tensor_attach(&f), *every_other = pto_tensor_slice(t, 0, 0, 4, 2), *was = t;
    PTODetached out;
    EXPECT(every_other != NULL);
    NONE(PTO_ERR_DEVICE, "device", pto_tensor_map(t, PTO_READ));
    NONE(PTO_ERR_UNSUPPORTED, "device", pto_tensor_map(t, PTO_READ_WRITE));
    NONE(PTO_ERR_DEVICE, "device", pto_tensor_copy(t));
    NONE(PTO_ERR_DEVICE, "device", pto_tensor_dense(every_other));
    REFUSED(PTO_ERR_DEVICE, "device", pto_tensor_writable(&t));
    REFUSED(PTO_ERR_DEVICE, "device", pto_tensor_take(&t, &out));
    NONE(PTO_ERR_UNSUPPORTED, "device", pto_tensor_to_dlpack(t, 1, 0));
    NONE(PTO_ERR_UNSUPPORTED, "device", pto_tensor_to_dlpack_unversioned(t));
    EXPECT(t == was);
    EXPECT_EQ(describe(t).pins, 0);
    EXPECT_EQ(describe(t).references, 1);
    pto_tensor_release(every_other);
    pto_tensor_release(t);
}

TEST(matrices_on_a_device)
{
    int64_t ptr[9] = {0};
    PTOForeign f[3] = {eight(), eight(), eight()};
    PTODetached out[PTO_SPARSE_ARRAYS];
    f[0].address = ptr;
    f[0].bytes = sizeof ptr;
    f[0].shape = SHAPE(9);
    for (int i = 0; i < 3; i++) f[i].device = 1;
    NONE(PTO_ERR_DEVICE, "device", pto_sparse_attach(PTO_CSR, 8, 8, f, PTO_CHECK_ALL));
    PTOSparse *a = pto_sparse_attach(PTO_CSR, 8, 8, f, PTO_CHECK_SHAPE), *was = a;
    EXPECT(a != NULL);
    PTOTensor *const array[3] = {pto_sparse_array(a, 0), pto_sparse_array(a, 1), pto_sparse_array(a, 2)};
    NONE(PTO_ERR_DEVICE, "device", pto_sparse_make(PTO_CSR, 8, 8, array, PTO_CHECK_ALL));
    NONE(PTO_ERR_DEVICE, "device", pto_sparse_rows(a, 0, 1));
    NONE(PTO_ERR_DEVICE, "device", pto_sparse_pick(a, SHAPE(0), 1));
    NONE(PTO_ERR_DEVICE, "device", pto_sparse_convert(a, PTO_CSC));
    REFUSED(PTO_ERR_DEVICE, "device", pto_sparse_take(&a, out));
    EXPECT(a == was);
    pto_sparse_release(a);
}

/* ---- in a run that writes the memory, which waits for nothing ---------------------------------------------------- */

static PTOTensor *counted(PTOType type, int64_t count, const int64_t *values)
{
    PTOTensor *t = pto_tensor_new(NULL, type, 1, &count);
    void *at = pto_tensor_map(t, PTO_WRITE);
    EXPECT(at != NULL);
    for (int64_t i = 0; i < count; i++)
        if (type == PTO_I64)
            ((int64_t *)at)[i] = values[i];
        else
            ((int32_t *)at)[i] = (int32_t)values[i];
    pto_tensor_unmap(t);
    return t;
}

/* Three rows of four columns; elements 0, 1, 2 in column 0, 1, 2. */
static PTOSparse *diagonal(PTOFormat format, PTOTensor *array[3])
{
    array[0] = counted(PTO_I64, format == PTO_COO ? 3 : 4, SHAPE(0, 1, 2, 3));
    array[1] = counted(PTO_I64, 3, SHAPE(0, 1, 2));
    array[2] = counted(PTO_I64, 3, SHAPE(0, 1, 2));
    PTOSparse *a = pto_sparse_make(format, 3, format == PTO_CSC ? 3 : 4, array, PTO_CHECK_ALL);
    EXPECT(a != NULL);
    return a;
}
static void release_three(PTOTensor *array[3])
{
    for (int i = 0; i < 3; i++) pto_tensor_release(array[i]);
}

TEST(a_tensor_of_the_run_of_the_caller)
{
    PTOForeign f = eight(); /* its owner knows the address, so one of the two must leave it */
    PTOTensor *t = pto_tensor_attach(&f), *back = pto_tensor_slice(t, 0, 7, 8, -1), *was = t;
    struct pin pin = {.tensor = t, .access = PTO_READ_WRITE};
    PTODetached out;
    struct ArrowArray a;
    struct ArrowSchema s;
    EXPECT_EQ(ptoi_pins_take(&pin, 1, MAY_WAIT, NULL), PTO_OK);
    PTOTensor *apart = pto_tensor_detach(t);
    int run;
    const void *before = ptoi_orchestrate(&run);
    NONE(PTO_ERR_BUSY, "in a run", pto_tensor_map(t, PTO_READ));
    NONE(PTO_ERR_BUSY, "in a run", pto_tensor_copy(t));
    NONE(PTO_ERR_BUSY, "in a run", pto_tensor_dense(back));
    REFUSED(PTO_ERR_BUSY, "in a run", pto_tensor_writable(&t));
    REFUSED(PTO_ERR_BUSY, "in a run", pto_tensor_take(&t, &out));
    NONE(PTO_ERR_BUSY, "in a run", pto_tensor_to_dlpack(apart, 1, 0));
    NONE(PTO_ERR_BUSY, "in a run", pto_tensor_to_dlpack_unversioned(apart));
    REFUSED(PTO_ERR_BUSY, "in a run", pto_tensor_to_arrow(apart, &a, &s));
    ptoi_orchestrate(before);
    EXPECT(t == was);
    ptoi_pins_drop(&pin, 1, false);
    pto_tensor_release(apart);
    pto_tensor_release(back);
    pto_tensor_release(t);
}

TEST(a_matrix_of_the_run_of_the_caller)
{
    PTOTensor *array[3];
    PTOSparse *a = diagonal(PTO_CSR, array), *was = a;
    struct pin pin = {.tensor = array[0], .access = PTO_READ_WRITE};
    PTODetached out[PTO_SPARSE_ARRAYS];
    EXPECT_EQ(ptoi_pins_take(&pin, 1, MAY_WAIT, NULL), PTO_OK);
    int run;
    const void *before = ptoi_orchestrate(&run);
    NONE(PTO_ERR_BUSY, "in a run", pto_sparse_make(PTO_CSR, 3, 4, array, PTO_CHECK_ALL));
    NONE(PTO_ERR_BUSY, "in a run", pto_sparse_rows(a, 0, 1));
    NONE(PTO_ERR_BUSY, "in a run", pto_sparse_pick(a, SHAPE(0), 1));
    NONE(PTO_ERR_BUSY, "in a run", pto_sparse_convert(a, PTO_CSC));
    REFUSED(PTO_ERR_BUSY, "in a run", pto_sparse_take(&a, out));
    ptoi_orchestrate(before);
    EXPECT(a == was);
    ptoi_pins_drop(&pin, 1, false);
    pto_sparse_release(a);
    release_three(array);
}

/* ---- other libraries --------------------------------------------------------------------------------------------- */

static int deleted;
static void delete_versioned(struct DLManagedTensorVersioned *m) { (void)m, deleted++; }
static int64_t wrong_strides[1] = {LARGE};

TEST(tensors_of_dlpack)
{
    struct dlpack_tensor d = {.data = words,
                              .device_type = DLPACK_CPU,
                              .ndim = 1,
                              .code = DLPACK_INT,
                              .bits = 64,
                              .lanes = 1,
                              .shape = eight_words};
    struct DLManagedTensorVersioned m = {.major = 2, .deleter = delete_versioned, .tensor = d};
    struct DLManagedTensor old = {.tensor = d};
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_from_dlpack(NULL));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_from_dlpack_unversioned(NULL));
    NONE(PTO_ERR_VERSION, "version 2.0, expected 1", pto_tensor_from_dlpack(&m));
    EXPECT_EQ(deleted, 1);
    m.major = 1;
    m.tensor.lanes = old.tensor.lanes = 2;
    NONE(PTO_ERR_UNSUPPORTED, "DLPack", pto_tensor_from_dlpack(&m));
    NONE(PTO_ERR_UNSUPPORTED, "DLPack", pto_tensor_from_dlpack_unversioned(&old));
    m.tensor = old.tensor = d;
    m.tensor.device_type = old.tensor.device_type = 2;
    NONE(PTO_ERR_UNSUPPORTED, "device type 2", pto_tensor_from_dlpack(&m));
    NONE(PTO_ERR_UNSUPPORTED, "device type 2", pto_tensor_from_dlpack_unversioned(&old));
    m.tensor = old.tensor = d;
    m.tensor.data = old.tensor.data = (char *)words + 4;
    NONE(PTO_ERR_ARGUMENT, "not aligned", pto_tensor_from_dlpack(&m));
    NONE(PTO_ERR_ARGUMENT, "not aligned", pto_tensor_from_dlpack_unversioned(&old));
    m.tensor = old.tensor = d;
    m.tensor.ndim = old.tensor.ndim = 9;
    NONE(PTO_ERR_ARGUMENT, "rank 9", pto_tensor_from_dlpack(&m));
    NONE(PTO_ERR_ARGUMENT, "rank 9", pto_tensor_from_dlpack_unversioned(&old));
    m.tensor = old.tensor = d;
    m.tensor.strides = old.tensor.strides = wrong_strides;
    NONE(PTO_ERR_OVERFLOW, "overflow", pto_tensor_from_dlpack(&m));
    NONE(PTO_ERR_OVERFLOW, "overflow", pto_tensor_from_dlpack_unversioned(&old));
    EXPECT_EQ(deleted, 1);
}

TEST(tensors_to_dlpack)
{
    PTOTensor *t = numbers(1, SHAPE(4)), *bytes = pto_tensor_new(NULL, PTO_BYTE, 1, SHAPE(4));
    PTOTensor *wide = pto_tensor_broadcast(t, 2, SHAPE(2, 4));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_to_dlpack(NULL, 1, 0));
    NONE(PTO_ERR_MISUSE, "NULL", pto_tensor_to_dlpack_unversioned(NULL));
    NONE(PTO_ERR_VERSION, "version 0.8 at most", pto_tensor_to_dlpack(t, 0, 8));
    NONE(PTO_ERR_UNSUPPORTED, "untyped bytes", pto_tensor_to_dlpack(bytes, 1, 0));
    NONE(PTO_ERR_UNSUPPORTED, "untyped bytes", pto_tensor_to_dlpack_unversioned(bytes));
    NONE(PTO_ERR_READ_ONLY, "read-only", pto_tensor_to_dlpack_unversioned(wide));
    EXPECT_EQ(describe(t).references, 1);
    pto_tensor_release(wide);
    pto_tensor_release(bytes);
    pto_tensor_release(t);
}

static void release_array(struct ArrowArray *a) { a->release = NULL; }
static void release_schema(struct ArrowSchema *s) { s->release = NULL; }

TEST(arrays_of_arrow)
{
    const void *buffers[2] = {NULL, words};
    struct ArrowArray a = {.length = 8, .n_buffers = 2, .buffers = buffers, .release = release_array};
    struct ArrowSchema s = {.format = "l", .name = "", .release = release_schema};
    NONE(PTO_ERR_ARGUMENT, "released or is malformed", pto_tensor_from_arrow(NULL, &s));
    a.null_count = 1;
    NONE(PTO_ERR_UNSUPPORTED, "1 nulls", pto_tensor_from_arrow(&a, &s));
    a.null_count = 0;
    s.format = "b";
    NONE(PTO_ERR_UNSUPPORTED, "u8 stands for them", pto_tensor_from_arrow(&a, &s));
    s.format = "u";
    NONE(PTO_ERR_UNSUPPORTED, "format 'u'", pto_tensor_from_arrow(&a, &s));
    s.format = "l";
    a.length = LARGE;
    NONE(PTO_ERR_OVERFLOW, "2^62 bytes", pto_tensor_from_arrow(&a, &s));
    EXPECT(a.release != NULL);
}

TEST(tensors_to_arrow)
{
    PTOTensor *t = numbers(2, SHAPE(4, 6)), *flipped = pto_tensor_transpose(t, NULL);
    PTOTensor *truth = pto_tensor_new(NULL, PTO_BOOL, 1, SHAPE(4)), *scalar = pto_tensor_new(NULL, PTO_F32, 0, NULL);
    struct ArrowArray a;
    struct ArrowSchema s;
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_tensor_to_arrow(NULL, &a, &s));
    REFUSED(PTO_ERR_MISUSE, "a struct is NULL", pto_tensor_to_arrow(t, NULL, &s));
    REFUSED(PTO_ERR_WOULD_COPY, "not contiguous", pto_tensor_to_arrow(flipped, &a, &s));
    REFUSED(PTO_ERR_UNSUPPORTED, "type bool", pto_tensor_to_arrow(truth, &a, &s));
    REFUSED(PTO_ERR_UNSUPPORTED, "rank 0", pto_tensor_to_arrow(scalar, &a, &s));
    EXPECT_EQ(describe(t).references, 1);
    pto_tensor_release(scalar);
    pto_tensor_release(truth);
    pto_tensor_release(flipped);
    pto_tensor_release(t);
}

/* ---- sparse matrices --------------------------------------------------------------------------------------------- */

TEST(matrices_that_are_made)
{
    PTOTensor *array[3];
    PTOSparse *a = diagonal(PTO_CSR, array);
    PTOTensor *falls[3] = {counted(PTO_I64, 4, SHAPE(0, 2, 1, 3)), array[1], array[2]};
    PTOTensor *missing[3] = {array[0], NULL, array[2]};
    NONE(PTO_ERR_ARGUMENT, "format 99", pto_sparse_make((PTOFormat)99, 3, 4, array, PTO_CHECK_ALL));
    NONE(PTO_ERR_ARGUMENT, "check 9", pto_sparse_make(PTO_CSR, 3, 4, array, (PTOSparseCheck)9));
    NONE(PTO_ERR_ARGUMENT, "sparse matrix", pto_sparse_make(PTO_CSR, 2, 4, array, PTO_CHECK_SHAPE));
    NONE(PTO_ERR_BOUNDS, "sparse matrix", pto_sparse_make(PTO_CSR, 3, 2, array, PTO_CHECK_ALL));
    NONE(PTO_ERR_BOUNDS, "sparse matrix", pto_sparse_make(PTO_CSR, 3, 4, falls, PTO_CHECK_ALL));
    NONE(PTO_ERR_MISUSE, "NULL", pto_sparse_make(PTO_CSR, 3, 4, missing, PTO_CHECK_ALL));
    EXPECT_EQ(describe(array[0]).references, 2);
    pto_tensor_release(falls[0]);
    pto_sparse_release(a);
    release_three(array);
}

TEST(matrices_that_are_attached)
{
    int64_t ptr[4] = {0, 1, 2, 3}, idx[3] = {0, 1, 2};
    PTOForeign f[3] = {eight(), eight(), eight()};
    f[0] = (PTOForeign){.address = ptr, .bytes = sizeof ptr, .type = PTO_I64, .rank = 1, .shape = SHAPE(4)};
    f[1] = f[2] = (PTOForeign){.address = idx, .bytes = sizeof idx, .type = PTO_I64, .rank = 1, .shape = SHAPE(3)};
    NONE(PTO_ERR_ARGUMENT, "sparse matrix", pto_sparse_attach(PTO_CSR, 2, 4, f, PTO_CHECK_SHAPE));
    NONE(PTO_ERR_BOUNDS, "sparse matrix", pto_sparse_attach(PTO_CSR, 3, 2, f, PTO_CHECK_ALL));
    f[1].bytes = 8;
    NONE(PTO_ERR_BOUNDS, "of 8 bytes", pto_sparse_attach(PTO_CSR, 3, 4, f, PTO_CHECK_ALL));
    f[1].bytes = sizeof idx;
    f[2].strides = SHAPE(LARGE);
    NONE(PTO_ERR_OVERFLOW, "overflow", pto_sparse_attach(PTO_CSR, 3, 4, f, PTO_CHECK_ALL));
}

TEST(a_matrix)
{
    PTOTensor *array[3];
    PTOSparse *a = diagonal(PTO_CSR, array), *none = NULL;
    PTOSparseDescription d;
    PTODetached out[PTO_SPARSE_ARRAYS];
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_sparse_describe(NULL, &d));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_sparse_describe(a, NULL));
    NONE(PTO_ERR_MISUSE, "NULL", pto_sparse_array(NULL, 0));
    NONE(PTO_ERR_ARGUMENT, "array 3 of 3", pto_sparse_array(a, 3));
    NONE(PTO_ERR_MISUSE, "NULL", pto_sparse_share(NULL));
    NONE(PTO_ERR_MISUSE, "NULL", pto_sparse_detach(NULL));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_sparse_take(NULL, out));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_sparse_take(&none, out));
    REFUSED(PTO_ERR_MISUSE, "NULL", pto_sparse_take(&a, NULL));
    pto_sparse_release(a);
    release_three(array);
}

TEST(views_of_matrices)
{
    PTOTensor *array[3], *columns[3];
    PTOSparse *a = diagonal(PTO_CSR, array), *csc = diagonal(PTO_CSC, columns), *four = pto_sparse_convert(a, PTO_CSR4);
    PTOTensor *falls[3] = {counted(PTO_I64, 4, SHAPE(0, 2, 1, 3)), array[1], array[2]};
    PTOSparse *wrong = pto_sparse_make(PTO_CSR, 3, 4, falls, PTO_CHECK_SHAPE);
    PTOTensor *blocks[3] = {counted(PTO_I64, 3, SHAPE(0, 1, 2)), counted(PTO_I64, 2, SHAPE(0, 1)),
                            pto_tensor_new(NULL, PTO_F32, 3, SHAPE(2, 2, 2))};
    PTOSparse *bsr = pto_sparse_make(PTO_BSR, 4, 4, blocks, PTO_CHECK_ALL);
    EXPECT(four && wrong && bsr);
    NONE(PTO_ERR_MISUSE, "NULL", pto_sparse_rows(NULL, 0, 1));
    NONE(PTO_ERR_BOUNDS, "2 rows from 2", pto_sparse_rows(a, 2, 2));
    NONE(PTO_ERR_BOUNDS, "ptr falls", pto_sparse_rows(wrong, 1, 1));
    NONE(PTO_ERR_ARGUMENT, "no blocks of 2", pto_sparse_rows(bsr, 1, 2));
    NONE(PTO_ERR_UNSUPPORTED, "CSC", pto_sparse_rows(csc, 0, 1));
    NONE(PTO_ERR_MISUSE, "NULL", pto_sparse_pick(NULL, SHAPE(0), 1));
    NONE(PTO_ERR_BOUNDS, "row 3, and the matrix has 3", pto_sparse_pick(a, SHAPE(3), 1));
    NONE(PTO_ERR_BOUNDS, "row 1 has the elements 2 to 1", pto_sparse_pick(wrong, SHAPE(1), 1));
    NONE(PTO_ERR_ARGUMENT, "-1 rows", pto_sparse_pick(a, SHAPE(0), -1));
    NONE(PTO_ERR_UNSUPPORTED, "CSC", pto_sparse_pick(csc, SHAPE(0), 1));
    NONE(PTO_ERR_MISUSE, "NULL", pto_sparse_transpose(NULL));
    NONE(PTO_ERR_UNSUPPORTED, "CSR4", pto_sparse_transpose(four));
    NONE(PTO_ERR_MISUSE, "NULL", pto_sparse_convert(NULL, PTO_CSR));
    NONE(PTO_ERR_UNSUPPORTED, "BSR is not", pto_sparse_convert(a, PTO_BSR));
    NONE(PTO_ERR_BOUNDS, "row or column", pto_sparse_convert(wrong, PTO_CSC));
    NONE(PTO_ERR_ARGUMENT, "to format 99", pto_sparse_convert(a, (PTOFormat)99));
    pto_sparse_release(bsr);
    pto_sparse_release(wrong);
    pto_sparse_release(four);
    pto_sparse_release(csc);
    pto_sparse_release(a);
    release_three(blocks);
    pto_tensor_release(falls[0]);
    release_three(columns);
    release_three(array);
}

/* 32,769 times a row of 65,536 elements are more than i32 counts. */
TEST(a_conversion_to_more_elements_than_its_indices_count)
{
    enum { ELEMENTS = 1 << 16, PICKED = (1 << 15) + 1 };
    static int64_t picked[PICKED];
    PTOTensor *array[3] = {counted(PTO_I32, 2, SHAPE(0, ELEMENTS)), pto_tensor_new(NULL, PTO_I32, 1, SHAPE(ELEMENTS)),
                           pto_tensor_new(NULL, PTO_BOOL, 1, SHAPE(ELEMENTS))};
    PTOSparse *a = pto_sparse_make(PTO_CSR, 1, 4, array, PTO_CHECK_SHAPE), *many = pto_sparse_pick(a, picked, PICKED);
    EXPECT(many != NULL);
    NONE(PTO_ERR_OVERFLOW, "2147549184 elements, and indices are i32", pto_sparse_convert(many, PTO_CSR));
    pto_sparse_release(many);
    pto_sparse_release(a);
    release_three(array);
}
