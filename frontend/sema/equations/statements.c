/* statements.c - the statements of a kernel in index notation.
 * Idea       the left side says what a statement runs over, so it is looked at first; then the value; then the ranges
 *            that nothing states.
 * Invariant  a name of a `let` is known to the statements behind it alone.
 * Tests      test/lit/equations/refused.pto
 */
#include "parts.h"
#include <string.h>

static struct eq_var **copy_vars(struct eq_work *w, struct eq_var **from, size_t count)
{
    struct eq_var **to = arena_array(w->c->mem, struct eq_var *, count + 1);
    if (count) memcpy(to, from, count * sizeof *to);
    return to;
}

struct marks {
    size_t names, scope, accesses, vars;
};

static struct marks begin(struct eq_work *w, struct ast *n, enum eq_stmt_kind kind)
{
    const struct marks m = {w->names.count, w->in_scope.count, w->accesses.count, w->vars.count};
    w->stmt = arena_new(w->c->mem, struct eq_stmt);
    *w->stmt = (struct eq_stmt){.kind = kind, .at = n->at, .id = (int)w->stmts.count};
    w->stmt->loops = copy_vars(w, w->loops.data, w->loops.count);
    w->stmt->loop_count = (int)w->loops.count;
    w->frees.count = 0;
    w->said.count = 0;
    w->guard = NULL;
    return m;
}

/* The names of the statement are gone; its ranges and bounds are looked at. */
static bool end(struct eq_work *w, const struct marks *m, struct eq_access *target, const struct eq_expr *value)
{
    struct eq_stmt *s = w->stmt;
    w->names.count = m->names;
    w->in_scope.count = m->scope;
    if (!target || !value) return !(w->failed = true);
    vec_push(&w->accesses, target);
    s->frees = copy_vars(w, w->frees.data, w->frees.count);
    s->free_count = (int)w->frees.count;
    s->target = target;
    s->value = value;
    if (!eq_find_ranges(w, m->accesses, m->vars)) return false;
    vec_push(&w->stmts, s);
    return true;
}

static void check_bounds(struct eq_work *w, size_t first)
{
    for (size_t i = first; i < w->accesses.count; i++) eq_check_bounds(w, w->accesses.data[i]);
}

/* ---- let --------------------------------------------------------------------------------------------------------- */

/* One index of a `let`: a new variable, or one of a `for` around. */
static struct eq_var *let_index(struct eq_work *w, struct ast *n, struct eq_var *const *before, int count)
{
    const struct eq_name *known = n->kind == AST_NAME ? eq_find(w, n->name) : NULL;
    const bool had_failed = w->failed; /* an earlier statement */
    w->failed = true;
    if (n->kind != AST_NAME || (known ? known->kind != EQ_NAME_VAR : eq_outer(w, n->name) != NULL)) {
        diag_error(w->c->diag, DIAG_E19, n->at, "the indices of a 'let' are plain index variables, and '%s' is none",
                   place_str(w->c, n));
        return NULL;
    }
    for (int i = 0; i < count; i++)
        if (before[i]->symbol->name == n->name) {
            diag_error(w->c->diag, DIAG_E19, n->at, "'%s' stands on the left twice", n->name);
            return NULL;
        }
    w->failed = had_failed;
    if (known) return known->var;
    struct eq_var *v = eq_declare_var(w, EQ_FREE, n->name, n->at);
    vec_push(&w->frees, v);
    return v;
}

/* The extent of what runs from low to high: 0 where that is nothing. */
static const struct size *extent_of(struct eq_work *w, const struct size *low, const struct size *high)
{
    const struct size *extent = low && high ? size_sub(w->c->sizes, high, low) : NULL;
    if (!extent || facts_prove(w->c->facts, extent)) return extent;
    return size_binary(w->c->sizes, SIZE_MAXIMUM, extent, size_const(w->c->sizes, 0));
}

