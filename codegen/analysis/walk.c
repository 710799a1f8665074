/* walk.c - every node below a node, once.
 * Needs nothing.  Gives ast_walk, ast_walk_list, ast_walk_below, branches_of.
 * Method one switch over the kinds, children in source order.
 */
#include "plan.h"

void ast_walk_list(struct ast *n, bool (*visit)(void *cx, struct ast *n), void *cx)
{
    for (; n; n = n->next) ast_walk(n, visit, cx);
}

void ast_walk(struct ast *n, bool (*visit)(void *cx, struct ast *n), void *cx)
{
    if (n && visit(cx, n)) ast_walk_below(n, visit, cx);
}

void ast_walk_below(struct ast *n, bool (*visit)(void *cx, struct ast *n), void *cx)
{
    ast_walk_list(n->attrs, visit, cx);
    switch (n->kind) {
    case AST_CONST:
    case AST_PARAM:
    case AST_LET:
    case AST_VAR:
    case AST_FIELD:
        ast_walk(n->decl.type, visit, cx);
        ast_walk(n->decl.value, visit, cx);
        break;
    case AST_STATIC_ASSERT:
    case AST_ASSERT: ast_walk(n->check.cond, visit, cx); break;
    case AST_TYPE_ARRAY:
        ast_walk(n->type_array.length, visit, cx);
        ast_walk(n->type_array.element, visit, cx);
        break;
    case AST_TYPE_NAME: ast_walk_list(n->type_name.dims, visit, cx); break;
    case AST_BLOCK: ast_walk_list(n->block.stmts, visit, cx); break;
    case AST_VIEW:
        ast_walk(n->view.tensor, visit, cx);
        ast_walk_list(n->view.tiles, visit, cx);
        break;
    case AST_EXPR_STMT: ast_walk(n->expr_stmt.expr, visit, cx); break;
    case AST_ASSIGN:
        ast_walk(n->assign.target, visit, cx);
        ast_walk(n->assign.value, visit, cx);
        break;
    case AST_FOR:
        ast_walk(n->loop.low, visit, cx);
        ast_walk(n->loop.high, visit, cx);
        ast_walk(n->loop.step, visit, cx);
        ast_walk(n->loop.body, visit, cx);
        break;
    case AST_WHILE:
        ast_walk(n->while_.cond, visit, cx);
        ast_walk(n->while_.body, visit, cx);
        break;
    case AST_DO_WHILE:
        ast_walk(n->while_.body, visit, cx);
        ast_walk(n->while_.cond, visit, cx);
        break;
    case AST_IF:
        ast_walk(n->if_.cond, visit, cx);
        ast_walk(n->if_.then, visit, cx);
        ast_walk(n->if_.other, visit, cx);
        break;
    case AST_MATCH:
        ast_walk(n->match.value, visit, cx);
        ast_walk_list(n->match.arms, visit, cx);
        ast_walk(n->match.other, visit, cx);
        break;
    case AST_MATCH_ARM:
        ast_walk_list(n->arm.values, visit, cx);
        ast_walk(n->arm.body, visit, cx);
        break;
    case AST_SCOPE: ast_walk(n->scope.body, visit, cx); break;
    case AST_DROP: ast_walk_list(n->drop.names, visit, cx); break;
    case AST_RETURN: ast_walk(n->ret.value, visit, cx); break;
    case AST_PRINT: ast_walk_list(n->print.values, visit, cx); break;
    case AST_ATTR: ast_walk_list(n->attr.args, visit, cx); break;
    case AST_UNARY: ast_walk(n->binary.left, visit, cx); break;
    case AST_BINARY:
        ast_walk(n->binary.left, visit, cx);
        ast_walk(n->binary.right, visit, cx);
        break;
    case AST_AWAIT: ast_walk(n->await.operand, visit, cx); break;
    case AST_CALL:
        ast_walk(n->call.callee, visit, cx);
        ast_walk_list(n->call.args, visit, cx);
        break;
    case AST_ARG: ast_walk(n->arg.value, visit, cx); break;
    case AST_MEMBER: ast_walk(n->member.object, visit, cx); break;
    case AST_INDEX:
        ast_walk(n->index.object, visit, cx);
        ast_walk_list(n->index.indices, visit, cx);
        break;
    case AST_INDEX_POINT:
    case AST_INDEX_RANGE:
    case AST_INDEX_WIDTH:
        ast_walk(n->range.low, visit, cx);
        ast_walk(n->range.high, visit, cx);
        break;
    default: break; /* leaves, and items that hold no statements */
    }
}

void branches_of(struct ast *n, struct branches *b)
{
    if (n->kind == AST_MATCH) {
        for (struct ast *arm = n->match.arms; arm; arm = arm->next) vec_push(&b->blocks, arm->arm.body);
        if (n->match.other)
            vec_push(&b->blocks, n->match.other);
        else
            b->without_else = n;
        return;
    }
    for (;; n = n->if_.other) {
        vec_push(&b->blocks, n->if_.then);
        if (n->if_.other && n->if_.other->kind == AST_IF) continue;
        if (n->if_.other)
            vec_push(&b->blocks, n->if_.other);
        else
            b->without_else = n;
        return;
    }
}
