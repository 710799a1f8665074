/* generics.c - generic kernels: `kernel axpy<E: float, N>(...)` stands for a kernel for each element type.
 * Idea       the head is checked once, with E in the place of the type; an instance is the same symbol with a type put
 *            in.  It shares the declaration, the dimension variables and the scalars, which do not depend on types.
 * Gives      instances, in the order of their element types, so nothing depends on which call comes first.
 * Invariant  one instance for the same types; `next_overload` of an instance is NULL, and no call means the generic
 *            kernel itself unless the number of its arguments is wrong.
 * Tests      test/lit/sema/generics*.pto, test/lit/codegen/generics.pto, test/lit/run/generics.test
 */
#include "matching.h"
#include "support/nearest.h"
#include "syntax/c_text.h"
#include <string.h>

#define SET(first, last) ((2u << (last)) - (1u << (first)))

static const struct {
    const char *name;
    unsigned set;
} classes[] = {
    {"float", SET(ELEM_F16, ELEM_F64)},
    {"int", SET(ELEM_I8, ELEM_U64)},
    {"number", SET(ELEM_F16, ELEM_U64)},
    {"any", SET(ELEM_F16, ELEM_BOOL)},
};
enum { CLASSES = sizeof classes / sizeof *classes };

/* ---- the head of a generic kernel -------------------------------------------------------------------------------- */

static bool find_class(struct checker *c, const struct ast *generic, unsigned *set)
{
    const char *names[CLASSES];
    for (int i = 0; i < CLASSES; i++) {
        names[i] = classes[i].name;
        if (strcmp(classes[i].name, generic->generic.elements) != 0) continue;
        *set = classes[i].set;
        return true;
    }
    diag_error(c->diag, DIAG_E01, generic->generic.elements_at, "unknown class of element types '%s'",
               generic->generic.elements);
    const char *near = nearest_word(generic->generic.elements, names, CLASSES);
    if (near)
        diag_fix(c->diag, generic->generic.elements_at, near, "did you mean '%s'?", near);
    else
        diag_help(c->diag, "the classes are float, int, number and any");
    return false;
}

void generics_declare(struct checker *c, struct symbol *s, struct ast *generic)
{
    unsigned set = 0;
    if (s->kind != SYM_KERNEL) {
        diag_error(c->diag, DIAG_E19, generic->at, "only a kernel has element types: '%s' is a %s", s->name,
                   s->kind == SYM_ORCH ? "function" : "struct");
        diag_help(c->diag, "a dimension variable has no class: write '%s'", generic->name);
    } else if (elem_named(generic->name)) {
        diag_error(c->diag, DIAG_E16, generic->at, "'%s' is an element type: it cannot be the name of another",
                   generic->name);
    } else if (s->elem_count == MAX_FORMALS) {
        diag_error(c->diag, DIAG_E17, generic->at, "more than %d element types", MAX_FORMALS);
    } else {
        find_class(c, generic, &set);
    }
    struct symbol *v = generic->symbol = names_new(c, SYM_ELEM, generic->name, generic);
    v->type = c->void_;
    v->elem_set = set;
    v->resolving = 2;
    names_declare(c, v, generic->at); /* in error, too: its uses raise no message */
    if (!set) {
        notes_bad(s->decl);
        return;
    }
    if (!s->elems) s->elems = arena_array(c->mem, struct symbol *, MAX_FORMALS);
    s->elems[s->elem_count++] = v;
}

/* The element type whose name follows the `$` at `text`: the longest.  -1: there is none. */
static int variable_after(const struct symbol *kernel, const char *text)
{
    int found = -1;
    size_t longest = 0;
    for (int i = 0; i < kernel->elem_count; i++) {
        size_t length = strlen(kernel->elems[i]->name);
        if (length <= longest || strncmp(text + 1, kernel->elems[i]->name, length) != 0) continue;
        found = i;
        longest = length;
    }
    return found;
}

