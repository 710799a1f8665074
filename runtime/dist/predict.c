/* predict.c - see predict.h. */
#include "predict.h"
#include "shared/check.h"
#include "shared/events.h"
#include <math.h>
#include <stdlib.h>

enum { NONE = UINT32_MAX };

enum moment_kind { SUBMITTED, TASK_ENDED, SEND_LEFT, SEND_ARRIVED, RECEIVED };

enum { IS_SUBMITTED = 1, IS_READY = 2, HAS_ENDED = 4 };

/* Of nodes, linked by node_state.next. */
struct queue {
    uint32_t first, last;
};

struct node_state {
    uint32_t waits_for;    /* nodes that have not ended */
    uint32_t next;         /* in a queue */
    uint32_t next_of_rank; /* in the order of the program */
    uint8_t is;
};

struct rank_state {
    uint32_t next, oldest; /* the next node to be submitted, the oldest that has not ended */
    int64_t in_window;
    bool is_submitting, awaits;
    int32_t idle[PTO_WORKER_TYPES];
    struct queue ready[PTO_WORKER_TYPES], out, in;
    struct queue sends; /* whose receive is ready, by urgency */
    int64_t posted;     /* bytes in out */
    bool is_sending, is_receiving;
};

struct predictor {
    const struct plan *plan;
    const struct predict_config *config;
    struct node_state *node;
    struct rank_state *rank;
    uint32_t *user, *users_end; /* who waits for a node, in one list */
    struct events events;       /* id: a node; of SUBMITTED, the rank */
    int64_t now;
    uint32_t ended;
    bool is_full;
};

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void append(struct predictor *s, struct queue *q, uint32_t n)
{
    s->node[n].next = NONE;
    *(q->first == NONE ? &q->first : &s->node[q->last].next) = n;
    q->last = n;
}

/* Behind all that are as urgent. */
static void insert_by_urgency(struct predictor *s, struct queue *q, uint32_t n)
{
    uint32_t *at = &q->first;
    const struct planned *node = s->plan->node;
    while (*at != NONE && node[*at].urgency <= node[n].urgency) at = &s->node[*at].next;
    s->node[n].next = *at;
    *at = n;
    if (s->node[n].next == NONE) q->last = n;
}

static uint32_t take_first(struct predictor *s, struct queue *q)
{
    const uint32_t n = q->first;
    if (n != NONE) q->first = s->node[n].next;
    return n;
}

static void push(struct predictor *s, enum moment_kind kind, int64_t after, uint32_t node)
{
    struct event e = {.id = node, .kind = kind};
    if (__builtin_add_overflow(s->now, after, &e.at)) e.at = INT64_MAX;
    s->is_full |= !ptoi_events_add(&s->events, e);
}

/* ---- workers and ports ------------------------------------------------------------------------------------------- */

static int64_t port_cycles(const struct predictor *s, uint32_t send)
{
    const double rate = s->config->bytes_a_cycle,
                 cycles = rate > 0 ? ceil((double)s->plan->node[send].amount / rate) : 0;
    return cycles < 9e18 ? (int64_t)cycles : INT64_MAX;
}

static void start_task(struct predictor *s, struct rank_state *r, int type)
{
    if (r->idle[type] == 0 || r->ready[type].first == NONE) return;
    const uint32_t n = take_first(s, &r->ready[type]);
    int64_t cycles;
    r->idle[type]--;
    if (__builtin_add_overflow(s->plan->node[n].amount, s->config->dispatch_cycles, &cycles)) cycles = INT64_MAX;
    push(s, TASK_ENDED, cycles, n);
}

static void start_sending(struct predictor *s, struct rank_state *r)
{
    if (r->is_sending || r->out.first == NONE) return;
    const uint32_t send = take_first(s, &r->out);
    r->is_sending = true;
    push(s, SEND_LEFT, port_cycles(s, send), send);
    push(s, SEND_ARRIVED, s->config->latency, send);
}

static void start_receiving(struct predictor *s, struct rank_state *r)
{
    if (r->is_receiving || r->in.first == NONE) return;
    const uint32_t receive = take_first(s, &r->in);
    r->is_receiving = true;
    push(s, RECEIVED, port_cycles(s, receive - 1), receive);
}

/* As transfer.c does, see Note [urgent sends]. */
static void post_sends(struct predictor *s, struct rank_state *r)
{
    while (r->sends.first != NONE) {
        const int64_t bytes = s->plan->node[r->sends.first].amount;
        if (r->posted > 0 && bytes > POSTED_BYTES - r->posted) return;
        r->posted += bytes;
        append(s, &r->out, take_first(s, &r->sends));
        start_sending(s, r);
    }
}

