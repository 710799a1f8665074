/* arguments.c - each argument of a call against its formal: direction, kind, rank, owner.
 * Gives      values, regions and leaves of struct call.
 * Invariant  extents are not looked at here: dims.c compares them when all arguments are known.
 * Tests      test/lit/sema/e02*.pto e03*.pto e08*.pto e11*.pto
 */
#include "matching.h"

/* ---- markers ----------------------------------------------------------------------------------------------------- */

static void check_marker(struct checker *c, struct matching *m, int f)
{
    struct ast *a = m->args[f];
    const struct symbol *formal = m->callee->formals[f];
    enum direction want = direction_writes(formal->dir) ? formal->dir : DIR_NONE;
    if (a->arg.dir == want || (m->callee->decl && m->callee->decl->bad)) return;
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

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static void note_formal(struct checker *c, const struct symbol *formal)
{
    if (formal->decl && formal->decl->kind == AST_FORMAL)
        diag_note(c->diag, formal->decl->at, "'%s' is declared here", formal->name);
}

/* One dimension too few: the last point is to be a width of 1.  One too many: a width of 1 is to be a point. */
static void fix_rank(struct checker *c, const struct ast *v, int missing)
{
    const struct ast *last = NULL;
    if (v->kind != AST_INDEX || v->index.is_shape || (missing != 1 && missing != -1)) return;
    for (const struct ast *i = v->index.indices; i; i = i->next) {
        bool is_one = i->kind == AST_INDEX_WIDTH && !i->range.step && i->range.high->kind == AST_INT &&
                      i->range.high->integer.value == 1;
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

/* An element of an array of scalars, which a function assigns as it does a `var`; else NULL. */
static const struct region *assignable_element(const struct ast *v)
{
    return notes_is_element(v) && type_is_scalar_array(region_of(v)->base->type) ? region_of(v) : NULL;
}

/* What the callee assigns is a variable of the very type. */
static bool fits_variable(struct checker *c, const struct ast *v, const struct symbol *formal, const char *what)
{
    const bool is_name = v->kind == AST_NAME || v->kind == AST_MEMBER;
    if (!assignable_element(v) && (!is_name || !v->symbol || v->symbol->kind != SYM_VAR || region_of(v))) {
        diag_error(c->diag, DIAG_E08, v->at, "%s is inout: '%s' is not a 'var', which can be assigned", what,
                   place_str(c, v));
        const struct ast *let = v->kind == AST_NAME && v->symbol && v->symbol->kind == SYM_LET ? v->symbol->decl : NULL;
        if (let && let->kind == AST_LET && let->decl.value && !let->attrs)
            diag_fix(c->diag, (struct span){let->at.file, let->at.begin, let->at.begin + 3}, "var", "make it a 'var'");
    } else if (v->type->kind != formal->type->kind) {
        diag_error(c->diag, DIAG_E02, v->at, "%s is %s here, expected %s", what, type_str(c, v->type),
                   type_str(c, formal->type));
    } else {
        return true;
    }
    note_formal(c, formal);
    return false;
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
        if (notes_is_element(v) && !region_is_host(region_of(v)) && !formal->by_reference) {
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
        return formal->by_reference ? fits_variable(c, v, formal, what) : exprs_fits(c, v, want, what);
    }
    if (notes_is_element(v)) {
        diag_error(c->diag, DIAG_E03, v->at, "%s is one element, expected %s", what, type_str(c, want));
        fix_rank(c, v, want->rank);
        note_formal(c, formal);
        return false;
    }
    if (!derive_same_structure(got, want)) {
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
        if (m->rank_missing == want->rank - got->rank) return false;
        m->rank_missing = want->rank - got->rank;
        diag_error(c->diag, DIAG_E03, v->at, "%s is %s here, expected %s: rank %d, not %d", what, type_str(c, got),
                   type_str(c, want), got->rank, want->rank);
        fix_rank(c, v, want->rank - got->rank);
        note_formal(c, formal);
        return false;
    }
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
    if (wants || !has || !direction_writes(formal->dir) || r->base->dir == DIR_HOST) return true;
    diag_error(c->diag, DIAG_E08, v->at, "'%s' is an array of scalars: '%s' cannot write it, only an assignment can",
               r->base->name, m->callee->name);
    return false;
}

/* A function can give away only a whole tensor that it owns, or an element of an array of tensors. */
static bool check_movable(struct checker *c, const struct ast *v, const struct symbol *base)
{
    if (v->kind == AST_CALL) return true; /* no other name refers to the new tensor */
    bool borrowed = base->kind == SYM_FORMAL && base->dir != DIR_OWN;
    bool is_view = !structs_owner(v);
    if (!borrowed && (!is_view || structs_array_of(v))) return true;
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
    if (a->arg.dir == formal->dir && !writable_check(c, v, r->base, formal->dir)) m->failed = true;
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
        else if (l->formal->by_reference &&
                 !writable_check(c, v, l->region ? l->region->base : l->scalar, l->formal->dir))
            m->failed = true;
        if (l->region) l->region->base->is_lent = true;
        if (!m->failed && l->formal->dir == DIR_OWN && !check_movable(c, v, l->region ? l->region->base : l->scalar))
            m->failed = true;
    }
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Are two constant extents different? */
static bool extents_differ(const struct type *a, const struct type *b)
{
    for (int d = 0; d < a->rank; d++) {
        int64_t m, n;
        if (size_is_const(a->extent[d], &m) && size_is_const(b->extent[d], &n) && m != n) return true;
    }
    return false;
}

/* By marker, kind, element type, rank and constant extents. */
static bool would_fit(const struct ast *a, const struct symbol *formal)
{
    const struct type *given = a->arg.value->type, *want = formal->type;
    const enum direction dir = direction_writes(formal->dir) ? formal->dir : DIR_NONE;
    if (a->arg.dir != dir || given->kind == TYPE_ERROR || want->kind == TYPE_ERROR) return false;
    if (want->kind != TYPE_TENSOR || given->kind != TYPE_TENSOR)
        return type_is_scalar(want) && type_is_scalar(given) && !formal->by_reference;
    return want->elem == given->elem && want->rank == given->rank && !extents_differ(want, given);
}

static const char *arg_text(struct checker *c, const struct ast *a)
{
    return arena_copy(c->mem, source_get(c->front->sources, a->at.file)->text + a->at.begin, a->at.end - a->at.begin);
}

bool arguments_are_swapped(struct checker *c, struct matching *m)
{
    int wrong[2], count = 0;
    for (int f = 0; f < m->callee->formal_count; f++) {
        const struct ast *a = m->args[f];
        if (!a) continue;
        if (a->arg.value->bad) return false;
        if (would_fit(a, m->callee->formals[f])) continue;
        if (count == 2) return false;
        wrong[count++] = f;
    }
    if (count != 2) return false;
    const struct ast *one = m->args[wrong[0]], *two = m->args[wrong[1]];
    if (!would_fit(one, m->callee->formals[wrong[1]]) || !would_fit(two, m->callee->formals[wrong[0]])) return false;
    if (one->at.file != two->at.file || one->at.end > two->at.begin) return false;
    const struct span between = {one->at.file, one->at.end, two->at.begin};
    const char *text = source_get(c->front->sources, one->at.file)->text;
    diag_error(c->diag, DIAG_E08, span_join(one->at, two->at), "the arguments '%s' and '%s' of '%s' are swapped",
               m->callee->formals[wrong[0]]->name, m->callee->formals[wrong[1]]->name, m->callee->name);
    diag_fix(c->diag, span_join(one->at, two->at),
             arena_printf(c->mem, "%s%.*s%s", arg_text(c, two), (int)(between.end - between.begin),
                          text + between.begin, arg_text(c, one)),
             "write '%s' first", arg_text(c, two));
    note_formal(c, m->callee->formals[wrong[0]]);
    return true;
}

/* The call sets the element, which is not read before it: its index is tested with the arguments. */
static void take_checks(struct checker *c, struct ast *element)
{
    struct check **end = c->checks, **own = &notes_of(c, element)->checks;
    if (!end || !*own) return;
    while (*end) end = &(*end)->next;
    *end = *own;
    *own = NULL;
}

void arguments_check(struct checker *c, struct matching *m, int f, bool *usable)
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
    if (usable[f] && formal->by_reference) {
        struct leaves *leaves = &m->call->leaves[f];
        leaves->leaf = arena_array(c->mem, struct leaf, 1);
        const struct region *element = assignable_element(v);
        struct symbol *base = element ? element->base : v->symbol;
        leaves->leaf[leaves->count++] =
            (struct leaf){.formal = m->callee->formals[f], .region = element, .scalar = element ? NULL : v->symbol};
        if (element) take_checks(c, v);
        if (element) base->is_lent = true;
        if (!writable_check(c, v, base, formal->dir)) m->failed = true;
    }
    if (!usable[f] || type_is_scalar(formal->type)) return;
    if (v->kind == AST_CALL && direction_writes(formal->dir) && formal->dir != DIR_OWN) {
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
