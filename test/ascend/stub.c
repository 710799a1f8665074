/* stub.c - a library with the C interface of CANN's run-time library, for tests on machines without one.  ABI stub, not
 * run on Ascend.
 *
 * Idea       it does what the interface says: a stream is a thread with a queue, a launch calls a function of a shared
 *            object of the host, a copy copies.  Device memory has addresses of its own, where nothing can be read or
 *            written: its bytes are mapped a second time, and only copies and kernels here know where.  So a device
 *            address that the host dereferences traps, as one would beside a device, and so does a kernel that leaves
 *            its allocation by 64 bytes or uses memory that was freed.
 * Strict     a call that the documentation forbids is a MISTAKE in the log and an error: before aclInit, without a
 *            context or with that of another device, a copy whose kind does not fit its addresses, arguments of a
 *            launch in device memory, a second free.
 * Kernels    int f(const uint64_t *block, size_t words, uint64_t reach): the argument block, and what to add to a
 *            device address.
 * Environment
 *   PTO_STUB_LOG=FILE       a line for each call, in order
 *   PTO_STUB_FAIL=NAME:N    the N-th call of NAME fails;  NAME@OTHER:N  the first call of NAME after the N-th of OTHER
 *                           several are separated by commas
 *   PTO_STUB_HANG=N         the N-th launch never ends
 *   PTO_STUB_SLOW=N         whatever is on a stream takes N microseconds more, so that who does not wait is found out
 *   PTO_STUB_DEVICES=N      how many devices there are (1)      PTO_STUB_MEMORY=BYTES  how much memory they have
 * STUB_OLD: a library without what is not always present. */
#include "backend/ascend/acl.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <stdbool.h>
#include <unistd.h>

#define REPORT                              "ABI stub, not run on Ascend"
#define STUB_API                            __attribute__((visibility("default")))
#define ACL(result, name, parameters)       STUB_API result name parameters;
#define ACL_MAYBE(result, name, parameters) ACL(result, name, parameters)
#include "backend/ascend/acl.def"
#undef ACL
#undef ACL_MAYBE

enum {
    PAGE = 4096,
    ERROR_INJECTED = 507899,
    ERROR_PARAM = 100000,
    ERROR_UNINITIALIZED = 100001,
    ERROR_CONTEXT = 107002,
    ERROR_MEMORY = 207001,
    ERROR_LOAD = 107004
};
static const uint64_t ROOM = (uint64_t)64 << 30; /* addresses; pages that nobody touches cost nothing */

enum kind { CONTEXT, STREAM, EVENT, MEMORY, HOST_MEMORY, BINARY, FUNCTION, ARGUMENTS, KINDS };
static const char *const kind_names[KINDS] = {"context",     "stream", "event",    "memory",
                                              "host memory", "binary", "function", "arguments"};

typedef int (*kernel_function)(const uint64_t *block, size_t words, uint64_t reach);

enum work_kind { WORK_KERNEL, WORK_COPY, WORK_RECORD, WORK_HANG };
struct work {
    struct work *next;
    enum work_kind kind;
    kernel_function function;
    uint32_t blocks;
    struct object *event;
    uint64_t count; /* of the record */
    char *to;
    const char *from;
    size_t bytes; /* of the copy, or of the block */
    uint64_t block[];
};

struct object {
    struct object *next;
    enum kind kind;
    int number; /* in the log */
    int32_t device;
    bool is_given_back; /* its release was asked for and failed by injection: not a leak */
    struct object *context, *binary;
    /* stream */
    pthread_t thread;
    pthread_cond_t wake, idle;
    struct work *first, **last;
    bool is_busy, is_ending;
    /* event */
    uint64_t recorded, ended;
    /* memory: [address, address + bytes), its pages are at offset `at` of both mappings */
    char *address;
    size_t bytes, pages;
    uint64_t at;
    void *library;
    kernel_function function;
    uint64_t words[2048];
    size_t word_count;
};

enum { MAX_NAMES = 64 };
static struct {
    pthread_mutex_t lock; /* guards everything here; kernels run outside it */
    bool is_initialized, is_set_up;
    FILE *log;
    int file;
    char *device, *alias; /* the same bytes: nobody's, and ours */
    uint64_t top;
    struct object *objects;
    int made[KINDS];
    int32_t devices_set[64];
    int calls, mistakes, leaks, launches;
    struct {
        char name[64];
        int uses;
    } used[MAX_NAMES];
    size_t memory_left;
    bool finalize_was_tried;
} S = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local struct object *current_context;
static _Thread_local char last_message[256];

