/* lexer.re - bytes to tokens.
 * Idea       re2c finds the tokens; what has an inside (comments, strings, C bodies) is walked by a function of its
 *            own.
 * Owner      the parser, one lexer a file.
 * Invariant  text[length] == 0 is the sentinel, and no rule goes past a NUL: a NUL before the end is a bad character.
 *            A word after `.` is a name.  From `kernel` to its `;` or `=>` nothing has braces but the C body, so a `{`
 *            there begins one.
 * Blocks     never.
 * Tests      test/lit/lexer/
 */
#include "syntax/c_text.h"
#include "syntax/lexer.h"
#include "grammar.h"
#include "support/arena.h"
#include "support/intern.h"
#include "support/strbuf.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME_BYTES = 64 * 1024 };

void lexer_init(struct lexer *lx, struct arena *mem, struct interner *names, const struct source_map *sources,
                uint32_t file)
{
    const struct source *s = source_get(sources, file);
    lexer_init_text(lx, mem, names, file, s->text, s->length);
}

void lexer_init_text(struct lexer *lx, struct arena *mem, struct interner *names, uint32_t file, const char *text,
                     size_t length)
{
    *lx = (struct lexer){.mem = mem, .names = names, .file = file, .text = text, .end = text + length};
    lx->cursor = text;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) lx->cursor += 3; // a byte order mark
}

static struct span span_of(const struct lexer *lx, const char *begin, const char *end)
{
    return (struct span){lx->file, (uint32_t)(begin - lx->text), (uint32_t)(end - lx->text)};
}

static struct token token_of(const struct lexer *lx, int kind, const char *begin)
{
    return (struct token){.kind = kind, .at = span_of(lx, begin, lx->cursor)};
}

/* Only the first problem of a token is reported. */
static void set_problem(struct lexer *lx, struct token *t, const char *begin, const char *end, const char *problem)
{
    if (t->problem != NULL) return;
    t->problem = problem;
    t->problem_at = span_of(lx, begin, end);
}

static struct token name_token(struct lexer *lx, const char *begin)
{
    struct token t = token_of(lx, TOK_NAME, begin);
    size_t length = (size_t)(lx->cursor - begin);
    if (length > MAX_NAME_BYTES) {
        set_problem(lx, &t, begin, begin + 1, arena_printf(lx->mem, "a name of %zu bytes; the limit is %d", length,
                                                           MAX_NAME_BYTES));
        length = MAX_NAME_BYTES;
    }
    t.name = intern(lx->names, begin, length);
    return t;
}

/* The characters of a number without its underscores. */
static const char *plain_digits(struct lexer *lx, const char *begin, const char *end)
{
    char *digits = arena_alloc(lx->mem, (size_t)(end - begin) + 1), *out = digits;
    for (const char *p = begin; p < end; p++)
        if (*p != '_') *out++ = *p;
    return digits;
}

static struct token int_token(struct lexer *lx, const char *begin)
{
    struct token t = token_of(lx, TOK_INT, begin);
    t.name = plain_digits(lx, begin, lx->cursor);
    bool is_hex = t.name[0] == '0' && (t.name[1] == 'x' || t.name[1] == 'X');
    const unsigned base = is_hex ? 16 : 10;
    for (const char *p = t.name + (is_hex ? 2 : 0); *p != '\0'; p++) {
        unsigned digit = *p <= '9' ? (unsigned)(*p - '0') : (unsigned)((*p | 0x20) - 'a' + 10);
        if (t.integer > (UINT64_MAX - digit) / base) {
            t.too_large = true;
            break;
        }
        t.integer = t.integer * base + digit;
    }
    return t;
}

static struct token float_token(struct lexer *lx, const char *begin)
{
    struct token t = token_of(lx, TOK_FLOAT, begin);
    t.real = strtod(plain_digits(lx, begin, lx->cursor), NULL);
    if (t.real > 1.7976931348623157e308) set_problem(lx, &t, begin, lx->cursor, "the number is too large for f64");
    return t;
}

