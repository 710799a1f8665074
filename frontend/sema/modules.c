/* modules.c - imports: which file a path means, and the names that a file declares.
 * Idea       depth first; a file is one module however often and by whatever path it is imported.
 * Owner      the list of modules of one compilation.
 * Invariant  the main module is the first; a file that is still being loaded and is met again is a cycle.
 * Blocks     in reading files.
 * Tests      test/lit/sema/import*.pto
 */
#include "checker.h"
#include "support/nearest.h"
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IMPORT_DEPTH = 256 };

struct loading {
    const struct loading *parent;
    const char *path, *real;
    const char *folder; /* of the file, for what it imports; "" or with the slash */
    struct module *module;
};

/* The file's own name without folder and suffix. */
static const char *stem_of(struct checker *c, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    return intern(c->front->names, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static bool is_identifier(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_') return false;
    return true;
}

/* The stem as a C identifier. */
static const char *module_stem(struct checker *c, const char *path)
{
    char *name = arena_copy(c->mem, stem_of(c, path), strlen(stem_of(c, path)));
    for (char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p)) *p = '_';
    return intern_str(c->front->names, isdigit((unsigned char)*name) ? arena_printf(c->mem, "m%s", name) : name);
}

/* A C identifier that no other module has. */
static const char *module_name(struct checker *c, const char *base)
{
    const char *unique = base;
    for (size_t number = (size_t)ptrmap_get(&c->module_names, base); ptrmap_get(&c->module_names, unique);)
        unique = intern_str(c->front->names, arena_printf(c->mem, "%s_%zu", base, ++number)),
        ptrmap_set(&c->module_names, base, (void *)number);
    ptrmap_set(&c->module_names, unique, (void *)1);
    return unique;
}

static const char *folder_of(struct checker *c, const char *path)
{
    const char *slash = strrchr(path, '/');
    return arena_copy(c->mem, path, slash ? (size_t)(slash + 1 - path) : 0);
}

static const char *real_path(struct checker *c, const char *path)
{
    char *real = realpath(path, NULL);
    const char *copy = intern_str(c->front->names, real ? real : path);
    free(real);
    return copy;
}

/* The existing file that an import means.  *shown: how it is named in messages and code: what was found along the
 * search path keeps the name it was imported by, so that nothing that is generated depends on where the compiler is
 * installed. */
static const char *find_file(struct checker *c, const struct loading *from, const char *path, const char **shown)
{
    const char *found = path[0] == '/' ? path : arena_printf(c->mem, "%s%s", from->folder, path);
    if (source_map_can_read(c->front->sources, found)) {
        const char *inside = strrchr(from->path, '/');
        *shown = path[0] == '/' || !inside
                     ? path
                     : arena_printf(c->mem, "%.*s%s", (int)(inside + 1 - from->path), from->path, path);
        return found;
    }
    for (int pass = 0; pass < 2 && path[0] != '/'; pass++)
        for (int i = 0; i < c->options->import_dir_count; i++) {
            *shown = pass ? arena_printf(c->mem, "std/%s", path) : path;
            found = arena_printf(c->mem, "%s/%s", c->options->import_dirs[i], *shown);
            if (source_map_can_read(c->front->sources, found)) return found;
        }
    return NULL;
}

static int is_module_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".pto") == 0;
}

/* A file of that folder whose name is near to the base of path: the import that was meant, or NULL. */
static const char *near_in_folder(struct checker *c, const char *root, const char *path)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash + 1 - path) : 0;
    struct dirent **found;
    int count = scandir(arena_printf(c->mem, "%s%.*s", root, length, path), &found, is_module_file, alphasort);
    if (count < 0) return NULL;
    const char **stems = arena_alloc(c->mem, (size_t)(count + 1) * sizeof *stems);
    for (int i = 0; i < count; i++) {
        stems[i] = stem_of(c, found[i]->d_name);
        free(found[i]);
    }
    free(found);
    const char *best = nearest_word(stem_of(c, path), stems, count);
    return best ? arena_printf(c->mem, "%.*s%s.pto", length, path, best) : NULL;
}

