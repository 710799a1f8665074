/* calls.c - arguments of calls: which kernel, which direction, which dimensions, and what the arguments share.
 * Idea       first the callee, then the markers, then the dimension variables: where an extent is exactly the variable,
 *            then where it is linear in one unknown; every other extent is then compared, symbolically.
 * Gives      the note of the CALL: struct call.
 * Invariant  dims[] and regions[] are complete for every call without an error.
 * Tests      test/lit/sema/e02*.pto e03*.pto e04*.pto e08*.pto e09*.pto e17*.pto e18*.pto
 */
#include "checker.h"
#include <string.h>

struct matching {
    struct call *call;
    struct symbol *callee;
    struct ast *args[MAX_FORMALS]; /* the ARG of each formal, or NULL */
    const struct symbol *from[2 * MAX_FORMALS];
    const struct size *to[2 * MAX_FORMALS];
    const struct ast *source[MAX_FORMALS]; /* of each dimension variable: the argument that gave it */
    int count;
    bool failed;
};

static const struct type *fail(struct checker *c, struct ast *e)
{
    e->bad = true;
    return e->type = c->error;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* The assertion that would make them equal; as a fix, where it can stand as it is. */
static void say_assert(struct checker *c, const char *a, const char *b)
{
    static const char *const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ +-*/%()";
    const char *text = arena_printf(c->mem, "assert %s == %s;", a, b);
    bool is_plain = c->function && c->statement.end > 0 && strlen(a) < 60 && strlen(b) < 60 &&
                    a[strspn(a, plain)] == '\0' && b[strspn(b, plain)] == '\0';
    struct span at = {c->statement.file, c->statement.begin, c->statement.begin};
    if (is_plain)
        diag_fix(c->diag, at, arena_printf(c->mem, "%s ", text), "if they are equal, state it: %s", text);
    else
        diag_help(c->diag, "if they are equal, state it: %s", text);
}

/* A value in this size that has no name in the program: a call, an await. */
static const struct symbol *nameless(const struct size *a)
{
    if (a->kind == SIZE_SYMBOL && a->symbol->hidden && a->symbol->decl && taken_of(a->symbol->decl) == a->symbol)
        return a->symbol;
    for (int i = 0; i < a->count; i++)
        if (nameless(a->arg[i])) return nameless(a->arg[i]);
    return NULL;
}

static bool same_extents(struct checker *c, struct span at, const char *what, const struct type *got,
                         const struct type *want)
{
    for (int d = 0; d < want->rank; d++) {
        if (facts_prove_equal(c->facts, got->extent[d], want->extent[d])) continue;
        diag_error(c->diag, DIAG_E04, at, "%s is %s here, expected %s: extent %d is %s, not %s", what, type_str(c, got),
                   type_str(c, want), d, size_str(c, got->extent[d]), size_str(c, want->extent[d]));
        const struct size *a = size_expand(c->sizes, got->extent[d]), *b = size_expand(c->sizes, want->extent[d]);
        const struct symbol *value = nameless(a) ? nameless(a) : nameless(b);
        const struct size *apart = a && b ? size_sub(c->sizes, a, b) : NULL;
        if (want->rank == 2 && facts_prove_equal(c->facts, got->extent[1 - d], want->extent[d]) &&
            (d == 1 || got->extent[0] != got->extent[1]))
            diag_help(c->diag, "its dimensions are perhaps in the other order: a transposed tensor is needed");
        else if (a && b && strcmp(size_str(c, a), size_str(c, b)) == 0)
            diag_help(c->diag, "%s is evaluated twice here, and may differ: give it a name first with 'let'",
                      size_str(c, a));
        else if (value)
            diag_help(c->diag, "give the value a name, and state what it equals: let k = %s; assert k == ...;",
                      value->name);
        else if (!apart || !size_is_const(apart, NULL)) /* sizes that differ by a number are never equal */
            say_assert(c, size_str(c, a), size_str(c, b));
        return false;
    }
    return true;
}

static bool same_structure(const struct type *a, const struct type *b)
{
    for (; a->kind == TYPE_ARRAY && b->kind == TYPE_ARRAY; a = a->element) b = b->element;
    return a->kind == b->kind && a->structure == b->structure;
}

bool calls_same_type(struct checker *c, struct span at, const char *what, const struct type *got,
                     const struct type *want)
{
    if (got->kind == TYPE_ERROR || want->kind == TYPE_ERROR) return true;
    if (!same_structure(got, want) || (got->kind != TYPE_TENSOR && !type_is_struct(got))) {
        if (got->kind == want->kind && type_is_scalar(got)) return true;
        diag_error(c->diag, got->kind == TYPE_GRID || got->kind == want->kind ? DIAG_E03 : DIAG_E02, at,
                   "%s is %s here, expected %s", what, type_str(c, got), type_str(c, want));
        if (got->kind == TYPE_GRID && want->kind == TYPE_TENSOR)
            diag_help(c->diag, "index the tiled view to get one tile");
        return false;
    }
    if (got->kind == TYPE_ARRAY) {
        if (!facts_prove_equal(c->facts, got->extent[0], want->extent[0])) {
            diag_error(c->diag, DIAG_E04, at, "%s is %s here, expected %s", what, type_str(c, got), type_str(c, want));
            return false;
        }
        return calls_same_type(c, at, what, got->element, want->element);
    }
    if (got->elem != want->elem || type_is_scalar_array(got) != type_is_scalar_array(want)) {
        diag_error(c->diag, DIAG_E02, at, "%s is %s here, expected %s", what, type_str(c, got), type_str(c, want));
        return false;
    }
    if (got->rank != want->rank) {
        diag_error(c->diag, DIAG_E03, at, "%s is %s here, expected %s: rank %d, not %d", what, type_str(c, got),
                   type_str(c, want), got->rank, want->rank);
        return false;
    }
    return same_extents(c, at, what, got, want);
}

/* ---- the callee -------------------------------------------------------------------------------------------------- */

static struct symbol *find_callee(struct checker *c, struct ast *callee)
{
    struct symbol *s = NULL;
    if (callee->kind == AST_NAME) {
        s = names_lookup(c, callee->name);
        if (!s) names_unknown(c, callee->at, callee->name, "kernel or function", NULL);
    } else if (callee->kind == AST_MEMBER && callee->member.object->kind == AST_NAME) {
        struct symbol *m = names_lookup(c, callee->member.object->name);
        if (!m) names_unknown(c, callee->member.object->at, callee->member.object->name, "module", NULL);
        if (!m || (m->kind == SYM_MODULE && !m->target)) return NULL;
        callee->member.object->symbol = m;
        m->is_named = true;
        if (m->kind == SYM_MODULE) {
            s = names_in_module(m->target, callee->name);
            if (!s || s->kind == SYM_MODULE) {
                names_unknown(c, callee->name_at, callee->name, "kernel or function", m->target);
                return NULL;
            }
            declare_resolve(c, s);
        }
    }
    if (s && s->kind != SYM_KERNEL && s->kind != SYM_ORCH && s->type->kind == TYPE_ERROR && s->kind >= SYM_DIM)
        return NULL;
    if (s && (s->kind == SYM_KERNEL || s->kind == SYM_ORCH)) return s;
    if (s || callee->kind != AST_NAME) {
        diag_error(c->diag, DIAG_E19, callee->at, "'%s' is not a kernel or a function", place_str(c, callee));
        if (s && s->type->kind == TYPE_TENSOR)
            diag_help(c->diag, "parts of a tensor stand in brackets: %s[0]", s->name);
    }
    return NULL;
}

static int out_formal(const struct symbol *s)
{
    int found = -1;
    for (int i = 0; i < s->formal_count; i++)
        if (s->formals[i]->dir == DIR_OUT) {
            if (found >= 0) return -1;
            found = i;
        }
    return found;
}

/* The formal that argument number `given` goes to, when the result stands for formal `skip`. */
static int formal_of(int given, int skip) { return skip >= 0 && given >= skip ? given + 1 : given; }

static bool elements_fit(const struct symbol *s, struct ast *args, int count, bool value)
{
    int skip = value && s->formal_count == count + 1 ? out_formal(s) : -1, i = 0;
    for (struct ast *a = args; a; a = a->next, i++) {
        int f = formal_of(i, skip);
        const struct type *t = a->arg.value->type;
        if (f >= s->formal_count || a->arg.value->bad || t->kind != TYPE_TENSOR) continue;
        if (s->formals[f]->type->kind == TYPE_TENSOR && s->formals[f]->type->elem != t->elem) return false;
    }
    return true;
}

/* Overloads differ by element types: those of the arguments, and of the place where the result goes. */
static struct symbol *choose(struct checker *c, struct ast *e, struct symbol *first, int count,
                             const struct target *target)
{
    if (!first->next_overload) return first;
    bool value = target != NULL;
    struct symbol *found = NULL;
    int fitting = 0;
    for (struct symbol *s = first; s; s = s->next_overload) {
        declare_resolve(c, s);
        if (!elements_fit(s, e->call.args, count, value)) continue;
        int out = out_formal(s);
        if (target && target->type && target->type->kind == TYPE_TENSOR && out >= 0 &&
            s->formals[out]->type->elem != target->type->elem)
            continue;
        if (!fitting++) found = s;
    }
    if (found) return found;
    for (struct ast *a = e->call.args; a; a = a->next)
        if (a->arg.value->bad) return NULL;
    diag_error(c->diag, DIAG_E02, e->call.callee->at, "no '%s' takes these element types", first->name);
    for (struct symbol *s = first; s; s = s->next_overload) {
        struct strbuf text = {0};
        for (int i = 0; i < s->formal_count; i++)
            if (s->formals[i]->type->kind == TYPE_TENSOR)
                strbuf_printf(&text, "%s%s: %s", text.length ? ", " : "", s->formals[i]->name,
                              elem_name(s->formals[i]->type->elem));
        diag_note(c->diag, s->decl->name_at, "'%s' takes %s", s->name, strbuf_text(&text));
        strbuf_free(&text);
    }
    return NULL;
}

/* ---- markers ----------------------------------------------------------------------------------------------------- */

static bool is_marked(enum direction dir)
{
    return dir == DIR_OUT || dir == DIR_INOUT || dir == DIR_ACC || dir == DIR_OWN;
}

static void check_marker(struct checker *c, struct matching *m, int f)
{
    struct ast *a = m->args[f];
    const struct symbol *formal = m->callee->formals[f];
    enum direction want = is_marked(formal->dir) ? formal->dir : DIR_NONE;
    if (a->arg.dir == want) return;
    struct span begin = {a->at.file, a->arg.value->at.begin, a->arg.value->at.begin};
    if (a->arg.dir == DIR_NONE) {
        diag_error(c->diag, DIAG_E08, a->at, "'%s' of '%s' is %s: the argument must say so", formal->name,
                   m->callee->name, direction_text(want));
        diag_fix(c->diag, begin, arena_printf(c->mem, "%s ", direction_text(want)), "add '%s'", direction_text(want));
    } else if (want == DIR_NONE) {
        diag_error(c->diag, DIAG_E08, a->at, "'%s' of '%s' is %s, the argument is marked '%s'", formal->name,
                   m->callee->name, type_is_scalar(formal->type) ? "a scalar" : direction_text(formal->dir),
                   direction_text(a->arg.dir));
        diag_fix(c->diag, (struct span){a->at.file, a->arg.dir_at.begin, begin.begin}, "", "remove '%s'",
                 direction_text(a->arg.dir));
    } else {
        diag_error(c->diag, DIAG_E08, a->at, "'%s' of '%s' is %s, the argument is marked '%s'", formal->name,
                   m->callee->name, direction_text(want), direction_text(a->arg.dir));
        diag_fix(c->diag, a->arg.dir_at, direction_text(want), "say '%s'", direction_text(want));
    }
    if (formal->decl) diag_note(c->diag, formal->decl->at, "'%s' is declared here", formal->name);
    m->failed = true;
}

/* May this call write there?  base: a tensor, or a scalar of a struct. */
static void check_writable(struct checker *c, struct matching *m, const struct ast *at, const struct symbol *base,
                           enum direction dir)
{
    if (base->kind != SYM_FORMAL || !is_marked(dir)) return;
    enum direction has = base->dir;
    bool fits = has == DIR_OUT || has == DIR_INOUT || has == DIR_OWN || (has == DIR_ACC && dir == DIR_ACC);
    if (fits) return;
    diag_error(c->diag, DIAG_E08, at->at, "'%s' is an '%s' formal of '%s' and cannot be %s here", base->name,
               direction_text(has), c->function->name,
               dir == DIR_OWN   ? "moved"
               : dir == DIR_ACC ? "accumulated into"
                                : "written");
    if (base->decl) {
        const struct ast *d = base->decl;
        const char *need = dir == DIR_OUT ? "out" : dir == DIR_OWN ? "own" : "inout";
        bool written = d->formal.dir != DIR_NONE;
        diag_note(c->diag, d->at, "'%s' is declared here", base->name);
        diag_fix(c->diag, written ? d->formal.dir_at : (struct span){d->at.file, d->name_at.begin, d->name_at.begin},
                 written ? need : arena_printf(c->mem, "%s ", need), "make it '%s'", need);
    }
    m->failed = true;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void note_formal(struct checker *c, const struct symbol *formal)
{
    if (formal->decl && formal->decl->kind == AST_FORMAL)
        diag_note(c->diag, formal->decl->at, "'%s' is declared here", formal->name);
}

/* One dimension too few: the last point is to be a width of 1.  One too many: a width of 1 is to be a point. */
static void fix_rank(struct checker *c, const struct ast *v, int missing)
{
    const struct ast *last = NULL;
    if (v->kind != AST_INDEX || (missing != 1 && missing != -1)) return;
    for (const struct ast *i = v->index.indices; i; i = i->next) {
        bool is_one = i->kind == AST_INDEX_WIDTH && i->range.high->kind == AST_INT && i->range.high->integer.value == 1;
        if (missing == 1 ? i->kind == AST_INDEX_POINT : is_one) last = i;
    }
    if (!last) return;
    if (missing == 1)
        diag_fix(c->diag, (struct span){last->at.file, last->at.end, last->at.end}, " +: 1",
                 "a width of 1 keeps the dimension");
    else
        diag_fix(c->diag, (struct span){last->at.file, last->range.low->at.end, last->at.end}, "",
                 "a point drops the dimension");
}

/* An argument against its formal, without extents. */
static bool check_kind(struct checker *c, struct matching *m, int f)
{
    struct ast *a = m->args[f], *v = a->arg.value;
    const struct symbol *formal = m->callee->formals[f];
    const struct type *want = formal->type, *got = v->type;
    const char *what = arena_printf(c->mem, "argument '%s' of '%s'", formal->name, m->callee->name);
    if (v->bad || want->kind == TYPE_ERROR) return false;
    if (type_is_scalar(want)) {
        if (exprs_is_element(v) && !region_is_host(region_of(v))) {
            exprs_say_await(c, v);
            return false;
        }
        if (got->kind == TYPE_TENSOR && got->rank == 1) {
            diag_error(c->diag, DIAG_E02, v->at, "%s is %s here, expected %s", what, type_str(c, got),
                       type_str(c, want));
            if (v->kind == AST_NAME) diag_help(c->diag, "the value of one element is 'await %s[0]'", v->name);
            note_formal(c, formal);
            return false;
        }
        return exprs_fits(c, v, want, what);
    }
    if (exprs_is_element(v)) {
        diag_error(c->diag, DIAG_E03, v->at, "%s is one element, expected %s", what, type_str(c, want));
        fix_rank(c, v, want->rank);
        note_formal(c, formal);
        return false;
    }
    if (!same_structure(got, want)) {
        diag_error(c->diag, got->kind == TYPE_GRID ? DIAG_E03 : DIAG_E02, v->at, "%s is %s here, expected %s", what,
                   type_str(c, got), type_str(c, want));
        if (got->kind == TYPE_GRID) diag_help(c->diag, "index the tiled view to get one tile");
        note_formal(c, formal);
        return false;
    }
    if (got->kind == TYPE_TENSOR && got->elem != want->elem) {
        diag_error(c->diag, DIAG_E02, v->at, "%s is %s here, expected %s", what, type_str(c, got), type_str(c, want));
        note_formal(c, formal);
        return false;
    }
    if (got->rank != want->rank) {
        diag_error(c->diag, DIAG_E03, v->at, "%s is %s here, expected %s: rank %d, not %d", what, type_str(c, got),
                   type_str(c, want), got->rank, want->rank);
        fix_rank(c, v, want->rank - got->rank);
        note_formal(c, formal);
        return false;
    }
    return true;
}

/* ---- dimension variables ----------------------------------------------------------------------------------------- */

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

/* (got - rest) / factor.  Where got is known to leave the remainder that rest leaves, got / factor says the same in the
 * words of the program: N / 2, and not (N - 1) / 2, of an odd N. */
static const struct size *quotient(struct checker *c, const struct size *got, const struct size *rest, int64_t factor)
{
    const struct size *by = size_const(c->sizes, factor), *difference = size_sub(c->sizes, got, rest);
    int64_t r;
    if (factor == 1) return difference;
    if (factor > 1 && size_is_const(rest, &r) && r != 0) {
        const int64_t left = (r % factor + factor) % factor;
        const struct size *remainder = size_binary(c->sizes, SIZE_MOD, got, by);
        if (remainder && facts_prove_equal(c->facts, remainder, size_const(c->sizes, left)) && r - left != INT64_MIN)
            return size_sub(c->sizes, size_binary(c->sizes, SIZE_DIV, got, by),
                            size_const(c->sizes, (r - left) / factor));
    }
    return difference ? size_binary(c->sizes, SIZE_DIV, difference, by) : NULL;
}

/* want is factor * N + rest with one unbound N: binds N. */
static bool solve(struct checker *c, struct matching *m, const struct size *want, const struct size *got,
                  const struct ast *source)
{
    struct size_term terms[32];
    int count = size_terms(c->sizes, want, terms, 32), dim = -1, at = -1, mentioned = 0;
    for (int i = 0; i < m->callee->dim_count; i++) {
        if (m->call->dims[i] || !size_names(want, m->callee->dims[i])) continue;
        mentioned++;
        for (int k = 0; k < count; k++)
            if (terms[k].mono && terms[k].mono->kind == SIZE_SYMBOL && terms[k].mono->symbol == m->callee->dims[i])
                dim = i, at = k;
    }
    if (mentioned != 1 || dim < 0) return false;
    const struct size *rest = size_sub(c->sizes, want, size_scale(c->sizes, terms[at].mono, terms[at].factor));
    if (!rest || size_names(rest, m->callee->dims[dim])) return false;
    rest = size_substitute(c->sizes, rest, m->from, m->to, m->count);
    const struct size *value = rest ? quotient(c, got, rest, terms[at].factor) : NULL;
    if (!value) return false;
    bind(m, dim, value, source);
    return true;
}

typedef bool (*bind_pass)(struct checker *c, struct matching *m, const struct size *want, const struct size *got,
                          const struct ast *source);

static bool bind_exact(struct checker *c, struct matching *m, const struct size *want, const struct size *got,
                       const struct ast *source)
{
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
    for (int d = 0; d < want->rank; d++) any |= pass(c, m, want->extent[d], got->extent[d], source);
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

/* Does a scalar formal stand in an extent of another formal, or of the result? */
static bool is_extent(const struct symbol *callee, const struct symbol *s)
{
    for (int f = 0; f < callee->formal_count; f++)
        if (names_in_type(callee->formals[f]->type, s)) return true;
    return callee->result && names_in_type(callee->result, s);
}

/* A result that goes to a place with a type says what the same call with `out` would. */
static bool bind_result(struct checker *c, struct matching *m, const struct target *target, bind_pass pass)
{
    const struct type *result =
        m->call->result_formal >= 0 ? m->callee->formals[m->call->result_formal]->type : m->callee->result;
    const struct type *place = target ? target->type ? target->type : target->declared : NULL;
    return place && result && bind_type(c, m, result, place, target->place, pass);
}

static void bind_dims(struct checker *c, struct matching *m, const bool *usable, const struct target *target)
{
    for (int f = 0; f < m->callee->formal_count; f++) { /* scalars may stand in extents */
        const struct symbol *s = m->callee->formals[f];
        if (!usable[f] || s->type->kind != TYPE_INT) continue;
        struct ast *v = m->args[f]->arg.value;
        if (!v->value && is_extent(m->callee, s)) exprs_take(c, v);
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
    for (int f = 0; f < m->callee->formal_count; f++)
        if (usable[f])
            bind_type(c, m, m->callee->formals[f]->type, m->args[f]->arg.value->type, m->args[f], bind_exact);
    bind_result(c, m, target, bind_exact);
    for (bool again = true; again;) {
        again = false;
        for (int f = 0; f < m->callee->formal_count; f++)
            if (usable[f])
                again |= bind_type(c, m, m->callee->formals[f]->type, m->args[f]->arg.value->type, m->args[f], solve);
        again |= bind_result(c, m, target, solve);
    }
}

static bool all_bound(struct checker *c, struct matching *m, struct ast *e)
{
    for (int i = 0; i < m->callee->dim_count; i++)
        if (!m->call->dims[i]) {
            diag_error(c->diag, DIAG_E04, e->at, "the arguments do not determine '%s' of '%s'",
                       m->callee->dims[i]->name, m->callee->name);
            diag_note(c->diag, m->callee->decl->name_at, "'%s' is declared here", m->callee->name);
            return false;
        }
    return true;
}

static bool names_unbound(const struct matching *m, const struct type *t)
{
    for (; t; t = t->element)
        for (int i = 0; i < m->callee->dim_count; i++)
            for (int d = 0; d < t->rank && !m->call->dims[i]; d++)
                if (size_names(t->extent[d], m->callee->dims[i])) return true;
    return false;
}

/* One extent that does not fit is told: others are compared with what it says. */
static void check_extents(struct checker *c, struct matching *m, const bool *usable)
{
    bool is_told = false;
    for (int f = 0; f < m->callee->formal_count; f++) {
        const struct symbol *formal = m->callee->formals[f];
        if (is_told || !usable[f] || type_is_scalar(formal->type) || names_unbound(m, formal->type)) continue;
        const struct type *want, *got = m->args[f]->arg.value->type;
        struct type flat = *formal->type; /* most calls fit: nothing of what is compared is kept */
        /* an array is laid out as the tensor with its dimensions in front, and passed as one */
        if (flat.kind == TYPE_TENSOR) {
            declare_substitute_extents(c, &flat, m->from, m->to, m->count);
            flat.array_rank = got->array_rank;
            want = &flat;
        } else {
            want = declare_type_substituted(c, formal->type, m->from, m->to, m->count);
        }
        struct strbuf *text = exprs_next_text(c);
        strbuf_printf(text, "argument '%s' of '%s'", formal->name, m->callee->name);
        const char *what = strbuf_text(text);
        if (calls_same_type(c, m->args[f]->arg.value->at, what, got, want)) continue;
        m->failed = true;
        is_told = true;
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

/* ---- where, contiguity, overlap ---------------------------------------------------------------------------------- */

static void check_where(struct checker *c, struct matching *m, struct ast *e)
{
    if (m->callee->kind != SYM_KERNEL) return;
    struct facts_values values = {m->from, m->to, m->count};
    for (struct ast *w = m->callee->decl->kernel->where; w; w = w->next) {
        if (w->bad) continue;
        int truth = facts_decide(c->facts, w, &values);
        if (truth == 1) continue;
        if (truth == 0) {
            diag_error(c->diag, DIAG_E20, e->at, "'%s' needs '%s', which is false here", m->callee->name,
                       place_str(c, w));
            diag_note(c->diag, w->at, "the condition is here");
            m->failed = true;
            continue;
        }
        struct check *k = region_check(c, CHECK_WHERE, w->at);
        if (k) k->cond = w;
        facts_add_condition_of(c->facts, w, true, &values); /* behind the check */
    }
}

/* At least so far apart are two elements that follow each other in dimension d of the piece.  A formal, or the place of
 * a result, is a piece of a tensor without gaps whose dimensions are in order: all that it has inside of one index lies
 * between two. */
static const struct size *least_stride(struct checker *c, const struct region *r, int d)
{
    const struct size *least = size_const(c->sizes, 1), *stride = r->stride[d];
    const bool is_given =
        stride->kind == SIZE_STRIDE && (stride->symbol == r->base || stride->symbol == r->base->place);
    if (!is_given || r->base->type->rank != r->base_rank) return stride;
    for (int k = r->base_dim[d] + 1; k < r->base_rank && least; k++)
        least = size_binary(c->sizes, SIZE_MUL, least, r->base->type->extent[k]);
    return least;
}

static void need_contiguous(struct checker *c, struct matching *m, const struct symbol *formal, const struct region *r,
                            struct span at)
{
    if (!formal->needs_contiguous || !r || r->contiguous || region_is_contiguous(c, r)) return;
    const struct size *want = size_const(c->sizes, 1);
    for (int d = r->rank - 1; d >= 0 && want; d--) {
        bool steps = facts_prove_order(c->facts, size_const(c->sizes, 2), r->extent[d], 0);
        const struct size *least = steps ? least_stride(c, r, d) : NULL;
        if (least && (facts_prove_order(c->facts, want, least, 1) ||
                      (least == r->stride[d] && facts_prove_order(c->facts, least, want, 1)))) {
            diag_error(c->diag, DIAG_E18, at,
                       "argument '%s' of '%s' must be contiguous: its rows are %s%s elements apart, not %s",
                       formal->name, m->callee->name, least == r->stride[d] ? "" : "at least ", size_str(c, least),
                       size_str(c, want));
            diag_note(c->diag, formal->decl->at, "the body of '%s' never names '%s_stride'", m->callee->name,
                      formal->name);
            m->failed = true;
            return;
        }
        want = size_binary(c->sizes, SIZE_MUL, want, r->extent[d]);
    }
    struct check *k = region_check(c, CHECK_CONTIGUOUS, at);
    if (k) k->view = r, k->elem = formal->type->elem;
}

static bool writes(enum direction dir)
{
    return dir == DIR_OUT || dir == DIR_INOUT || dir == DIR_ACC || dir == DIR_OWN;
}

/* A tensor that a call is given, or where its result goes; or a scalar that it may change. */
struct used {
    const struct region *region;
    const struct symbol *scalar;
    const struct ast *at;
    int formal; /* -1: where the result of a function goes */
    bool writes;
};
typedef VEC(struct used) used_list;

static void use_leaves(used_list *list, const struct leaves *leaves, const struct ast *at, int formal, bool written)
{
    for (int i = 0; i < leaves->count; i++) {
        const struct leaf *l = &leaves->leaf[i];
        bool changes = type_is_scalar(l->formal->type) ? l->formal->by_reference : written;
        if (l->region || changes) vec_push(list, ((struct used){l->region, l->scalar, at, formal, changes}));
    }
}

static const char *argument_str(struct checker *c, const struct ast *e)
{
    return place_str(c, e->kind == AST_ARG ? e->arg.value : e);
}

static bool check_pair(struct checker *c, struct matching *m, const struct used *a, const struct used *b)
{
    int overlap =
        a->region && b->region ? region_overlap(c, a->region, b->region) : a->scalar && a->scalar == b->scalar;
    if (overlap == 0) return true;
    if (overlap < 0) {
        struct check *k = region_check(c, CHECK_DISJOINT, b->formal < 0 ? a->at->at : b->at->at);
        if (k) k->view = a->region, k->other = b->region, k->elem = a->region->base->type->elem;
        return true;
    }
    m->failed = true;
    if (b->formal < 0) {
        diag_error(c->diag, DIAG_E09, a->at->at, "'%s' overlaps the destination of the result of '%s'",
                   argument_str(c, a->at), m->callee->name);
        if (b->at) diag_note(c->diag, b->at->at, "the result goes here");
        return false;
    }
    const struct ast *at = b->writes ? b->at : a->at, *other = at == b->at ? a->at : b->at;
    diag_error(c->diag, DIAG_E09, at->at, "'%s' is written by '%s' and overlaps another argument", argument_str(c, at),
               m->callee->name);
    diag_note(c->diag, other->at, "the other argument is here");
    return false;
}

/* A function's destination is written while its arguments are read. */
static void check_overlaps(struct checker *c, struct matching *m, const struct target *target)
{
    used_list list = {0};
    const struct ast *place = target ? target->place : NULL;
    const struct call *call = m->call;
    for (int f = 0; f < m->callee->formal_count; f++) {
        const struct ast *at = m->args[f] ? m->args[f] : place;
        bool written = writes(m->callee->formals[f]->dir);
        if (call->regions[f] && at) vec_push(&list, ((struct used){call->regions[f], NULL, at, f, written}));
        use_leaves(&list, &call->leaves[f], at, f, written);
    }
    size_t arguments = list.count;
    if (call->destination && m->callee->kind == SYM_ORCH)
        vec_push(&list, ((struct used){call->destination, NULL, place, -1, true}));
    if (target && target->into) use_leaves(&list, &call->result_leaves, place, -1, true);
    bool good = true;
    for (size_t b = 1; b < list.count && good; b++)
        for (size_t a = 0; a < b && a < arguments && good; a++)
            if (list.data[a].formal != list.data[b].formal && (list.data[a].writes || list.data[b].writes))
                good = check_pair(c, m, &list.data[a], &list.data[b]);
    vec_free(&list);
}

/* ---- a call ------------------------------------------------------------------------------------------------------ */

static bool place_arguments(struct checker *c, struct ast *e, struct matching *m, int count, bool value)
{
    struct symbol *s = m->callee;
    int skip = -1;
    if (value && s->kind == SYM_KERNEL) {
        skip = out_formal(s);
        if (skip < 0) {
            diag_error(c->diag, DIAG_E19, e->at, "'%s' has no value: it has %s 'out' formal", s->name,
                       s->formal_count ? "not exactly one" : "no");
            diag_note(c->diag, s->decl->name_at, "'%s' is declared here", s->name);
            return false;
        }
    }
    int want = s->formal_count - (skip >= 0);
    if (count != want) {
        diag_error(c->diag, DIAG_E17, e->at, "'%s' takes %d argument%s%s, not %d", s->name, want, want == 1 ? "" : "s",
                   skip >= 0 ? " where its result is used" : "", count);
        bool has_out = false;
        for (const struct ast *a = e->call.args; a; a = a->next) has_out |= a->arg.dir == DIR_OUT;
        if (!value && s->kind == SYM_KERNEL && count == want - 1 && out_formal(s) >= 0 && !has_out)
            diag_help(c->diag, "its result is not used: write let r = %s, or pass an 'out' argument", place_str(c, e));
        diag_note(c->diag, s->decl->name_at, "'%s' is declared here", s->name);
        return false;
    }
    int i = 0;
    for (struct ast *a = e->call.args; a; a = a->next, i++) m->args[formal_of(i, skip)] = a;
    m->call->result_formal = skip;
    return true;
}

/* The elements of an array of scalars are the orchestrator's: tasks may read them, and nothing but an assignment writes
 * them. */
static bool check_scalar_array(struct checker *c, const struct matching *m, const struct symbol *formal,
                               const struct ast *v, const struct region *r)
{
    bool wants = type_is_scalar_array(formal->type), has = region_is_host(r);
    if (wants && !has) {
        diag_error(c->diag, DIAG_E02, v->at, "argument '%s' of '%s' is %s here, expected %s", formal->name,
                   m->callee->name, type_str(c, v->type), type_str(c, formal->type));
        diag_help(c->diag,
                  "tasks write a tensor, assignments an array of scalars: read one element with 'await' and assign it");
        return false;
    }
    if (wants || !has || !is_marked(formal->dir) || r->base->dir == DIR_HOST) return true;
    diag_error(c->diag, DIAG_E08, v->at, "'%s' is an array of scalars: '%s' cannot write it, only an assignment can",
               r->base->name, m->callee->name);
    return false;
}

/* Only what this function owns can be given away, and only all of it. */
static bool check_movable(struct checker *c, const struct ast *v, const struct symbol *base)
{
    if (v->kind == AST_CALL) return true; /* nobody else knows the new tensor */
    bool borrowed = base->kind == SYM_FORMAL && base->dir != DIR_OWN;
    bool is_view = v->kind != AST_NAME || v->symbol->region || v->symbol->alias_of;
    if (!borrowed && !is_view) return true;
    if (borrowed) {
        if (base->dir != DIR_OUT && base->dir != DIR_INOUT) return false; /* said as a write, with a fix */
        diag_error(c->diag, DIAG_E11, v->at, "'%s' is borrowed from the caller and cannot be moved", place_str(c, v));
        diag_note(c->diag, base->decl->at, "'%s' is declared here", base->name);
        diag_help(c->diag, "only an 'own' formal, or a tensor that is made here, can be moved");
        return false;
    }
    if (structs_place(v))
        diag_error(c->diag, DIAG_E11, v->at, "'%s' is %s '%s': only a whole struct can be moved, by its own name",
                   place_str(c, v), structs_relation(v), base->decl->name);
    else
        diag_error(c->diag, DIAG_E11, v->at, "'%s' is a view of '%s': only a whole tensor can be moved",
                   place_str(c, v), base->name);
    diag_note(c->diag, base->decl->name_at, "'%s' is declared here", base->name);
    return false;
}

/* One tensor that goes to the formal, which may be a leaf of a struct. */
static void check_tensor(struct checker *c, struct matching *m, const struct ast *a, const struct symbol *formal,
                         const struct region *r)
{
    const struct ast *v = a->arg.value;
    if (a->arg.dir == formal->dir) check_writable(c, m, v, r->base, formal->dir);
    if (formal->dir == DIR_HOST && m->callee->kind == SYM_ORCH && !region_is_host(r)) {
        diag_error(c->diag, DIAG_E08, v->at, "'%s' of '%s' is host: the argument must be a host array", formal->name,
                   m->callee->name);
        m->failed = true;
    }
    r->base->is_lent = true;
    if (!check_scalar_array(c, m, formal, v, r)) m->failed = true;
}

static void check_struct(struct checker *c, struct matching *m, int f)
{
    const struct ast *a = m->args[f], *v = a->arg.value;
    struct leaves *leaves = &m->call->leaves[f];
    structs_leaves(c, leaves, structs_place(v), m->callee->formals[f]);
    for (int i = 0; i < leaves->count && !m->failed; i++) {
        const struct leaf *l = &leaves->leaf[i];
        if (l->formal->type->kind == TYPE_TENSOR)
            check_tensor(c, m, a, l->formal, l->region);
        else if (l->formal->by_reference)
            check_writable(c, m, v, l->region ? l->region->base : l->scalar, l->formal->dir);
        if (l->region) l->region->base->is_lent = true;
        if (!m->failed && l->formal->dir == DIR_OWN && !check_movable(c, v, l->region ? l->region->base : l->scalar))
            m->failed = true;
    }
}

static void check_one(struct checker *c, struct matching *m, int f, bool *usable)
{
    struct ast *a = m->args[f], *v = a->arg.value;
    const struct symbol *formal = m->callee->formals[f];
    m->call->values[f] = v;
    if (v->bad) {
        m->failed = true;
        return;
    }
    usable[f] = check_kind(c, m, f);
    if (!usable[f]) m->failed = true;
    if (usable[f] || type_is_scalar(formal->type)) check_marker(c, m, f);
    if (!usable[f] || type_is_scalar(formal->type)) return;
    if (v->kind == AST_CALL && is_marked(formal->dir) && formal->dir != DIR_OWN) {
        diag_error(c->diag, DIAG_E08, v->at, "'%s' of '%s' is %s: the result of a call has no other use", formal->name,
                   m->callee->name, direction_text(formal->dir));
        diag_help(c->diag, "give it a name first: let t = %s;", place_str(c, v));
        m->failed = true;
    } else if (type_is_struct(formal->type)) {
        check_struct(c, m, f);
    } else if ((m->call->regions[f] = region_of(v))) {
        const struct region *r = m->call->regions[f];
        check_tensor(c, m, a, formal, r);
        if (formal->dir == DIR_OWN && a->arg.dir == DIR_OWN && !check_movable(c, v, r->base)) m->failed = true;
    }
}

static const struct type *result_type(struct checker *c, struct ast *e, struct matching *m)
{
    const struct type *t = m->call->result_formal >= 0   ? m->callee->formals[m->call->result_formal]->type
                           : m->callee->kind == SYM_ORCH ? m->callee->result
                                                         : c->void_;
    if (t->kind != TYPE_TENSOR && t->kind != TYPE_STRUCT && t->kind != TYPE_ARRAY) return t;
    const struct type *r = declare_type_substituted(c, t, m->from, m->to, m->count);
    region_check_extents(c, r, e);
    return r;
}

static struct symbol *new_result(struct checker *c, struct ast *e, const struct matching *m,
                                 const struct target *target)
{
    struct symbol *s = target ? target->let : NULL;
    if (!s) {
        s = names_new(c, SYM_LET, m->callee->name, e);
        s->hidden = true;
    }
    e->type = s->type = region_capture_type(c, s, e->type);
    return m->call->result_symbol = s;
}

static void place_struct(struct checker *c, struct ast *e, struct matching *m, const struct target *target)
{
    if (target && target->into) {
        m->call->returns = target->returns;
        exprs_note(c, e)->place = target->into;
    } else {
        struct symbol *s = new_result(c, e, m, target);
        structs_declare_fields(c, s);
        if (s->returned)
            structs_set_returned(s, same_structure(s->type, c->function->result) ? c->function->result_place : NULL);
        struct struct_place *p = arena_new(c->mem, struct struct_place);
        p->symbol = s;
        exprs_note(c, e)->place = p;
    }
    structs_leaves(c, &m->call->result_leaves, structs_place(e), m->callee->result_place);
    for (int i = 0; i < m->call->result_leaves.count; i++) {
        const struct region *r = m->call->result_leaves.leaf[i].region;
        if (r) r->base->is_lent = true;
    }
}

/* The place of the result: what was asked for, or a new tensor. */
static void place_result(struct checker *c, struct ast *e, struct matching *m, const struct target *target)
{
    struct call *call = m->call;
    if (type_is_struct(e->type)) place_struct(c, e, m, target);
    if (e->type->kind != TYPE_TENSOR) return;
    if (target && target->destination) {
        call->destination = target->destination;
        call->returns = target->returns;
    } else {
        new_result(c, e, m, target);
    }
    e->note->region = call->destination ? call->destination : region_whole(c, call->result_symbol);
    if (call->result_formal >= 0) call->regions[call->result_formal] = e->note->region;
}

/* A function that calls itself with nothing smaller: it may be right, but nothing shows that it ends. */
static void warn_endless(struct checker *c, struct matching *m, const struct ast *e)
{
    if (m->callee != c->function) return;
    for (int i = 0; i < m->count; i++)
        if (facts_prove_order(c->facts, m->to[i], size_symbol(c->sizes, m->from[i]), 1)) return;
    diag_warning(c->diag, DIAG_W08, e->at, "'%s' calls itself and no extent or integer is seen to shrink",
                 m->callee->name);
}

/* Scalars of structs that the callee may assign. */
static void forget_changed(struct checker *c, const struct matching *m)
{
    for (int f = -1; f < m->callee->formal_count; f++) {
        const struct leaves *leaves = f < 0 ? &m->call->result_leaves : &m->call->leaves[f];
        for (int i = 0; i < leaves->count; i++)
            if (leaves->leaf[i].scalar && leaves->leaf[i].formal->by_reference) stmts_forget(c, leaves->leaf[i].scalar);
    }
}

static struct call *new_call(struct checker *c, struct symbol *callee)
{
    struct call *call = arena_new(c->mem, struct call);
    call->callee = callee;
    call->values = arena_array(c->mem, struct ast *, callee->formal_count);
    call->regions = arena_array(c->mem, const struct region *, callee->formal_count);
    call->leaves = arena_array(c->mem, struct leaves, callee->formal_count);
    call->dims = arena_array(c->mem, const struct size *, callee->dim_count);
    call->result_formal = -1;
    return call;
}

static const struct type *check_call(struct checker *c, struct ast *e, const struct target *target, bool value)
{
    struct matching m = {0};
    bool usable[MAX_FORMALS] = {false};
    int count = 0;
    struct symbol *s = find_callee(c, e->call.callee);
    struct check **outer = c->checks, *own = NULL;
    if (c->checks) c->checks = &own;
    for (struct ast *a = e->call.args; a; a = a->next, count++) exprs_check(c, a->arg.value, AS_PLACE);
    c->checks = outer;
    if (!s) return fail(c, e);
    s->is_named = true;
    struct target new_place = {0};
    if (!(s = choose(c, e, s, count, value ? target ? target : &new_place : NULL))) return fail(c, e);
    declare_resolve(c, s);
    e->call.callee->symbol = s;
    if (!c->function) {
        diag_error(c->diag, DIAG_E19, e->at, "'%s' cannot be called here, outside of a function", s->name);
        return fail(c, e);
    }
    m.callee = s;
    m.call = exprs_note(c, e)->call = new_call(c, s);
    if (s->resolving == 2 && s->type->kind == TYPE_ERROR) return fail(c, e); /* its declaration has an error */
    if (!place_arguments(c, e, &m, count, value)) return fail(c, e);
    c->checks = &own;
    for (int f = 0; f < s->formal_count; f++)
        if (m.args[f]) check_one(c, &m, f, usable);
    bind_dims(c, &m, usable, target);
    const struct type *result = NULL;
    if (!m.failed && !all_bound(c, &m, e))
        m.failed = true;
    else
        check_extents(c, &m, usable);
    if (!m.failed) result = result_type(c, e, &m);
    if (result) {
        e->type = result;
        if (target && target->type &&
            (result->kind == TYPE_TENSOR || (type_is_struct(result) && type_is_struct(target->type))) &&
            !calls_same_type(c, target->place ? target->place->at : e->at,
                             arena_printf(c->mem, "the result of '%s'", s->name), result, target->type))
            m.failed = true;
        if (!m.failed) place_result(c, e, &m, target);
        warn_endless(c, &m, e);
        check_where(c, &m, e);
        for (int f = 0; f < s->formal_count; f++)
            if (s->kind == SYM_KERNEL && m.call->regions[f])
                need_contiguous(c, &m, s->formals[f], m.call->regions[f], m.args[f] ? m.args[f]->arg.value->at : e->at);
        if (!m.failed) check_overlaps(c, &m, target);
        forget_changed(c, &m);
    }
    m.call->checks = own;
    c->checks = outer;
    if (!result || m.failed) return fail(c, e);
    return e->type;
}

const struct type *calls_value(struct checker *c, struct ast *e, const struct target *target)
{
    const struct type *t = check_call(c, e, target, true);
    if (e->bad || t->kind != TYPE_VOID) return t;
    diag_error(c->diag, DIAG_E19, e->at, "'%s' returns nothing: a value is needed here", e->note->call->callee->name);
    return fail(c, e);
}

void calls_statement(struct checker *c, struct ast *e)
{
    if (e->call.callee->kind == AST_NAME && !names_lookup(c, e->call.callee->name) &&
        names_is_builtin(e->call.callee->name)) {
        exprs_check(c, e, AS_VALUE);
        if (!e->bad) diag_error(c->diag, DIAG_E19, e->at, "the value of '%s' is not used", e->call.callee->name);
        exprs_bad(e);
        return;
    }
    const struct type *t = check_call(c, e, NULL, false);
    if (!e->bad && (t->kind == TYPE_TENSOR || type_is_struct(t)))
        diag_warning(c->diag, DIAG_W01, e->at, "the result of '%s' is never read", e->note->call->callee->name);
}
