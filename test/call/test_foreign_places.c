/* test_foreign_places.c - tensors of memory that another library has on a device, which come in by DLPack.  ABI stub,
 * not run on Ascend. */
#include "backend/ascend/acl.h"
#include "places.h"
#include "registry/dlpack.h"
#include <dlfcn.h>

/* ---- the other library ------------------------------------------------------------------------------------------- */

static struct {
#define ACL(result, name, parameters)       result(*name) parameters;
#define ACL_MAYBE(result, name, parameters) ACL(result, name, parameters)
#include "backend/ascend/acl.def"
#undef ACL
#undef ACL_MAYBE
} acl;

static aclrtContext context;
static _Atomic int deleted;

/* It opens its device before anybody else does. */
static void open_library(void)
{
    void *library = dlopen("libacl_rt.so", RTLD_NOW);
    EXPECT(library != NULL);
#define ACL(result, name, parameters)       *(void **)&acl.name = dlsym(library, #name);
#define ACL_MAYBE(result, name, parameters) ACL(result, name, parameters)
#include "backend/ascend/acl.def"
#undef ACL
#undef ACL_MAYBE
    const aclError error = acl.aclInit(NULL);
    EXPECT(error == ACL_SUCCESS || error == ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(acl.aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(acl.aclrtCreateContext(&context, 0), ACL_SUCCESS);
}

/* The end of the last runtime resets the device. */
static void close_library(void) { EXPECT_EQ(acl.aclrtDestroyContext(context), ACL_SUCCESS); }

struct foreign {
    struct DLManagedTensorVersioned managed; /* first */
    int64_t shape;
    char *memory; /* of the device */
};

static void delete (struct DLManagedTensorVersioned *m)
{
    EXPECT_EQ(acl.aclrtSetCurrentContext(context), ACL_SUCCESS);
    EXPECT_EQ(acl.aclrtFree(((struct foreign *)m)->memory), ACL_SUCCESS);
    deleted++;
    free(m);
}

static void copy(void *to, const void *from, aclrtMemcpyKind kind)
{
    EXPECT_EQ(acl.aclrtSetCurrentContext(context), ACL_SUCCESS);
    EXPECT_EQ(acl.aclrtMemcpy(to, BYTES, from, BYTES, kind), ACL_SUCCESS);
}

/* N numbers from 0 on in memory of device 0. */
static struct foreign *make_foreign(int32_t device_type)
{
    struct foreign *f = calloc(1, sizeof *f);
    int64_t values[N];
    for (int64_t i = 0; i < N; i++) values[i] = i;
    void *memory = NULL;
    EXPECT_EQ(acl.aclrtSetCurrentContext(context), ACL_SUCCESS);
    EXPECT_EQ(acl.aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    copy(memory, values, ACL_MEMCPY_HOST_TO_DEVICE);
    f->memory = memory;
    f->shape = N;
    f->managed = (struct DLManagedTensorVersioned){.major = 1, .deleter = delete};
    f->managed.tensor = (struct dlpack_tensor){.data = memory,
                                               .device_type = device_type,
                                               .ndim = 1,
                                               .code = DLPACK_INT,
                                               .bits = 64,
                                               .lanes = 1,
                                               .shape = &f->shape};
    deleted = 0;
    return f;
}

static int64_t on_device(const struct foreign *f, int i)
{
    int64_t values[N];
    copy(values, f->memory, ACL_MEMCPY_DEVICE_TO_HOST);
    crossed();
    return values[i];
}

static PTODescription describe(const PTOTensor *t)
{
    PTODescription d = {0};
    EXPECT_EQ(pto_tensor_describe(t, &d), PTO_OK);
    return d;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

TEST(runs_work_in_memory_that_came_in_before_their_runtime_was_made)
{
    for (int32_t type = DLPACK_EXTENSION; type <= DLPACK_ASCEND; type += DLPACK_ASCEND - DLPACK_EXTENSION) {
        open_library();
        struct foreign *f = make_foreign(type);
        PTOTensor *a = pto_tensor_from_dlpack(&f->managed), *b = NULL;
        EXPECT(a != NULL);
        EXPECT_EQ(describe(a).device, 1);
        EXPECT(pto_tensor_map(a, PTO_READ) == NULL);
        EXPECT_EQ(pto_last_status(), PTO_ERR_DEVICE);
        EXPECT_STR(pto_last_error(NULL),
                   "pto_tensor_map: the elements are on device 0, and no runtime of this process has opened it");
        PTORuntime *rt = open_device(PTO_ENGINE_THREADS);
        EXPECT_EQ(CALL(rt, places, "double", PTO_T("a", a), PTO_R("b", &b)), PTO_OK);
        EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
        CROSSED(0, 0);
        EXPECT_EQ(on_device(f, 3), 4); /* in place */
        EXPECT_EQ(element(b, 3), 6);
        EXPECT_EQ(element(a, 3), 4);
        CROSSED(0, 2 * BYTES);
        EXPECT_EQ(element(a, 4), 5);
        EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
        CROSSED(0, 0);
        EXPECT_EQ(element(a, 3), 5);
        pto_tensor_release(b);
        EXPECT_EQ(deleted, 0);
        pto_tensor_release(a);
        EXPECT_EQ(deleted, 1);
        close_library();
        close_device(rt);
    }
}

TEST(the_host_reads_a_copy_and_nobody_but_the_device_writes)
{
    open_library();
    struct foreign *f = make_foreign(DLPACK_ASCEND);
    PTOTensor *a = pto_tensor_from_dlpack(&f->managed), *b = NULL;
    PTORuntime *rt = NULL, *host = pto_runtime_create(NULL, NULL);
    if (!places) places = pto_program_open("places.so");
    EXPECT_EQ(CALL(host, places, "double", PTO_T("a", a), PTO_R("b", &b)), PTO_ERR_DEVICE);
    EXPECT(strstr(pto_last_error(host), "device 0, and no runtime of this process has opened it"));
    rt = open_device(PTO_ENGINE_SERIAL);
    EXPECT_EQ(CALL(host, places, "double", PTO_T("a", a), PTO_R("b", &b)), PTO_OK);
    EXPECT_EQ(element(b, 7), 14);
    EXPECT_EQ(CALL(host, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_ERR_UNSUPPORTED);
    EXPECT(strstr(pto_last_error(host), "on device 0, and only a run there may write it: pto_tensor_copy"));
    EXPECT(pto_tensor_map(a, PTO_WRITE) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_UNSUPPORTED);
    EXPECT(pto_tensor_to_dlpack(a, 1, 0) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_UNSUPPORTED);
    /* a copy is the host's */
    PTOTensor *mine = pto_tensor_retain(a);
    EXPECT_EQ(pto_tensor_writable(&mine), PTO_OK);
    EXPECT(mine != a);
    EXPECT_EQ(describe(mine).device, 0);
    EXPECT_EQ(CALL(host, places, "add", PTO_T("a", mine), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(element(mine, 7), 8);
    EXPECT_EQ(element(a, 7), 7);
    pto_tensor_release(mine);
    /* so is what leaves */
    PTODetached out;
    EXPECT_EQ(pto_tensor_take(&a, &out), PTO_OK);
    EXPECT_EQ(((int64_t *)out.address)[7], 7);
    out.release(out.context);
    EXPECT_EQ(deleted, 1);
    pto_tensor_release(b);
    pto_runtime_destroy(host);
    close_library();
    close_device(rt);
}

TEST(what_was_detached_keeps_its_elements_and_the_other_library_sees_what_is_written)
{
    open_library();
    struct foreign *f = make_foreign(DLPACK_ASCEND);
    PTOTensor *a = pto_tensor_from_dlpack(&f->managed), *kept = pto_tensor_detach(a);
    PTORuntime *rt = open_device(PTO_ENGINE_THREADS);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(on_device(f, 3), 4);
    EXPECT_EQ(element(kept, 3), 3);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", kept), PTO_I("by", 5)), PTO_OK); /* it has memory of its own now */
    EXPECT_EQ(on_device(f, 3), 4);
    EXPECT_EQ(element(kept, 3), 8);
    /* a run that fails leaves what it wrote where it was written */
    EXPECT_EQ(CALL(rt, places, "fail", PTO_T("a", a)), PTO_ERR_ASSERT);
    EXPECT(describe(a).flags & PTO_UNDEFINED);
    EXPECT_EQ(element(a, 3), 5);
    EXPECT_EQ(on_device(f, 3), 5);
    pto_tensor_release(a);
    EXPECT_EQ(deleted, 1);
    pto_tensor_release(kept);
    close_library();
    close_device(rt);
}

TEST(another_device_reads_it_by_way_of_the_host)
{
    setenv("PTO_STUB_DEVICES", "2", 1);
    open_library();
    struct foreign *f = make_foreign(DLPACK_ASCEND);
    PTOTensor *a = pto_tensor_from_dlpack(&f->managed), *b = NULL;
    PTORuntime *other = open_device_number(PTO_ENGINE_SERIAL, 1);
    EXPECT_EQ(CALL(other, places, "double", PTO_T("a", a), PTO_R("b", &b)), PTO_ERR_DEVICE);
    PTORuntime *rt = open_device(PTO_ENGINE_SERIAL);
    EXPECT_EQ(CALL(other, places, "double", PTO_T("a", a), PTO_R("b", &b)), PTO_OK);
    CROSSED(BYTES, BYTES);
    EXPECT_EQ(element(b, 3), 6);
    EXPECT_EQ(CALL(other, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_ERR_UNSUPPORTED);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    crossed();
    EXPECT_EQ(CALL(other, places, "double", PTO_T("a", a), PTO_T("b", b)), PTO_OK);
    CROSSED(BYTES, BYTES);
    EXPECT_EQ(element(b, 3), 8);
    pto_tensor_release(a);
    EXPECT_EQ(deleted, 1);
    pto_tensor_release(b);
    close_library();
    close_device(rt);
    close_device(other);
}

TEST(a_device_that_fails_keeps_foreign_elements_to_itself)
{
    open_library();
    struct foreign *f = make_foreign(DLPACK_ASCEND);
    PTOTensor *a = pto_tensor_from_dlpack(&f->managed);
    PTOTensor *rows = pto_tensor_broadcast(a, 2, (const int64_t[]){2, N}); /* which is read-only: it may go out */
    PTORuntime *rt = open_device(PTO_ENGINE_SERIAL);
    struct DLManagedTensorVersioned *m = pto_tensor_to_dlpack(rows, 1, 0);
    EXPECT(m != NULL);
    EXPECT_EQ(CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1)), PTO_OK);
    EXPECT_EQ(((int64_t *)m->tensor.data)[3], 4); /* its reader finds what the run wrote */
    setenv("PTO_STUB_FAIL", "aclrtMemcpy@aclrtSetCurrentContext:1", 1);
    CALL(rt, places, "add", PTO_T("a", a), PTO_I("by", 1));
    EXPECT(pto_tensor_map(a, PTO_READ) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_DEVICE);
    unsetenv("PTO_STUB_FAIL");
    m->deleter(m);
    pto_tensor_release(a);
    pto_tensor_release(rows);
    EXPECT_EQ(deleted, 1);
    close_library();
    pto_runtime_destroy(rt);
}
