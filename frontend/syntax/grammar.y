/* grammar.y - tokens to AST.
 * Idea       a picture of the language; actions only build.
 * Owner      parse.c, which delivers the tokens and words the errors.
 * Invariant  no conflicts.  `error` stands in lists only, and ends at `;`, at a block, or at the brace that closes the
 *            list.
 * Blocks     never.
 * Tests      test/lit/parse/
 */
%code requires {
#include "syntax/parse.h"
}
%code {
static int yylex(YYSTYPE *value, YYLTYPE *at, struct parse *cx)
{
    return parse_next_token(value, at, cx);
}

static void yyerror(const YYLTYPE *at, struct parse *cx, const char *message)
{
    (void)message; // the parser's stack is full, the only thing it says by itself
    parse_give_up(cx, *at, "this is nested too deeply");
}

#define YYLLOC_DEFAULT(whole, parts, count)                                                            \
    (whole) = (count) > 0 ? span_join(YYRHSLOC(parts, 1), YYRHSLOC(parts, count))                      \
                          : (struct span){YYRHSLOC(parts, 0).file, YYRHSLOC(parts, 0).end, YYRHSLOC(parts, 0).end}

// alloca would put a stack that the input can make long on ours.
#define YYSTACK_USE_ALLOCA 0
#define NO_LIST (struct list){0}
}

%define api.pure full
%define api.prefix {grammar_}
%define api.token.prefix {TOK_}
%define api.value.type {union value}
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%locations
%param {struct parse *cx}
%initial-action { @$ = (struct span){cx->lexer.file, 0, 0}; }
%expect 0

%token END 0 "end of file"  BAD "bad character"
%token <token> NAME "name"  INT "integer"  FLOAT "number"  STRING "string"  C_BODY "C body"
%token IMPORT "import"  AS "as"  CONST "const"  PARAM "param"  STRUCT "struct"  KERNEL "kernel"  EXPORT "export"
%token ORCH "orch"
%token STATIC_ASSERT "static_assert"  IN "in"  OUT "out"  INOUT "inout"  ACC "acc"  OWN "own"  HOST "host"
%token ON "on"  COST "cost"  EXTERN "extern"  WHERE "where"  ARRAY "array"  OF "of"
%token LET "let"  VAR "var"  VIEW "view"  TILED "tiled"  FOR "for"  STEP "step"  WHILE "while"  DO "do"  IF "if"
%token ELSE "else"
%token MATCH "match"  SCOPE "scope"  DROP "drop"  RETURN "return"  BREAK "break"  CONTINUE "continue"  ASSERT "assert"
%token PRINT "print"  AWAIT "await"  TRUE "true"  FALSE "false"
%token LPAREN "("  RPAREN ")"  LBRACKET "["  RBRACKET "]"  LBRACE "{"  RBRACE "}"  COMMA ","  SEMICOLON ";"
%token COLON ":"  DOT "."
%token DOTDOT ".."  PLUSCOLON "+:"  ARROW "->"  FATARROW "=>"  ASSIGN "="  AT "@"
%token OR "||"  AND "&&"  EQ "=="  NE "!="  LT "<"  LE "<="  GT ">"  GE ">="
%token PLUS "+"  MINUS "-"  STAR "*"  SLASH "/"  PERCENT "%"  NOT "!"
%token BITOR "|"  CARET "^"  AMPERSAND "&"  SHL "<<"  SHR ">>"  TILDE "~"

%left "||"
%left "&&"
%nonassoc "==" "!=" "<" "<=" ">" ">="
%left "|"
%left "^"
%left "&"
%left "<<" ">>"
%left "+" "-"
%left "*" "/" "%"
%precedence PREFIX

%type <node> item kernel kernel_head kattrs orch result static_assert assert_message formal type let_type let_value
%type <node> stmt simple block step
             arm match_else attr string label expr postfix primary index arg
%type <list> items generics generic_names formals formal_list fields stmts attrs exprs drops indices args arg_list arms
%type <mark> formal_mark arg_mark
%type <chain> ifs

%%
program: items                                  { cx->items = $items.first; }
       ;
items: %empty                                   { $$ = NO_LIST; }
     | items item                               { $$ = list_add($1, $item); }
     | items error ";"                          { $$ = $1; yyerrok; }
     | items error block                        { $$ = $1; yyerrok; }
     | items error C_BODY                       { $$ = $1; yyerrok; }
     ;
