/* bodies.c - what the C compiler says about the C bodies of kernels.
 * Idea       when a file is saved and has no error, its C is compiled for messages alone; `#line` gives their places.
 * Tests      test/lsp/session.py
 */
#include "allocate.h"
#include "codegen.h"
#include "methods.h"
#include <ctype.h>
#include <string.h>

/* "PATH:LINE:COLUMN: error: TEXT" about the document; false: the line is another. */
static bool read_line(const struct document *d, const char *line, size_t length, uint32_t *number, uint32_t *column,
                      bool *is_error, const char **text)
{
    const size_t path = strlen(d->path);
    if (length < path + 1 || memcmp(line, d->path, path) != 0 || line[path] != ':') return false;
    char *at;
    *number = (uint32_t)strtoul(line + path + 1, &at, 10);
    if (*at != ':' || *number == 0) return false;
    *column = (uint32_t)strtoul(at + 1, &at, 10);
    if (strncmp(at, ": error: ", 9) != 0 && strncmp(at, ": warning: ", 11) != 0) return false;
    *is_error = at[2] == 'e';
    *text = at + (*is_error ? 9 : 11);
    return true;
}

static struct finding *finding_of(struct server *s, struct document *d, uint32_t line, uint32_t column, bool is_error,
                                  const char *text, size_t length)
{
    struct finding *f = allocate(sizeof *f);
    struct strbuf out = {0};
    size_t begin = lines_offset(&d->lines, (struct position){line - 1, 0}, ENCODING_UTF8) + (column ? column - 1 : 0);
    if (begin > d->length) begin = d->length;
    size_t end = begin;
    while (end < d->length && (isalnum((unsigned char)d->text[end]) || d->text[end] == '_')) end++;
    f->id = DIAG_COUNT;
    f->at = (struct location){strdup(d->uri), lines_range(&d->lines, begin, end, s->encoding)};
    strbuf_puts(&out, "{\"range\":");
    range_json(&out, f->at.range);
    strbuf_printf(&out, ",\"severity\":%d,\"source\":\"cc\",\"message\":", is_error ? 1 : 2);
    strbuf_json(&out, text, length);
    strbuf_putc(&out, '}');
    f->json = out.data;
    return f;
}

static void read_log(struct server *s, struct document *d, const char *log, finding_list *found)
{
    for (const char *line = log; *line;) {
        const size_t length = strcspn(line, "\n");
        uint32_t number, column;
        bool is_error;
        const char *text;
        if (read_line(d, line, length, &number, &column, &is_error, &text))
            vec_push(found, finding_of(s, d, number, column, is_error, text, (size_t)(line + length - text)));
        line += length + (line[length] == '\n');
    }
}

void bodies_check(struct server *s, struct document *d)
{
    if (!s->options->compile || !d->good || d->good->error_count > 0 || d->edits.count > 0) return;
    STRBUF(program);
    STRBUF(log);
    finding_list found = {0};
    const struct codegen_options options = {.input = d->path};
    codegen_c(&d->good->front, d->good->checked, &options, &program);
    if (s->options->compile(s->options->compile_cx, &program, &log)) read_log(s, d, strbuf_text(&log), &found);
    diagnostics_add(s, d, found);
}
