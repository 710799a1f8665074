/* dims.c - binds the dimension variables of a callee from its arguments.
 * Idea       where an extent is exactly the variable, then where it is linear in one unknown, first where it divides
 *            without remainder; other extents are then compared, symbolically.
 * Gives      dims of struct call.
 * Tests      test/lit/sema/e04*.pto
 */
#include "equations/equations.h"
#include "matching.h"

enum { MAX_EQUATIONS = 16 }; /* that are tried for a quotient */

static int dim_index(const struct symbol *callee, const struct symbol *s)
{
    for (int i = 0; i < callee->dim_count; i++)
        if (callee->dims[i] == s) return i;
    return -1;
}

static void bind(struct matching *m, int dim, const struct size *value, const struct ast *source)
{
    m->call->dims[dim] = value;
    m->source[dim] = source;
    m->from[m->count] = m->callee->dims[dim];
    m->to[m->count++] = value;
}

static bool is_shorter(struct checker *c, const struct size *a, const struct size *b)
{
    struct size_term terms[2];
    return a && size_terms(c->sizes, a, terms, 2) < size_terms(c->sizes, b, terms, 2);
}

/* Has the program a name for everything in it, which keeps its value?  Facts are about former values, too. */
static bool is_sayable(const struct size *a)
{
    if (a->kind == SIZE_STRIDE || a->kind == SIZE_AT || a->kind == SIZE_EXTENT) return false;
    if (a->kind == SIZE_SYMBOL) return a->symbol->kind != SYM_VAR && !a->symbol->hidden && !a->symbol->decided_name;
    for (int i = 0; i < a->count; i++)
        if (!is_sayable(a->arg[i])) return false;
    return true;
}

/* (got - rest) / factor without remainder: then it is right where factor is 0, too.  An assertion may say what got is:
 * n == C * Q. */
static const struct size *exact_quotient(struct checker *c, const struct size *got, const struct size *rest,
                                         const struct size *factor)
{
    const struct size *difference = size_sub(c->sizes, got, rest);
    const struct size *value = difference ? size_quotient(c->sizes, difference, factor) : NULL;
    if (value || !difference) return value;
    difference = size_expand(c->sizes, difference); /* a `let` may be a product */
    factor = size_expand(c->sizes, factor);
    value = size_quotient(c->sizes, difference, factor);
    if (value || size_is_const(factor, NULL)) return value; /* what is rounded is proved as well */
    const struct size *zero;
    for (int n = 0; n < MAX_EQUATIONS && (zero = facts_zero(c->facts, n)) != NULL; n++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const struct size *same = size_scale(c->sizes, zero, sign);
            if (same) same = size_binary(c->sizes, SIZE_ADD, difference, same);
            const struct size *stated = same ? size_quotient(c->sizes, same, factor) : NULL;
            if (stated && is_sayable(stated)) return stated;
        }
    return NULL;
}

/* (got - rest) / factor, rounded: the extents are compared later.  Where got is known to leave the remainder that rest
 * leaves, got / factor says the same in the words of the program, unless it is longer: N / 2, and not (N - 1) / 2, of
 * an odd N. */
static const struct size *rounded_quotient(struct checker *c, const struct size *got, const struct size *rest,
                                           const struct size *by)
{
    const struct size *difference = size_sub(c->sizes, got, rest);
    int64_t r, factor;
    if (size_is_const(by, &factor) && factor > 1 && size_is_const(rest, &r) && r != 0 &&
        !is_shorter(c, difference, got)) {
        const int64_t left = (r % factor + factor) % factor;
        const struct size *remainder = size_binary(c->sizes, SIZE_MOD, got, by);
        if (remainder && facts_prove_equal(c->facts, remainder, size_const(c->sizes, left)) && r - left != INT64_MIN)
            return size_sub(c->sizes, size_binary(c->sizes, SIZE_DIV, got, by),
                            size_const(c->sizes, (r - left) / factor));
    }
    return difference ? size_binary(c->sizes, SIZE_DIV, difference, by) : NULL;
}

/* The only unbound dimension variable in an extent, or -1. */
static int only_unbound(const struct matching *m, const struct size *extent)
{
    int dim = -1;
    for (int i = 0; i < m->callee->dim_count; i++) {
        if (m->call->dims[i] || !size_names(extent, m->callee->dims[i])) continue;
        if (dim >= 0) return -1;
        dim = i;
    }
    return dim;
}

/* want is factor * N + rest with one unbound N: binds N. */
static bool solve(struct checker *c, struct matching *m, const struct type *want_type, const struct type *got_type,
                  int extent, const struct ast *source, bool is_exact)
{
    const struct size *const want = want_type->extent[extent], *const got = got_type->extent[extent], *factor, *rest;
    const int dim = only_unbound(m, want);
    if (dim < 0 || !size_is_linear(c->sizes, want, m->callee->dims[dim], &factor, &rest)) return false;
    rest = size_substitute(c->sizes, rest, m->from, m->to, m->count);
    factor = size_substitute(c->sizes, factor, m->from, m->to, m->count);
    if (!rest || !factor) return false;
    const struct size *value = is_exact ? exact_quotient(c, got, rest, factor) : rounded_quotient(c, got, rest, factor);
    if (!value) return false;
    bind(m, dim, value, source);
    m->solved[dim].want = want_type;
    m->solved[dim].got = got_type;
    m->solved[dim].extent = extent;
    return true;
}