/* ---- the log ----------------------------------------------------------------------------------------------------- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    if (!S.log) return;
    va_list args;
    va_start(args, format);
    vfprintf(S.log, format, args);
    va_end(args);
    fputc('\n', S.log);
    fflush(S.log);
}

static int mistake(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int mistake(int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_message, sizeof last_message, format, args);
    va_end(args);
    S.mistakes++;
    say("MISTAKE: %s", last_message);
    return error;
}

static long setting(const char *name, long standard)
{
    const char *text = getenv(name);
    return text ? atol(text) : standard;
}

static void set_up(void)
{
    if (S.is_set_up) return;
    S.is_set_up = true;
    const char *path = getenv("PTO_STUB_LOG");
    if (path) S.log = fopen(path, "a");
    S.memory_left = (size_t)setting("PTO_STUB_MEMORY", 1L << 40);
    S.file = memfd_create("device memory", MFD_CLOEXEC);
    S.device = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    S.alias = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (S.file < 0 || ftruncate(S.file, (off_t)ROOM) != 0 || S.device == MAP_FAILED || S.alias == MAP_FAILED) {
        fprintf(stderr, REPORT ": no room for device memory\n");
        abort();
    }
}

static int *uses_of(const char *name)
{
    for (int i = 0; i < MAX_NAMES; i++) {
        if (!S.used[i].name[0]) snprintf(S.used[i].name, sizeof S.used[i].name, "%s", name);
        if (strcmp(S.used[i].name, name) == 0) return &S.used[i].uses;
    }
    abort();
}

/* Is this call, the n-th of its name, one that shall fail? */
static bool shall_fail(const char *name, int n)
{
    enum { MAX_FAILURES = 8 };
    static int after[MAX_FAILURES]; /* calls of `name` since the condition behind @ holds */
    const char *text = getenv("PTO_STUB_FAIL");
    for (int i = 0; text && i < MAX_FAILURES; i++) {
        char wanted[64], other[64] = "";
        int count = 0;
        if (sscanf(text, "%63[^@:,]@%63[^:,]:%d", wanted, other, &count) != 3 &&
            sscanf(text, "%63[^:,]:%d", wanted, &count) != 2)
            return false;
        if (strcmp(wanted, name) == 0 && (other[0] ? *uses_of(other) >= count && after[i]++ == 0 : n == count))
            return true;
        text = strchr(text, ',');
        if (text) text++;
    }
    return false;
}

/* A call begins: under the lock from here to leave().  0, or the error it returns at once. */
static int enter(const char *name, bool needs_context)
{
    pthread_mutex_lock(&S.lock);
    set_up();
    S.calls++;
    last_message[0] = '\0';
    const int n = ++*uses_of(name);
    if (shall_fail(name, n)) {
        snprintf(last_message, sizeof last_message, "injected: use %d of %s", n, name);
        say("%s: INJECTED FAILURE", name);
        return ERROR_INJECTED;
    }
    if (!S.is_initialized && strcmp(name, "aclInit") != 0 && strcmp(name, "aclGetRecentErrMsg") != 0)
        return mistake(ERROR_UNINITIALIZED, "%s before aclInit", name);
    if (!needs_context) return 0;
    for (struct object *o = S.objects; o; o = o->next)
        if (o == current_context) return 0;
    return mistake(ERROR_CONTEXT, "%s on a thread without a context", name);
}

