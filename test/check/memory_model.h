/* memory_model.h - which stores a load may read: C11, without the executions that need a load to read from the future.
 *
 * Idea       a location is the list of its stores in their modification order, the order in which they were executed.
 *            A fiber has a view: of each location the oldest store that it may still read.  To store with release puts
 *            the view beside the value, to load with acquire joins it; a read-modify-write reads the newest store and
 *            carries on what was beside that (a release sequence).  A sequentially consistent load reads no store older
 *            than the newest sequentially consistent one.
 * Exact      for words with one writer at a time and for words that are only read, modified and written: there the
 *            modification order lies in happens-before and reads-from, so every execution that C11 allows (but for
 *            loads from the future) has an order of steps that this finds.  All words of the runtime are of these
 *            kinds. Elsewhere it finds some of what is allowed, never more.
 * Weaker     than C11 in one thing, as C++20 is: a release sequence continues through read-modify-writes only, not
 *            through later stores of the same thread. */
#ifndef CHECK_MEMORY_MODEL_H
#define CHECK_MEMORY_MODEL_H
#include "fiber.h"

void model_reset(void); /* an execution begins */
void model_started(struct check_fiber *f, const struct check_fiber *by);
void model_ended(struct check_fiber *f);
bool model_is_alone(void); /* one fiber lives: it reads and writes memory, and no step is a choice */
uint32_t model_changes(const struct check_fiber *f); /* stores of others in this execution */
const char *model_label(enum check_label label);

/* The order of an access in this run: what the text says, less what is relaxed. */
struct relaxation {
    enum check_label label; /* CHECK_NONE: nothing is relaxed */
    unsigned bits;          /* of enum check_order */
};
extern struct relaxation check_relaxation;

/* race.c: plain accesses, unordered: a failure. */
void race_reset(void);

#endif
