/* declare.c - the declarations of a file: signatures of kernels, functions and structs, and their order.
 * Idea       a name is looked at when it is first needed, so declarations may stand in any order; one that needs itself
 *            is a circle.
 * Gives      type, value, formals, dims, result of file-level symbols.
 * Tests      test/lit/sema/e12*.pto e16*.pto e17*.pto
 */
#include "checker.h"
#include "support/nearest.h"
#include <string.h>

enum {
    MAX_RESOLVE_DEPTH = 1000, /* one needs the next, and so on: what the stack has room for */
    MAX_FIELDS_IN_ALL = 4096  /* structs of structs double with each level */
};

/* ---- kernels, functions, structs --------------------------------------------------------------------------------- */

static void add_generics(struct checker *c, struct symbol *s, struct ast *generics)
{
    int count = 0;
    for (struct ast *g = generics; g; g = g->next) count++;
    s->dims = arena_array(c->mem, struct symbol *, count + 1);
    for (struct ast *g = generics; g; g = g->next) {
        if (s->dim_count == MAX_FORMALS) {
            diag_error(c->diag, DIAG_E17, g->at, "more than %d dimension variables", MAX_FORMALS);
            notes_bad(s->decl);
            return;
        }
        if (g->generic.elements) {
            generics_declare(c, s, g);
            continue;
        }
        struct symbol *d = names_new(c, SYM_DIM, g->name, g);
        d->type = c->int_;
        d->resolving = 2;
        g->symbol = d;
        s->dims[s->dim_count++] = d;
        names_declare(c, d, g->at);
    }
}

/* The formal's own type and direction. */
static void resolve_formal(struct checker *c, struct symbol *s, struct ast *node, int index)
{
    struct symbol *f = names_new(c, SYM_FORMAL, node->name, node);
    bool kernel = s->kind == SYM_KERNEL;
    f->type = type_nodes_check(c, node->formal.type);
    f->dir = node->formal.dir;
    f->resolving = 2;
    node->symbol = f;
    if (f->type->kind == TYPE_ERROR) {
        notes_bad(s->decl);
    } else if (type_is_scalar(f->type) && !kernel && direction_writes(f->dir) && f->dir != DIR_OWN) {
        f->kind = SYM_VAR; /* the caller's */
        f->by_reference = true;
        if (s->decl->orch.exported) {
            diag_error(c->diag, DIAG_E08, node->formal.dir_at,
                       "'%s' is a scalar of an exported function: it has no '%s'", f->name, direction_text(f->dir));
            diag_help(c->diag, "'%s' may return it, or write it to an 'out' tensor of one element", s->name);
            notes_bad(s->decl);
        } else if (f->dir != DIR_INOUT) {
            diag_error(c->diag, DIAG_E08, node->formal.dir_at, "'%s' is a scalar: it has no '%s'", f->name,
                       direction_text(f->dir));
            diag_fix(c->diag, node->formal.dir_at, "inout", "a function changes its caller's scalar as 'inout'");
            notes_bad(s->decl);
        }
        f->dir = DIR_INOUT;
    } else if (type_is_scalar(f->type)) {
        if (f->dir != DIR_NONE) {
            diag_error(c->diag, DIAG_E08, node->formal.dir_at, "'%s' is a scalar: it has no '%s'", f->name,
                       direction_text(f->dir));
            const struct span behind = {node->at.file, node->formal.type->at.end, node->formal.type->at.end};
            if (kernel && (f->dir == DIR_OUT || f->dir == DIR_INOUT || f->dir == DIR_ACC))
                diag_fix(c->diag, behind, "[1]", "a kernel writes tensors: one number is a tensor of one element");
            else
                diag_fix(c->diag, (struct span){node->at.file, node->formal.dir_at.begin, node->name_at.begin}, "",
                         "remove '%s'", direction_text(f->dir));
            if (kernel && direction_writes(f->dir)) { /* its calls say the same */
                f->type = c->error;
                notes_bad(s->decl);
            }
            f->dir = DIR_NONE;
        }
    } else {
        if (f->dir == DIR_NONE) f->dir = DIR_IN;
        if (kernel && f->type->array_rank) { /* to a kernel an array is the tensor that it is laid out as */
            struct type *flat = arena_new(c->mem, struct type);
            *flat = *f->type;
            flat->array_rank = 0;
            f->type = flat;
        }
        if (f->dir == DIR_ACC && type_is_scalar_array(f->type)) {
            diag_error(c->diag, DIAG_E08, node->formal.dir_at,
                       "'%s' is an array of scalars, which no task writes: it cannot be 'acc'", f->name);
            notes_bad(s->decl);
        }
        if (kernel && (f->dir == DIR_OWN || f->dir == DIR_HOST)) {
            diag_error(c->diag, DIAG_E08, node->formal.dir_at, "'%s' has no meaning in a kernel: it is for functions",
                       direction_text(f->dir));
            notes_bad(s->decl);
        }
        if (kernel && type_is_struct(f->type)) {
            diag_error(c->diag, DIAG_E02, node->at, "a kernel takes tensors and scalars, not %s", type_str(c, f->type));
            diag_help(c->diag, "give it a formal for each field, and pass the fields: k(%s.a, %s.b)", f->name, f->name);
            notes_bad(s->decl);
        }
        if (structs_names_var(f->type)) {
            diag_error(c->diag, DIAG_E19, node->formal.type->at,
                       "an extent of '%s' names a scalar that '%s' may change", f->name, s->name);
            notes_bad(s->decl);
        }
        const char *quoted = arena_printf(c->mem, "'%s'", f->name);
        if (!kernel && f->dir == DIR_OUT && !structs_can_be_made(c, node->name_at, quoted, f->type)) notes_bad(s->decl);
        if (!kernel) structs_declare_fields(c, f);
    }
    s->formals[index] = f;
    if (node->formal.by) accumulators_check(c, s, f, node);
    names_declare(c, f, node->name_at);
}

