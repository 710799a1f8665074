/* outcome.c - see outcome.h. */
#include "outcome.h"
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

void ptoi_outcome_reset(struct outcome *o)
{
    int nobody = 0;
    if (!swap_if_acq_rel(&o->claimed, &nobody, getpid())) /* a cancel between two runs may be writing still */
        while (load_acquire(&o->status) == PTO_OK) sched_yield(); /* [OUTCOME] */
    o->message[0] = '\0';
    store_relaxed(&o->status, PTO_OK); /* relaxed: the claim publishes it */
    store_release(&o->claimed, 0);
}

void ptoi_vfail(struct outcome *o, PTOStatus status, const PTOSite *place, const char *format, va_list args)
{
    int nobody = 0;
    if (!swap_if_acq_rel(&o->claimed, &nobody, getpid())) return;
    int n = 0;
    if (place && place->column > 0)
        n = snprintf(o->message, sizeof o->message, "%s:%d:%d: error: ", place->file, place->line, place->column);
    else if (place)
        n = snprintf(o->message, sizeof o->message, "%s:%d: error: ", place->file, place->line);
    if (n >= 0 && (size_t)n < sizeof o->message) vsnprintf(o->message + n, sizeof o->message - (size_t)n, format, args);
    store_release(&o->status, (int)status); /* [OUTCOME] the message is complete */
}

void ptoi_outcome_disown(struct outcome *o, int dead_process)
{
    if (ptoi_status(o) == PTO_OK) swap_if_acq_rel(&o->claimed, &dead_process, 0);
}

void ptoi_fail(struct outcome *o, PTOStatus status, const PTOSite *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptoi_vfail(o, status, place, format, args);
    va_end(args);
}
