/* pto_scratch.h - what a kernel of generated C has beside its arguments: memory of its worker, and words for the
 * failure of its task.  Generated programs include it where a kernel has scratch tensors. */
#ifndef PTO_SCRATCH_H
#define PTO_SCRATCH_H
#include <pto/pto_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Says why the task of the running kernel fails, in the words that the report of the failure shows; returns 1, for the
 * kernel to return.
 * Caller     a kernel.  Never blocks.  Status: none. */
PTO_API int pto_kernel_failed(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* Memory of the calling worker, 64-byte aligned; it grows and is kept, and belongs to the running kernel.  The kernels
 * of a run that this kernel begins itself have other memory.  NULL: there is none.
 * Caller     a kernel.  Never blocks.  Status: none. */
PTO_API void *pto_scratch(size_t bytes);

/* A scratch tensor, `scratch t: f32[N]`. */
typedef struct PTOScratch {
    const char *name;
    int64_t element; /* bytes */
    int32_t rank;
    int64_t shape[PTO_MAX_RANK];
    int64_t stride[PTO_MAX_RANK]; /* row-major; pto_scratch_tensors writes it */
    void *memory;                 /* pto_scratch_tensors writes it */
} PTOScratch;
#define PTO_SCRATCH(name, type, rank, ...)                                                                             \
    {                                                                                                                  \
        name, (int64_t)sizeof(type), rank, {__VA_ARGS__}, {0}, NULL                                                    \
    }

/* Gives the running kernel memory for all of its scratch tensors, of any content.  A kernel that has them does not call
 * pto_scratch.  false: an extent is negative, or there is no memory; the reason is that of pto_kernel_failed.
 * Caller     a kernel, once.  Never blocks.  Status: none. */
PTO_API bool pto_scratch_tensors(PTOScratch *tensors, int32_t count);

#ifdef __cplusplus
}
#endif
#endif
