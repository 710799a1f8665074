/* foreign_syntax.c - constructs of C, Python and Rust: reported in the terms of that language, with the fix.
 * Idea       at a syntax error, the tokens around it and the text are compared with the patterns of foreign syntax; the
 *            first that matches reports the error.
 * Owner      nothing; reads the parse, and says when the rest of a statement need not be told.
 * Invariant  a fix is given only where the text as a whole is right afterwards, as far as can be seen.
 * Blocks     never.
 * Tests      test/lit/reject/foreign-syntax-*.test
 */
#include "grammar.h"
#include "parse.h"
#include "support/arena.h"
#include "support/nearest.h"
#include "support/strbuf.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

/* A syntax error, and the tokens around it. */
struct scene {
    struct parse *cx;
    struct diag *diag;
    const char *const *expected;
    int expected_count;
    const char *text; /* of the file */
    /* the one that does not fit, the two before it, and the first of the statement */
    struct token now, last, before, begin;
};

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- text ---- */

static bool expects(const struct scene *s, const char *name)
{
    for (int i = 0; i < s->expected_count; i++)
        if (strcmp(s->expected[i], name) == 0) return true;
    return false;
}

static bool is_adjacent(const struct token *a, const struct token *b)
{
    return a->at.end == b->at.begin && a->at.end != 0;
}

static bool is_word(const struct token *t, const char *const *words, int count)
{
    if (t->kind != TOK_NAME) return false;
    for (int i = 0; i < count; i++)
        if (strcmp(t->name, words[i]) == 0) return true;
    return false;
}

static uint32_t skip_blanks(const struct scene *s, uint32_t at)
{
    while (s->text[at] == ' ' || s->text[at] == '\t') at++;
    return at;
}

static uint32_t trim_back(const struct scene *s, uint32_t begin, uint32_t end)
{
    while (end > begin && isspace((unsigned char)s->text[end - 1])) end--;
    return end;
}

static const char *copy(const struct scene *s, uint32_t begin, uint32_t end)
{
    if (end < begin) end = begin; // `i < ;` has nothing between
    return arena_copy(s->cx->front->mem, s->text + begin, end - begin);
}

static struct span span(const struct scene *s, uint32_t begin, uint32_t end)
{
    return (struct span){s->now.at.file, begin, end};
}

/* The first of the stops at bracket depth 0 on this line, or the end of the line. */
static uint32_t find(const struct scene *s, uint32_t at, const char *stops)
{
    for (int depth = 0; s->text[at] != '\0' && s->text[at] != '\n'; at++) {
        if (depth == 0 && strchr(stops, s->text[at])) return at;
        if (strchr("([", s->text[at])) depth++;
        if (strchr(")]", s->text[at]) && depth-- == 0) return at;
    }
    return at;
}

static bool is_name_text(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_') return false;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return *text == '\0';
}

/* Can it be an operand as it stands? */
static bool is_operand(const char *text)
{
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && *text != '_' && *text != '.') return false;
    return true;
}

/* ---- speaking ---- */

static const char *print(const struct scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *print(const struct scene *s, const char *format, ...)
{
    struct strbuf b = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&b, format, args);
    va_end(args);
    const char *text = arena_copy(s->cx->front->mem, strbuf_text(&b), b.length);
    strbuf_free(&b);
    return text;
}

static void say(const struct scene *s, struct span at, const char *text)
{
    diag_error(s->diag, DIAG_E00, at, "%s", text);
}

static void fix(const struct scene *s, uint32_t begin, uint32_t end, const char *text)
{
    diag_fix(s->diag, span(s, begin, end), text, "write '%s'", text);
}

static void cut(const struct scene *s, uint32_t begin, uint32_t end)
{
    diag_fix(s->diag, span(s, begin, end), "", "remove '%s'", copy(s, begin, trim_back(s, begin, end)));
}

/* What stands up to the end of the statement, or up to its block, belongs to the same mistake. */
static void skip_to_block(const struct scene *s)
{
    int kind = s->begin.kind;
    s->cx->is_noise = true;
    s->cx->is_noise_to_block = kind == TOK_FOR || kind == TOK_WHILE || kind == TOK_IF || kind == TOK_ELSE ||
                               kind == TOK_MATCH || kind == TOK_DO || kind == TOK_NAME;
}

/* ---- loops ---- */

