/* diag.c - errors, warnings, notes: the one place that speaks to the user.
 * Idea       one message is open at a time; notes and fixes join it; it is printed when the next begins or at
 *            diag_flush().
 * Owner      the front end, one a run.  Everything a message needs is copied, so callers may free their text.
 * Invariant  a message that is not shown (a repetition, a warning that is off, one too many) swallows its notes as
 *            well.
 * Blocks     only in writing to `out`.
 * Tests      test/lit/diag/
 */
#include "diag.h"
#include "excerpt.h"
#include "support/strbuf.h"
#include "support/vec.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The limit of errors, and of warnings: a file that is no program would have one for each line. */
enum { MAX_SHOWN = 200 };

/* Of the same text at several places: one cause that many lines suffer from.  Mistakes of syntax have no common
 * cause. */
enum { MAX_ALIKE = 3 };

enum severity { SEVERITY_ERROR, SEVERITY_WARNING };
struct seen {
    uint64_t hash;
    enum diag_id id;
    bool has_place;
    struct span at;
    char *text;
};

struct diag {
    const struct source_map *sources;
    FILE *out;
    void (*receive)(void *cx, const struct diag_message *m); /* or NULL: messages are printed */
    void *receiver;
    bool json, use_color, warnings_are_errors;
    bool disabled[DIAG_COUNT];
    int error_count;
    int shown_count[2]; /* by severity */
    int hidden_count;   /* beyond MAX_SHOWN and MAX_ALIKE */
    VEC(struct seen) seen;

    bool is_open, is_shown; /* the message being built; is_shown false: parts of it are dropped */
    enum severity severity;
    enum diag_id id;
    bool has_place;
    struct span at;
    const char *text; /* in seen */
    VEC(struct diag_part) parts;
};

static const char *const id_names[] = {
#define DIAG(id, title) #id,
#include "diag.def"
#undef DIAG
};

static const char *const id_titles[] = {
#define DIAG(id, title) title,
#include "diag.def"
#undef DIAG
};

const char *diag_id_name(enum diag_id id) { return id_names[id]; }

const char *diag_id_title(enum diag_id id) { return id_titles[id]; }

struct diag *diag_create(const struct source_map *sources, FILE *out)
{
    struct diag *d = calloc(1, sizeof *d);
    if (d == NULL) {
        fputs("ptoc: out of memory\n", stderr);
        exit(3);
    }
    d->sources = sources;
    d->out = out;
    diag_set_color(d, DIAG_COLOR_AUTO);
    return d;
}

void diag_destroy(struct diag *d)
{
    if (d == NULL) return;
    diag_flush(d);
    for (size_t i = 0; i < d->seen.count; i++) free(d->seen.data[i].text);
    vec_free(&d->seen);
    vec_free(&d->parts);
    free(d);
}

void diag_set_receiver(struct diag *d, void (*receive)(void *cx, const struct diag_message *m), void *cx)
{
    d->receive = receive;
    d->receiver = cx;
}

void diag_set_json(struct diag *d, bool on) { d->json = on; }

void diag_set_color(struct diag *d, enum diag_color color)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool is_wanted = (no_color == NULL || no_color[0] == '\0') && (term == NULL || strcmp(term, "dumb") != 0);
    d->use_color = color == DIAG_COLOR_ALWAYS || (color == DIAG_COLOR_AUTO && is_wanted && isatty(fileno(d->out)));
}

void diag_set_warnings_are_errors(struct diag *d, bool on) { d->warnings_are_errors = on; }

void diag_set_warning_enabled(struct diag *d, enum diag_id id, bool on) { d->disabled[id] = !on; }

bool diag_is_shown(const struct diag *d) { return d->is_open && d->is_shown; }

int diag_error_count(const struct diag *d) { return d->error_count; }

int diag_errors_in(const struct diag *d, struct span at)
{
    int count = 0;
    for (size_t i = 0; i < d->seen.count; i++) {
        const struct seen *s = &d->seen.data[i];
        count += id_names[s->id][0] == 'E' && s->has_place && s->at.file == at.file && s->at.begin >= at.begin &&
                 s->at.begin < at.end;
    }
    return count;
}