static int leave(int error)
{
    pthread_mutex_unlock(&S.lock);
    return error;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static struct object *make(enum kind kind)
{
    struct object *o = calloc(1, sizeof *o);
    o->kind = kind;
    o->number = ++S.made[kind];
    o->context = kind == CONTEXT ? NULL : current_context;
    o->device = current_context ? current_context->device : 0;
    o->next = S.objects;
    S.objects = o;
    return o;
}

static struct object *find(enum kind kind, const void *handle)
{
    for (struct object *o = S.objects; o; o = o->next)
        if (o == handle && o->kind == kind) return o;
    return NULL;
}

static void drop(struct object *o)
{
    for (struct object **at = &S.objects; *at; at = &(*at)->next)
        if (*at == o) {
            *at = o->next;
            break;
        }
    free(o);
}

static void unmap(struct object *o)
{
    void *gone =
        mmap(S.alias + o->at, o->pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (gone == MAP_FAILED) abort();
    (void)!fallocate(S.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)o->at, (off_t)o->pages);
    S.memory_left += o->bytes;
}

static void end_stream(struct object *o, bool by_force)
{
    o->is_ending = true;
    while (by_force && o->first) {
        struct work *w = o->first;
        o->first = w->next;
        if (w->kind == WORK_RECORD) w->event->ended = w->event->recorded; /* nobody waits for it any more */
        free(w);
    }
    if (!o->first) o->last = &o->first;
    pthread_cond_signal(&o->wake);
    pthread_mutex_unlock(&S.lock);
    pthread_join(o->thread, NULL);
    pthread_mutex_lock(&S.lock);
    pthread_cond_destroy(&o->wake);
    pthread_cond_destroy(&o->idle);
}

static void destroy(struct object *o)
{
    if (o->kind == STREAM) end_stream(o, true);
    if (o->kind == MEMORY) unmap(o);
    if (o->kind == HOST_MEMORY) free(o->address);
    if (o->kind == BINARY) {
        for (struct object *f = S.objects, *next; f; f = next) {
            next = f->next;
            if (f->kind == FUNCTION && f->binary == o) drop(f);
        }
        dlclose(o->library);
    }
    drop(o);
}

/* The release of an object: `error` is what enter() said. */
static int give_back(int error, enum kind kind, const void *handle, const char *name)
{
    struct object *o = find(kind, handle);
    if (error == ERROR_INJECTED && o) o->is_given_back = true;
    if (error) return error;
    if (!o) return mistake(ERROR_PARAM, "%s of something that is no %s, or not any more", name, kind_names[kind]);
    if (kind != CONTEXT && o->context != current_context)
        return mistake(ERROR_CONTEXT, "%s of %s %d in another context", name, kind_names[kind], o->number);
    say("%s(%s %d)", name, kind_names[kind], o->number);
    if (kind == STREAM) {
        while (o->first || o->is_busy) pthread_cond_wait(&o->idle, &S.lock);
    }
    if (kind == EVENT && o->recorded != o->ended) mistake(0, "event %d destroyed before it was reached", o->number);
    destroy(o);
    return 0;
}

/* The allocation that has all of these bytes; NULL: none. */
static struct object *allocation(const void *address, size_t bytes)
{
    const char *p = address;
    for (struct object *o = S.objects; o; o = o->next)
        if (o->kind == MEMORY && p >= o->address && bytes <= o->bytes && p + bytes <= o->address + o->bytes) return o;
    return NULL;
}

static bool is_device(const void *address)
{
    return (const char *)address >= S.device && (const char *)address < S.device + ROOM;
}
static char *ours(const void *address) { return S.alias + ((const char *)address - S.device); }

/* ---- streams: a thread each -------------------------------------------------------------------------------------- */

static void carry_out(struct work *w)
{
    if (w->kind != WORK_RECORD && setting("PTO_STUB_SLOW", 0) > 0) usleep((useconds_t)setting("PTO_STUB_SLOW", 0));
    if (w->kind == WORK_KERNEL) w->function(w->block, w->bytes / sizeof w->block[0], (uint64_t)(S.alias - S.device));
    if (w->kind == WORK_COPY) memcpy(w->to, w->from, w->bytes);
}

static void *stream_main(void *arg)
{
    struct object *o = arg;
    pthread_mutex_lock(&S.lock);
    for (;;) {
        struct work *w = o->first;
        if (o->is_ending && !w) break;
        if (!w || w->kind == WORK_HANG) {
            if (w && o->is_ending) break;
            pthread_cond_wait(&o->wake, &S.lock);
            continue;
        }
        o->first = w->next;
        if (!o->first) o->last = &o->first;
        o->is_busy = true;
        pthread_mutex_unlock(&S.lock);
        carry_out(w);
        pthread_mutex_lock(&S.lock);
        o->is_busy = false;
        if (w->kind == WORK_RECORD) w->event->ended = w->count;
        free(w);
        if (!o->first) pthread_cond_broadcast(&o->idle);
    }
    pthread_mutex_unlock(&S.lock);
    return NULL;
}

static void enqueue(struct object *stream, struct work *w)
{
    w->next = NULL;
    *stream->last = w;
    stream->last = &w->next;
    pthread_cond_signal(&stream->wake);
}

static struct object *stream_of(const void *handle, const char *name, int *error)
{
    struct object *o = find(STREAM, handle);
    if (!o)
        *error = mistake(ERROR_PARAM, "%s on something that is no stream", name);
    else if (o->context != current_context)
        *error = mistake(ERROR_CONTEXT, "%s on stream %d of another context", name, o->number);
    return *error ? NULL : o;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    int error = enter("aclrtCreateStream", true);
    if (error) return leave(error);
    struct object *o = make(STREAM);
    o->last = &o->first;
    pthread_cond_init(&o->wake, NULL);
    pthread_cond_init(&o->idle, NULL);
    pthread_create(&o->thread, NULL, stream_main, o);
    say("aclrtCreateStream() stream %d", o->number);
    *stream = o;
    return leave(0);
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    const int error = enter("aclrtDestroyStream", true);
    return leave(give_back(error, STREAM, stream, "aclrtDestroyStream"));
}

#ifndef STUB_OLD
/* Drops what is queued, and waits for what runs. */
static void end_work(struct object *o)
{
    while (o->first) {
        struct work *w = o->first;
        o->first = w->next;
        if (w->kind == WORK_RECORD) w->event->ended = w->event->recorded;
        free(w);
    }
    o->last = &o->first;
    while (o->is_busy) pthread_cond_wait(&o->idle, &S.lock);
}

/* One that reports a failure has ended the stream all the same: what ran there may be unloaded and freed. */
aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    int error = enter("aclrtDestroyStreamForce", true);
    struct object *o = find(STREAM, stream);
    if (error == ERROR_INJECTED && o) {
        o->is_given_back = true;
        end_work(o);
    }
    if (!error && !o) error = mistake(ERROR_PARAM, "aclrtDestroyStreamForce of something that is no stream");
    if (error) return leave(error);
    say("aclrtDestroyStreamForce(stream %d)", o->number);
    destroy(o);
    return leave(0);
}

