/* traces.c - see traces.h. */
#include "traces.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct tracer {
    const struct plan *plan;
    uint32_t *order;    /* the nodes, by rank, in the order of the program */
    uint32_t *begin;    /* ranks + 1: those of a rank in it */
    uint32_t *place;    /* of a node among those of its rank */
    uint32_t *tag;      /* of a transfer: its number in its pair */
    uint32_t *next_tag; /* ranks * ranks */
    bool *is_received;  /* a receive that was waited for */
};

static void sort_by_rank(struct tracer *t)
{
    const struct plan *p = t->plan;
    for (uint32_t n = 0; n < p->nodes; n++) t->place[n] = t->begin[p->node[n].rank + 1]++;
    for (int32_t k = 0; k < p->ranks; k++) t->begin[k + 1] += t->begin[k];
    for (uint32_t n = 0; n < p->nodes; n++) {
        const struct planned *node = &p->node[n];
        t->order[t->begin[node->rank] + t->place[n]] = n;
        if (node->kind == PLANNED_SEND)
            t->tag[n] = t->tag[n + 1] = t->next_tag[(size_t)node->rank * (size_t)p->ranks + (size_t)node->peer]++;
    }
}

/* Where a transfer may begin: behind all that it waits for, and not too early.  A send of what was received stays where
 * it is, because the rank would wait there. */
static uint32_t earliest(const struct tracer *t, uint32_t n, int64_t ahead)
{
    const bool is_send = t->plan->node[n].kind == PLANNED_SEND;
    uint32_t at = t->place[n] > ahead ? t->place[n] - (uint32_t)ahead : 0;
    for (uint32_t e = ptoi_plan_edges_begin(t->plan, n); e < t->plan->node[n].edges_end; e++) {
        const uint32_t producer = t->place[t->plan->edge[e]];
        if (is_send && t->plan->node[t->plan->edge[e]].kind == PLANNED_RECEIVE) return t->place[n];
        if (producer >= at) at = producer + 1;
    }
    return at;
}

static bool is_transfer(const struct planned *node)
{
    return node->kind == PLANNED_SEND || node->kind == PLANNED_RECEIVE;
}

static void write_waits(struct tracer *t, FILE *out, uint32_t n)
{
    for (uint32_t e = ptoi_plan_edges_begin(t->plan, n); e < t->plan->node[n].edges_end; e++) {
        const uint32_t producer = t->plan->edge[e];
        const struct planned *node = &t->plan->node[producer];
        if (node->kind != PLANNED_RECEIVE || t->is_received[producer]) continue;
        t->is_received[producer] = true;
        fprintf(out, "%d wait %d %d %u\n", node->rank, node->peer, node->rank, t->tag[producer]);
    }
}

static void write_node(struct tracer *t, FILE *out, uint32_t n)
{
    const struct planned *node = &t->plan->node[n];
    write_waits(t, out, n);
    if (node->kind == PLANNED_TASK) fprintf(out, "%d compute %lld\n", node->rank, (long long)node->amount);
    if (is_transfer(node))
        fprintf(out, "%d %s %d %u %lld\n", node->rank, node->kind == PLANNED_SEND ? "isend" : "irecv", node->peer,
                t->tag[n], (long long)node->amount);
}

/* first: the transfers that begin at a place of the rank, linked by next. */
static void write_rank(struct tracer *t, FILE *out, int32_t rank, int64_t ahead, uint32_t *first, uint32_t *next)
{
    const struct plan *p = t->plan;
    const uint32_t *nodes = &t->order[t->begin[rank]], count = t->begin[rank + 1] - t->begin[rank];
    for (uint32_t i = 0; i < count; i++) first[i] = UINT32_MAX;
    for (uint32_t i = count; i-- > 0;) {
        if (!is_transfer(&p->node[nodes[i]])) continue;
        const uint32_t at = earliest(t, nodes[i], ahead);
        next[i] = first[at];
        first[at] = i;
    }
    fprintf(out, "%d init\n", rank);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t r = first[i]; r != UINT32_MAX; r = next[r]) write_node(t, out, nodes[r]);
        if (!is_transfer(&p->node[nodes[i]])) write_node(t, out, nodes[i]);
    }
    fprintf(out, "%d waitall\n%d finalize\n", rank, rank);
}

static FILE *open_in(const char *folder, const char *name)
{
    char *path = NULL;
    FILE *out = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) return NULL;
    out = fopen(path, "w");
    free(path);
    return out;
}

static bool close_good(FILE *out)
{
    const bool good = !ferror(out);
    return fclose(out) == 0 && good;
}

static bool write_all(struct tracer *t, const char *folder, int64_t ahead, uint32_t *first, uint32_t *next)
{
    bool good = true;
    char name[64];
    for (int32_t rank = 0; rank < t->plan->ranks && good; rank++) {
        snprintf(name, sizeof name, "rank-%d.txt", rank);
        FILE *out = open_in(folder, name);
        if (!out) return false;
        write_rank(t, out, rank, ahead, first, next);
        good = close_good(out);
    }
    FILE *index = good ? open_in(folder, "traces.txt") : NULL;
    for (int32_t rank = 0; rank < t->plan->ranks && index; rank++) fprintf(index, "rank-%d.txt\n", rank);
    return index && close_good(index);
}

bool ptoi_traces_write(const struct plan *p, const char *folder, int64_t ahead)
{
    const size_t nodes = p->nodes + (size_t)1, ranks = (size_t)p->ranks;
    uint32_t *first = calloc(nodes, sizeof *first), *next = calloc(nodes, sizeof *next);
    struct tracer t = {.plan = p,
                       .order = calloc(nodes, sizeof *t.order),
                       .begin = calloc(ranks + 1, sizeof *t.begin),
                       .place = calloc(nodes, sizeof *t.place),
                       .tag = calloc(nodes, sizeof *t.tag),
                       .next_tag = calloc(ranks * ranks, sizeof *t.next_tag),
                       .is_received = calloc(nodes, sizeof *t.is_received)};
    bool good = first && next && t.order && t.begin && t.place && t.tag && t.next_tag && t.is_received;
    if (!good) errno = ENOMEM;
    if (good) sort_by_rank(&t);
    good = good && (mkdir(folder, 0777) == 0 || errno == EEXIST) && write_all(&t, folder, ahead, first, next);
    const int error = errno;
    free(first);
    free(next);
    free(t.order);
    free(t.begin);
    free(t.place);
    free(t.tag);
    free(t.next_tag);
    free(t.is_received);
    errno = error;
    return good;
}
