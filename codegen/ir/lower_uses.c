/* lower_uses.c - what happens to the tensors of a function, and to the scalars of its structs, as operations.
 * Idea       each part of a statement leaves its uses where it is evaluated; of a call come reads before writes, and
 *            its result last.  What passes decide from them (storage, checks) `settle` brings into the operations.
 * Invariant  a node with an error counts as reading and writing all that it names, so nothing is reported twice.
 * Needs      a checked body, errors or not.
 * Tests      test/lit/ir/uses.pto, test/lit/sema/e06*.pto e07*.pto e11*.pto e13*.pto w05.pto
 */
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
    struct tensor_note *tensor = t ? ptrmap_get(&l->checked->tensors, t) : NULL;
    const bool is_value = kind == IR_USE_READ || kind == IR_USE_WRITE || kind == IR_USE_ALIAS;
    if (!tensor && !(is_value && is_scalar_of_function(t))) return NULL;
    struct ir_op *op = lower_op(l, IR_USE);
    op->use = (struct ir_use){.kind = kind,
                              .is_same_argument = l->is_same_argument,
                              .symbol = t,
                              .tensor = tensor,
                              .region = r,
                              .at = at,
                              .holder = l->holder};
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
    struct ptrmap *notes = (struct ptrmap *)&l->checked->tensors; /* of the program, which is being checked */
    struct tensor_note *n = ptrmap_get(notes, t);
    if (n) return n;
    n = arena_new(l->front->mem, struct tensor_note);
    *n = (struct tensor_note){.symbol = t, .number = -1};
    ptrmap_set(notes, t, n);
    return n;
}

/* Whoever was given a tensor to read was given one that is written. */
bool use_may_be_unwritten(struct lowering *l, const struct symbol *s)
{
    const struct tensor_note *n = tensor_note_of(l->checked, s);
    return n->number >= 0 && (s->dir == DIR_NONE || s->dir == DIR_OUT);
}

static void use_base(struct lowering *l, enum ir_use_kind kind, const struct symbol *t, const struct ast *at)
{
    use(l, kind, t->region ? t->region->base : t, NULL, at);
}

/* The tensors and scalars of a struct, or t itself. */
void use_leaves(struct lowering *l, enum ir_use_kind kind, const struct symbol *t, const struct ast *at)
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

void use_unknown(struct lowering *l, const struct ast *n) { ast_walk((struct ast *)(uintptr_t)n, visit_unknown, l); }

/* ---- calls ---- */

/* An output of a kernel that is all of a tensor brings storage along. */
static enum ir_use_kind kind_of_write(const struct call *call, enum direction dir, const struct region *r)
{
    return dir == DIR_OUT && (call->callee->kind == SYM_ORCH || !r || !r->whole) ? IR_USE_WRITE_PART : IR_USE_WRITE;
}

/* One tensor or scalar of an argument.  What inout and acc write has been read, so there is storage. */
static void use_argument(struct lowering *l, const struct call *call, enum direction dir, const struct ast *value,
                         const struct region *r, const struct region *part, struct symbol *t, bool is_written)
{
    const bool reads = dir != DIR_OUT, writes = dir == DIR_OUT || dir == DIR_INOUT || dir == DIR_ACC;
    if (!is_written && reads && (value->kind != AST_CALL || dir == DIR_OWN)) use(l, IR_USE_READ, t, r, value);
    if (is_written && writes) use(l, kind_of_write(call, dir, r), t, part ? part : r, value);
    if (is_written && dir == DIR_OWN) {
        note(l, t); /* the result of a call has no name, and nothing else happens to it */
        use(l, IR_USE_MOVE, t, structs_array_of(value) ? r : NULL, value);
    }
}

static void use_arguments(struct lowering *l, const struct call *call, int i, bool is_written)
{
    const enum direction dir = call->callee->formals[i]->dir;
    const struct region *r = call->regions[i];
    const struct leaves *leaves = &call->leaves[i];
    const struct ast *value = call->values[i];
    if (!value) return;
    if (r) use_argument(l, call, dir, value, r, call->written ? call->written[i] : NULL, r->base, is_written);
    for (int k = 0; k < leaves->count; k++) {
        const struct leaf *leaf = &leaves->leaf[k];
        /* the name of a host field that goes with an own struct is gone, too */
        const enum direction of_leaf = dir == DIR_OWN ? dir : leaf->formal->dir;
        l->is_same_argument = k > 0;
        use_argument(l, call, of_leaf, value, leaf->region, NULL, leaf->region ? leaf->region->base : leaf->scalar,
                     is_written);
    }
    l->is_same_argument = false;
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
    struct ast *outer = l->holder;
    l->holder = n;
    for (int i = 0; i < call->callee->formal_count; i++)
        if (!type_is_scalar(call->callee->formals[i]->type) || call->callee->formals[i]->by_reference ||
            !call->values[i] || !region_of(call->values[i]))
            use_arguments(l, call, i, false);
    for (int i = 0; i < call->callee->formal_count; i++) use_arguments(l, call, i, true);
    use_result(l, call, n);
    l->holder = outer;
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
    for (const struct open_block *o = l->open; o; o = o->parent) l->f->awaits_in_loop |= o->is_loop;
}

