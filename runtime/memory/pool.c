/* pool.c - see pool.h. */
#include "pool.h"
#include "resting.h"
#include "shared/check.h"
#include "shared/map_memory.h"
#include "shared/process_lock.h"
#include "shared/thread_error.h"
#include "shared_blocks.h"
#include "slab.h"
#include "span.h"
#include <errno.h>
#include <pto/pto_runtime.h>
#include <stddef.h>
#include <sys/mman.h>

#define DEFAULT_LIMIT ((int64_t)1 << 30)
#define BEST_FIT_FROM ((uint64_t)64 << 20)

/* A large block that is kept; or one that was lent for less than its bytes. */
struct piece {
    struct piece *next;
    void *memory;
    uint64_t bytes;
};
static struct slab pieces = SLAB_OF(struct piece);

struct PTOPool {
    struct piece *kept[SIZE_CLASSES];
    char *memory; /* the shared piece, and how much of it was ever cut off */
    uint64_t bytes, carved;
    int64_t used; /* blocks */
    bool is_destroyed;
};
static struct slab shared_pools = SLAB_OF(struct PTOPool);

/* Guarded by PROCESS_LOCK_POOL. */
static struct piece *kept[SIZE_CLASSES], *lent;
static struct spans spans;
static PTOPoolStats stats;
static PTOPoolClass classes[SIZE_CLASSES]; /* without `bytes` */
static int64_t limit = DEFAULT_LIMIT;

static void lock(void) { ptoi_process_lock(PROCESS_LOCK_POOL); }
static void unlock(void) { ptoi_process_unlock(PROCESS_LOCK_POOL); }

static void note_use(int64_t bytes)
{
    stats.used_bytes += bytes;
    if (stats.used_bytes > stats.used_bytes_max) stats.used_bytes_max = stats.used_bytes;
    CHECK(stats.used_bytes >= 0);
}

static PTOPoolClass *class_of(uint64_t bytes) { return &classes[ptoi_size_class_index(ptoi_size_class_bytes(bytes))]; }

static void note_hit(uint64_t bytes)
{
    stats.reuse_hits++;
    class_of(bytes)->hits++;
    class_of(bytes)->used++;
}

static void note_miss(uint64_t bytes)
{
    stats.grow_count++;
    class_of(bytes)->misses++;
    class_of(bytes)->used++;
}

static void end_rest(void);

static bool may_keep(uint64_t bytes)
{
    return stats.total_bytes - stats.used_bytes <= limit && bytes <= (uint64_t)limit;
}

/* ---- large blocks ------------------------------------------------------------------------------------------------ */

static struct piece *pop(struct piece **first)
{
    struct piece *p = *first;
    if (p) *first = p->next;
    return p;
}

static struct piece *take_kept(uint64_t bytes)
{
    int at = ptoi_size_class_index(bytes);
    const int last = bytes > BEST_FIT_FROM ? at + SIZE_CLASS_OCTAVE : at;
    struct piece *p = NULL;
    for (; !p && at <= last && at < SIZE_CLASSES; at++) p = pop(&kept[at]);
    return p;
}

static void note_grown(uint64_t bytes)
{
    lock();
    note_miss(bytes);
    stats.total_bytes += (int64_t)bytes;
    note_use((int64_t)bytes);
    unlock();
}

static void *map_large(uint64_t bytes)
{
    void *memory = ptoi_memory_map_long(bytes);
    if (!memory && ptoi_pool_trim()) memory = ptoi_memory_map_long(bytes);
    if (memory) note_grown(bytes);
    return memory;
}

static void *take_large(uint64_t bytes, bool zeroed)
{
    lock();
    struct piece *p = take_kept(bytes);
    const bool is_lent = p && p->bytes != bytes;
    if (p) {
        note_hit(bytes);
        note_use((int64_t)p->bytes);
    }
    if (is_lent) {
        p->next = lent;
        lent = p;
    }
    void *memory = p ? p->memory : NULL;
    unlock();
    if (!memory) return map_large(bytes);
    if (zeroed) madvise(memory, bytes, MADV_DONTNEED); /* its pages are new ones when they are touched */
    if (!is_lent) ptoi_slab_give(&pieces, p);
    return memory;
}

static struct piece *take_lent(const void *memory)
{
    struct piece **at = &lent;
    while (*at && (*at)->memory != memory) at = &(*at)->next;
    return pop(at);
}

