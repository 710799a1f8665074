/* active.c - which tensors have a gradient: what depends on an x, and what the function gives depends on.
 * Idea       two sets that grow until nothing changes; a tensor is in a set as a whole.
 * Gives      is_varied, is_useful of tensors, is_touching of steps.  Refuses what has a gradient and cannot have one.
 * Tests      test/lit/grad/refused.test
 */
#include "parts.h"
#include "syntax/ast_walk.h"
#include <string.h>

bool active_reads(enum direction d) { return d == DIR_IN || d == DIR_INOUT || d == DIR_ACC || d == DIR_OWN; }
bool active_writes(enum direction d) { return d == DIR_OUT || d == DIR_INOUT || d == DIR_ACC; }

enum direction active_direction(const struct step *s, int place)
{
    const struct symbol *callee = s->call->callee;
    return place < callee->formal_count ? callee->formals[place]->dir : DIR_OUT;
}

bool active_is_float(const struct type *t)
{
    return t->kind == TYPE_TENSOR &&
           (t->elem == ELEM_F32 || t->elem == ELEM_F64 || t->elem == ELEM_F16 || t->elem == ELEM_BF16);
}

static bool is_float_place(const struct step *s, int i)
{
    return s->places[i].base && active_is_float(s->places[i].base->symbol->type);
}

bool active_flows(struct gradient *g, const struct step *s, int from, int to)
{
    const struct symbol *k = s->call->callee;
    if (k->kind == SYM_KERNEL && k->equations) {
        const struct adjoint *a = kernels_adjoint(g->all, k, from);
        if (a->kind == ADJOINT_SAME) return from == to;
        if (a->kind == ADJOINT_ZERO) return false;
        return a->kind == ADJOINT_NONE || from == to || adjoint_reads(a, to, ADJOINT_SEED);
    }
    const struct symbol *named = k->generic ? k->generic : k;
    if (k->kind != SYM_KERNEL || !named->adjoint_count) return true;
    for (int n = 0; n < named->adjoint_count; n++)
        for (int i = 0; i < named->adjoints[n]->formal_count; i++) {
            bool is_bar;
            if (kernels_original(k, named->adjoints[n]->formals[i], &is_bar) == from && is_bar) return true;
        }
    return from == to;
}

static bool grow_varied(struct gradient *g, const struct step *s)
{
    bool changed = false;
    for (int i = 0; i < s->place_count; i++) {
        if (!is_float_place(s, i) || !active_reads(active_direction(s, i)) || !s->places[i].base->is_varied) continue;
        for (int k = 0; k < s->place_count; k++) {
            if (!is_float_place(s, k) || !active_writes(active_direction(s, k)) || s->places[k].base->is_varied ||
                !active_flows(g, s, i, k))
                continue;
            changed = s->places[k].base->is_varied = true;
        }
    }
    return changed;
}

static bool grow_useful(struct gradient *g, const struct step *s)
{
    bool changed = false;
    for (int k = 0; k < s->place_count; k++) {
        if (!is_float_place(s, k) || !active_writes(active_direction(s, k)) || !s->places[k].base->is_useful) continue;
        for (int i = 0; i < s->place_count; i++) {
            if (!is_float_place(s, i) || !active_reads(active_direction(s, i)) || s->places[i].base->is_useful ||
                !active_flows(g, s, i, k))
                continue;
            changed = s->places[i].base->is_useful = true;
        }
    }
    return changed;
}

/* ---- what a gradient cannot go through --------------------------------------------------------------------------- */

static bool is_among_active(const struct step *s)
{
    for (int i = 0; i < s->place_count; i++)
        if (tensor_is_active(s->places[i].base)) return true;
    return false;
}

static bool check_structs(struct gradient *g, const struct step *s)
{
    for (int i = 0; i < s->call->callee->formal_count; i++)
        for (int k = 0; k < s->call->leaves[i].count; k++) {
            const struct region *r = s->call->leaves[i].leaf[k].region;
            if (r && tensor_is_active(ptrmap_get(&g->tensor_of, r->base)))
                return grad_refuse(
                    g, DIAG_E99, s->call_ast->at, "give the function a formal for each tensor of the struct",
                    "a gradient through a struct, which '%s' is given, is not built yet", s->call->callee->name);
        }
    return true;
}

