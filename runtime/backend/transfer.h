/* transfer.h - the arguments of the requests that every backend serves: a copy, a gather and a scatter of rows.
 *
 * Idea       here stands what is right; a backend only moves the bytes.
 * Owner      nobody: functions of a request.
 * Tests      test/runtime/test_requests.c, test/ascend/test_ascend.c */
#ifndef PTOI_TRANSFER_H
#define PTOI_TRANSFER_H
#include "pto/pto_runtime.h"
#include <stdbool.h>
#include <stdint.h>

struct row_transfer {
    const PTOArg *src, *index, *dst; /* index: int64_t[count] */
    int64_t count;                   /* of rows to be moved */
    int64_t limit;                   /* every index is in 0 .. limit - 1 */
    int64_t element;                 /* bytes */
};

/* Are the two arguments tensors of one shape and type? */
bool ptoi_is_copy(const PTOWorkRequest *r);
/* gathers: dst[k] = src[index[k]]; else dst[index[k]] = src[k].  Do the three arguments fit? */
bool ptoi_is_row_transfer(const PTOWorkRequest *r, bool gathers, struct row_transfer *t);

#endif