/* (int i = LOW; i < HIGH; i++): the same in the language, or NULL. */
static const char *loop_header(const struct scene *s, uint32_t open, uint32_t *end)
{
    uint32_t equals = find(s, open + 1, "="), first = find(s, open + 1, ";");
    if (equals >= first || s->text[first] != ';') return NULL;
    uint32_t name_end = trim_back(s, open, equals), name = name_end;
    while (isalnum((unsigned char)s->text[name - 1]) || s->text[name - 1] == '_') name--;
    const char *var = copy(s, name, name_end),
               *low = copy(s, skip_blanks(s, equals + 1), trim_back(s, equals + 1, first));
    uint32_t second = find(s, first + 1, ";"), less = find(s, first + 1, "<");
    if (s->text[second] != ';' || less >= second) return NULL;
    uint32_t close = find(s, second + 1, ")");
    if (s->text[close] != ')') return NULL;
    bool is_included = s->text[less + 1] == '=';
    const char *high = copy(s, skip_blanks(s, less + 1 + is_included), trim_back(s, less, second));
    const char *counted = copy(s, skip_blanks(s, first + 1), trim_back(s, first, less));
    const char *advance = copy(s, skip_blanks(s, second + 1), trim_back(s, second, close)), *step = "";
    if (strncmp(advance, print(s, "%s +=", var), strlen(var) + 3) == 0)
        step = strcmp(advance + strlen(var) + 3, " 1") == 0 ? "" : print(s, " step%s", advance + strlen(var) + 3);
    else if (strcmp(advance, print(s, "%s++", var)) != 0 && strcmp(advance, print(s, "++%s", var)) != 0)
        return NULL;
    if (!is_name_text(var) || strcmp(var, counted) != 0 || *low == '\0' || *high == '\0') return NULL;
    *end = close + 1;
    return print(s, "%s in %s .. %s%s%s", var, low, high, is_included ? " + 1" : "", step);
}

static bool loop_of_c(const struct scene *s)
{
    if (s->last.kind != TOK_FOR || s->now.kind != TOK_LPAREN) return false;
    uint32_t end = 0;
    const char *header = loop_header(s, s->now.at.begin, &end);
    say(s, s->now.at, "a loop is written 'for i in low .. high { }', without parentheses");
    if (header != NULL) fix(s, s->now.at.begin, end, header);
    skip_to_block(s);
    return true;
}

static bool range_of_python(const struct scene *s)
{
    const char *word = s->begin.kind == TOK_FOR ? strstr(s->text + s->begin.at.end, "range(") : NULL;
    if (word == NULL || !expects(s, "..")) return false;
    uint32_t begin = (uint32_t)(word - s->text), open = begin + 5;
    if (begin > s->now.at.begin) return false;
    uint32_t close = find(s, open + 1, ")"), one = find(s, open + 1, ","),
             two = one < close ? find(s, one + 1, ",") : close;
    say(s, span(s, begin, close + (s->text[close] == ')')),
        "there is no 'range': a loop is written 'for i in low .. high { }'");
    if (s->text[close] == ')' && s->now.kind == TOK_LBRACE) {
        const char *first = copy(s, open + 1, one),
                   *second = one < close ? copy(s, skip_blanks(s, one + 1), two) : NULL;
        const char *third = two < close ? copy(s, skip_blanks(s, two + 1), close) : NULL;
        fix(s, begin, close + 1,
            print(s, "%s .. %s%s%s", second ? first : "0", second ? second : first, third ? " step " : "",
                  third ? third : ""));
    } else {
        diag_help(s->diag, "the body of a loop stands in braces");
    }
    skip_to_block(s);
    return true;
}

/* for i in n { } */
static bool loop_without_begin(const struct scene *s)
{
    if (s->begin.kind != TOK_FOR || s->now.kind != TOK_LBRACE || !expects(s, "..")) return false;
    uint32_t at = skip_blanks(s, s->begin.at.end);
    while (isalnum((unsigned char)s->text[at]) || s->text[at] == '_') at++;
    at = skip_blanks(s, at);
    if (strncmp(s->text + at, "in ", 3) != 0) return false;
    at = skip_blanks(s, at + 3);
    say(s, span(s, at, s->last.at.end), "a loop runs over 'low .. high', the end excluded");
    diag_fix(s->diag, span(s, at, at), "0 .. ", "from 0: write '0 ..'");
    return true;
}

/* ---- assignment ---- */

