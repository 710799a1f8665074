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
#include <stdlib.h>
#include <string.h>

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

/* ---- the lines --------------------------------------------------------------------------------------------------- */

enum line {
    MESSAGES,
    BYTES,
    COLLECTED,
    AGAIN,
    FORGOTTEN,
    OWNED,
    TOUCHED,
    TASKS,
    KERNEL_US,
    WAITED_US,
    EDGES,
    ALLOCATIONS,
    ALLOCATED,
    MOVED,
#define PTO_RING(id, ...) STALLS_##id,
#include <pto/stats.def>
    STALL_US,
    AWAITS,
    AWAIT_US,
#define PTO_RING(id, ...) MOST_##id,
#include <pto/stats.def>
    RUN_US,
    LINES
};

/* Those that may be left out are, where they are 0 on all ranks.  has_no_sum: the most that was in use at a time. */
static const struct line_text {
    const char *text;
    bool may_be_left_out, has_no_sum;
} text_of[LINES] = {
    [MESSAGES] = {"Messages", false, false},
    [BYTES] = {"Bytes sent", false, false},
    [COLLECTED] = {"Messages for the results", false, false},
    [AGAIN] = {"Pieces that a copy has saved", false, false},
    [FORGOTTEN] = {"Bytes of copies forgotten", false, false},
    [OWNED] = {"Bytes of cells", true, false},
    [TOUCHED] = {"Bytes of pages touched for cells and copies", true, false},
    [TASKS] = {"Tasks of ranks", false, false},
    [KERNEL_US] = {"Microseconds in kernels", false, false},
    [WAITED_US] = {"Microseconds that workers waited for transfers", false, false},
    [EDGES] = {"Dependence edges on tasks still to complete", true, false},
    [ALLOCATIONS] = {"Allocations", true, false},
    [ALLOCATED] = {"Bytes allocated", true, false},
    [MOVED] = {"Bytes moved to compact the heap", true, false},
#define PTO_RING(id, name, mark, text, ...) [STALLS_##id] = {"Stalls of the " text, true, false},
#include <pto/stats.def>
    [STALL_US] = {"Microseconds stalled", true, false},
    [AWAITS] = {"Values awaited", true, false},
    [AWAIT_US] = {"Microseconds in await", true, false},
#define PTO_RING(id, name, mark, text, title, unit) [MOST_##id] = {"In use at most, " text unit, true, true},
#include <pto/stats.def>
    [RUN_US] = {"Microseconds of the run", false, true},
};

/* What a rank gives to rank 0. */
struct numbers {
    uint64_t line[LINES];
    uint64_t kernels;
    struct waited {
        char name[64]; /* of a kernel; "": see kernel_wait */
        uint64_t us, tasks;
    } waited[WAITED_KERNELS];
};

static void read_mine(const struct session *s, struct numbers *mine)
{
    const struct dist *d = s->rt->dist;
    const PTORunStats *run = pto_get_run_stats(s->rt);
    const PTOFlowControlStats *flow = pto_get_flow_stats(s->rt);
    const struct waits *w = &d->transfers.waits;
    int64_t ns = 0, stalled = 0, waited = 0;
    for (int type = 0; type < PTO_WORKER_TYPES; type++) ns += run->worker_busy_ns[type];
#define PTO_RING(id, name, ...) stalled += flow->name##_stall_ns;
#include <pto/stats.def>
    *mine = (struct numbers){.kernels = (uint64_t)w->kernels};
    for (int32_t k = 0; k < w->kernels; k++) {
        const PTOKernel *kernel = w->kernel[k].kernel;
        struct waited *x = &mine->waited[k];
        snprintf(x->name, sizeof x->name, "%s", kernel ? kernel->name : "");
        x->us = (uint64_t)(w->kernel[k].ns / 1000);
        x->tasks = (uint64_t)w->kernel[k].tasks;
        waited += w->kernel[k].ns;
    }
    const int64_t numbers[LINES] = {
        [MESSAGES] = d->sends.messages,
        [BYTES] = d->sends.bytes,
        [COLLECTED] = d->collected.messages,
        [AGAIN] = d->copies.used_again,
        [FORGOTTEN] = d->copies.forgotten_bytes,
        [TASKS] = d->tasks_of[d->me],
        [KERNEL_US] = ns / 1000,
        [WAITED_US] = waited / 1000,
        [EDGES] = run->edges,
        [ALLOCATIONS] = run->allocations,
        [ALLOCATED] = run->allocated_bytes,
        [MOVED] = run->moved_bytes,
#define PTO_RING(id, name, ...) [STALLS_##id] = flow->name##_stalls,
#include <pto/stats.def>
        [STALL_US] = stalled / 1000,
        [AWAITS] = flow->awaits,
        [AWAIT_US] = flow->await_ns / 1000,
#define PTO_RING(id, name, mark, ...) [MOST_##id] = flow->mark##_hwm,
#include <pto/stats.def>
        [RUN_US] = run->ns / 1000,
    };
    for (int k = 0; k < LINES; k++) mine->line[k] = (uint64_t)numbers[k];
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        const struct tensor *t = ptoi_ranked_counted_array(s, f);
        mine->line[OWNED] += t ? (uint64_t)t->owned : 0;
        mine->line[TOUCHED] += t ? (uint64_t)t->touched : 0;
    }
}

