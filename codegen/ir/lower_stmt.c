/* lower_stmt.c - statements without a body, one function for one kind.
 * Tests      test/lit/codegen/, test/lit/run/statements.pto
 */
#include "lower_parts.h"
#include "sema/decided.h"
#include "source_text.h"
#include "support/strbuf.h"
#include <string.h>

/* ---- values ---- */

struct ir_value *lower_evaluated(struct lowering *l, struct ast *n, const struct type *t, const char *what)
{
    struct ir_value *v = lower_value_as(l, n, t ? t : n->type);
    lower_site_of(l, v, n->at, what); /* the caller appends the operation that evaluates it */
    return v;
}

struct ir_value *lower_prepared(struct lowering *l, struct ast *n, const struct type *t, const char *what)
{
    lower_prepare(l, n);
    return lower_evaluated(l, n, t, what);
}

void lower_statement_checks(struct lowering *l, const struct ast *n, const char *what)
{
    if (l->f->is_broken || !checks_of(n)) return;
    if (!checks_of(n)->guard) lower_site(l, n->at, what); /* those of a loop's iterations have sites of their own */
    lower_check_statements(l, checks_of(n), NULL);
}

/* ---- variables ---- */

static struct ir_op *let(struct lowering *l, const void *key, const char *wanted, const struct type *type,
                         struct ir_value *value, bool is_const, enum ir_unused unused)
{
    struct ir_op *op = lower_op(l, IR_LET);
    op->let.key = key;
    op->let.wanted = wanted;
    op->let.type = type;
    op->let.value = value;
    op->let.is_const = is_const;
    op->let.unused = unused;
    return op;
}

/* Sizes that name a `var` are stored now: the var may change, a shape does not. */
void lower_captured(struct lowering *l, const struct symbol *s)
{
    for (int i = 0; s && s->captured[i]; i++) {
        struct ir_value *value = lower_size(l, s->captured[i], ARITH_CHECKED);
        let(l, &s->captured[i], arena_printf(l->mem, "%s_n%d", s->name, i), value->type, value, true, IR_UNUSED_MAYBE);
    }
}

static const char *leaf_name(struct lowering *l, const struct symbol *s)
{
    const char *dot = strchr(s->name, '.');
    if (!s->hidden) return s->name;
    return dot ? arena_printf(l->mem, "%.*s_result%s", (int)(dot - s->name), s->name, dot)
               : arena_printf(l->mem, "%s_result", s->name);
}

void lower_tensor(struct lowering *l, const struct symbol *s)
{
    if (l->open->is_value && !l->open->owns && !s->place) l->at = l->open->scope->at;
    l->open->owns |= !s->place;
    struct ir_op *op = lower_op(l, IR_TENSOR);
    op->tensor.symbol = s;
    op->tensor.wanted = leaf_name(l, s);
}

static void lower_new_leaf(struct lowering *l, const struct symbol *s, const struct ast *declared)
{
    if (declared) use_begin(l, s, declared);
    if (s->exchange)
        lower_exchange(l, s);
    else if (!type_is_scalar(s->type))
        lower_tensor(l, s);
    else if (!s->place)
        let(l, s, leaf_name(l, s), s->type, ir_integer(l->mem, 0), false, IR_UNUSED_MAYBE);
    if (s->next && type_is_scalar(s->type)) lower_new_leaf(l, s->next, NULL);
}

/* The extents of s that the run decides, and its tensors. */
void lower_new_tensors(struct lowering *l, const struct symbol *s, const struct ast *declared)
{
    symbol_list leaves = {0};
    for (int i = 0; i < s->decided_count; i++)
        let(l, s->decided[i], arena_printf(l->mem, "%s_%s", leaf_name(l, s), s->decided[i]->decided_name),
            s->decided[i]->type, ir_integer(l->mem, 0), false, IR_UNUSED_MAYBE);
    symbol_leaves((struct symbol *)(uintptr_t)s, &leaves);
    for (size_t i = 0; i < leaves.count; i++) lower_new_leaf(l, leaves.data[i], declared);
    vec_free(&leaves);
}

