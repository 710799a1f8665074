/* ast_dump.c - --emit=ast: the tree as text.
 * Idea       one line a node, children two blanks deeper; a child that is not first in a list says what it is for.
 * Owner      nothing.
 * Invariant  same program, same bytes; what sema adds is not shown.
 * Blocks     never.
 * Tests      test/lit/parse/
 */
#include "ast_walk.h"
#include "parser.h"
#include "support/strbuf.h"

struct dump {
    const struct source_map *sources;
    FILE *out;
    int indent;
};

static void print_quoted(struct dump *d, const char *text, size_t length)
{
    STRBUF(b);
    strbuf_c_string(&b, text, length);
    fprintf(d->out, " %s", strbuf_text(&b));
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
    case AST_GENERIC:
        if (n->generic.elements != NULL) fprintf(d->out, " of %s", n->generic.elements);
        break;
    case AST_FIELD:
    case AST_FORMAL: print_direction(d, n->formal.dir); break;
    case AST_ARG: print_direction(d, n->arg.dir); break;
    case AST_TYPE_NAME:
        if (n->type_name.module != NULL) fprintf(d->out, " of %s", n->type_name.module);
        break;
    case AST_INT: fprintf(d->out, n->integer.too_large ? " %s too large" : " %s", n->integer.digits); break;
    case AST_FLOAT: fprintf(d->out, " %.17g", n->real.value); break;
    case AST_STRING: print_quoted(d, n->string.text, n->string.length); break;
    case AST_BOOL: fputs(n->boolean.value ? " true" : " false", d->out); break;
    case AST_INDEX: fputs(n->index.is_shape ? " as" : "", d->out); break;
    case AST_ASSIGN: fputs(n->assign.adds_at.end ? " +=" : "", d->out); break;
    case AST_UNARY:
    case AST_BINARY: fprintf(d->out, " %s", ast_op_text(n->binary.op)); break;
    default: break;
    }
}

static void dump_body(struct dump *d, struct span at)
{
    const char *text = source_get(d->sources, at.file)->text;
    fprintf(d->out, "%*sbody:", d->indent * 2 + 2, "");
    print_quoted(d, text + at.begin, at.end - at.begin);
    fputc('\n', d->out);
}

static void dump_node(struct dump *d, const char *role, const struct ast *n)
{
    struct place at = source_place(d->sources, n->at.file, n->at.begin);
    fprintf(d->out, "%*s%s%s", d->indent * 2, "", role, ast_kind_name(n->kind));
    if (n->name != NULL) fprintf(d->out, " %s", n->name);
    print_details(d, n);
    fprintf(d->out, " @%d:%d\n", at.line, at.column);
    d->indent++;
    for (struct ast_child c = ast_first(n); c.node; ast_next(&c)) dump_node(d, c.role, c.node);
    d->indent--;
    if (n->kind == AST_KERNEL && n->kernel->has_body) dump_body(d, n->kernel->body_at);
}

void ast_dump(const struct front *front, const struct program_ast *program, FILE *out)
{
    struct dump d = {front->sources, out, 0};
    for (const struct ast *n = program->items; n != NULL; n = n->next) dump_node(&d, "", n);
}
