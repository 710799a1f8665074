/* test_names.c - names of buffers: no two that are taken meet, each is found by any of its bytes, and as many as can be
 * alive fit. */
#include "memory/names.h"
#include "unit.h"
#include <string.h>
#include <sys/mman.h>

enum { HEAP = 64 * 1024, GRANULES = HEAP / 64 };

struct fixture {
    char *heap;
    struct names n;
    uint64_t name[GRANULES + 1], bytes[GRANULES + 1]; /* by buffer */
};

static void make(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->heap = mmap(NULL, HEAP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f->heap != MAP_FAILED);
    EXPECT(!ptoi_names_hold(&f->n, 0) && !ptoi_names_hold(&f->n, HEAP));
    assert_true(ptoi_names_reserve(&f->n, f->heap, HEAP));
}

static void drop(struct fixture *f)
{
    ptoi_names_free(&f->n, f->heap);
    munmap(f->heap, HEAP);
}

TEST(as_many_as_can_be_alive_have_names_of_each_size)
{
    static struct fixture f;
    make(&f);
    for (uint64_t bytes = 1; bytes <= HEAP; bytes = bytes % 3 == 1 ? bytes * 2 : bytes + 1) {
        const uint64_t many = HEAP / ((bytes + 63) / 64 * 64);
        for (int again = 0; again < 2; again++) {
            for (uint32_t b = 1; b <= many; b++) {
                f.name[b] = ptoi_names_take(&f.n, b, bytes);
                EXPECT(ptoi_names_hold(&f.n, f.name[b]) && ptoi_names_hold(&f.n, f.name[b] + bytes - 1));
                EXPECT(f.name[b] >= HEAP && f.name[b] % 64 == 0);
            }
            for (uint32_t b = 1; b <= many; b++) {
                EXPECT_EQ(ptoi_names_find(&f.n, f.name[b]), b);
                EXPECT_EQ(ptoi_names_find(&f.n, f.name[b] + bytes - 1), b);
                ptoi_names_give_back(&f.n, f.name[b]);
            }
        }
    }
    drop(&f);
}

TEST(names_of_random_lifetimes_do_not_meet)
{
    static struct fixture f;
    uint64_t seed = 1, held = 0;
    make(&f);
    for (int i = 0; i < 100000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t r = seed >> 33, bytes = 1 + (r >> 5) % (r % 3 ? 100 : HEAP / 4), takes = (bytes + 63) / 64 * 64;
        const uint32_t b = 1 + (uint32_t)(r >> 7) % 200;
        if (f.bytes[b] > 0) {
            EXPECT_EQ(ptoi_names_find(&f.n, f.name[b] + r % f.bytes[b]), b);
            ptoi_names_give_back(&f.n, f.name[b]);
            held -= (f.bytes[b] + 63) / 64 * 64;
            f.bytes[b] = 0;
        } else if (held + takes <= HEAP) {
            f.name[b] = ptoi_names_take(&f.n, b, bytes);
            f.bytes[b] = bytes;
            held += takes;
            for (uint32_t k = 1; k <= 200; k++)
                EXPECT(k == b || f.bytes[k] == 0 || f.name[k] + f.bytes[k] <= f.name[b] ||
                       f.name[b] + bytes <= f.name[k]);
        }
    }
    drop(&f);
}

TEST(addresses_that_cannot_be_had_are_refused)
{
    struct names n = {0};
    const char heap = 0;
    EXPECT(!ptoi_names_reserve(&n, &heap, (uint64_t)1 << 60));
    EXPECT_EQ(n.bytes, 0);
    ptoi_names_free(&n, &heap);
}
