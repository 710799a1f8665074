/* test_stub.c - the stub is strict: what the documentation forbids is a mistake in its log and an error.  ABI stub, not
 * run on Ascend. */
#include "backend/ascend/acl.h"
#include "unit.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char log_path[] = "/tmp/test_stub_XXXXXX";

__attribute__((constructor)) static void open_log(void)
{
    const int file = mkstemp(log_path);
    if (file >= 0) close(file);
    setenv("PTO_STUB_LOG", log_path, 1);
}
__attribute__((destructor)) static void remove_log(void) { unlink(log_path); }

static int logged(const char *text)
{
    FILE *in = fopen(log_path, "r");
    char line[512];
    int count = 0;
    while (in && fgets(line, sizeof line, in)) count += strstr(line, text) != NULL;
    if (in) fclose(in);
    return count;
}

static char message[512];
static aclrtContext context;

/* The library, the device and a context. */
static const struct acl *start(void)
{
    EXPECT_EQ(truncate(log_path, 0), 0);
    const struct acl *acl = ptoi_acl_open(message, sizeof message);
    if (!acl) fprintf(stderr, "%s\n", message);
    EXPECT(acl != NULL);
    EXPECT_EQ(ptoi_acl_take_device(0), 0);
    EXPECT_EQ(acl->aclrtCreateContext(&context, 0), 0);
    return acl;
}

/* What the stub has to say when everything is given back. */
static void finish(const struct acl *acl, int mistakes, int leaks)
{
    char text[64];
    EXPECT_EQ(acl->aclrtDestroyContext(context), 0);
    EXPECT_EQ(ptoi_acl_release_device(0), 0);
    EXPECT(ptoi_acl_close(message, sizeof message));
    snprintf(text, sizeof text, "calls, %d mistakes, %d leaks", mistakes, leaks);
    if (logged(text) != 1) {
        FILE *in = fopen(log_path, "r");
        for (int c; in && (c = fgetc(in)) != EOF;) fputc(c, stderr);
        if (in) fclose(in);
    }
    EXPECT_EQ(logged(text), 1);
    EXPECT_EQ(logged("# ABI stub, not run on Ascend"), 2);
}

