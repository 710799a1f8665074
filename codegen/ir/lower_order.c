/* lower_order.c - evaluation order: what has to happen before a statement, so that its expressions can be expressions
 * of C.
 * Idea       C evaluates the operands of an operator and the arguments of a call in any order, and an expression cannot
 *            declare a tensor.  Where that matters, the parts of an expression go into temporaries first, one by one
 *            from left to right; the right operand of && and || goes into a branch.  Everything else stays as it was
 *            written.
 * Invariant  an expression is evaluated once and only where the language evaluates it; the lifetime of a tensor that
 *            only a scalar needs ends when the scalar is there.
 * Tests      test/lit/codegen/evaluation-order.pto, test/lit/run/expressions.pto
 */
#include "lower_parts.h"
#include "source_text.h"
#include <ctype.h>
#include <string.h>

/* ---- questions ---- */

/* An element of an array of scalars, or a scalar of a struct, which a call may assign, or move. */
static bool may_change(const struct ast *n)
{
    bool part = (n->kind == AST_INDEX || n->kind == AST_MEMBER) && n->type && type_is_scalar(n->type);
    const struct region *r = part ? region_of(n) : NULL;
    return r || (part && n->symbol && n->symbol->kind == SYM_VAR);
}

struct effects {
    int calls; /* of functions */
    int awaits;
    int reads;  /* of memory that a call may change */
    int stated; /* what no expression of C can do: make a tensor, give a size its value */
};

static bool visit_effects(void *cx, struct ast *n)
{
    struct effects *f = cx;
    const struct call *call = n->kind == AST_CALL ? call_of(n) : NULL;
    f->awaits += n->kind == AST_AWAIT;
    f->reads += may_change(n);
    f->stated += taken_of(n) != NULL;
    /* `dim` tests bounds, although it looks at the shape only */
    f->stated += n->kind == AST_CALL && !call && checks_of(n);
    if (!call) return true;
    f->calls++;
    f->stated += n->type && n->type->kind != TYPE_VOID && !type_is_scalar(n->type);
    return true;
}

static struct effects effects_of(struct ast *n)
{
    struct effects f = {0};
    ast_walk(n, visit_effects, &f);
    return f;
}

bool lower_has_call(const struct ast *n) { return effects_of((struct ast *)(uintptr_t)n).calls > 0; }

static struct effects effects_of_arguments(struct ast *args)
{
    struct effects f = {0};
    ast_walk_list(args, visit_effects, &f);
    return f;
}

static struct effects less(struct effects all, struct effects part)
{
    return (struct effects){all.calls - part.calls, all.awaits - part.awaits, all.reads - part.reads,
                            all.stated - part.stated};
}

/* Would it show, in a failure or in the effects of a function, if n were evaluated after the later parts? */
static bool order_shows(const struct ast *n, struct effects own, struct effects later)
{
    bool simple = n->kind == AST_NAME || n->kind == AST_INT || n->kind == AST_FLOAT || n->kind == AST_BOOL;
    return ((later.calls > 0 || later.stated > 0) && !simple) ||
           (own.calls > 0 && (later.awaits > 0 || later.reads > 0));
}

bool needs_statements(struct ast *n)
{
    struct effects all = effects_of(n);
    if (all.stated > 0) return true;
    if (all.calls == 0) return false;
    if (n->kind == AST_UNARY) return needs_statements(n->binary.left);
    if (n->kind == AST_BINARY) {
        struct effects left = effects_of(n->binary.left);
        bool ordered = n->binary.op == OP_AND || n->binary.op == OP_OR;
        if (!ordered && order_shows(n->binary.left, left, less(all, left))) return true;
        return needs_statements(n->binary.left) || needs_statements(n->binary.right);
    }
    if (n->kind != AST_CALL) return false;
    if (select_of(n)) { /* C has an order of its own for these */
        for (struct ast *a = n->call.args; a; a = a->next)
            if (needs_statements(a->arg.value)) return true;
        return false;
    }
    struct effects later = effects_of_arguments(n->call.args);
    for (struct ast *a = n->call.args; a; a = a->next) {
        struct effects own = effects_of(a->arg.value);
        later = less(later, own);
        if (order_shows(a->arg.value, own, later) || needs_statements(a->arg.value)) return true;
    }
    return false;
}

/* ---- temporaries ---- */