aclError aclrtStreamAbort(aclrtStream stream)
{
    int error = enter("aclrtStreamAbort", true);
    struct object *o = error ? NULL : stream_of(stream, "aclrtStreamAbort", &error);
    if (error) return leave(error);
    say("aclrtStreamAbort(stream %d)", o->number);
    end_work(o);
    return leave(0);
}
#endif

/* ---- events ------------------------------------------------------------------------------------------------------ */

static aclError create_event(const char *name, aclrtEvent *event)
{
    const int error = enter(name, true);
    if (error) return leave(error);
    struct object *o = make(EVENT);
    say("%s() event %d", name, o->number);
    *event = o;
    return leave(0);
}

aclError aclrtCreateEvent(aclrtEvent *event) { return create_event("aclrtCreateEvent", event); }
#ifndef STUB_OLD
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    if (flag != ACL_EVENT_CAPTURE_STREAM_PROGRESS) {
        pthread_mutex_lock(&S.lock);
        return leave(
            mistake(ERROR_PARAM, "aclrtCreateEventExWithFlag with flag %u: such an event is not to be queried", flag));
    }
    return create_event("aclrtCreateEventExWithFlag", event);
}
#endif

aclError aclrtDestroyEvent(aclrtEvent event)
{
    const int error = enter("aclrtDestroyEvent", true);
    return leave(give_back(error, EVENT, event, "aclrtDestroyEvent"));
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    int error = enter("aclrtRecordEvent", true);
    struct object *s = error ? NULL : stream_of(stream, "aclrtRecordEvent", &error), *e = find(EVENT, event);
    if (!error && !e) error = mistake(ERROR_PARAM, "aclrtRecordEvent of something that is no event");
    if (error) return leave(error);
    struct work *w = calloc(1, sizeof *w);
    *w = (struct work){.kind = WORK_RECORD, .event = e, .count = ++e->recorded};
    say("aclrtRecordEvent(event %d, stream %d)", e->number, s->number);
    enqueue(s, w);
    return leave(0);
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    int error = enter("aclrtQueryEventStatus", true);
    struct object *e = find(EVENT, event);
    if (!error && !e) error = mistake(ERROR_PARAM, "aclrtQueryEventStatus of something that is no event");
    if (error) return leave(error);
    const bool is_complete = e->recorded > 0 && e->ended == e->recorded;
    *status = is_complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    /* how often it is not yet is of no interest */
    if (is_complete) say("aclrtQueryEventStatus(event %d) complete", e->number);
    return leave(0);
}

/* ---- the library, devices, contexts ------------------------------------------------------------------------------ */

aclError aclInit(const char *config_path)
{
    int error = enter("aclInit", false);
    (void)config_path;
    if (error) return leave(error);
    if (S.is_initialized) return leave(ACL_ERROR_REPEAT_INITIALIZE);
    S.is_initialized = true;
    S.finalize_was_tried = false;
    say("# " REPORT);
    say("aclInit()");
    return leave(0);
}

