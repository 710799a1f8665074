/* tensormap_unit.h - the map of accesses in few words: regions, a look-up, an access that is added and checked.
 * Owner      the test: the map is its own, what the last look-up has found is one list for the whole program.
 * Tests      test_tensormap*.c use it
 */
#ifndef PTO_TEST_TENSORMAP_UNIT_H
#define PTO_TEST_TENSORMAP_UNIT_H
#include "unit.h"
#include "depend/tensormap.h"

enum { WINDOW = 256 /* task slots */, MATRIX = 1 << 20 /* an address */ };

static uint64_t ids[WINDOW];
static struct map_found found = {ids, 0};

static inline struct region bytes_of(int64_t low, int64_t bytes)
{
    struct region r;
    EXPECT(ptoi_region_make(&r, low, 1, 1, &bytes, NULL));
    return r;
}

/* A box of a row-major f32 matrix at MATRIX. */
static inline struct region box_of(int64_t columns, int64_t row, int64_t column, int64_t height, int64_t width)
{
    struct region r;
    EXPECT(ptoi_region_make(&r, MATRIX + (row * columns + column) * 4, 4, 2, (int64_t[]){height, width},
                            (int64_t[]){columns, 1}));
    return r;
}

static inline int32_t find(struct tensormap *m, struct map_buffer *b, struct region r, enum access access)
{
    ptoi_map_begin(m, &found);
    ptoi_map_find(m, b, &r, access, NULL, &found);
    return found.count;
}

static inline void add(struct tensormap *m, struct map_buffer *b, struct region r, enum access access, uint64_t task_id)
{
    EXPECT(ptoi_map_reserve(m, 1));
    ptoi_map_add(m, b, &r, access, NULL, task_id);
    EXPECT(ptoi_map_is_valid(m));
}

static inline bool is_found(uint64_t task_id)
{
    for (int32_t i = 0; i < found.count; i++)
        if (ids[i] == task_id) return true;
    return false;
}

static inline struct tensormap *map_of(int64_t entries)
{
    struct tensormap *m = ptoi_map_create(entries, WINDOW, 16);
    EXPECT(m != NULL);
    return m;
}

#endif
