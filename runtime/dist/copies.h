/* copies.h - which pieces of a tensor ranks have beside its homes, and so which bytes have to be sent.
 *
 * Idea       a rank that received a piece, or wrote it for another, keeps it until a write overlaps it.  The home of
 *            the piece and its holder both compute that from the program, so neither asks the other.  Validity is
 *            exact, by boxes: a write elsewhere in a cell leaves a copy valid, and a write into a part of it ends that
 *            part.  Each rank keeps the copies of which it is the home or the holder.
 * Owner      the orchestrator.
 * Invariant  the copies of one pair of home and holder are the same, and in the same order, on both ranks.
 * Limits     a pair forgets its oldest copies when it has more than `limit` bytes.  A look at a tensor visits all its
 *            copies.
 * Blocks     never; false: there is no memory.
 * Tests      test/runtime/test_copies.c */
#ifndef PTOI_COPIES_H
#define PTOI_COPIES_H
#include "home.h"

/* Copies, the oldest first; numbers of nodes, 0: none. */
struct copy_list {
    uint32_t first, last;
};

struct copy_link {
    uint32_t next, previous;
};

struct copy {
    struct box box;
    int64_t bytes;
    int32_t home, holder; /* both EVERYWHERE: all ranks have the bytes */
    struct copy_list *tensor;
    struct copy_link of_tensor, of_pair;
};
enum { EVERYWHERE = -1 };

struct copy_pair {
    struct copy_list list;
    int64_t bytes;
};

struct copies {
    int32_t me, ranks;
    int64_t limit;
    struct copy *copy; /* by number - 1 */
    uint32_t count, capacity, unused;
    struct copy_pair *pair; /* 2 * ranks: held here, by home; then held elsewhere of homes here, by holder */
    int64_t used_again, forgotten_bytes;
};

bool ptoi_copies_init(struct copies *c, int32_t me, int32_t ranks, int64_t limit);
void ptoi_copies_free(struct copies *c);

/* Has the holder, which is not the home, all of the piece in one copy?  This rank is one of the two. */
bool ptoi_copies_hold(const struct copies *c, const struct copy_list *tensor, int32_t rank, int32_t home,
                      int32_t holder, const struct box *piece);
/* From now on the holder has the piece; nothing happens where this rank is neither. */
bool ptoi_copies_add(struct copies *c, struct copy_list *tensor, const struct distribution *d, int32_t home,
                     int32_t holder, const struct box *piece);
/* From now on all ranks have the bytes. */
bool ptoi_copies_add_everywhere(struct copies *c, struct copy_list *tensor, const struct distribution *d,
                                const struct box *box);
/* `writer` writes the box: others than the writer and the homes no longer have it. */
bool ptoi_copies_write(struct copies *c, struct copy_list *tensor, const struct distribution *d, const struct box *box,
                       int32_t writer);
/* Forgets the oldest copies of each pair that has too many bytes. */
void ptoi_copies_trim(struct copies *c);
/* The lifetime of the tensor ends. */
void ptoi_copies_end(struct copies *c, struct copy_list *tensor);

#endif
