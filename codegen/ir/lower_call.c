/* lower_call.c - calls of kernels, which submit a task, and of functions.
 * Idea       a tensor goes out as a view of the buffer that owns its storage; a result goes to the destination that the
 *            checker chose: an existing tensor, the caller's variable, or the variable of a new tensor, which the
 *            producing task allocates.
 * Invariant  arguments that are calls come first, then the checks, then the call: the order of the language.
 * Tests      test/lit/codegen/mode-b.pto, destinations.pto, borrowed.pto
 */
#include "codegen.h"
#include "lower_parts.h"
#include "sema/checker.h"
#include <string.h>

static const struct region *result_region(struct lowering *l, const struct call *call)
{
    return call->destination ? call->destination : call->result_symbol ? lower_whole(l, call->result_symbol) : NULL;
}

/* ---- tasks ---- */

static void lower_task_tensor(struct lowering *l, struct ir_argument *a, const struct region *r, enum direction dir)
{
    *a = (struct ir_argument){.kind = IR_ARG_TENSOR, .direction = dir, .view = lower_view(l, r, VIEW_OF_TASK)};
}

/* Parameters that the kernel does not see. */
static void lower_attributes(struct lowering *l, const struct ast *n, struct ir_call *call)
{
    const struct ast *list = n == l->attributed ? l->attributes : NULL;
    for (const struct ast *a = list; a; a = a->next) call->attribute_count += a->attr.args != NULL;
    call->attributes = arena_array(l->mem, struct ir_attribute, call->attribute_count);
    struct ir_attribute *to = call->attributes;
    for (const struct ast *a = list; a; a = a->next) {
        const struct ast *value = a->attr.args;
        if (!value) continue;
        if (value->type->kind == TYPE_TENSOR)
            *to++ = (struct ir_attribute){.kind = IR_HOME, .view = lower_view(l, region_of(value), VIEW_ELEMENT)};
        else if (strcmp(a->name, "name") == 0)
            *to++ = (struct ir_attribute){.kind = IR_LABEL, .text = value->string.text, .length = value->string.length};
        else
            *to++ = (struct ir_attribute){.kind = strcmp(a->name, "priority") == 0 ? IR_PRIORITY
                                                  : strcmp(a->name, "at") == 0     ? IR_RANK
                                                                                   : IR_TIMEOUT,
                                          .value = lower_value(l, value)};
    }
}

static void lower_submit(struct lowering *l, const struct ast *n, const struct call *call)
{
    const struct symbol *kernel = call->callee;
    struct ir_call *c = arena_new(l->mem, struct ir_call);
    int extra[MAX_FORMALS];
    const int extra_count = kernel_extra_dims(l->checked, kernel, extra);
    c->callee = kernel;
    c->binding = call;
    c->at = n->at;
    c->count = kernel->formal_count + extra_count;
    if (c->count > MAX_FORMALS) lower_unsupported(l, n->at, "a kernel with so many parameters and dimension variables");
    lower_attributes(l, n, c);
    c->arguments = arena_array(l->mem, struct ir_argument, c->count);
    for (int i = 0; i < kernel->formal_count; i++) {
        const struct symbol *formal = kernel->formals[i];
        const bool is_result = i == call->result_formal;
        const struct region *r = is_result ? result_region(l, call) : call->regions[i];
        if (r) lower_task_tensor(l, &c->arguments[i], r, is_result ? DIR_OUT : formal->dir);
        if (r && call->written && call->written[i])
            c->arguments[i].written = lower_view(l, call->written[i], VIEW_OF_PART);
        if (r) continue;
        if (type_is_scalar(formal->type) && call->values[i])
            c->arguments[i] = (struct ir_argument){
                .kind = IR_ARG_SCALAR, .value = lower_value(l, call->values[i]), .type = formal->type};
        else
            lower_unsupported(l, n->at, "this argument");
    }
    for (int i = 0; i < extra_count; i++)
        c->arguments[kernel->formal_count + i] =
            (struct ir_argument){.kind = IR_ARG_SCALAR,
                                 .value = lower_size(l, call->dims[extra[i]], ARITH_PLAIN),
                                 .type = kernel->dims[extra[i]]->type};
    lower_op(l, IR_SUBMIT)->call = c;
}

/* ---- functions ---- */

/* Where a tensor goes that a function returns: all of r.  Where the run decides its extents, it has no strides yet. */
static struct ir_argument argument_place(struct lowering *l, const struct call *call, const struct region *r)
{
    const enum view_parts parts = call->decided.count > 0 ? VIEW_ELEMENT : VIEW_OF_FUNCTION;
    return (struct ir_argument){.kind = IR_ARG_PLACE, .view = lower_view(l, r, parts)};
}

