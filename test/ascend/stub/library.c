/* library.c - aclInit and aclFinalize, devices and contexts, and the count of objects that a program leaves. */
#include "stub.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

aclError aclInit(const char *config_path)
{
    int error = stub_enter("aclInit", false);
    (void)config_path;
    if (error) return stub_leave(error);
    if (stub.is_initialized) return stub_leave(ACL_ERROR_REPEAT_INITIALIZE);
    stub.is_initialized = true;
    stub.finalize_was_tried = false;
    stub_say("# " REPORT);
    stub_say("aclInit()");
    return stub_leave(0);
}

/* The objects that a device still has; of all devices for -1. */
static void sweep(int32_t device)
{
    for (int pass = 0; pass < KINDS; pass++)
        for (struct object *o = stub.objects, *next; o; o = next) {
            static const enum kind order[KINDS] = {ARGUMENTS,   STREAM,   EVENT,  MEMORY,
                                                   HOST_MEMORY, FUNCTION, BINARY, CONTEXT};
            next = o->next;
            if (o->kind != order[pass] || (device >= 0 && o->device != device)) continue;
            if (!o->is_given_back && o->kind != ARGUMENTS && o->kind != FUNCTION) {
                stub.leaks++;
                stub_say("LEAK: %s %d", kind_names[o->kind], o->number);
            }
            stub_destroy(o);
            next = stub.objects; /* others may be gone with it */
        }
}

/* The last line of what was between aclInit and now; what comes then is counted anew. */
static void report(void)
{
    stub_say("# " REPORT ": %d calls, %d mistakes, %d leaks", stub.calls, stub.mistakes, stub.leaks);
    stub.calls = stub.mistakes = stub.leaks = stub.launches = 0;
    memset(stub.used, 0, sizeof stub.used);
    memset(stub.made, 0, sizeof stub.made);
    stub.top = stub.objects ? stub.top : 0;
}

aclError aclFinalize(void)
{
    int error = stub_enter("aclFinalize", false);
    stub.finalize_was_tried = true;
    if (error) return stub_leave(error);
    for (int i = 0; i < 64; i++)
        if (stub.devices_set[i] > 0) stub_mistake(0, "aclFinalize, but device %d was not reset", i);
    stub_say("aclFinalize()");
    sweep(-1);
    stub.is_initialized = false;
    report();
    return stub_leave(0);
}

/* The process ends, or the library is unloaded. */
__attribute__((destructor)) static void at_end(void)
{
    pthread_mutex_lock(&stub.lock);
    if (stub.is_initialized && !stub.finalize_was_tried) stub_mistake(0, "the end without aclFinalize");
    if (stub.is_initialized && stub.finalize_was_tried) sweep(-1);
    if (stub.calls > 0) report();
    if (stub.log) fclose(stub.log);
    stub.log = NULL;
    if (stub.is_set_up) {
        munmap(stub.device, ROOM);
        munmap(stub.alias, ROOM);
        close(stub.file);
    }
    pthread_mutex_unlock(&stub.lock);
}

#ifndef STUB_OLD
const char *aclGetRecentErrMsg(void)
{
    static _Thread_local char text[260];
    const bool is_given = stub_message[0] != '\0';
    snprintf(text, sizeof text, "\n %s \n", stub_message); /* a text of lines of its own */
    const int error = stub_enter("aclGetRecentErrMsg", false);
    if (!error) stub_say("aclGetRecentErrMsg()");
    stub_leave(0);
    return error || !is_given ? NULL : text;
}
#endif

aclError aclrtGetDeviceCount(uint32_t *count)
{
    const int error = stub_enter("aclrtGetDeviceCount", false);
    if (error) return stub_leave(error);
    *count = (uint32_t)stub_setting("PTO_STUB_DEVICES", 1);
    stub_say("aclrtGetDeviceCount() %u", *count);
    return stub_leave(0);
}

aclError aclrtSetDevice(int32_t device)
{
    int error = stub_enter("aclrtSetDevice", false);
    if (!error && (device < 0 || device >= stub_setting("PTO_STUB_DEVICES", 1)))
        error = stub_mistake(ERROR_PARAM, "aclrtSetDevice of device %d", device);
    if (error) return stub_leave(error);
    stub.devices_set[device]++;
    stub_say("aclrtSetDevice(%d)", device);
    return stub_leave(0);
}

aclError aclrtResetDevice(int32_t device)
{
    int error = stub_enter("aclrtResetDevice", false);
    if (device >= 0 && device < 64 && (error == ERROR_INJECTED)) stub.devices_set[device] = 0;
    if (!error && (device < 0 || device >= 64 || stub.devices_set[device] == 0))
        error = stub_mistake(ERROR_PARAM, "aclrtResetDevice of device %d", device);
    if (error) return stub_leave(error);
    stub.devices_set[device] = 0;
    stub_say("aclrtResetDevice(%d)", device);
    sweep(device);
    return stub_leave(0);
}

aclError aclrtCreateContext(aclrtContext *context, int32_t device)
{
    int error = stub_enter("aclrtCreateContext", false);
    if (!error && (device < 0 || device >= 64 || stub.devices_set[device] == 0))
        error = stub_mistake(ERROR_PARAM, "aclrtCreateContext before aclrtSetDevice(%d)", device);
    if (error) return stub_leave(error);
    struct object *o = stub_make(CONTEXT);
    o->device = device;
    stub_context = o;
    stub_say("aclrtCreateContext(%d) context %d", device, o->number);
    *context = o;
    return stub_leave(0);
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    int error = stub_enter("aclrtSetCurrentContext", false);
    struct object *o = stub_find(CONTEXT, context);
    if (!error && !o) error = stub_mistake(ERROR_PARAM, "aclrtSetCurrentContext of something that is no context");
    if (error) return stub_leave(error);
    stub_context = o;
    stub_say("aclrtSetCurrentContext(context %d)", o->number);
    return stub_leave(0);
}

aclError aclrtDestroyContext(aclrtContext context)
{
    int error = stub_enter("aclrtDestroyContext", false);
    for (struct object *o = stub.objects; o && !error; o = o->next)
        if (o->context == context && !o->is_given_back && (o->kind == STREAM || o->kind == EVENT))
            error = stub_mistake(ERROR_PARAM, "aclrtDestroyContext, but %s %d is still there", kind_names[o->kind],
                                 o->number);
    if (!error && stub_context == context) stub_context = NULL;
    for (struct object *o = stub.objects; o && !error; o = o->next)
        if (o->context == context) o->context = NULL;
    return stub_leave(stub_give_back(error, CONTEXT, context, "aclrtDestroyContext"));
}
