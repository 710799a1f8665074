/* scene.h - for the patterns of foreign syntax: a syntax error, the tokens around it, and how to speak of it. */
#ifndef PTOC_FOREIGN_SCENE_H
#define PTOC_FOREIGN_SCENE_H
#include "grammar.h"
#include "syntax/parse.h"
#include <ctype.h>
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

/* A pattern: false, or the error is reported. */
typedef bool pattern(const struct scene *s);
/* statements.c */
pattern foreign_loop_of_c, foreign_range_of_python, foreign_loop_without_begin, foreign_compound_assignment,
    foreign_increment, foreign_colon_equals, foreign_let_mut, foreign_declaration_of_c, foreign_block_without_braces,
    foreign_semicolon_behind_block, foreign_text_without_comma;
/* words.c */
pattern foreign_word_operator, foreign_else_if, foreign_word_of_statement, foreign_word_of_declaration,
    foreign_import_without_quotes, foreign_declaration_without_type, foreign_extents_in_angles,
    foreign_variable_without_value;
/* heads.c */
pattern foreign_marker_behind, foreign_two_markers, foreign_formal_of_c, foreign_head_of_function,
    foreign_default_value, foreign_two_results, foreign_result_of_kernel, foreign_function_without_body,
    foreign_generics_in_brackets, foreign_generic_call, foreign_word_before_declaration, foreign_constant_without_word,
    foreign_attribute_without_value;
/* values.c */
pattern foreign_await_as_statement, foreign_marker_of_result, foreign_if_as_value, foreign_literal,
    foreign_choice_of_python, foreign_product_of_matrices, foreign_cast, foreign_tiles, foreign_arrow,
    foreign_prefix_of_string, foreign_arm, foreign_step, foreign_chained_assignment, foreign_two_targets,
    foreign_value_alone;
/* expressions.c */
pattern foreign_choice_of_c, foreign_division_of_python, foreign_two_characters, foreign_slice_of_python,
    foreign_arguments_with_names, foreign_list_of_c, foreign_address, foreign_half_a_number;

/* ---- text ---- */
bool scene_expects(const struct scene *s, const char *name);
bool scene_is_adjacent(const struct token *a, const struct token *b);
bool scene_is_word(const struct token *t, const char *const *words, int count);
uint32_t scene_skip_blanks(const struct scene *s, uint32_t at);
uint32_t scene_trim_back(const struct scene *s, uint32_t begin, uint32_t end);
const char *scene_copy(const struct scene *s, uint32_t begin, uint32_t end);
struct span scene_span(const struct scene *s, uint32_t begin, uint32_t end);
/* The first of the stops at bracket depth 0 on this line, or the end of the line. */
uint32_t scene_find(const struct scene *s, uint32_t at, const char *stops);
bool scene_is_name_text(const char *text);
bool scene_is_operand(const char *text); /* can it be an operand as it stands? */
bool scene_is_element_type(const struct token *t);

/* ---- speaking ---- */
const char *scene_print(const struct scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void scene_say(const struct scene *s, struct span at, const char *text);
void scene_fix(const struct scene *s, uint32_t begin, uint32_t end, const char *text); /* write this */
void scene_cut(const struct scene *s, uint32_t begin, uint32_t end);                   /* remove that */
/* What stands up to the end of the statement, or up to its block, belongs to the same mistake.  Both return true. */
bool scene_skip_statement(const struct scene *s);
bool scene_skip_to_block(const struct scene *s);
/* What begins before this offset is not read: the brackets up to there are closed, that of `now` too.  Returns true. */
bool scene_discard(const struct scene *s, uint32_t end);
uint32_t scene_behind_bracket(const struct scene *s, uint32_t open); /* 0: it is not closed */

#endif
