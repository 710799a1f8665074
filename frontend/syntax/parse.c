/* parse.c - feeds the grammar with tokens and words its errors.
 * Idea       every token passes one function, which keeps the brackets, reports what the lexer found, and closes blocks
 *            that were left open when a declaration begins; so the grammar's recovery always knows where it is.
 * Owner      one struct parse a file, on the stack of parse_file().
 * Invariant  after parse_give_up() the parser sees only the end of the file and nothing more is said.
 * Blocks     never.
 * Tests      test/lit/parse/, test/lit/lexer/
 */
#include "parse.h"
#include "grammar.h"
#include "support/arena.h"
#include "support/strbuf.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum { MAX_SHOWN_BYTES = 40 };

void parse_give_up(struct parse *cx, struct span at, const char *format, ...)
{
    if (cx->gave_up) return;
    STRBUF(text);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    diag_error(cx->front->diag, DIAG_E00, at, "%s", strbuf_text(&text));
    cx->gave_up = cx->had_error = true;
}

void parse_report_problem(struct parse *cx, const struct token *t)
{
    // A number that is too large is a number all the same: its id is that of constants.
    enum diag_id id = t->kind == TOK_FLOAT ? DIAG_E15 : DIAG_E00;
    const bool is_said = cx->is_noise && t->kind == TOK_BAD && !t->ends_file; /* of this statement, by another */
    if (!cx->gave_up && !is_said && (!cx->is_skipping || t->ends_file))
        diag_error(cx->front->diag, id, t->problem_at, "%s", t->problem);
    if (!cx->gave_up && !is_said && !cx->is_skipping) foreign_syntax_hint_token(cx, t);
    cx->had_error = true;
    cx->is_noise = t->kind != TOK_FLOAT;
    if (t->ends_file) cx->gave_up = true;
}

/* ---- brackets ---- */

static int closer_of(int kind)
{
    return kind == TOK_LPAREN ? TOK_RPAREN : kind == TOK_LBRACKET ? TOK_RBRACKET : TOK_RBRACE;
}

static const char *closer_text(int kind) { return kind == TOK_LPAREN ? ")" : kind == TOK_LBRACKET ? "]" : "}"; }

static int open_braces(const struct parse *cx)
{
    int count = 0;
    for (int i = 0; i < cx->open_count; i++) count += cx->open[i].kind == TOK_LBRACE;
    return count;
}

/* Forgets the innermost brackets down to an open brace: they were left open in something that is over. */
static void drop_to_brace(struct parse *cx)
{
    while (cx->open_count > 0 && cx->open[cx->open_count - 1].kind != TOK_LBRACE) cx->open_count--;
}

static int indentation(const struct parse *cx, uint32_t at)
{
    const char *text = cx->lexer.text;
    int blanks = 0;
    while (at > 0 && text[at - 1] != '\n') at--;
    while (text[at + (uint32_t)blanks] == ' ' || text[at + (uint32_t)blanks] == '\t') blanks++;
    return blanks;
}

/* A '}' that begins its line stands under the begin of the line of its '{'. */
static void compare_indentation(struct parse *cx, const struct token *open, const struct token *close)
{
    const char *text = cx->lexer.text;
    uint32_t begin = close->at.begin;
    if (cx->askew.at.end != 0 || close->at.end == close->at.begin) return;
    while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) begin--;
    bool is_first = begin == 0 || text[begin - 1] == '\n';
    if (is_first && (int)(close->at.begin - begin) < indentation(cx, open->at.begin)) cx->askew = *open;
}

