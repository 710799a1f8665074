/* declare.c - what the names of a file are: types, constants, signatures.
 * Idea       a name is looked at when it is first needed, so declarations may stand in any order; one that needs itself
 *            is a circle.
 * Gives      type, value, formals, dims, result of file-level symbols.
 * Tests      test/lit/sema/e12*.pto e15-constants.pto e16*.pto e17*.pto
 */
#include "syntax/c_text.h"
#include "checker.h"
#include "support/nearest.h"
#include <stdlib.h>
#include <string.h>

enum {
    MAX_RESOLVE_DEPTH = 1000, /* one needs the next, and so on: what the stack has room for */
    MAX_FIELDS_IN_ALL = 4096  /* structs of structs double with each level */
};

/* ---- types ------------------------------------------------------------------------------------------------------- */

static const struct type *fail(struct checker *c, struct ast *e)
{
    e->bad = true;
    return e->type = c->error;
}

static enum elem elem_of(const char *name)
{
    for (enum elem e = ELEM_F16; e <= ELEM_BOOL; e++)
        if (strcmp(elem_name(e), name) == 0) return e;
    return ELEM_NONE;
}

static bool check_bytes(struct checker *c, const struct type *t, struct span at)
{
    const struct size *bytes = size_const(c->sizes, elem_bytes(t->elem));
    for (int d = 0; d < t->rank; d++)
        if (!(bytes = size_binary(c->sizes, SIZE_MUL, bytes, t->extent[d]))) {
            diag_error(c->diag, DIAG_E15, at, "the number of bytes does not fit in 64 bits");
            return false;
        }
    return true;
}

static bool read_extents(struct checker *c, struct ast *dims, struct type *t)
{
    bool good = true;
    for (struct ast *d = dims; d; d = d->next) {
        int64_t value;
        const struct size *extent = exprs_int(c, d, "an extent");
        if (!extent)
            good = false;
        else if (size_is_const(extent, &value) && value < 0) {
            diag_error(c->diag, DIAG_E15, d->at, "the extent %lld is negative", (long long)value);
            good = false;
        }
        if (t->rank == MAX_RANK) {
            diag_error(c->diag, DIAG_E03, d->at, "more than %d dimensions", MAX_RANK);
            return false;
        }
        t->extent[t->rank++] = extent;
    }
    return good && (t->kind != TYPE_TENSOR || check_bytes(c, t, dims->at));
}

static const struct type *scalar_type(struct checker *c, struct ast *node, enum elem e)
{
    switch (e) {
    case ELEM_I64: return node->type = c->int_;
    case ELEM_F64: return node->type = c->f64;
    case ELEM_F32: return node->type = c->f32;
    case ELEM_BOOL: return node->type = c->bool_;
    default:
        diag_error(c->diag, DIAG_E02, node->at, "a scalar is i64, f64, f32 or bool, not %s", elem_name(e));
        return fail(c, node);
    }
}

static struct symbol *find_struct(struct checker *c, struct ast *node)
{
    const char *module = node->type_name.module;
    struct symbol *m = module ? names_lookup(c, module) : NULL, *s = NULL;
    if (module && (!m || m->kind != SYM_MODULE)) {
        names_unknown(c, node->type_name.module_at, module, "module", NULL);
        return NULL;
    }
    if (m) {
        m->is_named = true;
        if (!m->target) return NULL;
        if ((s = names_in_module(m->target, node->name))) declare_resolve(c, s);
    } else {
        s = names_lookup(c, node->name);
    }
    if (s && s->kind == SYM_STRUCT) return s;
    if (s) {
        diag_error(c->diag, DIAG_E19, node->name_at, "'%s' is not a type", node->name);
        return NULL;
    }
    names_unknown(c, node->name_at, node->name, "type", m ? m->target : NULL);
    return NULL;
}

/* The most dimensions that a tensor has which is somewhere in t. */
static int deepest(const struct type *t)
{
    int most = t->kind == TYPE_TENSOR ? t->rank : 0;
    if (t->kind == TYPE_ARRAY) return 1 + deepest(t->element);
    for (int i = 0; t->kind == TYPE_STRUCT && i < t->structure->formal_count; i++) {
        int depth = deepest(t->structure->formals[i]->type);
        if (depth > most) most = depth;
    }
    return most;
}