/* What is left of a device, or of all (-1). */
static void sweep(int32_t device)
{
    for (int pass = 0; pass < KINDS; pass++)
        for (struct object *o = S.objects, *next; o; o = next) {
            static const enum kind order[KINDS] = {ARGUMENTS,   STREAM,   EVENT,  MEMORY,
                                                   HOST_MEMORY, FUNCTION, BINARY, CONTEXT};
            next = o->next;
            if (o->kind != order[pass] || (device >= 0 && o->device != device)) continue;
            if (!o->is_given_back && o->kind != ARGUMENTS && o->kind != FUNCTION) {
                S.leaks++;
                say("LEAK: %s %d", kind_names[o->kind], o->number);
            }
            destroy(o);
            next = S.objects; /* others may be gone with it */
        }
}

/* The last line of what was between aclInit and now; what comes then is counted anew. */
static void report(void)
{
    say("# " REPORT ": %d calls, %d mistakes, %d leaks", S.calls, S.mistakes, S.leaks);
    S.calls = S.mistakes = S.leaks = S.launches = 0;
    memset(S.used, 0, sizeof S.used);
    memset(S.made, 0, sizeof S.made);
    S.top = S.objects ? S.top : 0;
}

aclError aclFinalize(void)
{
    int error = enter("aclFinalize", false);
    S.finalize_was_tried = true;
    if (error) return leave(error);
    for (int i = 0; i < 64; i++)
        if (S.devices_set[i] > 0) mistake(0, "aclFinalize, but device %d was not reset", i);
    say("aclFinalize()");
    sweep(-1);
    S.is_initialized = false;
    report();
    return leave(0);
}

/* The process ends, or the library is unloaded. */
__attribute__((destructor)) static void at_end(void)
{
    pthread_mutex_lock(&S.lock);
    if (S.is_initialized && !S.finalize_was_tried) mistake(0, "the end without aclFinalize");
    if (S.is_initialized && S.finalize_was_tried) sweep(-1);
    if (S.calls > 0) report();
    if (S.log) fclose(S.log);
    S.log = NULL;
    if (S.is_set_up) {
        munmap(S.device, ROOM);
        munmap(S.alias, ROOM);
        close(S.file);
    }
    pthread_mutex_unlock(&S.lock);
}

#ifndef STUB_OLD
const char *aclGetRecentErrMsg(void)
{
    static _Thread_local char text[256];
    snprintf(text, sizeof text, "%s", last_message);
    const int error = enter("aclGetRecentErrMsg", false);
    if (!error) say("aclGetRecentErrMsg()");
    leave(0);
    return error || !text[0] ? NULL : text;
}
#endif

aclError aclrtGetDeviceCount(uint32_t *count)
{
    const int error = enter("aclrtGetDeviceCount", false);
    if (error) return leave(error);
    *count = (uint32_t)setting("PTO_STUB_DEVICES", 1);
    say("aclrtGetDeviceCount() %u", *count);
    return leave(0);
}

aclError aclrtSetDevice(int32_t device)
{
    int error = enter("aclrtSetDevice", false);
    if (!error && (device < 0 || device >= setting("PTO_STUB_DEVICES", 1)))
        error = mistake(ERROR_PARAM, "aclrtSetDevice of device %d", device);
    if (error) return leave(error);
    S.devices_set[device]++;
    say("aclrtSetDevice(%d)", device);
    return leave(0);
}

aclError aclrtResetDevice(int32_t device)
{
    int error = enter("aclrtResetDevice", false);
    if (device >= 0 && device < 64 && (error == ERROR_INJECTED)) S.devices_set[device] = 0;
    if (!error && (device < 0 || device >= 64 || S.devices_set[device] == 0))
        error = mistake(ERROR_PARAM, "aclrtResetDevice of device %d", device);
    if (error) return leave(error);
    S.devices_set[device] = 0;
    say("aclrtResetDevice(%d)", device);
    sweep(device);
    return leave(0);
}

aclError aclrtCreateContext(aclrtContext *context, int32_t device)
{
    int error = enter("aclrtCreateContext", false);
    if (!error && (device < 0 || device >= 64 || S.devices_set[device] == 0))
        error = mistake(ERROR_PARAM, "aclrtCreateContext before aclrtSetDevice(%d)", device);
    if (error) return leave(error);
    struct object *o = make(CONTEXT);
    o->device = device;
    current_context = o;
    say("aclrtCreateContext(%d) context %d", device, o->number);
    *context = o;
    return leave(0);
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    int error = enter("aclrtSetCurrentContext", false);
    struct object *o = find(CONTEXT, context);
    if (!error && !o) error = mistake(ERROR_PARAM, "aclrtSetCurrentContext of something that is no context");
    if (error) return leave(error);
    current_context = o;
    say("aclrtSetCurrentContext(context %d)", o->number);
    return leave(0);
}

