/* vars.c - tensors that change: `var a = f(x);`, `a = g(a);`, `a = b;`, `let t = a;`, and fields of a struct that are
 * given a tensor which exists: `let p: S[N]; p.a = t;`.
 * Idea       a `var` is a let whose name goes to another tensor.  A call makes that tensor under a hidden name, the
 *            var's `next`, and then the var takes it over; `a = b` takes over the tensor that b names, also that of an
 *            `own` formal.  So a name has one buffer, and a buffer one name, unless `let t = a` gives it a second one.
 *            A field that is given a tensor is a var of its own.
 * Gives      is_var, next, keeps and exchange of the symbols.
 * Invariant  all values of a var have one type, but for extents that the run decides, which are numbers of the var; so
 *            a buffer of one name serves each other.
 * Tests      test/lit/sema/var*.pto, test/lit/run/var*.pto; fields-given.pto in both
 */
#include "decided.h"
#include "lookahead.h"
#include "statements.h"

/* ---- names that change buffers ---- */

static void add_name(struct checker *c, struct exchange *t, struct symbol *s)
{
    if (t->count == t->room) {
        struct symbol **names = arena_array(c->mem, struct symbol *, t->room = 2 * t->room + 4);
        for (int i = 0; i < t->count; i++) names[i] = t->names[i];
        t->names = names;
    }
    t->names[t->count++] = s;
    s->exchange = t;
}

static struct exchange *exchange_of(struct checker *c, struct symbol *s)
{
    if (!s->exchange) add_name(c, arena_new(c->mem, struct exchange), s);
    return s->exchange;
}

/* a and b are tensors, or structs of one type. */
static void join(struct checker *c, struct symbol *a, struct symbol *b, bool is_shared)
{
    for (int i = 0; i < a->field_count; i++) join(c, a->fields[i], b->fields[i], is_shared);
    if (a->type->kind != TYPE_TENSOR) return;
    struct exchange *to = exchange_of(c, a), *from = exchange_of(c, b);
    to->is_shared |= is_shared | from->is_shared;
    if (to == from) return;
    for (int i = 0; i < from->count; i++) add_name(c, to, from->names[i]);
}

static void set_var(struct checker *c, struct symbol *s)
{
    s->is_var = true;
    for (int i = 0; i < s->field_count; i++) set_var(c, s->fields[i]);
    if (s->type->kind == TYPE_TENSOR) exchange_of(c, s);
}

static void set_next(struct checker *c, struct symbol *s, struct symbol *next)
{
    s->next = next;
    next->next_of = s;
    for (int i = 0; i < s->field_count; i++) {
        if (s->fields[i]->next)
            next->fields[i] = s->fields[i]->next;
        else
            set_next(c, s->fields[i], next->fields[i]);
    }
    if (s->type->kind == TYPE_TENSOR) add_name(c, s->exchange, next);
}

/* Where a call makes the next value of a var. */
static struct symbol *next_of(struct checker *c, struct symbol *s)
{
    if (s->next) return s->next;
    struct symbol *next =
        names_new(c, SYM_LET, intern_str(c->front->names, arena_printf(c->mem, "%s_next", s->name)), s->decl);
    next->type = s->type;
    structs_declare_fields(c, next);
    set_next(c, s, next);
    return next;
}

/* ---- what a var takes over ---- */

/* The tensor or struct that v names whole, be it by a second name; NULL: it names none. */
static struct symbol *whole_name(const struct ast *v)
{
    const struct struct_place *p = structs_place(v);
    struct symbol *s = v->kind == AST_NAME || v->kind == AST_MEMBER ? symbol_behind(v) : NULL;
    if (!s || s->hidden || s->region || s->alias_of) return NULL;
    if (p) return p->given == 0 ? s : NULL;
    const struct region *r = region_of(v); /* NULL: it is assigned, and has not been looked at */
    const bool is_of_element = v->kind == AST_MEMBER && r && !r->whole;
    return s->type->kind == TYPE_TENSOR && !is_of_element ? s : NULL;
}