const struct type *declare_array_of(struct checker *c, const struct size *length, const struct type *element)
{
    struct type *t = arena_new(c->mem, struct type);
    if (element->kind == TYPE_STRUCT || element->kind == TYPE_ARRAY) {
        t->kind = TYPE_ARRAY;
        t->rank = 1;
        t->element = element;
    } else {
        static const enum elem elems[] = {
            [TYPE_INT] = ELEM_I64, [TYPE_F64] = ELEM_F64, [TYPE_F32] = ELEM_F32, [TYPE_BOOL] = ELEM_BOOL};
        t->kind = TYPE_TENSOR;
        t->elem = element->kind == TYPE_TENSOR ? element->elem : elems[element->kind];
        t->rank = element->rank + 1;
        t->array_rank = element->array_rank + 1;
        for (int d = 0; d < element->rank; d++) t->extent[d + 1] = element->extent[d];
    }
    t->extent[0] = length;
    return t;
}

static const struct type *array_type(struct checker *c, struct ast *node)
{
    const struct size *length = exprs_int(c, node->type_array.length, "the length of an array");
    const struct type *element = declare_type(c, node->type_array.element), *t;
    int64_t value;
    if (!length || element->kind == TYPE_ERROR) return fail(c, node);
    if (size_is_const(length, &value) && value < 0) {
        diag_error(c->diag, DIAG_E15, node->type_array.length->at, "the length %lld of an array is negative",
                   (long long)value);
        return fail(c, node);
    }
    if (deepest(element) >= MAX_RANK) {
        diag_error(c->diag, DIAG_E03, node->at, "more than %d dimensions: those of arrays count, too", MAX_RANK);
        return fail(c, node);
    }
    t = declare_array_of(c, length, element);
    if (t->kind == TYPE_TENSOR && !check_bytes(c, t, node->at)) return fail(c, node);
    return node->type = t;
}

const struct type *declare_type(struct checker *c, struct ast *node)
{
    if (node->kind == AST_TYPE_ARRAY) return array_type(c, node);
    struct type *t = arena_new(c->mem, struct type);
    enum elem elem = node->type_name.module ? ELEM_NONE : elem_of(node->name);
    if (elem && !node->type_name.dims) return scalar_type(c, node, elem);
    if (elem) {
        t->kind = TYPE_TENSOR;
        t->elem = elem;
        return read_extents(c, node->type_name.dims, t) ? (node->type = t) : fail(c, node);
    }
    struct symbol *s = find_struct(c, node);
    if (!s) {
        for (struct ast *d = node->type_name.dims; d; d = d->next) exprs_check(c, d, AS_VALUE);
        return fail(c, node);
    }
    s->is_named = true;
    node->symbol = s;
    t->kind = TYPE_STRUCT;
    t->structure = s;
    if (!read_extents(c, node->type_name.dims, t) || s->type->kind == TYPE_ERROR) return fail(c, node);
    if (t->rank != s->dim_count) {
        diag_error(c->diag, DIAG_E03, node->at, "struct '%s' has %d dimension variable%s, not %d", s->name,
                   s->dim_count, s->dim_count == 1 ? "" : "s", t->rank);
        return fail(c, node);
    }
    return node->type = t;
}

void declare_substitute_extents(struct checker *c, struct type *t, const struct symbol *const *from,
                                const struct size *const *to, int count)
{
    for (int d = 0; d < t->rank; d++) {
        const struct size *extent = size_substitute(c->sizes, t->extent[d], from, to, count);
        if (extent) t->extent[d] = extent;
    }
}

const struct type *declare_type_substituted(struct checker *c, const struct type *t, const struct symbol *const *from,
                                            const struct size *const *to, int count)
{
    if (t->kind != TYPE_TENSOR && t->kind != TYPE_STRUCT && t->kind != TYPE_ARRAY) return t;
    struct type *r = arena_new(c->mem, struct type);
    *r = *t;
    declare_substitute_extents(c, r, from, to, count);
    if (t->element) r->element = declare_type_substituted(c, t->element, from, to, count);
    return r;
}

/* ---- constants and parameters ------------------------------------------------------------------------------------ */

