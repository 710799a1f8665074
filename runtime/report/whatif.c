/* whatif.c - see whatif.h.
 * Source     list scheduling: Graham, Bounds on multiprocessing timing anomalies; next-event time advance as in
 *            engine/timing.c. */
#include "whatif.h"
#include "shared/events.h"
#include <stdlib.h>
#include <string.h>

struct whatif {
    const struct recorder *r;
    const struct whatif_limits *l;
    int64_t now;
    struct events running;                 /* by the time of the end */
    struct events ready[PTO_WORKER_TYPES]; /* by priority: the larger, the earlier */
    bool is_full;                          /* one of these had no memory */
    int32_t idle[PTO_WORKER_TYPES];
    uint64_t submitted, retired;
    uint32_t *missing;   /* by task: producers that have not ended */
    uint32_t *deps;      /* by task: the same when it was submitted */
    uint64_t *first_out; /* by task: where its consumers begin in `out` */
    uint32_t *out;
    bool *has_ended; /* by task */
    uint64_t used[WHATIF_RINGS];
    uint32_t *refs;     /* by buffer: its scope, and tasks that use it */
    uint64_t *released; /* buffers, in the order of their release */
    uint64_t next_release, next_buffer, next_wait;
    uint32_t held;     /* accumulators */
    uint64_t *blocked; /* ready tasks that wait for one */
    uint64_t blocked_count;
};

/* ---- the machine ---- */

static void push(struct whatif *w, struct events *to, int64_t at, uint64_t task)
{
    w->is_full |= !ptoi_events_add(to, (struct event){.at = at, .id = task});
}

static void make_ready(struct whatif *w, uint64_t task)
{
    const struct recorded_task *t = &w->r->task[task];
    push(w, &w->ready[t->kernel->worker], w->l->priority ? -w->l->priority[task] : -(int64_t)t->priority, task);
}

static bool has_processor(const struct whatif *w, bool orchestrator_works)
{
    const int64_t left = w->l->processors - orchestrator_works;
    return w->l->processors == 0 || w->running.count < (uint64_t)(left > 1 ? left : 1);
}

static void start(struct whatif *w, uint64_t task)
{
    const struct recorded_task *t = &w->r->task[task];
    w->idle[t->kernel->worker]--;
    w->held |= t->exclusive;
    push(w, &w->running, w->now + w->l->dispatch + (t->end - t->begin), task);
}

static void start_ready(struct whatif *w, bool orchestrator_works)
{
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        while (w->idle[t] > 0 && w->ready[t].count > 0 && has_processor(w, orchestrator_works)) {
            const uint64_t task = ptoi_events_take(&w->ready[t]).id;
            if (w->r->task[task].exclusive & w->held)
                w->blocked[w->blocked_count++] = task;
            else
                start(w, task);
        }
}

static void drop_buffer(struct whatif *w, uint64_t buffer)
{
    if (--w->refs[buffer] == 0) w->used[WHATIF_HEAP] -= w->r->buffer[buffer].bytes;
}

static void free_accumulators(struct whatif *w, uint32_t set)
{
    uint64_t kept = 0;
    if (set == 0) return;
    w->held &= ~set;
    for (uint64_t i = 0; i < w->blocked_count; i++)
        if (w->r->task[w->blocked[i]].exclusive & w->held)
            w->blocked[kept++] = w->blocked[i];
        else
            make_ready(w, w->blocked[i]);
    w->blocked_count = kept;
}

static void end(struct whatif *w, uint64_t task)
{
    const struct recorded_task *t = &w->r->task[task];
    w->idle[t->kernel->worker]++;
    w->has_ended[task] = true;
    free_accumulators(w, t->exclusive);
    for (uint64_t k = w->first_out[task]; k < w->first_out[task + 1]; k++)
        if (--w->missing[w->out[k]] == 0 && w->out[k] < w->submitted) make_ready(w, w->out[k]);
    for (uint32_t k = 0; k < t->use_count; k++) drop_buffer(w, w->r->use[t->first_use + k]);
    for (; w->retired < w->submitted && w->has_ended[w->retired]; w->retired++) {
        w->used[WHATIF_WINDOW]--;
        w->used[WHATIF_MAP] -= w->r->task[w->retired].accesses;
        w->used[WHATIF_DEPS] -= w->deps[w->retired];
    }
}

