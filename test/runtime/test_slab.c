/* test_slab.c - objects of a slab are used again, and keep their words while they are free. */
#include "memory/slab.h"
#include "unit.h"
#include <string.h>

struct thing {
    int64_t word, other;
};
static struct slab things = SLAB_OF(struct thing);

TEST(what_was_given_back_last_is_taken_first_as_it_was)
{
    struct thing *a = ptoi_slab_take(&things), *b = ptoi_slab_take(&things);
    EXPECT(a && b && a != b);
    EXPECT_EQ(a->word, 0);
    a->word = 5;
    ptoi_slab_give(&things, a);
    EXPECT_EQ(a->word, 5);
    EXPECT(ptoi_slab_take(&things) == a);
    EXPECT_EQ(things.used, 2);
    ptoi_slab_give(&things, a);
    ptoi_slab_give(&things, b);
    ptoi_slab_give(&things, NULL);
}

static void count(void *object, void *arg)
{
    (void)object;
    ++*(int *)arg;
}

TEST(a_slab_grows_and_every_object_is_visited)
{
    enum { MANY = 5000 };
    static struct thing *all[MANY];
    for (int i = 0; i < MANY; i++) {
        all[i] = ptoi_slab_take(&things);
        EXPECT((uintptr_t)all[i] % 64 == 0);
        memset(all[i], 0xff, sizeof *all[i]);
    }
    int seen = 0;
    ptoi_slab_visit(&things, count, &seen);
    EXPECT(seen >= MANY);
    for (int i = 0; i < MANY; i++) ptoi_slab_give(&things, all[i]);
    EXPECT_EQ(things.used, 0);
    for (int i = 0; i < MANY; i++) EXPECT(ptoi_slab_take(&things)); /* none of them new */
    int again = 0;
    ptoi_slab_visit(&things, count, &again);
    EXPECT_EQ(again, seen);
}