static void follow_brackets(struct parse *cx, const struct token *t)
{
    switch (t->kind) {
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_LBRACE:
        if (cx->open_count == MAX_NESTING)
            parse_give_up(cx, t->at, "this is nested more than %d levels deep", MAX_NESTING);
        else
            cx->open[cx->open_count++] = *t;
        break;
    case TOK_RPAREN:
    case TOK_RBRACKET:
        if (cx->open_count > 0 && closer_of(cx->open[cx->open_count - 1].kind) == t->kind) cx->open_count--;
        break;
    case TOK_RBRACE:
        drop_to_brace(cx);
        if (cx->open_count > 0) compare_indentation(cx, &cx->open[--cx->open_count], t);
        break;
    case TOK_SEMICOLON:
        cx->left_open = cx->open_count > 0 ? cx->open[cx->open_count - 1] : (struct token){0};
        drop_to_brace(cx);
        break;
    }
    bool is_prefix = t->kind == TOK_MINUS || t->kind == TOK_NOT || t->kind == TOK_TILDE || t->kind == TOK_AWAIT;
    cx->prefix_count = is_prefix ? cx->prefix_count + 1 : 0;
    if (cx->prefix_count > MAX_NESTING) parse_give_up(cx, t->at, "more than %d prefix operators in a row", MAX_NESTING);
}

/* ---- tokens ---- */

static bool ends_something(int kind)
{
    return kind == TOK_SEMICOLON || kind == TOK_LBRACE || kind == TOK_RBRACE || kind == TOK_C_BODY;
}

/* Only these can not stand in a block, whatever the user meant. */
static bool begins_function(int kind) { return kind == TOK_KERNEL || kind == TOK_ORCH || kind == TOK_EXPORT; }

static bool begins_line(const struct parse *cx, const struct token *t)
{
    return t->at.begin == 0 || cx->lexer.text[t->at.begin - 1] == '\n';
}

/* Where reading is certain again after an error: a function, or another declaration at the begin of its line. */
static bool begins_declaration(const struct parse *cx, const struct token *t)
{
    switch (t->kind) {
    case TOK_KERNEL:
    case TOK_ORCH:
    case TOK_EXPORT: return true;
    case TOK_IMPORT:
    case TOK_CONST:
    case TOK_PARAM:
    case TOK_STRUCT:
    case TOK_STATIC_ASSERT: return begins_line(cx, t);
    default: return false;
    }
}

static struct token closing_brace(const struct parse *cx)
{
    struct span at = {cx->now.at.file, cx->now.at.end, cx->now.at.end};
    return (struct token){.kind = TOK_RBRACE, .at = at};
}

static struct token next_good_token(struct parse *cx)
{
    for (;;) {
        struct token t = lexer_next(&cx->lexer);
        if (t.at.begin < cx->discard_to && t.kind != TOK_END) continue;
        if (begins_declaration(cx, &t)) {
            cx->is_skipping = cx->is_adrift = false;
            cx->declaration = t.kind;
        }
        // The block of a function is read again, whatever its head was.
        if (t.kind == TOK_LBRACE && cx->declaration == TOK_ORCH) cx->is_skipping = false;
        if (t.problem != NULL) parse_report_problem(cx, &t);
        if (cx->gave_up) break;
        if (t.kind == TOK_BAD) continue;
        if (t.kind == TOK_RBRACE && open_braces(cx) == 0) {
            // After another error it is what that error left over.
            if (!cx->had_error) diag_error(cx->front->diag, DIAG_E00, t.at, "'}' closes nothing");
            cx->had_error = true;
            continue;
        }
        return t;
    }
    uint32_t end = (uint32_t)(cx->lexer.end - cx->lexer.text);
    return (struct token){.kind = TOK_END, .at = {cx->lexer.file, end, end}};
}

static struct token semicolon(const struct parse *cx)
{
    struct span at = {cx->last.at.file, cx->last.at.end, cx->last.at.end};
    return (struct token){.kind = TOK_SEMICOLON, .at = at};
}

