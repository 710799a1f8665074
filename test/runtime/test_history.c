/* test_history.c - the edges of random accesses against a model that knows every byte, and those that are found from a
 * log of them. */
#include "record/history_log.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { BYTES = 200, SPACES = 3, TASKS = 300, ACCESSES = 4 };

static uint64_t next_random(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 27);
}
static int64_t below(uint64_t *s, int64_t n) { return (int64_t)(next_random(s) % (uint64_t)n); }

/* ---- the model: of every byte all accesses since the last write, which is the first of them ---- */

struct logged {
    uint64_t task;
    enum access access;
    const PTOKernel *kernel;
    struct region region;
};

struct byte {
    struct logged *log;
    int count, capacity;
};

struct model {
    struct byte byte[SPACES][BYTES];
    bool conflicts[TASKS][TASKS]; /* of all time; [later][earlier] */
    bool needed[TASKS];           /* by the task that is being submitted */
};

static bool is_touched(const struct region *r, int64_t origin, int64_t at)
{
    const struct region one = {.low = origin + at, .high = origin + at + 1, .run = 1};
    return ptoi_region_overlaps(r, &one);
}

static bool commute(const struct logged *a, const struct logged *b)
{
    if (a->access == ACCESS_READ && b->access == ACCESS_READ) return true;
    return a->access == ACCESS_ACC && b->access == ACCESS_ACC && a->kernel == b->kernel &&
           ptoi_region_equals(&a->region, &b->region);
}

/* What must be found, by the semantics of history.h. */
static void need(struct model *m, const struct byte *b, const struct logged *later)
{
    bool accumulated = false;
    for (int i = 0; i < b->count; i++) accumulated |= b->log[i].access == ACCESS_ACC && !commute(&b->log[i], later);
    for (int i = 0; i < b->count; i++) {
        const bool is_write = b->log[i].access == ACCESS_WRITE || b->log[i].access == ACCESS_UPDATE;
        if (commute(&b->log[i], later) || (is_write && accumulated)) continue;
        if (b->log[i].task != later->task) m->needed[b->log[i].task] = true;
    }
}

static void log_access(struct byte *b, const struct logged *a)
{
    if (a->access == ACCESS_WRITE || a->access == ACCESS_UPDATE) b->count = 0;
    if (b->count == b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 8;
        b->log = realloc(b->log, (size_t)b->capacity * sizeof *b->log);
        assert_non_null(b->log);
    }
    b->log[b->count++] = *a;
}

static struct region random_region(uint64_t *s, int64_t origin)
{
    struct region r;
    int64_t shape[3], stride[3], element = 1 + below(s, 3), at;
    bool fits;
    do {
        const int rank = (int)below(s, 4);
        int64_t end = element;
        const bool is_tile = below(s, 2) == 0; /* of one matrix of rows of 20 bytes: a few regions again and again */
        for (int d = 0; d < rank; d++) {
            shape[d] = 1 + below(s, 4);
            stride[d] = 1 + below(s, 40);
        }
        if (is_tile && rank == 2) shape[0] = 2, shape[1] = 5, stride[0] = 20, stride[1] = 1, element = 1, end = 1;
        for (int d = 0; d < rank; d++) end += (shape[d] - 1) * stride[d] * element;
        fits = end <= BYTES;
        at = !fits ? 0 : is_tile && rank == 2 ? below(s, 5) * 40 + below(s, 4) * 5 : below(s, BYTES - end + 1);
        fits = fits && ptoi_region_make(&r, origin + at, element, rank, shape, stride) && r.high <= origin + BYTES;
    } while (!fits);
    return r;
}

static void check_edges(const struct history *h, const struct model *m, uint64_t seed, uint64_t task)
{
    int64_t count, needed = 0, found_needed = 0;
    const struct history_edge *e = ptoi_history_edges(h, &count);
    for (uint64_t n = 0; n < task; n++) needed += m->needed[n];
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && e[i].from <= e[i - 1].from)
            fail_msg("seed %llu, task %llu: edges are not in order", (unsigned long long)seed,
                     (unsigned long long)task);
        if (e[i].from >= task || !m->conflicts[task][e[i].from])
            fail_msg("seed %llu: edge %llu -> %llu of tasks that do not conflict", (unsigned long long)seed,
                     (unsigned long long)e[i].from, (unsigned long long)task);
        if (e[i].reasons == 0) fail_msg("seed %llu: an edge without a reason", (unsigned long long)seed);
        found_needed += m->needed[e[i].from];
    }
    if (found_needed != needed)
        fail_msg("seed %llu, task %llu: %lld of %lld edges", (unsigned long long)seed, (unsigned long long)task,
                 (long long)found_needed, (long long)needed);
}

