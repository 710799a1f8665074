/* active.c - which tensors have a gradient: what depends on an x, and what the function gives depends on.
 * Idea       two sets that grow until nothing changes; a tensor is in a set as a whole.
 * Gives      is_varied, is_useful of tensors, is_touching of steps.  Refuses what has a gradient and cannot have one.
 * Tests      test/lit/grad/refused.test, test/lit/grad/awaited.test
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

/* ---- what depends on an x ---------------------------------------------------------------------------------------- */

/* Note [scalars that depend on an x]: a scalar has no bar, so a gradient cannot go through one.  Yet what depends on an
 * x through a scalar does depend on it: where the function gives that, the gradient is refused and not left out.  An
 * array of scalars is a tensor here, so it is varied as a whole; other scalars are in `tainted`, each with the tensor
 * whose element it depends on.  The value of a call depends on all that the call reads, unless it is no float: then its
 * derivative is 0. */

static bool is_float_scalar(const struct type *t) { return t && (t->kind == TYPE_F64 || t->kind == TYPE_F32); }

static struct tensor *tensor_at(struct gradient *g, const struct region *r)
{
    return r ? ptrmap_get(&g->tensor_of, r->base->next_of ? r->base->next_of : r->base) : NULL;
}

static const struct tensor *varied_at(struct gradient *g, const struct region *r)
{
    const struct tensor *t = tensor_at(g, r);
    return t && t->is_varied ? t : NULL;
}

static bool carries(enum direction d) { return active_reads(d) || d == DIR_HOST; }

/* A tensor that depends on an x, among what the call reads as formal i, which is no scalar. */
static const struct tensor *tensor_read(struct gradient *g, const struct call *call, int i)
{
    const struct tensor *found = varied_at(g, call->regions[i]);
    if (!carries(call->callee->formals[i]->dir)) return NULL;
    for (int k = 0; k < call->leaves[i].count && !found; k++) {
        const struct leaf *l = &call->leaves[i].leaf[k];
        found = l->region ? varied_at(g, l->region) : ptrmap_get(&g->tainted, l->scalar);
    }
    return found;
}

struct taint {
    struct gradient *g;
    const struct tensor *found;
};

static bool find_taint(void *cx, struct ast *n)
{
    struct taint *t = cx;
    struct gradient *g = t->g;
    const struct call *call = n->kind == AST_CALL && is_float_scalar(n->type) ? call_of(n) : NULL;
    if (n->kind == AST_AWAIT) t->found = varied_at(g, region_of(n->await.operand));
    if ((n->kind == AST_INDEX || n->kind == AST_MEMBER) && is_float_scalar(n->type))
        t->found = varied_at(g, region_of(n));
    if ((n->kind == AST_NAME || n->kind == AST_MEMBER) && n->symbol && !t->found)
        t->found = ptrmap_get(&g->tainted, n->symbol);
    for (int i = 0; call && i < call->callee->formal_count && !t->found; i++) t->found = tensor_read(g, call, i);
    return !t->found && !ast_is_statement(n);
}

/* The tensor whose element the scalar e depends on, or NULL. */
static const struct tensor *taint_of(struct gradient *g, struct ast *e)
{
    struct taint t = {g, NULL};
    if (e) ast_walk(e, find_taint, &t);
    return t.found;
}

static const struct tensor *source_of(struct gradient *g, const struct call *call, int i)
{
    const struct symbol *f = call->callee->formals[i];
    if (!type_is_scalar(f->type)) return tensor_read(g, call, i);
    return f->type->kind == TYPE_BOOL || f->dir == DIR_OUT ? NULL : taint_of(g, call->values[i]);
}

static bool vary(struct tensor *t)
{
    if (!t || t->is_varied || !active_is_float(t->symbol->type)) return false;
    return t->is_varied = true;
}

static bool taint(struct gradient *g, const struct symbol *scalar, const struct tensor *from)
{
    if (!scalar || ptrmap_get(&g->tainted, scalar)) return false;
    ptrmap_set(&g->tainted, scalar, (void *)(uintptr_t)from);
    return true;
}

/* A name, a field, or an element of an array. */
static bool taint_place(struct gradient *g, const struct ast *place, const struct tensor *from)
{
    return region_of(place) ? vary(tensor_at(g, region_of(place))) : taint(g, place->symbol, from);
}

static bool taint_leaves(struct gradient *g, const struct leaves *leaves, const struct tensor *from)
{
    bool changed = false;
    for (int k = 0; k < leaves->count; k++) {
        const struct leaf *l = &leaves->leaf[k];
        if (l->region)
            changed |= vary(tensor_at(g, l->region));
        else if (is_float_scalar(l->scalar->type))
            changed |= taint(g, l->scalar, from);
    }
    return changed;
}

