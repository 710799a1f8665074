/* decided.c - extents that the run decides: `orch f(..) -> f32[?m]`.
 * Idea       `?m` is a hidden number of the result: each `return` sets it to the extent of what it returns, and the
 *            caller gets it in a name of its own, which sizes name like a `let`: "dim(y, 0)".  A `var` that takes such
 *            a tensor over has a number that changes, beside its buffer.  So that there is one way to do either, a call
 *            that is returned, or becomes a var, is made under a name first: `return f(x);` is
 *            `let result = f(x); return result;`.
 * Gives      `decided` of the result_place, of lets and of vars; that of struct call.
 * Invariant  no tensor with such an extent lies in its caller's place: nobody knows how large that would have to be.
 * Tests      test/lit/sema/decided*.pto, test/lit/run/decided*.pto
 */
#include "decided.h"
#include "matching.h"
#include <string.h>

/* The number that `a` is, or was when a name of a `var` was given to a let; NULL: it is computed. */
static const struct symbol *number_of(const struct size *a)
{
    if (a->kind == SIZE_EXTENT) a = a->symbol->captured[a->dim];
    return a->kind == SIZE_SYMBOL && a->symbol->decided_name ? a->symbol : NULL;
}

static struct symbol *add(struct checker *c, struct symbol *owner, struct symbol *number)
{
    struct symbol **list = arena_array(c->mem, struct symbol *, owner->decided_count + 1);
    for (int i = 0; i < owner->decided_count; i++) list[i] = owner->decided[i];
    list[owner->decided_count++] = number;
    owner->decided = list;
    return number;
}

static struct symbol *new_number(struct checker *c, enum symbol_kind kind, const char *name, const char *decided,
                                 struct ast *decl)
{
    struct symbol *s = names_new(c, kind, intern_str(c->front->names, name), decl);
    s->hidden = true;
    s->type = c->int_;
    s->decided_name = decided;
    return s;
}

/* ---- the result of a function ------------------------------------------------------------------------------------ */

