/* strip_accesses.c - the accesses of a strip that the map remembers: those of its iterations, one by one.
 *
 * Idea       the arguments of the task are what all iterations access.  To the map each iteration's tensor is an access
 *            of its own, so that tiles stay tiles (tensormap_tiles.h), and no byte between them is accessed.  Where
 *            they would be too many, the argument is one access.
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

/* Adds the accesses of all iterations through one argument, which is a part of the place.  false: no room is left. */
static bool add_argument(struct orchestrator *o, int *count, const struct map_access *whole, const struct place *pl,
                         const struct strip_arg *arg, const int64_t *extent, int64_t iterations)
{
    struct map_access *const access = o->edges.access;
    struct region *const region = o->edges.iteration;
    const int64_t times = arg->step == 0 ? 1 : iterations;
    if (times > STRIP_ACCESSES - *count) return false;
    for (int64_t n = 0; n < times; n++) {
        struct region *const r = &region[*count];
        if (n == 0) {
            first_region(r, pl, arg, extent);
        } else {
            *r = r[-1];
            r->low += arg->step;
            r->high += arg->step;
        }
        access[*count] = *whole;
        access[(*count)++].region = r;
    }
    return true;
}

void ptoi_find_strip_accesses(struct orchestrator *o, struct submission *s)
{
    const struct strip_text *const strip = s->strip;
    struct map_access whole[PTO_STRIP_PARAMS];
    const int places = s->accesses;
    int count = 0;
    memcpy(whole, o->edges.access, (size_t)places * sizeof *whole);
    for (int i = 0; i < places; i++) {
        const int64_t *extent = strip->extent;
        const struct strip_arg *arg = strip->arg;
        for (int k = 0; k < strip->head.args; extent += (size_t)2 * arg->rank, arg++, k++) {
            if (arg->kind == PTO_PARAM_SCALAR || whole[i].region != &s->place[arg->of].region) continue;
            if (add_argument(o, &count, &whole[i], &s->place[arg->of], arg, extent, strip->head.iterations)) continue;
            memcpy(o->edges.access, whole, (size_t)places * sizeof *whole);
            return;
        }
    }
    s->accesses = count;
}