/* ---- printing ---- */

static const char *color(const struct diag *d, const char *code) { return d->use_color ? code : ""; }

/* Where a span begins and ends.  A span may point behind the end of its file by one when the end was not expected. */
static void places_of(const struct diag *d, struct span at, struct place *begin, struct place *end)
{
    size_t length = source_get(d->sources, at.file)->length;
    uint32_t last = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
    *begin = source_place(d->sources, at.file, at.begin < last ? at.begin : last);
    *end = source_place(d->sources, at.file, at.end < last ? at.end : last);
}

static void add_place_text(const struct diag *d, struct strbuf *b, struct span at)
{
    struct place begin, end;
    places_of(d, at, &begin, &end);
    const char *path = source_get(d->sources, at.file)->path;
    strbuf_puts(b, color(d, "\033[1m"));
    excerpt_add_safe(b, path, strlen(path));
    strbuf_printf(b, ":%d:%d: %s", begin.line, begin.column, color(d, "\033[0m"));
}

static void add_excerpt(const struct diag *d, struct strbuf *b, struct span at)
{
    struct place begin, end;
    places_of(d, at, &begin, &end);
    size_t length;
    const char *line = source_line(d->sources, at.file, at.begin, &length);
    size_t from = (size_t)begin.column - 1, to = end.line == begin.line ? (size_t)end.column - 1 : length;
    struct excerpt_style style = {color(d, "\033[1;32m"), color(d, "\033[0m"), '^', '~'};
    excerpt_add(b, begin.line, line, length, from, to, style);
}

/* The line as it would be after the fix, for a fix within one line of sensible length. */
static void add_fixed_line(const struct diag *d, struct strbuf *b, const struct diag_part *p)
{
    struct place begin, end;
    places_of(d, p->at, &begin, &end);
    size_t length, added = strlen(p->replacement);
    const char *line = source_line(d->sources, p->at.file, p->at.begin, &length);
    if (begin.line != end.line || length > 1000 || added > 1000 || strchr(p->replacement, '\n') != NULL) return;
    size_t from = (size_t)begin.column - 1, to = (size_t)end.column - 1;
    STRBUF(fixed);
    strbuf_add(&fixed, line, from);
    strbuf_add(&fixed, p->replacement, added);
    if (to < length) strbuf_add(&fixed, line + to, length - to);
    struct excerpt_style style = {color(d, "\033[1;32m"), color(d, "\033[0m"), '+', '+'};
    if (added == 0) style.first = style.rest = ' ';
    excerpt_add(b, begin.line, strbuf_text(&fixed), fixed.length, from, from + added, style);
}

static void add_text_message(const struct diag *d, struct strbuf *b)
{
    bool is_error = d->severity == SEVERITY_ERROR;
    if (d->has_place)
        add_place_text(d, b, d->at);
    else
        strbuf_puts(b, "ptoc: ");
    strbuf_printf(b, "%s%s[%s]:%s ", color(d, is_error ? "\033[1;31m" : "\033[1;35m"), is_error ? "error" : "warning",
                  diag_id_name(d->id), color(d, "\033[0m"));
    excerpt_add_safe(b, d->text, strlen(d->text));
    strbuf_putc(b, '\n');
    if (d->has_place) add_excerpt(d, b, d->at);
    for (size_t i = 0; i < d->parts.count; i++) {
        const struct diag_part *p = &d->parts.data[i];
        const char *word = p->kind == DIAG_NOTE ? "note" : "help";
        if (p->has_place)
            add_place_text(d, b, p->at);
        else
            strbuf_puts(b, "  ");
        strbuf_printf(b, "%s%s:%s ", color(d, "\033[1;36m"), word, color(d, "\033[0m"));
        excerpt_add_safe(b, p->text, strlen(p->text));
        strbuf_putc(b, '\n');
        if (p->kind == DIAG_NOTE && p->has_place) add_excerpt(d, b, p->at);
        if (p->kind == DIAG_FIX) add_fixed_line(d, b, p);
    }
}

