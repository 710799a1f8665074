/* lower.c - functions, blocks and scopes.
 * Idea       a block of the language is a block of operations and a scope, and so is a value that needs tensors for a
 *            moment; whatever leaves a block early (break, continue, return) ends the scopes that it leaves.  The pass
 *            `scopes` takes away those that own nothing.
 * Invariant  SCOPE_BEGIN and SCOPE_END balance on every path; unwinding by a failure needs neither.
 * Tests      test/lit/codegen/scopes.pto, loops.pto, test/lit/ir
 */
#include "lower_parts.h"

struct lowering *lowering_begin(struct front *front, const struct checked *checked, struct arena *mem,
                                struct ranges *ranges)
{
    struct lowering *l = arena_new(mem, struct lowering);
    *l = (struct lowering){.front = front, .checked = checked, .mem = mem, .ranges = ranges};
    return l;
}

void lowering_end(struct lowering *l)
{
    ptrmap_free(&l->hoisted);
    ptrmap_free(&l->exchange);
}

/* ---- operations ---- */

struct ir_op *lower_op(struct lowering *l, enum ir_op_kind kind) { return ir_append(l->block, l->mem, kind, l->at); }

void lower_site(struct lowering *l, struct span at, const char *text)
{
    l->at = at;
    struct ir_op *op = lower_op(l, IR_SITE);
    op->site.at = at;
    op->site.text = text;
}

void lower_site_of(struct lowering *l, const struct ir_value *v, struct span at, const char *text)
{
    if (ir_can_fail(v)) {
        lower_site(l, at, text);
    } else if (ir_may_fail(v)) {
        struct ir_op *op = lower_op(l, IR_SITE);
        op->site.at = at;
        op->site.text = text;
        op->site.of = v;
    }
}

/* Nobody asks for code of a program with an error. */
void lower_unsupported(struct lowering *l, struct span at, const char *what)
{
    if (!l->f) {
        diag_error(l->front->diag, DIAG_E99, at, "%s is not supported yet by the code generator", what);
        return;
    }
    struct ir_unsupported **end = &l->f->unsupported;
    while (*end) end = &(*end)->next;
    *end = arena_new(l->mem, struct ir_unsupported);
    **end = (struct ir_unsupported){.at = at, .what = what};
}

static struct span last_byte(struct span at) { return (struct span){at.file, at.end ? at.end - 1 : 0, at.end}; }

/* ---- blocks and scopes ---- */

struct ir_block *lower_block_begin(struct lowering *l, struct ir_block **outer)
{
    *outer = l->block;
    l->block = arena_new(l->mem, struct ir_block);
    return l->block;
}

void lower_block_end(struct lowering *l, struct ir_block *outer)
{
    l->block->at_end = l->at;
    l->block = outer;
}

static void begin_scope(struct lowering *l, struct open_block *open, struct span at)
{
    open->scope = ir_append(l->block, l->mem, IR_SCOPE_BEGIN, at);
}

static void end_scope(struct lowering *l, const struct open_block *open, bool leaves)
{
    struct ir_op *op = lower_op(l, IR_SCOPE_END);
    op->scope_end.begin = open->scope;
    op->scope_end.leaves = leaves;
}

void lower_scope_open(struct lowering *l, struct ast *n, struct open_block *open)
{
    *open = (struct open_block){.parent = l->open, .is_value = true};
    begin_scope(l, open, n->at);
    open->scope->scope.is_value = true;
    l->open = open;
}

void lower_scope_close(struct lowering *l, struct open_block *open)
{
    end_scope(l, open, false);
    l->open = open->parent;
}

void lower_leave_scopes(struct lowering *l, bool all)
{
    for (struct open_block *o = l->open; o; o = o->parent) {
        if (!all) lower_end_names(l, o);
        end_scope(l, o, true);
        if (o->is_loop && !all) return;
    }
}

static bool jumps_away(const struct ast *n)
{
    if (!n) return false;
    while (n->next) n = n->next;
    return n->kind == AST_RETURN || n->kind == AST_BREAK || n->kind == AST_CONTINUE;
}

/* ---- what was moved in ---- */

static bool is_part_of(const struct symbol *s, const struct symbol *whole)
{
    for (int i = 0; whole && i < whole->field_count; i++)
        if (is_part_of(s, whole->fields[i])) return true;
    return s == whole;
}

