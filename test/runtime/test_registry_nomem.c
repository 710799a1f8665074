/* test_registry_nomem.c - the n-th allocation of the registry fails, for n = 1, 2, ...: a status each time, nothing is
 * half done, nothing lost, and foreign memory is released once.
 * Method     the linker sends malloc, calloc, aligned_alloc and mmap here (--wrap).  A slab keeps what it obtained,
 *            so each n is a process of its own. */
#include "tensors.h"
#include "registry/arrow.h"
#include "registry/dlpack.h"
#include "registry/pins.h"
#include <pto/pto_runtime.h>
#include <pto/pto_sparse.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long countdown; /* 0: never fail; volatile: a compiler knows that malloc does not read it */
static volatile bool was_refused;

static int is_refused(void)
{
    if (countdown == 0 || --countdown > 0) return 0;
    was_refused = true;
    return 1;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size) { return is_refused() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return is_refused() ? NULL : __real_calloc(count, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return is_refused() ? NULL : __real_aligned_alloc(alignment, size);
}
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return is_refused() ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

static int mistakes;

/* A result of a call that may fail for lack of memory only. */
static bool is_there(const void *result)
{
    if (!result && (pto_last_status() != PTO_ERR_NOMEM || strlen(pto_last_error(NULL)) < 5)) mistakes++;
    return result != NULL;
}

static void write_two(PTOTensor *t)
{
    int64_t *at = pto_tensor_map(t, PTO_READ_WRITE);
    if (!is_there(at)) return;
    at[0] = at[1] = 2;
    pto_tensor_unmap(t);
}

static void use_views(PTOTensor *t)
{
    enum { VIEWS = 8, DETACHED = 3, COPIED = 4 };
    PTOTensor *v[VIEWS] = {pto_tensor_slice(t, 0, 0, 1, 1),
                           pto_tensor_transpose(t, NULL),
                           pto_tensor_share(t),
                           pto_tensor_detach(t),
                           pto_tensor_copy(t),
                           pto_tensor_broadcast(t, 3, SHAPE(2, 3, 4)),
                           pto_tensor_index(t, 1, 3),
                           pto_tensor_reshape(t, 3, SHAPE(3, 2, 2))};
    for (int i = 0; i < VIEWS; i++) is_there(v[i]);
    write_two(t); /* separates */
    if (v[DETACHED] && v[COPIED]) mistakes += element(v[COPIED], NULL) != 0;
    pto_tensor_spread(t);
    pto_tensor_retain(t);
    pto_tensor_unspread(t);
    for (int i = 0; i < VIEWS; i++) pto_tensor_release(v[i]);
}

static void copy_views(PTOTensor *t)
{
    PTOTensor *flipped = pto_tensor_transpose(t, NULL), *was = flipped;
    if (!is_there(flipped)) return;
    PTOTensor *dense = pto_tensor_dense(flipped);
    is_there(dense);
    const PTOStatus status = pto_tensor_writable(&flipped); /* t shares its elements */
    mistakes += status == PTO_OK ? flipped == was : status != PTO_ERR_NOMEM || flipped != was;
    pto_tensor_release(dense);
    pto_tensor_release(flipped);
}

static void attach_one(void)
{
    struct owned o = {.data = (int64_t[]){7}, .released = 0};
    PTOForeign f = foreign(&o, 1, 0, NULL);
    f.release = NULL;
    PTOTensor *t = pto_tensor_attach(&f);
    if (is_there(t)) mistakes += element(t, NULL) != 7;
    pto_tensor_release(t);
}

static void export_all(PTOTensor *t)
{
    struct DLManagedTensorVersioned *m = pto_tensor_to_dlpack(t, 1, 0);
    if (is_there(m)) {
        PTOTensor *back = pto_tensor_from_dlpack(m);
        if (is_there(back))
            pto_tensor_release(back);
        else
            m->deleter(m);
    }
    struct DLManagedTensor *old = pto_tensor_to_dlpack_unversioned(t);
    if (is_there(old)) {
        PTOTensor *back = pto_tensor_from_dlpack_unversioned(old);
        if (is_there(back))
            pto_tensor_release(back);
        else
            old->deleter(old);
    }
    struct ArrowArray a;
    struct ArrowSchema s;
    const PTOStatus status = pto_tensor_to_arrow(t, &a, &s);
    if (status == PTO_OK) {
        PTOTensor *back = pto_tensor_from_arrow(&a, &s);
        if (is_there(back))
            pto_tensor_release(back);
        else
            a.release(&a);
        s.release(&s);
    } else {
        mistakes += status != PTO_ERR_NOMEM;
    }
}

static void bind_detached(PTOTensor *t)
{
    PTOTensor *d = pto_tensor_detach(t);
    struct pin pin = {.tensor = t, .access = PTO_WRITE};
    const PTOStatus status = ptoi_pins_take(&pin, 1, NULL, NULL);
    if (status == PTO_OK)
        ptoi_pins_drop(&pin, 1, false);
    else
        mistakes += status != PTO_ERR_NOMEM;
    pto_tensor_release(d);
}

static void take_or_release(PTOTensor *t)
{
    PTODetached out;
    const PTOStatus status = pto_tensor_take(&t, &out);
    if (status == PTO_OK)
        out.release(out.context);
    else
        mistakes += status != PTO_ERR_NOMEM || !t;
    pto_tensor_release(t);
}

static void make_sparse(void)
{
    PTOTensor *t = pto_tensor_new(NULL, PTO_I64, 1, SHAPE(2)), *array[3] = {t, t, t};
    if (!is_there(t)) return;
    PTOSparse *a = pto_sparse_make(PTO_COO, 3, 3, array, PTO_CHECK_SHAPE);
    if (is_there(a)) mistakes += describe(t).references != 4;
    pto_sparse_release(a);
    mistakes += describe(t).references != 1;
    pto_tensor_release(t);
}

static void use_sparse(void)
{
    const long saved = countdown;
    countdown = 0; /* the test's own memory is there */
    struct owned o[3] = {own(4), own(3), own(3)};
    countdown = saved;
    PTOForeign f[3] = {foreign(&o[0], 4, 1, SHAPE(4)), foreign(&o[1], 3, 1, SHAPE(3)), foreign(&o[2], 3, 1, SHAPE(3))};
    PTOSparse *a = pto_sparse_attach(PTO_CSR, 3, 3, f, PTO_CHECK_ALL);
    if (!is_there(a)) {
        for (int i = 0; i < 3; i++) mistakes += o[i].released != 0, free(o[i].data);
        return;
    }
    PTOSparse *v[] = {pto_sparse_rows(a, 1, 2), pto_sparse_pick(a, (const int64_t[]){2, 0}, 2),
                      pto_sparse_share(a),      pto_sparse_detach(a),
                      pto_sparse_transpose(a),  pto_sparse_convert(a, PTO_CSR4)};
    for (int i = 0; i < 6; i++) is_there(v[i]);
    for (int i = 0; i < 5; i++) pto_sparse_release(v[i]);
    PTODetached out[PTO_SPARSE_ARRAYS];
    for (int i = 0; i < 2; i++) {
        PTOSparse **at = i ? &a : &v[5];
        if (!*at) continue;
        const PTOStatus status = pto_sparse_take(at, out);
        for (int j = 0; j < (i ? 3 : 4) && status == PTO_OK; j++) out[j].release(out[j].context);
        mistakes += status != PTO_OK && (status != PTO_ERR_NOMEM || !*at);
        pto_sparse_release(*at);
    }
    for (int i = 0; i < 3; i++) mistakes += o[i].released != 1;
}

static void use_all(void)
{
    PTOPool *pool = pto_pool_shared(1 << 20);
    if (is_there(pool)) {
        PTOTensor *t = pto_tensor_new(pool, PTO_I64, 1, SHAPE(1000));
        if (is_there(t)) pto_tensor_release(t);
        pto_pool_destroy(pool);
    }
    const int64_t large[2] = {1000, 1000};
    for (int i = 0; i < 2; i++) {
        PTOTensor *t = pto_tensor_new(NULL, PTO_I64, 2, i ? SHAPE(3, 4) : large);
        if (!is_there(t)) continue;
        int64_t *at = pto_tensor_map(t, PTO_WRITE);
        if (is_there(at)) {
            memset(at, 0, 12 * sizeof *at);
            pto_tensor_unmap(t);
        }
        if (i) use_views(t);
        if (i) copy_views(t);
        export_all(t);
        bind_detached(t);
        take_or_release(t);
    }
    attach_one();
    make_sparse();
    use_sparse();
}

/* 0: something was refused, and all was well; 1: nothing was refused; else: a mistake. */
static int try_in_child(long n)
{
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        countdown = n;
        use_all();
        countdown = 0;
        PTOPoolStats s;
        pto_pool_stats(&s);
        if (mistakes || living() != 0 || s.used_bytes != 0) _exit(2);
        pto_runtime_trim(NULL);
        pto_pool_stats(&s);
        _exit(s.total_bytes != 0 ? 3 : was_refused ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST(every_allocation_of_the_registry_may_fail)
{
    long n = 1;
    for (int found = 0; found != 1; n++) {
        found = try_in_child(n);
        if (found > 1) print_message("allocation %ld: exit %d\n", n, found);
        EXPECT(found <= 1);
        EXPECT(n < 500);
    }
    EXPECT(n > 15); /* there is something to refuse */
}
