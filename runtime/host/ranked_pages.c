/* ranked_pages.c - arrays whose pages have cells of several ranks: see ranked.h.
 *
 * Idea       where a row of a cell is shorter than a page, the ranks whose cells lie in a page all have memory for it.
 *            dist/touched.c has counted what each has; the first rank adds it up, and advises cells with longer rows.
 *            Where the rows are long, what a rank has beside its cells are copies, for which no row is a remedy.
 * Owner      the session.
 * Blocks     until all ranks have come.
 * Tests      test/wire/check_pages.py */
#include "ranked.h"
#include "api/runtime.h"
#include "dist/pages.h"
#include <inttypes.h>

/* A rank may always have so much more than its cells and copies, so it is worth no advice. */
enum { SPARED_BYTES = 1 << 20 };

/* ---- a distribution whose cells have longer rows ----------------------------------------------------------------- */

/* The same grid, with cells that are `times` as long in dimension k; false: then a part of the grid has none. */
static bool lengthen(const struct distribution *from, int32_t k, int64_t times, struct distribution *to)
{
    int64_t cell;
    *to = *from;
    if (__builtin_mul_overflow(from->cell[k], times, &cell) || cell > from->shape[k]) return false;
    to->cell[k] = cell;
    return (from->shape[k] - 1) / cell + 1 >= from->grid[k];
}

/* A band a rank, of the first dimension that has enough; false: none has. */
static bool cut_into_bands(const struct distribution *from, int32_t ranks, struct distribution *to)
{
    int32_t k = 0;
    while (k < from->rank && from->shape[k] < ranks) k++;
    *to = *from;
    for (int32_t i = 0; i < from->rank; i++) {
        to->grid[i] = i == k ? ranks : 1;
        to->cell[i] = i == k ? (from->shape[i] - 1) / ranks + 1 : from->shape[i];
    }
    return k < from->rank;
}

/* Rows of whole pages, else of several, since one that begins anywhere has a part of a page at each end; else bands,
 * if their rows are long enough.  The rows are shorter than a page now.  false: nothing is. */
static bool find_longer_rows(const struct distribution *from, int32_t ranks, int64_t page, struct distribution *to)
{
    enum { SEVERAL = 4 };
    const int64_t row = ptoi_home_row(from, ranks);
    const int32_t cut = ptoi_home_cut(from, ranks);
    if (cut < 0) return false;
    const int64_t unit = row / from->cell[cut]; /* of a step in that dimension */
    if (lengthen(from, cut, (page - 1) / row + 1, to) && unit * from->shape[cut] % page == 0 &&
        unit * to->cell[cut] % page == 0)
        return true;
    return lengthen(from, cut, (SEVERAL * page - 1) / row + 1, to) ||
           (cut_into_bands(from, ranks, to) && ptoi_home_row(to, ranks) >= SEVERAL * page);
}

static void print_numbers(FILE *out, const int64_t *number, int32_t count)
{
    for (int32_t k = 0; k < count; k++) fprintf(out, "%s%" PRId64, k ? "x" : "", number[k]);
}

/* --dist counts in the dimensions of the array, and cells may come from a view that has others. */
static bool is_of_array(const struct distribution *home, const struct host_array *a)
{
    bool is_same = home->rank == a->rank && home->unit == pto_type_bytes(a->type);
    for (int32_t k = 0; is_same && k < a->rank; k++) is_same = home->shape[k] == a->shape[k];
    return is_same;
}

/* ---- advice ------------------------------------------------------------------------------------------------------ */

static void advise(const struct session *s, int32_t f, const struct tensor *t, uint64_t touched, FILE *out)
{
    const char *name = s->entry->formals[f].name;
    const int64_t page = ptoi_pages_size();
    struct distribution longer;
    fprintf(out,
            "Advice: the pages of '%s' take %" PRIu64 " bytes on all ranks, and it has %" PRId64 ": a row of its cells "
            "has %" PRId64 " bytes and a page %" PRId64 ", so ranks share pages: tiles with rows of a page or more",
            name, touched, t->bytes, ptoi_home_row(&t->home, s->wire->ranks), page);
    if (is_of_array(&t->home, &s->formals[f].array) && find_longer_rows(&t->home, s->wire->ranks, page, &longer)) {
        fprintf(out, ", or --dist %s=", name);
        print_numbers(out, longer.cell, longer.rank);
        fprintf(out, ":");
        print_numbers(out, longer.grid, longer.rank);
    }
    fprintf(out, "\n");
}

/* One array, and all ranks call it. false: the wire failed. */
static bool look_at(struct session *s, int32_t f, const struct tensor *t, FILE *out)
{
    struct {
        int64_t touched, owned;
    } of = {t->touched, t->owned};
    struct counted touched = {0}, more = {0};
    if (!session_is_first(s)) return ptoi_wire_give(s->wire, 0, &of, sizeof of);
    for (int32_t rank = 0; rank < s->wire->ranks; rank++) {
        if (rank > 0 && !ptoi_wire_take(s->wire, rank, &of, sizeof of)) return false;
        ptoi_ranked_count(&touched, rank, (uint64_t)of.touched);
        ptoi_ranked_count(&more, rank, of.touched > of.owned ? (uint64_t)(of.touched - of.owned) : 0);
    }
    if (touched.total / 2 >= (uint64_t)t->bytes && more.most > SPARED_BYTES &&
        ptoi_home_row(&t->home, s->wire->ranks) < ptoi_pages_size())
        advise(s, f, t, touched.total, out);
    return true;
}

void ptoi_ranked_advise_pages(struct session *s, FILE *out)
{
    bool ok = s->wire != NULL;
    for (int32_t f = 0; ok && f < s->entry->formal_count; f++) {
        const struct tensor *t = ptoi_ranked_counted_array(s, f);
        if (t && ptoi_dist_may_share_pages(s->rt->dist, t)) ok = look_at(s, f, t, out);
    }
}
