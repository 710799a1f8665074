/* strips.c - which loops can be handed over in strips?
 * Needs      the final IR: what is checked, released or allocated in a loop is known.
 * Gives      strips_of(), which the printer of loops asks.  Look: ptoc build --emit=c
 * Method     the body is calls of kernels and nothing else, and from one iteration to the next each tensor moves by a
 *            constant step: the offset is affine in the variable of the loop, extents and strides do not depend on it.
 *            The step is the derivative of the offset; it is made of the values of the offset, so it cannot fail.
 */
#include "strips.h"
#include <string.h>

static bool is_variable(const struct ir_value *v, const struct symbol *variable)
{
    return v->kind == IR_NAME && v->symbol == variable;
}

/* Is its value that of the program's text alone, with no look at memory? */
static bool is_pure(const struct ir_value *v)
{
    if (v->kind == IR_ELEMENT || v->kind == IR_RESULT || v->kind == IR_CHECKED || v->kind == IR_UNKNOWN) return false;
    for (int i = 0; i < v->count; i++)
        if (!is_pure(v->arg[i])) return false;
    return !ir_can_fail(v);
}

static bool depends(const struct ir_value *v, const struct symbol *variable)
{
    if (is_variable(v, variable)) return true;
    for (int i = 0; i < v->count; i++)
        if (depends(v->arg[i], variable)) return true;
    return false;
}

static bool is_integer(const struct ir_value *v, int64_t value) { return v->kind == IR_INTEGER && v->integer == value; }

static struct ir_value *sum(struct arena *mem, enum ast_op op, struct ir_value *a, struct ir_value *b)
{
    if (!a || !b || is_integer(b, 0)) return b ? a : NULL;
    if (is_integer(a, 0)) return op == OP_ADD ? b : ir_unary(mem, OP_NEG, b);
    return ir_binary(mem, op, ARITH_PLAIN, a, b);
}

static struct ir_value *product(struct arena *mem, struct ir_value *a, struct ir_value *b)
{
    if (!a || !b) return NULL;
    if (is_integer(a, 0) || is_integer(b, 1)) return a;
    if (is_integer(b, 0) || is_integer(a, 1)) return b;
    return ir_binary(mem, OP_MUL, ARITH_PLAIN, a, b);
}

struct ir_value *strips_step(struct arena *mem, const struct ir_value *v, const struct symbol *variable)
{
    if (is_variable(v, variable)) return ir_integer(mem, 1);
    if (!depends(v, variable)) return ir_integer(mem, 0);
    if (v->kind == IR_UNARY && v->op == OP_NEG)
        return sum(mem, OP_SUB, ir_integer(mem, 0), strips_step(mem, v->arg[0], variable));
    if (v->kind != IR_BINARY) return NULL;
    struct ir_value *const a = v->arg[0], *const b = v->arg[1];
    if (v->op == OP_ADD || v->op == OP_SUB)
        return sum(mem, v->op, strips_step(mem, a, variable), strips_step(mem, b, variable));
    if (v->op != OP_MUL || (depends(a, variable) && depends(b, variable))) return NULL;
    return depends(a, variable) ? product(mem, strips_step(mem, a, variable), b)
                                : product(mem, a, strips_step(mem, b, variable));
}

static bool is_invariant(const struct ir_value *v, const struct symbol *variable)
{
    return is_pure(v) && !depends(v, variable);
}

static bool is_view(const struct ir_view *view, const struct symbol *variable, struct arena *mem)
{
    for (int d = 0; d < view->region->rank; d++) {
        if (!is_invariant(view->extent[d], variable)) return false;
        if (view->stride[d] && !is_invariant(view->stride[d], variable)) return false; /* NULL: all follow each other */
    }
    return view->region->rank > 0 && is_pure(view->offset) && strips_step(mem, view->offset, variable);
}

static bool is_argument(const struct ir_call *call, int i, const struct symbol *variable, struct arena *mem)
{
    const struct ir_argument *a = &call->arguments[i];
    if (a->kind == IR_ARG_SCALAR)
        return is_pure(a->value) &&
               (!depends(a->value, variable) || (a->type->elem == ELEM_I64 && a->value->type->elem == ELEM_I64 &&
                                                 strips_step(mem, a->value, variable)));
    if (a->kind != IR_ARG_TENSOR || a->written || call->callee->formals[i]->by) return false;
    if (a->direction == DIR_ACC || a->direction == DIR_OWN || a->direction == DIR_HOST) return false;
    return is_view(a->view, variable, mem);
}

static bool is_call(const struct ir_call *call, const struct symbol *variable, struct arena *mem)
{
    if (call->checks || (call->flags && *call->flags) || call->attribute_count > 1 || call->count == 0) return false;
    if (call->attribute_count == 1) {
        const struct ir_attribute *a = &call->attributes[0];
        if (a->kind != IR_PRIORITY || !is_pure(a->value) || !strips_step(mem, a->value, variable)) return false;
    }
    for (int i = 0; i < call->count; i++)
        if (!is_argument(call, i, variable, mem)) return false;
    return true;
}

static const char *worker_of(const struct ir_call *call)
{
    const char *worker = call->callee->decl->kernel->worker;
    return worker ? worker : "";
}

bool strips_of(const struct ir_op *op, struct strip_loop *loop, struct arena *mem)
{
    const struct ir_op *site = NULL;
    int params = 0;
    if (op->loop.form != IR_LOOP_UNIT || op->loop.by != 1 || !is_pure(op->loop.low) || !is_pure(op->loop.high))
        return false;
    loop->count = 0;
    for (const struct ir_op *o = op->loop.body->first; o; o = o->next) {
        if (o->kind == IR_SITE) {
            site = o;
            continue;
        }
        if (o->kind != IR_SUBMIT || loop->count == STRIP_CALLS || !site || !is_call(o->call, op->loop.symbol, mem))
            return false;
        params += o->call->count;
        loop->calls[loop->count++] = (struct strip_call){o->call, site};
        if (strcmp(worker_of(o->call), worker_of(loop->calls[0].call)) != 0 || o->call->callee->opcode != 0)
            return false;
    }
    return loop->count > 0 && params <= STRIP_PARAMS;
}
