/* exchange.c - see exchange.h. */
#include "exchange.h"
#include "memory/shared_blocks.h"
#include "shared/map_memory.h"
#include <sys/mman.h>

void ptoi_exchange_open(PTORuntime *rt)
{
    rt->shared_youngest = ptoi_shared_youngest();
    /* Without access at first: in a process that locks its future memory (mlockall) the system would provide all of it
     * now. */
    void *addresses = mmap(NULL, PTOI_EXCHANGE_BYTES, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (addresses == MAP_FAILED) return; /* this process may not have so many */
    rt->exchange = addresses;
    if (mprotect(addresses, PTOI_EXCHANGE_BYTES, PROT_READ | PROT_WRITE) != 0) {
        ptoi_exchange_close(rt);
        return;
    }
    madvise(addresses, PTOI_EXCHANGE_BYTES, MADV_DONTDUMP); /* a core file would have all of it */
}

void ptoi_exchange_close(PTORuntime *rt)
{
    ptoi_memory_unmap(rt->exchange, PTOI_EXCHANGE_BYTES);
    rt->exchange = NULL;
}

void ptoi_exchange_trim(PTORuntime *rt)
{
    if (rt->exchange_ready > 0) madvise(rt->exchange, rt->exchange_ready, MADV_REMOVE);
    rt->exchange_ready = 0;
}
