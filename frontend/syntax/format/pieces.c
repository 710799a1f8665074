/* pieces.c - text to pieces: tokens, the comments between them, and what each token is in its statement.
 * Idea       the lexer gives the tokens; comments are what else is between them.  The program has no syntax error, so a
 *            few words of context say what a `<`, a `-` or an `else` is.
 * Owner      the caller owns the list; texts point into the source.
 * Invariant  every byte of the text is in a piece or is white space.
 * Tests      test/lit/fmt/
 */
#include "pieces.h"
#include "grammar.h"
#include "syntax/lexer.h"
#include <string.h>

bool piece_is_comment(const struct piece *p) { return p->kind < 0; }

struct reader {
    pieces *out;
    const char *text;
    int line;
    size_t line_begin, at; /* at: everything before is in pieces or was white space */
};

static void add(struct reader *r, int kind, size_t begin, size_t end)
{
    struct piece p = {
        .kind = kind, .text = r->text + begin, .length = (int)(end - begin), .partner = -1, .lined_up_with = -1};
    for (; r->at < begin; r->at++) {
        p.gap++;
        if (r->text[r->at] != '\n') continue;
        p.newlines++;
        p.gap = 0;
        r->line++;
        r->line_begin = r->at + 1;
    }
    p.line = r->line;
    p.column = (int)(begin - r->line_begin);
    for (; r->at < end; r->at++)
        if (r->text[r->at] == '\n') {
            p.is_many_lines = true;
            r->line++;
            r->line_begin = r->at + 1;
        }
    while (p.kind == PIECE_LINE_COMMENT &&
           (p.text[p.length - 1] == ' ' || p.text[p.length - 1] == '\t' || p.text[p.length - 1] == '\r'))
        p.length--;
    vec_push(r->out, p);
}

/* The comments of the white space that ends at `end`. */
static void add_comments(struct reader *r, size_t end)
{
    for (size_t i = r->at; i + 1 < end; i++) {
        if (r->text[i] != '/') continue;
        size_t behind = i + 2;
        bool is_line = r->text[i + 1] == '/';
        while (behind < end && (is_line ? r->text[behind] != '\n'
                                        : r->text[behind - 1] != '/' || r->text[behind - 2] != '*' || behind < i + 4))
            behind++;
        add(r, is_line ? PIECE_LINE_COMMENT : PIECE_BLOCK_COMMENT, i, behind);
        i = behind - 1;
    }
}

/* ---- what the tokens are ---- */

static bool ends_operand(int kind)
{
    switch (kind) {
    case TOK_NAME:
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_STRING:
    case TOK_TRUE:
    case TOK_FALSE:
    case TOK_RPAREN:
    case TOK_RBRACKET: return true;
    default: return false;
    }
}

bool piece_is_operator(const struct piece *p)
{
    switch (p->kind) {
    case TOK_OR:
    case TOK_AND:
    case TOK_EQ:
    case TOK_NE:
    case TOK_LE:
    case TOK_GE:
    case TOK_PLUS:
    case TOK_STAR:
    case TOK_SLASH:
    case TOK_PERCENT:
    case TOK_BITOR:
    case TOK_CARET:
    case TOK_AMPERSAND:
    case TOK_SHL:
    case TOK_SHR: return true;
    case TOK_LT:
    case TOK_GT: return !p->is_generic;
    case TOK_MINUS: return !p->is_prefix;
    default: return false;
    }
}

struct context {
    int depth, blocks, before, before2; /* before: the kinds of the last two tokens */
    bool in_kernel, in_generics, in_marks, at_start;
    VEC(int) open;     /* the braces */
    VEC(int) brackets; /* ( and [ */
};

/* `@name(...)` before a statement: the statement begins behind it. */
static void follow_marks(struct context *c, const struct piece *p)
{
    if (c->at_start && p->kind == TOK_AT) c->in_marks = true;
    if (!c->in_marks) c->at_start = false;
    if (c->in_marks && p->kind == TOK_RPAREN && c->depth == 0) {
        c->in_marks = false;
        c->at_start = true;
    }
}