/* A range may name variables further out: the temporary has room for all of them. */
static bool give_extent(struct eq_work *w, struct eq_temp *t, int d, const struct eq_var *v)
{
    const struct eq_var *const *outer = (const struct eq_var *const *)w->loops.data;
    const struct size *high = size_sub(w->c->sizes, v->high, size_const(w->c->sizes, 1));
    eq_know_vars(w, outer, (int)w->loops.count);
    t->low[d] = eq_corner(w->c, v->low, outer, (int)w->loops.count, false, NULL);
    high = high ? eq_corner(w->c, high, outer, (int)w->loops.count, true, NULL) : NULL;
    high = high ? size_binary(w->c->sizes, SIZE_ADD, high, size_const(w->c->sizes, 1)) : NULL;
    t->high[d] = high;
    t->extent[d] = extent_of(w, t->low[d], high);
    if (t->extent[d]) return true;
    diag_error(w->c->diag, DIAG_E19, v->at,
               "the range of '%s' depends on variables further out in a way that gives "
               "'%s' no extent",
               v->symbol->name, t->name);
    return !(w->failed = true);
}

static bool depends_on_written(const struct eq_work *w, size_t first)
{
    for (size_t i = first; i < w->accesses.count; i++) {
        const struct eq_access *a = w->accesses.data[i];
        if (a->temp ? a->temp->is_tainted : eq_is_written(w, a->formal)) return true;
    }
    return false;
}

/* `let n = N / 2;` and `let half = 0.5;` are names of their values. */
static bool is_plain(const struct ast *n, const struct eq_value *v)
{
    return !n->decl.indices && (v->is_literal || v->expr->kind == EQ_SIZE);
}

static bool let_temp(struct eq_work *w, struct eq_temp *t, struct eq_var **dims, int rank)
{
    for (int d = 0; d < rank; d++) {
        const size_t mark = facts_mark(w->c->facts);
        const bool good = give_extent(w, t, d, dims[d]);
        facts_reset(w->c->facts, mark);
        if (!good) return false;
    }
    struct eq_var **private_to = arena_array(w->c->mem, struct eq_var *, w->loops.count + 1);
    for (size_t i = 0; i < w->loops.count; i++) {
        bool is_named = false;
        for (int d = 0; d < rank; d++) is_named |= dims[d] == w->loops.data[i];
        if (!is_named) private_to[t->private_count++] = w->loops.data[i];
    }
    t->private_to = private_to;
    return true;
}

static void check_let(struct eq_work *w, struct ast *n)
{
    const struct marks m = begin(w, n, EQ_LET);
    struct eq_var *dims[MAX_RANK];
    struct span at[MAX_RANK];
    int rank = 0;
    bool good = eq_is_new_name(w, n->name, n->name_at);
    if (n->decl.type || !n->decl.value) {
        diag_error(w->c->diag, DIAG_E19, n->at,
                   n->decl.type ? "a 'let' of a kernel has the type of its value" : "'%s' has no value", n->name);
        good = !(w->failed = true);
    }
    for (struct ast *i = n->decl.indices; i && good; i = i->next) {
        if (rank == MAX_RANK) {
            diag_error(w->c->diag, DIAG_E03, i->at, "a temporary has at most %d dimensions", MAX_RANK);
            good = !(w->failed = true);
        } else {
            at[rank] = i->at;
            good = (dims[rank] = let_index(w, i, dims, rank)) != NULL;
            rank += good;
        }
    }
    struct eq_value v = good ? eq_value_of(w, n->decl.value) : (struct eq_value){0};
    if (!v.expr) {
        end(w, &m, NULL, NULL);
        eq_declare_bad(w, n->name, n->name_at);
        return;
    }
    if (v.expr && is_plain(n, &v)) {
        w->names.count = m.names;
        w->in_scope.count = m.scope;
        eq_declare_alias(w, n->name, n->name_at, v);
        return;
    }
    struct eq_temp *t = arena_new(w->c->mem, struct eq_temp);
    struct eq_access *target = arena_new(w->c->mem, struct eq_access);
    struct eq_expr *value = v.is_literal ? eq_convert(w, v, v.type) : v.expr;
    *t = (struct eq_temp){.name = n->name, .rank = rank, .id = (int)w->temps.count, .at = n->name_at};
    t->nominal = v.type;
    t->elem = value->type;
    t->is_tainted = depends_on_written(w, m.accesses);
    *target = (struct eq_access){.temp = t, .rank = rank, .stmt = w->stmt, .is_target = true, .at = n->name_at};
    target->vars = (const struct eq_var *const *)copy_vars(w, w->in_scope.data, w->in_scope.count);
    target->var_count = (int)w->in_scope.count;
    for (int d = 0; d < rank; d++)
        target->index[d] = (struct eq_index){.size = size_symbol(w->c->sizes, dims[d]->symbol), .at = at[d]};
    if (!end(w, &m, target, value)) {
        eq_declare_bad(w, n->name, n->name_at);
        return;
    }
    if (!let_temp(w, t, dims, rank)) {
        eq_declare_bad(w, n->name, n->name_at);
        return;
    }
    t->is_tainted |= t->private_count > 0;
    vec_push(&w->temps, t);
    if (!w->failed) check_bounds(w, m.accesses);
    eq_declare_temp(w, t);
}

