/* pto_registry.h - tensors of the host: counted handles of views, zero-copy slices, foreign memory, DLPack, Arrow.
 *
 * Objects         a block is memory and how it is freed; a buffer is an identity for overlap (views of one buffer may
 *                 share elements, views of two never do); a PTOTensor is an immutable view: buffer, type, shape,
 *                 strides, first element.  Only the elements change.
 * Ownership       a PTOTensor * that a function returns is a reference that the caller owns and gives back with
 *                 pto_tensor_release.  Functions borrow their arguments, except where the name is take, take_*, or
 *                 their comment says so.  Memory is freed exactly once, after its last use.
 * Copies          no function copies elements unless its name says so: copy, dense, writable, take of a shared tensor.
 *                 Two buffers that share a block after pto_tensor_detach are separated, with a copy, when one of them
 *                 is written or a second address of the block becomes known.
 * Threads         retain, release, views, describe: any thread, never block.  Everything else: any thread, may block;
 *                 foreign code is called with no lock of the library held.  After a fork the child may only release,
 *                 unless no other thread of the parent was in a call of the library.
 * Status          a function that returns a pointer returns NULL on failure: pto_last_status has the status of this
 *                 thread's last such failure and pto_last_error(NULL) its text.  Nothing is half done after a failure.
 *                 Misuse is PTO_ERR_MISUSE; releasing more often than retained ends the program.
 * Details         docs/registry.md */
#ifndef PTO_REGISTRY_H
#define PTO_REGISTRY_H
#include <pto/pto_pool.h>
#include <pto/pto_status.h>
#include <pto/pto_types.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PTOTensor PTOTensor; /* a view of a buffer: opaque, immutable, counted */

typedef enum PTOAccess {
    PTO_READ = 1,
    PTO_WRITE = 2,     /* every element will be written; old values are not needed */
    PTO_READ_WRITE = 3 /* old values stay where nothing is written */
} PTOAccess;

/* Flags of PTOForeign and PTODescription. */
enum {
    PTO_READ_ONLY = 1, /* nobody may write through this tensor */
    PTO_MAY_MOVE = 2,  /* PTOForeign: nobody keeps the address, so a copy on write may leave it */
    PTO_UNDEFINED = 4  /* PTODescription: a failed run may have written parts of it */
};

/* Memory of somebody else, described for pto_tensor_attach.  Strides are in elements; NULL: row-major. */
typedef struct PTOForeign {
    void *address;  /* of the memory; NULL only for 0 bytes */
    int64_t bytes;  /* of the memory, all of the view lies inside */
    int32_t device; /* 0: the host; 1 + n: device n of the backend ascend, and address is one of the device */
    PTOType type;
    int32_t rank; /* 0 to PTO_MAX_RANK */
    const int64_t *shape, *strides;
    uint32_t flags;          /* PTO_READ_ONLY, PTO_MAY_MOVE */
    void (*release)(void *); /* called once with context after the last use, from any thread; NULL: nothing is called */
    void *context;
    int64_t first; /* elements from address to element [0, ..]; more than 0 with negative strides */
} PTOForeign;

/* Memory that left the library.  Who holds it calls release(context) when it is no longer needed; release is NULL
 * where nothing needs to be called. */
typedef struct PTODetached {
    void *address;
    int64_t bytes;
    int32_t device;
    void (*release)(void *);
    void *context;
} PTODetached;

/* What pto_tensor_describe fills.  Strides are in elements. */
typedef struct PTODescription {
    PTOType type;
    int32_t rank;
    int64_t shape[PTO_MAX_RANK], strides[PTO_MAX_RANK];
    uint64_t buffer;    /* the number of the buffer, unique in the process; 0: a tensor without elements has none */
    int32_t device;     /* 0: the host; 1 + n: foreign memory on device n */
    int64_t references; /* to this tensor; a snapshot, and -1 in the spread form */
    int64_t tensors;    /* on the buffer */
    int64_t pins;       /* of runs and maps on the memory */
    uint32_t flags;     /* PTO_READ_ONLY, PTO_UNDEFINED */
} PTODescription;

/* The status of this thread's last call of this header that failed; PTO_OK if none has.
 * Caller     any thread.  Never blocks.  Status: none of its own. */
PTO_API PTOStatus pto_last_status(void);

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