const struct size *decided_extent(struct checker *c, struct ast *node)
{
    struct symbol *place = c->deciding;
    if (!place) {
        diag_error(c->diag, DIAG_E19, node->at, "'?%s' stands outside of the result of an 'orch'", node->name);
        diag_help(c->diag,
                  "only what a function returns can have an extent that the run decides: orch f(...) -> "
                  "f32[?%s]; a struct has a dimension variable for it: -> S[?%s]",
                  node->name, node->name);
        notes_bad(node);
        return NULL;
    }
    for (int i = 0; i < place->decided_count; i++)
        if (place->decided[i]->decided_name == node->name) return size_symbol(c->sizes, place->decided[i]);
    struct symbol *s = new_number(c, SYM_VAR, arena_printf(c->mem, "?%s", node->name), node->name, node);
    s->dir = DIR_OUT;
    s->by_reference = true;
    s->place = s;
    return size_symbol(c->sizes, add(c, place, s));
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

bool decided_names_number(const struct size *s)
{
    bool found = s->kind == SIZE_SYMBOL && s->symbol->decided_name;
    for (int i = 0; i < s->count; i++) found |= decided_names_number(s->arg[i]);
    return found;
}

const struct size *decided_value(const struct type *want, const struct type *got, const struct symbol *number)
{
    for (; want && got; want = want->element, got = got->element)
        for (int d = 0; d < want->rank && d < got->rank; d++)
            if (want->extent[d]->kind == SIZE_SYMBOL && want->extent[d]->symbol == number) return got->extent[d];
    return NULL;
}

const struct type *decided_match(struct checker *c, const struct type *want, const struct type *got,
                                 const struct symbol *owner)
{
    const struct symbol *from[MAX_FORMALS];
    const struct size *to[MAX_FORMALS];
    int count = 0;
    for (int i = 0; i < owner->decided_count && count < MAX_FORMALS; i++) {
        const struct size *value = decided_value(want, got, owner->decided[i]);
        if (!value) continue;
        from[count] = owner->decided[i];
        to[count++] = value;
    }
    return count > 0 ? derive_type(c, want, from, to, count) : want;
}

/* ---- a call ------------------------------------------------------------------------------------------------------ */

static const struct symbol *result_place(const struct symbol *callee)
{
    return callee && callee->kind == SYM_ORCH ? callee->result_place : NULL;
}

/* "dim(y.idx, 0)": where a tensor of the result has this extent; NULL: none has. */
static const char *leaf_dim(struct checker *c, const struct symbol *leaf, const struct symbol *number, const char *name)
{
    const char *found = NULL;
    for (int i = 0; i < leaf->field_count && !found; i++) {
        const char *field = strrchr(leaf->fields[i]->name, '.');
        found = leaf_dim(c, leaf->fields[i], number, arena_printf(c->mem, "%s%s", name, field));
    }
    for (int d = 0; leaf->type->kind == TYPE_TENSOR && d < leaf->type->rank && !found; d++)
        if (leaf->type->extent[d]->kind == SIZE_SYMBOL && leaf->type->extent[d]->symbol == number)
            found = arena_printf(c->mem, "dim(%s, %d)", name, d);
    return found;
}

static const char *number_name(struct checker *c, const struct symbol *place, const struct symbol *number,
                               const char *owner)
{
    const char *name = leaf_dim(c, place, number, owner);
    return name ? name : arena_printf(c->mem, "an extent of %s", owner);
}

void decided_bind(struct checker *c, struct matching *m, struct ast *e, const struct target *target)
{
    const struct symbol *place = result_place(m->callee);
    if (!place || place->decided_count == 0) return;
    const struct symbol *let = target ? target->let : NULL;
    const char *owner = let ? let->name : arena_printf(c->mem, "%s()", m->callee->name);
    struct leaves *list = &m->call->decided;
    list->leaf = arena_array(c->mem, struct leaf, place->decided_count);
    for (int i = 0; i < place->decided_count; i++) {
        struct symbol *number = place->decided[i];
        struct symbol *s =
            new_number(c, SYM_LET, number_name(c, place, number, owner), number->decided_name, let ? let->decl : e);
        list->leaf[list->count++] = (struct leaf){.formal = number, .scalar = s};
        m->from[m->count] = number;
        m->to[m->count++] = size_symbol(c->sizes, s);
    }
}

void decided_keep(struct checker *c, const struct call *call, struct symbol *owner)
{
    if (call->decided.count == 0) return;
    for (int i = 0; i < call->decided.count; i++) add(c, owner, call->decided.leaf[i].scalar);
    structs_set_returned(owner, NULL);
}

/* ---- a name for the value of a statement ------------------------------------------------------------------------- */

void decided_name_value(struct checker *c, struct ast *s, struct ast **value, struct symbol *let)
{
    struct ast *v = *value, *rest = arena_new(c->mem, struct ast);
    const struct leaves *made = &call_of(v)->decided;
    for (int i = 0; i < made->count; i++) /* the name may be another than that which the call was checked for */
        made->leaf[i].scalar->name = number_name(c, call_of(v)->callee->result_place, made->leaf[i].formal, let->name);
    if (type_is_scalar(v->type)) let->type = v->type; /* which is an error, said with the rest */
    let->is_named = true;
    struct ast *named = arena_new(c->mem, struct ast);
    *named = (struct ast){.kind = AST_NAME, .at = v->at, .name = let->name, .symbol = let};
    *value = named;
    *rest = *s;
    rest->attrs = NULL;
    rest->note = NULL;
    s->kind = AST_LET;
    s->name = let->name;
    s->name_at = v->at;
    s->decl.type = NULL;
    s->decl.value = v;
    s->symbol = let;
    s->next = rest;
}

void decided_split(struct checker *c, struct ast *s, struct ast **value, const char *name, const struct type *declared)
{
    struct symbol *let = names_new(c, SYM_LET, intern_str(c->front->names, name), s);
    struct target target = {.let = let, .declared = declared};
    calls_value(c, *value, &target);
    if ((*value)->bad)
        notes_bad(s);
    else
        decided_name_value(c, s, value, let);
}

bool decided_begins_var(const struct type *t)
{
    for (; t && (t->kind == TYPE_TENSOR || type_is_struct(t)); t = t->element)
        for (int d = 0; d < t->rank; d++)
            if (number_of(t->extent[d])) return true;
    return false;
}

/* ---- a `var` ----------------------------------------------------------------------------------------------------- */

struct own_numbers {
    struct checker *c;
    struct symbol *var;
    const struct symbol *from[MAX_FORMALS];
};

/* "dim(s.idx, 0)": which field of a struct has its dimension variable d as an extent. */
static const char *field_dim(struct checker *c, const struct symbol *var, const struct type *t, int d)
{
    const struct symbol *structure = t->kind == TYPE_STRUCT ? t->structure : NULL;
    for (int i = 0; structure && i < structure->formal_count; i++) {
        const struct symbol *field = structure->formals[i];
        for (int k = 0; field->type->kind == TYPE_TENSOR && k < field->type->rank; k++)
            if (field->type->extent[k]->kind == SIZE_SYMBOL && field->type->extent[k]->symbol == structure->dims[d])
                return arena_printf(c->mem, "dim(%s.%s, %d)", var->name, field->name, k);
    }
    return arena_printf(c->mem, "an extent of %s", var->name);
}

static const struct size *own_number(struct own_numbers *o, const struct type *t, int d)
{
    struct checker *c = o->c;
    const struct symbol *from = number_of(t->extent[d]);
    if (!from) return t->extent[d];
    for (int i = 0; i < o->var->decided_count; i++)
        if (o->from[i] == from) return size_symbol(c->sizes, o->var->decided[i]);
    if (o->var->decided_count == MAX_FORMALS) return t->extent[d];
    const char *name =
        t->kind == TYPE_TENSOR ? arena_printf(c->mem, "dim(%s, %d)", o->var->name, d) : field_dim(c, o->var, t, d);
    o->from[o->var->decided_count] = from;
    const struct symbol *own = add(c, o->var, new_number(c, SYM_VAR, name, from->decided_name, o->var->decl));
    facts_add_equal(c->facts, size_symbol(c->sizes, own), t->extent[d]);
    return size_symbol(c->sizes, own);
}

static const struct type *with_own(struct own_numbers *o, const struct type *t)
{
    if (t->kind != TYPE_TENSOR && !type_is_struct(t)) return t;
    struct type *r = arena_new(o->c->mem, struct type);
    *r = *t;
    for (int d = 0; d < t->rank; d++) r->extent[d] = own_number(o, t, d);
    if (t->element) r->element = with_own(o, t->element);
    return r;
}

const struct type *decided_of_var(struct checker *c, struct symbol *var, const struct type *t)
{
    return with_own(&(struct own_numbers){.c = c, .var = var}, t);
}

void decided_forget(struct checker *c, const struct symbol *var)
{
    for (int i = 0; i < var->decided_count; i++) values_forget(c, var->decided[i]);
}

void decided_take(struct checker *c, const struct symbol *var, const struct type *from)
{
    decided_forget(c, var);
    for (int i = 0; i < var->decided_count; i++) {
        const struct size *value = decided_value(var->type, from, var->decided[i]);
        if (value) facts_add_equal(c->facts, size_symbol(c->sizes, var->decided[i]), value);
    }
}
