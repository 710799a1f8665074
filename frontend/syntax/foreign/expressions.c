/* expressions.c - foreign operators, slices, arguments, lists and numbers.
 * Tests      test/lit/reject/foreign-syntax-*.test
 */
#include "scene.h"

/* n // 2; */
bool foreign_division_of_python(const struct scene *s)
{
    uint32_t at = scene_skip_blanks(s, s->last.at.end), end = at;
    if (s->last.at.end == 0 || s->text[at] != '/' || s->text[at + 1] != '/') return false;
    while (s->text[end] != '\0' && s->text[end] != '\n') end++;
    end = scene_trim_back(s, at, end);
    uint32_t operand = scene_skip_blanks(s, at + 2);
    if (s->text[end - 1] != ';' || (!isalnum((unsigned char)s->text[operand]) && s->text[operand] != '(')) return false;
    scene_say(s, scene_span(s, at, at + 2), "'//' begins a comment: integers are divided by '/'");
    scene_fix(s, at, at + 2, "/");
    return scene_skip_statement(s);
}

/* c ? a : b */
bool foreign_choice_of_c(const struct scene *s)
{
    if (s->now.kind != TOK_QUESTION || !scene_expects(s, "&&")) return false;
    scene_say(s, s->now.at, "the character '?' has no meaning here");
    diag_help(s->diag, "there is no '?:': use 'select(c, a, b)', or 'if'");
    return scene_skip_statement(s);
}

bool foreign_two_characters(const struct scene *s)
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
        if (s->last.kind != pairs[i].last || s->now.kind != pairs[i].now || !scene_is_adjacent(&s->last, &s->now) ||
            !scene_expects(s, "integer"))
            continue;
        scene_say(s, scene_span(s, s->last.at.begin, s->now.at.end), pairs[i].text);
        if (pairs[i].meant != NULL) scene_fix(s, s->last.at.begin, s->now.at.end, pairs[i].meant);
        return scene_skip_to_block(s);
    }
    bool is_less = s->now.kind == TOK_ASSIGN && s->text[s->now.at.end] == '<';
    if ((is_less || s->now.kind == TOK_FATARROW) && scene_expects(s, "&&") && !scene_expects(s, "=>") &&
        !scene_expects(s, "=") && foreign_is_last_comparison(s->text + s->now.at.end + is_less)) {
        scene_say(s, scene_span(s, s->now.at.begin, s->now.at.end + is_less),
                  is_less ? "'=<' is written '<='" : "'=>' is written '>='");
        scene_fix(s, s->now.at.begin, s->now.at.end + is_less, is_less ? "<=" : ">=");
        return scene_skip_to_block(s);
    }
    if (s->now.kind == TOK_ARROW && scene_expects(s, "=>")) {
        scene_say(s, s->now.at, "between the values of an arm and its block stands '=>'");
        scene_fix(s, s->now.at.begin, s->now.at.end, "=>");
        return true;
    }
    if (s->now.kind == TOK_COLON && s->text[s->now.at.end] == ':' && s->last.kind == TOK_NAME) {
        scene_say(s, scene_span(s, s->now.at.begin, s->now.at.end + 1), "a name of a module is written 'module.name'");
        scene_fix(s, s->now.at.begin, s->now.at.end + 1, ".");
        return scene_skip_statement(s);
    }
    return false;
}

/* The name before the bracket that is open. */
static const char *name_of_sliced(const struct scene *s)
{
    const struct token *open = s->cx->open_count > 0 ? &s->cx->open[s->cx->open_count - 1] : NULL;
    /* a `]` that does not fit has closed it */
    uint32_t end = open && open->kind == TOK_LBRACKET ? open->at.begin : s->last.at.begin;
    while (end > 0 && s->text[end] != '[' && s->text[end] != '\n') end--;
    uint32_t begin = end;
    while (begin > 0 && (isalnum((unsigned char)s->text[begin - 1]) || s->text[begin - 1] == '_')) begin--;
    const char *name = scene_copy(s, begin, end);
    return scene_is_name_text(name) ? name : "x";
}

