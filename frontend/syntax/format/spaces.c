/* spaces.c - how many blanks stand between two pieces of one line.
 * Idea       one rule for each pair of tokens; what a person lined up with the line above or below stays lined up.
 * Tests      test/lit/fmt/
 */
#include "grammar.h"
#include "pieces.h"

static bool is_operand_end(const struct piece *p)
{
    return p->kind == TOK_NAME || p->kind == TOK_RPAREN || p->kind == TOK_RBRACKET || p->kind == TOK_STRING ||
           p->kind == TOK_ARRAY;
}

static bool is_plain_word(const struct piece *p) /* of the grammar */
{
    char c = p->text[0];
    return p->kind != TOK_NAME && c >= 'a' && c <= 'z';
}

/* A whole dimension, `x[:, i]`, and not the colon before a type. */
static bool is_whole(const struct piece *before, const struct piece *p)
{
    return p->kind == TOK_COLON && (before->kind == TOK_LBRACKET || before->kind == TOK_COMMA);
}

static int usual_space(const struct piece *before2, const struct piece *a, const struct piece *b)
{
    if (piece_is_comment(a) || piece_is_comment(b)) return b->gap > 0 || a->kind == PIECE_LINE_COMMENT;
    switch (b->kind) {
    case TOK_COMMA:
    case TOK_SEMICOLON:
    case TOK_RPAREN:
    case TOK_RBRACKET:
    case TOK_DOT: return 0;
    case TOK_COLON: return is_whole(a, b) && a->kind == TOK_COMMA;
    case TOK_LPAREN:
        if (a->kind == TOK_NAME || a->kind == TOK_RPAREN || a->kind == TOK_RBRACKET || a->is_generic) return 0;
        break;
    case TOK_LBRACKET:
        if (a->kind == TOK_NAME && before2 && before2->kind == TOK_RBRACKET) return 1; /* f64[N] writes [1 .. N] */
        if (is_operand_end(a)) return 0;
        break;
    case TOK_LT:
    case TOK_GT:
        if (b->is_generic) return 0;
        break;
    default: break;
    }
    switch (a->kind) {
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_DOT:
    case TOK_AT:
    case TOK_NOT:
    case TOK_TILDE:
    case TOK_QUESTION: return 0;
    case TOK_MINUS: return !a->is_prefix;
    case TOK_LT: return !a->is_generic;
    case TOK_COLON: return !(before2 && is_whole(before2, a)) || b->kind == TOK_STEP;
    default: return 1;
    }
}

/* Does a token of the same kind begin in the same column of the line above or below, as it was written? */
static bool is_lined_up(const pieces *list, size_t i)
{
    const struct piece *p = &list->data[i];
    for (int way = -1; way <= 1; way += 2)
        for (size_t k = i + (size_t)way; k < list->count; k += (size_t)way) {
            const struct piece *q = &list->data[k];
            if (q->line < p->line - 1 || q->line > p->line + 1) break;
            if (q->line != p->line && q->column == p->column && q->kind == p->kind) return true;
        }
    return false;
}

void pieces_space(pieces *list)
{
    for (size_t i = 1; i < list->count; i++) {
        struct piece *p = &list->data[i];
        p->space_before = usual_space(i > 1 ? &list->data[i - 2] : NULL, p - 1, p);
        bool is_trailing = p->kind == PIECE_LINE_COMMENT && p->newlines == 0;
        if (is_trailing && p->gap > 0) p->space_before = p->gap;
        if (!is_trailing && p->newlines == 0 && p->gap > p->space_before && is_lined_up(list, i))
            p->space_before = p->gap;
        if (is_plain_word(p) && is_plain_word(p - 1) && p->space_before == 0) p->space_before = 1;
    }
}
