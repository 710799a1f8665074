/* symbols.c - the declarations of a document, and the search over all that is open and over std/.
 * Tests      test/lsp/requests.py
 */
#include "server.h"
#include <ctype.h>
#include <dirent.h>
#include <string.h>

/* The numbers of the protocol. */
enum symbol_number {
    NUMBER_MODULE = 2,
    NUMBER_FIELD = 8,
    NUMBER_FUNCTION = 12,
    NUMBER_VARIABLE = 13,
    NUMBER_CONSTANT = 14,
    NUMBER_STRUCT = 23,
    NUMBER_OPERATOR = 25 /* a kernel */
};

static enum symbol_number number_of(const struct ast *n)
{
    switch (n->kind) {
    case AST_IMPORT: return NUMBER_MODULE;
    case AST_CONST: return NUMBER_CONSTANT;
    case AST_PARAM: return NUMBER_VARIABLE;
    case AST_STRUCT: return NUMBER_STRUCT;
    case AST_FIELD: return NUMBER_FIELD;
    case AST_KERNEL: return NUMBER_OPERATOR;
    default: return NUMBER_FUNCTION;
    }
}

/* ---- of a document ----------------------------------------------------------------------------------------------- */

static void add_symbol(struct server *s, struct document *d, const struct ast *n, struct strbuf *out, bool *any)
{
    const char *name = n->name ? n->name : n->kind == AST_IMPORT ? n->import.path->string.text : NULL;
    const struct span at = n->kind == AST_IMPORT && !n->name ? n->import.path->at : n->name_at;
    if (!name || !*name || n->kind == AST_STATIC_ASSERT) return;
    if (at.begin < n->at.begin || at.end > n->at.end) return;
    strbuf_printf(out, "%s{\"name\":", *any ? "," : "");
    strbuf_json(out, name, strlen(name));
    strbuf_printf(out, ",\"kind\":%d,\"range\":", number_of(n));
    range_json(out, location_range(s, d, d->good, n->at));
    strbuf_puts(out, ",\"selectionRange\":");
    range_json(out, location_range(s, d, d->good, at));
    if (n->kind == AST_STRUCT) {
        bool any_field = false;
        strbuf_puts(out, ",\"children\":[");
        for (const struct ast *f = n->structure.fields; f; f = f->next) add_symbol(s, d, f, out, &any_field);
        strbuf_putc(out, ']');
    }
    strbuf_putc(out, '}');
    *any = true;
}

void document_symbols_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct document *d = server_document(s, params);
    bool any = false;
    if (!d || !d->good || !result_main(d->good)) return;
    strbuf_putc(&reply->json, '[');
    for (const struct ast *n = result_main(d->good)->ast->items; n; n = n->next)
        add_symbol(s, d, n, &reply->json, &any);
    strbuf_putc(&reply->json, ']');
}

/* ---- of all ------------------------------------------------------------------------------------------------------ */

static int is_module(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".pto") == 0 && entry->d_name[0] != '.';
}

static char library_path[] = "<library>";

static void overlay_library(void *cx, struct source_map *sources)
{
    const struct strbuf *text = cx;
    source_map_overlay(sources, library_path, strbuf_text(text), text->length);
}

/* A program that imports every module of the library. */
static struct result *library_of(struct server *s)
{
    STRBUF(text);
    STRBUF(folder);
    struct dirent **entries = NULL;
    if (s->library || !s->options->share) return s->library;
    strbuf_printf(&folder, "%s/std", s->options->share);
    const int count = scandir(strbuf_text(&folder), &entries, is_module, alphasort);
    for (int i = 0; i < count; i++) {
        strbuf_printf(&text, "import \"std/%s\" as m%d;\n", entries[i]->d_name, i);
        free(entries[i]);
    }
    free(entries);
    const struct check_request request = {
        .options = s->options, .path = library_path, .overlay = overlay_library, .overlay_cx = &text};
    s->library = result_check(&request);
    return s->library;
}

/* The letters of the query stand in the name in their order. */
static bool is_asked_for(const char *query, const char *name)
{
    for (; *query && *name; name++) query += tolower((unsigned char)*query) == tolower((unsigned char)*name);
    return !*query;
}

struct search {
    struct server *server;
    const char *query;
    struct strbuf *out;
    VEC(char *) seen; /* real path and place of each that was found */
};

static bool is_seen(struct search *w, const struct module *m, const struct ast *n)
{
    char *key = NULL;
    if (asprintf(&key, "%s:%u", m->real_path, n->name_at.begin) < 0) return true;
    for (size_t i = 0; i < w->seen.count; i++)
        if (strcmp(w->seen.data[i], key) == 0) {
            free(key);
            return true;
        }
    vec_push(&w->seen, key);
    return false;
}

static void add_module(struct search *w, struct document *d, struct result *r, const struct module *m)
{
    for (const struct ast *n = m->ast->items; n; n = n->next) {
        if (!n->name || n->kind == AST_IMPORT || !is_asked_for(w->query, n->name) || is_seen(w, m, n)) continue;
        struct location l = location_of(w->server, d, r, n->name_at);
        strbuf_printf(w->out, "%s{\"name\":", w->out->length > 1 ? "," : "");
        strbuf_json(w->out, n->name, strlen(n->name));
        strbuf_printf(w->out, ",\"kind\":%d,\"containerName\":", number_of(n));
        strbuf_json(w->out, m->name, strlen(m->name));
        strbuf_puts(w->out, ",\"location\":");
        location_json(w->out, &l);
        strbuf_putc(w->out, '}');
        location_free(&l);
    }
}

/* A module that is open has the symbols of its own newest check, not those of an older check of another file. */
static bool is_of_another(const struct server *s, const struct document *d, const struct module *m)
{
    const struct document *open = document_of_real_path(&s->documents, m->real_path);
    return open && open != d && open->good;
}

void workspace_symbols_request(struct server *s, const json_t *params, struct reply *reply)
{
    const char *query = in_text(params, "query");
    struct search w = {.server = s, .query = query ? query : "", .out = &reply->json};
    server_check_all(s);
    strbuf_putc(&reply->json, '[');
    for (size_t i = 0; i < s->documents.count; i++) {
        struct document *d = s->documents.data[i];
        for (int k = 0; d->good && k < d->good->checked->module_count; k++)
            if (!is_of_another(s, d, d->good->checked->modules[k]))
                add_module(&w, d, d->good, d->good->checked->modules[k]);
    }
    struct result *library = library_of(s);
    struct document none = {.uri = library_path, .real = library_path};
    for (int k = 1; library && k < library->checked->module_count; k++)
        add_module(&w, &none, library, library->checked->modules[k]);
    strbuf_putc(&reply->json, ']');
    for (size_t i = 0; i < w.seen.count; i++) free(w.seen.data[i]);
    vec_free(&w.seen);
}
