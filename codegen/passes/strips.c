/* strips.c - the pass `strips`: loops that may be handed over in strips, several iterations as one task.
 * Idea       where kernels take less time than handing a task to a worker costs, the runtime makes one task of several
 *            iterations (pto_strip.h).  It needs to know by which steps the arguments move, and that nothing else
 *            happens between the tasks.
 * Needs      the final IR: what a loop checks, allocates, releases and reports stands in its body.
 * Method     the body is calls of kernels, the tensors that these make for each other, checks that hold for all
 *            iterations or for none, and at its beginning a `break` that says where the loop ends.  Extents and strides
 *            are those of every iteration; offsets, integers and priorities are affine in the loop's variable
 *            (strips_steps.c); a bool compares such an integer with an invariant one.
 *            The last iterations, whose pieces are shorter (`min(T, N - i)`), are not offered.
 * Gives      loop.strips; the loop itself stays as it is.  Look: ptoc build --dump=ir
 * Invariant  a tensor that has no memory before the loop is made by an output that is all of it.  One of the body is
 *            written before it is read in each iteration, so each strip may have its own.
 * Tests      test/lit/codegen/strips.pto, test/lit/run/strips-of-loops.pto
 */
#include "strips.h"
#include "support/arena.h"
#include <pto/pto_limits.h>
#include <string.h>

enum { TENSORS = PTO_STRIP_PARAMS, CHECKS = 8, FLAGS = 8 };

/* The body of a loop, as far as it was looked at. */
struct body {
    struct strips *strips;
    const struct ir_op *site; /* the last one */
    struct ir_strip_call call[PTO_STRIP_CALLS];
    struct ir_strip_tensor tensor[TENSORS];
    const struct ir_check *check[CHECKS];
    const struct ir_op *flag[FLAGS];
    int calls, params, tensors, checks, flags;
    struct ir_strip_test stop;
};

/* ---- tensors ---- */

static const struct ir_strip_tensor *tensor_of(const struct body *b, const struct symbol *t)
{
    for (int i = 0; i < b->tensors; i++)
        if (b->tensor[i].symbol == t) return &b->tensor[i];
    return NULL;
}

/* own: its TENSOR, if that is in the body. */
static bool add_tensor(struct body *b, const struct symbol *t, const struct ir_op *own)
{
    const struct tensor_note *const note = tensor_note_of(b->strips->plan->checked, t);
    if (!tensor_is_new(t) || t->place || t->exchange || note->given || note->needs_alloc || b->tensors == TENSORS)
        return false;
    b->tensor[b->tensors++] = (struct ir_strip_tensor){t, own};
    return true;
}

/* A buffer of its own, and not in a frame, where it may lie somewhere else in each iteration. */
static bool add_own(struct body *b, const struct ir_op *op)
{
    return !op->tensor.at && add_tensor(b, op->tensor.symbol, op);
}

static bool is_mentioned(const struct body *b, const struct ir_call *until, const struct symbol *t)
{
    for (int c = 0; c < b->calls; c++) {
        const struct ir_call *const call = b->call[c].submit->call;
        for (int i = 0; i < call->count && call != until; i++)
            if (call->arguments[i].view && call->arguments[i].view->region->base == t) return true;
    }
    return false;
}

/* Does it have memory, or does an output that is all of it make some?  A tensor of the body is written before it is
 * read, so that strips need not see each other's. */
static bool has_memory(struct body *b, const struct ir_call *call, const struct ir_argument *a)
{
    const struct symbol *const base = a->view->region->base;
    const struct ir_strip_tensor *const tensor = tensor_of(b, base);
    const bool makes = a->direction == DIR_OUT && a->view->region->whole;
    if (tensor && tensor->own) return makes || (a->direction != DIR_OUT && is_mentioned(b, call, base));
    if (tensor) return makes || a->direction != DIR_OUT;
    if (a->direction != DIR_OUT) return true; /* were it written in the loop only, its output would not be here */
    if (base->kind == SYM_FORMAL) return !base->place;
    if (base->kind != SYM_LET) return false;
    return tensor_note_of(b->strips->plan->checked, base)->needs_alloc || (makes && add_tensor(b, base, NULL));
}

/* ---- calls ---- */

static struct ir_value *step_of_tensor(struct body *b, const struct ir_call *call, const struct ir_argument *a,
                                       const struct symbol *formal)
{
    struct strips *const s = b->strips;
    const struct ir_view *const v = a->view;
    const bool is_plain_access =
        a->direction == DIR_NONE || a->direction == DIR_IN || a->direction == DIR_INOUT || a->direction == DIR_OUT;
    if (!is_plain_access || a->written || formal->by || v->region->rank > 4 || !has_memory(b, call, a)) return NULL;
    for (int d = 0; d < v->region->rank; d++)
        if (!value_is_invariant(s, v->extent[d]) || (v->stride[d] && !value_is_invariant(s, v->stride[d]))) return NULL;
    return value_is_plain(v->offset) ? step_of(s, v->offset) : NULL;
}

