/* slots.c - the pass `slots`: where the tensors of a frame lie, written into the IR.
 * Idea       the plan of frames.c says which tensors a frame holds: their variables begin at their slots, what ends
 *            their lifetimes says so, and a FRAME stands at the entry of the function.
 * Invariant  a function without a frame is not changed, but for the uses that only checked runs report.
 * Tests      test/lit/memory/frames.pto, checked.pto
 */
#include "bounds.h"
#include "frames.h"
#include "ir/lower.h"
#include "support/arena.h"

/* Of the function with its frame and of all that it calls; where nobody knows, no heap is large enough. */
static struct ir_value *need_of(struct plan *p, const struct symbol *orch)
{
    const struct size *most = bounds_need(p, orch, orch->decl->orch.exported);
    return most ? lower_size(p->lowering, most, ARITH_COST) : ir_integer(p->mem, INT64_MAX);
}

static void insert_frame(struct plan *p, struct ir_function *f, const struct frame_plan *frame)
{
    const struct span at = f->orch->decl->name_at;
    struct ir_op *site = ir_insert(f->body, f->scope, p->mem, IR_SITE, at);
    site->site.at = at;
    site->site.text = arena_printf(p->mem, "the frame of %s", f->orch->name);
    struct ir_op *op = ir_insert(f->body, site, p->mem, IR_FRAME, at);
    op->frame.orch = f->orch;
    op->frame.bytes = lower_size(p->lowering, frame->bytes, ARITH_CHECKED);
    op->frame.need = need_of(p, f->orch);
}

static void place_tensor(struct plan *p, struct ir_op *op, const struct frame_plan *frame, const struct tensor_plan *t)
{
    if (t->number < 0) return; /* it takes over the slots of others */
    const struct size *before = size_scale(p->checked->sizes, t->bytes, t->number);
    const struct size *at = size_binary(p->checked->sizes, SIZE_ADD, frame->slots.data[t->slot].at, before);
    op->tensor.at = lower_size(p->lowering, at, ARITH_PLAIN);
    if (!t->alternates) return;
    op->tensor.rotates = t->loop_variable;
    op->tensor.bytes = lower_size(p->lowering, frame->slots.data[t->slot].bytes, ARITH_PLAIN);
}

static bool is_use_of_other(void *cx, const struct ir_op *op)
{
    return op->kind == IR_SLOT_USE && (op->slot_use.symbol->exchange || !slot_of(cx, op->slot_use.symbol));
}

static void place_op(void *cx, struct ir_op *op)
{
    struct plan *p = cx;
    const struct frame_plan *frame = frame_of(p, p->ranges.function);
    const struct tensor_plan *t;
    switch (op->kind) {
    case IR_TENSOR:
        t = slot_of(p, op->tensor.symbol);
        if (t) place_tensor(p, op, frame, t);
        break;
    case IR_ALLOC: op->alloc.in_frame = slot_of(p, op->alloc.symbol) != NULL; break;
    case IR_TAKE: op->take.in_frame = slot_of(p, op->take.to) != NULL; break;
    case IR_RELEASE: op->release.in_frame = slot_of(p, op->release.symbol) != NULL; break;
    case IR_SLOT_USE:
        op->slot_use.bytes = lower_size(p->lowering, slot_of(p, op->slot_use.symbol)->bytes, ARITH_PLAIN);
        break;
    default: break;
    }
}

void slots_run(struct plan *p)
{
    for (size_t i = 0; i < p->functions.count; i++) {
        struct ir_function *f = p->functions.data[i];
        const struct frame_plan *frame = frame_of(p, f->orch);
        p->ranges.function = f->orch;
        if (p->checked_runs) ir_remove(f->body, is_use_of_other, p);
        if (frame->bytes) {
            ir_each(f->body, place_op, p);
            insert_frame(p, f, frame);
        } else if (f->scope->scope.count == 0) {
            f->scope->scope.is_dropped = true;
            ir_drop_scopes(f->body);
        }
    }
    p->ranges.function = NULL;
}
