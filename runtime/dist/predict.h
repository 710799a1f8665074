/* predict.h - how long a plan takes on a network: simulation of discrete events.
 *
 * Idea       each rank submits its nodes in order, as far as its window has room, and its workers take what is ready in
 *            order of readiness.  A message leaves when both of its tasks are ready: it takes its bytes divided by the
 *            bandwidth on the port of the sender, as long on that of the receiver, which may overlap, and the latency
 *            between.  A port carries one message at a time in each direction; nothing else limits the network.  Of
 *            the messages that may leave, the most urgent go first, Note [urgent sends] in transfer.h.
 * Invariant  events are taken in order of time, ties in the order in which they were found: every run predicts the
 *            same.
 * Source     next-event time advance: Law, Simulation Modeling and Analysis, ch. 1; latency and gap: Culler et al.,
 *            LogP.
 * Tests      test/runtime/test_plan.c */
#ifndef PTOI_PREDICT_H
#define PTOI_PREDICT_H
#include "transfer.h"
#include "plan.h"

struct predict_config {
    int64_t latency;       /* cycles */
    double bytes_a_cycle;  /* 0: a message takes no time on a port */
    int64_t submit_cycles; /* of a node */
    int64_t dispatch_cycles;
    int64_t window; /* nodes that a rank has in flight */
    int32_t workers[PTO_WORKER_TYPES];
};

/* false: no memory. */
bool ptoi_predict(const struct plan *p, const struct predict_config *config, int64_t *cycles);

/* What the plan needs at least on so many ranks: the work of the scarcest workers, dealt evenly. */
double ptoi_predict_least(const struct plan *p, const struct predict_config *config);

#endif