/* A C function for each instance: its symbol has all of their types in it. */
static void check_symbol(struct checker *c, const struct symbol *kernel)
{
    const struct kernel_ast *k = kernel->decl->kernel;
    bool named[MAX_FORMALS] = {false};
    if (k->has_body || k->block || kernel->opcode) return;
    for (const char *at = k->extern_name ? k->extern_name->string.text : ""; (at = strchr(at, '$')); at++) {
        int i = variable_after(kernel, at);
        if (i >= 0) {
            named[i] = true;
            continue;
        }
        diag_error(c->diag, DIAG_E12, k->extern_name->at, "behind '$' stands an element type of '%s', such as '$%s'",
                   kernel->name, kernel->elems[0]->name);
        notes_bad(kernel->decl);
        return;
    }
    for (int i = 0; i < kernel->elem_count; i++) {
        const char *name = kernel->elems[i]->name;
        if (named[i]) continue;
        diag_error(c->diag, DIAG_E12, k->extern_name ? k->extern_name->at : kernel->decl->name_at,
                   "'%s' needs a C function for each '%s': its symbol must name the type, as '$%s'", kernel->name, name,
                   name);
        diag_help(c->diag, "extern \"%s_$%s\" means '%s_f32' where '%s' is f32", kernel->name, name, kernel->name,
                  name);
        notes_bad(kernel->decl);
        return;
    }
}

void generics_check(struct checker *c, struct symbol *kernel)
{
    for (int i = 0; i < kernel->elem_count; i++) {
        bool is_used = false;
        for (int f = 0; f < kernel->formal_count; f++)
            is_used |= kernel->formals[f]->type->variable == kernel->elems[i];
        if (is_used) continue;
        diag_error(c->diag, DIAG_E02, kernel->elems[i]->decl->at, "no formal of '%s' has elements of type '%s'",
                   kernel->name, kernel->elems[i]->name);
        diag_help(c->diag, "a formal of '%s[N]' determines it; a dimension variable has no class",
                  kernel->elems[i]->name);
        notes_bad(kernel->decl);
    }
    if (kernel->elem_count && !kernel->decl->bad) check_symbol(c, kernel);
}

/* ---- overloads --------------------------------------------------------------------------------------------------- */

static const char *class_name(unsigned set)
{
    for (int i = 0; i < CLASSES; i++)
        if (classes[i].set == set) return classes[i].name;
    return "any";
}

const char *generics_elements(struct checker *c, const struct type *t)
{
    if (!t->variable) return elem_name(t->elem);
    return arena_printf(c->mem, "%s (%s)", t->variable->name, class_name(t->variable->elem_set));
}

bool generics_differ(const struct type *a, const struct type *b)
{
    if (!a->variable != !b->variable) return true;
    return a->variable ? (a->variable->elem_set & b->variable->elem_set) == 0 : a->elem != b->elem;
}

/* ---- the element types of a call --------------------------------------------------------------------------------- */

struct binding {
    enum elem elem[MAX_FORMALS];
    const struct ast *from[MAX_FORMALS]; /* the argument that says so; NULL: the place of the result */
};

static int index_of(const struct symbol *generic, const struct symbol *variable)
{
    int i = 0;
    while (generic->elems[i] != variable) i++;
    return i;
}

static enum elem element_of(const struct ast *v)
{
    if (v->bad) return ELEM_NONE;
    if (v->type->kind == TYPE_TENSOR || v->type->kind == TYPE_GRID) return v->type->elem;
    return notes_is_element(v) ? region_of(v)->base->type->elem : ELEM_NONE; /* said later: its rank is wrong */
}

static bool fail_class(struct checker *c, struct span at, const struct symbol *generic, int i, enum elem got)
{
    const struct symbol *v = generic->elems[i];
    diag_error(c->diag, DIAG_E02, at, "'%s' of '%s' is any %s: %s is none", v->name, generic->name,
               class_name(v->elem_set), elem_name(got));
    diag_note(c->diag, v->decl->at, "'%s' is declared here", v->name);
    return false;
}

static bool bind(struct checker *c, struct binding *b, const struct symbol *generic, const struct type *want,
                 enum elem got, const struct ast *from, struct span at, bool quiet)
{
    if (got == ELEM_NONE) return true;
    if (!want->variable) return !quiet || want->kind != TYPE_TENSOR || want->elem == got;
    int i = index_of(generic, want->variable);
    if (!(want->variable->elem_set >> got & 1)) return !quiet && fail_class(c, at, generic, i, got);
    if (b->elem[i] == ELEM_NONE) {
        b->elem[i] = got;
        b->from[i] = from;
        return true;
    }
    if (b->elem[i] == got) return true;
    if (quiet) return false;
    diag_error(c->diag, DIAG_E02, at, "the elements are %s here, but '%s' of '%s' is %s", elem_name(got),
               want->variable->name, generic->name, elem_name(b->elem[i]));
    diag_note(c->diag, b->from[i]->at, "'%s' is %s by this argument", want->variable->name, elem_name(b->elem[i]));
    return false;
}

