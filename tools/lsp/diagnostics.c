/* diagnostics.c - the messages of a check as the protocol has them.
 * Idea       a message is converted once, when its check ends; it belongs to the document that was checked, and is
 *            published under the file that it is about.
 * Owner      the document.
 * Invariant  a file that is open has the messages of its own check; one that is not has those of all checks that read
 *            it.
 * Tests      test/lsp/diagnostics.py, session.py
 */
#include "diagnostics.h"
#include "allocate.h"
#include "paths.h"
#include "server.h"
#include <string.h>

static void finding_free(struct finding *f)
{
    for (size_t i = 0; i < f->fixes.count; i++) {
        location_free(&f->fixes.data[i].at);
        free(f->fixes.data[i].title);
        free(f->fixes.data[i].replacement);
    }
    vec_free(&f->fixes);
    location_free(&f->at);
    free(f->json);
    free(f);
}

void findings_free(finding_list *list)
{
    for (size_t i = 0; i < list->count; i++) finding_free(list->data[i]);
    vec_free(list);
}

/* ---- one message ------------------------------------------------------------------------------------------------- */

static void add_link(const struct server *s, struct strbuf *out, enum diag_id id)
{
    if (!s->options->share || !s->options->explain_pages[id]) return;
    STRBUF(path);
    STRBUF(uri);
    strbuf_printf(&path, "%s/explain/%s.md", s->options->share, diag_id_name(id));
    uri_of_path(&uri, strbuf_text(&path));
    strbuf_puts(out, ",\"codeDescription\":{\"href\":");
    strbuf_json(out, strbuf_text(&uri), uri.length);
    strbuf_putc(out, '}');
}

/* The message, and what was said with it that is at no place of its own. */
static void add_text(struct strbuf *out, const struct diag_message *m)
{
    STRBUF(text);
    strbuf_puts(&text, m->text);
    for (size_t i = 0; i < m->part_count; i++)
        if (m->parts[i].kind != DIAG_NOTE || !m->parts[i].has_place)
            strbuf_printf(&text, "\n%s: %s", m->parts[i].kind == DIAG_NOTE ? "note" : "help", m->parts[i].text);
    strbuf_json(out, strbuf_text(&text), text.length);
}

static void add_notes(struct server *s, struct document *d, struct result *r, struct strbuf *out,
                      const struct diag_message *m)
{
    const char *comma = "";
    strbuf_puts(out, ",\"relatedInformation\":[");
    for (size_t i = 0; i < m->part_count; i++) {
        const struct diag_part *p = &m->parts[i];
        if (p->kind != DIAG_NOTE || !p->has_place) continue;
        struct location at = location_of(s, d, r, p->at);
        strbuf_printf(out, "%s{\"location\":", comma);
        location_json(out, &at);
        strbuf_puts(out, ",\"message\":");
        strbuf_json(out, p->text, strlen(p->text));
        strbuf_putc(out, '}');
        location_free(&at);
        comma = ",";
    }
    strbuf_putc(out, ']');
}

static void begin_json(struct strbuf *out, struct range range, bool is_error)
{
    strbuf_puts(out, "{\"range\":");
    range_json(out, range);
    strbuf_printf(out, ",\"severity\":%d,\"source\":\"ptoc\"", is_error ? 1 : 2);
}

static struct finding *finding_of(struct server *s, struct document *d, struct result *r, const struct diag_message *m)
{
    struct finding *f = allocate(sizeof *f);
    struct strbuf out = {0};
    f->id = m->id;
    f->at = m->has_place ? location_of(s, d, r, m->at) : (struct location){strdup(d->uri), {{0}, {0}}};
    begin_json(&out, f->at.range, m->is_error);
    strbuf_printf(&out, ",\"code\":\"%s\"", diag_id_name(m->id));
    add_link(s, &out, m->id);
    strbuf_puts(&out, ",\"message\":");
    add_text(&out, m);
    if (m->id == DIAG_W02 || m->id == DIAG_W09) strbuf_puts(&out, ",\"tags\":[1]"); /* unnecessary */
    add_notes(s, d, r, &out, m);
    strbuf_putc(&out, '}');
    f->json = out.data;
    for (size_t i = 0; i < m->part_count; i++) {
        const struct diag_part *p = &m->parts[i];
        if (p->kind != DIAG_FIX) continue;
        const struct fix fix = {location_of(s, d, r, p->at), strdup(p->text), strdup(p->replacement)};
        vec_push(&f->fixes, fix);
    }
    return f;
}

/* ---- publishing -------------------------------------------------------------------------------------------------- */

static bool add_findings(struct strbuf *out, const struct document *d, const char *uri, bool any)
{
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct finding *f = d->findings.data[i];
        if (strcmp(f->at.uri, uri) != 0 || strstr(strbuf_text(out), f->json)) continue; /* or another check said it */
        strbuf_printf(out, "%s%s", any ? "," : "", f->json);
        any = true;
    }
    return any;
}

static void publish(struct server *s, const char *uri)
{
    const struct document *own = document_find(&s->documents, uri);
    STRBUF(out);
    strbuf_puts(&out, "{\"uri\":");
    strbuf_json(&out, uri, strlen(uri));
    if (own) strbuf_printf(&out, ",\"version\":%lld", (long long)own->version);
    strbuf_puts(&out, ",\"diagnostics\":[");
    bool any = own && add_findings(&out, own, uri, false);
    for (size_t i = 0; !own && i < s->documents.count; i++) any = add_findings(&out, s->documents.data[i], uri, any);
    strbuf_puts(&out, "]}");
    server_notify(s, "textDocument/publishDiagnostics", &out);
}

typedef VEC(const char *) text_list;

/* The files, other than the document and those that are open, that messages are about: each once. */
static void add_others(const struct server *s, const struct document *d, const finding_list *list, text_list *uris)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *uri = list->data[i]->at.uri;
        bool is_known = strcmp(uri, d->uri) == 0 || document_find(&s->documents, uri) != NULL;
        for (size_t k = 0; k < uris->count && !is_known; k++) is_known = strcmp(uris->data[k], uri) == 0;
        if (!is_known) vec_push(uris, uri);
    }
}

static void replace(struct server *s, struct document *d, finding_list now)
{
    finding_list before = d->findings;
    text_list others = {0};
    add_others(s, d, &before, &others);
    add_others(s, d, &now, &others);
    d->findings = now;
    publish(s, d->uri);
    for (size_t i = 0; i < others.count; i++) publish(s, others.data[i]);
    vec_free(&others);
    findings_free(&before);
}

void diagnostics_take(struct server *s, struct document *d, struct result *r)
{
    finding_list now = {0};
    for (size_t i = 0; i < r->messages.count; i++) vec_push(&now, finding_of(s, d, r, &r->messages.data[i]));
    replace(s, d, now);
}

void diagnostics_close(struct server *s, struct document *d)
{
    const finding_list none = {0};
    replace(s, d, none);
}
