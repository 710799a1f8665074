/* rename.c - another name for what a name means.
 * Idea       the changes are made in copies of the texts, and these are checked: the new name is good if no message is
 *            new, and every name still means the same declaration.  So no rule of the language is repeated here, but
 *            for those of C: a kernel that is elsewhere keeps its symbol, and the name in a C body is no word of C.
 * Invariant  what is refused is refused with a sentence, and nothing is changed.
 * Blocks     in checking the renamed program, and in the C compiler where a C body has changed.
 * Tests      test/lsp/rename.py
 */
#include "codegen.h"
#include "emit/mangle.h"
#include "methods.h"
#include "navigation.h"
#include "support/arena.h"
#include "syntax/lexer.h"
#include <stdarg.h>
#include <string.h>

/* What is written in place of a piece of a file. */
struct change {
    const struct name_place *place; /* of the name that is the reason */
    struct span at;
    const char *text;
};

/* One file as it will be. */
struct renamed {
    const char *path;
    struct strbuf text;
};

struct renaming {
    struct server *server;
    struct arena *mem;
    const char *name;
    const struct document *document; /* where the rename was asked for, and the name there */
    const struct name_use *use;
    place_list places;
    VEC(struct change) changes; /* those of one file in their order */
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

static void add_change(struct renaming *w, const struct name_place *p, struct span at, const char *text)
{
    vec_push(&w->changes, ((struct change){p, at, text}));
}

/* The declaration of a kernel whose C symbol is its name, because no other is written; else NULL. */
static const struct ast *named_as_its_symbol(const struct name_use *use)
{
    const struct ast *n = use->node;
    const bool is_kernel = use->declares && use->kind == NAME_KERNEL && use->symbol && n && n->kind == AST_KERNEL;
    return is_kernel && codegen_kernel_symbol(use->symbol) && !n->kernel->extern_name ? n : NULL;
}

static void make_changes(struct renaming *w)
{
    for (size_t i = 0; i < w->places.count; i++) {
        const struct name_place *p = &w->places.data[i];
        const struct ast *kernel = named_as_its_symbol(p->use);
        if (p->use->is_path) { /* import "f.pto": it gets an `as` */
            const struct span path = p->use->node->import.path->at;
            add_change(w, p, (struct span){path.file, path.end, path.end}, arena_printf(w->mem, " as %s", w->name));
        } else {
            add_change(w, p, p->use->at, w->name);
        }
        if (kernel && strcmp(kernel->name, w->name) != 0) { /* it calls the same C function: `extern` before the `;` */
            const struct span end = {kernel->at.file, kernel->at.end - 1, kernel->at.end - 1};
            add_change(w, p, end, arena_printf(w->mem, " extern \"%s\"", kernel->name));
        }
    }
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

/* From the last to the first, so that each stays where it is. */
static void change_texts(struct renaming *w)
{
    for (size_t i = w->changes.count; i-- > 0;) {
        const struct change *c = &w->changes.data[i];
        struct strbuf now = {0};
        struct strbuf *text = &file_of(w, c->place)->text;
        strbuf_add(&now, text->data, c->at.begin);
        strbuf_puts(&now, c->text);
        strbuf_puts(&now, text->data + c->at.end);
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

/* ---- what only C would refuse ---- */

static bool is_symbol_of(const struct symbol *kernel, const char *name)
{
    const char *symbol = codegen_kernel_symbol(kernel);
    bool is_one = symbol && strcmp(symbol, name) == 0;
    for (const struct symbol *i = kernel->instances; i && !is_one; i = i->next_instance) is_one = is_symbol_of(i, name);
    return is_one;
}

/* Is the name the C symbol of another kernel that the document reads? */
static bool is_taken_by_kernel(const struct renaming *w, struct document *d)
{
    const struct name_list *names = result_names(d->good);
    for (size_t i = 0; i < names->count; i++) {
        const struct name_use *use = &names->data[i];
        if (use->declares && use->kind == NAME_KERNEL && use->symbol && is_symbol_of(use->symbol, w->name) &&
            !name_is_same(d->good, use, w->document->good, w->use))
            return true;
    }
    return false;
}

static bool is_in_c_body(const struct renaming *w)
{
    for (size_t i = 0; i < w->places.count; i++)
        if (w->places.data[i].use->is_in_c) return true;
    return false;
}

static void refuse_words_of_c(const struct renaming *w, struct reply *reply)
{
    if (mangle_is_c_keyword(w->name) && is_in_c_body(w))
        refuse(reply, "'%s' is a word of C, and the C body of a kernel uses the name", w->name);
}

static void try_document(struct renaming *w, struct document *d, struct reply *reply)
{
    const struct check_request now = {
        .options = w->server->options, .path = d->path, .overlay = server_overlay, .overlay_cx = w->server};
    const struct check_request request = {
        .options = w->server->options, .path = d->path, .overlay = overlay, .overlay_cx = w};
    struct result *after = result_check(&request);
    const char *message = new_message(d->good, after);
    if (message)
        refuse(reply, "with the name '%s' the program would have a new message: %s", w->name, message);
    else if (!mean_the_same(d->good, after))
        refuse(reply, "'%s' means something else already where the name stands", w->name);
    else if (is_in_c_body(w) && (message = bodies_new_message(w->server, d->path, &now, after)) != NULL)
        refuse(reply, "with the name '%s' the C compiler would have a new message: %s", w->name, message);
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
    const bool names_a_kernel = w->use->kind == NAME_KERNEL;
    for (size_t i = 0; i < w->server->documents.count && !reply->error; i++) {
        struct document *d = w->server->documents.data[i];
        if (!d->good || !has_place(w, d)) continue;
        if (d->has_syntax_error)
            refuse(reply, "'%s' has a syntax error: nothing can be renamed before it is mended", d->path);
        else if (names_a_kernel && is_taken_by_kernel(w, d))
            refuse(reply, "'%s' is the C symbol of another kernel already", w->name);
        else
            try_document(w, d, reply);
    }
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void add_edits(struct renaming *w, const char *uri, struct strbuf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < w->changes.count; i++) {
        const struct change *c = &w->changes.data[i];
        struct document *d = c->place->document;
        if (strcmp(c->place->at.uri, uri) != 0) continue;
        strbuf_puts(out, comma);
        text_edit_json(out, location_range(w->server, d, d->good, c->at), c->text, strlen(c->text));
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
    if (!w.name || !lexer_is_name(w.name)) {
        refuse(reply, "'%s' is not a name", w.name ? w.name : "");
        return;
    }
    w.mem = arena_create();
    w.document = d;
    w.use = use;
    places_of(s, d, use, true, &w.places);
    make_changes(&w);
    change_texts(&w);
    refuse_words_of_c(&w, reply);
    if (!reply->error) try_all(&w, reply);
    if (!reply->error) add_changes(&w, &reply->json);
    for (size_t i = 0; i < w.files.count; i++) strbuf_free(&w.files.data[i].text);
    vec_free(&w.files);
    vec_free(&w.changes);
    places_free(&w.places);
    arena_destroy(w.mem);
}
