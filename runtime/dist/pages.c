/* pages.c - see pages.h. */
#include "pages.h"
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static void give_back(char *from, int64_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), low = ((uintptr_t)from + page - 1) / page * page,
                    high = ((uintptr_t)from + (uintptr_t)bytes) / page * page;
    if (low < high) madvise((void *)low, high - low, MADV_DONTNEED); /* NOLINT */
}

void ptoi_pages_give_back(const PTOArg *view)
{
    const int64_t unit = pto_type_bytes((PTOType)view->type);
    int64_t run = 1, index[PTO_MAX_RANK] = {0};
    int32_t rows = view->rank, k;
    for (; rows > 0 && view->stride[rows - 1] == run; rows--) run *= view->shape[rows - 1];
    do { /* each row of `run` elements that lie one behind the other */
        int64_t at = 0;
        for (k = 0; k < rows; k++) at += index[k] * view->stride[k];
        give_back((char *)view->ptr + at * unit, run * unit);
        for (k = rows - 1; k >= 0 && ++index[k] == view->shape[k]; k--) index[k] = 0;
    } while (k >= 0);
}