/* A scalar of a struct, which the callee assigns. */
static struct ir_argument argument_variable(struct lowering *l, const struct leaf *leaf)
{
    struct ir_argument a = {.kind = IR_ARG_VARIABLE, .type = leaf->formal->type};
    if (leaf->region)
        a.view = lower_view(l, leaf->region, VIEW_ELEMENT);
    else
        a.symbol = leaf->scalar->place ? leaf->scalar->place : leaf->scalar;
    return a;
}

/* given: what stands at the call. */
static struct ir_argument argument_tensor(struct lowering *l, const struct region *r, const struct symbol *formal,
                                          const struct ast *given)
{
    return (struct ir_argument){.kind = formal->dir != DIR_OWN    ? IR_ARG_TENSOR
                                        : structs_array_of(given) ? IR_ARG_ELEMENT
                                                                  : IR_ARG_MOVED,
                                .view = lower_view(l, r, VIEW_OF_FUNCTION),
                                .formal = formal};
}

static struct ir_argument argument_scalar(struct ir_value *value)
{
    return (struct ir_argument){.kind = IR_ARG_SCALAR, .value = value};
}

/* given: the argument that has the leaf; NULL: a result. */
static struct ir_argument argument_leaf(struct lowering *l, const struct call *call, const struct leaf *leaf,
                                        const struct ast *given)
{
    const struct symbol *formal = leaf->formal;
    if (formal->by_reference) return argument_variable(l, leaf);
    if (leaf->scalar) return argument_scalar(lower_symbol(l, leaf->scalar));
    if (type_is_scalar(formal->type)) return argument_scalar(lower_stored_element(l, leaf->region));
    if (formal->place == formal) return argument_place(l, call, leaf->region);
    return argument_tensor(l, leaf->region, formal, given);
}

static void add_argument(struct ir_call *c, struct ir_argument a) { c->arguments[c->count++] = a; }

static void add_leaves(struct lowering *l, struct ir_call *c, const struct leaves *leaves, const struct ast *given)
{
    for (int i = 0; i < leaves->count; i++) add_argument(c, argument_leaf(l, c->binding, &leaves->leaf[i], given));
}

static int argument_count(const struct call *call)
{
    int count =
        1 + call->result_leaves.count + call->decided.count + call->callee->formal_count + call->callee->dim_count;
    for (int i = 0; i < call->callee->formal_count; i++) count += call->leaves[i].count;
    return count;
}

struct ir_call *lower_call_of_function(struct lowering *l, const struct ast *n)
{
    const struct call *call = call_of(n);
    const struct symbol *callee = call->callee;
    struct ir_call *c = arena_new(l->mem, struct ir_call);
    c->callee = callee;
    c->binding = call;
    c->at = n->at;
    c->is_prepared = ptrmap_get(&l->hoisted, call) != NULL;
    if (!c->is_prepared) c->checks = lower_checks(l, call->checks, call);
    c->arguments = arena_array(l->mem, struct ir_argument, argument_count(call));
    if (callee->result && callee->result->kind == TYPE_TENSOR)
        add_argument(c, argument_place(l, call, result_region(l, call)));
    add_leaves(l, c, &call->result_leaves, NULL);
    add_leaves(l, c, &call->decided, NULL);
    for (int i = 0; i < callee->formal_count; i++) {
        const struct symbol *formal = callee->formals[i];
        add_leaves(l, c, &call->leaves[i], call->values[i]);
        if (type_is_struct(formal->type) || formal->by_reference) continue;
        if (call->regions[i])
            add_argument(c, argument_tensor(l, call->regions[i], formal, call->values[i]));
        else if (type_is_scalar(formal->type) && call->values[i])
            add_argument(c, argument_scalar(lower_value_as(l, call->values[i], formal->type)));
        else
            lower_unsupported(l, n->at, "this argument");
    }
    for (int d = 0; d < callee->dim_count; d++)
        add_argument(c, argument_scalar(lower_size(l, call->dims[d], ARITH_CHECKED)));
    return c;
}

/* ---- the whole ---- */

struct ir_value *lower_call(struct lowering *l, struct ast *n)
{
    const struct call *call = call_of(n);
    const struct symbol *callee = call->callee;
    struct ir_value *value = NULL;
    lower_prepare_arguments(l, call);
    use_call(l, n);
    lower_site(l, n->call.callee->at, callee->name);
    lower_check_statements(l, call->checks, call);
    lower_later_checks(l, n, NULL);
    lower_captured(l, call->result_symbol);
    ptrmap_set(&l->hoisted, call, n); /* its checks and inner calls are done */
    if (callee->kind == SYM_KERNEL) {
        lower_submit(l, n, call);
    } else if (n->type && type_is_scalar(n->type)) {
        value = lower_value(l, n);
    } else {
        struct ir_call *c = lower_call_of_function(l, n);
        lower_op(l, IR_CALL)->call = c;
    }
    return value;
}
