/* cursor.h - what stands in front of the cursor, in a text that need not be a program. */
#ifndef PTOC_LSP_CURSOR_H
#define PTOC_LSP_CURSOR_H
#include "support/vec.h"
#include <stdbool.h>
#include <stddef.h>

/* A piece of the text. */
struct word {
    size_t begin, length;
};

/* A call whose brackets the cursor is in. */
struct open_call {
    struct word module, callee; /* module.length 0: none */
    int argument;               /* of which the cursor is in, from 0 */
    size_t open;                /* the bracket */
};

struct cursor {
    bool is_in_text;        /* in a comment, a string or a C body: nothing is to be completed */
    struct word prefix;     /* the letters of a name in front of the cursor, perhaps none */
    bool is_after_dot;      /* `a.b[i].` and the prefix */
    bool is_after_at;       /* `@` and the prefix */
    bool is_after_on;       /* the word `on` and the prefix */
    VEC(struct word) chain; /* of is_after_dot: a, b; indices are left out */
    VEC(bool) is_indexed;   /* of each of these: an index follows it */
    struct open_call call;  /* the innermost; callee.length 0: none */
};

void cursor_find(struct cursor *c, const char *text, size_t offset);
void cursor_free(struct cursor *c);

#endif
