/* server.c - what is done with each message, and when a document is checked.
 * Idea       all messages that wait are looked at before the next check, so that many changes are one check; a request
 *            finds its document checked.
 * Owner      the list of open documents.
 * Invariant  every request gets exactly one answer, whatever it asks; nothing but `exit` and the end of the input ends
 *            the server.
 * Blocks     in waiting for input, and in a check.
 * Tests      test/lsp/session.py, test/lsp/fuzz.py
 */
#include "server.h"
#include "allocate.h"
#include "methods.h"
#include "paths.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_MS = 200 }; /* a longer check looks at the input */
enum { FILE_CHANGED = 2 };  /* the protocol's */

/* ---- output ------------------------------------------------------------------------------------------------------ */

void server_notify(struct server *s, const char *method, const struct strbuf *params)
{
    STRBUF(out);
    strbuf_printf(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":", method);
    strbuf_add(&out, params->data, params->length);
    strbuf_putc(&out, '}');
    transport_send(&s->transport, &out);
}

/* Hints that are shown are asked for again; the client's answer says nothing. */
static void ask_for_refresh(struct server *s)
{
    STRBUF(out);
    strbuf_printf(&out, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"workspace/inlayHint/refresh\"}",
                  ++s->request_count);
    transport_send(&s->transport, &out);
}

static void answer(struct server *s, const json_t *id, const struct reply *reply)
{
    STRBUF(out);
    char *text = json_dumps(id, JSON_ENCODE_ANY);
    strbuf_printf(&out, "{\"jsonrpc\":\"2.0\",\"id\":%s,", text ? text : "null");
    free(text);
    if (reply->error) {
        strbuf_printf(&out, "\"error\":{\"code\":%d,\"message\":", reply->error);
        const char *why = reply->why ? reply->why : strbuf_text(&reply->json);
        strbuf_json(&out, why, strlen(why));
        strbuf_putc(&out, '}');
    } else {
        strbuf_puts(&out, "\"result\":");
        strbuf_puts(&out, reply->json.length > 0 ? strbuf_text(&reply->json) : "null");
    }
    strbuf_putc(&out, '}');
    transport_send(&s->transport, &out);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

struct check_in_work {
    struct server *server;
    const struct document *document;
    struct timespec begin;
};

static int64_t milliseconds_since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / 1000000;
}

static bool is_about(const json_t *message, const char *method, const char *uri)
{
    const char *name = in_text(message, "method"), *its = in_text(message, "params.textDocument.uri");
    return name && its && strcmp(name, method) == 0 && strcmp(its, uri) == 0;
}

/* A message waits that changes the document. */
static bool is_stale(void *cx)
{
    const struct check_in_work *w = cx;
    struct transport *t = &w->server->transport;
    if (milliseconds_since(&w->begin) < PATIENCE_MS) return false;
    transport_read(t, false);
    for (size_t i = t->first; i < t->waiting.count; i++)
        if (is_about(t->waiting.data[i], "textDocument/didChange", w->document->uri) ||
            is_about(t->waiting.data[i], "textDocument/didClose", w->document->uri))
            return true;
    return false;
}

void server_overlay(void *cx, struct source_map *sources)
{
    const struct server *s = cx;
    documents_overlay(&s->documents, sources);
}

static void check(struct server *s, struct document *d)
{
    struct check_in_work work = {.server = s, .document = d};
    clock_gettime(CLOCK_MONOTONIC, &work.begin);
    const struct check_request request = {
        .options = s->options,
        .path = d->path,
        .overlay = server_overlay,
        .overlay_cx = s,
        .is_stale = is_stale,
        .stale_cx = &work,
    };
    struct result *r = result_check(&request);
    if (r->is_stale) { /* it stays dirty: the change that waits comes first */
        result_free(r);
        return;
    }
    d->is_dirty = false;
    document_note_files(d, r);
    d->has_syntax_error = r->checked->has_syntax_error || r->checked->module_count == 0;
    if (!d->has_syntax_error) {
        result_free(d->good);
        d->good = r;
        d->edits.count = 0;
    }
    diagnostics_take(s, d, r);
    transport_note(&s->transport, "checked %s in %lld ms", d->path, (long long)milliseconds_since(&work.begin));
    if (d->has_syntax_error) result_free(r);
}

static struct document *next_dirty(const struct server *s)
{
    for (size_t i = 0; i < s->documents.count; i++)
        if (s->documents.data[i]->is_dirty) return s->documents.data[i];
    return NULL;
}

void server_check_all(struct server *s)
{
    for (size_t i = 0; i < s->documents.count; i++)
        if (s->documents.data[i]->is_dirty) check(s, s->documents.data[i]);
}

struct document *server_document(struct server *s, const json_t *params)
{
    const char *uri = in_text(params, "textDocument.uri");
    struct document *d = uri ? document_find(&s->documents, uri) : NULL;
    if (d && d->is_dirty) check(s, d);
    return d;
}

struct document *server_place(struct server *s, const json_t *params, size_t *offset)
{
    struct position p;
    struct document *d = server_document(s, params);
    if (!d || !d->good || !in_position(params, "position", &p)) return NULL;
    *offset = document_to_good(d, lines_offset(&d->lines, p, s->encoding));
    return d;
}

