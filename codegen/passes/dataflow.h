/* dataflow.h - one solver for every question about the paths through a function of the IR.
 *
 * A client says how large its state is, what an operation does to it, and how two states meet; the solver walks the
 * blocks.  Forward, the state is what holds on the paths from the beginning; backward, on those to the end. */
#ifndef PTOC_DATAFLOW_H
#define PTOC_DATAFLOW_H
#include "ir/ir.h"

/* data: `bytes` of the client's, which the solver copies; zeros mean that nothing has happened yet. */
struct dataflow_state {
    bool is_dead; /* no path comes here; the data means nothing */
    void *data;
};

struct dataflow_loop {
    struct dataflow_loop *parent;
    const struct ir_op *op;
    struct dataflow_state breaks, continues; /* forward: what the jumps carry; backward: what holds where they go */
};

struct dataflow;

struct dataflow_client {
    size_t bytes;
    bool is_backward;
    /* One operation; of a FOR, WHILE or IF its operands alone.  Called for dead states, too. */
    void (*step)(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op);
    /* into = into or other, neither of which is dead */
    void (*meet)(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other);

    /* The rest is for forward walks, and may be NULL.  What is known besides the state comes and goes with blocks,
     * branches and loops, as a stack does. */
    size_t (*mark)(struct dataflow *d);
    void (*forget)(struct dataflow *d, size_t mark);
    /* From here on, where s holds, the condition of the IF op is `truth`: in a branch, or past it where one path goes
     * on. */
    void (*learn)(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op, bool truth);

    void (*enter_loop)(struct dataflow *d, const struct ir_op *op);
    /* Instead of the silent walk of the body: the client adds to s what it knows to come round, and walks the function
     * until next_iteration() finds nothing new.  For states of which stepping over an operation copies parts. */
    void (*begin_iteration)(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op);
    /* What an iteration leaves, as a later iteration sees it, and as whatever is behind the loop does. */
    void (*next_iteration)(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op);
    void (*after_iterations)(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op);
    /* s: behind the loop, without what breaks carry; end: what the last iteration leaves */
    void (*leave_loop)(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op,
                       const struct dataflow_state *before, const struct dataflow_state *end);
};

struct dataflow {
    const struct dataflow_client *client;
    void *cx;                         /* the client's */
    bool is_silent;                   /* the walk learns what comes round a loop: nothing is reported */
    struct dataflow_loop *loop;       /* around the operation at hand */
    int depth;                        /* how many loops that are */
    const struct dataflow_state *end; /* backward: what holds where the function returns */
};

/* Walks f from its beginning (backward: its end), where s holds, to the other end, where s holds afterwards.  Each
 * operation is stepped over once with is_silent false, in order; a loop that no path enters is left out.
 *
 * Note [one silent iteration]: a loop body is walked once silently, so that the walk that reports begins with what
 * comes round.  That is the fixed point where stepping over an operation sets or clears parts of a state and looks at
 * nothing else: a second time round changes nothing more.  For the same reason a loop inside of a silent walk is
 * walked once. */
void dataflow_run(const struct dataflow_client *client, void *cx, const struct ir_function *f,
                  struct dataflow_state *s);

/* A live state of zeros, which is freed with dataflow_free(). */
struct dataflow_state dataflow_start(const struct dataflow_client *client);
void dataflow_free(struct dataflow_state *s);

#endif
