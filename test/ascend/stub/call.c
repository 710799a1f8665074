/* call.c - a call of the stub's interface: its line in the log, the failure that a test asks for, the lock. */
#include "stub.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct stub stub = {.lock = PTHREAD_MUTEX_INITIALIZER};
_Thread_local struct object *stub_context;
_Thread_local char stub_message[256];

void stub_say(const char *format, ...)
{
    if (!stub.log) return;
    va_list args;
    va_start(args, format);
    vfprintf(stub.log, format, args);
    va_end(args);
    fputc('\n', stub.log);
    fflush(stub.log);
}

int stub_mistake(int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(stub_message, sizeof stub_message, format, args);
    va_end(args);
    stub.mistakes++;
    stub_say("MISTAKE: %s", stub_message);
    return error;
}

long stub_setting(const char *name, long standard)
{
    const char *text = getenv(name);
    return text ? atol(text) : standard;
}

static void set_up(void)
{
    if (stub.is_set_up) return;
    stub.is_set_up = true;
    const char *path = getenv("PTO_STUB_LOG");
    if (path) stub.log = fopen(path, "a");
    stub.memory_left = (size_t)stub_setting("PTO_STUB_MEMORY", 1L << 40);
    stub.file = memfd_create("device memory", MFD_CLOEXEC);
    stub.device = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    stub.alias = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stub.file < 0 || ftruncate(stub.file, (off_t)ROOM) != 0 || stub.device == MAP_FAILED ||
        stub.alias == MAP_FAILED) {
        fprintf(stderr, REPORT ": no room for device memory\n");
        abort();
    }
}

static int *uses_of(const char *name)
{
    for (int i = 0; i < MAX_NAMES; i++) {
        if (!stub.used[i].name[0]) snprintf(stub.used[i].name, sizeof stub.used[i].name, "%s", name);
        if (strcmp(stub.used[i].name, name) == 0) return &stub.used[i].uses;
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

int stub_enter(const char *name, bool needs_context)
{
    pthread_mutex_lock(&stub.lock);
    set_up();
    stub.calls++;
    stub_message[0] = '\0';
    const int n = ++*uses_of(name);
    if (shall_fail(name, n)) {
        snprintf(stub_message, sizeof stub_message, "injected: use %d of %s", n, name);
        stub_say("%s: INJECTED FAILURE", name);
        return ERROR_INJECTED;
    }
    if (!stub.is_initialized && strcmp(name, "aclInit") != 0 && strcmp(name, "aclGetRecentErrMsg") != 0)
        return stub_mistake(ERROR_UNINITIALIZED, "%s before aclInit", name);
    if (!needs_context) return 0;
    for (struct object *o = stub.objects; o; o = o->next)
        if (o == stub_context) return 0;
    return stub_mistake(ERROR_CONTEXT, "%s on a thread without a context", name);
}

int stub_leave(int error)
{
    pthread_mutex_unlock(&stub.lock);
    return error;
}
