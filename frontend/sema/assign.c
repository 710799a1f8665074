/* assign.c - assignments: to a variable, to an element, and of the result of a call to a place.
 * Invariant  the facts about the target are forgotten only after the value was checked.
 * Tests      test/lit/sema/e08*.pto e19*.pto
 */
#include "statements.h"
#include <string.h>

static void assign_scalar(struct checker *c, struct ast *s, struct symbol *target)
{
    struct ast *v = s->assign.value;
    exprs_check(c, v, AS_VALUE);
    /* a field */
    if (target->kind == SYM_FORMAL && target->decl->kind == AST_FORMAL && target->name != target->decl->name) {
        writable_check(c, s->assign.target, target, DIR_OUT);
        notes_bad(s);
        return;
    }
    if (target->kind != SYM_VAR) {
        static const char *const text[] = {
            [SYM_CONST] = "const",   [SYM_PARAM] = "param", [SYM_DIM] = "dimension variable",
            [SYM_FORMAL] = "formal", [SYM_LET] = "let",     [SYM_LOOP] = "loop variable"};
        diag_error(c->diag, DIAG_E19, s->assign.target->at, "'%s' is a %s and never changes", target->name,
                   text[target->kind]);
        diag_note(c->diag, target->decl->name_at, "'%s' is declared here", target->name);
        if (target->kind != SYM_LET)
            diag_help(c->diag, "a copy of it may change: var k = %s;", target->name);
        else if (!target->decl->attrs)
            diag_fix(c->diag, (struct span){target->decl->at.file, target->decl->at.begin, target->decl->at.begin + 3},
                     "var", "make it a 'var'");
        notes_bad(s);
        return;
    }
    bool fits = exprs_fits(c, v, target->type, arena_printf(c->mem, "'%s'", target->name));
    const struct symbol *var = target;
    const struct size *old = size_symbol(c->sizes, values_forget(c, target)), *value = NULL;
    if (!fits)
        notes_bad(s);
    else if (v->value && target->type->kind == TYPE_INT)
        value = size_substitute(c->sizes, v->value, &var, &old, 1);
    if (value) facts_add_equal(c->facts, size_symbol(c->sizes, target), value);
}

/* An element of an array of scalars. */
static void assign_element(struct checker *c, struct ast *s)
{
    struct ast *place = s->assign.target, *v = s->assign.value;
    exprs_check(c, v, AS_VALUE);
    if (!writable_check(c, place, region_of(place)->base, DIR_OUT) ||
        !exprs_fits(c, v, place->type, arena_printf(c->mem, "'%s'", place_str(c, place))))
        notes_bad(s);
}

void assign_say_not_tensor(struct checker *c, const struct ast *place, const struct ast *v)
{
    diag_error(c->diag, DIAG_E02, v->at, "'%s' is a tensor, it cannot be %s", place_str(c, place),
               type_str(c, v->type));
    if (type_is_scalar(v->type))
        diag_help(c->diag, "elements are written by kernels: fill(out %s, %s);", place_str(c, place), place_str(c, v));
}

static void assign_tensor(struct checker *c, struct ast *s)
{
    struct ast *place = s->assign.target, *v = s->assign.value;
    const struct region *r = region_of(place);
    if (!callee_is_task(c, v)) {
        exprs_check(c, v, AS_PLACE);
        if (!v->bad && v->type->kind != TYPE_TENSOR)
            assign_say_not_tensor(c, place, v);
        else if (!v->bad) {
            diag_error(c->diag, DIAG_E19, s->at, "tensors are not copied by '='");
            vars_show_form(c, place);
            diag_help(c->diag, "use a copy kernel: copy(%s, out %s);", place_str(c, v), place_str(c, place));
        }
        notes_bad(s);
        return;
    }
    if (!writable_check(c, place, r->base, DIR_OUT)) {
        exprs_check(c, v, AS_PLACE);
        notes_bad(s);
        return;
    }
    struct target target = {.destination = r, .type = place->type, .place = place};
    const struct type *t = calls_value(c, v, &target);
    if (!v->bad && t->kind != TYPE_TENSOR)
        diag_error(c->diag, DIAG_E02, v->at, "the result is %s, expected %s", type_str(c, t), type_str(c, place->type));
    if (v->bad || t->kind != TYPE_TENSOR) notes_bad(s);
}

