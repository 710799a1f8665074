/* lower_uses.c - a function as the uses of its tensors and of the scalars of its structs, in nested blocks.
 * Idea       the same order of evaluation that lowering gives the whole function: indices before the element, reads of
 *            a call before its writes, its result last.  What passes decide from it (storage, checks) the whole
 *            lowering needs, so it comes first and lowers nothing else.
 * Invariant  a node with an error counts as reading and writing all that it names, so nothing is reported twice.
 * Needs      a checked body, errors or not.
 * Tests      test/lit/sema/e06*.pto e07*.pto e11*.pto e13*.pto w05.pto
 */
#include "lower_uses.h"
#include "sema/checker.h"

struct uses {
    struct checker *c;
    struct arena *mem;
    struct ir_function *f;
    struct ir_block *block;
    VEC(struct tensor_note *) tensors;
    struct ast *holder; /* of the checks of the statement or call at hand */
    bool is_same_argument;
    int depth; /* loops around the statement */
};

static void use_expr(struct uses *u, struct ast *e);
static void use_statements(struct uses *u, struct ast *list);

/* ---- operations ---- */

static void use(struct uses *u, enum ir_use_kind kind, const struct symbol *t, const struct region *r,
                const struct ast *at)
{
    struct tensor_note *tensor = t ? ptrmap_get(&u->c->checked->tensors, t) : NULL;
    if (!tensor) return;
    struct ir_op *op = ir_append(u->block, u->mem, IR_USE, at->at);
    op->use = (struct ir_use){.kind = kind,
                              .is_same_argument = u->is_same_argument,
                              .tensor = tensor,
                              .region = r,
                              .at = at,
                              .holder = u->holder};
}

static struct tensor_note *note(struct uses *u, struct symbol *t)
{
    struct tensor_note *n = ptrmap_get(&u->c->checked->tensors, t);
    if (n) return n;
    n = arena_new(u->c->mem, struct tensor_note);
    *n = (struct tensor_note){.symbol = t, .number = -1};
    ptrmap_set(&u->c->checked->tensors, t, n);
    return n;
}

/* The tensors and scalars of a struct, or t itself. */
static void use_leaves(struct uses *u, enum ir_use_kind kind, const struct symbol *t, const struct ast *at)
{
    for (int i = 0; i < t->field_count; i++) use_leaves(u, kind, t->fields[i], at);
    if (!type_is_struct(t->type)) use(u, kind, t->region ? t->region->base : t, NULL, at);
}

static struct ir_block *block_begin(struct uses *u, struct ir_block **outer)
{
    *outer = u->block;
    u->block = arena_new(u->mem, struct ir_block);
    return u->block;
}

/* ---- what is below an error ---- */

static void unknown_name(struct uses *u, const struct symbol *t, const struct ast *at)
{
    if (!t) return;
    if (t->region) t = t->region->base;
    for (int i = 0; i < t->field_count; i++) unknown_name(u, t->fields[i], at);
    use(u, IR_USE_UNKNOWN, t, NULL, at);
}

static void unknown(struct uses *u, const struct ast *e);

static void unknown_list(struct uses *u, const struct ast *list)
{
    for (; list; list = list->next) unknown(u, list);
}

static void unknown(struct uses *u, const struct ast *e)
{
    if (!e) return;
    switch (e->kind) {
    case AST_NAME: unknown_name(u, e->symbol, e); break;
    case AST_MEMBER:
        unknown_name(u, e->symbol, e);
        unknown(u, e->member.object);
        break;
    case AST_INDEX:
        unknown(u, e->index.object);
        unknown_list(u, e->index.indices);
        break;
    case AST_INDEX_POINT:
    case AST_INDEX_RANGE:
    case AST_INDEX_WIDTH:
        unknown(u, e->range.low);
        unknown(u, e->range.high);
        break;
    case AST_CALL: unknown_list(u, e->call.args); break;
    case AST_ARG: unknown(u, e->arg.value); break;
    case AST_UNARY: unknown(u, e->binary.left); break;
    case AST_BINARY:
        unknown(u, e->binary.left);
        unknown(u, e->binary.right);
        break;
    case AST_AWAIT: unknown(u, e->await.operand); break;
    default: break;
    }
}