/* x += e: the operator is what does not fit, or the '=' behind it. */
static bool compound_assignment(const struct scene *s)
{
    static const int kinds[] = {TOK_PLUS,  TOK_MINUS, TOK_STAR,      TOK_SLASH, TOK_PERCENT,
                                TOK_BITOR, TOK_CARET, TOK_AMPERSAND, TOK_SHL,   TOK_SHR};
    bool is_behind = s->now.kind == TOK_ASSIGN && is_adjacent(&s->last, &s->now), is_operator = false;
    const struct token *op = is_behind ? &s->last : &s->now;
    for (int i = 0; i < COUNT(kinds); i++) is_operator |= op->kind == kinds[i];
    if (!is_operator || s->text[op->at.end] != '=' || op->at.begin == s->begin.at.begin) return false;
    const char *sign = copy(s, op->at.begin, op->at.end);
    const char *target = copy(s, s->begin.at.begin, trim_back(s, s->begin.at.begin, op->at.begin));
    uint32_t from = skip_blanks(s, op->at.end + 1), end = find(s, from, ";");
    const char *value = copy(s, from, trim_back(s, from, end));
    say(s, span(s, op->at.begin, op->at.end + 1),
        print(s, "there is no '%s=': the whole value is written again", sign));
    if (s->begin.kind == TOK_NAME && strchr(target, '\n') == NULL && s->text[end] == ';' && *value != '\0') {
        bool is_plain = (op->kind == TOK_PLUS && strpbrk(value, "|^&<>") == NULL) || is_operand(value);
        fix(s, op->at.begin, end,
            print(s, "= %s %s %s%s%s", target, sign, is_plain ? "" : "(", value, is_plain ? "" : ")"));
    }
    s->cx->is_noise = true;
    return true;
}

static void tell_increment(const struct scene *s, uint32_t op, uint32_t begin, uint32_t end, const char *name)
{
    char sign = s->text[op];
    bool is_statement = begin == s->begin.at.begin && is_name_text(name) && s->text[skip_blanks(s, end)] == ';';
    say(s, span(s, op, op + 2), print(s, "there is no '%c%c'", sign, sign));
    if (is_statement)
        fix(s, begin, end, print(s, "%s = %s %c 1", name, name, sign));
    else
        diag_help(s->diag, "count in a statement of its own: i = i %c 1;", sign);
    s->cx->is_noise = true;
}

/* i++ i-- ++i --i: which of the signs does not fit depends on what stands around. */
static bool increment(const struct scene *s)
{
    const struct token *tokens[] = {&s->before, &s->last, &s->now};
    for (int i = 0; i < 3; i++) {
        const struct token *t = tokens[i];
        uint32_t at = t->at.begin;
        if ((t->kind != TOK_PLUS && t->kind != TOK_MINUS) || s->text[at + 1] != s->text[at] || at + 1 > s->now.at.end)
            continue;
        if (at == s->begin.at.begin) {
            uint32_t end = find(s, at + 2, ";");
            tell_increment(s, at, at, end, copy(s, skip_blanks(s, at + 2), trim_back(s, at, end)));
        } else if (at > s->begin.at.begin) {
            uint32_t begin = s->begin.at.begin;
            uint32_t next = skip_blanks(s, at + 2);
            /* a - -b */
            if (t->kind == TOK_MINUS && s->text[next] != ';' && s->text[next] != ')' && s->text[next] != ']')
                return false;
            tell_increment(s, at, begin, at + 2, copy(s, begin, trim_back(s, begin, at)));
        } else {
            continue;
        }
        return true;
    }
    return false;
}

/* let x := 3;  x := 3; */
static bool colon_equals(const struct scene *s)
{
    if (s->now.kind == TOK_ASSIGN && s->last.kind == TOK_COLON && is_adjacent(&s->last, &s->now)) {
        say(s, span(s, s->last.at.begin, s->now.at.end), "a name gets its value by '='");
        fix(s, s->last.at.begin, s->now.at.end, "=");
    } else if (s->now.kind == TOK_COLON && s->text[s->now.at.end] == '=' && s->begin.kind == TOK_NAME &&
               s->begin.at.begin == s->last.at.begin) {
        say(s, span(s, s->now.at.begin, s->now.at.end + 1), "a name is declared by 'let', or by 'var' when it changes");
        fix(s, s->begin.at.begin, s->now.at.end + 1, print(s, "let %s =", s->begin.name));
    } else {
        return false;
    }
    s->cx->is_noise = true;
    return true;
}

/* ---- declarations of values ---- */

static const char *const c_types[] = {"int",    "long",    "short",   "char", "float", "double", "unsigned",
                                      "size_t", "int64_t", "int32_t", "auto", "bool",  "f32",    "f64",
                                      "i64",    "i32",     "val",     "Int",  "string"};

static bool let_mut(const struct scene *s)
{
    static const char *const word[] = {"mut"};
    if (s->before.kind != TOK_LET || !is_word(&s->last, word, 1)) return false;
    uint32_t end = find(s, s->now.at.begin, ";"), equals = find(s, s->now.at.begin, "=");
    bool is_tensor = equals >= end;
    say(s, s->last.at,
        is_tensor ? "there is no 'mut': a tensor is written by the callee that it is passed to as 'out' or 'inout'"
                  : "there is no 'mut': a scalar that changes is a 'var'");
    fix(s, s->before.at.begin, s->last.at.end, is_tensor ? "let" : "var");
    s->cx->is_noise = true;
    return true;
}