item: "import" string ";"                       { $$ = ast_import(cx, @$, $string); }
    | "import" string "as" NAME ";"             { $$ = ast_import_as(cx, @$, $string, $NAME); }
    | "const" NAME let_type "=" expr ";"        { $$ = ast_decl(cx, AST_CONST, @$, $NAME, $let_type, $expr); }
    | "param" NAME ":" type let_value ";"       { $$ = ast_decl(cx, AST_PARAM, @$, $NAME, $type, $let_value); }
    | "struct" NAME generics "{" fields "}"     { $$ = ast_struct(cx, @$, $NAME, $generics, $fields); }
    | "struct" NAME generics "{" fields error "}" { $$ = ast_struct(cx, @$, $NAME, $generics, $fields); yyerrok; }
    | kernel ";"                                { $$ = $kernel; $$->at = @$; }
    | kernel C_BODY                             { $$ = ast_kernel_body($kernel, $C_BODY); $$->at = @$; }
    | orch
    | "export" orch                             { $$ = ast_export($orch, @$); }
    | static_assert
    ;
generics: %empty                                { $$ = NO_LIST; }
        | "<" generic_names ">"                 { $$ = $2; }
        ;
generic_names: NAME                             { $$ = list_add(NO_LIST, ast_named(cx, AST_GENERIC, @$, $1)); }
             | generic_names "," NAME           { $$ = list_add($1, ast_named(cx, AST_GENERIC, @3, $3)); }
             ;
fields: %empty                                  { $$ = NO_LIST; }
      | fields NAME ":" type ";" { $$ = list_add($1, ast_decl(cx, AST_FIELD, span_join(@2, @5), $NAME, $type, NULL)); }
      | fields error ";"                        { $$ = $1; yyerrok; }
      ;
kernel: kernel_head
      | attrs kernel_head                       { $$ = ast_with_attrs(cx, $2, @$, $attrs); }
      ;
kernel_head: "kernel" NAME generics "(" formals ")" kattrs
        { $$ = ast_kernel(cx, @$, $NAME, $generics, $formals, $kattrs); }
           ;
kattrs: %empty                                  { $$ = ast_plain(cx, AST_KERNEL, @$); }
      | kattrs "on" NAME                        { $$ = kernel_on(cx, $1, $NAME); }
      | kattrs "cost" expr                      { $$ = kernel_cost($1, $expr); }
      | kattrs "extern" string                  { $$ = kernel_extern($1, $string); }
      | kattrs "where" expr                     { $$ = kernel_where($1, $expr); }
      ;
orch: "orch" NAME generics "(" formals ")" result block
        { $$ = ast_orch(cx, @$, $NAME, $generics, $formals, $result, $block); }
    ;
result: %empty                                  { $$ = NULL; }
      | "->" type                               { $$ = $type; }
      ;
formals: %empty                                 { $$ = NO_LIST; }
       | formal_list
       ;
formal_list: formal                             { $$ = list_add(NO_LIST, $1); }
           | formal_list "," formal             { $$ = list_add($1, $3); }
           ;
formal: NAME ":" type { $$ = ast_formal(cx, @$, (struct mark){DIR_NONE, @NAME}, $NAME, $type); }
      | formal_mark NAME ":" type               { $$ = ast_formal(cx, @$, $1, $NAME, $type); }
      ;
formal_mark: arg_mark
           | "in"                               { $$ = (struct mark){DIR_IN, @$}; }
           | "host"                             { $$ = (struct mark){DIR_HOST, @$}; }
           ;
arg_mark: "out"                                 { $$ = (struct mark){DIR_OUT, @$}; }
        | "inout"                               { $$ = (struct mark){DIR_INOUT, @$}; }
        | "acc"                                 { $$ = (struct mark){DIR_ACC, @$}; }
        | "own"                                 { $$ = (struct mark){DIR_OWN, @$}; }
        ;
type: NAME                                      { $$ = ast_type_name(cx, @$, $1, NO_LIST); }
    | NAME "[" exprs "]"                        { $$ = ast_type_name(cx, @$, $1, $exprs); }
    | NAME "." NAME                             { $$ = ast_type_of_module(cx, @$, $1, $3, NO_LIST); }
    | NAME "." NAME "[" exprs "]"               { $$ = ast_type_of_module(cx, @$, $1, $3, $exprs); }
    | "array" "[" expr "]" "of" type            { $$ = ast_type_array(cx, @$, $expr, $6); }
    ;

block: "{" stmts "}"                            { $$ = ast_block(cx, @$, $stmts); }
     | "{" stmts error "}"                      { $$ = ast_block(cx, @$, $stmts); yyerrok; }
     ;
stmts: %empty                                   { $$ = NO_LIST; }
     | stmts stmt                               { $$ = list_add($1, $stmt); }
     | stmts error ";" { $$ = list_add($1, ast_plain(cx, AST_BAD_STMT, span_join(@2, @3))); yyerrok; }
     ;
