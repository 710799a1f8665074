/* forth.c - the forward pass: the function as it is written, with what the backward pass keeps.
 * Idea       a statement is the user's text; calls within calls have names, tensors of inner blocks that the backward
 *            pass needs lie in their arrays, and `return` comes at the very end.
 * Tests      test/lit/grad/
 */
#include "parts.h"

static void print_line(struct gradient *g, struct ast *n, struct strbuf *out)
{
    text_forth(g, n, out);
    strbuf_putc(out, '\n');
}

static void print_attributes(struct gradient *g, const struct ast *n, struct strbuf *out)
{
    for (struct ast *a = n->attrs; a; a = a->next) {
        text_forth(g, a, out);
        strbuf_putc(out, ' ');
    }
}

static void print_call(struct gradient *g, const struct step *s, struct strbuf *out)
{
    const struct ast *outer = g->own;
    if (g->remaking && !plan_runs_again(g->remaking, s)) return;
    g->own = s->call_ast;
    if (s->made && s->made->kept) {
        print_attributes(g, s->ast, out);
        strbuf_printf(out, "%s = ", s->made->kept_text);
        text_forth(g, s->call_ast, out);
        strbuf_puts(out, ";\n");
        if (!g->remaking || s->made->is_named) strbuf_printf(out, "let %s = %s;\n", s->made->name, s->made->kept_text);
    } else if (s->ast->kind == AST_CALL || s->ast->kind == AST_RETURN) {
        strbuf_printf(out, "let %s = ", s->made ? s->made->name : "result_value");
        text_forth(g, s->call_ast, out);
        strbuf_puts(out, ";\n");
    } else {
        print_line(g, s->ast, out);
    }
    g->own = outer;
}

static void print_drop(struct gradient *g, const struct step *s, struct strbuf *out)
{
    const char *between = "drop ";
    for (struct ast *n = s->ast->drop.names; n; n = n->next) {
        struct ast *root = text_root(n);
        const struct tensor *t = root->symbol ? ptrmap_get(&g->tensor_of, root->symbol) : NULL;
        if (t && (t->is_found || t->kept || tensor_is_active(t))) continue;
        strbuf_puts(out, between);
        text_forth(g, n, out);
        between = ", ";
    }
    if (*between == ',') strbuf_puts(out, ";\n");
}

static void print_inner(struct gradient *g, struct block *b, struct strbuf *out)
{
    strbuf_puts(out, " {\n");
    forth_block(g, b, out);
    strbuf_puts(out, "}");
}

static void print_match(struct gradient *g, const struct step *s, struct strbuf *out)
{
    int k = 0;
    strbuf_puts(out, "match ");
    text_forth(g, s->ast->match.value, out);
    strbuf_puts(out, " {\n");
    for (const struct ast *a = s->ast->match.arms; a; a = a->next) {
        for (struct ast *v = a->arm.values; v; v = v->next) {
            text_forth(g, v, out);
            strbuf_puts(out, v->next ? ", " : " =>");
        }
        print_inner(g, s->blocks[k++], out);
        strbuf_putc(out, '\n');
    }
    if (s->ast->match.other) {
        strbuf_puts(out, "else =>");
        print_inner(g, s->blocks[k], out);
        strbuf_putc(out, '\n');
    }
    strbuf_puts(out, "}\n");
}

static void print_for(struct gradient *g, const struct step *s, struct strbuf *out)
{
    strbuf_printf(out, "for %s in ", s->ast->symbol->name);
    text_forth(g, s->ast->loop.low, out);
    strbuf_puts(out, " .. ");
    text_forth(g, s->ast->loop.high, out);
    if (s->ast->loop.step) {
        strbuf_puts(out, " step ");
        text_forth(g, s->ast->loop.step, out);
    }
    print_inner(g, s->blocks[0], out);
    strbuf_putc(out, '\n');
}

static void print_step(struct gradient *g, const struct step *s, struct strbuf *out)
{
    switch (s->kind) {
    case STEP_CALL: print_call(g, s, out); break;
    case STEP_LET: {
        if (g->remaking && !plan_names_again(g, g->remaking, s)) break;
        const struct tensor *t = ptrmap_get(&g->tensor_of, s->ast->symbol);
        if (t && t->kept)
            strbuf_printf(out, "let %s = %s;\n", t->name, t->kept_text);
        else
            print_line(g, s->ast, out);
        break;
    }
    case STEP_ALIAS:
        if (!g->remaking || plan_names_again(g, g->remaking, s)) print_line(g, s->ast, out);
        break;
    case STEP_FOR: s->plan ? plan_forth(g, s, out) : print_for(g, s, out); break;
    case STEP_WHILE:
        if (s->ast->kind == AST_WHILE) {
            strbuf_puts(out, "while ");
            text_forth(g, s->ast->while_.cond, out);
            print_inner(g, s->blocks[0], out);
            strbuf_putc(out, '\n');
        } else {
            strbuf_puts(out, "do");
            print_inner(g, s->blocks[0], out);
            strbuf_puts(out, " while ");
            text_forth(g, s->ast->while_.cond, out);
            strbuf_puts(out, ";\n");
        }
        break;
    case STEP_IF:
        strbuf_puts(out, "if ");
        text_forth(g, s->ast->if_.cond, out);
        print_inner(g, s->blocks[0], out);
        if (s->ast->if_.other) {
            strbuf_puts(out, " else");
            print_inner(g, s->blocks[1], out);
        }
        strbuf_putc(out, '\n');
        break;
    case STEP_MATCH: print_match(g, s, out); break;
    case STEP_BLOCK:
        if (s->ast->kind == AST_SCOPE) strbuf_puts(out, "scope");
        if (s->ast->kind == AST_SCOPE && s->ast->scope.label) {
            strbuf_putc(out, ' ');
            text_forth(g, s->ast->scope.label, out);
        }
        print_inner(g, s->blocks[0], out);
        strbuf_putc(out, '\n');
        break;
    case STEP_DROP:
        if (!g->remaking) print_drop(g, s, out);
        break;
    case STEP_RETURN: break;
    case STEP_PLAIN:
        if (g->remaking) break;
        __attribute__((fallthrough));
    default:
        if (!g->is_inner || s->ast->kind != AST_PRINT) print_line(g, s->ast, out); /* else it was printed already */
        break;
    }
}

void forth_block(struct gradient *g, struct block *b, struct strbuf *out)
{
    for (const struct step *s = b->first; s; s = s->next) {
        strbuf_add(out, strbuf_text(&s->first_text), s->first_text.length);
        print_step(g, s, out);
        strbuf_add(out, strbuf_text(&s->last_text), s->last_text.length);
    }
}
