/* messages.c - pieces go from one rank to another, each in a message, or those for a fold in one.  See dist.h.
 *
 * Idea       both ends of a message submit a task for it, and count the messages between them alike.  The parts of an
 *            accumulator are small and many: while `packs`, pieces that are whole buffers of the heap wait for each
 *            other, and those of one rank leave together.
 * Invariant  which pieces share a message depends on what both ends know: the pieces between the two, in their order.
 * Tests      test/wire */
#include "dist.h"
#include "shared/check.h"

static void number_next(struct dist *d)
{
    const uint64_t id = d->core->orch.rings.head;
    *window_number(d->core->window, id) = (uint64_t)d->number;
    struct noted *n = ptoi_noted_at(&d->notes, d->core->recorder, id);
    if (!n) return;
    *n = (struct noted){.number = (uint64_t)d->number};
    d->notes.used = id - d->core->recorder->first_id + 1;
}

int64_t ptoi_dist_submit_here(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    number_next(d);
    return d->local.submit(d->rt, kernel, params, count);
}

uint8_t ptoi_dist_type_of(int32_t unit)
{
    return unit == 8 ? PTO_U64 : unit == 4 ? PTO_U32 : unit == 2 ? PTO_U16 : PTO_U8;
}

static int64_t bytes_of(const struct outgoing *piece, int32_t count)
{
    int64_t bytes = 0;
    for (int32_t k = 0; k < count; k++)
        bytes += ptoi_box_elements(&piece[k].box, piece[k].tensor->home.rank) * piece[k].tensor->home.unit;
    return bytes;
}

/* It takes no part in the run. */
static void plan_message(struct dist *d, const struct outgoing *piece, int32_t count, int32_t from, int32_t to)
{
    struct planned node = {
        .kind = PLANNED_SEND, .rank = from, .peer = to, .urgency = d->tasks_of[to], .amount = bytes_of(piece, count)};
    for (int is_receive = 0; is_receive < 2; is_receive++) {
        ptoi_plan_add(d->plan, &node);
        for (int32_t k = 0; k < count; k++)
            ptoi_plan_use(d->plan, piece[k].tensor->number, &piece[k].tensor->home, &piece[k].box, !is_receive,
                          is_receive);
        node.kind = PLANNED_RECEIVE;
        node.rank = to;
        node.peer = from;
    }
}

/* The parameter that names a piece. */
struct named {
    void *base;
    int64_t shape[PTO_MAX_RANK], stride[PTO_MAX_RANK];
};

static PTOTaskParam name_piece(const struct outgoing *piece, bool sends, struct named *n)
{
    const struct distribution *home = &piece->tensor->home;
    int64_t at = 0;
    n->base = piece->tensor->base;
    ptoi_home_strides(home, n->stride);
    for (int32_t k = 0; k < home->rank; k++) {
        n->shape[k] = piece->box.high[k] - piece->box.low[k];
        at += piece->box.low[k] * n->stride[k];
    }
    return (PTOTaskParam){.kind = sends ? PTO_PARAM_INPUT : PTO_PARAM_OUTPUT,
                          .type = ptoi_dist_type_of(home->unit),
                          .rank = (uint8_t)home->rank,
                          .buffer = sends ? n->base : NULL,
                          .ref = sends ? NULL : &n->base,
                          .at = at,
                          .shape = n->shape,
                          .stride = n->stride};
}

/* One message, where this rank is one of the two. */
static PTOStatus send_message(struct dist *d, const struct outgoing *piece, int32_t count, int32_t from, int32_t to,
                              const PTOTaskParam *priority)
{
    const bool sends = from == d->me, has_priority = priority && priority->kind == PTO_PARAM_PRIORITY;
    struct named named[TRANSFER_MOST];
    if (d->plan) plan_message(d, piece, count, from, to);
    if (!sends && to != d->me) return PTO_OK;
    const int32_t peer = sends ? to : from;
    struct peer *p = &d->transfers.peer[peer];
    if (sends) {
        struct dist_sends *total = d->is_collecting ? &d->collected : &d->sends;
        total->messages++;
        total->bytes += bytes_of(piece, count);
    }
    PTOTaskParam params[PTO_MAX_PARAMS + 1]; /* few of them are used: they are not cleared */
    const int64_t scalar[TRANSFER_VIEWS] = {
        [TRANSFER_PEER] = peer | (int64_t)count << TRANSFER_SHIFT,
        [TRANSFER_NUMBER] = (int64_t)(sends ? p->sent++ : p->received++),
        [TRANSFER_ORDER] = sends ? (int64_t)d->transfers.sent++ : 0,
        [TRANSFER_URGENCY] = d->tasks_of[to],
    };
    for (int32_t k = 0; k < TRANSFER_VIEWS; k++)
        params[k] = (PTOTaskParam){.kind = PTO_PARAM_SCALAR, .value = pto_scalar_i64(scalar[k])};
    for (int32_t k = 0; k < count; k++) params[TRANSFER_VIEWS + k] = name_piece(&piece[k], sends, &named[k]);
    if (has_priority) params[TRANSFER_VIEWS + count] = *priority;
    const int64_t id = ptoi_dist_submit_here(d, sends ? &ptoi_send_kernel : &ptoi_receive_kernel, params,
                                             TRANSFER_VIEWS + count + has_priority);
    if (id < 0) return (PTOStatus)id;
    struct noted *n = ptoi_noted_at(&d->notes, d->core->recorder, (uint64_t)id);
    if (n) {
        n->message = (uint64_t)params[TRANSFER_NUMBER].value.i64;
        n->bytes = bytes_of(piece, count);
        n->peer = peer;
        n->serves = true;
        n->is_send = sends;
        n->is_receive = !sends;
    }
    return PTO_OK;
}

static bool is_part(const struct outgoing *piece)
{
    const struct distribution *home = &piece->tensor->home;
    for (int32_t k = 0; k < home->rank; k++)
        if (piece->box.low[k] > 0 || piece->box.high[k] < home->shape[k]) return false;
    return piece->tensor->buffer != 0;
}

PTOStatus ptoi_dist_send(struct dist *d, const struct tensor *t, const struct box *box, int32_t from, int32_t to,
                         const PTOTaskParam *priority)
{
    const struct outgoing piece = {.tensor = t, .box = *box, .from = from};
    if (!d->packs || !is_part(&piece)) return send_message(d, &piece, 1, from, to, priority);
    CHECK(d->packed_count < PACKED); /* a task reads at most as many buffers */
    d->packed[d->packed_count++] = piece;
    return PTO_OK;
}

PTOStatus ptoi_dist_send_packed(struct dist *d, int32_t to, const PTOTaskParam *priority)
{
    struct outgoing together[TRANSFER_MOST];
    const int32_t count = d->packed_count;
    PTOStatus status = PTO_OK;
    d->packed_count = 0;
    for (int32_t first = 0; first < count && status == PTO_OK; first++) {
        const int32_t from = d->packed[first].from;
        int32_t n = 0;
        for (int32_t k = first; k < count && from != NO_HOME && n < TRANSFER_MOST; k++) {
            if (d->packed[k].from != from) continue;
            together[n++] = d->packed[k];
            d->packed[k].from = NO_HOME;
        }
        if (n > 0) status = send_message(d, together, n, from, to, priority);
    }
    return status;
}
