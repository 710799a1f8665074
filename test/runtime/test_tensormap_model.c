/* test_tensormap_model.c - the map against a model that remembers every access and compares all pairs.
 * Idea       What the map finds must be true (a live earlier task that really conflicts, once) and
 *            enough (every live conflicting task is found or is followed, step by step, by one that is found).
 */
#include "pick.h"
#include "tensormap_unit.h"
#include <stdlib.h>
#include <string.h>

enum { WORDS = WINDOW / 64 };

struct model_access {
    struct region region;
    enum access access;
    const void *kernel;
    int32_t heap; /* heap buffer, -1: outside */
};

struct model_task {
    struct model_access access[4];
    int32_t count;
    uint64_t after[WORDS]; /* bit id % WINDOW: live tasks that this one follows, directly or not */
};

enum { HEAPS = 3, HEAP_BYTES = 1024, OUTSIDE_BYTES = 2048 };

struct model {
    struct tensormap *map;
    struct map_buffer heap[HEAPS];
    struct model_task task[WINDOW];
    uint64_t head, tail;
    uint64_t edges, conflicts;
};

static const char kernels[2];

static int64_t heap_low(int32_t h) { return OUTSIDE_BYTES + (int64_t)h * HEAP_BYTES; }

/* Boxes of 32 x 32 byte matrices: tiles of several tilings, halos, rows, columns, every other row, flat ranges. */
static struct region random_region(int64_t base, int64_t bytes)
{
    struct region r;
    int64_t matrix = pick(0, bytes / 1024 - 1) * 1024 + base;
    int64_t height = 32, width = 32, row = 0, column = 0, step = 1;
    switch (pick(0, 7)) {
    case 0:
    case 1: height = width = 8, row = pick(0, 3) * 8, column = pick(0, 3) * 8; break;
    case 2: height = 4, width = 16, row = pick(0, 7) * 4, column = pick(0, 1) * 16; break;
    case 3: height = width = 10, row = pick(0, 22), column = pick(0, 22); break;
    case 4: height = 1, row = pick(0, 31), width = pick(0, 32); break;
    case 5: width = 1, column = pick(0, 31); break;
    case 6: height = 16, step = 2, row = pick(0, 1), width = pick(1, 16), column = pick(0, 16); break;
    default: height = pick(1, 2), width = pick(1, 2), row = pick(0, 30), column = pick(0, 30); break;
    }
    EXPECT(
        ptoi_region_make(&r, matrix + row * 32 + column, 1, 2, (int64_t[]){height, width}, (int64_t[]){32 * step, 1}));
    return r;
}

static bool accesses_conflict(const struct model_access *earlier, const struct model_access *later)
{
    if (!ptoi_region_overlaps(&earlier->region, &later->region)) return false;
    if (earlier->access == ACCESS_READ && later->access == ACCESS_READ) return false;
    return earlier->access != ACCESS_ACC || later->access != ACCESS_ACC || earlier->kernel != later->kernel ||
           !ptoi_region_equals(&earlier->region, &later->region);
}

static bool tasks_conflict(const struct model_task *earlier, const struct model_task *later)
{
    bool any = false;
    for (int32_t i = 0; i < earlier->count; i++)
        for (int32_t k = 0; k < later->count; k++) any |= accesses_conflict(&earlier->access[i], &later->access[k]);
    return any;
}

static bool bit_of(const uint64_t *set, uint64_t id) { return set[id % WINDOW / 64] >> (id % 64) & 1; }

static void model_retire(struct model *o, uint64_t count)
{
    while (count-- && o->tail < o->head) {
        for (uint64_t id = o->tail; id < o->head; id++)
            o->task[id % WINDOW].after[o->tail % WINDOW / 64] &= ~(UINT64_C(1) << o->tail % 64);
        o->task[o->tail++ % WINDOW].count = 0;
    }
    ptoi_map_retire(o->map, o->tail);
}

