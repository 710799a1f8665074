/* crc.h - the checksum of archives: CRC-32, as in PKWARE, .ZIP File Format Specification 6.3.
 * Tests      test/lit/host/npz.test, npz-matrix.test */
#ifndef PTO_HOST_CRC_H
#define PTO_HOST_CRC_H
#include <stdint.h>

/* Of more bytes: begins with ~0u, and the complement of the end is the checksum. */
uint32_t ptoi_crc(uint32_t crc, const void *data, int64_t bytes);

#endif
