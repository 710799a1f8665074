/* names.c - scopes, lookup, and the names that were probably meant.
 * Idea       a scope is a short list; file-level names are a module's list.  Interned names compare by pointer.
 * Tests      test/lit/sema/e01*.pto e16-duplicates.pto
 */
#include "checker.h"
#include "support/nearest.h"
#include "syntax/library_list.h"
#include <string.h>

enum {
    MANY_NAMES = 16,   /* a block of more is searched by a table */
    MAX_UNKNOWN = 1000 /* the unknown names that are distinguished; no more are reported */
};

struct symbol *names_new(struct checker *c, enum symbol_kind kind, const char *name, struct ast *decl)
{
    static const struct size *const nothing[1] = {NULL}; /* region.c gives a symbol its own */
    struct symbol *s = arena_new(c->mem, struct symbol);
    s->kind = kind;
    s->name = name;
    s->decl = decl;
    s->module = c->module;
    s->type = c->error;
    s->captured = nothing;
    s->loop_depth = c->loop_depth;
    s->block = c->scope ? c->scope->block : NULL;
    return s;
}

void names_push(struct checker *c, struct ast *block)
{
    struct scope *s = arena_new(c->mem, struct scope);
    s->parent = c->scope;
    s->block = block;
    s->by_name.mem = c->mem;
    c->scope = s;
}

void names_pop(struct checker *c)
{
    for (size_t i = 0; i < c->scope->names.count; i++) {
        struct symbol *s = c->scope->names.data[i];
        if (!c->function || c->function->module != s->module) continue;
        vec_push(&c->closed, s);
        if (s->decl && s->decl->kind == AST_FORMAL) continue;
        bool local = s->kind == SYM_LET || s->kind == SYM_VAR || s->kind == SYM_VIEW;
        if (local && !s->is_named && s->type->kind != TYPE_ERROR && s->name[0] != '_') vec_push(&c->unused, s);
    }
    vec_free(&c->scope->names);
    c->scope = c->scope->parent;
}

static struct symbol *find(const struct scope *s, const char *name)
{
    if (s->names.count > MANY_NAMES) return ptrmap_get(&s->by_name, name);
    for (size_t i = 0; i < s->names.count; i++)
        if (s->names.data[i]->name == name) return s->names.data[i];
    return NULL;
}

/* The first of a name is the one that is found. */
void names_add(struct scope *s, struct symbol *symbol)
{
    vec_push(&s->names, symbol);
    if (s->names.count <= MANY_NAMES) return;
    for (size_t i = s->names.count == MANY_NAMES + 1 ? 0 : s->names.count - 1; i < s->names.count; i++)
        if (!ptrmap_get(&s->by_name, s->names.data[i]->name))
            ptrmap_set(&s->by_name, s->names.data[i]->name, s->names.data[i]);
}

static const char *kind_text(const struct symbol *s)
{
    static const char *const text[] = {[SYM_MODULE] = "module",
                                       [SYM_CONST] = "const",
                                       [SYM_PARAM] = "param",
                                       [SYM_STRUCT] = "struct",
                                       [SYM_KERNEL] = "kernel",
                                       [SYM_ORCH] = "function",
                                       [SYM_DIM] = "dimension variable",
                                       [SYM_ELEM] = "element type",
                                       [SYM_FORMAL] = "formal",
                                       [SYM_LET] = "let",
                                       [SYM_VAR] = "var",
                                       [SYM_VIEW] = "view",
                                       [SYM_LOOP] = "loop variable"};
    return text[s->kind];
}

void names_declare(struct checker *c, struct symbol *s, struct span at)
{
    struct symbol *old = find(c->scope, s->name);
    if (old) {
        diag_error(c->diag, DIAG_E16, at, "'%s' is already the name of a %s in this block", s->name, kind_text(old));
        if (old->decl) diag_note(c->diag, old->decl->name_at, "the first '%s' is here", s->name);
        s->field_count = 0;
        s->type = c->error; /* it cannot be found, so it causes no further message */
    }
    for (const struct scope *o = c->scope->parent; o && !old; o = o->parent)
        if ((old = find(o, s->name))) {
            diag_warning(c->diag, DIAG_W03, at, "'%s' hides a %s of the same name", s->name, kind_text(old));
            if (old->decl) diag_note(c->diag, old->decl->name_at, "the outer '%s' is here", s->name);
        }
    names_add(c->scope, s);
}

