/* ast_build.c - what the actions of the grammar call: one function a rule.
 * Idea       each makes a node, puts the children in, and counts how deep the tree below it is.
 * Owner      the parser; nodes belong to the front end's arena.
 * Invariant  node->depth is larger than the depth of every child, and a tree deeper than MAX_DEPTH ends the parse, so
 *            that no later pass runs out of stack on `1+1+1+...`.
 * Blocks     never.
 * Tests      test/lit/parse/ by way of --emit=ast; test/lit/parse/nesting-limits.test
 */
#include "parse.h"
#include "support/arena.h"

static void set_depth(struct parse *cx, struct ast *node, int depth)
{
    if (depth <= node->depth) return;
    node->depth = depth;
    if (depth > MAX_DEPTH)
        parse_give_up(cx, node->at, "this is more than %d levels deep; name a part of it and use the name", MAX_DEPTH);
}

/* Makes child, which may be NULL, a child of node. */
static struct ast *hold(struct parse *cx, struct ast *node, struct ast *child)
{
    if (child != NULL) set_depth(cx, node, child->depth + 1);
    return child;
}

static struct ast *hold_list(struct parse *cx, struct ast *node, struct list list)
{
    if (list.first != NULL) set_depth(cx, node, list.depth + 1);
    return list.first;
}

struct list list_add(struct list list, struct ast *node)
{
    if (list.first == NULL)
        list.first = node;
    else
        list.last->next = node;
    list.last = node;
    if (node->depth > list.depth) list.depth = node->depth;
    return list;
}

struct ast *ast_plain(struct parse *cx, enum ast_kind kind, struct span at)
{
    return ast_new(cx->front->mem, kind, at);
}

struct ast *ast_named(struct parse *cx, enum ast_kind kind, struct span at, struct token name)
{
    struct ast *n = ast_plain(cx, kind, at);
    n->name = name.name;
    n->name_at = name.at;
    return n;
}

/* ---- items ---- */

struct ast *ast_import(struct parse *cx, struct span at, struct ast *path)
{
    struct ast *n = ast_plain(cx, AST_IMPORT, at);
    n->name_at = path->at;
    n->import.path = hold(cx, n, path);
    return n;
}

struct ast *ast_import_as(struct parse *cx, struct span at, struct ast *path, struct token name)
{
    struct ast *n = ast_named(cx, AST_IMPORT, at, name);
    n->import.path = hold(cx, n, path);
    return n;
}

struct ast *ast_decl(struct parse *cx, enum ast_kind kind, struct span at, struct token name, struct ast *type,
                     struct ast *value)
{
    struct ast *n = ast_named(cx, kind, at, name);
    n->decl.type = hold(cx, n, type);
    n->decl.value = hold(cx, n, value);
    return n;
}

struct ast *ast_struct(struct parse *cx, struct span at, struct token name, struct list generics, struct list fields)
{
    struct ast *n = ast_named(cx, AST_STRUCT, at, name);
    n->structure.generics = hold_list(cx, n, generics);
    n->structure.fields = hold_list(cx, n, fields);
    return n;
}

/* attrs is the KERNEL node the attributes were put into as they came. */
struct ast *ast_kernel(struct parse *cx, struct span at, struct token name, struct list generics, struct list formals,
                       struct ast *attrs)
{
    attrs->at = at;
    attrs->name = name.name;
    attrs->name_at = name.at;
    attrs->kernel->generics = hold_list(cx, attrs, generics);
    attrs->kernel->formals = hold_list(cx, attrs, formals);
    return attrs;
}

struct ast *ast_kernel_body(struct ast *kernel, struct token body)
{
    // A body without its closing brace was reported; its text then goes to the end of the file.
    struct span inside = {body.at.file, body.at.begin + 1, body.problem == NULL ? body.at.end - 1 : body.at.end};
    kernel->kernel->body_at = inside;
    kernel->kernel->has_body = true;
    return kernel;
}

static struct ast *add_repeated(struct ast *attrs, struct ast *node)
{
    attrs->kernel->repeated = ast_append(attrs->kernel->repeated, node);
    return attrs;
}