/* ---- calls ---- */

static void use_indices(struct uses *u, struct ast *e)
{
    if (e->kind == AST_MEMBER) use_indices(u, e->member.object);
    if (e->kind == AST_CALL) use_expr(u, e);
    if (e->kind != AST_INDEX) return;
    use_indices(u, e->index.object);
    for (struct ast *i = e->index.indices; i; i = i->next) {
        if (i->kind != AST_INDEX_ALL) use_expr(u, i->range.low);
        if (i->kind == AST_INDEX_RANGE || i->kind == AST_INDEX_WIDTH) use_expr(u, i->range.high);
    }
}

/* An output of a kernel that is all of a tensor brings storage along. */
static enum ir_use_kind kind_of_write(const struct call *call, enum direction dir, const struct region *r)
{
    return dir == DIR_OUT && (call->callee->kind == SYM_ORCH || !r || !r->whole) ? IR_USE_WRITE_PART : IR_USE_WRITE;
}

/* One tensor or scalar of an argument.  What inout and acc write has been read, so there is storage. */
static void use_argument(struct uses *u, const struct call *call, enum direction dir, const struct ast *value,
                         const struct region *r, struct symbol *t, bool is_written)
{
    const bool reads = dir != DIR_OUT, writes = dir == DIR_OUT || dir == DIR_INOUT || dir == DIR_ACC;
    if (!is_written && reads && (value->kind != AST_CALL || dir == DIR_OWN)) use(u, IR_USE_READ, t, r, value);
    if (is_written && writes) use(u, kind_of_write(call, dir, r), t, r, value);
    if (is_written && dir == DIR_OWN) {
        note(u, t); /* the result of a call has no name, and nothing else happens to it */
        use(u, IR_USE_MOVE, t, NULL, value);
    }
}

static void use_arguments(struct uses *u, const struct call *call, int i, bool is_written)
{
    const enum direction dir = call->callee->formals[i]->dir;
    const struct region *r = call->regions[i];
    const struct leaves *leaves = &call->leaves[i];
    const struct ast *value = call->values[i];
    if (!value) return;
    if (r) use_argument(u, call, dir, value, r, r->base, is_written);
    for (int k = 0; k < leaves->count; k++) {
        const struct leaf *l = &leaves->leaf[k];
        u->is_same_argument = k > 0;
        use_argument(u, call, dir, value, l->region, l->region ? l->region->base : l->scalar, is_written);
    }
    u->is_same_argument = false;
}

static void use_result(struct uses *u, const struct call *call, const struct ast *e)
{
    const struct leaves *leaves = &call->result_leaves;
    const struct region *to = call->destination;
    if (call->returns) return;
    for (int i = 0; i < leaves->count; i++) {
        const struct leaf *l = &leaves->leaf[i];
        const bool is_part = !call->result_symbol && l->region && !l->region->whole;
        use(u, is_part ? IR_USE_WRITE_PART : IR_USE_WRITE, l->region ? l->region->base : l->scalar, l->region, e);
    }
    if (to)
        use(u, to->whole ? IR_USE_WRITE : IR_USE_WRITE_PART, to->base, to, e);
    else if (call->result_symbol && !leaves->count)
        use(u, IR_USE_WRITE, call->result_symbol, NULL, e);
}

static void use_call(struct uses *u, struct ast *e)
{
    const struct call *call = call_of(e);
    struct ast *outer = u->holder;
    for (struct ast *a = e->call.args; a; a = a->next) {
        const struct ast *value = a->arg.value;
        /* `dim` looks at the shape, not at the elements */
        const bool is_place =
            call ? region_of(value) || !type_is_scalar(value->type) : value->type->kind == TYPE_TENSOR;
        if (is_place)
            use_indices(u, a->arg.value);
        else
            use_expr(u, a->arg.value);
    }
    if (!call) return;
    u->holder = e;
    for (int i = 0; i < call->callee->formal_count; i++) {
        if (type_is_scalar(call->callee->formals[i]->type) && call->values[i] && region_of(call->values[i]))
            use_expr(u, call->values[i]);
        else
            use_arguments(u, call, i, false);
    }
    for (int i = 0; i < call->callee->formal_count; i++) use_arguments(u, call, i, true);
    use_result(u, call, e);
    u->holder = outer;
}

