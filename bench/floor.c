/* floor.c - the graphs without a runtime: every task at once, in program order.  What it takes is the stream and the
 * bodies. */
#include "harness.h"

static void run_graph(graph *g, int64_t *submitted_ns)
{
    graph_emit(g, run_at_once, NULL);
    *submitted_ns = now_ns();
}

int main(int argc, char **argv) { return harness_main(argc, argv); }