static const char help_array[] = "let an array have a tensor for each iteration: h[t + 1] = f(h[t])";

/* `let t = a;` of a var: its value of that moment. */
static bool names_older_value(struct ast *expr)
{
    const struct ast *root = expr ? text_root(expr) : NULL;
    return root && root->kind == AST_NAME && root->symbol && root->symbol->keeps;
}

/* `a = b;` of tensors */
static bool check_move(struct gradient *g, const struct step *s)
{
    if (s->kind != STEP_PLAIN || s->ast->kind != AST_ASSIGN || !s->ast->assign.target->symbol) return true;
    const struct tensor *t = ptrmap_get(&g->tensor_of, s->ast->assign.target->symbol);
    if (!tensor_is_active(t)) return true;
    return grad_refuse(g, DIAG_E99, s->ast->at, help_array,
                       "a gradient through '%s', which takes another tensor over, is not built yet", t->symbol->name);
}

static bool check_call(struct gradient *g, const struct step *s)
{
    const struct symbol *k = s->call->callee;
    if (!check_structs(g, s)) return false;
    if (!is_among_active(s)) return true;
    for (int i = 0; i < s->place_count; i++) {
        const struct tensor *t = s->places[i].base;
        if (!tensor_is_active(t)) continue;
        if (active_direction(s, i) == DIR_OWN)
            return grad_refuse(g, DIAG_E22, s->call_ast->at,
                               "pass it as 'in': its value is needed in the backward pass",
                               "'%s' is moved into '%s', and has a gradient", t->symbol->name, k->name);
        if (active_direction(s, i) == DIR_HOST || t->symbol->dir == DIR_HOST)
            return grad_refuse(g, DIAG_E22, s->call_ast->at, "make it an 'in' tensor, and give it to kernels",
                               "'%s' is 'host', and has a gradient", t->symbol->name);
        if (t->symbol->dir == DIR_OWN)
            return grad_refuse(g, DIAG_E22, t->symbol->decl->at, "make it 'in': the caller keeps it",
                               "'%s' is 'own', and has a gradient", t->symbol->name);
        if (t->symbol->is_field || names_older_value(s->places[i].expr))
            return grad_refuse(g, DIAG_E99, s->call_ast->at, help_array,
                               "a gradient through a second name of the 'var' '%s' is not built yet", t->symbol->name);
        if (strchr(t->symbol->name, '.'))
            return grad_refuse(g, DIAG_E99, s->call_ast->at, "give the function a formal for each tensor of the struct",
                               "a gradient through the struct of '%s' is not built yet", t->symbol->name);
    }
    return true;
}

static bool finds_jump(void *cx, struct ast *n)
{
    const struct ast **found = cx;
    if (n->kind == AST_BREAK || n->kind == AST_CONTINUE) *found = n;
    return !*found;
}

static bool check_loop(struct gradient *g, const struct step *s)
{
    const struct ast *jump = NULL;
    if (!s->is_touching) return true;
    if (s->kind == STEP_WHILE)
        return grad_refuse(g, DIAG_E22, s->ast->at,
                           "write 'for i in 0 .. n' with a bound, and an 'if' around what late iterations leave out",
                           "a gradient flows through this '%s', whose iterations nothing counts",
                           s->ast->kind == AST_WHILE ? "while" : "do");
    if (s->kind != STEP_FOR) return true;
    ast_walk(s->ast->loop.body, finds_jump, (void *)&jump);
    if (jump)
        return grad_refuse(g, DIAG_E22, jump->at, "put the rest of the iteration under an 'if'",
                           "'%s' leaves a loop that a gradient flows through",
                           jump->kind == AST_BREAK ? "break" : "continue");
    return true;
}

/* ---- floats that become scalars ---------------------------------------------------------------------------------- */

struct taint {
    struct gradient *g;
    const struct tensor *found;
};

static bool find_taint(void *cx, struct ast *n)
{
    struct taint *t = cx;
    struct gradient *g = t->g;
    if (n->kind == AST_AWAIT && region_of(n->await.operand)) {
        const struct tensor *of = ptrmap_get(&g->tensor_of, region_of(n->await.operand)->base);
        if (of && of->is_varied) t->found = of;
    }
    if (n->kind == AST_NAME && n->symbol && ptrmap_get(&g->tainted, n->symbol))
        t->found = ptrmap_get(&g->tainted, n->symbol);
    return !t->found && !ast_is_statement(n);
}

