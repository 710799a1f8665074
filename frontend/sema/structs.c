/* structs.c - structs and arrays of structs, as the tensors and scalars that they are made of.
 * Idea       a name of such a type has one hidden symbol for each field, down to the leaves, which are tensors and
 *            scalars like any other.  An array of structs stacks every leaf: `L: array[n] of S` has the leaf `L.a` with
 *            n in front of its own dimensions.  So a struct is never an object: `L[i].a` is a piece of the tensor
 *            `L.a`.
 * Owner      struct struct_place, which says what an expression of such a type names, and the leaves of arguments and
 *            results.
 * Invariant  two symbols of one type have the same leaves in the same order.
 * Tests      test/lit/sema/struct*.pto, test/lit/run/struct*.pto
 */
#include "checker.h"

static const struct struct_place *place_of(const struct ast *e) { return e->note ? e->note->place : NULL; }

const struct struct_place *structs_place(const struct ast *e) { return e->bad ? NULL : place_of(e); }

const struct symbol *structs_owner(const struct ast *e)
{
    const struct struct_place *p = structs_place(e);
    if (e->kind == AST_NAME) return e->symbol->region || e->symbol->alias_of ? NULL : e->symbol;
    if (e->bad || e->kind != AST_MEMBER || !structs_place(e->member.object) || !structs_owner(e->member.object))
        return NULL;
    if (p) return p->given == 0 ? p->symbol : NULL;
    return e->type->kind == TYPE_TENSOR && region_of(e)->whole ? region_of(e)->base : NULL;
}

const struct symbol *structs_array_of(const struct ast *e)
{
    int points = 0;
    const struct ast *object = e;
    for (; !object->bad && (object->kind == AST_MEMBER || (object->kind == AST_INDEX && !object->index.is_shape));
         object = object->kind == AST_MEMBER ? object->member.object : object->index.object)
        for (const struct ast *i = object->kind == AST_INDEX ? object->index.indices : NULL; i; i = i->next, points++)
            if (i->kind != AST_INDEX_POINT) return NULL;
    if (points == 0 || object->bad || object->kind != AST_NAME || !structs_owner(object)) return NULL;
    const struct struct_place *p = structs_place(e);
    if (p) return p->symbol;
    const struct symbol *s = region_of(e) ? region_of(e)->base : NULL;
    const bool is_array = s && s->type->kind == TYPE_TENSOR && !type_is_scalar_array(s->type);
    return is_array && points <= s->type->array_rank ? s : NULL;
}

const char *structs_relation(const struct ast *e)
{
    return !place_of(e) ? "a view of" : e->kind == AST_NAME ? "a second name of" : "a part of";
}

/* ---- the leaves of a name ---------------------------------------------------------------------------------------- */

/* The type of a field of a struct in arrays: t is the type of the name, field that of the struct. */
static const struct type *stacked(struct checker *c, const struct type *t, const struct type *field)
{
    if (t->kind != TYPE_ARRAY) {
        const struct symbol *s = t->structure;
        return derive_type(c, field, (const struct symbol *const *)s->dims, t->extent, s->dim_count);
    }
    return derive_array(c, t->extent[0], stacked(c, t->element, field));
}

static const struct symbol *structure_of(const struct type *t)
{
    while (t->kind == TYPE_ARRAY) t = t->element;
    return t->structure;
}

/* A scalar can be assigned where its struct can be written. */
static enum symbol_kind field_kind(const struct symbol *s, const struct type *t)
{
    bool written =
        s->kind == SYM_LET || s->kind == SYM_VAR || s->dir == DIR_OUT || s->dir == DIR_INOUT || s->dir == DIR_OWN;
    return type_is_scalar(t) && written ? SYM_VAR : s->kind;
}

