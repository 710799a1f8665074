/* scopes.c - which blocks need a run-time scope?
 * Needs plan->orchs, symbols of lets.  Gives plan->blocks.  Look: the comments `holds P` in ptoc build --emit=c
 * Method a block needs one when it names, or needs for a moment as an argument, a tensor that the runtime allocates.
 * What the
 *        caller passed in, pieces of other tensors, and the tensor that the function returns need none.  A tensor that
 *        only a scalar needs (`await f(x)[0]`, a function's argument) has a scope that ends when the scalar is there:
 *        the expression's own.
 */
#include "plan.h"
#include "support/arena.h"

struct search {
    struct plan *plan;
    struct block_plan *block; /* of the block it stands in */
    struct ast *top;          /* the expression whose own scope it is, or NULL */
};

static void hold(struct block_plan *b, struct symbol *s)
{
    for (int i = 0; i < s->field_count && !s->alias_of; i++) hold(b, s->fields[i]);
    if (tensor_is_new(s) && !s->returned) vec_push(&b->tensors, s);
}

static bool visit_block(void *cx, struct ast *n);
static void visit_scalar(struct plan *p, struct ast *n);

static bool is_scalar_of_tensors(const struct ast *n)
{
    bool part = n->kind == AST_CALL || n->kind == AST_MEMBER || n->kind == AST_INDEX;
    return n->kind == AST_AWAIT || (part && n->type && type_is_scalar(n->type));
}

/* What a statement holds in the block around it. */
static bool visit_statement(void *cx, struct ast *n)
{
    struct search *s = cx;
    if (n->kind == AST_BLOCK) return visit_block(s->plan, n), false;
    bool awaited = s->top && s->top->kind == AST_AWAIT && s->top->await.operand == n;
    if (n != s->top && !awaited && is_scalar_of_tensors(n)) return visit_scalar(s->plan, n), false;
    if (n->kind == AST_LET && n->symbol) hold(s->block, n->symbol);
    const struct call *call = n->kind == AST_CALL ? call_of(n) : NULL;
    if (call && call->result_symbol && call->result_symbol->hidden) hold(s->block, call->result_symbol);
    return true;
}

static bool visit_block(void *cx, struct ast *n)
{
    struct plan *p = cx;
    struct search s = {.plan = p, .block = arena_new(p->mem, struct block_plan)};
    ptrmap_set(&p->blocks, n, s.block);
    vec_push(&p->block_list, s.block);
    ast_walk_list(n->block.stmts, visit_statement, &s);
    return false;
}

static void visit_scalar(struct plan *p, struct ast *n)
{
    struct search s = {.plan = p, .block = arena_new(p->mem, struct block_plan), .top = n};
    vec_push(&p->block_list, s.block);
    ast_walk(n, visit_statement, &s);
    if (s.block->tensors.count > 0) ptrmap_set(&p->blocks, n, s.block);
}

void scopes_analyze(struct plan *p)
{
    for (size_t i = 0; i < p->orchs.count; i++) visit_block(p, p->orchs.data[i]->decl->orch.body);
}
