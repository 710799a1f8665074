/* disagree.c - ranks that disagree name the step, the item of it that differs, and two values.  See dist.h, asked.h.
 *
 * Idea       all ranks go through this together, and each reduction has the same answer on all.  The first step whose
 *            hash differs is searched, then its first word that does; the value of rank 0 is compared with that of the
 *            first rank that has another one.
 * Blocks     until all ranks have come.
 * Tests      test/wire/test_ranks_failing.c */
#include "dist.h"
#include "submit/failing.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 96, NAME_WORDS = WIRE_REDUCED };

/* Two ranks and what they have. */
struct difference {
    uint64_t head;    /* of the item; where the heads differ, that of rank 0 */
    int32_t position; /* among the words of the item; -1: the heads differ */
    int32_t rank;     /* the first that differs from rank 0 */
    uint64_t value[2];
};

static bool reduce(struct dist *d, uint64_t mine, uint64_t *least, uint64_t *most)
{
    uint64_t lowest[WIRE_REDUCED], highest[WIRE_REDUCED];
    if (!ptoi_transfers_reduce(&d->transfers, false, (const uint64_t[WIRE_REDUCED]){mine}, lowest, highest))
        return false;
    *least = lowest[0];
    *most = highest[0];
    return true;
}

/* Do all ranks have the same hash of that step?  false also where the run has failed. */
static bool is_same(struct dist *d, uint64_t step)
{
    uint64_t least, most;
    return reduce(d, ptoi_dist_step_at(d, step)->hash, &least, &most) && least == most;
}

/* false: the run has failed. */
static bool find_step(struct dist *d, uint64_t least_steps, uint64_t *step)
{
    uint64_t low = d->agreed, high = least_steps;
    while (low < high) { /* the steps below low are the same, that of high is not, or not there */
        const uint64_t middle = low + (high - low) / 2;
        const bool same = is_same(d, middle);
        if (ptoi_orch_has_failed(&d->core->orch)) return false;
        if (same)
            low = middle + 1;
        else
            high = middle;
    }
    *step = low;
    return true;
}

/* ---- the first word of the step that differs --------------------------------------------------------------------- */

/* The words of a step that it has for itself lie side by side, in the order of their positions (known_step.h). */
static uint64_t word_of(const struct dist *d, uint64_t step, uint64_t position)
{
    const struct step *s = ptoi_dist_step_at(d, step);
    if (step >= d->steps || position >= s->words) return asked_head(ASKED_NOTHING, 0, 0, 0, 0);
    const uint64_t bit = position < 64 ? UINT64_C(1) << position : 0;
    return s->own & bit ? d->asked.word[s->first_own % ASKED_WORDS + (uint64_t)__builtin_popcountll(s->own & (bit - 1))]
                        : d->asked.word[(s->first_word + position) % ASKED_WORDS];
}

/* The words of the step are kept on all ranks, as far as there are some; *words: the most that a rank has. */
static bool are_kept(struct dist *d, uint64_t step, uint64_t *words)
{
    const struct step *s = ptoi_dist_step_at(d, step);
    const bool has_step = step < d->steps, is_kept = !has_step || s->first_word + ASKED_WORDS >= d->asked.end;
    uint64_t least, most;
    return reduce(d, is_kept, &least, &most) && least == 1 && reduce(d, has_step ? s->words : 0, &least, words);
}

/* The same on all ranks up to the position, so all find the same head. */
static void find_head(const struct dist *d, uint64_t step, uint64_t position, struct difference *x)
{
    uint64_t at = 0;
    for (;;) {
        const uint64_t head = word_of(d, step, at), next = at + 1 + (uint64_t)asked_count_of(head);
        if (at == position || next > position) {
            x->head = head;
            x->position = (int32_t)(position - at) - 1;
            return;
        }
        at = next;
    }
}

static bool compare_with_first(struct dist *d, uint64_t mine, struct difference *x)
{
    uint64_t least, most;
    if (!reduce(d, d->me == 0 ? mine : 0, &least, &x->value[0]) ||
        !reduce(d, mine == x->value[0] ? UINT64_MAX : (uint64_t)d->me, &least, &most))
        return false;
    x->rank = (int32_t)least;
    return reduce(d, d->me == x->rank ? mine : 0, &least, &x->value[1]);
}

/* false: the words are not kept, or the run has failed. */
static bool find_difference(struct dist *d, uint64_t step, struct difference *x)
{
    uint64_t words, least, most;
    if (!are_kept(d, step, &words)) return false;
    for (uint64_t k = 0; k < words; k++) {
        const uint64_t mine = word_of(d, step, k);
        if (!reduce(d, mine, &least, &most)) return false;
        if (least == most) continue;
        find_head(d, step, k, x);
        return compare_with_first(d, mine, x);
    }
    return false;
}

/* ---- as text ----------------------------------------------------------------------------------------------------- */

/* The first bytes of the name of the kernel on a rank; all ranks call it. */
static bool name_of(struct dist *d, uint64_t step, int32_t rank, char *text)
{
    uint64_t mine[NAME_WORDS] = {0}, least[NAME_WORDS], most[NAME_WORDS];
    const char *name = step < d->steps ? ptoi_dist_step_at(d, step)->name : NULL;
    if (d->me == rank && name) memcpy(mine, name, strnlen(name, sizeof mine));
    if (!ptoi_transfers_reduce(&d->transfers, false, mine, least, most)) return false;
    snprintf(text, TEXT, "'%.*s'", (int)sizeof most, (const char *)most);
    return true;
}

