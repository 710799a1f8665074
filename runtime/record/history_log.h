/* history_log.h - the memory that the tasks of a run accessed, in the order of submission; the history finds the edges
 * in it on demand.
 *
 * Idea       to find the edges of a task takes longer than to submit it.  A run that is recorded should run as one that
 *            is not, so a submit only writes down what is needed to find them later: replay.
 * Memory     words, reserved when the runtime is created and touched only as far as used: 2 for a task or an await, 3
 *            for each row of bytes that it touches, 4 and 2 for each dimension of another region, 1 for a buffer that
 *            is gone.  Where the next entry might not fit, the owner replays what there is.
 * Owner      the orchestrator, where dependences are recorded or counted.
 * Blocks     never.
 * Tests      test/runtime/test_history.c, test_edges.c, test_nomem.c */
#ifndef PTOI_HISTORY_LOG_H
#define PTOI_HISTORY_LOG_H
#include "depend/history.h"

struct history_log {
    uint64_t *word;
    uint64_t used, capacity;
};

enum history_entry { HISTORY_TASK, HISTORY_AWAIT, HISTORY_CLOSE };
enum { HISTORY_ENTRY_MAX = 2 + 2 * PTO_MAX_PARAMS * (4 + 2 * PTO_MAX_RANK) }; /* words */

/* The edges of an entry: HISTORY_TASK or HISTORY_AWAIT, with its number. */
struct history_reader {
    void *context;
    void (*found)(void *context, enum history_entry entry, uint64_t number, const struct history_edge *edge,
                  int64_t count);
};

bool ptoi_history_log_init(struct history_log *l, uint64_t words); /* false: no memory */
void ptoi_history_log_free(struct history_log *l);
/* Feeds the history with all entries, which are gone then.  false: no memory; the history is of no use until it is
 * reset. */
bool ptoi_history_replay(struct history_log *l, struct history *h, const struct history_reader *reader);

static inline bool ptoi_history_log_has_room(const struct history_log *l)
{
    return l->capacity - l->used >= HISTORY_ENTRY_MAX;
}

/* A task, or an await of any number; so many accesses follow. */
static inline void ptoi_history_log_begin(struct history_log *l, enum history_entry entry, uint64_t number,
                                          int accesses, const PTOKernel *kernel)
{
    uint64_t *w = &l->word[l->used];
    w[0] = number << 16 | (uint64_t)accesses << 2 | entry; /* numbers count from the start of the run */
    w[1] = (uintptr_t)kernel;
    l->used += 2;
}

/* `a` as history.h says, but for addresses: they count from `origin`. */
static inline void ptoi_history_log_access(struct history_log *l, const struct history_access *a, int64_t origin)
{
    const struct region *r = a->region;
    uint64_t *w = &l->word[l->used];
    *w++ = (uint64_t)a->space << 32 | (uint64_t)r->rank << 2 | a->access;
    *w++ = (uint64_t)(r->low - origin);
    *w++ = (uint64_t)(r->high - origin);
    if (r->rank > 0) {
        *w++ = (uint64_t)r->run;
        for (int32_t k = 0; k < r->rank; k++) {
            *w++ = (uint64_t)r->dim[k].count;
            *w++ = (uint64_t)r->dim[k].stride_bytes;
        }
    }
    l->used = (uint64_t)(w - l->word);
}

static inline void ptoi_history_log_close(struct history_log *l, uint32_t space)
{
    l->word[l->used++] = (uint64_t)space << 16 | HISTORY_CLOSE;
}

#endif