/* The import that was perhaps meant, searched for where find_file() searches. */
static const char *near_path(struct checker *c, const struct loading *from, const char *path)
{
    if (path[0] == '/') return near_in_folder(c, "", path);
    const char *best = near_in_folder(c, *from->folder || strchr(path, '/') ? from->folder : "./", path);
    for (int i = 0; i < c->options->import_dir_count && !best; i++)
        best = near_in_folder(c, arena_printf(c->mem, "%s/", c->options->import_dirs[i]), path);
    for (int i = 0; i < c->options->import_dir_count && !best; i++)
        best = near_in_folder(c, arena_printf(c->mem, "%s/std/", c->options->import_dirs[i]), path);
    return best;
}

static struct module *load(struct checker *c, const struct loading *parent, const char *found, const char *shown,
                           const struct ast *import);

static void load_import(struct checker *c, const struct loading *from, struct ast *import)
{
    const char *path = import->import.path->string.text, *shown = NULL;
    struct span at = import->import.path->at;
    if (strlen(path) != import->import.path->string.length || !*path) {
        diag_error(c->diag, DIAG_E16, at, "'%s' is not a path", path);
        import->bad = true;
        return;
    }
    const char *found = find_file(c, from, path, &shown);
    struct symbol *s = names_new(c, SYM_MODULE, import->name ? import->name : stem_of(c, path), import);
    s->module = from->module;
    s->resolving = 2;
    import->symbol = s;
    if (!found) {
        diag_error(c->diag, DIAG_E16, at, "cannot find the module \"%s\"", path);
        const char *near = near_path(c, from, path);
        if (near) diag_fix(c->diag, at, arena_printf(c->mem, "\"%s\"", near), "did you mean \"%s\"?", near);
        STRBUF(text);
        strbuf_printf(&text, "'%s'", *from->folder ? from->folder : ".");
        for (int i = 0; i < c->options->import_dir_count; i++)
            strbuf_printf(&text, ", '%s'", c->options->import_dirs[i]);
        diag_help(c->diag, "looked in %s", strbuf_text(&text));
        import->bad = true;
        return;
    }
    if (!is_identifier(s->name)) {
        diag_error(c->diag, DIAG_E16, at, "'%s' is not a name: add 'as' and a name", s->name);
        import->bad = true;
        return;
    }
    s->target = load(c, from, found, shown, import);
    import->bad = !s->target;
}

static struct module *load(struct checker *c, const struct loading *parent, const char *found, const char *shown,
                           const struct ast *import)
{
    struct loading me = {.parent = parent, .path = shown, .real = real_path(c, found), .folder = folder_of(c, found)};
    for (const struct loading *l = parent; l; l = l->parent)
        if (l->real == me.real) {
            diag_error(c->diag, DIAG_E16, import->import.path->at,
                       l == parent ? "this module imports itself" : "modules import each other in a circle");
            for (const struct loading *k = parent; k != l; k = k->parent)
                diag_note(c->diag, import->import.path->at, "'%s' is imported by '%s'", k->path, k->parent->path);
            return NULL;
        }
    struct module *known = ptrmap_get(&c->module_of, me.real);
    if (known) return known;
    if (c->import_depth == MAX_IMPORT_DEPTH) {
        diag_error(c->diag, DIAG_E16, import->import.path->at, "imports are nested more than %d deep",
                   MAX_IMPORT_DEPTH);
        return NULL;
    }
    const char *why = NULL;
    int file = source_map_read(c->front->sources, found, &why);
    if (file < 0) { /* of an import: the text of the main file is there already */
        diag_error(c->diag, DIAG_E16, import->import.path->at, "cannot read '%s': %s", shown, why);
        return NULL;
    }
    if (strcmp(found, shown) != 0) {
        const struct source *text = source_get(c->front->sources, (uint32_t)file);
        file = source_map_add(c->front->sources, shown, text->text, text->length);
    }
    struct module *m = me.module = arena_new(c->mem, struct module);
    m->stem = module_stem(c, shown);
    m->name = module_name(c, m->stem);
    m->path = shown;
    m->real_path = me.real;
    m->is_main = !import;
    if (import) {
        m->importer = parent->module;
        m->imported_as = import->symbol->name;
    }
    vec_push(&c->modules, m);
    ptrmap_set(&c->module_of, m->real_path, m);
    int errors = diag_error_count(c->diag);
    m->ast = parse_file(c->front, (uint32_t)file);
    c->has_syntax_error |= diag_error_count(c->diag) != errors;
    c->import_depth++;
    for (struct ast *item = m->ast->items; item; item = item->next)
        if (item->kind == AST_IMPORT && !item->bad) load_import(c, &me, item);
    c->import_depth--;
    return m;
}

