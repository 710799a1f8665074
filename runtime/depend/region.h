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

/* `bytes` neighbouring bytes; bytes >= 0.  false: arithmetic overflow. */
static inline bool ptoi_region_make_flat(struct region *r, int64_t address, int64_t bytes)
{
    r->low = address;
    r->run = bytes;
    r->rank = 0;
    return address >= 0 && !__builtin_add_overflow(address, bytes, &r->high);
}

/* false: a negative extent or stride, or arithmetic overflow.  stride NULL: row-major.  Strides of 0 are broadcast. */
bool ptoi_region_make_any(struct region *r, int64_t address, int64_t element_bytes, int32_t rank, const int64_t *shape,
                          const int64_t *stride);

/* What nearly every view is: rows of neighbouring elements that do not overlap.  false: it is none of these, or large
 * enough for something to overflow: nothing does where no number has more than 28 bits, and the address no more than
 * 62. */
static inline bool ptoi_region_make_rows(struct region *r, int64_t address, int64_t element_bytes, int64_t rows,
                                         int64_t columns, int64_t stride)
{
    const uint64_t small =
        (uint64_t)(rows - 1) | (uint64_t)(columns - 1) | (uint64_t)stride | (uint64_t)(stride - columns);
    if (small >> 28 || (uint64_t)address >> 62 || (uint64_t)(element_bytes - 1) >= 16) return false;
    const int64_t run = columns * element_bytes, step = stride * element_bytes, bytes = step * (rows - 1) + run;
    const bool is_run = rows == 1 || stride == columns;
    r->low = address;
    r->high = address + bytes;
    r->run = is_run ? bytes : run;
    r->rank = !is_run;
    r->dim[0] = (struct region_dim){rows, step}; /* says nothing of a run */
    return true;
}

/* The same as ptoi_region_make_any. */
static inline bool ptoi_region_make(struct region *r, int64_t address, int64_t element_bytes, int32_t rank,
                                    const int64_t *shape, const int64_t *stride)
{
    if (stride && rank == 2 && stride[1] == 1 &&
        ptoi_region_make_rows(r, address, element_bytes, shape[0], shape[1], stride[0]))
        return true;
    if (stride && rank == 1 && stride[0] == 1 &&
        ptoi_region_make_rows(r, address, element_bytes, 1, shape[0], shape[0]))
        return true;
    return ptoi_region_make_any(r, address, element_bytes, rank, shape, stride);
}
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
