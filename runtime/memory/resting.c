/* resting.c - see resting.h. */
#include "resting.h"
#include "debug/checked.h"
#include "shared/atomics.h"
#include "shared/process_lock.h"
#include <string.h>

enum { BLOCKS = 64 };
#define BYTES ((uint64_t)64 << 20)

static _Atomic bool is_on;
static struct rested queue[BLOCKS];
static int first, count;
static uint64_t bytes;

void ptoi_rest_from_now_on(void) { store_relaxed(&is_on, true); }
bool ptoi_rests(void) { return load_relaxed(&is_on); }

static struct rested pop(void)
{
    const struct rested r = queue[first];
    first = (first + 1) % BLOCKS;
    count--;
    bytes -= r.bytes;
    return r;
}

bool ptoi_rest_add(const struct rested *freed, struct rested *oldest)
{
    memset(freed->memory, PTOI_POISON, freed->bytes);
    ptoi_process_lock(PROCESS_LOCK_POOL);
    const bool is_full = count == BLOCKS;
    if (is_full) *oldest = pop();
    queue[(first + count++) % BLOCKS] = *freed;
    bytes += freed->bytes;
    ptoi_process_unlock(PROCESS_LOCK_POOL);
    return is_full;
}

bool ptoi_rest_take(struct rested *oldest, bool all)
{
    ptoi_process_lock(PROCESS_LOCK_POOL);
    const bool some = count > 0 && (all || bytes > BYTES);
    if (some) *oldest = pop();
    ptoi_process_unlock(PROCESS_LOCK_POOL);
    return some;
}
