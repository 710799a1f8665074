/* statements.c - foreign loops, assignments, declarations and blocks.
 * Invariant  a fix is given only where the text as a whole is right afterwards, as far as can be seen.
 * Tests      test/lit/reject/foreign-syntax-*.test
 */
#include "scene.h"

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* (int i = LOW; i < HIGH; i++): the same in the language, or NULL. */
static const char *loop_header(const struct scene *s, uint32_t open, uint32_t *end)
{
    uint32_t equals = scene_find(s, open + 1, "="), first = scene_find(s, open + 1, ";");
    if (equals >= first || s->text[first] != ';') return NULL;
    uint32_t name_end = scene_trim_back(s, open, equals), name = name_end;
    while (isalnum((unsigned char)s->text[name - 1]) || s->text[name - 1] == '_') name--;
    const char *var = scene_copy(s, name, name_end),
               *low = scene_copy(s, scene_skip_blanks(s, equals + 1), scene_trim_back(s, equals + 1, first));
    uint32_t second = scene_find(s, first + 1, ";"), less = scene_find(s, first + 1, "<");
    if (s->text[second] != ';' || less >= second) return NULL;
    uint32_t close = scene_find(s, second + 1, ")");
    if (s->text[close] != ')') return NULL;
    bool is_included = s->text[less + 1] == '=';
    const char *high = scene_copy(s, scene_skip_blanks(s, less + 1 + is_included), scene_trim_back(s, less, second));
    const char *counted = scene_copy(s, scene_skip_blanks(s, first + 1), scene_trim_back(s, first, less));
    const char *advance = scene_copy(s, scene_skip_blanks(s, second + 1), scene_trim_back(s, second, close)),
               *step = "";
    if (strncmp(advance, scene_print(s, "%s +=", var), strlen(var) + 3) == 0)
        step = strcmp(advance + strlen(var) + 3, " 1") == 0 ? "" : scene_print(s, " step%s", advance + strlen(var) + 3);
    else if (strcmp(advance, scene_print(s, "%s++", var)) != 0 && strcmp(advance, scene_print(s, "++%s", var)) != 0)
        return NULL;
    if (!scene_is_name_text(var) || strcmp(var, counted) != 0 || *low == '\0' || *high == '\0') return NULL;
    *end = close + 1;
    return scene_print(s, "%s in %s .. %s%s%s", var, low, high, is_included ? " + 1" : "", step);
}

bool foreign_loop_of_c(const struct scene *s)
{
    if (s->last.kind != TOK_FOR || s->now.kind != TOK_LPAREN) return false;
    uint32_t end = 0;
    const char *header = loop_header(s, s->now.at.begin, &end);
    scene_say(s, s->now.at, "a loop is written 'for i in low .. high { }', without parentheses");
    if (header != NULL) scene_fix(s, s->now.at.begin, end, header);
    return scene_skip_to_block(s);
}

bool foreign_range_of_python(const struct scene *s)
{
    const char *word = s->begin.kind == TOK_FOR ? strstr(s->text + s->begin.at.end, "range(") : NULL;
    if (word == NULL || !scene_expects(s, "..")) return false;
    uint32_t begin = (uint32_t)(word - s->text), open = begin + 5;
    if (begin > s->now.at.begin) return false;
    uint32_t close = scene_find(s, open + 1, ")"), one = scene_find(s, open + 1, ","),
             two = one < close ? scene_find(s, one + 1, ",") : close;
    scene_say(s, scene_span(s, begin, close + (s->text[close] == ')')),
              "there is no 'range': a loop is written 'for i in low .. high { }'");
    if (s->text[close] == ')' && s->now.kind == TOK_LBRACE) {
        const char *first = scene_copy(s, open + 1, one),
                   *second = one < close ? scene_copy(s, scene_skip_blanks(s, one + 1), two) : NULL;
        const char *third = two < close ? scene_copy(s, scene_skip_blanks(s, two + 1), close) : NULL;
        scene_fix(s, begin, close + 1,
                  scene_print(s, "%s .. %s%s%s", second ? first : "0", second ? second : first, third ? " step " : "",
                              third ? third : ""));
    } else {
        diag_help(s->diag, "the body of a loop stands in braces");
    }
    return scene_skip_to_block(s);
}