bool foreign_slice_of_python(const struct scene *s)
{
    bool is_inside = s->cx->open_count > 0 && s->cx->open[s->cx->open_count - 1].kind == TOK_LBRACKET;
    bool is_first = s->before.kind == TOK_LBRACKET || s->before.kind == TOK_COMMA;
    if (s->now.kind == TOK_COLON && is_inside && scene_expects(s, "..")) { /* x[2 : 4] */
        scene_say(s, s->now.at, "a slice is written 'low .. high'");
        const uint32_t second = scene_find(s, s->now.at.end, ":,");
        if (s->text[second] == ':' && s->last.kind == TOK_INT && s->text[scene_skip_blanks(s, s->now.at.end)] != ':') {
            const uint32_t end = scene_find(s, second + 1, ","); /* x[0 : 4 : 2] */
            scene_fix(s, s->last.at.begin, end,
                      scene_print(s, "%s .. %s step %s", scene_copy(s, s->last.at.begin, s->last.at.end),
                                  scene_copy(s, scene_skip_blanks(s, s->now.at.end), scene_trim_back(s, 0, second)),
                                  scene_copy(s, scene_skip_blanks(s, second + 1), scene_trim_back(s, 0, end))));
        } else if (s->text[scene_skip_blanks(s, s->now.at.end)] != ']') {
            diag_fix(s->diag, s->now.at, isspace((unsigned char)s->text[s->now.at.begin - 1]) ? ".." : " .. ",
                     "write '..'");
        } else {
            diag_help(s->diag, "both bounds are written; 'dim(x, 0)' is the extent of the first dimension");
        }
        /* x[: 4] */
    } else if (s->last.kind == TOK_COLON && is_first && !scene_expects(s, "integer") && s->now.kind != TOK_END &&
               is_inside) {
        scene_say(s, s->last.at, "a slice is written 'low .. high', both bounds are written");
        if (s->now.kind == TOK_COLON) /* x[:: -1] */
            diag_help(s->diag, "every second element is 'x[0 .. N step 2]', the reverse 'x[N - 1 .. -1 step -1]'");
        else
            diag_fix(s->diag, s->last.at, "0 .. ", "write '0 ..'");
        /* x[.. 4] */
    } else if (s->now.kind == TOK_DOTDOT && (s->last.kind == TOK_LBRACKET || s->last.kind == TOK_COMMA) && is_inside) {
        const bool is_ellipsis = s->text[s->now.at.end] == '.';
        const uint32_t end = s->now.at.end + is_ellipsis;
        const char behind = s->text[scene_skip_blanks(s, end)];
        scene_say(s, s->now.at, "both bounds of a slice are written");
        if (behind == ',' || behind == ']') /* x[.., 0] */
            diag_fix(s->diag, scene_span(s, s->now.at.begin, end), ":", "all of a dimension is ':'");
        else
            diag_fix(s->diag, scene_span(s, s->now.at.begin, end), "0 ..", "write '0 ..'");
        /* x[0 ... 8] */
    } else if (s->last.kind == TOK_DOTDOT && s->now.kind == TOK_DOT && scene_is_adjacent(&s->last, &s->now)) {
        scene_say(s, scene_span(s, s->last.at.begin, s->now.at.end), "a range is written 'low .. high'");
        scene_fix(s, s->last.at.begin, s->now.at.end, "..");
        return scene_skip_to_block(s);
    } else if (s->last.kind == TOK_DOTDOT && s->now.kind == TOK_RBRACKET) { /* x[2 ..] */
        scene_say(s, s->last.at, "both bounds of a slice are written");
        const char *of = name_of_sliced(s);
        diag_help(s->diag, "'dim(%s, 0)' is the extent of the first dimension of %s", of, of);
        /* 0 ..= 4 */
    } else if (s->last.kind == TOK_DOTDOT && s->now.kind == TOK_ASSIGN && scene_is_adjacent(&s->last, &s->now)) {
        scene_say(s, scene_span(s, s->last.at.begin, s->now.at.end),
                  "there is no '..=': the end of a range is excluded");
        diag_help(s->diag, "write 'low .. high + 1'");
        return scene_skip_to_block(s);
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

bool foreign_arguments_with_names(const struct scene *s)
{
    bool is_call = s->cx->open_count > 0 && s->cx->open[s->cx->open_count - 1].kind == TOK_LPAREN;
    if (s->now.kind == TOK_IN && scene_expects(s, "inout") && !scene_expects(s, "host")) {
        scene_say(s, s->now.at, "an argument that is only read has no marker");
        scene_cut(s, s->now.at.begin, scene_skip_blanks(s, s->now.at.end));
    } else if (s->now.kind == TOK_ASSIGN && s->last.kind == TOK_NAME && is_call &&
               (s->before.kind == TOK_LPAREN || s->before.kind == TOK_COMMA) && scene_expects(s, "==")) {
        scene_say(s, s->now.at, "arguments have no names: they are given in the order of the formals");
        scene_cut(s, s->last.at.begin, scene_skip_blanks(s, s->now.at.end));
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

bool foreign_list_of_c(const struct scene *s)
{
    /* f32[M][N] */
    if (s->now.kind == TOK_LBRACKET && s->last.kind == TOK_RBRACKET && scene_is_adjacent(&s->last, &s->now) &&
        !scene_expects(s, "[")) {
        scene_say(s, s->now.at, "the extents of a tensor stand in one pair of brackets");
        diag_fix(s->diag, scene_span(s, s->last.at.begin, s->now.at.end), ", ", "write 'f32[M, N]'");
        /* scene_print(a, b); */
    } else if (s->begin.kind == TOK_PRINT && s->now.kind == TOK_COMMA &&
               s->text[scene_skip_blanks(s, s->begin.at.end)] == '(') {
        uint32_t open = scene_skip_blanks(s, s->begin.at.end), close = scene_find(s, open + 1, ")");
        scene_say(s, scene_span(s, open, open + 1), "'print' takes its values without parentheses");
        if (s->text[close] == ')')
            scene_fix(s, s->begin.at.begin, close + 1, scene_print(s, "print %s", scene_copy(s, open + 1, close)));
    } else if (s->now.kind == TOK_COMMA && s->begin.kind == TOK_RETURN) {
        scene_say(s, s->now.at, "a function returns one value; more of them go to 'out' formals");
    } else if (s->now.kind == TOK_COMMA && s->last.kind == TOK_NAME &&
               (s->before.kind == TOK_LET || s->before.kind == TOK_VAR)) {
        const uint32_t equals = scene_find(s, s->now.at.end, "=;"), value = scene_skip_blanks(s, equals + 1);
        scene_say(s, s->now.at, "each name has a 'let' or 'var' of its own");
        if (s->text[equals] == '=' && s->text[scene_find(s, value, "(;")] == '(')
            diag_help(s->diag, "a call has one value; more results go to its 'out' arguments");
        /* let a = 1, b = 2; */
    } else if (s->now.kind == TOK_COMMA && (s->begin.kind == TOK_LET || s->begin.kind == TOK_VAR) &&
               scene_expects(s, ";")) {
        const uint32_t name = scene_skip_blanks(s, s->now.at.end), end = scene_find(s, name, ":=;");
        const char *const word = s->begin.kind == TOK_LET ? "let" : "var";
        scene_say(s, s->now.at, "each name has a 'let' or 'var' of its own");
        if (strchr(":=", s->text[end]) && scene_is_name_text(scene_copy(s, name, scene_trim_back(s, name, end))))
            scene_fix(s, s->now.at.begin, s->now.at.end, scene_print(s, "; %s", word));
        /* assert(c, "text"); */
    } else if (s->begin.kind == TOK_ASSERT && s->now.kind == TOK_COMMA && scene_expects(s, ")") &&
               s->text[scene_skip_blanks(s, s->begin.at.end)] == '(') {
        const uint32_t open = scene_skip_blanks(s, s->begin.at.end), close = scene_find(s, open + 1, ")");
        scene_say(s, scene_span(s, open, open + 1), "'assert' takes its condition and its text without parentheses");
        if (s->text[close] == ')')
            scene_fix(s, s->begin.at.begin, close + 1, scene_print(s, "assert %s", scene_copy(s, open + 1, close)));
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

/* f(&y), f(&mut y) */
bool foreign_address(const struct scene *s)
{
    if (s->now.kind != TOK_AMPERSAND || !scene_expects(s, "integer")) return false;
    scene_say(s, s->now.at, "no address is taken: an argument that is written is marked 'out' or 'inout'");
    return scene_skip_statement(s);
}

bool foreign_half_a_number(const struct scene *s)
{
    if (s->now.kind == TOK_DOT && isdigit((unsigned char)s->text[s->now.at.end]) && scene_expects(s, "integer")) {
        scene_say(s, s->now.at, "a number has a digit on both sides of its point");
        diag_fix(s->diag, scene_span(s, s->now.at.begin, s->now.at.begin), "0", "add '0'");
    } else if (s->last.kind == TOK_DOT && s->before.kind == TOK_INT && scene_is_adjacent(&s->before, &s->last) &&
               s->now.kind != TOK_NAME) {
        scene_say(s, s->last.at, "a number has a digit on both sides of its point");
        diag_fix(s->diag, scene_span(s, s->last.at.end, s->last.at.end), "0", "add '0'");
    } else {
        return false;
    }
    return scene_skip_statement(s);
}
