/* pto_status.h - what a call came to.  The list is status.def. */
#ifndef PTO_STATUS_H
#define PTO_STATUS_H
#include <pto/pto_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PTOStatus {
#define STATUS(name, value, text) name = value,
#include <pto/status.def>
#undef STATUS
} PTOStatus;

PTO_API const char *pto_status_name(PTOStatus status); /* "PTO_ERR_DEADLOCK" */
PTO_API const char *pto_status_text(PTOStatus status); /* "deadlock" */

#ifdef __cplusplus
}
#endif
#endif