static const char *not_a_number(struct lexer *lx, const char *begin)
{
    size_t length = (size_t)(lx->cursor - begin);
    return arena_printf(lx->mem, "'%.*s%s' is not a number", length > 40 ? 40 : (int)length, begin,
                        length > 40 ? "..." : "");
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void add_utf8(struct strbuf *b, uint32_t c)
{
    if (c < 0x80) {
        strbuf_putc(b, (char)c);
    } else if (c < 0x800) {
        strbuf_putc(b, (char)(0xc0 | c >> 6));
        strbuf_putc(b, (char)(0x80 | (c & 0x3f)));
    } else {
        if (c < 0x10000) {
            strbuf_putc(b, (char)(0xe0 | c >> 12));
        } else {
            strbuf_putc(b, (char)(0xf0 | c >> 18));
            strbuf_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        strbuf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
        strbuf_putc(b, (char)(0x80 | (c & 0x3f)));
    }
}

/* Decodes the escape whose backslash is at p; returns the place behind it. */
static const char *decode_escape(struct lexer *lx, struct token *t, const char *p, struct strbuf *out)
{
    static const char letters[] = "ntr0abfv\\\"'?", values[] = "\n\t\r\0\a\b\f\v\\\"'?";
    const char *begin = p++;
    if (*p >= '0' && *p <= '7') {
        unsigned value = 0;
        for (int i = 0; i < 3 && *p >= '0' && *p <= '7'; i++) value = value * 8 + (unsigned)(*p++ - '0');
        if (value > 255) set_problem(lx, t, begin, p, "the escape is larger than one byte");
        strbuf_putc(out, (char)value);
        return p;
    }
    if (*p == 'x' || *p == 'u' || *p == 'U') {
        char letter = *p++;
        int wanted = letter == 'x' ? 2 : letter == 'u' ? 4 : 8, count = 0;
        uint32_t value = 0;
        for (; count < wanted && hex_value(*p) >= 0; count++) value = value * 16 + (uint32_t)hex_value(*p++);
        if (count == 0 || (letter != 'x' && count < wanted))
            set_problem(lx, t, begin, p, arena_printf(lx->mem, "'\\%c' needs %s%d hexadecimal digits", letter,
                                                      letter == 'x' ? "1 or " : "", wanted));
        else if (letter != 'x' && (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)))
            set_problem(lx, t, begin, p, "the escape is not a Unicode character");
        else if (letter == 'x')
            strbuf_putc(out, (char)value);
        else
            add_utf8(out, value);
        return p;
    }
    const char *letter = *p != '\0' ? strchr(letters, *p) : NULL;
    if (letter != NULL) {
        strbuf_putc(out, values[letter - letters]);
        return p + 1;
    }
    if (*p == '\n' || *p == '\r' || p >= lx->end) return p; // unterminated, which the caller sees as well
    set_problem(lx, t, begin, p + 1, "unknown escape in a string");
    return p + 1;
}

/* lx->cursor is behind the opening quote. */
static struct token string_token(struct lexer *lx, const char *begin)
{
    struct token t = {.kind = TOK_STRING};
    struct strbuf text = {0};
    const char *p = lx->cursor;
    while (p < lx->end && *p != '"' && *p != '\n' && *p != '\r') {
        if (*p == '\\')
            p = decode_escape(lx, &t, p, &text);
        else
            strbuf_putc(&text, *p++);
    }
    bool is_closed = p < lx->end && *p == '"';
    lx->cursor = is_closed ? p + 1 : p;
    t.at = span_of(lx, begin, lx->cursor);
    if (!is_closed) {
        t.problem = NULL;
        set_problem(lx, &t, begin, lx->cursor, "the string has no closing '\"' on its line");
    }
    t.length = text.length;
    t.text = arena_copy(lx->mem, strbuf_text(&text), text.length);
    strbuf_free(&text);
    return t;
}

/* begin: the opening brace of a C body. */
static struct token body_token(struct lexer *lx, const char *begin)
{
    struct token t = {.kind = TOK_C_BODY};
    int depth = 0;
    const char *p = begin;
    while (p < lx->end) {
        const char *behind = c_text_skip(p, lx->end);
        if (behind == NULL) {
            set_problem(lx, &t, p, p + 2, "the comment has no end");
            t.ends_file = true;
            p = lx->end;
        } else if (behind > p) {
            p = behind;
        } else {
            if (*p == '\0') set_problem(lx, &t, p, p + 1, "a NUL byte in a C body");
            if (*p == '{') depth++;
            if (*p++ == '}' && --depth == 0) break;
        }
    }
    lx->cursor = p;
    t.at = span_of(lx, begin, p);
    if (depth > 0) {
        set_problem(lx, &t, begin, begin + 1, "the C body that begins here has no closing '}'");
        t.ends_file = true;
    }
    return t;
}

/* Of text in single quotes: behind the second, if it is on this line.  Of a '#': the end of the line. */
static const char *end_of_foreign(const struct lexer *lx, const char *begin)
{
    const char *p = begin + 1;
    while (p < lx->end && *p != '\n' && *p != '\r' && *p != '\0' && !(*begin == '\'' && *p == '\'')) p++;
    if (*begin == '\'') return p < lx->end && *p == '\'' ? p + 1 : begin + 1;
    return p;
}

/* A byte that begins no token.  Skips the whole UTF-8 character, so that one character is one message. */
static struct token bad_token(struct lexer *lx, const char *begin)
{
    unsigned char c = (unsigned char)*begin;
    int more = c >= 0xf0 && c < 0xf5 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xc2 && c < 0xe0 ? 1 : 0;
    uint32_t code = more == 3 ? c & 0x07u : more == 2 ? c & 0x0fu : c & 0x1fu;
    const char *p = begin + 1;
    for (int i = 0; i < more && ((unsigned char)*p & 0xc0) == 0x80; i++)
        code = code << 6 | ((unsigned char)*p++ & 0x3f);
    const char *problem;
    if (c == '\0')
        problem = "a NUL byte";
    else if (c < 0x20 || c == 0x7f)
        problem = arena_printf(lx->mem, "a control character (0x%02x)", c);
    else if (c < 0x80)
        problem = arena_printf(lx->mem, "the character '%c' has no meaning here", c);
    else if (more == 0 || p - begin != more + 1)
        problem = arena_printf(lx->mem, "the byte 0x%02x is not UTF-8", c);
    else
        problem = arena_printf(lx->mem, "the character '%.*s' (U+%04X) may stand only in strings and comments",
                               (int)(p - begin),
                               begin, (unsigned)code);
    // A quote, or the comment of another language, takes what belongs to it along.
    if (c == '\'' || c == '#') p = end_of_foreign(lx, begin);
    lx->cursor = p;
    struct token t = token_of(lx, TOK_BAD, begin);
    set_problem(lx, &t, begin, p, problem);
    return t;
}

static struct token scan(struct lexer *lx)
{
    const char *token, *marker;

#define WORD(kind) return token_of(lx, TOK_##kind, token)
again:
    token = lx->cursor;
    /*!re2c
    re2c:define:YYCTYPE  = "unsigned char";
    re2c:define:YYCURSOR = "lx->cursor";
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable   = 0;
    re2c:flags:type-header = 0;

    name    = [A-Za-z_][A-Za-z0-9_]*;
    decimal = [0-9]+ ("_" [0-9]+)*;
    hex     = "0" [xX] [0-9A-Fa-f]+ ("_" [0-9A-Fa-f]+)*;
    power   = [eE] [+-]? [0-9]+;
    float   = decimal "." decimal power? | decimal power;

    [ \t\r\n\v\f]+   { goto again; }
    "//"             {
                         const char *line_end = memchr(token, '\n', (size_t)(lx->end - token));
                         lx->cursor = line_end != NULL ? line_end : lx->end;
                         goto again;
                     }
    "/*"             {
                         const char *behind = c_text_skip(token, lx->end);
                         if (behind == NULL) {
                             lx->cursor = lx->end;
                             struct token t = token_of(lx, TOK_BAD, token);
                             set_problem(lx, &t, token, token + 2, "the comment has no end");
                             t.ends_file = true;
                             return t;
                         }
                         lx->cursor = behind;
                         goto again;
                     }

    "import"    { WORD(IMPORT); }     "as"       { WORD(AS); }        "const"    { WORD(CONST); }
    "param"     { WORD(PARAM); }      "struct"   { WORD(STRUCT); }    "kernel"   { WORD(KERNEL); }
    "export"    { WORD(EXPORT); }     "orch"     { WORD(ORCH); }      "static_assert" { WORD(STATIC_ASSERT); }
    "in"        { WORD(IN); }         "out"      { WORD(OUT); }       "inout"    { WORD(INOUT); }
    "acc"       { WORD(ACC); }        "own"      { WORD(OWN); }       "host"     { WORD(HOST); }
    "on"        { WORD(ON); }         "cost"     { WORD(COST); }      "extern"   { WORD(EXTERN); }
    "where"     { WORD(WHERE); }      "array"    { WORD(ARRAY); }     "of"       { WORD(OF); }
    "let"       { WORD(LET); }        "var"      { WORD(VAR); }       "view"     { WORD(VIEW); }
    "tiled"     { WORD(TILED); }      "for"      { WORD(FOR); }       "step"     { WORD(STEP); }
    "while"     { WORD(WHILE); }      "do"       { WORD(DO); }        "if"       { WORD(IF); }
    "else"      { WORD(ELSE); }       "match"    { WORD(MATCH); }     "scope"    { WORD(SCOPE); }
    "drop"      { WORD(DROP); }       "return"   { WORD(RETURN); }    "break"    { WORD(BREAK); }
    "continue"  { WORD(CONTINUE); }   "assert"   { WORD(ASSERT); }    "print"    { WORD(PRINT); }
    "await"     { WORD(AWAIT); }      "true"     { WORD(TRUE); }      "false"    { WORD(FALSE); }
    name        { return name_token(lx, token); }

    decimal | hex    { return int_token(lx, token); }
    float            { return float_token(lx, token); }
    (decimal | hex | float) [A-Za-z0-9_]+ {
                         struct token t = token_of(lx, TOK_INT, token);
                         t.name = "0";
                         set_problem(lx, &t, token, lx->cursor, not_a_number(lx, token));
                         return t;
                     }
    ["]              { return string_token(lx, token); }

    "("   { WORD(LPAREN); }      ")"   { WORD(RPAREN); }      "["   { WORD(LBRACKET); }    "]"   { WORD(RBRACKET); }
    "}"   { WORD(RBRACE); }      ","   { WORD(COMMA); }       ";"   { WORD(SEMICOLON); }   ":"   { WORD(COLON); }
    "."   { WORD(DOT); }         ".."  { WORD(DOTDOT); }      "+:"  { WORD(PLUSCOLON); }   "->"  { WORD(ARROW); }
    "+="  { WORD(PLUSASSIGN); }
    "=>"  { WORD(FATARROW); }    "="   { WORD(ASSIGN); }      "@"   { WORD(AT); }          "||"  { WORD(OR); }
    "&&"  { WORD(AND); }         "=="  { WORD(EQ); }          "!="  { WORD(NE); }          "<"   { WORD(LT); }
    "<="  { WORD(LE); }          ">"   { WORD(GT); }          ">="  { WORD(GE); }          "+"   { WORD(PLUS); }
    "-"   { WORD(MINUS); }       "*"   { WORD(STAR); }        "/"   { WORD(SLASH); }       "%"   { WORD(PERCENT); }
    "!"   { WORD(NOT); }         "|"   { WORD(BITOR); }       "^"   { WORD(CARET); }       "&"   { WORD(AMPERSAND); }
    "<<"  { WORD(SHL); }         ">>"  { WORD(SHR); }         "~"   { WORD(TILDE); }       "?"   { WORD(QUESTION); }
    "{"   { if (lx->in_kernel_head) return body_token(lx, token); WORD(LBRACE); }

    "\x00" {
               if (token < lx->end) return bad_token(lx, token);
               lx->cursor = token;
               return token_of(lx, TOK_END, token);
           }
    *      { return bad_token(lx, token); }
    */
#undef WORD
}

/* Does a word begin an item, so that no kernel can be open any more? */
static bool begins_item(int kind)
{
    switch (kind) {
    case TOK_IMPORT: case TOK_CONST: case TOK_PARAM: case TOK_STRUCT: case TOK_EXPORT: case TOK_ORCH:
    case TOK_STATIC_ASSERT:
        return true;
    default:
        return false;
    }
}

struct token lexer_next(struct lexer *lx)
{
    struct token t = scan(lx);
    char first = t.at.begin < t.at.end ? lx->text[t.at.begin] : '\0';
    bool is_word = first == '_' || (first >= 'a' && first <= 'z');
    if (lx->after_dot && is_word && t.kind != TOK_NAME) {
        t.kind = TOK_NAME;
        t.name = intern(lx->names, lx->text + t.at.begin, t.at.end - t.at.begin);
    }
    lx->after_dot = t.kind == TOK_DOT;
    if (t.kind == TOK_KERNEL)
        lx->in_kernel_head = true;
    else if (t.kind == TOK_SEMICOLON || t.kind == TOK_C_BODY || t.kind == TOK_FATARROW || begins_item(t.kind))
        lx->in_kernel_head = false;
    return t;
}

bool lexer_is_name(const char *text)
{
    struct arena *mem = arena_create();
    struct interner *names = interner_create();
    struct lexer lx;
    lexer_init_text(&lx, mem, names, 0, text, strlen(text));
    const struct token t = lexer_next(&lx);
    const bool is_letter = *text == '_' || (*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z');
    const bool is_name = is_letter && t.name && !t.problem && t.at.begin == 0 && t.at.end == strlen(text);
    interner_destroy(names);
    arena_destroy(mem);
    return is_name;
}
