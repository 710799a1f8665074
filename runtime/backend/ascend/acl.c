/* acl.c - see acl.h. */
#include "acl.h"
#include "shared/system.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEVICES = 64 };

/* One library a process: it keeps state of its own, and aclInit may be called once.  What was initialized once stays
 * loaded until the process ends: a library with threads and thread-local state does not survive being unloaded. */
static struct {
    ptoi_lock lock; /* guards everything here; calls of the library are made under it; nothing nests in it */
    void *library;
    struct acl acl;
    int users;
    bool is_initialized; /* by us: an application that did it before finalizes, too */
    struct {
        int32_t device;
        int users;
    } device[MAX_DEVICES];
} process = {.lock = PTOI_LOCK_OPEN};

void ptoi_acl_explain(const struct acl *acl, char *text, size_t size, const char *call, aclError error)
{
    const char *more = acl->aclGetRecentErrMsg ? acl->aclGetRecentErrMsg() : NULL;
    while (more && (*more == '\n' || *more == ' ')) more++;
    const bool has_more = more && *more;
    snprintf(text, size, "%s failed with error %d%s%.600s", call, error, has_more ? ": " : "", has_more ? more : "");
    for (size_t n = strlen(text); n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '); n--) text[n - 1] = '\0';
}

/* ---- finding it -------------------------------------------------------------------------------------------------- */

static void *find_library(char *message, size_t size)
{
    static const char *const names[] = {"libacl_rt.so", "libascendcl.so"};
    char first[256] = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
        if (i == 0) snprintf(first, sizeof first, "%s", dlerror());
    }
    snprintf(message, size,
             "no CANN library: neither libacl_rt.so nor libascendcl.so can be loaded (%s); is its set_env.sh sourced?",
             first);
    return NULL;
}

/* The first function that is missing, or NULL. */
static const char *find_functions(void *library, struct acl *acl)
{
    const char *missing = NULL;
#define ACL_MAYBE(result, name, parameters)                                                                            \
    do {                                                                                                               \
        void *found = dlsym(library, #name);                                                                           \
        memcpy(&acl->name, &found, sizeof found); /* ISO C has no conversion from an object pointer to a function's */ \
    } while (0);
#define ACL(result, name, parameters)                                                                                  \
    ACL_MAYBE(result, name, parameters)                                                                                \
    if (!acl->name && !missing) missing = #name;
#include "acl.def"
#undef ACL
#undef ACL_MAYBE
    if (missing || acl->aclrtLaunchKernelWithHostArgs) return missing;
    if (!acl->aclrtLaunchKernelWithConfig || !acl->aclrtKernelArgsInit || !acl->aclrtKernelArgsAppend ||
        !acl->aclrtKernelArgsFinalize)
        return "aclrtLaunchKernelWithHostArgs";
    return NULL;
}

static bool open_first(char *message, size_t size)
{
    if (!process.library) process.library = find_library(message, size);
    if (!process.library) return false;
    const char *missing = find_functions(process.library, &process.acl);
    if (missing) {
        snprintf(message, size, "the CANN library is too old or not one: it has no %s", missing);
        dlclose(process.library);
        process.library = NULL;
        return false;
    }
    const aclError error = process.acl.aclInit(NULL);
    process.is_initialized = error == ACL_SUCCESS;
    if (error == ACL_SUCCESS || error == ACL_ERROR_REPEAT_INITIALIZE) return true;
    ptoi_acl_explain(&process.acl, message, size, "aclInit", error);
    return false;
}

const struct acl *ptoi_acl_open(char *message, size_t size)
{
    ptoi_lock_take(&process.lock);
    const bool is_open = process.users > 0 || open_first(message, size);
    process.users += is_open;
    ptoi_lock_leave(&process.lock);
    return is_open ? &process.acl : NULL;
}

bool ptoi_acl_close(char *message, size_t size)
{
    aclError error = ACL_SUCCESS;
    ptoi_lock_take(&process.lock);
    if (--process.users == 0) {
        if (process.is_initialized) error = process.acl.aclFinalize();
        if (error != ACL_SUCCESS) ptoi_acl_explain(&process.acl, message, size, "aclFinalize", error);
    }
    ptoi_lock_leave(&process.lock);
    return error == ACL_SUCCESS;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

aclError ptoi_acl_take_device(int32_t device)
{
    ptoi_lock_take(&process.lock);
    int at = -1;
    for (int i = 0; i < MAX_DEVICES; i++) {
        if (process.device[i].users == 0 && at < 0) at = i;
        if (process.device[i].users > 0 && process.device[i].device == device) at = i;
        if (at == i && process.device[i].users > 0) break;
    }
    aclError error = at < 0 ? -1 : process.acl.aclrtSetDevice(device);
    if (error == ACL_SUCCESS) {
        process.device[at].device = device;
        process.device[at].users++;
    }
    ptoi_lock_leave(&process.lock);
    return error;
}

aclError ptoi_acl_release_device(int32_t device)
{
    aclError error = ACL_SUCCESS;
    ptoi_lock_take(&process.lock);
    for (int i = 0; i < MAX_DEVICES; i++)
        if (process.device[i].users > 0 && process.device[i].device == device && --process.device[i].users == 0)
            error = process.acl.aclrtResetDevice(device);
    ptoi_lock_leave(&process.lock);
    return error;
}
