/* transfer.c - copies between host and device, in pieces through the pinned staging.
 *
 * Owner      the orchestrator, and threads that need what is on the device between two runs: one piece at a time has
 *            the staging, under the lock `copying`.
 * Tests      test/ascend, test/call/test_places.c */
#include "device.h"
#include <string.h>

bool ptoi_ascend_upload(struct device *d, char *device, const char *host, int64_t bytes)
{
    bool is_fine = true;
    for (int64_t at = 0; at < bytes && is_fine; at += STAGING_BYTES) {
        const size_t n = (size_t)(bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES);
        ptoi_lock_take(&d->copying);
        memcpy(d->staging, host + at, n);
        is_fine = ptoi_ascend_is_fine(d, "aclrtMemcpy",
                                      d->acl->aclrtMemcpy(device + at, n, d->staging, n, ACL_MEMCPY_HOST_TO_DEVICE));
        ptoi_lock_leave(&d->copying);
    }
    return is_fine;
}

bool ptoi_ascend_download(struct device *d, char *host, const char *device, int64_t bytes)
{
    bool is_fine = true;
    for (int64_t at = 0; at < bytes && is_fine; at += STAGING_BYTES) {
        const size_t n = (size_t)(bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES);
        ptoi_lock_take(&d->copying);
        is_fine = ptoi_ascend_is_fine(d, "aclrtMemcpy",
                                      d->acl->aclrtMemcpy(d->staging, n, device + at, n, ACL_MEMCPY_DEVICE_TO_HOST));
        if (is_fine) memcpy(host + at, d->staging, n);
        ptoi_lock_leave(&d->copying);
    }
    return is_fine;
}