/* Makes a row-major tensor with memory of the pool (NULL: the pool of the host).  Elements are not cleared.  rank 0 is
 * one element; an extent of 0 makes a tensor without elements and without a buffer.
 * Caller     any thread.  Never blocks for long: the system may be asked for memory.
 * Status     NULL: PTO_ERR_ARGUMENT: a type, rank or extent that is none; PTO_ERR_OVERFLOW: more bytes than 2^63;
 *            PTO_ERR_NOMEM. */
PTO_API PTOTensor *pto_tensor_new(PTOPool *pool, PTOType type, int rank, const int64_t *shape);

/* Makes a tensor of foreign memory, which is not copied.  f, shape and strides may die on return.  release is called
 * once, after the last use of the memory, also if the process forks; a failed call has taken nothing and calls nothing.
 * Memory on a device may be attached before a runtime opens the device: runs there work in it, the host and other
 * devices read a copy, and no other may write it (PTO_ERR_UNSUPPORTED then).  While no runtime has the device open,
 * elements that the host has no copy of are PTO_ERR_DEVICE.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_ARGUMENT: NULL memory that is not empty, a bad type, rank, extent, flag or device, data that
 *            is not aligned for its type; PTO_ERR_BOUNDS: an element outside of the bytes; PTO_ERR_OVERFLOW;
 *            PTO_ERR_NOMEM; PTO_ERR_MISUSE: f is NULL. */
PTO_API PTOTensor *pto_tensor_attach(const PTOForeign *f);

/* One more reference to t, which is returned.  NULL is ignored.  The caller holds a reference.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API PTOTensor *pto_tensor_retain(PTOTensor *t);

/* Drops a reference.  Who drops the last one frees the view, and the memory if nothing else uses it; a release function
 * of foreign memory is then called on this thread.  NULL is ignored.  One release too many ends the program.
 * Caller     any thread, in a child of a fork too.  Never blocks.  Status: none. */
PTO_API void pto_tensor_release(PTOTensor *t);

/* From now on many threads retain and release t without sharing a cache line.  The caller holds the primary reference,
 * and its pto_tensor_unspread ends the form; a plain release of another reference may come from any thread.  Where the
 * system has no membarrier, or there is no memory for the slots, nothing changes.
 * Caller     the holder of the primary reference, once.  Never blocks.  Status: none. */
PTO_API void pto_tensor_spread(PTOTensor *t);

/* Ends the spread form and drops the primary reference, as pto_tensor_release does.  For a tensor that is not spread it
 * is pto_tensor_release.  NULL is ignored.
 * Caller     the thread that owns the primary reference.  Blocks for some microseconds.  Status: none. */
PTO_API void pto_tensor_unspread(PTOTensor *t);

/* Elements first, first + step, ... (count of them) of dimension dim.  step may be negative, not 0.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_ARGUMENT: no such dimension, step 0, count < 0; PTO_ERR_BOUNDS: an element outside;
 *            PTO_ERR_NOMEM; PTO_ERR_MISUSE: t is NULL. */
PTO_API PTOTensor *pto_tensor_slice(PTOTensor *t, int dim, int64_t first, int64_t count, int64_t step);

/* The elements with index `at` in dimension dim; the dimension is dropped.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_ARGUMENT: no such dimension; PTO_ERR_BOUNDS: at is outside; PTO_ERR_NOMEM; PTO_ERR_MISUSE.
 */
PTO_API PTOTensor *pto_tensor_index(PTOTensor *t, int dim, int64_t at);

/* The same elements with dimension order[i] of t as dimension i.  order NULL: reversed.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_ARGUMENT: order is no permutation; PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOTensor *pto_tensor_transpose(PTOTensor *t, const int *order);

/* The same elements in row-major order with another shape of as many elements.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_WOULD_COPY: the strides do not allow it (pto_tensor_dense first); PTO_ERR_ARGUMENT: another
 *            number of elements, a bad rank or extent; PTO_ERR_OVERFLOW; PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOTensor *pto_tensor_reshape(PTOTensor *t, int rank, const int64_t *shape);

/* A read-only view of the shape, with stride 0 where an extent of 1 is repeated.  Dimensions are matched from the last.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_ARGUMENT: the shapes do not match, a bad rank or extent; PTO_ERR_OVERFLOW; PTO_ERR_NOMEM;
 *            PTO_ERR_MISUSE. */
PTO_API PTOTensor *pto_tensor_broadcast(PTOTensor *t, int rank, const int64_t *shape);