static void assign_struct(struct checker *c, struct ast *s)
{
    struct ast *place = s->assign.target, *v = s->assign.value;
    const struct struct_place *into = structs_place(place);
    struct leaves leaves;
    if (!callee_is_task(c, v)) {
        exprs_check(c, v, AS_PLACE);
        if (!v->bad && !type_is_struct(v->type))
            diag_error(c->diag, DIAG_E02, v->at, "'%s' is %s, it cannot be %s", place_str(c, place),
                       type_str(c, place->type), type_str(c, v->type));
        else if (!v->bad) {
            diag_error(c->diag, DIAG_E19, s->at, "structs are not copied by '='");
            vars_show_form(c, place);
            diag_help(c->diag, "let v = %s; is a second name for it; copy its tensors with a copy kernel",
                      place_str(c, v));
        }
        notes_bad(s);
        return;
    }
    structs_leaves(c, &leaves, into, into->symbol);
    for (int i = 0; i < leaves.count; i++) {
        const struct symbol *base = leaves.leaf[i].region ? leaves.leaf[i].region->base : leaves.leaf[i].scalar;
        if (writable_check(c, place, base, DIR_OUT)) continue;
        exprs_check(c, v, AS_PLACE);
        notes_bad(s);
        return;
    }
    struct target target = {.into = into, .type = place->type, .place = place};
    const struct type *t = calls_value(c, v, &target);
    if (!v->bad && !type_is_struct(t))
        diag_error(c->diag, DIAG_E02, v->at, "the result is %s, expected %s", type_str(c, t), type_str(c, place->type));
    if (v->bad || !type_is_struct(t)) notes_bad(s);
}

static bool is_made_by_call(const struct ast *e)
{
    while (e->kind == AST_MEMBER || e->kind == AST_INDEX)
        e = e->kind == AST_MEMBER ? e->member.object : e->index.object;
    return e->kind == AST_CALL;
}

/* x += e: it is for kernels in index notation. */
static void say_no_adding(struct checker *c, struct ast *s)
{
    struct ast *target = s->assign.target, *v = s->assign.value;
    exprs_check(c, target, AS_PLACE);
    exprs_check(c, v, AS_PLACE);
    notes_bad(target);
    diag_error(c->diag, DIAG_E19, s->assign.adds_at, "there is no '+=': the whole value is written again");
    const char *text = source_get(c->front->sources, v->at.file)->text + v->at.begin;
    const int length = (int)(v->at.end - v->at.begin);
    const bool is_simple = v->kind != AST_BINARY || (v->binary.op >= OP_ADD && v->binary.op <= OP_MOD);
    if (target->kind == AST_NAME && memchr(text, '\n', (size_t)length) == NULL) {
        const char *whole = is_simple ? arena_printf(c->mem, "= %s + %.*s", target->name, length, text)
                                      : arena_printf(c->mem, "= %s + (%.*s)", target->name, length, text);
        diag_fix(c->diag, (struct span){v->at.file, s->assign.adds_at.begin, v->at.end}, whole, "write '%s'", whole);
    } else {
        diag_help(c->diag, "kernels in index notation add: kernel k(...) => { y[i] += x[i]; }");
    }
    notes_bad(s);
}

void assign_check(struct checker *c, struct ast *s)
{
    struct ast *target = s->assign.target, *v = s->assign.value;
    if (s->assign.adds_at.end) {
        say_no_adding(c, s);
        return;
    }
    attrs_check(c, s, v);
    const int before = diag_error_count(c->diag);
    c->is_assigned = target->kind == AST_NAME;
    const struct type *t = exprs_check(c, target, AS_PLACE);
    c->is_assigned = false;
    if (target->bad && target->kind == AST_INDEX && diag_error_count(c->diag) > before)
        diag_help(c->diag, "equations between elements belong in a kernel: kernel k(...) => { y[i] = x[i]; }");
    if (target->bad) {
        exprs_check(c, v, AS_PLACE);
        notes_bad(s);
    } else if (is_made_by_call(target)) {
        exprs_check(c, v, AS_PLACE);
        diag_error(c->diag, DIAG_E19, target->at, "'%s' cannot be assigned: nothing could read it afterwards",
                   place_str(c, target));
        notes_bad(s);
    } else if (vars_is_place(target)) {
        vars_assign(c, s);
    } else if (t->kind == TYPE_TENSOR && region_of(target) && target->kind != AST_CALL) {
        assign_tensor(c, s);
    } else if (notes_is_element(target) && type_is_scalar_array(region_of(target)->base->type)) {
        assign_element(c, s);
    } else if (type_is_scalar(t) && (target->kind == AST_NAME || target->kind == AST_MEMBER)) {
        assign_scalar(c, s, target->symbol);
    } else if (type_is_struct(t) && structs_place(target) && target->kind != AST_CALL) {
        assign_struct(c, s);
    } else {
        exprs_check(c, v, AS_PLACE);
        if (!target->bad) {
            diag_error(c->diag, DIAG_E19, target->at, "'%s' cannot be assigned", place_str(c, target));
            if (notes_is_element(target) && region_is_host(region_of(target)))
                diag_help(c->diag,
                          "a 'host' array is only read; one that changes is made here: let a: array[n] of i64;");
            else if (notes_is_element(target))
                diag_help(c->diag, "elements are written by kernels: pass 'out' with the region [i +: 1]");
        }
        notes_bad(s);
    }
}