/* All tasks that touched the heap buffer have completed (in whatever order), and it begins another lifetime. */
static void model_reopen(struct model *o, int32_t h)
{
    for (uint64_t id = o->tail; id < o->head; id++) {
        struct model_task *t = &o->task[id % WINDOW];
        for (int32_t i = 0; i < t->count; i++)
            if (t->access[i].heap == h) t->access[i--] = t->access[--t->count];
    }
    ptoi_map_close(o->map, &o->heap[h]);
    ptoi_map_open(o->map, &o->heap[h], heap_low(h), heap_low(h) + HEAP_BYTES);
}

static void model_check(struct model *o, struct model_task *t, const struct map_found *f)
{
    memset(t->after, 0, sizeof t->after);
    for (int32_t i = 0; i < f->count; i++) {
        uint64_t id = f->task_id[i];
        EXPECT(id >= o->tail && id < o->head);
        const struct model_task *earlier = &o->task[id % WINDOW];
        EXPECT(tasks_conflict(earlier, t));
        for (int32_t k = 0; k < i; k++) EXPECT(f->task_id[k] != id);
        for (int32_t w = 0; w < WORDS; w++) t->after[w] |= earlier->after[w];
        t->after[id % WINDOW / 64] |= UINT64_C(1) << id % 64;
    }
    for (uint64_t id = o->tail; id < o->head; id++)
        if (tasks_conflict(&o->task[id % WINDOW], t)) {
            EXPECT(bit_of(t->after, id));
            o->conflicts++;
        }
    o->edges += (uint64_t)f->count;
}

/* The accesses of a plain task are written where the map keeps them.  false: that is not possible. */
static bool model_submit_in_place(struct model *o, const struct model_task *t, struct map_buffer *const *b)
{
    struct map_entry *const first = ptoi_map_place(o->map, t->count), *e = first;
    if (!first) return false;
    for (int32_t i = 0; i < t->count; i++) {
        if (t->access[i].region.run == 0) continue;
        e->buffer = b[i];
        e->access = (uint8_t)t->access[i].access;
        e->region = t->access[i].region;
        e++;
    }
    found.count = 0;
    ptoi_map_take_in_place(o->map, first, e, t->access[0].kernel, o->head, &found);
    return true;
}

/* As the orchestrator does it: all at once, by one kernel. */
static void model_submit_all(struct model *o, struct model_task *t, struct map_buffer *const *b)
{
    struct map_access a[4];
    for (int32_t i = 0; i < t->count; i++) {
        t->access[i].kernel = t->access[0].kernel;
        a[i] = (struct map_access){.buffer = b[i], .region = &t->access[i].region, .access = t->access[i].access};
    }
    int32_t used = 0; /* the orchestrator leaves out what is empty */
    for (int32_t i = 0; i < t->count; i++)
        if (a[i].region->run > 0) a[used++] = a[i];
    if (pick(0, 1) || !model_submit_in_place(o, t, b))
        ptoi_map_find_and_add(o->map, a, used, t->access[0].kernel, o->head, &found);
    model_check(o, t, &found);
    if (pick(0, 3) == 0) model_retire(o, (uint64_t)pick(0, 4));
}

