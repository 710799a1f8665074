/* lookahead.c - the effects of statements that are not checked yet.
 * Idea       one walk for each question; names are compared as they stand, because symbols are not known yet.
 * Invariant  in doubt the answer is the one that promises less.
 * Tests      test/lit/sema/control.pto e10*.pto, test/lit/codegen/hoisted.pto
 */
#include "lookahead.h"
#include "syntax/ast_walk.h"

enum { MAX_CALLS = 8 }; /* a function calls a function ...: so deep is looked for a `print` */

static bool is_named(const struct ast *e, const char *name) { return e && e->kind == AST_NAME && e->name == name; }

/* The name, or a field of it. */
static bool is_part_of_name(const struct ast *e, const char *name)
{
    while (e && e->kind == AST_MEMBER) e = e->member.object;
    return is_named(e, name);
}

/* ---- jumps ------------------------------------------------------------------------------------------------------- */

static bool enter_jump(void *cx, struct ast *n)
{
    struct jumps *j = cx;
    j->breaks |= n->kind == AST_BREAK && j->loops == 0;
    j->continues |= n->kind == AST_CONTINUE && j->loops == 0;
    j->returns |= n->kind == AST_RETURN;
    j->asserts |= n->kind == AST_ASSERT;
    j->loops += ast_is_loop(n);
    return ast_is_statement(n);
}

static void leave_jump(void *cx, struct ast *n) { ((struct jumps *)cx)->loops -= ast_is_loop(n); }

struct jumps lookahead_jumps(struct ast *statement)
{
    struct jumps j = {0};
    ast_visit(&(struct ast_visitor){enter_jump, leave_jump, &j}, statement);
    return j;
}

struct jumps lookahead_jumps_of_list(struct ast *list)
{
    struct jumps j = {0};
    ast_visit_list(&(struct ast_visitor){enter_jump, leave_jump, &j}, list);
    return j;
}

bool lookahead_ends(struct ast *s)
{
    const bool is_choice = s->kind == AST_IF || s->kind == AST_MATCH;
    if (s->kind == AST_RETURN || s->kind == AST_BREAK || s->kind == AST_CONTINUE) return true;
    if (s->kind == AST_WHILE)
        return s->while_.cond->kind == AST_BOOL && s->while_.cond->boolean.value &&
               !lookahead_jumps(s->while_.body).breaks;
    if (ast_is_loop(s) || (is_choice && !ast_otherwise(s))) return false;
    for (struct ast_child c = ast_first(s); c.node; ast_next(&c)) /* all of the ways, or one of the statements */
        if (ast_is_statement(c.node) && lookahead_ends(c.node) != is_choice) return !is_choice;
    return is_choice;
}

/* ---- what is returned -------------------------------------------------------------------------------------------- */

struct scoped_name {
    const char *text;
    int depth;  /* of blocks and loops */
    int hidden; /* the depth at which the name means something else; 0: it does not */
};

static void enter_scope(struct scoped_name *s, const struct ast *n)
{
    if (n->kind == AST_BLOCK || n->kind == AST_FOR) s->depth++;
    if (n->kind == AST_FOR && !s->hidden && n->name == s->text) s->hidden = s->depth;
}

static void leave_scope(struct scoped_name *s, const struct ast *n)
{
    if (n->kind == AST_BLOCK || n->kind == AST_FOR) {
        if (s->hidden == s->depth) s->hidden = 0;
        s->depth--;
    } else if (n->kind == AST_LET || n->kind == AST_VAR || n->kind == AST_VIEW) {
        if (!s->hidden && n->name == s->text) s->hidden = s->depth;
    }
}

struct return_scan {
    struct scoped_name name;
    int same, other;
};

