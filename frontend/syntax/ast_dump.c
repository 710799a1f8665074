/* ast_dump.c - --emit=ast: the tree as text.
 * Idea       one line a node, children two blanks deeper; a child that is not first in a list says what it is for.
 * Owner      nothing.
 * Invariant  same program, same bytes; what sema adds is not shown.
 * Blocks     never.
 * Tests      test/lit/parse/
 */
#include "ast.h"
#include "parser.h"
#include "support/strbuf.h"

struct dump {
    const struct source_map *sources;
    FILE *out;
    int indent;
};

static void dump_node(struct dump *d, const char *role, const struct ast *n);

static void dump_child(struct dump *d, const char *role, const struct ast *n)
{
    d->indent++;
    if (n != NULL) dump_node(d, role, n);
    d->indent--;
}

static void dump_list(struct dump *d, const char *role, const struct ast *list)
{
    for (const struct ast *n = list; n != NULL; n = n->next) dump_child(d, role, n);
}

static void print_quoted(struct dump *d, const char *text, size_t length)
{
    struct strbuf b = {0};
    strbuf_c_string(&b, text, length);
    fprintf(d->out, " %s", strbuf_text(&b));
    strbuf_free(&b);
}

static void print_direction(struct dump *d, enum direction dir)
{
    if (dir != DIR_NONE) fprintf(d->out, " %s", direction_text(dir));
}

/* What stands behind the kind on the node's own line. */
static void print_details(struct dump *d, const struct ast *n)
{
    switch (n->kind) {
    case AST_KERNEL:
        if (n->kernel->worker != NULL) fprintf(d->out, " on %s", n->kernel->worker);
        break;
    case AST_ORCH:
        if (n->orch.exported) fputs(" export", d->out);
        break;
    case AST_FORMAL: print_direction(d, n->formal.dir); break;
    case AST_ARG: print_direction(d, n->arg.dir); break;
    case AST_TYPE_NAME:
        if (n->type_name.module != NULL) fprintf(d->out, " of %s", n->type_name.module);
        break;
    case AST_INT: fprintf(d->out, n->integer.too_large ? " %s too large" : " %s", n->integer.digits); break;
    case AST_FLOAT: fprintf(d->out, " %.17g", n->real.value); break;
    case AST_STRING: print_quoted(d, n->string.text, n->string.length); break;
    case AST_BOOL: fputs(n->boolean.value ? " true" : " false", d->out); break;
    case AST_UNARY:
    case AST_BINARY: fprintf(d->out, " %s", ast_op_text(n->binary.op)); break;
    default: break;
    }
}

static void dump_items(struct dump *d, const struct ast *n)
{
    switch (n->kind) {
    case AST_IMPORT: dump_child(d, "", n->import.path); break;
    case AST_STRUCT:
        dump_list(d, "", n->structure.generics);
        dump_list(d, "", n->structure.fields);
        break;
    case AST_KERNEL:
        dump_list(d, "", n->kernel->generics);
        dump_list(d, "", n->kernel->formals);
        dump_child(d, "cost: ", n->kernel->cost);
        dump_child(d, "extern: ", n->kernel->extern_name);
        dump_list(d, "where: ", n->kernel->where);
        dump_list(d, "repeated: ", n->kernel->repeated);
        if (n->kernel->has_body) {
            const char *text = source_get(d->sources, n->kernel->body_at.file)->text;
            fprintf(d->out, "%*sbody:", d->indent * 2 + 2, "");
            print_quoted(d, text + n->kernel->body_at.begin, n->kernel->body_at.end - n->kernel->body_at.begin);
            fputc('\n', d->out);
        }
        break;
    case AST_ORCH:
        dump_list(d, "", n->orch.generics);
        dump_list(d, "", n->orch.formals);
        dump_child(d, "result: ", n->orch.result);
        dump_child(d, "", n->orch.body);
        break;
    case AST_FORMAL: dump_child(d, "", n->formal.type); break;
    case AST_TYPE_NAME: dump_list(d, "", n->type_name.dims); break;
    case AST_TYPE_ARRAY:
        dump_child(d, "length: ", n->type_array.length);
        dump_child(d, "", n->type_array.element);
        break;
    default: break;
    }
}