static void give_large(void *memory, uint64_t bytes)
{
    struct piece *p = ptoi_slab_take(&pieces), *unused = NULL; /* NULL: the block goes back to the system */
    lock();
    class_of(bytes)->used--;
    struct piece *was_lent = bytes > BEST_FIT_FROM ? take_lent(memory) : NULL;
    if (was_lent) {
        unused = p;
        p = was_lent;
        bytes = p->bytes;
    }
    note_use(-(int64_t)bytes);
    const bool is_kept = p && may_keep(bytes);
    if (is_kept) {
        struct piece **first = &kept[ptoi_size_class_index(bytes)];
        *p = (struct piece){*first, memory, bytes};
        *first = p;
    } else {
        stats.total_bytes -= (int64_t)bytes;
    }
    unlock();
    ptoi_slab_give(&pieces, unused);
    if (is_kept) return;
    ptoi_slab_give(&pieces, p);
    ptoi_memory_unmap(memory, bytes);
}

/* ---- for runtimes ------------------------------------------------------------------------------------------------ */

/* Whole pages. */
static uint64_t runtime_bytes(uint64_t bytes)
{
    return ptoi_size_class_bytes(bytes > SPAN_MAX_BLOCK ? bytes : SPAN_MAX_BLOCK);
}

void *ptoi_pool_take(uint64_t bytes, bool shared, bool zeroed)
{
    if (bytes > SIZE_CLASS_MAX) return NULL;
    if (!shared) return take_large(runtime_bytes(bytes), zeroed);
    void *memory = ptoi_memory_map(bytes, true);
    if (!memory && ptoi_pool_trim()) memory = ptoi_memory_map(bytes, true);
    if (memory) note_grown(bytes);
    return memory;
}

void ptoi_pool_give(void *memory, uint64_t bytes, bool shared)
{
    if (!memory) return;
    if (!shared) {
        madvise(memory, bytes, MADV_FREE);
        give_large(memory, runtime_bytes(bytes));
        return;
    }
    lock();
    class_of(bytes)->used--;
    note_use(-(int64_t)bytes);
    stats.total_bytes -= (int64_t)bytes;
    unlock();
    ptoi_memory_unmap(memory, bytes);
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

/* ---- for tensors: small blocks ----------------------------------------------------------------------------------- */

static void *take_known_small(uint64_t bytes)
{
    void *block = ptoi_span_take(&spans, bytes);
    if (block) note_use((int64_t)bytes);
    return block;
}

/* What a span has beside its blocks in use counts as kept. */
static void *take_small(uint64_t bytes)
{
    lock();
    void *block = take_known_small(bytes);
    if (block) note_hit(bytes);
    unlock();
    if (block) return block;
    struct span *s = ptoi_span_obtain();
    if (!s && ptoi_pool_trim()) s = ptoi_span_obtain();
    if (!s) return NULL;
    lock();
    note_miss(bytes);
    stats.total_bytes += SPAN_BYTES;
    ptoi_span_add(&spans, s, bytes);
    block = take_known_small(bytes);
    unlock();
    return block;
}

static void give_small(void *block, uint64_t bytes)
{
    lock();
    class_of(bytes)->used--;
    note_use(-(int64_t)bytes);
    struct span *s = ptoi_span_give(&spans, block, may_keep(bytes));
    if (s) stats.total_bytes -= SPAN_BYTES;
    unlock();
    ptoi_span_return(s);
}

/* ---- shared pools ------------------------------------------------------------------------------------------------ */

PTOPool *pto_pool_shared(int64_t bytes)
{
    if (bytes < 1) {
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "pto_pool_shared: %lld bytes", (long long)bytes);
        return NULL;
    }
    PTOPool *pool = ptoi_slab_take(&shared_pools);
    void *memory = pool ? pto_shared_alloc(bytes) : NULL;
    if (!memory) {
        ptoi_slab_give(&shared_pools, pool);
        ptoi_thread_fail(PTO_ERR_NOMEM, "pto_pool_shared: no memory for %lld bytes", (long long)bytes);
        return NULL;
    }
    *pool = (PTOPool){.memory = memory, .bytes = (uint64_t)bytes};
    return pool;
}

static void *take_shared(PTOPool *pool, uint64_t bytes)
{
    lock();
    struct piece *p = pool->is_destroyed ? NULL : pop(&pool->kept[ptoi_size_class_index(bytes)]);
    void *memory = p ? p->memory : NULL;
    if (!p && !pool->is_destroyed && bytes <= pool->bytes - pool->carved) {
        memory = pool->memory + pool->carved;
        pool->carved += bytes;
    }
    pool->used += memory != NULL;
    unlock();
    ptoi_slab_give(&pieces, p);
    return memory;
}

static void free_shared(PTOPool *pool)
{
    for (int i = 0; i < SIZE_CLASSES; i++)
        for (struct piece *p; (p = pop(&pool->kept[i]));) ptoi_slab_give(&pieces, p);
    pto_shared_free(pool->memory, (int64_t)pool->bytes);
    ptoi_slab_give(&shared_pools, pool);
}

