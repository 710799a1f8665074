/* checked.h - the checks of a checked run (PTOConfig.checked) around each kernel and each buffer.
 *
 * Idea       a kernel works on copies of its regions, each in a place of its own with a margin around it and with the
 *            gaps that its strides leave; margin and gaps are filled with a pattern, another one for each argument.
 *            Afterwards the pattern must be intact, the inputs must be unchanged, in place and in the copy, and what it
 *            writes is copied back.  So a write outside of a region is found, whatever owns the bytes, and does no
 *            harm; a read there gives a value that is no likely datum.  Where only a part of an argument may be
 *            written, the rest must be as it was.  After each buffer of the heap stands a guard that must be whole when
 *            the buffer is consumed, and consumed buffers are filled.
 * Owner      the worker that runs the kernel: the copies are private.
 * Tests      test/lit/memory/checked.pto, test/lit/memory/wrong */
#ifndef PTOI_CHECKED_H
#define PTOI_CHECKED_H
#include "shared/task.h"
#include <stddef.h>

enum { PTOI_GUARD_BYTES = 64, PTOI_POISON = 0xE5 }; /* as a float about -1.4e23, as an integer negative */

/* A worker's result for a kernel that changed its read-only argument i, or wrote outside of its argument i: this plus
 * i. */
#define PTOI_INPUT_CHANGED INT32_MIN
#define PTOI_WROTE_OUTSIDE (INT32_MIN + 1024)
/* or wrote what it only reads of its argument i */
#define PTOI_WROTE_NO_PART (INT32_MIN + 2048)

struct checked_call {
    uint64_t task;                         /* its number */
    const struct task_part *parts;         /* of each argument; NULL: every one is read or written as its kind says */
    PTOArg arg[PTO_MAX_PARAMS];            /* what the kernel is given */
    unsigned char *memory[PTO_MAX_PARAMS]; /* NULL: nothing was copied */
    int64_t before[PTO_MAX_PARAMS], bytes[PTO_MAX_PARAMS]; /* of the margin in front of the region; of all */
    int count;
};

/* The fault in an argument; in_bytes: its offset from the first element of the region. */
struct checked_fault {
    int32_t result; /* 0: nothing */
    int64_t at;
};

/* Copies; an argument that there is no memory for is used in place.  c->task and c->parts are the caller's. */
void ptoi_checked_begin(struct checked_call *c, const PTOArg *args, int count);
/* Looks, copies back, frees. */
struct checked_fault ptoi_checked_end(struct checked_call *c, const PTOArg *args);

/* "[2, -1]": the element that lies so many bytes behind the first one of the region. */
void ptoi_checked_element(const PTOArg *a, int64_t at, char *text, size_t size);

/* which: a number of its own. */
void ptoi_guard_write(unsigned char *guard, uint64_t which);
bool ptoi_guard_is_whole(const unsigned char *guard, uint64_t which);

#endif
