/* only_read.h - memory of the program that a run only reads, as far as anybody knows: its readers need not be found,
 * nor their producers.
 *
 * Idea       what an entry takes as `in` is written by no task of the run that the entry began.  A few ranges; whoever
 *            reads inside one of them has no business with the map.  Should somebody write there after all, because the
 *            host gave one array as two arguments, everything in flight is waited for first, and the range is
 *            forgotten: so it is a promise that may be broken.
 * Owner      the orchestrator.
 * Tests      test/runtime/test_only_read.c */
#ifndef PTOI_ONLY_READ_H
#define PTOI_ONLY_READ_H
#include <stdbool.h>
#include <stdint.h>

enum { ONLY_READ_RANGES = 16 }; /* more are not worth the look */

struct only_read {
    int count;
    struct {
        int64_t low, high;
    } range[ONLY_READ_RANGES];
};

/* Nothing in flight touches these bytes. */
static inline void ptoi_only_read_add(struct only_read *o, int64_t low, int64_t high)
{
    if (o->count == ONLY_READ_RANGES) return;
    o->range[o->count].low = low;
    o->range[o->count++].high = high;
}

static inline bool ptoi_only_read_holds(const struct only_read *o, int64_t low, int64_t high)
{
    for (int i = 0; i < o->count; i++)
        if (o->range[i].low <= low && high <= o->range[i].high) return true;
    return false;
}

static inline bool ptoi_only_read_meets(const struct only_read *o, int64_t low, int64_t high)
{
    for (int i = 0; i < o->count; i++)
        if (o->range[i].low < high && low < o->range[i].high) return true;
    return false;
}

static inline void ptoi_only_read_forget(struct only_read *o, int64_t low, int64_t high)
{
    int kept = 0;
    for (int i = 0; i < o->count; i++)
        if (o->range[i].low >= high || low >= o->range[i].high) o->range[kept++] = o->range[i];
    o->count = kept;
}

#endif
