/* test_seed_registry.c - the usages of seed 004, each with what it has become: docs/seeds.md. */
#include "tensors.h"
#include "registry/dlpack.h"
#include "registry/pins.h"
#include <pthread.h>
#include <pto/pto_runtime.h>
#include <pto/pto_sparse.h>
#include <sched.h>
#include <stdatomic.h>

/* create_buffer(ptr, bytes, AllocType, deleter), create_alias(ptr, buffer, offset) twice, alias_incref, alias_decref */
TEST(a_buffer_with_two_aliases)
{
    struct owned o = own(8);
    const PTOForeign f = foreign(&o, 8, 1, SHAPE(8));
    PTOTensor *b1 = pto_tensor_attach(&f), *a1 = pto_tensor_slice(b1, 0, 0, 4, 1),
              *a2 = pto_tensor_slice(b1, 0, 4, 4, 1);
    pto_tensor_release(b1); /* the aliases hold the buffer: it is never without an owner (K16) */
    EXPECT_EQ(describe(a1).tensors, 2);
    pto_tensor_retain(a1);
    EXPECT_EQ(describe(a1).references, 2); /* alias_refcount */
    pto_tensor_release(a1);
    pto_tensor_release(a1);
    EXPECT_EQ(o.released, 0);
    EXPECT_EQ(element(a2, NULL), 4);
    pto_tensor_release(a2); /* the last alias of the buffer: it is freed */
    EXPECT_EQ(o.released, 1);
}

/* create_buffer_with_aliases, clone_aliases, alias_incref_batch, alias_decref_batch, unregister_aliases */
TEST(several_aliases_at_once_are_a_loop)
{
    PTOTensor *b = numbers(1, SHAPE(6)), *alias[3], *clone[3];
    for (int i = 0; i < 3; i++) alias[i] = pto_tensor_slice(b, 0, 2 * i, 2, 1);
    for (int i = 0; i < 3; i++) clone[i] = pto_tensor_retain(alias[i]);
    pto_tensor_release(b);
    for (int i = 0; i < 3; i++) pto_tensor_release(alias[i]);
    EXPECT_EQ(living(), 3);
    for (int i = 0; i < 3; i++) pto_tensor_release(clone[i]);
    EXPECT_EQ(living(), 0);
}

/* alias_is_unique, is_likely_unique: asked in order to write in place */
TEST(unique_is_asked_by_writable) /* K5 */
{
    PTOTensor *t = numbers(1, SHAPE(3)), *same = t, *other = pto_tensor_retain(t);
    EXPECT_EQ(pto_tensor_writable(&t), PTO_OK);
    EXPECT(t != same);
    EXPECT_EQ(pto_tensor_writable(&other), PTO_OK);
    EXPECT(other == same);
    pto_tensor_release(t);
    pto_tensor_release(other);
}

/* slice_view(matrix, keep_indices), scl_sparse_slice_rows; from_contiguous_arrays(take_ownership) */
TEST(rows_of_a_matrix_without_a_copy)
{
    struct owned o[3] = {own(4), own(3), own(3)};
    const PTOForeign f[3] = {foreign(&o[0], 4, 1, SHAPE(4)), foreign(&o[1], 3, 1, SHAPE(3)),
                             foreign(&o[2], 3, 1, SHAPE(3))};
    PTOSparse *matrix = pto_sparse_attach(PTO_CSR, 3, 3, f, PTO_CHECK_ALL);
    PTOSparse *kept = pto_sparse_pick(matrix, (const int64_t[]){2, 0}, 2);
    EXPECT_EQ(describe(pto_sparse_array(kept, 3)).buffer, describe(pto_sparse_array(matrix, 2)).buffer);
    pto_sparse_release(matrix);
    EXPECT_EQ(o[2].released, 0);
    pto_sparse_release(kept);
    for (int i = 0; i < 3; i++) EXPECT_EQ(o[i].released, 1); /* ptr too (K16) */
}

/* A million rows are a tensor an array: seed 004 would need 2 million counters (K9). */
TEST(empty_rows_and_many_rows_cost_nothing)
{
    enum { ROWS = 1000000 };
    const int64_t ends = ROWS + 1, none = 0;
    PTOTensor *t[3] = {pto_tensor_new(NULL, PTO_I64, 1, &ends), pto_tensor_new(NULL, PTO_I64, 1, &none),
                       pto_tensor_new(NULL, PTO_F32, 1, &none)};
    memset(pto_tensor_map(t[0], PTO_WRITE), 0, (size_t)ends * 8);
    pto_tensor_unmap(t[0]);
    const long long before = living();
    PTOSparse *a = pto_sparse_make(PTO_CSR, ROWS, 5, t, PTO_CHECK_ALL), *r = pto_sparse_rows(a, 1000, ROWS / 2);
    EXPECT(r != NULL);
    EXPECT(living() <= before + 3);
    pto_sparse_release(a);
    pto_sparse_release(r);
    for (int i = 0; i < 3; i++) pto_tensor_release(t[i]);
}