static struct token choose_token(struct parse *cx)
{
    if (cx->lacks_semicolon) { // the recovery has thrown the begin of the next statement away and waits for this
        cx->lacks_semicolon = false;
        cx->held = cx->now;
        return semicolon(cx);
    }
    if (cx->closing_count > 0) {
        cx->closing_count--;
        return closing_brace(cx);
    }
    if (cx->held.at.end != 0) {
        struct token t = cx->held;
        cx->held = (struct token){0};
        return t;
    }
    struct token t = next_good_token(cx);
    int braces = open_braces(cx);
    if (!begins_function(t.kind) || braces == 0) return t;
    drop_to_brace(cx);
    const char *word = t.kind == TOK_KERNEL ? "kernel" : t.kind == TOK_ORCH ? "orch" : "export";
    diag_error(cx->front->diag, DIAG_E00, t.at, "expected '}' before '%s'", word);
    diag_note(cx->front->diag, cx->open[cx->open_count - 1].at, "this '{' is not closed");
    cx->had_error = cx->is_adrift = true;
    cx->held = t;
    cx->closing_count = braces - 1;
    return closing_brace(cx);
}

/* The word `scratch` before the name of a formal; elsewhere it is a name. */
static bool is_scratch(const struct parse *cx, const struct token *t)
{
    static const char word[] = "scratch";
    const char *text = cx->lexer.text + t->at.begin, *next = cx->lexer.text + t->at.end;
    if (t->kind != TOK_NAME || t->at.end - t->at.begin != sizeof word - 1 || strncmp(text, word, sizeof word - 1) != 0)
        return false;
    if (cx->now.kind != TOK_LPAREN && cx->now.kind != TOK_COMMA) return false;
    while (*next == ' ' || *next == '\t' || *next == '\n' || *next == '\r') next++;
    return *next == '_' || (*next >= 'a' && *next <= 'z') || (*next >= 'A' && *next <= 'Z');
}

int parse_next_token(union value *value, struct span *at, struct parse *cx)
{
    if (ends_something(cx->now.kind) && !(cx->is_noise_to_block && cx->now.kind == TOK_SEMICOLON))
        cx->is_noise = cx->is_noise_to_block = false;
    struct token t = choose_token(cx);
    follow_brackets(cx, &t);
    if (is_scratch(cx, &t)) t.kind = TOK_SCRATCH;
    if (cx->gave_up) t.kind = TOK_END;
    cx->before = cx->last;
    cx->last = cx->now;
    cx->now = t;
    if (cx->last.kind == 0 || ends_something(cx->last.kind)) cx->begin = t;
    value->token = t;
    *at = t.at;
    return t.kind;
}

/* ---- syntax errors ---- */

static bool is_expected(const char *const *expected, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(expected[i], name) == 0) return true;
    return false;
}

static bool is_comparison(int kind)
{
    return kind == TOK_EQ || kind == TOK_NE || kind == TOK_LT || kind == TOK_LE || kind == TOK_GT || kind == TOK_GE;
}

static void add_token_shown(struct strbuf *out, const struct parse *cx, const struct token *t)
{
    const char *text = cx->lexer.text + t->at.begin;
    size_t length = t->at.end - t->at.begin;
    switch (t->kind) {
    case TOK_END: strbuf_puts(out, "the end of the file"); return;
    case TOK_C_BODY: strbuf_puts(out, "'{'"); return;
    case TOK_STRING: strbuf_puts(out, "a string"); return;
    case TOK_NAME: strbuf_puts(out, "name "); break;
    }
    strbuf_printf(out, length > MAX_SHOWN_BYTES ? "'%.*s...'" : "'%.*s'",
                  length > MAX_SHOWN_BYTES ? MAX_SHOWN_BYTES : (int)length, text);
}

static bool is_on_new_line(const struct parse *cx)
{
    const char *text = cx->lexer.text;
    return cx->last.at.end != 0 && memchr(text + cx->last.at.end, '\n', cx->now.at.begin - cx->last.at.end) != NULL;
}

