/* observer.h - somebody who is told what the orchestrator found: the graph of a run as it grows. */
#ifndef PTOI_OBSERVER_H
#define PTOI_OBSERVER_H
#include <stdint.h>

struct observer {
    void *context;
    /* enum edge_reason, or-ed; mostly after the run */
    void (*edge)(void *context, uint64_t from, uint64_t to, uint8_t reasons);
    void (*task)(void *context, uint64_t id); /* published: its descriptor may be read */
};

enum { MAX_OBSERVERS = 2 };

#endif
