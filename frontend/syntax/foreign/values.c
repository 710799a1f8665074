/* values.c - foreign statements with values, literals, casts and choices.
 * Invariant  a fix is given only where the text as a whole is right afterwards, as far as can be seen.
 * Tests      test/lit/reject/mistakes-syntax.test
 */
#include "scene.h"

static bool begins_here(const struct scene *s) { return s->now.at.begin == s->begin.at.begin; }

/* await x; */
bool foreign_await_as_statement(const struct scene *s)
{
    if (s->now.kind != TOK_AWAIT || !begins_here(s) || !scene_expects(s, "let")) return false;
    scene_say(s, s->now.at, "'await' is a value, not a statement");
    diag_help(s->diag,
              "tasks wait for each other by themselves; a number that decides what follows: let v = await x[0];");
    return scene_skip_statement(s);
}

/* out x = f(a); */
bool foreign_marker_of_result(const struct scene *s)
{
    const int kind = s->now.kind;
    if ((kind != TOK_OUT && kind != TOK_INOUT && kind != TOK_IN && kind != TOK_OWN && kind != TOK_ACC) ||
        !begins_here(s) || !scene_expects(s, "let"))
        return false;
    const uint32_t equals = scene_find(s, s->now.at.end, "=;");
    scene_say(s, s->now.at,
              scene_print(s, "'%s' marks an argument of a call", scene_copy(s, s->now.at.begin, s->now.at.end)));
    if (s->text[equals] == '=' && s->text[equals + 1] != '=')
        scene_cut(s, s->now.at.begin, scene_skip_blanks(s, s->now.at.end));
    return scene_skip_statement(s);
}

/* let m = if c { 1 } else { 2 }; */
bool foreign_if_as_value(const struct scene *s)
{
    if ((s->now.kind != TOK_IF && s->now.kind != TOK_MATCH) || begins_here(s) || !scene_expects(s, "integer") ||
        scene_expects(s, "let"))
        return false;
    uint32_t end = s->now.at.end;
    for (int depth = 0; s->text[end] != '\0' && (depth > 0 || s->text[end] != ';') && depth >= 0; end++) {
        if (strchr("([{", s->text[end])) depth++;
        if (strchr(")]}", s->text[end])) depth--;
    }
    const bool is_if = s->now.kind == TOK_IF;
    scene_say(s, s->now.at,
              is_if ? "'if' is a statement, and has no value" : "'match' is a statement, and has no value");
    diag_help(s->diag, "the choice between two values is 'select(c, a, b)'; or give a 'var' its value in each block");
    return s->text[end] == ';' ? scene_discard(s, end) : scene_skip_to_block(s);
}

/* S { a: 1, b: 2 };  [1, 2, 3];  of types: [f32[4]; 3], (i64, i64) */
bool foreign_literal(const struct scene *s)
{
    const int kind = s->now.kind;
    if (kind != TOK_LBRACE && kind != TOK_LBRACKET && kind != TOK_LPAREN) return false;
    const uint32_t end = scene_behind_bracket(s, s->now.at.begin);
    if (end == 0) return false;
    const bool is_value = s->before.kind == TOK_ASSIGN || s->before.kind == TOK_RETURN ||
                          s->before.kind == TOK_LPAREN || s->before.kind == TOK_COMMA;
    if (kind == TOK_LBRACE && s->last.kind == TOK_NAME && is_value &&
        (scene_expects(s, ";") || scene_expects(s, ")"))) {
        scene_say(s, scene_span(s, s->last.at.begin, s->now.at.end), "a struct is not written as a value");
        diag_help(s->diag, "it is declared, then each field gets its value: let s: %s; s.n = 1;", s->last.name);
    } else if ((kind == TOK_LBRACKET || (kind == TOK_LBRACE && s->last.kind == TOK_ASSIGN)) &&
               scene_expects(s, "integer") && !scene_expects(s, "let") && !begins_here(s)) {
        scene_say(s, s->now.at, "there are no lists of values");
        diag_help(s->diag, "a tensor is written by kernels, an array of scalars by assignments: "
                           "let a: array[3] of i64; a[0] = 1;");
    } else if (kind == TOK_LBRACKET && scene_expects(s, "array") && !scene_expects(s, "integer")) {
        scene_say(s, s->now.at, "a type begins with a word");
        diag_help(s->diag, "f32[M, N] is a tensor, array[n] of f32[M, N] an array of them");
    } else if (kind == TOK_LPAREN && scene_expects(s, "array") && s->last.kind == TOK_ARROW) {
        scene_say(s, s->now.at, "a function returns one value; more of them go to 'out' formals");
        return scene_skip_statement(s);
    } else {
        return false;
    }
    return scene_discard(s, end);
}

