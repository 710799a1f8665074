/* pages.h - the memory of this process, for tests that look for growth. */
#ifndef PTO_TEST_PAGES_H
#define PTO_TEST_PAGES_H
#include "unit.h"

struct pages {
    long mapped, resident; /* in pages of the system */
};

static inline struct pages pages_now(void)
{
    struct pages now = {0};
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    EXPECT_EQ(fscanf(file, "%ld %ld", &now.mapped, &now.resident), 2);
    fclose(file);
    return now;
}

#endif
