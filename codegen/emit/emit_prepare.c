/* emit_prepare.c - what has to happen before a statement, so that its expressions can be expressions of C.
 * Idea       C makes the operands of an operator and the arguments of a call in any order, and an expression cannot declare a
 *            tensor.  Where that matters, the parts of an expression go into variables first, one by one from left to right; what
 *            stands behind && and || goes into an `if`.  Everything else stays as it was written.
 * Invariant  an expression is evaluated once and only where the language evaluates it; a tensor that only a scalar needed is gone
 *            when the scalar is there.
 * Tests      test/lit/codegen/evaluation-order.pto, test/lit/run/expressions.pto
 */
#include "emit.h"
#include <ctype.h>
#include <string.h>

/* ---- questions ------------------------------------------------------------------------------------------------------------ */

/* An element of an array of scalars, or a scalar of a struct, which a call may assign. */
static bool may_change(const struct ast *n)
{
    bool part = (n->kind == AST_INDEX || n->kind == AST_MEMBER) && n->type && type_is_scalar(n->type);
    const struct region *r = part ? region_of(n) : NULL;
    return r ? r->base->dir != DIR_HOST : part && n->symbol && n->symbol->kind == SYM_VAR;
}

struct effects {
    int calls;   /* of functions */
    int awaits;
    int reads;   /* of what a call may change */
    int stated;  /* what no expression of C can do: make a tensor, give a size its value */
};

