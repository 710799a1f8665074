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
#define BINARY(op, at, left, right, op_at) NODE(AST_BINARY, at, .binary = {op, left, right, op_at})
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
%token SCRATCH "scratch"
%token ON "on"  COST "cost"  EXTERN "extern"  WHERE "where"  ARRAY "array"  OF "of"
%token LET "let"  VAR "var"  VIEW "view"  TILED "tiled"  FOR "for"  STEP "step"  WHILE "while"  DO "do"  IF "if"
%token ELSE "else"
%token MATCH "match"  SCOPE "scope"  DROP "drop"  RETURN "return"  BREAK "break"  CONTINUE "continue"  ASSERT "assert"
%token PRINT "print"  AWAIT "await"  TRUE "true"  FALSE "false"
%token LPAREN "("  RPAREN ")"  LBRACKET "["  RBRACKET "]"  LBRACE "{"  RBRACE "}"  COMMA ","  SEMICOLON ";"
%token COLON ":"  DOT "."
%token DOTDOT ".."  PLUSCOLON "+:"  PLUSASSIGN "+="  ARROW "->"  FATARROW "=>"  ASSIGN "="  AT "@"
%token OR "||"  AND "&&"  EQ "=="  NE "!="  LT "<"  LE "<="  GT ">"  GE ">="
%token PLUS "+"  MINUS "-"  STAR "*"  SLASH "/"  PERCENT "%"  NOT "!"
%token BITOR "|"  CARET "^"  AMPERSAND "&"  SHL "<<"  SHR ">>"  TILDE "~"  QUESTION "?"

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
%type <node> suffix stmt simple block step
             arm match_else attr string label expr postfix primary index arg generic dim
%type <list> items generics generic_names formals formal_list fields stmts attrs exprs dims drops indices args
             arg_list arms
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
item: "import" string ";"                       { $$ = NODE(AST_IMPORT, @$, .import = {$string}); }
    | "import" string "as" NAME ";"             { $$ = NAMED(AST_IMPORT, @$, $NAME, .import = {$string}); }
    | "const" NAME let_type "=" expr ";"        { $$ = NAMED(AST_CONST, @$, $NAME, .decl = {$let_type, $expr, NULL}); }
    | "param" NAME ":" type let_value ";"       { $$ = NAMED(AST_PARAM, @$, $NAME, .decl = {$type, $let_value, NULL}); }
    | "struct" NAME generics "{" fields "}"
        { $$ = NAMED(AST_STRUCT, @$, $NAME, .structure = {$generics.first, $fields.first}); }
    | "struct" NAME generics "{" fields error "}"
        { $$ = NAMED(AST_STRUCT, @$, $NAME, .structure = {$generics.first, $fields.first}); yyerrok; }
    | kernel ";"                                { $$ = $kernel; $$->at = @$; }
    | kernel C_BODY                             { $$ = ast_kernel_body($kernel, $C_BODY); $$->at = @$; }
    | kernel "=>" block                         { $$ = ast_kernel_block(cx, $kernel, $block); $$->at = @$; }
    | orch
    | "export" orch                             { $$ = ast_export($orch, @$); }
    | attrs orch                                { $$ = ast_with_attrs(cx, $orch, @$, $attrs); }
    | attrs "export" orch                       { $$ = ast_with_attrs(cx, ast_export($orch, @$), @$, $attrs); }
    | static_assert
    ;
generics: %empty                                { $$ = NO_LIST; }
        | "<" generic_names ">"                 { $$ = $2; }
        ;
generic_names: generic                          { $$ = list_add(NO_LIST, $1); }
             | generic_names "," generic        { $$ = list_add($1, $3); }
             ;
generic: NAME                                   { $$ = NAMED(AST_GENERIC, @$, $1); }
       | NAME ":" NAME                          { $$ = NAMED(AST_GENERIC, @$, $1, .generic = {$3.name, $3.at}); }
       ;
fields: %empty                                  { $$ = NO_LIST; }
      | fields NAME ":" type ";"
        { $$ = list_add($1, NAMED(AST_FIELD, span_join(@2, @5), $NAME, .formal = {$type, DIR_NONE, @2, NULL, NULL})); }
      | fields "host" NAME ":" type ";"
        { $$ = list_add($1, NAMED(AST_FIELD, span_join(@2, @6), $NAME, .formal = {$type, DIR_HOST, @2, NULL, NULL})); }
      | fields error ";"                        { $$ = $1; yyerrok; }
      ;
