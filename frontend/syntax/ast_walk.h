/* ast_walk.h - the children of a node: the one list for every kind, and the walk over them. */
#ifndef PTOC_AST_WALK_H
#define PTOC_AST_WALK_H
#include "ast.h"

/* for (struct ast_child c = ast_first(n); c.node; ast_next(&c)): all children, in source order, lists flattened. */
struct ast_child {
    struct ast *node; /* NULL behind the last */
    const char *role; /* "cond: ", or "": how --emit=ast names it */
    const struct ast *parent;
    int slot;
};
struct ast_child ast_first(const struct ast *n);
void ast_next(struct ast_child *c);

/* Calls `enter` for n and everything below it, parents first, in source order; false skips what is below.  Recursion
 * is as deep as the tree, which the parser limits (MAX_DEPTH); a list of any length is a loop.  n may be NULL. */
void ast_walk(struct ast *n, bool (*enter)(void *cx, struct ast *n), void *cx);
void ast_walk_list(struct ast *n, bool (*enter)(void *cx, struct ast *n), void *cx);

/* The same with a second function, called for each node that was entered with true, behind what is below it. */
struct ast_visitor {
    bool (*enter)(void *cx, struct ast *n);
    void (*leave)(void *cx, struct ast *n);
    void *cx;
};
void ast_visit(const struct ast_visitor *v, struct ast *n);
void ast_visit_list(const struct ast_visitor *v, struct ast *n);

bool ast_is_statement(const struct ast *n); /* one, or an arm of a match */
bool ast_is_loop(const struct ast *n);
/* What is done where no condition of an IF or value of a MATCH holds: BLOCK, IF, or NULL. */
struct ast *ast_otherwise(const struct ast *n);

#endif
