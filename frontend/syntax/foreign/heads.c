/* heads.c - foreign heads of kernels and functions, formals, and what stands outside of functions.
 * Invariant  a fix is given only where the text as a whole is right afterwards, as far as can be seen.
 * Tests      test/lit/reject/mistakes-syntax.test
 */
#include "scene.h"

static bool is_marker(const struct token *t)
{
    return t->kind == TOK_IN || t->kind == TOK_OUT || t->kind == TOK_INOUT || t->kind == TOK_ACC || t->kind == TOK_OWN;
}

static const char *text_of(const struct scene *s, const struct token *t)
{
    return scene_copy(s, t->at.begin, t->at.end);
}

/* x: out f32[4] of a formal, x out of an argument */
bool foreign_marker_behind(const struct scene *s)
{
    if (!is_marker(&s->now)) return false;
    if (s->last.kind == TOK_COLON && s->before.kind == TOK_NAME && scene_expects(s, "array")) {
        scene_say(s, s->now.at, "the direction of a formal stands before its name");
        scene_fix(s, s->before.at.begin, s->now.at.end, scene_print(s, "%s %s:", text_of(s, &s->now), s->before.name));
    } else if (s->last.kind == TOK_NAME && (s->before.kind == TOK_LPAREN || s->before.kind == TOK_COMMA) &&
               strchr(",)", s->text[scene_skip_blanks(s, s->now.at.end)])) {
        scene_say(s, s->now.at, "the marker of an argument stands before it");
        scene_fix(s, s->last.at.begin, s->now.at.end,
                  scene_print(s, "%s%s%s", s->now.kind == TOK_IN ? "" : text_of(s, &s->now),
                              s->now.kind == TOK_IN ? "" : " ", s->last.name));
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

/* in out x: f32[4] */
bool foreign_two_markers(const struct scene *s)
{
    if (!is_marker(&s->now) || !is_marker(&s->last) || s->text[scene_skip_blanks(s, s->now.at.end)] == ':')
        return false;
    const bool is_both = s->last.kind == TOK_IN && s->now.kind == TOK_OUT;
    scene_say(s, s->now.at, "a formal or an argument has one direction");
    scene_fix(s, s->last.at.begin, s->now.at.end, is_both ? "inout" : text_of(s, &s->last));
    return scene_skip_statement(s);
}

/* orch g(n: i64): i64 { }, orch f() => { } */
bool foreign_head_of_function(const struct scene *s)
{
    if (!scene_expects(s, "->") || !scene_expects(s, "{") || s->last.kind != TOK_RPAREN) return false;
    if (s->now.kind == TOK_COLON) {
        scene_say(s, s->now.at, "the result of a function comes after '->'");
        scene_fix(s, s->now.at.begin, s->now.at.end, " ->");
    } else if (s->now.kind == TOK_FATARROW) {
        scene_say(s, s->now.at, "the body of a function follows its head, without '=>'");
        if (s->text[scene_skip_blanks(s, s->now.at.end)] == '{')
            scene_cut(s, s->now.at.begin, scene_skip_blanks(s, s->now.at.end));
    } else if (s->now.kind == TOK_ON) {
        scene_say(s, s->now.at, "a function runs on no worker: its kernels do");
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

/* orch f() -> f32[4], i64 { } */
bool foreign_two_results(const struct scene *s)
{
    if (s->now.kind != TOK_COMMA || !scene_expects(s, "{") || s->cx->open_count > 0 ||
        (s->begin.kind != TOK_ORCH && s->begin.kind != TOK_EXPORT))
        return false;
    scene_say(s, s->now.at, "a function returns one value; more of them go to 'out' formals");
    return scene_skip_statement(s);
}

/* float *x, f32[4] x, int n, mut x: f32[4], const x: f32[4] */
bool foreign_formal_of_c(const struct scene *s)
{
    static const char *const changed[] = {"mut", "ref", "var"}, *const unchanged[] = {"let", "val"};
    const bool is_formal =
        s->cx->open_count > 0 &&
        (s->cx->declaration == TOK_KERNEL || s->cx->declaration == TOK_ORCH || s->cx->declaration == TOK_EXPORT);
    if (!is_formal) return false;
    if (s->now.kind == TOK_CONST && scene_expects(s, "host")) {
        scene_say(s, s->now.at, "a formal that is only read is 'in'");
        scene_fix(s, s->now.at.begin, s->now.at.end, "in");
        return scene_skip_statement(s);
    }
    if (s->last.kind != TOK_NAME || !scene_expects(s, ":") || s->expected_count != 1) return false;
    if (s->now.kind == TOK_NAME && (scene_is_word(&s->last, changed, 3) || scene_is_word(&s->last, unchanged, 2))) {
        const bool is_changed = scene_is_word(&s->last, changed, 3);
        scene_say(s, s->last.at,
                  scene_print(s, "there is no '%s': a formal is 'in', 'out', 'inout', 'acc' or 'own'", s->last.name));
        scene_fix(s, s->last.at.begin, s->last.at.end, is_changed ? "inout" : "in");
    } else if (s->now.kind == TOK_STAR || s->now.kind == TOK_AMPERSAND || s->now.kind == TOK_LBRACKET ||
               (s->now.kind == TOK_NAME && strchr(",)", s->text[scene_skip_blanks(s, s->now.at.end)]) &&
                !scene_is_element_type(&s->now))) {
        scene_say(s, scene_span(s, s->last.at.begin, s->now.at.end), "the type of a formal comes after its name");
        diag_help(s->diag, "x: f32[N] is a tensor, n: i64 a number");
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

/* s: f32 = 1.0 */
bool foreign_default_value(const struct scene *s)
{
    if (s->now.kind != TOK_ASSIGN || s->cx->open_count == 0 || s->cx->open[s->cx->open_count - 1].kind != TOK_LPAREN ||
        !scene_expects(s, ")") || scene_expects(s, "=="))
        return false;
    scene_say(s, s->now.at, "a formal has no default value: each call gives all arguments");
    return scene_skip_statement(s);
}

/* kernel k(in x: f32[4]) -> f32[4] on cpu */
bool foreign_result_of_kernel(const struct scene *s)
{
    if (s->now.kind != TOK_ARROW || s->cx->declaration != TOK_KERNEL || !scene_expects(s, "=>")) return false;
    scene_say(s, s->now.at, "a kernel has no result: it writes its 'out' formals");
    diag_help(s->diag, "the only 'out' formal may be left out of a call, which then is its value: let y = k(x);");
    return scene_skip_statement(s);
}

/* orch f(out x: f32[4]); */
bool foreign_function_without_body(const struct scene *s)
{
    if (s->now.kind != TOK_SEMICOLON || !scene_expects(s, "->") || !scene_expects(s, "{")) return false;
    scene_say(s, s->now.at, "a function has a body: { ... }");
    diag_help(s->diag,
              "it is known in all of its file, so nothing is declared in advance; only a kernel may be elsewhere");
    return true;
}

/* kernel k[N](...) */
bool foreign_generics_in_brackets(const struct scene *s)
{
    if (s->now.kind != TOK_LBRACKET || s->last.kind != TOK_NAME || !scene_expects(s, "<") ||
        (s->before.kind != TOK_KERNEL && s->before.kind != TOK_ORCH && s->before.kind != TOK_STRUCT))
        return false;
    const uint32_t end = scene_find(s, s->now.at.end, "]");
    scene_say(s, s->now.at, "dimension variables are declared in '<' and '>'");
    if (s->text[end] == ']')
        scene_fix(s, s->now.at.begin, end + 1, scene_print(s, "<%s>", scene_copy(s, s->now.at.end, end)));
    return scene_skip_statement(s);
}

/* k<4>(out x);  k<<<1, 4>>>(out x); */
bool foreign_generic_call(const struct scene *s)
{
    if ((s->now.kind != TOK_LT && s->now.kind != TOK_SHL) || s->last.kind != TOK_NAME || !scene_expects(s, "+=") ||
        s->last.at.begin != s->begin.at.begin)
        return false;
    const uint32_t end = scene_find(s, s->now.at.end, "(;");
    if (s->text[end] != '(' || s->text[scene_trim_back(s, s->now.at.end, end) - 1] != '>') return false;
    scene_say(s, s->now.at, "a call has its arguments in parentheses, and nothing else");
    scene_cut(s, s->now.at.begin, end);
    diag_help(s->diag, s->now.kind == TOK_LT ? "the arguments bind the dimension variables"
                                             : "a call is one task: the loops over its elements are in the kernel");
    return scene_skip_statement(s);
}

/* async orch, inline kernel, __global__ kernel; from "m" import a; */
bool foreign_word_before_declaration(const struct scene *s)
{
    static const char *const words[] = {"async",  "inline",     "extern",     "static",   "public",    "private",
                                        "unsafe", "__global__", "__device__", "template", "__kernel__"},
                             *const from[] = {"from"};
    if (!scene_expects(s, "orch") || s->now.kind != TOK_NAME) return false;
    const uint32_t next = scene_skip_blanks(s, s->now.at.end);
    if (scene_is_word(&s->now, from, 1) && s->text[next] == '"') {
        const uint32_t end = scene_find(s, next + 1, "\"");
        scene_say(s, s->now.at, "a module is imported as a whole");
        diag_help(s->diag, "import %s as m; then its names are m.name",
                  scene_copy(s, next, end + (s->text[end] == '"')));
        return scene_skip_statement(s);
    }
    if (!scene_is_word(&s->now, words, COUNT(words))) return false;
    static const char *const heads[] = {"kernel ", "orch ", "export "};
    for (int i = 0; i < COUNT(heads); i++) {
        if (strncmp(s->text + next, heads[i], strlen(heads[i])) != 0) continue;
        scene_say(s, s->now.at, scene_print(s, "there is no '%s'", s->now.name));
        scene_cut(s, s->now.at.begin, next);
        return true;
    }
    return false;
}

/* N = 4; outside of functions */
bool foreign_constant_without_word(const struct scene *s)
{
    if (s->now.kind != TOK_NAME || s->last.kind == TOK_EXPORT || !scene_expects(s, "orch") ||
        !scene_expects(s, "import"))
        return false;
    const uint32_t next = scene_skip_blanks(s, s->now.at.end);
    if (s->text[next] != '=' || s->text[next + 1] == '=') return false;
    scene_say(s, s->now.at, "a constant is declared by 'const'");
    scene_fix(s, s->now.at.begin, s->now.at.end, scene_print(s, "const %s", s->now.name));
    return scene_skip_statement(s);
}

/* @inline export orch f() */
bool foreign_attribute_without_value(const struct scene *s)
{
    if (s->last.kind != TOK_NAME || !scene_expects(s, "(") || s->expected_count != 1 ||
        s->text[s->last.at.begin - 1] != '@')
        return false;
    scene_say(s, s->last.at,
              scene_print(s, "'@%s' has no value: the value of an attribute is in parentheses", s->last.name));
    diag_help(s->diag, "@priority(1), @name(\"text\"), @timeout(ms) and @at(e) of a call, @dist(P, Q) of a 'view', "
                       "@opcode(\"copy\") of a kernel");
    return scene_skip_statement(s);
}
