/* words.c - words of other languages, where a statement, an operator or a declaration is meant.
 * Tests      test/lit/reject/foreign-syntax-*.test
 */
#include "scene.h"
#include "support/nearest.h"
#include "syntax/library_list.h"

bool foreign_word_operator(const struct scene *s)
{
    static const struct {
        const char *word, *op;
    } words[] = {{"and", "&&"}, {"or", "||"}, {"is", "=="}, {"AND", "&&"}, {"OR", "||"}, {"mod", "%"}};
    static const char *const negation[] = {"not"};
    for (int i = 0; i < COUNT(words); i++) {
        if (s->now.kind != TOK_NAME || strcmp(s->now.name, words[i].word) != 0 || !scene_expects(s, "&&")) continue;
        scene_say(s, s->now.at, scene_print(s, "the operator is written '%s'", words[i].op));
        scene_fix(s, s->now.at.begin, s->now.at.end, words[i].op);
        return scene_skip_to_block(s);
    }
    if (!scene_is_word(&s->last, negation, 1) ||
        (s->now.kind != TOK_NAME && s->now.kind != TOK_TRUE && s->now.kind != TOK_FALSE))
        return false;
    scene_say(s, s->last.at, "'not' is written '!'");
    if (strchr("{)&|;", s->text[scene_skip_blanks(s, s->now.at.end)]))
        scene_fix(s, s->last.at.begin, s->now.at.begin, "!");
    else
        diag_help(s->diag, "with the condition in parentheses: !(a == b)");
    return scene_skip_to_block(s);
}

bool foreign_else_if(const struct scene *s)
{
    static const char *const words[] = {"elif", "elsif", "elseif", "elsf"};
    if (!scene_is_word(&s->begin, words, COUNT(words)) || s->begin.at.begin == s->now.at.begin) return false;
    scene_say(s, s->begin.at, "it is written 'else if'");
    if (s->text[scene_find(s, s->now.at.begin, "{")] == '{')
        scene_fix(s, s->begin.at.begin, s->begin.at.end, "else if");
    return scene_skip_to_block(s);
}

bool foreign_word_of_statement(const struct scene *s)
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
        {"parallel", "calls run in parallel by themselves, wherever that changes no result"},
        {"async", "a call is a task and does not wait: there is no word for it"},
        {"spawn", "a call is a task and does not wait: there is no word for it"},
        {"launch", "a call is a task and does not wait: there is no word for it"},
        {"submit", "a call is a task and does not wait: there is no word for it"},
        {"sync", "tasks wait for what they read by themselves; a number that decides what follows is 'await x[0]'"},
        {"delete", "the lifetime of a tensor ends with its block, or earlier by 'drop x;'"},
        {"del", "the lifetime of a tensor ends with its block, or earlier by 'drop x;'"},
        {"throw", "a run fails where an 'assert c, \"text\";' is false"},
        {"raise", "a run fails where an 'assert c, \"text\";' is false"},
        {"def", "a function is written 'orch name(...) { }' and stands outside of other functions"},
        {"fn", "a function is written 'orch name(...) { }' and stands outside of other functions"},
        {"pass", "an empty block is '{ }'"},
        {"try", "errors end the run: there is nothing to catch them with"},
        {"with", "an explicit scope is written 'scope \"name\" { }'"},
    };
    for (int i = 0; i < COUNT(words); i++) {
        if (!scene_is_word(&s->begin, &words[i].word, 1) || scene_expects(s, "orch")) continue;
        scene_say(s, s->begin.at, scene_print(s, "there is no '%s'", words[i].word));
        diag_help(s->diag, "%s", words[i].help);
        return scene_skip_to_block(s);
    }
    return false;
}

bool foreign_word_of_declaration(const struct scene *s)
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
        if (!scene_expects(s, "orch") || !scene_expects(s, "import")) return false;
        scene_say(s, s->now.at, "outside of functions there are only constants, and what is set when the program runs");
        diag_help(s->diag, "const T = 64;  or  param n: i64 = 1000;");
        return true;
    }
    bool is_export = s->last.kind == TOK_EXPORT;
    if (is_export && (s->now.kind == TOK_KERNEL || s->now.kind == TOK_CONST || s->now.kind == TOK_STRUCT ||
                      s->now.kind == TOK_PARAM)) {
        scene_say(s, s->last.at, "only functions are exported");
        scene_cut(s, s->last.at.begin, s->now.at.begin);
        diag_help(s->diag, "a module's kernels, constants and structs can be used by every file that imports it");
        return true;
    }
    if (s->now.kind != TOK_NAME || !scene_expects(s, "orch")) return false;
    const char *meant = NULL;
    for (int i = 0; i < COUNT(words); i++)
        if (strcmp(words[i].word, s->now.name) == 0) meant = words[i].meant;
    if (meant == NULL)
        meant = is_export ? nearest_word(s->now.name, (const char *const[]){"orch"}, 1)
                          : nearest_word(s->now.name, known, COUNT(known));
    uint32_t next = scene_skip_blanks(s, s->now.at.end);
    if (meant == NULL || (!isalpha((unsigned char)s->text[next]) && s->text[next] != '"')) return false;
    scene_say(s, s->now.at, scene_print(s, "there is no '%s'", s->now.name));
    if (strcmp(s->now.name, "type") == 0 || strcmp(s->now.name, "typedef") == 0) {
        const size_t name = strcspn(s->text + next, " \t\n=;{");
        if (s->text[scene_skip_blanks(s, next + (uint32_t)name)] != '{') { /* type T = f32; */
            diag_help(s->diag, "types have no second name: a kernel for several element types is generic, "
                               "'kernel k<E: float>(in x: E[4], ...)'");
            return true;
        }
    }
    diag_fix(s->diag, s->now.at, meant, "did you mean '%s'?", meant);
    return true;
}

