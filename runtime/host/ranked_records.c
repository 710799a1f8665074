/* ranked_records.c - --trace, --report and --graph of several ranks show all of them: see ranked.h.
 *
 * Idea       ranks of one machine have one clock.  Each rank of another machine is asked by rank 0 for its time, often,
 *            and the answer is kept that came fastest: its error is at most half of what it took.  This is done before
 *            the run and behind it, because clocks drift: two that differ by 10 us a second, which is usual, are 1 ms
 *            apart behind a run of 100 s, and one comparison cannot see it.  Behind the run rank 0 takes the record of
 *            each.
 * Owner      the session.
 * Blocks     until all ranks have come.
 * Tests      test/wire/check_reports.py, test/runtime/test_clocks.c */
#include "ranked.h"
#include "shared/system.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUESTIONS = 32, CLOCK_NAME = 160 };

static bool shows_records(const struct session *s) { return s->options.trace || s->options.report || s->options.graph; }

/* Rank 0: which time another rank has, and when it was asked.  false: the wire failed. */
static bool ask_time(struct session *s, int32_t rank, int64_t *at, int64_t *ahead)
{
    int64_t fastest = INT64_MAX;
    for (int k = 0; k < QUESTIONS; k++) {
        int64_t there = 0;
        const int64_t asked = ptoi_clock_ns();
        if (!ptoi_wire_give(s->wire, rank, &asked, sizeof asked) ||
            !ptoi_wire_take(s->wire, rank, &there, sizeof there))
            return false;
        const int64_t took = ptoi_clock_ns() - asked;
        if (took >= fastest) continue;
        fastest = took;
        *at = there;
        *ahead = there - (asked + took / 2);
    }
    return true;
}

static bool answer_time(struct session *s)
{
    for (int k = 0; k < QUESTIONS; k++) {
        int64_t asked;
        if (!ptoi_wire_take(s->wire, 0, &asked, sizeof asked)) return false;
        const int64_t here = ptoi_clock_ns();
        if (!ptoi_wire_give(s->wire, 0, &here, sizeof here)) return false;
    }
    return true;
}

/* Two processes with one name read one clock: the system was started once, and containers may have clocks of their own
 * (namespaces of time).  "": the system does not say. */
static void name_clock(char name[CLOCK_NAME])
{
    char boot[CLOCK_NAME / 2] = "", space[CLOCK_NAME / 2] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    memset(name, 0, CLOCK_NAME);
    if (f && fgets(boot, sizeof boot, f) && readlink("/proc/self/ns/time", space, sizeof space - 1) >= 0)
        snprintf(name, CLOCK_NAME, "%s%s", boot, space);
    if (f) fclose(f);
}

/* Rank 0 and another rank: do both read one clock?  false: the wire failed. */
static bool exchange_clocks(struct session *s, int32_t peer, bool *are_one)
{
    char here[CLOCK_NAME], there[CLOCK_NAME];
    name_clock(here);
    const bool ok =
        session_is_first(s)
            ? ptoi_wire_give(s->wire, peer, here, sizeof here) && ptoi_wire_take(s->wire, peer, there, sizeof there)
            : ptoi_wire_take(s->wire, peer, there, sizeof there) && ptoi_wire_give(s->wire, peer, here, sizeof here);
    *are_one = ok && *here && memcmp(here, there, sizeof here) == 0;
    return ok;
}

/* Of ranks with the clock of rank 0 all stays 0. */
static bool compare_clocks(struct session *s, int moment)
{
    bool ok = true, are_one;
    if (!session_is_first(s)) return exchange_clocks(s, 0, &are_one) && (are_one || answer_time(s));
    for (int32_t rank = 1; rank < s->wire->ranks && ok; rank++) {
        struct rank_clock *const clock = &s->clocks[rank];
        ok = exchange_clocks(s, rank, &are_one) &&
             (are_one || ask_time(s, rank, &clock->at[moment], &clock->ahead[moment]));
    }
    return ok;
}

int ptoi_ranked_begin_records(struct session *s)
{
    if (!s->wire || !shows_records(s)) return HOST_OK;
    s->clocks = calloc((size_t)s->wire->ranks, sizeof *s->clocks);
    const int code = ptoi_ranked_agree(s, s->clocks ? HOST_OK : host_fail_memory(&s->error));
    if (code != HOST_OK || compare_clocks(s, 0)) return code;
    return host_fail(&s->error, HOST_RUN, "the ranks cannot compare their clocks: the wire failed");
}

/* Rank 0 has a place for each; false: no memory, or the wire failed. */
static bool take_parcels(struct session *s, struct parcel *parcels)
{
    for (int32_t rank = 1; rank < s->wire->ranks; rank++) {
        struct parcel *p = &parcels[rank];
        if (!ptoi_wire_take(s->wire, rank, &p->bytes, sizeof p->bytes)) return false;
        p->data = p->bytes > 0 ? malloc(p->bytes) : NULL;
        const uint64_t wanted = p->data ? p->bytes : 0;
        if (!ptoi_wire_give(s->wire, rank, &wanted, sizeof wanted) || wanted == 0) return false;
        if (!ptoi_wire_take(s->wire, rank, p->data, (int64_t)p->bytes)) return false;
    }
    return true;
}

/* 0 bytes: there was no memory. */
static bool give_parcel(struct session *s, const struct parcel *p)
{
    const uint64_t bytes = p->is_full ? 0 : p->bytes;
    uint64_t wanted = 0;
    if (!ptoi_wire_give(s->wire, 0, &bytes, sizeof bytes) || !ptoi_wire_take(s->wire, 0, &wanted, sizeof wanted))
        return false;
    return wanted == 0 || ptoi_wire_give(s->wire, 0, p->data, (int64_t)bytes);
}

static bool join_all(struct session *s, struct parcel *mine)
{
    struct parcel *parcels = calloc((size_t)s->wire->ranks, sizeof *parcels);
    bool ok = parcels && !mine->is_full;
    if (parcels) {
        ok &= take_parcels(s, parcels);
        parcels[0] = *mine;
        if (ok) s->joined = ptoi_joined_make(parcels, s->clocks, s->wire->ranks);
    }
    for (int32_t rank = 1; parcels && rank < s->wire->ranks; rank++) ptoi_parcel_free(&parcels[rank]);
    free(parcels);
    return s->joined != NULL;
}

int ptoi_ranked_join_records(struct session *s)
{
    if (!shows_records(s) || (!s->wire && !session_plans_ranks(s))) return HOST_OK;
    if (ptoi_settle_record(s->rt) != PTO_OK) return HOST_OK; /* the call that writes the file reports why */
    struct parcel mine = {0};
    bool ok = true;
    if (!s->wire) {
        s->joined = ptoi_joined_of_plan(s->rt);
        ok = s->joined != NULL;
    } else {
        /* each step, whatever became of the one before: the other ranks wait for it */
        ok = compare_clocks(s, 1);
        ok = ptoi_parcel_pack(s->rt, &mine) && ok;
        ok = (session_is_first(s) ? join_all(s, &mine) : give_parcel(s, &mine)) && ok;
        ptoi_parcel_free(&mine);
    }
    s->rt->joined = s->joined;
    return ok || !session_is_first(s)
               ? HOST_OK
               : host_fail(&s->error, HOST_INTERNAL, "rank 0 has no memory for the records of all ranks");
}
