/* writers.c - the pass `writers`: tensors that one task writes, all of them, and nothing writes again.
 * Idea       a task that reads such a tensor need not be remembered, as no later write has to find it, and its producer
 *            is known without a look-up.  Generated code says so with PTO_INPUT_OF.
 * Method     a new tensor qualifies if one task of the text has it as its output, in the innermost loop of the tensor's
 *            `let`, so once for each buffer; if tasks, elements and messages only read it else; and if its buffer is
 *            its own: not in a frame or a result, not of a second name.  What functions get does not qualify: they may
 *            keep it.
 * Gives      plan->writers, for tensor_has_one_writer()
 * Tests      test/lit/codegen/one-writer.pto, test/lit/run/one-writer.pto
 */
#include "ir/ir.h"
#include "plan.h"
#include "support/arena.h"

struct writers {
    struct plan *plan;
    const struct ir_op *op;   /* that is being looked at */
    const struct ir_op *loop; /* the innermost around it */
};

static void exclude(struct writers *w, const struct symbol *t)
{
    struct tensor_writers *const it = ptrmap_get(&w->plan->writers, t);
    if (it) it->is_shared = true;
}

static void look_at_output(struct writers *w, const struct ir_argument *a)
{
    struct tensor_writers *const it = ptrmap_get(&w->plan->writers, a->view->region->base);
    if (!it) return;
    it->count++;
    if (!a->view->region->whole || it->loop != w->loop) it->is_shared = true;
}

static void look_at_call(void *cx, const struct ir_call *c)
{
    struct writers *const w = cx;
    const bool is_task = w->op->kind == IR_SUBMIT && w->op->call == c;
    for (int i = 0; i < c->count; i++) {
        const struct ir_argument *const a = &c->arguments[i];
        if (!a->view) continue;
        if (is_task && a->direction == DIR_OUT)
            look_at_output(w, a);
        else if (!is_task || (a->direction != DIR_IN && a->direction != DIR_NONE))
            exclude(w, a->view->region->base);
    }
}

static void look_at_tensor(void *cx, const struct symbol *t, enum ir_touch how)
{
    struct writers *const w = cx;
    switch (w->op->kind) {
    case IR_STORE:
    case IR_ALLOC:
    case IR_DISTRIBUTE:
    case IR_SLOT_USE:
    case IR_GIVE:
    case IR_TAKE:
    case IR_KEEP: exclude(w, t); break; /* values that are read there are excluded as well, which does no harm */
    default:
        if (how == IR_TOUCH_END && w->op->kind != IR_RELEASE) exclude(w, t);
        break;
    }
}

/* Its buffer is in no frame and no result, and no other name ever has it. */
static bool is_of_its_own(const struct plan *p, const struct symbol *t)
{
    const struct tensor_note *const note = tensor_note_of(p->checked, t);
    return tensor_is_new(t) && !t->place && !t->exchange && !note->given && !note->escapes && !ptrmap_get(&p->slots, t);
}

static void look_at_op(struct writers *w, const struct ir_op *op)
{
    w->op = op;
    if (op->kind == IR_TENSOR) {
        const struct symbol *const t = op->tensor.symbol;
        if (!is_of_its_own(w->plan, t)) return;
        struct tensor_writers *const it = arena_new(w->plan->mem, struct tensor_writers);
        *it = (struct tensor_writers){.loop = w->loop, .is_shared = ptrmap_get(&w->plan->writers, t) != NULL};
        ptrmap_set(&w->plan->writers, t, it);
        return;
    }
    ir_each_operand(op, &(struct ir_operands){.cx = w, .call = look_at_call, .tensor = look_at_tensor});
}

/* As ir_each(), and it knows the innermost loop. */
static void look_at_block(struct writers *w, const struct ir_block *block)
{
    const struct ir_op *const outside = w->loop;
    struct ir_block *blocks[3];
    for (const struct ir_op *op = block->first, *next; op; op = next) {
        look_at_op(w, op);
        int count = ir_blocks(op, blocks);
        next = !op->next && count > 0 ? blocks[--count]->first : op->next;
        const struct ir_op *const around = w->loop;
        if (op->kind == IR_FOR || op->kind == IR_WHILE) w->loop = op;
        for (int i = 0; i < count; i++) look_at_block(w, blocks[i]);
        if (next == op->next) w->loop = around;
    }
    w->loop = outside;
}

void writers_run(struct plan *p)
{
    struct writers w = {.plan = p};
    for (size_t i = 0; i < p->functions.count; i++) look_at_block(&w, p->functions.data[i]->body);
}