static const struct define *find_define(struct checker *c, const struct symbol *s)
{
    for (int i = 0; i < c->options->define_count; i++) {
        const char *name = c->options->defines[i].name, *dot = strchr(name, '.');
        bool same = dot ? strlen(s->module->name) == (size_t)(dot - name) &&
                              strncmp(s->module->name, name, (size_t)(dot - name)) == 0 && strcmp(dot + 1, s->name) == 0
                        : s->module->is_main && strcmp(name, s->name) == 0;
        if (!same) continue;
        c->define_used[i] = true;
        return &c->options->defines[i];
    }
    return NULL;
}

static void set_constant(struct symbol *s, const struct constant *v)
{
    s->has_value = true;
    s->int_value = v->i;
    s->real_value = v->f;
}

/* A constant as it is kept in a symbol of type t. */
static void convert(struct constant *v, const struct type *t)
{
    bool from_int = v->type->kind == TYPE_INT, to_real = t->kind == TYPE_F32 || t->kind == TYPE_F64;
    if (from_int && to_real) v->f = (double)v->i;
    if (t->kind == TYPE_F32) v->f = (double)(float)v->f;
    v->type = t;
}

static void resolve_const(struct checker *c, struct symbol *s)
{
    struct ast *d = s->decl, *value = d->decl.value;
    const struct type *want = d->decl.type ? declare_type(c, d->decl.type) : NULL,
                      *got = exprs_check(c, value, AS_VALUE);
    struct constant v;
    if (value->bad || (want && want->kind == TYPE_ERROR)) {
        exprs_bad(d);
        return;
    }
    if (!want) want = got;
    if (!type_is_scalar(want)) {
        diag_error(c->diag, DIAG_E02, value->at, "a const is a number or a bool, not %s", type_str(c, want));
        exprs_bad(d);
    } else if (!exprs_fits(c, value, want, arena_printf(c->mem, "'%s'", s->name))) {
        exprs_bad(d);
    } else if (!consteval(c, value, &v)) {
        diag_error(c->diag, DIAG_E19, value->at, "the value of '%s' is not constant", s->name);
        exprs_bad(d);
    } else {
        convert(&v, want);
        set_constant(s, &v);
        s->type = want;
    }
    const struct define *define = find_define(c, s);
    if (!define || d->bad) return;
    if (!consteval_text(c, define->value, want, &v)) {
        diag_error_plain(c->diag, DIAG_E16, "-D %s=%s: '%s' is %s", define->name, define->value, s->name,
                         type_str(c, want));
        return;
    }
    convert(&v, want);
    set_constant(s, &v);
}

void declare_check_defines(struct checker *c)
{
    for (int i = 0; i < c->options->define_count; i++) {
        if (c->define_used[i]) continue;
        VEC(const char *) names = {0};
        const struct module *m = c->modules.data[0];
        for (int k = 0; k < m->symbol_count; k++)
            if (m->symbols[k]->kind == SYM_CONST) vec_push(&names, m->symbols[k]->name);
        const char *near = nearest_word(c->options->defines[i].name, names.data, (int)names.count);
        diag_error_plain(c->diag, DIAG_E16, "-D %s: there is no const of that name", c->options->defines[i].name);
        const struct symbol *other = names_in_module(m, intern_str(c->front->names, c->options->defines[i].name));
        if (other && other->kind == SYM_PARAM)
            diag_help(c->diag, "'%s' is a param: it is set when the program runs, --set %s=...", other->name,
                      other->name);
        else if (near)
            diag_help(c->diag, "did you mean '%s'?", near);
        vec_free(&names);
    }
}

/* Defaults are evaluated in the order of the declarations. */
static void check_order(struct checker *c, const struct symbol *s, const struct ast *e)
{
    if (!e || e->bad) return;
    if (e->kind == AST_BINARY) check_order(c, s, e->binary.right);
    if (e->kind == AST_BINARY || e->kind == AST_UNARY) check_order(c, s, e->binary.left);
    if (e->kind == AST_CALL)
        for (const struct ast *a = e->call.args; a; a = a->next) check_order(c, s, a->arg.value);
    if (e->kind != AST_NAME || !e->symbol || e->symbol->kind != SYM_PARAM ||
        e->symbol->decl->at.begin < s->decl->at.begin)
        return;
    diag_error(c->diag, DIAG_E16, e->at, "'%s' has its value only after '%s': declare it before", e->name, s->name);
    exprs_bad(s->decl);
}