void lower_leave(struct lowering *l, const struct symbol *returned)
{
    symbol_list formals = {0};
    flat_formals(l->orch, &formals);
    for (size_t i = 0; i < formals.count; i++) {
        const struct symbol *s = formals.data[i];
        if (s->dir != DIR_OWN || s->type->kind != TYPE_TENSOR || is_part_of(s, returned)) continue;
        struct ir_op *op = lower_op(l, IR_RELEASE);
        op->release.symbol = s;
        op->release.is_argument = true;
        op->release.why = IR_RELEASE_LEAVING;
    }
    vec_free(&formals);
}

/* ---- blocks of the language ---- */

void lower_list(struct lowering *l, struct ast *list)
{
    for (struct ast *s = list; s; s = s->next) {
        const struct ir_op *before = l->block->last;
        lower_statement(l, s);
        if (l->block->last != before) l->block->last->statement_end = last_byte(s->at);
    }
}

void lower_statements(struct lowering *l, struct ast *n, bool is_loop, bool is_explicit, struct span at)
{
    struct open_block open = {.parent = l->open, .is_loop = is_loop};
    begin_scope(l, &open, at);
    open.scope->scope.is_explicit = is_explicit;
    if (is_explicit) l->at = at;
    l->open = &open;
    l->block->at = n->at;
    if (!open.parent) {
        lower_statement_checks(l, n, "extent"); /* of the formals */
        lower_handed_on(l, n);
        lower_early_cells(l, n);
    }
    lower_list(l, n->block.stmts);
    if (open.parent) use_ends(l, n->block.stmts); /* what is left at the end of the function ends with its return */
    if (!jumps_away(n->block.stmts)) {
        if (is_explicit || open.owns || open.names.count) l->at = last_byte(n->at);
        lower_end_names(l, &open);
        end_scope(l, &open, false);
        l->block->last->at = last_byte(n->at);
    }
    l->open = open.parent;
    vec_free(&open.names);
}

struct ir_block *lower_braced(struct lowering *l, struct ast *n, bool is_loop)
{
    struct ir_block *outer, *block = lower_block_begin(l, &outer);
    if (n) lower_statements(l, n, is_loop, false, n->at);
    lower_block_end(l, outer);
    return block;
}

/* Values of a program with an error are not known: what is left of its expressions are their uses. */
static void begin_function(struct lowering *l, const struct symbol *orch)
{
    l->f = arena_new(l->mem, struct ir_function);
    l->f->mem = l->mem;
    l->f->orch = l->orch = l->ranges->function = orch;
    l->f->is_broken = l->is_expression = diag_error_count(l->front->diag) > 0;
    l->at = orch->decl->name_at.end ? orch->decl->name_at : orch->decl->at;
}

static void end_function(struct lowering *l)
{
    struct ir_function *f = l->f;
    f->scope = f->body->first;
    f->tensor_count = (int)l->tensors.count;
    f->tensors = arena_array(l->mem, struct tensor_note *, l->tensors.count + 1);
    for (size_t i = 0; i < l->tensors.count; i++) f->tensors[i] = l->tensors.data[i];
    vec_free(&l->tensors);
    ptrmap_free(&l->hoisted);
    ptrmap_free(&l->exchange);
    l->f = NULL;
    l->orch = l->ranges->function = NULL;
    l->is_expression = false;
}

struct ir_function *lower_function(struct lowering *l, struct symbol *orch)
{
    struct ast *body = orch->decl->orch.body;
    struct ir_block *outer;
    begin_function(l, orch);
    struct ir_function *f = l->f;
    f->body = lower_block_begin(l, &outer);
    use_formals(l, orch);
    lower_statements(l, body, false, false, body->at);
    if (!jumps_away(body->block.stmts) || f->is_broken) {
        l->at = last_byte(body->at);
        lower_leave(l, NULL);
        struct ir_op *ret = lower_op(l, IR_RETURN);
        /* The checker has seen that every path of a function with a value ends in a return. */
        ret->ret.value = !f->is_broken && type_is_scalar(orch->result) ? ir_integer(l->mem, 0) : NULL;
        ret->ret.is_last = ret->ret.value == NULL;
        ret->ret.source = body;
    }
    lower_block_end(l, outer);
    end_function(l);
    return f;
}
