/* mirror.c - memory of the host and memory of the device kept in step.
 *
 * Idea       an array of the program is copied to the device once, when the first task names it, and back once, at the
 *            end of the run, if a task has written it.  The heap is the device's; what the host awaits is read, and
 *            what the host writes is sent before the next submit.  `dirty` is what the host has written since, `clean`
 *            what it has read and no task has written since.
 * Owner      the orchestrator; only ptoi_ascend_reach is for workers, and the table of buffers is under the lock for
 *            it.
 * Invariant  no byte is in two spans of `dirty`; what a task may write is in none of `clean`.
 * Blocks     in copies.
 * Tests      test/ascend */
#include "device.h"
#include "shared/atomics.h"
#include <stdlib.h>
#include <string.h>

/* ---- copies, in pieces through the pinned staging ---------------------------------------------------------------- */

static bool upload(struct device *d, char *device, const char *host, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += STAGING_BYTES) {
        const size_t n = (size_t)(bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES);
        memcpy(d->staging, host + at, n);
        if (!ptoi_ascend_is_fine(d, "aclrtMemcpy",
                                 d->acl->aclrtMemcpy(device + at, n, d->staging, n, ACL_MEMCPY_HOST_TO_DEVICE)))
            return false;
    }
    return true;
}

static bool download(struct device *d, char *host, const char *device, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += STAGING_BYTES) {
        const size_t n = (size_t)(bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES);
        if (!ptoi_ascend_is_fine(d, "aclrtMemcpy",
                                 d->acl->aclrtMemcpy(d->staging, n, device + at, n, ACL_MEMCPY_DEVICE_TO_HOST)))
            return false;
        memcpy(host + at, d->staging, n);
    }
    return true;
}

/* ---- device memory for arrays, kept between runs ----------------------------------------------------------------- */

static char *take_memory(struct device *d, int64_t bytes, int64_t *capacity)
{
    int best = -1;
    for (int i = 0; i < d->spare_count; i++)
        if (d->spare[i].capacity >= bytes && (best < 0 || d->spare[i].capacity < d->spare[best].capacity)) best = i;
    if (best >= 0 && d->spare[best].capacity / 2 <= bytes) {
        char *memory = d->spare[best].device;
        *capacity = d->spare[best].capacity;
        d->spare[best] = d->spare[--d->spare_count];
        return memory;
    }
    void *memory = NULL;
    if (!ptoi_ascend_is_fine(d, "aclrtMalloc", d->acl->aclrtMalloc(&memory, (size_t)bytes, ACL_MEM_MALLOC_HUGE_FIRST)))
        return NULL;
    *capacity = bytes;
    return memory;
}

static void keep_memory(struct device *d, struct buffer *b)
{
    if (!b->device) return;
    if (d->spare_count == d->spare_room) {
        const int room = d->spare_room ? 2 * d->spare_room : 16;
        struct block_memory *grown = realloc(d->spare, (size_t)room * sizeof *grown);
        if (!grown) {
            ptoi_ascend_is_fine(d, "aclrtFree", d->acl->aclrtFree(b->device));
            b->device = NULL;
            return;
        }
        d->spare = grown;
        d->spare_room = room;
    }
    d->spare[d->spare_count++] = (struct block_memory){.device = b->device, .capacity = b->capacity};
    b->device = NULL;
}

bool ptoi_ascend_free_memory(struct device *d)
{
    bool is_fine = true;
    for (int i = 0; i < d->buffer_count; i++) keep_memory(d, &d->buffer[i]);
    while (d->spare_count > 0)
        is_fine &= ptoi_ascend_is_fine(d, "aclrtFree", d->acl->aclrtFree(d->spare[--d->spare_count].device));
    return is_fine;
}

/* ---- the table of arrays ----------------------------------------------------------------------------------------- */