/* The message may leave when both are ready. */
static void match(struct predictor *s, uint32_t send)
{
    if (!(s->node[send].is & s->node[send + 1].is & IS_READY)) return;
    struct rank_state *r = &s->rank[s->plan->node[send].rank];
    insert_by_urgency(s, &r->sends, send);
    post_sends(s, r);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static void end_node(struct predictor *s, uint32_t n);

static void make_ready(struct predictor *s, uint32_t n)
{
    const struct planned *node = &s->plan->node[n];
    struct rank_state *r = &s->rank[node->rank];
    s->node[n].is |= IS_READY;
    switch (node->kind) {
    case PLANNED_TASK:
        append(s, &r->ready[node->worker], n);
        start_task(s, r, node->worker);
        break;
    case PLANNED_SEND: match(s, n); break;
    case PLANNED_RECEIVE: match(s, n - 1); break;
    default: end_node(s, n);
    }
}

static void wake_orchestrator(struct predictor *s, int32_t rank)
{
    struct rank_state *r = &s->rank[rank];
    if (r->is_submitting || r->awaits || r->next == NONE || r->in_window >= s->config->window) return;
    r->is_submitting = true;
    push(s, SUBMITTED, s->config->submit_cycles, (uint32_t)rank);
}

static void submit_node(struct predictor *s, int32_t rank)
{
    struct rank_state *r = &s->rank[rank];
    const uint32_t n = r->next;
    r->is_submitting = false;
    r->next = s->node[n].next_of_rank;
    r->in_window++;
    r->awaits = s->plan->node[n].kind == PLANNED_AWAIT;
    s->node[n].is |= IS_SUBMITTED;
    if (s->node[n].waits_for == 0) make_ready(s, n);
    wake_orchestrator(s, rank);
}

static void end_node(struct predictor *s, uint32_t n)
{
    const struct planned *node = &s->plan->node[n];
    struct rank_state *r = &s->rank[node->rank];
    s->node[n].is |= HAS_ENDED;
    s->ended++;
    if (node->kind == PLANNED_AWAIT) r->awaits = false;
    for (; r->oldest != NONE && s->node[r->oldest].is & HAS_ENDED; r->oldest = s->node[r->oldest].next_of_rank)
        r->in_window--;
    for (uint32_t u = n == 0 ? 0 : s->users_end[n - 1]; u < s->users_end[n]; u++) {
        struct node_state *user = &s->node[s->user[u]];
        if (--user->waits_for == 0 && user->is & IS_SUBMITTED) make_ready(s, s->user[u]);
    }
    wake_orchestrator(s, node->rank);
}

static void end_send(struct predictor *s, uint32_t send)
{
    struct rank_state *r = &s->rank[s->plan->node[send].rank];
    r->is_sending = false;
    r->posted -= s->plan->node[send].amount;
    post_sends(s, r);
    start_sending(s, r);
    end_node(s, send);
}

static void happen(struct predictor *s, const struct event *e)
{
    const uint32_t n = (uint32_t)e->id;
    const struct planned *node = &s->plan->node[n];
    struct rank_state *r = NULL;
    switch (e->kind) {
    case SUBMITTED: submit_node(s, (int32_t)n); break;
    case TASK_ENDED:
        r = &s->rank[node->rank];
        r->idle[node->worker]++;
        end_node(s, n);
        start_task(s, r, node->worker);
        break;
    case SEND_LEFT: end_send(s, n); break;
    case SEND_ARRIVED:
        r = &s->rank[node->peer];
        append(s, &r->in, n + 1);
        start_receiving(s, r);
        break;
    default:
        r = &s->rank[node->rank];
        r->is_receiving = false;
        start_receiving(s, r);
        end_node(s, n);
    }
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* The users of each node, in the order of the program. */
static void find_users(struct predictor *s)
{
    const struct plan *p = s->plan;
    for (uint32_t e = 0; e < p->edges; e++) s->users_end[p->edge[e]]++;
    for (uint32_t n = 0, sum = 0; n < p->nodes; n++) {
        const uint32_t count = s->users_end[n];
        s->users_end[n] = sum;
        sum += count;
    }
    for (uint32_t n = 0; n < p->nodes; n++)
        for (uint32_t e = ptoi_plan_edges_begin(p, n); e < p->node[n].edges_end; e++) {
            s->user[s->users_end[p->edge[e]]++] = n;
            s->node[n].waits_for++;
        }
}

static void link_nodes(struct predictor *s)
{
    const struct plan *p = s->plan;
    static const struct queue empty = {NONE, NONE};
    for (int32_t k = 0; k < p->ranks; k++) {
        struct rank_state *r = &s->rank[k];
        *r = (struct rank_state){.next = NONE, .oldest = NONE, .out = empty, .in = empty, .sends = empty};
        for (int t = 0; t < PTO_WORKER_TYPES; t++) r->idle[t] = s->config->workers[t], r->ready[t] = empty;
    }
    for (uint32_t n = p->nodes; n-- > 0;) {
        const struct planned *node = &p->node[n];
        struct rank_state *r = &s->rank[node->rank];
        s->node[n].next_of_rank = r->next;
        r->next = r->oldest = n;
    }
}

static bool open_predictor(struct predictor *s)
{
    const size_t nodes = s->plan->nodes + (size_t)1, ranks = (size_t)s->plan->ranks;
    s->node = calloc(nodes, sizeof *s->node);
    s->rank = calloc(ranks, sizeof *s->rank);
    s->users_end = calloc(nodes, sizeof *s->users_end);
    s->user = calloc(s->plan->edges + (size_t)1, sizeof *s->user);
    return s->node && s->rank && s->users_end && s->user;
}

bool ptoi_predict(const struct plan *p, const struct predict_config *config, int64_t *cycles)
{
    struct predictor s = {.plan = p, .config = config};
    bool ok = open_predictor(&s);
    if (ok) {
        find_users(&s);
        link_nodes(&s);
        for (int32_t k = 0; k < p->ranks; k++) wake_orchestrator(&s, k);
    }
    while (ok && s.events.count > 0) {
        const struct event e = ptoi_events_take(&s.events);
        s.now = e.at;
        happen(&s, &e);
        ok = !s.is_full;
    }
    CHECK(!ok || s.ended == p->nodes);
    *cycles = s.now;
    free(s.node);
    free(s.rank);
    free(s.users_end);
    free(s.user);
    free(s.events.heap);
    return ok;
}

double ptoi_predict_least(const struct plan *p, const struct predict_config *config)
{
    const struct plan_sums sums = ptoi_plan_sums(p);
    double least = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        const double time = config->workers[t] > 0 ? (double)sums.cycles[t] / config->workers[t] / p->ranks : 0;
        if (time > least) least = time;
    }
    return least;
}
