/* functions.c - the pass `lower`: the functions that the exports need, as they were lowered when they were checked.
 * Idea       a plan has copies, which its passes change.  In runs that are checked each call says which tensors it uses
 *            that a frame could hold.
 * Gives      plan->functions; E99 for what could not be lowered.
 * Tests      test/lit/codegen/unsupported.pto, test/lit/ir
 */
#include "ir/ir.h"
#include "plan.h"

/* ---- runs that are checked ---- */

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

/* ---- the pass ---- */

static void report_unsupported(const struct plan *p, const struct ir_function *f)
{
    for (const struct ir_unsupported *u = f->unsupported; u; u = u->next)
        diag_error(p->front->diag, DIAG_E99, u->at, "%s is not supported yet by the code generator", u->what);
}

void lower_run(struct plan *p)
{
    for (size_t i = 0; i < p->orchs.count; i++) {
        const struct symbol *orch = p->orchs.data[i];
        struct ir_function *f = ir_copy(p->mem, ptrmap_get(&p->checked->functions, orch));
        report_unsupported(p, f);
        if (p->checked_runs) add_slot_uses(p, f->body);
        vec_push(&p->functions, f);
        ptrmap_set(&p->function_of, orch, f);
    }
}