/* ---- expressions ---- */

/* The right operand of && and || may not be evaluated. */
static void use_shortcut(struct uses *u, struct ast *e)
{
    struct ir_block *outer;
    struct ir_op *op = ir_append(u->block, u->mem, IR_IF, e->at);
    op->branch.then = block_begin(u, &outer);
    use_expr(u, e->binary.right);
    u->block = outer;
}

/* One of the arms is evaluated. */
static void use_select(struct uses *u, const struct ast *args)
{
    struct ir_block *outer;
    use_expr(u, args->arg.value);
    struct ir_op *op = ir_append(u->block, u->mem, IR_IF, args->at);
    op->branch.then = block_begin(u, &outer);
    use_expr(u, args->next->arg.value);
    u->block = outer;
    op->branch.other = block_begin(u, &outer);
    use_expr(u, args->next->next->arg.value);
    u->block = outer;
}

/* A name, or a member of a struct. */
static void use_name(struct uses *u, struct ast *e)
{
    const struct region *r = region_of(e);
    if (r)
        use(u, type_is_scalar(e->type) ? IR_USE_READ : IR_USE_TOUCH, r->base, r, e);
    else if (type_is_struct(e->type))
        use_leaves(u, IR_USE_TOUCH, e->symbol, e);
    else
        use(u, IR_USE_READ, e->symbol, NULL, e);
}

static void use_await(struct uses *u, struct ast *e)
{
    const struct region *r = region_of(e->await.operand);
    if (!r) return;
    use(u, IR_USE_AWAIT, r->base, r, e);
    u->f->awaits_in_loop |= u->depth > 0;
}

static void use_memory(struct uses *u, struct ast *e)
{
    struct ast *outer = u->holder;
    const struct region *r = region_of(e);
    u->holder = e;
    use_indices(u, e->kind == AST_AWAIT ? e->await.operand : e);
    if (e->kind == AST_AWAIT)
        use_await(u, e);
    else if (e->kind != AST_INDEX)
        use_name(u, e);
    else if (r)
        use(u, e->type->kind == TYPE_TENSOR ? IR_USE_TOUCH : IR_USE_READ, r->base, r, e);
    u->holder = outer;
}

static void use_expr(struct uses *u, struct ast *e)
{
    if (!e) return;
    if (e->bad) {
        unknown(u, e);
        return;
    }
    switch (e->kind) {
    case AST_CALL:
        if (select_of(e))
            use_select(u, select_of(e));
        else
            use_call(u, e);
        break;
    case AST_UNARY: use_expr(u, e->binary.left); break;
    case AST_BINARY:
        use_expr(u, e->binary.left);
        if (e->binary.op == OP_AND || e->binary.op == OP_OR)
            use_shortcut(u, e);
        else
            use_expr(u, e->binary.right);
        break;
    case AST_AWAIT:
    case AST_INDEX:
    case AST_NAME:
    case AST_MEMBER: use_memory(u, e); break;
    default: break;
    }
}

static void use_list(struct uses *u, struct ast *list)
{
    for (; list; list = list->next) use_expr(u, list);
}

/* The extents that stand in a type. */
static void use_type(struct uses *u, struct ast *type)
{
    for (; type && type->kind == AST_TYPE_ARRAY; type = type->type_array.element) use_expr(u, type->type_array.length);
    if (type) use_list(u, type->type_name.dims);
}

/* ---- declarations ---- */

/* A let that is no other name of something. */
static bool has_storage(const struct ast *s)
{
    return s->kind == AST_LET && s->symbol && !s->symbol->alias_of && !s->symbol->region;
}

static void declare(struct uses *u, struct symbol *t)
{
    if (t->alias_of) return;
    for (int i = 0; i < t->field_count; i++) declare(u, t->fields[i]);
    if (t->region || (t->type->kind != TYPE_TENSOR && t->kind != SYM_VAR)) return;
    note(u, t)->number = (int)u->tensors.count;
    vec_push(&u->tensors, note(u, t));
}

