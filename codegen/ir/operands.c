/* operands.c - what an operation names: its values, with all that is inside of them, and its tensors.
 * Idea       one walk that every question about operands can be put to.  The operations in its blocks are not its own.
 * Tests      test/lit/codegen/join.pto, test/lit/memory/dump.pto, inferred-moves.pto
 */
#include "ir.h"

static void visit_call(const struct ir_call *call, const struct ir_operands *to);

static void visit_tensor(const struct symbol *t, enum ir_touch how, const struct ir_operands *to)
{
    if (t && to->tensor) to->tensor(to->cx, t, how);
}

static void visit_view(const struct ir_view *v, const struct ir_operands *to)
{
    if (v) visit_tensor(v->region->base, IR_TOUCH_USE, to);
}

static void visit_value(const struct ir_value *v, const struct ir_operands *to);

static void visit_checks(const struct ir_check *list, const struct ir_operands *to)
{
    for (const struct ir_check *c = list; c; c = c->next) {
        const struct ir_value *const values[] = {c->a, c->b, c->c, c->d};
        visit_tensor(c->symbol, IR_TOUCH_USE, to);
        visit_view(c->view, to);
        visit_view(c->other, to);
        for (int i = 0; i < 4; i++) visit_value(values[i], to);
    }
}

static void visit_value(const struct ir_value *v, const struct ir_operands *to)
{
    if (!v) return;
    if (to->value) to->value(to->cx, v);
    visit_checks(v->checks, to);
    visit_view(v->view, to);
    if (v->call) visit_call(v->call, to);
    for (int i = 0; i < v->count; i++) visit_value(v->arg[i], to);
}

static void visit_call(const struct ir_call *call, const struct ir_operands *to)
{
    if (to->call) to->call(to->cx, call);
    for (int i = 0; i < call->count; i++) {
        const struct ir_argument *a = &call->arguments[i];
        const enum ir_touch how = a->kind == IR_ARG_MOVED ? IR_TOUCH_END : IR_TOUCH_USE;
        if (a->view) visit_tensor(a->view->region->base, how, to);
        visit_value(a->value, to);
    }
    for (int i = 0; i < call->attribute_count; i++) {
        visit_value(call->attributes[i].value, to);
        visit_view(call->attributes[i].view, to);
    }
    visit_checks(call->checks, to);
}

void ir_each_operand(const struct ir_op *op, const struct ir_operands *to)
{
    switch (op->kind) {
    case IR_SITE: visit_value(op->site.of, to); break;
    case IR_LET: visit_value(op->let.value, to); break;
    case IR_SET:
        visit_value(op->set.target, to);
        visit_value(op->set.value, to);
        break;
    case IR_STORE:
        visit_view(op->store.view, to);
        visit_value(op->store.value, to);
        break;
    case IR_CHECK: visit_checks(op->check.check, to); break;
    case IR_ASSERT: visit_value(op->assertion.cond, to); break;
    case IR_PRINT:
        for (int i = 0; i < op->print.count; i++) visit_value(op->print.values[i].value, to);
        break;
    case IR_TENSOR: visit_tensor(op->tensor.symbol, IR_TOUCH_USE, to); break;
    case IR_ALLOC:
        visit_tensor(op->alloc.symbol, IR_TOUCH_NAME, to);
        visit_value(op->alloc.bytes, to);
        break;
    case IR_DISTRIBUTE:
        visit_view(op->distribute.view, to);
        for (int i = 0; i < MAX_RANK; i++) {
            visit_value(op->distribute.cell[i], to);
            visit_value(op->distribute.grid[i], to);
        }
        break;
    case IR_SUBMIT:
    case IR_CALL: visit_call(op->call, to); break;
    case IR_SLOT_USE: visit_tensor(op->slot_use.symbol, IR_TOUCH_NAME, to); break;
    case IR_RELEASE:
        visit_tensor(op->release.symbol, op->release.why == IR_RELEASE_BY_HAND ? IR_TOUCH_END : IR_TOUCH_NAME, to);
        break;
    case IR_GIVE: visit_view(op->give.view, to); break;
    case IR_TAKE:
    case IR_KEEP:
        visit_tensor(op->take.to, IR_TOUCH_USE, to);
        visit_tensor(op->take.from, op->take.moved_in ? IR_TOUCH_END : IR_TOUCH_USE, to);
        break;
    case IR_FOR:
        visit_value(op->loop.low, to);
        visit_value(op->loop.high, to);
        visit_value(op->loop.step, to);
        break;
    case IR_WHILE: visit_value(op->while_.cond.value, to); break;
    case IR_IF: visit_value(op->branch.cond.value, to); break;
    case IR_RETURN: visit_value(op->ret.value, to); break;
    default: break;
    }
}