static void lower_alloc(struct lowering *l, const struct ast *n, const struct symbol *s)
{
    struct ir_op *op = lower_op(l, IR_ALLOC);
    op->alloc.symbol = s;
    op->alloc.bytes = lower_bytes(l, s->type, ARITH_CHECKED);
    op->alloc.site = n->name_at.end ? n->name_at : n->at;
    op->alloc.maker = (struct maker){.at = n->at, .name = n->name};
}

/* ---- declarations ---- */

/* A call makes its result itself, unless that may have to lie where the result of this function will be (results.c). */
static bool may_be_result(const struct lowering *l, const struct symbol *leaf)
{
    const struct symbol *place = l->orch->result_place;
    bool is_known = !leaf->captured || !leaf->captured[0];
    for (int d = 0; d < leaf->type->rank; d++) is_known &= !decided_names_number(leaf->type->extent[d]);
    return place && place->decided_count > 0 && is_known && !leaf->exchange;
}

static void lower_new_let(struct lowering *l, struct ast *n, struct symbol *s)
{
    symbol_list leaves = {0};
    lower_new_tensors(l, s, n);
    symbol_leaves(s, &leaves);
    for (size_t i = 0; i < leaves.count; i++) {
        const struct symbol *leaf = leaves.data[i];
        if (leaf->type->kind == TYPE_TENSOR && !n->decl.value) { /* a value brings its storage along */
            lower_alloc(l, n, leaf);
            lower_cells(l, n);
        } else if (leaf->type->kind == TYPE_TENSOR && n->decl.value->kind == AST_CALL && may_be_result(l, leaf)) {
            lower_alloc(l, n, leaf);
        } else if (type_is_scalar(leaf->type) && leaf->place) {
            struct ir_op *op = lower_op(l, IR_SET);
            op->set.target = lower_symbol(l, leaf->place);
            op->set.value = ir_integer(l->mem, 0);
        }
    }
    vec_free(&leaves);
}

/* As a statement, or all that one assigns. */
void lower_whole_call(struct lowering *l, struct ast *n)
{
    if (l->is_expression || !call_of(n))
        lower_prepare(l, n);
    else
        lower_call(l, n);
}

/* A tensor, or a struct with all its parts. */
static void lower_let_tensors(struct lowering *l, struct ast *n, struct symbol *s)
{
    struct ast *value = n->decl.value;
    const bool is_new = !s->region && !s->alias_of, is_call = value && value->kind == AST_CALL && is_new;
    lower_prepare_type(l, n->decl.type);
    if (value && !is_call) lower_prepare_named(l, value);
    lower_statement_checks(l, n, s->name);
    if (is_new && value && !is_call) lower_later_checks(l, n, checks_of(n) ? NULL : s->name);
    if (!is_call) lower_captured(l, s);
    if (is_new) lower_new_let(l, n, s); /* else: another name for a piece of another tensor, or for another struct */
    if (is_call) {
        lower_whole_call(l, value);
    } else if (value && is_new && value->symbol) {
        const struct symbol *from = symbol_behind(value);
        use_views(l, value);
        lower_take_site(l, from, value);
        lower_take(l, s, from, s->keeps ? TAKE_KEEP : TAKE_FIRST, value);
    }
}

static void lower_scalar(struct lowering *l, struct ast *n, const struct symbol *s)
{
    if (n->kind == AST_LET && s->has_value) { /* a constant: uses of the name are its value */
        lower_only_uses(l, n->decl.value);
        return;
    }
    lower_statement_checks(l, n, s->name);
    struct ir_value *value = lower_prepared(l, n->decl.value, s->type, s->name);
    let(l, s, s->name, s->type, value, n->kind == AST_LET, IR_UNUSED_MAYBE);
}