void use_memory(struct lowering *l, struct ast *n)
{
    struct ast *outer = l->holder;
    const struct region *r = region_of(n);
    l->holder = n;
    if (n->kind == AST_AWAIT)
        use_await(l, n);
    else if (n->kind != AST_INDEX)
        use_name(l, n);
    else if (r)
        use(l, n->type->kind == TYPE_TENSOR ? IR_USE_TOUCH : IR_USE_READ, r->base, r, n);
    l->holder = outer;
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
    note(l, t)->number = (int)l->tensors.count;
    vec_push(&l->tensors, note(l, t));
}

void use_begin(struct lowering *l, const struct symbol *leaf, const struct ast *let)
{
    const bool is_zero = type_is_scalar_array(leaf->type) && !let->decl.value;
    use_base(l, is_zero ? IR_USE_BEGIN_ZERO : IR_USE_BEGIN, leaf, let);
}

/* A view of a var begins anew, and that of a struct with each of its fields. */
static void begin_view(struct lowering *l, const struct symbol *t, const struct ast *at)
{
    if (is_view_of_var(t)) append(l, IR_USE_BEGIN, t, NULL, at);
    for (int i = 0; t->alias_of && i < t->field_count; i++) begin_view(l, t->fields[i], at);
}

static void drop_pieces(struct lowering *l, const struct symbol *piece, const struct ast *at)
{
    if (piece->region) use(l, IR_USE_DROP, piece->region->base, piece->region, at);
    for (int i = 0; i < piece->field_count; i++) drop_pieces(l, piece->fields[i], at);
}

void use_element_dropped(struct lowering *l, const struct ast *at)
{
    if (region_of(at))
        use(l, IR_USE_DROP, region_of(at)->base, region_of(at), at);
    else
        drop_pieces(l, at->symbol, at);
}

void use_views(struct lowering *l, const struct ast *at) { touch_views(l, at); }

void use_take(struct lowering *l, const struct symbol *to, const struct symbol *from, bool is_kept,
              const struct ast *at)
{
    if (!from->next_of) append(l, IR_USE_READ, from, NULL, at);
    if (to->type->kind != TYPE_TENSOR) {
        append(l, IR_USE_BEGIN, to, NULL, at);
        append(l, IR_USE_WRITE, to, NULL, at);
        return;
    }
    struct ir_use *take = append(l, is_kept ? IR_USE_KEEP : IR_USE_TAKE, to, NULL, at);
    if (take) take->from = ptrmap_get(&l->checked->tensors, from);
}

void use_declaration(struct lowering *l, struct ast *n)
{
    if (has_storage(n) || ((n->kind == AST_LET || n->kind == AST_VIEW) && n->symbol)) declare(l, n->symbol);
}

void use_name_defined(struct lowering *l, const struct symbol *s, const struct ast *n)
{
    if (n->kind != AST_VAR) begin_view(l, s, n);
    if (n->kind == AST_VIEW || (has_storage(n) && !type_is_scalar(s->type))) return;
    if (!s->region && !s->alias_of)
        use(l, IR_USE_WRITE, s, NULL, n);
    else if (!type_is_struct(s->type))
        use_base(l, IR_USE_ALIAS, s, n);
    else
        use_leaves(l, IR_USE_ALIAS, s, n);
}

static void begin_leaves(struct lowering *l, const struct symbol *t, const struct ast *let)
{
    for (int i = 0; i < t->field_count; i++) begin_leaves(l, t->fields[i], let);
    if (!type_is_struct(t->type)) use_begin(l, t, let);
}

void use_bad_declaration(struct lowering *l, struct ast *n)
{
    lower_prepare_type(l, n->decl.type);
    if (has_storage(n)) begin_leaves(l, n->symbol, n);
    lower_prepare(l, n->decl.value);
    if (n->kind == AST_LET && n->symbol) begin_view(l, n->symbol, n);
    if (n->bad) unknown_name(l, n->symbol, n);
}

/* ---- other statements ---- */

void use_assigned(struct lowering *l, const struct ast *target)
{
    if (notes_is_element(target))
        use(l, IR_USE_WRITE_PART, region_of(target)->base, region_of(target), target);
    else if (type_is_scalar(target->type))
        use(l, IR_USE_WRITE, target->symbol, NULL, target);
}

/* A tensor or a struct by its name; false: v is none. */
bool use_returned(struct lowering *l, const struct ast *v)
{
    const bool is_name = !v->bad && v->kind == AST_NAME && (region_of(v) || structs_place(v));
    if (is_name) use_leaves(l, IR_USE_RETURN, v->symbol, v);
    return is_name;
}

void use_part(struct lowering *l, const struct ast *n)
{
    if (region_of(n)) use(l, IR_USE_READ, region_of(n)->base, region_of(n), n);
}

static void print_leaves(struct lowering *l, const struct symbol *t, const struct ast *at)
{
    for (int i = 0; i < t->field_count; i++) print_leaves(l, t->fields[i], at);
    if (type_is_struct(t->type)) return;
    if (t->region) t = t->region->base;
    use(l, type_is_scalar(t->type) ? IR_USE_READ : IR_USE_TOUCH, t, NULL, at);
}

void use_printed(struct lowering *l, const struct ast *n)
{
    const struct struct_place *p = structs_place(n);
    if (p) print_leaves(l, p->symbol, n);
}

void use_formals(struct lowering *l, const struct symbol *orch)
{
    for (int i = 0; i < orch->formal_count; i++) declare(l, orch->formals[i]);
}
