/* lower_var.c - tensors that change: `var a = f(x);`, `a = g(a);`, `a = b;`, `let t = a;`.
 * Idea       a name is a variable of C that holds a buffer, or NULL.  A call makes the next value of a var in a
 *            variable of its own, and TAKE hands it over: what the var had before is released, unless another name
 *            has it too.  So two buffers alternate, and a swap moves no bytes.  An `own` formal has no such
 *            variable; TAKE gives its buffer to one of the names.
 * Invariant  names that change buffers are declared together, in the block of the first of them, whose scope owns all
 *            of their buffers.  One that the program declares in a block inside is ended there by a RELEASE; a
 *            function that returns ends the scope, and with it every buffer, once.
 * Tests      test/lit/run/var*.pto, test/lit/codegen/var.pto
 */
#include "lower_parts.h"

static void declare_names(struct lowering *l, const struct exchange *t)
{
    ptrmap_set(&l->exchange, t, l->open->scope);
    for (int i = 0; i < t->count; i++)
        if (t->names[i]->kind == SYM_LET) lower_tensor(l, t->names[i]);
}

static bool is_statement_of(const struct ast *body, const struct ast *s)
{
    for (const struct ast *n = body->block.stmts; n; n = n->next)
        if (n == s) return true;
    return false;
}

/* Each block inside of the function may declare a name that takes over the same `own` formal: the function owns what
 * they name, unless a statement of its own declares the first of them. */
void lower_handed_on(struct lowering *l, const struct ast *body)
{
    symbol_list formals = {0};
    flat_formals(l->orch, &formals);
    for (size_t k = 0; k < formals.count; k++) {
        const struct exchange *t = formals.data[k]->exchange;
        const struct ast *first = NULL;
        for (int i = 0; t && i < t->count; i++)
            if (t->names[i]->kind == SYM_LET && (!first || t->names[i]->decl->at.begin < first->at.begin))
                first = t->names[i]->decl;
        if (first && !ptrmap_get(&l->exchange, t) && !is_statement_of(body, first)) declare_names(l, t);
    }
    vec_free(&formals);
}

void lower_exchange(struct lowering *l, const struct symbol *s)
{
    const struct exchange *t = s->exchange;
    const struct ir_op *owner = ptrmap_get(&l->exchange, t);
    struct tensor_note *note = ptrmap_get(&l->checked->tensors, s);
    if (!owner) {
        declare_names(l, t);
    } else if (owner != l->open->scope && note) {
        note->ends_with_block = true;
        vec_push(&l->open->names, s);
    }
}

static void end_name(struct lowering *l, const struct symbol *s, enum ir_release_why why)
{
    struct ir_op *op = lower_op(l, IR_RELEASE);
    op->release.symbol = s;
    op->release.why = why;
}

void lower_end_names(struct lowering *l, const struct open_block *o)
{
    for (size_t i = o->names.count; i-- > 0;) end_name(l, o->names.data[i], IR_RELEASE_LEAVING);
}

/* ---- what a name gets ---- */

void lower_decided(struct lowering *l, const struct symbol *to, const struct type *from)
{
    if (l->f->is_broken) return; /* values are unknown */
    for (int i = 0; i < to->decided_count; i++) {
        const struct symbol *number = to->decided[i];
        const struct size *value = decided_value(to->type, from, number);
        if (!value) continue;
        struct ir_op *op = lower_op(l, IR_SET);
        op->set.value = lower_size(l, value, ARITH_CHECKED);
        if (number->place)
            op->set.target = lower_symbol(l, number);
        else
            op->set.key = op->set.symbol = number;
    }
}

void lower_take(struct lowering *l, const struct symbol *to, const struct symbol *from, enum take how,
                const struct ast *at)
{
    for (int i = 0; i < to->field_count; i++) lower_take(l, to->fields[i], from->fields[i], how, at);
    if (how != TAKE_KEEP) lower_decided(l, to, from->type);
    if (type_is_struct(to->type)) return;
    use_take(l, to, from, how == TAKE_KEEP, at);
    struct ir_op *op = lower_op(l, type_is_scalar(to->type) ? IR_SET : how == TAKE_KEEP ? IR_KEEP : IR_TAKE);
    if (op->kind == IR_SET) {
        op->set.key = op->set.symbol = to;
        op->set.value = lower_symbol(l, from);
    } else {
        op->take.to = to;
        op->take.from = from;
        op->take.is_empty = how == TAKE_FIRST;
        if (from->kind == SYM_FORMAL) op->take.moved_in = lower_view(l, lower_whole(l, from), VIEW_OF_TASK);
        op->take.maker = (struct maker){.at = at->at, .name = to->name};
    }
}

void lower_take_site(struct lowering *l, const struct symbol *from, const struct ast *at)
{
    while (from->field_count > 0) from = from->fields[0];
    if (from->kind == SYM_FORMAL) lower_site(l, at->at, "own");
}

struct mention {
    const struct symbol *tensor;
    bool found;
};

static bool visit_mention(void *cx, struct ast *n)
{
    struct mention *m = cx;
    const struct region *r = n->symbol || n->kind == AST_INDEX ? region_of(n) : NULL;
    m->found |= n->kind == AST_NAME && n->symbol && n->symbol->field_count > 0; /* a struct, it may be a part of */
    m->found |= r && r->base == m->tensor;
    return !m->found;
}

/* A value that the call does not use need not be there while the next one is made. */
static bool ends_before(const struct symbol *s, struct ast *call)
{
    struct mention m = {.tensor = s};
    ast_walk(call, visit_mention, &m);
    return !m.found;
}

/* Returns whether s, no struct, has no buffer any more. */
static bool end_before(struct lowering *l, const struct symbol *s, struct ast *call)
{
    for (int i = 0; i < s->field_count; i++) end_before(l, s->fields[i], call);
    const bool ends = s->type->kind == TYPE_TENSOR && ends_before(s, call);
    if (ends) end_name(l, s, IR_RELEASE_BY_HAND);
    return ends;
}

void lower_var_assign(struct lowering *l, struct ast *n)
{
    const struct symbol *var = n->assign.target->symbol;
    struct ast *value = n->assign.value;
    if (value->kind == AST_CALL) {
        const bool is_empty = end_before(l, var, value);
        lower_whole_call(l, value);
        lower_take(l, var, var->next, is_empty ? TAKE_FIRST : TAKE_NEXT, n->assign.target);
    } else {
        lower_later_checks(l, n, checks_of(n) ? NULL : "assignment");
        lower_prepare_place(l, value);
        const struct symbol *from = symbol_behind(value);
        lower_take_site(l, from, value);
        lower_take(l, var, from, TAKE_NEXT, value);
    }
}