static const struct tensor *taint_of(struct gradient *g, struct ast *e)
{
    struct taint t = {g, NULL};
    if (e) ast_walk(e, find_taint, &t);
    return t.found;
}

static bool grow_taint(struct gradient *g, const struct step *s)
{
    struct ast *n = s->ast;
    struct ast *v = n->kind == AST_ASSIGN ? n->assign.value : n->decl.value;
    const struct symbol *to = n->kind == AST_ASSIGN ? n->assign.target->symbol : n->symbol;
    const struct tensor *t = taint_of(g, v);
    if (!t || !to || ptrmap_get(&g->tainted, to)) return false;
    ptrmap_set(&g->tainted, to, (void *)(uintptr_t)t);
    return true;
}

static bool refuse_taint(struct gradient *g, struct ast *e, const char *where)
{
    const struct tensor *t = taint_of(g, e);
    if (!t) return true;
    return grad_refuse(g, DIAG_E22, e->at, "let a kernel do it: 'select(c, a, b)' chooses among elements",
                       "an element of '%s', which has a gradient, reaches %s", t->symbol->name, where);
}

/* `for` only has more or fewer iterations: the gradient is that of the iterations that were made. */
static void warn_count(struct gradient *g, struct ast *e)
{
    const struct tensor *t = taint_of(g, e);
    if (!t) return;
    diag_warning(g->c->diag, DIAG_W11, e->at,
                 "an element of '%s', which has a gradient, decides how many iterations this loop has",
                 t->symbol->name);
    diag_help(g->c->diag, "the gradient is that of the iterations that are made: their number has none");
}

static bool check_scalars(struct gradient *g, const struct step *s)
{
    if (!s->is_touching) return true;
    if (s->kind == STEP_IF) return refuse_taint(g, s->ast->if_.cond, "this condition");
    if (s->kind == STEP_MATCH) return refuse_taint(g, s->ast->match.value, "this 'match'");
    if (s->kind == STEP_FOR) {
        warn_count(g, s->ast->loop.low);
        warn_count(g, s->ast->loop.high);
    }
    if (s->kind != STEP_CALL) return true;
    for (int i = 0; i < s->call->callee->formal_count; i++) {
        const struct symbol *f = s->call->callee->formals[i];
        if (f->type && type_is_scalar(f->type) && s->call->values[i] && f->type->kind != TYPE_BOOL &&
            !refuse_taint(g, s->call->values[i], arena_printf(g->mem, "the scalar formal '%s'", f->name)))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */

bool active_find(struct gradient *g)
{
    bool changed = true;
    for (int i = 0; i < g->x_count; i++) {
        struct tensor *t = steps_tensor(g, g->x[i]);
        t->is_x = t->is_varied = true;
    }
    while (changed) {
        changed = false;
        for (size_t i = 0; i < g->calls.count; i++) changed |= grow_varied(g, g->calls.data[i]);
    }
    for (size_t i = 0; i < g->tensors.count; i++) {
        struct tensor *t = g->tensors.data[i];
        t->is_useful =
            active_is_float(t->symbol->type) && (t->is_result || (t->is_formal && active_writes(t->symbol->dir)));
    }
    for (changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < g->calls.count; i++) changed |= grow_useful(g, g->calls.data[i]);
    }
    for (size_t i = 0; i < g->calls.count; i++) {
        struct step *s = g->calls.data[i];
        s->is_touching = is_among_active(s);
        for (struct block *b = s->in; s->is_touching && b->owner; b = b->outer) b->owner->is_touching = true;
    }
    for (changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < g->steps.count; i++)
            if (g->steps.data[i]->kind == STEP_SCALAR) changed |= grow_taint(g, g->steps.data[i]);
    }
    for (size_t i = 0; i < g->steps.count && !g->failed; i++) {
        const struct step *s = g->steps.data[i];
        if (s->kind == STEP_CALL && !check_call(g, s)) break;
        if (!check_move(g, s) || !check_loop(g, s) || !check_scalars(g, s)) break;
    }
    return !g->failed;
}