/* What the call writes beside tensors: scalars, and the fields of structs. */
static bool grow_others(struct gradient *g, const struct call *call, const struct tensor *from)
{
    bool changed = taint_leaves(g, &call->result_leaves, from);
    for (int k = 0; k < call->callee->formal_count; k++) {
        const struct symbol *f = call->callee->formals[k];
        if (f->by_reference && is_float_scalar(f->type)) changed |= taint_place(g, call->values[k], from);
        if (active_writes(f->dir)) changed |= taint_leaves(g, &call->leaves[k], from);
    }
    return changed;
}

static bool grow_varied(struct gradient *g, const struct step *s)
{
    bool changed = false;
    for (int i = 0; i < s->call->callee->formal_count; i++) {
        const struct tensor *from = source_of(g, s->call, i);
        if (!from) continue;
        for (int k = 0; k < s->place_count; k++) {
            if (!is_float_place(s, k) || !active_writes(active_direction(s, k)) || s->places[k].base->is_varied)
                continue;
            if (!is_float_place(s, i) || active_flows(g, s, i, k)) changed |= vary(s->places[k].base);
        }
        changed |= grow_others(g, s->call, from);
    }
    return changed;
}

/* `let s = e;`, `var s = e;`, `s = e;` of a scalar */
static bool grow_taint(struct gradient *g, const struct step *s)
{
    struct ast *n = s->ast;
    const bool is_assigned = n->kind == AST_ASSIGN;
    if (!is_assigned && n->kind != AST_LET && n->kind != AST_VAR) return false;
    const struct type *type = is_assigned ? n->assign.target->type : n->symbol ? n->symbol->type : NULL;
    if (!type || !type_is_scalar(type)) return false;
    const struct tensor *from = taint_of(g, is_assigned ? n->assign.value : n->decl.value);
    if (!from) return false;
    return is_assigned ? taint_place(g, n->assign.target, from) : taint(g, n->symbol, from);
}

/* ---- what the function gives depends on -------------------------------------------------------------------------- */

static bool use(struct tensor *t)
{
    if (!t || t->is_useful || !active_is_float(t->symbol->type)) return false;
    return t->is_useful = true;
}

static bool is_leaf_useful(struct gradient *g, const struct leaves *leaves)
{
    for (int k = 0; k < leaves->count; k++) {
        const struct tensor *t = tensor_at(g, leaves->leaf[k].region);
        if (t && t->is_useful) return true;
    }
    return false;
}

/* Does the function give something that depends on what the call writes as a struct? */
static bool gives_struct(struct gradient *g, const struct call *call)
{
    bool is_useful = is_leaf_useful(g, &call->result_leaves);
    for (int k = 0; k < call->callee->formal_count && !is_useful; k++)
        is_useful = active_writes(call->callee->formals[k]->dir) && is_leaf_useful(g, &call->leaves[k]);
    return is_useful;
}

static bool use_read(struct gradient *g, const struct step *s, int i)
{
    bool changed = is_float_place(s, i) && use(s->places[i].base);
    for (int k = 0; k < s->call->leaves[i].count; k++) changed |= use(tensor_at(g, s->call->leaves[i].leaf[k].region));
    return changed;
}