static void begin(struct uses *u, const struct symbol *t, const struct ast *let)
{
    for (int i = 0; i < t->field_count; i++) begin(u, t->fields[i], let);
    if (type_is_struct(t->type)) return;
    const bool is_zero = type_is_scalar_array(t->type) && !let->decl.value;
    use(u, is_zero ? IR_USE_BEGIN_ZERO : IR_USE_BEGIN, t->region ? t->region->base : t, NULL, let);
}

static void use_declaration(struct uses *u, struct ast *s)
{
    if (s->kind == AST_LET && s->symbol) declare(u, s->symbol);
    use_type(u, s->decl.type);
    if (has_storage(s)) begin(u, s->symbol, s);
    use_expr(u, s->decl.value);
    if (s->bad) unknown_name(u, s->symbol, s);
}

/* ---- statements ---- */

static struct ir_block *use_block(struct uses *u, struct ast *block)
{
    struct ir_block *outer, *to = block_begin(u, &outer);
    struct ast *list = block ? block->block.stmts : NULL;
    use_statements(u, list);
    for (struct ast *s = list; s; s = s->next)
        if (has_storage(s)) use_leaves(u, IR_USE_END, s->symbol, s);
    u->block = outer;
    return to;
}

static void use_nested(struct uses *u, struct ast *block)
{
    struct ir_op *op = ir_append(u->block, u->mem, IR_BLOCK, block->at);
    op->block = use_block(u, block);
}

static void use_for(struct uses *u, struct ast *s)
{
    use_expr(u, s->loop.low);
    use_expr(u, s->loop.high);
    use_expr(u, s->loop.step);
    struct ir_op *op = ir_append(u->block, u->mem, IR_FOR, s->at);
    op->loop.source = s;
    u->depth++;
    op->loop.body = use_block(u, s->loop.body);
    u->depth--;
}

static void use_while(struct uses *u, struct ast *s)
{
    struct ir_op *op = ir_append(u->block, u->mem, IR_WHILE, s->at);
    const struct ast *cond = s->while_.cond;
    struct ir_block *outer;
    op->while_.source = s;
    op->while_.tests_first = s->kind == AST_WHILE;
    if (cond->kind == AST_BOOL) op->while_.cond.value = ir_boolean(u->mem, cond->boolean.value);
    op->while_.test = block_begin(u, &outer);
    use_expr(u, s->while_.cond);
    u->block = outer;
    u->depth++;
    op->while_.body = use_block(u, s->while_.body);
    u->depth--;
}

/* Each `else if` is in the else block of the branch before: a loop, not a recursion. */
static void use_if(struct uses *u, struct ast *s)
{
    struct ir_block *outer = u->block, *around;
    for (;;) {
        use_expr(u, s->if_.cond);
        struct ir_op *op = ir_append(u->block, u->mem, IR_IF, s->at);
        op->branch.cond.source = s->if_.cond;
        op->branch.is_chained = u->block != outer && u->block->first == op;
        op->branch.then = use_block(u, s->if_.then);
        if (!s->if_.other || s->if_.other->kind != AST_IF) {
            if (s->if_.other) op->branch.other = use_block(u, s->if_.other);
            break;
        }
        op->branch.other = block_begin(u, &around);
        s = s->if_.other;
    }
    u->block = outer;
}

/* Likewise each arm. */
static void use_match(struct uses *u, struct ast *s)
{
    struct ir_block *outer = u->block, *around;
    struct ir_op *op = NULL;
    use_expr(u, s->match.value);
    for (struct ast *arm = s->match.arms; arm; arm = arm->next) {
        if (op) op->branch.other = block_begin(u, &around);
        use_list(u, arm->arm.values);
        op = ir_append(u->block, u->mem, IR_IF, arm->at);
        op->branch.is_chained = u->block != outer && u->block->first == op;
        op->branch.then = use_block(u, arm->arm.body);
    }
    if (op && s->match.other)
        op->branch.other = use_block(u, s->match.other);
    else if (s->match.other)
        use_nested(u, s->match.other);
    u->block = outer;
}

static void use_assignment(struct uses *u, struct ast *s)
{
    struct ast *target = s->assign.target;
    if (s->bad)
        unknown(u, target);
    else
        use_indices(u, target);
    use_expr(u, s->assign.value);
    if (s->bad) return;
    if (notes_is_element(target))
        use(u, IR_USE_WRITE_PART, region_of(target)->base, region_of(target), target);
    else if (target->kind == AST_MEMBER)
        use(u, IR_USE_WRITE, target->symbol, NULL, target);
}