static bool begins_statement(int kind)
{
    switch (kind) {
    case TOK_NAME:
    case TOK_LET:
    case TOK_VAR:
    case TOK_VIEW:
    case TOK_FOR:
    case TOK_WHILE:
    case TOK_DO:
    case TOK_IF:
    case TOK_MATCH:
    case TOK_SCOPE:
    case TOK_DROP:
    case TOK_RETURN:
    case TOK_BREAK:
    case TOK_CONTINUE:
    case TOK_ASSERT:
    case TOK_PRINT: return true;
    default: return false;
    }
}

/* True: the fix is said. */
static bool fix_semicolon(struct parse *cx, const char *const *expected, int count)
{
    struct span behind = {cx->last.at.file, cx->last.at.end, cx->last.at.end};
    if (!is_expected(expected, count, ";") || cx->open_count != open_braces(cx)) return false;
    diag_fix(cx->front->diag, behind, ";", "add ';'");
    return true;
}

/* "expected X after 'a'" behind the last token where a line ends too early, else "expected X, found 'b'" at the
 * token. */
static void report_expected(struct parse *cx, const char *const *expected, int count)
{
    STRBUF(list);
    STRBUF(shown);
    struct diag *d = cx->front->diag;
    const char *closer = cx->open_count > 0 ? closer_text(cx->open[cx->open_count - 1].kind) : ";";
    if (cx->now.kind == TOK_END && is_expected(expected, count, closer))
        expected_list(&list, &closer, 1);
    else
        expected_list(&list, expected, count);
    if (is_on_new_line(cx) && !ends_something(cx->last.kind)) {
        struct span behind = {cx->last.at.file, cx->last.at.end, cx->last.at.end + 1};
        add_token_shown(&shown, cx, &cx->last);
        diag_error(d, DIAG_E00, behind, "expected %s after %s", strbuf_text(&list), strbuf_text(&shown));
        cx->lacks_semicolon = fix_semicolon(cx, expected, count) && begins_statement(cx->now.kind);
    } else {
        add_token_shown(&shown, cx, &cx->now);
        diag_error(d, DIAG_E00, cx->now.at, "expected %s, found %s", strbuf_text(&list), strbuf_text(&shown));
        if (cx->now.kind == TOK_RBRACE) fix_semicolon(cx, expected, count);
    }
}

/* Two words may stand behind the type of a formal, so a missing ',' is only seen behind the name that should follow it:
 * kernel k(in a: f32[N] b: f32[N]) */
static bool report_missing_comma(struct parse *cx, const char *const *expected, int count)
{
    if (cx->now.kind != TOK_COLON || cx->last.kind != TOK_NAME || count > 2 || !is_expected(expected, count, "name"))
        return false;
    diag_error(cx->front->diag, DIAG_E00, cx->last.at, "expected ',' or ')', found name '%s'", cx->last.name);
    return true;
}

/* An expression, a statement, a type or a formal may stand here, not only a name. */
static bool is_more_than_name(const char *const *expected, int count)
{
    return is_expected(expected, count, "integer") || is_expected(expected, count, "array") ||
           is_expected(expected, count, "host");
}

/* These words are hardly meant as names. */
static bool has_place_of_its_own(int kind)
{
    return begins_statement(kind) || kind == TOK_AWAIT || kind == TOK_IN || kind == TOK_OUT || kind == TOK_INOUT ||
           kind == TOK_ACC || kind == TOK_OWN || kind == TOK_HOST || kind == TOK_CONST;
}