aclError aclrtDestroyContext(aclrtContext context)
{
    int error = enter("aclrtDestroyContext", false);
    for (struct object *o = S.objects; o && !error; o = o->next)
        if (o->context == context && !o->is_given_back && (o->kind == STREAM || o->kind == EVENT))
            error =
                mistake(ERROR_PARAM, "aclrtDestroyContext, but %s %d is still there", kind_names[o->kind], o->number);
    if (!error && current_context == context) current_context = NULL;
    for (struct object *o = S.objects; o && !error; o = o->next)
        if (o->context == context) o->context = NULL;
    return leave(give_back(error, CONTEXT, context, "aclrtDestroyContext"));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

aclError aclrtMalloc(void **memory, size_t bytes, aclrtMemMallocPolicy policy)
{
    int error = enter("aclrtMalloc", true);
    (void)policy;
    if (!error && bytes == 0) error = mistake(ERROR_PARAM, "aclrtMalloc of no bytes");
    if (error) return leave(error);
    const size_t rounded = (bytes + 63) / 64 * 64, pages = (rounded + PAGE - 1) / PAGE * PAGE;
    if (bytes > S.memory_left || S.top + pages + PAGE > ROOM) {
        snprintf(last_message, sizeof last_message, "out of device memory: %zu bytes are wanted, %zu are left", bytes,
                 S.memory_left);
        say("aclrtMalloc(%zu): out of memory", bytes);
        return leave(ERROR_MEMORY);
    }
    struct object *o = make(MEMORY);
    o->at = S.top;
    o->pages = pages;
    o->bytes = bytes;
    o->address = S.device + S.top + (pages - rounded); /* the end is a page's end: what lies behind traps */
    S.top += pages + PAGE;
    S.memory_left -= bytes;
    if (mmap(S.alias + o->at, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, S.file, (off_t)o->at) ==
        MAP_FAILED)
        abort();
    memset(ours(o->address), 0xA5, bytes < PAGE ? bytes : PAGE); /* it is not zeroed, and nobody is to rely on it */
    say("aclrtMalloc(%zu) memory %d", bytes, o->number);
    *memory = o->address;
    return leave(0);
}

aclError aclrtFree(void *memory)
{
    const int error = enter("aclrtFree", true);
    struct object *o = allocation(memory, 1);
    return leave(give_back(error, MEMORY, o && o->address == memory ? o : NULL, "aclrtFree"));
}

aclError aclrtMallocHost(void **memory, size_t bytes)
{
    const int error = enter("aclrtMallocHost", true);
    if (error) return leave(error);
    struct object *o = make(HOST_MEMORY);
    o->address = aligned_alloc(64, (bytes + 63) / 64 * 64);
    o->bytes = bytes;
    say("aclrtMallocHost(%zu) host memory %d", bytes, o->number);
    *memory = o->address;
    return leave(0);
}

static struct object *pinned(const void *address, size_t bytes)
{
    const char *p = address;
    for (struct object *o = S.objects; o; o = o->next)
        if (o->kind == HOST_MEMORY && p >= o->address && bytes <= o->bytes && p + bytes <= o->address + o->bytes)
            return o;
    return NULL;
}

aclError aclrtFreeHost(void *memory)
{
    const int error = enter("aclrtFreeHost", true);
    struct object *o = pinned(memory, 1);
    return leave(give_back(error, HOST_MEMORY, o && o->address == memory ? o : NULL, "aclrtFreeHost"));
}

static int check_side(const char *name, const char *side, const void *address, size_t bytes, bool is_on_device,
                      bool must_be_pinned)
{
    if (is_device(address) != is_on_device)
        return mistake(ERROR_PARAM, "%s: the kind says that %s is on the %s, and it is not", name, side,
                       is_on_device ? "device" : "host");
    if (is_on_device && !allocation(address, bytes))
        return mistake(ERROR_PARAM, "%s: %s is not %zu bytes of one allocation", name, side, bytes);
    if (must_be_pinned && !pinned(address, bytes)) return mistake(ERROR_PARAM, "%s: %s is not pinned", name, side);
    return 0;
}

static int check_copy(const char *name, const void *to, size_t room, const void *from, size_t bytes,
                      aclrtMemcpyKind kind, bool is_async)
{
    const bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    const bool from_device = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    if (bytes > room) return mistake(ERROR_PARAM, "%s: %zu bytes where there is room for %zu", name, bytes, room);
    if (bytes == 0) return mistake(ERROR_PARAM, "%s of no bytes", name);
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
    int error = enter("aclrtMemcpy", true);
    if (!error) error = check_copy("aclrtMemcpy", to, room, from, bytes, kind, false);
    if (error) return leave(error);
    say("aclrtMemcpy(%zu, %s)", bytes, copy_text(kind));
    memcpy(is_device(to) ? ours(to) : to, is_device(from) ? ours(from) : from, bytes);
    return leave(0);
}

aclError aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t bytes, aclrtMemcpyKind kind,
                          aclrtStream stream)
{
    int error = enter("aclrtMemcpyAsync", true);
    struct object *s = error ? NULL : stream_of(stream, "aclrtMemcpyAsync", &error);
    if (!error) error = check_copy("aclrtMemcpyAsync", to, room, from, bytes, kind, true);
    if (error) return leave(error);
    struct work *w = calloc(1, sizeof *w);
    *w = (struct work){.kind = WORK_COPY,
                       .to = is_device(to) ? ours(to) : to,
                       .from = is_device(from) ? ours(from) : from,
                       .bytes = bytes};
    say("aclrtMemcpyAsync(%zu, %s, stream %d)", bytes, copy_text(kind), s->number);
    enqueue(s, w);
    return leave(0);
}