/* The formals and the scratch tensors, as they stand in the declaration. */
static void add_declared(struct checker *c, struct symbol *s, struct ast *formals, int count)
{
    s->declared = arena_array(c->mem, struct symbol *, count + 1);
    for (struct ast *f = formals; f; f = f->next) s->declared[s->declared_count++] = f->symbol;
}

static void add_formals(struct checker *c, struct symbol *s, struct ast *formals)
{
    int count = 0, scratch = 0;
    for (struct ast *f = formals; f; f = f->next) count++;
    s->formals = arena_array(c->mem, struct symbol *, count + 1);
    if (count > MAX_FORMALS) {
        diag_error(c->diag, DIAG_E17, s->decl->name_at, "'%s' has %d formals: at most %d are possible", s->name, count,
                   MAX_FORMALS);
        if (s->kind == SYM_ORCH) diag_help(c->diag, "a struct is one formal, whatever it has in it");
        notes_bad(s->decl);
        return;
    }
    /* Scalars may stand in the extents of any formal: they come first. */
    for (int scalars = 1; scalars >= 0; scalars--) {
        int i = 0;
        for (struct ast *f = formals; f; f = f->next, i++) {
            const struct ast *t = f->formal.type;
            if (f->formal.dir == DIR_SCRATCH) {
                i--;
                if (scalars == 0) scratch_declare(c, s, f), scratch++;
                continue;
            }
            bool scalar = t->kind == AST_TYPE_NAME && !t->type_name.dims && !t->type_name.module &&
                          elem_named(t->name) != ELEM_NONE;
            if (scalar == (scalars == 1)) resolve_formal(c, s, f, i);
        }
    }
    s->formal_count = count - scratch;
    add_declared(c, s, formals, count);
}

/* Does the extent determine one more dimension variable: all but one of those in it are known, and it is linear in
 * that one? */
static bool determines(struct checker *c, struct symbol *s, const struct size *extent, bool *known)
{
    int open = -1;
    for (int i = 0; i < s->dim_count; i++)
        if (!known[i] && size_names(extent, s->dims[i])) open = open < 0 ? i : s->dim_count;
    if (open < 0 || open == s->dim_count) return false;
    const struct size *factor, *rest;
    return (known[open] = size_is_linear(c->sizes, extent, s->dims[open], &factor, &rest));
}

