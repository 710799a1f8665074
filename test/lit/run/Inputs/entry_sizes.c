/* entry_sizes.c - calls the exports of entry-sizes.pto with extents whose arrays no memory holds. */
#include "sizes.h"
#include <stdio.h>

static void expect(PTORuntime *rt, PTOStatus status)
{
    printf("%s: %s\n", pto_status_name(status), pto_last_error(rt));
}

int main(void)
{
    PTORuntime *rt = pto_runtime_create(NULL, NULL);
    float x[4] = {1, 2, 3, 4}, y[4] = {0};
    expect(rt, run_one(rt, x, y, INT64_MAX));
    expect(rt, run_one(rt, x, y, INT64_MAX / 4));
    expect(rt, run_one(rt, x, y, (int64_t)1 << 62));
    expect(rt, run_one(rt, NULL, y, (int64_t)1 << 59));
    expect(rt, run_two(rt, x, y, INT64_MAX, 1));
    const PTOStatus status = run_three(rt, x, y);
    printf("%s: %g\n", pto_status_name(status), y[3]);
    pto_runtime_destroy(rt);
    return 0;
}
