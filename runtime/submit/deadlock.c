/* deadlock.c - the text of a proved deadlock, and the heap that it advises.
 *
 * Idea       what a full heap holds is held by open scopes, so the text lists them, with the largest buffer of each.
 * Owner      the orchestrator.
 * Blocks     never.
 * Tests      test/runtime/test_deadlock.c, test_limit.c, stress_limits.c */
#include "parts.h"
#include "shared/limit.h"
#include "debug/checked.h"
#include <stdio.h>
#include <string.h>

/* Is it the place of a scope?  A scope that the program gives no place, such as the body of a loop, has that of the
 * task before it. */
static bool is_of_scope(const PTOSite *site)
{
    return site && site->text && (strcmp(site->text, "scope") == 0 || strncmp(site->text, "scope ", 6) == 0);
}

/* index: its depth, which is 0 for the run. */
static int describe_scope(char *text, size_t size, const struct scope *s, int32_t index)
{
    if (index == 0) return snprintf(text, size, "the run itself");
    if (!is_of_scope(s->site)) return snprintf(text, size, "a scope at depth %d", (int)index);
    return snprintf(text, size, "%s (%s:%d)", s->site->text, s->site->file, s->site->line);
}

static uint64_t rings_of(const struct orchestrator *o) { return o->window->heap_bytes / o->buffers.heap.ring_bytes; }

/* What a buffer takes of the heap: whole granules, with its guard in a checked run. */
static uint64_t taken_by(const struct orchestrator *o, uint64_t bytes)
{
    const uint64_t guard = o->buffers.heap.checked_base ? PTOI_GUARD_BYTES : 0;
    return (bytes + guard + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE;
}

/* Bytes of the heap with which the run completes; 0: not known.  They suffice where buffers may be moved and each takes
 * its own bytes only, until the end of its scope.  With a guard no buffer takes more than twice its own. */
static uint64_t known_need(const struct orchestrator *o)
{
    const bool is_exact = o->buffers.may_move && o->buffers.scope_policy != PTO_SCOPE_OUTERMOST;
    if (!is_exact || o->run.need < 0 || o->run.need == PTO_NEED_UNKNOWN) return 0;
    return (uint64_t)o->run.need * (o->buffers.heap.checked_base ? 2 : 1);
}

/* Which heap to ask for when a buffer finds no room: what the run needs, of which one ring has room for any buffer.
 * Where the need is not known, it is twice what there is, or more where what is held now and the buffer need more. */
const char *ptoi_advised_heap(const struct orchestrator *o, uint64_t bytes, char *text)
{
    const uint64_t rings = rings_of(o);
    uint64_t all = taken_by(o, bytes),
             ring = 2 * o->buffers.heap.ring_bytes > all ? 2 * o->buffers.heap.ring_bytes : all;
    for (int32_t i = 0; i < o->scopes.depth; i++)
        for (uint32_t b = o->scopes.scope[i].first; b; b = ptoi_record(&o->scopes, b)->next)
            all += taken_by(o, ptoi_record(&o->scopes, b)->bytes);
    if ((all + rings - 1) / rings > ring) ring = (all + rings - 1) / rings;
    if (known_need(o) > o->buffers.heap.ring_bytes) ring = known_need(o);
    return ptoi_limit_set(LIMIT_HEAP, o->names, ring, text);
}

/* [heap] Everything published was taken, nothing is ready or running, and there is still no room: what is held is held
 * by open scopes, which only the orchestrator could close. */
PTOStatus ptoi_deadlock(struct orchestrator *o, uint64_t bytes) /* model: DEADLOCK */
{
    char report[3000];
    size_t n = 0;
    uint64_t held = 0;
    report[0] = '\0';
    for (int32_t i = o->scopes.depth - 1; i >= 0; i--) {
        const struct scope *s = &o->scopes.scope[i];
        uint64_t scope_bytes = 0, scope_count = 0;
        const struct buffer_record *largest = NULL;
        for (uint32_t b = s->first; b; b = ptoi_record(&o->scopes, b)->next) {
            const struct buffer_record *r = ptoi_record(&o->scopes, b);
            scope_bytes += taken_by(o, r->bytes);
            scope_count++;
            if (!largest || r->bytes > largest->bytes) largest = r;
        }
        held += scope_bytes;
        if (!largest || n > sizeof report - 600) continue;
        n += (size_t)snprintf(report + n, sizeof report - n, "\n  held by ");
        n += (size_t)describe_scope(report + n, sizeof report - n > 200 ? 200 : 0, s, i);
        n += (size_t)snprintf(report + n, sizeof report - n,
                              ": %llu bytes in %llu buffers, the largest '%.60s' with %llu bytes",
                              (unsigned long long)scope_bytes, (unsigned long long)scope_count,
                              largest->name ? largest->name : "(no name)", (unsigned long long)largest->bytes);
        if (largest->site)
            n += (size_t)snprintf(report + n, sizeof report - n, " made at %.80s:%d", largest->site->file,
                                  largest->site->line);
    }
    return ptoi_orch_fail(
        o, PTO_ERR_DEADLOCK,
        "deadlock: the heap ring is full and nothing that runs can free it\n"
        "  %llu bytes are needed in one piece; of %llu bytes (%llu rings of %llu), %llu are held by open scopes, and "
        "the largest free piece has %llu; each buffer takes a multiple of %d%s%s\n"
        "  help: %s or more, or end a lifetime earlier (%s)",
        (unsigned long long)taken_by(o, bytes), (unsigned long long)o->window->heap_bytes,
        (unsigned long long)rings_of(o), (unsigned long long)o->buffers.heap.ring_bytes, (unsigned long long)held,
        (unsigned long long)ptoi_heap_largest_free(&o->buffers.heap), (int)PTO_GRANULE,
        o->buffers.heap.checked_base ? ", with the guard of a checked run" : "", report,
        ptoi_advised_heap(o, bytes, (char[LIMIT_TEXT]){0}),
        o->names != PTO_NAMES_MEMBERS ? "`drop`, or a narrower block"
                                      : "pto_release, or a narrower scope; in a .pto file `drop`, or a narrower block");
}
