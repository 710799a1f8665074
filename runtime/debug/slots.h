/* slots.h - a checked run: which tensor was written last into each granule of the frames.
 *
 * Idea       a checked program announces before each call the tensors of a frame that the call writes and reads.  A
 *            tensor is lost if another one was written into its slot before it is read: the slots overlap, or a
 *            lifetime was too short.
 * Invariant  tags die with the buffer: a new one has none, and one that is moved takes its own along.
 * Owner      the orchestrator: it sees the calls in the order of the program.
 * Tests      test/lit/memory/wrong, test/runtime/test_pool.c */
#ifndef PTOI_SLOTS_H
#define PTOI_SLOTS_H
#include <stdbool.h>
#include <stdint.h>

struct slots {
    const char **tensor; /* by granule of the heap; NULL: not a checked run */
    uint64_t granules;
};

bool ptoi_slots_init(struct slots *s, uint64_t heap_bytes); /* false: no memory */
void ptoi_slots_free(struct slots *s);
/* A buffer begins here, or was moved: tags die with the buffer. */
void ptoi_slots_forget(struct slots *s, uint64_t offset, uint64_t bytes);
void ptoi_slots_move(struct slots *s, uint64_t from, uint64_t to, uint64_t bytes);
void ptoi_slots_write(struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor);
/* The tensor that lies where `tensor` should; NULL: it is there. */
const char *ptoi_slots_other(const struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor);

#endif