stmt: simple
    | attrs simple                              { $$ = ast_with_attrs(cx, $simple, @$, $attrs); }
    | "var" NAME let_type "=" expr ";"          { $$ = ast_decl(cx, AST_VAR, @$, $NAME, $let_type, $expr); }
    | "view" NAME "=" postfix "tiled" "[" exprs "]" ";" { $$ = ast_view(cx, @$, $NAME, $postfix, $exprs); }
    | "for" NAME "in" expr[low] ".." expr[high] step block { $$ = ast_for(cx, @$, $NAME, $low, $high, $step, $block); }
    | "while" expr block                        { $$ = ast_while(cx, AST_WHILE, @$, $expr, $block); }
    | "do" block "while" expr ";"               { $$ = ast_while(cx, AST_DO_WHILE, @$, $expr, $block); }
    | ifs                                       { $$ = chain_end(cx, $ifs, @$, NULL); }
    | ifs "else" block                          { $$ = chain_end(cx, $ifs, @$, $block); }
    | "match" expr "{" arms match_else "}"      { $$ = ast_match(cx, @$, $expr, $arms, $match_else); }
    | "match" expr "{" arms error "}"           { $$ = ast_match(cx, @$, $expr, $arms, NULL); yyerrok; }
    | "scope" label block                       { $$ = ast_scope(cx, @$, $label, $block); }
    | block
    | "drop" drops ";"                          { $$ = ast_drop(cx, @$, $drops); }
    | "return" ";"                              { $$ = ast_return(cx, @$, NULL); }
    | "return" expr ";"                         { $$ = ast_return(cx, @$, $expr); }
    | "break" ";"                               { $$ = ast_plain(cx, AST_BREAK, @$); }
    | "continue" ";"                            { $$ = ast_plain(cx, AST_CONTINUE, @$); }
    | "assert" expr assert_message ";"          { $$ = ast_check(cx, AST_ASSERT, @$, $expr, $assert_message); }
    | static_assert
    | "print" exprs ";"                         { $$ = ast_print(cx, @$, $exprs); }
    ;
simple: "let" NAME let_type let_value ";"       { $$ = ast_decl(cx, AST_LET, @$, $NAME, $let_type, $let_value); }
      | postfix ";"                             { $$ = ast_expr_stmt(cx, @$, $postfix); }
      | postfix "=" expr ";"                    { $$ = ast_assign(cx, @$, $postfix, $expr); }
      ;
let_type: %empty                                { $$ = NULL; }
        | ":" type                              { $$ = $type; }
        ;
let_value: %empty                               { $$ = NULL; }
         | "=" expr                             { $$ = $expr; }
         ;
step: %empty                                    { $$ = NULL; }
    | "step" expr                               { $$ = $expr; }
    ;
ifs: "if" expr block                            { $$ = chain_start(cx, @$, $expr, $block); }
   | ifs "else" "if" expr block                 { $$ = chain_add(cx, $1, span_join(@3, @5), $expr, $block); }
   | error block                                { $$ = chain_broken(cx, @$, $block); yyerrok; }
   ;
arms: %empty                                    { $$ = NO_LIST; }
    | arms arm                                  { $$ = list_add($1, $arm); }
    ;
arm: exprs "=>" block                           { $$ = ast_arm(cx, @$, $exprs, $block); }
   | error "=>" block                           { $$ = ast_arm(cx, @$, NO_LIST, $block); yyerrok; }
   | error block                                { $$ = ast_arm(cx, @$, NO_LIST, $block); yyerrok; }
   ;
match_else: %empty                              { $$ = NULL; }
          | "else" "=>" block                   { $$ = $block; }
          ;
label: %empty                                   { $$ = NULL; }
     | string
     ;
drops: NAME                                     { $$ = list_add(NO_LIST, ast_named(cx, AST_NAME, @$, $1)); }
     | drops "," NAME                           { $$ = list_add($1, ast_named(cx, AST_NAME, @3, $3)); }
     ;
static_assert: "static_assert" expr assert_message ";"
        { $$ = ast_check(cx, AST_STATIC_ASSERT, @$, $expr, $assert_message); }
             ;
assert_message: %empty                          { $$ = NULL; }
              | "," string                      { $$ = $string; }
              ;
attrs: attr                                     { $$ = list_add(NO_LIST, $1); }
     | attrs attr                               { $$ = list_add($1, $2); }
     ;
attr: "@" NAME "(" exprs ")"                    { $$ = ast_attr(cx, @$, $NAME, $exprs); }
    ;

exprs: expr                                     { $$ = list_add(NO_LIST, $1); }
     | exprs "," expr                           { $$ = list_add($1, $3); }
     ;
