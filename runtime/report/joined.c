/* joined.c - see joined.h. */
#include "joined.h"
#include "shared/check.h"
#include <stdlib.h>
#include <string.h>

/* A kernel, a place and a name with texts of its own; the kernel of an earlier one where they are alike. */
struct joined_kind {
    struct joined_kind *next;
    PTOKernel own;
    const PTOKernel *kernel; /* NULL: none */
    PTOSite site;
    const char *name; /* NULL: none */
    bool has_site;
    char text[];
};

/* ---- reading a parcel -------------------------------------------------------------------------------------------- */

struct opened {
    struct parcel_head head;
    const char *tasks, *edges; /* of struct parcel_task, parcel_edge */
    const char *waits, *samples, *steps, *texts;
    const struct joined_kind **kind;
    const struct rank_clock *clock;
    uint64_t *number; /* of each of its tasks among all */
    uint64_t next_task, next_edge;
};

static int64_t aligned(const struct opened *o, int64_t at)
{
    const struct rank_clock *c = o->clock;
    const double part = c->at[1] > c->at[0] ? (double)(at - c->at[0]) / (double)(c->at[1] - c->at[0]) : 0;
    return at == 0 ? 0 : at - c->ahead[0] - (int64_t)(part * (double)(c->ahead[1] - c->ahead[0]));
}

static struct parcel_task task_at(const struct opened *o, uint64_t n)
{
    struct parcel_task t;
    memcpy(&t, o->tasks + n * sizeof t, sizeof t);
    return t;
}

static bool is_same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static const PTOKernel *same_kernel(const struct joined *j, const PTOKernel *kernel)
{
    for (const struct joined_kind *k = j->kinds; k; k = k->next)
        if (k->kernel && k->kernel->worker == kernel->worker && is_same_text(k->kernel->name, kernel->name) &&
            is_same_text(k->kernel->formals, kernel->formals))
            return k->kernel;
    return NULL;
}

static bool is_same_kind(const struct joined_kind *a, const struct joined_kind *b)
{
    return a->kernel == b->kernel && a->has_site == b->has_site && is_same_text(a->name, b->name) &&
           (!a->has_site || (a->site.line == b->site.line && a->site.column == b->site.column &&
                             is_same_text(a->site.file, b->site.file)));
}

/* The next kind of a parcel; an earlier one that is alike.  NULL: no memory. */
static const struct joined_kind *read_kind(struct joined *j, const char **from)
{
    struct parcel_kind x;
    const char *text[4];
    uint64_t bytes = 0;
    memcpy(&x, *from, sizeof x);
    for (int i = 0; i < 4; i++) bytes += x.texts[i];
    struct joined_kind *k = calloc(1, sizeof *k + bytes);
    if (!k) return NULL;
    memcpy(k->text, *from + sizeof x, bytes);
    *from += sizeof x + bytes;
    text[0] = k->text;
    for (int i = 1; i < 4; i++) text[i] = text[i - 1] + x.texts[i - 1];
    k->own = (PTOKernel){.name = text[0], .worker = x.worker, .formals = text[1]};
    if (x.has_kernel) k->kernel = same_kernel(j, &k->own);
    if (x.has_kernel && !k->kernel) k->kernel = &k->own;
    k->site = (PTOSite){.file = text[2], .line = x.line, .column = x.column, .text = ""};
    k->has_site = x.has_site;
    k->name = x.has_name ? text[3] : NULL;
    for (const struct joined_kind *have = j->kinds; have; have = have->next)
        if (is_same_kind(have, k)) {
            free(k);
            return have;
        }
    k->next = j->kinds;
    j->kinds = k;
    return k;
}

