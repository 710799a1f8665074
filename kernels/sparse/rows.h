/* rows.h - the rows of a CSR matrix, whose numbers are not trusted.
 * Idea       ptr counts from the start of the whole matrix, while idx and val are the slice that starts at ptr[0]:
 *            entry e of the matrix is idx[e - ptr[0]], so a program cuts rows out without touching the numbers.
 * Invariant  row_next says where the next row ends, within [the end of the row before, room], or false.
 * Tests      test/runtime/test_kernels_sparse.c
 */
#ifndef PTO_KERNELS_SPARSE_ROWS_H
#define PTO_KERNELS_SPARSE_ROWS_H
#include <stdbool.h>
#include <stdint.h>

struct rows {
    int64_t base, begin, end; /* the row has the entries begin .. end of idx and val */
    int64_t room;
};

static inline struct rows rows_of(int64_t base, int64_t room) { return (struct rows){.base = base, .room = room}; }

/* next: the number of ptr at which the row ends. */
static inline bool row_next(struct rows *r, int64_t next)
{
    r->begin = r->end;
    return !__builtin_sub_overflow(next, r->base, &r->end) && r->end >= r->begin && r->end <= r->room;
}
#endif