/* ---- of all ranks ------------------------------------------------------------------------------------------------ */

/* A kernel for which ranks have waited. */
struct kernel_sum {
    char name[64];
    struct counted us;
    uint64_t tasks;
};

struct sums {
    struct counted line[LINES];
    struct kernel_sum kernel[WAITED_KERNELS];
    int32_t kernels;
};

static void add_kernel(struct sums *sum, int32_t rank, const struct waited *x)
{
    int32_t k = 0;
    while (k < sum->kernels && strcmp(sum->kernel[k].name, x->name) != 0) k++;
    if (k == WAITED_KERNELS) return; /* ranks that have kernels of their own; the line of all has it */
    struct kernel_sum *at = &sum->kernel[k];
    if (k == sum->kernels) {
        *at = (struct kernel_sum){.us = {0}};
        memcpy(at->name, x->name, sizeof at->name);
        sum->kernels++;
    }
    while (at->us.ranks < rank) ptoi_ranked_count(&at->us, at->us.ranks, 0); /* those before have not waited */
    ptoi_ranked_count(&at->us, rank, x->us);
    at->tasks += x->tasks;
}

static void add_rank(struct sums *sum, int32_t rank, const struct numbers *n)
{
    for (int k = 0; k < LINES; k++) ptoi_ranked_count(&sum->line[k], rank, n->line[k]);
    for (uint64_t k = 0; k < n->kernels && k < WAITED_KERNELS; k++) add_kernel(sum, rank, &n->waited[k]);
}

static int by_time(const void *a, const void *b)
{
    const struct kernel_sum *x = a, *y = b;
    return (x->us.total < y->us.total) - (x->us.total > y->us.total);
}

/* The first has the sums of all.  false: the wire failed. */
static bool count_all(struct session *s, struct sums *sum)
{
    const int32_t ranks = s->wire->ranks;
    struct numbers n;
    read_mine(s, &n);
    if (!session_is_first(s)) return ptoi_wire_give(s->wire, 0, &n, sizeof n);
    add_rank(sum, 0, &n);
    for (int32_t rank = 1; rank < ranks; rank++) {
        if (!ptoi_wire_take(s->wire, rank, &n, sizeof n)) return false;
        add_rank(sum, rank, &n);
    }
    for (int32_t k = 0; k < sum->kernels; k++)
        while (sum->kernel[k].us.ranks < ranks) ptoi_ranked_count(&sum->kernel[k].us, sum->kernel[k].us.ranks, 0);
    qsort(sum->kernel, (size_t)sum->kernels, sizeof *sum->kernel, by_time);
    return true;
}

/* ---- advice ------------------------------------------------------------------------------------------------------ */

/* A matrix whose grid of ranks is much longer than wide, where one that is nearly square has as many ranks. */
static bool find_long_grid(const struct session *s, const char **name, int64_t *rows, int64_t *cols)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        const struct tensor *t = ptoi_dist_tensor(s->rt->dist, s->formals[f].array.data);
        if (!session_is_tensor(&s->entry->formals[f]) || !t || !t->is_settled || t->home.rank != 2) continue;
        const int64_t p = t->home.grid[0], q = t->home.grid[1], ranks = s->wire->ranks,
                      squarest = ptoi_home_rows(s->wire->ranks);
        if (p * q != ranks || p + q <= squarest + ranks / squarest) continue;
        *name = s->entry->formals[f].name;
        *rows = squarest;
        *cols = ranks / squarest;
        return true;
    }
    return false;
}

