/* cells.c - the distribution of a tensor: what the program says, else what its first use shows.  See dist.h.
 *
 * Idea       until a task has named a tensor, or the program has waited for it, nobody has written it, and ranks have
 *            all of it or none.  So its distribution may still change.  Where the program says nothing, the cells are
 *            as large as the first piece that a task names, and the grid of ranks is as square as possible.  Generated
 *            code says something of each argument of an entry, but of those whose views it makes in loops and branches.
 * Blocks     while an array is read.
 * Invariant  what is decided here depends on the program alone, so all ranks decide the same.
 * Tests      test/wire/test_homes.c */
#include "dist.h"
#include "submit/failing.h"

static void change(struct dist *d, struct tensor *t, const struct distribution *home)
{
    ptoi_copies_end(&d->copies, &t->copies);
    t->home = *home;
    if (t->is_everywhere) ptoi_dist_spread(d, t);
}

/* ---- the first bytes of an array --------------------------------------------------------------------------------- */

/* One call for each row of the piece; rows that lie one behind the other are joined. */
bool ptoi_dist_read_piece(const struct tensor *t, const struct box *piece)
{
    const struct distribution *h = &t->home;
    int64_t stride[PTO_MAX_RANK], index[PTO_MAX_RANK];
    int32_t row = h->rank - 1, k;
    ptoi_home_strides(h, stride);
    while (row > 0 && piece->high[row] - piece->low[row] == h->shape[row]) row--;
    const int64_t bytes = (piece->high[row] - piece->low[row]) * stride[row] * h->unit;
    for (k = 0; k < h->rank; k++) index[k] = piece->low[k];
    do {
        int64_t at = 0;
        for (k = 0; k < h->rank; k++) at += index[k] * stride[k] * h->unit;
        if (!t->source.read(t->source.cx, at, bytes, t->base + at)) return false;
        for (k = row - 1; k >= 0 && ++index[k] == piece->high[k]; k--) index[k] = piece->low[k];
    } while (k >= 0);
    return true;
}

void ptoi_dist_settle(struct dist *d, struct tensor *t)
{
    struct box all = {{0}, {0}}, piece;
    int32_t home;
    bool is_read = true;
    if (t->is_settled) return;
    t->is_settled = true;
    if (!t->source.read) return;
    for (int32_t k = 0; t->source.lacks && k < d->ranks; k++) t->is_lent |= t->source.lacks[k];
    for (int32_t k = 0; k < t->home.rank; k++) all.high[k] = t->home.shape[k];
    for (struct pieces p = ptoi_pieces(&t->home, &all, d->ranks); is_read && ptoi_next_piece(&p, &piece, &home);)
        if (home == d->me && !(t->source.lacks && t->source.lacks[home])) is_read = ptoi_dist_read_piece(t, &piece);
    if (!is_read) ptoi_orch_fail(&d->core->orch, PTO_ERR_IO, "the data of an array cannot be read");
}

void ptoi_dist_give(struct dist *d, void *base, int64_t bytes, const struct distribution *home,
                    const struct dist_source *source)
{
    const struct distribution bands = ptoi_home_bands(bytes, d->ranks);
    if (bytes < 1 || !base || ptoi_dist_tensor(d, base)) return;
    struct tensor *t = ptoi_dist_add_outside(d, base, bytes, home ? home : &bands);
    if (!t) return; /* two arrays in one place: the run refuses the second */
    t->source = *source;
    if (!source->read) ptoi_dist_spread(d, t);
    if (home) ptoi_dist_settle(d, t);
}

/* ---- the distribution -------------------------------------------------------------------------------------------- */

/* The last two dimensions that have several cells get the ranks; false: there is one cell. */
static bool deal(struct distribution *home, int32_t ranks)
{
    int32_t last = -1, before = -1;
    for (int32_t k = 0; k < home->rank; k++) {
        if (home->cell[k] >= home->shape[k]) continue;
        before = last;
        last = k;
    }
    const int32_t rows = before >= 0 ? ptoi_home_rows(ranks) : 1;
    if (before >= 0) home->grid[before] = rows;
    if (last >= 0) home->grid[last] = ranks / rows;
    return last >= 0;
}

/* Of the first dimension that can be cut. */
static void cut_into_bands(struct distribution *home, int32_t ranks)
{
    int32_t k = 0;
    while (k < home->rank - 1 && home->shape[k] == 1) k++;
    home->cell[k] = (home->shape[k] - 1) / ranks + 1;
    home->grid[k] = ranks;
}

void ptoi_dist_say(struct dist *d, const void *base, const struct distribution *said, enum dealt dealt)
{
    struct distribution home = *said;
    struct tensor *t = ptoi_dist_tensor(d, base);
    const bool is_cut = dealt == DEALT_AS_SAID || deal(&home, d->ranks);
    if (!is_cut && dealt == DEALT_IN_BANDS) cut_into_bands(&home, d->ranks);
    if (!ptoi_dist_compare(d)) return;
    ptoi_dist_begin_step(d);
    ptoi_ask_item(&d->asked, asked_head(ASKED_HOMES, 0, 3 * home.rank, 0, t ? t->number : UINT32_MAX));
    for (int32_t k = 0; k < home.rank; k++) {
        ptoi_ask(&d->asked, (uint64_t)home.shape[k]);
        ptoi_ask(&d->asked, (uint64_t)home.cell[k]);
        ptoi_ask(&d->asked, (uint64_t)home.grid[k]);
    }
    ptoi_dist_end_step(d, NULL);
    if (!t || t->base != base || t->is_settled || ptoi_home_bytes(&home) != t->bytes) return;
    if (!is_cut && t->buffer) return; /* one of the heap has one home, that of its first writer */
    change(d, t, &home);
    ptoi_dist_settle(d, t);
}

/* The shape of the tensor, with cells as large as the view; false: the view shows none. */
static bool read_view(const PTOArg *view, int64_t bytes, struct distribution *home)
{
    const int64_t unit = pto_type_bytes((PTOType)view->type);
    int64_t elements = bytes / unit;
    *home = (struct distribution){.rank = view->rank, .unit = (int32_t)unit};
    for (int32_t k = 0; k < view->rank; k++) {
        const int64_t stride = view->stride[k];
        if (stride < 1 || elements % stride != 0) return false;
        home->shape[k] = elements / stride;
        home->cell[k] = view->shape[k];
        home->grid[k] = 1;
        if (home->cell[k] > home->shape[k]) return false;
        elements = stride;
    }
    return view->rank > 0 && bytes % unit == 0 && elements == 1;
}

void ptoi_dist_first_use(struct dist *d, struct tensor *t, const PTOArg *view)
{
    struct distribution home;
    bool is_cut = read_view(view, t->bytes, &home);
    d->hash = ptoi_dist_mix(d->hash, (uint64_t)t->bytes); /* all ranks have as many */
    if (is_cut && !deal(&home, d->ranks)) {
        is_cut = !t->buffer; /* one of the heap has one home, that of its first writer */
        cut_into_bands(&home, d->ranks);
    }
    if (is_cut) change(d, t, &home);
    ptoi_dist_settle(d, t);
}
