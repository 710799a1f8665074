/* plan.c - see plan.h. */
#include "plan.h"
#include <stdlib.h>
#include <string.h>

enum { LEAST_CELLS = 1024 };

/* The uses of a cell of a tensor on a rank; numbers of accesses, the newest first, 0: none. */
struct plan_cell {
    int64_t cell;
    uint32_t tensor; /* + 1; 0: the place is free */
    int32_t rank;
    uint32_t writes, reads;
};

struct plan_access {
    uint32_t box, node, next;
};

/* Room for one more; the new size, or 0: no memory. */
static bool grow(struct plan *p, void **list, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room) return true;
    const uint32_t more = *room ? 2 * *room : 1024;
    void *grown = more > *room ? realloc(*list, more * size) : NULL;
    if (!grown) {
        p->is_full = true;
        return false;
    }
    *list = grown;
    *room = more;
    return true;
}

bool ptoi_plan_open(struct plan *p, int32_t ranks)
{
    *p = (struct plan){.ranks = ranks, .cell_room = LEAST_CELLS};
    p->cell = calloc(p->cell_room, sizeof *p->cell);
    return p->cell != NULL;
}

void ptoi_plan_close(struct plan *p)
{
    free(p->node);
    free(p->edge);
    free(p->cell);
    free(p->access);
    free(p->box);
    *p = (struct plan){0};
}

void ptoi_plan_begin(struct plan *p)
{
    p->nodes = p->edges = p->cells = p->accesses = p->unused = p->boxes = 0;
    p->is_full = false;
    memset(p->cell, 0, p->cell_room * sizeof *p->cell);
}

void ptoi_plan_add(struct plan *p, const struct planned *node)
{
    if (p->is_full || !grow(p, (void **)&p->node, p->nodes, &p->node_room, sizeof *p->node)) return;
    p->node[p->nodes] = *node;
    p->node[p->nodes++].edges_end = p->edges;
}

/* ---- who has used the bytes -------------------------------------------------------------------------------------- */

static struct plan_cell *find_cell(const struct plan *p, uint32_t tensor, int64_t cell, int32_t rank)
{
    uint64_t hash = ((uint64_t)cell ^ (uint64_t)tensor << 40 ^ (uint64_t)(uint32_t)rank << 20) * 0x9e3779b97f4a7c15u;
    for (uint32_t at = (uint32_t)(hash >> 32);; at++) {
        struct plan_cell *c = &p->cell[at & (p->cell_room - 1)];
        if (c->tensor == 0 || (c->tensor == tensor + 1 && c->cell == cell && c->rank == rank)) return c;
    }
}

static bool make_cells(struct plan *p)
{
    if (p->cells < p->cell_room / 2) return true;
    struct plan_cell *old = p->cell;
    const uint32_t count = p->cell_room;
    p->cell = count <= UINT32_MAX / 2 ? calloc(2 * (size_t)count, sizeof *old) : NULL;
    if (!p->cell) {
        p->cell = old;
        p->is_full = true;
        return false;
    }
    p->cell_room = 2 * count;
    for (uint32_t k = 0; k < count; k++)
        if (old[k].tensor) *find_cell(p, old[k].tensor - 1, old[k].cell, old[k].rank) = old[k];
    free(old);
    return true;
}

static void wait_for(struct plan *p, uint32_t producer)
{
    enum { LOOKED_AT = 8 }; /* an edge that stands there twice costs little */
    const uint32_t newest = p->nodes - 1, begin = ptoi_plan_edges_begin(p, newest);
    if (producer == newest) return;
    for (uint32_t e = p->edges; e > begin && e + LOOKED_AT > p->edges; e--)
        if (p->edge[e - 1] == producer) return;
    if (!grow(p, (void **)&p->edge, p->edges, &p->edge_room, sizeof *p->edge)) return;
    p->edge[p->edges++] = producer;
    p->node[newest].edges_end = p->edges;
}

static void wait_for_all(struct plan *p, uint32_t list, const struct box *box, int32_t rank)
{
    for (uint32_t n = list; n && !p->is_full; n = p->access[n - 1].next)
        if (ptoi_box_meets(&p->box[p->access[n - 1].box], box, rank)) wait_for(p, p->access[n - 1].node);
}