static void dump_statements(struct dump *d, const struct ast *n)
{
    dump_list(d, "", n->attrs);
    switch (n->kind) {
    case AST_CONST:
    case AST_PARAM:
    case AST_FIELD:
    case AST_LET:
    case AST_VAR:
        dump_child(d, "", n->decl.type);
        dump_child(d, "value: ", n->decl.value);
        break;
    case AST_BLOCK: dump_list(d, "", n->block.stmts); break;
    case AST_VIEW:
        dump_child(d, "", n->view.tensor);
        dump_list(d, "tile: ", n->view.tiles);
        break;
    case AST_EXPR_STMT: dump_child(d, "", n->expr_stmt.expr); break;
    case AST_ASSIGN:
        dump_child(d, "target: ", n->assign.target);
        dump_child(d, "value: ", n->assign.value);
        break;
    case AST_FOR:
        dump_child(d, "low: ", n->loop.low);
        dump_child(d, "high: ", n->loop.high);
        dump_child(d, "step: ", n->loop.step);
        dump_child(d, "", n->loop.body);
        break;
    case AST_WHILE:
    case AST_DO_WHILE:
        dump_child(d, "cond: ", n->while_.cond);
        dump_child(d, "", n->while_.body);
        break;
    case AST_IF:
        dump_child(d, "cond: ", n->if_.cond);
        dump_child(d, "then: ", n->if_.then);
        dump_child(d, "else: ", n->if_.other);
        break;
    case AST_MATCH:
        dump_child(d, "of: ", n->match.value);
        dump_list(d, "", n->match.arms);
        dump_child(d, "else: ", n->match.other);
        break;
    case AST_MATCH_ARM:
        dump_list(d, "", n->arm.values);
        dump_child(d, "", n->arm.body);
        break;
    case AST_SCOPE:
        dump_child(d, "label: ", n->scope.label);
        dump_child(d, "", n->scope.body);
        break;
    case AST_DROP: dump_list(d, "", n->drop.names); break;
    case AST_RETURN: dump_child(d, "", n->ret.value); break;
    case AST_ASSERT:
    case AST_STATIC_ASSERT:
        dump_child(d, "", n->check.cond);
        dump_child(d, "message: ", n->check.message);
        break;
    case AST_PRINT: dump_list(d, "", n->print.values); break;
    case AST_ATTR: dump_list(d, "", n->attr.args); break;
    default: break;
    }
}

static void dump_expressions(struct dump *d, const struct ast *n)
{
    switch (n->kind) {
    case AST_UNARY: dump_child(d, "", n->binary.left); break;
    case AST_BINARY:
        dump_child(d, "", n->binary.left);
        dump_child(d, "", n->binary.right);
        break;
    case AST_AWAIT: dump_child(d, "", n->await.operand); break;
    case AST_CALL:
        dump_child(d, "", n->call.callee);
        dump_list(d, "", n->call.args);
        break;
    case AST_ARG: dump_child(d, "", n->arg.value); break;
    case AST_MEMBER: dump_child(d, "", n->member.object); break;
    case AST_INDEX:
        dump_child(d, "", n->index.object);
        dump_list(d, "", n->index.indices);
        break;
    case AST_INDEX_POINT:
    case AST_INDEX_RANGE:
    case AST_INDEX_WIDTH:
        dump_child(d, "", n->range.low);
        dump_child(d, "", n->range.high);
        break;
    default: break;
    }
}

static void dump_node(struct dump *d, const char *role, const struct ast *n)
{
    struct place at = source_place(d->sources, n->at.file, n->at.begin);
    fprintf(d->out, "%*s%s%s", d->indent * 2, "", role, ast_kind_name(n->kind));
    if (n->name != NULL) fprintf(d->out, " %s", n->name);
    print_details(d, n);
    fprintf(d->out, " @%d:%d\n", at.line, at.column);
    dump_items(d, n);
    dump_statements(d, n);
    dump_expressions(d, n);
}

void ast_dump(const struct front *front, const struct program_ast *program, FILE *out)
{
    struct dump d = {front->sources, out, 0};
    for (const struct ast *n = program->items; n != NULL; n = n->next) dump_node(&d, "", n);
}
