/* stub.h - a library with the C interface of CANN's run-time library, for tests on machines without one.  ABI stub, not
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
#ifndef PTO_TEST_ASCEND_STUB_H
#define PTO_TEST_ASCEND_STUB_H
#include "backend/ascend/acl.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define REPORT                              "ABI stub, not run on Ascend"
#define STUB_API                            __attribute__((visibility("default")))
#define ACL(result, name, parameters)       STUB_API result name parameters;
#define ACL_MAYBE(result, name, parameters) ACL(result, name, parameters)
#include "backend/ascend/acl.def"
#undef ACL
#undef ACL_MAYBE

enum {
    ERROR_INJECTED = 507899,
    ERROR_PARAM = 100000,
    ERROR_UNINITIALIZED = 100001,
    ERROR_CONTEXT = 107002,
    ERROR_MEMORY = 207001,
    ERROR_LOAD = 107004
};
static const uint64_t ROOM = (uint64_t)64 << 30; /* of addresses; a page costs nothing before its first access */

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
struct stub {
    pthread_mutex_t lock; /* guards everything here; kernels run outside it */
    bool is_initialized, is_set_up;
    FILE *log;
    int file;
    char *device, *alias; /* the same bytes: without access, and with it for the stub */
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
};
extern struct stub stub;
extern _Thread_local struct object *stub_context;
extern _Thread_local char stub_message[256];

/* ---- call.c: a call from its beginning to its end ---- */
void stub_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* `error`, after a line in the log and in stub_message. */
int stub_mistake(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number in an environment variable. */
long stub_setting(const char *name, long standard);
/* A call begins: under the lock from here to stub_leave().  0, or the error it returns at once. */
int stub_enter(const char *name, bool needs_context);
int stub_leave(int error);

/* ---- objects.c: what a handle names ---- */
struct object *stub_make(enum kind kind);
struct object *stub_find(enum kind kind, const void *handle);
/* Destroys an object; drop: without what it holds. */
void stub_destroy(struct object *o);
void stub_drop(struct object *o);
/* The release of an object: `error` is what stub_enter() said. */
int stub_give_back(int error, enum kind kind, const void *handle, const char *name);

/* ---- streams.c ---- */
struct object *stub_stream_of(const void *handle, const char *name, int *error);
void stub_enqueue(struct object *stream, struct work *w);
/* The thread ends when its queue is empty; by force, the queue is emptied first. */
void stub_end_stream(struct object *o, bool by_force);

/* ---- memory.c ---- */
bool stub_is_device(const void *address);
/* The bytes of a device address, where the host reaches them. */
char *stub_ours(const void *address);
void stub_unmap(struct object *o);

#endif
