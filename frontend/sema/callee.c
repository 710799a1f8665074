/* callee.c - which kernel or function a call means.
 * Idea       a name has one meaning, but for kernels that differ by element types.
 * Tests      test/lit/sema/e01*.pto e02-overload*.pto e19*.pto
 */
#include "matching.h"

struct symbol *callee_find(struct checker *c, struct ast *callee)
{
    struct symbol *s = NULL, *object = NULL;
    if (callee->kind == AST_NAME) {
        s = declare_lookup(c, callee->name);
        if (!s) names_unknown(c, callee->at, callee->name, "kernel or function", NULL);
    } else if (callee->kind == AST_MEMBER && callee->member.object->kind == AST_NAME) {
        struct symbol *m = declare_lookup(c, callee->member.object->name);
        if (!m) names_unknown(c, callee->member.object->at, callee->member.object->name, "module", NULL);
        if (!m || (m->kind == SYM_MODULE && !m->target)) return NULL;
        callee->member.object->symbol = m;
        object = m;
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
        if (object)
            members_help_call(c, callee, object);
        else if (s && s->kind == SYM_STRUCT)
            diag_help(c->diag, "a struct is declared, then its fields get their values: let s: %s; s.n = 1;", s->name);
        else if (s && s->type->kind == TYPE_TENSOR)
            diag_help(c->diag, "parts of a tensor stand in brackets: %s[0]", s->name);
    }
    return NULL;
}

int callee_out_formal(const struct symbol *s)
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
int callee_formal_of(int given, int skip) { return skip >= 0 && given >= skip ? given + 1 : given; }

static bool elements_fit(const struct symbol *s, struct ast *args, int count, bool value)
{
    int skip = value && s->formal_count == count + 1 ? callee_out_formal(s) : -1, i = 0;
    for (struct ast *a = args; a; a = a->next, i++) {
        int f = callee_formal_of(i, skip);
        const struct type *t = a->arg.value->type;
        if (f >= s->formal_count || a->arg.value->bad || t->kind != TYPE_TENSOR) continue;
        if (s->formals[f]->type->kind == TYPE_TENSOR && s->formals[f]->type->elem != t->elem) return false;
    }
    return true;
}

/* Do the struct's fields have the element types of the formals from number `at` on? */
static bool fields_fit(const struct symbol *callee, int at, const struct symbol *structure)
{
    if (at + structure->formal_count > callee->formal_count) return false;
    for (int i = 0; i < structure->formal_count; i++) {
        const struct type *field = structure->formals[i]->type, *formal = callee->formals[at + i]->type;
        if (field->kind != formal->kind || field->rank != formal->rank || field->elem != formal->elem) return false;
    }
    return true;
}

/* A struct given to overloads that take its fields one by one: the fix names them. */
static bool say_fields(struct checker *c, const struct ast *e, const struct symbol *first)
{
    const struct ast *a = e->call.args;
    int at = 0;
    for (; a && a->arg.value->type->kind != TYPE_STRUCT; a = a->next) at++;
    if (!a) return false;
    const struct symbol *structure = a->arg.value->type->structure, *fitting = first;
    while (fitting && !fields_fit(fitting, at, structure)) fitting = fitting->next_overload;
    if (!fitting) return false;
    const char *place = place_str(c, a->arg.value);
    STRBUF(fields);
    for (int i = 0; i < structure->formal_count; i++)
        strbuf_printf(&fields, "%s%s.%s", i ? ", " : "", place, structure->formals[i]->name);
    diag_error(c->diag, DIAG_E02, a->arg.value->at, "'%s' takes the fields of '%s' one by one", first->name, place);
    diag_fix(c->diag, a->arg.value->at, strbuf_text(&fields), "give its fields");
    return true;
}

/* Overloads differ by element types: those of the arguments, and of the place where the result goes. */
struct symbol *callee_choose(struct checker *c, struct ast *e, struct symbol *first, int count,
                             const struct target *target)
{
    if (!first->next_overload) return first->elem_count ? generics_instance(c, e, first, count, target, false) : first;
    bool value = target != NULL;
    struct symbol *found = NULL;
    int fitting = 0;
    for (struct symbol *s = first; s; s = s->next_overload) {
        declare_resolve(c, s);
        if (s->elem_count) continue;
        if (!elements_fit(s, e->call.args, count, value)) continue;
        int out = callee_out_formal(s);
        if (target && target->type && target->type->kind == TYPE_TENSOR && out >= 0 &&
            s->formals[out]->type->elem != target->type->elem)
            continue;
        if (!fitting++) found = s;
    }
    for (struct symbol *s = first; s && !found; s = s->next_overload)
        if (s->elem_count) found = generics_instance(c, e, s, count, target, true);
    if (found) return found;
    for (struct ast *a = e->call.args; a; a = a->next)
        if (a->arg.value->bad) return NULL;
    if (say_fields(c, e, first)) return NULL;
    diag_error(c->diag, DIAG_E02, e->call.callee->at, "no '%s' takes these element types", first->name);
    for (struct symbol *s = first; s; s = s->next_overload) {
        STRBUF(text);
        for (int i = 0; i < s->formal_count; i++)
            if (s->formals[i]->type->kind == TYPE_TENSOR)
                strbuf_printf(&text, "%s%s: %s", text.length ? ", " : "", s->formals[i]->name,
                              generics_elements(c, s->formals[i]->type));
        diag_note(c->diag, s->decl->name_at, "'%s' takes %s", s->name, strbuf_text(&text));
    }
    return NULL;
}

bool callee_is_task(struct checker *c, const struct ast *e)
{
    return e->kind == AST_CALL && !shapes_is_permutation(c, e) &&
           (e->call.callee->kind != AST_NAME || declare_lookup(c, e->call.callee->name) ||
            !builtins_find(e->call.callee->name));
}
