/* read_at.h - bytes at a place of a file.
 * Blocks     in reading.
 * Tests      test/runtime/test_npy.c, test/call/test_call.c
 */
#ifndef PTO_HOST_READ_AT_H
#define PTO_HOST_READ_AT_H
#include <stdbool.h>
#include <stdint.h>

/* Reads all of them.  false: the file ends before, or cannot be read. */
bool ptoi_read_at(int fd, int64_t at, void *to, int64_t bytes);

#endif
