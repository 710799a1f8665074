/* strip_accesses.c - the accesses of a strip that the map remembers: those of its iterations.
 *
 * Idea       the arguments of the task are what all iterations access.  To the map each iteration's tensor is an access
 *            of its own, so that tiles stay tiles (tensormap_tiles.h), and no byte between them is accessed.  Where
 *            they could become too many entries, each argument is one access.
 * Owner      the orchestrator.
 * Tests      test/runtime/test_strips.c */
#include "submission.h"
#include "shared/check.h"
#include "shared/strip.h"

/* The bytes of the argument in its first iteration. */
static void first_region(struct region *r, const struct place *pl, const struct strip_arg *arg, const int64_t *extent)
{
    const int64_t unit = pto_bytes_of_(arg->type), *const stride = extent + arg->rank;
    int64_t elements = 1;
    for (int d = 0; d < arg->rank; d++) elements += (extent[d] - 1) * stride[d];
    r->low = pl->region.low + arg->value;
    r->high = r->low + elements * unit;
    r->run = r->high - r->low;
    r->rank = 0;
    if (!pto_is_row_major(arg->rank, extent, stride)) ptoi_region_of_rows(r, r->low, unit, arg->rank, extent, stride);
}

/* The access of the task that the argument is a part of; NULL: the map need not know it. */
static const struct map_access *access_of(const struct orchestrator *o, const struct submission *s,
                                          const struct strip_arg *arg)
{
    for (int i = 0; i < s->accesses; i++)
        if (o->edges.access[i].region == &s->place[arg->of].region) return &o->edges.access[i];
    return NULL;
}

void ptoi_find_strip_accesses(struct orchestrator *o, struct submission *s)
{
    const struct strip_text *const strip = s->strip;
    const int64_t *extent = strip->extent;
    const struct strip_arg *arg = strip->arg;
    int64_t entries = 0;
    for (int k = 0; k < strip->head.args; extent += (size_t)2 * arg->rank, arg++, k++) {
        const struct map_access *const whole = arg->kind == PTO_PARAM_SCALAR ? NULL : access_of(o, s, arg);
        if (!whole) continue;
        struct region *const region = &o->edges.iteration[s->steps];
        struct map_steps *const steps = &o->edges.steps[s->steps++];
        first_region(region, &s->place[arg->of], arg, extent);
        steps->first = *whole;
        steps->first.region = region;
        steps->times = arg->step == 0 ? 1 : (int32_t)strip->head.iterations;
        steps->step = arg->step;
        entries += steps->times;
    }
    if (entries > ptoi_map_capacity(o->edges.map) / STRIP_SHARE)
        s->steps = 0;
    else if (s->steps > 0)
        s->entries = entries;
}