bool foreign_import_without_quotes(const struct scene *s)
{
    if (s->last.kind != TOK_IMPORT || s->now.kind != TOK_NAME) return false;
    bool is_std = scene_is_word(&s->now, library_modules, LIBRARY_MODULES);
    scene_say(s, s->now.at, "an import is the path of a file, in quotes");
    uint32_t end = s->now.at.begin;
    while (isalnum((unsigned char)s->text[end]) || (s->text[end] != '\0' && strchr("_-./", s->text[end]))) end++;
    const char *path = scene_copy(s, s->now.at.begin, end);
    const size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".pto") == 0)
        scene_fix(s, s->now.at.begin, end, scene_print(s, "\"%s\"", path));
    else if (strchr(path, '/') != NULL && strchr(path, '.') == NULL)
        scene_fix(s, s->now.at.begin, end, scene_print(s, "\"%s.pto\"", path));
    else if (s->text[s->now.at.end] != '.')
        scene_fix(s, s->now.at.begin, s->now.at.end, scene_print(s, "\"%s%s.pto\"", is_std ? "std/" : "", s->now.name));
    else
        diag_help(s->diag, "import \"std/tile.pto\" as tile;");
    return true;
}

/* Formals, params and fields. */
bool foreign_declaration_without_type(const struct scene *s)
{
    if (s->last.kind == TOK_NAME && s->now.kind == TOK_ASSIGN && s->before.kind == TOK_PARAM) {
        bool is_float =
            memchr(s->text + s->now.at.begin, '.', scene_find(s, s->now.at.begin, ";") - s->now.at.begin) != NULL;
        scene_say(s, s->now.at, "a param has a type: i64, f64, f32 or bool");
        diag_fix(s->diag, scene_span(s, s->last.at.end, s->last.at.end), is_float ? ": f64" : ": i64", "write '%s: %s'",
                 s->last.name, is_float ? "f64" : "i64");
    } else if (s->last.kind == TOK_NAME && (s->now.kind == TOK_COMMA || s->now.kind == TOK_RPAREN) &&
               scene_expects(s, ":") && s->expected_count == 1) {
        scene_say(s, s->last.at, scene_print(s, "'%s' has no type", s->last.name));
        diag_help(s->diag, "%s: f32[N] is a tensor, %s: i64 a number", s->last.name, s->last.name);
    } else if (s->now.kind == TOK_COMMA && s->cx->declaration == TOK_STRUCT && scene_expects(s, ";")) {
        scene_say(s, s->now.at, "each field ends in ';'");
        scene_fix(s, s->now.at.begin, s->now.at.end, ";");
    } else if (s->last.kind == TOK_RPAREN && scene_expects(s, "@") && scene_expects(s, "let") &&
               !scene_expects(s, "for")) {
        scene_say(s, s->now.at, "an attribute stands before a call, or before a 'let' or an assignment that calls");
    } else {
        return false;
    }
    return scene_skip_statement(s);
}

/* let s: State<N>;  where only a declaration of a generic has angles */
bool foreign_extents_in_angles(const struct scene *s)
{
    static const char *const containers[] = {"tensor", "Tensor", "memref", "Array", "vector", "Vec", "vec", "Matrix"};
    bool is_type = s->before.kind == TOK_COLON || s->before.kind == TOK_ARROW;
    if (s->now.kind != TOK_LT || s->last.kind != TOK_NAME || !is_type) return false;
    uint32_t close = scene_find(s, s->now.at.end, ">");
    scene_say(s, s->now.at, "the extents of a type stand in brackets");
    if (scene_is_word(&s->last, containers, COUNT(containers)))
        diag_help(s->diag, "a tensor's type is that of its elements with its extents: f32[M, N]");
    else if (s->text[close] == '>')
        scene_fix(s, s->last.at.begin, close + 1,
                  scene_print(s, "%s[%s]", s->last.name, scene_copy(s, s->now.at.end, close)));
    return scene_skip_statement(s);
}

/* var a: f32[N]; */
bool foreign_variable_without_value(const struct scene *s)
{
    if (s->begin.kind != TOK_VAR || s->now.kind != TOK_SEMICOLON || !scene_expects(s, "=")) return false;
    scene_say(s, s->now.at, "a 'var' begins with a value");
    diag_help(s->diag, "var n = 0;  or, of tensors,  var a = f(x);");
    return scene_skip_statement(s);
}
