/* test_pages.c - pages of a view are given back, and only those that lie inside of it; pages are counted. */
#include "dist/pages.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

/* 8 rows of 3 pages and 8 bytes; the middle of rows 2 to 5. */
TEST(whole_pages_of_a_row_are_given_back)
{
    const int64_t page = sysconf(_SC_PAGESIZE), row = 3 * page + 8, from = page / 2, bytes = 2 * page;
    char *memory = mmap(NULL, (size_t)(8 * row), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(memory != MAP_FAILED);
    for (int64_t i = 0; i < 8 * row; i++) memory[i] = 1;
    ptoi_pages_give_back(&(PTOArg){.ptr = memory + 2 * row + from,
                                   .type = PTO_F64,
                                   .rank = 2,
                                   .shape = (int64_t[]){4, bytes / 8},
                                   .stride = (int64_t[]){row / 8, 1}});
    int64_t lost = 0;
    for (int64_t i = 0; i < 8 * row; i++) {
        const bool is_inside = i / row >= 2 && i / row < 6 && i % row >= from && i % row < from + bytes;
        EXPECT(memory[i] == 1 || is_inside);
        lost += memory[i] == 0;
    }
    EXPECT_EQ(lost % page, 0);
    EXPECT(lost >= 4 * page); /* at least one whole page lies in two pages that begin anywhere */
    ptoi_pages_give_back(
        &(PTOArg){.ptr = memory, .type = PTO_U8, .rank = 1, .shape = (int64_t[]){8 * row}, .stride = (int64_t[]){1}});
    EXPECT_EQ(memory[0] + memory[8 * page], 0);
    munmap(memory, (size_t)(8 * row));
}

TEST(pages_that_were_touched_are_counted_and_counting_touches_none)
{
    enum { PAGES = 9000 }; /* more than are looked at together */
    const int64_t page = ptoi_pages_size(), bytes = PAGES * page - page / 2;
    char *memory = pto_shared_alloc(bytes);
    EXPECT(memory != NULL);
    EXPECT_EQ(ptoi_pages_in_memory(memory, bytes), 0);
    EXPECT_EQ(ptoi_pages_in_memory(memory, bytes), 0);
    memory[0] = memory[1] = memory[page - 1] = 1;
    memory[4096 * page] = 1;
    memory[bytes - 1] = 1;
    EXPECT_EQ(ptoi_pages_in_memory(memory, bytes), 3 * page);
    EXPECT_EQ(ptoi_pages_in_memory(memory, page), page);
    EXPECT_EQ(ptoi_pages_in_memory(memory, 4096 * page), page);
    EXPECT_EQ(ptoi_pages_in_memory(memory, 4096 * page + 1), 2 * page);
    EXPECT_EQ(ptoi_pages_in_memory(memory, 0), 0);
    pto_shared_free(memory, bytes);
}

/* Arrays that are read by cells are shared memory, whose pages stay in memory where they are only unmapped. */
TEST(pages_of_shared_memory_go_back_to_the_system)
{
    const int64_t page = ptoi_pages_size(), bytes = 8 * page;
    char *memory = pto_shared_alloc(bytes);
    EXPECT(memory != NULL);
    for (int64_t i = 0; i < bytes; i++) memory[i] = 1;
    EXPECT_EQ(ptoi_pages_in_memory(memory, bytes), bytes);
    ptoi_pages_give_back(&(PTOArg){
        .ptr = memory + page + 1, .type = PTO_U8, .rank = 1, .shape = (int64_t[]){4 * page}, .stride = (int64_t[]){1}});
    EXPECT_EQ(ptoi_pages_in_memory(memory, bytes), 5 * page);
    EXPECT_EQ(memory[2 * page] + memory[5 * page - 1], 0);
    EXPECT_EQ(memory[2 * page - 1] + memory[5 * page], 2);
    pto_shared_free(memory, bytes);
}
