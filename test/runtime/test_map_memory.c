/* test_map_memory.c - arrays of one mapping. */
#include "shared/map_memory.h"
#include "shared/sanitizer.h"
#include "unit.h"
#include <string.h>
#if PTOI_HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

struct arrays {
    char *bytes;
    int64_t *numbers;
    void *nothing, *line;
};

static uint64_t cut_arrays(struct arrays *a, char *memory, bool has_guards)
{
    struct ptoi_cut c = {.memory = memory, .has_guards = has_guards};
    a->bytes = ptoi_cut(&c, 65, 1);
    a->numbers = ptoi_cut(&c, 3, sizeof *a->numbers);
    a->nothing = ptoi_cut(&c, 0, 8);
    a->line = ptoi_cut(&c, 1, 64);
    return c.bytes;
}

TEST(arrays_of_a_mapping_are_aligned_zeroed_and_apart)
{
    for (int has_guards = 0; has_guards < 2; has_guards++) {
        struct arrays a;
        const uint64_t bytes = cut_arrays(&a, NULL, has_guards);
        EXPECT(!a.bytes && !a.numbers && !a.nothing && !a.line);
        EXPECT_EQ(bytes, has_guards ? 128 + 64 + 64 + 64 + 64 + 64 + 64 : 128 + 64 + 64);
        char *memory = ptoi_memory_map(bytes, false);
        EXPECT(memory != NULL);
        EXPECT_EQ(cut_arrays(&a, memory, has_guards), bytes);
        EXPECT(a.bytes == memory && (uintptr_t)a.numbers % 64 == 0 && (uintptr_t)a.line % 64 == 0);
        EXPECT((char *)a.numbers >= a.bytes + 65 && (char *)a.line >= (char *)(a.numbers + 3) &&
               (char *)a.line + 64 <= memory + bytes);
        EXPECT(a.bytes[64] == 0 && a.numbers[2] == 0);
        memset(a.bytes, 1, 65);
        memset(a.line, 1, 64);
        EXPECT(a.numbers[0] == 0 && a.numbers[2] == 0);
#if PTOI_HAS_ASAN
        EXPECT(__asan_address_is_poisoned(a.bytes + 65) == has_guards &&
               __asan_address_is_poisoned(a.numbers + 3) == has_guards);
        EXPECT(!__asan_address_is_poisoned(a.bytes + 64) && !__asan_address_is_poisoned(a.numbers));
#endif
        if (has_guards)
            ptoi_arrays_unmap(memory, bytes);
        else
            ptoi_memory_unmap(memory, bytes);
    }
    ptoi_arrays_unmap(NULL, 64);
}