static bool say_unbound(struct checker *c, const struct ast *e, const struct symbol *generic, int i, int skip)
{
    const struct symbol *v = generic->elems[i];
    int given = 0;
    for (const struct ast *a = e->call.args; a; a = a->next, given++) {
        const struct symbol *formal = generic->formals[callee_formal_of(given, skip)];
        if (formal->type->variable != v) continue;
        if (a->arg.value->bad) return false;
        diag_error(c->diag, DIAG_E02, a->arg.value->at, "argument '%s' of '%s' is %s here, expected %s", formal->name,
                   generic->name, type_str(c, a->arg.value->type), type_str(c, formal->type));
        diag_note(c->diag, formal->decl->at, "'%s' is declared here", formal->name);
        return false;
    }
    diag_error(c->diag, DIAG_E02, e->at, "nothing here determines the element type '%s' of '%s'", v->name,
               generic->name);
    diag_help(c->diag, "give the result a place with a type: let t: f32[N] = %s;", place_str(c, e));
    return false;
}

static bool bind_all(struct checker *c, struct binding *b, struct ast *e, const struct symbol *generic, int skip,
                     const struct target *target, bool quiet)
{
    int given = 0;
    for (struct ast *a = e->call.args; a; a = a->next, given++) {
        const struct ast *v = a->arg.value;
        const struct type *want = generic->formals[callee_formal_of(given, skip)]->type;
        if (!bind(c, b, generic, want, element_of(v), v, v->at, quiet)) return false;
    }
    const struct type *place = target ? target->type ? target->type : target->declared : NULL;
    if (skip >= 0 && place && place->kind == TYPE_TENSOR &&
        !bind(c, b, generic, generic->formals[skip]->type, place->elem, NULL, target->place ? target->place->at : e->at,
              quiet))
        return false;
    for (int i = 0; i < generic->elem_count; i++)
        if (b->elem[i] == ELEM_NONE) return quiet ? false : say_unbound(c, e, generic, i, skip);
    return true;
}

/* ---- instances --------------------------------------------------------------------------------------------------- */

/* "axpy<f32>", for messages; a name in C is made of it. */
static const char *instance_name(struct front *front, const struct symbol *generic, const enum elem *elem)
{
    const char *name = arena_printf(front->mem, "%s<%s", generic->name, elem_name(elem[0]));
    for (int i = 1; i < generic->elem_count; i++) name = arena_printf(front->mem, "%s,%s", name, elem_name(elem[i]));
    return intern_str(front->names, arena_printf(front->mem, "%s>", name));
}

/* The symbol of the C function: "pto_axpy_$E" with the types put in. */
static const char *external_name(struct front *front, const struct symbol *generic, const enum elem *elem)
{
    const struct kernel_ast *k = generic->decl->kernel;
    if (k->has_body || k->block || generic->opcode) return NULL;
    STRBUF(b);
    for (const char *at = k->extern_name->string.text; *at; at++) {
        int i = *at == '$' ? variable_after(generic, at) : -1;
        if (i < 0) {
            strbuf_putc(&b, *at);
            continue;
        }
        strbuf_puts(&b, elem_name(elem[i]));
        at += strlen(generic->elems[i]->name);
    }
    return arena_copy(front->mem, strbuf_text(&b), b.length);
}

static struct symbol *make_formal(struct front *front, struct symbol *of, const struct symbol *generic,
                                  const enum elem *elem)
{
    if (!of->type->variable) return of;
    struct symbol *f = arena_new(front->mem, struct symbol);
    struct type *t = arena_new(front->mem, struct type);
    *f = *of;
    *t = *of->type;
    t->elem = elem[index_of(generic, t->variable)];
    t->variable = NULL;
    f->type = t;
    return f;
}