static void forget_space(struct model *m, int space)
{
    for (int i = 0; i < BYTES; i++) m->byte[space][i].count = 0;
}

/* ---- the same accesses, written down and replayed later ---- */

enum { EDGES = TASKS * TASKS };

struct replayed {
    struct history *history;
    struct history_log log;
    struct history_edge expected[EDGES]; /* all tasks in a row */
    int64_t count[TASKS], first[TASKS + 1];
    uint64_t next; /* task that will be found */
};

static void found(void *context, enum history_entry entry, uint64_t task, const struct history_edge *edge,
                  int64_t count)
{
    struct replayed *r = context;
    EXPECT_EQ(entry, HISTORY_TASK);
    assert_int_equal(task, r->next++);
    assert_int_equal(count, r->count[task]);
    for (int64_t i = 0; i < count; i++) {
        EXPECT_EQ(edge[i].from, r->expected[r->first[task] + i].from);
        EXPECT_EQ(edge[i].reasons, r->expected[r->first[task] + i].reasons);
    }
}

static void replay(struct replayed *r)
{
    const struct history_reader reader = {.context = r, .found = found};
    assert_true(ptoi_history_replay(&r->log, r->history, &reader));
    EXPECT_EQ(r->log.used, 0);
}

static void expect(struct replayed *r, uint64_t task, const struct history *h)
{
    const struct history_edge *e = ptoi_history_edges(h, &r->count[task]);
    assert_true(r->first[task] + r->count[task] <= EDGES);
    for (int64_t i = 0; i < r->count[task]; i++) r->expected[r->first[task] + i] = e[i];
    r->first[task + 1] = r->first[task] + r->count[task];
}

static void run(uint64_t seed, struct history *h, struct replayed *later)
{
    static const PTOKernel kernels[2];
    static struct model m;
    static struct logged past[TASKS * ACCESSES];
    static int past_space[TASKS * ACCESSES];
    int past_count = 0;
    uint64_t s = seed;
    for (int k = 0; k < SPACES; k++) forget_space(&m, k);
    ptoi_history_reset(h);
    ptoi_history_reset(later->history);
    later->log.used = later->next = 0;
    for (uint64_t task = 0; task < TASKS; task++) {
        struct region region[ACCESSES];
        struct history_access a[ACCESSES];
        struct logged logged[ACCESSES];
        int where[ACCESSES];
        const int count = 1 + (int)below(&s, ACCESSES);
        const PTOKernel *kernel = &kernels[below(&s, 2)];
        if (below(&s, 20) == 0) { /* a heap buffer is gone; another will have its addresses */
            const int k = 1 + (int)below(&s, SPACES - 1);
            ptoi_history_close(h, (uint32_t)k);
            if (!ptoi_history_log_has_room(&later->log)) replay(later);
            ptoi_history_log_close(&later->log, (uint32_t)k);
            forget_space(&m, k);
            for (int i = 0; i < past_count; i++)
                if (past_space[i] == k) past_space[i] = -1;
        }
        memset(m.needed, 0, sizeof m.needed);
        memset(m.conflicts[task], 0, sizeof m.conflicts[task]);
        for (int i = 0; i < count; i++) {
            where[i] = (int)below(&s, SPACES);
            const int64_t origin =
                where[i] == 0 ? 1000 : 5000; /* two buffers may have the same addresses, one after the other */
            region[i] = random_region(&s, origin);
            const enum access access = (enum access)below(&s, 4);
            a[i] = (struct history_access){.space = (uint32_t)where[i], .region = &region[i], .access = access};
            logged[i] = (struct logged){task, access, kernel, region[i]};
            for (int at = 0; at < BYTES; at++)
                if (is_touched(&region[i], origin, at)) need(&m, &m.byte[where[i]][at], &logged[i]);
            for (int p = 0; p < past_count; p++)
                if (past_space[p] == where[i] && !commute(&past[p], &logged[i]) &&
                    ptoi_region_overlaps(&past[p].region, &region[i]))
                    m.conflicts[task][past[p].task] = true;
        }
        assert_true(ptoi_history_find(h, a, count, kernel));
        check_edges(h, &m, seed, task);
        if (below(&s, 15) == 0) { /* it was not submitted after all */
            task--;
            continue;
        }
        assert_true(ptoi_history_add(h, a, count, kernel, task));
        expect(later, task, h);
        if (!ptoi_history_log_has_room(&later->log)) replay(later);
        ptoi_history_log_begin(&later->log, HISTORY_TASK, task, count, kernel);
        for (int i = 0; i < count; i++) ptoi_history_log_access(&later->log, &a[i], where[i] == 0 ? 0 : 5000);
        for (int write = 1; write >= 0; write--) /* what it writes covers what others did, not what it reads itself */
            for (int i = 0; i < count; i++) {
                if ((logged[i].access == ACCESS_WRITE || logged[i].access == ACCESS_UPDATE) != write) continue;
                const int64_t origin = where[i] == 0 ? 1000 : 5000;
                for (int at = 0; at < BYTES; at++)
                    if (is_touched(&region[i], origin, at)) log_access(&m.byte[where[i]][at], &logged[i]);
            }
        for (int i = 0; i < count; i++) past[past_count] = logged[i], past_space[past_count++] = where[i];
    }
    replay(later);
    EXPECT_EQ(later->next, TASKS);
}