static void lower_declaration(struct lowering *l, struct ast *n)
{
    use_declaration(l, n);
    if (n->bad || !n->symbol) {
        use_bad_declaration(l, n);
        return;
    }
    if (type_is_scalar(n->symbol->type))
        lower_scalar(l, n, n->symbol);
    else
        lower_let_tensors(l, n, n->symbol);
    use_name_defined(l, n->symbol, n);
}

static void lower_view_statement(struct lowering *l, struct ast *n)
{
    lower_prepare_named(l, n->view.tensor);
    for (struct ast *t = n->view.tiles; t; t = t->next) lower_prepare(l, t);
    lower_statement_checks(l, n, n->name);
    if (!n->symbol) return;
    use_declaration(l, n);
    use_name_defined(l, n->symbol, n);
    lower_captured(l, n->symbol);
    lower_cells(l, n);
}

/* ---- assignments ---- */

static bool visit_function_call(void *cx, struct ast *n)
{
    *(bool *)cx |= n->kind == AST_CALL && call_of(n);
    return true;
}

/* The value of an assignment to memory.  A function may move what lies there, so it is called before the place is
 * looked up. */
static struct ir_value *lower_stored(struct lowering *l, struct ast *n, const struct type *t, const char *what)
{
    bool calls = false;
    struct ir_value *value = lower_prepared(l, n, t, what);
    ast_walk(n, visit_function_call, &calls);
    return calls ? ir_of_temporary(l->mem, lower_let(l, "value", t, value, true)) : value;
}

/* An array of scalars that no call has seen is this function's alone: no task uses its elements. */
static void lower_store(struct lowering *l, struct ast *n)
{
    const struct region *r = region_of(n->assign.target);
    struct ir_value *value = lower_stored(l, n->assign.value, n->assign.target->type, "assignment");
    const struct ir_view *view = lower_view(l, r, VIEW_ELEMENT);
    const bool is_private = r->base->kind == SYM_LET && !r->base->is_lent;
    lower_statement_checks(l, n->assign.target, "assignment");
    if (!is_private) lower_site(l, n->at, "assignment");
    struct ir_op *op = lower_op(l, IR_STORE);
    op->store.view = view;
    op->store.value = value;
    op->store.is_private = is_private;
}

static void lower_set(struct lowering *l, struct ast *n, const struct symbol *s)
{
    const bool is_elsewhere = s->place || s->by_reference;
    struct ir_value *value = is_elsewhere ? lower_stored(l, n->assign.value, s->type, s->name)
                                          : lower_prepared(l, n->assign.value, s->type, s->name);
    struct ir_op *op = lower_op(l, IR_SET);
    op->set.value = value;
    if (is_elsewhere)
        op->set.target = lower_symbol(l, s);
    else
        op->set.key = op->set.symbol = s;
}

static void lower_assign(struct lowering *l, struct ast *n)
{
    struct ast *target = n->assign.target, *value = n->assign.value;
    const struct symbol *s = target->kind == AST_NAME || target->kind == AST_MEMBER ? target->symbol : NULL;
    if (n->bad) {
        use_unknown(l, target);
        lower_prepare(l, value);
        return;
    }
    lower_prepare_place(l, target);
    lower_statement_checks(l, n, "assignment");
    if (vars_is_place(target)) {
        lower_var_assign(l, n);
        return;
    }
    if (l->f->is_broken) {
        lower_prepare(l, value);
    } else if (s && s->kind == SYM_VAR && !region_of(target)) {
        lower_set(l, n, s);
    } else if (type_is_scalar(target->type)) {
        lower_store(l, n);
    } else if (value->kind == AST_CALL && call_of(value)) {
        lower_prepare_place(l, value);
    } else {
        lower_unsupported(l, n->at, "this assignment");
    }
    use_assigned(l, target);
}

