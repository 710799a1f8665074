/* device.c - opening and closing a device.
 *
 * Idea       open_steps is the order; each step has its inverse, and a close runs the list backwards from the last step
 *            that succeeded.
 * Blocks     in the library; closing waits for what is still running on a stream only where the library cannot abort
 *            it.
 * Tests      test/ascend */
#include "device.h"
#include "shared/limit.h"
#include "shared/atomics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { DEFAULT_TIMEOUT_S = 600 };

/* ---- the steps: open returns PTO_OK or why not, close gives back whatever open took, also half of it ------------- */

static PTOStatus failed(struct device *d, const char *call, aclError error)
{
    return ptoi_ascend_is_fine(d, call, error) ? PTO_OK : PTO_ERR_DEVICE;
}

static PTOStatus open_device(struct device *d)
{
    uint32_t count = 0;
    const PTOStatus status = failed(d, "aclrtGetDeviceCount", d->acl->aclrtGetDeviceCount(&count));
    if (status != PTO_OK) return status;
    if (count == 0) {
        ptoi_ascend_fail(d, true, "there is no device");
        return PTO_ERR_DEVICE;
    }
    if ((uint32_t)d->number >= count) {
        ptoi_ascend_fail(d, true, "there is no device %d: there %s %u, counted from 0", d->number,
                         count == 1 ? "is" : "are", count);
        return PTO_ERR_CONFIG;
    }
    const aclError error = ptoi_acl_take_device(d->number);
    d->has_device = error == ACL_SUCCESS;
    return failed(d, "aclrtSetDevice", error);
}

static void close_device(struct device *d)
{
    if (d->has_device) ptoi_ascend_is_fine(d, "aclrtResetDevice", ptoi_acl_release_device(d->number));
}

static PTOStatus open_context(struct device *d)
{
    const PTOStatus status = failed(d, "aclrtCreateContext", d->acl->aclrtCreateContext(&d->context, d->number));
    if (status != PTO_OK) {
        d->context = NULL;
        return status;
    }
    return ptoi_ascend_enter(d) ? PTO_OK : PTO_ERR_DEVICE;
}

static void close_context(struct device *d)
{
    if (d->context) ptoi_ascend_is_fine(d, "aclrtDestroyContext", d->acl->aclrtDestroyContext(d->context));
    d->context = NULL;
}

static PTOStatus open_event(struct device *d, struct stream *s)
{
    if (d->acl->aclrtCreateEventExWithFlag)
        return failed(d, "aclrtCreateEventExWithFlag",
                      d->acl->aclrtCreateEventExWithFlag(&s->event, ACL_EVENT_CAPTURE_STREAM_PROGRESS));
    return failed(d, "aclrtCreateEvent", d->acl->aclrtCreateEvent(&s->event));
}

static PTOStatus open_streams(struct device *d)
{
    d->stream = calloc((size_t)d->first[PTO_WORKER_TYPES], sizeof *d->stream);
    if (!d->stream) return PTO_ERR_NOMEM;
    PTOStatus status = PTO_OK;
    for (; status == PTO_OK && d->stream_count < d->first[PTO_WORKER_TYPES]; d->stream_count++) {
        struct stream *s = &d->stream[d->stream_count];
        status = failed(d, "aclrtCreateStream", d->acl->aclrtCreateStream(&s->stream));
        if (status != PTO_OK) s->stream = NULL;
        if (status == PTO_OK) status = open_event(d, s);
    }
    return status;
}

static void destroy_stream(struct device *d, struct stream *s)
{
    const bool by_force = s->is_lost && d->acl->aclrtDestroyStreamForce;
    if (s->is_stuck && !by_force) s->stream = NULL; /* to destroy it would wait for ever: aclrtResetDevice takes it */
    if (s->stream && by_force)
        ptoi_ascend_is_fine(d, "aclrtDestroyStreamForce", d->acl->aclrtDestroyStreamForce(s->stream));
    else if (s->stream)
        ptoi_ascend_is_fine(d, "aclrtDestroyStream", d->acl->aclrtDestroyStream(s->stream));
    s->stream = NULL;
}

/* The kernels that a failed run left on a stream must end before their memory is released. */
static void settle_streams(struct device *d)
{
    for (int i = 0; i < d->stream_count; i++) {
        struct stream *s = &d->stream[i];
        if (!s->is_lost || !s->stream) continue;
        if (d->acl->aclrtStreamAbort && d->acl->aclrtStreamAbort(s->stream) == ACL_SUCCESS)
            s->is_lost = s->is_stuck = false;
        else
            destroy_stream(d, s);
    }
}