kernel: kernel_head
      | attrs kernel_head                       { $$ = ast_with_attrs(cx, $2, @$, $attrs); }
      ;
kernel_head: "kernel" NAME generics "(" formals ")" kattrs
        { $$ = ast_kernel(cx, @$, $NAME, $generics, $formals, $kattrs); }
           ;
kattrs: %empty                                  { $$ = ast_new(cx->front->mem, AST_KERNEL, @$); }
      | kattrs "on" NAME                        { $$ = kernel_on(cx, $1, $NAME); }
      | kattrs "cost" expr                      { $$ = kernel_cost($1, $expr); }
      | kattrs "extern" string                  { $$ = kernel_extern($1, $string); }
      | kattrs "where" expr                     { $$ = kernel_where($1, $expr); }
      ;
orch: "orch" NAME generics "(" formals ")" result block
        { $$ = NAMED(AST_ORCH, @$, $NAME, .orch = {$generics.first, $formals.first, $result, $block, false}); }
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
formal: NAME ":" type suffix
        { $$ = ast_formal(cx, @$, $NAME, $type, (struct mark){DIR_NONE, @NAME}, $suffix); }
      | formal_mark NAME ":" type suffix        { $$ = ast_formal(cx, @$, $NAME, $type, $1, $suffix); }
      ;
suffix: %empty                                  { $$ = NULL; }
      | NAME "[" indices "]"
        { $$ = NAMED(AST_WRITES, @$, $NAME, .index = {.indices = $indices.first}); }
      | NAME[word] NAME[operation]              { $$ = NAMED(AST_BY, @$, $operation, .by = {$word.name, @word}); }
      ;
formal_mark: arg_mark
           | "in"                               { $$ = (struct mark){DIR_IN, @$}; }
           | "host"                             { $$ = (struct mark){DIR_HOST, @$}; }
           | "scratch"                          { $$ = (struct mark){DIR_SCRATCH, @$}; }
           ;
arg_mark: "out"                                 { $$ = (struct mark){DIR_OUT, @$}; }
        | "inout"                               { $$ = (struct mark){DIR_INOUT, @$}; }
        | "acc"                                 { $$ = (struct mark){DIR_ACC, @$}; }
        | "own"                                 { $$ = (struct mark){DIR_OWN, @$}; }
        ;
type: NAME                                      { $$ = NAMED(AST_TYPE_NAME, @$, $1, .type_name = {0}); }
    | NAME "[" dims "]" { $$ = NAMED(AST_TYPE_NAME, @$, $1, .type_name = {.dims = $dims.first}); }
    | NAME "." NAME { $$ = NAMED(AST_TYPE_NAME, @$, $3, .type_name = {$1.name, $1.at, NULL}); }
    | NAME "." NAME "[" dims "]" { $$ = NAMED(AST_TYPE_NAME, @$, $3, .type_name = {$1.name, $1.at, $dims.first}); }
    | "array" "[" expr "]" "of" type            { $$ = NODE(AST_TYPE_ARRAY, @$, .type_array = {$expr, $6}); }
    ;
dims: dim                                       { $$ = list_add(NO_LIST, $1); }
    | dims "," dim                              { $$ = list_add($1, $3); }
    ;
dim: expr
   | "?" NAME                                   { $$ = NAMED(AST_DECIDED, @$, $NAME); }
   ;

block: "{" stmts "}"                            { $$ = NODE(AST_BLOCK, @$, .block = {$stmts.first}); }
     | "{" stmts error "}"                      { $$ = NODE(AST_BLOCK, @$, .block = {$stmts.first}); yyerrok; }
     ;
stmts: %empty                                   { $$ = NO_LIST; }
     | stmts stmt                               { $$ = list_add($1, $stmt); }
     | stmts error ";" { $$ = list_add($1, NODE(AST_BAD_STMT, span_join(@2, @3))); yyerrok; }
     ;
