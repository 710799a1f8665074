/* memory.c - memory of the device and pinned memory of the host, and copies between them. */
#include "stub.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* The allocation that has all of these bytes; NULL: none. */
static struct object *allocation(const void *address, size_t bytes)
{
    const char *p = address;
    for (struct object *o = stub.objects; o; o = o->next)
        if (o->kind == MEMORY && p >= o->address && bytes <= o->bytes && p + bytes <= o->address + o->bytes) return o;
    return NULL;
}

bool stub_is_device(const void *address)
{
    return (const char *)address >= stub.device && (const char *)address < stub.device + ROOM;
}
char *stub_ours(const void *address) { return stub.alias + ((const char *)address - stub.device); }

aclError aclrtMalloc(void **memory, size_t bytes, aclrtMemMallocPolicy policy)
{
    int error = stub_enter("aclrtMalloc", true);
    (void)policy;
    if (!error && bytes == 0) error = stub_mistake(ERROR_PARAM, "aclrtMalloc of no bytes");
    if (error) return stub_leave(error);
    const size_t rounded = (bytes + 63) / 64 * 64, pages = (rounded + PAGE - 1) / PAGE * PAGE;
    if (bytes > stub.memory_left || stub.top + pages + PAGE > ROOM) {
        snprintf(stub_message, sizeof stub_message, "out of device memory: %zu bytes are wanted, %zu are left", bytes,
                 stub.memory_left);
        stub_say("aclrtMalloc(%zu): out of memory", bytes);
        return stub_leave(ERROR_MEMORY);
    }
    struct object *o = stub_make(MEMORY);
    o->at = stub.top;
    o->pages = pages;
    o->bytes = bytes;
    o->address = stub.device + stub.top + (pages - rounded); /* it ends with a page, so an access past the end traps */
    stub.top += pages + PAGE;
    stub.memory_left -= bytes;
    if (mmap(stub.alias + o->at, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, stub.file, (off_t)o->at) ==
        MAP_FAILED)
        abort();
    memset(stub_ours(o->address), 0xA5, bytes < PAGE ? bytes : PAGE); /* device memory is not zeroed */
    stub_say("aclrtMalloc(%zu) memory %d", bytes, o->number);
    *memory = o->address;
    return stub_leave(0);
}

void stub_unmap(struct object *o)
{
    void *gone =
        mmap(stub.alias + o->at, o->pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (gone == MAP_FAILED) abort();
    (void)!fallocate(stub.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)o->at, (off_t)o->pages);
    stub.memory_left += o->bytes;
}

aclError aclrtFree(void *memory)
{
    const int error = stub_enter("aclrtFree", true);
    struct object *o = allocation(memory, 1);
    return stub_leave(stub_give_back(error, MEMORY, o && o->address == memory ? o : NULL, "aclrtFree"));
}

aclError aclrtMallocHost(void **memory, size_t bytes)
{
    const int error = stub_enter("aclrtMallocHost", true);
    if (error) return stub_leave(error);
    struct object *o = stub_make(HOST_MEMORY);
    o->address = aligned_alloc(64, (bytes + 63) / 64 * 64);
    o->bytes = bytes;
    stub_say("aclrtMallocHost(%zu) host memory %d", bytes, o->number);
    *memory = o->address;
    return stub_leave(0);
}

static struct object *pinned(const void *address, size_t bytes)
{
    const char *p = address;
    for (struct object *o = stub.objects; o; o = o->next)
        if (o->kind == HOST_MEMORY && p >= o->address && bytes <= o->bytes && p + bytes <= o->address + o->bytes)
            return o;
    return NULL;
}

aclError aclrtFreeHost(void *memory)
{
    const int error = stub_enter("aclrtFreeHost", true);
    struct object *o = pinned(memory, 1);
    return stub_leave(stub_give_back(error, HOST_MEMORY, o && o->address == memory ? o : NULL, "aclrtFreeHost"));
}

