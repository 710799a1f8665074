/* lower_uses.c - what happens to the tensors of a function, and to the scalars of its structs, as operations.
 * Idea       before memory is planned, the walk over the function leaves uses instead of values: in the same order, but
 *            reads of a call before its writes, its result last.  What passes decide from them (storage, checks) the
 *            whole lowering needs.
 * Invariant  a node with an error counts as reading and writing all that it names, so nothing is reported twice.
 * Needs      a checked body, errors or not.
 * Tests      test/lit/ir/uses.pto, test/lit/sema/e06*.pto e07*.pto e11*.pto e13*.pto w05.pto
 */
#include "lower_uses.h"
#include "lower_parts.h"
#include "sema/checker.h"

/* ---- operations ---- */

/* A `let` or `var` that is no part of a struct.  Constants are their values. */
static bool is_scalar_of_function(const struct symbol *s)
{
    return s && (s->kind == SYM_LET || s->kind == SYM_VAR) && s->type && type_is_scalar(s->type) && !s->has_value;
}

static struct ir_use *append(struct lowering *l, enum ir_use_kind kind, const struct symbol *t, const struct region *r,
                             const struct ast *at)
{
    struct tensor_note *tensor = t ? ptrmap_get(&l->uses->c->checked->tensors, t) : NULL;
    const bool is_value = kind == IR_USE_READ || kind == IR_USE_WRITE || kind == IR_USE_ALIAS;
    if (!tensor && !(is_value && is_scalar_of_function(t))) return NULL;
    struct ir_op *op = ir_append(l->block, l->mem, IR_USE, at->at);
    op->use = (struct ir_use){.kind = kind,
                              .is_same_argument = l->uses->is_same_argument,
                              .symbol = t,
                              .tensor = tensor,
                              .region = r,
                              .at = at,
                              .holder = l->uses->holder};
    return &op->use;
}

/* A view of a `var` is a name that can end before the var does. */
static bool is_view_of_var(const struct symbol *s) { return s->region && s->region->base->is_var; }

static void touch_view(struct lowering *l, const struct symbol *s, const struct ast *at)
{
    if (is_view_of_var(s)) append(l, IR_USE_TOUCH, s, NULL, at);
    for (int i = 0; s->alias_of && i < s->field_count; i++) touch_view(l, s->fields[i], at);
}

/* The views through which `at` names something. */
static void touch_views(struct lowering *l, const struct ast *at)
{
    for (const struct ast *n = at; n;) {
        const bool is_name = n->kind == AST_NAME || n->kind == AST_MEMBER;
        if (is_name && n->symbol) touch_view(l, n->symbol, at);
        n = n->kind == AST_INDEX    ? n->index.object
            : n->kind == AST_AWAIT  ? n->await.operand
            : n->kind == AST_MEMBER ? n->member.object
                                    : NULL;
    }
}

static void use(struct lowering *l, enum ir_use_kind kind, const struct symbol *t, const struct region *r,
                const struct ast *at)
{
    touch_views(l, at);
    append(l, kind, t, r, at);
}

static struct tensor_note *note(struct lowering *l, struct symbol *t)
{
    struct checker *c = l->uses->c;
    struct tensor_note *n = ptrmap_get(&c->checked->tensors, t);
    if (n) return n;
    n = arena_new(c->mem, struct tensor_note);
    *n = (struct tensor_note){.symbol = t, .number = -1};
    ptrmap_set(&c->checked->tensors, t, n);
    return n;
}

static void use_base(struct lowering *l, enum ir_use_kind kind, const struct symbol *t, const struct ast *at)
{
    use(l, kind, t->region ? t->region->base : t, NULL, at);
}

/* The tensors and scalars of a struct, or t itself. */
static void use_leaves(struct lowering *l, enum ir_use_kind kind, const struct symbol *t, const struct ast *at)
{
    for (int i = 0; i < t->field_count; i++) use_leaves(l, kind, t->fields[i], at);
    if (!type_is_struct(t->type)) use_base(l, kind, t, at);
}

/* ---- what is below an error ---- */

static void unknown_name(struct lowering *l, const struct symbol *t, const struct ast *at)
{
    if (!t) return;
    if (t->region) t = t->region->base;
    for (int i = 0; i < t->field_count; i++) unknown_name(l, t->fields[i], at);
    use(l, IR_USE_UNKNOWN, t, NULL, at);
}

