/* pto_status.h - the results of calls.  The list is status.def. */
#ifndef PTO_STATUS_H
#define PTO_STATUS_H
#include <pto/pto_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PTOStatus {
#define PTO_STATUS(name, value, text) name = value,
#include <pto/status.def>
#undef PTO_STATUS
} PTOStatus;

/* The name of a status: "PTO_ERR_DEADLOCK"; "PTO_ERR_UNKNOWN" for a number that is no status.
 * Caller     any thread.  Status: none. */
PTO_API const char *pto_status_name(PTOStatus status);

/* A status in words: "deadlock"; "unknown status" for a number that is no status.
 * Caller     any thread.  Status: none. */
PTO_API const char *pto_status_text(PTOStatus status);

#ifdef __cplusplus
}
#endif
#endif
