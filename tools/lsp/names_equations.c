/* names_equations.c - the names in a kernel in index notation.
 * Idea       the checker keeps no meaning with these nodes, for a generic kernel is checked once for each instance; but
 *            the scopes are plain: a name on the left side that means nothing yet is an index variable of its
 *            statement.
 * Tests      test/lsp/rename.py
 */
#include "names_parts.h"
#include "syntax/ast_walk.h"

struct known {
    const char *name;
    struct span declared;
    enum name_kind kind;
};

struct eq_scope {
    struct names_work *work;
    VEC(struct known) names;
    bool on_left; /* what means nothing is an index variable */
};

static void add(struct eq_scope *s, const struct ast *n, struct span at, struct span declared, enum name_kind kind)
{
    uses_add(s->work,
             (struct name_use){
                 .at = at, .declared = declared, .node = n, .kind = kind, .declares = at.begin == declared.begin});
}

static void declare(struct eq_scope *s, const struct ast *n, struct span at, enum name_kind kind)
{
    vec_push(&s->names, ((struct known){n->name, at, kind}));
    add(s, n, at, at, kind);
}

static bool use_formal(struct eq_scope *s, const struct ast *n, const struct ast *list, enum name_kind kind)
{
    for (; list; list = list->next)
        if (list->name == n->name) {
            const struct symbol *f = list->symbol;
            const bool is_scalar = f && f->type && type_is_scalar(f->type);
            add(s, n, n->at, list->name_at, kind == NAME_TENSOR && is_scalar ? NAME_FORMAL : kind);
            return true;
        }
    return false;
}

static void use_name(struct eq_scope *s, const struct ast *n)
{
    for (size_t i = s->names.count; i-- > 0;)
        if (s->names.data[i].name == n->name) {
            add(s, n, n->at, s->names.data[i].declared, s->names.data[i].kind);
            return;
        }
    const struct kernel_ast *k = s->work->head->kernel;
    if (use_formal(s, n, k->formals, NAME_TENSOR) || use_formal(s, n, k->generics, NAME_DIMENSION)) return;
    const struct symbol *outer = uses_lookup(s->work->module, n->name);
    if (outer && (outer->kind == SYM_CONST || outer->kind == SYM_MODULE))
        uses_add_symbol(s->work, n->at, n, outer);
    else if (s->on_left)
        declare(s, n, n->at, NAME_INDEX);
}

static void walk(struct eq_scope *s, struct ast *n);

static void walk_all(struct eq_scope *s, struct ast *list)
{
    for (; list; list = list->next) walk(s, list);
}

static void walk_reduction(struct eq_scope *s, struct ast *n)
{
    const size_t mark = s->names.count;
    for (struct ast *b = n->reduction.binders; b; b = b->next) {
        walk(s, b->binder.low);
        walk(s, b->binder.high);
        declare(s, b, b->name_at, NAME_INDEX);
    }
    walk(s, n->reduction.value);
    s->names.count = mark;
}

static void walk_member(struct eq_scope *s, struct ast *n)
{
    const struct ast *object = n->member.object;
    const struct symbol *m = object->kind == AST_NAME ? uses_lookup(s->work->module, object->name) : NULL;
    walk(s, n->member.object);
    if (m && m->kind == SYM_MODULE && m->target)
        uses_add_symbol(s->work, n->name_at, n, uses_lookup(m->target, n->name));
}

static void walk(struct eq_scope *s, struct ast *n)
{
    if (!n) return;
    switch (n->kind) {
    case AST_NAME: use_name(s, n); return;
    case AST_MEMBER: walk_member(s, n); return;
    case AST_REDUCTION: walk_reduction(s, n); return;
    case AST_CALL: /* its name is a builtin's, or a cast to an element type */
        use_formal(s, n->call.callee, s->work->head->kernel->generics, NAME_DIMENSION);
        walk_all(s, n->call.args);
        return;
    default: break;
    }
    for (struct ast_child c = ast_first(n); c.node; ast_next(&c)) walk(s, c.node);
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static void walk_left(struct eq_scope *s, struct ast *n)
{
    s->on_left = true;
    walk_all(s, n);
    s->on_left = false;
}

static void walk_statement(struct eq_scope *s, struct ast *n);

static void walk_for(struct eq_scope *s, struct ast *n)
{
    walk(s, n->loop.low);
    walk(s, n->loop.high);
    const size_t mark = s->names.count;
    declare(s, n, n->name_at, NAME_INDEX);
    for (struct ast *i = n->loop.body->block.stmts; i; i = i->next) walk_statement(s, i);
    size_t kept = mark; /* a temporary stays behind its `for` */
    for (size_t i = mark; i < s->names.count; i++)
        if (s->names.data[i].kind != NAME_INDEX) s->names.data[kept++] = s->names.data[i];
    s->names.count = kept;
}

static void walk_statement(struct eq_scope *s, struct ast *n)
{
    const size_t mark = s->names.count;
    if (n->kind == AST_LET) {
        walk_left(s, n->decl.indices);
        walk(s, n->decl.value);
        s->names.count = mark;
        declare(s, n, n->name_at, n->decl.indices ? NAME_TENSOR : NAME_SCALAR);
    } else if (n->kind == AST_ASSIGN) {
        struct ast *target = n->assign.target;
        if (target->kind == AST_INDEX) {
            walk(s, target->index.object);
            walk_left(s, target->index.indices);
        } else {
            walk(s, target);
        }
        walk(s, n->assign.value);
        s->names.count = mark;
    } else if (n->kind == AST_FOR) {
        walk_for(s, n);
    }
}

void names_of_equations(struct names_work *w, struct ast *block)
{
    struct eq_scope s = {.work = w};
    for (struct ast *n = block->block.stmts; n; n = n->next) walk_statement(&s, n);
    vec_free(&s.names);
}
