/* file_digest.h - the digest of a file.
 *
 * Blocks     in reading.
 * Tests      test/lit/run/cache-reads.test */
#ifndef PTOC_FILE_DIGEST_H
#define PTOC_FILE_DIGEST_H
#include "support/digest.h"

/* Of the whole file of the descriptor.  False with errno: it cannot be read. */
bool digest_of_file(int file, struct digest *digest, uint64_t *length);

#endif
