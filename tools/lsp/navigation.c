/* navigation.c - where a name is declared, and where it is used.
 * Idea       a declaration is known by its file on disk and its place in it; so the uses of one name are found in every
 *            document that is open, and in what these import.
 * Tests      test/lsp/requests.py
 */
#include "navigation.h"
#include "paths.h"
#include <string.h>

/* ---- one name ---------------------------------------------------------------------------------------------------- */

const struct name_use *name_under(struct server *s, const json_t *params, struct document **document)
{
    size_t offset;
    struct document *d = *document = server_place(s, params, &offset);
    return d ? names_at(result_names(d->good), result_main(d->good)->ast->file, offset) : NULL;
}

static const char *real_path_of(const struct result *r, uint32_t file)
{
    const struct module *m = result_module(r, file);
    return m ? m->real_path : "";
}

bool name_is_same(const struct result *r, const struct name_use *use, const struct result *of,
                  const struct name_use *name)
{
    return use->declared.begin == name->declared.begin &&
           strcmp(real_path_of(r, use->declared.file), real_path_of(of, name->declared.file)) == 0;
}

bool name_is_of_library(const struct server *s, const struct result *r, const struct name_use *use)
{
    if (!s->options->share) return false;
    STRBUF(folder);
    strbuf_printf(&folder, "%s/std", s->options->share);
    char *real = path_real(strbuf_text(&folder));
    const size_t length = real ? strlen(real) : 0;
    const char *path = real_path_of(r, use->declared.file);
    const bool is_inside = real && strncmp(path, real, length) == 0 && path[length] == '/';
    free(real);
    return is_inside;
}

/* ---- definition -------------------------------------------------------------------------------------------------- */

/* The module whose import the place is in; NULL: none. */
static const struct symbol *import_under(struct server *s, const json_t *params)
{
    size_t offset;
    const struct document *d = server_place(s, params, &offset);
    if (!d) return NULL;
    for (const struct ast *n = result_main(d->good)->ast->items; n; n = n->next)
        if (n->kind == AST_IMPORT && offset >= n->at.begin && offset < n->at.end) return n->symbol;
    return NULL;
}

void definition_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct document *d;
    const struct name_use *use = name_under(s, params, &d);
    const struct symbol *module = use && use->kind == NAME_MODULE ? use->symbol : use ? NULL : import_under(s, params);
    struct span at = use ? use->declared : (struct span){0};
    if (use && use->kind == NAME_KERNEL && use->symbol) names_declaration(use->symbol, &at);
    if (module && module->target) at = (struct span){module->target->ast->file, 0, 0};
    if (!use && !(module && module->target)) return;
    struct location l = location_of(s, d, d->good, at);
    location_json(&reply->json, &l);
    location_free(&l);
}

/* ---- references -------------------------------------------------------------------------------------------------- */

static bool is_known(const place_list *list, const struct location *l)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct location *k = &list->data[i].at;
        if (k->range.begin.line == l->range.begin.line && k->range.begin.character == l->range.begin.character &&
            strcmp(k->uri, l->uri) == 0)
            return true;
    }
    return false;
}

void places_of(struct server *s, struct document *d, const struct name_use *name, bool with_declaration,
               place_list *list)
{
    for (size_t k = 0; k < s->documents.count; k++) {
        struct document *other = s->documents.data[k];
        const struct name_list *names = other->good ? result_names(other->good) : NULL;
        for (size_t i = 0; names && i < names->count; i++) {
            const struct name_use *use = &names->data[i];
            if ((use->declares && !with_declaration) || !name_is_same(other->good, use, d->good, name)) continue;
            struct location l = location_of(s, other, other->good, use->at);
            if (is_known(list, &l))
                location_free(&l);
            else
                vec_push(list, ((struct name_place){l, other, use}));
        }
    }
}

void places_free(place_list *list)
{
    for (size_t i = 0; i < list->count; i++) location_free(&list->data[i].at);
    vec_free(list);
}

void references_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct document *d;
    server_check_all(s);
    const struct name_use *use = name_under(s, params, &d);
    if (!use) return;
    place_list list = {0};
    places_of(s, d, use, in_bool(params, "context.includeDeclaration", true), &list);
    strbuf_putc(&reply->json, '[');
    for (size_t i = 0; i < list.count; i++) {
        if (i > 0) strbuf_putc(&reply->json, ',');
        location_json(&reply->json, &list.data[i].at);
    }
    strbuf_putc(&reply->json, ']');
    places_free(&list);
}