/* Without memory for a piece the block is lost until the pool is destroyed. */
static void give_shared(PTOPool *pool, void *memory, uint64_t bytes)
{
    struct piece *p = ptoi_slab_take(&pieces);
    lock();
    struct piece **first = &pool->kept[ptoi_size_class_index(bytes)];
    if (p) {
        *p = (struct piece){*first, memory, bytes};
        *first = p;
    }
    const bool is_last = --pool->used == 0 && pool->is_destroyed;
    unlock();
    if (is_last) free_shared(pool);
}

void pto_pool_destroy(PTOPool *pool)
{
    if (!pool) return;
    end_rest();
    lock();
    pool->is_destroyed = true;
    const bool is_unused = pool->used == 0;
    unlock();
    if (is_unused) free_shared(pool);
}

/* ---- for tensors ------------------------------------------------------------------------------------------------- */

void *ptoi_pool_obtain(PTOPool *pool, uint64_t bytes)
{
    if (bytes == 0 || bytes > SIZE_CLASS_MAX) return NULL;
    bytes = ptoi_size_class_bytes(bytes);
    if (pool) return take_shared(pool, bytes);
    return bytes <= SPAN_MAX_BLOCK ? take_small(bytes) : take_large(bytes, false);
}

static void return_now(PTOPool *pool, void *memory, uint64_t bytes)
{
    if (pool)
        give_shared(pool, memory, bytes);
    else if (bytes <= SPAN_MAX_BLOCK)
        give_small(memory, bytes);
    else
        give_large(memory, bytes);
}

void ptoi_pool_return(PTOPool *pool, void *memory, uint64_t bytes)
{
    const struct rested freed = {pool, memory, ptoi_size_class_bytes(bytes)};
    struct rested r;
    if (!ptoi_rests()) {
        return_now(pool, memory, freed.bytes);
        return;
    }
    if (ptoi_rest_add(&freed, &r)) return_now(r.pool, r.memory, r.bytes);
    while (ptoi_rest_take(&r, false)) return_now(r.pool, r.memory, r.bytes);
}

static void end_rest(void)
{
    for (struct rested r; ptoi_rest_take(&r, true);) return_now(r.pool, r.memory, r.bytes);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static struct piece *take_any_kept(void)
{
    for (int i = SIZE_CLASSES; i-- > 0;)
        if (kept[i]) return pop(&kept[i]);
    return NULL;
}

/* One block or span goes back, the largest first; false: none is kept. */
static bool give_back_one(void)
{
    lock();
    struct piece *p = take_any_kept();
    struct span *s = p ? NULL : ptoi_span_empty(&spans);
    stats.total_bytes -= p ? (int64_t)p->bytes : s ? SPAN_BYTES : 0;
    unlock();
    if (p) ptoi_memory_unmap(p->memory, p->bytes);
    ptoi_slab_give(&pieces, p);
    ptoi_span_return(s);
    return p || s;
}

bool ptoi_pool_trim(void)
{
    bool some = false;
    end_rest();
    while (give_back_one()) some = true;
    return some;
}

void pto_pool_limit(int64_t bytes_kept)
{
    lock();
    limit = bytes_kept > 0 ? bytes_kept : 0;
    bool is_above = stats.total_bytes - stats.used_bytes > limit;
    unlock();
    while (is_above && give_back_one()) {
        lock();
        is_above = stats.total_bytes - stats.used_bytes > limit;
        unlock();
    }
}

/* ---- in numbers -------------------------------------------------------------------------------------------------- */

void pto_pool_stats(PTOPoolStats *to)
{
    if (!to) return;
    lock();
    *to = stats;
    unlock();
}

int32_t pto_pool_classes(PTOPoolClass *to, int32_t room)
{
    int32_t count = 0;
    uint64_t bytes = 64;
    lock();
    for (int i = 0; i < SIZE_CLASSES; i++) {
        while (ptoi_size_class_index(bytes) < i) bytes = ptoi_size_class_bytes(bytes + 1);
        if (classes[i].hits + classes[i].misses == 0) continue;
        if (to && count < room) {
            to[count] = classes[i];
            to[count].bytes = (int64_t)bytes;
        }
        count++;
    }
    unlock();
    return count;
}

void pto_pool_print(FILE *out)
{
    PTOPoolStats s;
    if (!out) return;
    pto_pool_stats(&s);
    const int64_t taken = s.reuse_hits + s.grow_count;
    fprintf(out, "Pool: %lld hits, %lld misses (hit rate %.1f%%), %lld bytes in use (at most %lld), %lld kept\n",
            (long long)s.reuse_hits, (long long)s.grow_count,
            taken > 0 ? 100.0 * (double)s.reuse_hits / (double)taken : 0.0, (long long)s.used_bytes,
            (long long)s.used_bytes_max, (long long)(s.total_bytes - s.used_bytes));
}