TEST(nothing_works_before_init)
{
    EXPECT_EQ(truncate(log_path, 0), 0);
    void *library = dlopen("libacl_rt.so", RTLD_NOW | RTLD_LOCAL), *memory;
    EXPECT(library != NULL);
    aclError (*set_device)(int32_t), (*allocate)(void **, size_t, aclrtMemMallocPolicy);
    void *found = dlsym(library, "aclrtSetDevice");
    memcpy(&set_device, &found, sizeof found);
    found = dlsym(library, "aclrtMalloc");
    memcpy(&allocate, &found, sizeof found);
    EXPECT(set_device(0) != 0);
    EXPECT(allocate(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0);
    dlclose(library);
    EXPECT_EQ(logged("MISTAKE: aclrtSetDevice before aclInit"), 1);
    EXPECT_EQ(logged("MISTAKE: aclrtMalloc before aclInit"), 1);
}

TEST(copies_say_the_truth)
{
    const struct acl *acl = start();
    char host[256] = "host", back[256] = "";
    void *device, *pinned;
    EXPECT_EQ(acl->aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(acl->aclrtMallocHost(&pinned, 256), 0);
    EXPECT_EQ(acl->aclrtMemcpy(device, 256, host, 256, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    EXPECT_EQ(acl->aclrtMemcpy(back, 256, device, 256, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    EXPECT_STR(back, "host");
    EXPECT(acl->aclrtMemcpy(device, 256, host, 256, ACL_MEMCPY_DEVICE_TO_HOST) != 0); /* 1: the kind */
    /* 2: no device address */
    EXPECT(acl->aclrtMemcpy(back, 256, host, 256, ACL_MEMCPY_DEVICE_TO_HOST) != 0);
    /* 3: a device address */
    EXPECT(acl->aclrtMemcpy(host, 256, device, 256, ACL_MEMCPY_HOST_TO_HOST) != 0);
    EXPECT(acl->aclrtMemcpy(device, 128, host, 256, ACL_MEMCPY_HOST_TO_DEVICE) != 0); /* 4: no room */
    /* 5: behind the end */
    EXPECT(acl->aclrtMemcpy((char *)device + 1, 256, host, 256, ACL_MEMCPY_HOST_TO_DEVICE) != 0);
    /* 6: of host memory */
    EXPECT(acl->aclrtMemset(host, 256, 0, 256) != 0);
    aclrtStream stream;
    EXPECT_EQ(acl->aclrtCreateStream(&stream), 0);
    EXPECT(acl->aclrtMemcpyAsync(device, 256, host, 256, ACL_MEMCPY_HOST_TO_DEVICE, stream) != 0); /* 7: not pinned */
    EXPECT_EQ(acl->aclrtMemcpyAsync(device, 256, pinned, 256, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    EXPECT_EQ(acl->aclrtDestroyStream(stream), 0);
    EXPECT_EQ(acl->aclrtFree(device), 0);
    EXPECT(acl->aclrtFree(device) != 0); /* 8: a second time */
    EXPECT(acl->aclrtFree(pinned) != 0); /* 9: of host memory */
    EXPECT_EQ(acl->aclrtFreeHost(pinned), 0);
    finish(acl, 9, 0);
}

TEST(what_is_left_is_a_leak)
{
    const struct acl *acl = start();
    void *memory;
    aclrtStream stream;
    aclrtEvent event;
    EXPECT_EQ(acl->aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(acl->aclrtMallocHost(&memory, 100), 0);
    EXPECT_EQ(acl->aclrtCreateEvent(&event), 0);
    EXPECT_EQ(acl->aclrtCreateStream(&stream), 0);
    EXPECT_EQ(acl->aclrtDestroyStream(stream), 0);
    EXPECT_EQ(acl->aclrtDestroyEvent(event), 0);
    finish(acl, 0, 2);
    EXPECT_EQ(logged("LEAK: memory 1"), 1);
    EXPECT_EQ(logged("LEAK: host memory 1"), 1);
}

static void *on_another_thread(void *arg)
{
    const struct acl *acl = arg;
    void *memory;
    const bool refused = acl->aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0;
    const bool taken = acl->aclrtSetCurrentContext(context) == 0 &&
                       acl->aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0 && acl->aclrtFree(memory) == 0;
    return refused && taken ? arg : NULL;
}

TEST(a_thread_needs_the_context)
{
    const struct acl *acl = start();
    pthread_t thread;
    void *result = NULL;
    EXPECT_EQ(pthread_create(&thread, NULL, on_another_thread, (void *)(uintptr_t)acl), 0);
    EXPECT_EQ(pthread_join(thread, &result), 0);
    EXPECT(result == acl);
    aclrtContext other;
    aclrtStream stream;
    EXPECT_EQ(acl->aclrtCreateStream(&stream), 0);
    EXPECT_EQ(acl->aclrtCreateContext(&other, 0), 0); /* and it is the thread's now */
    EXPECT(acl->aclrtDestroyStream(stream) != 0);
    EXPECT_EQ(acl->aclrtDestroyContext(other), 0);
    EXPECT_EQ(acl->aclrtSetCurrentContext(context), 0);
    EXPECT_EQ(acl->aclrtDestroyStream(stream), 0);
    finish(acl, 2, 0);
}

TEST(arguments_of_a_launch_are_in_host_memory)
{
    const struct acl *acl = start();
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    aclrtStream stream;
    void *device;
    char path[1024];
    snprintf(path, sizeof path, "%.*s/unit_kernels.so", (int)(strrchr(PTO_TEST_MAP, '/') - PTO_TEST_MAP), PTO_TEST_MAP);
    EXPECT(acl->aclrtBinaryLoadFromFile("unit_kernels.so", NULL, &binary) != 0); /* 1: not absolute */
    EXPECT_EQ(acl->aclrtBinaryLoadFromFile(path, NULL, &binary), 0);
    EXPECT(acl->aclrtBinaryGetFunction(binary, "device_nothing", &function) != 0);
    EXPECT_EQ(acl->aclrtBinaryGetFunction(binary, "device_set", &function), 0);
    EXPECT_EQ(acl->aclrtCreateStream(&stream), 0);
    EXPECT_EQ(acl->aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT(acl->aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, device, 40, NULL, 0) != 0); /* 2 */
    uint64_t block[5] = {(uintptr_t)device, 2, 1, 42, (uintptr_t)device + 32};
    EXPECT_EQ(acl->aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, block, sizeof block, NULL, 0), 0);
    memset(block, 0xff, sizeof block); /* the launch has copied it */
    EXPECT_EQ(acl->aclrtDestroyStream(stream), 0);
    int64_t got[2];
    EXPECT_EQ(acl->aclrtMemcpy(got, sizeof got, device, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    EXPECT(got[0] == 42 && got[1] == 42);
    EXPECT_EQ(acl->aclrtFree(device), 0);
    EXPECT_EQ(acl->aclrtBinaryUnLoad(binary), 0);
    finish(acl, 2, 0);
}

TEST(a_host_that_reads_device_memory_traps)
{
    const struct acl *acl = start();
    void *device;
    EXPECT_EQ(acl->aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    fflush(NULL);
    for (int writes = 0; writes < 2; writes++) {
        const pid_t child = fork();
        EXPECT(child >= 0);
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL);
            volatile char *p = device;
            if (writes)
                *p = 1;
            else
                writes = *p;
            _exit(writes);
        }
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    }
    EXPECT_EQ(acl->aclrtFree(device), 0);
    finish(acl, 0, 0);
}
