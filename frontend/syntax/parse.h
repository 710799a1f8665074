/* parse.h - what the grammar, the functions its actions call, and the wording of syntax errors share.  No other file
 * includes it. */
#ifndef PTOC_PARSE_H
#define PTOC_PARSE_H
#include "lexer.h"
#include "parser.h"

enum {
    MAX_NESTING = 256, /* open brackets of any kind; prefix operators in a row */
    MAX_DEPTH = 2000   /* levels of an AST: what every pass may recurse over */
};

struct list { /* under construction */
    struct ast *first, *last;
};

struct chain { /* if .. else if .. else if .. */
    struct ast *first, *last;
    int count;
};

struct mark { /* a direction and where it stands */
    enum direction dir;
    struct span at;
};

union value {
    struct token token;
    struct ast *node;
    struct list list;
    struct chain chain;
    struct mark mark;
};

struct parse {
    struct front *front;
    struct lexer lexer;
    struct ast *items;              /* the result */
    struct token before, last, now; /* the two tokens before, and the one the parser looks at */
    struct token begin;             /* the first token of the statement or declaration */
    struct token held;              /* read, but to be delivered after closing_count closing braces */
    int closing_count;
    /* what was found begins the next statement: it is read again behind a `;` that is put in */
    bool lacks_semicolon;
    struct token open[MAX_NESTING]; /* brackets not yet closed */
    int open_count;
    struct token left_open; /* the bracket that was open at the last `;`, if any */
    /* the first brace that is closed by one of less indentation: perhaps the one that is not closed */
    struct token askew;
    int prefix_count; /* prefix operators in a row, up to now */
    bool gave_up;     /* the rest of the file is not read, and nothing more is said */
    bool had_error;
    bool is_noise;          /* up to the next `;` or brace: the lexer has already reported the mistake */
    bool is_noise_to_block; /* is_noise holds up to the next brace, `;` or not */
    uint32_t discard_to;    /* what begins before this offset belongs to a mistake that is reported: it is not read */
    int declaration;        /* the word that began the last declaration */
    bool is_adrift;         /* after an error: what stands between declarations may be the rest of one */
    bool is_skipping;       /* after an error outside of blocks: nothing is said until a declaration begins */
};

/* ---- parse.c, for the grammar ---- */
int parse_next_token(union value *value, struct span *at, struct parse *cx);
void parse_give_up(struct parse *cx, struct span at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void parse_report_problem(struct parse *cx, const struct token *t); /* of the lexer */
/* expected: at most expected_count names of tokens as in grammar.y; the token found is cx->now. */
void parse_report_syntax(struct parse *cx, const char *const *expected, int expected_count);

/* ---- foreign_syntax.c: a mistake that comes from another language; true: it is reported ---- */
bool foreign_syntax_report(struct parse *cx, const char *const *expected, int expected_count);
/* The text after an '=' or '=>' that may be meant as a comparison: is there no other comparison, and no ':', in the
 * rest of its expression? */
bool foreign_is_last_comparison(const char *text);
void foreign_syntax_hint_token(struct parse *cx,
                               const struct token *t); /* help for a token whose problem was reported */

/* ---- expected.c: "';' or an operator" ---- */
struct strbuf;
void expected_list(struct strbuf *out, const char *const *expected, int expected_count);

/* ---- ast_build.c ---- */
struct ast *ast_build(struct parse *cx, struct ast node);
/* NODE(AST_SCOPE, at, .scope = {label, body}); NAMED: the same with a name, which is a token. */
#define NODE(kind_, at_, ...) ast_build(cx, (struct ast){.kind = kind_, .at = at_, .name_at = at_, __VA_ARGS__})
#define NAMED(kind_, at_, name_, ...)                                                                                  \
    ast_build(cx, (struct ast){.kind = kind_, .at = at_, .name = name_.name, .name_at = name_.at, __VA_ARGS__})
struct list list_add(struct list list, struct ast *node);

struct ast *ast_formal(struct parse *cx, struct span at, struct token name, struct ast *type, struct mark mark,
                       struct ast *suffix);
struct ast *ast_kernel(struct parse *cx, struct span at, struct token name, struct list generics, struct list formals,
                       struct ast *attrs);
struct ast *ast_kernel_body(struct ast *kernel, struct token body);
struct ast *ast_kernel_block(struct parse *cx, struct ast *kernel, struct ast *block);
struct ast *kernel_on(struct parse *cx, struct ast *attrs, struct token worker);
struct ast *kernel_cost(struct ast *attrs, struct ast *cost);
struct ast *kernel_extern(struct ast *attrs, struct ast *symbol);
struct ast *kernel_where(struct ast *attrs, struct ast *cond);
struct ast *ast_export(struct ast *orch, struct span at);

struct ast *ast_as(struct parse *cx, struct span at, struct ast *object, struct ast *extents);
struct ast *ast_call(struct parse *cx, struct span at, struct ast *callee, struct list args);
struct ast *ast_reduction(struct parse *cx, struct span at, struct ast *callee, struct list args, struct ast *value);
struct ast *ast_with_attrs(struct parse *cx, struct ast *stmt, struct span at, struct list attrs);
struct chain chain_start(struct parse *cx, struct span at, struct ast *cond, struct ast *then);
struct chain chain_broken(struct parse *cx, struct span at, struct ast *then);
struct chain chain_add(struct parse *cx, struct chain chain, struct span at, struct ast *cond, struct ast *then);
struct ast *chain_end(struct parse *cx, struct chain chain, struct span at, struct ast *other);

#endif