static bool enter_return(void *cx, struct ast *n)
{
    struct return_scan *r = cx;
    const char *name = r->name.text;
    enter_scope(&r->name, n);
    if (n->kind == AST_RETURN) {
        if (!r->name.hidden && is_named(n->ret.value, name))
            r->same++;
        else
            r->other++;
    }
    if (r->name.hidden) return true;
    if (n->kind == AST_ARG && n->arg.dir == DIR_OWN && is_part_of_name(n->arg.value, name)) r->other++;
    if (n->kind == AST_ASSIGN && is_part_of_name(n->assign.value, name)) r->other++; /* to a `var`, or a field */
    if (n->kind == AST_VAR && is_part_of_name(n->decl.value, name)) r->other++;
    for (const struct ast *x = n->kind == AST_DROP ? n->drop.names : NULL; x; x = x->next)
        if (is_part_of_name(x, name)) r->other++;
    return true;
}

static void leave_return(void *cx, struct ast *n) { leave_scope(&((struct return_scan *)cx)->name, n); }

bool lookahead_is_returned(struct checker *c, const struct ast *let)
{
    struct return_scan r = {.name = {.text = let->name, .depth = 1}};
    if (!c->function->result_place || c->function->result_place->decided_count) return false;
    ast_visit_list(&(struct ast_visitor){enter_return, leave_return, &r}, let->next);
    return r.same > 0 && r.other == 0;
}

/* ---- what a field is given --------------------------------------------------------------------------------------- */

struct given_scan {
    struct scoped_name name;
    void (*visit)(void *cx, const struct ast *target);
    void *cx;
};

static bool enter_given(void *cx, struct ast *n)
{
    struct given_scan *g = cx;
    enter_scope(&g->name, n);
    if (n->kind == AST_ASSIGN && !g->name.hidden && n->assign.target->kind == AST_MEMBER &&
        is_part_of_name(n->assign.target, g->name.text) && n->assign.value->kind != AST_CALL)
        g->visit(g->cx, n->assign.target);
    return ast_is_statement(n);
}

static void leave_given(void *cx, struct ast *n) { leave_scope(&((struct given_scan *)cx)->name, n); }

void lookahead_given_fields(const struct ast *let, void (*visit)(void *cx, const struct ast *target), void *cx)
{
    struct given_scan g = {{.text = let->name, .depth = 1}, visit, cx};
    ast_visit_list(&(struct ast_visitor){enter_given, leave_given, &g}, let->next);
}

/* ---- what is assigned, what is printed --------------------------------------------------------------------------- */

struct search {
    const char *assigned;
    const struct module *module; /* whose text this is */
    int calls;
    bool found;
};

static bool visit_assigned(void *cx, struct ast *n)
{
    struct search *s = cx;
    s->found |= n->kind == AST_ASSIGN && is_named(n->assign.target, s->assigned);
    s->found |= n->kind == AST_ARG && n->arg.dir == DIR_INOUT && is_named(n->arg.value, s->assigned);
    return !s->found;
}

bool lookahead_assigns(struct ast *list, const char *name)
{
    struct search s = {.assigned = name};
    ast_walk_list(list, visit_assigned, &s);
    return s.found;
}

static bool visit_printed(void *cx, struct ast *n);

static bool callee_prints(const struct search *outer, const struct ast *callee)
{
    const struct module *module = outer->module;
    if (callee->kind == AST_MEMBER && callee->member.object->kind == AST_NAME) {
        const struct symbol *m = names_in_module(module, callee->member.object->name);
        module = m && m->kind == SYM_MODULE ? m->target : NULL;
    }
    const struct symbol *s = module ? names_in_module(module, callee->name) : NULL;
    if (!s || s->kind != SYM_ORCH) return false;
    struct search inner = {.module = module, .calls = outer->calls + 1};
    if (inner.calls > MAX_CALLS) return true;
    ast_walk(s->decl->orch.body, visit_printed, &inner);
    return inner.found;
}

static bool visit_printed(void *cx, struct ast *n)
{
    struct search *s = cx;
    if (s->found) return false;
    s->found = n->kind == AST_PRINT || (n->kind == AST_CALL && callee_prints(s, n->call.callee));
    return !s->found;
}

bool lookahead_prints(const struct module *m, struct ast *list)
{
    struct search s = {.module = m};
    ast_walk_list(list, visit_printed, &s);
    return s.found;
}
