/* returns.c - `return`: a function can return only a whole tensor that it owns.
 * Tests      test/lit/sema/e10*.pto e19*.pto
 */
#include "decided.h"
#include "statements.h"

/* The tensor that v names, or one of the struct's, and whether all of it is this function's to give. */
static struct symbol *returned_base(const struct ast *v, bool *whole)
{
    const struct struct_place *p = structs_place(v);
    struct symbol *base = p ? p->symbol : region_of(v)->base;
    base->is_lent = true;
    *whole = v->kind == AST_NAME && !v->symbol->region && !v->symbol->alias_of;
    return base;
}

static bool is_owned(const struct symbol *base)
{
    return base->kind == SYM_LET || (base->kind == SYM_FORMAL && base->dir == DIR_OWN);
}

/* `return p.a;` is `var a = p.a; return a;`: the field is moved out of its struct, whose other fields end. */
static bool split_field(struct checker *c, struct ast *s)
{
    struct ast *v = s->ret.value, *rest = arena_new(c->mem, struct ast), *named = arena_new(c->mem, struct ast);
    if (v->kind != AST_MEMBER || !vars_can_take(v)) return false;
    struct symbol *var = names_new(c, SYM_LET, v->name, s);
    *named = (struct ast){.kind = AST_NAME, .at = v->at, .name = var->name, .symbol = var};
    *rest = *s;
    rest->ret.value = named;
    rest->attrs = NULL;
    rest->note = NULL;
    s->kind = AST_VAR;
    s->name = var->name;
    s->name_at = v->at;
    s->decl.type = NULL;
    s->decl.value = v;
    s->symbol = var;
    s->next = rest;
    var->is_named = true;
    if (!vars_declare(c, s, var)) notes_bad(s);
    return true;
}

/* A tensor or a struct. */
static void return_tensors(struct checker *c, struct ast *s)
{
    struct ast *v = s->ret.value;
    const struct type *want = c->function->result;
    if (callee_is_task(c, v) && c->function->result_place->decided_count) {
        decided_split(c, s, &s->ret.value, "result", NULL);
        return;
    }
    struct struct_place *into = arena_new(c->mem, struct struct_place);
    struct target target = {.type = want, .returns = true};
    const char *what = arena_printf(c->mem, "the result of '%s'", c->function->name);
    into->symbol = c->function->result_place;
    if (type_is_struct(want))
        target.into = into;
    else
        target.destination = region_whole(c, into->symbol);
    if (callee_is_task(c, v)) {
        const struct type *t = calls_value(c, v, &target);
        if (v->bad || (type_is_struct(want) ? type_is_struct(t) : t->kind == TYPE_TENSOR)) return;
        agree_type(c, v->at, what, t, want);
        notes_bad(s);
        return;
    }
    const struct type *t = exprs_check(c, v, AS_PLACE);
    if (!v->bad) want = decided_match(c, want, t, c->function->result_place);
    if (v->bad || !agree_type(c, v->at, what, t, want)) {
        notes_bad(s);
        return;
    }
    bool whole;
    const struct symbol *base = returned_base(v, &whole);
    const bool owned = is_owned(base);
    if (owned && split_field(c, s)) return;
    if (owned && whole) return;
    if (owned) {
        const struct symbol *named = v->kind == AST_NAME ? v->symbol->alias_of : NULL;
        const char *owner = named ? named->name : structs_place(v) ? base->decl->name : base->name;
        diag_error(c->diag, DIAG_E10, v->at, "'%s' is %s '%s', which ends with this function", place_str(c, v),
                   structs_relation(v), owner);
        diag_note(c->diag, base->decl->at, "'%s' is declared here", base->name);
    } else {
        diag_error(c->diag, DIAG_E10, v->at, "'%s' belongs to the caller and cannot be returned", place_str(c, v));
        diag_note(c->diag, base->decl->at, "'%s' is declared here", base->name);
    }
    const bool is_second_name = owned && v->kind == AST_NAME && v->symbol->region && v->symbol->region->whole;
    if (is_second_name && base->decl->kind == AST_LET) {
        diag_fix(c->diag, v->at, base->name, "return '%s' by its first name", base->name);
        notes_bad(s);
        return;
    }
    const struct symbol *copy = declare_lookup(c, intern_str(c->front->names, "copy"));
    if (copy && copy->kind == SYM_KERNEL)
        diag_help(c->diag, "return a copy: return copy(%s);", place_str(c, v));
    else
        diag_help(c->diag, "return the result of a kernel that copies it%s", owned ? "" : ", or take it as 'own'");
    notes_bad(s);
}

static void say_returns_nothing(struct checker *c, const struct ast *v)
{
    const struct symbol *base = v->kind == AST_NAME ? v->symbol : NULL;
    diag_error(c->diag, DIAG_E19, v->at, "'%s' returns nothing", c->function->name);
    if (v->bad) return;
    if (base && base->kind == SYM_FORMAL && (base->dir == DIR_OUT || base->dir == DIR_INOUT)) {
        diag_help(c->diag, "'%s' is %s: the caller has it already when it is written", base->name,
                  direction_text(base->dir));
    } else if (type_is_scalar(v->type)) {
        uint32_t at = c->function->decl->orch.body->at.begin;
        const char *type = type_str(c, v->type);
        diag_fix(c->diag, (struct span){v->at.file, at, at}, arena_printf(c->mem, "-> %s ", type),
                 "its head declares the result: '-> %s'", type);
    } else {
        diag_help(c->diag, "its head declares the result: '-> %s'", type_str(c, v->type));
    }
}

void returns_check(struct checker *c, struct ast *s)
{
    struct ast *v = s->ret.value;
    const struct type *want = c->function->result;
    if (want->kind == TYPE_ERROR || !v || want->kind == TYPE_VOID) {
        if (v) exprs_check(c, v, AS_PLACE);
        if (want->kind == TYPE_ERROR || (want->kind == TYPE_VOID && !v)) return;
        if (v)
            say_returns_nothing(c, v);
        else
            diag_error(c->diag, DIAG_E19, s->at, "'%s' returns %s: a value is needed", c->function->name,
                       type_str(c, want));
        notes_bad(s);
        return;
    }
    if (want->kind == TYPE_TENSOR || type_is_struct(want)) {
        return_tensors(c, s);
        return;
    }
    exprs_check(c, v, AS_VALUE);
    if (v->bad)
        notes_bad(s);
    else if (!exprs_fits(c, v, want, arena_printf(c->mem, "the result of '%s'", c->function->name)))
        notes_bad(s);
}
