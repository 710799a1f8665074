/* slots.h - a checked run: which tensor was written last into each granule of the frames.
 *
 * Idea       a checked program says before each call which tensors of a frame it writes and which it reads.  Whoever reads a place that
 *            another tensor was written into since has lost it: the slots overlap, or a life was too short.
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
void ptoi_slots_write(struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor);
/* The tensor that lies where `tensor` should; NULL: it is there. */
const char *ptoi_slots_other(const struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor);

#endif
