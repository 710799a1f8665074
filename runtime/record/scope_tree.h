/* scope_tree.h - the scopes of a run, folded: those whose first submit is one line, in the same scope, are one node.
 *
 * Idea       a node counts how often its scope was opened, adds up the time, and keeps the most that the buffers of the
 *            scope and of those inside held at a time.  A scope for which there is no node is counted as its parent's.
 * Owner      the orchestrator; read when no run is active.
 * Invariant  node 0 is the run; a node is open at most once at a time.
 * Blocks     never.
 * Tests      test/runtime/test_record.c, test/lit/host/report.test */
#ifndef PTOI_SCOPE_TREE_H
#define PTOI_SCOPE_TREE_H
#include <pto/pto_types.h>
#include <stdbool.h>

enum { PTOI_SCOPE_NODES = 4096 };

struct recorded_scope {
    const PTOSite *site;          /* of its first submit; NULL: the run, or not known */
    uint32_t parent, first, next; /* nodes; 0: no inner scope, no other of the parent */
    uint64_t opened;
    int64_t time, since; /* from the first submit on, by the record's clock; since: it is open */
    uint64_t held_max;   /* bytes */
};

struct scope_tree {
    struct recorded_scope *node;
    uint32_t count;
};

bool ptoi_scope_tree_init(struct scope_tree *t); /* false: no memory */
void ptoi_scope_tree_free(struct scope_tree *t);
void ptoi_scope_tree_begin(struct scope_tree *t, int64_t now); /* a run */
/* The node of a scope that is opened inside of node `in`: `in` itself where there is no room. */
uint32_t ptoi_scope_tree_open(struct scope_tree *t, uint32_t in, const PTOSite *site, int64_t now);
/* in: what ptoi_scope_tree_open was given. */
void ptoi_scope_tree_close(struct scope_tree *t, uint32_t node, uint32_t in, int64_t now);

#endif
