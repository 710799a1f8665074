/* places.h - what the tests of tensors on a device share: the stub, which counts what crosses, and arrays of numbers.
 * ABI stub, not run on Ascend. */
#ifndef PTO_TEST_PLACES_H
#define PTO_TEST_PLACES_H
#include "hosts.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { MEBI = 1 << 14 }; /* the same at a size that a sanitizer can bear */
#else
enum { MEBI = 1 << 20 };
#endif
enum { DEVICE_MEMORY = 96 * MEBI };

static char log_path[] = "/tmp/test_places_XXXXXX";

__attribute__((constructor)) static void set_stub(void)
{
    char bytes[32];
    const int file = mkstemp(log_path);
    if (file >= 0) close(file);
    snprintf(bytes, sizeof bytes, "%d", DEVICE_MEMORY);
    setenv("PTO_STUB_LOG", log_path, 1);
    setenv("PTO_STUB_MEMORY", bytes, 1);
}
__attribute__((destructor)) static void remove_log(void) { unlink(log_path); }

/* Bytes that crossed since the last look, in one direction. */
struct crossed {
    int64_t in, out;
};
static inline struct crossed crossed(void)
{
    static struct crossed before;
    struct crossed all = {0, 0};
    FILE *log = fopen(log_path, "r");
    char line[512];
    while (log && fgets(line, sizeof line, log)) {
        const char *const copy = strstr(line, "aclrtMemcpy(");
        if (!copy) continue;
        const int64_t bytes = atoll(copy + strlen("aclrtMemcpy("));
        if (strstr(copy, "host to device")) all.in += bytes;
        if (strstr(copy, "device to host")) all.out += bytes;
    }
    if (log) fclose(log);
    const struct crossed since = {all.in - before.in, all.out - before.out};
    before = all;
    return since;
}
#define CROSSED(into, back)                                                                                            \
    do {                                                                                                               \
        const struct crossed got = crossed();                                                                          \
        EXPECT_EQ(got.in, (int64_t)(into));                                                                            \
        EXPECT_EQ(got.out, (int64_t)(back));                                                                           \
    } while (0)

static PTOLoaded *places;

static inline PTORuntime *open_device_number(PTOEngine engine, int32_t number)
{
    const PTOConfig c = {
        .engine = engine, .backend = "ascend", .kernels = PTO_TEST_MAP, .device = number, .heap_bytes = 1 << 16};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    if (!rt) print_message("%s\n", pto_last_error(NULL));
    if (!places) places = pto_program_open("places.so");
    if (!places) print_message("%s\n", pto_last_error(NULL));
    EXPECT(rt && places);
    crossed();
    return rt;
}
static inline PTORuntime *open_device(PTOEngine engine) { return open_device_number(engine, 0); }

/* The end of every test: the device has everything back. */
static inline void close_device(PTORuntime *rt)
{
    pto_runtime_destroy(rt);
    EXPECT_STR(pto_last_error(NULL), "");
}

static inline PTOTensor *numbers(int64_t count, int64_t first)
{
    PTOTensor *t = pto_tensor_new(NULL, PTO_I64, 1, &count);
    int64_t *at = pto_tensor_map(t, PTO_WRITE);
    EXPECT(at != NULL);
    for (int64_t i = 0; i < count; i++) at[i] = first + i;
    pto_tensor_unmap(t);
    return t;
}
static inline int64_t element(PTOTensor *t, int64_t i)
{
    const int64_t *at = pto_tensor_map(t, PTO_READ);
    if (!at) print_message("%s\n", pto_last_error(NULL));
    EXPECT(at != NULL);
    const int64_t value = at[i];
    pto_tensor_unmap(t);
    return value;
}

enum { N = 1000, BYTES = 8 * N };

#endif