struct ast *kernel_on(struct parse *cx, struct ast *attrs, struct token worker)
{
    if (attrs->kernel->worker != NULL) return add_repeated(attrs, ast_named(cx, AST_NAME, worker.at, worker));
    attrs->kernel->worker = worker.name;
    attrs->kernel->worker_at = worker.at;
    return attrs;
}

struct ast *kernel_cost(struct parse *cx, struct ast *attrs, struct ast *cost)
{
    if (attrs->kernel->cost != NULL) return add_repeated(attrs, cost);
    attrs->kernel->cost = hold(cx, attrs, cost);
    return attrs;
}

struct ast *kernel_extern(struct parse *cx, struct ast *attrs, struct ast *symbol)
{
    if (attrs->kernel->extern_name != NULL) return add_repeated(attrs, symbol);
    attrs->kernel->extern_name = hold(cx, attrs, symbol);
    return attrs;
}

struct ast *kernel_where(struct parse *cx, struct ast *attrs, struct ast *cond)
{
    attrs->kernel->where = ast_append(attrs->kernel->where, hold(cx, attrs, cond));
    return attrs;
}

struct ast *ast_orch(struct parse *cx, struct span at, struct token name, struct list generics, struct list formals,
                     struct ast *result, struct ast *body)
{
    struct ast *n = ast_named(cx, AST_ORCH, at, name);
    n->orch.generics = hold_list(cx, n, generics);
    n->orch.formals = hold_list(cx, n, formals);
    n->orch.result = hold(cx, n, result);
    n->orch.body = hold(cx, n, body);
    return n;
}

struct ast *ast_export(struct ast *orch, struct span at)
{
    orch->at = at;
    orch->orch.exported = true;
    return orch;
}

struct ast *ast_formal(struct parse *cx, struct span at, struct mark mark, struct token name, struct ast *type)
{
    struct ast *n = ast_named(cx, AST_FORMAL, at, name);
    n->formal.type = hold(cx, n, type);
    n->formal.dir = mark.dir;
    n->formal.dir_at = mark.at;
    return n;
}

struct ast *ast_check(struct parse *cx, enum ast_kind kind, struct span at, struct ast *cond, struct ast *message)
{
    struct ast *n = ast_plain(cx, kind, at);
    n->check.cond = hold(cx, n, cond);
    n->check.message = hold(cx, n, message);
    return n;
}

/* ---- types ---- */

struct ast *ast_type_name(struct parse *cx, struct span at, struct token name, struct list dims)
{
    struct ast *n = ast_named(cx, AST_TYPE_NAME, at, name);
    n->type_name.dims = hold_list(cx, n, dims);
    return n;
}

struct ast *ast_type_of_module(struct parse *cx, struct span at, struct token module, struct token name,
                               struct list dims)
{
    struct ast *n = ast_type_name(cx, at, name, dims);
    n->type_name.module = module.name;
    n->type_name.module_at = module.at;
    return n;
}

struct ast *ast_type_array(struct parse *cx, struct span at, struct ast *length, struct ast *element)
{
    struct ast *n = ast_plain(cx, AST_TYPE_ARRAY, at);
    n->type_array.length = hold(cx, n, length);
    n->type_array.element = hold(cx, n, element);
    return n;
}

/* ---- statements ---- */

struct ast *ast_block(struct parse *cx, struct span at, struct list stmts)
{
    struct ast *n = ast_plain(cx, AST_BLOCK, at);
    n->block.stmts = hold_list(cx, n, stmts);
    return n;
}

struct ast *ast_with_attrs(struct parse *cx, struct ast *stmt, struct span at, struct list attrs)
{
    stmt->at = at;
    stmt->attrs = hold_list(cx, stmt, attrs);
    return stmt;
}

struct ast *ast_attr(struct parse *cx, struct span at, struct token name, struct list args)
{
    struct ast *n = ast_named(cx, AST_ATTR, at, name);
    n->attr.args = hold_list(cx, n, args);
    return n;
}

