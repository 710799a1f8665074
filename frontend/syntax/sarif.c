/* sarif.c - see sarif.h.
 * Source     Static Analysis Results Interchange Format (SARIF) 2.1.0, OASIS.
 */
#include "sarif.h"
#include "support/strbuf.h"
#include <string.h>

/* A span may point behind the end of its file by one when the end was not expected. */
static void find_places(const struct sarif *s, struct span at, struct place *begin, struct place *end)
{
    const uint32_t last = (uint32_t)source_get(s->sources, at.file)->length;
    *begin = source_place(s->sources, at.file, at.begin < last ? at.begin : last);
    *end = source_place(s->sources, at.file, at.end < last ? at.end : last);
}

/* Columns of SARIF count characters, ours bytes. */
static int column_of(const struct sarif *s, struct span at, struct place place)
{
    size_t length;
    const char *line = source_line(s->sources, at.file, at.begin, &length);
    int column = 1;
    for (int i = 0; i + 1 < place.column && i < (int)length; i++) column += ((unsigned char)line[i] & 0xc0) != 0x80;
    return column;
}

static void add_region(const struct sarif *s, struct strbuf *b, struct span at)
{
    struct place begin, end;
    find_places(s, at, &begin, &end);
    strbuf_printf(b, "{\"startLine\":%d,\"startColumn\":%d", begin.line, column_of(s, at, begin));
    const struct span last = {at.file, at.end > at.begin ? at.end - 1 : at.end, at.end};
    strbuf_printf(b, ",\"endLine\":%d,\"endColumn\":%d}", end.line,
                  end.line == begin.line ? column_of(s, at, end) : column_of(s, last, end));
}

static void add_artifact(const struct sarif *s, struct strbuf *b, struct span at)
{
    strbuf_puts(b, "{\"uri\":\"");
    for (const char *p = source_get(s->sources, at.file)->path; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        const bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("/._-~", c) != NULL;
        strbuf_printf(b, is_plain ? "%c" : "%%%02X", c);
    }
    strbuf_puts(b, "\"}");
}

static void add_location(const struct sarif *s, struct strbuf *b, struct span at)
{
    strbuf_puts(b, "\"physicalLocation\":{\"artifactLocation\":");
    add_artifact(s, b, at);
    strbuf_puts(b, ",\"region\":");
    add_region(s, b, at);
    strbuf_putc(b, '}');
}

static void add_text(struct strbuf *b, const char *text)
{
    strbuf_puts(b, "{\"text\":");
    strbuf_json(b, text, strlen(text));
    strbuf_putc(b, '}');
}

static void add_head(const struct sarif *s, struct strbuf *b)
{
    if (s->count > 0) return;
    strbuf_puts(b, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{"
                   "\"tool\":{\"driver\":{\"name\":\"ptoc\",\"rules\":[");
    for (int i = 0; i < DIAG_COUNT; i++) {
        strbuf_printf(b, "%s{\"id\":\"%s\",\"shortDescription\":", i ? "," : "", diag_id_name((enum diag_id)i));
        add_text(b, diag_id_title((enum diag_id)i));
        strbuf_putc(b, '}');
    }
    strbuf_puts(b, "]}},\"columnKind\":\"unicodeCodePoints\",\"results\":[\n");
}

static void add_fix(const struct sarif *s, struct strbuf *b, const struct diag_part *p)
{
    strbuf_puts(b, "{\"description\":");
    add_text(b, p->text);
    strbuf_puts(b, ",\"artifactChanges\":[{\"artifactLocation\":");
    add_artifact(s, b, p->at);
    strbuf_puts(b, ",\"replacements\":[{\"deletedRegion\":");
    add_region(s, b, p->at);
    strbuf_puts(b, ",\"insertedContent\":");
    add_text(b, p->replacement);
    strbuf_puts(b, "}]}]}");
}

/* What has no place joins the text. */
static void add_message(struct strbuf *b, const struct diag_message *m)
{
    STRBUF(text);
    strbuf_puts(&text, m->text);
    for (size_t i = 0; i < m->part_count; i++)
        if (m->parts[i].kind == DIAG_HELP) strbuf_printf(&text, "\nhelp: %s", m->parts[i].text);
    add_text(b, strbuf_text(&text));
}

static void add_related(const struct sarif *s, struct strbuf *b, const struct diag_message *m)
{
    const char *between = ",\"relatedLocations\":[";
    for (size_t i = 0; i < m->part_count; i++) {
        const struct diag_part *p = &m->parts[i];
        if (p->kind != DIAG_NOTE || !p->has_place) continue;
        strbuf_printf(b, "%s{", between);
        add_location(s, b, p->at);
        strbuf_puts(b, ",\"message\":");
        add_text(b, p->text);
        strbuf_putc(b, '}');
        between = ",";
    }
    if (between[1] == '\0') strbuf_putc(b, ']');
}

static void add_fixes(const struct sarif *s, struct strbuf *b, const struct diag_message *m)
{
    const char *between = ",\"fixes\":[";
    for (size_t i = 0; i < m->part_count; i++) {
        if (m->parts[i].kind != DIAG_FIX) continue;
        strbuf_puts(b, between);
        add_fix(s, b, &m->parts[i]);
        between = ",";
    }
    if (between[1] == '\0') strbuf_putc(b, ']');
}

void sarif_receive(void *sarif, const struct diag_message *m)
{
    struct sarif *s = sarif;
    STRBUF(b);
    add_head(s, &b);
    strbuf_printf(&b, "%s{\"ruleId\":\"%s\",\"ruleIndex\":%d,\"level\":\"%s\",\"message\":", s->count++ ? ",\n" : "",
                  diag_id_name(m->id), (int)m->id, m->is_error ? "error" : "warning");
    add_message(&b, m);
    if (m->has_place) {
        strbuf_puts(&b, ",\"locations\":[{");
        add_location(s, &b, m->at);
        strbuf_puts(&b, "}]");
    }
    add_related(s, &b, m);
    add_fixes(s, &b, m);
    strbuf_putc(&b, '}');
    fwrite(b.data, 1, b.length, s->out);
}

void sarif_end(struct sarif *s)
{
    STRBUF(b);
    add_head(s, &b);
    strbuf_puts(&b, "]}]}\n");
    fwrite(b.data, 1, b.length, s->out);
    fflush(s->out);
}