bool vars_can_take(const struct ast *v) { return whole_name(v) != NULL; }

static void help_copy(struct checker *c, const struct ast *v, const char *form)
{
    diag_help(c->diag, "begin with a copy: %s = copy(%s);", form, place_str(c, v));
}

/* May the var, or the field, take over what v names?  form: the beginning of the statement. */
static bool check_taken(struct checker *c, const struct ast *v, const struct symbol *to, const char *form)
{
    const char *what = to->is_field ? "field" : "'var'";
    struct symbol *s = whole_name(v);
    const struct struct_place *p = structs_place(v);
    const struct symbol *base = p ? p->symbol : region_of(v)->base;
    if (base->kind == SYM_FORMAL && base->dir != DIR_OWN) {
        diag_error(c->diag, DIAG_E10, v->at, "'%s' belongs to the caller of '%s' and cannot become a %s",
                   place_str(c, v), c->function->name, what);
        diag_note(c->diag, base->decl->at, "'%s' is declared here", base->name);
        help_copy(c, v, form);
        return false;
    }
    if (!s || v->kind == AST_CALL) {
        diag_error(c->diag, DIAG_E10, v->at, "'%s' is a part of '%s': a %s is a whole tensor", place_str(c, v),
                   base->name, what);
        diag_note(c->diag, base->decl->name_at, "'%s' is declared here", base->name);
        help_copy(c, v, form);
        return false;
    }
    return true;
}

static void set_lent(struct symbol *s)
{
    for (int i = 0; i < s->field_count; i++) set_lent(s->fields[i]);
    s->is_lent = true;
}

static void set_taken(struct symbol *s)
{
    for (int i = 0; i < s->field_count; i++) set_taken(s->fields[i]);
    s->is_taken = true;
}

/* From here on v is the tensor itself, whichever name it had. */
static void take_over(struct checker *c, struct symbol *var, const struct ast *v)
{
    struct symbol *const from = whole_name(v);
    set_lent(from);
    set_taken(from);
    join(c, var, from, false);
}

static void set_changed(struct symbol *var)
{
    for (int i = 0; i < var->field_count; i++) set_changed(var->fields[i]);
    var->value_number++;
}

/* ---- statements ---- */

bool vars_declare(struct checker *c, struct ast *s, struct symbol *var)
{
    struct ast *v = s->decl.value;
    if (v->kind == AST_CALL) {
        set_var(c, var);
        return true;
    }
    if (!check_taken(c, v, var, arena_printf(c->mem, "var %s", s->name)) ||
        !structs_can_be_made(c, s->at, arena_printf(c->mem, "'%s'", s->name), v->type))
        return false;
    var->type = region_capture_type(c, var, decided_of_var(c, var, v->type));
    structs_declare_fields(c, var);
    set_var(c, var);
    set_lent(var);
    take_over(c, var, v);
    return true;
}

struct given {
    struct checker *c;
    struct symbol *let;
    bool found;
};

/* The symbol of `let.a.b`, as it stands; NULL: there is no such field. */
static struct symbol *field_named(struct symbol *let, const struct ast *place)
{
    if (place->kind == AST_NAME) return let;
    struct symbol *object = field_named(let, place->member.object), *found = NULL;
    if (!object || object->type->kind != TYPE_STRUCT) return NULL;
    for (int i = 0; i < object->field_count; i++)
        if (object->type->structure->formals[i]->name == place->name) found = object->fields[i];
    return found;
}

static void set_given(struct checker *c, struct symbol *field)
{
    set_var(c, field);
    set_lent(field);
    field->is_field = true;
}

static void visit_given(void *cx, const struct ast *target)
{
    struct given *g = cx;
    struct symbol *field = field_named(g->let, target);
    if (!field || type_is_scalar(field->type) || type_is_scalar_array(field->type)) return;
    if (!field->is_var) set_given(g->c, field);
    g->found = true;
}