static bool declaration_of_c(const struct scene *s)
{
    if (s->now.kind != TOK_NAME || s->begin.kind != TOK_NAME || !expects(s, "=")) return false;
    uint32_t next = skip_blanks(s, s->now.at.end);
    if (s->last.kind == TOK_RBRACKET &&
        is_word(&s->begin, (const char *const[]){"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"},
                10)) {
        say(s, span(s, s->begin.at.begin, s->now.at.end), "a tensor is named by 'let', its type follows the name");
        fix(s, s->begin.at.begin, s->now.at.end,
            print(s, "let %s: %s", s->now.name, copy(s, s->begin.at.begin, s->last.at.end)));
    } else if (s->last.at.begin == s->begin.at.begin && s->text[next] == '=' && s->text[next + 1] != '=') {
        say(s, s->begin.at, "a name is declared by 'let', or by 'var' when it changes");
        fix(s, s->begin.at.begin, s->begin.at.end, "let");
    } else if (s->last.at.begin == s->begin.at.begin && is_word(&s->begin, c_types, COUNT(c_types))) {
        say(s, s->begin.at, "a name is declared by 'let' or 'var', and a scalar needs a value");
        diag_help(s->diag, "var %s = 0;", s->now.name);
    } else {
        return false;
    }
    s->cx->is_noise = true;
    return true;
}

/* ---- words ---- */

static bool word_operator(const struct scene *s)
{
    static const struct {
        const char *word, *op;
    } words[] = {{"and", "&&"}, {"or", "||"}, {"is", "=="}, {"AND", "&&"}, {"OR", "||"}, {"mod", "%"}};
    static const char *const negation[] = {"not"};
    for (int i = 0; i < COUNT(words); i++) {
        if (s->now.kind != TOK_NAME || strcmp(s->now.name, words[i].word) != 0 || !expects(s, "&&")) continue;
        say(s, s->now.at, print(s, "the operator is written '%s'", words[i].op));
        fix(s, s->now.at.begin, s->now.at.end, words[i].op);
        skip_to_block(s);
        return true;
    }
    if (!is_word(&s->last, negation, 1) || s->now.kind != TOK_NAME) return false;
    say(s, s->last.at, "'not' is written '!'");
    if (strchr("{)&|;", s->text[skip_blanks(s, s->now.at.end)]))
        fix(s, s->last.at.begin, s->now.at.begin, "!");
    else
        diag_help(s->diag, "with the condition in parentheses: !(a == b)");
    skip_to_block(s);
    return true;
}

static bool else_if(const struct scene *s)
{
    static const char *const words[] = {"elif", "elsif", "elseif", "elsf"};
    if (!is_word(&s->begin, words, COUNT(words)) || s->begin.at.begin == s->now.at.begin) return false;
    say(s, s->begin.at, "it is written 'else if'");
    if (s->text[find(s, s->now.at.begin, "{")] == '{') fix(s, s->begin.at.begin, s->begin.at.end, "else if");
    skip_to_block(s);
    return true;
}

static bool word_of_statement(const struct scene *s)
{
    static const struct {
        const char *word, *help;
    } words[] = {
        {"switch", "a choice is written 'match v { 1, 2 => { } else => { } }'"},
        {"case", "an arm is written '1, 2 => { }'"},
        {"loop", "a loop without end is written 'while true { }'"},
        {"until", "it is written 'while !(...) { }'"},
        {"unless", "it is written 'if !(...) { }'"},
        {"foreach", "a loop is written 'for i in low .. high { }'"},
        {"parallel", "calls run in parallel by themselves, wherever no result can tell the difference"},
        {"async", "a call is a task and does not wait: there is no word for it"},
        {"def", "a function is written 'orch name(...) { }' and stands outside of other functions"},
        {"fn", "a function is written 'orch name(...) { }' and stands outside of other functions"},
        {"pass", "an empty block is '{ }'"},
        {"try", "errors end the run: there is nothing to catch them with"},
        {"with", "an explicit scope is written 'scope \"name\" { }'"},
    };
    for (int i = 0; i < COUNT(words); i++) {
        if (!is_word(&s->begin, &words[i].word, 1) || expects(s, "orch")) continue;
        say(s, s->begin.at, print(s, "there is no '%s'", words[i].word));
        diag_help(s->diag, "%s", words[i].help);
        skip_to_block(s);
        return true;
    }
    return false;
}