static int check_side(const char *name, const char *side, const void *address, size_t bytes, bool is_on_device,
                      bool must_be_pinned)
{
    if (stub_is_device(address) != is_on_device)
        return stub_mistake(ERROR_PARAM, "%s: the kind says that %s is on the %s, and it is not", name, side,
                            is_on_device ? "device" : "host");
    if (is_on_device && !allocation(address, bytes))
        return stub_mistake(ERROR_PARAM, "%s: %s is not %zu bytes of one allocation", name, side, bytes);
    if (must_be_pinned && !pinned(address, bytes)) return stub_mistake(ERROR_PARAM, "%s: %s is not pinned", name, side);
    return 0;
}

static int check_copy(const char *name, const void *to, size_t room, const void *from, size_t bytes,
                      aclrtMemcpyKind kind, bool is_async)
{
    const bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    const bool from_device = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    if (bytes > room) return stub_mistake(ERROR_PARAM, "%s: %zu bytes where there is room for %zu", name, bytes, room);
    if (bytes == 0) return stub_mistake(ERROR_PARAM, "%s of no bytes", name);
    const int error = check_side(name, "the target", to, bytes, to_device, is_async && !to_device);
    return error ? error : check_side(name, "the source", from, bytes, from_device, is_async && !from_device);
}

static const char *copy_text(aclrtMemcpyKind kind)
{
    return kind == ACL_MEMCPY_HOST_TO_DEVICE   ? "host to device"
           : kind == ACL_MEMCPY_DEVICE_TO_HOST ? "device to host"
           : kind == ACL_MEMCPY_HOST_TO_HOST   ? "host to host"
                                               : "device to device";
}

aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t bytes, aclrtMemcpyKind kind)
{
    int error = stub_enter("aclrtMemcpy", true);
    if (!error) error = check_copy("aclrtMemcpy", to, room, from, bytes, kind, false);
    if (error) return stub_leave(error);
    stub_say("aclrtMemcpy(%zu, %s)", bytes, copy_text(kind));
    memcpy(stub_is_device(to) ? stub_ours(to) : to, stub_is_device(from) ? stub_ours(from) : from, bytes);
    return stub_leave(0);
}

aclError aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t bytes, aclrtMemcpyKind kind,
                          aclrtStream stream)
{
    int error = stub_enter("aclrtMemcpyAsync", true);
    struct object *s = error ? NULL : stub_stream_of(stream, "aclrtMemcpyAsync", &error);
    if (!error) error = check_copy("aclrtMemcpyAsync", to, room, from, bytes, kind, true);
    if (error) return stub_leave(error);
    struct work *w = calloc(1, sizeof *w);
    *w = (struct work){.kind = WORK_COPY,
                       .to = stub_is_device(to) ? stub_ours(to) : to,
                       .from = stub_is_device(from) ? stub_ours(from) : from,
                       .bytes = bytes};
    stub_say("aclrtMemcpyAsync(%zu, %s, stream %d)", bytes, copy_text(kind), s->number);
    stub_enqueue(s, w);
    return stub_leave(0);
}

aclError aclrtMemset(void *memory, size_t room, int32_t value, size_t bytes)
{
    int error = stub_enter("aclrtMemset", true);
    if (!error && (bytes > room || !stub_is_device(memory) || !allocation(memory, bytes)))
        error = stub_mistake(ERROR_PARAM, "aclrtMemset of %zu bytes that are not in one allocation", bytes);
    if (error) return stub_leave(error);
    stub_say("aclrtMemset(%zu, %d)", bytes, value);
    char *p = stub_ours(memory), *end = p + bytes,
         *page = stub.alias + ((uint64_t)(p - stub.alias) + PAGE - 1) / PAGE * PAGE;
    const size_t whole = end > page ? (size_t)(end - page) / PAGE * PAGE : 0;
    if (value == 0 && whole > 0 && madvise(page, whole, MADV_REMOVE) == 0) { /* zeros that cost no memory */
        memset(p, 0, (size_t)(page - p));
        memset(page + whole, 0, (size_t)(end - page) - whole);
    } else {
        memset(p, value, bytes);
    }
    return stub_leave(0);
}