stmt: simple
    | attrs simple                              { $$ = ast_with_attrs(cx, $simple, @$, $attrs); }
    | "var" NAME let_type "=" expr ";"          { $$ = NAMED(AST_VAR, @$, $NAME, .decl = {$let_type, $expr, NULL}); }
    | "for" NAME "in" expr[low] ".." expr[high] step block
        { $$ = NAMED(AST_FOR, @$, $NAME, .loop = {$low, $high, $step, $block}); }
    | "while" expr block                        { $$ = NODE(AST_WHILE, @$, .while_ = {$expr, $block}); }
    | "do" block "while" expr ";"               { $$ = NODE(AST_DO_WHILE, @$, .while_ = {$expr, $block}); }
    | ifs                                       { $$ = chain_end(cx, $ifs, @$, NULL); }
    | ifs "else" block                          { $$ = chain_end(cx, $ifs, @$, $block); }
    | "match" expr "{" arms match_else "}" { $$ = NODE(AST_MATCH, @$, .match = {$expr, $arms.first, $match_else}); }
    | "match" expr "{" arms error "}" { $$ = NODE(AST_MATCH, @$, .match = {$expr, $arms.first, NULL}); yyerrok; }
    | "scope" label block                       { $$ = NODE(AST_SCOPE, @$, .scope = {$label, $block}); }
    | block
    | "drop" drops ";"                          { $$ = NODE(AST_DROP, @$, .drop = {$drops.first}); }
    | "return" ";"                              { $$ = NODE(AST_RETURN, @$, .ret = {NULL}); }
    | "return" expr ";"                         { $$ = NODE(AST_RETURN, @$, .ret = {$expr}); }
    | "break" ";"                               { $$ = NODE(AST_BREAK, @$); }
    | "continue" ";"                            { $$ = NODE(AST_CONTINUE, @$); }
    | "assert" expr assert_message ";"          { $$ = NODE(AST_ASSERT, @$, .check = {$expr, $assert_message}); }
    | static_assert
    | "print" exprs ";"                         { $$ = NODE(AST_PRINT, @$, .print = {$exprs.first}); }
    ;
simple: "let" NAME let_type let_value ";"     { $$ = NAMED(AST_LET, @$, $NAME, .decl = {$let_type, $let_value, NULL}); }
      | "let" NAME "[" exprs "]" "=" expr ";"
        { $$ = NAMED(AST_LET, @$, $NAME, .decl = {.value = $expr, .indices = $exprs.first}); }
      | "view" NAME "=" postfix "tiled" "[" exprs "]" ";"
        { $$ = NAMED(AST_VIEW, @$, $NAME, .view = {$postfix, $exprs.first}); }
      | postfix ";"                             { $$ = NODE(AST_EXPR_STMT, @$, .expr_stmt = {$postfix}); }
      | postfix "=" expr ";"                    { $$ = NODE(AST_ASSIGN, @$, .assign = {$postfix, $expr, {0}}); }
      | postfix "+=" expr ";"                   { $$ = NODE(AST_ASSIGN, @$, .assign = {$postfix, $expr, @2}); }
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
arm: exprs "=>" block                           { $$ = NODE(AST_MATCH_ARM, @$, .arm = {$exprs.first, $block}); }
   | error "=>" block                           { $$ = NODE(AST_MATCH_ARM, @$, .arm = {NULL, $block}); yyerrok; }
   | error block                                { $$ = NODE(AST_MATCH_ARM, @$, .arm = {NULL, $block}); yyerrok; }
   ;
match_else: %empty                              { $$ = NULL; }
          | "else" "=>" block                   { $$ = $block; }
          ;
label: %empty                                   { $$ = NULL; }
     | string
     ;
drops: postfix                                  { $$ = list_add(NO_LIST, $1); }
     | drops "," postfix                        { $$ = list_add($1, $3); }
     ;
static_assert: "static_assert" expr assert_message ";"
        { $$ = NODE(AST_STATIC_ASSERT, @$, .check = {$expr, $assert_message}); }
             ;
assert_message: %empty                          { $$ = NULL; }
              | "," string                      { $$ = $string; }
              ;
attrs: attr                                     { $$ = list_add(NO_LIST, $1); }
     | attrs attr                               { $$ = list_add($1, $2); }
     ;
attr: "@" NAME "(" exprs ")"                    { $$ = NAMED(AST_ATTR, @$, $NAME, .attr = {$exprs.first}); }
    ;

exprs: expr                                     { $$ = list_add(NO_LIST, $1); }
     | exprs "," expr                           { $$ = list_add($1, $3); }
     ;