/* The accesses that the box covers: whoever comes later waits for its writer. */
static void forget(struct plan *p, uint32_t *list, const struct box *box, int32_t rank)
{
    while (*list) {
        struct plan_access *a = &p->access[*list - 1];
        if (!ptoi_box_contains(box, &p->box[a->box], rank)) {
            list = &a->next;
            continue;
        }
        const uint32_t number = *list;
        *list = a->next;
        a->next = p->unused;
        p->unused = number;
    }
}

/* The newest node; boxes that are equal one after the other are one. */
static void remember(struct plan *p, uint32_t *list, const struct box *box, int32_t rank)
{
    uint32_t number = p->unused, same = *list ? p->access[*list - 1].box : UINT32_MAX;
    if (same != UINT32_MAX && (memcmp(p->box[same].low, box->low, (size_t)rank * sizeof *box->low) != 0 ||
                               memcmp(p->box[same].high, box->high, (size_t)rank * sizeof *box->high) != 0))
        same = UINT32_MAX;
    if (same == UINT32_MAX) {
        if (!grow(p, (void **)&p->box, p->boxes, &p->box_room, sizeof *p->box)) return;
        same = p->boxes++;
        p->box[same] = *box;
    }
    if (number) {
        p->unused = p->access[number - 1].next;
    } else {
        if (!grow(p, (void **)&p->access, p->accesses, &p->access_room, sizeof *p->access)) return;
        number = ++p->accesses;
    }
    p->access[number - 1] = (struct plan_access){.box = same, .node = p->nodes - 1, .next = *list};
    *list = number;
}

static int64_t cell_number(const struct distribution *d, const struct box *piece)
{
    int64_t number = 0;
    for (int32_t k = 0; k < d->rank && d->first != NO_HOME; k++)
        number = number * ((d->shape[k] - 1) / d->cell[k] + 1) + piece->low[k] / d->cell[k];
    return number;
}

static void use_piece(struct plan *p, uint32_t tensor, const struct distribution *d, const struct box *piece,
                      bool reads, bool writes)
{
    const int32_t rank = p->node[p->nodes - 1].rank;
    const int64_t number = cell_number(d, piece);
    if (!make_cells(p)) return;
    struct plan_cell *c = find_cell(p, tensor, number, rank);
    if (c->tensor == 0) {
        *c = (struct plan_cell){.cell = number, .tensor = tensor + 1, .rank = rank};
        p->cells++;
    }
    wait_for_all(p, c->writes, piece, d->rank);
    if (!writes) {
        if (reads) remember(p, &c->reads, piece, d->rank);
        return;
    }
    wait_for_all(p, c->reads, piece, d->rank);
    forget(p, &c->writes, piece, d->rank);
    forget(p, &c->reads, piece, d->rank);
    remember(p, &c->writes, piece, d->rank);
}

void ptoi_plan_use(struct plan *p, uint32_t tensor, const struct distribution *d, const struct box *box, bool reads,
                   bool writes)
{
    struct box piece = *box;
    int32_t home;
    if (d->first == NO_HOME && !p->is_full) use_piece(p, tensor, d, box, reads, writes);
    for (struct pieces all = ptoi_pieces(d, box, p->ranks); !p->is_full && ptoi_next_piece(&all, &piece, &home);)
        use_piece(p, tensor, d, &piece, reads, writes);
}

struct plan_sums ptoi_plan_sums(const struct plan *p)
{
    struct plan_sums sums = {0};
    for (uint32_t n = 0; n < p->nodes; n++) {
        const struct planned *node = &p->node[n];
        if (node->kind == PLANNED_SEND) sums.messages++, sums.bytes += (uint64_t)node->amount;
        if (node->kind != PLANNED_TASK) continue;
        sums.tasks++;
        if (__builtin_add_overflow(sums.cycles[node->worker], node->amount, &sums.cycles[node->worker]))
            sums.cycles[node->worker] = INT64_MAX;
    }
    return sums;
}
