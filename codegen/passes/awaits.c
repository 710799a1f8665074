/* awaits.c - does each iteration of a loop wait for a task of its own, of which the next one needs nothing?  (W05)
 * Needs      the uses of a function.  Gives W05.
 * Idea       forward: which iteration wrote a tensor last.  Where an await finds that it was the iteration at hand, the
 *            value is followed through the body: into scalars, into conditions, into calls and the tensors they write.
 *            It is needed when it decides whether something is done, or when a call of the loop reads a tensor from
 *            outside the loop that it went into. What is only printed or kept in scalars could be waited for later.
 * Invariant  in doubt it is needed.
 * Tests      test/lit/sema/w05.pto, w05-ways.pto
 */
#include "dataflow.h"
#include "uses.h"
#include "sema/checker.h"

struct awaits {
    struct checker *c;
    const struct ir_function *f;
};

/* ---- the value of an await, through the body of its loop ---- */

struct trace {
    const struct ast *await;
    const struct ir_op *loop;
    int depth;                          /* how many loops are around it */
    VEC(const struct symbol *) carried; /* names whose value comes from the await */
    bool is_reached;                    /* it has been looked at in the statement at hand */
    bool is_needed, changed;
};

static bool is_carried(const struct trace *t, const struct symbol *s)
{
    for (size_t i = 0; i < t->carried.count; i++)
        if (t->carried.data[i] == s) return true;
    return false;
}

static void carry(struct trace *t, const struct symbol *s)
{
    if (is_carried(t, s)) return;
    vec_push(&t->carried, s);
    t->changed = true;
}

/* decided: whether the operation is done depends on the value. */
static void follow_use(struct trace *t, const struct ir_use *use, bool decided)
{
    switch (use->kind) {
    case IR_USE_READ:
    case IR_USE_TOUCH:
    case IR_USE_AWAIT: t->is_reached |= use->at == t->await || is_carried(t, use->symbol); break;
    case IR_USE_WRITE:
    case IR_USE_WRITE_PART:
    case IR_USE_ALIAS:
    case IR_USE_MOVE:
        if (t->is_reached || decided) carry(t, use->symbol);
        break;
    case IR_USE_TAKE:
    case IR_USE_KEEP:
        if (t->is_reached || decided || is_carried(t, use->from->symbol)) carry(t, use->symbol);
        break;
    case IR_USE_DROP: t->is_needed |= decided; break;
    default: break;
    }
}

static void follow(struct trace *t, const struct ir_op *op, bool decided);

/* The operations before `end`, which is returned; NULL: all of them.  Arms of an expression are part of a statement. */
static const struct ir_op *follow_block(struct trace *t, const struct ir_block *block, const struct ir_op *end,
                                        bool decided)
{
    for (const struct ir_op *op = block ? block->first : NULL; op != end; op = op->next) follow(t, op, decided);
    return end;
}

/* A chain of branches has any length. */
static void follow_branches(struct trace *t, const struct ir_op *op, bool decided)
{
    while (op) {
        decided |= t->is_reached;
        follow_block(t, op->branch.then, NULL, decided);
        op = follow_block(t, op->branch.other, ir_next_in_chain(op), decided);
    }
}

static void follow_while(struct trace *t, const struct ir_op *op, bool decided)
{
    follow_block(t, op->while_.test, NULL, decided);
    t->is_needed |= t->is_reached && op == t->loop;
    follow_block(t, op->while_.body, NULL, decided || t->is_reached);
}

static void follow(struct trace *t, const struct ir_op *op, bool decided)
{
    switch (op->kind) {
    case IR_USE: follow_use(t, &op->use, decided); break;
    case IR_IF: follow_branches(t, op, decided); break;
    case IR_FOR: follow_block(t, op->loop.body, NULL, decided || t->is_reached); break;
    case IR_WHILE: follow_while(t, op, decided); break;
    case IR_BLOCK: follow_block(t, op->block, NULL, decided); break;
    case IR_ASSERT: t->is_needed |= decided || t->is_reached; break; /* later it would be too late to stop */
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN: t->is_needed |= decided; break;
    default: break;
    }
    if (op->statement_end.end) t->is_reached = false;
}