/* The first that ends behind the address; buffer_count: none does. */
static int lower_buffer(const struct device *d, const char *address)
{
    int low = 0, high = d->buffer_count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (d->buffer[middle].host + d->buffer[middle].bytes > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static struct buffer *find_buffer(struct device *d, const char *address)
{
    const int at = lower_buffer(d, address);
    return at < d->buffer_count && d->buffer[at].host <= address ? &d->buffer[at] : NULL;
}

static bool is_in_heap(const struct device *d, const char *address)
{
    return address >= d->heap && address < d->heap + d->heap_bytes;
}

char *ptoi_ascend_reach(struct device *d, const void *host)
{
    const char *address = host;
    if (is_in_heap(d, address)) return d->device_heap + (address - d->heap);
    ptoi_lock_take(&d->lock);
    const struct buffer *b = find_buffer(d, address);
    char *device = b && b->device ? b->device + (address - b->host) : NULL;
    ptoi_lock_leave(&d->lock);
    return device;
}

static PTOStatus register_buffer(const struct backend *backend, const void *base, int64_t bytes)
{
    struct device *d = device_of(backend);
    char *from = (char *)(uintptr_t)base, *to = from + bytes;
    PTOStatus status = PTO_OK;
    if (is_in_heap(d, from)) return PTO_OK; /* an entry that is called in a run may be given what the run has made */
    ptoi_lock_take(&d->lock);
    int at = lower_buffer(d, from), end = at;
    while (end < d->buffer_count && d->buffer[end].host < to) end++;
    const bool is_known = end == at + 1 && d->buffer[at].host <= from && d->buffer[at].host + d->buffer[at].bytes >= to;
    for (int i = at; i < end && !is_known; i++)
        if (d->buffer[i].device) status = PTO_ERR_ARGUMENT;
    if (!is_known && status == PTO_OK && d->buffer_count == d->buffer_room) {
        const int room = d->buffer_room ? 2 * d->buffer_room : 64;
        struct buffer *grown = realloc(d->buffer, (size_t)room * sizeof *grown);
        if (grown)
            d->buffer = grown, d->buffer_room = room;
        else
            status = PTO_ERR_NOMEM;
    }
    if (!is_known && status == PTO_OK) {
        for (int i = at; i < end; i++) { /* one for all that overlap: they hold the same bytes */
            if (d->buffer[i].host < from) from = d->buffer[i].host;
            if (d->buffer[i].host + d->buffer[i].bytes > to) to = d->buffer[i].host + d->buffer[i].bytes;
        }
        memmove(&d->buffer[at + 1], &d->buffer[end], (size_t)(d->buffer_count - end) * sizeof *d->buffer);
        d->buffer_count += 1 - (end - at);
        d->buffer[at] = (struct buffer){.host = from, .bytes = to - from};
    }
    ptoi_lock_leave(&d->lock);
    if (status == PTO_ERR_ARGUMENT) ptoi_ascend_fail(d, false, "an array overlaps in part one that the device has");
    if (status == PTO_ERR_NOMEM) ptoi_ascend_fail(d, false, "no memory for the table of arrays");
    return status;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static bool touches(const struct span *s, const char *from, const char *to) { return s->from < to && from < s->to; }

static bool is_current(const struct device *d, const char *from, const char *to)
{
    for (int i = 0; i < d->dirty_count; i++)
        if (d->dirty[i].from <= from && to <= d->dirty[i].to) return true;
    for (int i = 0; i < d->clean_count; i++)
        if (d->clean[i].from <= from && to <= d->clean[i].to) return true;
    return false;
}

static void add_clean(struct device *d, char *from, char *to)
{
    if (d->clean_count < MAX_CLEAN) {
        d->clean[d->clean_count++] = (struct span){from, to};
        return;
    }
    d->clean[d->clean_next] = (struct span){from, to}; /* to forget one costs a copy, no more */
    d->clean_next = (d->clean_next + 1) % MAX_CLEAN;
}

/* A task may write these bytes. */
static void forget_clean(struct device *d, const char *from, const char *to)
{
    for (int i = d->clean_count; i-- > 0;)
        if (touches(&d->clean[i], from, to)) d->clean[i] = d->clean[--d->clean_count];
}

static bool send_dirty(struct device *d)
{
    bool is_fine = d->dirty_count == 0 || ptoi_ascend_enter(d);
    for (int i = 0; i < d->dirty_count && is_fine; i++) {
        char *from = d->dirty[i].from, *to = d->dirty[i].to;
        while (from < to && is_fine) { /* arrays that touch on the host need not on the device */
            const struct buffer *b = find_buffer(d, from);
            char *last = is_in_heap(d, from) ? d->heap + d->heap_bytes : b ? b->host + b->bytes : to;
            char *device = ptoi_ascend_reach(d, from); /* NULL: an array that goes as a whole, when a task names it */
            if (last > to) last = to;
            if (device) is_fine = upload(d, device, from, last - from);
            if (device) add_clean(d, from, last);
            from = last;
        }
    }
    d->dirty_count = 0;
    return is_fine;
}

/* ---- what the runtime calls -------------------------------------------------------------------------------------- */

static const char *failure_of(const struct backend *backend)
{
    device_of(backend)->was_reported = true;
    return device_of(backend)->failure;
}

static PTOStatus begin(const struct backend *backend)
{
    struct device *d = device_of(backend);
    if (load_acquire(&d->has_failed, LOST)) {
        if (strncmp(d->failure, "ascend: of an earlier", 21) != 0) {
            char before[sizeof d->failure];
            memcpy(before, d->failure, sizeof before);
            d->failure[0] = '\0';
            ptoi_ascend_fail(d, true, "of an earlier run: %.900s", before);
        }
        return PTO_ERR_DEVICE;
    }
    d->failure[0] = '\0';
    d->was_reported = false;
    d->dirty_count = d->clean_count = d->clean_next = 0;
    if (!ptoi_ascend_enter(d)) return PTO_ERR_DEVICE;
    if (d->is_zeroed) return PTO_OK;
    d->is_zeroed =
        ptoi_ascend_is_fine(d, "aclrtMemset", d->acl->aclrtMemset(d->device_heap, d->heap_bytes, 0, d->heap_bytes));
    return d->is_zeroed ? PTO_OK : PTO_ERR_DEVICE;
}

/* The bytes from the lowest to the highest that a parameter names; false: none. */
static bool region_of(const PTOTaskParam *p, char **from, char **to)
{
    if (p->kind != PTO_PARAM_INPUT && p->kind != PTO_PARAM_OUTPUT && p->kind != PTO_PARAM_INOUT &&
        p->kind != PTO_PARAM_INOUT_PART && p->kind != PTO_PARAM_ACC)
        return false;
    char *base = p->kind != PTO_PARAM_OUTPUT ? p->buffer : p->ref ? *(void **)p->ref : NULL;
    if (!base) return false;
    const int64_t element = p->rank > 0 ? pto_type_bytes((PTOType)p->type) : p->bytes;
    int64_t low = p->at, high = p->at, dense = 1;
    for (int k = p->rank - 1; k >= 0; k--) {
        if (p->shape[k] <= 0) return false;
        const int64_t reach = (p->shape[k] - 1) * (p->stride ? p->stride[k] : dense);
        dense *= p->shape[k];
        if (reach < 0)
            low += reach;
        else
            high += reach;
    }
    *from = base + low * element;
    *to = base + (high + 1) * element;
    return *from < *to;
}

static PTOStatus submitting(const struct backend *backend, const PTOTaskParam *params, int32_t count)
{
    struct device *d = device_of(backend);
    if (!send_dirty(d)) return PTO_ERR_DEVICE;
    for (int32_t i = 0; i < count; i++) {
        char *from, *to;
        if (!region_of(&params[i], &from, &to) || is_in_heap(d, from)) continue;
        struct buffer *b = find_buffer(d, from);
        if (!b || to > b->host + b->bytes) {
            ptoi_ascend_fail(d, false,
                             "argument %d is not in memory that the device knows: register it with pto_buffer",
                             (int)i + 1);
            return PTO_ERR_ARGUMENT;
        }
        b->is_written |= params[i].kind != PTO_PARAM_INPUT;
        if (b->device) continue;
        if (!ptoi_ascend_enter(d)) return PTO_ERR_DEVICE;
        char *device = take_memory(d, b->bytes, &b->capacity);
        if (!device) return PTO_ERR_NOMEM;
        const bool is_fine = upload(d, device, b->host, b->bytes);
        ptoi_lock_take(&d->lock);
        b->device = device;
        ptoi_lock_leave(&d->lock);
        if (!is_fine) return PTO_ERR_DEVICE;
    }
    return PTO_OK;
}

static void submitted(const struct backend *backend, const PTOTaskParam *params, int32_t count)
{
    struct device *d = device_of(backend);
    for (int32_t i = 0; i < count && d->clean_count > 0; i++) {
        char *from, *to;
        if (params[i].kind != PTO_PARAM_INPUT && region_of(&params[i], &from, &to)) forget_clean(d, from, to);
    }
}

static PTOStatus fetch(const struct backend *backend, const void *address, int64_t bytes)
{
    struct device *d = device_of(backend);
    char *from = (char *)(uintptr_t)address, *to = from + bytes;
    if (is_current(d, from, to)) return PTO_OK;
    if (!is_in_heap(d, from)) {
        const struct buffer *b = find_buffer(d, from);
        if (!b || !b->device || !b->is_written) return PTO_OK;
    }
    if (!send_dirty(d) || !ptoi_ascend_enter(d)) return PTO_ERR_DEVICE;
    if (!download(d, from, ptoi_ascend_reach(d, from), bytes)) return PTO_ERR_DEVICE;
    add_clean(d, from, to);
    return PTO_OK;
}

static PTOStatus own(const struct backend *backend, const void *address, int64_t bytes)
{
    struct device *d = device_of(backend);
    char *from = (char *)(uintptr_t)address, *to = from + bytes;
    for (int i = d->dirty_count; i-- > 0;) { /* one span for all that touch, so that a loop over an array makes one */
        if (d->dirty[i].from > to || from > d->dirty[i].to) continue;
        if (d->dirty[i].from < from) from = d->dirty[i].from;
        if (d->dirty[i].to > to) to = d->dirty[i].to;
        d->dirty[i] = d->dirty[--d->dirty_count];
    }
    if (d->dirty_count == MAX_DIRTY && !send_dirty(d)) return PTO_ERR_DEVICE;
    d->dirty[d->dirty_count++] = (struct span){from, to};
    return PTO_OK;
}

static PTOStatus end(const struct backend *backend, bool is_good)
{
    struct device *d = device_of(backend);
    bool is_fine = is_good && send_dirty(d);
    for (int i = 0; i < d->buffer_count && is_fine; i++) {
        struct buffer *b = &d->buffer[i];
        if (b->device && b->is_written) is_fine = download(d, b->host, b->device, b->bytes);
    }
    for (int i = 0; i < d->buffer_count; i++) keep_memory(d, &d->buffer[i]);
    d->buffer_count = 0;
    return is_fine || !is_good ? PTO_OK : PTO_ERR_DEVICE;
}

const struct mirror ptoi_ascend_mirror = {.begin = begin,
                                          .buffer = register_buffer,
                                          .submitting = submitting,
                                          .submitted = submitted,
                                          .fetch = fetch,
                                          .own = own,
                                          .end = end,
                                          .failure = failure_of};
