/* ast_walk.c - the children of a node.
 * Idea       a table says where each kind of node keeps its children; a cursor goes through them, a walk through all.
 * Owner      nothing: the tree is the parser's.
 * Invariant  every child of every kind is in the table, in source order; every walk of the tree uses the table.
 * Blocks     never.
 * Tests      test/lit/parse/ by way of --emit=ast, test/lit/limits/ for lists and depth
 */
#include "ast_walk.h"
#include <stddef.h>

enum { MAX_SLOTS = 8 };

/* A pointer to a node, or to the first of a list, in struct ast; of a KERNEL in struct kernel_ast. */
struct slot {
    const char *role; /* NULL: there are no more */
    size_t offset;
};

#define AT(role, member)                                                                                               \
    {                                                                                                                  \
        role, offsetof(struct ast, member)                                                                             \
    }
#define IN_KERNEL(role, member)                                                                                        \
    {                                                                                                                  \
        role, offsetof(struct kernel_ast, member)                                                                      \
    }
#define DECL                                                                                                           \
    {                                                                                                                  \
        AT("", decl.type), AT("value: ", decl.value)                                                                   \
    }
#define CHECK                                                                                                          \
    {                                                                                                                  \
        AT("", check.cond), AT("message: ", check.message)                                                             \
    }
#define RANGE                                                                                                          \
    {                                                                                                                  \
        AT("", range.low), AT("", range.high), AT("step: ", range.step)                                                \
    }

static const struct slot slots[AST_KIND_COUNT][MAX_SLOTS] = {
    [AST_IMPORT] = {AT("", import.path)},
    [AST_CONST] = DECL,
    [AST_PARAM] = DECL,
    [AST_STRUCT] = {AT("", structure.generics), AT("", structure.fields)},
    [AST_FIELD] = {AT("", formal.type)},
    [AST_KERNEL] = {IN_KERNEL("", generics), IN_KERNEL("", formals), IN_KERNEL("cost: ", cost),
                    IN_KERNEL("extern: ", extern_name), IN_KERNEL("where: ", where), IN_KERNEL("repeated: ", repeated),
                    IN_KERNEL("body: ", block)},
    [AST_ORCH] = {AT("", orch.generics), AT("", orch.formals), AT("result: ", orch.result), AT("", orch.body)},
    [AST_FORMAL] = {AT("", formal.type), AT("", formal.writes), AT("", formal.by)},
    [AST_WRITES] = {AT("", index.indices)},
    [AST_STATIC_ASSERT] = CHECK,
    [AST_TYPE_NAME] = {AT("", type_name.dims)},
    [AST_TYPE_ARRAY] = {AT("length: ", type_array.length), AT("", type_array.element)},
    [AST_BLOCK] = {AT("", block.stmts)},
    [AST_LET] = {AT("index: ", decl.indices), AT("", decl.type), AT("value: ", decl.value)},
    [AST_VAR] = DECL,
    [AST_VIEW] = {AT("", view.tensor), AT("tile: ", view.tiles)},
    [AST_EXPR_STMT] = {AT("", expr_stmt.expr)},
    [AST_ASSIGN] = {AT("target: ", assign.target), AT("value: ", assign.value)},
    [AST_FOR] = {AT("low: ", loop.low), AT("high: ", loop.high), AT("step: ", loop.step), AT("", loop.body)},
    [AST_WHILE] = {AT("cond: ", while_.cond), AT("", while_.body)},
    [AST_DO_WHILE] = {AT("", while_.body), AT("cond: ", while_.cond)},
    [AST_IF] = {AT("cond: ", if_.cond), AT("then: ", if_.then), AT("else: ", if_.other)},
    [AST_MATCH] = {AT("of: ", match.value), AT("", match.arms), AT("else: ", match.other)},
    [AST_MATCH_ARM] = {AT("", arm.values), AT("", arm.body)},
    [AST_SCOPE] = {AT("label: ", scope.label), AT("", scope.body)},
    [AST_DROP] = {AT("", drop.names)},
    [AST_RETURN] = {AT("", ret.value)},
    [AST_ASSERT] = CHECK,
    [AST_PRINT] = {AT("", print.values)},
    [AST_ATTR] = {AT("", attr.args)},
    [AST_UNARY] = {AT("", binary.left)},
    [AST_BINARY] = {AT("", binary.left), AT("", binary.right)},
    [AST_AWAIT] = {AT("", await.operand)},
    [AST_CALL] = {AT("", call.callee), AT("", call.args)},
    [AST_ARG] = {AT("", arg.value)},
    [AST_REDUCTION] = {AT("", reduction.callee), AT("", reduction.binders), AT("", reduction.value)},
    [AST_BINDER] = {AT("low: ", binder.low), AT("high: ", binder.high)},
    [AST_MEMBER] = {AT("", member.object)},
    [AST_INDEX] = {AT("", index.object), AT("", index.indices)},
    [AST_INDEX_POINT] = RANGE,
    [AST_INDEX_RANGE] = RANGE,
    [AST_INDEX_WIDTH] = RANGE,
    [AST_INDEX_ALL] = RANGE,
};

/* The first node from slot c->slot on; what stands before every slot is the attributes, slot -1. */
static void find(struct ast_child *c)
{
    const struct ast *n = c->parent;
    const char *base = n->kind == AST_KERNEL ? (const char *)n->kernel : (const char *)n;
    for (; c->slot < MAX_SLOTS; c->slot++) {
        const struct slot *s = &slots[n->kind][c->slot];
        if (!s->role) break;
        c->role = s->role;
        c->node = *(struct ast *const *)(const void *)(base + s->offset);
        if (c->node) return;
    }
    c->node = NULL;
}

struct ast_child ast_first(const struct ast *n)
{
    struct ast_child c = {.node = n->attrs, .role = "", .parent = n, .slot = -1};
    if (!c.node) ast_next(&c);
    return c;
}

void ast_next(struct ast_child *c)
{
    if (c->node && c->node->next) {
        c->node = c->node->next;
        return;
    }
    c->slot++;
    find(c);
}

void ast_visit(const struct ast_visitor *v, struct ast *n)
{
    if (!n || !v->enter(v->cx, n)) return;
    for (struct ast_child c = ast_first(n); c.node; ast_next(&c)) ast_visit(v, c.node);
    if (v->leave) v->leave(v->cx, n);
}

void ast_visit_list(const struct ast_visitor *v, struct ast *n)
{
    for (; n; n = n->next) ast_visit(v, n);
}

void ast_walk(struct ast *n, bool (*enter)(void *cx, struct ast *n), void *cx)
{
    ast_visit(&(struct ast_visitor){.enter = enter, .cx = cx}, n);
}

void ast_walk_list(struct ast *n, bool (*enter)(void *cx, struct ast *n), void *cx)
{
    ast_visit_list(&(struct ast_visitor){.enter = enter, .cx = cx}, n);
}

bool ast_is_statement(const struct ast *n)
{
    return n->kind == AST_STATIC_ASSERT || (n->kind >= AST_BLOCK && n->kind <= AST_BAD_STMT && n->kind != AST_ATTR);
}

bool ast_is_loop(const struct ast *n) { return n->kind == AST_FOR || n->kind == AST_WHILE || n->kind == AST_DO_WHILE; }

struct ast *ast_otherwise(const struct ast *n)
{
    return n->kind == AST_IF ? n->if_.other : n->kind == AST_MATCH ? n->match.other : NULL;
}
