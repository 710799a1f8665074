/* calls.c - a call, and the destination of its result.
 * Idea       first the callee, then each argument, then the dimension variables, then what the arguments have in
 *            common.
 * Gives      the note of the CALL: struct call.
 * Invariant  dims[] and regions[] are complete for every call without an error.
 * Tests      test/lit/sema/e17*.pto e19*.pto w08*.pto
 */
#include "decided.h"
#include "matching.h"
#include <string.h>

static bool has_scratch(const struct symbol *kernel)
{
    for (const struct ast *f = kernel->decl->kernel->formals; f; f = f->next)
        if (f->formal.dir == DIR_SCRATCH) return true;
    return false;
}

/* A function gives only the value after its '->': a call without the `out` formals at its end is shown with them. */
static void show_outs(struct checker *c, const struct ast *e, const struct symbol *callee, int count,
                      const struct target *target)
{
    const int missing = callee->formal_count - count;
    if (callee->kind != SYM_ORCH || missing <= 0) return;
    for (int i = count; i < callee->formal_count; i++)
        if (callee->formals[i]->dir != DIR_OUT) return;
    const struct ast *last = e->call.callee, *place = NULL;
    const struct symbol *let = NULL;
    if (missing == 1 && target && callee->result == c->void_) place = target->place, let = target->let;
    int given = 0;
    for (const struct ast *a = e->call.args; a; last = a, a = a->next)
        if ((a->arg.dir == DIR_OUT) != (callee->formals[given++]->dir == DIR_OUT)) return;
    const char *source = source_get(c->front->sources, e->at.file)->text;
    STRBUF(text);
    strbuf_printf(&text, "%.*s", (int)(last->at.end - e->call.callee->at.begin), source + e->call.callee->at.begin);
    if (count == 0) strbuf_putc(&text, '(');
    for (int i = count; i < callee->formal_count; i++) {
        strbuf_puts(&text, i == 0 ? "out " : ", out ");
        if (place)
            strbuf_printf(&text, "%.*s", (int)(place->at.end - place->at.begin), source + place->at.begin);
        else
            strbuf_puts(&text, let ? let->name : callee->formals[i]->name);
    }
    strbuf_putc(&text, ')');
    if (strchr(strbuf_text(&text), '\n')) return;
    if (place && !target->returns && (target->destination || target->into))
        diag_fix(c->diag, (struct span){e->at.file, place->at.begin, e->at.end}, strbuf_text(&text),
                 "the value of a function comes after '->': write '%s'", strbuf_text(&text));
    else if (let)
        diag_help(c->diag, "the value of a function comes after '->': declare '%s' with a type, then write %s;",
                  let->name, strbuf_text(&text));
    else
        diag_help(c->diag, "a function is given each of its 'out' arguments: %s", strbuf_text(&text));
}

static bool place_arguments(struct checker *c, struct ast *e, struct matching *m, int count,
                            const struct target *target)
{
    struct symbol *s = m->callee;
    const bool value = target != NULL;
    int skip = -1;
    if (value && s->kind == SYM_KERNEL) {
        skip = callee_out_formal(s);
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
        if (!value && s->kind == SYM_KERNEL && count == want - 1 && callee_out_formal(s) >= 0 && !has_out)
            diag_help(c->diag, "its result is not used: write let r = %s, or pass an 'out' argument", place_str(c, e));
        if (s->kind == SYM_KERNEL && count > want && has_scratch(s))
            diag_help(c->diag, "a scratch tensor is no argument: each worker has the memory");
        show_outs(c, e, s, count, target);
        diag_note(c->diag, s->decl->name_at, "'%s' is declared here", s->name);
        return false;
    }
    int i = 0;
    for (struct ast *a = e->call.args; a; a = a->next, i++) m->args[callee_formal_of(i, skip)] = a;
    m->call->result_formal = skip;
    return true;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

static const struct type *result_type(struct checker *c, struct ast *e, struct matching *m)
{
    const struct type *t = m->call->result_formal >= 0   ? m->callee->formals[m->call->result_formal]->type
                           : m->callee->kind == SYM_ORCH ? m->callee->result
                                                         : c->void_;
    if (t->kind != TYPE_TENSOR && t->kind != TYPE_STRUCT && t->kind != TYPE_ARRAY) return t;
    const struct type *r = derive_type(c, t, m->from, m->to, m->count);
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
        notes_of(c, e)->place = target->into;
    } else {
        struct symbol *s = new_result(c, e, m, target);
        structs_declare_fields(c, s);
        if (s->returned)
            structs_set_returned(s, derive_same_structure(s->type, c->function->result) ? c->function->result_place
                                                                                        : NULL);
        decided_keep(c, m->call, s);
        struct struct_place *p = arena_new(c->mem, struct struct_place);
        p->symbol = s;
        notes_of(c, e)->place = p;
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
        decided_keep(c, call, new_result(c, e, m, target));
    }
    e->note->region = call->destination ? call->destination : region_whole(c, call->result_symbol);
    if (call->result_formal >= 0) call->regions[call->result_formal] = e->note->region;
}

/* ---- a call ------------------------------------------------------------------------------------------------------ */

/* A function that calls itself with nothing smaller: it may be right, but nothing shows that it ends. */
static void warn_endless(struct checker *c, struct matching *m, const struct ast *e)
{
    if (m->callee != c->function) return;
    for (int i = 0; i < m->count; i++)
        if (facts_prove_order(c->facts, m->to[i], size_symbol(c->sizes, m->from[i]), 1)) return;
    diag_warning(c->diag, DIAG_W08, e->at, "'%s' calls itself and no extent or integer is seen to shrink",
                 m->callee->name);
}

/* A scalar that a call changes is read by nothing beside it: the statement has no other parts, whose order would
 * show. */
