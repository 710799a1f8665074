/* doc.c - ptoc doc: a page about a module, in Markdown.
 * Idea       the comment at the head of the file, and each declaration as it stands in the source up to its body, with
 *            the comments directly before it, and that which ends its line where it has no body.
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

/* Comments with no empty line between them; empty: there are none. */
struct comments {
    const char *begin, *end;
};

/* Behind the comment at p; p: there is none. */
static const char *comment_end(const char *p, const char *end)
{
    if (end - p < 2 || p[0] != '/' || (p[1] != '/' && p[1] != '*')) return p;
    const bool is_line = p[1] == '/';
    const char *stop = is_line ? memchr(p, '\n', (size_t)(end - p)) : memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
    return !stop ? end : is_line ? stop : stop + 2;
}

/* The next comment from *at on, and the ends of lines before it; false: something else comes, or the end. */
static bool next_comment(const char **at, const char *end, int *newlines, struct comments *found)
{
    *newlines = 0;
    for (; *at < end && isspace((unsigned char)**at); ++*at) *newlines += **at == '\n';
    *found = (struct comments){*at, comment_end(*at, end)};
    *at = found->end;
    return found->end > found->begin;
}

static struct comments comments_at_head(const char *text, const char *end)
{
    struct comments all = {text, text}, one;
    int newlines;
    for (const char *p = text; next_comment(&p, end, &newlines, &one) && newlines <= 1;) all.end = one.end;
    return all;
}

/* Those directly before a declaration; from: where the one before ends. */
static struct comments comments_before(const char *from, const char *at)
{
    struct comments all = {at, at}, one;
    int newlines;
    for (const char *p = from; next_comment(&p, at, &newlines, &one); all.end = one.end)
        if (newlines > 1 || all.begin == all.end) all.begin = one.begin;
    return newlines <= 1 ? all : (struct comments){at, at};
}

/* That which ends the line. */
static struct comments comment_behind(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return (struct comments){at, comment_end(at, end)};
}

/* A line without its margin: spaces, and in a block a star and one more. */
static void add_line(struct strbuf *b, const char *line, const char *stop, bool is_block)
{
    while (is_block && line < stop && (*line == ' ' || *line == '\t')) line++;
    if (is_block && line < stop && *line == '*') line++;
    if (line < stop && *line == ' ') line++;
    while (stop > line && isspace((unsigned char)stop[-1])) stop--;
    strbuf_add(b, line, (size_t)(stop - line));
    strbuf_putc(b, '\n');
}

/* Its lines; the first and the last of a block may have its marks alone. */
static void add_comment(struct strbuf *b, const char *text, const char *end)
{
    const bool is_block = text[1] == '*';
    text += 2;
    if (is_block) end -= 2;
    while (end > text && isspace((unsigned char)end[-1])) end--;
    for (const char *line = text; is_block && line < end && isspace((unsigned char)*line); line++)
        if (*line == '\n') text = line + 1;
    do {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        add_line(b, text, stop ? stop : end, is_block);
        text = stop ? stop + 1 : end;
    } while (text < end);
}

/* As a paragraph. */
static void add_comments(struct strbuf *b, struct comments c)
{
    const bool any = c.begin < c.end;
    while (c.begin < c.end) {
        const char *stop = comment_end(c.begin, c.end);
        add_comment(b, c.begin, stop);
        for (c.begin = stop; c.begin < c.end && isspace((unsigned char)*c.begin);) c.begin++;
    }
    if (any) strbuf_putc(b, '\n');
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

static bool has_body(const struct ast *n) { return n->kind == AST_KERNEL || n->kind == AST_ORCH; }

/* Where the comments of the next declaration may begin; before: NULL, or the declaration before it. */
static const char *next_from(const struct source *source, const struct ast *before)
{
    if (!before) return source->text;
    return comment_behind(source->text + before->at.end, source->text + source->length).end;
}

static void add_item(struct strbuf *b, const struct source *source, const struct ast *before, const struct ast *n)
{
    const char *begin = source->text + n->at.begin, *end = source->text + n->at.end;
    strbuf_puts(b, "```pto\n");
    const char *stop = has_body(n) ? head_end(begin, end) : end;
    strbuf_add(b, begin, (size_t)(stop - begin));
    strbuf_puts(b, "\n```\n\n");
    add_comments(b, comments_before(next_from(source, before), begin));
    if (stop == end) add_comments(b, comment_behind(end, source->text + source->length));
}

static void add_page(struct strbuf *b, const struct source *source, const struct program_ast *program)
{
    const char *slash = strrchr(source->path, '/');
    const struct ast *first = program->items;
    const struct comments head = comments_at_head(source->text, source->text + source->length);
    strbuf_printf(b, "# %s\n\n", slash ? slash + 1 : source->path);
    /* unless it stands directly before the first declaration */
    if (!first || comments_before(source->text, source->text + first->at.begin).begin != head.begin)
        add_comments(b, head);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        bool any = false;
        for (const struct ast *n = program->items, *before = NULL; n; before = n, n = n->next) {
            if (n->kind != sections[i].kind) continue;
            if (!any) strbuf_printf(b, "## %s\n\n", sections[i].title);
            any = true;
            add_item(b, source, before, n);
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
