/* region.h - the bytes a view touches, and whether two views share any.
 *
 * Normal form: outer dimensions by descending byte stride, neighbours that join into one are joined, extent 1 dropped,
 * the innermost contiguous bytes are `run`.  So two spellings of one set of bytes mostly become equal structs. */
#ifndef PTOI_REGION_H
#define PTOI_REGION_H
#include <pto/pto_types.h>

struct region_dim {
    int64_t count;        /* > 1 */
    int64_t stride_bytes; /* > 0 */
};

struct region {
    int64_t low, high; /* first byte; one past the last byte.  Absolute addresses of the device's memory */
    int64_t run;       /* contiguous bytes at each place; 0: empty */
    int32_t rank;      /* outer dimensions left, 0: one run */
    struct region_dim dim[PTO_MAX_RANK];
};

/* A region with one outer dimension at most, wherever it begins: so many rows of `run` bytes, row_bytes apart. */
struct rows {
    int64_t run, count, row_bytes;
};

/* `address` is that of the element whose indices are all 0; a negative stride steps down from it.  false: a negative
 * extent or address, or arithmetic overflow.  stride NULL: row-major.  Strides of 0 are broadcast. */
bool ptoi_region_make(struct region *r, int64_t address, int64_t element_bytes, int32_t rank, const int64_t *shape,
                      const int64_t *stride);

bool ptoi_region_overlaps(const struct region *a, const struct region *b);         /* exact */
bool ptoi_region_contains(const struct region *outer, const struct region *inner); /* true only if proved */
int64_t ptoi_region_bytes(const struct region *r);                                 /* bytes touched */

static inline bool ptoi_region_equals(const struct region *a, const struct region *b)
{
    if (a->low != b->low || a->high != b->high || a->run != b->run || a->rank != b->rank) return false;
    for (int32_t k = 0; k < a->rank; k++)
        if (a->dim[k].count != b->dim[k].count || a->dim[k].stride_bytes != b->dim[k].stride_bytes) return false;
    return true;
}

#endif