bool vars_given_fields(struct checker *c, struct symbol *let, const struct ast *s)
{
    struct given g = {c, let, false};
    if (let->type->kind == TYPE_STRUCT) lookahead_given_fields(s, visit_given, &g);
    return g.found;
}

bool vars_is_place(const struct ast *place)
{
    const struct symbol *s = whole_name(place);
    return s && s->is_var;
}

/* The scalars of a struct are those of another struct: nothing is known of them. */
static void forget(struct checker *c, struct symbol *s)
{
    if (s->field_count) structs_forget(c, s);
}

static void assign_call(struct checker *c, struct ast *s, struct symbol *var)
{
    struct ast *place = s->assign.target, *v = s->assign.value;
    struct symbol *next = next_of(c, var);
    struct target target = {.type = place->type, .place = place};
    if (type_is_struct(var->type)) {
        struct struct_place *into = arena_new(c->mem, struct struct_place);
        into->symbol = next;
        target.into = into;
    } else {
        target.destination = region_whole(c, next);
    }
    const struct type *t = calls_value(c, v, &target);
    const bool fits = !v->bad && (type_is_struct(var->type) ? type_is_struct(t) : t->kind == TYPE_TENSOR);
    if (!v->bad && !fits)
        diag_error(c->diag, DIAG_E02, v->at, "the result is %s, expected %s", type_str(c, t), type_str(c, place->type));
    if (!fits) notes_bad(s);
}

void vars_assign(struct checker *c, struct ast *s)
{
    struct ast *place = s->assign.target, *v = s->assign.value;
    struct symbol *var = place->symbol;
    if (callee_is_task(c, v) && var->decided_count) {
        decided_split(c, s, &s->assign.value, arena_printf(c->mem, "%s_next", var->name), place->type);
        return;
    }
    if (callee_is_task(c, v)) {
        assign_call(c, s, var);
        set_changed(var);
        forget(c, var);
        return;
    }
    const struct type *t = exprs_check(c, v, AS_PLACE);
    const bool is_scalar = !v->bad && type_is_scalar(t);
    if (is_scalar) assign_say_not_tensor(c, place, v);
    const struct type *want = v->bad ? NULL : decided_match(c, place->type, t, var);
    if (v->bad || is_scalar || !agree_type(c, v->at, arena_printf(c->mem, "'%s'", place_str(c, v)), t, want)) {
        notes_bad(s);
    } else if (whole_name(v) == var) {
        diag_error(c->diag, DIAG_E19, s->at, "'%s' is assigned to itself", place_str(c, place));
        notes_bad(s);
    } else if (!check_taken(c, v, var, place_str(c, place))) {
        notes_bad(s);
    } else {
        take_over(c, var, v);
        decided_take(c, var, t);
    }
    set_changed(var);
    forget(c, var);
}

static void keep(struct symbol *let, struct symbol *var)
{
    for (int i = 0; i < let->field_count; i++) keep(let->fields[i], var->fields[i]);
    let->keeps = var;
    let->value_number = var->value_number;
}

bool vars_keep(struct checker *c, struct symbol *let, const struct ast *v, const struct type *t)
{
    struct symbol *var = whole_name(v);
    if (!var || !var->is_var || v->kind == AST_CALL) return false;
    let->type = region_capture_type(c, let, t);
    structs_declare_fields(c, let);
    keep(let, var);
    set_lent(let);
    join(c, var, let, true);
    return true;
}

void vars_show_form(struct checker *c, const struct ast *place)
{
    const struct symbol *s = whole_name(place);
    if (!s || s->kind != SYM_LET || s->hidden || s->decl->kind != AST_LET) return;
    diag_help(c->diag, "a tensor that changes is a 'var': var %s = ...; then '%s = ...;' makes it another tensor",
              s->decl->name, s->decl->name);
}