struct symbol *names_in_module(const struct module *m, const char *name) { return ptrmap_get(&m->by_name, name); }

struct symbol *names_in_scope(const struct checker *c, const char *name)
{
    struct symbol *found = NULL;
    for (const struct scope *s = c->scope; s && !found; s = s->parent) found = find(s, name);
    return found;
}

/* ---- the nearest names ------------------------------------------------------------------------------------------- */

static bool was_unknown(struct checker *c, const char *name, const struct module *inside)
{
    struct unknown now = {name, c->module, inside, c->function};
    if (c->unknown.count == MAX_UNKNOWN) return true;
    for (size_t i = 0; i < c->unknown.count; i++) {
        const struct unknown *u = &c->unknown.data[i];
        if (u->name == name && u->file == now.file && u->inside == inside && u->function == now.function) return true;
    }
    vec_push(&c->unknown, now);
    return false;
}

#define OF_SCALARS "scalars are i64, f64, f32 and bool: i64(x), f64(x), f32(x), bool(x)"

/* Words of other languages, and their equivalents here. */
static const struct foreign {
    const char *word, *meant, *help;
} foreign_words[] = {
    {"True", "true", NULL},
    {"False", "false", NULL},
    {"TRUE", "true", NULL},
    {"FALSE", "false", NULL},
    {"None", NULL, "every name has a value; storage without content is 'let t: f32[N];'"},
    {"null", NULL, "every name has a value; storage without content is 'let t: f32[N];'"},
    {"nullptr", NULL, "every name has a value; storage without content is 'let t: f32[N];'"},
    {"NULL", NULL, "every name has a value; storage without content is 'let t: f32[N];'"},
    {"printf", NULL, "values are printed by a statement: print \"n is\", n;"},
    {"println", NULL, "values are printed by a statement: print \"n is\", n;"},
    {"puts", NULL, "values are printed by a statement: print \"n is\", n;"},
    {"len", NULL, "the extent of a tensor is 'dim(x, 0)'"},
    {"size", NULL, "the extent of a tensor is 'dim(x, 0)'"},
    {"shape", NULL, "the extent of a tensor is 'dim(x, 0)'"},
    {"sizeof", NULL, "the extent of a tensor is 'dim(x, 0)'"},
    {"range", NULL, "a loop is written 'for i in low .. high { }'"},
    {"int", "i64", NULL},
    {"float", "f64", NULL},
    {"double", "f64", NULL},
    {"fabs", "abs", NULL},
    {"fmin", "min", NULL},
    {"fmax", "max", NULL},
    {"rint", "round", NULL},
    {"trunc", NULL, "'i64(x)' is x without its fraction, an integer"},
    {"tan", NULL, "numbers have exp, log, pow, sqrt, sin, cos and tanh; everything else is done in kernels"},
    {"atan2", NULL, "numbers have exp, log, pow, sqrt, sin, cos and tanh; everything else is done in kernels"},
    {"rand", NULL,
     "random numbers are made by kernels, std/rng.pto has some; the same data in each run is --input x=random"},
    {"random", NULL,
     "random numbers are made by kernels, std/rng.pto has some; the same data in each run is --input x=random"},
    {"zeros", NULL, "storage is filled by a kernel: import \"std/vec.pto\" has fill"},
    {"ones", NULL, "storage is filled by a kernel: import \"std/vec.pto\" has fill"},
    {"full", NULL, "storage is filled by a kernel: import \"std/vec.pto\" has fill"},
    {"empty", NULL, "storage is named by 'let t: f32[N];'"},
    {"transpose", NULL, "'x.T' exchanges the last two dimensions of x, and copies nothing"},
    {"reshape", NULL, "'x as [M, K]' is the same elements with other extents"},
    {"i8", NULL, OF_SCALARS},
    {"i16", NULL, OF_SCALARS},
    {"i32", NULL, OF_SCALARS},
    {"u8", NULL, OF_SCALARS},
    {"u16", NULL, OF_SCALARS},
    {"u32", NULL, OF_SCALARS},
    {"u64", NULL, OF_SCALARS},
    {"f16", NULL, OF_SCALARS},
    {"bf16", NULL, OF_SCALARS},
    {"free", NULL, "the lifetime of a tensor ends with its block, or earlier by 'drop x;'"},
    {"delete", NULL, "the lifetime of a tensor ends with its block, or earlier by 'drop x;'"},
    {"sync", NULL, "tasks wait for what they read by themselves; a number that decides what follows is 'await x[0]'"},
    {"synchronize", NULL,
     "tasks wait for what they read by themselves; a number that decides what follows is 'await x[0]'"},
    {"barrier", NULL, "tasks wait for what they read by themselves: there is no barrier"},
    {"_", NULL, "what no other arm of a 'match' has is 'else => { }'"},
    {"malloc", NULL, "storage is named by 'let t: f32[N];' and ends with its block"},
};