/* A name that says what the value is: `p_i_1` for p[i + 1]. */
static const char *name_for(struct lowering *l, const struct ast *n)
{
    enum { LONGEST = 24 };
    char name[LONGEST + 1];
    size_t length = 0;
    if (n->kind == AST_CALL && call_of(n)) return arena_printf(l->mem, "%s_value", call_of(n)->callee->name);
    for (const char *p = source_one_line(l->front, l->mem, n->kind == AST_AWAIT ? n->await.operand->at : n->at); *p;
         p++) {
        bool word = isalnum((unsigned char)*p) || *p == '_';
        if (!word && (length == 0 || name[length - 1] == '_')) continue;
        if (length == LONGEST) return n->kind == AST_AWAIT || n->kind == AST_INDEX ? "element" : "value";
        name[length++] = word ? *p : '_';
    }
    while (length > 0 && name[length - 1] == '_') length--;
    name[length] = '\0';
    return isalpha((unsigned char)name[0]) ? arena_copy(l->mem, name, length) : "value";
}

struct ir_temporary *lower_let(struct lowering *l, const char *wanted, const struct type *type, struct ir_value *value,
                               bool is_const)
{
    struct ir_temporary *t = arena_new(l->mem, struct ir_temporary);
    *t = (struct ir_temporary){.wanted = wanted, .type = type};
    struct ir_op *op = lower_op(l, IR_LET);
    op->let.key = op->let.temporary = t;
    op->let.wanted = wanted;
    op->let.type = type;
    op->let.value = value;
    op->let.is_const = is_const;
    return t;
}

/* The value of n, which nothing evaluates again. */
static void hold(struct lowering *l, struct ast *n, struct ir_value *value)
{
    struct ir_temporary *t = lower_let(l, name_for(l, n), n->type, value, true);
    ptrmap_set(&l->hoisted, n, t);
    t->stands_for = taken_of(n);
    l->block->last->let.unused = IR_UNUSED_MAYBE; /* as in x % 1: the size does not depend on it, nor on a part of it */
}

static void keep_always(struct lowering *l, struct ast *n)
{
    const bool element = n->kind == AST_AWAIT || n->kind == AST_INDEX || (n->kind == AST_MEMBER && region_of(n));
    struct ir_value *value;
    if (element) {
        const bool has_site = checks_of(n) || n->kind == AST_AWAIT;
        if (has_site) lower_site(l, n->at, n->kind == AST_AWAIT ? "await" : "element");
        lower_check_statements(l, checks_of(n), NULL);
        if (use_may_be_unwritten(l, region_of(n->kind == AST_AWAIT ? n->await.operand : n)->base))
            lower_later_checks(l, n, has_site ? NULL : "element");
        if (n->kind == AST_AWAIT) lower_check_statements(l, checks_of(n->await.operand), NULL);
        value = lower_element(l, n);
    } else {
        value = lower_value(l, n);
        lower_site_of(l, value, n->at, n->kind == AST_CALL && call_of(n) ? call_of(n)->callee->name : "expression");
    }
    hold(l, n, value);
}

static bool visit_changing(void *cx, struct ast *n)
{
    if (may_change(n)) *(bool *)cx = true;
    return true;
}

void lower_keep(struct lowering *l, struct ast *n)
{
    bool changes = false;
    if (ptrmap_get(&l->hoisted, n)) return;
    ast_walk(n, visit_changing, &changes);
    if (changes || ir_can_fail(lower_value(l, n))) keep_always(l, n);
}

/* ---- in order ---- */

static void prepare_element(struct lowering *l, struct ast *n)
{
    struct open_block open;
    struct ast *place = n->kind == AST_AWAIT ? n->await.operand : n;
    if (l->is_expression) {
        lower_prepare_place(l, place);
        use_memory(l, n);
        return;
    }
    lower_scope_open(l, n, &open);
    lower_prepare_place(l, place);
    use_memory(l, n);
    if (open.owns) keep_always(l, n);
    lower_scope_close(l, &open);
}

static void prepare_call(struct lowering *l, struct ast *n)
{
    struct open_block open;
    if (l->is_expression || !needs_statements(n)) {
        const bool outer = l->is_expression;
        l->is_expression = true;
        lower_prepare_arguments(l, call_of(n));
        use_call(l, n);
        l->is_expression = outer;
        return;
    }
    lower_scope_open(l, n, &open);
    hold(l, n, lower_call(l, n));
    lower_scope_close(l, &open);
}

static void prepare_dim(struct lowering *l, struct ast *n)
{
    struct open_block open;
    struct ast *of = n->call.args->arg.value;
    /* the shape of a tensor is there without it; tiles are named */
    void (*const prepare)(struct lowering *, struct ast *) =
        of->type->kind == TYPE_TENSOR ? lower_prepare_place : lower_prepare;
    if (l->is_expression) {
        prepare(l, of);
        return;
    }
    lower_scope_open(l, n, &open);
    prepare(l, of);
    if (checks_of(n)) lower_site(l, n->at, "dim");
    lower_check_statements(l, checks_of(n), NULL);
    lower_scope_close(l, &open);
}

