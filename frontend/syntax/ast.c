/* ast.c - nodes, and the names of their kinds.
 * Idea       a node is a zeroed piece of the arena; constructors that need the parser are in ast_build.c.
 * Owner      the arena; nothing is freed alone.
 * Invariant  lists are chained by `next` and a node is in one list at most.
 * Blocks     never.
 * Tests      test/lit/parse/
 */
#include "ast.h"
#include "support/arena.h"

_Static_assert(sizeof(struct ast) <= 128, "see ast.h");

struct ast *ast_new(struct arena *a, enum ast_kind kind, struct span at)
{
    struct ast *n = arena_new(a, struct ast);
    n->kind = kind;
    n->at = at;
    n->name_at = at;
    if (kind == AST_KERNEL) n->kernel = arena_new(a, struct kernel_ast);
    return n;
}

struct ast *ast_append(struct ast *list, struct ast *node)
{
    if (list == NULL) return node;
    struct ast *last = list;
    while (last->next != NULL) last = last->next;
    last->next = node;
    return list;
}

const char *ast_kind_name(enum ast_kind kind)
{
    static const char *const names[] = {
#define AST(kind, name) name,
#include "ast.def"
#undef AST
    };
    return names[kind];
}

const char *ast_op_text(enum ast_op op)
{
    static const char *const texts[] = {
        [OP_OR] = "||",  [OP_AND] = "&&", [OP_EQ] = "==",    [OP_NE] = "!=",   [OP_LT] = "<",     [OP_LE] = "<=",
        [OP_GT] = ">",   [OP_GE] = ">=",  [OP_ADD] = "+",    [OP_SUB] = "-",   [OP_MUL] = "*",    [OP_DIV] = "/",
        [OP_MOD] = "%",  [OP_NEG] = "-",  [OP_NOT] = "!",    [OP_BITOR] = "|", [OP_BITXOR] = "^", [OP_BITAND] = "&",
        [OP_SHL] = "<<", [OP_SHR] = ">>", [OP_BITNOT] = "~",
    };
    return texts[op];
}

const char *direction_text(enum direction dir)
{
    static const char *const texts[] = {
        [DIR_NONE] = "",   [DIR_IN] = "in",   [DIR_OUT] = "out",   [DIR_INOUT] = "inout",
        [DIR_ACC] = "acc", [DIR_OWN] = "own", [DIR_HOST] = "host", [DIR_SCRATCH] = "scratch",
    };
    return texts[dir];
}

bool direction_writes(enum direction dir)
{
    return dir == DIR_OUT || dir == DIR_INOUT || dir == DIR_ACC || dir == DIR_OWN;
}