static const struct foreign foreign_types[] = {
    {"void", NULL, "a function without a result has no '->'"},
    {"float", "f32", NULL},
    {"double", "f64", NULL},
    {"int", "i64", NULL},
    {"long", "i64", NULL},
    {"size_t", "i64", NULL},
    {"usize", "i64", NULL},
    {"isize", "i64", NULL},
    {"int64", "i64", NULL},
    {"int64_t", "i64", NULL},
    {"int32", "i32", NULL},
    {"int32_t", "i32", NULL},
    {"int16", "i16", NULL},
    {"int16_t", "i16", NULL},
    {"int8", "i8", NULL},
    {"int8_t", "i8", NULL},
    {"char", "i8", NULL},
    {"byte", "u8", NULL},
    {"uint8", "u8", NULL},
    {"uint8_t", "u8", NULL},
    {"uint32", "u32", NULL},
    {"uint32_t", "u32", NULL},
    {"uint64_t", "u64", NULL},
    {"float16", "f16", NULL},
    {"half", "f16", NULL},
    {"float32", "f32", NULL},
    {"float64", "f64", NULL},
    {"bfloat16", "bf16", NULL},
    {"boolean", "bool", NULL},
    {"str", NULL, "there are no strings but in 'print' and 'assert'"},
    {"string", NULL, "there are no strings but in 'print' and 'assert'"},
    {"Tensor", NULL, "a tensor's type is that of its elements with its extents: f32[M, N]"},
    {"tensor", NULL, "a tensor's type is that of its elements with its extents: f32[M, N]"},
};

/* Reports the equivalent of a word of another language. */
static bool hint_foreign(struct checker *c, struct span at, const char *name, bool is_type)
{
    const struct foreign *list = is_type ? foreign_types : foreign_words;
    size_t count =
        is_type ? sizeof foreign_types / sizeof *foreign_types : sizeof foreign_words / sizeof *foreign_words;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].word, name) != 0) continue;
        if (list[i].help)
            diag_help(c->diag, "%s", list[i].help);
        else
            diag_fix(c->diag, at, list[i].meant, "did you mean %s'%s'?", is_type ? "the type " : "", list[i].meant);
        return true;
    }
    return false;
}

/* A module of the library that was not imported. */
static bool hint_import(struct checker *c, struct span at, const char *name)
{
    if (library_file(c, name) < 0) return false;
    const char *text = arena_printf(c->mem, "import \"std/%s.pto\" as %s;", name, name);
    diag_fix(c->diag, (struct span){at.file, 0, 0}, arena_printf(c->mem, "%s\n", text), "the library has it: %s", text);
    return true;
}

/* A module that is imported has it. */
static bool hint_module(struct checker *c, struct span at, const char *name, bool is_type)
{
    for (int i = 0; i < c->module->symbol_count; i++) {
        const struct symbol *m = c->module->symbols[i];
        const struct symbol *s = m->kind == SYM_MODULE && m->target ? names_in_module(m->target, name) : NULL;
        if (!s || s->kind == SYM_MODULE || (s->kind == SYM_STRUCT) != is_type) continue;
        const char *whole = arena_printf(c->mem, "%s.%s", m->name, name);
        diag_fix(c->diag, at, whole, "did you mean '%s'?", whole);
        return true;
    }
    return false;
}