static struct ir_value *condition(struct lowering *l, struct ast *n)
{
    struct ir_value *v = lower_value(l, n);
    lower_site_of(l, v, n->at, "condition");
    return v;
}

/* What may be left out, in a block of its own that stores its value. */
static struct ir_block *prepare_arm(struct lowering *l, struct ast *arm, const struct type *type,
                                    struct ir_temporary *to, const char *what)
{
    struct ir_block *outer, *block = lower_block_begin(l, &outer);
    lower_prepare(l, arm);
    struct ir_value *value = lower_value_as(l, arm, type);
    lower_site_of(l, value, arm->at, what);
    struct ir_op *set = lower_op(l, IR_SET);
    set->set.key = set->set.temporary = to;
    set->set.value = value;
    lower_block_end(l, outer);
    return block;
}

/* What may be left out, as a part of an expression of C. */
static struct ir_block *uses_of_arm(struct lowering *l, struct ast *arm)
{
    struct ir_block *outer, *block = lower_block_begin(l, &outer);
    lower_only_uses(l, arm);
    lower_block_end(l, outer);
    return block;
}

/* The variable for the value of a select. */
static struct ir_temporary *let_selected(struct lowering *l, const struct type *type)
{
    const enum ir_value_kind kind = type->kind == TYPE_BOOL  ? IR_BOOLEAN
                                    : type->kind == TYPE_INT ? IR_INTEGER
                                                             : IR_REAL;
    struct ir_temporary *selected = lower_let(l, "selected", type, ir_value_new(l->mem, kind, type), false);
    l->block->last->let.unused = IR_UNUSED_MAYBE; /* its value may be known */
    return selected;
}

/* `int64_t selected = 0; if (c) { ...; selected = a; } else { ...; selected = b; }` */
static void prepare_select(struct lowering *l, struct ast *n)
{
    struct ast *cond = n->call.args->arg.value, *yes = n->call.args->next->arg.value,
               *no = n->call.args->next->next->arg.value;
    lower_prepare(l, cond);
    if (l->is_expression || (!needs_statements(yes) && !needs_statements(no))) {
        struct ir_op *maybe = lower_op(l, IR_IF);
        maybe->branch.then = uses_of_arm(l, yes);
        maybe->branch.other = uses_of_arm(l, no);
        return;
    }
    struct ir_value *decided = condition(l, cond);
    struct ir_temporary *selected = let_selected(l, n->type);
    struct ir_op *branch = lower_op(l, IR_IF);
    branch->branch.cond.value = decided;
    branch->branch.then = prepare_arm(l, yes, n->type, selected, "expression");
    branch->branch.other = prepare_arm(l, no, n->type, selected, "expression");
    ptrmap_set(&l->hoisted, n, selected);
}

static void prepare_builtin(struct lowering *l, struct ast *n)
{
    if (strcmp(n->call.callee->name, "dim") == 0) {
        prepare_dim(l, n);
        return;
    }
    if (select_of(n)) {
        prepare_select(l, n);
        return;
    }
    struct effects later = effects_of_arguments(n->call.args);
    for (struct ast *a = n->call.args; a; a = a->next) {
        struct effects own = effects_of(a->arg.value);
        later = less(later, own);
        lower_prepare(l, a->arg.value);
        if (!l->is_expression && order_shows(a->arg.value, own, later)) lower_keep(l, a->arg.value);
    }
}

/* `bool both = a; if (both) { ...; both = b; }` */
static void prepare_shortcut(struct lowering *l, struct ast *n)
{
    struct ast *left = n->binary.left, *right = n->binary.right;
    const bool is_and = n->binary.op == OP_AND;
    lower_prepare(l, left);
    if (l->is_expression || !needs_statements(right)) {
        lower_op(l, IR_IF)->branch.then = uses_of_arm(l, right);
        return;
    }
    struct ir_temporary *both =
        left->kind == AST_BINARY && left->binary.op == n->binary.op ? ptrmap_get(&l->hoisted, left) : NULL;
    if (!both) /* else a && b && c has one variable */
        both = lower_let(l, is_and ? "both" : "either", n->type, condition(l, left), false);
    struct ir_op *branch = lower_op(l, IR_IF);
    struct ir_value *decided = ir_of_temporary(l->mem, both);
    branch->branch.cond.value = is_and ? decided : ir_unary(l->mem, OP_NOT, decided);
    branch->branch.then = prepare_arm(l, right, n->type, both, "condition");
    ptrmap_set(&l->hoisted, n, both);
}

static void prepare_binary(struct lowering *l, struct ast *n)
{
    if (n->binary.op == OP_AND || n->binary.op == OP_OR) {
        prepare_shortcut(l, n);
        return;
    }
    lower_prepare(l, n->binary.left);
    if (!l->is_expression && order_shows(n->binary.left, effects_of(n->binary.left), effects_of(n->binary.right)))
        lower_keep(l, n->binary.left);
    lower_prepare(l, n->binary.right);
}