/* scl_sparse_share, scl_sparse_refcount, scl_sparse_is_owner: every holder is an owner */
TEST(a_matrix_is_shared)
{
    struct owned o[3] = {own(4), own(3), own(3)};
    const PTOForeign f[3] = {foreign(&o[0], 4, 1, SHAPE(4)), foreign(&o[1], 3, 1, SHAPE(3)),
                             foreign(&o[2], 3, 1, SHAPE(3))};
    PTOSparse *a = pto_sparse_attach(PTO_CSR, 3, 3, f, PTO_CHECK_ALL), *b = pto_sparse_retain(a),
              *c = pto_sparse_share(a);
    PTOSparseDescription d;
    EXPECT_EQ(pto_sparse_describe(a, &d), PTO_OK);
    EXPECT_EQ(d.references, 2);
    EXPECT_EQ(describe(pto_sparse_array(c, 0)).tensors, 2);
    pto_sparse_release(a);
    pto_sparse_release(b);
    EXPECT_EQ(o[0].released, 0);
    pto_sparse_release(c);
    EXPECT_EQ(o[0].released, 1);
}

/* scl_sparse_attach(transfer_ownership), scl_sparse_detach: with a release function in both directions (K14, K17) */
TEST(a_matrix_is_attached_and_detached)
{
    struct owned o[3] = {own(4), own(3), own(3)};
    const PTOForeign f[3] = {foreign(&o[0], 4, 1, SHAPE(4)), foreign(&o[1], 3, 1, SHAPE(3)),
                             foreign(&o[2], 3, 1, SHAPE(3))};
    PTOSparse *a = pto_sparse_attach(PTO_CSR, 3, 3, f, PTO_CHECK_ALL);
    PTODetached out[PTO_SPARSE_ARRAYS];
    EXPECT_EQ(pto_sparse_take(&a, out), PTO_OK);
    for (int i = 0; i < 3; i++) {
        EXPECT(out[i].address == o[i].data && out[i].bytes == (i ? 24 : 32) && o[i].released == 0);
        out[i].release(out[i].context);
        EXPECT_EQ(o[i].released, 1);
    }
}

/* ---- two threads at the end of an alias -------------------------------------------------------------------------- */

static PTOTensor *_Atomic handed;
static void *release_handed(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++) {
        PTOTensor *t;
        while (!(t = atomic_exchange(&handed, NULL))) sched_yield();
        pto_tensor_release(t);
    }
    return NULL;
}

/* K7, K15: one thread drops the last reference to a buffer while another finds it on their block. */
TEST(a_buffer_that_is_found_is_not_freed_meanwhile)
{
    int rounds = 3000;
    pthread_t thread;
    PTOTensor *t = numbers(1, SHAPE(4));
    pthread_create(&thread, NULL, release_handed, &rounds);
    for (int i = 0; i < rounds; i++) {
        const int64_t *at = pto_tensor_map(t, PTO_READ);
        atomic_store(&handed, pto_tensor_detach(t));        /* the other thread releases it */
        int64_t *again = pto_tensor_map(t, PTO_READ_WRITE); /* t's address is out: the other buffer is looked for */
        EXPECT(again == at);
        again[0] = i;
        pto_tensor_unmap(t);
        pto_tensor_unmap(t);
        while (atomic_load(&handed)) sched_yield();
    }
    pthread_join(thread, NULL);
    pto_tensor_release(t);
    EXPECT_EQ(living(), 0);
}

/* ---- the end, in every order ------------------------------------------------------------------------------------- */

/* A tensor is released, its run ends or fails, its export is deleted, a detached one is written, a matrix goes: in any
 * order nothing is lost and the memory is released once. */
TEST(every_order_of_the_ends_is_fine)
{
    uint64_t state = 7;
    for (int round = 0; round < 10000; round++) {
        struct owned o = own(8);
        const PTOForeign f = foreign(&o, 8, 1, SHAPE(8));
        PTOTensor *t = pto_tensor_attach(&f), *detached = pto_tensor_detach(t), *view = pto_tensor_slice(t, 0, 2, 3, 1);
        struct DLManagedTensorVersioned *m = pto_tensor_to_dlpack(view, 1, 0);
        struct pin pin = {.tensor = t, .access = PTO_READ_WRITE};
        EXPECT_EQ(ptoi_pins_take(&pin, 1, NULL, NULL), PTO_OK);
        PTOTensor *arrays[3] = {view, view, view};
        PTOSparse *s = pto_sparse_make(PTO_COO, 8, 8, arrays, PTO_CHECK_SHAPE);
        unsigned left = 0x3f;
        while (left) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const unsigned which = 1u << (state >> 33) % 6;
            if (!(left & which)) continue;
            if (left & 31) EXPECT_EQ(o.released, 0); /* the write pin has given `detached` a copy */
            left &= ~which;
            if (which == 1) pto_tensor_release(t);
            if (which == 2) pto_tensor_release(view);
            if (which == 4) m->deleter(m);
            if (which == 8) ptoi_pins_drop(&pin, 1, state >> 60 & 1);
            if (which == 16) pto_sparse_release(s);
            if (which == 32) pto_tensor_release(detached);
        }
        EXPECT_EQ(o.released, 1);
    }
    EXPECT_EQ(living(), 0);
}