/* A module of the library declares a kernel or function of this name. */
static bool hint_library(struct checker *c, const char *name)
{
    const size_t length = strlen(name);
    for (size_t m = 0; m < LIBRARY_MODULES; m++) {
        const int file = library_file(c, library_modules[m]);
        if (file < 0) continue;
        for (const char *p = source_get(c->front->sources, (uint32_t)file)->text; (p = strchr(p, '\n')) != NULL;) {
            p += 1;
            if (*p == '@') p += strcspn(p, " \n"); /* @opcode("copy") kernel copy */
            p += *p == ' ';
            const bool is_kernel = strncmp(p, "kernel ", 7) == 0;
            if (!is_kernel && strncmp(p, "orch ", 5) != 0) continue;
            p += is_kernel ? 7 : 5;
            if (strncmp(p, name, length) != 0 || !strchr("<(", p[length])) continue;
            diag_help(c->diag, "the library has it: import \"std/%s.pto\" as %s; then %s.%s(...)", library_modules[m],
                      library_modules[m], library_modules[m], name);
            return true;
        }
    }
    return false;
}

/* In the head of a kernel or function: perhaps a dimension variable that is not declared. */
static void hint_dimension(struct checker *c, const char *name)
{
    const struct ast *d = c->head->decl, *last = d->kind == AST_KERNEL ? d->kernel->generics : d->orch.generics;
    while (last && last->next) last = last->next;
    uint32_t end = last ? last->at.end : d->name_at.end;
    diag_fix(c->diag, (struct span){d->at.file, end, end}, arena_printf(c->mem, last ? ", %s" : "<%s>", name),
             "a dimension variable is declared after the name: %s<%s>", d->name, name);
}

static void hint_declaration(struct checker *c, struct span at)
{
    diag_fix(c->diag, (struct span){at.file, at.begin, at.begin}, "let ",
             "a name is declared by 'let', or by 'var' when it changes");
}

static bool hint_nearest(struct checker *c, struct span at, const char *name, bool is_type, const char *const *all,
                         int count)
{
    const char *first = nearest_word(name, all, count);
    if (!first) return false;
    STRBUF(text);
    int shown = 0, d = nearest_distance(name, first);
    const char *listed[3];
    for (int i = 0; i < count && shown < 3; i++) {
        bool is_shown = nearest_distance(name, all[i]) != d;
        for (int k = 0; k < shown && !is_shown; k++) is_shown = strcmp(listed[k], all[i]) == 0;
        if (is_shown) continue;
        strbuf_printf(&text, "%s'%s'", shown ? " or " : "", all[i]);
        listed[shown++] = all[i];
    }
    const char *what = is_type ? "the type " : "";
    if (shown == 1)
        diag_fix(c->diag, at, first, "did you mean %s%s?", what, strbuf_text(&text));
    else
        diag_help(c->diag, "did you mean %s%s?", what, strbuf_text(&text));
    return true;
}

/* -> f32[?m] */
static bool names_extent_of_result(const struct ast *decl, const char *name)
{
    if (!decl || decl->kind != AST_ORCH || !decl->orch.result || decl->orch.result->kind != AST_TYPE_NAME) return false;
    for (const struct ast *e = decl->orch.result->type_name.dims; e; e = e->next)
        if (e->kind == AST_DECIDED && e->name == name) return true;
    return false;
}

/* No name in scope, but a word of the language, or a declaration of the file that is looked up by other names. */
static const char *other_meaning(const struct checker *c, const char *name, bool is_type)
{
    if (!is_type && elem_named(name) != ELEM_NONE) return "type";
    if (builtins_find(name)) return "builtin function";
    const struct symbol *s = names_in_module(c->module, name);
    return s ? kind_text(s) : NULL;
}

/* A name that `@grad` declares. */
static bool is_gradient(const char *name)
{
    const size_t length = strlen(name);
    return (length > 5 && strcmp(name + length - 5, "_grad") == 0) ||
           (length > 9 && strcmp(name + length - 9, "_grad_add") == 0);
}