static bool visit_unknown(void *cx, struct ast *n)
{
    if (n->kind == AST_NAME || n->kind == AST_MEMBER) unknown_name(cx, n->symbol, n);
    return true;
}

bool use_unknown(struct lowering *l, const struct ast *n)
{
    ast_walk((struct ast *)(uintptr_t)n, visit_unknown, l);
    return true;
}

/* ---- calls ---- */

/* An output of a kernel that is all of a tensor brings storage along. */
static enum ir_use_kind kind_of_write(const struct call *call, enum direction dir, const struct region *r)
{
    return dir == DIR_OUT && (call->callee->kind == SYM_ORCH || !r || !r->whole) ? IR_USE_WRITE_PART : IR_USE_WRITE;
}

/* One tensor or scalar of an argument.  What inout and acc write has been read, so there is storage. */
static void use_argument(struct lowering *l, const struct call *call, enum direction dir, const struct ast *value,
                         const struct region *r, struct symbol *t, bool is_written)
{
    const bool reads = dir != DIR_OUT, writes = dir == DIR_OUT || dir == DIR_INOUT || dir == DIR_ACC;
    if (!is_written && reads && (value->kind != AST_CALL || dir == DIR_OWN)) use(l, IR_USE_READ, t, r, value);
    if (is_written && writes) use(l, kind_of_write(call, dir, r), t, r, value);
    if (is_written && dir == DIR_OWN) {
        note(l, t); /* the result of a call has no name, and nothing else happens to it */
        use(l, IR_USE_MOVE, t, NULL, value);
    }
}

static void use_arguments(struct lowering *l, const struct call *call, int i, bool is_written)
{
    const enum direction dir = call->callee->formals[i]->dir;
    const struct region *r = call->regions[i];
    const struct leaves *leaves = &call->leaves[i];
    const struct ast *value = call->values[i];
    if (!value) return;
    if (r) use_argument(l, call, dir, value, r, r->base, is_written);
    for (int k = 0; k < leaves->count; k++) {
        const struct leaf *leaf = &leaves->leaf[k];
        /* the name of a host field that goes with an own struct is gone, too */
        const enum direction of_leaf = dir == DIR_OWN ? dir : leaf->formal->dir;
        l->uses->is_same_argument = k > 0;
        use_argument(l, call, of_leaf, value, leaf->region, leaf->region ? leaf->region->base : leaf->scalar,
                     is_written);
    }
    l->uses->is_same_argument = false;
}

static void use_result(struct lowering *l, const struct call *call, const struct ast *e)
{
    const struct leaves *leaves = &call->result_leaves;
    const struct region *to = call->destination;
    if (call->returns) return;
    for (int i = 0; i < leaves->count; i++) {
        const struct leaf *leaf = &leaves->leaf[i];
        const bool is_part = !call->result_symbol && leaf->region && !leaf->region->whole;
        use(l, is_part ? IR_USE_WRITE_PART : IR_USE_WRITE, leaf->region ? leaf->region->base : leaf->scalar,
            leaf->region, e);
    }
    if (to)
        use(l, to->whole ? IR_USE_WRITE : IR_USE_WRITE_PART, to->base, to, e);
    else if (call->result_symbol && !leaves->count)
        use(l, IR_USE_WRITE, call->result_symbol, NULL, e);
}

/* A scalar has been read where it stands among the arguments. */
void use_call(struct lowering *l, struct ast *n)
{
    const struct call *call = call_of(n);
    struct ast *outer = l->uses->holder;
    l->uses->holder = n;
    for (int i = 0; i < call->callee->formal_count; i++)
        if (!type_is_scalar(call->callee->formals[i]->type) || !call->values[i] || !region_of(call->values[i]))
            use_arguments(l, call, i, false);
    for (int i = 0; i < call->callee->formal_count; i++) use_arguments(l, call, i, true);
    use_result(l, call, n);
    l->uses->holder = outer;
}

/* ---- expressions ---- */

/* A name, or a member of a struct. */
static void use_name(struct lowering *l, struct ast *e)
{
    const struct region *r = region_of(e);
    if (r)
        use(l, type_is_scalar(e->type) ? IR_USE_READ : IR_USE_TOUCH, r->base, r, e);
    else if (type_is_struct(e->type))
        use_leaves(l, IR_USE_TOUCH, e->symbol, e);
    else
        use(l, IR_USE_READ, e->symbol, NULL, e);
}

