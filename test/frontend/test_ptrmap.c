/* test_ptrmap.c - from a pointer to a pointer: each entry is found again, and memory goes back to its owner.
 * Idea       more entries than fit at first; of an arena's map nothing is freed, of another one all.
 */
#include "unit.h"

#include "support/arena.h"
#include "support/ptrmap.h"
#include <malloc.h>

enum { ENTRIES = 1000 };

static char keys[ENTRIES];

static void fill(struct ptrmap *m)
{
    for (int i = 0; i < ENTRIES; i++) ptrmap_set(m, &keys[i], &keys[ENTRIES - 1 - i]);
    EXPECT_EQ(m->count, ENTRIES);
    for (int i = 0; i < ENTRIES; i++) EXPECT(ptrmap_get(m, &keys[i]) == &keys[ENTRIES - 1 - i]);
    EXPECT(ptrmap_get(m, &m) == NULL);
}

static void expect_empty(struct ptrmap *m)
{
    EXPECT(m->count == 0 && m->capacity == 0 && m->entries == NULL);
    EXPECT(ptrmap_get(m, &keys[0]) == NULL);
}

static size_t bytes_in_use(void)
{
    const struct mallinfo2 now = mallinfo2(); /* 0 with a sanitizer, which sees a leak itself */
    return now.uordblks + now.hblkhd;
}

TEST(a_map_gives_its_memory_back)
{
    size_t before = 0;
    for (int round = 0; round < 12; round++) { /* what malloc keeps at first for the next time counts as in use */
        struct ptrmap m = {0};
        before = bytes_in_use();
        fill(&m);
        ptrmap_free(&m);
        expect_empty(&m);
    }
    EXPECT_EQ(bytes_in_use(), before);
}

TEST(the_memory_of_an_arena_stays_its_own)
{
    struct arena *mem = arena_create();
    struct ptrmap m = {.mem = mem};
    fill(&m);
    ptrmap_free(&m);
    expect_empty(&m);
    EXPECT(m.mem == mem);
    fill(&m);
    arena_destroy(mem);
}
