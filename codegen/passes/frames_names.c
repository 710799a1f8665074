/* frames_names.c - which of the names that exchange their buffers have a slot of their own in a frame?
 * Idea       a name that no task writes, as t of `let t = a; a = b; b = t;`, needs none: it is empty, has the slot of
 *            another name for a while, and hands it on.  So n names that are permuted have n slots.
 * Method     forward, over the whole function: of each name, whether it may be without a slot, whether its slot may
 *            have been written, and whether the run without a frame may make a buffer when it is written.  A name
 *            without a slot must not be written, and a loop must leave the names as it found them; else each needs one.
 * Gives      has_slot, is_open and is_reused of the homes.
 * Tests      test/lit/memory/alternate.pto, swap.pto, test/lit/codegen/swap.pto
 */
#include "dataflow.h"
#include "frames_parts.h"
#include <string.h>

enum {
    EMPTY = 1,  /* it may have no slot */
    USED = 2,   /* a task may have written the slot that it has */
    ABSENT = 4, /* it may have no buffer, where there is no frame */
};

struct names {
    const struct walk *walk;
    struct ptrmap numbers; /* name -> 1 + its number, as a pointer */
    VEC(const struct symbol *) list;
    unsigned char *state; /* of the operation at hand */
};

static struct home *home_of(const struct names *n, const struct symbol *s) { return ptrmap_get(&n->walk->places, s); }

static unsigned char *state_of(const struct names *n, const struct symbol *name)
{
    const size_t number = (size_t)(uintptr_t)ptrmap_get(&n->numbers, name);
    return number > 0 ? &n->state[number - 1] : NULL;
}

/* ---- writes ---- */

static void each_output(const struct call *c, void (*visit)(void *cx, const struct symbol *base), void *cx)
{
    for (int i = 0; i < c->callee->formal_count; i++) {
        if (i == c->result_formal) continue;
        if (c->regions[i] && c->callee->formals[i]->dir == DIR_OUT) visit(cx, c->regions[i]->base);
        for (int k = 0; k < c->leaves[i].count; k++) {
            const struct leaf *leaf = &c->leaves[i].leaf[k];
            if (leaf->region && leaf->formal->dir == DIR_OUT) visit(cx, leaf->region->base);
        }
    }
    for (int k = 0; k < c->result_leaves.count; k++)
        if (c->result_leaves.leaf[k].region) visit(cx, c->result_leaves.leaf[k].region->base);
    if (c->destination) visit(cx, c->destination->base);
    if (c->result_symbol) visit(cx, c->result_symbol);
}

static void give_slot(void *cx, const struct symbol *base)
{
    struct home *home = base->exchange ? home_of(cx, base) : NULL;
    if (home) home->has_slot = true;
}

static void set_open(const struct names *n, const struct symbol *name)
{
    struct home *first = home_of(n, name->exchange->names[0]);
    if (first) first->is_open = true;
    for (int i = 0; i < name->exchange->count; i++) give_slot((void *)(uintptr_t)n, name->exchange->names[i]);
}

static void set_reused(const struct names *n, const struct symbol *name)
{
    struct home *home = home_of(n, name->exchange->names[0]);
    if (home) home->is_reused = true;
}

static void write(void *cx, const struct symbol *base)
{
    const struct names *n = cx;
    unsigned char *s = state_of(n, base);
    if (!s) return;
    if (*s & EMPTY) set_open(n, base);
    if ((*s & USED) && (*s & ABSENT)) set_reused(n, base);
    *s = (*s & EMPTY) | USED;
}

static void write_outputs(void *cx, const struct ir_call *c) { each_output(c->binding, write, cx); }

/* ---- the client of the solver ---- */

static void exchange(const struct names *n, const struct symbol *to, const struct symbol *from)
{
    unsigned char *a = state_of(n, to), *b = state_of(n, from);
    if (!a || !b) return;
    const unsigned char was = *a;
    *a = *b;
    *b = was | ABSENT;
}

static void step(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    struct names *n = d->cx;
    unsigned char *state;
    n->state = s->data;
    if (s->is_dead) return;
    switch (op->kind) {
    case IR_TENSOR:
        state = state_of(n, op->tensor.symbol);
        if (state) *state = ABSENT | (home_of(n, op->tensor.symbol)->has_slot ? 0 : EMPTY);
        break;
    case IR_ALLOC: write(n, op->alloc.symbol); break;
    case IR_TAKE: exchange(n, op->take.to, op->take.from); break;
    case IR_RELEASE:
        state = state_of(n, op->release.symbol);
        if (state) *state |= ABSENT;
        break;
    default: ir_each_operand(op, &(struct ir_operands){.cx = n, .call = write_outputs}); break;
    }
}

static void meet(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other)
{
    const struct names *n = d->cx;
    for (size_t i = 0; i < n->list.count; i++)
        ((unsigned char *)into->data)[i] |= ((const unsigned char *)other->data)[i];
}

/* An iteration that leaves more than was before it may begin with still more, which no walk has seen. */
static void leave_loop(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op,
                       const struct dataflow_state *before, const struct dataflow_state *end)
{
    const struct names *n = d->cx;
    (void)s;
    (void)op;
    for (size_t i = 0; i < n->list.count && !end->is_dead; i++) {
        const unsigned char more = ((unsigned char *)end->data)[i] & ~((unsigned char *)before->data)[i];
        if (more & EMPTY) set_open(n, n->list.data[i]);
        if (more) set_reused(n, n->list.data[i]);
    }
}

/* ---- a function ---- */

static void number_names(void *cx, struct ir_op *op)
{
    struct names *n = cx;
    if (op->kind != IR_TENSOR || !op->tensor.symbol->exchange || !home_of(n, op->tensor.symbol)) return;
    vec_push(&n->list, op->tensor.symbol);
    ptrmap_set(&n->numbers, op->tensor.symbol, (void *)(uintptr_t)n->list.count);
}

static void give_outputs_slots(void *cx, const struct ir_call *c) { each_output(c->binding, give_slot, cx); }

static void find_outputs(void *cx, struct ir_op *op)
{
    if (op->kind == IR_ALLOC) give_slot(cx, op->alloc.symbol);
    ir_each_operand(op, &(struct ir_operands){.cx = cx, .call = give_outputs_slots});
}

void frames_find_names(const struct walk *w, const struct ir_function *f)
{
    struct dataflow_client client = {.step = step, .meet = meet, .leave_loop = leave_loop};
    struct names n = {.walk = w};
    ir_each(f->body, number_names, &n);
    client.bytes = n.list.count;
    if (n.list.count > 0) {
        ir_each(f->body, find_outputs, &n);
        struct dataflow_state s = dataflow_start(&client);
        memset(s.data, EMPTY | USED | ABSENT, client.bytes); /* until they are declared */
        dataflow_run(&client, &n, f, &s);
        dataflow_free(&s);
    }
    ptrmap_free(&n.numbers);
    vec_free(&n.list);
}