static void use_await(struct lowering *l, struct ast *e)
{
    const struct region *r = region_of(e->await.operand);
    if (!r) return;
    use(l, IR_USE_AWAIT, r->base, r, e);
    l->uses->f->awaits_in_loop |= l->uses->depth > 0;
}

void use_memory(struct lowering *l, struct ast *n)
{
    struct ast *outer = l->uses->holder;
    const struct region *r = region_of(n);
    l->uses->holder = n;
    if (n->kind == AST_AWAIT)
        use_await(l, n);
    else if (n->kind != AST_INDEX)
        use_name(l, n);
    else if (r)
        use(l, n->type->kind == TYPE_TENSOR ? IR_USE_TOUCH : IR_USE_READ, r->base, r, n);
    l->uses->holder = outer;
}

/* ---- lifetimes ---- */

/* A let, or a var that is no scalar, that is no other name of something. */
static bool has_storage(const struct ast *s)
{
    return (s->kind == AST_LET || (s->kind == AST_VAR && s->symbol && s->symbol->kind == SYM_LET)) && s->symbol &&
           !s->symbol->alias_of && !s->symbol->region;
}

void use_ends(struct lowering *l, const struct ast *list)
{
    for (const struct ast *s = list; s; s = s->next)
        if (has_storage(s)) use_leaves(l, IR_USE_END, s->symbol, s);
}

static void declare(struct lowering *l, struct symbol *t)
{
    if (t->next && t->kind == SYM_LET) declare(l, t->next);
    for (int i = 0; i < t->field_count; i++)
        if (!t->alias_of || t->fields[i]->region) declare(l, t->fields[i]);
    if (!is_view_of_var(t) && (t->alias_of || t->region || (t->type->kind != TYPE_TENSOR && t->kind != SYM_VAR)))
        return;
    if (note(l, t)->number >= 0) return; /* a field of the struct whose next value has it */
    note(l, t)->number = (int)l->uses->tensors.count;
    vec_push(&l->uses->tensors, note(l, t));
}

static void begin(struct lowering *l, const struct symbol *t, const struct ast *let)
{
    for (int i = 0; i < t->field_count; i++) begin(l, t->fields[i], let);
    if (type_is_struct(t->type)) return;
    const bool is_zero = type_is_scalar_array(t->type) && !let->decl.value;
    use_base(l, is_zero ? IR_USE_BEGIN_ZERO : IR_USE_BEGIN, t, let);
}

/* A view of a var begins anew, and that of a struct with each of its fields. */
static void begin_view(struct lowering *l, const struct symbol *t, const struct ast *at)
{
    if (is_view_of_var(t)) append(l, IR_USE_BEGIN, t, NULL, at);
    for (int i = 0; t->alias_of && i < t->field_count; i++) begin_view(l, t->fields[i], at);
}

void use_new_view(struct lowering *l, struct ast *n)
{
    declare(l, n->symbol);
    begin_view(l, n->symbol, n);
}

/* `to` gets the value of `from`, or (is_kept) is another name of it. */
static void use_take(struct lowering *l, const struct symbol *to, const struct symbol *from, bool is_kept,
                     const struct ast *at)
{
    for (int i = 0; i < to->field_count; i++) use_take(l, to->fields[i], from->fields[i], is_kept, at);
    if (type_is_struct(to->type)) return;
    if (!from->next_of) append(l, IR_USE_READ, from, NULL, at);
    if (to->type->kind != TYPE_TENSOR) {
        append(l, IR_USE_BEGIN, to, NULL, at);
        append(l, IR_USE_WRITE, to, NULL, at);
        return;
    }
    struct ir_use *take = append(l, is_kept ? IR_USE_KEEP : IR_USE_TAKE, to, NULL, at);
    if (take) take->from = ptrmap_get(&l->uses->c->checked->tensors, from);
}

/* `var a = b;` and `let t = a;` */
static void use_moved(struct lowering *l, const struct symbol *to, const struct ast *value, bool is_var)
{
    if (!value || value->kind == AST_CALL || !value->symbol || (!is_var && !to->keeps)) return;
    touch_views(l, value);
    use_take(l, to, value->symbol, !is_var, value);
}

/* The name of a scalar, or another name for something, when the value has been evaluated. */
static void define(struct lowering *l, const struct symbol *s, const struct ast *at)
{
    if (!s->region && !s->alias_of)
        use(l, IR_USE_WRITE, s, NULL, at);
    else if (!type_is_struct(s->type))
        use_base(l, IR_USE_ALIAS, s, at);
    else
        use_leaves(l, IR_USE_ALIAS, s, at);
}