/* Is it declared as a formal or a 'let' of a type with extents, somewhere in the file? */
static bool is_name_of_tensor(const struct scene *s, const char *name)
{
    const size_t length = strlen(name);
    if (!scene_is_name_text(name)) return false;
    for (const char *p = s->text; (p = strstr(p, name)) != NULL; p += length) {
        if (p > s->text && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) continue;
        const char *type = p + length;
        while (*type == ' ') type++;
        if (*type++ != ':') continue;
        while (*type == ' ') type++;
        while (isalnum((unsigned char)*type) || *type == '_' || *type == '.') type++;
        if (*type == '[') return true;
    }
    return false;
}

/* for i in n { } */
bool foreign_loop_without_begin(const struct scene *s)
{
    if (s->begin.kind != TOK_FOR || s->now.kind != TOK_LBRACE || !scene_expects(s, "..")) return false;
    uint32_t at = scene_skip_blanks(s, s->begin.at.end);
    while (isalnum((unsigned char)s->text[at]) || s->text[at] == '_') at++;
    at = scene_skip_blanks(s, at);
    if (strncmp(s->text + at, "in ", 3) != 0) return false;
    at = scene_skip_blanks(s, at + 3);
    scene_say(s, scene_span(s, at, s->last.at.end), "a loop runs over 'low .. high', the end excluded");
    const char *over = scene_copy(s, at, s->last.at.end);
    if (is_name_of_tensor(s, over)) {
        diag_help(s->diag, "over the first dimension: for i in 0 .. dim(%s, 0) { ... %s[i] ... }", over, over);
        return true;
    }
    diag_fix(s->diag, scene_span(s, at, at), "0 .. ", "from 0: write '0 ..'");
    return true;
}

/* ---- assignment -------------------------------------------------------------------------------------------------- */

/* x += e: the operator is what does not fit, or the '=' behind it. */
bool foreign_compound_assignment(const struct scene *s)
{
    static const int kinds[] = {TOK_PLUS,  TOK_MINUS, TOK_STAR,      TOK_SLASH, TOK_PERCENT,
                                TOK_BITOR, TOK_CARET, TOK_AMPERSAND, TOK_SHL,   TOK_SHR};
    bool is_behind = s->now.kind == TOK_ASSIGN && scene_is_adjacent(&s->last, &s->now), is_operator = false;
    const struct token *op = is_behind ? &s->last : &s->now;
    for (int i = 0; i < COUNT(kinds); i++) is_operator |= op->kind == kinds[i];
    if (!is_operator || s->text[op->at.end] != '=' || op->at.begin == s->begin.at.begin) return false;
    const char *sign = scene_copy(s, op->at.begin, op->at.end);
    const char *target = scene_copy(s, s->begin.at.begin, scene_trim_back(s, s->begin.at.begin, op->at.begin));
    uint32_t from = scene_skip_blanks(s, op->at.end + 1), end = scene_find(s, from, ";");
    const char *value = scene_copy(s, from, scene_trim_back(s, from, end));
    scene_say(s, scene_span(s, op->at.begin, op->at.end + 1),
              scene_print(s, "there is no '%s=': the whole value is written again", sign));
    if (s->begin.kind == TOK_NAME && strchr(target, '\n') == NULL && s->text[end] == ';' && *value != '\0') {
        bool is_plain = (op->kind == TOK_PLUS && strpbrk(value, "|^&<>") == NULL) || scene_is_operand(value);
        scene_fix(s, op->at.begin, end,
                  scene_print(s, "= %s %s %s%s%s", target, sign, is_plain ? "" : "(", value, is_plain ? "" : ")"));
    }
    return scene_skip_statement(s);
}

static void report_increment(const struct scene *s, uint32_t op, uint32_t begin, uint32_t end, const char *name)
{
    char sign = s->text[op];
    bool is_statement =
        begin == s->begin.at.begin && scene_is_name_text(name) && s->text[scene_skip_blanks(s, end)] == ';';
    scene_say(s, scene_span(s, op, op + 2), scene_print(s, "there is no '%c%c'", sign, sign));
    if (is_statement)
        scene_fix(s, begin, end, scene_print(s, "%s = %s %c 1", name, name, sign));
    else
        diag_help(s->diag, "count in a statement of its own: i = i %c 1;", sign);
    s->cx->is_noise = true;
}