/* ---- documents --------------------------------------------------------------------------------------------------- */

static char *copy_text(const json_t *string, size_t *length)
{
    *length = json_string_length(string);
    char *text = allocate(*length + 1);
    if (*length > 0) memcpy(text, json_string_value(string), *length);
    return text;
}

/* What has read another text of the file than this has to be checked again, but for one document.  What has read this
 * text keeps its messages, those of the C compiler, too. */
static void mark_readers(struct server *s, const struct document *but, const char *real, const char *text,
                         size_t length)
{
    for (size_t i = 0; i < s->documents.count; i++) {
        struct document *d = s->documents.data[i];
        if (d != but && document_reads(d, real) && !document_has_read(d, real, text, length)) d->is_dirty = true;
    }
}

/* The same of the text that is on disk. */
static void mark_readers_of_disk(struct server *s, const char *real)
{
    struct source_map *m = source_map_create();
    const char *why;
    const int file = real[0] == '/' ? source_map_read(m, real, &why) : -1;
    const struct source *source = file >= 0 ? source_get(m, (uint32_t)file) : NULL;
    mark_readers(s, NULL, real, source ? source->text : NULL, source ? source->length : 0);
    source_map_destroy(m);
}

static void did_open(struct server *s, const json_t *params)
{
    const char *uri = in_text(params, "textDocument.uri");
    const json_t *text = in_get(params, "textDocument.text");
    if (!uri || !json_is_string(text)) return;
    struct document *d = document_find(&s->documents, uri);
    size_t length;
    if (!d) d = document_open(&s->documents, uri);
    d->version = in_integer(params, "textDocument.version", 0);
    char *copy = copy_text(text, &length);
    document_set_text(d, copy, length);
    mark_readers(s, d, d->real, d->text, d->length);
}

static void change(struct server *s, struct document *d, const json_t *one)
{
    const json_t *text = in_get(one, "text");
    struct range range;
    size_t length;
    if (!json_is_string(text)) return;
    if (in_range(one, "range", &range)) {
        const size_t begin = lines_offset(&d->lines, range.begin, s->encoding),
                     end = lines_offset(&d->lines, range.end, s->encoding);
        document_edit(d, begin, end, json_string_value(text), json_string_length(text));
    } else {
        char *copy = copy_text(text, &length);
        document_set_text(d, copy, length);
    }
}

static void did_change(struct server *s, const json_t *params)
{
    const char *uri = in_text(params, "textDocument.uri");
    struct document *d = uri ? document_find(&s->documents, uri) : NULL;
    const json_t *changes = in_get(params, "contentChanges");
    if (!d) return;
    for (size_t i = 0; i < json_array_size(changes); i++) change(s, d, json_array_get(changes, i));
    d->version = in_integer(params, "textDocument.version", d->version);
    mark_readers(s, d, d->real, d->text, d->length);
}

static void did_close(struct server *s, const json_t *params)
{
    const char *uri = in_text(params, "textDocument.uri");
    struct document *d = uri ? document_find(&s->documents, uri) : NULL;
    if (!d) return;
    size_t i = 0;
    while (s->documents.data[i] != d) i++;
    for (s->documents.count--; i < s->documents.count; i++) s->documents.data[i] = s->documents.data[i + 1];
    mark_readers_of_disk(s, d->real);
    diagnostics_close(s, d);
    document_free(d);
}

static void did_save(struct server *s, const json_t *params)
{
    struct document *d = server_document(s, params);
    if (d && !d->is_dirty) bodies_check(s, d);
}

/* A file that comes or goes changes what an import finds.  Of one that is open the text in the editor counts. */
static void did_change_file(struct server *s, const json_t *change)
{
    const char *uri = in_text(change, "uri");
    char *path = path_of_uri(uri ? uri : ""), *real = path_real(path);
    const struct document *open = document_of_real_path(&s->documents, real);
    if (in_integer(change, "type", 0) != FILE_CHANGED) {
        for (size_t i = 0; i < s->documents.count; i++)
            if (s->documents.data[i] != open) s->documents.data[i]->is_dirty = true;
    } else if (!open) {
        mark_readers_of_disk(s, real);
    }
    free(real);
    free(path);
}

static void did_change_files(struct server *s, const json_t *params)
{
    const json_t *changes = in_get(params, "changes");
    for (size_t i = 0; i < json_array_size(changes); i++) did_change_file(s, json_array_get(changes, i));
}

/* ---- the session ------------------------------------------------------------------------------------------------- */

static bool offers(const json_t *params, const char *encoding)
{
    const json_t *list = in_get(params, "capabilities.general.positionEncodings");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name && strcmp(name, encoding) == 0) return true;
    }
    return false;
}

static void set_hints(struct server *s, const json_t *hints)
{
    s->shows_types = in_bool(hints, "types", s->shows_types);
    s->shows_releases = in_bool(hints, "released", s->shows_releases);
    s->shows_memory = in_bool(hints, "memory", s->shows_memory);
}

