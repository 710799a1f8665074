/* strips.c - the pass `strips`: loops that may be handed over in strips, several iterations as one task.
 * Idea       where kernels take less time than handing a task to a worker costs, the runtime makes one task of several
 *            iterations (pto_strip.h).  It needs to know by which steps the arguments move, and that nothing else
 *            happens between the tasks.
 * Needs      the final IR: what a loop checks, allocates, releases and reports stands in its body.
 * Method     the body is calls of kernels and nothing else; extents and strides are those of every iteration; offsets,
 *            integers and priorities are affine in the loop's variable.  The step is the derivative: it is made of the
 *            values that the offset has already, and is the difference of two offsets, so it stays within 64 bits
 *            where the loop has a second iteration.
 * Gives      loop.strips; the loop itself stays as it is.  Look: ptoc build --dump=ir
 * Invariant  an output that a task would allocate is no part of a strip: its memory exists before the loop.
 * Tests      test/lit/codegen/strips.pto, test/lit/run/strips-of-loops.pto
 */
#include "ir/ir.h"
#include "plan.h"
#include "support/arena.h"
#include <string.h>

enum { CALLS = 4, PARAMS = 16 }; /* PTO_STRIP_CALLS, PTO_STRIP_PARAMS */

struct strips {
    struct plan *plan;
    const struct symbol *variable; /* of the loop that is looked at */
};

/* ---- steps ---- */

/* Evaluated before the loop it is what it would be in the loop: it looks at no memory, and cannot fail. */
static bool is_plain(const struct ir_value *v)
{
    if (v->kind == IR_ELEMENT || v->kind == IR_RESULT || v->kind == IR_CHECKED || v->kind == IR_UNKNOWN) return false;
    for (int i = 0; i < v->count; i++)
        if (!is_plain(v->arg[i])) return false;
    return !ir_can_fail(v);
}

static bool depends(const struct strips *s, const struct ir_value *v)
{
    if (v->kind == IR_NAME && v->symbol == s->variable) return true;
    for (int i = 0; i < v->count; i++)
        if (depends(s, v->arg[i])) return true;
    return false;
}

static bool is_invariant(const struct strips *s, const struct ir_value *v) { return is_plain(v) && !depends(s, v); }

static bool is_integer(const struct ir_value *v, int64_t value) { return v->kind == IR_INTEGER && v->integer == value; }

/* NULL: one of them is, or literals leave 64 bits. */
static struct ir_value *apply(const struct strips *s, enum ast_op op, struct ir_value *a, struct ir_value *b)
{
    int64_t value;
    if (!a || !b) return NULL;
    if (a->kind == IR_INTEGER && b->kind == IR_INTEGER) {
        const bool leaves = op == OP_ADD   ? __builtin_add_overflow(a->integer, b->integer, &value)
                            : op == OP_SUB ? __builtin_sub_overflow(a->integer, b->integer, &value)
                                           : __builtin_mul_overflow(a->integer, b->integer, &value);
        return leaves ? NULL : ir_integer(s->plan->mem, value);
    }
    if (op == OP_MUL) {
        if (is_integer(a, 0) || is_integer(b, 1)) return a;
        if (is_integer(b, 0) || is_integer(a, 1)) return b;
    } else {
        if (is_integer(b, 0)) return a;
        if (is_integer(a, 0)) return op == OP_ADD ? b : ir_unary(s->plan->mem, OP_NEG, b);
    }
    return ir_binary(s->plan->mem, op, ARITH_PLAIN, a, b);
}

/* From one iteration to the next; NULL: it is not the same for all. */
static struct ir_value *step_of(const struct strips *s, const struct ir_value *v)
{
    if (!depends(s, v)) return ir_integer(s->plan->mem, 0);
    if (v->kind == IR_NAME) return ir_integer(s->plan->mem, 1);
    struct ir_value *const a = v->count > 0 ? v->arg[0] : NULL, *const b = v->count > 1 ? v->arg[1] : NULL;
    if (v->kind == IR_UNARY && v->op == OP_NEG) return apply(s, OP_SUB, ir_integer(s->plan->mem, 0), step_of(s, a));
    if (v->kind != IR_BINARY) return NULL;
    if (v->op == OP_ADD || v->op == OP_SUB) return apply(s, v->op, step_of(s, a), step_of(s, b));
    if (v->op != OP_MUL || (depends(s, a) && depends(s, b))) return NULL;
    return depends(s, a) ? apply(s, OP_MUL, step_of(s, a), b) : apply(s, OP_MUL, a, step_of(s, b));
}

/* Integers of the program may be of any size, unlike offsets: the difference of two is known to fit as a literal, and
 * as a value that stands in the program. */
static struct ir_value *step_of_integer(const struct strips *s, const struct ir_value *v)
{
    struct ir_value *const step = is_plain(v) ? step_of(s, v) : NULL;
    return step && step->count == 0 ? step : NULL;
}

/* ---- calls ---- */

/* A tensor that is read has memory: were it written in the loop only, its first output would be refused here. */
static bool has_memory(const struct strips *s, const struct ir_argument *a)
{
    const struct symbol *const base = a->view->region->base;
    if (a->direction != DIR_OUT) return true;
    if (base->kind != SYM_LET) return base->kind == SYM_FORMAL && !base->place;
    const struct tensor_note *const note = tensor_note_of(s->plan->checked, base);
    return note && note->needs_alloc;
}

