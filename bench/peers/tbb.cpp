/* tbb.cpp - the graphs as a flow graph of oneTBB: a continue_node a task, edges given by known.h.
 * An edge from a node that has fired is never signalled, so everything is built first, then the sources are fired.  Building is in the
 * clock, taking down is not.  PEER_THREADS: how many threads. */
#include "known.h"
#include <deque>
#include <memory>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>

using tbb::flow::continue_msg;
using node = tbb::flow::continue_node<continue_msg>;

struct built {
    tbb::flow::graph flow;
    std::deque<node> nodes;
    std::vector<node *> sources;
    known<node *> dependences;
    explicit built(graph *g) : dependences(g) {}
};
static std::unique_ptr<built> current;

static inline void submit(void *, const task *t)
{
    const task x = *t;
    bool waits = false;
    current->nodes.emplace_back(current->flow, [x](const continue_msg &) {
        run_task(&x);
        return continue_msg();
    });
    node *n = &current->nodes.back();
    current->dependences.add(t, n, [&](node *before) {
        tbb::flow::make_edge(*before, *n);
        waits = true;
    });
    if (!waits) current->sources.push_back(n);
}

static void run_graph(graph *g, int64_t *submitted_ns)
{
    graph_emit(g, submit, nullptr);
    *submitted_ns = now_ns();
    for (node *n : current->sources) n->try_put(continue_msg());
    current->flow.wait_for_all();
}

int main(int argc, char **argv)
{
    const char *threads = getenv("PEER_THREADS");
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads ? (size_t)atoi(threads) : 2);
    before_run = [](graph *g) { current = std::make_unique<built>(g); };
    after_run = [](graph *) { current.reset(); };
    return harness_main(argc, argv);
}
