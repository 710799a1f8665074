/* ast_build.c - what the actions of the grammar call.
 * Idea       NODE and NAMED make a node with its children and count how deep the tree below it is; what comes piece by
 *            piece, kernels and chains of `else if`, has a function for each piece.
 * Owner      the parser; nodes belong to the front end's arena.
 * Invariant  node->depth is larger than the depth of every child, and a tree deeper than MAX_DEPTH ends the parse, so
 *            that no later pass runs out of stack on `1+1+1+...`.
 * Blocks     never.
 * Tests      test/lit/parse/ by way of --emit=ast; test/lit/parse/nesting-limits.test
 */
#include "parse.h"
#include "ast_walk.h"
#include "support/arena.h"
#include <string.h>

#define NO_LIST                                                                                                        \
    (struct list) { 0 }

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

struct ast *ast_build(struct parse *cx, struct ast node)
{
    struct ast *n = ast_new(cx->front->mem, node.kind, node.at);
    *n = node;
    return count_depth(cx, n);
}

struct list list_add(struct list list, struct ast *node)
{
    if (list.first == NULL)
        list.first = node;
    else
        list.last->next = node;
    list.last = node;
    return list;
}

/* suffix: WRITES, BY, or NULL */
struct ast *ast_formal(struct parse *cx, struct span at, struct token name, struct ast *type, struct mark mark,
                       struct ast *suffix)
{
    struct ast *n = ast_new(cx->front->mem, AST_FORMAL, at);
    n->name = name.name;
    n->name_at = name.at;
    n->formal.type = type;
    n->formal.dir = mark.dir;
    n->formal.dir_at = mark.at;
    n->formal.writes = suffix && suffix->kind == AST_WRITES ? suffix : NULL;
    n->formal.by = suffix && suffix->kind == AST_BY ? suffix : NULL;
    return count_depth(cx, n);
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

struct ast *ast_kernel_block(struct parse *cx, struct ast *kernel, struct ast *block)
{
    kernel->kernel->block = block;
    return count_depth(cx, kernel);
}

static struct ast *add_repeated(struct ast *attrs, struct ast *node)
{
    attrs->kernel->repeated = ast_append(attrs->kernel->repeated, node);
    return attrs;
}

struct ast *kernel_on(struct parse *cx, struct ast *attrs, struct token worker)
{
    if (attrs->kernel->worker != NULL) return add_repeated(attrs, NAMED(AST_NAME, worker.at, worker));
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

struct ast *ast_export(struct ast *orch, struct span at)
{
    orch->at = at;
    orch->orch.exported = true;
    return orch;
}

/* object as [extents]: each extent in a POINT, as an index would be. */
struct ast *ast_as(struct parse *cx, struct span at, struct ast *object, struct ast *extents)
{
    struct ast *n = ast_new(cx->front->mem, AST_INDEX, at), **end = &n->index.indices;
    n->index.object = object;
    n->index.is_shape = true;
    for (struct ast *e = extents, *next; e; e = next) {
        next = e->next;
        e->next = NULL;
        *end = ast_new(cx->front->mem, AST_INDEX_POINT, e->at);
        (*end)->range.low = e;
        end = &(*end)->next;
    }
    return n;
}

struct ast *ast_with_attrs(struct parse *cx, struct ast *stmt, struct span at, struct list attrs)
{
    stmt->at = at;
    stmt->attrs = attrs.first;
    return count_depth(cx, stmt);
}

static void refuse(struct parse *cx, const struct ast *n, const char *text)
{
    diag_error(cx->front->diag, DIAG_E00, n->at, "%s", text);
    cx->had_error = true;
}

struct ast *ast_call(struct parse *cx, struct span at, struct ast *callee, struct list args)
{
    for (struct ast *a = args.first; a; a = a->next)
        if (a->kind == AST_BINDER) {
            refuse(cx, a, "a range stands before the ':' of a reduction, and nowhere else");
            diag_help(cx->front->diag, "a reduction is 'sum(i in 0 .. n: x[i])'");
            return callee;
        }
    return NODE(AST_CALL, at, .call = {callee, args.first});
}

/* What stands before the ':' was read as arguments: plain names are binders. */
struct ast *ast_reduction(struct parse *cx, struct span at, struct ast *callee, struct list args, struct ast *value)
{
    struct list binders = NO_LIST;
    for (struct ast *a = args.first, *next; a; a = next) {
        next = a->next;
        a->next = NULL;
        if (a->kind == AST_ARG && (a->arg.dir != DIR_NONE || a->arg.value->kind != AST_NAME)) {
            refuse(cx, a, "before the ':' of a reduction stand names: 'sum(i, j: x[i, j])'");
            return value;
        }
        const struct ast *name = a->kind == AST_ARG ? a->arg.value : NULL;
        binders = list_add(binders, name ? NODE(AST_BINDER, a->at, .name = name->name) : a);
    }
    return NODE(AST_REDUCTION, at, .reduction = {callee, binders.first, value});
}

static struct ast *if_node(struct parse *cx, struct span at, struct ast *cond, struct ast *then)
{
    return NODE(AST_IF, at, .if_ = {cond, then, NULL});
}

struct chain chain_start(struct parse *cx, struct span at, struct ast *cond, struct ast *then)
{
    struct ast *n = if_node(cx, at, cond, then);
    return (struct chain){n, n, 1};
}

/* What is left of a statement whose head could not be read: an `else` may follow without being one more error. */
struct chain chain_broken(struct parse *cx, struct span at, struct ast *then)
{
    return chain_start(cx, at, NODE(AST_BOOL, at, .boolean = {false}), then);
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