static bool word_of_declaration(const struct scene *s)
{
    static const struct {
        const char *word, *meant;
    } words[] = {
        {"def", "orch"},     {"fn", "orch"},      {"func", "orch"},      {"function", "orch"},   {"fun", "orch"},
        {"void", "orch"},    {"proc", "orch"},    {"pub", "export"},     {"public", "export"},   {"include", "import"},
        {"use", "import"},   {"using", "import"}, {"require", "import"}, {"constexpr", "const"}, {"static", "const"},
        {"define", "const"}, {"class", "struct"}, {"type", "struct"},    {"record", "struct"},
    };
    static const char *const known[] = {"import", "const",  "param", "struct",
                                        "kernel", "export", "orch",  "static_assert"};
    if (s->now.kind == TOK_LET || s->now.kind == TOK_VAR) {
        if (!expects(s, "orch") || !expects(s, "import")) return false;
        say(s, s->now.at, "outside of functions there are only constants, and what is set when the program runs");
        diag_help(s->diag, "const T = 64;  or  param n: i64 = 1000;");
        return true;
    }
    bool is_export = s->last.kind == TOK_EXPORT;
    if (is_export && (s->now.kind == TOK_KERNEL || s->now.kind == TOK_CONST || s->now.kind == TOK_STRUCT ||
                      s->now.kind == TOK_PARAM)) {
        say(s, s->last.at, "only functions are exported");
        cut(s, s->last.at.begin, s->now.at.begin);
        diag_help(s->diag, "a module's kernels, constants and structs can be used by every file that imports it");
        return true;
    }
    if (s->now.kind != TOK_NAME || !expects(s, "orch")) return false;
    const char *meant = NULL;
    for (int i = 0; i < COUNT(words); i++)
        if (strcmp(words[i].word, s->now.name) == 0) meant = words[i].meant;
    if (meant == NULL)
        meant = is_export ? nearest_word(s->now.name, (const char *const[]){"orch"}, 1)
                          : nearest_word(s->now.name, known, COUNT(known));
    uint32_t next = skip_blanks(s, s->now.at.end);
    if (meant == NULL || (!isalpha((unsigned char)s->text[next]) && s->text[next] != '"')) return false;
    say(s, s->now.at, print(s, "there is no '%s'", s->now.name));
    diag_fix(s->diag, s->now.at, meant, "did you mean '%s'?", meant);
    return true;
}

static bool import_without_quotes(const struct scene *s)
{
    static const char *const std[] = {"tile", "nn", "la", "sparse", "dma"};
    if (s->last.kind != TOK_IMPORT || s->now.kind != TOK_NAME) return false;
    bool is_std = is_word(&s->now, std, COUNT(std));
    say(s, s->now.at, "an import is the path of a file, in quotes");
    if (s->text[s->now.at.end] != '.')
        fix(s, s->now.at.begin, s->now.at.end, print(s, "\"%s%s.pto\"", is_std ? "std/" : "", s->now.name));
    else
        diag_help(s->diag, "import \"std/tile.pto\" as tile;");
    return true;
}

/* Formals, params and fields. */
static bool declaration_without_type(const struct scene *s)
{
    if (s->last.kind == TOK_NAME && s->now.kind == TOK_ASSIGN && s->before.kind == TOK_PARAM) {
        bool is_float = memchr(s->text + s->now.at.begin, '.', find(s, s->now.at.begin, ";") - s->now.at.begin) != NULL;
        say(s, s->now.at, "a param has a type: i64, f64, f32 or bool");
        diag_fix(s->diag, span(s, s->last.at.end, s->last.at.end), is_float ? ": f64" : ": i64", "write '%s: %s'",
                 s->last.name, is_float ? "f64" : "i64");
    } else if (s->last.kind == TOK_NAME && (s->now.kind == TOK_COMMA || s->now.kind == TOK_RPAREN) && expects(s, ":") &&
               s->expected_count == 1) {
        say(s, s->last.at, print(s, "'%s' has no type", s->last.name));
        diag_help(s->diag, "%s: f32[N] is a tensor, %s: i64 a number", s->last.name, s->last.name);
    } else if (s->now.kind == TOK_COMMA && s->cx->declaration == TOK_STRUCT && expects(s, ";")) {
        say(s, s->now.at, "each field ends in ';'");
        fix(s, s->now.at.begin, s->now.at.end, ";");
    } else if (s->last.kind == TOK_RPAREN && expects(s, "@") && expects(s, "let") && !expects(s, "for")) {
        say(s, s->now.at, "an attribute stands before a call, or before a 'let' or an assignment that calls");
    } else {
        return false;
    }
    s->cx->is_noise = true;
    return true;
}

/* ---- blocks ---- */

