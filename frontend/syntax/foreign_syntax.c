/* foreign_syntax.c - constructs of C, Python and Rust: reported in the terms of that language, with the fix.
 * Idea       at a syntax error, the tokens around it and the text are compared with the patterns of foreign syntax; the
 *            first that matches reports the error.
 * Owner      nothing; reads the parse, and decides when the rest of a statement need not be reported.
 * Invariant  a fix is given only where the text as a whole is right afterwards, as far as can be seen.
 * Blocks     never.
 * Tests      test/lit/reject/foreign-syntax-*.test
 */
#include "foreign/scene.h"
#include "support/arena.h"
#include "support/strbuf.h"

bool foreign_syntax_report(struct parse *cx, const char *const *expected, int expected_count)
{
    static pattern *const patterns[] = {
        foreign_marker_behind,
        foreign_two_markers,
        foreign_formal_of_c,
        foreign_head_of_function,
        foreign_two_results,
        foreign_default_value,
        foreign_result_of_kernel,
        foreign_function_without_body,
        foreign_generics_in_brackets,
        foreign_generic_call,
        foreign_word_before_declaration,
        foreign_attribute_without_value,
        foreign_await_as_statement,
        foreign_marker_of_result,
        foreign_if_as_value,
        foreign_literal,
        foreign_choice_of_python,
        foreign_product_of_matrices,
        foreign_cast,
        foreign_tiles,
        foreign_arrow,
        foreign_prefix_of_string,
        foreign_arm,
        foreign_step,
        foreign_loop_of_c,
        foreign_range_of_python,
        foreign_loop_without_begin,
        foreign_compound_assignment,
        foreign_increment,
        foreign_colon_equals,
        foreign_let_mut,
        foreign_else_if,
        foreign_word_of_statement,
        foreign_word_of_declaration,
        foreign_import_without_quotes,
        foreign_declaration_without_type,
        foreign_extents_in_angles,
        foreign_variable_without_value,
        foreign_word_operator,
        foreign_declaration_of_c,
        foreign_semicolon_behind_block,
        foreign_text_without_comma,
        foreign_choice_of_c,
        foreign_division_of_python,
        foreign_two_characters,
        foreign_slice_of_python,
        foreign_arguments_with_names,
        foreign_list_of_c,
        foreign_address,
        foreign_half_a_number,
        foreign_constant_without_word,
        foreign_chained_assignment,
        foreign_two_targets,
        foreign_value_alone,
        foreign_block_without_braces,
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
    for (int i = 0; i < COUNT(patterns); i++)
        if (patterns[i](&s)) return true;
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
            STRBUF(quoted);
            strbuf_printf(&quoted, "\"%s\"", inside);
            diag_fix(d, t->problem_at, strbuf_text(&quoted), "a string stands in double quotes");
        } else {
            diag_help(d, "a string stands in double quotes");
        }
        break;
    default:
        if (strncmp(text, "\xE2\x80\x9C", 3) == 0 || strncmp(text, "\xE2\x80\x9D", 3) == 0)
            diag_help(d, "a string is in double quotes: '\"'");
        else if (strncmp(text, "\xE2\x88\x92", 3) == 0 || strncmp(text, "\xE2\x80\x93", 3) == 0)
            diag_fix(d, (struct span){t->at.file, t->problem_at.begin, t->problem_at.begin + 3}, "-", "write '-'");
        break;
    }
}
