/* dataflow.c - states along the paths of a structured function.
 * Idea       blocks are walked as they are nested: branches start from copies of one state and meet behind; a loop is
 *            walked silently for what comes round, then for real; break, continue and return take the state along.
 * Invariant  a chain of branches, each in the else block of the one before as its last operation, is a loop here: a
 *            match has any number of arms.
 * Tests      test/codegen/test_dataflow.c, test/lit/sema/
 */
#include "dataflow.h"
#include "support/vec.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- states ---- */

static void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    if (p) return p;
    fputs("ptoc: out of memory\n", stderr);
    exit(3);
}

struct dataflow_state dataflow_start(const struct dataflow_client *client)
{
    return (struct dataflow_state){false, allocate(client->bytes)};
}

void dataflow_free(struct dataflow_state *s)
{
    free(s->data);
    s->data = NULL;
}

static struct dataflow_state nowhere(const struct dataflow *d)
{
    return (struct dataflow_state){true, allocate(d->client->bytes)};
}

static void assign(const struct dataflow *d, struct dataflow_state *to, const struct dataflow_state *from)
{
    memcpy(to->data, from->data, d->client->bytes);
    to->is_dead = from->is_dead;
}

static struct dataflow_state copy(const struct dataflow *d, const struct dataflow_state *s)
{
    struct dataflow_state to = nowhere(d);
    assign(d, &to, s);
    return to;
}

static void join(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other)
{
    if (other->is_dead) return;
    if (into->is_dead)
        assign(d, into, other);
    else
        d->client->meet(d, into, other);
}

/* *to = *from, whose memory it takes. */
static void take(struct dataflow_state *to, struct dataflow_state *from)
{
    free(to->data);
    *to = *from;
    from->data = NULL;
}

static size_t mark(struct dataflow *d) { return d->client->mark ? d->client->mark(d) : 0; }

static void forget(struct dataflow *d, size_t mark)
{
    if (d->client->forget) d->client->forget(d, mark);
}

static void learn(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op, bool truth)
{
    if (d->client->learn) d->client->learn(d, s, op, truth);
}

/* ---- branches and loops ---- */

/* The branch that continues a chain, in the else block of the one before; the end of that block's scope, which follows
 * it, is no step.  NULL: the chain ends. */
static const struct ir_op *last_branch(const struct ir_block *other)
{
    const struct ir_op *last = other ? other->last : NULL;
    if (last && last->kind == IR_SCOPE_END && !last->scope_end.leaves)
        for (const struct ir_op *op = other->first, *end = last; op != end; op = op->next) last = op;
    return last && last->kind == IR_IF ? last : NULL;
}

static bool is_tested_first(const struct ir_op *op) { return op->kind == IR_WHILE && op->while_.tests_first; }

static bool is_tested_last(const struct ir_op *op) { return op->kind == IR_WHILE && !op->while_.tests_first; }

static bool is_endless(const struct ir_op *op)
{
    const struct ir_value *cond = is_tested_first(op) ? op->while_.cond.value : NULL;
    return cond && cond->kind == IR_BOOLEAN && cond->integer;
}

static const struct ir_block *body_of(const struct ir_op *op)
{
    return op->kind == IR_FOR ? op->loop.body : op->while_.body;
}

/* ---- forward ---- */

static void walk_forward(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op);

static void walk_block(struct dataflow *d, struct dataflow_state *s, const struct ir_block *block)
{
    const size_t before = mark(d);
    if (block)
        for (const struct ir_op *op = block->first; op; op = op->next) walk_forward(d, s, op);
    forget(d, before);
}

/* An else block, but for the branch that continues the chain, which is returned. */
static const struct ir_op *walk_to_branch(struct dataflow *d, struct dataflow_state *s, const struct ir_block *block)
{
    const struct ir_op *end = last_branch(block);
    for (const struct ir_op *op = block ? block->first : NULL; op != end; op = op->next) walk_forward(d, s, op);
    return end;
}

