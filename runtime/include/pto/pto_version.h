/* pto_version.h - the version of the library, of ptoc and of the packages: the only place that has the number.
 *
 * A program that was compiled with one major version runs with every later minor version of it. */
#ifndef PTO_VERSION_H
#define PTO_VERSION_H
#include <pto/pto_types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTO_VERSION_MAJOR 1
#define PTO_VERSION_MINOR 0
#define PTO_VERSION_PATCH 0
#define PTO_VERSION       (PTO_VERSION_MAJOR * 10000 + PTO_VERSION_MINOR * 100 + PTO_VERSION_PATCH)

/* PTO_VERSION of the library that runs, which may be newer than that of the header.
 * Caller: any thread.  Never blocks.  Status: none. */
PTO_API int32_t pto_version(void);

#ifdef __cplusplus
}
#endif
#endif