static void prepare(struct lowering *l, struct ast *n)
{
    switch (n->kind) {
    case AST_UNARY: lower_prepare(l, n->binary.left); break;
    case AST_BINARY: prepare_binary(l, n); break;
    case AST_NAME: use_memory(l, n); break;
    case AST_AWAIT:
    case AST_INDEX:
    case AST_MEMBER: prepare_element(l, n); break;
    case AST_CALL:
        if (call_of(n))
            prepare_call(l, n);
        else
            prepare_builtin(l, n);
        break;
    default: break;
    }
    if (l->is_expression || !taken_of(n)) return;
    struct ir_temporary *held = ptrmap_get(&l->hoisted, n);
    if (held)
        held->stands_for = taken_of(n);
    else
        keep_always(l, n);
}

/* Nothing of n has to be a statement. */
static bool is_expression(struct ast *n)
{
    if ((n->kind == AST_NAME || n->kind == AST_INT) && !taken_of(n)) return true;
    const struct effects all = effects_of(n);
    return all.calls == 0 && all.stated == 0;
}

void lower_prepare(struct lowering *l, struct ast *n)
{
    const bool outer = l->is_expression;
    if (!n || ptrmap_get(&l->hoisted, n)) return;
    if (n->bad) {
        use_unknown(l, n);
        return;
    }
    l->is_expression = outer || is_expression(n);
    prepare(l, n);
    l->is_expression = outer;
}

void lower_only_uses(struct lowering *l, struct ast *n)
{
    const bool outer = l->is_expression;
    l->is_expression = true;
    lower_prepare(l, n);
    l->is_expression = outer;
}

void lower_prepare_named(struct lowering *l, struct ast *n)
{
    if (n->bad || (n->kind == AST_CALL && !call_of(n))) {
        lower_prepare(l, n);
        return;
    }
    lower_prepare_place(l, n);
    if (n->kind == AST_NAME || n->kind == AST_INDEX || n->kind == AST_MEMBER) use_memory(l, n);
}

void lower_prepare_place(struct lowering *l, struct ast *n)
{
    switch (n->kind) {
    case AST_MEMBER: lower_prepare_place(l, n->member.object); break;
    case AST_INDEX:
        lower_prepare_place(l, n->index.object);
        for (struct ast *i = n->index.indices; i; i = i->next) {
            if (i->range.low) lower_prepare(l, i->range.low);
            if (i->range.high) lower_prepare(l, i->range.high);
            if (i->range.step) lower_prepare(l, i->range.step);
        }
        break;
    case AST_CALL:
        if (l->is_expression) {
            lower_prepare(l, n);
            break;
        }
        if (!call_of(n)) break;
        if (call_of(n)->result_symbol && call_of(n)->result_symbol->hidden)
            lower_new_tensors(l, call_of(n)->result_symbol, NULL);
        lower_call(l, n);
        break;
    default: break;
    }
}

void lower_prepare_type(struct lowering *l, struct ast *type)
{
    for (; type && type->kind == AST_TYPE_ARRAY; type = type->type_array.element)
        lower_prepare(l, type->type_array.length);
    for (struct ast *d = type ? type->type_name.dims : NULL; d; d = d->next) lower_prepare(l, d);
}

void lower_prepare_attribute(struct lowering *l, struct ast *n)
{
    if (!n->bad && n->type->kind == TYPE_TENSOR) {
        lower_prepare_named(l, n);
        return;
    }
    lower_prepare(l, n);
    if (!l->is_expression && effects_of(n).calls > 0) lower_keep(l, n);
}

void lower_prepare_arguments(struct lowering *l, const struct call *call)
{
    const struct symbol *callee = call->callee;
    struct effects later = {0};
    bool again = false; /* a `where` of the kernel looks at arguments before the task is submitted */
    for (const struct check *c = call->checks; c; c = c->next) again |= c->kind == CHECK_WHERE;
    for (int i = 0; i < callee->formal_count; i++) ast_walk(call->values[i], visit_effects, &later);
    for (int i = 0; i < callee->formal_count; i++) {
        struct ast *v = call->values[i];
        if (!v) continue;
        struct effects own = effects_of(v);
        later = less(later, own);
        if (!type_is_scalar(callee->formals[i]->type) || callee->formals[i]->by_reference) {
            lower_prepare_place(l, v);
            continue;
        }
        lower_prepare(l, v);
        if (l->is_expression) continue;
        if (own.calls > 0 || (own.awaits > 0 && again) || order_shows(v, own, later)) lower_keep(l, v);
    }
}
