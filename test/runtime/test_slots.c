/* test_slots.c - which tensor lies in which granule of the heap of a checked run. */
#include "debug/slots.h"
#include "pages.h"
#include "unit.h"
#include "shared/window.h"

enum { HEAP = 64 * PTO_GRANULE };

TEST(another_tensor_is_found_in_any_granule_of_a_range)
{
    struct slots s;
    const char *a = "a", *b = "b";
    EXPECT(ptoi_slots_init(&s, HEAP));
    ptoi_slots_write(&s, 2 * PTO_GRANULE, 3 * PTO_GRANULE, a);
    EXPECT(ptoi_slots_other(&s, 2 * PTO_GRANULE, 3 * PTO_GRANULE, a) == NULL);
    EXPECT(ptoi_slots_other(&s, 0, HEAP, a) == NULL); /* what nothing has written is nobody's */
    for (uint64_t g = 2; g < 5; g++) EXPECT(ptoi_slots_other(&s, g * PTO_GRANULE, 1, b) == a);
    EXPECT(ptoi_slots_other(&s, PTO_GRANULE, 1, b) == NULL);
    EXPECT(ptoi_slots_other(&s, 5 * PTO_GRANULE, 1, b) == NULL);
    ptoi_slots_write(&s, 4 * PTO_GRANULE, 1, b);
    EXPECT(ptoi_slots_other(&s, 2 * PTO_GRANULE, 3 * PTO_GRANULE, a) == b);
    EXPECT(ptoi_slots_other(&s, HEAP - 1, 2 * PTO_GRANULE, b) == NULL); /* the end of the heap is the end */
    ptoi_slots_free(&s);
}

TEST(bytes_are_blank_until_one_of_them_is_written)
{
    struct slots s;
    EXPECT(ptoi_slots_init(&s, HEAP));
    EXPECT(!ptoi_slots_is_blank(&s, 64, 64)); /* a task makes them, and writes all */
    ptoi_slots_set_blank(&s, 64, 64);
    EXPECT(ptoi_slots_is_blank(&s, 64, 64));
    EXPECT(!ptoi_slots_is_blank(&s, 63, 1) && !ptoi_slots_is_blank(&s, 128, 1));
    ptoi_slots_fill(&s, 80, 4);
    EXPECT(!ptoi_slots_is_blank(&s, 64, 64) && !ptoi_slots_is_blank(&s, 83, 1));
    EXPECT(ptoi_slots_is_blank(&s, 64, 16) && ptoi_slots_is_blank(&s, 84, 44));
    ptoi_slots_move(&s, 64, 0, 64);
    EXPECT(ptoi_slots_is_blank(&s, 0, 16) && !ptoi_slots_is_blank(&s, 16, 4) && ptoi_slots_is_blank(&s, 20, 44));
    ptoi_slots_forget(&s, 0, 64);
    EXPECT(!ptoi_slots_is_blank(&s, 0, 1) && !ptoi_slots_is_blank(&s, 63, 1));
    ptoi_slots_free(&s);
}

/* The arguments of the call that begins a tensor are looked at before its slot is blank. */
TEST(a_slot_is_blank_again_where_another_tensor_begins)
{
    struct slots s;
    const char *a = "a", *b = "b";
    EXPECT(ptoi_slots_init(&s, HEAP));
    ptoi_slots_set_blank(&s, 64, 64);
    ptoi_slots_write(&s, 64, 64, a);
    ptoi_slots_begin(&s);
    ptoi_slots_fill(&s, 64, 64);
    ptoi_slots_write(&s, 64, 64, a);
    ptoi_slots_begin(&s);
    EXPECT(!ptoi_slots_is_blank(&s, 64, 64));
    ptoi_slots_write(&s, 64, 64, b);
    EXPECT(!ptoi_slots_is_blank(&s, 64, 64));
    ptoi_slots_begin(&s);
    EXPECT(ptoi_slots_is_blank(&s, 64, 64));
    ptoi_slots_free(&s);
}

TEST(the_memory_of_the_table_goes_back)
{
    enum { ROUNDS = 200, GRANULES = 1 << 16 }; /* 512 KiB each */
    struct slots s;
    const long before = pages_now().mapped;
    for (int i = 0; i < ROUNDS; i++) {
        EXPECT(ptoi_slots_init(&s, (uint64_t)GRANULES * PTO_GRANULE));
        ptoi_slots_free(&s);
        EXPECT(s.tensor == NULL);
    }
    EXPECT(pages_now().mapped - before < 10 * GRANULES * (long)sizeof(char *) / 4096);
}
