/* ranked_stats.c - what --stats prints of several ranks: see ranked.h.
 *
 * Idea       a line is a number of which each rank has its own: their sum, and the ranks that have the least and the
 *            most of it.  What stands out is advice.
 * Owner      the session.
 * Blocks     until all ranks have come.
 * Tests      test/wire/check_options.py, check_plans.py */
#include "api/runtime.h"
#include "ranked.h"
#include <inttypes.h>
#include <stdio.h>

void ptoi_ranked_count(struct counted *c, int32_t rank, uint64_t number)
{
    if (c->ranks++ == 0 || number < c->least) c->least = number, c->least_rank = rank;
    if (c->ranks == 1 || number > c->most) c->most = number, c->most_rank = rank;
    c->total += number;
}

static double mean_of(const struct counted *c) { return (double)c->total / c->ranks; }

void ptoi_ranked_print_counted(const char *text, const struct counted *c)
{
    printf("%s: %" PRIu64 " total, least %" PRIu64 " (rank %d), mean %.1f, most %" PRIu64 " (rank %d)\n", text,
           c->total, c->least, c->least_rank, mean_of(c), c->most, c->most_rank);
}

enum line { MESSAGES, BYTES, COLLECTED, AGAIN, FORGOTTEN, TASKS, KERNEL_US, LINES };
static const char *const text_of[LINES] = {"Messages",
                                           "Bytes sent",
                                           "Messages for the results",
                                           "Pieces that a copy has saved",
                                           "Bytes of copies forgotten",
                                           "Tasks of ranks",
                                           "Microseconds in kernels"};

static void read_mine(const struct session *s, uint64_t *mine)
{
    const struct dist *d = s->rt->dist;
    const PTORunStats *run = pto_get_run_stats(s->rt);
    int64_t ns = 0;
    for (int type = 0; type < PTO_WORKER_TYPES; type++) ns += run->worker_busy_ns[type];
    const int64_t numbers[LINES] = {[MESSAGES] = d->sends.messages,
                                    [BYTES] = d->sends.bytes,
                                    [COLLECTED] = d->collected.messages,
                                    [AGAIN] = d->copies.used_again,
                                    [FORGOTTEN] = d->copies.forgotten_bytes,
                                    [TASKS] = d->tasks_of[d->me],
                                    [KERNEL_US] = ns / 1000};
    for (int k = 0; k < LINES; k++) mine[k] = (uint64_t)numbers[k];
}

/* false: the wire failed. */
static bool count_all(struct session *s, struct counted *sum)
{
    enum { PARTS = (LINES + WIRE_REDUCED - 1) / WIRE_REDUCED };
    uint64_t mine[PARTS * WIRE_REDUCED] = {0}, least[WIRE_REDUCED], most[WIRE_REDUCED];
    static const uint64_t nothing[WIRE_REDUCED];
    read_mine(s, mine);
    for (int32_t rank = 0; rank < s->wire->ranks; rank++)
        for (int part = 0; part < PARTS; part++) {
            const uint64_t *numbers = rank == s->wire->rank ? mine + part * WIRE_REDUCED : nothing;
            if (!ptoi_ranked_reduce(s, numbers, least, most)) return false;
            for (int k = 0; k < WIRE_REDUCED && part * WIRE_REDUCED + k < LINES; k++)
                ptoi_ranked_count(&sum[part * WIRE_REDUCED + k], rank, most[k]);
        }
    return true;
}

/* Times of a few tasks say nothing. */
static void print_advice(const struct counted *sum)
{
    enum { FEW_TASKS = 16, SHORT_US = 10000 };
    const struct counted *us = &sum[KERNEL_US];
    const double imbalance = us->total > 0 ? (double)us->most / mean_of(us) : 1;
    printf("Imbalance of kernels: %.2f (most of a rank, beside the mean)\n", imbalance);
    if (sum[TASKS].total >= FEW_TASKS * (uint64_t)us->ranks && us->most >= SHORT_US && imbalance > 1.25)
        printf("Advice: rank %d has most of the work: another grid of ranks (--dist, @dist) or @at spreads it\n",
               us->most_rank);
    if (sum[MESSAGES].total > sum[TASKS].total && sum[TASKS].total > 0)
        printf("Advice: there are more messages than tasks: larger tiles, or cells as large as the tiles (--dist)\n");
    if (sum[FORGOTTEN].total > 0)
        printf("Advice: copies were forgotten, and are sent again where they are read again: more --copies\n");
}

void ptoi_ranked_print_stats(struct session *s)
{
    struct counted sum[LINES] = {0};
    if (!s->wire || !count_all(s, sum) || !session_is_first(s)) return;
    printf("Ranks: %d\n", s->wire->ranks);
    for (int k = 0; k < LINES; k++) ptoi_ranked_print_counted(text_of[k], &sum[k]);
    print_advice(sum);
}
