/* regions.h - the arguments of recorded tasks: which part of which tensor.
 *
 * Idea       an argument is a few words, its extents and strides among them; the arguments of the first tasks are kept,
 *            until the room is full, because nobody looks at more of them one by one.
 * Owner      the orchestrator; read when no run is active.
 * Blocks     never.
 * Tests      test/runtime/test_record.c, test/lit/host/report.test */
#ifndef PTOI_REGIONS_H
#define PTOI_REGIONS_H
#include <pto/pto_submit.h>
#include <stdbool.h>

enum { PTOI_REGION_WORDS = 1 << 20, PTOI_REGION_MOST = 3 + 2 * PTO_MAX_RANK /* words of one argument */ };

struct recorded_regions {
    int64_t *word;
    uint64_t count; /* words in use */
};

struct recorded_region {
    const char *tensor; /* of the heap, as the program spells it; NULL: without a name, or the program's own memory */
    int64_t at;         /* bytes from the begin of that tensor of the heap; else an address, or the bits of a scalar */
    PTOArg view;        /* kind, type, rank, shape and stride */
    bool is_heap;
};

bool ptoi_regions_init(struct recorded_regions *r); /* false: no memory */
void ptoi_regions_free(struct recorded_regions *r);
/* Room for the arguments of a task: the index + 1 of the first; 0: it is full. */
uint32_t ptoi_regions_begin(struct recorded_regions *r, int count);
void ptoi_regions_add(struct recorded_regions *r, const struct recorded_region *a);
void ptoi_regions_end(struct recorded_regions *r); /* of the task */
/* The next argument, from where *at is on; false: there are no more of this task. */
bool ptoi_regions_next(const struct recorded_regions *r, uint32_t *at, struct recorded_region *a);

#endif
