/* scene.c - how the patterns of foreign syntax read the text and report.
 * Owner      nothing: texts are copied into the front end's arena.
 * Tests      test/lit/reject/foreign-syntax-*.test
 */
#include "scene.h"
#include "support/arena.h"
#include "support/strbuf.h"
#include <stdarg.h>

bool scene_expects(const struct scene *s, const char *name)
{
    for (int i = 0; i < s->expected_count; i++)
        if (strcmp(s->expected[i], name) == 0) return true;
    return false;
}

bool scene_is_adjacent(const struct token *a, const struct token *b)
{
    return a->at.end == b->at.begin && a->at.end != 0;
}

bool scene_is_word(const struct token *t, const char *const *words, int count)
{
    if (t->kind != TOK_NAME) return false;
    for (int i = 0; i < count; i++)
        if (strcmp(t->name, words[i]) == 0) return true;
    return false;
}

uint32_t scene_skip_blanks(const struct scene *s, uint32_t at)
{
    while (s->text[at] == ' ' || s->text[at] == '\t') at++;
    return at;
}

uint32_t scene_trim_back(const struct scene *s, uint32_t begin, uint32_t end)
{
    while (end > begin && isspace((unsigned char)s->text[end - 1])) end--;
    return end;
}

const char *scene_copy(const struct scene *s, uint32_t begin, uint32_t end)
{
    if (end < begin) end = begin; // `i < ;` has nothing between
    return arena_copy(s->cx->front->mem, s->text + begin, end - begin);
}

struct span scene_span(const struct scene *s, uint32_t begin, uint32_t end)
{
    return (struct span){s->now.at.file, begin, end};
}

uint32_t scene_find(const struct scene *s, uint32_t at, const char *stops)
{
    for (int depth = 0; s->text[at] != '\0' && s->text[at] != '\n'; at++) {
        if (depth == 0 && strchr(stops, s->text[at])) return at;
        if (strchr("([", s->text[at])) depth++;
        if (strchr(")]", s->text[at]) && depth-- == 0) return at;
    }
    return at;
}

bool foreign_is_last_comparison(const char *text)
{
    for (int depth = 0; *text != '\0' && *text != '\n'; text++) {
        if (strchr("([", *text)) depth++;
        if (strchr(")]", *text) && depth-- == 0) return true;
        if (depth > 0) continue;
        if (strchr(";,{}&|?", *text)) return true;
        if ((*text == '<' || *text == '>') && text[1] == *text)
            text++; /* a shift */
        else if (strchr("=<>:", *text))
            return false;
    }
    return true;
}

bool scene_is_name_text(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_') return false;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return *text == '\0';
}

bool scene_is_operand(const char *text)
{
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && *text != '_' && *text != '.') return false;
    return true;
}

bool scene_is_element_type(const struct token *t)
{
    static const char *const types[] = {"f16", "bf16", "f32", "f64", "i8",  "i16", "i32",
                                        "i64", "u8",   "u16", "u32", "u64", "bool"};
    return scene_is_word(t, types, COUNT(types));
}

uint32_t scene_behind_bracket(const struct scene *s, uint32_t open)
{
    int depth = 0;
    for (uint32_t at = open; s->text[at] != '\0'; at++) {
        if (strchr("([{", s->text[at])) depth++;
        if (strchr(")]}", s->text[at]) && --depth == 0) return at + 1;
    }
    return 0;
}

const char *scene_print(const struct scene *s, const char *format, ...)
{
    STRBUF(b);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&b, format, args);
    va_end(args);
    return arena_copy(s->cx->front->mem, strbuf_text(&b), b.length);
}

void scene_say(const struct scene *s, struct span at, const char *text)
{
    diag_error(s->diag, DIAG_E00, at, "%s", text);
}

void scene_fix(const struct scene *s, uint32_t begin, uint32_t end, const char *text)
{
    diag_fix(s->diag, scene_span(s, begin, end), text, "write '%s'", text);
}

void scene_cut(const struct scene *s, uint32_t begin, uint32_t end)
{
    diag_fix(s->diag, scene_span(s, begin, end), "", "remove '%s'",
             scene_copy(s, begin, scene_trim_back(s, begin, end)));
}

bool scene_skip_statement(const struct scene *s)
{
    s->cx->is_noise = true;
    return true;
}

bool scene_skip_to_block(const struct scene *s)
{
    int kind = s->begin.kind;
    s->cx->is_noise_to_block = kind == TOK_FOR || kind == TOK_WHILE || kind == TOK_IF || kind == TOK_ELSE ||
                               kind == TOK_MATCH || kind == TOK_DO || kind == TOK_NAME;
    return scene_skip_statement(s);
}

bool scene_discard(const struct scene *s, uint32_t end)
{
    const int kind = s->now.kind;
    if (kind == TOK_LBRACE) { /* the grammar takes it for a block, which ends at once and has no `;` */
        uint32_t next = scene_skip_blanks(s, end);
        while (s->text[next] == ')') next = scene_skip_blanks(s, next + 1); /* of the call around */
        s->cx->closing_count++;
        if (s->text[next] == ';') end = next + 1;
    } else if ((kind == TOK_LBRACKET || kind == TOK_LPAREN) && s->cx->open_count > 0) {
        s->cx->open_count--;
    }
    s->cx->discard_to = end;
    return true;
}
