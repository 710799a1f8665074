/* test_map_memory.c - arrays of one mapping, and where large pages begin. */
#include "shared/map_memory.h"
#include "shared/sanitizer.h"
#include "unit.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
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

enum { SMALL = 512 << 10, LARGE = 2 << 20, LEAST = 16 * LARGE };

/* Has the process asked for large pages at this address?  As the system says. */
static bool asks_for_large_pages(const char *at)
{
    char line[1024];
    bool is_there = false, asks = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            is_there = from <= (uintptr_t)at && (uintptr_t)at < to;
        else if (is_there && strncmp(line, "VmFlags:", 8) == 0)
            asks = strstr(line, " hg") != NULL;
    }
    fclose(maps);
    return asks;
}

TEST(large_pages_begin_after_the_small_ones)
{
    const uint64_t sizes[] = {4096, SMALL, LARGE, LEAST - 4096, LEAST, LEAST + 4096, 64 * (uint64_t)LARGE};
    const bool has_large_pages = access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t bytes = sizes[i];
        char *memory = ptoi_memory_map_long(bytes);
        EXPECT(memory && (uintptr_t)memory % 4096 == 0);
        EXPECT(bytes < LEAST || ((uintptr_t)memory + SMALL) % LARGE == 0);
        ptoi_memory_ask_large_pages(memory, bytes);
        EXPECT(!asks_for_large_pages(memory));
        EXPECT(!asks_for_large_pages(memory + (bytes < SMALL ? bytes : SMALL) - 1));
        if (bytes < LEAST)
            EXPECT(!asks_for_large_pages(memory + bytes - 1));
        else if (has_large_pages) /* the system has them, and says so */
            EXPECT(asks_for_large_pages(memory + SMALL) && asks_for_large_pages(memory + bytes / 2));
        memory[0] = memory[bytes - 1] = 1;
        ptoi_memory_unmap(memory, bytes);
    }
}

/* Nothing beside the memory is asked for, wherever it begins: other arrays may be there. */
TEST(large_pages_lie_inside_of_the_memory)
{
    const uint64_t room = LEAST + 2 * (uint64_t)LARGE;
    for (uint64_t at = 4096; at < LARGE; at += 252 << 10) {
        char *all = ptoi_memory_map(room, false);
        EXPECT(all != NULL);
        ptoi_memory_ask_large_pages(all + at, LEAST);
        EXPECT(!asks_for_large_pages(all) && !asks_for_large_pages(all + at + SMALL - 1) &&
               !asks_for_large_pages(all + at + LEAST));
        ptoi_memory_unmap(all, room);
    }
}
