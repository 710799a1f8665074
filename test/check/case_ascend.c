/* case_ascend.c - whole runs on the backend `ascend`: the orchestrator that copies, workers that each have a stream,
 * and the library that they share.
 *
 * Idea       the backend is the real one; the library that it loads is here, with device memory of its own, so that
 *            what is not copied is seen.  A kernel runs when its end is asked for.  Not run on Ascend. */
#include "programs.h"
#include "api/runtime.h"
#include "backend/ascend/acl.h"
#include <dlfcn.h>
#include <stdlib.h>

/* ---- the library ------------------------------------------------------------------------------------------------- */

typedef void device_kernel(uint64_t *word, int count);

/* A stream and an event of one: at most one launch is open. */
struct line {
    device_kernel *kernel;
    uint64_t word[64];
    int count;
};

static struct {
    ptoi_lock lock; /* guards the numbers */
    int live;       /* what was made and not given back */
    int records, fails_at;
} library;

static void count_live(int by)
{
    ptoi_lock_take(&library.lock);
    library.live += by;
    ptoi_lock_leave(&library.lock);
}

static void *make(size_t bytes)
{
    count_live(1);
    return calloc(1, bytes);
}
static aclError give_back(void *made)
{
    count_live(-1);
    free(made);
    return 0;
}

static aclError f_aclInit(const char *path) { return (void)path, 0; }
static aclError f_aclFinalize(void) { return 0; }
static const char *f_aclGetRecentErrMsg(void) { return "injected"; }
static aclError f_aclrtGetDeviceCount(uint32_t *count) { return *count = 1, 0; }
static aclError f_aclrtSetDevice(int32_t device) { return device; }
static aclError f_aclrtResetDevice(int32_t device) { return device; }
static aclError f_aclrtCreateContext(aclrtContext *context, int32_t device) { return *context = make(1), device; }
static aclError f_aclrtSetCurrentContext(aclrtContext context) { return context ? 0 : 1; }
static aclError f_aclrtDestroyContext(aclrtContext context) { return give_back(context); }
static aclError f_aclrtCreateStream(aclrtStream *stream) { return *stream = make(sizeof(struct line)), 0; }
static aclError f_aclrtDestroyStream(aclrtStream stream) { return give_back(stream); }
static aclError f_aclrtCreateEvent(aclrtEvent *event) { return *event = make(sizeof(struct line *)), 0; }
static aclError f_aclrtDestroyEvent(aclrtEvent event) { return give_back(event); }

static void run_line(struct line *l)
{
    device_kernel *kernel = l->kernel;
    l->kernel = NULL;
    if (kernel) kernel(l->word, l->count);
}

static aclError f_aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    ptoi_lock_take(&library.lock);
    const bool fails = ++library.records == library.fails_at;
    ptoi_lock_leave(&library.lock);
    *(struct line **)event = stream;
    return fails;
}
static aclError f_aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    run_line(*(struct line **)event);
    return *status = ACL_EVENT_RECORDED_STATUS_COMPLETE, 0;
}
static aclError f_aclrtMalloc(void **memory, size_t bytes, aclrtMemMallocPolicy policy)
{
    return (void)policy, *memory = make(bytes), 0;
}
static aclError f_aclrtFree(void *memory) { return give_back(memory); }
/* The staging memory, of which these programs need little; race.c does not see large blocks change hands. */
static aclError f_aclrtMallocHost(void **memory, size_t bytes)
{
    return *memory = make(bytes < 4096 ? bytes : 4096), 0;
}
static aclError f_aclrtFreeHost(void *memory) { return give_back(memory); }
static aclError f_aclrtMemset(void *memory, size_t room, int32_t value, size_t bytes)
{
    return (void)room, memset(memory, value, bytes), 0;
}
static aclError f_aclrtMemcpy(void *to, size_t room, const void *from, size_t bytes, aclrtMemcpyKind kind)
{
    return (void)room, (void)kind, memcpy(to, from, bytes), 0;
}
static aclError f_aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t bytes, aclrtMemcpyKind kind,
                                   aclrtStream stream)
{
    run_line(stream);
    return f_aclrtMemcpy(to, room, from, bytes, kind);
}

