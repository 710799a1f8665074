/* known.h - dependences for peers that are given theirs (C++17): the last writer of each region and its readers since.
 * The cheapest there is: regions are numbered, so a look-up is one access to an array.  A runtime that gets only
 * addresses cannot do this; a comparison with such a peer favours the peer. */
#ifndef BENCH_KNOWN_H
#define BENCH_KNOWN_H
#include "../harness.h"
#include <vector>

template <class Node> class known {
    struct region {
        Node writer{};
        bool is_written = false;
        std::vector<Node> readers;
    };
    std::vector<region> regions;
    cell *first;
    region &of(const cell *c) { return regions[c - first]; }

  public:
    explicit known(const graph *g) : regions(g->cell_count), first(g->cells) {}

    /* Calls edge(node) for everything t has to wait for, some perhaps twice; from then on t is `self`. */
    template <class Edge> void add(const task *t, Node self, Edge &&edge)
    {
        region &o = of(t->out);
        for (uint32_t i = 0; i < t->in_count; i++) {
            region &r = of(t->in[i]);
            if (r.is_written) edge(r.writer);
            r.readers.push_back(self);
        }
        for (Node &r : o.readers) edge(r);
        if (o.readers.empty() && o.is_written) edge(o.writer);
        o.readers.clear();
        o.writer = self;
        o.is_written = true;
    }
};

#endif