/* Names of machines that other languages have, which are no spelling of ours. */
static bool is_machine(const char *worker)
{
    static const char *const machines[] = {"gpu", "npu", "tpu", "dpu", "device", "host", "core"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strcmp(machines[i], worker) == 0) return true;
    return false;
}

static void check_dims_bound(struct checker *c, struct symbol *s)
{
    bool known[MAX_FORMALS] = {false}, changed = true;
    while (changed) {
        changed = false;
        for (int f = 0; f < s->formal_count; f++)
            for (const struct type *t = s->formals[f]->type; t; t = t->element)
                for (int d = 0; d < t->rank; d++) changed |= determines(c, s, t->extent[d], known);
    }
    for (int i = 0; i < s->dim_count; i++) {
        if (known[i] || s->decl->bad || s->dims[i]->type->kind == TYPE_ERROR) continue;
        diag_error(c->diag, DIAG_E04, s->dims[i]->decl->at, "no formal of '%s' has an extent that determines '%s'",
                   s->name, s->dims[i]->name);
        diag_help(c->diag, "an extent determines it if it is '%s', or '%s' times a known factor, plus known terms",
                  s->dims[i]->name, s->dims[i]->name);
        notes_bad(s->decl);
    }
}

static void resolve_kernel(struct checker *c, struct symbol *s)
{
    static const char *const workers[] = {
#define PTO_WORKER(id, name) name,
#include <pto/workers.def>
#undef PTO_WORKER
    };
    enum { WORKERS = sizeof workers / sizeof *workers };
    struct ast *d = s->decl;
    add_generics(c, s, d->kernel->generics);
    add_formals(c, s, d->kernel->formals);
    if (!d->bad) check_dims_bound(c, s);
    bool known = !d->kernel->worker;
    for (size_t i = 0; i < WORKERS && !known; i++) known = strcmp(workers[i], d->kernel->worker) == 0;
    if (!known) {
        diag_error(c->diag, DIAG_E12, d->kernel->worker_at, "unknown worker '%s'", d->kernel->worker);
        const char *near = is_machine(d->kernel->worker) ? NULL : nearest_word(d->kernel->worker, workers, WORKERS);
        if (near) diag_fix(c->diag, d->kernel->worker_at, near, "did you mean '%s'?", near);
        diag_help(c->diag,
                  "workers are cube for products of matrices, vector for elements, cpu for anything, and accel for "
                  "work requests (@opcode)");
    }
    for (struct ast *r = d->kernel->repeated; r; r = r->next)
        diag_error(c->diag, DIAG_E17, r->at, "kernel '%s' has this attribute twice", s->name);
    if (d->kernel->cost) {
        const struct type *t = exprs_check(c, d->kernel->cost, AS_VALUE);
        if (!d->kernel->cost->bad && t->kind != TYPE_INT && t->kind != TYPE_F64 && t->kind != TYPE_F32)
            diag_error(c->diag, DIAG_E02, d->kernel->cost->at, "a cost is a number, not %s", type_str(c, t));
        struct constant known;
        if (t->kind != TYPE_BOOL && consteval(c, d->kernel->cost, &known) && !(constant_as(&known, t) >= 0))
            diag_error(c->diag, DIAG_E15, d->kernel->cost->at, "the cost %.9g is not 0 or more",
                       constant_as(&known, t));
    }
    for (struct ast *w = d->kernel->where; w; w = w->next) exprs_condition(c, w);
    if (!d->bad) written_check(c, s);
    const bool has_body = d->kernel->has_body || d->kernel->block;
    if (has_body && d->kernel->extern_name) {
        diag_error(c->diag, DIAG_E17, d->kernel->extern_name->at, "kernel '%s' has a body, so it cannot be 'extern'",
                   s->name);
    }
    if (!d->bad && !has_body) library_check(c, s);
    if (d->attrs) requests_check(c, s);
    if (!d->bad) generics_check(c, s);
    if (d->kernel->has_body && !d->bad) kernel_body_check(c, s);
    if (d->kernel->block && !d->bad && s->elem_count > 0) generics_check_instances(c, s);
    if (d->kernel->block && !d->bad && s->elem_count == 0) equations_check(c, s);
}