static void model_submit(struct model *o, int64_t most_params, bool check_deep)
{
    if (o->head - o->tail == WINDOW) model_retire(o, (uint64_t)pick(1, 20));
    struct model_task *t = &o->task[o->head % WINDOW];
    struct map_buffer *b[4];
    int64_t params = pick(1, most_params);
    t->count = 0;
    for (int32_t i = 0; i < params; i++) {
        struct model_access *a = &t->access[t->count++];
        bool again = i > 0 && pick(0, 3) == 0; /* one region twice, say read and written */
        a->heap = again ? t->access[i - 1].heap : (int32_t)pick(-2, HEAPS - 1);
        a->heap = a->heap < 0 ? -1 : a->heap;
        a->region = again
                        ? t->access[i - 1].region
                        : random_region(a->heap < 0 ? 0 : heap_low(a->heap), a->heap < 0 ? OUTSIDE_BYTES : HEAP_BYTES);
        a->access = (const enum access[]){ACCESS_READ, ACCESS_WRITE, ACCESS_ACC}[pick(0, 9) / 4];
        a->kernel = &kernels[pick(0, 1)];
        b[i] = a->heap < 0 ? ptoi_map_find_outside(o->map, &a->region) : &o->heap[a->heap];
    }
    if (params > ptoi_map_capacity(o->map)) { /* what the orchestrator does then: waits for all, adds nothing */
        EXPECT(!ptoi_map_reserve(o->map, params));
        model_retire(o, WINDOW);
        EXPECT(ptoi_map_used(o->map) == 0 && !ptoi_map_reserve(o->map, params));
        t->count = 0;
        return;
    }
    while (!ptoi_map_reserve(o->map, params)) {
        EXPECT(o->tail < o->head); /* else entries have leaked */
        model_retire(o, (uint64_t)pick(1, 3));
    }
    ptoi_map_begin(o->map, &found);
    if (pick(0, 1)) {
        model_submit_all(o, t, b);
    } else {
        for (int32_t i = 0; i < params; i++)
            ptoi_map_find(o->map, b[i], &t->access[i].region, t->access[i].access, t->access[i].kernel, &found);
        model_check(o, t, &found);
        for (int32_t i = 0; i < params; i++)
            ptoi_map_add(o->map, b[i], &t->access[i].region, t->access[i].access, t->access[i].kernel, o->head);
    }
    if (check_deep) EXPECT(ptoi_map_is_valid(o->map));
    o->head++;
}

static void model_run(int64_t entries, int64_t outside, uint64_t first_id, int64_t tasks, int64_t most_params,
                      bool check_deep)
{
    struct model *o = calloc(1, sizeof *o);
    EXPECT(o != NULL);
    rng_state = 88172645463325252u + (uint64_t)entries * 7919 + first_id;
    o->map = ptoi_map_create(entries, WINDOW, outside);
    EXPECT(o->map != NULL);
    o->head = o->tail = first_id;
    for (int32_t h = 0; h < HEAPS; h++) ptoi_map_open(o->map, &o->heap[h], heap_low(h), heap_low(h) + HEAP_BYTES);
    while (o->head - first_id < (uint64_t)tasks && tasks-- > 0) {
        model_submit(o, most_params, check_deep);
        if (pick(0, 15) == 0) model_retire(o, (uint64_t)pick(0, 6));
        if (pick(0, 63) == 0) model_reopen(o, (int32_t)pick(0, HEAPS - 1));
        if (pick(0, 255) == 0) ptoi_map_register_outside(o->map, pick(0, 1) * 1024, OUTSIDE_BYTES);
    }
    EXPECT(ptoi_map_is_valid(o->map));
    EXPECT(entries < 4 || (o->edges > 0 && o->conflicts >= o->edges));
    model_retire(o, WINDOW);
    EXPECT(ptoi_map_used(o->map) == 0 && ptoi_map_is_valid(o->map));
    for (int32_t h = 0; h < HEAPS; h++) EXPECT(o->heap[h].entries == 0 && o->heap[h].all == 0);
    ptoi_map_destroy(o->map);
    free(o);
}

#define BEFORE_2_32 ((UINT64_C(1) << 32) - 50000)

TEST(h13_tiny_pools_go_round_and_round_without_cycles)
{
    model_run(1, 1, BEFORE_2_32, 100000, 1, true);
    model_run(2, 1, BEFORE_2_32, 200000, 3, true);
    model_run(3, 2, BEFORE_2_32, 200000, 3, true);
    model_run(4, 3, BEFORE_2_32, 200000, 4, true);
    model_run(16, 4, BEFORE_2_32, 200000, 4, true);
}

TEST(large_pools_order_every_conflict_and_invent_none)
{
    model_run(64, 4, 0, 60000, 4, false);
    model_run(1000, 16, 0, 20000, 4, false);
}

TEST(h40_h41_ids_beyond_every_power_of_two)
{
    static const uint64_t first[] = {0, (UINT64_C(1) << 31) - 8, (UINT64_C(1) << 32) - 8, (UINT64_C(1) << 63) - 8};
    for (size_t k = 0; k < sizeof first / sizeof first[0]; k++) {
        model_run(16, 4, first[k], 5000, 3, true);
        model_run(300, 4, first[k], 2000, 3, false);
    }
}
