/* ast_build.c - what the actions of the grammar call: one function a rule.
 * Idea       each makes a node, puts the children in, and counts how deep the tree below it is.
 * Owner      the parser; nodes belong to the front end's arena.
 * Invariant  node->depth is larger than the depth of every child, and a tree deeper than MAX_DEPTH ends the parse, so
 *            that no later pass runs out of stack on `1+1+1+...`.
 * Blocks     never.
 * Tests      test/lit/parse/ by way of --emit=ast; test/lit/parse/nesting-limits.test
 */
#include "parse.h"
#include "ast_walk.h"
#include "support/arena.h"

static void set_depth(struct parse *cx, struct ast *node, int depth)
{
    if (depth <= node->depth) return;
    node->depth = depth;
    if (depth > MAX_DEPTH)
        parse_give_up(cx, node->at, "this is more than %d levels deep; name a part of it and use the name", MAX_DEPTH);
}

static struct ast *count_depth(struct parse *cx, struct ast *n)
{
    int deepest = -1;
    for (struct ast_child c = ast_first(n); c.node; ast_next(&c))
        if (c.node->depth > deepest) deepest = c.node->depth;
    set_depth(cx, n, deepest + 1);
    return n;
}

static struct ast *build(struct parse *cx, struct ast node)
{
    struct ast *n = ast_new(cx->front->mem, node.kind, node.at);
    *n = node;
    return count_depth(cx, n);
}

#define PLAIN(kind_, at_)   .kind = kind_, .at = at_, .name_at = at_
#define NAMED(kind_, name_) .kind = kind_, .at = at, .name = (name_).name, .name_at = (name_).at

struct list list_add(struct list list, struct ast *node)
{
    if (list.first == NULL)
        list.first = node;
    else
        list.last->next = node;
    list.last = node;
    return list;
}

struct ast *ast_plain(struct parse *cx, enum ast_kind kind, struct span at)
{
    return ast_new(cx->front->mem, kind, at);
}

struct ast *ast_named(struct parse *cx, enum ast_kind kind, struct span at, struct token name)
{
    return build(cx, (struct ast){NAMED(kind, name)});
}

/* ---- items ---- */

struct ast *ast_import(struct parse *cx, struct span at, struct ast *path)
{
    return build(cx, (struct ast){.kind = AST_IMPORT, .at = at, .name_at = path->at, .import = {.path = path}});
}

struct ast *ast_import_as(struct parse *cx, struct span at, struct ast *path, struct token name)
{
    return build(cx, (struct ast){NAMED(AST_IMPORT, name), .import = {.path = path}});
}

struct ast *ast_decl(struct parse *cx, enum ast_kind kind, struct span at, struct token name, struct ast *type,
                     struct ast *value)
{
    return build(cx, (struct ast){NAMED(kind, name), .decl = {.type = type, .value = value}});
}

struct ast *ast_struct(struct parse *cx, struct span at, struct token name, struct list generics, struct list fields)
{
    return build(
        cx, (struct ast){NAMED(AST_STRUCT, name), .structure = {.generics = generics.first, .fields = fields.first}});
}