/* A scalar has 8 bytes whatever its type: large ones may be the bits of a float. */
static void write_scalar(uint64_t bits, char *text)
{
    const uint32_t half = (uint32_t)bits;
    float single;
    double twice;
    memcpy(&single, &half, sizeof single);
    memcpy(&twice, &bits, sizeof twice);
    if (bits + (1 << 23) < 1 << 24)
        snprintf(text, TEXT, "%" PRId64, (int64_t)bits);
    else if (bits == half)
        snprintf(text, TEXT, "%" PRId64 " (as f32 %.9g)", (int64_t)bits, (double)single);
    else
        snprintf(text, TEXT, "%" PRId64 " (as f64 %.17g)", (int64_t)bits, twice);
}

/* How a parameter of the kind uses its bytes. */
static const char *use_of(int32_t kind)
{
    return kind == PTO_PARAM_INPUT    ? "read"
           : kind == PTO_PARAM_OUTPUT ? "written"
           : kind == PTO_PARAM_ACC    ? "accumulated"
                                      : "read and written";
}

static void write_item(uint64_t head, char *text)
{
    const int32_t index = asked_index_of(head);
    switch (asked_item_of(head)) {
    case ASKED_NOTHING: snprintf(text, TEXT, "nothing more"); break;
    case ASKED_TASK: snprintf(text, TEXT, "a task"); break;
    case ASKED_SCALAR: snprintf(text, TEXT, "scalar %d", index); break;
    case ASKED_PARAM: snprintf(text, TEXT, "another kind of parameter %d", index); break;
    case ASKED_BOX:
        snprintf(text, TEXT, "parameter %d, %s, in buffer %" PRIu32, index, use_of(asked_detail_of(head)),
                 asked_buffer_of(head));
        break;
    case ASKED_OUTPUT: snprintf(text, TEXT, "the new buffer of parameter %d", index); break;
    case ASKED_RANK: snprintf(text, TEXT, "no more parameters"); break;
    case ASKED_AWAIT: snprintf(text, TEXT, "a wait for buffer %" PRIu32, asked_buffer_of(head)); break;
    case ASKED_HOMES: snprintf(text, TEXT, "a distribution of buffer %" PRIu32, asked_buffer_of(head)); break;
    case ASKED_END: snprintf(text, TEXT, "the end of the program"); break;
    }
}

/* Which number of the item differs. */
static void write_subject(const struct difference *x, char *text)
{
    static const char *const wait[] = {"first byte", "number of bytes"};
    const int32_t index = asked_index_of(x->head), at = x->position;
    switch (x->position < 0 ? ASKED_NOTHING : asked_item_of(x->head)) {
    case ASKED_TASK: snprintf(text, TEXT, "the kernel is"); break;
    case ASKED_SCALAR: snprintf(text, TEXT, "scalar %d is", index); break;
    case ASKED_BOX:
        if (at + 1 < asked_count_of(x->head))
            snprintf(text, TEXT, "extent %d of parameter %d is", at, index);
        else
            snprintf(text, TEXT, "the first element of parameter %d is", index);
        break;
    case ASKED_OUTPUT: snprintf(text, TEXT, "extent %d of the new buffer of parameter %d is", at, index); break;
    case ASKED_RANK: snprintf(text, TEXT, "the rank of the task is"); break;
    case ASKED_AWAIT: snprintf(text, TEXT, "the %s that the program waits for is", wait[at]); break;
    case ASKED_HOMES: snprintf(text, TEXT, "the %s of dimension %d is", at % 2 ? "grid" : "cell", at / 2); break;
    default: snprintf(text, TEXT, "the program asks for"); break;
    }
}

/* false: the run has failed. */
static bool write_values(struct dist *d, uint64_t step, const struct difference *x, char text[2][TEXT])
{
    const bool is_head = x->position < 0;
    if (!is_head && asked_item_of(x->head) == ASKED_TASK)
        return name_of(d, step, 0, text[0]) && name_of(d, step, x->rank, text[1]);
    for (int k = 0; k < 2; k++)
        if (is_head)
            write_item(x->value[k], text[k]);
        else if (asked_item_of(x->head) == ASKED_SCALAR)
            write_scalar(x->value[k], text[k]);
        else
            snprintf(text[k], TEXT, "%" PRId64, (int64_t)x->value[k]);
    return true;
}

void ptoi_dist_fail_disagreement(struct dist *d, uint64_t least_steps)
{
    static const char rule[] = "what it does may not depend on the rank";
    char subject[TEXT], value[2][TEXT];
    struct difference x;
    uint64_t step;
    if (!find_step(d, least_steps, &step)) return;
    const PTOSite *site = step < d->steps ? ptoi_dist_step_at(d, step)->site : NULL;
    if (find_difference(d, step, &x) && write_values(d, step, &x, value)) {
        write_subject(&x, subject);
        ptoi_fail_earlier(d->core->run_status, PTO_ERR_STATE, site,
                          "ranks 0 and %d disagree at step %" PRIu64 " of the program: %s %s and %s; %s", x.rank, step,
                          subject, value[0], value[1], rule);
    }
    if (ptoi_orch_has_failed(&d->core->orch)) return;
    ptoi_fail_earlier(d->core->run_status, PTO_ERR_STATE, site,
                      "the ranks disagree at step %" PRIu64 " of the program: %s", step, rule);
}
