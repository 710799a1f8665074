/* slot_uses.c - the pass `slot_uses`: in runs that are checked each call says which tensors it uses that a frame could
 * hold.
 * Gives      a SLOT_USE behind each call for each such tensor; `slots` takes away those that no frame holds.
 * Tests      test/lit/memory/checked.pto
 */
#include "ir/ir.h"
#include "plan.h"

struct inserted {
    struct plan *plan;
    struct ir_block *block;
    struct ir_op *before; /* the last operation before those that are inserted; NULL: none */
    struct span at;
};

static void add_use(struct inserted *to, const struct symbol *base, enum direction dir, bool writes)
{
    if (!base || !tensor_is_new(base) || base->place || (dir == DIR_OUT) != writes) return;
    to->before = ir_insert(to->block, to->before, to->plan->mem, IR_SLOT_USE, to->at);
    to->before->slot_use.symbol = base;
    to->before->slot_use.writes = writes;
}

static void add_uses_of(struct inserted *to, const struct leaves *leaves, bool writes)
{
    for (int i = 0; i < leaves->count; i++)
        if (leaves->leaf[i].region) add_use(to, leaves->leaf[i].region->base, leaves->leaf[i].formal->dir, writes);
}

/* Reads first: a call may write where it has read. */
static void add_uses(struct inserted *to, const struct call *call)
{
    for (int writes = 0; writes < 2; writes++) {
        for (int i = 0; i < call->callee->formal_count; i++) {
            const struct region *r = call->regions[i];
            if (i != call->result_formal && r) add_use(to, r->base, call->callee->formals[i]->dir, writes);
            add_uses_of(to, &call->leaves[i], writes);
        }
        add_uses_of(to, &call->result_leaves, writes);
        if (call->result_leaves.count == 0)
            add_use(to, call->destination ? call->destination->base : call->result_symbol, DIR_OUT, writes);
    }
}

static const struct ir_call *call_made_by(const struct ir_op *op)
{
    if (op->kind == IR_SUBMIT || op->kind == IR_CALL) return op->call;
    const bool is_result = op->kind == IR_LET && op->let.value->kind == IR_RESULT;
    return is_result && op->let.value->call->is_prepared ? op->let.value->call : NULL;
}

/* A chain of branches has any length. */
static void add_slot_uses(struct plan *p, struct ir_block *block)
{
    struct ir_block *blocks[3];
    while (block) {
        struct ir_block *rest = NULL;
        struct inserted to = {.plan = p, .block = block};
        for (struct ir_op *op = block->first; op; op = op->next) {
            const struct ir_call *call = call_made_by(op);
            int count = ir_blocks(op, blocks);
            to.at = op->at;
            if (call) add_uses(&to, call->binding);
            to.before = op;
            if (count > 0 && !op->next) rest = blocks[--count];
            for (int i = 0; i < count; i++) add_slot_uses(p, blocks[i]);
        }
        block = rest;
    }
}

void slot_uses_run(struct plan *p)
{
    for (size_t i = 0; i < p->functions.count && p->checked_runs; i++) add_slot_uses(p, p->functions.data[i]->body);
}
