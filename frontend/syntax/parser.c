/* parser.c - a file to an AST, or to its tokens.
 * Idea       the grammar asks parse.c for tokens; what a file that is no program is, is seen before that.
 * Owner      struct parse, for one file.
 * Tests      test/lit/parse/, test/lit/lexer/
 */
#include "parse.h"
#include "grammar.h"
#include "support/arena.h"
#include "support/strbuf.h"
#include <ctype.h>
#include <string.h>

static bool begins_with(const char *text, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - text) >= length && memcmp(text, word, length) == 0;
}

/* Other tools keep MLIR text of the inside of one kernel in files of the same suffix. */
static bool is_kernel_ir(const struct lexer *lx, struct span *at)
{
    const char *p = lx->cursor, *end = lx->end;
    for (;;) {
        while (p < end && (isspace((unsigned char)*p))) p++;
        if (!begins_with(p, end, "//")) break;
        while (p < end && *p != '\n') p++;
    }
    const char *word_end = p;
    while (word_end < end && (isalnum((unsigned char)*word_end) || *word_end == '_' || *word_end == '.')) word_end++;
    size_t length = (size_t)(word_end - p);
    *at = (struct span){lx->file, (uint32_t)(p - lx->text), (uint32_t)((length > 0 ? word_end : p + 1) - lx->text)};
    if (p < end && *p == '%') return true;
    if (p < end && *p == '#') { // an alias, `#map = ...`; a comment or a line of another language has its own message
        const char *q = p + 1;
        while (q < end && (isalnum((unsigned char)*q) || *q == '_' || *q == '.')) q++;
        bool is_named = q > p + 1;
        while (q < end && *q == ' ') q++;
        return is_named && q < end && *q == '=';
    }
    return begins_with(p, end, "!pto.") || (length == 6 && begins_with(p, end, "module")) ||
           (length == 9 && begins_with(p, end, "func.func"));
}

static void parse_init(struct parse *cx, struct front *front, uint32_t file)
{
    *cx = (struct parse){.front = front};
    lexer_init(&cx->lexer, front->mem, front->names, front->sources, file);
}

struct program_ast *parse_file(struct front *front, uint32_t file)
{
    struct parse cx;
    struct span at;
    parse_init(&cx, front, file);
    if (is_kernel_ir(&cx.lexer, &at))
        diag_error(front->diag, DIAG_E00, at, "this file is kernel IR (MLIR) for another tool, not a program for ptoc");
    else if (grammar_parse(&cx) == 2)
        parse_give_up(&cx, cx.now.at, "this is nested too deeply");
    struct program_ast *program = arena_new(front->mem, struct program_ast);
    program->items = cx.items;
    program->file = file;
    return program;
}

static const char *token_class(const struct token *t, char first)
{
    switch (t->kind) {
    case TOK_NAME: return "name";
    case TOK_INT: return "int";
    case TOK_FLOAT: return "float";
    case TOK_STRING: return "string";
    case TOK_C_BODY: return "c-body";
    case TOK_BAD: return "bad";
    case TOK_END: return "end";
    default: return isalpha((unsigned char)first) ? "word" : "punct";
    }
}

void tokens_dump(struct front *front, uint32_t file, FILE *out)
{
    struct parse cx;
    parse_init(&cx, front, file);
    struct token t;
    do {
        t = lexer_next(&cx.lexer);
        if (t.problem != NULL) parse_report_problem(&cx, &t);
        struct place at = source_place(front->sources, file, t.at.begin);
        const char *text = cx.lexer.text + t.at.begin;
        size_t length = t.at.end - t.at.begin;
        fprintf(out, "%d:%d %s", at.line, at.column, token_class(&t, length > 0 ? text[0] : '\0'));
        STRBUF(shown);
        if (t.kind == TOK_STRING)
            strbuf_c_string(&shown, t.text, t.length);
        else if (t.kind == TOK_C_BODY)
            strbuf_c_string(&shown, text, length);
        else if (t.kind != TOK_BAD)
            strbuf_add(&shown, text, length);
        if (shown.length > 0) fprintf(out, " %s", strbuf_text(&shown));
        fputc('\n', out);
    } while (t.kind != TOK_END);
}
