/* lexer.h - bytes to tokens.  Knows no grammar and prints nothing: a token carries its problem with it. */
#ifndef PTOC_LEXER_H
#define PTOC_LEXER_H
#include "diag.h"

struct arena;
struct interner;

struct token {
    int kind; /* TOK_... of grammar.h; 0 at the end of the file */
    struct span at;
    const char *name; /* NAME: interned.  INT: its digits */
    uint64_t integer; /* INT */
    bool too_large;   /* INT */
    double real;      /* FLOAT */
    const char *text; /* STRING: decoded, with a NUL behind */
    size_t length;

    const char *problem; /* NULL, or the message for the user; the token can be used nevertheless unless it is BAD */
    struct span problem_at;
    bool ends_file; /* the problem is that something was never closed: what follows would be noise */
};

struct lexer {
    struct arena *mem;
    struct interner *names;
    uint32_t file;
    const char *text, *end, *cursor;
    bool after_dot;      /* the next word is a name */
    bool in_kernel_head; /* the next `{` begins a C body */
};

void lexer_init(struct lexer *lx, struct arena *mem, struct interner *names, const struct source_map *sources,
                uint32_t file);
/* The same for a text that is no file of the source map; text[length] is 0. */
void lexer_init_text(struct lexer *lx, struct arena *mem, struct interner *names, uint32_t file, const char *text,
                     size_t length);
struct token lexer_next(struct lexer *lx);
bool lexer_is_name(const char *text); /* may a declaration have that name? */

#endif
