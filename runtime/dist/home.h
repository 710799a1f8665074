/* home.h - distributions: which rank is the home of which bytes of a tensor.
 *
 * Idea       a distribution cuts a tensor into cells of one size and deals the cells to a grid of ranks, cyclically.
 *            So the home of a byte is a pure function of the tensor, and every rank computes it without being notified.
 * Owner      none: pure functions of their arguments.
 * Invariant  every element of a tensor lies in one cell, and the pieces of a box are disjoint and cover it.
 * Blocks     never, and never allocates.
 * Tests      test/runtime/test_home.c */
#ifndef PTOI_HOME_H
#define PTOI_HOME_H
#include "depend/region.h"

enum { NO_HOME = -1 };

/* Elements low <= index < high of each dimension of a tensor. */
struct box {
    int64_t low[PTO_MAX_RANK], high[PTO_MAX_RANK];
};

/* A tensor in row-major order and where its cells live. */
struct distribution {
    int32_t rank; /* dimensions, at least 1 */
    int32_t unit; /* bytes of an element: 1, 2, 4 or 8 */
    int64_t shape[PTO_MAX_RANK], cell[PTO_MAX_RANK], grid[PTO_MAX_RANK];
    int32_t first; /* the rank of cell 0; NO_HOME: nothing was written yet */
};

/* The bytes of a distribution that fits the limits above; 0: it does not. */
int64_t ptoi_home_bytes(const struct distribution *d);
/* The rows of a grid of ranks that is as square as possible: 6 ranks are 2 x 3, 7 ranks 1 x 7. */
int32_t ptoi_home_rows(int32_t ranks);
/* `bytes` bytes that have one home, or none yet. */
struct distribution ptoi_home_whole(int64_t bytes, int32_t home);
/* `bytes` bytes in bands, one a rank, which begin at multiples of 64 bytes. */
struct distribution ptoi_home_bands(int64_t bytes, int32_t ranks);

/* The smallest box that is known to cover a region that is not empty and lies inside the tensor; the region counts
 * from the first byte of the tensor.  true: it is the region. */
bool ptoi_home_box(const struct distribution *d, const struct region *region, struct box *box);
/* The element that has the byte, which lies inside the tensor. */
void ptoi_home_element(const struct distribution *d, int64_t byte, int64_t *element);
/* The rank of the element; the distribution has a first rank. */
int32_t ptoi_home_of(const struct distribution *d, int32_t ranks, const int64_t *element);
/* The last dimension in which neighbours are cells of different ranks; -1: none is. */
int32_t ptoi_home_cut(const struct distribution *d, int32_t ranks);
/* The bytes of a cell that lie one behind the other: a row of it, joined with the next rows where the same rank has all
 * that lies between; all of the tensor, if one rank has it. */
int64_t ptoi_home_row(const struct distribution *d, int32_t ranks);
/* The bytes of a rank; the distribution has a first rank. */
int64_t ptoi_home_owned(const struct distribution *d, int32_t ranks, int32_t rank);
/* The strides of the tensor, in elements. */
void ptoi_home_strides(const struct distribution *d, int64_t *stride);

int64_t ptoi_box_elements(const struct box *b, int32_t rank);
bool ptoi_box_contains(const struct box *outer, const struct box *inner, int32_t rank);
bool ptoi_box_meets(const struct box *a, const struct box *b, int32_t rank);

/* The rank of the cell in which all of the box lies; NO_HOME: it lies in several, or is empty, or there is no home. */
int32_t ptoi_home_of_box(const struct distribution *d, int32_t ranks, const struct box *box);

/* The pieces of a box, which are its intersections with the cells, in row-major order of the cells. */
struct pieces {
    const struct distribution *d;
    const struct box *box;
    int32_t ranks;
    bool is_over;
    int64_t cell[PTO_MAX_RANK]; /* of the next piece */
    int64_t first[PTO_MAX_RANK], last[PTO_MAX_RANK];
};
struct pieces ptoi_pieces(const struct distribution *d, const struct box *box, int32_t ranks);
/* false: there are no more. */
bool ptoi_next_piece(struct pieces *p, struct box *piece, int32_t *home);

#endif