/* a if c else b */
bool foreign_choice_of_python(const struct scene *s)
{
    if (s->now.kind != TOK_IF || !scene_expects(s, "&&") || !scene_expects(s, "*")) return false;
    const uint32_t end = scene_find(s, s->now.at.end, ";");
    scene_say(s, s->now.at, "'if' is a statement, and has no value");
    diag_help(s->diag, "the choice between two values is 'select(c, a, b)'");
    return s->text[end] == ';' ? scene_discard(s, end) : scene_skip_to_block(s);
}

/* a @ b */
bool foreign_product_of_matrices(const struct scene *s)
{
    if (s->text[s->now.at.begin] != '@' || !scene_expects(s, "*")) return false;
    scene_say(s, s->now.at, "there is no operator for products of matrices: a kernel computes them");
    diag_help(s->diag, "import \"std/tile.pto\" has gemm");
    return scene_skip_statement(s);
}

static bool is_scalar_type(const struct token *t)
{
    static const char *const types[] = {"i64", "f64", "f32", "bool"};
    return scene_is_word(t, types, 4);
}

/* n as f64, (f64)n */
bool foreign_cast(const struct scene *s)
{
    static const char *const of_c[] = {"int", "float", "double", "long", "size_t", "int64_t"};
    const bool is_type = is_scalar_type(&s->now), is_before = is_scalar_type(&s->before);
    if (s->last.kind == TOK_AS && scene_expects(s, "[") && s->expected_count == 1 && s->now.kind == TOK_NAME) {
        scene_say(s, scene_span(s, s->last.at.begin, s->now.at.end), "'as' gives a tensor another shape");
        diag_help(s->diag, "a number is converted by a call: %s(n)", is_type ? s->now.name : "f64");
    } else if (s->now.kind == TOK_NAME && s->last.kind == TOK_RPAREN && scene_expects(s, "*") &&
               (is_before || scene_is_word(&s->before, of_c, COUNT(of_c))) && s->text[s->before.at.begin - 1] == '(') {
        scene_say(s, scene_span(s, s->before.at.begin - 1, s->last.at.end), "a number is converted by a call");
        if (is_before && !strchr(".[(", s->text[s->now.at.end]))
            scene_fix(s, s->before.at.begin - 1, s->now.at.end, scene_print(s, "%s(%s)", s->before.name, s->now.name));
        else
            diag_help(s->diag, "%s(n)", is_before ? s->before.name : "f64");
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

/* let t = x tiled [4];  view v = x[0 +: 4]; */
bool foreign_tiles(const struct scene *s)
{
    const bool is_let = s->begin.kind == TOK_LET && s->now.kind == TOK_TILED && scene_expects(s, ";");
    if (!is_let && (s->begin.kind != TOK_VIEW || s->now.kind != TOK_SEMICOLON || !scene_expects(s, "tiled")))
        return false;
    if (is_let) {
        scene_say(s, s->now.at, "a grid of tiles is named by 'view'");
        scene_fix(s, s->begin.at.begin, s->begin.at.end, "view");
    } else {
        scene_say(s, s->begin.at,
                  "a 'view' is a grid of tiles: view v = x tiled [T];  a part of a tensor is named by 'let'");
        scene_fix(s, s->begin.at.begin, s->begin.at.end, "let");
    }
    return scene_skip_statement(s);
}

/* s->n */
bool foreign_arrow(const struct scene *s)
{
    if (s->now.kind != TOK_ARROW || !scene_expects(s, ".") || !scene_expects(s, "*") || scene_expects(s, "=>"))
        return false;
    scene_say(s, s->now.at, "a field is written 'struct.field'");
    scene_fix(s, s->now.at.begin, s->now.at.end, ".");
    return scene_skip_statement(s);
}

/* f"n is {n}" */
bool foreign_prefix_of_string(const struct scene *s)
{
    if (s->now.kind != TOK_STRING || s->last.kind != TOK_NAME || !scene_is_adjacent(&s->last, &s->now)) return false;
    scene_say(s, s->last.at, "a string has no prefix");
    scene_cut(s, s->last.at.begin, s->last.at.end);
    diag_help(s->diag, "'print' lists texts and values: print \"n is\", n;");
    return scene_skip_statement(s);
}

/* A body without braces, of one statement; perhaps the '}' of a kernel is there and only the '{' is missing. */
static void give_braces(const struct scene *s)
{
    const uint32_t begin = s->now.at.begin, end = scene_find(s, begin, ";{}");
    const int kind = s->now.kind;
    const bool is_statement = kind == TOK_NAME || kind == TOK_LET || kind == TOK_VAR || kind == TOK_PRINT ||
                              kind == TOK_ASSERT || kind == TOK_DROP || kind == TOK_RETURN || kind == TOK_BREAK ||
                              kind == TOK_CONTINUE;
    if (!is_statement || s->text[end] != ';') return;
    const char *next = s->text + end + 1;
    while (isspace((unsigned char)*next)) next++;
    if (s->cx->open_count == 0 && *next == '}')
        scene_fix(s, begin, begin, "{ ");
    else
        scene_fix(s, begin, end + 1, scene_print(s, "{ %s }", scene_copy(s, begin, end + 1)));
}

/* 1: print 1;  1 => print 1;  1 .. 3 => { }  of a match; => y[i] = x[i]; of a kernel */
bool foreign_arm(const struct scene *s)
{
    if (scene_expects(s, "=>") && (s->now.kind == TOK_COLON || s->now.kind == TOK_DOTDOT) && !scene_expects(s, "on")) {
        scene_say(s, s->now.at,
                  s->now.kind == TOK_COLON ? "an arm is written 'values => { }'"
                                           : "an arm lists its values: 1, 2, 3 => { }");
        s->cx->is_noise = s->cx->is_noise_to_block = true;
        return true;
    }
    if (s->last.kind != TOK_FATARROW || !scene_expects(s, "{") || s->expected_count != 1) return false;
    scene_say(s, s->now.at, "the body needs braces: => { ... }");
    give_braces(s);
    s->cx->is_noise = s->cx->is_noise_to_block = true;
    return true;
}

/* for i in 0 .. n by 2 */
bool foreign_step(const struct scene *s)
{
    static const char *const by[] = {"by", "stride", "stepBy"};
    if (!scene_is_word(&s->now, by, COUNT(by)) || !scene_expects(s, "step")) return false;
    scene_say(s, s->now.at, "the distance of a range is its 'step'");
    scene_fix(s, s->now.at.begin, s->now.at.end, "step");
    return scene_skip_to_block(s);
}

/* a = b = 3; */
bool foreign_chained_assignment(const struct scene *s)
{
    if (s->now.kind != TOK_ASSIGN || !scene_expects(s, ";") || !scene_expects(s, "&&") || scene_expects(s, "=") ||
        (s->begin.kind != TOK_NAME && s->begin.kind != TOK_LET && s->begin.kind != TOK_VAR))
        return false;
    scene_say(s, s->now.at, "an assignment has no value");
    diag_help(s->diag, "each name is assigned by a statement of its own; two values are compared with '=='");
    return scene_skip_statement(s);
}

/* a, b = b, a; */
bool foreign_two_targets(const struct scene *s)
{
    if (s->now.kind != TOK_COMMA || s->begin.kind != TOK_NAME || s->last.at.begin != s->begin.at.begin ||
        !scene_expects(s, "+="))
        return false;
    scene_say(s, s->now.at, "one name is assigned at a time");
    diag_help(s->diag, "two are exchanged by a third: let t = a; a = b; b = t;");
    return scene_skip_statement(s);
}

/* n + 1 }  as the result of a function */
bool foreign_value_alone(const struct scene *s)
{
    static const int kinds[] = {TOK_PLUS, TOK_MINUS, TOK_STAR, TOK_SLASH, TOK_PERCENT, TOK_LT, TOK_GT, TOK_EQ};
    bool is_operator = false;
    for (int i = 0; i < COUNT(kinds); i++) is_operator |= s->now.kind == kinds[i];
    if (!is_operator || !scene_expects(s, "+=") || s->begin.kind != TOK_NAME) return false;
    const uint32_t end = scene_find(s, s->now.at.end, ";}");
    scene_say(s, s->now.at, "an expression is no statement: nothing has its value");
    diag_help(s->diag, "the result of a function is returned: return %s;",
              scene_copy(s, s->begin.at.begin, scene_trim_back(s, s->begin.at.begin, end)));
    return scene_skip_statement(s);
}