static void walk_branches(struct dataflow *d, struct dataflow_state *s, const struct ir_op *first)
{
    struct dataflow_state out = nowhere(d), then = nowhere(d);
    const size_t before = mark(d);
    bool is_first_alive = false;
    bool is_rest_alive = false;
    for (const struct ir_op *op = first; op; op = walk_to_branch(d, s, op->branch.other)) {
        d->client->step(d, s, op);
        const size_t around = mark(d);
        assign(d, &then, s);
        learn(d, &then, op, true);
        walk_block(d, &then, op->branch.then);
        forget(d, around);
        learn(d, s, op, false);
        *(op == first ? &is_first_alive : &is_rest_alive) |= !then.is_dead;
        join(d, &out, &then);
    }
    is_rest_alive |= !s->is_dead;
    join(d, &out, s);
    take(s, &out);
    dataflow_free(&then);
    forget(d, before);
    if (is_first_alive != is_rest_alive) learn(d, s, first, is_first_alive);
}

static void walk_test(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    if (op->while_.test) walk_block(d, s, op->while_.test);
    d->client->step(d, s, op);
}

/* Test and body, from the beginning of an iteration to its end. */
static void walk_iteration(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op,
                           struct dataflow_loop *loop)
{
    *loop = (struct dataflow_loop){d->loop, op, nowhere(d), nowhere(d)};
    if (is_tested_first(op)) walk_test(d, s, op);
    d->loop = loop;
    d->depth++;
    walk_block(d, s, body_of(op));
    d->depth--;
    d->loop = loop->parent;
    join(d, s, &loop->continues);
    dataflow_free(&loop->continues);
    if (is_tested_last(op)) walk_test(d, s, op);
}

/* s becomes what an iteration may begin with: the first one, or a later one. */
static void walk_silently(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    struct dataflow_loop loop;
    struct dataflow_state again = copy(d, s);
    d->is_silent = true;
    walk_iteration(d, &again, op, &loop);
    dataflow_free(&loop.breaks);
    if (d->client->next_iteration) d->client->next_iteration(d, &again, op);
    join(d, s, &again);
    d->is_silent = false;
    dataflow_free(&again);
}

/* The test that ends the loop, which has been reported on as part of an iteration. */
static void walk_last_test(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    const bool is_silent = d->is_silent;
    d->is_silent = true;
    walk_test(d, s, op);
    d->is_silent = is_silent;
}

static void walk_loop(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    struct dataflow_loop loop;
    if (op->kind == IR_FOR) d->client->step(d, s, op);
    if (s->is_dead) return;
    const size_t around = mark(d);
    if (d->client->enter_loop) d->client->enter_loop(d, op);
    struct dataflow_state before = copy(d, s), end = copy(d, s);
    if (d->client->begin_iteration)
        d->client->begin_iteration(d, &end, op);
    else if (!d->is_silent)
        walk_silently(d, &end, op);
    walk_iteration(d, &end, op, &loop);
    if (d->client->begin_iteration) d->client->next_iteration(d, &end, op);
    if (d->client->after_iterations) {
        d->client->after_iterations(d, &end, op);
        d->client->after_iterations(d, &loop.breaks, op);
    }
    forget(d, around);
    if (is_tested_last(op) || is_endless(op)) s->is_dead = true;
    if (!is_endless(op)) join(d, s, &end);
    if (d->client->leave_loop) d->client->leave_loop(d, s, op, &before, &end);
    if (is_tested_first(op)) walk_last_test(d, s, op);
    join(d, s, &loop.breaks);
    dataflow_free(&loop.breaks);
    dataflow_free(&before);
    dataflow_free(&end);
}

static void jump(struct dataflow *d, struct dataflow_state *s, struct dataflow_state *to)
{
    if (to) join(d, to, s);
    s->is_dead = true;
}

static void walk_forward(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    switch (op->kind) {
    case IR_BLOCK: walk_block(d, s, op->block); return;
    case IR_IF: walk_branches(d, s, op); return;
    case IR_FOR:
    case IR_WHILE: walk_loop(d, s, op); return;
    default: d->client->step(d, s, op);
    }
    if (op->kind == IR_RETURN) jump(d, s, NULL);
    if (op->kind == IR_BREAK) jump(d, s, d->loop ? &d->loop->breaks : NULL);
    if (op->kind == IR_CONTINUE) jump(d, s, d->loop ? &d->loop->continues : NULL);
}

/* ---- backward ---- */

