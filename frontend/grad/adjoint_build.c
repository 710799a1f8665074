/* adjoint_build.c - expressions of adjoint kernels.
 * Idea       constructors that leave out operands without an effect: + 0, * 1, conditions that always hold.  A sum of
 *            one term is that term, so the printed text has few terms that a person would not write.
 * Invariant  operands are of the type of the result, as in equations.h.  A factor 0 ends a product, also of infinities.
 * Tests      test/lit/grad/adjoint-rows.pto
 */
#include "adjoint_parts.h"
#include <string.h>

enum elem adj_computed(enum elem e) { return e == ELEM_F16 || e == ELEM_BF16 ? ELEM_F32 : e; }

bool adj_is_float(enum elem e) { return e == ELEM_F16 || e == ELEM_BF16 || e == ELEM_F32 || e == ELEM_F64; }

void adj_refuse_with(struct adj_work *w, struct span at, const char *why, const char *help)
{
    if (w->why) return;
    w->at = at;
    w->why = why;
    w->help = help;
}

void adj_refuse(struct adj_work *w, struct span at, const char *why)
{
    adj_refuse_with(w, at, why, "write the kernel with an '@adjoint(f)', and a C body");
}

void adj_refuse_whole(struct adj_work *w, struct span at, const char *why)
{
    adj_refuse_with(w, at, why,
                    "make two kernels of it, the second from the statement on that overwrites: a gradient keeps the "
                    "values between two kernels; or write an '@adjoint(f)', and a C body");
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

struct eq_expr *adj_new(struct adj_work *w, enum eq_kind kind, enum elem type)
{
    struct eq_expr *e = arena_new(w->front->mem, struct eq_expr);
    e->kind = kind;
    e->type = type;
    return e;
}

const struct eq_expr *adj_number(struct adj_work *w, enum elem type, double value)
{
    struct eq_expr *e = adj_new(w, adj_is_float(type) ? EQ_REAL : EQ_INT, type);
    if (e->kind == EQ_REAL)
        e->real = type == ELEM_F32 ? (double)(float)value : value;
    else
        e->integer = (int64_t)value;
    return e;
}

const struct eq_expr *adj_size(struct adj_work *w, const struct size *s)
{
    struct eq_expr *e = adj_new(w, EQ_SIZE, ELEM_I64);
    e->size = s;
    return e;
}

const struct eq_expr *adj_truth(struct adj_work *w, bool value)
{
    struct eq_expr *e = adj_new(w, EQ_INT, ELEM_BOOL);
    e->integer = value;
    return e;
}

bool adj_is_number(const struct eq_expr *e, double value)
{
    return e->kind == EQ_REAL ? e->real == value : e->kind == EQ_INT && (double)e->integer == value;
}

struct eq_access *adj_access(struct adj_work *w, const struct symbol *formal, const struct eq_temp *temp)
{
    struct eq_access *a = arena_new(w->front->mem, struct eq_access);
    a->formal = formal;
    a->temp = temp;
    a->rank = formal ? formal->type->rank : temp->rank;
    return a;
}

const struct eq_expr *adj_load(struct adj_work *w, const struct eq_access *a)
{
    const enum elem stored = a->formal ? a->formal->type->elem : a->temp->elem;
    struct eq_expr *e = adj_new(w, EQ_LOAD, stored);
    e->access = a;
    return adj_cast(w, adj_computed(stored), e);
}

struct eq_var *adj_new_var(struct adj_work *w, const char *name, const struct size *low, const struct size *high)
{
    struct symbol *s = arena_new(w->front->mem, struct symbol);
    struct eq_var *v = arena_new(w->front->mem, struct eq_var);
    s->kind = SYM_LOOP;
    s->name = name;
    *v = (struct eq_var){.role = EQ_FREE, .symbol = s, .low = low, .high = high};
    return v;
}

struct eq_temp *adj_new_temp(struct adj_work *w, const char *name, enum elem elem)
{
    struct eq_temp *t = arena_new(w->front->mem, struct eq_temp);
    *t = (struct eq_temp){.name = name, .elem = elem, .nominal = elem};
    return t;
}

void adj_know_var(struct adj_work *w, const struct eq_var *v)
{
    const struct size *s = size_symbol(w->sizes, v->symbol);
    facts_add_order(w->facts, v->low, s, 0);
    facts_add_order(w->facts, s, v->high, 1);
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

static const struct eq_expr *binary(struct adj_work *w, enum eq_kind kind, enum elem type, const struct eq_expr *a,
                                    const struct eq_expr *b)
{
    struct eq_expr *e = adj_new(w, kind, type);
    e->a = a;
    e->b = b;
    return e;
}

const struct eq_expr *adj_add(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b)
{
    if (!a || !b) return a ? a : b;
    if (adj_is_number(a, 0) || adj_is_number(b, 0)) return adj_is_number(a, 0) ? b : a;
    if (b->kind == EQ_NEG) return adj_sub(w, a, b->a);
    if (adj_is_equal(a, b)) return adj_mul(w, adj_number(w, a->type, 2), a);
    return binary(w, EQ_ADD, a->type, a, b);
}

const struct eq_expr *adj_sub(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b)
{
    if (adj_is_number(b, 0)) return a;
    if (adj_is_number(a, 0)) return adj_neg(w, b);
    return binary(w, EQ_SUB, a->type, a, b);
}

const struct eq_expr *adj_neg(struct adj_work *w, const struct eq_expr *a)
{
    if (a->kind == EQ_NEG) return a->a;
    if (a->kind == EQ_REAL) return adj_number(w, a->type, -a->real);
    struct eq_expr *e = adj_new(w, EQ_NEG, a->type);
    e->a = a;
    return e;
}

const struct eq_expr *adj_mul(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b)
{
    if (adj_is_number(a, 0) || adj_is_number(b, 0)) return adj_number(w, a->type, 0);
    if (adj_is_number(a, 1) || adj_is_number(b, 1)) return adj_is_number(a, 1) ? b : a;
    if (adj_is_number(a, -1) || adj_is_number(b, -1)) return adj_neg(w, adj_is_number(a, -1) ? b : a);
    if (a->kind == EQ_NEG || b->kind == EQ_NEG) {
        const bool is_both = a->kind == EQ_NEG && b->kind == EQ_NEG;
        const struct eq_expr *e = adj_mul(w, a->kind == EQ_NEG ? a->a : a, b->kind == EQ_NEG ? b->a : b);
        return is_both ? e : adj_neg(w, e);
    }
    if (a->kind == EQ_REAL && b->kind == EQ_REAL) return adj_number(w, a->type, a->real * b->real);
    return binary(w, EQ_MUL, a->type, a, b);
}

const struct eq_expr *adj_div(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b)
{
    if (adj_is_number(a, 0) || adj_is_number(b, 1)) return a;
    if (a->kind == EQ_NEG) return adj_neg(w, adj_div(w, a->a, b));
    return binary(w, EQ_DIV, a->type, a, b);
}

const struct eq_expr *adj_call(struct adj_work *w, enum eq_kind f, const struct eq_expr *a, const struct eq_expr *b)
{
    return binary(w, f, a->type, a, b);
}

const struct eq_expr *adj_cast(struct adj_work *w, enum elem type, const struct eq_expr *a)
{
    if (a->type == type) return a;
    if (a->kind == EQ_REAL && adj_is_float(type) && type == adj_computed(type)) return adj_number(w, type, a->real);
    return binary(w, EQ_CAST, type, a, NULL);
}

const struct eq_expr *adj_reduce(struct adj_work *w, enum eq_reduction kind, enum elem type,
                                 const struct eq_var *const *vars, int count, const struct eq_expr *a)
{
    struct eq_expr *e = adj_new(w, EQ_REDUCE, type);
    e->reduce.vars = arena_array(w->front->mem, struct eq_var *, count + 1);
    memcpy(e->reduce.vars, vars, (size_t)count * sizeof *vars);
    e->reduce.var_count = count;
    e->reduce.kind = kind;
    e->a = a;
    return e;
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

static bool is_truth(const struct eq_expr *e, bool value)
{
    return e->kind == EQ_INT && e->type == ELEM_BOOL && (e->integer != 0) == value;
}

const struct eq_expr *adj_and(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b)
{
    if (!a || !b) return a ? a : b;
    if (is_truth(a, true) || is_truth(b, false)) return b;
    if (is_truth(b, true) || is_truth(a, false)) return a;
    if (adj_is_equal(a, b)) return a;
    return binary(w, EQ_AND, ELEM_BOOL, a, b);
}

const struct eq_expr *adj_not(struct adj_work *w, const struct eq_expr *a)
{
    if (a->kind == EQ_NOT) return a->a;
    if (is_truth(a, true) || is_truth(a, false)) return adj_truth(w, !a->integer);
    /* of floats both a comparison and its opposite may be false */
    if (a->kind >= EQ_EQ && a->kind <= EQ_GE && (a->kind <= EQ_NE || !adj_is_float(a->a->type)))
        return binary(w, equations_opposite(a->kind), ELEM_BOOL, a->a, a->b);
    struct eq_expr *e = adj_new(w, EQ_NOT, ELEM_BOOL);
    e->a = a;
    return e;
}

const struct eq_expr *adj_select(struct adj_work *w, const struct eq_expr *c, const struct eq_expr *a,
                                 const struct eq_expr *b)
{
    if (is_truth(c, true)) return a;
    if (is_truth(c, false)) return b;
    if (adj_is_cheap(a) && adj_is_equal(a, b)) return a;
    struct eq_expr *e = adj_new(w, EQ_SELECT, a->type);
    e->a = c;
    e->b = a;
    e->c = b;
    return e;
}

static int decide(struct adj_work *w, enum eq_kind op, const struct size *a, const struct size *b)
{
    struct facts *f = w->facts;
    switch (op) {
    case EQ_LE: return facts_prove_order(f, a, b, 0) ? 1 : facts_prove_order(f, b, a, 1) ? 0 : -1;
    case EQ_LT: return facts_prove_order(f, a, b, 1) ? 1 : facts_prove_order(f, b, a, 0) ? 0 : -1;
    case EQ_GE: return decide(w, EQ_LE, b, a);
    case EQ_GT: return decide(w, EQ_LT, b, a);
    case EQ_EQ: return facts_prove_equal(f, a, b) ? 1 : facts_prove_apart(f, a, b) ? 0 : -1;
    default: return facts_prove_equal(f, a, b) ? 0 : facts_prove_apart(f, a, b) ? 1 : -1;
    }
}

static enum eq_kind mirrored(enum eq_kind op)
{
    return op == EQ_LT ? EQ_GT : op == EQ_LE ? EQ_GE : op == EQ_GT ? EQ_LT : op == EQ_GE ? EQ_LE : op;
}

/* Each term on the side where it is positive: i - p < H becomes i < H + p. */
static void balance(struct adj_work *w, const struct size **a, const struct size **b)
{
    enum { MOST_TERMS = 16 };
    struct size_term terms[MOST_TERMS];
    const struct size *all = size_sub(w->sizes, *a, *b), *left = size_const(w->sizes, 0), *right = left;
    if (!all || (all->kind == SIZE_ADD && all->count > MOST_TERMS)) return;
    const int count = size_terms(w->sizes, all, terms, MOST_TERMS);
    for (int i = 0; i < count && left && right; i++) {
        const int64_t f = terms[i].factor;
        if (f == INT64_MIN) return;
        const struct size *one = terms[i].mono ? terms[i].mono : size_const(w->sizes, 1),
                          *term = size_scale(w->sizes, one, f < 0 ? -f : f);
        if (!term) return;
        if (f > 0)
            left = size_binary(w->sizes, SIZE_ADD, left, term);
        else
            right = size_binary(w->sizes, SIZE_ADD, right, term);
    }
    if (!left || !right) return;
    *a = left;
    *b = right;
}

const struct eq_expr *adj_compare(struct adj_work *w, enum eq_kind op, const struct size *a, const struct size *b)
{
    const int known = decide(w, op, a, b);
    if (known >= 0) return adj_truth(w, known);
    balance(w, &a, &b);
    if (size_is_const(a, NULL)) return binary(w, mirrored(op), ELEM_BOOL, adj_size(w, b), adj_size(w, a));
    return binary(w, op, ELEM_BOOL, adj_size(w, a), adj_size(w, b));
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

static bool is_equal_access(const struct eq_access *a, const struct eq_access *b)
{
    if (a->formal != b->formal || a->temp != b->temp) return false;
    for (int d = 0; d < a->rank; d++) {
        const struct eq_index *x = &a->index[d], *y = &b->index[d];
        if (x->size != y->size || !x->expr != !y->expr || (x->expr && !adj_is_equal(x->expr, y->expr))) return false;
    }
    return true;
}

bool adj_is_equal(const struct eq_expr *a, const struct eq_expr *b)
{
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind || a->type != b->type) return false;
    switch (a->kind) {
    case EQ_INT: return a->integer == b->integer;
    case EQ_REAL: return a->real == b->real;
    case EQ_SIZE: return a->size == b->size;
    case EQ_SCALAR: return a->scalar == b->scalar;
    case EQ_LOAD: return is_equal_access(a->access, b->access);
    case EQ_REDUCE: return false; /* of other variables */
    default: return adj_is_equal(a->a, b->a) && adj_is_equal(a->b, b->b) && adj_is_equal(a->c, b->c);
    }
}

bool adj_is_cheap(const struct eq_expr *e)
{
    if (e->kind == EQ_NEG || e->kind == EQ_CAST) return adj_is_cheap(e->a);
    if (e->kind == EQ_MUL && (e->a->kind == EQ_REAL || e->b->kind == EQ_REAL))
        return adj_is_cheap(e->a) && adj_is_cheap(e->b);
    return e->kind <= EQ_LOAD;
}

bool adj_names_var(const struct eq_expr *e, const struct eq_var *v)
{
    if (!e) return false;
    if (e->kind == EQ_SIZE) return size_names(e->size, v->symbol);
    if (e->kind == EQ_LOAD)
        for (int d = 0; d < e->access->rank; d++) {
            const struct eq_index *i = &e->access->index[d];
            if (i->size ? size_names(i->size, v->symbol) : adj_names_var(i->expr, v)) return true;
        }
    for (int i = 0; e->kind == EQ_REDUCE && i < e->reduce.var_count; i++) {
        const struct eq_var *bound = e->reduce.vars[i];
        if (bound == v) return false; /* below it is another one */
        if (size_names(bound->low, v->symbol) || size_names(bound->high, v->symbol)) return true;
    }
    return adj_names_var(e->a, v) || adj_names_var(e->b, v) || adj_names_var(e->c, v);
}

/* ---- substitution ------------------------------------------------------------------------------------------------ */

const struct size *adj_substitute_size(struct adj_work *w, const struct size *a, const struct adj_substitution *s)
{
    const struct size *to = size_substitute(w->sizes, a, s->from, s->to, s->count);
    if (!to) adj_refuse(w, w->kernel->decl->name_at, "a constant of its adjoint does not fit in 64 bits");
    return to ? to : a;
}

static const struct eq_access *substitute_access(struct adj_work *w, const struct eq_access *a,
                                                 const struct adj_substitution *s)
{
    struct eq_access *to = arena_new(w->front->mem, struct eq_access);
    *to = *a;
    for (int d = 0; d < a->rank; d++) {
        if (a->index[d].size) to->index[d].size = adj_substitute_size(w, a->index[d].size, s);
        if (a->index[d].expr) to->index[d].expr = adj_substitute(w, a->index[d].expr, s);
    }
    return to;
}

/* Its variables are new ones: what is put in may name the old ones, of another scope. */
static const struct eq_expr *substitute_reduction(struct adj_work *w, const struct eq_expr *e,
                                                  const struct adj_substitution *s)
{
    struct adj_substitution all = *s;
    const struct eq_var *vars[MAX_VARS];
    if (all.count + e->reduce.var_count > MAX_VARS) {
        adj_refuse(w, w->kernel->decl->name_at, "a statement of its adjoint has too many variables");
        return e;
    }
    for (int i = 0; i < e->reduce.var_count; i++) {
        const struct eq_var *v = e->reduce.vars[i];
        vars[i] = adj_new_var(w, v->symbol->name, adj_substitute_size(w, v->low, &all),
                              adj_substitute_size(w, v->high, &all));
        all.from[all.count] = v->symbol;
        all.to[all.count++] = size_symbol(w->sizes, vars[i]->symbol);
    }
    return adj_reduce(w, e->reduce.kind, e->type, vars, e->reduce.var_count, adj_substitute(w, e->a, &all));
}

static const struct size *size_in(const struct adj_work *w, const struct eq_expr *e)
{
    if (e->kind == EQ_SIZE) return e->size;
    return e->kind == EQ_INT && e->type == ELEM_I64 ? size_const(w->sizes, e->integer) : NULL;
}

const struct eq_expr *adj_substitute(struct adj_work *w, const struct eq_expr *e, const struct adj_substitution *s)
{
    if (!e) return NULL;
    if (e->kind == EQ_REDUCE) return substitute_reduction(w, e, s);
    if (e->kind == EQ_SIZE) return adj_size(w, adj_substitute_size(w, e->size, s));
    if (e->kind == EQ_LOAD) {
        struct eq_expr *to = adj_new(w, EQ_LOAD, e->type);
        to->access = substitute_access(w, e->access, s);
        return to;
    }
    if (e->kind < EQ_LOAD) return e;
    const struct eq_expr *a = adj_substitute(w, e->a, s), *b = adj_substitute(w, e->b, s),
                         *c = adj_substitute(w, e->c, s);
    if (e->kind == EQ_AND) return adj_and(w, a, b);
    if (e->kind == EQ_NOT) return adj_not(w, a);
    if (e->kind == EQ_SELECT) return adj_select(w, a, b, c);
    const bool compares = e->kind >= EQ_EQ && e->kind <= EQ_GE;
    const struct size *x = compares ? size_in(w, a) : NULL, *y = compares ? size_in(w, b) : NULL;
    if (x && y) return adj_compare(w, e->kind, x, y);
    struct eq_expr *to = adj_new(w, e->kind, e->type);
    *to = *e;
    to->a = a;
    to->b = b;
    to->c = c;
    return to;
}