static struct ir_value *step_of_tensor(const struct strips *s, const struct ir_argument *a, const struct symbol *formal)
{
    const struct ir_view *const v = a->view;
    const bool is_plain_access =
        a->direction == DIR_NONE || a->direction == DIR_IN || a->direction == DIR_INOUT || a->direction == DIR_OUT;
    if (!is_plain_access || a->written || formal->by || v->region->rank > 4 || !has_memory(s, a)) return NULL;
    for (int d = 0; d < v->region->rank; d++)
        if (!is_invariant(s, v->extent[d]) || (v->stride[d] && !is_invariant(s, v->stride[d]))) return NULL;
    return is_plain(v->offset) ? step_of(s, v->offset) : NULL;
}

/* After the arguments for formals come dimension variables, which are scalars. */
static struct ir_value *step_of_argument(const struct strips *s, const struct ir_call *c, int i)
{
    const struct ir_argument *const a = &c->arguments[i];
    if (a->kind == IR_ARG_TENSOR) return step_of_tensor(s, a, c->callee->formals[i]);
    if (a->kind != IR_ARG_SCALAR) return NULL;
    if (a->type->kind == TYPE_INT) return step_of_integer(s, a->value);
    return is_invariant(s, a->value) ? ir_integer(s->plan->mem, 0) : NULL;
}

/* Is there a step for each attribute and argument? */
static bool find_steps(const struct strips *s, struct ir_strip_call *to)
{
    const struct ir_call *const c = to->submit->call;
    if (c->checks || (c->flags && *c->flags)) return false;
    to->steps = arena_array(s->plan->mem, struct ir_value *, c->attribute_count + c->count);
    for (int i = 0; i < c->attribute_count; i++) {
        const struct ir_attribute *const a = &c->attributes[i];
        to->steps[i] = a->kind == IR_PRIORITY ? step_of_integer(s, a->value) : NULL;
        if (!to->steps[i]) return false;
    }
    for (int i = 0; i < c->count; i++) {
        struct ir_value *const step = step_of_argument(s, c, i);
        if (!step) return false;
        to->steps[c->attribute_count + i] = step;
    }
    return true;
}

static const char *worker_of(const struct ir_op *submit)
{
    const char *const worker = submit->call->callee->decl->kernel->worker;
    return worker ? worker : "";
}

/* ---- loops ---- */

/* The calls of the body, if it is nothing else: how many; 0: it is. */
static int calls_of(const struct ir_block *body, struct ir_strip_call *calls)
{
    const struct ir_op *site = NULL;
    int count = 0, params = 0;
    for (const struct ir_op *op = body->first; op; op = op->next) {
        if (op->kind == IR_SITE) {
            site = op;
            continue;
        }
        if (op->kind != IR_SUBMIT || !site || count == CALLS || op->call->callee->opcode) return 0;
        const int own = op->call->attribute_count + op->call->count;
        params += own;
        if (own == 0 || params > PARAMS || (count > 0 && strcmp(worker_of(op), worker_of(calls[0].submit)) != 0))
            return 0;
        calls[count++] = (struct ir_strip_call){.site = site, .submit = op};
    }
    return count;
}

/* May there be a second iteration?  needs_order: its number fits in 64 bits only where low < high. */
static bool may_repeat(struct strips *s, const struct ir_op *op, bool *needs_order)
{
    struct ranges *const ranges = &s->plan->ranges;
    const struct interval low = range_of_expr(ranges, op->loop.source->loop.low);
    const struct interval high = range_of_expr(ranges, op->loop.source->loop.high);
    bool fits;
    const struct interval distance = range_apply(OP_SUB, high, low, &fits);
    *needs_order = low.hi == INT64_MAX;
    return !fits || distance.hi > 1;
}

static void look_at_op(void *cx, struct ir_op *op)
{
    struct strips *const s = cx;
    struct ir_strip_call calls[CALLS];
    bool needs_order;
    if (op->kind != IR_FOR || op->loop.form != IR_LOOP_UNIT || op->loop.by != 1) return;
    if (!is_plain(op->loop.low) || !is_plain(op->loop.high)) return;
    const int count = calls_of(op->loop.body, calls);
    s->variable = op->loop.symbol;
    for (int i = 0; i < count; i++)
        if (!find_steps(s, &calls[i])) return;
    if (count == 0 || !may_repeat(s, op, &needs_order)) return;
    struct ir_strips *const strips = arena_new(s->plan->mem, struct ir_strips);
    *strips = (struct ir_strips){arena_array(s->plan->mem, struct ir_strip_call, count), count, needs_order};
    memcpy(strips->calls, calls, (size_t)count * sizeof *calls);
    op->loop.strips = strips;
}

void strips_run(struct plan *p)
{
    struct strips s = {.plan = p};
    for (size_t i = 0; i < p->functions.count; i++) {
        p->ranges.function = p->functions.data[i]->orch;
        ir_each(p->functions.data[i]->body, look_at_op, &s);
    }
    p->ranges.function = NULL;
}