static bool grow_useful(struct gradient *g, const struct step *s)
{
    bool changed = false;
    const bool is_struct_useful = gives_struct(g, s->call);
    for (int i = 0; i < s->call->callee->formal_count; i++) {
        bool is_useful = is_struct_useful;
        if (!carries(active_direction(s, i))) continue;
        for (int k = 0; k < s->place_count && !is_useful; k++)
            is_useful = is_float_place(s, k) && active_writes(active_direction(s, k)) && s->places[k].base->is_useful &&
                        (!is_float_place(s, i) || active_flows(g, s, i, k));
        if (is_useful) changed |= use_read(g, s, i);
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

static bool is_leaf_active(struct gradient *g, const struct leaves *leaves)
{
    for (int k = 0; k < leaves->count; k++)
        if (tensor_is_active(tensor_at(g, leaves->leaf[k].region))) return true;
    return false;
}

static bool check_structs(struct gradient *g, const struct step *s)
{
    bool is_active = is_leaf_active(g, &s->call->result_leaves);
    for (int i = 0; i < s->call->callee->formal_count; i++)
        is_active |= !type_is_scalar(s->call->callee->formals[i]->type) && is_leaf_active(g, &s->call->leaves[i]);
    if (!is_active) return true;
    return grad_refuse(g, DIAG_E99, s->call_ast->at, "give the function a formal for each tensor of the struct",
                       "a gradient through a struct, which '%s' is given, is not built yet", s->call->callee->name);
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
    if (jump && jump->kind == AST_BREAK)
        return grad_refuse(g, DIAG_E22, jump->at, "put an 'if' around what late iterations leave out",
                           "'break' leaves a loop that a gradient flows through");
    if (jump)
        return grad_refuse(g, DIAG_E22, jump->at, "put the rest of the iteration under an 'if'",
                           "'continue' leaves an iteration of a loop that a gradient flows through");
    return true;
}

/* ---- floats that become scalars ---------------------------------------------------------------------------------- */

static const char help_choose[] = "let a kernel do it: 'select(c, a, b)' chooses among elements";
static const char help_give[] = "give the tensor to a kernel that reads the element";

static bool refuse_taint(struct gradient *g, struct ast *e, const char *help, const char *where)
{
    const struct tensor *t = taint_of(g, e);
    if (!t) return true;
    return grad_refuse(g, DIAG_E22, e->at, help, "an element of '%s', which has a gradient, reaches %s",
                       t->symbol->name, where);
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

/* The array of scalars that the place is an element of, where it has a gradient. */
static const struct tensor *active_array(struct gradient *g, const struct ast *place)
{
    const struct tensor *t = type_is_scalar(place->type) ? tensor_at(g, region_of(place)) : NULL;
    return tensor_is_active(t) ? t : NULL;
}

static bool check_elements(struct gradient *g, const struct step *s)
{
    const struct tensor *t = s->ast->kind == AST_ASSIGN ? active_array(g, s->ast->assign.target) : NULL;
    if (t && !refuse_taint(g, s->ast->assign.value, help_give, arena_printf(g->mem, "the array '%s'", t->symbol->name)))
        return false;
    for (int i = 0; s->kind == STEP_CALL && i < s->call->callee->formal_count; i++) {
        if (!s->call->callee->formals[i]->by_reference || !(t = active_array(g, s->call->values[i]))) continue;
        return grad_refuse(g, DIAG_E22, s->call->values[i]->at, help_give,
                           "'%s' changes an element of '%s', which has a gradient", s->call->callee->name,
                           t->symbol->name);
    }
    return true;
}

static bool check_leaves(struct gradient *g, const struct step *s, int i)
{
    const struct symbol *f = s->call->callee->formals[i];
    for (int k = 0; k < s->call->leaves[i].count && carries(f->dir); k++) {
        const struct leaf *l = &s->call->leaves[i].leaf[k];
        const struct tensor *t = l->region ? NULL : ptrmap_get(&g->tainted, l->scalar);
        if (t)
            return grad_refuse(g, DIAG_E22, s->call_ast->at, help_give,
                               "an element of '%s', which has a gradient, reaches the scalar '%s' of a struct",
                               t->symbol->name, l->scalar->name);
    }
    return true;
}

static bool check_scalars(struct gradient *g, const struct step *s)
{
    if (!check_elements(g, s)) return false;
    if (!s->is_touching) return true;
    if (s->kind == STEP_IF) return refuse_taint(g, s->ast->if_.cond, help_choose, "this condition");
    if (s->kind == STEP_MATCH) return refuse_taint(g, s->ast->match.value, help_choose, "this 'match'");
    if (s->kind == STEP_FOR) {
        warn_count(g, s->ast->loop.low);
        warn_count(g, s->ast->loop.high);
    }
    if (s->kind != STEP_CALL) return true;
    for (int i = 0; i < s->call->callee->formal_count; i++) {
        const struct symbol *f = s->call->callee->formals[i];
        if (type_is_scalar(f->type) && s->call->values[i] && f->type->kind != TYPE_BOOL &&
            !refuse_taint(g, s->call->values[i], help_give, arena_printf(g->mem, "the scalar formal '%s'", f->name)))
            return false;
        if (!check_leaves(g, s, i)) return false;
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
        for (size_t i = 0; i < g->steps.count; i++) changed |= grow_taint(g, g->steps.data[i]);
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
    for (size_t i = 0; i < g->steps.count && !g->failed; i++) {
        const struct step *s = g->steps.data[i];
        if (s->kind == STEP_CALL && !check_call(g, s)) break;
        if (!check_move(g, s) || !check_loop(g, s) || !check_scalars(g, s)) break;
    }
    return !g->failed;
}