/* ---- = and += ---------------------------------------------------------------------------------------------------- */

static bool may_write(struct eq_work *w, const struct eq_access *target)
{
    if (target->temp) {
        diag_error(w->c->diag, DIAG_E19, target->at, "'%s' is a 'let', which is written once", target->temp->name);
        diag_note(w->c->diag, target->temp->at, "it is written here");
        return !(w->failed = true);
    }
    if (target->formal->dir != DIR_IN) return true;
    const struct ast *decl = target->formal->decl;
    diag_error(w->c->diag, DIAG_E08, target->at, "'%s' is 'in': the kernel only reads it", target->formal->name);
    if (decl->formal.dir == DIR_IN)
        diag_fix(w->c->diag, decl->formal.dir_at, "out", "declare it 'out'");
    else
        diag_fix(w->c->diag, (struct span){decl->at.file, decl->name_at.begin, decl->name_at.begin}, "out ",
                 "declare it 'out'");
    return !(w->failed = true);
}

static void check_assign(struct eq_work *w, struct ast *n)
{
    struct ast *place = n->assign.target;
    const struct marks m = begin(w, n, n->assign.adds_at.end ? EQ_PLUS : EQ_ASSIGN);
    if (place->kind != AST_INDEX) {
        const struct eq_name *known = place->kind == AST_NAME ? eq_find(w, place->name) : NULL;
        const struct symbol *s = place->kind == AST_NAME && !known ? eq_outer(w, place->name) : NULL;
        if (known && known->kind != EQ_NAME_VAR)
            diag_error(w->c->diag, DIAG_E19, place->at, "'%s' is a 'let', which is written once", place->name);
        else if (s && s->type->kind == TYPE_TENSOR)
            diag_error(w->c->diag, DIAG_E03, place->at, "'%s' has %d dimension%s: an element of it has as many indices",
                       place->name, s->type->rank, s->type->rank == 1 ? "" : "s");
        else
            diag_error(w->c->diag, DIAG_E19, place->at, "only an element of a formal can be written: y[i] = ...");
        w->failed = true;
        return;
    }
    w->on_left = true;
    struct eq_access *target = eq_access_of(w, place, true);
    w->on_left = false;
    if (!target) { /* the value would be full of names that the left side was to declare */
        end(w, &m, NULL, NULL);
        return;
    }
    if (!may_write(w, target)) target = NULL;
    struct eq_value v = eq_value_of(w, n->assign.value);
    struct eq_expr *value = NULL;
    if (target && v.expr) {
        const enum elem stored = target->formal->type->elem;
        value = eq_fit(w, v, stored, n->assign.value->at, arena_printf(w->c->mem, "'%s'", target->formal->name));
        if (value && w->stmt->kind == EQ_PLUS && value->type != eq_computed(stored))
            value = (struct eq_expr *)(uintptr_t)value->a; /* added as f32, and rounded when it is stored */
    }
    if (target && v.expr && w->stmt->kind == EQ_PLUS && target->formal->type->elem == ELEM_BOOL) {
        diag_error(w->c->diag, DIAG_E02, n->assign.adds_at, "'+=' adds numbers, and '%s' has bools",
                   target->formal->name);
        value = NULL;
    }
    if (end(w, &m, target, value)) check_bounds(w, m.accesses);
}

