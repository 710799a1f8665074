/* names.h - addresses without memory: what buffers are called that are made while others have been moved away from
 * their addresses.
 *
 * Idea       the range is cut into areas, one for each power of two, each wide enough for all buffers of its size that
 *            can be alive at once. An area is slots of that size, with a list of the free ones.  So a name is found,
 *            given and given back in constant time, however many there are.
 * Owner      the orchestrator.
 * Invariant  a slot that is taken holds the number of its buffer, a free one the next of the list.  Names of living
 *            buffers do not overlap.
 * Blocks     never.
 * Tests      test/runtime/test_names.c */
#ifndef PTOI_NAMES_H
#define PTOI_NAMES_H
#include <stdbool.h>
#include <stdint.h>

enum { PTOI_NAME_SIZES = 48 };

struct name_area {
    uint64_t first; /* of its slots in `slot` */
    uint32_t free;  /* 1 + the slot given back last; 0: none */
    uint32_t fresh; /* the first slot that was never taken */
};

struct names {
    uint64_t at, bytes; /* from the start of the heap, modulo 2^64; 0 bytes: not reserved yet */
    int area_bits;      /* an area is 2^area_bits wide */
    uint32_t *slot;     /* of all areas */
    uint64_t slots;
    struct name_area area[PTOI_NAME_SIZES];
};

/* Once; false: there is no room for so many addresses. */
bool ptoi_names_reserve(struct names *n, const void *heap, uint64_t heap_bytes);
void ptoi_names_free(struct names *n, const void *heap);
/* The name of a new buffer, as an offset from the start of the heap. */
uint64_t ptoi_names_take(struct names *n, uint32_t buffer, uint64_t bytes);
void ptoi_names_give_back(struct names *n, uint64_t name);
/* The buffer in whose slot the offset is.  Where it is none's, any number: the caller asks the buffer. */
uint32_t ptoi_names_find(const struct names *n, uint64_t offset);

static inline bool ptoi_names_hold(const struct names *n, uint64_t offset) { return offset - n->at < n->bytes; }

#endif
