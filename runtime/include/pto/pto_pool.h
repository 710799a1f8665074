/* pto_pool.h - where the memory of tensors comes from: the pool of the host, and pools that worker processes share. */
#ifndef PTO_POOL_H
#define PTO_POOL_H
#include <pto/pto_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PTOPool PTOPool; /* opaque */

/* Makes a pool of `bytes` bytes that processes forked later share.  Its tensors have memory that the workers of the
 * engine process reach, if the pool was made before the runtime: a call copies no such tensor.  PTOConfig.pool makes
 * results in it.  The caller owns it and destroys it with
 * pto_pool_destroy.  NULL: bytes < 1, or no memory; pto_last_error(NULL) has the text.
 * Caller     any thread.  Never blocks.  Status: NULL: PTO_ERR_ARGUMENT, PTO_ERR_NOMEM. */
PTO_API PTOPool *pto_pool_shared(int64_t bytes);

/* Destroys a shared pool.  While memory of it is in use, it lives on and is freed with the last of that memory; nothing
 * may be obtained from it any more.  NULL is ignored.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API void pto_pool_destroy(PTOPool *pool);

/* At most this many bytes that are not in use are kept in the pool of the host for the next that ask; the default is
 * 1 GiB.  What is kept above goes back to the system, now and from now on.
 * Caller     any thread.  Never blocks for long.  Status: none. */
PTO_API void pto_pool_limit(int64_t bytes_kept);

#ifdef __cplusplus
}
#endif
#endif