static bool open_parcel(struct joined *j, struct opened *o, const struct parcel *p)
{
    memcpy(&o->head, p->data, sizeof o->head);
    o->tasks = p->data + sizeof o->head;
    o->edges = o->tasks + o->head.tasks * sizeof(struct parcel_task);
    o->waits = o->edges + o->head.edges * sizeof(struct parcel_edge);
    o->samples = o->waits + o->head.waits * sizeof(struct parcel_wait);
    o->steps = o->samples + o->head.samples * sizeof(struct recorded_sample);
    o->texts = o->steps + o->head.steps * sizeof(struct recorded_step);
    o->kind = calloc(o->head.kinds + 1, sizeof *o->kind);
    o->number = calloc(o->head.tasks + 1, sizeof *o->number);
    if (!o->kind || !o->number) return false;
    for (uint64_t k = 0; k < o->head.kinds; k++)
        if (!(o->kind[k] = read_kind(j, &o->texts))) return false;
    return true;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* A table of the sends that were added, by open addressing: `task` + 1; 0: free. */
struct sent {
    int32_t from, to;
    uint64_t message, task;
};
struct sends {
    struct sent *slot;
    uint64_t mask;
};

static struct sent *find_send(const struct sends *s, int32_t from, int32_t to, uint64_t message)
{
    const uint64_t hash =
        ((uint64_t)(uint32_t)from << 40 ^ (uint64_t)(uint32_t)to << 20 ^ message) * 0x9e3779b97f4a7c15u;
    for (uint64_t at = hash >> 32;; at++) {
        struct sent *x = &s->slot[at & s->mask];
        if (x->task == 0 || (x->from == from && x->to == to && x->message == message)) return x;
    }
}

/* ---- the order of the program ------------------------------------------------------------------------------------ */

static bool can_come(const struct sends *s, const struct parcel_task *t, int32_t rank)
{
    return !t->noted.is_receive || find_send(s, t->noted.peer, rank, t->noted.message)->task != 0;
}

static void add_edge(struct joined *j, struct recorded_task *t, uint64_t from, uint8_t reasons)
{
    j->all.edge[j->all.edges++] = (struct recorded_edge){from, reasons};
    t->edge_count++;
}

static void add_task(struct joined *j, struct opened *o, int32_t rank, const struct parcel_task *t,
                     const struct sends *s)
{
    const uint64_t n = j->all.tasks++;
    const struct joined_kind *kind = o->kind[t->kind];
    struct recorded_task *x = &j->all.task[n];
    struct parcel_edge e;
    const bool is_message = t->noted.is_send || t->noted.is_receive;
    o->number[o->next_task++] = n;
    *x = (struct recorded_task){.kernel = kind->kernel,
                                .site = kind->has_site ? &kind->site : NULL,
                                .name = kind->name,
                                .submitted = aligned(o, t->submitted),
                                .begin = aligned(o, t->begin),
                                .end = aligned(o, t->end),
                                .first_edge = j->all.edges,
                                .row = is_message || t->noted.end != 0 ? j->rank[rank].rows - 1 : t->row};
    j->rank_of[n] = rank;
    j->noted[n] = t->noted;
    for (uint32_t k = 0; k < t->edges; k++) {
        memcpy(&e, o->edges + o->next_edge++ * sizeof e, sizeof e);
        if (e.from < o->next_task) add_edge(j, x, o->number[e.from], e.reasons);
    }
    struct sent *sent = t->noted.is_send      ? find_send(s, rank, t->noted.peer, t->noted.message)
                        : t->noted.is_receive ? find_send(s, t->noted.peer, rank, t->noted.message)
                                              : NULL;
    if (t->noted.is_send) *sent = (struct sent){rank, t->noted.peer, t->noted.message, n + 1};
    if (t->noted.is_receive && sent->task != 0) add_edge(j, x, sent->task - 1, EDGE_MESSAGE);
}

/* The tasks up to `number` of the program that can come; the least number that is left.  are_all: also receives whose
 * send was not recorded. */
static bool add_ready(struct joined *j, struct opened *o, uint64_t number, bool are_all, const struct sends *s,
                      uint64_t *next)
{
    bool any = false;
    *next = UINT64_MAX;
    for (int32_t rank = 0; rank < j->ranks; rank++) {
        while (o[rank].next_task < o[rank].head.tasks) {
            const struct parcel_task t = task_at(&o[rank], o[rank].next_task);
            if (t.noted.number > number || !(are_all || can_come(s, &t, rank))) {
                if (t.noted.number < *next) *next = t.noted.number;
                break;
            }
            add_task(j, &o[rank], rank, &t, s);
            any = true;
            if (are_all) return true;
        }
    }
    return any;
}

static void order(struct joined *j, struct opened *o, const struct sends *s)
{
    uint64_t number = 0, next;
    for (bool are_all = false;;) {
        const bool any = add_ready(j, o, number, are_all, s, &next);
        are_all = !any && next <= number && next != UINT64_MAX;
        if (!any && next == UINT64_MAX) return;
        if (!any && next > number) number = next;
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool allocate(struct joined *j, uint64_t tasks, uint64_t edges, uint64_t waits, uint64_t samples, uint64_t steps)
{
    struct recorder *r = &j->all;
    r->task = calloc(tasks + 1, sizeof *r->task);
    r->edge = calloc(edges + tasks + 1, sizeof *r->edge);
    r->wait = calloc(waits + 1, sizeof *r->wait);
    r->sample = calloc(samples + 1, sizeof *r->sample);
    r->step = calloc(steps + 1, sizeof *r->step);
    j->rank_of = calloc(tasks + 1, sizeof *j->rank_of);
    j->noted = calloc(tasks + 1, sizeof *j->noted);
    return r->task && r->edge && r->wait && r->sample && r->step && j->rank_of && j->noted;
}

static void add_rest(struct joined *j, const struct opened *o, struct joined_rank *rank)
{
    struct recorder *r = &j->all;
    for (uint64_t i = 0; i < o->head.waits; i++) {
        struct parcel_wait w;
        memcpy(&w, o->waits + i * sizeof w, sizeof w);
        const struct joined_kind *kind = o->kind[w.kind];
        r->wait[r->waits++] = (struct recorded_wait){.begin = aligned(o, w.begin),
                                                     .end = aligned(o, w.end),
                                                     .reason = (PTOStallReason)w.reason,
                                                     .site = kind->has_site ? &kind->site : NULL,
                                                     .tensor = kind->name};
    }
    memcpy(&r->sample[r->samples], o->samples, o->head.samples * sizeof *r->sample);
    for (uint64_t i = 0; i < o->head.samples; i++, r->samples++)
        r->sample[r->samples].at = aligned(o, r->sample[r->samples].at);
    memcpy(&r->step[r->steps], o->steps, o->head.steps * sizeof *r->step);
    for (uint64_t i = 0; i < o->head.steps; i++, r->steps++) {
        r->step[r->steps].begin = aligned(o, r->step[r->steps].begin);
        r->step[r->steps].end = aligned(o, r->step[r->steps].end);
    }
    r->lost += o->head.lost;
    r->lost_edges += o->head.lost_edges;
    rank->end_wait = r->waits;
    rank->end_sample = r->samples;
    rank->end_step = r->steps;
}

static void describe_rank(struct joined_rank *rank, const struct parcel_head *head)
{
    memcpy(rank->host, head->host, sizeof rank->host);
    memcpy(rank->workers, head->workers, sizeof rank->workers);
    rank->rows = 1;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) rank->rows += head->workers[t];
}

static bool join(struct joined *j, struct opened *o, const struct parcel *parcels, struct sends *s)
{
    uint64_t tasks = 0, edges = 0, waits = 0, samples = 0, steps = 0;
    for (int32_t k = 0; k < j->ranks; k++) {
        if (!open_parcel(j, &o[k], &parcels[k])) return false;
        describe_rank(&j->rank[k], &o[k].head);
        tasks += o[k].head.tasks;
        edges += o[k].head.edges;
        waits += o[k].head.waits;
        samples += o[k].head.samples;
        steps += o[k].head.steps;
        const int64_t origin = aligned(&o[k], o[k].head.origin);
        if (k == 0 || origin < j->all.origin) j->all.origin = origin;
    }
    for (s->mask = 1; s->mask < 2 * tasks; s->mask *= 2) {}
    s->slot = calloc(s->mask, sizeof *s->slot);
    s->mask--;
    if (!s->slot || !allocate(j, tasks, edges, waits, samples, steps)) return false;
    j->all.unit = "ns";
    order(j, o, s);
    for (int32_t k = 0; k < j->ranks; k++) add_rest(j, &o[k], &j->rank[k]);
    return true;
}

static struct joined *create(int32_t ranks)
{
    struct joined *j = calloc(1, sizeof *j);
    if (!j) return NULL;
    j->ranks = ranks;
    j->rank = calloc((size_t)ranks, sizeof *j->rank);
    if (j->rank) return j;
    free(j);
    return NULL;
}

struct joined *ptoi_joined_make(const struct parcel *parcels, const struct rank_clock *clocks, int32_t ranks)
{
    struct joined *j = create(ranks);
    struct opened *o = calloc((size_t)ranks, sizeof *o);
    struct sends s = {0};
    for (int32_t k = 0; o && k < ranks; k++) o[k].clock = &clocks[k];
    const bool ok = j && o && join(j, o, parcels, &s);
    for (int32_t k = 0; o && k < ranks; k++) {
        free(o[k].kind);
        free(o[k].number);
    }
    free(o);
    free(s.slot);
    if (ok) return j;
    ptoi_joined_free(j);
    return NULL;
}

void ptoi_joined_free(struct joined *j)
{
    if (!j) return;
    for (struct joined_kind *k = j->kinds; k;) {
        struct joined_kind *next = k->next;
        free(k);
        k = next;
    }
    free(j->all.task);
    free(j->all.edge);
    free(j->all.wait);
    free(j->all.sample);
    free(j->all.step);
    free(j->rank_of);
    free(j->noted);
    free(j->rank);
    free(j);
}

/* ---- a plan ------------------------------------------------------------------------------------------------------ */

/* The task of the record that is that node of the plan; UINT64_MAX: none is.  *at: where to look on. */
static uint64_t recorded_node(const PTORuntime *rt, uint32_t node, uint64_t *at)
{
    const struct task_notes *notes = &rt->dist->notes;
    for (; *at < notes->used && *at < rt->core.recorder->tasks && notes->task[*at].node <= node + 1; ++*at)
        if (notes->task[*at].node == node + 1) return (*at)++;
    return UINT64_MAX;
}

/* Why the one task waits for the other, where both are recorded; 0: unknown. */
static uint8_t reasons_of(const struct recorder *r, uint64_t from, uint64_t to)
{
    const struct recorded_task *t = to < r->tasks ? &r->task[to] : NULL;
    for (uint32_t k = 0; t && k < t->edge_count; k++)
        if (r->edge[t->first_edge + k].from == from) return r->edge[t->first_edge + k].reasons;
    return 0;
}

/* place: of each node among all tasks; recorded: of each task in the record. */
static void add_planned(struct joined *j, const PTORuntime *rt, uint32_t n, uint64_t *place, uint64_t *recorded)
{
    const struct plan *p = rt->dist->plan;
    const struct recorder *r = rt->core.recorder;
    const struct planned *node = &p->node[n];
    const uint64_t number = j->all.tasks++;
    struct recorded_task *t = &j->all.task[number];
    const bool is_task = node->kind == PLANNED_TASK;
    place[n] = number;
    if (is_task)
        *t = (struct recorded_task){.kernel = r->task[recorded[number]].kernel,
                                    .site = r->task[recorded[number]].site,
                                    .name = r->task[recorded[number]].name};
    else
        *t = (struct recorded_task){.kernel = node->kind == PLANNED_SEND ? &ptoi_send_kernel : &ptoi_receive_kernel};
    t->first_edge = j->all.edges;
    j->rank_of[number] = node->rank;
    j->noted[number] = (struct noted){.number = is_task ? rt->dist->notes.task[recorded[number]].number : 0,
                                      .bytes = is_task ? 0 : node->amount,
                                      .peer = node->peer,
                                      .serves = !is_task,
                                      .is_send = node->kind == PLANNED_SEND,
                                      .is_receive = node->kind == PLANNED_RECEIVE};
    for (uint32_t e = ptoi_plan_edges_begin(p, n); e < node->edges_end; e++) {
        const uint64_t from = place[p->edge[e]];
        if (from < number) add_edge(j, t, from, reasons_of(r, recorded[from], recorded[number]));
    }
    if (node->kind == PLANNED_RECEIVE) add_edge(j, t, number - 1, EDGE_MESSAGE);
}

struct joined *ptoi_joined_of_plan(PTORuntime *rt)
{
    const struct plan *p = rt->dist->plan;
    struct joined *j = create(p->ranks);
    uint64_t *place = calloc((size_t)p->nodes + 1, sizeof *place);
    uint64_t *recorded = calloc((size_t)p->nodes + 1, sizeof *recorded), at = 0;
    bool ok = j && place && recorded && allocate(j, p->nodes, p->edges, 0, 0, 0);
    if (ok) {
        j->is_planned = true;
        j->all.unit = rt->core.recorder->unit;
        j->all.lost = rt->core.recorder->lost;
    }
    for (uint32_t n = 0; ok && n < p->nodes; n++) {
        const bool is_task = p->node[n].kind == PLANNED_TASK;
        place[n] = UINT64_MAX;
        if (p->node[n].kind == PLANNED_AWAIT) continue;
        recorded[j->all.tasks] = is_task ? recorded_node(rt, n, &at) : UINT64_MAX;
        if (is_task && recorded[j->all.tasks] == UINT64_MAX) continue; /* it did not fit into the record */
        add_planned(j, rt, n, place, recorded);
    }
    free(place);
    free(recorded);
    if (ok) return j;
    ptoi_joined_free(j);
    return NULL;
}