expr: expr "||" expr                            { $$ = ast_binary(cx, @$, OP_OR, $1, $3, @2); }
    | expr "&&" expr                            { $$ = ast_binary(cx, @$, OP_AND, $1, $3, @2); }
    | expr "==" expr                            { $$ = ast_binary(cx, @$, OP_EQ, $1, $3, @2); }
    | expr "!=" expr                            { $$ = ast_binary(cx, @$, OP_NE, $1, $3, @2); }
    | expr "<" expr                             { $$ = ast_binary(cx, @$, OP_LT, $1, $3, @2); }
    | expr "<=" expr                            { $$ = ast_binary(cx, @$, OP_LE, $1, $3, @2); }
    | expr ">" expr                             { $$ = ast_binary(cx, @$, OP_GT, $1, $3, @2); }
    | expr ">=" expr                            { $$ = ast_binary(cx, @$, OP_GE, $1, $3, @2); }
    | expr "|" expr                             { $$ = ast_binary(cx, @$, OP_BITOR, $1, $3, @2); }
    | expr "^" expr                             { $$ = ast_binary(cx, @$, OP_BITXOR, $1, $3, @2); }
    | expr "&" expr                             { $$ = ast_binary(cx, @$, OP_BITAND, $1, $3, @2); }
    | expr "<<" expr                            { $$ = ast_binary(cx, @$, OP_SHL, $1, $3, @2); }
    | expr ">>" expr                            { $$ = ast_binary(cx, @$, OP_SHR, $1, $3, @2); }
    | expr "+" expr                             { $$ = ast_binary(cx, @$, OP_ADD, $1, $3, @2); }
    | expr "-" expr                             { $$ = ast_binary(cx, @$, OP_SUB, $1, $3, @2); }
    | expr "*" expr                             { $$ = ast_binary(cx, @$, OP_MUL, $1, $3, @2); }
    | expr "/" expr                             { $$ = ast_binary(cx, @$, OP_DIV, $1, $3, @2); }
    | expr "%" expr                             { $$ = ast_binary(cx, @$, OP_MOD, $1, $3, @2); }
    | "-" expr %prec PREFIX                     { $$ = ast_unary(cx, @$, OP_NEG, $2, @1); }
    | "!" expr %prec PREFIX                     { $$ = ast_unary(cx, @$, OP_NOT, $2, @1); }
    | "~" expr %prec PREFIX                     { $$ = ast_unary(cx, @$, OP_BITNOT, $2, @1); }
    | "await" postfix                           { $$ = ast_await(cx, @$, $postfix); }
    | postfix
    ;
postfix: primary
       | postfix "[" indices "]"                { $$ = ast_index(cx, @$, $1, $indices); }
       | postfix "." NAME                       { $$ = ast_member(cx, @$, $1, $NAME); }
       | postfix "(" args ")"                   { $$ = ast_call(cx, @$, $1, $args); }
       ;
indices: index                                  { $$ = list_add(NO_LIST, $1); }
       | indices "," index                      { $$ = list_add($1, $3); }
       ;
index: expr                                     { $$ = ast_range(cx, AST_INDEX_POINT, @$, $1, NULL); }
     | expr ".." expr                           { $$ = ast_range(cx, AST_INDEX_RANGE, @$, $1, $3); }
     | expr "+:" expr                           { $$ = ast_range(cx, AST_INDEX_WIDTH, @$, $1, $3); }
     | ":"                                      { $$ = ast_range(cx, AST_INDEX_ALL, @$, NULL, NULL); }
     ;
args: %empty                                    { $$ = NO_LIST; }
    | arg_list
    ;
arg_list: arg                                   { $$ = list_add(NO_LIST, $1); }
        | arg_list "," arg                      { $$ = list_add($1, $3); }
        ;
arg: expr                                       { $$ = ast_arg(cx, @$, (struct mark){DIR_NONE, @$}, $1); }
   | arg_mark postfix                           { $$ = ast_arg(cx, @$, $1, $postfix); }
   ;
primary: NAME                                   { $$ = ast_named(cx, AST_NAME, @$, $1); }
       | INT                                    { $$ = ast_int(cx, $1); }
       | FLOAT                                  { $$ = ast_float(cx, $1); }
       | string
       | "true"                                 { $$ = ast_bool(cx, @$, true); }
       | "false"                                { $$ = ast_bool(cx, @$, false); }
       | "(" expr ")"                           { $$ = $expr; }
       ;
string: STRING                                  { $$ = ast_string(cx, $1); }
      ;
%%
static int yyreport_syntax_error(const yypcontext_t *context, struct parse *cx)
{
    yysymbol_kind_t kinds[YYNTOKENS];
    const char *names[YYNTOKENS];
    int count = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
    for (int i = 0; i < count; i++) names[i] = yysymbol_name(kinds[i]);
    parse_report_syntax(cx, names, count);
    return 0;
}
