/* lower.c - functions, blocks and scopes; where lifetimes end.
 * Idea       a block of the language is a block of operations; where it owns tensors it is a run-time scope too, and
 *            whatever leaves it early (break, continue, return) ends the scopes that it leaves.
 * Invariant  SCOPE_BEGIN and SCOPE_END balance on every path; unwinding by a failure needs neither.
 * Tests      test/lit/codegen/scopes.pto, loops.pto, test/lit/ir
 */
#include "bounds.h"
#include "lower_parts.h"

struct lowering *lowering_begin(struct front *front, const struct checked *checked, struct plan *plan,
                                bool checked_runs)
{
    struct lowering *l = arena_new(front->mem, struct lowering);
    *l = (struct lowering){
        .front = front, .checked = checked, .plan = plan, .mem = front->mem, .checked_runs = checked_runs};
    return l;
}

void lowering_end(struct lowering *l) { ptrmap_free(&l->hoisted); }

/* ---- operations ---- */

struct ir_op *lower_op(struct lowering *l, enum ir_op_kind kind) { return ir_append(l->block, l->mem, kind, l->at); }

void lower_site(struct lowering *l, struct span at, const char *text)
{
    l->at = at;
    struct ir_op *op = lower_op(l, IR_SITE);
    op->site.at = at;
    op->site.text = text;
}

void lower_unsupported(struct lowering *l, struct span at, const char *what)
{
    diag_error(l->front->diag, DIAG_E99, at, "%s is not supported yet by the code generator", what);
}

struct span last_byte(struct span at) { return (struct span){at.file, at.end ? at.end - 1 : 0, at.end}; }

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

struct ir_op *lower_owner(struct lowering *l, const struct symbol *tensor, bool always)
{
    bool current = true; /* is there no scope between here and the block that names the tensor? */
    for (struct open_block *o = l->open; o; o = o->parent) {
        const struct block_plan *plan = ptrmap_get(&l->plan->blocks, o->block);
        for (size_t i = 0; i < plan->tensors.count; i++)
            if (plan->tensors.data[i] == tensor) {
                if (current && !always) return NULL;
                if (o->scope) o->scope->scope.is_named = true;
                return o->scope;
            }
        if (o->scope) current = false;
    }
    return NULL;
}

static void begin_scope(struct lowering *l, struct open_block *open, struct span at)
{
    const struct block_plan *plan = ptrmap_get(&l->plan->blocks, open->block);
    l->at = at;
    open->scope = lower_op(l, IR_SCOPE_BEGIN);
    open->scope->scope.tensors = arena_array(l->mem, struct symbol *, plan->tensors.count);
    for (size_t i = 0; i < plan->tensors.count; i++) open->scope->scope.tensors[i] = plan->tensors.data[i];
    open->scope->scope.count = (int)plan->tensors.count;
}

static void end_scope(struct lowering *l, const struct open_block *open, bool leaves)
{
    struct ir_op *op = lower_op(l, IR_SCOPE_END);
    op->scope_end.begin = open->scope;
    op->scope_end.leaves = leaves;
}

void lower_scope_open(struct lowering *l, struct ast *n, struct open_block *open)
{
    *open = (struct open_block){.parent = l->open, .block = n};
    if (!ptrmap_get(&l->plan->blocks, n)) return;
    begin_scope(l, open, n->at);
    l->open = open;
}

void lower_scope_close(struct lowering *l, struct open_block *open)
{
    if (open->scope) end_scope(l, open, false);
    l->open = open->parent;
}

void lower_leave_scopes(struct lowering *l, bool all)
{
    for (struct open_block *o = l->open; o; o = o->parent) {
        if (o->scope) end_scope(l, o, true);
        if (o->is_loop && !all) return;
    }
}

static bool jumps_away(const struct ast *n)
{
    if (!n) return false;
    while (n->next) n = n->next;
    return n->kind == AST_RETURN || n->kind == AST_BREAK || n->kind == AST_CONTINUE;
}

/* ---- ends of lifetimes ---- */

void lower_ends(struct lowering *l, const symbol_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct ir_op *op = lower_op(l, IR_RELEASE);
        op->release.symbol = list->data[i];
        op->release.is_argument = list->data[i]->kind == SYM_FORMAL; /* the caller may have had it from outside */
        op->release.in_frame = slot_of(l->plan, list->data[i]) != NULL;
    }
}