static bool solve_exactly(struct checker *c, struct matching *m, const struct type *want, const struct type *got,
                          int extent, const struct ast *source)
{
    return solve(c, m, want, got, extent, source, true);
}

static bool solve_rounded(struct checker *c, struct matching *m, const struct type *want, const struct type *got,
                          int extent, const struct ast *source)
{
    return solve(c, m, want, got, extent, source, false);
}

/* Looks at one extent of the formal and of what it gets. */
typedef bool (*bind_pass)(struct checker *c, struct matching *m, const struct type *want, const struct type *got,
                          int extent, const struct ast *source);

static bool bind_exact(struct checker *c, struct matching *m, const struct type *want_type, const struct type *got_type,
                       int extent, const struct ast *source)
{
    const struct size *const want = want_type->extent[extent], *const got = got_type->extent[extent];
    int dim = want->kind == SIZE_SYMBOL ? dim_index(m->callee, want->symbol) : -1;
    (void)c;
    if (dim < 0 || m->call->dims[dim]) return false;
    bind(m, dim, got, source);
    return true;
}

static bool bind_type(struct checker *c, struct matching *m, const struct type *want, const struct type *got,
                      const struct ast *source, bind_pass pass)
{
    bool any = false;
    if (got->kind != want->kind || got->rank != want->rank) return false;
    for (int d = 0; d < want->rank; d++) any |= pass(c, m, want, got, d, source);
    if (want->kind == TYPE_ARRAY) any |= bind_type(c, m, want->element, got->element, source, pass);
    return any;
}

static bool names_in_type(const struct type *t, const struct symbol *s)
{
    for (; t->kind == TYPE_ARRAY; t = t->element)
        if (size_names(t->extent[0], s)) return true;
    for (int d = 0; d < t->rank; d++)
        if (size_names(t->extent[d], s)) return true;
    return false;
}

/* Does a scalar formal stand in an extent of another formal, in a part that is written, or in the result? */
static bool is_extent(const struct symbol *callee, const struct symbol *s)
{
    for (int f = 0; f < callee->formal_count; f++)
        if (names_in_type(callee->formals[f]->type, s) || written_names(callee->formals[f], s)) return true;
    return callee->result && names_in_type(callee->result, s);
}

/* Does an index name it that the caller tests? */
static bool is_in_index(const struct symbol *callee, const struct symbol *s)
{
    const struct equations *q = callee->kind == SYM_KERNEL ? callee->equations : NULL;
    for (const struct eq_demand *d = q ? q->demands : NULL; d; d = d->next) {
        if (size_names(d->index, s) || size_names(d->extent, s)) return true;
        for (const struct guard *g = d->guard; g; g = g->next)
            if (size_names(g->least, s) || size_names(g->most, s)) return true;
    }
    return false;
}

/* A result that goes to a place with a type says what the same call with `out` would. */
static bool bind_result(struct checker *c, struct matching *m, const struct target *target, bind_pass pass)
{
    const struct type *result =
        m->call->result_formal >= 0 ? m->callee->formals[m->call->result_formal]->type : m->callee->result;
    const struct type *place = target ? target->type ? target->type : target->declared : NULL;
    return place && result && bind_type(c, m, result, place, target->place, pass);
}

void dims_bind(struct checker *c, struct matching *m, const bool *usable, const struct target *target)
{
    for (int f = 0; f < m->callee->formal_count; f++) { /* scalars may stand in extents */
        const struct symbol *s = m->callee->formals[f];
        if (!usable[f] || s->type->kind != TYPE_INT) continue;
        struct ast *v = m->args[f]->arg.value;
        if (!v->value && (is_extent(m->callee, s) || is_in_index(m->callee, s))) exprs_take(c, v);
        if (!v->value) continue;
        m->from[m->count] = s;
        m->to[m->count++] = v->value;
    }
    for (int f = 0; f < m->callee->formal_count; f++)
        for (int i = 0; i < m->call->leaves[f].count && m->count < MAX_FORMALS; i++) { /* and so may those of structs */
            const struct leaf *l = &m->call->leaves[f].leaf[i];
            if (!l->scalar || l->formal->kind != SYM_FORMAL || l->formal->type->kind != TYPE_INT) continue;
            m->from[m->count] = l->formal;
            m->to[m->count++] = size_symbol(c->sizes, l->scalar);
        }
    static const bind_pass passes[] = {bind_exact, solve_exactly, solve_rounded};
    for (int p = 0; p < (int)(sizeof passes / sizeof *passes); p++) { /* what is bound may make others exact */
        bool any = false;
        for (int f = 0; f < m->callee->formal_count; f++)
            if (usable[f])
                any |= bind_type(c, m, m->callee->formals[f]->type, m->args[f]->arg.value->type, m->args[f], passes[p]);
        any |= bind_result(c, m, target, passes[p]);
        if (any) p = 0;
    }
}

