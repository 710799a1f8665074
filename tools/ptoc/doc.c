/* doc.c - ptoc doc: a page about a module, in Markdown.
 * Idea       the comment at the head of the file, and each declaration as it stands in the source up to its body, with
 *            the comment above it.
 * Owner      nothing.
 * Invariant  a file with a syntax error has no page.
 * Tests      test/lit/build/doc.test
 */
#include "build.h"
#include "output.h"
#include <ctype.h>
#include <string.h>

static const struct {
    enum ast_kind kind;
    const char *title;
} sections[] = {{AST_CONST, "Constants"},
                {AST_PARAM, "Params"},
                {AST_STRUCT, "Structs"},
                {AST_KERNEL, "Kernels"},
                {AST_ORCH, "Functions"}};

/* The lines of `//` in [text, end), without the slashes, as a paragraph. */
static void add_comment(struct strbuf *b, const char *text, const char *end)
{
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        while (line < stop && *line == ' ') line++;
        if (stop - line >= 2 && line[0] == '/' && line[1] == '/') {
            line += 2;
            if (line < stop && *line == ' ') line++;
            strbuf_add(b, line, (size_t)(stop - line));
        }
        strbuf_putc(b, '\n');
        line = stop + 1;
    }
}

static bool is_comment(const char *line, const char *end)
{
    while (line < end && *line == ' ') line++;
    return end - line >= 2 && line[0] == '/' && line[1] == '/';
}

/* Where the comment begins that stands directly above the line of `at`; that line, if there is none. */
static const char *comment_above(const char *text, const char *at)
{
    while (at > text && at[-1] != '\n') at--;
    while (at > text) {
        const char *line = at - 1;
        while (line > text && line[-1] != '\n') line--;
        if (!is_comment(line, at)) break;
        at = line;
    }
    return at;
}

/* Where the head of the declaration ends: its body, if it has one. */
static const char *head_end(const char *begin, const char *end)
{
    const char *body = end;
    for (const char *p = begin; p < end; p++) {
        if (*p == '{') {
            body = p;
            break;
        }
        if (*p == '=' && p + 1 < end && p[1] == '>') {
            body = p;
            break;
        }
    }
    while (body > begin && isspace((unsigned char)body[-1])) body--;
    return body;
}

static void add_item(struct strbuf *b, const struct source *source, const struct ast *n)
{
    const char *begin = source->text + n->at.begin, *end = source->text + n->at.end;
    const char *line = begin;
    while (line > source->text && line[-1] != '\n') line--;
    const char *comment = comment_above(source->text, begin);
    const bool has_body = n->kind == AST_KERNEL || n->kind == AST_ORCH;
    strbuf_puts(b, "```pto\n");
    const char *stop = has_body ? head_end(begin, end) : end;
    strbuf_add(b, begin, (size_t)(stop - begin));
    strbuf_puts(b, "\n```\n\n");
    if (comment < line) {
        add_comment(b, comment, line);
        strbuf_putc(b, '\n');
    }
}

static void add_page(struct strbuf *b, const struct source *source, const struct program_ast *program)
{
    const char *slash = strrchr(source->path, '/'), *head_of_file = source->text;
    const char *const limit = source->text + source->length;
    const char *head = head_of_file;
    while (head < limit && is_comment(head, limit)) {
        const char *stop = memchr(head, '\n', (size_t)(limit - head));
        head = stop ? stop + 1 : limit;
    }
    strbuf_printf(b, "# %s\n\n", slash ? slash + 1 : source->path);
    bool belongs_to_item = false; /* the comment stands directly above the first declaration */
    for (const struct ast *n = program->items; n; n = n->next)
        belongs_to_item |= comment_above(source->text, source->text + n->at.begin) == head_of_file;
    if (head > head_of_file && !belongs_to_item) {
        add_comment(b, head_of_file, head);
        strbuf_putc(b, '\n');
    }
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        bool any = false;
        for (const struct ast *n = program->items; n; n = n->next) {
            if (n->kind != sections[i].kind) continue;
            if (!any) strbuf_printf(b, "## %s\n\n", sections[i].title);
            any = true;
            add_item(b, source, n);
        }
    }
}

int doc_main(const struct options *o)
{
    struct front_session s;
    int result = session_open(&s, o);
    if (result != EXIT_OK) return result;
    const struct program_ast *program = parse_file(&s.front, 0);
    diag_flush(s.front.diag);
    if (output_is_input(o->output, o->input)) {
        result = EXIT_USAGE;
    } else if (diag_error_count(s.front.diag) == 0) {
        STRBUF(page);
        add_page(&page, source_get(s.front.sources, 0), program);
        while (page.length > 1 && page.data[page.length - 2] == '\n') page.data[--page.length] = '\0';
        result = output_text(o->output, &page);
    }
    const int closed = session_close(&s);
    return closed != EXIT_OK ? closed : result;
}
