/* plan.h - what each of N ranks would do in a run: its tasks, its messages, and what waits for what.
 *
 * Idea       one process passes every task of the program once and keeps the copies of all pairs of ranks, so it knows
 *            what each rank would submit, in the order of the program.  Nothing is sent.  The time on a network
 *            (predict.h) and traces for a simulator (traces.h) follow from that.
 * Owner      the orchestrator; read after the run.
 * Invariant  a receive stands directly behind its send, and what a node waits for stands before it.
 * Blocks     never; is_full: there was no memory.
 * Tests      test/runtime/test_plan.c, test/wire/check_plans.py */
#ifndef PTOI_PLAN_H
#define PTOI_PLAN_H
#include "home.h"

enum planned_kind { PLANNED_TASK, PLANNED_SEND, PLANNED_RECEIVE, PLANNED_AWAIT };

/* A task of a rank; of an await, the rank submits nothing before it has ended. */
struct planned {
    uint8_t kind, worker;
    int32_t rank, peer; /* peer: of a transfer */
    int64_t urgency;    /* of a transfer: tasks of the receiver that stand before it */
    int64_t amount;     /* cycles of a task, bytes of a transfer */
    uint32_t edges_end; /* the nodes that it waits for end here, and begin where those of the node before end */
};

struct plan {
    int32_t ranks;
    bool is_full;
    struct planned *node;
    uint32_t *edge;
    uint32_t nodes, node_room, edges, edge_room;
    /* who has used the bytes of a cell on a rank, by hash: open addressing */
    struct plan_cell *cell;
    uint32_t cells, cell_room; /* the latter a power of two */
    struct plan_access *access;
    uint32_t accesses, access_room, unused;
    struct box *box;
    uint32_t boxes, box_room;
};

bool ptoi_plan_open(struct plan *p, int32_t ranks);
void ptoi_plan_close(struct plan *p);
void ptoi_plan_begin(struct plan *p); /* a run: what was planned is forgotten */

/* The next node of the program.  A send's is followed by that of its receive. */
void ptoi_plan_add(struct plan *p, const struct planned *node);
/* The newest node uses a box of a tensor on its rank. */
void ptoi_plan_use(struct plan *p, uint32_t tensor, const struct distribution *d, const struct box *box, bool reads,
                   bool writes);

static inline uint32_t ptoi_plan_edges_begin(const struct plan *p, uint32_t node)
{
    return node == 0 ? 0 : p->node[node - 1].edges_end;
}

/* The tasks and the sends of the plan. */
struct plan_sums {
    uint64_t tasks, messages, bytes;
    int64_t cycles[PTO_WORKER_TYPES];
};
struct plan_sums ptoi_plan_sums(const struct plan *p);

#endif
