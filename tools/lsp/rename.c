/* rename.c - another name for what a name means.
 * Idea       the changes are made in copies of the texts, and these are checked: the new name is good if no message is
 *            new, and every name still means the same declaration.  So no rule of the language is repeated here.
 * Invariant  what is refused is refused with a sentence, and nothing is changed.
 * Blocks     in checking the renamed program.
 * Tests      test/lsp/rename.py
 */
#include "navigation.h"
#include "support/arena.h"
#include "support/intern.h"
#include "syntax/lexer.h"
#include <stdarg.h>
#include <string.h>

/* One file as it will be. */
struct renamed {
    const char *path;
    struct strbuf text;
};

struct renaming {
    struct server *server;
    const char *name;
    place_list places;
    VEC(struct renamed) files;
};

static void refuse(struct reply *reply, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refuse(struct reply *reply, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&reply->json, format, args);
    va_end(args);
    reply->error = LSP_REQUEST_FAILED;
}

static bool is_name(const char *text)
{
    struct arena *mem = arena_create();
    struct interner *names = interner_create();
    struct lexer lx;
    lexer_init_text(&lx, mem, names, 0, text, strlen(text));
    const struct token t = lexer_next(&lx);
    const bool is_letter = *text == '_' || (*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z');
    const bool is_one = is_letter && t.name && !t.problem && t.at.begin == 0 && t.at.end == strlen(text);
    interner_destroy(names);
    arena_destroy(mem);
    return is_one;
}

/* ---- may it be renamed? ------------------------------------------------------------------------------------------ */

/* The name under params.position, where it may be renamed; else NULL, and the reply says why. */
static const struct name_use *find(struct server *s, const json_t *params, struct document **d, struct reply *reply)
{
    server_check_all(s);
    const struct name_use *use = name_under(s, params, d);
    if (*d && (*d)->has_syntax_error)
        refuse(reply, "the file has a syntax error: nothing can be renamed before it is mended");
    else if (!use)
        refuse(reply, "there is no name here that can be renamed");
    else if (name_is_of_library(s, (*d)->good, use))
        refuse(reply, "the name comes from std/, which is not yours to change");
    return reply->error ? NULL : use;
}

void prepare_rename_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct document *d;
    const struct name_use *use = find(s, params, &d, reply);
    if (use) range_json(&reply->json, location_range(s, d, d->good, use->at));
}

/* ---- the texts with the new name --------------------------------------------------------------------------------- */

/* What is written at a place; *at: where. */
static const char *written_at(const struct renaming *w, const struct name_place *p, struct span *at,
                              struct strbuf *text)
{
    *at = p->use->at;
    if (!p->use->is_path) return w->name;
    const struct span path = p->use->node->import.path->at; /* import "f.pto": it gets an `as` */
    *at = (struct span){path.file, path.end, path.end};
    strbuf_printf(text, " as %s", w->name);
    return strbuf_text(text);
}

static struct renamed *file_of(struct renaming *w, const struct name_place *p)
{
    const struct result *r = p->document->good;
    const struct module *m = result_module(r, p->use->at.file);
    const char *path = m->is_main ? p->document->path : m->real_path;
    const struct document *open = document_of_real_path(&w->server->documents, m->real_path);
    if (open) path = open->path;
    for (size_t i = 0; i < w->files.count; i++)
        if (strcmp(w->files.data[i].path, path) == 0) return &w->files.data[i];
    struct renamed f = {.path = path};
    const struct source *source = source_get(r->front.sources, p->use->at.file);
    strbuf_add(&f.text, source->text, source->length);
    vec_push(&w->files, f);
    return &w->files.data[w->files.count - 1];
}

/* Places of one file are in their order, so from the last to the first each stays where it is. */
static void change_texts(struct renaming *w)
{
    for (size_t i = w->places.count; i-- > 0;) {
        struct span at;
        STRBUF(other);
        struct strbuf now = {0};
        struct strbuf *text = &file_of(w, &w->places.data[i])->text;
        const char *written = written_at(w, &w->places.data[i], &at, &other);
        strbuf_add(&now, text->data, at.begin);
        strbuf_puts(&now, written);
        strbuf_puts(&now, text->data + at.end);
        strbuf_free(text);
        *text = now;
    }
}

/* ---- the trial --------------------------------------------------------------------------------------------------- */