expr: expr "||" expr                            { $$ = BINARY(OP_OR, @$, $1, $3, @2); }
    | expr "&&" expr                            { $$ = BINARY(OP_AND, @$, $1, $3, @2); }
    | expr "==" expr                            { $$ = BINARY(OP_EQ, @$, $1, $3, @2); }
    | expr "!=" expr                            { $$ = BINARY(OP_NE, @$, $1, $3, @2); }
    | expr "<" expr                             { $$ = BINARY(OP_LT, @$, $1, $3, @2); }
    | expr "<=" expr                            { $$ = BINARY(OP_LE, @$, $1, $3, @2); }
    | expr ">" expr                             { $$ = BINARY(OP_GT, @$, $1, $3, @2); }
    | expr ">=" expr                            { $$ = BINARY(OP_GE, @$, $1, $3, @2); }
    | expr "|" expr                             { $$ = BINARY(OP_BITOR, @$, $1, $3, @2); }
    | expr "^" expr                             { $$ = BINARY(OP_BITXOR, @$, $1, $3, @2); }
    | expr "&" expr                             { $$ = BINARY(OP_BITAND, @$, $1, $3, @2); }
    | expr "<<" expr                            { $$ = BINARY(OP_SHL, @$, $1, $3, @2); }
    | expr ">>" expr                            { $$ = BINARY(OP_SHR, @$, $1, $3, @2); }
    | expr "+" expr                             { $$ = BINARY(OP_ADD, @$, $1, $3, @2); }
    | expr "-" expr                             { $$ = BINARY(OP_SUB, @$, $1, $3, @2); }
    | expr "*" expr                             { $$ = BINARY(OP_MUL, @$, $1, $3, @2); }
    | expr "/" expr                             { $$ = BINARY(OP_DIV, @$, $1, $3, @2); }
    | expr "%" expr                             { $$ = BINARY(OP_MOD, @$, $1, $3, @2); }
    | "-" expr %prec PREFIX                     { $$ = NODE(AST_UNARY, @$, .binary = {OP_NEG, $2, NULL, @1}); }
    | "!" expr %prec PREFIX                     { $$ = NODE(AST_UNARY, @$, .binary = {OP_NOT, $2, NULL, @1}); }
    | "~" expr %prec PREFIX                     { $$ = NODE(AST_UNARY, @$, .binary = {OP_BITNOT, $2, NULL, @1}); }
    | "await" postfix                           { $$ = NODE(AST_AWAIT, @$, .await = {$postfix}); }
    | postfix
    ;
postfix: primary
       | postfix "[" indices "]"                { $$ = NODE(AST_INDEX, @$, .index = {$1, $indices.first, false}); }
       | postfix "as" "[" exprs "]"             { $$ = ast_as(cx, @$, $1, $exprs.first); }
       | postfix "." NAME                       { $$ = NAMED(AST_MEMBER, @$, $NAME, .member = {$1}); }
       | postfix "(" args ")"                   { $$ = ast_call(cx, @$, $1, $args); }
       | postfix "(" arg_list ":" expr ")"      { $$ = ast_reduction(cx, @$, $1, $arg_list, $expr); }
       ;
indices: index                                  { $$ = list_add(NO_LIST, $1); }
       | indices "," index                      { $$ = list_add($1, $3); }
       ;
index: expr                                     { $$ = NODE(AST_INDEX_POINT, @$, .range = {.low = $1}); }
     | expr ".." expr step                      { $$ = NODE(AST_INDEX_RANGE, @$, .range = {$1, $3, $step}); }
     | expr "+:" expr step                      { $$ = NODE(AST_INDEX_WIDTH, @$, .range = {$1, $3, $step}); }
     | ":" step                                 { $$ = NODE(AST_INDEX_ALL, @$, .range = {.step = $step}); }
     ;
args: %empty                                    { $$ = NO_LIST; }
    | arg_list
    ;
arg_list: arg                                   { $$ = list_add(NO_LIST, $1); }
        | arg_list "," arg                      { $$ = list_add($1, $3); }
        ;
arg: expr                                       { $$ = NODE(AST_ARG, @$, .arg = {$1, DIR_NONE, @$}); }
   | NAME "in" expr ".." expr                   { $$ = NAMED(AST_BINDER, @$, $NAME, .binder = {$3, $5}); }
   | arg_mark postfix                           { $$ = NODE(AST_ARG, @$, .arg = {$postfix, $1.dir, $1.at}); }
   ;
primary: NAME                                   { $$ = NAMED(AST_NAME, @$, $1); }
       | INT { $$ = NODE(AST_INT, @$, .integer = {$1.name, $1.integer, $1.too_large}); }
       | FLOAT                                  { $$ = NODE(AST_FLOAT, @$, .real = {$1.real}); }
       | string
       | "true"                                 { $$ = NODE(AST_BOOL, @$, .boolean = {true}); }
       | "false"                                { $$ = NODE(AST_BOOL, @$, .boolean = {false}); }
       | "(" expr ")"                           { $$ = $expr; }
       ;
string: STRING                                  { $$ = NODE(AST_STRING, @$, .string = {$1.text, $1.length}); }
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