static struct ir_value *step_of_bool(struct body *b, struct ir_strip_call *to, const struct ir_value *v, int argument)
{
    struct ir_strip_test test;
    struct arena *const mem = b->strips->plan->mem;
    if (value_is_invariant(b->strips, v)) return ir_integer(mem, 0);
    if (!test_of(b->strips, v, &test)) return NULL;
    if (!to->tests) to->tests = arena_array(mem, struct ir_strip_test, to->submit->call->count);
    to->tests[argument] = test;
    return test.step;
}

/* After the arguments for formals come dimension variables, which are scalars. */
static struct ir_value *step_of_argument(struct body *b, struct ir_strip_call *to, int i)
{
    const struct ir_call *const c = to->submit->call;
    const struct ir_argument *const a = &c->arguments[i];
    if (a->kind == IR_ARG_TENSOR) return step_of_tensor(b, c, a, c->callee->formals[i]);
    if (a->kind != IR_ARG_SCALAR) return NULL;
    if (a->type->kind == TYPE_INT) return step_of_integer(b->strips, a->value);
    if (a->type->kind == TYPE_BOOL) return step_of_bool(b, to, a->value, i);
    return value_is_invariant(b->strips, a->value) ? ir_integer(b->strips->plan->mem, 0) : NULL;
}

/* Is there a step for each attribute and argument? */
static bool find_steps(struct body *b, struct ir_strip_call *to)
{
    const struct ir_call *const c = to->submit->call;
    struct arena *const mem = b->strips->plan->mem;
    if (c->flags && *c->flags) return false;
    to->steps = arena_array(mem, struct ir_value *, c->attribute_count + c->count);
    for (int i = 0; i < c->attribute_count; i++) {
        const struct ir_attribute *const a = &c->attributes[i];
        to->steps[i] = a->kind == IR_PRIORITY ? step_of_integer(b->strips, a->value) : NULL;
        if (!to->steps[i]) return false;
    }
    for (int i = 0; i < c->count; i++) {
        struct ir_value *const step = step_of_argument(b, to, i);
        if (!step) return false;
        to->steps[c->attribute_count + i] = step;
    }
    return true;
}

/* ---- the rest of a body ---- */

/* A check that holds for all iterations or for none, and whose condition is printed (check_print_condition()); those of
 * indices stand before the loop. */
static bool add_check(struct body *b, const struct ir_check *c)
{
    struct strips *const s = b->strips;
    if ((c->kind != CHECK_CONTIGUOUS && c->kind != CHECK_WRITTEN) || b->checks == CHECKS) return false;
    for (int d = 0; c->kind == CHECK_CONTIGUOUS && d < c->view->region->rank; d++)
        if (!c->view->stride[d] || !value_is_invariant(s, c->view->extent[d]) ||
            !value_is_invariant(s, c->view->stride[d]))
            return false;
    b->check[b->checks++] = c;
    return true;
}

static bool add_checks(struct body *b, const struct ir_check *list)
{
    for (const struct ir_check *c = list; c; c = c->next)
        if (!add_check(b, c)) return false;
    return true;
}

/* What remembers that a tensor was written is true after the first iteration.  A program has other variables, too. */
static bool add_flag(struct body *b, const struct ir_op *op)
{
    const struct symbol *const t = op->set.symbol;
    if (b->flags == FLAGS || !t || op->set.target || op->set.value->kind != IR_BOOLEAN || !op->set.value->integer)
        return false;
    const struct tensor_note *const note = tensor_note_of(b->strips->plan->checked, t);
    if (op->set.key != note || !note->needs_flag) return false;
    b->flag[b->flags++] = op;
    return true;
}

static bool add_call(struct body *b, const struct ir_op *op)
{
    const struct ir_call *const c = op->call;
    if (!b->site || b->calls == PTO_STRIP_CALLS || c->callee->opcode || !add_checks(b, c->checks)) return false;
    const int own = c->attribute_count + c->count;
    b->params += own;
    if (own == 0 || b->params > PTO_STRIP_PARAMS) return false;
    struct ir_strip_call *const to = &b->call[b->calls++];
    *to = (struct ir_strip_call){.site = b->site, .submit = op};
    return find_steps(b, to);
}