static bool block_without_braces(const struct scene *s)
{
    static const char *const then[] = {"then", "do"};
    int kind = s->begin.kind;
    bool is_head = kind == TOK_IF || kind == TOK_WHILE || kind == TOK_FOR || kind == TOK_ELSE || kind == TOK_DO;
    if (!is_head || !expects(s, "{") || s->now.at.begin == s->begin.at.begin || (kind == TOK_FOR && expects(s, "in")))
        return false;
    if (s->now.kind == TOK_END || s->now.kind == TOK_ASSIGN || s->now.kind == TOK_SEMICOLON ||
        s->now.kind == TOK_RPAREN)
        return false;
    if (is_word(&s->now, then, 2)) {
        say(s, s->now.at, print(s, "a block begins with '{', without '%s'", s->now.name));
        if (s->text[skip_blanks(s, s->now.at.end)] == '{') cut(s, s->now.at.begin, skip_blanks(s, s->now.at.end));
    } else if (s->now.kind == TOK_COLON) {
        say(s, s->now.at, "a block stands in braces: { ... }");
    } else if (s->now.kind == TOK_NAME || expects(s, "let") || s->now.kind == TOK_RETURN || s->now.kind == TOK_BREAK ||
               s->now.kind == TOK_CONTINUE || s->now.kind == TOK_PRINT || s->now.kind == TOK_LET ||
               s->now.kind == TOK_DROP || s->now.kind == TOK_ASSERT) {
        uint32_t end = find(s, s->now.at.begin, ";{");
        if (s->text[end] == '{' || memchr(s->text + s->last.at.end, '\n', s->now.at.begin - s->last.at.end) != NULL)
            return false;
        say(s, s->now.at, print(s, "the body of '%s' stands in braces", copy(s, s->begin.at.begin, s->begin.at.end)));
        if (s->text[end] == ';')
            fix(s, s->now.at.begin, end + 1, print(s, "{ %s }", copy(s, s->now.at.begin, end + 1)));
    } else {
        return false;
    }
    s->cx->is_noise = true;
    s->cx->is_noise_to_block = kind == TOK_DO; /* its condition comes behind */
    return true;
}

static bool semicolon_behind_block(const struct scene *s)
{
    bool is_place = s->last.kind == TOK_RBRACE || s->last.kind == TOK_C_BODY || s->last.kind == TOK_SEMICOLON;
    if (s->now.kind != TOK_SEMICOLON || !is_place || s->last.at.begin == s->last.at.end) return false;
    say(s, s->now.at, s->last.kind == TOK_SEMICOLON ? "there is no empty statement" : "no ';' follows a block");
    cut(s, s->now.at.begin, s->now.at.end);
    return true;
}

/* ---- expressions ---- */

/* n // 2; */
static bool division_of_python(const struct scene *s)
{
    uint32_t at = skip_blanks(s, s->last.at.end), end = at;
    if (s->last.at.end == 0 || s->text[at] != '/' || s->text[at + 1] != '/') return false;
    while (s->text[end] != '\0' && s->text[end] != '\n') end++;
    end = trim_back(s, at, end);
    uint32_t operand = skip_blanks(s, at + 2);
    if (s->text[end - 1] != ';' || (!isalnum((unsigned char)s->text[operand]) && s->text[operand] != '(')) return false;
    say(s, span(s, at, at + 2), "'//' begins a comment: integers are divided by '/'");
    fix(s, at, at + 2, "/");
    s->cx->is_noise = true;
    return true;
}

static bool two_characters(const struct scene *s)
{
    const struct {
        int last, now;
        const char *text, *meant;
    } pairs[] = {
        {TOK_LT, TOK_GT, "'<>' is written '!='", "!="},
        {TOK_EQ, TOK_ASSIGN, "'===' is written '=='", "=="},
        {TOK_NE, TOK_ASSIGN, "'!==' is written '!='", "!="},
        {TOK_STAR, TOK_STAR, "there is no operator for powers: multiply, or use 'pow(a, b)'", NULL},
    };
    for (int i = 0; i < COUNT(pairs); i++) {
        if (s->last.kind != pairs[i].last || s->now.kind != pairs[i].now || !is_adjacent(&s->last, &s->now) ||
            !expects(s, "integer"))
            continue;
        say(s, span(s, s->last.at.begin, s->now.at.end), pairs[i].text);
        if (pairs[i].meant != NULL) fix(s, s->last.at.begin, s->now.at.end, pairs[i].meant);
        skip_to_block(s);
        return true;
    }
    bool is_less = s->now.kind == TOK_ASSIGN && s->text[s->now.at.end] == '<';
    if ((is_less || s->now.kind == TOK_FATARROW) && expects(s, "&&") && !expects(s, "=>") && !expects(s, "=")) {
        say(s, span(s, s->now.at.begin, s->now.at.end + is_less),
            is_less ? "'=<' is written '<='" : "'=>' is written '>='");
        fix(s, s->now.at.begin, s->now.at.end + is_less, is_less ? "<=" : ">=");
        skip_to_block(s);
        return true;
    }
    if (s->now.kind == TOK_ARROW && expects(s, "=>")) {
        say(s, s->now.at, "between the values of an arm and its block stands '=>'");
        fix(s, s->now.at.begin, s->now.at.end, "=>");
        return true;
    }
    if (s->now.kind == TOK_COLON && s->text[s->now.at.end] == ':' && s->last.kind == TOK_NAME) {
        say(s, span(s, s->now.at.begin, s->now.at.end + 1), "a name of a module is written 'module.name'");
        fix(s, s->now.at.begin, s->now.at.end + 1, ".");
        s->cx->is_noise = true;
        return true;
    }
    return false;
}