/* All that ends next. */
static void next_event(struct whatif *w, bool orchestrator_works)
{
    const int64_t at = w->running.heap[0].at;
    if (at > w->now) w->now = at;
    while (ptoi_events_due(&w->running, at)) end(w, ptoi_events_take(&w->running).id);
    start_ready(w, orchestrator_works);
}

/* ---- the orchestrator ---- */

static void work_until(struct whatif *w, int64_t until)
{
    while (ptoi_events_due(&w->running, until)) next_event(w, true);
    w->now = until;
}

static void wait_for_task(struct whatif *w, uint64_t task)
{
    if (w->has_ended[task]) return;
    start_ready(w, false);
    while (!w->has_ended[task] && w->running.count > 0) next_event(w, false);
}

/* Rings whose entries come back in the order of tasks are waited for until half of them has, as in the orchestrator. */
static void wait_for_ring(struct whatif *w, enum whatif_ring ring, uint64_t amount)
{
    if (w->used[ring] + amount > w->l->ring[ring]) {
        const uint64_t mark = ring == WHATIF_HEAP ? 0 : w->retired + (w->submitted - w->retired + 1) / 2;
        start_ready(w, false);
        while (w->running.count > 0 && (w->retired < mark || w->used[ring] + amount > w->l->ring[ring]))
            next_event(w, false);
    }
    w->used[ring] += amount;
}

static void release_buffers(struct whatif *w, uint64_t before)
{
    for (; w->next_release < w->next_buffer; w->next_release++) {
        const uint64_t buffer = w->released[w->next_release];
        if (buffer >= w->next_buffer || w->r->buffer[buffer].released > before) return;
        drop_buffer(w, buffer);
    }
}

/* The time between two submits that the program did not wait. */
static int64_t pass_waits(struct whatif *w, uint64_t before, int64_t between)
{
    for (; w->next_wait < w->r->waits && w->r->wait[w->next_wait].before <= before; w->next_wait++) {
        const struct recorded_wait *wait = &w->r->wait[w->next_wait];
        between -= wait->end - wait->begin;
        for (uint64_t k = 0; k < wait->edge_count && !w->l->skips_awaits; k++)
            wait_for_task(w, w->r->awaited[wait->first_edge + k]);
    }
    return between > 0 && !w->l->submits_at_once ? between : 0;
}

static void submit(struct whatif *w, uint64_t n)
{
    const struct recorded_task *t = &w->r->task[n];
    const int64_t last = n > 0 ? w->r->task[n - 1].submitted : w->r->origin - w->l->submit;
    release_buffers(w, n);
    const int64_t between = pass_waits(w, n, t->submitted - last);
    const int64_t cost = w->l->submits_at_once ? 0 : w->l->submit;
    if (between > cost) work_until(w, w->now + between - cost);
    for (; w->next_buffer < w->r->buffers && w->r->buffer[w->next_buffer].made <= n; w->next_buffer++) {
        wait_for_ring(w, WHATIF_HEAP, w->r->buffer[w->next_buffer].bytes);
        w->refs[w->next_buffer] = 1;
    }
    wait_for_ring(w, WHATIF_WINDOW, 1);
    wait_for_ring(w, WHATIF_MAP, t->accesses);
    const uint32_t deps = w->missing[n];
    wait_for_ring(w, WHATIF_DEPS, deps);
    work_until(w, w->now + cost);
    w->deps[n] = w->missing[n];
    w->used[WHATIF_DEPS] -= deps - w->deps[n];
    for (uint32_t k = 0; k < t->use_count; k++) w->refs[w->r->use[t->first_use + k]]++;
    w->submitted = n + 1;
    if (w->missing[n] == 0) make_ready(w, n);
    start_ready(w, true);
}

/* ---- making ---- */