static void add_json_place(const struct diag *d, struct strbuf *b, bool has_place, struct span at)
{
    if (!has_place) {
        strbuf_puts(b, "\"file\":null,\"line\":null,\"column\":null,\"end_line\":null,\"end_column\":null");
        return;
    }
    struct place begin, end;
    places_of(d, at, &begin, &end);
    const char *path = source_get(d->sources, at.file)->path;
    strbuf_puts(b, "\"file\":");
    strbuf_json(b, path, strlen(path));
    strbuf_printf(b, ",\"line\":%d,\"column\":%d,\"end_line\":%d,\"end_column\":%d", begin.line, begin.column, end.line,
                  end.column);
}

static void add_json_message(const struct diag *d, struct strbuf *b)
{
    strbuf_printf(b, "{\"severity\":\"%s\",\"id\":\"%s\",", d->severity == SEVERITY_ERROR ? "error" : "warning",
                  diag_id_name(d->id));
    add_json_place(d, b, d->has_place, d->at);
    strbuf_puts(b, ",\"message\":");
    strbuf_json(b, d->text, strlen(d->text));
    for (int fixes = 0; fixes < 2; fixes++) {
        strbuf_puts(b, fixes ? ",\"fixes\":[" : ",\"notes\":[");
        const char *comma = "";
        for (size_t i = 0; i < d->parts.count; i++) {
            const struct diag_part *p = &d->parts.data[i];
            if ((p->kind == DIAG_FIX) != (fixes == 1)) continue;
            strbuf_printf(b, "%s{\"kind\":\"%s\",", comma,
                          p->kind == DIAG_NOTE   ? "note"
                          : p->kind == DIAG_HELP ? "help"
                                                 : "fix");
            add_json_place(d, b, p->has_place, p->at);
            strbuf_puts(b, ",\"message\":");
            strbuf_json(b, p->text, strlen(p->text));
            if (p->kind == DIAG_FIX) {
                strbuf_printf(b, ",\"begin\":%u,\"end\":%u,\"replacement\":", p->at.begin, p->at.end);
                strbuf_json(b, p->replacement, strlen(p->replacement));
            }
            strbuf_putc(b, '}');
            comma = ",";
        }
        strbuf_putc(b, ']');
    }
    strbuf_puts(b, "}\n");
}

static void give_message(const struct diag *d)
{
    const struct diag_message m = {
        .is_error = d->severity == SEVERITY_ERROR,
        .id = d->id,
        .has_place = d->has_place,
        .at = d->at,
        .text = d->text,
        .parts = d->parts.data,
        .part_count = d->parts.count,
    };
    d->receive(d->receiver, &m);
}

static void close_message(struct diag *d)
{
    if (d->is_open && d->is_shown && d->receive) {
        give_message(d);
    } else if (d->is_open && d->is_shown) {
        STRBUF(b);
        if (d->json)
            add_json_message(d, &b);
        else
            add_text_message(d, &b);
        fwrite(b.data, 1, b.length, d->out);
    }
    for (size_t i = 0; i < d->parts.count; i++) {
        free(d->parts.data[i].text);
        free(d->parts.data[i].replacement);
    }
    d->parts.count = 0;
    d->is_open = false;
}

void diag_flush(struct diag *d)
{
    close_message(d);
    if (d->hidden_count > 0 && !d->json && !d->receive)
        fprintf(d->out, "ptoc: %d more message%s not shown\n", d->hidden_count, d->hidden_count == 1 ? " is" : "s are");
    d->hidden_count = 0;
    fflush(d->out);
}

/* ---- building ---- */

static uint64_t hash_message(enum diag_id id, bool has_place, struct span at, const char *text)
{
    uint64_t h = ((uint64_t)id << 1 | has_place) ^ (uint64_t)at.file << 48 ^ (uint64_t)at.begin << 24 ^ at.end;
    for (const char *p = text; *p != '\0'; p++) h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
    return h;
}