/* Another tensor of the same view and buffer: both see what is written through either.
 * Caller     any thread.  Never blocks.  Status: NULL: PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOTensor *pto_tensor_share(PTOTensor *t);

/* Another tensor of the same view with a buffer of its own: it keeps today's elements.  The memory is shared until one
 * of the two is written.  Where a run writes t at the moment, today is the end of the run.  Where a writable map or a
 * writable export of t is out, nobody could notice the first write, so the elements are copied at once.
 * Caller     any thread.  Never blocks, except for that copy.
 * Status     NULL: PTO_ERR_OVERFLOW, of that copy; PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOTensor *pto_tensor_detach(PTOTensor *t);

/* A row-major tensor with memory of its own and the same elements.
 * Caller     any thread.  Blocks until runs that write t have ended.
 * Status     NULL: PTO_ERR_OVERFLOW: more bytes than 2^63; PTO_ERR_NOMEM; PTO_ERR_BUSY: a run writes t, and the caller
 *            is in a run or in a kernel; PTO_ERR_DEVICE: a device that is not open, or has failed, has the elements;
 *            PTO_ERR_MISUSE. */
PTO_API PTOTensor *pto_tensor_copy(PTOTensor *t);

/* One more reference to t where it is row-major and contiguous, else pto_tensor_copy.
 * Caller     any thread.  Blocks as pto_tensor_copy does.  Status: as pto_tensor_copy. */
PTO_API PTOTensor *pto_tensor_dense(PTOTensor *t);

/* Makes *t a tensor whose memory nobody else sees.  If *t is unique (one reference, one tensor on the buffer, no pin,
 * export or map, not read-only) and its memory is the library's, or was attached with PTO_MAY_MOVE, it stays; else a
 * copy takes its place and the reference to the old one is dropped.
 * Caller     any thread.  Blocks as pto_tensor_copy does.
 * Status     PTO_OK; PTO_ERR_OVERFLOW, PTO_ERR_NOMEM, PTO_ERR_BUSY, PTO_ERR_DEVICE: *t stays; PTO_ERR_MISUSE: NULL. */
PTO_API PTOStatus pto_tensor_writable(PTOTensor **t);

/* The memory of *t leaves the library with its release function, and *t becomes NULL.  A tensor that is shared, in use,
 * or not the whole of its memory in row-major order is copied, and the copy leaves.  A tensor without elements leaves
 * address NULL and no release function.
 * Caller     any thread.  Blocks as pto_tensor_copy does.
 * Status     PTO_OK; PTO_ERR_OVERFLOW, PTO_ERR_NOMEM, PTO_ERR_BUSY, PTO_ERR_DEVICE: *t stays; PTO_ERR_MISUSE: NULL. */
PTO_API PTOStatus pto_tensor_take(PTOTensor **t, PTODetached *out);

/* The address of element [0, ..] on the host, until the matching pto_tensor_unmap.  Maps count; several may be open.
 * Waits for runs: PTO_READ for those that write the memory, the others for all that use it.  What a device wrote is
 * copied back first.  A tensor without elements gives an address that must not be read.
 * Caller     any thread.  Blocks as pto_tensor_to_dlpack does.
 * Status     NULL: PTO_ERR_READ_ONLY; PTO_ERR_BUSY: it would wait, and the caller is in a run or in a kernel;
 *            PTO_ERR_OVERLAP: two indices are one element, for writing; PTO_ERR_NOMEM; PTO_ERR_DEVICE: as
 *            pto_tensor_copy; PTO_ERR_UNSUPPORTED: foreign memory on a device, for writing; PTO_ERR_ARGUMENT:
 *            access; PTO_ERR_MISUSE. */
PTO_API void *pto_tensor_map(PTOTensor *t, PTOAccess access);

/* Ends the last map of t, of the calling thread if it has one.
 * Caller     any thread.  Never blocks.  Status: none; without a map it is PTO_ERR_MISUSE for pto_last_status. */
PTO_API void pto_tensor_unmap(PTOTensor *t);

/* Fills *out.
 * Caller     any thread.  Never blocks.  Status: PTO_OK; PTO_ERR_MISUSE: NULL. */
PTO_API PTOStatus pto_tensor_describe(const PTOTensor *t, PTODescription *out);

/* ---- other libraries --------------------------------------------------------------------------------------------- */