static int by_release(const void *a, const void *b, void *record)
{
    const struct recorded_buffer *buffer = ((const struct recorder *)record)->buffer;
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    if (buffer[x].released != buffer[y].released) return buffer[x].released < buffer[y].released ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The consumers of each task: the edges reversed. */
static void reverse_edges(struct whatif *w)
{
    const struct recorder *r = w->r;
    for (uint64_t n = 0; n < r->tasks; n++) {
        w->missing[n] = r->task[n].edge_count;
        for (uint32_t k = 0; k < r->task[n].edge_count; k++)
            w->first_out[r->edge[r->task[n].first_edge + k].from + 1]++;
    }
    for (uint64_t n = 0; n < r->tasks; n++) w->first_out[n + 1] += w->first_out[n];
    uint64_t *const filled = w->blocked; /* not in use yet */
    for (uint64_t n = 0; n < r->tasks; n++)
        for (uint32_t k = 0; k < r->task[n].edge_count; k++) {
            const uint64_t from = r->edge[r->task[n].first_edge + k].from;
            w->out[w->first_out[from] + filled[from]++] = (uint32_t)n;
        }
}

static bool make(struct whatif *w)
{
    const struct recorder *r = w->r;
    const size_t tasks = r->tasks + 1, buffers = r->buffers + 1;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) w->idle[t] = w->l->workers[t];
    w->missing = calloc(tasks, sizeof *w->missing);
    w->deps = calloc(tasks, sizeof *w->deps);
    w->first_out = calloc(tasks + 1, sizeof *w->first_out);
    w->out = calloc(r->edges + 1, sizeof *w->out);
    w->has_ended = calloc(tasks, sizeof *w->has_ended);
    w->refs = calloc(buffers, sizeof *w->refs);
    w->released = calloc(buffers, sizeof *w->released);
    w->blocked = calloc(tasks, sizeof *w->blocked);
    const bool ok =
        w->missing && w->deps && w->first_out && w->out && w->has_ended && w->refs && w->released && w->blocked;
    if (!ok) return false;
    reverse_edges(w);
    for (uint64_t b = 0; b < r->buffers; b++) w->released[b] = b;
    qsort_r(w->released, r->buffers, sizeof *w->released, by_release, (void *)(uintptr_t)r);
    return true;
}

static void unmake(struct whatif *w)
{
    free(w->running.heap);
    for (int t = 0; t < PTO_WORKER_TYPES; t++) free(w->ready[t].heap);
    free(w->missing);
    free(w->deps);
    free(w->first_out);
    free(w->out);
    free(w->has_ended);
    free(w->refs);
    free(w->released);
    free(w->blocked);
}

int64_t ptoi_whatif_time(const struct recorder *r, const struct whatif_limits *l)
{
    struct whatif w = {.r = r, .l = l};
    const bool ok = make(&w);
    for (uint64_t n = 0; ok && n < r->tasks; n++) submit(&w, n);
    if (ok) start_ready(&w, false);
    while (ok && w.running.count > 0) next_event(&w, false);
    unmake(&w);
    return ok && !w.is_full ? w.now : -1;
}

/* ---- advice ---- */

static bool is_faster(int64_t time, int64_t today) { return time >= 0 && time <= today - today / 20; } /* by 5 % */

/* false: no size helps. */
static bool advise(const struct recorder *r, const struct whatif_limits *today, int64_t time_today,
                   enum whatif_ring ring, struct whatif_advice *a)
{
    struct whatif_limits l = *today;
    l.ring[ring] = UINT64_MAX;
    const int64_t best = ptoi_whatif_time(r, &l);
    if (!is_faster(best, time_today)) return false;
    const int64_t good = best + (time_today - best) / 20; /* nearly all of the gain */
    for (l.ring[ring] = today->ring[ring]; l.ring[ring] < UINT64_MAX / 2;) {
        l.ring[ring] *= 2;
        const int64_t time = ptoi_whatif_time(r, &l);
        if (time < 0) return false;
        if (time > good || !is_faster(time, time_today)) continue;
        *a = (struct whatif_advice){.ring = ring, .size = l.ring[ring], .time = time, .today = time_today};
        return true;
    }
    return false;
}

int ptoi_whatif_advise(const struct recorder *r, const struct whatif_limits *today, const bool *asked,
                       struct whatif_advice *advice)
{
    int count = 0;
    int64_t time = -1;
    for (int ring = 0; ring < WHATIF_RINGS; ring++) {
        if (!asked[ring]) continue;
        if (time < 0) time = ptoi_whatif_time(r, today);
        if (time < 0) return 0;
        count += advise(r, today, time, (enum whatif_ring)ring, &advice[count]);
    }
    return count;
}