/* ---- its kernels: the words of docs/ascend.md -------------------------------------------------------------------- */

static void d_fill(uint64_t *word, int count) { *(int64_t *)(uintptr_t)word[0] = (int64_t)word[count - 1]; }
static void d_increase(uint64_t *word, int count)
{
    (void)count;
    *(int64_t *)(uintptr_t)word[1] = *(const int64_t *)(uintptr_t)word[0] + 1;
}
static void d_fail(uint64_t *word, int count) { *(int32_t *)(uintptr_t)word[count - 1] = 7; }

static aclError f_aclrtBinaryLoadFromFile(const char *path, aclrtBinaryLoadOptions *options, aclrtBinHandle *binary)
{
    return (void)path, (void)options, *binary = make(1), 0;
}
static aclError f_aclrtBinaryGetFunction(aclrtBinHandle binary, const char *name, aclrtFuncHandle *function)
{
    (void)binary;
    device_kernel *found = strcmp(name, "fill") == 0 ? d_fill : strcmp(name, "increase") == 0 ? d_increase : d_fail;
    memcpy(function, &found, sizeof found);
    return 0;
}
static aclError f_aclrtBinaryUnLoad(aclrtBinHandle binary) { return give_back(binary); }
static aclError f_aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                                aclrtLaunchKernelCfg *config, void *args, size_t bytes,
                                                aclrtPlaceHolderInfo *placeholders, size_t count)
{
    struct line *l = stream;
    (void)blocks, (void)config, (void)placeholders, (void)count;
    run_line(l);
    memcpy(l->word, args, bytes);
    l->count = (int)(bytes / sizeof l->word[0]);
    memcpy(&l->kernel, &function, sizeof function);
    return 0;
}

/* acl.c is compiled with these in the place of the dynamic linker. */
void *check_dlopen(const char *name, int mode);
void *check_dlsym(void *handle, const char *name);
int check_dlclose(void *handle);
char *check_dlerror(void);

