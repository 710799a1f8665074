/* copies.h - which pieces of a tensor ranks have beside its homes, and so which bytes have to be sent.
 *
 * Idea       a rank that received a piece, or wrote it for another, keeps it until a write overlaps it.  The home of
 *            the piece and its holder both compute that from the program, so neither asks the other.  Validity is
 *            exact, by boxes: a write elsewhere in a cell leaves a copy valid, and a write into a part of it ends that
 *            part.  Each rank keeps the copies of which it is the home or the holder, and those of its lines,
 *            Note [lines].
 * Owner      the orchestrator.
 * Invariant  the copies of one pair of home and holder are the same, and in the same order, on all ranks that keep
 *            them.
 * Limits     a pair forgets its oldest copies when it has more than `limit` bytes.  A look visits the copies of the
 *            cell, not of the tensor.
 * Blocks     never; false: there is no memory.
 * Tests      test/runtime/test_copies.c */
#ifndef PTOI_COPIES_H
#define PTOI_COPIES_H
#include "home.h"

/* Note [lines]: the ranks lie in a grid, as square as possible, and those of a row or a column are a line.  Tiles of a
 * matrix are usually read by one line, that of their home.  The ranks of a line keep the copies of all its pairs, so
 * each of them knows, for the price of the tasks of its line, who has a piece.  The home serves as many ranks as half
 * of the line, and each of these serves one that comes later, so a piece is at most two steps away, and no rank sends
 * much more than it receives.  (In a binomial tree the first readers of all tiles, which are the same ranks, would
 * send four times as much.)  Where home and reader share no line, the home sends. */

/* Copies, the oldest first; numbers of nodes, 0: none. */
struct copy_list {
    uint32_t first, last;
};

/* Of a tensor: all; those that all ranks have. */
struct tensor_copies {
    struct copy_list all, everywhere;
};

struct copy_link {
    uint32_t next, previous;
};

struct copy {
    struct box box; /* inside one cell, but for those that all ranks have */
    int64_t bytes;
    int32_t home, holder; /* both EVERYWHERE: all ranks have the bytes */
    uint64_t cell;        /* a hash of the tensor and the cell */
    struct tensor_copies *tensor;
    struct copy_link of_tensor, of_pair, of_cell;
};
enum { EVERYWHERE = -1, ALL_RANKS = -2 };

struct copy_pair {
    struct copy_list list;
    int64_t bytes;
    bool is_over;  /* in the list of those that have too many bytes */
    uint32_t next; /* of these */
};

/* Of a rank in the grid, Note [lines]. */
struct copy_place {
    int32_t row, column;
};

struct copies {
    int32_t me; /* ALL_RANKS: the copies of all pairs are kept */
    int32_t ranks, columns;
    struct copy_place *place; /* by rank */
    int64_t limit;
    struct copy *copy; /* by number - 1 */
    uint32_t count, capacity, unused;
    struct copy_list *cell; /* by hash: of several cells */
    uint32_t cells;         /* a power of two */
    struct copy_pair *pair; /* ranks * ranks: by home, then holder; most are never touched */
    uint32_t over;          /* the first pair that has too many bytes, + 1; 0: there is none */
    int64_t used_again, forgotten_bytes;
};

bool ptoi_copies_init(struct copies *c, int32_t me, int32_t ranks, int64_t limit);
void ptoi_copies_free(struct copies *c);

/* Does the third rank lie in a line that the first two share? */
static inline bool ptoi_copies_are_line(const struct copies *c, int32_t a, int32_t b, int32_t third)
{
    const struct copy_place p = c->place[a], q = c->place[b], r = c->place[third];
    return (p.row == q.row && p.row == r.row) || (p.column == q.column && p.column == r.column);
}
/* Does this rank keep the copies of the pair? */
static inline bool ptoi_copies_keep(const struct copies *c, int32_t home, int32_t holder)
{
    return c->me == ALL_RANKS || home == c->me || holder == c->me || ptoi_copies_are_line(c, home, holder, c->me);
}
/* Has the holder, which is not the home, all of the piece in one copy?  This rank keeps the copies of the pair. */
bool ptoi_copies_hold(const struct copies *c, const struct tensor_copies *tensor, const struct distribution *d,
                      int32_t home, int32_t holder, const struct box *piece);
/* The rank that sends the piece to one that has it not: the home, or a holder of their line.  This rank keeps the
 * copies of the pair. */
int32_t ptoi_copies_source(const struct copies *c, const struct tensor_copies *tensor, const struct distribution *d,
                           int32_t home, int32_t reader, const struct box *piece);
/* From now on the holder has the piece, which lies in one cell; nothing happens where the pair is not kept. */
bool ptoi_copies_add(struct copies *c, struct tensor_copies *tensor, const struct distribution *d, int32_t home,
                     int32_t holder, const struct box *piece);
/* From now on all ranks have the bytes. */
bool ptoi_copies_add_everywhere(struct copies *c, struct tensor_copies *tensor, const struct distribution *d,
                                const struct box *box);
/* `writer` writes the box: others than the writer and the homes no longer have it.  is_one: it lies in one cell. */
bool ptoi_copies_write(struct copies *c, struct tensor_copies *tensor, const struct distribution *d,
                       const struct box *box, bool is_one, int32_t writer);
/* Forgets the oldest copy of a pair that has too many bytes; false: there is none. */
bool ptoi_copies_forget(struct copies *c, struct copy *forgotten);
/* Has the rank bytes of the box in a copy?  The box lies in one cell. */
bool ptoi_copies_meet(const struct copies *c, const struct tensor_copies *tensor, const struct distribution *d,
                      int32_t holder, const struct box *box);
/* May a rank have a copy of bytes of the box, which lies in one cell?  false: surely none that this rank keeps has. */
bool ptoi_copies_are_there(const struct copies *c, const struct tensor_copies *tensor, const struct distribution *d,
                           const struct box *box);
/* The lifetime of the tensor ends. */
void ptoi_copies_end(struct copies *c, struct tensor_copies *tensor);

#endif