static void close_streams(struct device *d)
{
    while (d->stream_count > 0) {
        struct stream *s = &d->stream[--d->stream_count];
        if (s->event) ptoi_ascend_is_fine(d, "aclrtDestroyEvent", d->acl->aclrtDestroyEvent(s->event));
        destroy_stream(d, s);
    }
    free(d->stream);
    d->stream = NULL;
}

static PTOStatus open_binaries(struct device *d)
{
    for (int i = 0; i < d->map.object_count; i++) {
        struct map_object *o = &d->map.object[i];
        const size_t length = strlen(o->path);
        aclrtBinaryLoadOption cpu = {.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE, .value.cpuKernelMode = 1};
        aclrtBinaryLoadOptions options = {.options = &cpu, .numOpt = 1};
        const bool is_cpu = length > 5 && strcmp(o->path + length - 5, ".json") == 0;
        const aclError error = d->acl->aclrtBinaryLoadFromFile(o->path, is_cpu ? &options : NULL, &o->handle);
        if (error == ACL_SUCCESS) continue;
        char text[700];
        o->handle = NULL;
        ptoi_acl_explain(d->acl, text, sizeof text, "aclrtBinaryLoadFromFile", error);
        ptoi_ascend_fail(d, true, "cannot load the object %.200s: %s", o->path, text);
        return PTO_ERR_IO;
    }
    for (int i = 0; i < d->map.entry_count; i++) {
        struct map_entry *e = &d->map.entry[i];
        const struct map_object *o = &d->map.object[e->object];
        const aclError error = d->acl->aclrtBinaryGetFunction(o->handle, e->function, &e->handle);
        if (error == ACL_SUCCESS) continue;
        char text[600];
        ptoi_acl_explain(d->acl, text, sizeof text, "aclrtBinaryGetFunction", error);
        ptoi_ascend_fail(d, true, "kernel '%.60s': there is no function '%.60s' in %.150s: %s", e->name, e->function,
                         o->path, text);
        return PTO_ERR_IO;
    }
    return PTO_OK;
}

static void close_binaries(struct device *d)
{
    for (int i = d->map.object_count; i-- > 0;)
        if (d->map.object[i].handle)
            ptoi_ascend_is_fine(d, "aclrtBinaryUnLoad", d->acl->aclrtBinaryUnLoad(d->map.object[i].handle));
}

/* Memory that every run needs; the heap is asked for by alloc. */
static PTOStatus open_memory(struct device *d)
{
    bool any_status = false;
    for (int i = 0; i < d->map.entry_count; i++) any_status |= d->map.entry[i].has_status;
    void *memory = NULL;
    if (!ptoi_ascend_is_fine(d, "aclrtMallocHost", d->acl->aclrtMallocHost(&memory, STAGING_BYTES)))
        return PTO_ERR_NOMEM;
    d->staging = memory;
    if (!any_status) return PTO_OK;
    if (!ptoi_ascend_is_fine(
            d, "aclrtMalloc",
            d->acl->aclrtMalloc(&memory, (size_t)d->stream_count * STATUS_BYTES, ACL_MEM_MALLOC_HUGE_FIRST)))
        return PTO_ERR_NOMEM;
    d->status = memory;
    for (int i = 0; i < d->stream_count; i++) d->stream[i].status = d->status + i * STATUS_BYTES;
    return PTO_OK;
}

static void close_memory(struct device *d)
{
    settle_streams(d);
    ptoi_ascend_free_memory(d);
    if (d->status) ptoi_ascend_is_fine(d, "aclrtFree", d->acl->aclrtFree(d->status));
    if (d->staging) ptoi_ascend_is_fine(d, "aclrtFreeHost", d->acl->aclrtFreeHost(d->staging));
    d->status = d->staging = NULL;
}

static const struct step {
    PTOStatus (*open)(struct device *d);
    void (*close)(struct device *d);
} steps[] = {
    {open_device, close_device},     {open_context, close_context}, {open_streams, close_streams},
    {open_binaries, close_binaries}, {open_memory, close_memory},
};
enum { STEPS = sizeof steps / sizeof *steps };

/* ---- the heap ---------------------------------------------------------------------------------------------------- */

