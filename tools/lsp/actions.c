/* actions.c - the fixes of messages, one by one and all at once.
 * Idea       a fix is of a message, and is preferred where the message has no other; what is done at once are fixes
 *            that stand alone.
 * Invariant  the changes of one action never overlap.
 * Tests      test/lsp/session.py
 */
#include "server.h"
#include <string.h>

typedef VEC(const struct fix *) fix_list;

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* "source" asks for "source.fixAll", too. */
static bool is_wanted(const json_t *params, const char *kind)
{
    const json_t *only = in_get(params, "context.only");
    if (!json_is_array(only)) return true;
    for (size_t i = 0; i < json_array_size(only); i++) {
        const char *asked = json_string_value(json_array_get(only, i));
        const size_t length = asked ? strlen(asked) : 0;
        if (asked && strncmp(kind, asked, length) == 0 && (kind[length] == '\0' || kind[length] == '.')) return true;
    }
    return false;
}

/* ---- one action -------------------------------------------------------------------------------------------------- */

static bool is_same_place(const struct location *a, const struct location *b)
{
    return strcmp(a->uri, b->uri) == 0 && ranges_touch(a->range, b->range);
}

static void add_changes(struct strbuf *out, const fix_list *fixes)
{
    const char *comma = "";
    strbuf_puts(out, "\"edit\":{\"changes\":{");
    for (size_t i = 0; i < fixes->count; i++) {
        const char *uri = fixes->data[i]->at.uri;
        bool is_done = false;
        for (size_t k = 0; k < i && !is_done; k++) is_done = strcmp(fixes->data[k]->at.uri, uri) == 0;
        if (is_done) continue;
        strbuf_puts(out, comma);
        strbuf_json(out, uri, strlen(uri));
        strbuf_puts(out, ":[");
        for (size_t k = i; k < fixes->count; k++) {
            const struct fix *f = fixes->data[k];
            if (strcmp(f->at.uri, uri) != 0) continue;
            if (k > i) strbuf_putc(out, ',');
            text_edit_json(out, f->at.range, f->replacement, strlen(f->replacement));
        }
        strbuf_putc(out, ']');
        comma = ",";
    }
    strbuf_puts(out, "}}");
}

static void begin_action(struct strbuf *out, const char *title, const char *kind)
{
    strbuf_printf(out, "%s{\"title\":", out->length > 1 ? "," : "");
    strbuf_json(out, title, strlen(title));
    strbuf_printf(out, ",\"kind\":\"%s\",", kind);
}

static void add_quick_fixes(struct strbuf *out, const struct finding *f)
{
    for (size_t i = 0; i < f->fixes.count; i++) {
        fix_list one = {0};
        vec_push(&one, &f->fixes.data[i]);
        begin_action(out, f->fixes.data[i].title, "quickfix");
        strbuf_printf(out, "\"isPreferred\":%s,\"diagnostics\":[%s],", f->fixes.count == 1 ? "true" : "false", f->json);
        add_changes(out, &one);
        strbuf_putc(out, '}');
        vec_free(&one);
    }
}

/* ---- many at once ------------------------------------------------------------------------------------------------ */

/* The fixes of messages that have one, and which is in this file; id: of these only, or DIAG_COUNT. */
static void collect(const struct document *d, enum diag_id id, fix_list *fixes)
{
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct finding *f = d->findings.data[i];
        if (f->fixes.count != 1 || (id != DIAG_COUNT && f->id != id)) continue;
        const struct fix *fix = &f->fixes.data[0];
        bool is_free = strcmp(fix->at.uri, d->uri) == 0;
        for (size_t k = 0; k < fixes->count && is_free; k++) is_free = !is_same_place(&fixes->data[k]->at, &fix->at);
        if (is_free) vec_push(fixes, fix);
    }
}

static void add_all_of(struct strbuf *out, const struct document *d, enum diag_id id)
{
    fix_list fixes = {0};
    STRBUF(title);
    collect(d, id, &fixes);
    if (fixes.count > 1) {
        strbuf_printf(&title, "all %zu fixes of %s in this file", fixes.count, diag_id_name(id));
        begin_action(out, strbuf_text(&title), "quickfix");
        add_changes(out, &fixes);
        strbuf_putc(out, '}');
    }
    vec_free(&fixes);
}

static void add_fix_all(struct strbuf *out, const struct document *d)
{
    fix_list fixes = {0};
    collect(d, DIAG_COUNT, &fixes);
    if (fixes.count > 0) {
        begin_action(out, "all fixes in this file", "source.fixAll");
        add_changes(out, &fixes);
        strbuf_putc(out, '}');
    }
    vec_free(&fixes);
}

static void add_format(struct server *s, struct strbuf *out, const struct document *d)
{
    STRBUF(edit);
    if (!formatting_edit(s, d, &edit)) return;
    begin_action(out, "the usual layout", "source.format");
    strbuf_puts(out, "\"edit\":{\"changes\":{");
    strbuf_json(out, d->uri, strlen(d->uri));
    strbuf_printf(out, ":[%s]}}}", strbuf_text(&edit));
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

void actions_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct range range;
    const struct document *d = server_document(s, params);
    bool is_said[DIAG_COUNT] = {false};
    if (!d || !in_range(params, "range", &range)) return;
    strbuf_putc(&reply->json, '[');
    for (size_t i = 0; i < d->findings.count && is_wanted(params, "quickfix"); i++) {
        const struct finding *f = d->findings.data[i];
        if (strcmp(f->at.uri, d->uri) != 0 || !ranges_touch(f->at.range, range)) continue;
        add_quick_fixes(&reply->json, f);
        is_said[f->id] = true;
    }
    for (int id = 0; id < DIAG_COUNT; id++)
        if (is_said[id]) add_all_of(&reply->json, d, (enum diag_id)id);
    if (is_wanted(params, "source.fixAll")) add_fix_all(&reply->json, d);
    if (is_wanted(params, "source.format")) add_format(s, &reply->json, d);
    strbuf_putc(&reply->json, ']');
}
