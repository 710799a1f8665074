/* history.h - every dependence of a run, however long ago its producer ran: which accesses a new task must follow,
 * for what is recorded.
 *
 * Idea       the TensorMap forgets an access when its task has retired, because nothing needs to wait for it any
 *            more.  Who draws a graph or computes a critical path wants that edge all the same.  The history forgets
 *            an access only when a later write has covered it, or its buffer is gone.
 * Semantics  a read follows the last writers of its bytes; a write follows these and the readers since; accumulations
 *            of one kernel into one region follow no other of them.  Overlap is exact.  What one write covered is not
 *            named beside that write.
 * Memory     for each region that was written and not covered since about 150 bytes; for each read since, 16.
 *            Nothing is dropped for want of room: where the system has no memory the answer is false.
 * Owner      the orchestrator, where dependences are recorded or counted; history_log.h feeds it.
 * Blocks     never.
 * Tests      test/runtime/test_history.c, test_edges.c */
#ifndef PTOI_HISTORY_H
#define PTOI_HISTORY_H
#include "tensormap.h"

struct history;

struct history_access {
    uint32_t space;              /* number of a heap buffer; 0: all memory outside the heap */
    const struct region *region; /* not empty; in a buffer the addresses count from its start */
    enum access access;
};

enum edge_reason { EDGE_RAW = 1, EDGE_WAR = 2, EDGE_WAW = 4, EDGE_ACC = 8 };

struct history_edge {
    uint64_t from;   /* task */
    uint8_t reasons; /* enum edge_reason, or-ed */
};

struct history *ptoi_history_create(void); /* NULL: no memory */
void ptoi_history_destroy(struct history *h);
void ptoi_history_reset(struct history *h); /* a run begins: nothing was touched */

/* The edges of the task that is being submitted, by ascending `from`, each once; they live until the next call.
 * false: no memory. */
bool ptoi_history_find(struct history *h, const struct history_access *a, int count, const PTOKernel *kernel);
const struct history_edge *ptoi_history_edges(const struct history *h, int64_t *count);
/* That task's accesses, after find. */
bool ptoi_history_add(struct history *h, const struct history_access *a, int count, const PTOKernel *kernel,
                      uint64_t task);
/* A heap buffer is gone: the next one of that number is another. */
void ptoi_history_close(struct history *h, uint32_t space);

/* Accumulators are numbered in the order of their first use, which depends on no address.  -1: no memory. */
int32_t ptoi_history_accumulator(struct history *h, int64_t address);

int64_t ptoi_history_regions(const struct history *h); /* tests: that are remembered */

#endif