struct ast *ast_view(struct parse *cx, struct span at, struct token name, struct ast *tensor, struct list tiles)
{
    struct ast *n = ast_named(cx, AST_VIEW, at, name);
    n->view.tensor = hold(cx, n, tensor);
    n->view.tiles = hold_list(cx, n, tiles);
    return n;
}

struct ast *ast_expr_stmt(struct parse *cx, struct span at, struct ast *expr)
{
    struct ast *n = ast_plain(cx, AST_EXPR_STMT, at);
    n->expr_stmt.expr = hold(cx, n, expr);
    return n;
}

struct ast *ast_assign(struct parse *cx, struct span at, struct ast *target, struct ast *value)
{
    struct ast *n = ast_plain(cx, AST_ASSIGN, at);
    n->assign.target = hold(cx, n, target);
    n->assign.value = hold(cx, n, value);
    return n;
}

struct ast *ast_for(struct parse *cx, struct span at, struct token name, struct ast *low, struct ast *high,
                    struct ast *step, struct ast *body)
{
    struct ast *n = ast_named(cx, AST_FOR, at, name);
    n->loop.low = hold(cx, n, low);
    n->loop.high = hold(cx, n, high);
    n->loop.step = hold(cx, n, step);
    n->loop.body = hold(cx, n, body);
    return n;
}

struct ast *ast_while(struct parse *cx, enum ast_kind kind, struct span at, struct ast *cond, struct ast *body)
{
    struct ast *n = ast_plain(cx, kind, at);
    n->while_.cond = hold(cx, n, cond);
    n->while_.body = hold(cx, n, body);
    return n;
}

static struct ast *if_node(struct parse *cx, struct span at, struct ast *cond, struct ast *then)
{
    struct ast *n = ast_plain(cx, AST_IF, at);
    n->if_.cond = hold(cx, n, cond);
    n->if_.then = hold(cx, n, then);
    return n;
}

struct chain chain_start(struct parse *cx, struct span at, struct ast *cond, struct ast *then)
{
    struct ast *n = if_node(cx, at, cond, then);
    return (struct chain){n, n, 1};
}

/* What is left of a statement whose head could not be read: an `else` may follow without being one more error. */
struct chain chain_broken(struct parse *cx, struct span at, struct ast *then)
{
    return chain_start(cx, at, ast_bool(cx, at, false), then);
}

struct chain chain_add(struct parse *cx, struct chain chain, struct span at, struct ast *cond, struct ast *then)
{
    struct ast *n = if_node(cx, at, cond, then);
    chain.last->if_.other = n;
    chain.last = n;
    // The list grows at its deep end: the head is as deep as the deepest block plus the ifs above it.
    set_depth(cx, chain.first, n->depth + chain.count++);
    return chain;
}

struct ast *chain_end(struct parse *cx, struct chain chain, struct span at, struct ast *other)
{
    if (other != NULL) {
        chain.last->if_.other = other;
        set_depth(cx, chain.first, other->depth + chain.count);
    }
    for (struct ast *n = chain.first; n != NULL; n = n->kind == AST_IF ? n->if_.other : NULL) n->at.end = at.end;
    return chain.first;
}

struct ast *ast_match(struct parse *cx, struct span at, struct ast *value, struct list arms, struct ast *other)
{
    struct ast *n = ast_plain(cx, AST_MATCH, at);
    n->match.value = hold(cx, n, value);
    n->match.arms = hold_list(cx, n, arms);
    n->match.other = hold(cx, n, other);
    return n;
}

struct ast *ast_arm(struct parse *cx, struct span at, struct list values, struct ast *body)
{
    struct ast *n = ast_plain(cx, AST_MATCH_ARM, at);
    n->arm.values = hold_list(cx, n, values);
    n->arm.body = hold(cx, n, body);
    return n;
}

struct ast *ast_scope(struct parse *cx, struct span at, struct ast *label, struct ast *body)
{
    struct ast *n = ast_plain(cx, AST_SCOPE, at);
    n->scope.label = hold(cx, n, label);
    n->scope.body = hold(cx, n, body);
    return n;
}