aclError aclrtMemset(void *memory, size_t room, int32_t value, size_t bytes)
{
    int error = enter("aclrtMemset", true);
    if (!error && (bytes > room || !is_device(memory) || !allocation(memory, bytes)))
        error = mistake(ERROR_PARAM, "aclrtMemset of %zu bytes that are not in one allocation", bytes);
    if (error) return leave(error);
    say("aclrtMemset(%zu, %d)", bytes, value);
    char *p = ours(memory), *end = p + bytes, *page = S.alias + ((uint64_t)(p - S.alias) + PAGE - 1) / PAGE * PAGE;
    const size_t whole = end > page ? (size_t)(end - page) / PAGE * PAGE : 0;
    if (value == 0 && whole > 0 && madvise(page, whole, MADV_REMOVE) == 0) { /* zeros that cost no memory */
        memset(p, 0, (size_t)(page - p));
        memset(page + whole, 0, (size_t)(end - page) - whole);
    } else {
        memset(p, value, bytes);
    }
    return leave(0);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Kernels of the AI CPU: the library beside the description, if it is loaded in the mode for that. */
static const char *library_of(const char *path, const aclrtBinaryLoadOptions *options, char *text, size_t size)
{
    const size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".json") != 0) return path;
    const aclrtBinaryLoadOption *o = options && options->numOpt == 1 ? options->options : NULL;
    if (!o || o->type != ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE || o->value.cpuKernelMode != 1) return NULL;
    snprintf(text, size, "%.*s.so", (int)(length - 5), path);
    return text;
}

aclError aclrtBinaryLoadFromFile(const char *path, aclrtBinaryLoadOptions *options, aclrtBinHandle *binary)
{
    char text[4096];
    int error = enter("aclrtBinaryLoadFromFile", true);
    if (!error && path[0] != '/')
        error = mistake(ERROR_PARAM, "aclrtBinaryLoadFromFile of a path that is not absolute");
    const char *file = error ? NULL : library_of(path, options, text, sizeof text);
    if (!error && !file)
        error = mistake(ERROR_PARAM, "aclrtBinaryLoadFromFile of AI CPU kernels in another mode than 1");
    if (error) return leave(error);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(last_message, sizeof last_message, "%s", dlerror());
        say("aclrtBinaryLoadFromFile: not an object");
        return leave(ERROR_LOAD);
    }
    struct object *o = make(BINARY);
    o->library = library;
    const char *slash = strrchr(path, '/');
    say("aclrtBinaryLoadFromFile(%s) binary %d", slash ? slash + 1 : path, o->number);
    *binary = o;
    return leave(0);
}