/* A caller of an export gives what it returns by the name `result`. */
static void check_result_name(struct checker *c, const struct symbol *orch)
{
    for (struct ast *f = orch->decl->orch.formals; f && orch->decl->orch.exported; f = f->next) {
        if (strcmp(f->name, "result") != 0) continue;
        diag_error(c->diag, DIAG_E16, f->name_at, "'result' is what the export '%s' returns: a caller names both so",
                   orch->name);
        diag_help(c->diag, "give the formal another name");
        notes_bad(orch->decl);
    }
}

static void resolve_orch(struct checker *c, struct symbol *s)
{
    struct ast *d = s->decl;
    add_generics(c, s, d->orch.generics);
    add_formals(c, s, d->orch.formals);
    written_refuse(c, s);
    struct symbol *place = names_new(c, SYM_FORMAL, intern_str(c->front->names, "result"), NULL);
    c->deciding = place;
    s->result = d->orch.result ? type_nodes_check(c, d->orch.result) : c->void_;
    c->deciding = NULL;
    if (s->result->kind == TYPE_ERROR) notes_bad(d);
    if (!structs_can_be_made(c, d->orch.result ? d->orch.result->at : d->at, "the result", s->result)) notes_bad(d);
    if (structs_names_var(s->result)) {
        diag_error(c->diag, DIAG_E19, d->orch.result->at, "an extent of the result names a scalar that '%s' may change",
                   s->name);
        notes_bad(d);
    }
    if (s->result->kind == TYPE_TENSOR || type_is_struct(s->result)) {
        s->result_place = place;
        place->type = s->result;
        place->dir = DIR_OUT;
        place->hidden = true;
        place->place = place;
        structs_declare_fields(c, place);
        check_result_name(c, s);
    }
    if (!d->bad) check_dims_bound(c, s);
    if (d->attrs) grads_check(c, s);
}

static void resolve_struct(struct checker *c, struct symbol *s)
{
    struct ast *d = s->decl;
    add_generics(c, s, d->structure.generics);
    int count = 0;
    for (struct ast *f = d->structure.fields; f; f = f->next) count++;
    s->formals = arena_array(c->mem, struct symbol *, count + 1);
    if (count > MAX_FORMALS) {
        diag_error(c->diag, DIAG_E17, d->name_at, "struct '%s' has more than %d fields", s->name, MAX_FORMALS);
        notes_bad(d);
        return;
    }
    for (struct ast *f = d->structure.fields; f; f = f->next) {
        struct symbol *field = names_new(c, SYM_FORMAL, f->name, f);
        bool was_bad = d->bad;
        field->type = type_nodes_check(c, f->formal.type);
        /* said while looking at the type */
        if (d->bad && !was_bad) diag_note(c->diag, f->at, "in its field '%s'", f->name);
        if (field->type->kind == TYPE_ERROR) notes_bad(d);
        if (f->formal.dir == DIR_HOST && field->type->kind == TYPE_TENSOR) {
            field->dir = DIR_HOST;
        } else if (f->formal.dir == DIR_HOST && field->type->kind != TYPE_ERROR) {
            diag_error(c->diag, DIAG_E08, f->formal.dir_at, "'%s' is no tensor: it has no 'host'", f->name);
            diag_fix(c->diag, (struct span){f->at.file, f->formal.dir_at.begin, f->name_at.begin}, "", "remove 'host'");
            notes_bad(d);
        }
        for (int i = 0; i < s->formal_count; i++)
            if (s->formals[i]->name == f->name)
                diag_error(c->diag, DIAG_E16, f->name_at, "struct '%s' has two fields '%s'", s->name, f->name);
        s->formals[s->formal_count++] = field;
        s->fields_in_all += field->type->kind == TYPE_STRUCT ? field->type->structure->fields_in_all : 1;
        if (s->fields_in_all > MAX_FIELDS_IN_ALL && !d->bad) {
            diag_error(c->diag, DIAG_E17, f->name_at,
                       "struct '%s' has more than %d fields, those of its structs counted", s->name, MAX_FIELDS_IN_ALL);
            notes_bad(d);
        }
        f->symbol = field;
    }
}

