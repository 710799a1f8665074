/* slots.h - a checked run: the writes to memory of the heap that is allocated before a task writes it.
 *
 * Idea       a checked program announces before each call the tensors of a frame that the call writes and reads.  A
 *            tensor is lost if another one was written into its slot before it is read: the slots overlap, or a
 *            lifetime was too short.
 *            A byte of such memory is blank until a task writes it.  A region that is all blank is an element of an
 *            array, or a piece, that nothing has written, and must not be read; one that was written in part may be,
 *            for its kernel may leave the rest.  A slot of a frame is blank again where another tensor begins in it.
 * Invariant  tags and blank bytes die with the buffer: a new one has none, and one that is moved takes its own along.
 * Owner      the orchestrator: it sees the calls in the order of the program.
 * Tests      test/lit/memory/wrong, test/runtime/test_pool.c */
#ifndef PTOI_SLOTS_H
#define PTOI_SLOTS_H
#include <pto/pto_limits.h>
#include <stdbool.h>
#include <stdint.h>

struct slots {
    const char **tensor; /* by granule of the heap; NULL: not a checked run */
    uint64_t granules;
    bool *is_blank; /* by byte of the heap */
    uint64_t bytes;
    /* tensors that the call which is announced writes first: their slots are blank when its arguments were looked at */
    struct {
        uint64_t offset, bytes;
    } next[PTO_MAX_PARAMS];
    int next_count;
};

bool ptoi_slots_init(struct slots *s, uint64_t heap_bytes); /* false: no memory */
void ptoi_slots_free(struct slots *s);
/* A buffer begins here, or was moved: tags die with the buffer. */
void ptoi_slots_forget(struct slots *s, uint64_t offset, uint64_t bytes);
void ptoi_slots_move(struct slots *s, uint64_t from, uint64_t to, uint64_t bytes);
void ptoi_slots_write(struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor);
/* No task has written these bytes. */
void ptoi_slots_set_blank(struct slots *s, uint64_t offset, uint64_t bytes);
void ptoi_slots_begin(struct slots *s); /* the slots of the tensors that the announced call writes first */
bool ptoi_slots_is_blank(const struct slots *s, uint64_t offset, uint64_t bytes); /* all of them */
void ptoi_slots_fill(struct slots *s, uint64_t offset, uint64_t bytes);
/* The tensor that lies where `tensor` should; NULL: it is there. */
const char *ptoi_slots_other(const struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor);

#endif