static bool slice_of_python(const struct scene *s)
{
    bool is_inside = s->cx->open_count > 0 && s->cx->open[s->cx->open_count - 1].kind == TOK_LBRACKET;
    bool is_first = s->before.kind == TOK_LBRACKET || s->before.kind == TOK_COMMA;
    if (s->now.kind == TOK_COLON && is_inside && expects(s, "..")) { /* x[2 : 4] */
        say(s, s->now.at, "a slice is written 'low .. high'");
        if (s->text[skip_blanks(s, s->now.at.end)] != ']') {
            diag_fix(s->diag, s->now.at, isspace((unsigned char)s->text[s->now.at.begin - 1]) ? ".." : " .. ",
                     "write '..'");
        } else {
            diag_help(s->diag, "both bounds are written; 'dim(x, 0)' is the extent of the first dimension");
        }
        /* x[: 4] */
    } else if (s->last.kind == TOK_COLON && is_first && !expects(s, "integer") && s->now.kind != TOK_END && is_inside) {
        say(s, s->last.at, "a slice is written 'low .. high', both bounds are written");
        diag_fix(s->diag, s->last.at, "0 .. ", "write '0 ..'");
        /* x[.. 4] */
    } else if (s->now.kind == TOK_DOTDOT && (s->last.kind == TOK_LBRACKET || s->last.kind == TOK_COMMA) && is_inside) {
        say(s, s->now.at, "both bounds of a slice are written");
        diag_fix(s->diag, s->now.at, "0 ..", "write '0 ..'");
    } else if (s->last.kind == TOK_DOTDOT && s->now.kind == TOK_RBRACKET) { /* x[2 ..] */
        say(s, s->last.at, "both bounds of a slice are written");
        diag_help(s->diag, "'dim(x, 0)' is the extent of the first dimension of x");
        /* 0 ..= 4 */
    } else if (s->last.kind == TOK_DOTDOT && s->now.kind == TOK_ASSIGN && is_adjacent(&s->last, &s->now)) {
        say(s, span(s, s->last.at.begin, s->now.at.end), "there is no '..=': the end of a range is excluded");
        diag_help(s->diag, "write 'low .. high + 1'");
        skip_to_block(s);
        return true;
    } else {
        return false;
    }
    s->cx->is_noise = true;
    return true;
}

static bool arguments(const struct scene *s)
{
    bool is_call = s->cx->open_count > 0 && s->cx->open[s->cx->open_count - 1].kind == TOK_LPAREN;
    if (s->now.kind == TOK_IN && expects(s, "inout") && !expects(s, "host")) {
        say(s, s->now.at, "an argument that is only read has no marker");
        cut(s, s->now.at.begin, skip_blanks(s, s->now.at.end));
    } else if (s->now.kind == TOK_ASSIGN && s->last.kind == TOK_NAME && is_call &&
               (s->before.kind == TOK_LPAREN || s->before.kind == TOK_COMMA) && expects(s, "==")) {
        say(s, s->now.at, "arguments have no names: they are given in the order of the formals");
        cut(s, s->last.at.begin, skip_blanks(s, s->now.at.end));
    } else {
        return false;
    }
    s->cx->is_noise = true;
    return true;
}

static bool list_of_c(const struct scene *s)
{
    /* f32[M][N] */
    if (s->now.kind == TOK_LBRACKET && s->last.kind == TOK_RBRACKET && is_adjacent(&s->last, &s->now) &&
        !expects(s, "[")) {
        say(s, s->now.at, "the extents of a tensor stand in one pair of brackets");
        diag_fix(s->diag, span(s, s->last.at.begin, s->now.at.end), ", ", "write 'f32[M, N]'");
        /* print(a, b); */
    } else if (s->begin.kind == TOK_PRINT && s->now.kind == TOK_COMMA &&
               s->text[skip_blanks(s, s->begin.at.end)] == '(') {
        uint32_t open = skip_blanks(s, s->begin.at.end), close = find(s, open + 1, ")");
        say(s, span(s, open, open + 1), "'print' takes its values without parentheses");
        if (s->text[close] == ')')
            fix(s, open, close + 1, print(s, open > s->begin.at.end ? "%s" : " %s", copy(s, open + 1, close)));
    } else if (s->now.kind == TOK_COMMA && s->begin.kind == TOK_RETURN) {
        say(s, s->now.at, "a function returns one value; more of them go to 'out' formals");
    } else if (s->now.kind == TOK_COMMA && s->last.kind == TOK_NAME &&
               (s->before.kind == TOK_LET || s->before.kind == TOK_VAR)) {
        say(s, s->now.at, "each name has a 'let' or 'var' of its own");
    } else {
        return false;
    }
    s->cx->is_noise = true;
    return true;
}

