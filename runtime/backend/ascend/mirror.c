/* mirror.c - memory of the host and memory of the device kept in step.
 *
 * Idea       an array of the program (arrays.c) is copied to the device once, when the first task names it, and back
 *            once, at the end of the run, if a task has written it.  The heap is the device's; what the host awaits is
 *            read, and what the host writes is sent before the next submit.  `dirty` is what the host has written
 *            since, `clean` what it has read and no task has written since.  Tensors of a call stay where they are
 *            (places.c).
 * Owner      the orchestrator.
 * Invariant  no byte is in two spans of `dirty`; what a task may write is in none of `clean`.
 * Blocks     in copies.
 * Tests      test/ascend */
#include "device.h"
#include "shared/atomics.h"
#include <stdio.h>
#include <string.h>

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
            const struct array *b = ptoi_ascend_find(d, from);
            char *last = ptoi_ascend_is_in_heap(d, from) ? d->heap + d->heap_bytes : b ? b->host + b->bytes : to;
            char *device = ptoi_ascend_reach(d, from); /* NULL: an array that goes as a whole, when a task names it */
            if (last > to) last = to;
            if (device) is_fine = ptoi_ascend_upload(d, device, from, last - from);
            if (device) add_clean(d, from, last);
            from = last;
        }
    }
    d->dirty_count = 0;
    return is_fine;
}

/* ---- what the runtime calls -------------------------------------------------------------------------------------- */

/* A worker whose task failed and the orchestrator may ask at once; the text stays as it is until the next run. */
static const char *failure_of(const struct backend *backend)
{
    struct device *d = device_of(backend);
    ptoi_lock_take(&d->lock);
    d->was_reported = true;
    ptoi_lock_leave(&d->lock);
    return d->failure;
}

/* All under the lock: a thread that copies a tensor may lose the device meanwhile. */
static bool is_lost(struct device *d)
{
    char before[sizeof d->failure];
    static const char earlier[] = "ascend: of an earlier run: ";
    ptoi_lock_take(&d->lock);
    const bool lost = load_relaxed(&d->has_failed);
    if (!lost) {
        d->failure[0] = '\0';
        d->was_reported = false;
    } else if (strncmp(d->failure, earlier, strlen(earlier)) != 0) {
        memcpy(before, d->failure, sizeof before);
        snprintf(d->failure, sizeof d->failure, "%s%.900s", earlier, before);
    }
    ptoi_lock_leave(&d->lock);
    return lost;
}

static PTOStatus begin(const struct backend *backend)
{
    struct device *d = device_of(backend);
    if (is_lost(d)) return PTO_ERR_DEVICE;
    d->dirty_count = d->clean_count = d->clean_next = 0;
    if (!ptoi_ascend_enter_from_outside(d)) return PTO_ERR_DEVICE;
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

/* Device memory for an array that a task names.  No worker looks for the array before that task is submitted. */
static bool obtain(struct device *d, struct array *b)
{
    if (b->block) return ptoi_ascend_place(d, b);
    char *const device = ptoi_ascend_take_memory(d, b->bytes, &b->capacity);
    ptoi_lock_take(&d->lock);
    b->device = device;
    ptoi_lock_leave(&d->lock);
    return device != NULL;
}

static PTOStatus submitting(const struct backend *backend, const PTOTaskParam *params, int32_t count)
{
    struct device *d = device_of(backend);
    if (!send_dirty(d)) return PTO_ERR_DEVICE;
    for (int32_t i = 0; i < count; i++) {
        char *from, *to;
        if (!region_of(&params[i], &from, &to) || ptoi_ascend_is_in_heap(d, from)) continue;
        struct array *b = ptoi_ascend_find(d, from);
        if (!b || to > b->host + b->bytes) {
            ptoi_ascend_fail(d, false,
                             "argument %d is not in memory that the device knows: register it with pto_buffer",
                             (int)i + 1);
            return PTO_ERR_ARGUMENT;
        }
        b->is_written |= params[i].kind != PTO_PARAM_INPUT;
        if (b->device) continue;
        if (!ptoi_ascend_enter(d)) return PTO_ERR_DEVICE;
        if (!obtain(d, b)) return PTO_ERR_NOMEM;
        const bool is_fine = b->is_output || ptoi_ascend_upload(d, b->device, b->host, b->bytes);
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
    if (!ptoi_ascend_is_in_heap(d, from)) {
        struct array *b = ptoi_ascend_find(d, from);
        if (b && b->is_newer && !b->is_written) return ptoi_ascend_bring(b) ? PTO_OK : PTO_ERR_DEVICE;
        if (!b || !b->device || !b->is_written) return PTO_OK;
    }
    if (!send_dirty(d) || !ptoi_ascend_enter(d)) return PTO_ERR_DEVICE;
    if (!ptoi_ascend_download(d, from, ptoi_ascend_reach(d, from), bytes)) return PTO_ERR_DEVICE;
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
    struct array *b = ptoi_ascend_is_in_heap(d, from) ? NULL : ptoi_ascend_find(d, from);
    if (b) b->is_touched = true;
    if (b && !b->device) b->is_output = false; /* it goes as a whole, with what the host writes */
    if (d->dirty_count == MAX_DIRTY && !send_dirty(d)) return PTO_ERR_DEVICE;
    d->dirty[d->dirty_count++] = (struct span){from, to};
    return PTO_OK;
}

static PTOStatus end(const struct backend *backend, bool is_good)
{
    struct device *d = device_of(backend);
    const bool is_sent = is_good && send_dirty(d);
    const bool is_fine = ptoi_ascend_let_arrays_go(d, is_sent) && is_sent;
    return is_fine || !is_good ? PTO_OK : PTO_ERR_DEVICE;
}

static void let_go(const struct backend *backend)
{
    if (device_of(backend)->array_count > 0) ptoi_ascend_let_arrays_go(device_of(backend), false);
}

const struct mirror ptoi_ascend_mirror = {.begin = begin,
                                          .buffer = ptoi_ascend_register,
                                          .submitting = submitting,
                                          .submitted = submitted,
                                          .fetch = fetch,
                                          .own = own,
                                          .end = end,
                                          .failure = failure_of,
                                          .holder = ptoi_ascend_holder,
                                          .hand = ptoi_ascend_hand,
                                          .let_go = let_go};