static struct symbol *make(struct front *front, const struct symbol *generic, const enum elem *elem)
{
    struct symbol *s = arena_new(front->mem, struct symbol);
    *s = *generic;
    s->name = instance_name(front, generic, elem);
    s->generic = generic;
    s->next_overload = s->instances = s->next_instance = NULL;
    s->elems = NULL;
    s->elem_count = 0;
    s->bound = arena_array(front->mem, enum elem, generic->elem_count);
    memcpy(s->bound, elem, (size_t)generic->elem_count * sizeof *s->bound);
    s->external = external_name(front, generic, elem);
    s->declared = arena_array(front->mem, struct symbol *, generic->declared_count + 1);
    s->formals = arena_array(front->mem, struct symbol *, generic->formal_count + 1);
    for (int i = 0, f = 0; i < generic->declared_count; i++) {
        s->declared[i] = make_formal(front, generic->declared[i], generic, elem);
        if (s->declared[i]->dir != DIR_SCRATCH) s->formals[f++] = s->declared[i];
    }
    return s;
}

struct symbol *sema_instance(struct front *front, struct symbol *generic, const enum elem *elem)
{
    const size_t bytes = (size_t)generic->elem_count * sizeof *elem;
    struct symbol **at = &generic->instances;
    while (*at && memcmp((*at)->bound, elem, bytes) < 0) at = &(*at)->next_instance;
    if (*at && memcmp((*at)->bound, elem, bytes) == 0) return *at;
    struct symbol *s = make(front, generic, elem);
    s->next_instance = *at;
    return *at = s;
}

/* The next choice of element types, as a number counts; false: there is none. */
static bool next_choice(const struct symbol *generic, enum elem *elem)
{
    for (int i = generic->elem_count; i-- > 0;) {
        while (++elem[i] <= ELEM_BOOL)
            if (generic->elems[i]->elem_set >> elem[i] & 1) return true;
        elem[i] = ELEM_NONE;
        while (!(generic->elems[i]->elem_set >> elem[i] & 1)) elem[i]++;
    }
    return false;
}

void generics_check_instances(struct checker *c, struct symbol *generic)
{
    enum { MOST = 200 }; /* of several variables there are too many to look at: those that are called are checked */
    enum elem elem[MAX_FORMALS] = {ELEM_NONE};
    int tries = 0;
    for (int i = 0; i < generic->elem_count; i++)
        while (!(generic->elems[i]->elem_set >> elem[i] & 1)) elem[i]++;
    do {
        struct symbol *s =
            make(c->front, generic, elem); /* for the checks alone: those that are called are in the list */
        equations_check(c, s);
        if (!generic->decl->bad) continue;
        diag_note(c->diag, generic->decl->name_at, "in '%s'", s->name);
    } while (!generic->decl->bad && ++tries < MOST && next_choice(generic, elem));
}

/* C has no bf16, so a body that computes with E would compute with the integers that hold it. */
static bool is_possible(struct checker *c, const struct ast *e, const struct symbol *generic, const struct binding *b)
{
    for (int i = 0; i < generic->elem_count && generic->decl->kernel->has_body; i++) {
        if (b->elem[i] != ELEM_BF16) continue;
        const struct symbol *v = generic->elems[i];
        diag_error(c->diag, DIAG_E12, b->from[i] ? b->from[i]->at : e->at,
                   "'%s' has a C body, and C has no bf16: '%s' cannot be bf16", generic->name, v->name);
        diag_note(c->diag, v->decl->at, "'%s' is declared here", v->name);
        diag_help(c->diag, "declare a kernel '%s' for bf16 alone: in its body the elements are uint16_t",
                  generic->name);
        return false;
    }
    return true;
}

struct symbol *generics_instance(struct checker *c, struct ast *e, struct symbol *generic, int count,
                                 const struct target *target, bool quiet)
{
    struct binding b = {0};
    int skip = target ? callee_out_formal(generic) : -1;
    if (generic->decl->bad) return quiet ? NULL : generic;
    if (count != generic->formal_count - (skip >= 0) || (target && skip < 0)) return generic;
    if (!bind_all(c, &b, e, generic, skip, target, quiet) || !is_possible(c, e, generic, &b)) return NULL;
    struct symbol *s = sema_instance(c->front, generic, b.elem);
    if (s->decl->kernel->block && !s->equations && !s->decl->bad) {
        const struct checker outer = *c;
        c->module = s->module;
        c->scope = NULL;
        c->function = NULL;
        declare_body_scope(c, s);
        equations_check(c, s);
        names_pop(c);
        c->module = outer.module;
        c->scope = outer.scope;
        c->function = outer.function;
    }
    return s;
}