static bool was_said(const struct diag *d, const struct seen *now)
{
    for (size_t i = 0; i < d->seen.count; i++) {
        const struct seen *s = &d->seen.data[i];
        if (s->hash == now->hash && s->id == now->id && s->has_place == now->has_place && s->at.file == now->at.file &&
            s->at.begin == now->at.begin && s->at.end == now->at.end && strcmp(s->text, now->text) == 0)
            return true;
    }
    return false;
}

static bool are_many_alike(const struct diag *d, const struct seen *now)
{
    int count = 0;
    for (size_t i = 0; i < d->seen.count; i++) {
        const struct seen *s = &d->seen.data[i];
        count += s->id == now->id && s->at.file == now->at.file && strcmp(s->text, now->text) == 0;
    }
    return count >= MAX_ALIKE;
}

static void open_message(struct diag *d, enum severity severity, enum diag_id id, bool has_place, struct span at,
                         const char *format, va_list args)
{
    close_message(d);
    d->is_open = true;
    d->is_shown = false;
    if (severity == SEVERITY_WARNING && d->disabled[id]) return;
    if (severity == SEVERITY_WARNING && has_place && source_get(d->sources, at.file)->is_generated) return;
    if (severity == SEVERITY_WARNING && d->warnings_are_errors) severity = SEVERITY_ERROR;
    struct strbuf text = {0};
    strbuf_vprintf(&text, format, args);
    if (text.data == NULL) strbuf_puts(&text, "");
    struct seen now = {hash_message(id, has_place, at, text.data), id, has_place, at, text.data};
    bool is_repeated = was_said(d, &now), is_full = d->shown_count[severity] == MAX_SHOWN;
    if (!is_repeated && !is_full && id != DIAG_E00 && are_many_alike(d, &now)) is_full = true;
    if (severity == SEVERITY_ERROR && !is_repeated) d->error_count++;
    if (is_repeated || is_full) {
        d->hidden_count += !is_repeated;
        strbuf_free(&text);
        return;
    }
    vec_push(&d->seen, now);
    d->shown_count[severity]++;
    d->is_shown = true;
    d->severity = severity;
    d->id = id;
    d->has_place = has_place;
    d->at = at;
    d->text = text.data;
}

static void add_part(struct diag *d, enum diag_part_kind kind, bool has_place, struct span at, const char *replacement,
                     const char *format, va_list args)
{
    if (!d->is_open || !d->is_shown) return;
    struct strbuf text = {0}, copy = {0};
    strbuf_puts(&text, "");
    strbuf_vprintf(&text, format, args);
    if (replacement != NULL) strbuf_puts(&copy, replacement);
    struct diag_part p = {kind, has_place, at, text.data, copy.data};
    vec_push(&d->parts, p);
}

void diag_error(struct diag *d, enum diag_id id, struct span at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    open_message(d, SEVERITY_ERROR, id, true, at, format, args);
    va_end(args);
}

void diag_warning(struct diag *d, enum diag_id id, struct span at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    open_message(d, SEVERITY_WARNING, id, true, at, format, args);
    va_end(args);
}

void diag_error_plain(struct diag *d, enum diag_id id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    open_message(d, SEVERITY_ERROR, id, false, (struct span){0}, format, args);
    va_end(args);
}

void diag_note(struct diag *d, struct span at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_part(d, DIAG_NOTE, true, at, NULL, format, args);
    va_end(args);
}

void diag_help(struct diag *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_part(d, DIAG_HELP, false, (struct span){0}, NULL, format, args);
    va_end(args);
}

/* A file never changes by such a fix, and the message would come again. */
static bool replaces_by_itself(const struct diag *d, struct span at, const char *text)
{
    const size_t length = strlen(text);
    return at.end - at.begin == length && memcmp(source_get(d->sources, at.file)->text + at.begin, text, length) == 0;
}

void diag_fix(struct diag *d, struct span at, const char *text, const char *format, ...)
{
    va_list args;
    if (replaces_by_itself(d, at, text)) return;
    va_start(args, format);
    add_part(d, DIAG_FIX, true, at, text, format, args);
    va_end(args);
}