/* A call or an await reads a tensor from outside the loop that the value went into. */
static void look_at_read(void *cx, struct ir_op *op)
{
    struct trace *t = cx;
    const struct ir_use *use = &op->use;
    const struct symbol *s = use->symbol;
    if (op->kind != IR_USE || use->at == t->await || s->loop_depth > t->depth || type_is_scalar(s->type)) return;
    if (use->kind == IR_USE_AWAIT || (use->kind == IR_USE_READ && use->holder->kind == AST_CALL))
        t->is_needed |= is_carried(t, s);
}

static bool is_needed(const struct ast *await, const struct ir_op *loop, int depth)
{
    struct trace t = {.await = await, .loop = loop, .depth = depth};
    struct ir_block *blocks[3];
    do {
        t.changed = t.is_reached = false;
        follow(&t, loop, false);
    } while (t.changed && !t.is_needed);
    for (int i = ir_blocks(loop, blocks); i-- > 0 && !t.is_needed;) ir_each(blocks[i], look_at_read, &t);
    vec_free(&t.carried);
    return t.is_needed;
}

/* ---- which iteration wrote it ---- */

struct cell {
    const struct ir_op *loop; /* the loop in whose iteration at hand it was written; NULL: it was not */
    const struct ast *at;     /* that write */
};

static void look_at(struct dataflow *d, const struct cell *x, const struct ir_use *use)
{
    const struct checker *c = ((struct awaits *)d->cx)->c;
    if (d->is_silent || !d->loop || x->loop != d->loop->op || is_needed(use->at, x->loop, d->depth - 1)) return;
    diag_warning(
        c->diag, DIAG_W05, use->at->at,
        "each iteration of the loop waits here for a task of its own, and the next iteration does not need the value");
    diag_note(c->diag, x->at->at, "'%s' is written here in the same iteration", use->tensor->symbol->name);
    diag_help(c->diag,
              "keep the results apart and await them after the loop, or await the one of the previous iteration");
}

static void step(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    if (op->kind != IR_USE || !op->use.tensor || op->use.tensor->number < 0 || s->is_dead) return;
    struct cell *x = (struct cell *)s->data + op->use.tensor->number;
    switch (op->use.kind) {
    case IR_USE_BEGIN:
    case IR_USE_BEGIN_ZERO: *x = (struct cell){0}; break;
    case IR_USE_WRITE:
    case IR_USE_WRITE_PART: *x = (struct cell){d->loop ? d->loop->op : NULL, op->use.at}; break;
    case IR_USE_TAKE:
    case IR_USE_KEEP: *x = ((struct cell *)s->data)[op->use.from->number]; break;
    case IR_USE_AWAIT: look_at(d, x, &op->use); break;
    default: break;
    }
}

static void meet(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other)
{
    const struct awaits *a = d->cx;
    struct cell *to = into->data;
    const struct cell *from = other->data;
    for (int i = 0; i < a->f->tensor_count; i++)
        if (!to[i].loop) to[i] = from[i];
}

static void next_iteration(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    const struct awaits *a = d->cx;
    (void)op;
    for (int i = 0; i < a->f->tensor_count; i++) ((struct cell *)s->data)[i].loop = NULL;
}

void pass_awaits(struct checker *c, struct ir_function *f)
{
    if (!f->awaits_in_loop) return;
    const struct dataflow_client client = {.bytes = sizeof(struct cell) * (size_t)f->tensor_count,
                                           .step = step,
                                           .meet = meet,
                                           .next_iteration = next_iteration};
    struct awaits a = {c, f};
    struct dataflow_state s = dataflow_start(&client);
    dataflow_run(&client, &a, f, &s);
    dataflow_free(&s);
}