static void initialize(struct server *s, const json_t *params, struct reply *reply)
{
    if (s->is_initialized) {
        *reply = (struct reply){.error = LSP_INVALID_REQUEST, .why = "the session has begun already"};
        return;
    }
    s->is_initialized = true;
    s->refreshes_hints = in_bool(params, "capabilities.workspace.inlayHint.refreshSupport", false);
    s->encoding = offers(params, "utf-8") ? ENCODING_UTF8 : ENCODING_UTF16;
    set_hints(s, in_get(params, "initializationOptions.hints"));
    strbuf_printf(&reply->json, "{\"capabilities\":{\"positionEncoding\":\"%s\",",
                  s->encoding == ENCODING_UTF8 ? "utf-8" : "utf-16");
    methods_capabilities(&reply->json);
    strbuf_puts(&reply->json, "},\"serverInfo\":{\"name\":\"ptoc\",\"version\":\"" PTOC_NUMBER "\"}}");
}

static void shutdown(struct server *s, const json_t *params, struct reply *reply)
{
    (void)params, (void)reply;
    s->is_shut_down = true;
}

static void did_configure(struct server *s, const json_t *params)
{
    set_hints(s, in_get(params, "settings.pto.hints"));
    if (s->refreshes_hints) ask_for_refresh(s);
}

static const struct {
    const char *method;
    void (*take)(struct server *s, const json_t *params);
} notifications[] = {
    {"textDocument/didOpen", did_open},
    {"textDocument/didChange", did_change},
    {"textDocument/didClose", did_close},
    {"textDocument/didSave", did_save},
    {"workspace/didChangeConfiguration", did_configure},
    {"workspace/didChangeWatchedFiles", did_change_files},
};

static void take_notification(struct server *s, const char *method, const json_t *params)
{
    if (strcmp(method, "exit") == 0) s->has_exited = true;
    for (size_t i = 0; i < sizeof notifications / sizeof *notifications; i++)
        if (s->is_initialized && !s->is_shut_down && strcmp(notifications[i].method, method) == 0)
            notifications[i].take(s, params);
}

static bool is_cancelled(struct server *s, const json_t *id)
{
    struct transport *t = &s->transport;
    for (size_t i = t->first; i < t->waiting.count; i++) {
        const char *method = in_text(t->waiting.data[i], "method");
        if (method && strcmp(method, "$/cancelRequest") == 0 && json_equal(in_get(t->waiting.data[i], "params.id"), id))
            return true;
    }
    return false;
}

static void take_request(struct server *s, const json_t *id, const char *method, const json_t *params)
{
    struct reply reply = {0};
    request_function *request = methods_find(method);
    if (is_cancelled(s, id))
        reply = (struct reply){.error = LSP_CANCELLED, .why = "the request was cancelled"};
    else if (strcmp(method, "initialize") == 0)
        initialize(s, params, &reply);
    else if (!s->is_initialized)
        reply = (struct reply){.error = LSP_NOT_INITIALIZED, .why = "the session begins with 'initialize'"};
    else if (s->is_shut_down)
        reply = (struct reply){.error = LSP_INVALID_REQUEST, .why = "behind 'shutdown' comes 'exit'"};
    else if (strcmp(method, "shutdown") == 0)
        shutdown(s, params, &reply);
    else if (request)
        request(s, params, &reply);
    else
        reply = (struct reply){.error = LSP_METHOD_NOT_FOUND, .why = "the server has no such method"};
    answer(s, id, &reply);
    strbuf_free(&reply.json);
}

static void take_message(struct server *s, const json_t *message)
{
    const char *method = in_text(message, "method");
    const json_t *id = in_get(message, "id"), *params = in_get(message, "params");
    if (method && id)
        take_request(s, id, method, params);
    else if (method)
        take_notification(s, method, params);
    else if (!in_get(message, "result") && !in_get(message, "error"))
        answer(s, NULL, &(struct reply){.error = LSP_INVALID_REQUEST, .why = "a message has a method"});
}

static void serve(struct server *s)
{
    while (!s->has_exited) {
        struct document *dirty = next_dirty(s);
        transport_read(&s->transport, !dirty);
        json_t *message = transport_next(&s->transport);
        if (message) {
            take_message(s, message);
            json_decref(message);
        } else if (dirty) {
            check(s, dirty);
        } else if (s->transport.is_at_end) {
            break;
        }
    }
}

int lsp_serve(const struct lsp_options *options)
{
    struct server s = {
        .options = options,
        .transport = {.in = 0, .out = 1},
        .shows_types = true,
        .shows_releases = true,
        .shows_memory = true,
    };
    if (options->log && !(s.transport.log = fopen(options->log, "a"))) {
        fprintf(stderr, "ptoc: error: cannot write '%s'\n", options->log);
        return 4;
    }
    serve(&s);
    for (size_t i = 0; i < s.documents.count; i++) document_free(s.documents.data[i]);
    vec_free(&s.documents);
    result_free(s.library);
    transport_free(&s.transport);
    if (s.transport.log) fclose(s.transport.log);
    return s.is_shut_down ? 0 : 1;
}