static void lower_expr_stmt(struct lowering *l, struct ast *n)
{
    struct ast *call = n->expr_stmt.expr;
    lower_statement_checks(l, n, "call");
    if (call->bad || call->kind != AST_CALL || !call_of(call)) {
        lower_prepare(l, call);
        lower_unsupported(l, n->at, "this statement");
    } else if (call->type && type_is_scalar(call->type)) {
        struct ir_value *value = lower_prepared(l, call, NULL, call_of(call)->callee->name);
        lower_op(l, IR_SET)->set.value = value; /* to nothing */
    } else {
        lower_prepare_place(l, call);
    }
}

/* ---- ends ---- */

static void lower_drop(struct lowering *l, struct ast *n)
{
    for (struct ast *name = n->drop.names; name; name = name->next)
        if (!name->bad && structs_array_of(name)) lower_prepare_named(l, name);
    lower_statement_checks(l, n, "drop");
    for (struct ast *name = n->drop.names; name; name = name->next) {
        symbol_list leaves = {0};
        if (!name->bad && structs_array_of(name)) { /* whose buffer stays */
            use_element_dropped(l, name);
            continue;
        }
        if (name->bad || !name->symbol) continue;
        use_leaves(l, IR_USE_DROP, name->symbol, name);
        symbol_leaves(name->symbol, &leaves);
        lower_site(l, name->at, "drop");
        for (size_t i = 0; i < leaves.count; i++) {
            const struct symbol *s = leaves.data[i];
            const bool is_own = tensor_is_new(s) && !s->returned;
            if (s->type->kind != TYPE_TENSOR || s->dir == DIR_HOST) continue; /* a host field is borrowed */
            if (!is_own && s->kind != SYM_FORMAL) {
                lower_unsupported(l, name->at, "dropping this name");
                continue;
            }
            struct ir_op *op = lower_op(l, IR_RELEASE);
            op->release.symbol = s;
            op->release.is_argument = !is_own;
        }
        vec_free(&leaves);
    }
}

/* A tensor or a scalar of this function that does not lie where the caller wants it. */
static void lower_return_leaf(struct lowering *l, const struct symbol *s, const struct symbol *place)
{
    if (type_is_scalar(s->type)) {
        struct ir_op *op = lower_op(l, IR_SET);
        op->set.target = lower_symbol(l, place);
        op->set.value = lower_symbol(l, s);
    } else {
        struct ir_op *op = lower_op(l, IR_GIVE);
        op->give.place = place;
        op->give.view = lower_view(l, lower_whole(l, s), VIEW_OF_TASK);
    }
}

static void lower_return_name(struct lowering *l, const struct ast *value)
{
    symbol_list leaves = {0}, places = {0};
    if (l->f->is_broken || value->symbol->returned) return; /* it lies there already */
    lower_site(l, value->at, "return");
    symbol_leaves(value->symbol, &leaves);
    flat_results(l->orch, &places);
    for (size_t i = 0; i < leaves.count; i++) lower_return_leaf(l, leaves.data[i], places.data[i]);
    lower_decided(l, l->orch->result_place, value->symbol->type);
    vec_free(&leaves);
    vec_free(&places);
}

static void lower_return(struct lowering *l, struct ast *n)
{
    struct ast *value = n->ret.value;
    const bool scalar = value && type_is_scalar(l->orch->result);
    const bool is_name = value && use_returned(l, value);
    struct ir_temporary *result = NULL;
    lower_statement_checks(l, n, "return");
    if (is_name) {
        lower_later_checks(l, n, checks_of(n) ? NULL : "return");
    } else if (value && !(scalar || value->kind == AST_CALL)) {
        lower_prepare_named(l, value);
        if (!value->bad && value->kind != AST_NAME) use_part(l, value);
    }
    if (scalar) {
        if (!is_name) lower_prepare(l, value);
        struct ir_value *v = lower_evaluated(l, value, l->orch->result, "return");
        result = lower_let(l, "result", l->orch->result, v, true);
    } else if (value && value->kind == AST_CALL) {
        lower_whole_call(l, value);
    } else if (value) {
        lower_return_name(l, value);
    }
    l->at = n->at;
    lower_leave_scopes(l, true);
    lower_leave(l, value && !scalar && value->kind == AST_NAME ? value->symbol : NULL);
    struct ir_op *op = lower_op(l, IR_RETURN);
    op->ret.value = result ? ir_of_temporary(l->mem, result) : NULL;
    op->ret.is_last = !result && !l->open->parent && !n->next;
    op->ret.source = n;
}

