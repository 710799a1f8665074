/* place.c - see place.h. */
#include "place.h"

static int32_t home_of_first(const struct dist *d, const struct use *u)
{
    return u->home != NO_HOME ? u->home : ptoi_home_of(&u->tensor->home, d->ranks, u->box.low);
}

/* What the program says about the task; NO_HOME: nothing that is known yet. */
static int32_t place_at(const struct dist *d, const PTOTaskParam *at)
{
    if (at->rank == 0) return (int32_t)((at->at % d->ranks + d->ranks) % d->ranks);
    const struct tensor *t = at->buffer ? ptoi_dist_tensor(d, at->buffer) : NULL;
    int64_t byte, element[PTO_MAX_RANK];
    if (!t || t->home.first == NO_HOME || __builtin_mul_overflow(at->at, pto_type_bytes((PTOType)at->type), &byte))
        return NO_HOME;
    byte += (const char *)at->buffer - t->base;
    if (byte < 0 || byte >= t->bytes) return NO_HOME;
    ptoi_home_element(&t->home, byte, element);
    return ptoi_home_of(&t->home, d->ranks, element);
}

int32_t ptoi_place_by_result(const struct dist *d, const struct task *k)
{
    const int32_t at = k->at.kind == PTO_PARAM_AT ? place_at(d, &k->at) : NO_HOME;
    if (at != NO_HOME) return at;
    if (k->accumulator >= 0 && k->use[k->accumulator].tensor->home.first != NO_HOME)
        return home_of_first(d, &k->use[k->accumulator]);
    for (int32_t i = 0; i < k->uses; i++)
        if (k->use[i].writes && k->use[i].tensor->home.first != NO_HOME) return home_of_first(d, &k->use[i]);
    return NO_HOME;
}

int32_t ptoi_place_by_reads(const struct dist *d, const struct task *k, int64_t number)
{
    const struct use *largest = NULL;
    for (int32_t i = 0; i < k->uses; i++) {
        const struct use *u = &k->use[i];
        if (u->tensor->home.first != NO_HOME && !u->tensor->is_everywhere && (!largest || u->bytes > largest->bytes))
            largest = u;
    }
    return largest ? home_of_first(d, largest) : (int32_t)(number % d->ranks);
}
