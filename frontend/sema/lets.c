/* lets.c - `let` and `var`: the new names of a function.
 * Idea       a let of a tensor or struct is storage or a second name; of a scalar it is its value, in sizes too.
 * Gives      the symbol of the statement, with type, region, `returned`.
 * Tests      test/lit/sema/
 */
#include "decided.h"
#include "lookahead.h"
#include "statements.h"

/* A let of a larger value is a name of its own: values share their parts, and written out they double from let to
 * let. */
enum { MAX_DEFINITION = 500 };

/* A let that is returned lies in the place of the result. */
static void set_returned(struct checker *c, struct symbol *let)
{
    const struct type *a = let->type, *b = c->function->result;
    for (; a->kind == TYPE_ARRAY && b->kind == TYPE_ARRAY; a = a->element) b = b->element;
    bool same = a->kind == b->kind && a->structure == b->structure; /* else it is an error, said at the return */
    structs_set_returned(let, let->returned && same ? c->function->result_place : NULL);
}

static void let_storage(struct checker *c, struct ast *s, struct symbol *let, const struct type *t)
{
    if (type_is_scalar(t)) {
        diag_error(c->diag, DIAG_E19, s->at, "'%s' has no value: a let of a scalar never changes", let->name);
        diag_help(c->diag, "give it one here, or make it a 'var'");
        return;
    }
    let->type = t;
    if (!structs_can_be_made(c, s->name_at, arena_printf(c->mem, "'%s'", s->name), t)) notes_bad(s);
    region_check_extents(c, t, s->decl.type);
    let->type = region_capture_type(c, let, t);
    structs_declare_fields(c, let);
    if (vars_given_fields(c, let, s)) let->returned = false;
    set_returned(c, let);
}

static void let_value(struct checker *c, struct ast *s, struct symbol *let, const struct type *want)
{
    struct ast *v = s->decl.value;
    const char *what = arena_printf(c->mem, "'%s'", let->name);
    struct target target = {.let = let, .declared = want};
    let->returned = lookahead_is_returned(c, s);
    if (let->returned && c->function->result->kind == TYPE_TENSOR) let->place = c->function->result_place;
    const struct type *t = callee_is_task(c, v) ? calls_value(c, v, &target) : exprs_check(c, v, AS_VALUE);
    if (v->bad) return;
    if (want && type_is_scalar(want) && type_is_scalar(t)) {
        if (!exprs_fits(c, v, want, what)) return;
        t = want;
    } else if (want && !agree_type(c, v->at, what, t, want)) {
        if (type_is_scalar_array(want) && type_is_scalar(t))
            diag_help(c->diag, "without a value the array begins with zeros");
        return;
    }
    switch (t->kind) {
    case TYPE_INT:
        let->type = t;
        if (!v->value) return;
        if (size_names_var(v->value))
            facts_add_equal(c->facts, size_symbol(c->sizes, let), v->value);
        else if (!v->value || size_node_count(size_expand(c->sizes, v->value), MAX_DEFINITION) < MAX_DEFINITION)
            let->definition = v->value;
        return;
    case TYPE_F64:
    case TYPE_F32:
    case TYPE_BOOL: let->type = t; return;
    case TYPE_TENSOR:
        if (v->kind == AST_CALL) { /* its type was set with the call; the declared one says what is an array */
            if (want) v->type = let->type = derive_with_array_rank(c, let->type, want->array_rank);
            return;
        }
        structs_set_returned(let, NULL);
        if (vars_keep(c, let, v, t)) return;
        let->type = region_capture_type(c, let, t);
        let->region = region_capture_region(c, let, region_of(v));
        return;
    case TYPE_STRUCT:
    case TYPE_ARRAY:
        if (v->kind == AST_CALL) return; /* declared with the call */
        structs_set_returned(let, NULL);
        if (vars_keep(c, let, v, t)) return;
        structs_alias(c, let, structs_place(v), t);
        return;
    default:
        diag_error(c->diag, DIAG_E19, v->at, "'%s' cannot be %s", let->name, type_str(c, t));
        if (t->kind == TYPE_STRING) diag_help(c->diag, "strings stand only in 'print' and 'assert'");
        if (t->kind == TYPE_GRID) diag_help(c->diag, "a tiled view is named by 'view'");
    }
}