static void use_return(struct uses *u, struct ast *s)
{
    struct ast *v = s->ret.value;
    const struct region *r = v && !v->bad ? region_of(v) : NULL;
    if (v && !v->bad && v->kind == AST_NAME && (r || structs_place(v)))
        use_leaves(u, IR_USE_RETURN, v->symbol, v);
    else if (v)
        use_expr(u, v);
    if (r && v->kind != AST_CALL && v->kind != AST_NAME) use(u, IR_USE_READ, r->base, r, v);
    ir_append(u->block, u->mem, IR_RETURN, s->at)->ret.source = s;
}

static void use_printed(struct uses *u, const struct symbol *t, const struct ast *at)
{
    for (int i = 0; i < t->field_count; i++) use_printed(u, t->fields[i], at);
    if (type_is_struct(t->type)) return;
    if (t->region) t = t->region->base;
    use(u, type_is_scalar(t->type) ? IR_USE_READ : IR_USE_TOUCH, t, NULL, at);
}

static void use_print(struct uses *u, struct ast *s)
{
    for (struct ast *v = s->print.values; v; v = v->next) {
        use_expr(u, v);
        const struct struct_place *p = structs_place(v);
        if (p) use_printed(u, p->symbol, v);
    }
}

static void use_jump(struct uses *u, const struct ast *s)
{
    if (u->depth > 0) ir_append(u->block, u->mem, s->kind == AST_BREAK ? IR_BREAK : IR_CONTINUE, s->at);
}

static void use_statement(struct uses *u, struct ast *s)
{
    u->holder = s;
    for (struct ast *a = s->attrs; a; a = a->next) use_list(u, a->attr.args);
    switch (s->kind) {
    case AST_LET:
    case AST_VAR: use_declaration(u, s); break;
    case AST_VIEW:
        use_expr(u, s->view.tensor);
        use_list(u, s->view.tiles);
        break;
    case AST_EXPR_STMT: use_expr(u, s->expr_stmt.expr); break;
    case AST_ASSIGN: use_assignment(u, s); break;
    case AST_FOR: use_for(u, s); break;
    case AST_WHILE:
    case AST_DO_WHILE: use_while(u, s); break;
    case AST_IF: use_if(u, s); break;
    case AST_MATCH: use_match(u, s); break;
    case AST_SCOPE: use_nested(u, s->scope.body); break;
    case AST_BLOCK: use_nested(u, s); break;
    case AST_DROP:
        for (struct ast *n = s->drop.names; n; n = n->next)
            if (!n->bad && n->symbol) use_leaves(u, IR_USE_DROP, n->symbol, n);
        break;
    case AST_RETURN: use_return(u, s); break;
    case AST_BREAK:
    case AST_CONTINUE: use_jump(u, s); break;
    case AST_ASSERT:
        use_expr(u, s->check.cond);
        ir_append(u->block, u->mem, IR_ASSERT, s->at)->assertion.source = s->check.cond;
        break;
    case AST_PRINT: use_print(u, s); break;
    default: break;
    }
}

static void use_statements(struct uses *u, struct ast *list)
{
    for (; list; list = list->next) use_statement(u, list);
}

struct ir_function *lower_uses(struct checker *c, struct arena *mem, struct symbol *orch)
{
    struct uses u = {.c = c, .mem = mem, .f = arena_new(mem, struct ir_function)};
    u.f->mem = mem;
    struct ast *body = orch->decl->orch.body;
    u.f->orch = orch;
    u.f->body = u.block = arena_new(mem, struct ir_block);
    for (int i = 0; i < orch->formal_count; i++) declare(&u, orch->formals[i]);
    use_statements(&u, body->block.stmts);
    ir_append(u.block, mem, IR_RETURN, body->at)->ret.source = body;
    u.f->tensor_count = (int)u.tensors.count;
    u.f->tensors = arena_array(mem, struct tensor_note *, u.tensors.count + 1);
    for (size_t i = 0; i < u.tensors.count; i++) u.f->tensors[i] = u.tensors.data[i];
    vec_free(&u.tensors);
    return u.f;
}