TEST(random_accesses_have_the_edges_of_a_model_that_knows_every_byte)
{
    struct history *h = ptoi_history_create();
    assert_non_null(h);
    static struct replayed later;
    later.history = ptoi_history_create();
    assert_non_null(later.history);
    assert_true(ptoi_history_log_init(&later.log, HISTORY_ENTRY_MAX + 500));
    for (uint64_t seed = 1; seed <= 60; seed++) run(seed, h, &later);
    ptoi_history_log_free(&later.log);
    ptoi_history_destroy(later.history);
    ptoi_history_destroy(h);
}

/* ---- how much is remembered ---- */

static bool submit(struct history *h, uint32_t space, int64_t low, int64_t bytes, enum access access, uint64_t task)
{
    const struct region r = {.low = low, .high = low + bytes, .run = bytes};
    const struct history_access a = {.space = space, .region = &r, .access = access};
    return ptoi_history_find(h, &a, 1, NULL) && ptoi_history_add(h, &a, 1, NULL, task);
}

TEST(what_a_write_covers_and_what_is_gone_is_not_remembered)
{
    struct history *h = ptoi_history_create();
    assert_non_null(h);
    for (uint64_t n = 0; n < 1000; n++) assert_true(submit(h, 0, 4096 + 64 * (int64_t)(n % 10), 64, ACCESS_UPDATE, n));
    EXPECT_EQ(ptoi_history_regions(h), 10);
    for (uint64_t n = 1000; n < 2000; n++) assert_true(submit(h, 0, 4096, 640, ACCESS_READ, n));
    EXPECT_EQ(ptoi_history_regions(h), 11); /* readers of one region are a list */
    assert_true(submit(h, 0, 4096, 1000, ACCESS_WRITE, 2000));
    int64_t edges;
    (void)ptoi_history_edges(h, &edges);
    EXPECT_EQ(edges, 1010);
    EXPECT_EQ(ptoi_history_regions(h), 1);
    for (uint64_t n = 0; n < 100; n++) assert_true(submit(h, 100, 8 * (int64_t)n, 8, ACCESS_WRITE, 3000 + n));
    EXPECT_EQ(ptoi_history_regions(h), 101);
    ptoi_history_close(h, 100);
    ptoi_history_close(h, 100); /* nothing is there */
    ptoi_history_close(h, 1000000);
    EXPECT_EQ(ptoi_history_regions(h), 1);
    ptoi_history_destroy(h);
}

TEST(accumulators_are_numbered_in_the_order_of_their_first_use)
{
    struct history *h = ptoi_history_create();
    assert_non_null(h);
    for (int64_t n = 0; n < 1000; n++) EXPECT_EQ(ptoi_history_accumulator(h, 77777 - 64 * n), n);
    for (int64_t n = 0; n < 1000; n++) EXPECT_EQ(ptoi_history_accumulator(h, 77777 - 64 * n), n);
    ptoi_history_reset(h);
    EXPECT_EQ(ptoi_history_accumulator(h, 12345), 0);
    ptoi_history_destroy(h);
}
