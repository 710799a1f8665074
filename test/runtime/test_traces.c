/* test_traces.c - traces of ranks: where memory ends, nothing is written and the error says so. */
#include "dist/traces.h"
#include "folder.h"
#include <errno.h>

static int fails_after = -1; /* calls that still succeed */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return fails_after >= 0 && fails_after-- == 0 ? NULL : __real_calloc(count, size);
}

static void make_plan(struct plan *p)
{
    EXPECT(ptoi_plan_open(p, 2));
    for (int rank = 0; rank < 2; rank++)
        ptoi_plan_add(p, &(struct planned){.kind = PLANNED_TASK, .rank = rank, .amount = 10});
}

TEST(without_memory_no_file_is_written)
{
    struct plan p;
    make_plan(&p);
    enter_new_folder();
    int failures = 0;
    for (;; failures++) {
        errno = 0;
        fails_after = failures;
        const bool is_written = ptoi_traces_write(&p, "traces", 4);
        const int error = errno;
        const bool has_failed = fails_after < 0;
        fails_after = -1;
        EXPECT_EQ(is_written, !has_failed);
        if (!has_failed) break;
        EXPECT_EQ(error, ENOMEM);
        EXPECT_EQ(count_files(), 0);
    }
    EXPECT(failures >= 8);
    EXPECT_EQ(count_files(), 1);
    ptoi_plan_close(&p);
}
