/* cursor.c - what stands in front of the cursor, in a text that need not be a program.
 * Idea       the text up to the cursor is read by the compiler's lexer, with a stack of open brackets; all else is
 *            looking back over its tokens.
 * Tests      test/lsp/requests.py
 */
#include "cursor.h"
#include "support/arena.h"
#include "support/intern.h"
#include "syntax/lexer.h"
#include <string.h>

struct open_bracket {
    size_t token; /* its number */
    int commas;
    char bracket;
};

struct look {
    const char *text;
    VEC(struct word) tokens;
    VEC(struct open_bracket) open;
};

static bool is_token(const struct look *l, size_t i, const char *text)
{
    return i < l->tokens.count && l->tokens.data[i].length == strlen(text) &&
           memcmp(l->text + l->tokens.data[i].begin, text, l->tokens.data[i].length) == 0;
}

static bool is_name(const struct look *l, size_t i)
{
    if (i >= l->tokens.count) return false;
    const char c = l->text[l->tokens.data[i].begin];
    return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static void note_bracket(struct look *l, const char *token)
{
    const size_t number = l->tokens.count - 1;
    if (*token == '(' || *token == '[' || *token == '{')
        vec_push(&l->open, ((struct open_bracket){number, 0, *token}));
    else if ((*token == ')' || *token == ']' || *token == '}') && l->open.count > 0)
        l->open.count--;
    else if (*token == ';')
        while (l->open.count > 0 && l->open.data[l->open.count - 1].bracket != '{') l->open.count--;
    else if (*token == ',' && l->open.count > 0)
        l->open.data[l->open.count - 1].commas++;
}

/* false: the cursor is in a token or a comment that is no code. */
static bool read_tokens(struct look *l, size_t offset)
{
    struct arena *mem = arena_create();
    struct interner *names = interner_create();
    char *copy = arena_copy(mem, l->text, offset); /* what lies behind the cursor is not looked at */
    struct lexer lx;
    lexer_init_text(&lx, mem, names, 0, copy, offset);
    size_t end = 0;
    bool is_code = true;
    for (;;) {
        const struct token t = lexer_next(&lx);
        if (t.at.begin >= offset || t.at.end <= t.at.begin) break;
        const char first = copy[t.at.begin];
        if (t.ends_file || (t.problem && (first == '"' || first == '/'))) is_code = false; /* it is open */
        end = t.at.end;
        vec_push(&l->tokens, ((struct word){t.at.begin, t.at.end - t.at.begin}));
        if (t.at.end - t.at.begin == 1) note_bracket(l, copy + t.at.begin);
    }
    size_t line = offset; /* a comment to the end of the line is no token */
    while (line > end && copy[line - 1] != '\n') line--;
    for (size_t i = line; i + 1 < offset; i++) is_code &= !(i >= end && copy[i] == '/' && copy[i + 1] == '/');
    interner_destroy(names);
    arena_destroy(mem);
    return is_code;
}

/* Token `i` is the one in front of a `.`; returns whether there is a chain that ends there. */
static void find_chain(const struct look *l, struct cursor *c, size_t count)
{
    VEC(struct word) words = {0};
    VEC(bool) indexed = {0};
    for (size_t i = count; i > 0;) {
        bool is_indexed = false;
        while (i > 0 && is_token(l, i - 1, "]")) { /* to the bracket that opens it */
            int depth = 0;
            do {
                i--;
                depth += is_token(l, i, "]") - is_token(l, i, "[");
            } while (i > 0 && depth > 0);
            is_indexed = true;
        }
        if (i == 0 || !is_name(l, i - 1)) break;
        i--;
        vec_push(&words, l->tokens.data[i]);
        vec_push(&indexed, is_indexed);
        if (i == 0 || !is_token(l, i - 1, ".")) break;
        i--;
    }
    for (size_t i = words.count; i-- > 0;) {
        vec_push(&c->chain, words.data[i]);
        vec_push(&c->is_indexed, indexed.data[i]);
    }
    vec_free(&words);
    vec_free(&indexed);
}

static void find_call(const struct look *l, struct cursor *c)
{
    for (size_t i = l->open.count; i-- > 0;) {
        const struct open_bracket *o = &l->open.data[i];
        if (o->bracket == '{') return;
        if (o->bracket != '(' || o->token == 0 || !is_name(l, o->token - 1)) continue;
        c->call.callee = l->tokens.data[o->token - 1];
        c->call.argument = o->commas;
        c->call.open = l->tokens.data[o->token].begin;
        if (o->token >= 3 && is_token(l, o->token - 2, ".") && is_name(l, o->token - 3))
            c->call.module = l->tokens.data[o->token - 3];
        return;
    }
}

void cursor_find(struct cursor *c, const char *text, size_t offset)
{
    struct look l = {.text = text};
    *c = (struct cursor){.prefix = {offset, 0}};
    c->is_in_text = !read_tokens(&l, offset);
    size_t count = l.tokens.count;
    if (count > 0 && l.tokens.data[count - 1].begin + l.tokens.data[count - 1].length == offset) {
        if (is_name(&l, count - 1))
            c->prefix = l.tokens.data[--count];
        else if (text[l.tokens.data[count - 1].begin] == '"' || l.tokens.data[count - 1].length > 8)
            c->is_in_text = true; /* behind a string or a body there is nothing to complete */
    }
    c->is_after_dot = count > 0 && is_token(&l, count - 1, ".");
    c->is_after_at = count > 0 && is_token(&l, count - 1, "@");
    c->is_after_on = count > 0 && is_token(&l, count - 1, "on");
    if (c->is_after_dot) find_chain(&l, c, count - 1);
    find_call(&l, c);
    vec_free(&l.tokens);
    vec_free(&l.open);
}

void cursor_free(struct cursor *c)
{
    vec_free(&c->chain);
    vec_free(&c->is_indexed);
}