/* `if causal && j > i { break; }` before all calls: it says where the loop ends. */
static bool add_stop(struct body *b, const struct ir_op *op)
{
    struct ir_strip_test *const stop = &b->stop;
    if (b->calls > 0 || b->checks > 0 || b->flags > 0 || b->strips->lets > 0 || b->strips->by < 0 || stop->number ||
        op->branch.other || op->branch.is_chained)
        return false;
    for (const struct ir_op *in = op->branch.then->first; in; in = in->next)
        if (in->kind != IR_SCOPE_END && in->kind != IR_BREAK) return false;
    const struct ir_block *const then = op->branch.then;
    return then->last && then->last->kind == IR_BREAK && test_of(b->strips, op->branch.cond.value, stop) &&
           stop->number->kind == IR_NAME && stop->number->symbol == b->strips->variable && stop->limit->count == 0 &&
           (stop->op == OP_GT || stop->op == OP_GE);
}

static bool look_at_body(struct body *b, const struct ir_block *block)
{
    bool may = true;
    for (const struct ir_op *op = block->first; op && may; op = op->next) {
        switch (op->kind) {
        case IR_SITE: b->site = op; break;
        case IR_SUBMIT: may = add_call(b, op); break;
        case IR_TENSOR: may = add_own(b, op); break;
        case IR_CHECK: may = op->check.check && add_checks(b, op->check.check); break;
        case IR_LET: may = let_add(b->strips, op); break;
        case IR_SET: may = add_flag(b, op); break;
        case IR_IF: may = add_stop(b, op); break;
        case IR_BLOCK: may = look_at_body(b, op->block); break;
        case IR_RELEASE: { /* it ends with its strip */
            const struct ir_strip_tensor *const tensor = tensor_of(b, op->release.symbol);
            may = tensor && tensor->own && !op->release.is_argument;
            break;
        }
        case IR_SCOPE_BEGIN:
        case IR_SCOPE_END: break;
        default: may = false;
        }
    }
    return may;
}

/* ---- loops ---- */

/* May there be a second iteration? */
static bool may_repeat(struct strips *s, const struct ir_op *op)
{
    struct ranges *const ranges = &s->plan->ranges;
    const struct interval low = range_of_expr(ranges, op->loop.source->loop.low);
    const struct interval high = range_of_expr(ranges, op->loop.source->loop.high);
    bool fits;
    const bool up = op->loop.by > 0;
    const struct interval distance = up ? range_apply(OP_SUB, high, low, &fits) : range_apply(OP_SUB, low, high, &fits);
    return !fits || distance.hi > (up ? op->loop.by : -op->loop.by);
}

static const struct ir_strips *strips_of(const struct body *b)
{
    const struct strips *const s = b->strips;
    struct arena *const mem = b->strips->plan->mem;
    struct ir_strips *const to = arena_new(mem, struct ir_strips);
    *to = (struct ir_strips){.calls = arena_array(mem, struct ir_strip_call, b->calls),
                             .tensors = arena_array(mem, struct ir_strip_tensor, b->tensors + 1),
                             .checks = arena_array(mem, const struct ir_check *, b->checks + 1),
                             .flags = arena_array(mem, const struct ir_op *, b->flags + 1),
                             .lets = arena_array(mem, const struct ir_op *, s->lets + 1),
                             .rooms = arena_array(mem, struct ir_strip_room, s->rooms + 1),
                             .count = b->calls,
                             .tensor_count = b->tensors,
                             .check_count = b->checks,
                             .flag_count = b->flags,
                             .let_count = s->lets,
                             .room_count = s->rooms,
                             .stop = b->stop};
    memcpy(to->calls, b->call, (size_t)b->calls * sizeof *b->call);
    memcpy(to->tensors, b->tensor, (size_t)b->tensors * sizeof *b->tensor);
    memcpy(to->checks, b->check, (size_t)b->checks * sizeof *b->check);
    memcpy(to->flags, b->flag, (size_t)b->flags * sizeof *b->flag);
    for (int i = 0; i < s->lets; i++) to->lets[i] = s->let[i].op;
    memcpy(to->rooms, s->room, (size_t)s->rooms * sizeof *s->room);
    return to;
}

static void look_at_op(void *cx, struct ir_op *op)
{
    struct strips *const s = cx;
    if (op->kind != IR_FOR || op->loop.form == IR_LOOP_COUNTED || op->loop.by == 0) return;
    if (!value_is_plain(op->loop.low) || !value_is_plain(op->loop.high)) return;
    s->variable = op->loop.symbol;
    s->by = op->loop.by;
    s->lets = s->rooms = 0;
    struct body b = {.strips = s};
    if (!look_at_body(&b, op->loop.body) || b.calls == 0 || !may_repeat(s, op)) return;
    op->loop.strips = strips_of(&b);
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