static void free_heap(const struct backend *b, void *memory, uint64_t bytes, bool shared)
{
    (void)shared;
    struct device *d = device_of(b);
    settle_streams(d);
    if (d->device_heap && ptoi_ascend_enter_from_outside(d))
        ptoi_ascend_is_fine(d, "aclrtFree", d->acl->aclrtFree(d->device_heap));
    d->device_heap = NULL;
    if (memory) munmap(memory, bytes);
    d->heap = NULL;
}

static void *alloc_heap(const struct backend *b, uint64_t bytes, bool shared)
{
    struct device *d = device_of(b);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
         *device = NULL;
    (void)shared;
    if (memory == MAP_FAILED) {
        ptoi_ascend_fail(d, false, "no room for so many addresses on the host");
        return NULL;
    }
    d->heap = memory;
    d->heap_bytes = bytes;
    if (ptoi_ascend_enter(d) &&
        ptoi_ascend_is_fine(d, "aclrtMalloc", d->acl->aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST))) {
        d->device_heap = device;
        return memory;
    }
    free_heap(b, memory, bytes, shared);
    return NULL;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool close_all(struct device *d, int opened, char *message, size_t size)
{
    const bool had_failed = d->was_reported;
    bool is_fine = true;
    if (d->context) ptoi_ascend_enter_from_outside(d);
    while (opened > 0) steps[--opened].close(d);
    if (!had_failed && d->failure[0]) {
        snprintf(message, size, "%s", d->failure);
        is_fine = false;
    }
    if (d->acl && !ptoi_acl_close(d->failure, sizeof d->failure) && is_fine && !had_failed) {
        snprintf(message, size, "ascend: %.500s", d->failure);
        is_fine = false;
    }
    ptoi_kernels_unload(&d->map);
    free(d->array);
    free(d->spare);
    free(d);
    return is_fine;
}

static bool close_backend(const struct backend *b, char *message, size_t size)
{
    struct device *d = device_of(b);
    return close_all(d, STEPS, message, size);
}

const struct backend *ptoi_ascend_open(const PTOConfig *config, PTOStatus *status, char *message, size_t size)
{
    static _Atomic uint64_t serials = 1; /* add relaxed: only that no two are equal matters */
    if (!config->kernels) {
        *status = PTO_ERR_CONFIG;
        snprintf(message, size, "the backend ascend needs a map of kernels, a file: set %s",
                 ptoi_limit_name(LIMIT_KERNELS, config->names));
        return NULL;
    }
    struct device *d = calloc(1, sizeof *d);
    if (!d) {
        *status = PTO_ERR_NOMEM;
        snprintf(message, size, "no memory for a device");
        return NULL;
    }
    d->backend = (struct backend){.name = "ascend",
                                  .close = close_backend,
                                  .alloc = alloc_heap,
                                  .free = free_heap,
                                  .run = ptoi_ascend_run,
                                  .request = ptoi_ascend_request,
                                  .has_operation = ptoi_ascend_has_operation,
                                  .mirror = &ptoi_ascend_mirror};
    d->serial = add_relaxed(&serials, 1);
    d->number = config->device;
    d->names = config->names;
    d->timeout_seconds = config->stream_timeout_seconds > 0 ? config->stream_timeout_seconds : DEFAULT_TIMEOUT_S;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) d->first[t + 1] = d->first[t] + config->workers[t];
    d->lock = d->copying = (ptoi_lock)PTOI_LOCK_OPEN;
    *status = ptoi_kernels_load(&d->map, config->kernels, message, size);
    if (*status == PTO_OK) {
        char *text = d->failure; /* empty until the first step */
        char why[700];
        d->acl = ptoi_acl_open(why, sizeof why);
        if (!d->acl) {
            snprintf(message, size, "ascend: %s", why);
            *status = PTO_ERR_DEVICE;
        }
        int opened = 0;
        while (*status == PTO_OK && opened < STEPS) *status = steps[opened++].open(d);
        if (*status == PTO_OK) {
            ptoi_ascend_open_places(d); /* the last: closing begins with them */
            return &d->backend;
        }
        if (d->acl) snprintf(message, size, "%.500s", *text ? text : "ascend: out of memory");
        d->was_reported = true;
        close_all(d, opened, message, size);
        return NULL;
    }
    close_all(d, 0, message, size);
    return NULL;
}
