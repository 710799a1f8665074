/* pieces.h - what a layout is made of: tokens and comments, and how each follows the one before.  Only the formatter
 * includes it. */
#ifndef PTOC_FORMAT_PIECES_H
#define PTOC_FORMAT_PIECES_H
#include "syntax/parser.h"
#include "support/vec.h"

enum { PIECE_LINE_COMMENT = -1, PIECE_BLOCK_COMMENT = -2, MAX_COLUMNS = 130 };

struct piece {
    int kind; /* TOK_... of grammar.h, or a comment */
    const char *text;
    int length;
    /* as written */
    int newlines;       /* before it */
    int gap;            /* blanks before it, where it does not begin a line */
    int line, column;   /* of its first byte */
    bool is_many_lines; /* a comment or a C body */
    /* what it is */
    bool is_prefix;        /* a minus sign, not the operator */
    bool is_generic;       /* an angle bracket of dimension variables */
    bool begins_statement; /* an item, a statement, a field, an arm */
    bool begins_attribute; /* on, cost, extern, where of a kernel */
    int depth;             /* open ( and [ before it, inside its statement */
    int blocks;            /* open { before it */
    int partner;           /* of a brace: the index of the other one */
    int lined_up_with;     /* it begins a line below this piece, the first behind an open bracket; or -1 */
    bool opens_many;       /* a brace whose block does not stand on one line */
    bool is_joined;        /* else, and the while of a do: follows its brace */
    /* how it is laid out */
    int break_before; /* 0: same line, 1: new line, 2: an empty line between */
    int space_before; /* blanks, where it does not begin a line */
    int out_column;   /* once its line was laid out */
};

typedef VEC(struct piece) pieces;

void pieces_read(struct front *front, uint32_t file, const char *text, size_t length, pieces *out); /* pieces.c */
void pieces_space(pieces *p);                                                                       /* spaces.c */
void pieces_break(pieces *p);                                                                       /* breaks.c */
/* breaks.c: of a line that begins with it */
int pieces_indent(const pieces *p, size_t i);
bool piece_is_comment(const struct piece *p);
bool piece_is_operator(const struct piece *p); /* a binary one */

#endif