static void resolve_param(struct checker *c, struct symbol *s)
{
    struct ast *d = s->decl;
    const struct type *t = declare_type(c, d->decl.type);
    if (t->kind == TYPE_ERROR) {
        exprs_bad(d);
        return;
    }
    if (!type_is_scalar(t)) {
        diag_error(c->diag, DIAG_E02, d->decl.type->at, "a param is i64, f64, f32 or bool, not %s", type_str(c, t));
        exprs_bad(d);
        return;
    }
    if (d->decl.value) {
        exprs_check(c, d->decl.value, AS_VALUE);
        if (!exprs_fits(c, d->decl.value, t, arena_printf(c->mem, "'%s'", s->name))) exprs_bad(d);
        check_order(c, s, d->decl.value);
    }
    s->type = t;
}

/* ---- kernels, functions, structs --------------------------------------------------------------------------------- */

static void add_generics(struct checker *c, struct symbol *s, struct ast *generics)
{
    int count = 0;
    for (struct ast *g = generics; g; g = g->next) count++;
    s->dims = arena_array(c->mem, struct symbol *, count + 1);
    for (struct ast *g = generics; g; g = g->next) {
        if (s->dim_count == MAX_FORMALS) {
            diag_error(c->diag, DIAG_E17, g->at, "more than %d dimension variables", MAX_FORMALS);
            exprs_bad(s->decl);
            return;
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
    f->type = declare_type(c, node->formal.type);
    f->dir = node->formal.dir;
    f->resolving = 2;
    node->symbol = f;
    if (f->type->kind == TYPE_ERROR) {
        exprs_bad(s->decl);
    } else if (type_is_scalar(f->type)) {
        if (f->dir != DIR_NONE) {
            diag_error(c->diag, DIAG_E08, node->formal.dir_at, "'%s' is a scalar: it has no '%s'", f->name,
                       direction_text(f->dir));
            diag_fix(c->diag, (struct span){node->at.file, node->formal.dir_at.begin, node->name_at.begin}, "",
                     "remove '%s'", direction_text(f->dir));
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
            exprs_bad(s->decl);
        }
        if (kernel && (f->dir == DIR_OWN || f->dir == DIR_HOST)) {
            diag_error(c->diag, DIAG_E08, node->formal.dir_at, "'%s' has no meaning in a kernel: it is for functions",
                       direction_text(f->dir));
            exprs_bad(s->decl);
        }
        if (kernel && type_is_struct(f->type)) {
            diag_error(c->diag, DIAG_E02, node->at, "a kernel takes tensors and scalars, not %s", type_str(c, f->type));
            diag_help(c->diag, "give it a formal for each field, and pass the fields: k(%s.a, %s.b)", f->name, f->name);
            exprs_bad(s->decl);
        }
        if (structs_names_var(f->type)) {
            diag_error(c->diag, DIAG_E19, node->formal.type->at,
                       "an extent of '%s' names a scalar that '%s' may change", f->name, s->name);
            exprs_bad(s->decl);
        }
        if (!kernel) structs_declare_fields(c, f);
    }
    s->formals[index] = f;
    names_declare(c, f, node->name_at);
}

static void add_formals(struct checker *c, struct symbol *s, struct ast *formals)
{
    int count = 0;
    for (struct ast *f = formals; f; f = f->next) count++;
    s->formals = arena_array(c->mem, struct symbol *, count + 1);
    if (count > MAX_FORMALS) {
        diag_error(c->diag, DIAG_E17, s->decl->name_at, "'%s' has %d formals: at most %d are possible", s->name, count,
                   MAX_FORMALS);
        exprs_bad(s->decl);
        return;
    }
    /* Scalars may stand in the extents of any formal: they come first. */
    for (int scalars = 1; scalars >= 0; scalars--) {
        int i = 0;
        for (struct ast *f = formals; f; f = f->next, i++) {
            const struct ast *t = f->formal.type;
            bool scalar =
                t->kind == AST_TYPE_NAME && !t->type_name.dims && !t->type_name.module && elem_of(t->name) != ELEM_NONE;
            if (scalar == (scalars == 1)) resolve_formal(c, s, f, i);
        }
    }
    s->formal_count = count;
}

/* Does the extent determine one more dimension variable: all but one of those in it are known, and that one stands
 * alone in a term? */
static bool determines(struct checker *c, struct symbol *s, const struct size *extent, bool *known)
{
    int open = -1;
    for (int i = 0; i < s->dim_count; i++)
        if (!known[i] && size_names(extent, s->dims[i])) open = open < 0 ? i : s->dim_count;
    if (open < 0 || open == s->dim_count) return false;
    struct size_term terms[32];
    int count = size_terms(c->sizes, extent, terms, 32), alone = 0, mentioned = 0;
    for (int k = 0; k < count; k++) {
        if (!terms[k].mono || !size_names(terms[k].mono, s->dims[open])) continue;
        mentioned++;
        alone += terms[k].mono->kind == SIZE_SYMBOL;
    }
    return (known[open] = alone == 1 && mentioned == 1);
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
        if (known[i] || s->decl->bad) continue;
        diag_error(c->diag, DIAG_E04, s->dims[i]->decl->at, "no formal of '%s' has an extent that determines '%s'",
                   s->name, s->dims[i]->name);
        diag_help(c->diag, "an extent determines it if it is '%s', or a multiple of '%s' plus known terms",
                  s->dims[i]->name, s->dims[i]->name);
        exprs_bad(s->decl);
    }
}

static const char *const c_keywords[] = {
    "auto",   "bool",   "break",    "case",     "char",     "const", "continue", "default", "do",
    "double", "else",   "enum",     "extern",   "float",    "for",   "goto",     "if",      "inline",
    "int",    "long",   "register", "restrict", "return",   "short", "signed",   "sizeof",  "static",
    "struct", "switch", "typedef",  "union",    "unsigned", "void",  "volatile", "while",
};

static void check_c_name(struct checker *c, const struct symbol *s)
{
    /* _Bool, __asm__ and all that a C compiler may add. */
    bool taken = s->name[0] == '_' && (s->name[1] == '_' || (s->name[1] >= 'A' && s->name[1] <= 'Z'));
    for (size_t i = 0; i < sizeof c_keywords / sizeof *c_keywords && !taken; i++)
        taken = strcmp(c_keywords[i], s->name) == 0;
    if (!taken) return;
    diag_error(c->diag, DIAG_E16, s->decl->kind == AST_FORMAL ? s->decl->name_at : s->decl->at,
               "'%s' is a word of C: a kernel with a C body cannot use it as a name", s->name);
    diag_help(c->diag, "give it another name; names are the kernel's own, callers do not see them");
}

/* Does the C text name this identifier? */
static bool body_names(const char *p, const char *end, const char *name)
{
    size_t length;
    while ((p = c_text_name(p, end, &length)) != NULL) {
        if (length == strlen(name) && memcmp(p, name, length) == 0) return true;
        p += length;
    }
    return false;
}

static void check_body(struct checker *c, struct symbol *s)
{
    struct span at = s->decl->kernel->body_at;
    const char *text = source_get(c->front->sources, at.file)->text;
    for (int i = 0; i < s->dim_count; i++) check_c_name(c, s->dims[i]);
    for (int i = 0; i < s->formal_count; i++) {
        struct symbol *f = s->formals[i];
        check_c_name(c, f);
        if (f->type->kind != TYPE_TENSOR) continue;
        const char *stride = arena_printf(c->mem, "%s_stride", f->name);
        f->needs_contiguous = !body_names(text + at.begin, text + at.end, stride);
        for (int k = 0; k < s->formal_count; k++)
            if (strcmp(s->formals[k]->name, stride) == 0)
                diag_error(c->diag, DIAG_E16, s->formals[k]->decl->name_at,
                           "'%s' is already the name of the strides of '%s'", stride, f->name);
    }
}

static void resolve_kernel(struct checker *c, struct symbol *s)
{
    static const char *const workers[] = {
#define WORKER(id, name) name,
#include <pto/workers.def>
#undef WORKER
    };
    static const char list[] =
#define WORKER(id, name) ", " name
#include <pto/workers.def>
#undef WORKER
        ;
    enum { WORKERS = sizeof workers / sizeof *workers };
    struct ast *d = s->decl;
    add_generics(c, s, d->kernel->generics);
    add_formals(c, s, d->kernel->formals);
    if (!d->bad) check_dims_bound(c, s);
    bool known = !d->kernel->worker;
    for (size_t i = 0; i < WORKERS && !known; i++) known = strcmp(workers[i], d->kernel->worker) == 0;
    if (!known) {
        diag_error(c->diag, DIAG_E12, d->kernel->worker_at, "unknown worker '%s'", d->kernel->worker);
        const char *near = nearest_word(d->kernel->worker, workers, WORKERS);
        if (near)
            diag_fix(c->diag, d->kernel->worker_at, near, "did you mean '%s'?", near);
        else
            diag_help(c->diag, "workers are %s", list + 2);
    }
    for (struct ast *r = d->kernel->repeated; r; r = r->next)
        diag_error(c->diag, DIAG_E17, r->at, "kernel '%s' has this attribute twice", s->name);
    if (d->kernel->cost) {
        const struct type *t = exprs_check(c, d->kernel->cost, AS_VALUE);
        if (!d->kernel->cost->bad && t->kind != TYPE_INT && t->kind != TYPE_F64 && t->kind != TYPE_F32)
            diag_error(c->diag, DIAG_E02, d->kernel->cost->at, "a cost is a number, not %s", type_str(c, t));
    }
    for (struct ast *w = d->kernel->where; w; w = w->next) exprs_condition(c, w);
    if (d->kernel->has_body && d->kernel->extern_name) {
        diag_error(c->diag, DIAG_E17, d->kernel->extern_name->at, "kernel '%s' has a body, so it cannot be 'extern'",
                   s->name);
    }
    if (d->attrs) requests_check(c, s);
    if (d->kernel->has_body && !d->bad) check_body(c, s);
}

static void resolve_orch(struct checker *c, struct symbol *s)
{
    struct ast *d = s->decl;
    add_generics(c, s, d->orch.generics);
    add_formals(c, s, d->orch.formals);
    s->result = d->orch.result ? declare_type(c, d->orch.result) : c->void_;
    if (s->result->kind == TYPE_ERROR) exprs_bad(d);
    if (s->result->kind == TYPE_TENSOR || type_is_struct(s->result)) {
        struct symbol *place = s->result_place = names_new(c, SYM_FORMAL, intern_str(c->front->names, "result"), NULL);
        place->type = s->result;
        place->dir = DIR_OUT;
        place->hidden = true;
        place->place = place;
        structs_declare_fields(c, place);
    }
    if (!d->bad) check_dims_bound(c, s);
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
        exprs_bad(d);
        return;
    }
    for (struct ast *f = d->structure.fields; f; f = f->next) {
        struct symbol *field = names_new(c, SYM_FORMAL, f->name, f);
        bool was_bad = d->bad;
        field->type = declare_type(c, f->decl.type);
        /* said while looking at the type */
        if (d->bad && !was_bad) diag_note(c->diag, f->at, "in its field '%s'", f->name);
        if (field->type->kind == TYPE_ERROR) exprs_bad(d);
        for (int i = 0; i < s->formal_count; i++)
            if (s->formals[i]->name == f->name)
                diag_error(c->diag, DIAG_E16, f->name_at, "struct '%s' has two fields '%s'", s->name, f->name);
        s->formals[s->formal_count++] = field;
        s->fields_in_all += field->type->kind == TYPE_STRUCT ? field->type->structure->fields_in_all : 1;
        if (s->fields_in_all > MAX_FIELDS_IN_ALL && !d->bad) {
            diag_error(c->diag, DIAG_E17, f->name_at,
                       "struct '%s' has more than %d fields, those of its structs counted", s->name, MAX_FIELDS_IN_ALL);
            exprs_bad(d);
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
                same_elems &= x->kind == TYPE_TENSOR ? x->elem == y->elem : true;
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

static void resolve_now(struct checker *c, struct symbol *s)
{
    names_push(c, NULL);
    switch (s->kind) {
    case SYM_CONST: resolve_const(c, s); break;
    case SYM_PARAM: resolve_param(c, s); break;
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
    resolve_now(c, s);
    s->resolving = 2;
    c->head = saved.head;
    c->module = saved.module;
    c->scope = saved.scope;
    c->function = saved.function;
    c->checks = saved.checks;
    c->loop_depth = saved.loop_depth;
    c->resolve_depth--;
}

void declare_body_scope(struct checker *c, struct symbol *s)
{
    names_push(c, NULL);
    for (int i = 0; i < s->dim_count; i++) names_add(c->scope, s->dims[i]);
    for (int i = 0; i < s->formal_count; i++) names_add(c->scope, s->formals[i]);
}