static bool visit_effects(void *cx, struct ast *n)
{
    struct effects *f = cx;
    const struct call *call = n->kind == AST_CALL ? call_of(n) : NULL;
    f->awaits += n->kind == AST_AWAIT;
    f->reads += may_change(n);
    f->stated += taken_of(n) != NULL;
    f->stated += n->kind == AST_CALL && !call && checks_of(n); /* `dim` tests bounds, although it looks at the shape only */
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

static struct effects effects_of_arguments(struct ast *args)
{
    struct effects f = {0};
    ast_walk_list(args, visit_effects, &f);
    return f;
}

static struct effects less(struct effects all, struct effects part)
{
    return (struct effects){all.calls - part.calls, all.awaits - part.awaits, all.reads - part.reads, all.stated - part.stated};
}

/* Would it show, in a failure or in what a function does, if n were evaluated after what comes later? */
static bool order_shows(const struct ast *n, struct effects own, struct effects later)
{
    bool simple = n->kind == AST_NAME || n->kind == AST_INT || n->kind == AST_FLOAT || n->kind == AST_BOOL;
    return ((later.calls > 0 || later.stated > 0) && !simple) || (own.calls > 0 && (later.awaits > 0 || later.reads > 0));
}

bool expr_needs_statements(struct ast *n)
{
    struct effects all = effects_of(n);
    if (all.stated > 0) return true;
    if (all.calls == 0) return false;
    if (n->kind == AST_UNARY) return expr_needs_statements(n->binary.left);
    if (n->kind == AST_BINARY) {
        struct effects left = effects_of(n->binary.left);
        bool ordered = n->binary.op == OP_AND || n->binary.op == OP_OR;
        if (!ordered && order_shows(n->binary.left, left, less(all, left))) return true;
        return expr_needs_statements(n->binary.left) || expr_needs_statements(n->binary.right);
    }
    if (n->kind != AST_CALL) return false;
    struct effects later = effects_of_arguments(n->call.args);
    for (struct ast *a = n->call.args; a; a = a->next) {
        struct effects own = effects_of(a->arg.value);
        later = less(later, own);
        if (order_shows(a->arg.value, own, later) || expr_needs_statements(a->arg.value)) return true;
    }
    return false;
}

/* ---- variables ------------------------------------------------------------------------------------------------------------- */

/* A name that says what is in it: `p_i_1` for p[i + 1]. */
static const char *name_for(struct emitter *e, const struct ast *n)
{
    enum { LONGEST = 24 };
    char name[LONGEST + 1];
    size_t length = 0;
    if (n->kind == AST_CALL && call_of(n)) return arena_printf(e->mem, "%s_value", call_of(n)->callee->name);
    for (const char *p = emit_source_text(e, n->kind == AST_AWAIT ? n->await.operand->at : n->at); *p; p++) {
        bool word = isalnum((unsigned char)*p) || *p == '_';
        if (!word && (length == 0 || name[length - 1] == '_')) continue;
        if (length == LONGEST) return n->kind == AST_AWAIT || n->kind == AST_INDEX ? "element" : "value";
        name[length++] = word ? *p : '_';
    }
    while (length > 0 && name[length - 1] == '_') length--;
    name[length] = '\0';
    return isalpha((unsigned char)name[0]) ? arena_copy(e->mem, name, length) : "value";
}

static void hold(struct emitter *e, struct ast *n, const struct strbuf *value)
{
    const char *name = names_take(&e->names, name_for(e, n));
    out_line(e->out, "const %s %s = %s;", c_scalar_type(n->type), name, strbuf_text(value));
    ptrmap_set(&e->hoisted, n, (void *)name);
    if (!taken_of(n)) return;
    ptrmap_set(&e->c_names, taken_of(n), (void *)name);
    if (!ptrmap_get(&e->used, taken_of(n))) out_line(e->out, "(void)%s;", name); /* as in x % 1: the size does not depend on it */
}

static void keep_always(struct emitter *e, struct ast *n)
{
    struct strbuf value = {0};
    const bool outer = e->uses_rt;
    e->uses_rt = false;
    bool element = n->kind == AST_AWAIT || n->kind == AST_INDEX || (n->kind == AST_MEMBER && region_of(n));
    if (element && (checks_of(n) || n->kind == AST_AWAIT)) emit_mark_site(e, n->at, n->kind == AST_AWAIT ? "await" : "element");
    if (element) element_print_checked(e, &value, n);
    else expr_print(e, &value, n, P_ANY);
    if (e->uses_rt && !element) emit_mark_site(e, n->at, n->kind == AST_CALL && call_of(n) ? call_of(n)->callee->name : "expression");
    hold(e, n, &value);
    strbuf_free(&value);
    e->uses_rt = outer;
}

static bool visit_changing(void *cx, struct ast *n)
{
    if (may_change(n)) *(bool *)cx = true;
    return true;
}

void expr_keep(struct emitter *e, struct ast *n)
{
    bool changes = false;
    if (ptrmap_get(&e->hoisted, n)) return;
    struct strbuf value = {0};
    const bool outer = e->uses_rt;
    e->uses_rt = false;
    expr_print(e, &value, n, P_ANY);
    bool fails = e->uses_rt;
    e->uses_rt = outer;
    strbuf_free(&value);
    ast_walk(n, visit_changing, &changes);
    if (fails || changes) keep_always(e, n);
}

/* ---- in order -------------------------------------------------------------------------------------------------------------- */

/* Tensors that only this scalar needs live in a scope of its own. */
static void open_scope(struct emitter *e, struct ast *n, struct open_block *open)
{
    const struct block_plan *plan = ptrmap_get(&e->plan->blocks, n);
    *open = (struct open_block){.parent = e->block, .block = n};
    if (plan) scope_begin(e, open, plan, n->at);
    if (plan) e->block = open;
}

static void close_scope(struct emitter *e, struct open_block *open)
{
    if (open->has_scope) out_line(e->out, "pto_scope_end(rt);");
    e->block = open->parent;
}

static void prepare_element(struct emitter *e, struct ast *n)
{
    struct open_block open;
    open_scope(e, n, &open);
    place_prepare(e, n->kind == AST_AWAIT ? n->await.operand : n);
    if (open.has_scope) keep_always(e, n);
    close_scope(e, &open);
}

static void prepare_call(struct emitter *e, struct ast *n)
{
    struct strbuf value = {0};
    struct open_block open;
    if (!expr_needs_statements(n)) return;
    open_scope(e, n, &open);
    call_emit(e, n, &value);
    hold(e, n, &value);
    close_scope(e, &open);
    strbuf_free(&value);
}

static void prepare_dim(struct emitter *e, struct ast *n)
{
    struct open_block open;
    open_scope(e, n, &open);
    place_prepare(e, n->call.args->arg.value);
    if (checks_of(n)) emit_mark_site(e, n->at, "dim");
    check_print_statements(e, checks_of(n), NULL);
    close_scope(e, &open);
}

static void prepare_builtin(struct emitter *e, struct ast *n)
{
    if (strcmp(n->call.callee->name, "dim") == 0) {
        prepare_dim(e, n);
        return;
    }
    struct effects later = effects_of_arguments(n->call.args);
    for (struct ast *a = n->call.args; a; a = a->next) {
        struct effects own = effects_of(a->arg.value);
        later = less(later, own);
        expr_prepare(e, a->arg.value);
        if (order_shows(a->arg.value, own, later)) expr_keep(e, a->arg.value);
    }
}

/* `bool both = a; if (both) { ...; both = b; }` */
static void prepare_shortcut(struct emitter *e, struct ast *n)
{
    struct ast *left = n->binary.left, *right = n->binary.right;
    bool is_and = n->binary.op == OP_AND;
    struct strbuf text = {0};
    expr_prepare(e, left);
    if (!expr_needs_statements(right)) return;
    const char *name = left->kind == AST_BINARY && left->binary.op == n->binary.op ? ptrmap_get(&e->hoisted, left) : NULL;
    if (!name) { /* else a && b && c has one variable */
        e->uses_rt = false;
        expr_print(e, &text, left, P_ANY);
        if (e->uses_rt) emit_mark_site(e, left->at, "condition");
        name = names_take(&e->names, is_and ? "both" : "either");
        out_line(e->out, "bool %s = %s;", name, strbuf_text(&text));
    }
    out_line(e->out, "if (%s%s) {", is_and ? "" : "!", name);
    e->out->depth++;
    const size_t mark = names_mark(&e->names);
    expr_prepare(e, right);
    strbuf_free(&text);
    e->uses_rt = false;
    expr_print(e, &text, right, P_ANY);
    if (e->uses_rt) emit_mark_site(e, right->at, "condition");
    out_line(e->out, "%s = %s;", name, strbuf_text(&text));
    names_close(&e->names, mark);
    e->out->depth--;
    out_line(e->out, "}");
    strbuf_free(&text);
    ptrmap_set(&e->hoisted, n, (void *)name);
}

static void prepare_binary(struct emitter *e, struct ast *n)
{
    if (n->binary.op == OP_AND || n->binary.op == OP_OR) {
        prepare_shortcut(e, n);
        return;
    }
    expr_prepare(e, n->binary.left);
    if (order_shows(n->binary.left, effects_of(n->binary.left), effects_of(n->binary.right))) expr_keep(e, n->binary.left);
    expr_prepare(e, n->binary.right);
}

void expr_prepare(struct emitter *e, struct ast *n)
{
    if (!n || ptrmap_get(&e->hoisted, n)) return;
    struct effects all = effects_of(n);
    if (all.calls == 0 && all.stated == 0) return;
    switch (n->kind) {
    case AST_UNARY: expr_prepare(e, n->binary.left); break;
    case AST_BINARY: prepare_binary(e, n); break;
    case AST_AWAIT: case AST_INDEX: case AST_MEMBER: prepare_element(e, n); break;
    case AST_CALL:
        if (call_of(n)) prepare_call(e, n);
        else prepare_builtin(e, n);
        break;
    default: break;
    }
    if (!taken_of(n)) return;
    const char *held = ptrmap_get(&e->hoisted, n);
    if (held) ptrmap_set(&e->c_names, taken_of(n), (void *)held);
    else keep_always(e, n);
}

void place_prepare(struct emitter *e, struct ast *n)
{
    switch (n->kind) {
    case AST_MEMBER: place_prepare(e, n->member.object); break;
    case AST_INDEX:
        place_prepare(e, n->index.object);
        for (struct ast *i = n->index.indices; i; i = i->next) {
            if (i->kind == AST_INDEX_ALL) continue;
            expr_prepare(e, i->range.low);
            if (i->kind != AST_INDEX_POINT) expr_prepare(e, i->range.high);
        }
        break;
    case AST_CALL:
        if (!call_of(n)) break;
        if (call_of(n)->result_symbol && call_of(n)->result_symbol->hidden) call_declare_new(e, call_of(n)->result_symbol);
        call_emit(e, n, NULL);
        break;
    default: break;
    }
}

void type_prepare(struct emitter *e, struct ast *type)
{
    for (; type && type->kind == AST_TYPE_ARRAY; type = type->type_array.element) expr_prepare(e, type->type_array.length);
    for (struct ast *d = type ? type->type_name.dims : NULL; d; d = d->next) expr_prepare(e, d);
}

void attribute_prepare(struct emitter *e, struct ast *n)
{
    expr_prepare(e, n);
    if (effects_of(n).calls > 0) expr_keep(e, n);
}

void arguments_prepare(struct emitter *e, const struct call *call)
{
    const struct symbol *callee = call->callee;
    struct effects later = {0};
    bool again = false; /* a `where` of the kernel looks at arguments before the task is made */
    for (const struct check *c = call->checks; c; c = c->next) again |= c->kind == CHECK_WHERE;
    for (int i = 0; i < callee->formal_count; i++) ast_walk(call->values[i], visit_effects, &later);
    for (int i = 0; i < callee->formal_count; i++) {
        struct ast *v = call->values[i];
        if (!v) continue;
        struct effects own = effects_of(v);
        later = less(later, own);
        if (!type_is_scalar(callee->formals[i]->type)) {
            place_prepare(e, v);
            continue;
        }
        expr_prepare(e, v);
        if (own.calls > 0 || (own.awaits > 0 && again) || order_shows(v, own, later)) expr_keep(e, v);
    }
}
