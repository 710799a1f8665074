/* version.c - which library this is, and whether generated code was compiled for it.
 * Tests      test/call/test_call.c, test/install/ */
#include <pto/pto_program.h>
#include <pto/pto_version.h>
#include "shared/thread_error.h"

int32_t pto_version(void) { return PTO_VERSION; }

PTOStatus pto_check_library(uint64_t fingerprint)
{
    if (fingerprint == PTO_INLINED_FINGERPRINT) return PTO_OK;
    return ptoi_thread_fail(PTO_ERR_VERSION,
                            "the program was compiled for another version of libpto than %d.%d.%d: build it again",
                            PTO_VERSION_MAJOR, PTO_VERSION_MINOR, PTO_VERSION_PATCH);
}
