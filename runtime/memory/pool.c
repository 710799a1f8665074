/* pool.c - see pool.h. */
#include "pool.h"
#include "shared/check.h"
#include "shared/map_memory.h"
#include "shared/process_lock.h"
#include <errno.h>
#include <pto/pto_runtime.h>
#include <sys/mman.h>

enum { KEPT_BLOCKS = 8 };

struct block {
    void *memory; /* NULL: none is kept here */
    uint64_t bytes;
};

/* Guarded by PROCESS_LOCK_POOL. */
static struct block kept[KEPT_BLOCKS];
static PTOPoolStats stats;

static void note_use(int64_t bytes)
{
    stats.used_bytes += bytes;
    if (stats.used_bytes > stats.used_bytes_max) stats.used_bytes_max = stats.used_bytes;
}

static void *take_kept(uint64_t bytes)
{
    for (int i = 0; i < KEPT_BLOCKS; i++) {
        if (!kept[i].memory || kept[i].bytes != bytes) continue;
        void *memory = kept[i].memory;
        kept[i] = (struct block){0};
        stats.reuse_hits++;
        note_use((int64_t)bytes);
        return memory;
    }
    return NULL;
}

void *ptoi_pool_take(uint64_t bytes, bool shared, bool zeroed)
{
    ptoi_process_lock(PROCESS_LOCK_POOL);
    void *memory = shared ? NULL : take_kept(bytes);
    ptoi_process_unlock(PROCESS_LOCK_POOL);
    if (memory) {
        if (zeroed) madvise(memory, bytes, MADV_DONTNEED); /* its pages are new ones when they are touched */
        return memory;
    }
    memory = ptoi_memory_map(bytes, shared);
    if (!memory && ptoi_pool_trim()) memory = ptoi_memory_map(bytes, shared);
    if (!memory) return NULL;
    ptoi_process_lock(PROCESS_LOCK_POOL);
    stats.grow_count++;
    stats.total_bytes += (int64_t)bytes;
    note_use((int64_t)bytes);
    ptoi_process_unlock(PROCESS_LOCK_POOL);
    return memory;
}

void *ptoi_pool_obtain(PTOPool *pool, uint64_t bytes)
{
    (void)pool;
    return ptoi_pool_take(bytes, false, false);
}

void ptoi_pool_return(PTOPool *pool, void *memory, uint64_t bytes)
{
    (void)pool;
    ptoi_pool_give(memory, bytes, false);
}

static bool keep(void *memory, uint64_t bytes)
{
    for (int i = 0; i < KEPT_BLOCKS; i++) {
        if (kept[i].memory) continue;
        kept[i] = (struct block){memory, bytes};
        return true;
    }
    return false;
}

void ptoi_pool_give(void *memory, uint64_t bytes, bool shared)
{
    if (!memory) return;
    if (!shared) madvise(memory, bytes, MADV_FREE);
    ptoi_process_lock(PROCESS_LOCK_POOL);
    stats.used_bytes -= (int64_t)bytes;
    CHECK(stats.used_bytes >= 0);
    const bool is_kept = !shared && keep(memory, bytes);
    if (!is_kept) stats.total_bytes -= (int64_t)bytes;
    ptoi_process_unlock(PROCESS_LOCK_POOL);
    if (!is_kept) ptoi_memory_unmap(memory, bytes);
}

bool ptoi_pool_touch(void *memory, uint64_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return true;
    if (errno != EINVAL) return false; /* a kernel that does not know it */
#endif
    const uint64_t page = 4096;
    for (uint64_t at = 0; at < bytes; at += page) {
        volatile char *byte = (volatile char *)memory + at;
        *byte = *byte;
    }
    return true;
}

void pto_pool_stats(PTOPoolStats *to)
{
    ptoi_process_lock(PROCESS_LOCK_POOL);
    *to = stats;
    ptoi_process_unlock(PROCESS_LOCK_POOL);
}

void pto_pool_print(FILE *out)
{
    PTOPoolStats s;
    pto_pool_stats(&s);
    const int64_t taken = s.reuse_hits + s.grow_count;
    fprintf(out, "Pool: %lld hits, %lld misses (hit rate %.1f%%), %lld bytes in use (at most %lld), %lld kept\n",
            (long long)s.reuse_hits, (long long)s.grow_count,
            taken > 0 ? 100.0 * (double)s.reuse_hits / (double)taken : 0.0, (long long)s.used_bytes,
            (long long)s.used_bytes_max, (long long)(s.total_bytes - s.used_bytes));
}

bool ptoi_pool_trim(void)
{
    struct block old[KEPT_BLOCKS];
    bool some = false;
    ptoi_process_lock(PROCESS_LOCK_POOL);
    for (int i = 0; i < KEPT_BLOCKS; i++) {
        old[i] = kept[i];
        some |= old[i].memory != NULL;
        kept[i] = (struct block){0};
        stats.total_bytes -= (int64_t)old[i].bytes;
    }
    ptoi_process_unlock(PROCESS_LOCK_POOL);
    for (int i = 0; i < KEPT_BLOCKS; i++) ptoi_memory_unmap(old[i].memory, old[i].bytes);
    return some;
}