/* The structs are those of DLPack and of Arrow's C data interface; their own headers define them for a program. */
struct DLManagedTensorVersioned;
struct DLManagedTensor;
struct ArrowArray;
struct ArrowSchema;

/* A tensor of the memory of a DLPack tensor, whose deleter is called after the last use.  On failure the producer keeps
 * it, except on PTO_ERR_VERSION: then its deleter has been called and nothing else in it was read.  Memory of device
 * type 12 (extension) or 21 (Ascend) is on that device of the backend ascend, as with pto_tensor_attach.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_VERSION: another major version; PTO_ERR_UNSUPPORTED: a type, lanes or a device that the
 *            library has not; PTO_ERR_ARGUMENT: a bad rank, extent or address, data that is not aligned for its type;
 *            PTO_ERR_OVERFLOW; PTO_ERR_NOMEM; PTO_ERR_MISUSE: m is NULL. */
PTO_API PTOTensor *pto_tensor_from_dlpack(struct DLManagedTensorVersioned *m);

/* The same for the struct of DLPack before 1.0.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_UNSUPPORTED, PTO_ERR_ARGUMENT, PTO_ERR_OVERFLOW, PTO_ERR_NOMEM, PTO_ERR_MISUSE: the reasons
 *            are those above. */
PTO_API PTOTensor *pto_tensor_from_dlpack_unversioned(struct DLManagedTensor *m);

/* A DLPack tensor of the memory of t, with a reference that its deleter drops; the deleter may be called on any thread
 * at any time.  A run that writes t meanwhile is not waited for: the caller orders it and the reader.
 * Caller     any thread.  Blocks only if t shares memory after a detach, and a run uses that memory.
 * Status     NULL: PTO_ERR_VERSION: max_major is below 1; PTO_ERR_UNSUPPORTED: PTO_BYTE, foreign memory on a device;
 *            PTO_ERR_BUSY: it would block, and the caller is in a run or in a kernel; PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API struct DLManagedTensorVersioned *pto_tensor_to_dlpack(PTOTensor *t, uint32_t max_major, uint32_t max_minor);

/* The same for consumers of DLPack before 1.0, which know no read-only tensors.
 * Caller     any thread.  Blocks as pto_tensor_to_dlpack does.
 * Status     NULL: PTO_ERR_READ_ONLY; PTO_ERR_UNSUPPORTED, PTO_ERR_BUSY, PTO_ERR_NOMEM, PTO_ERR_MISUSE: the reasons are
 *            those above. */
PTO_API struct DLManagedTensor *pto_tensor_to_dlpack_unversioned(PTOTensor *t);

/* A read-only tensor of an Arrow array: i8 to u64, f16, f32, f64 without nulls, and fixed-size lists of them as further
 * dimensions.  On success the array is moved: a->release becomes NULL, and its release is called after the last use.
 * On failure it is untouched.  The schema is borrowed.
 * Caller     any thread.  Never blocks.
 * Status     NULL: PTO_ERR_UNSUPPORTED: nulls, bit-packed booleans, other formats; PTO_ERR_ARGUMENT: a struct that was
 *            released or is malformed; PTO_ERR_OVERFLOW: more bytes than 2^63; PTO_ERR_NOMEM. */
PTO_API PTOTensor *pto_tensor_from_arrow(struct ArrowArray *a, struct ArrowSchema *schema);

/* Fills an Arrow array and its schema with t, which must be row-major and contiguous; further dimensions become
 * fixed-size lists.  Both have release functions; the array's drops its reference to t.
 * Caller     any thread.  Blocks as pto_tensor_to_dlpack does.
 * Status     PTO_OK; PTO_ERR_WOULD_COPY: not contiguous (pto_tensor_dense first); PTO_ERR_UNSUPPORTED: bf16, bool, byte
 *            or rank 0; PTO_ERR_BUSY; PTO_ERR_NOMEM; PTO_ERR_MISUSE. */
PTO_API PTOStatus pto_tensor_to_arrow(PTOTensor *t, struct ArrowArray *a, struct ArrowSchema *schema);

/* Writes a line for each tensor that lives: type, shape, bytes, references, its buffer with its references and pins,
 * and where the call returned that made it: the object, with the place for addr2line, and the address.  out NULL is
 * ignored.
 * Caller     any thread.  Blocks while it writes.  Status: none. */
PTO_API void pto_registry_dump(FILE *out);

#ifdef __cplusplus
}
#endif
#endif
