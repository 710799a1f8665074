/* parcel.c - see parcel.h. */
#include "parcel.h"
#include "shared/system.h"
#include <stdlib.h>
#include <string.h>

static void put(struct parcel *p, const void *data, uint64_t bytes)
{
    if (p->is_full || bytes == 0) return;
    if (bytes > p->room - p->bytes) {
        const uint64_t room = 2 * (p->bytes + bytes);
        char *more = realloc(p->data, room);
        if (!more) {
            p->is_full = true;
            return;
        }
        p->data = more;
        p->room = room;
    }
    memcpy(p->data + p->bytes, data, bytes);
    p->bytes += bytes;
}

void ptoi_parcel_free(struct parcel *p)
{
    free(p->data);
    *p = (struct parcel){0};
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

struct kind {
    const PTOKernel *kernel;
    const PTOSite *site;
    const char *name;
};

/* By address: two that have the same texts are two. */
struct kinds {
    struct kind *all;
    uint32_t *slot; /* by hash: number + 1; twice as many as `room` */
    uint32_t count, room;
    bool is_full;
};

static uint32_t *find_slot(const struct kinds *k, const struct kind *x)
{
    uint64_t hash = (uint64_t)(uintptr_t)x->kernel * 31 + (uint64_t)(uintptr_t)x->site;
    hash = (hash * 31 + (uint64_t)(uintptr_t)x->name) * 0x9e3779b97f4a7c15u;
    for (uint32_t at = (uint32_t)(hash >> 32);; at++) {
        uint32_t *slot = &k->slot[at & (2 * k->room - 1)];
        const struct kind *have = *slot ? &k->all[*slot - 1] : NULL;
        if (!have || (have->kernel == x->kernel && have->site == x->site && have->name == x->name)) return slot;
    }
}

static void grow(struct kinds *k)
{
    const uint32_t room = k->room ? 2 * k->room : 256;
    struct kind *all = realloc(k->all, room * sizeof *all);
    uint32_t *slot = all ? calloc(2 * (size_t)room, sizeof *slot) : NULL;
    if (all) k->all = all;
    if (!slot) {
        k->is_full = true;
        return;
    }
    free(k->slot);
    k->slot = slot;
    k->room = room;
    for (uint32_t i = 0; i < k->count; i++) *find_slot(k, &k->all[i]) = i + 1;
}

static uint32_t kind_of(struct kinds *k, const PTOKernel *kernel, const PTOSite *site, const char *name)
{
    const struct kind x = {kernel, site, name};
    if (k->count == k->room && !k->is_full) grow(k);
    if (k->is_full) return 0;
    uint32_t *slot = find_slot(k, &x);
    if (*slot == 0) {
        k->all[k->count] = x;
        *slot = ++k->count;
    }
    return *slot - 1;
}

static void put_kind(struct parcel *p, const struct kind *k)
{
    const char *const text[4] = {k->kernel ? k->kernel->name : NULL, k->kernel ? k->kernel->formals : NULL,
                                 k->site ? k->site->file : NULL, k->name};
    struct parcel_kind x = {.has_kernel = k->kernel != NULL, .has_site = k->site != NULL, .has_name = k->name != NULL};
    if (k->kernel) x.worker = k->kernel->worker;
    if (k->site) x.line = k->site->line, x.column = pto_site_column(k->site);
    for (int i = 0; i < 4; i++) x.texts[i] = (uint32_t)strlen(text[i] ? text[i] : "") + 1;
    put(p, &x, sizeof x);
    for (int i = 0; i < 4; i++) put(p, text[i] ? text[i] : "", x.texts[i]);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int64_t ns_of(const struct recorder *r, int64_t at)
{
    return at == 0 || r->now ? at : ptoi_tick_ns(&r->rate, at);
}

static void put_tasks(struct parcel *p, struct kinds *kinds, const struct recorder *r, const struct task_notes *notes)
{
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *t = &r->task[n];
        struct parcel_task x = {.submitted = t->submitted,
                                .begin = t->begin,
                                .end = t->end,
                                .kind = kind_of(kinds, t->kernel, t->site, t->name),
                                .edges = t->edge_count,
                                .row = t->row};
        if (n < notes->used) x.noted = notes->task[n];
        if (x.noted.end != 0) x.begin = ns_of(r, x.noted.begin), x.end = ns_of(r, x.noted.end);
        put(p, &x, sizeof x);
    }
}

bool ptoi_parcel_pack(PTORuntime *rt, struct parcel *p)
{
    const struct recorder *r = rt->core.recorder;
    struct kinds kinds = {0};
    struct parcel_head head = {.tasks = r->tasks,
                               .waits = r->waits,
                               .samples = r->samples,
                               .steps = r->steps,
                               .lost = r->lost,
                               .lost_edges = r->lost_edges,
                               .origin = r->origin};
    memcpy(head.workers, rt->core.config.workers, sizeof head.workers);
    ptoi_host_name(head.host, sizeof head.host);
    for (uint64_t n = 0; n < r->tasks; n++) head.edges += r->task[n].edge_count;
    *p = (struct parcel){0};
    put(p, &head, sizeof head);
    put_tasks(p, &kinds, r, &rt->dist->notes);
    for (uint64_t n = 0; n < r->tasks; n++)
        for (uint32_t k = 0; k < r->task[n].edge_count; k++) {
            const struct recorded_edge *e = &r->edge[r->task[n].first_edge + k];
            const struct parcel_edge x = {e->from, e->reasons};
            put(p, &x, sizeof x);
        }
    for (uint64_t i = 0; i < r->waits; i++) {
        const struct recorded_wait *w = &r->wait[i];
        const struct parcel_wait x = {w->begin, w->end, w->reason, kind_of(&kinds, NULL, w->site, w->tensor)};
        put(p, &x, sizeof x);
    }
    put(p, r->sample, r->samples * sizeof *r->sample);
    put(p, r->step, r->steps * sizeof *r->step);
    for (uint32_t k = 0; k < kinds.count; k++) put_kind(p, &kinds.all[k]);
    p->is_full |= kinds.is_full;
    if (!p->is_full) ((struct parcel_head *)(void *)p->data)->kinds = kinds.count;
    free(kinds.all);
    free(kinds.slot);
    return !p->is_full;
}