static void walk_block_back(struct dataflow *d, struct dataflow_state *s, const struct ir_block *block,
                            const struct ir_op *end);

/* The chain that begins with `first`, in order: each is the last operation of the else block of the one before. */
static void walk_branches_back(struct dataflow *d, struct dataflow_state *s, const struct ir_op *first)
{
    VEC(const struct ir_op *) chain = {0};
    struct dataflow_state behind = copy(d, s), then = nowhere(d);
    for (const struct ir_op *op = first; op; op = last_branch(op->branch.other)) vec_push(&chain, op);
    for (size_t i = chain.count; i-- > 0;) {
        const struct ir_op *op = chain.data[i], *inner = i + 1 < chain.count ? chain.data[i + 1] : NULL;
        if (op->branch.other) walk_block_back(d, s, op->branch.other, inner);
        assign(d, &then, &behind);
        walk_block_back(d, &then, op->branch.then, NULL);
        join(d, s, &then);
        d->client->step(d, s, op);
    }
    dataflow_free(&then);
    dataflow_free(&behind);
    vec_free(&chain);
}

static void walk_test_back(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    d->client->step(d, s, op);
    if (op->while_.test) walk_block_back(d, s, op->while_.test, NULL);
}

/* s: what holds at the beginning of the iteration that follows; behind: behind the loop. */
static void walk_iteration_back(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op,
                                const struct dataflow_state *behind)
{
    struct dataflow_loop loop = {.parent = d->loop, .op = op};
    if (is_tested_last(op)) {
        join(d, s, behind);
        walk_test_back(d, s, op);
    }
    loop.breaks = copy(d, behind);
    loop.continues = copy(d, s);
    d->loop = &loop;
    d->depth++;
    walk_block_back(d, s, body_of(op), NULL);
    d->depth--;
    d->loop = loop.parent;
    dataflow_free(&loop.breaks);
    dataflow_free(&loop.continues);
    if (is_tested_last(op)) return;
    if (!is_endless(op)) join(d, s, behind);
    if (op->kind == IR_WHILE) walk_test_back(d, s, op);
}

static void walk_loop_back(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    const bool is_silent = d->is_silent;
    struct dataflow_state behind = copy(d, s);
    d->is_silent = true;
    if (is_tested_last(op)) s->is_dead = true;                /* nobody comes behind the loop without an iteration */
    if (is_endless(op)) memset(s->data, 0, d->client->bytes); /* only breaks come behind it */
    if (is_tested_first(op)) walk_test_back(d, s, op);
    if (!is_silent) walk_iteration_back(d, s, op, &behind);
    d->is_silent = is_silent;
    walk_iteration_back(d, s, op, &behind);
    if (op->kind == IR_FOR) d->client->step(d, s, op);
    dataflow_free(&behind);
}

static void walk_back(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    switch (op->kind) {
    case IR_BLOCK: walk_block_back(d, s, op->block, NULL); return;
    case IR_IF: walk_branches_back(d, s, op); return;
    case IR_FOR:
    case IR_WHILE: walk_loop_back(d, s, op); return;
    case IR_RETURN: assign(d, s, d->end); break;
    case IR_BREAK: assign(d, s, &d->loop->breaks); break;
    case IR_CONTINUE: assign(d, s, &d->loop->continues); break;
    default: break;
    }
    d->client->step(d, s, op);
}

/* The operations before `end`; NULL: all of them. */
static void walk_block_back(struct dataflow *d, struct dataflow_state *s, const struct ir_block *block,
                            const struct ir_op *end)
{
    VEC(const struct ir_op *) ops = {0};
    for (const struct ir_op *op = block->first; op != end; op = op->next) vec_push(&ops, op);
    for (size_t i = ops.count; i-- > 0;) walk_back(d, s, ops.data[i]);
    vec_free(&ops);
}

/* ---- the whole ---- */

void dataflow_run(const struct dataflow_client *client, void *cx, const struct ir_function *f, struct dataflow_state *s)
{
    struct dataflow d = {.client = client, .cx = cx};
    if (!client->is_backward) {
        walk_block(&d, s, f->body);
        return;
    }
    struct dataflow_state end = copy(&d, s);
    d.end = &end;
    walk_block_back(&d, s, f->body, NULL);
    dataflow_free(&end);
}