/* attrs is the KERNEL node the attributes were put into as they came. */
struct ast *ast_kernel(struct parse *cx, struct span at, struct token name, struct list generics, struct list formals,
                       struct ast *attrs)
{
    attrs->at = at;
    attrs->name = name.name;
    attrs->name_at = name.at;
    attrs->kernel->generics = generics.first;
    attrs->kernel->formals = formals.first;
    return count_depth(cx, attrs);
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

struct ast *kernel_cost(struct ast *attrs, struct ast *cost)
{
    if (attrs->kernel->cost != NULL) return add_repeated(attrs, cost);
    attrs->kernel->cost = cost;
    return attrs;
}

struct ast *kernel_extern(struct ast *attrs, struct ast *symbol)
{
    if (attrs->kernel->extern_name != NULL) return add_repeated(attrs, symbol);
    attrs->kernel->extern_name = symbol;
    return attrs;
}

struct ast *kernel_where(struct ast *attrs, struct ast *cond)
{
    attrs->kernel->where = ast_append(attrs->kernel->where, cond);
    return attrs;
}

struct ast *ast_orch(struct parse *cx, struct span at, struct token name, struct list generics, struct list formals,
                     struct ast *result, struct ast *body)
{
    return build(
        cx,
        (struct ast){NAMED(AST_ORCH, name),
                     .orch = {.generics = generics.first, .formals = formals.first, .result = result, .body = body}});
}

struct ast *ast_export(struct ast *orch, struct span at)
{
    orch->at = at;
    orch->orch.exported = true;
    return orch;
}

struct ast *ast_formal(struct parse *cx, struct span at, struct mark mark, struct token name, struct ast *type)
{
    return build(cx,
                 (struct ast){NAMED(AST_FORMAL, name), .formal = {.type = type, .dir = mark.dir, .dir_at = mark.at}});
}

struct ast *ast_check(struct parse *cx, enum ast_kind kind, struct span at, struct ast *cond, struct ast *message)
{
    return build(cx, (struct ast){PLAIN(kind, at), .check = {.cond = cond, .message = message}});
}

/* ---- types ---- */

struct ast *ast_type_name(struct parse *cx, struct span at, struct token name, struct list dims)
{
    return build(cx, (struct ast){NAMED(AST_TYPE_NAME, name), .type_name = {.dims = dims.first}});
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
    return build(cx, (struct ast){PLAIN(AST_TYPE_ARRAY, at), .type_array = {.length = length, .element = element}});
}

/* ---- statements ---- */

struct ast *ast_block(struct parse *cx, struct span at, struct list stmts)
{
    return build(cx, (struct ast){PLAIN(AST_BLOCK, at), .block = {.stmts = stmts.first}});
}

struct ast *ast_with_attrs(struct parse *cx, struct ast *stmt, struct span at, struct list attrs)
{
    stmt->at = at;
    stmt->attrs = attrs.first;
    return count_depth(cx, stmt);
}

struct ast *ast_attr(struct parse *cx, struct span at, struct token name, struct list args)
{
    return build(cx, (struct ast){NAMED(AST_ATTR, name), .attr = {.args = args.first}});
}

struct ast *ast_view(struct parse *cx, struct span at, struct token name, struct ast *tensor, struct list tiles)
{
    return build(cx, (struct ast){NAMED(AST_VIEW, name), .view = {.tensor = tensor, .tiles = tiles.first}});
}

struct ast *ast_expr_stmt(struct parse *cx, struct span at, struct ast *expr)
{
    return build(cx, (struct ast){PLAIN(AST_EXPR_STMT, at), .expr_stmt = {.expr = expr}});
}

struct ast *ast_assign(struct parse *cx, struct span at, struct ast *target, struct ast *value)
{
    return build(cx, (struct ast){PLAIN(AST_ASSIGN, at), .assign = {.target = target, .value = value}});
}

struct ast *ast_for(struct parse *cx, struct span at, struct token name, struct ast *low, struct ast *high,
                    struct ast *step, struct ast *body)
{
    return build(cx,
                 (struct ast){NAMED(AST_FOR, name), .loop = {.low = low, .high = high, .step = step, .body = body}});
}

struct ast *ast_while(struct parse *cx, enum ast_kind kind, struct span at, struct ast *cond, struct ast *body)
{
    return build(cx, (struct ast){PLAIN(kind, at), .while_ = {.cond = cond, .body = body}});
}

static struct ast *if_node(struct parse *cx, struct span at, struct ast *cond, struct ast *then)
{
    return build(cx, (struct ast){PLAIN(AST_IF, at), .if_ = {.cond = cond, .then = then}});
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
    return build(cx, (struct ast){PLAIN(AST_MATCH, at), .match = {.value = value, .arms = arms.first, .other = other}});
}

struct ast *ast_arm(struct parse *cx, struct span at, struct list values, struct ast *body)
{
    return build(cx, (struct ast){PLAIN(AST_MATCH_ARM, at), .arm = {.values = values.first, .body = body}});
}

struct ast *ast_scope(struct parse *cx, struct span at, struct ast *label, struct ast *body)
{
    return build(cx, (struct ast){PLAIN(AST_SCOPE, at), .scope = {.label = label, .body = body}});
}

struct ast *ast_drop(struct parse *cx, struct span at, struct list names)
{
    return build(cx, (struct ast){PLAIN(AST_DROP, at), .drop = {.names = names.first}});
}

struct ast *ast_return(struct parse *cx, struct span at, struct ast *value)
{
    return build(cx, (struct ast){PLAIN(AST_RETURN, at), .ret = {.value = value}});
}

struct ast *ast_print(struct parse *cx, struct span at, struct list values)
{
    return build(cx, (struct ast){PLAIN(AST_PRINT, at), .print = {.values = values.first}});
}

/* ---- expressions ---- */

struct ast *ast_int(struct parse *cx, struct token t)
{
    return build(cx, (struct ast){PLAIN(AST_INT, t.at),
                                  .integer = {.digits = t.name, .value = t.integer, .too_large = t.too_large}});
}

struct ast *ast_float(struct parse *cx, struct token t)
{
    return build(cx, (struct ast){PLAIN(AST_FLOAT, t.at), .real = {.value = t.real}});
}

struct ast *ast_string(struct parse *cx, struct token t)
{
    return build(cx, (struct ast){PLAIN(AST_STRING, t.at), .string = {.text = t.text, .length = t.length}});
}

struct ast *ast_bool(struct parse *cx, struct span at, bool value)
{
    return build(cx, (struct ast){PLAIN(AST_BOOL, at), .boolean = {.value = value}});
}

struct ast *ast_binary(struct parse *cx, struct span at, enum ast_op op, struct ast *left, struct ast *right,
                       struct span op_at)
{
    return build(
        cx, (struct ast){PLAIN(AST_BINARY, at), .binary = {.op = op, .op_at = op_at, .left = left, .right = right}});
}

struct ast *ast_unary(struct parse *cx, struct span at, enum ast_op op, struct ast *operand, struct span op_at)
{
    return build(cx, (struct ast){PLAIN(AST_UNARY, at), .binary = {.op = op, .op_at = op_at, .left = operand}});
}

struct ast *ast_await(struct parse *cx, struct span at, struct ast *operand)
{
    return build(cx, (struct ast){PLAIN(AST_AWAIT, at), .await = {.operand = operand}});
}

struct ast *ast_call(struct parse *cx, struct span at, struct ast *callee, struct list args)
{
    return build(cx, (struct ast){PLAIN(AST_CALL, at), .call = {.callee = callee, .args = args.first}});
}

struct ast *ast_arg(struct parse *cx, struct span at, struct mark mark, struct ast *value)
{
    return build(cx, (struct ast){PLAIN(AST_ARG, at), .arg = {.value = value, .dir = mark.dir, .dir_at = mark.at}});
}

struct ast *ast_member(struct parse *cx, struct span at, struct ast *object, struct token name)
{
    return build(cx, (struct ast){NAMED(AST_MEMBER, name), .member = {.object = object}});
}

struct ast *ast_index(struct parse *cx, struct span at, struct ast *object, struct list indices)
{
    return build(cx, (struct ast){PLAIN(AST_INDEX, at), .index = {.object = object, .indices = indices.first}});
}

struct ast *ast_range(struct parse *cx, enum ast_kind kind, struct span at, struct ast *low, struct ast *high)
{
    return build(cx, (struct ast){PLAIN(kind, at), .range = {.low = low, .high = high}});
}