struct ast *ast_drop(struct parse *cx, struct span at, struct list names)
{
    struct ast *n = ast_plain(cx, AST_DROP, at);
    n->drop.names = hold_list(cx, n, names);
    return n;
}

struct ast *ast_return(struct parse *cx, struct span at, struct ast *value)
{
    struct ast *n = ast_plain(cx, AST_RETURN, at);
    n->ret.value = hold(cx, n, value);
    return n;
}

struct ast *ast_print(struct parse *cx, struct span at, struct list values)
{
    struct ast *n = ast_plain(cx, AST_PRINT, at);
    n->print.values = hold_list(cx, n, values);
    return n;
}

/* ---- expressions ---- */

struct ast *ast_int(struct parse *cx, struct token t)
{
    struct ast *n = ast_plain(cx, AST_INT, t.at);
    n->integer.digits = t.name;
    n->integer.value = t.integer;
    n->integer.too_large = t.too_large;
    return n;
}

struct ast *ast_float(struct parse *cx, struct token t)
{
    struct ast *n = ast_plain(cx, AST_FLOAT, t.at);
    n->real.value = t.real;
    return n;
}

struct ast *ast_string(struct parse *cx, struct token t)
{
    struct ast *n = ast_plain(cx, AST_STRING, t.at);
    n->string.text = t.text;
    n->string.length = t.length;
    return n;
}

struct ast *ast_bool(struct parse *cx, struct span at, bool value)
{
    struct ast *n = ast_plain(cx, AST_BOOL, at);
    n->boolean.value = value;
    return n;
}

struct ast *ast_binary(struct parse *cx, struct span at, enum ast_op op, struct ast *left, struct ast *right,
                       struct span op_at)
{
    struct ast *n = ast_plain(cx, AST_BINARY, at);
    n->binary.op = op;
    n->binary.op_at = op_at;
    n->binary.left = hold(cx, n, left);
    n->binary.right = hold(cx, n, right);
    return n;
}

struct ast *ast_unary(struct parse *cx, struct span at, enum ast_op op, struct ast *operand, struct span op_at)
{
    struct ast *n = ast_plain(cx, AST_UNARY, at);
    n->binary.op = op;
    n->binary.op_at = op_at;
    n->binary.left = hold(cx, n, operand);
    return n;
}

struct ast *ast_await(struct parse *cx, struct span at, struct ast *operand)
{
    struct ast *n = ast_plain(cx, AST_AWAIT, at);
    n->await.operand = hold(cx, n, operand);
    return n;
}

struct ast *ast_call(struct parse *cx, struct span at, struct ast *callee, struct list args)
{
    struct ast *n = ast_plain(cx, AST_CALL, at);
    n->call.callee = hold(cx, n, callee);
    n->call.args = hold_list(cx, n, args);
    return n;
}

struct ast *ast_arg(struct parse *cx, struct span at, struct mark mark, struct ast *value)
{
    struct ast *n = ast_plain(cx, AST_ARG, at);
    n->arg.value = hold(cx, n, value);
    n->arg.dir = mark.dir;
    n->arg.dir_at = mark.at;
    return n;
}

struct ast *ast_member(struct parse *cx, struct span at, struct ast *object, struct token name)
{
    struct ast *n = ast_named(cx, AST_MEMBER, at, name);
    n->member.object = hold(cx, n, object);
    return n;
}

struct ast *ast_index(struct parse *cx, struct span at, struct ast *object, struct list indices)
{
    struct ast *n = ast_plain(cx, AST_INDEX, at);
    n->index.object = hold(cx, n, object);
    n->index.indices = hold_list(cx, n, indices);
    return n;
}

struct ast *ast_range(struct parse *cx, enum ast_kind kind, struct span at, struct ast *low, struct ast *high)
{
    struct ast *n = ast_plain(cx, kind, at);
    n->range.low = hold(cx, n, low);
    n->range.high = hold(cx, n, high);
    return n;
}
