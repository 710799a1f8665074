/* lend.c - bytes that other ranks get before any task asks for them, and copies that are forgotten.  See dist.h.
 *
 * Tests      test/wire */
#include "dist.h"
#include "submit/failing.h"
#include <stddef.h>

PTOStatus ptoi_dist_fail_memory(struct dist *d)
{
    return ptoi_orch_fail(&d->core->orch, PTO_ERR_NOMEM, "no memory for the copies of other ranks' bytes");
}

/* ---- forgotten copies -------------------------------------------------------------------------------------------- */

/* Of an array that this program has reserved for itself.  Results that rank 0 has, and what the program has waited for,
 * are copies that it looks at later. */
static PTOStatus give_back(struct dist *d, struct tensor *t, const struct copy *old)
{
    int64_t shape[PTO_MAX_RANK], stride[PTO_MAX_RANK], at = 0;
    void *base = t->base;
    if (old->holder != d->me || !t->source.is_reserved || t->is_awaited || d->is_collecting ||
        ptoi_copies_meet(&d->copies, &t->copies, &t->home, d->me, &old->box))
        return PTO_OK;
    ptoi_home_strides(&t->home, stride);
    for (int32_t k = 0; k < t->home.rank; k++) {
        shape[k] = old->box.high[k] - old->box.low[k];
        at += old->box.low[k] * stride[k];
    }
    const PTOTaskParam piece = {.kind = PTO_PARAM_OUTPUT,
                                .type = ptoi_dist_type_of(t->home.unit),
                                .rank = (uint8_t)t->home.rank,
                                .ref = &base,
                                .at = at,
                                .shape = shape,
                                .stride = stride};
    const int64_t id = ptoi_dist_submit_here(d, &ptoi_forget_kernel, &piece, 1);
    if (id < 0) return (PTOStatus)id;
    struct noted *n = ptoi_noted_at(&d->notes, d->core->recorder, (uint64_t)id);
    if (n) n->serves = true;
    return PTO_OK;
}

PTOStatus ptoi_dist_trim(struct dist *d)
{
    PTOStatus status = PTO_OK;
    struct copy old;
    while (ptoi_copies_forget(&d->copies, &old))
        if (status == PTO_OK)
            status = give_back(d, (struct tensor *)((char *)old.tensor - offsetof(struct tensor, copies)), &old);
    return status;
}

/* ---- bytes that only rank 0 can read ----------------------------------------------------------------------------- */

PTOStatus ptoi_dist_lend(struct dist *d, struct tensor *t)
{
    PTOStatus status = PTO_OK;
    struct box all = {{0}, {0}}, piece;
    int32_t home;
    t->is_lent = false;
    for (int32_t k = 0; k < t->home.rank; k++) all.high[k] = t->home.shape[k];
    for (struct pieces p = ptoi_pieces(&t->home, &all, d->ranks);
         status == PTO_OK && ptoi_next_piece(&p, &piece, &home);) {
        if (!t->source.lacks[home]) continue;
        if (d->me == 0 && !ptoi_dist_read_piece(t, &piece))
            return ptoi_orch_fail(&d->core->orch, PTO_ERR_IO, "the data of an array cannot be read");
        status = ptoi_dist_send(d, t, &piece, 0, home, NULL);
        if (status == PTO_OK && !ptoi_copies_add(&d->copies, &t->copies, &t->home, home, 0, &piece))
            status = ptoi_dist_fail_memory(d);
        if (status == PTO_OK && d->me == 0 && !ptoi_copies_keep(&d->copies, home, 0))
            status = give_back(d, t, &(struct copy){.holder = 0, .box = piece});
        if (status == PTO_OK) status = ptoi_dist_trim(d);
    }
    return status;
}