static void overlay(void *cx, struct source_map *sources)
{
    const struct renaming *w = cx;
    for (size_t i = 0; i < w->files.count; i++) /* of two texts of one path the first is read */
        source_map_overlay(sources, w->files.data[i].path, w->files.data[i].text.data, w->files.data[i].text.length);
    documents_overlay(&w->server->documents, sources);
}

/* Which of the names is the declaration of the name. */
static size_t declaration_of(const struct name_list *names, const struct name_use *use)
{
    const struct name_use *d = names_at(names, use->declared.file, use->declared.begin);
    return d ? (size_t)(d - names->data) : names->count;
}

static bool mean_the_same(struct result *before, struct result *after)
{
    const struct name_list *a = result_names(before), *b = result_names(after);
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->data[i].kind != b->data[i].kind || declaration_of(a, &a->data[i]) != declaration_of(b, &b->data[i]))
            return false;
    return true;
}

/* The first message that was not there before; NULL: none is new. */
static const char *new_message(const struct result *before, const struct result *after)
{
    for (size_t i = 0; i < after->messages.count; i++)
        if (i >= before->messages.count || before->messages.data[i].id != after->messages.data[i].id)
            return after->messages.data[i].text;
    return NULL;
}

static void try_document(struct renaming *w, struct document *d, struct reply *reply)
{
    const struct check_request request = {
        .options = w->server->options, .path = d->path, .overlay = overlay, .overlay_cx = w};
    struct result *after = result_check(&request);
    const char *message = new_message(d->good, after);
    if (message)
        refuse(reply, "with the name '%s' the program would have a new message: %s", w->name, message);
    else if (!mean_the_same(d->good, after))
        refuse(reply, "'%s' means something else already where the name stands", w->name);
    result_free(after);
}

static bool has_place(const struct renaming *w, const struct document *d)
{
    for (size_t i = 0; i < w->places.count; i++) {
        const struct name_place *p = &w->places.data[i];
        if (document_reads(d, result_module(p->document->good, p->use->at.file)->real_path)) return true;
    }
    return false;
}

static void try_all(struct renaming *w, struct reply *reply)
{
    for (size_t i = 0; i < w->server->documents.count && !reply->error; i++) {
        struct document *d = w->server->documents.data[i];
        if (!d->good || !has_place(w, d)) continue;
        if (d->has_syntax_error)
            refuse(reply, "'%s' has a syntax error: nothing can be renamed before it is mended", d->path);
        else
            try_document(w, d, reply);
    }
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void add_edits(struct renaming *w, const char *uri, struct strbuf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < w->places.count; i++) {
        const struct name_place *p = &w->places.data[i];
        if (strcmp(p->at.uri, uri) != 0) continue;
        struct span at;
        STRBUF(other);
        const char *written = written_at(w, p, &at, &other);
        const struct range range =
            p->use->is_path ? location_range(w->server, p->document, p->document->good, at) : p->at.range;
        strbuf_puts(out, comma);
        text_edit_json(out, range, written, strlen(written));
        comma = ",";
    }
}

static void add_changes(struct renaming *w, struct strbuf *out)
{
    const char *comma = "";
    strbuf_puts(out, "{\"changes\":{");
    for (size_t i = 0; i < w->places.count; i++) {
        const char *uri = w->places.data[i].at.uri;
        bool is_done = false;
        for (size_t k = 0; k < i && !is_done; k++) is_done = strcmp(w->places.data[k].at.uri, uri) == 0;
        if (is_done) continue;
        strbuf_puts(out, comma);
        strbuf_json(out, uri, strlen(uri));
        strbuf_puts(out, ":[");
        add_edits(w, uri, out);
        strbuf_putc(out, ']');
        comma = ",";
    }
    strbuf_puts(out, "}}");
}

void rename_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct document *d;
    struct renaming w = {.server = s, .name = in_text(params, "newName")};
    const struct name_use *use = find(s, params, &d, reply);
    if (!use) return;
    if (!w.name || !is_name(w.name)) {
        refuse(reply, "'%s' is not a name", w.name ? w.name : "");
        return;
    }
    places_of(s, d, use, true, &w.places);
    change_texts(&w);
    try_all(&w, reply);
    if (!reply->error) add_changes(&w, &reply->json);
    for (size_t i = 0; i < w.files.count; i++) strbuf_free(&w.files.data[i].text);
    vec_free(&w.files);
    places_free(&w.places);
}