static void add_hints(struct parse *cx, const char *const *expected, int count)
{
    struct diag *d = cx->front->diag;
    int found = cx->now.kind;
    size_t length = cx->now.at.end - cx->now.at.begin;
    const char *text = cx->lexer.text + cx->now.at.begin;
    bool is_word = length > 0 && found != TOK_NAME && (isalpha((unsigned char)text[0]) || text[0] == '_');
    if (found == TOK_CONST && is_expected(expected, count, "let"))
        diag_help(d, "'const' stands outside of functions; in a function write 'let'");
    else if ((found == TOK_PARAM || found == TOK_IMPORT || found == TOK_STRUCT) && is_expected(expected, count, "let"))
        diag_help(d, "'%.*s' stands outside of functions", (int)length, text);
    else if ((found == TOK_IN || found == TOK_OUT || found == TOK_INOUT) && is_expected(expected, count, ","))
        diag_fix(d, (struct span){cx->last.at.file, cx->last.at.end, cx->last.at.end}, ",", "insert ','");
    else if (is_word && found != TOK_ELSE && is_expected(expected, count, "name") &&
             !(is_expected(expected, count, ")") && is_expected(expected, count, ",")) &&
             !(is_more_than_name(expected, count) && has_place_of_its_own(found)))
        diag_help(d, "'%.*s' is a reserved word and can not be a name", (int)length, text);
    else if (found == TOK_ASSIGN && is_expected(expected, count, "==") && foreign_is_last_comparison(text + length))
        diag_fix(d, cx->now.at, "==", "two values are compared with '=='");
    else if (found == TOK_RPAREN && cx->last.kind == TOK_COMMA)
        diag_fix(d, cx->last.at, "", "remove ','");
    else if (found == TOK_C_BODY && is_expected(expected, count, ")"))
        diag_help(d, "the '(' of the parameters is not closed");

    if (found == TOK_SEMICOLON && cx->left_open.at.end != 0 && cx->left_open.kind != TOK_LBRACE &&
        is_expected(expected, count, closer_text(cx->left_open.kind)))
        diag_note(d, cx->left_open.at, "this '%.1s' is not closed", cx->lexer.text + cx->left_open.at.begin);
    bool is_closer = found == TOK_RPAREN || found == TOK_RBRACKET || found == TOK_RBRACE;
    if ((found != TOK_END && !is_closer) || cx->open_count == 0) return;
    const struct token *open = &cx->open[cx->open_count - 1];
    if (found == TOK_END && cx->askew.at.end != 0 && open->kind == TOK_LBRACE) {
        diag_note(d, cx->askew.at, "this '{' may be the one that is not closed: its '}' is further left");
        return;
    }
    if (is_expected(expected, count, closer_text(open->kind)))
        diag_note(d, open->at, "this '%.1s' is not closed", cx->lexer.text + open->at.begin);
}

void parse_report_syntax(struct parse *cx, const char *const *expected, int expected_count)
{
    // A brace that was put in to close a block that was reported already.
    bool is_made_up = cx->now.kind == TOK_RBRACE && cx->now.at.begin == cx->now.at.end;
    bool is_between_functions =
        is_expected(expected, expected_count, "orch") && is_expected(expected, expected_count, "import");
    bool is_misspelt = cx->now.kind == TOK_NAME && begins_line(cx, &cx->now); // perhaps the word of a declaration
    if (cx->gave_up || is_made_up || cx->is_noise || cx->is_skipping ||
        (cx->is_adrift && is_between_functions && !is_misspelt))
        return;
    if (is_between_functions) cx->declaration = 0;
    cx->had_error = cx->is_adrift = true;
    // The brackets are already those behind the token that was found.
    cx->is_skipping = cx->now.kind != TOK_RBRACE && open_braces(cx) == (cx->now.kind == TOK_LBRACE);
    bool is_second_comparison = is_comparison(cx->now.kind) && is_expected(expected, expected_count, "&&") &&
                                !is_expected(expected, expected_count, "==");
    if (is_second_comparison) {
        diag_error(cx->front->diag, DIAG_E00, cx->now.at, "comparisons do not chain");
        diag_help(cx->front->diag, "write 'a < b && b < c', or put one of them in parentheses");
        return;
    }
    if (foreign_syntax_report(cx, expected, expected_count) || report_missing_comma(cx, expected, expected_count))
        return;
    report_expected(cx, expected, expected_count);
    add_hints(cx, expected, expected_count);
}