/* Times of a few tasks say nothing. */
enum { FEW_TASKS = 16, SHORT_US = 10000, SMALL_MESSAGE = 4096, FEW_MESSAGES = 64 };

static void advise_messages(const struct session *s, const struct sums *sum, bool waits)
{
    const uint64_t messages = sum->line[MESSAGES].total, bytes = sum->line[BYTES].total, tasks = sum->line[TASKS].total;
    const char *name;
    int64_t rows, cols;
    if (messages > tasks && tasks > 0)
        printf("Advice: there are more messages than tasks: larger tiles, or cells as large as the tiles (--dist)\n");
    else if (messages >= FEW_MESSAGES && bytes < messages * SMALL_MESSAGE)
        printf("Advice: a message has %" PRIu64 " bytes on average, and costs as much as one of %d: larger tiles\n",
               bytes / messages, SMALL_MESSAGE);
    if ((waits || messages > tasks) && messages >= FEW_MESSAGES && find_long_grid(s, &name, &rows, &cols))
        printf("Advice: where tasks need rows and columns of tiles, a grid of %" PRId64 "x%" PRId64 " needs fewer "
               "messages: --dist %s=:%" PRId64 "x%" PRId64 ", @dist(%" PRId64 ", %" PRId64 ")\n",
               rows, cols, name, rows, cols, rows, cols);
}

static void print_advice(const struct session *s, const struct sums *sum)
{
    const struct counted *us = &sum->line[KERNEL_US], *waited = &sum->line[WAITED_US];
    const double imbalance = us->total > 0 ? (double)us->most / mean_of(us) : 1;
    const bool has_times = sum->line[TASKS].total >= FEW_TASKS * (uint64_t)us->ranks && us->most >= SHORT_US,
               waits = has_times && waited->total > us->total / 10 && sum->kernels > 0;
    printf("Imbalance of kernels: %.2f (most of a rank, beside the mean)\n", imbalance);
    if (has_times && imbalance > 1.25)
        printf("Advice: rank %d has most of the work: another grid of ranks (--dist, @dist) or @at spreads it\n",
               us->most_rank);
    if (waits && sum->kernel[0].name[0])
        printf("Advice: workers have waited for transfers, most for '%s' on rank %d: @at runs a task where its "
               "arguments live\n",
               sum->kernel[0].name, sum->kernel[0].us.most_rank);
    advise_messages(s, sum, waits);
    if (sum->line[FORGOTTEN].total > 0)
        printf("Advice: copies were forgotten, and are sent again where they are read again: more --copies\n");
}

static void print_most(const char *text, const struct counted *c)
{
    printf("%s: least %" PRIu64 " (rank %d), mean %.1f, most %" PRIu64 " (rank %d)\n", text, c->least, c->least_rank,
           mean_of(c), c->most, c->most_rank);
}

static void print_lines(const struct session *s, const struct sums *sum)
{
    printf("Ranks: %d\n", s->wire->ranks);
    for (int k = 0; k < LINES; k++) {
        const struct counted *c = &sum->line[k];
        if (text_of[k].may_be_left_out && c->most == 0) continue;
        (text_of[k].has_no_sum ? print_most : ptoi_ranked_print_counted)(text_of[k].text, c);
        for (int32_t i = 0; k == WAITED_US && i < sum->kernels; i++) {
            char text[128];
            snprintf(text, sizeof text, "  for %" PRIu64 " of %s%s%s", sum->kernel[i].tasks,
                     sum->kernel[i].name[0] ? "'" : "",
                     sum->kernel[i].name[0] ? sum->kernel[i].name : "the results and others",
                     sum->kernel[i].name[0] ? "'" : "");
            ptoi_ranked_print_counted(text, &sum->kernel[i].us);
        }
    }
    print_advice(s, sum);
}

void ptoi_ranked_print_stats(struct session *s)
{
    struct sums sum = {.kernels = 0};
    if (s->wire && count_all(s, &sum) && session_is_first(s)) print_lines(s, &sum);
}
