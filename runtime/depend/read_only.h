/* read_only.h - memory of the program that a run only reads: its readers need no dependence, and have no producer.
 *
 * Idea       no task of a run writes what the entry of the run takes as `in`.  These are a few ranges, and a task that
 *            reads inside one of them does not use the tensor map.  If a task writes there nevertheless, because the
 *            host gave one array as two arguments, the orchestrator waits for everything in flight first and forgets
 *            the range: the promise of the entry may be broken.
 * Owner      the orchestrator.
 * Tests      test/runtime/test_read_only.c */
#ifndef PTOI_READ_ONLY_H
#define PTOI_READ_ONLY_H
#include <stdbool.h>
#include <stdint.h>

enum { READ_ONLY_RANGES = 16 }; /* a search of more ranges costs more than it saves */

struct read_only {
    int count;
    struct {
        int64_t low, high;
    } range[READ_ONLY_RANGES];
};

/* Adds a range; nothing in flight touches its bytes. */
static inline void ptoi_read_only_add(struct read_only *o, int64_t low, int64_t high)
{
    if (o->count == READ_ONLY_RANGES) return;
    o->range[o->count].low = low;
    o->range[o->count++].high = high;
}

static inline bool ptoi_read_only_holds(const struct read_only *o, int64_t low, int64_t high)
{
    for (int i = 0; i < o->count; i++)
        if (o->range[i].low <= low && high <= o->range[i].high) return true;
    return false;
}

static inline bool ptoi_read_only_meets(const struct read_only *o, int64_t low, int64_t high)
{
    for (int i = 0; i < o->count; i++)
        if (o->range[i].low < high && low < o->range[i].high) return true;
    return false;
}

static inline void ptoi_read_only_forget(struct read_only *o, int64_t low, int64_t high)
{
    int kept = 0;
    for (int i = 0; i < o->count; i++)
        if (o->range[i].low >= high || low >= o->range[i].high) o->range[kept++] = o->range[i];
    o->count = kept;
}

#endif