/* Two kernels of one name differ by the element types of their tensors, and by nothing else. */
void declare_check_overloads(struct checker *c, const struct symbol *first)
{
    for (const struct symbol *a = first; a; a = a->next_overload)
        for (const struct symbol *b = first; b != a; b = b->next_overload) {
            bool same_shape = a->formal_count == b->formal_count, same_elems = true;
            for (int i = 0; i < a->formal_count && same_shape; i++) {
                const struct type *x = a->formals[i]->type, *y = b->formals[i]->type;
                same_shape = x->kind == TYPE_ERROR || y->kind == TYPE_ERROR ||
                             ((type_is_scalar(x) ? type_is_scalar(y) : x->kind == y->kind && x->rank == y->rank) &&
                              a->formals[i]->dir == b->formals[i]->dir);
                same_elems &= x->kind != TYPE_TENSOR || !generics_differ(x, y);
            }
            if (same_shape && !same_elems) continue;
            diag_error(c->diag, DIAG_E16, a->decl->name_at,
                       same_shape ? "kernel '%s' is declared twice with the same element types"
                                  : "kernels '%s' must differ by element types, and by nothing else",
                       a->name);
            diag_note(c->diag, b->decl->name_at, "the other '%s' is here", b->name);
            return;
        }
}

/* ---- when a name is first needed --------------------------------------------------------------------------------- */

static void resolve_now(struct checker *c, struct symbol *s)
{
    names_push(c, NULL);
    switch (s->kind) {
    case SYM_CONST: constants_const(c, s); break;
    case SYM_PARAM: constants_param(c, s); break;
    case SYM_STRUCT: resolve_struct(c, s); break;
    case SYM_KERNEL: resolve_kernel(c, s); break;
    case SYM_ORCH: resolve_orch(c, s); break;
    default: break;
    }
    names_pop(c);
    /* Of a kernel, function or struct the type only says whether it can be used. */
    if (s->kind >= SYM_STRUCT) s->type = s->decl->bad ? c->error : c->void_;
}

void declare_resolve(struct checker *c, struct symbol *s)
{
    if (s->resolving == 2) return;
    if (s->resolving == 1) {
        if (s->kind != SYM_KERNEL && s->kind != SYM_ORCH) {
            diag_error(c->diag, DIAG_E16, s->decl->name_at,
                       s->kind == SYM_STRUCT ? "struct '%s' contains itself" : "'%s' is defined by itself", s->name);
            s->decl->bad = true;
            s->resolving = 2;
        }
        return;
    }
    if (c->resolve_depth == MAX_RESOLVE_DEPTH) {
        diag_error(c->diag, DIAG_E16, s->decl->name_at,
                   "'%s' stands at the end of %d declarations that need each other: declare it before them", s->name,
                   MAX_RESOLVE_DEPTH);
        s->decl->bad = true;
        s->resolving = 2;
        return;
    }
    struct checker saved = *c;
    c->resolve_depth++;
    s->resolving = 1;
    c->module = s->module;
    c->scope = NULL;
    c->function = NULL;
    c->checks = NULL;
    c->loop_depth = 0;
    c->head = s->kind == SYM_KERNEL || s->kind == SYM_ORCH ? s : NULL;
    c->deciding = NULL;
    resolve_now(c, s);
    s->resolving = 2;
    c->head = saved.head;
    c->deciding = saved.deciding;
    c->module = saved.module;
    c->scope = saved.scope;
    c->function = saved.function;
    c->checks = saved.checks;
    c->loop_depth = saved.loop_depth;
    c->resolve_depth--;
}

struct symbol *declare_lookup(struct checker *c, const char *name)
{
    struct symbol *s = names_in_scope(c, name);
    if (s) return s;
    if ((s = names_in_module(c->module, name))) declare_resolve(c, s);
    return s;
}

void declare_body_scope(struct checker *c, struct symbol *s)
{
    names_push(c, NULL);
    for (int i = 0; i < s->dim_count; i++) names_add(c->scope, s->dims[i]);
    for (int i = 0; i < s->formal_count; i++) names_add(c->scope, s->formals[i]);
}
