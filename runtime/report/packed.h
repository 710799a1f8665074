/* packed.h - a file that is compressed while it is written, if its name ends in ".gz".
 * Idea       zlib, which every Linux system has, is opened when such a file is asked for.
 * Owner      the caller, until ptoi_packed_close.
 * Errors     false or NULL, with errno; ELIBACC: there is no zlib.
 * Tests      test/lit/host/reports.test */
#ifndef PTOI_PACKED_H
#define PTOI_PACKED_H
#include <stdbool.h>
#include <stdio.h>

/* What is written to the result goes to `out`, whose path this is: as it is, and the result is `out`, or compressed. */
FILE *ptoi_packed_open(FILE *out, const char *path);
/* All of it is in `out`, or false. */
bool ptoi_packed_close(FILE *packed, FILE *out);

#endif