void use_declaration(struct lowering *l, struct ast *n)
{
    if (has_storage(n) || (n->kind == AST_LET && n->symbol)) declare(l, n->symbol);
    lower_prepare_type(l, n->decl.type);
    if (has_storage(n)) begin(l, n->symbol, n);
    lower_prepare(l, n->decl.value);
    if (n->symbol && !n->bad && has_storage(n)) use_moved(l, n->symbol, n->decl.value, n->kind == AST_VAR);
    if (n->kind == AST_LET && n->symbol) begin_view(l, n->symbol, n);
    if (n->bad)
        unknown_name(l, n->symbol, n);
    else if (n->symbol && (!has_storage(n) || type_is_scalar(n->symbol->type)))
        define(l, n->symbol, n);
}

/* ---- other statements ---- */

void use_assignment(struct lowering *l, struct ast *n)
{
    struct ast *target = n->assign.target, *value = n->assign.value;
    const struct symbol *var = !n->bad && vars_is_place(target) ? target->symbol : NULL;
    if (n->bad)
        use_unknown(l, target);
    else
        lower_prepare_place(l, target);
    if (!var || value->kind == AST_CALL) lower_prepare(l, value);
    if (n->bad) return;
    if (var)
        use_take(l, var, value->kind == AST_CALL ? var->next : value->symbol, false,
                 value->kind == AST_CALL ? target : value);
    else if (notes_is_element(target))
        use(l, IR_USE_WRITE_PART, region_of(target)->base, region_of(target), target);
    else if (target->kind == AST_MEMBER || type_is_scalar(target->type))
        use(l, IR_USE_WRITE, target->symbol, NULL, target);
}

void use_drop(struct lowering *l, struct ast *n)
{
    for (struct ast *name = n->drop.names; name; name = name->next)
        if (!name->bad && name->symbol) use_leaves(l, IR_USE_DROP, name->symbol, name);
}

void use_return(struct lowering *l, struct ast *n)
{
    struct ast *v = n->ret.value;
    const struct region *r = v && !v->bad ? region_of(v) : NULL;
    if (v && !v->bad && v->kind == AST_NAME && (r || structs_place(v)))
        use_leaves(l, IR_USE_RETURN, v->symbol, v);
    else
        lower_prepare(l, v);
    if (r && v->kind != AST_CALL && v->kind != AST_NAME) use(l, IR_USE_READ, r->base, r, v);
    lower_op(l, IR_RETURN)->ret.source = n;
}

static void use_printed(struct lowering *l, const struct symbol *t, const struct ast *at)
{
    for (int i = 0; i < t->field_count; i++) use_printed(l, t->fields[i], at);
    if (type_is_struct(t->type)) return;
    if (t->region) t = t->region->base;
    use(l, type_is_scalar(t->type) ? IR_USE_READ : IR_USE_TOUCH, t, NULL, at);
}

void use_print(struct lowering *l, struct ast *n)
{
    for (struct ast *v = n->print.values; v; v = v->next) {
        lower_prepare(l, v);
        const struct struct_place *p = structs_place(v);
        if (p) use_printed(l, p->symbol, v);
    }
}

/* ---- a function ---- */

struct ir_function *lower_uses(struct checker *c, struct arena *mem, struct symbol *orch)
{
    struct ir_function *f = arena_new(mem, struct ir_function);
    struct ast *body = orch->decl->orch.body;
    struct uses u = {.c = c, .f = f};
    struct lowering l = {.front = c->front, .checked = c->checked, .mem = mem, .orch = orch, .uses = &u};
    f->mem = mem;
    f->orch = orch;
    f->body = l.block = arena_new(mem, struct ir_block);
    for (int i = 0; i < orch->formal_count; i++) declare(&l, orch->formals[i]);
    lower_list(&l, body->block.stmts);
    ir_append(l.block, mem, IR_RETURN, body->at)->ret.source = body;
    f->tensor_count = (int)u.tensors.count;
    f->tensors = arena_array(mem, struct tensor_note *, u.tensors.count + 1);
    for (size_t i = 0; i < u.tensors.count; i++) f->tensors[i] = u.tensors.data[i];
    vec_free(&u.tensors);
    return f;
}