void structs_declare_fields(struct checker *c, struct symbol *s)
{
    if (!type_is_struct(s->type)) return;
    const struct symbol *structure = structure_of(s->type);
    s->field_count = structure->formal_count;
    s->fields = arena_array(c->mem, struct symbol *, s->field_count + 1);
    for (int i = 0; i < s->field_count; i++) {
        const char *name = arena_printf(c->mem, "%s.%s", s->name, structure->formals[i]->name);
        const struct type *t = stacked(c, s->type, structure->formals[i]->type);
        struct symbol *f = s->fields[i] = names_new(c, field_kind(s, t), intern_str(c->front->names, name), s->decl);
        f->dir = structure->formals[i]->dir == DIR_HOST ? DIR_HOST : s->dir;
        f->type = t;
        f->hidden = s->hidden;
        f->by_reference = type_is_scalar(t) && s->kind == SYM_FORMAL && (s->dir == DIR_OUT || s->dir == DIR_INOUT);
        if (s->place == s) f->place = f;
        structs_declare_fields(c, f);
    }
}

void structs_set_returned(struct symbol *let, struct symbol *place)
{
    let->returned = place != NULL;
    let->place = place;
    for (int i = 0; i < let->field_count; i++) structs_set_returned(let->fields[i], place ? place->fields[i] : NULL);
}

bool structs_names_var(const struct type *t)
{
    for (; t; t = t->element)
        for (int d = 0; d < t->rank; d++)
            if (size_names_var(t->extent[d]) &&
                !(t->extent[d]->kind == SIZE_SYMBOL && t->extent[d]->symbol->decided_name))
                return true; /* and not what the run decides, which is the result's own */
    return false;
}

/* A field that is host, or NULL. */
static const struct symbol *host_field(const struct type *t)
{
    const struct symbol *s = type_is_struct(t) ? structure_of(t) : NULL, *found = NULL;
    for (int i = 0; s && i < s->formal_count && !found; i++)
        found = s->formals[i]->dir == DIR_HOST ? s->formals[i] : host_field(s->formals[i]->type);
    return found;
}

bool structs_can_be_made(struct checker *c, struct span at, const char *name, const struct type *t)
{
    const struct symbol *field = host_field(t);
    if (!field) return true;
    diag_error(c->diag, DIAG_E08, at, "%s would be made here, and nothing writes its field '%s', which is host", name,
               field->name);
    diag_note(c->diag, field->decl->at, "'%s' is declared here", field->name);
    diag_help(c->diag, "a struct with a host field is given to a function: 'in', 'inout' or 'own'");
    return false;
}

bool structs_is_host_field(const struct symbol *s)
{
    return s->dir == DIR_HOST && s->decl && s->decl->kind == AST_FORMAL && s->decl->formal.dir != DIR_HOST;
}

void structs_forget(struct checker *c, struct symbol *s)
{
    for (int i = 0; i < s->field_count; i++) structs_forget(c, s->fields[i]);
    if (s->kind == SYM_VAR && !s->region) values_forget(c, s);
}

/* ---- what an expression names ------------------------------------------------------------------------------------ */

/* The type of p, whose symbol has type t: the dimensions from number k on. */
static const struct type *indexed(struct checker *c, const struct type *t, const struct struct_place *p, int k)
{
    if (k == p->given) return t;
    const struct type *element = indexed(c, t->element, p, k + 1);
    return p->width[k] ? derive_array(c, p->width[k], element) : element;
}

static const struct region *leaf_region(struct checker *c, const struct struct_place *p, struct symbol *leaf)
{
    const struct region *all = leaf->region ? leaf->region : region_whole(c, leaf);
    struct index_range index[MAX_RANK];
    for (int d = 0; d < p->given; d++) index[d] = (struct index_range){.low = p->low[d], .width = p->width[d]};
    return p->given ? region_narrow(c, all, p->given, index) : all;
}

static void set_place(struct checker *c, struct ast *e, const struct struct_place *p)
{
    notes_of(c, e)->place = p;
    e->type = indexed(c, p->symbol->type, p, 0);
}

void structs_name(struct checker *c, struct ast *e, struct symbol *s)
{
    struct struct_place *p = arena_new(c->mem, struct struct_place);
    p->symbol = s;
    e->symbol = s;
    set_place(c, e, p);
}