void *check_dlopen(const char *name, int mode) { return (void)name, (void)mode, &library; }
int check_dlclose(void *handle) { return (void)handle, 0; }
char *check_dlerror(void) { return ""; }
void *check_dlsym(void *handle, const char *name)
{
    void (*found)(void) = NULL;
    void *as_object;
    (void)handle;
#define FAKE(function)                                                                                                 \
    if (strcmp(name, #function) == 0) found = (void (*)(void))f_##function;
    FAKE(aclInit)
    FAKE(aclFinalize)
    FAKE(aclGetRecentErrMsg)
    FAKE(aclrtGetDeviceCount)
    FAKE(aclrtSetDevice)
    FAKE(aclrtResetDevice)
    FAKE(aclrtCreateContext)
    FAKE(aclrtSetCurrentContext)
    FAKE(aclrtDestroyContext)
    FAKE(aclrtCreateStream)
    FAKE(aclrtDestroyStream)
    FAKE(aclrtCreateEvent)
    FAKE(aclrtRecordEvent)
    FAKE(aclrtQueryEventStatus)
    FAKE(aclrtDestroyEvent)
    FAKE(aclrtMalloc)
    FAKE(aclrtFree)
    FAKE(aclrtMallocHost)
    FAKE(aclrtFreeHost)
    FAKE(aclrtMemset)
    FAKE(aclrtMemcpy)
    FAKE(aclrtMemcpyAsync)
    FAKE(aclrtBinaryLoadFromFile)
    FAKE(aclrtBinaryGetFunction)
    FAKE(aclrtBinaryUnLoad)
    FAKE(aclrtLaunchKernelWithHostArgs)
    memcpy(&as_object, &found, sizeof found);
    return as_object;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

static int on_host(const PTOArg *a) { return (void)a, check_fail("a kernel runs on the host"), 0; }
static const PTOKernel fill = {.name = "fill", .worker = PTO_WORKER_VECTOR, .fn = on_host};
static const PTOKernel increase = {.name = "increase", .worker = PTO_WORKER_VECTOR, .fn = on_host};
static const PTOKernel failing = {.name = "fail", .worker = PTO_WORKER_VECTOR, .fn = on_host};

enum { CELLS = 6 };
struct array {
    int64_t cell[CELLS], later[1]; /* two arrays of the program */
};

/* Tasks beside each other, an array that becomes known while they run, and one task behind two of them. */
static void program_arrays(PTORuntime *rt, void *arg)
{
    struct array *a = arg;
    pto_buffer(rt, a->cell, sizeof a->cell);
    for (int i = 0; i < 3; i++) SUBMIT(rt, &fill, PTO_INOUT(&a->cell[i], 0, 8), PTO_SCALAR((int64_t)(10 * i)));
    pto_buffer(rt, a->later, sizeof a->later);
    SUBMIT(rt, &fill, PTO_INOUT(a->later, 0, 8), PTO_SCALAR((int64_t)7));
    SUBMIT(rt, &increase, PTO_INPUT(&a->cell[1], 0, 8), PTO_INOUT(&a->cell[4], 0, 8));
    if (pto_await(rt, &a->cell[4], 0, 8) != PTO_OK) return; /* the run says why */
    CHECK_THAT(a->cell[4] == 11);
    if (pto_await_users(rt, &a->cell[2], 0, 8) != PTO_OK) return;
    a->cell[2] = 30; /* the host's is newer */
    SUBMIT(rt, &increase, PTO_INPUT(&a->cell[2], 0, 8), PTO_INOUT(&a->cell[5], 0, 8));
}

/* Through buffers of the heap, whose memory is used again. */
static void program_buffers(PTORuntime *rt, void *arg)
{
    struct array *a = arg;
    pto_buffer(rt, a->cell, sizeof a->cell);
    for (int i = 0; i < 2; i++) {
        void *p = NULL;
        SUBMIT(rt, &fill, PTO_OUTPUT(&p, 0, 256), PTO_SCALAR((int64_t)(10 * (i + 1))));
        SUBMIT(rt, &increase, PTO_INPUT(p, 0, 8), PTO_INOUT(&a->cell[i], 0, 8));
        pto_release(rt, p);
    }
}

static void program_failing(PTORuntime *rt, void *arg)
{
    struct array *a = arg;
    pto_buffer(rt, a->cell, sizeof a->cell);
    SUBMIT(rt, &failing, PTO_INOUT(&a->cell[0], 0, 8));
    SUBMIT(rt, &fill, PTO_INOUT(&a->cell[1], 0, 8), PTO_SCALAR((int64_t)1));
}

static PTORuntime *create(int workers)
{
    const PTOConfig config = {
        .workers = {[PTO_WORKER_VECTOR] = workers}, .backend = "ascend", .kernels = CHECK_MAP, PROGRAMS_SMALL};
    PTORuntime *rt = pto_runtime_create(&config, NULL);
    if (!rt) check_fail("no runtime: %s", pto_last_error(NULL));
    return rt;
}

static void destroy(PTORuntime *rt)
{
    pto_runtime_destroy(rt);
    if (pto_last_error(NULL)[0]) check_fail("destroy: %s", pto_last_error(NULL));
}

static void begin(int fails_at)
{
    library.lock = (ptoi_lock)PTOI_LOCK_OPEN;
    library.live = library.records = 0;
    library.fails_at = fails_at;
}

static void end(void)
{
    if (library.live != 0) check_fail("%d things of the device are left", library.live);
}

static void run(int workers, program *p, struct array *a, PTOStatus wanted)
{
    PTORuntime *rt = create(workers);
    const PTOStatus status = pto_runtime_run(rt, p, a);
    if (status != wanted) check_fail("the run ended with %d: %s", status, pto_last_error(rt));
    destroy(rt);
}

static void arrays_body(void)
{
    struct array a = {{0}, {0}};
    begin(0);
    run(2, program_arrays, &a, PTO_OK);
    end();
    CHECK_THAT(a.cell[0] == 0 && a.cell[1] == 10 && a.cell[2] == 30 && a.cell[5] == 31);
    CHECK_THAT(a.later[0] == 7);
}

static void buffers_body(void)
{
    struct array a = {{0}, {0}};
    begin(0);
    run(2, program_buffers, &a, PTO_OK);
    end();
    CHECK_THAT(a.cell[0] == 11 && a.cell[1] == 21);
}

static void failure_body(void)
{
    struct array a = {{0}, {0}};
    begin(0);
    run(2, program_failing, &a, PTO_ERR_KERNEL);
    end();
}

/* The second record fails, of whichever worker: the run fails with its text, and so does each later one. */
static void lost_body(void)
{
    struct array a = {{0}, {0}};
    begin(2);
    PTORuntime *rt = create(2);
    CHECK_THAT(pto_runtime_run(rt, program_arrays, &a) == PTO_ERR_DEVICE);
    CHECK_THAT(strstr(pto_last_error(rt), "aclrtRecordEvent failed with error 1: injected") != NULL);
    CHECK_THAT(pto_runtime_run(rt, program_arrays, &a) == PTO_ERR_DEVICE);
    CHECK_THAT(strstr(pto_last_error(rt), "of an earlier run") != NULL);
    destroy(rt);
    end();
}

struct device; /* begins with its backend; device.h has names of the runtime's own */
bool ptoi_ascend_is_fine(struct device *d, const char *call, aclError error);

/* A thread that copies a tensor may find that the device is lost while a run begins. */
static void *lose(void *rt)
{
    check_name("copier");
    ptoi_ascend_is_fine((struct device *)(uintptr_t)((PTORuntime *)rt)->core.backend, "aclrtMemcpy", 1);
    return NULL;
}

static void program_nothing(PTORuntime *rt, void *arg) { (void)rt, (void)arg; }

static void outside_body(void)
{
    ptoi_thread thread;
    begin(0);
    PTORuntime *rt = create(1);
    ptoi_thread_start(&thread, lose, rt);
    const PTOStatus status = pto_runtime_run(rt, program_nothing, NULL);
    CHECK_THAT(status == PTO_OK || status == PTO_ERR_DEVICE);
    ptoi_thread_join(thread);
    CHECK_THAT(pto_runtime_run(rt, program_nothing, NULL) == PTO_ERR_DEVICE);
    CHECK_THAT(strstr(pto_last_error(rt), "aclrtMemcpy failed with error 1: injected") != NULL);
    destroy(rt);
    end();
}

static struct {
    PTORuntime *rt;
    struct array array;
} beside;

static void *run_beside(void *arg)
{
    (void)arg;
    check_name("beside");
    CHECK_THAT(pto_runtime_run(beside.rt, program_buffers, &beside.array) == PTO_OK);
    return NULL;
}

/* Opened and closed by one thread: race.c does not see pages that are mapped again change hands. */
static void two_body(void)
{
    struct array a = {{0}, {0}};
    ptoi_thread thread;
    begin(0);
    memset(&beside, 0, sizeof beside);
    beside.rt = create(1);
    PTORuntime *rt = create(1);
    ptoi_thread_start(&thread, run_beside, NULL);
    CHECK_THAT(pto_runtime_run(rt, program_arrays, &a) == PTO_OK);
    ptoi_thread_join(thread);
    destroy(rt);
    destroy(beside.rt);
    end();
    CHECK_THAT(a.cell[5] == 31 && beside.array.cell[0] == 11 && beside.array.cell[1] == 21);
}

#define ASCEND(name_, about_)                                                                                          \
    const struct check_case check_case_ascend_##name_ = {                                                              \
        .name = "ascend_" #name_, .about = about_, .body = name_##_body};
ASCEND(arrays, "arrays of the program, which the host reads and writes between tasks")
ASCEND(buffers, "buffers of the heap, whose memory is used again")
ASCEND(failure, "a kernel stores a status that is not 0")
ASCEND(lost, "a call of the library fails, beside another worker")
ASCEND(outside, "the device is lost to another thread while a run begins")
ASCEND(two, "two runtimes on one device, on two threads")
