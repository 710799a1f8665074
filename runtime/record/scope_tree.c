/* scope_tree.c - see scope_tree.h. */
#include "scope_tree.h"
#include "shared/map_memory.h"

#define BYTES (PTOI_SCOPE_NODES * sizeof(struct recorded_scope))

bool ptoi_scope_tree_init(struct scope_tree *t)
{
    *t = (struct scope_tree){.node = ptoi_memory_map(BYTES, false)};
    return t->node != NULL;
}

void ptoi_scope_tree_free(struct scope_tree *t)
{
    ptoi_memory_unmap(t->node, BYTES);
    *t = (struct scope_tree){0};
}

void ptoi_scope_tree_begin(struct scope_tree *t, int64_t now)
{
    t->node[0] = (struct recorded_scope){.opened = 1, .since = now};
    t->count = 1;
}

uint32_t ptoi_scope_tree_open(struct scope_tree *t, uint32_t in, const PTOSite *site, int64_t now)
{
    uint32_t *link = &t->node[in].first;
    while (*link != 0 && t->node[*link].site != site) link = &t->node[*link].next;
    if (*link == 0 && t->count == PTOI_SCOPE_NODES) return in;
    if (*link == 0) {
        *link = t->count;
        t->node[t->count++] = (struct recorded_scope){.site = site, .parent = in};
    }
    t->node[*link].opened++;
    t->node[*link].since = now;
    return *link;
}

void ptoi_scope_tree_close(struct scope_tree *t, uint32_t node, uint32_t in, int64_t now)
{
    if (node != in) t->node[node].time += now - t->node[node].since;
}