/* The gradient of a function of this file, in a function that has itself a gradient, and so is checked before it. */
static bool refuse_gradient(struct checker *c, struct span at, const char *name)
{
    const size_t length = strlen(name);
    if (!is_gradient(name)) return false;
    const bool adds = strcmp(name + length - 4, "_add") == 0;
    const size_t base = length - strlen(adds ? "_grad_add" : "_grad");
    for (const struct ast *item = c->module->ast->items; item; item = item->next) {
        if (item->kind != AST_ORCH || strlen(item->name) != base || memcmp(item->name, name, base) != 0) continue;
        for (const struct ast *a = item->attrs; a; a = a->next) {
            if (strcmp(a->name, adds ? "grad_add" : "grad") != 0) continue;
            diag_error(c->diag, DIAG_E99, at,
                       "'%s' in a function that '@grad' itself needs is not built yet: gradients are made after it",
                       name);
            diag_help(c->diag, "call '%s' in a function without '@grad' that no function with '@grad' calls", name);
            return true;
        }
    }
    return false;
}

void names_unknown(struct checker *c, struct span at, const char *name, const char *what, const struct module *module)
{
    if (was_unknown(c, name, module)) return;
    if ((module ? module : c->module)->lacks_gradients && is_gradient(name)) return; /* the error was reported */
    for (size_t i = c->closed.count; !module && c->function && i-- > 0;)
        if (c->closed.data[i]->name == name && c->closed.data[i]->kind != SYM_DIM) {
            diag_error(c->diag, DIAG_E11, at, "'%s' no longer exists: its block has ended", name);
            diag_note(c->diag, c->closed.data[i]->decl->name_at, "'%s' is declared in that block", name);
            return;
        }
    if (!module && strcmp(what, "kernel or function") == 0 && refuse_gradient(c, at, name)) return;
    bool is_type = strcmp(what, "type") == 0, is_module = strcmp(what, "module") == 0,
         is_callee = strcmp(what, "kernel or function") == 0;
    const char *meaning = module ? NULL : other_meaning(c, name, is_type);
    if (meaning) {
        diag_error(c->diag, DIAG_E19, at, "'%s' is a %s, not a %s", name, meaning,
                   strcmp(what, "name") == 0 ? "value" : what);
        if (c->is_assigned)
            hint_declaration(c, at);
        else
            hint_foreign(c, at, name, is_type);
        return;
    }
    diag_error(c->diag, DIAG_E01, at, "unknown %s '%s'", what, name);
    if (!diag_is_shown(c->diag)) return;
    VEC(const char *) all = {0};
    for (const struct scope *s = c->scope; s && !module && !is_type && !is_module; s = s->parent)
        for (size_t i = 0; i < s->names.count; i++) vec_push(&all, s->names.data[i]->name);
    const struct module *m = module ? module : c->module;
    for (int i = 0; i < m->symbol_count; i++) {
        enum symbol_kind kind = m->symbols[i]->kind;
        if (is_type ? kind == SYM_STRUCT : is_module ? kind == SYM_MODULE : !module || kind != SYM_MODULE)
            vec_push(&all, m->symbols[i]->name);
    }
    for (int i = 0; !module && !is_type && !is_module && builtins_name(i); i++) vec_push(&all, builtins_name(i));
    for (enum elem e = ELEM_F16; e <= ELEM_BOOL && !module && is_type; e++) vec_push(&all, elem_name(e));
    bool is_hinted = !module && (is_module ? hint_import(c, at, name)
                                           : hint_foreign(c, at, name, is_type) || hint_module(c, at, name, is_type) ||
                                                 (is_callee && hint_library(c, name)));
    if (!is_hinted && !hint_nearest(c, at, name, is_type, all.data, (int)all.count) && !module && !is_type &&
        !is_module) {
        if (c->is_assigned)
            hint_declaration(c, at);
        else if (c->head && strlen(name) == 1 && strcmp(what, "tensor") != 0)
            hint_dimension(c, name);
        else if (c->function && names_extent_of_result(c->function->decl, name))
            diag_help(c->diag, "'?%s' names nothing in the body: it is an extent of the result", name);
    }
    vec_free(&all);
}