void lower_ends_at(struct lowering *l, struct span at, const symbol_list *list)
{
    if (list->count > 0) l->at = at;
    lower_ends(l, list);
}

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
        if (s->dir != DIR_OWN || s->type->kind != TYPE_TENSOR || !s->is_kept || is_part_of(s, returned)) continue;
        struct ir_op *op = lower_op(l, IR_RELEASE);
        op->release.symbol = s;
        op->release.is_argument = true;
    }
    vec_free(&formals);
}

/* ---- blocks of the language ---- */

/* Of the function with its frame and of all that it calls; where nobody knows, no heap is large enough. */
static struct ir_value *lower_need(struct lowering *l)
{
    const struct bound *need = &bounds_of(l->plan, l->orch, l->orch->decl->orch.exported)->whole;
    const struct size *most = need->unknown ? NULL : need->point[0].bytes;
    for (int i = 1; i < need->point_count && most; i++)
        most = size_binary(l->checked->sizes, SIZE_MAXIMUM, most, need->point[i].bytes);
    return most ? lower_size(l, most, ARITH_COST) : ir_integer(l->mem, INT64_MAX);
}

static bool has_frame(const struct lowering *l, const struct ast *block)
{
    const struct frame_plan *f = block == l->orch->decl->orch.body ? frame_of(l->plan, l->orch) : NULL;
    return f && f->bytes;
}

static void lower_frame(struct lowering *l)
{
    const struct frame_plan *f = frame_of(l->plan, l->orch);
    struct ir_value *bytes = lower_size(l, f->bytes, ARITH_CHECKED);
    lower_site(l, l->orch->decl->name_at, arena_printf(l->mem, "the frame of %s", l->orch->name));
    struct ir_op *op = lower_op(l, IR_FRAME);
    op->frame.orch = l->orch;
    op->frame.bytes = bytes;
    op->frame.need = lower_need(l);
}

void lower_statements(struct lowering *l, struct ast *n, bool is_loop, bool is_explicit, struct span at)
{
    const struct block_plan *plan = ptrmap_get(&l->plan->blocks, n);
    struct open_block open = {.parent = l->open, .block = n, .is_loop = is_loop};
    if (is_explicit || has_frame(l, n) || plan->tensors.count > 0) begin_scope(l, &open, at);
    l->open = &open;
    if (has_frame(l, n)) lower_frame(l);
    const struct end_plan *ends = ptrmap_get(&l->plan->ends, n);
    if (ends) lower_ends_at(l, n->at, &ends->before);
    for (struct ast *s = n->block.stmts; s; s = s->next) {
        lower_statement(l, s);
        ends = ptrmap_get(&l->plan->ends, s);
        if (ends) lower_ends_at(l, last_byte(s->at), &ends->behind);
    }
    if (open.scope && !jumps_away(n->block.stmts)) {
        l->at = last_byte(n->at);
        end_scope(l, &open, false);
    }
    l->open = open.parent;
}

struct ir_block *lower_braced(struct lowering *l, struct ast *n, bool is_loop)
{
    struct ir_block *outer, *block = lower_block_begin(l, &outer);
    lower_statements(l, n, is_loop, false, n->at);
    lower_block_end(l, outer);
    return block;
}

struct ir_function *lower_function(struct lowering *l, const struct symbol *orch)
{
    struct ir_function *f = arena_new(l->mem, struct ir_function);
    struct ast *body = orch->decl->orch.body;
    struct ir_block *outer;
    ptrmap_free(&l->hoisted);
    l->orch = orch;
    l->plan->function = orch;
    l->open = NULL;
    l->at = orch->decl->name_at.end ? orch->decl->name_at : orch->decl->at;
    f->orch = orch;
    f->body = lower_block_begin(l, &outer);
    symbol_list formals = {0};
    flat_formals(orch, &formals);
    for (size_t i = 0; i < formals.count; i++) lower_flag(l, formals.data[i]);
    vec_free(&formals);
    lower_statements(l, body, false, false, body->at);
    if (!jumps_away(body->block.stmts)) {
        l->at = last_byte(body->at);
        lower_leave(l, NULL);
        struct ir_op *ret = lower_op(l, IR_RETURN);
        /* The checker has seen that every path of a function with a value ends in a return. */
        ret->ret.value = type_is_scalar(orch->result) ? ir_integer(l->mem, 0) : NULL;
        ret->ret.is_last = ret->ret.value == NULL;
    }
    lower_block_end(l, outer);
    l->orch = NULL;
    l->plan->function = NULL;
    return f;
}