/* A note where every value fits: the factor is 0. */
static bool note_free(struct checker *c, struct matching *m, const struct type *want, const struct type *got,
                      int extent, const struct ast *source)
{
    const struct size *factor, *rest;
    const int dim = only_unbound(m, want->extent[extent]);
    (void)got;
    if (dim < 0 || !size_is_linear(c->sizes, want->extent[extent], m->callee->dims[dim], &factor, &rest)) return false;
    if (size_substitute(c->sizes, factor, m->from, m->to, m->count) == size_const(c->sizes, 0))
        diag_note(c->diag, source->at, "'%s' is multiplied by 0 in extent %d of this argument, declared %s",
                  m->callee->dims[dim]->name, extent, type_str(c, want));
    return false;
}

bool dims_are_bound(struct checker *c, struct matching *m, const struct ast *e)
{
    for (int i = 0; i < m->callee->dim_count; i++)
        if (!m->call->dims[i]) {
            diag_error(c->diag, DIAG_E04, e->at, "the arguments do not determine '%s' of '%s'",
                       m->callee->dims[i]->name, m->callee->name);
            for (int f = 0; f < m->callee->formal_count; f++)
                if (m->args[f])
                    bind_type(c, m, m->callee->formals[f]->type, m->args[f]->arg.value->type, m->args[f], note_free);
            diag_note(c->diag, m->callee->decl->name_at, "'%s' is declared here", m->callee->name);
            return false;
        }
    return true;
}

void dims_check_solved(struct checker *c, struct matching *m)
{
    for (int i = 0; i < m->callee->dim_count && !c->is_left_out; i++) {
        const struct size *value = m->call->dims[i];
        const struct type *want = m->solved[i].want, *got = m->solved[i].got;
        if (!want || facts_prove(c->facts, value)) continue;
        const int extent = m->solved[i].extent;
        const char *what = "the result";
        for (int f = 0; f < m->callee->formal_count; f++)
            if (m->args[f] && m->args[f] == m->source[i])
                what = arena_printf(c->mem, "'%s'", m->callee->formals[f]->name);
        int64_t number;
        if (size_is_const(size_expand(c->sizes, value), &number)) {
            diag_error(c->diag, DIAG_E15, m->source[i]->at,
                       "%s of '%s' is %s here, declared %s: extent %d, %s, does not bind '%s', it would make it %lld",
                       what, m->callee->name, type_str(c, got), type_str(c, want), extent,
                       size_str(c, got->extent[extent]), m->callee->dims[i]->name, (long long)number);
            m->failed = true;
            return;
        }
        struct check *k = region_check(c, CHECK_DIMENSION, m->source[i]->at);
        if (k) {
            k->a = value;
            k->b = got->extent[extent];
            k->one = arena_printf(c->mem, "%s of '%s', declared %s: extent %d", what, m->callee->name,
                                  type_str(c, want), extent);
            k->another = m->callee->dims[i]->name;
        }
        facts_add(c->facts, value);
    }
}

static bool names_unbound(const struct matching *m, const struct type *t)
{
    for (; t; t = t->element)
        for (int i = 0; i < m->callee->dim_count; i++)
            for (int d = 0; d < t->rank && !m->call->dims[i]; d++)
                if (size_names(t->extent[d], m->callee->dims[i])) return true;
    return false;
}

/* One extent that does not fit is reported: the others are compared with it. */
void dims_check_extents(struct checker *c, struct matching *m, const bool *usable)
{
    bool is_reported = false;
    for (int f = 0; f < m->callee->formal_count; f++) {
        const struct symbol *formal = m->callee->formals[f];
        if (is_reported || !usable[f] || type_is_scalar(formal->type) || names_unbound(m, formal->type)) continue;
        const struct type *want, *got = m->args[f]->arg.value->type;
        struct type flat = *formal->type; /* most calls fit: nothing of what is compared is kept */
        /* an array is laid out as the tensor with its dimensions in front, and passed as one */
        if (flat.kind == TYPE_TENSOR) {
            derive_extents(c, &flat, m->from, m->to, m->count);
            flat.array_rank = got->array_rank;
            want = &flat;
        } else {
            want = derive_type(c, formal->type, m->from, m->to, m->count);
        }
        struct strbuf *text = texts_next(c);
        strbuf_printf(text, "argument '%s' of '%s'", formal->name, m->callee->name);
        const char *what = strbuf_text(text);
        if (agree_type(c, m->args[f]->arg.value->at, what, got, want)) continue;
        m->failed = true;
        is_reported = true;
        for (int i = 0; i < m->callee->dim_count; i++)
            if (m->source[i] && m->source[i] != m->args[f] && formal->type->kind == TYPE_TENSOR)
                for (int d = 0; d < formal->type->rank; d++)
                    if (size_names(formal->type->extent[d], m->callee->dims[i])) {
                        diag_note(c->diag, m->source[i]->at, "'%s' is %s from this argument", m->callee->dims[i]->name,
                                  size_str(c, m->call->dims[i]));
                        break;
                    }
    }
}