void structs_member(struct checker *c, struct ast *e, const struct struct_place *object, int field)
{
    struct symbol *f = object->symbol->fields[field];
    struct struct_place *p = arena_new(c->mem, struct struct_place);
    *p = *object;
    p->symbol = f;
    e->symbol = f;
    f->is_named = true;
    if (type_is_struct(f->type)) {
        set_place(c, e, p);
    } else if (f->type->kind == TYPE_TENSOR) {
        const struct region *r = notes_of(c, e)->region = leaf_region(c, p, f);
        e->type = r->rank ? derive_tensor(c, r, f->type->elem, f->type->array_rank - p->given)
                          : derive_element(c, f->type->elem);
    } else {
        e->type = f->type;
        if (f->region)
            notes_of(c, e)->region = f->region;
        else if (f->type->kind == TYPE_INT)
            e->value = size_symbol(c->sizes, f);
    }
}

void structs_index(struct checker *c, struct ast *e, const struct struct_place *object, const struct size *low,
                   const struct size *width)
{
    struct struct_place *p = arena_new(c->mem, struct struct_place);
    int k = 0;
    *p = *object;
    while (k < p->given && !p->width[k]) k++;
    const struct size *sum = k < p->given ? size_binary(c->sizes, SIZE_ADD, p->low[k], low) : low;
    p->low[k] = sum ? sum : low;
    p->width[k] = width;
    if (k == p->given) p->given++;
    set_place(c, e, p);
}

/* ---- a second name ----------------------------------------------------------------------------------------------- */

/* The leaves of `fields` are pieces of those of `from`, of the same type.  let: where sizes that name a var are stored,
 * or NULL. */
static void name_pieces(struct checker *c, struct symbol *let, struct symbol *fields, const struct struct_place *p,
                        const struct symbol *from)
{
    for (int i = 0; i < fields->field_count; i++) {
        struct symbol *f = fields->fields[i], *source = from->fields[i];
        if (type_is_struct(f->type))
            name_pieces(c, let, f, p, source);
        else
            f->region = let ? region_capture_region(c, let, leaf_region(c, p, source)) : leaf_region(c, p, source);
    }
}

void structs_alias(struct checker *c, struct symbol *let, const struct struct_place *p, const struct type *t)
{
    let->alias_of = p->symbol;
    let->type = region_capture_type(c, let, t);
    if (p->given == 0) { /* the very same */
        let->fields = p->symbol->fields;
        let->field_count = p->symbol->field_count;
        return;
    }
    structs_declare_fields(c, let);
    name_pieces(c, let, let, p, p->symbol);
}

void structs_pieces(struct checker *c, struct ast *e)
{
    const struct struct_place *p = structs_place(e);
    e->symbol = p->symbol;
    if (p->given == 0) return;
    struct symbol *s = names_new(c, SYM_LET, p->symbol->name, e);
    s->hidden = true;
    s->alias_of = p->symbol;
    s->type = e->type;
    structs_declare_fields(c, s);
    name_pieces(c, NULL, s, p, p->symbol);
    e->symbol = s;
}

/* ---- leaves of arguments and results ----------------------------------------------------------------------------- */

static int count_leaves(const struct symbol *s)
{
    int count = 0;
    if (!type_is_struct(s->type)) return 1;
    for (int i = 0; i < s->field_count; i++) count += count_leaves(s->fields[i]);
    return count;
}

static void add_leaves(struct checker *c, struct leaf *list, int *count, const struct struct_place *p,
                       struct symbol *from, struct symbol *formal)
{
    if (type_is_struct(formal->type)) {
        for (int i = 0; i < formal->field_count; i++) add_leaves(c, list, count, p, from->fields[i], formal->fields[i]);
        return;
    }
    struct leaf *l = &list[(*count)++];
    l->formal = formal;
    if (from->type->kind == TYPE_TENSOR)
        l->region = leaf_region(c, p, from);
    else if (from->region)
        l->region = from->region;
    else
        l->scalar = from;
}

void structs_leaves(struct checker *c, struct leaves *list, const struct struct_place *p, struct symbol *formal)
{
    list->count = 0;
    list->leaf = arena_array(c->mem, struct leaf, count_leaves(formal) + 1);
    add_leaves(c, list->leaf, &list->count, p, p->symbol, formal);
}