aclError aclrtBinaryGetFunction(aclrtBinHandle binary, const char *name, aclrtFuncHandle *function)
{
    int error = enter("aclrtBinaryGetFunction", true);
    struct object *b = find(BINARY, binary);
    if (!error && !b) error = mistake(ERROR_PARAM, "aclrtBinaryGetFunction of something that is no binary");
    if (error) return leave(error);
    void *found = dlsym(b->library, name);
    if (!found) {
        snprintf(last_message, sizeof last_message, "no kernel '%s'", name);
        say("aclrtBinaryGetFunction(%s): not found", name);
        return leave(ERROR_LOAD);
    }
    struct object *o = make(FUNCTION);
    o->binary = b;
    memcpy(&o->function, &found, sizeof found);
    say("aclrtBinaryGetFunction(binary %d, %s) function %d", b->number, name, o->number);
    *function = o;
    return leave(0);
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binary)
{
    const int error = enter("aclrtBinaryUnLoad", true);
    return leave(give_back(error, BINARY, binary, "aclrtBinaryUnLoad"));
}

static int launch(const char *name, int error, const void *function, uint32_t blocks, const void *stream,
                  const aclrtLaunchKernelCfg *config, const uint64_t *block, size_t bytes)
{
    struct object *s = error ? NULL : stream_of(stream, name, &error), *f = find(FUNCTION, function);
    if (!error && !f) error = mistake(ERROR_PARAM, "%s of something that is no function", name);
    if (!error && is_device(block)) error = mistake(ERROR_PARAM, "%s: the arguments are to be in host memory", name);
    if (!error && (bytes % sizeof *block || (bytes > 0 && !block) || blocks == 0))
        error = mistake(ERROR_PARAM, "%s: a bad block", name);
    if (!error && config && (config->numAttrs != 1 || config->attrs->id != ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE))
        error = mistake(ERROR_PARAM, "%s: a bad configuration", name);
    if (error) return error;
    struct work *w = calloc(1, sizeof *w + bytes);
    *w = (struct work){.kind = ++S.launches == setting("PTO_STUB_HANG", 0) ? WORK_HANG : WORK_KERNEL,
                       .function = f->function,
                       .blocks = blocks,
                       .bytes = bytes};
    if (bytes > 0) memcpy(w->block, block, bytes);
    say("%s(function %d, blocks %u, stream %d, words %zu%s)", name, f->number, blocks, s->number, bytes / sizeof *block,
        !config                                                     ? ""
        : config->attrs->value.engineType == ACL_RT_ENGINE_TYPE_AIC ? ", AIC"
                                                                    : ", AIV");
    enqueue(s, w);
    return 0;
}

#ifndef STUB_OLD
aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg *config, void *args, size_t bytes,
                                       aclrtPlaceHolderInfo *placeholders, size_t placeholder_count)
{
    static const char name[] = "aclrtLaunchKernelWithHostArgs";
    int error = enter(name, true);
    if (!error && (placeholders || placeholder_count))
        error = mistake(ERROR_PARAM, "%s with placeholders, which nobody here uses", name);
    return leave(launch(name, error, function, blocks, stream, config, args, bytes));
}
#else
aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle *args)
{
    int error = enter("aclrtKernelArgsInit", true);
    if (!error && !find(FUNCTION, function))
        error = mistake(ERROR_PARAM, "aclrtKernelArgsInit of something that is no function");
    if (error) return leave(error);
    *args = make(ARGUMENTS);
    say("aclrtKernelArgsInit()");
    return leave(0);
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle args, void *value, size_t bytes, aclrtParamHandle *param)
{
    int error = enter("aclrtKernelArgsAppend", true);
    struct object *a = find(ARGUMENTS, args);
    if (!error && (!a || a->is_ending || bytes != sizeof(uint64_t) || is_device(value)))
        error = mistake(ERROR_PARAM, "aclrtKernelArgsAppend");
    if (error) return leave(error);
    memcpy(&a->words[a->word_count++], value, bytes);
    *param = &a->words[a->word_count - 1];
    say("aclrtKernelArgsAppend()");
    return leave(0);
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle args)
{
    int error = enter("aclrtKernelArgsFinalize", true);
    struct object *a = find(ARGUMENTS, args);
    if (!error && !a) error = mistake(ERROR_PARAM, "aclrtKernelArgsFinalize of something that is no list of arguments");
    if (error) return leave(error);
    a->is_ending = true;
    say("aclrtKernelArgsFinalize()");
    return leave(0);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg *config, aclrtArgsHandle args, void *reserved)
{
    static const char name[] = "aclrtLaunchKernelWithConfig";
    int error = enter(name, true);
    struct object *a = find(ARGUMENTS, args);
    if (!error && (!a || !a->is_ending || reserved))
        error = mistake(ERROR_PARAM, "%s with arguments that are not finished", name);
    error = launch(name, error, function, blocks, stream, config, a ? a->words : NULL,
                   a ? a->word_count * sizeof a->words[0] : 0);
    if (!error) drop(a);
    return leave(error);
}
#endif
