/* out.c - lines of generated C.
 * Idea       every line has the source position that the C compiler shall report for it; rendering prints a #line
 *            wherever the compiler, counting on from the last one, would report another.
 * Invariant  only this file knows indentation and counts lines.
 * Tests      test/lit/codegen/line-directives.pto, test/lit/run/gdb.pto
 */
#include "out.h"
#include <string.h>

static void push(struct out *o, struct strbuf *text, const char *file, int line, bool joined)
{
    while (text->length > 0 && text->data[text->length - 1] == ' ') text->data[--text->length] = '\0';
    if (!text->data) strbuf_puts(text, "");
    vec_push(&o->lines, ((struct out_line){text->data, file, line, NULL, joined}));
}

static void indent(const struct out *o, struct strbuf *b, int more)
{
    for (int i = 0; i < (o->depth + more) * 4; i++) strbuf_putc(b, ' ');
}

void out_at(struct out *o, const char *file, int line)
{
    o->file = file;
    o->line = line;
}

/* more: steps further in.  unless: see out_line_unless(). */
static void add_line(struct out *o, int more, bool joined, const void *unless, const char *format, va_list args)
{
    struct strbuf b = {0};
    if (*format) indent(o, &b, more);
    strbuf_vprintf(&b, format, args);
    push(o, &b, o->file, o->line, joined);
    o->lines.data[o->lines.count - 1].unless = unless;
}

void out_line(struct out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(o, 0, false, NULL, format, args);
    va_end(args);
}

void out_open(struct out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(o, 0, false, NULL, format, args);
    va_end(args);
    o->depth++;
}

void out_close(struct out *o, const char *format, ...)
{
    va_list args;
    o->depth--;
    va_start(args, format);
    add_line(o, 0, false, NULL, format, args);
    va_end(args);
}

void out_directive(struct out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(o, -o->depth, false, NULL, format, args);
    va_end(args);
}

void out_more(struct out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(o, 1, true, NULL, format, args);
    va_end(args);
}

void out_line_unless(struct out *o, const void *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(o, 0, false, key, format, args);
    va_end(args);
}

void out_settle(struct out *o, bool (*is_used)(const void *cx, const void *key), const void *cx)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->lines.count; i++) {
        struct out_line line = o->lines.data[i];
        const bool needed = !line.unless || !is_used(cx, line.unless);
        line.unless = NULL;
        if (needed)
            o->lines.data[kept++] = line;
        else
            free(line.text);
    }
    o->lines.count = kept;
}

void out_raw(struct out *o, const char *file, int line, const char *text, size_t length)
{
    const char *end = text + length;
    for (;;) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        struct strbuf b = {0};
        strbuf_add(&b, text, (size_t)((stop ? stop : end) - text));
        if (!b.data) strbuf_puts(&b, "");
        vec_push(&o->lines, ((struct out_line){b.data, file, line++, NULL, false}));
        if (!stop) return;
        text = stop + 1;
    }
}

void out_append(struct out *o, struct out *other)
{
    for (size_t i = 0; i < other->lines.count; i++) vec_push(&o->lines, other->lines.data[i]);
    vec_free(&other->lines);
}

void out_render(const struct out *o, const char *self, bool line_directives, struct strbuf *to)
{
    const char *file = NULL; /* what the C compiler believes about the next line it reads */
    int line = 1, printed = 0;
    for (size_t i = 0; i < o->lines.count; i++) {
        const struct out_line *l = &o->lines.data[i];
        /* A line of the generated file with nothing on it may be believed to stand anywhere. */
        bool any = l->joined || !l->text[0];
        int want = l->file ? l->line : printed + 1;
        bool same = file == l->file || (file && l->file && strcmp(file, l->file) == 0);
        if (line_directives && !any && !(same && line == want)) {
            file = l->file;
            line = l->file ? l->line : printed + 2;
            strbuf_printf(to, "#line %d ", line);
            strbuf_c_string(to, file ? file : self, strlen(file ? file : self));
            strbuf_putc(to, '\n');
            printed++;
        }
        strbuf_puts(to, l->text);
        strbuf_putc(to, '\n');
        printed++;
        line++;
    }
}

void out_clear(struct out *o)
{
    for (size_t i = 0; i < o->lines.count; i++) free(o->lines.data[i].text);
    vec_free(&o->lines);
    *o = (struct out){0};
}