static bool is_alone(struct checker *c, const struct ast *e, const struct symbol *callee)
{
    for (int f = 0; f < callee->formal_count; f++) {
        const struct symbol *formal = callee->formals[f];
        if (!formal->by_reference || e == c->alone) continue;
        diag_error(c->diag, DIAG_E19, e->at, "'%s' changes a scalar: its call is a statement of its own", callee->name);
        diag_note(c->diag, formal->decl->at, "'%s' is declared here", formal->name);
        diag_help(c->diag, "give its result a name first: let r = %s;", place_str(c, e));
        return false;
    }
    return true;
}

/* Scalars that the callee may assign. */
static void forget_changed(struct checker *c, const struct matching *m)
{
    for (int f = -1; f < m->callee->formal_count; f++) {
        const struct leaves *leaves = f < 0 ? &m->call->result_leaves : &m->call->leaves[f];
        for (int i = 0; i < leaves->count; i++)
            if (leaves->leaf[i].scalar && leaves->leaf[i].formal->by_reference)
                values_forget(c, leaves->leaf[i].scalar);
    }
}

static void find_written(struct checker *c, struct matching *m, struct ast *e)
{
    const struct symbol *s = m->callee;
    for (int f = 0; f < s->formal_count && !m->failed; f++) {
        if (!s->formals[f]->written || !m->call->regions[f]) continue;
        if (!m->call->written) m->call->written = arena_array(c->mem, const struct region *, s->formal_count);
        m->call->written[f] = written_part(c, m, f, m->args[f] ? m->args[f]->arg.value : e);
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
    struct symbol *s = callee_find(c, e->call.callee);
    struct check **outer = c->checks, *own = NULL;
    if (c->checks) c->checks = &own;
    for (struct ast *a = e->call.args; a; a = a->next, count++) exprs_check(c, a->arg.value, AS_PLACE);
    c->checks = outer;
    if (!s) return notes_fail(c, e);
    s->is_named = true;
    struct target new_place = {0};
    if (!(s = callee_choose(c, e, s, count, value ? target ? target : &new_place : NULL))) return notes_fail(c, e);
    declare_resolve(c, s);
    e->call.callee->symbol = s;
    if (!c->function) {
        diag_error(c->diag, DIAG_E19, e->at, "'%s' cannot be called here, outside of a function", s->name);
        return notes_fail(c, e);
    }
    m.callee = s;
    m.call = notes_of(c, e)->call = new_call(c, s);
    if (s->resolving == 2 && s->type->kind == TYPE_ERROR) return notes_fail(c, e); /* its declaration has an error */
    if (!place_arguments(c, e, &m, count, value ? target ? target : &new_place : NULL)) return notes_fail(c, e);
    if (!is_alone(c, e, s)) return notes_fail(c, e);
    if (arguments_are_swapped(c, &m)) return notes_fail(c, e);
    c->checks = &own;
    for (int f = 0; f < s->formal_count; f++)
        if (m.args[f]) arguments_check(c, &m, f, usable);
    dims_bind(c, &m, usable, target);
    const struct type *result = NULL;
    if (!m.failed && !dims_are_bound(c, &m, e))
        m.failed = true;
    else
        dims_check_extents(c, &m, usable);
    if (!m.failed) dims_check_solved(c, &m);
    if (!m.failed) decided_bind(c, &m, e, target);
    if (!m.failed) result = result_type(c, e, &m);
    if (result) {
        e->type = result;
        if (target && target->type &&
            (result->kind == TYPE_TENSOR || (type_is_struct(result) && type_is_struct(target->type))) &&
            !agree_type(c, target->place ? target->place->at : e->at,
                        arena_printf(c->mem, "the result of '%s'", s->name), result, target->type))
            m.failed = true;
        if (!m.failed) place_result(c, e, &m, target);
        warn_endless(c, &m, e);
        demands_where(c, &m, e);
        demands_indices(c, &m, e);
        for (int f = 0; f < s->formal_count; f++)
            if (s->kind == SYM_KERNEL && m.call->regions[f])
                demands_contiguous(c, &m, s->formals[f], m.call->regions[f],
                                   m.args[f] ? m.args[f]->arg.value->at : e->at);
        find_written(c, &m, e);
        if (!m.failed) demands_apart(c, &m, target);
        forget_changed(c, &m);
    }
    m.call->checks = own;
    c->checks = outer;
    if (!result || m.failed) return notes_fail(c, e);
    return e->type;
}

const struct type *calls_value(struct checker *c, struct ast *e, const struct target *target)
{
    const struct type *t = check_call(c, e, target, true);
    if (e->bad || t->kind != TYPE_VOID) return t;
    diag_error(c->diag, DIAG_E19, e->at, "'%s' returns nothing: a value is needed here", e->note->call->callee->name);
    return notes_fail(c, e);
}

void calls_statement(struct checker *c, struct ast *e)
{
    if (e->call.callee->kind == AST_NAME && !declare_lookup(c, e->call.callee->name) &&
        builtins_find(e->call.callee->name)) {
        exprs_check(c, e, AS_VALUE);
        if (!e->bad) diag_error(c->diag, DIAG_E19, e->at, "the value of '%s' is not used", e->call.callee->name);
        notes_bad(e);
        return;
    }
    if (shapes_is_permutation(c, e)) {
        shapes_permute(c, e);
        if (!e->bad) diag_error(c->diag, DIAG_E19, e->at, "the value of 'permute' is not used");
        notes_bad(e);
        return;
    }
    const struct type *t = check_call(c, e, NULL, false);
    if (!e->bad && (t->kind == TYPE_TENSOR || type_is_struct(t)))
        diag_warning(c->diag, DIAG_W01, e->at, "the result of '%s' is never read", e->note->call->callee->name);
}
