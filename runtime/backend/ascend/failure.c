/* failure.c - what a call of the device's library returned: the first failure is kept, with its text.
 *
 * Owner      any thread; the text is under the device's lock.
 * Tests      test/ascend */
#include "device.h"
#include "shared/atomics.h"
#include <stdarg.h>
#include <stdio.h>

void ptoi_ascend_fail(struct device *d, bool is_lost, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptoi_lock_take(&d->lock);
    if (!d->failure[0]) {
        const int n = snprintf(d->failure, sizeof d->failure, "ascend: ");
        vsnprintf(d->failure + n, sizeof d->failure - (size_t)n, format, args);
    }
    if (is_lost) store_relaxed(&d->has_failed, true);
    ptoi_lock_leave(&d->lock);
    va_end(args);
}

bool ptoi_ascend_is_fine(struct device *d, const char *call, aclError error)
{
    if (error == ACL_SUCCESS) return true;
    char text[sizeof d->failure - 64];
    ptoi_acl_explain(d->acl, text, sizeof text, call, error);
    ptoi_ascend_fail(d, true, "%s", text);
    return false;
}

static _Thread_local uint64_t current; /* serial of the device whose context this thread has */

bool ptoi_ascend_enter(struct device *d)
{
    if (current == d->serial) return true;
    if (!ptoi_ascend_is_fine(d, "aclrtSetCurrentContext", d->acl->aclrtSetCurrentContext(d->context))) return false;
    current = d->serial;
    return true;
}

bool ptoi_ascend_enter_from_outside(struct device *d)
{
    current = 0;
    return ptoi_ascend_enter(d);
}
