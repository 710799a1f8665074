/* array.h - an array in host memory, C order, with the shape that goes with it.
 * Idea       a shape first (array_measure), then storage (array_allocate), so that sizes are known good before memory
 *            is asked for.
 * Owner      the owner of the struct frees data with array_free; a zeroed struct holds nothing.
 * Invariant  bytes == count * size of an element and fits; data is 64-byte aligned, NULL when bytes is 0.
 * Tests      test/runtime/test_npy.c, test_bind.c
 */
#ifndef PTO_HOST_ARRAY_H
#define PTO_HOST_ARRAY_H
#include <pto/pto_runtime.h>
#include <stdlib.h>
#include <string.h>

struct host_array {
    PTOType type;
    int32_t rank;
    int64_t shape[PTO_MAX_RANK];
    int64_t count; /* elements */
    int64_t bytes;
    void *data;
    bool shared;   /* storage is memory that a worker process sees too */
    bool reserved; /* storage is addresses only: memory is obtained page by page where it is touched */
};

/* count and bytes from type and shape; false when they do not fit.  An extent of 0 makes them 0, whatever the others
 * are. */
static inline bool array_measure(struct host_array *a)
{
    a->count = 1;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] == 0) a->count = 0;
    for (int d = 0; d < a->rank; d++)
        if (__builtin_mul_overflow(a->count, a->shape[d], &a->count)) return false;
    /* Room for the alignment and for a header, so that no later sum can overflow. */
    return !__builtin_mul_overflow(a->count, pto_type_bytes(a->type), &a->bytes) && a->bytes < INT64_MAX / 2;
}

/* Storage for bytes, zeroed when asked; false when there is none. */
static inline bool array_allocate(struct host_array *a, bool zeroed)
{
    a->data = NULL;
    if (a->bytes == 0) return true;
    if (a->shared || a->reserved) { /* zeroed as it is */
        a->data = pto_shared_alloc(a->bytes);
        return a->data != NULL;
    }
    if (posix_memalign(&a->data, 64, (size_t)a->bytes) != 0) {
        a->data = NULL;
        return false;
    }
    if (zeroed) memset(a->data, 0, (size_t)a->bytes);
    return true;
}

static inline void array_free(struct host_array *a)
{
    if ((a->shared || a->reserved) && a->data)
        pto_shared_free(a->data, a->bytes);
    else
        free(a->data);
    a->data = NULL;
}

/* "f32[4, 512, 512]" into text; returns text. */
const char *ptoi_array_text(const struct host_array *a, char *text, size_t size);
#endif