/* f(&y), f(&mut y) */
static bool address(const struct scene *s)
{
    if (s->now.kind != TOK_AMPERSAND || !expects(s, "integer")) return false;
    say(s, s->now.at, "no address is taken: an argument that is written is marked 'out' or 'inout'");
    s->cx->is_noise = true;
    return true;
}

static bool half_a_number(const struct scene *s)
{
    if (s->now.kind == TOK_DOT && isdigit((unsigned char)s->text[s->now.at.end]) && expects(s, "integer")) {
        say(s, s->now.at, "a number has a digit on both sides of its point");
        diag_fix(s->diag, span(s, s->now.at.begin, s->now.at.begin), "0", "add '0'");
    } else if (s->last.kind == TOK_DOT && s->before.kind == TOK_INT && is_adjacent(&s->before, &s->last) &&
               s->now.kind != TOK_NAME) {
        say(s, s->last.at, "a number has a digit on both sides of its point");
        diag_fix(s->diag, span(s, s->last.at.end, s->last.at.end), "0", "add '0'");
    } else {
        return false;
    }
    s->cx->is_noise = true;
    return true;
}

bool foreign_syntax_report(struct parse *cx, const char *const *expected, int expected_count)
{
    static bool (*const hints[])(const struct scene *) = {
        loop_of_c,
        range_of_python,
        loop_without_begin,
        compound_assignment,
        increment,
        colon_equals,
        let_mut,
        else_if,
        word_of_statement,
        word_of_declaration,
        import_without_quotes,
        declaration_without_type,
        word_operator,
        declaration_of_c,
        semicolon_behind_block,
        division_of_python,
        two_characters,
        slice_of_python,
        arguments,
        list_of_c,
        address,
        half_a_number,
        block_without_braces,
    };
    struct scene s = {.cx = cx,
                      .diag = cx->front->diag,
                      .expected = expected,
                      .expected_count = expected_count,
                      .text = cx->lexer.text,
                      .now = cx->now,
                      .last = cx->last,
                      .before = cx->before,
                      .begin = cx->begin};
    for (int i = 0; i < COUNT(hints); i++)
        if (hints[i](&s)) return true;
    return false;
}

/* 1.0f, 10L */
static void hint_suffix(struct parse *cx, struct span at)
{
    const char *text = cx->lexer.text + at.begin;
    size_t length = at.end - at.begin, digits = strspn(text, "0123456789.");
    if (digits == 0 || digits >= length || length - digits > 2 || strspn(text + digits, "fFdDuUlL") != length - digits)
        return;
    struct span suffix = {at.file, at.begin + (uint32_t)digits, at.end};
    diag_fix(cx->front->diag, suffix, "", "numbers have no suffix: remove '%.*s'", (int)(length - digits),
             text + digits);
}

void foreign_syntax_hint_token(struct parse *cx, const struct token *t)
{
    if (t->kind == TOK_INT) hint_suffix(cx, t->problem_at);
    if (t->kind != TOK_BAD) return;
    struct diag *d = cx->front->diag;
    const char *text = cx->lexer.text + t->problem_at.begin;
    size_t length = t->problem_at.end - t->problem_at.begin;
    switch (*text) {
    case '#':
        if (strncmp(text, "#include", 8) == 0)
            diag_help(d, "a module is imported: import \"std/tile.pto\" as tile;");
        else if (strncmp(text, "#define", 7) == 0)
            diag_help(d, "a constant is declared: const T = 64;");
        else
            diag_fix(d, (struct span){t->at.file, t->problem_at.begin, t->problem_at.begin + 1}, "//",
                     "a comment begins with '//'");
        break;
    case '\'':
        if (length > 1 && text[length - 1] == '\'' && memchr(text, '"', length) == NULL) {
            const char *inside = arena_copy(cx->front->mem, text + 1, length - 2);
            struct strbuf quoted = {0};
            strbuf_printf(&quoted, "\"%s\"", inside);
            diag_fix(d, t->problem_at, strbuf_text(&quoted), "a string stands in double quotes");
            strbuf_free(&quoted);
        } else {
            diag_help(d, "a string stands in double quotes");
        }
        break;
    case '?': diag_help(d, "there is no '?:': use 'select(c, a, b)', or 'if'"); break;
    default: break;
    }
}
