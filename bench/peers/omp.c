/* omp.c - the graphs as OpenMP tasks with depend clauses: libgomp when gcc builds it, libomp when clang does.
 * The runtime finds the dependences from the addresses.  One thread submits; it helps at the end of the region, and in
 * libgomp before, when 64 tasks a thread wait. */
#include "../harness.h"

#define SUBMIT(clauses) _Pragma(clauses) run_task(&x)

static inline void submit(void *context, const task *t)
{
    (void)context;
    task x = *t; /* carried along */
    cell *o = x.out, *a = x.in[0], *b = x.in[1], *c = x.in[2], *d = x.in[3];
    (void)o, (void)a, (void)b, (void)c, (void)d; /* named in pragmas only */
    switch (x.in_count * 2 + x.mode) {
    case 0 + WRITES: SUBMIT("omp task firstprivate(x) depend(out: *o)"); break;
    case 2 + WRITES: SUBMIT("omp task firstprivate(x) depend(out: *o) depend(in: *a)"); break;
    case 4 + WRITES: SUBMIT("omp task firstprivate(x) depend(out: *o) depend(in: *a, *b)"); break;
    case 6 + WRITES: SUBMIT("omp task firstprivate(x) depend(out: *o) depend(in: *a, *b, *c)"); break;
    case 8 + WRITES: SUBMIT("omp task firstprivate(x) depend(out: *o) depend(in: *a, *b, *c, *d)"); break;
    case 0 + UPDATES: SUBMIT("omp task firstprivate(x) depend(inout: *o)"); break;
    case 2 + UPDATES: SUBMIT("omp task firstprivate(x) depend(inout: *o) depend(in: *a)"); break;
    default: SUBMIT("omp task firstprivate(x) depend(inout: *o) depend(in: *a, *b, *c)"); break;
    }
}

static void run_graph(graph *g, int64_t *submitted_ns)
{
#pragma omp parallel
#pragma omp single
    {
        graph_emit(g, submit, NULL);
        *submitted_ns = now_ns();
    }
}

int main(int argc, char **argv) { return harness_main(argc, argv); }