/* i++ i-- ++i --i: which of the signs does not fit depends on what stands around. */
bool foreign_increment(const struct scene *s)
{
    const struct token *tokens[] = {&s->before, &s->last, &s->now};
    for (int i = 0; i < 3; i++) {
        const struct token *t = tokens[i];
        uint32_t at = t->at.begin;
        if ((t->kind != TOK_PLUS && t->kind != TOK_MINUS) || s->text[at + 1] != s->text[at] || at + 1 > s->now.at.end)
            continue;
        if (at == s->begin.at.begin) {
            uint32_t end = scene_find(s, at + 2, ";");
            report_increment(s, at, at, end, scene_copy(s, scene_skip_blanks(s, at + 2), scene_trim_back(s, at, end)));
        } else if (at > s->begin.at.begin) {
            uint32_t begin = s->begin.at.begin;
            uint32_t next = scene_skip_blanks(s, at + 2);
            /* a - -b */
            if (t->kind == TOK_MINUS && s->text[next] != ';' && s->text[next] != ')' && s->text[next] != ']')
                return false;
            report_increment(s, at, begin, at + 2, scene_copy(s, begin, scene_trim_back(s, begin, at)));
        } else {
            continue;
        }
        return true;
    }
    return false;
}

/* let x := 3;  x := 3; */
bool foreign_colon_equals(const struct scene *s)
{
    if (s->now.kind == TOK_ASSIGN && s->last.kind == TOK_COLON && scene_is_adjacent(&s->last, &s->now)) {
        scene_say(s, scene_span(s, s->last.at.begin, s->now.at.end), "a name gets its value by '='");
        scene_fix(s, s->last.at.begin, s->now.at.end, "=");
    } else if (s->now.kind == TOK_COLON && s->text[s->now.at.end] == '=' && s->begin.kind == TOK_NAME &&
               s->begin.at.begin == s->last.at.begin) {
        scene_say(s, scene_span(s, s->now.at.begin, s->now.at.end + 1),
                  "a name is declared by 'let', or by 'var' when it changes");
        scene_fix(s, s->begin.at.begin, s->now.at.end + 1, scene_print(s, "let %s =", s->begin.name));
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

/* ---- declarations of values -------------------------------------------------------------------------------------- */

static const char *const c_types[] = {"int",    "long",    "short",   "char", "float", "double", "unsigned",
                                      "size_t", "int64_t", "int32_t", "auto", "bool",  "f32",    "f64",
                                      "i64",    "i32",     "val",     "Int",  "string"};

bool foreign_let_mut(const struct scene *s)
{
    static const char *const word[] = {"mut"};
    if (s->before.kind != TOK_LET || !scene_is_word(&s->last, word, 1)) return false;
    uint32_t end = scene_find(s, s->now.at.begin, ";"), equals = scene_find(s, s->now.at.begin, "=");
    bool is_tensor = equals >= end;
    scene_say(s, s->last.at,
              is_tensor
                  ? "there is no 'mut': a tensor is written by the callee that it is passed to as 'out' or 'inout'"
                  : "there is no 'mut': a scalar that changes is a 'var'");
    scene_fix(s, s->before.at.begin, s->last.at.end, is_tensor ? "let" : "var");
    return scene_skip_statement(s);
}

bool foreign_declaration_of_c(const struct scene *s)
{
    if (s->now.kind != TOK_NAME || s->begin.kind != TOK_NAME || !scene_expects(s, "=")) return false;
    uint32_t next = scene_skip_blanks(s, s->now.at.end);
    if (s->last.kind == TOK_RBRACKET &&
        scene_is_word(&s->begin,
                      (const char *const[]){"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"},
                      10)) {
        scene_say(s, scene_span(s, s->begin.at.begin, s->now.at.end),
                  "a tensor is named by 'let', its type follows the name");
        scene_fix(s, s->begin.at.begin, s->now.at.end,
                  scene_print(s, "let %s: %s", s->now.name, scene_copy(s, s->begin.at.begin, s->last.at.end)));
    } else if (s->last.at.begin == s->begin.at.begin && s->text[next] == '=' && s->text[next + 1] != '=') {
        scene_say(s, s->begin.at, "a name is declared by 'let', or by 'var' when it changes");
        scene_fix(s, s->begin.at.begin, s->begin.at.end, "let");
    } else if (s->last.at.begin == s->begin.at.begin && scene_is_word(&s->begin, c_types, COUNT(c_types))) {
        scene_say(s, s->begin.at, "a name is declared by 'let' or 'var', and a scalar needs a value");
        diag_help(s->diag, "var %s = 0;", s->now.name);
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

bool foreign_block_without_braces(const struct scene *s)
{
    static const char *const then[] = {"then", "do"};
    int kind = s->begin.kind;
    bool is_head = kind == TOK_IF || kind == TOK_WHILE || kind == TOK_FOR || kind == TOK_ELSE || kind == TOK_DO;
    if (!is_head || !scene_expects(s, "{") || s->now.at.begin == s->begin.at.begin ||
        (kind == TOK_FOR && scene_expects(s, "in")))
        return false;
    if (s->now.kind == TOK_END || s->now.kind == TOK_ASSIGN || s->now.kind == TOK_SEMICOLON ||
        s->now.kind == TOK_RPAREN)
        return false;
    if (scene_is_word(&s->now, then, 2)) {
        scene_say(s, s->now.at, scene_print(s, "a block begins with '{', without '%s'", s->now.name));
        if (s->text[scene_skip_blanks(s, s->now.at.end)] == '{')
            scene_cut(s, s->now.at.begin, scene_skip_blanks(s, s->now.at.end));
    } else if (s->now.kind == TOK_COLON) {
        scene_say(s, s->now.at, "a block stands in braces: { ... }");
    } else if (s->now.kind == TOK_NAME || scene_expects(s, "let") || s->now.kind == TOK_RETURN ||
               s->now.kind == TOK_BREAK || s->now.kind == TOK_CONTINUE || s->now.kind == TOK_PRINT ||
               s->now.kind == TOK_LET || s->now.kind == TOK_DROP || s->now.kind == TOK_ASSERT) {
        uint32_t end = scene_find(s, s->now.at.begin, ";{");
        if (s->text[end] == '{' || memchr(s->text + s->last.at.end, '\n', s->now.at.begin - s->last.at.end) != NULL)
            return false;
        scene_say(
            s, s->now.at,
            scene_print(s, "the body of '%s' stands in braces", scene_copy(s, s->begin.at.begin, s->begin.at.end)));
        if (s->text[end] == ';')
            scene_fix(s, s->now.at.begin, end + 1, scene_print(s, "{ %s }", scene_copy(s, s->now.at.begin, end + 1)));
    } else {
        return false;
    }
    s->cx->is_noise = true;
    s->cx->is_noise_to_block = kind == TOK_DO; /* its condition comes behind */
    return true;
}

bool foreign_semicolon_behind_block(const struct scene *s)
{
    bool is_place = s->last.kind == TOK_RBRACE || s->last.kind == TOK_C_BODY || s->last.kind == TOK_SEMICOLON;
    if (s->now.kind != TOK_SEMICOLON || !is_place || s->last.at.begin == s->last.at.end) return false;
    scene_say(s, s->now.at, s->last.kind == TOK_SEMICOLON ? "there is no empty statement" : "no ';' follows a block");
    scene_cut(s, s->now.at.begin, s->now.at.end);
    uint32_t next = s->now.at.end;
    while (isspace((unsigned char)s->text[next])) next++;
    if (strncmp(s->text + next, "else", 4) == 0) s->cx->is_noise = s->cx->is_noise_to_block = true;
    return true;
}

/* assert n > 0 "text"; */
bool foreign_text_without_comma(const struct scene *s)
{
    if (s->now.kind != TOK_STRING || !scene_expects(s, ",") || !scene_expects(s, ";") ||
        (s->begin.kind != TOK_ASSERT && s->begin.kind != TOK_STATIC_ASSERT))
        return false;
    scene_say(s, s->now.at, "a comma stands before the text of an assert");
    diag_fix(s->diag, scene_span(s, s->last.at.end, s->last.at.end), ",", "write ','");
    return scene_skip_statement(s);
}