void lets_check_let(struct checker *c, struct ast *s)
{
    struct symbol *let = names_new(c, SYM_LET, s->name, s);
    const struct type *t = s->decl.type ? type_nodes_check(c, s->decl.type) : NULL;
    s->symbol = let;
    attrs_check(c, s, s->decl.value);
    if (s->decl.indices) {
        diag_error(c->diag, DIAG_E19, s->at, "a 'let' with indices is a temporary of a kernel in index notation");
        diag_help(c->diag, "in a function 'let %s: f32[N];' names a tensor, and kernels write it", s->name);
        s->decl.value = NULL; /* its names are no names of the function */
    } else if (!t && !s->decl.value) {
        diag_error(c->diag, DIAG_E19, s->at, "'%s' has neither a type nor a value", s->name);
        diag_help(c->diag, "let %s: f32[N]; names a tensor, let %s = ...; a value", s->name, s->name);
    } else if (t && t->kind == TYPE_ERROR) {
        if (s->decl.value) exprs_check(c, s->decl.value, AS_PLACE);
    } else if (s->decl.value) {
        let_value(c, s, let, t);
    } else {
        let->returned = lookahead_is_returned(c, s);
        let_storage(c, s, let, t);
    }
    const bool has_value = !s->decl.value || !s->decl.value->bad; /* else no use of it is one before it is written */
    if (let->type->kind == TYPE_ERROR || !has_value) notes_bad(s);
    names_declare(c, let, s->name_at);
}

/* The value of a `var`, and its type; NULL: it is in error. */
static const struct type *var_value(struct checker *c, struct ast *s, struct symbol *var, const struct type *want)
{
    struct ast *v = s->decl.value;
    struct target target = {.let = var, .declared = want};
    const struct type *got = callee_is_task(c, v) ? calls_value(c, v, &target) : exprs_check(c, v, AS_VALUE);
    if (v->bad || (want && want->kind == TYPE_ERROR)) return NULL;
    return want && type_is_scalar(want) && type_is_scalar(got) ? want : got;
}

static bool is_tensor_or_struct(const struct type *t)
{
    return (t->kind == TYPE_TENSOR && !type_is_scalar_array(t)) || type_is_struct(t);
}

static void var_scalar(struct checker *c, struct ast *s, struct symbol *var, const struct type *t)
{
    struct ast *v = s->decl.value;
    if (!exprs_fits(c, v, t, arena_printf(c->mem, "'%s'", s->name))) return;
    var->type = t;
    if (v->value && t->kind == TYPE_INT) facts_add_equal(c->facts, size_symbol(c->sizes, var), v->value);
}

void lets_check_var(struct checker *c, struct ast *s)
{
    struct ast *v = s->decl.value;
    struct symbol *var = names_new(c, SYM_LET, s->name, s);
    const struct type *want = s->decl.type ? type_nodes_check(c, s->decl.type) : NULL, *t = var_value(c, s, var, want);
    if (t && callee_is_task(c, v) && decided_begins_var(t)) { /* what is made is the first value that the var takes */
        var->name = intern_str(c->front->names, arena_printf(c->mem, "%s_next", s->name));
        decided_name_value(c, s, &s->decl.value, var);
        return;
    }
    s->symbol = var;
    if (t && type_is_scalar(t) && (!want || type_is_scalar(want))) {
        var->kind = SYM_VAR;
        var_scalar(c, s, var, t);
    } else if (t && (!is_tensor_or_struct(t) || (want && type_is_scalar_array(want)))) {
        if (type_is_scalar(t)) t = want;
        var->type = c->error;
        diag_error(c->diag, DIAG_E19, s->at, "a var is a scalar, a tensor or a struct, not %s", type_str(c, t));
        if (!s->attrs && t->kind == TYPE_TENSOR)
            diag_fix(c->diag, (struct span){s->at.file, s->at.begin, s->at.begin + 3}, "let",
                     "arrays of scalars are named by 'let'; their elements can change");
    } else if (t && want && !agree_type(c, v->at, arena_printf(c->mem, "'%s'", s->name), t, want)) {
        var->type = c->error;
    } else if (t) {
        if (!vars_declare(c, s, var))
            var->type = c->error;
        else if (want && var->type->kind == TYPE_TENSOR)
            v->type = var->type = derive_with_array_rank(c, var->type, want->array_rank);
    }
    if (v->bad || !t) var->type = c->error;
    if (var->type->kind == TYPE_ERROR) notes_bad(s);
    names_declare(c, var, s->name_at);
}
