/* history_log.c - see history_log.h. */
#include "history_log.h"
#include "shared/map_memory.h"

bool ptoi_history_log_init(struct history_log *l, uint64_t words)
{
    *l = (struct history_log){.capacity = words};
    l->word = ptoi_memory_map(words * sizeof *l->word, false);
    return l->word != NULL;
}

void ptoi_history_log_free(struct history_log *l)
{
    ptoi_memory_unmap(l->word, l->capacity * sizeof *l->word);
    *l = (struct history_log){0};
}

/* The words behind it. */
static const uint64_t *read_access(const uint64_t *w, struct history_access *a, struct region *r)
{
    enum { ACCESS_BITS = 3, RANK_BITS = 63 };
    a->space = (uint32_t)(*w >> 32);
    a->access = (enum access)(*w & ACCESS_BITS);
    a->region = r;
    r->rank = (int32_t)(*w++ >> 2 & RANK_BITS);
    r->low = (int64_t)*w++;
    r->high = (int64_t)*w++;
    r->run = r->rank > 0 ? (int64_t)*w++ : r->high - r->low;
    for (int32_t k = 0; k < r->rank; k++) {
        r->dim[k].count = (int64_t)*w++;
        r->dim[k].stride_bytes = (int64_t)*w++;
    }
    return w;
}

bool ptoi_history_replay(struct history_log *l, struct history *h, const struct history_reader *reader)
{
    enum { ENTRY_BITS = 3, COUNT_BITS = (1 << 14) - 1 };
    struct region region[2 * PTO_MAX_PARAMS];
    struct history_access access[2 * PTO_MAX_PARAMS];
    const uint64_t *w = l->word, *const end = w + l->used;
    bool ok = true;
    l->used = 0;
    while (ok && w < end) {
        const enum history_entry entry = (enum history_entry)(*w & ENTRY_BITS);
        const uint64_t number = *w >> 16;
        const int accesses = (int)(*w++ >> 2 & COUNT_BITS);
        if (entry == HISTORY_CLOSE) {
            ptoi_history_close(h, (uint32_t)number);
            continue;
        }
        const PTOKernel *const kernel = (const PTOKernel *)(uintptr_t)*w++;
        for (int i = 0; i < accesses; i++) w = read_access(w, &access[i], &region[i]);
        ok = ptoi_history_find(h, access, accesses, kernel);
        if (!ok) break;
        int64_t count;
        const struct history_edge *const edge = ptoi_history_edges(h, &count);
        reader->found(reader->context, entry, number, edge, count);
        ok = entry == HISTORY_AWAIT || ptoi_history_add(h, access, accesses, kernel, number);
    }
    return ok;
}
