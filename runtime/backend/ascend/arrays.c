/* arrays.c - the table of the arrays that a program uses on a device.
 *
 * Idea       sorted by address, apart from each other; each is copied as a whole.
 * Owner      the orchestrator; ptoi_ascend_reach is for workers too, so the table changes under the lock.
 * Tests      test/ascend */
#include "device.h"
#include <stdlib.h>
#include <string.h>

/* The first that ends behind the address; array_count: none does. */
static int lower_array(const struct device *d, const char *address)
{
    int low = 0, high = d->array_count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (d->array[middle].host + d->array[middle].bytes > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct array *ptoi_ascend_find(struct device *d, const char *address)
{
    const int at = lower_array(d, address);
    return at < d->array_count && d->array[at].host <= address ? &d->array[at] : NULL;
}

bool ptoi_ascend_is_in_heap(const struct device *d, const char *address)
{
    return address >= d->heap && address < d->heap + d->heap_bytes;
}

char *ptoi_ascend_reach(struct device *d, const void *host)
{
    const char *address = host;
    if (ptoi_ascend_is_in_heap(d, address)) return d->device_heap + (address - d->heap);
    ptoi_lock_take(&d->lock);
    const struct array *a = ptoi_ascend_find(d, address);
    char *device = a && a->device ? a->device + (address - a->host) : NULL;
    ptoi_lock_leave(&d->lock);
    return device;
}

PTOStatus ptoi_ascend_register(const struct backend *backend, const void *base, int64_t bytes)
{
    struct device *d = device_of(backend);
    char *from = (char *)(uintptr_t)base, *to = from + bytes;
    PTOStatus status = PTO_OK;
    if (ptoi_ascend_is_in_heap(d, from))
        return PTO_OK; /* an entry that is called in a run may be given what the run has made */
    ptoi_lock_take(&d->lock);
    int at = lower_array(d, from), end = at;
    while (end < d->array_count && d->array[end].host < to) end++;
    const bool is_known = end == at + 1 && d->array[at].host <= from && d->array[at].host + d->array[at].bytes >= to;
    for (int i = at; i < end && !is_known; i++)
        if (d->array[i].device || d->array[i].block) status = PTO_ERR_ARGUMENT;
    if (!is_known && status == PTO_OK && d->array_count == d->array_room) {
        const int room = d->array_room ? 2 * d->array_room : 64;
        struct array *grown = realloc(d->array, (size_t)room * sizeof *grown);
        if (grown)
            d->array = grown, d->array_room = room;
        else
            status = PTO_ERR_NOMEM;
    }
    if (!is_known && status == PTO_OK) {
        for (int i = at; i < end; i++) { /* one for all that overlap: they hold the same bytes */
            if (d->array[i].host < from) from = d->array[i].host;
            if (d->array[i].host + d->array[i].bytes > to) to = d->array[i].host + d->array[i].bytes;
        }
        memmove(&d->array[at + 1], &d->array[end], (size_t)(d->array_count - end) * sizeof *d->array);
        d->array_count += 1 - (end - at);
        d->array[at] = (struct array){.host = from, .bytes = to - from};
    }
    ptoi_lock_leave(&d->lock);
    if (status == PTO_ERR_ARGUMENT) ptoi_ascend_fail(d, false, "an array overlaps in part one that the device has");
    if (status == PTO_ERR_NOMEM) ptoi_ascend_fail(d, false, "no memory for the table of arrays");
    return status;
}