/* ---- for --------------------------------------------------------------------------------------------------------- */

static void check_list(struct eq_work *w, struct ast *list);

static void end_private(struct eq_work *w, size_t first, const struct eq_var *v)
{
    for (size_t i = first; i < w->names.count; i++) {
        struct eq_name *n = &w->names.data[i];
        for (int k = 0; n->kind == EQ_NAME_TEMP && k < n->temp->private_count; k++)
            n->has_ended |= n->temp->private_to[k] == v;
    }
}

/* Temporaries that a `for` leaves behind stay; its variable, and names of values that may name it, do not. */
static void close_names(struct eq_work *w, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < w->names.count; i++)
        if (w->names.data[i].kind == EQ_NAME_TEMP) w->names.data[kept++] = w->names.data[i];
    w->names.count = kept;
}

static void check_for(struct eq_work *w, struct ast *n)
{
    int64_t first, last;
    w->said.count = 0;
    const struct size *low = eq_size_of(w, n->loop.low, "the begin of a range"),
                      *high = eq_size_of(w, n->loop.high, "the end of a range");
    if (n->loop.step) {
        diag_error(w->c->diag, DIAG_E19, n->loop.step->at, "a 'for' of a kernel in index notation has no 'step'");
        w->failed = true;
    }
    if (low && high && size_is_const(low, &first) && size_is_const(high, &last) && last < first) {
        diag_error(w->c->diag, DIAG_E15, span_join(n->loop.low->at, n->loop.high->at),
                   "the range %lld .. %lld ends before it begins", (long long)first, (long long)last);
        w->failed = true;
    }
    const size_t names = w->names.count, scope = w->in_scope.count;
    if (!low || !high || !eq_is_new_name(w, n->name, n->name_at)) return;
    struct eq_var *v = eq_declare_var(w, EQ_FOR, n->name, n->name_at);
    v->low = low;
    v->high = high;
    vec_push(&w->loops, v);
    check_list(w, n->loop.body->block.stmts);
    w->loops.count--;
    w->in_scope.count = scope;
    end_private(w, names, v);
    close_names(w, names);
}

/* The notation's own form of a statement that it has not. */
static void help_instead_of(struct eq_work *w, enum ast_kind kind)
{
    switch (kind) {
    case AST_VAR:
        diag_help(w->c->diag, "nothing changes step by step: a sum is 'sum(i: x[i])', a temporary a 'let'");
        break;
    case AST_IF: diag_help(w->c->diag, "the choice between two values is 'select(c, a, b)'"); break;
    case AST_EXPR_STMT: diag_help(w->c->diag, "a kernel calls no kernel: a function calls one after the other"); break;
    case AST_RETURN: diag_help(w->c->diag, "a kernel has no result: it writes its 'out' formals"); break;
    default: break;
    }
}

static void check_list(struct eq_work *w, struct ast *list)
{
    for (struct ast *n = list; n && !w->has_var; n = n->next) {
        if (n->attrs) {
            diag_error(w->c->diag, DIAG_E19, n->attrs->at, "'@%s' marks a task, and this is an equation",
                       n->attrs->name);
            w->failed = true;
        }
        switch (n->kind) {
        case AST_LET: check_let(w, n); break;
        case AST_ASSIGN: check_assign(w, n); break;
        case AST_FOR: check_for(w, n); break;
        default:
            diag_error(w->c->diag, DIAG_E19, n->at,
                       "only 'let', '=', '+=' and 'for' stand in a kernel in index notation");
            help_instead_of(w, n->kind);
            w->failed = true;
            if (n->kind == AST_VAR) w->has_var = true; /* what follows depends on it */
        }
    }
}

void eq_check_block(struct eq_work *w, struct ast *block) { check_list(w, block->block.stmts); }