static void look_at(pieces *list, size_t i, int next, struct context *c)
{
    struct piece *p = &list->data[i];
    if (p->kind == TOK_RPAREN || p->kind == TOK_RBRACKET) {
        c->depth--;
        c->brackets.count--;
    }
    if (c->brackets.count > 0 && p->newlines > 0) {
        int first = c->brackets.data[c->brackets.count - 1] + 1;
        const struct piece *q = &list->data[first];
        if (q->newlines == 0 && q->line < p->line && q->column == p->column) p->lined_up_with = first;
    }
    if (p->kind == TOK_RBRACE) {
        c->blocks--;
        p->partner = c->open.data[--c->open.count];
        list->data[p->partner].partner = (int)i;
    }
    p->depth = c->depth + c->in_generics;
    p->blocks = c->blocks;
    bool was_do = c->before == TOK_RBRACE && list->data[i - 1].kind == TOK_RBRACE &&
                  list->data[list->data[i - 1].partner].is_prefix;
    p->is_joined = (p->kind == TOK_ELSE && next != TOK_FATARROW) || (p->kind == TOK_WHILE && was_do);
    p->begins_statement = c->at_start && !p->is_joined;
    p->begins_attribute = c->in_kernel && c->depth == 0 &&
                          (p->kind == TOK_ON || p->kind == TOK_COST || p->kind == TOK_EXTERN || p->kind == TOK_WHERE);
    p->is_prefix = p->kind == TOK_MINUS && !ends_operand(c->before);
    bool is_head = c->before2 == TOK_KERNEL || c->before2 == TOK_ORCH || c->before2 == TOK_STRUCT;
    if (p->kind == TOK_LT && c->before == TOK_NAME && is_head) c->in_generics = true;
    p->is_generic = c->in_generics && (p->kind == TOK_LT || p->kind == TOK_GT);
    if (p->kind == TOK_GT) c->in_generics = false;
    follow_marks(c, p);
    if (p->kind == TOK_LPAREN || p->kind == TOK_LBRACKET) {
        c->depth++;
        vec_push(&c->brackets, (int)i);
    }
    if (p->kind == TOK_KERNEL) c->in_kernel = true;
    if (p->kind == TOK_LBRACE) {
        p->is_prefix = c->before == TOK_DO; // of a brace: its block belongs to `do`
        vec_push(&c->open, (int)i);
        c->blocks++;
    }
    if (p->kind == TOK_SEMICOLON || p->kind == TOK_LBRACE || p->kind == TOK_RBRACE || p->kind == TOK_C_BODY) {
        c->at_start = true;
        c->in_kernel = c->in_marks = false;
        c->depth = 0;
    }
    c->before2 = c->before;
    c->before = p->kind;
}

static void look_at_all(pieces *list)
{
    struct context c = {.at_start = true};
    for (size_t i = 0; i < list->count; i++) {
        struct piece *p = &list->data[i];
        size_t next = i + 1;
        while (next < list->count && piece_is_comment(&list->data[next])) next++;
        if (!piece_is_comment(p)) {
            look_at(list, i, next < list->count ? list->data[next].kind : 0, &c);
            continue;
        }
        p->depth = c.depth;
        p->blocks = c.blocks;
        p->begins_statement = c.at_start;
    }
    vec_free(&c.open);
    vec_free(&c.brackets);
}

void pieces_read(struct front *front, uint32_t file, const char *text, size_t length, pieces *out)
{
    struct reader r = {.out = out, .text = text};
    struct lexer lx;
    lexer_init_text(&lx, front->mem, front->names, file, text, length);
    r.at = (size_t)(lx.cursor - lx.text);
    for (;;) {
        struct token t = lexer_next(&lx);
        add_comments(&r, t.at.begin);
        if (t.kind == TOK_END) break;
        add(&r, t.kind, t.at.begin, t.at.end);
    }
    look_at_all(out);
}
