/* tensor.h - a view: buffer, type, shape, strides, first element; immutable.
 *
 * Idea       a view of a view refers to the buffer, so chains do not grow.  Tensors come from a slab: one
 *            allocation, at most 192 bytes, and a handle that was released once too often finds a dead tensor.
 * Owner      its references; its last one drops its reference to the buffer.
 * Invariant  every element lies inside the block of the buffer; a tensor without elements has no buffer.
 * Tests      test/runtime/test_tensor.c, test_views.c */
#ifndef PTOI_TENSOR_H
#define PTOI_TENSOR_H
#include "block.h"
#include "pins.h"

enum { TENSOR_SPREAD = 1 << 8 /* flag beside PTO_READ_ONLY: written by the holder of the primary reference */ };

struct PTOTensor {
    struct count count;
    struct buffer *buffer; /* NULL: no elements */
    int64_t first;         /* elements from the block's address to element [0, ..] */
    const void *made;      /* where: the address behind the call */
    uint8_t type, rank;
    uint8_t flags; /* PTO_READ_ONLY */
    int64_t shape[PTO_MAX_RANK], strides[PTO_MAX_RANK];
};
_Static_assert(sizeof(struct PTOTensor) <= 184, "with the link of its slab at most 192 bytes");

/* A view to be made: geometry only. */
struct geometry {
    uint8_t type, rank;
    int64_t first;
    int64_t shape[PTO_MAX_RANK], strides[PTO_MAX_RANK];
};

struct geometry ptoi_geometry_of(const PTOTensor *t);
void ptoi_geometry_row_major(struct geometry *g);
/* The number of elements.  false: it does not fit into 63 bits. */
bool ptoi_geometry_count(const struct geometry *g, int64_t *count);
/* The lowest and the highest element, from the first address on.  false: overflow. */
bool ptoi_geometry_range(const struct geometry *g, int64_t *lowest, int64_t *highest);
bool ptoi_geometry_is_dense(const struct geometry *g);
bool ptoi_geometry_overlaps(const struct geometry *g); /* two indices may be one element */
/* A type, a rank and extents that exist, for `call`; the thread's error otherwise. */
PTOStatus ptoi_geometry_check(const char *call, PTOType type, int rank, const int64_t *shape);

/* A tensor on `buffer`, whose reference it takes over; on failure the reference is dropped.  NULL: no memory. */
PTOTensor *ptoi_tensor_make(struct buffer *buffer, const struct geometry *g, uint32_t flags, const void *made);
/* A view of t with another geometry: retains the buffer. */
PTOTensor *ptoi_tensor_view_of(PTOTensor *t, const struct geometry *g, uint32_t flags, const void *made);

/* PTO_ERR_MISUSE, with the text: t is NULL, or was released already. */
PTOStatus ptoi_tensor_refuse(const PTOTensor *t, const char *call);
static inline bool ptoi_tensor_is_bad(const PTOTensor *t, const char *call)
{
    return __builtin_expect(!t || load_relaxed(&((PTOTensor *)(uintptr_t)t)->count.word) <= 0, 0) &&
           ptoi_tensor_refuse(t, call) != PTO_OK;
}

void *ptoi_tensor_address(const PTOTensor *t); /* under the lock, or while its memory cannot move; NULL: no elements */
int64_t ptoi_tensor_count_of(const PTOTensor *t);
bool ptoi_tensor_is_whole(const PTOTensor *t); /* dense, and all of its block; under the lock */

/* Nobody but the caller sees t or its memory.  Under the lock. */
bool ptoi_tensor_is_unique(PTOTensor *t);

/* It is unique, and all of its memory: the memory may leave. */
bool ptoi_tensor_may_leave(PTOTensor *t);

/* A row-major tensor with the elements of t, read by a caller that keeps writers away. */
PTOTensor *ptoi_tensor_copy(PTOTensor *t, const void *made);
void ptoi_elements_copy(void *to, const void *from, const struct geometry *g); /* to: row-major */

/* t, whose memory has left: its last reference is dropped, and the buffer forgotten. */
void ptoi_tensor_forget(PTOTensor *t);
void ptoi_tensor_visit(void (*fn)(void *tensor, void *arg), void *arg); /* ptoi_slab_visit */

#define PTOI_CALLER __builtin_return_address(0)

#endif
