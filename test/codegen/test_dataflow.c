/* test_dataflow.c - the solver on functions that are built by hand: chains, loops, jumps, both ways.
 * Idea       a `site` operation is an event with a number.  Forward, the state is the set of events that may have come
 *            before; backward, of those that may come behind.
 */
#include "unit.h"

#include "passes/dataflow.h"
#include "support/arena.h"
#include <string.h>

enum { LAST = 'z' + 1 };

static struct arena *mem;
static struct ir_block *block;
static unsigned char seen[LAST][LAST]; /* at event a: may b have come before (behind)? */

static struct ir_op *op(enum ir_op_kind kind) { return ir_append(block, mem, kind, (struct span){0}); }

static void event(unsigned char name) { op(IR_SITE)->site.at.begin = name; }

static struct ir_block *new_block(void) { return arena_new(mem, struct ir_block); }

static void step(struct dataflow *d, struct dataflow_state *s, const struct ir_op *o)
{
    unsigned char *set = s->data;
    if (o->kind != IR_SITE || s->is_dead) return;
    for (int i = 0; i < LAST && !d->is_silent; i++) seen[o->site.at.begin][i] |= set[i];
    set[o->site.at.begin] = 1;
}

static void meet(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other)
{
    (void)d;
    for (int i = 0; i < LAST; i++) ((unsigned char *)into->data)[i] |= ((unsigned char *)other->data)[i];
}

static void solve(struct ir_block *body, bool is_backward)
{
    const struct dataflow_client client = {.bytes = LAST, .is_backward = is_backward, .step = step, .meet = meet};
    const struct ir_function f = {.body = body};
    struct dataflow_state s = dataflow_start(&client);
    memset(seen, 0, sizeof seen);
    dataflow_run(&client, NULL, &f, &s);
    dataflow_free(&s);
}

static void expect_seen(unsigned char at, const char *names)
{
    for (int i = 'a'; i <= 'z'; i++)
        if (seen[at][i] != (strchr(names, i) != NULL)) fail_msg("%c at %c: %d", i, at, seen[at][i]);
}

static void open_ir(void)
{
    mem = arena_create();
    block = new_block();
}

/* for { a; if { b; break; } c; if { continue; } d; } e; */
static struct ir_block *loop_with_jumps(struct ir_op *loop)
{
    struct ir_block *body = block, *inside = new_block();
    event('z');
    *loop = (struct ir_op){.kind = loop->kind};
    struct ir_op *l = op(loop->kind);
    if (l->kind == IR_FOR)
        l->loop.body = inside;
    else
        l->while_.body = inside;
    event('e');
    block = inside;
    event('a');
    struct ir_op *first = op(IR_IF);
    event('c');
    struct ir_op *second = op(IR_IF);
    event('d');
    block = first->branch.then = new_block();
    event('b');
    op(IR_BREAK);
    block = second->branch.then = new_block();
    op(IR_CONTINUE);
    return body;
}

TEST(what_an_iteration_did_is_known_to_the_next_one_and_behind_the_loop)
{
    open_ir();
    struct ir_op loop = {.kind = IR_FOR};
    struct ir_block *body = loop_with_jumps(&loop);
    solve(body, false);
    expect_seen('a', "zacd");
    expect_seen('b', "zacd");
    expect_seen('d', "zacd");
    expect_seen('e', "zabcd");
    arena_destroy(mem);
}

TEST(backward_an_event_knows_the_iterations_that_follow)
{
    open_ir();
    struct ir_op loop = {.kind = IR_FOR};
    struct ir_block *body = loop_with_jumps(&loop);
    solve(body, true);
    expect_seen('z', "abcde");
    expect_seen('a', "abcde");
    expect_seen('b', "e");
    expect_seen('d', "abcde");
    expect_seen('e', "");
    arena_destroy(mem);
}

/* z; for { a; return; } e; */
TEST(backward_what_follows_a_loop_may_come_without_an_iteration)
{
    open_ir();
    struct ir_block *body = block;
    event('z');
    struct ir_op *l = op(IR_FOR);
    event('e');
    block = l->loop.body = new_block();
    event('a');
    op(IR_RETURN);
    solve(body, true);
    expect_seen('z', "ae");
    expect_seen('a', "");
    arena_destroy(mem);
}

TEST(a_loop_that_is_tested_last_has_an_iteration)
{
    open_ir();
    struct ir_block *body = block;
    event('a');
    struct ir_op *l = op(IR_WHILE);
    event('d');
    block = l->while_.body = new_block();
    event('b');
    struct ir_op *branch = op(IR_IF);
    block = l->while_.test = new_block();
    event('c');
    block = branch->branch.then = new_block();
    op(IR_RETURN);
    solve(body, false);
    expect_seen('b', "abc");
    expect_seen('c', "abc");
    expect_seen('d', "abc");
    solve(body, true);
    expect_seen('a', "bcd");
    expect_seen('b', "bcd");
    expect_seen('c', "bcd");
    arena_destroy(mem);
}

TEST(nothing_comes_behind_a_loop_without_end)
{
    open_ir();
    struct ir_block *body = block;
    struct ir_op *l = op(IR_WHILE);
    l->while_.tests_first = true;
    l->while_.cond.value = ir_boolean(mem, true);
    event('b');
    block = l->while_.body = new_block();
    event('a');
    solve(body, false);
    expect_seen('a', "a");
    expect_seen('b', "");
    solve(body, true);
    expect_seen('a', "a");
    arena_destroy(mem);
}

/* if { a } else { p; if { a } else { p; if ... else { b } } } c */
TEST(a_chain_of_branches_is_no_recursion)
{
    open_ir();
    struct ir_block *body = block;
    for (int i = 0; i < 100000; i++) {
        if (i > 0) event('p');
        struct ir_op *branch = op(IR_IF);
        if (i == 0) event('c');
        block = branch->branch.then = new_block();
        event(i == 7 ? 'x' : 'a');
        block = branch->branch.other = new_block();
    }
    event('b');
    solve(body, false);
    expect_seen('x', "p");
    expect_seen('b', "p");
    expect_seen('c', "abpx");
    solve(body, true);
    expect_seen('a', "c");
    expect_seen('p', "abcpx");
    arena_destroy(mem);
}