static void lower_jump(struct lowering *l, enum ir_op_kind kind)
{
    const struct open_block *loop = l->open;
    while (loop && !loop->is_loop) loop = loop->parent;
    if (!loop) return; /* an error */
    lower_leave_scopes(l, false);
    lower_op(l, kind);
}

/* ---- the rest ---- */

static void lower_assert(struct lowering *l, struct ast *n)
{
    STRBUF(format);
    const struct ast *message = n->check.message;
    lower_prepare(l, n->check.cond);
    lower_site(l, n->at, "assert");
    struct ir_op *op = lower_op(l, IR_ASSERT);
    op->assertion.source = n->check.cond;
    op->assertion.cond = lower_value(l, n->check.cond);
    strbuf_puts(&format, message ? "[E20] " : "[E20] assertion failed: ");
    format_text(&format, message ? message->string.text : source_one_line(l->front, l->mem, n->check.cond->at));
    op->assertion.message = lower_message(l, strbuf_text(&format), n->check.cond);
}

static void lower_scope(struct lowering *l, struct ast *n)
{
    const char *label = n->scope.label && n->scope.label->string.text ? n->scope.label->string.text : NULL;
    struct ir_op *op = lower_op(l, IR_BLOCK);
    struct ir_block *outer;
    op->block = lower_block_begin(l, &outer);
    lower_site(l, n->at, label ? arena_printf(l->mem, "scope \"%s\"", label) : "scope");
    if (n->scope.body) lower_statements(l, n->scope.body, false, true, n->at);
    lower_block_end(l, outer);
}

/* Attributes are those of the statement's own call, not of calls among its arguments. */
static void note_attributes(struct lowering *l, const struct ast *n)
{
    l->attributes = n->attrs;
    l->attributed = n->kind == AST_LET         ? n->decl.value
                    : n->kind == AST_ASSIGN    ? n->assign.value
                    : n->kind == AST_EXPR_STMT ? n->expr_stmt.expr
                                               : NULL;
    for (const struct ast *a = n->attrs; a; a = a->next)
        for (struct ast *x = a->attr.args; x; x = x->next)
            if (x->kind != AST_STRING) lower_prepare_attribute(l, x);
}

void lower_statement(struct lowering *l, struct ast *n)
{
    l->at = n->at;
    l->holder = n;
    note_attributes(l, n);
    switch (n->kind) {
    case AST_LET:
    case AST_VAR: lower_declaration(l, n); break;
    case AST_VIEW: lower_view_statement(l, n); break;
    case AST_EXPR_STMT: lower_expr_stmt(l, n); break;
    case AST_ASSIGN: lower_assign(l, n); break;
    case AST_FOR: lower_for(l, n); break;
    case AST_WHILE:
    case AST_DO_WHILE: lower_while(l, n); break;
    case AST_IF: lower_if(l, n); break;
    case AST_MATCH: lower_match(l, n); break;
    case AST_SCOPE: lower_scope(l, n); break;
    case AST_BLOCK: {
        struct ir_op *op = lower_op(l, IR_BLOCK);
        op->block = lower_braced(l, n, false);
        break;
    }
    case AST_DROP: lower_drop(l, n); break;
    case AST_RETURN: lower_return(l, n); break;
    case AST_BREAK: lower_jump(l, IR_BREAK); break;
    case AST_CONTINUE: lower_jump(l, IR_CONTINUE); break;
    case AST_ASSERT: lower_assert(l, n); break;
    case AST_STATIC_ASSERT: break;
    case AST_PRINT: lower_print(l, n); break;
    default: lower_unsupported(l, n->at, "this statement"); break;
    }
}
