/* pages.c - see pages.h. */
#include "pages.h"
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int64_t ptoi_pages_size(void) { return sysconf(_SC_PAGESIZE); }

int64_t ptoi_pages_in_memory(const void *memory, int64_t bytes)
{
    enum { LOOKED = 4096 }; /* pages at a time */
    unsigned char state[LOOKED];
    const int64_t page = ptoi_pages_size(), pages = (bytes + page - 1) / page;
    int64_t count = 0;
    for (int64_t first = 0; first < pages; first += LOOKED) {
        const int64_t some = pages - first < LOOKED ? pages - first : LOOKED;
        if (mincore((char *)(uintptr_t)memory + first * page, (size_t)(some * page), state) != 0) return count * page;
        for (int64_t k = 0; k < some; k++) count += state[k] & 1;
    }
    return count * page;
}

/* Only MADV_REMOVE frees the pages of shared memory, which reserved arrays are; private memory has no such call. */
static void give_back(char *from, int64_t bytes)
{
    const uintptr_t page = (uintptr_t)ptoi_pages_size(), low = ((uintptr_t)from + page - 1) / page * page,
                    high = ((uintptr_t)from + (uintptr_t)bytes) / page * page;
    if (low < high && madvise((void *)low, high - low, MADV_REMOVE) != 0) /* NOLINT */
        madvise((void *)low, high - low, MADV_DONTNEED);                  /* NOLINT */
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