/* Is its stem what the main file calls a module, or the stem of another that only modules import? */
static bool shares_stem(const struct checker *c, const struct module *main, const struct module *m)
{
    for (const struct ast *item = main->ast->items; item; item = item->next)
        if (item->kind == AST_IMPORT && item->symbol && item->symbol->name == m->stem) return true;
    for (size_t i = 1; i < c->modules.count; i++) {
        const struct module *other = c->modules.data[i];
        if (other != m && !other->is_named && other->stem == m->stem) return true;
    }
    return false;
}

/* The user reads the main file, so its imports go before the modules that only other modules import: each of these
 * follows its importer in the list, so the importer has its name already. */
static void choose_option_names(struct checker *c, const struct module *main)
{
    for (const struct ast *item = main->ast->items; item; item = item->next) {
        if (item->kind != AST_IMPORT || !item->symbol || !item->symbol->target) continue;
        struct module *m = item->symbol->target;
        if (!m->is_named) m->option_name = item->symbol->name;
        m->is_named = true;
    }
    for (size_t i = 1; i < c->modules.count; i++) {
        struct module *m = c->modules.data[i];
        if (m->is_named) continue;
        m->option_name =
            shares_stem(c, main, m) ? arena_printf(c->mem, "%s.%s", m->importer->option_name, m->imported_as) : m->stem;
    }
}

struct module *modules_load(struct checker *c, const char *path)
{
    struct module *main = load(c, NULL, path, path, NULL);
    if (main) choose_option_names(c, main);
    return main;
}

/* ---- the names of a file ----------------------------------------------------------------------------------------- */

static enum symbol_kind kind_of(const struct ast *item)
{
    switch (item->kind) {
    case AST_CONST: return SYM_CONST;
    case AST_PARAM: return SYM_PARAM;
    case AST_STRUCT: return SYM_STRUCT;
    case AST_KERNEL: return SYM_KERNEL;
    case AST_ORCH: return SYM_ORCH;
    default: return SYM_MODULE;
    }
}

/* The name of an item; a further kernel of a name stands behind the others. */
static void declare_item(struct checker *c, struct module *m, struct ast *item, struct ptrmap *last_overload)
{
    const bool is_import = item->kind == AST_IMPORT;
    if (item->kind == AST_STATIC_ASSERT || item->kind == AST_BAD_STMT || (is_import && !item->symbol)) return;
    struct symbol *s = is_import ? item->symbol : names_new(c, kind_of(item), item->name, item);
    struct symbol *old = ptrmap_get(&m->by_name, s->name);
    item->symbol = s;
    s->module = m;
    if (!old) {
        m->symbols[m->symbol_count++] = s;
        ptrmap_set(&m->by_name, s->name, s);
    } else if (old->kind == SYM_KERNEL && s->kind == SYM_KERNEL) {
        struct symbol *last = ptrmap_get(last_overload, old);
        for (last = last ? last : old; last->next_overload;) last = last->next_overload;
        last->next_overload = s;
        ptrmap_set(last_overload, old, s);
    } else {
        diag_error(c->diag, DIAG_E16, is_import ? item->at : item->name_at, "'%s' is declared twice", s->name);
        diag_note(c->diag, old->kind == SYM_MODULE ? old->decl->at : old->decl->name_at, "the first '%s' is here",
                  s->name);
    }
}

/* m->symbols gets room for all of the items. */
static void declare_items(struct checker *c, struct module *m, struct ast *items)
{
    struct ptrmap last_overload = {0};
    int count = m->symbol_count;
    for (const struct ast *item = items; item; item = item->next) count++;
    struct symbol **symbols = arena_array(c->mem, struct symbol *, count + 1);
    for (int i = 0; i < m->symbol_count; i++) symbols[i] = m->symbols[i];
    m->symbols = symbols;
    c->module = m;
    for (struct ast *item = items; item; item = item->next) declare_item(c, m, item, &last_overload);
    ptrmap_free(&last_overload);
}

void modules_declare(struct checker *c, struct module *m)
{
    m->by_name.mem = c->mem;
    declare_items(c, m, m->ast->items);
}

void modules_extend(struct checker *c, struct module *m, struct ast *items)
{
    declare_items(c, m, items);
    m->ast->items = ast_append(m->ast->items, items);
}

bool module_is_std(const struct module *m) { return !m->is_main && strncmp(m->path, "std/", 4) == 0; }
