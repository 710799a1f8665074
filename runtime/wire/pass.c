/* pass.c - bytes from one rank to another, between runs: see wire.h.
 *
 * Idea       parts of WIRE_PART bytes, one after the other.  Whoever waits looks often at first, because an answer may
 *            be under way that measures the time, and then sleeps in growing steps.
 * Tests      test/wire/check_wire.c, check_reports.py */
#include "shared/system.h"
#include "wire.h"

/* Of a rank that waits: how often it has looked. */
static void wait_again(int *looks)
{
    enum { YIELDS = 200, STEP_NS = 5000, LONGEST_NS = 500000 };
    const int64_t ns = (int64_t)STEP_NS * (*looks - YIELDS);
    ++*looks;
    if (ns <= 0)
        ptoi_yield();
    else
        ptoi_sleep_ns(ns < LONGEST_NS ? ns : LONGEST_NS);
}

/* One of `data` and `room` is there. */
static bool pass(struct wire *w, int32_t peer, const char *data, char *room, int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        const int64_t part = bytes - done < WIRE_PART ? bytes - done : WIRE_PART;
        enum wire_answer answer;
        for (int looks = 0; (answer = data ? w->ops->give(w, peer, data + done, part)
                                           : w->ops->take(w, peer, room + done, part)) == WIRE_WAITS;)
            wait_again(&looks);
        if (answer == WIRE_FAILED) return false;
        done += part;
    }
    return true;
}

bool ptoi_wire_give(struct wire *w, int32_t to, const void *data, int64_t bytes)
{
    return pass(w, to, data, NULL, bytes);
}

bool ptoi_wire_take(struct wire *w, int32_t from, void *data, int64_t bytes)
{
    return pass(w, from, NULL, data, bytes);
}
