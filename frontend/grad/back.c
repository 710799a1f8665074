/* back.c - the backward pass: the steps of a block in reverse.
 * Idea       a loop runs from its last iteration to its first, a branch is the one that was taken.  What a tensor of
 *            the block has got of gradients before a loop or a branch is declared outside of it.
 * Tests      test/lit/grad/loops.pto, branches.pto
 */
#include "parts.h"

static bool inner(struct gradient *g, struct block *b)
{
    const size_t mark = g->again.count;
    strbuf_puts(&g->out, " {\n");
    const bool is_good = back_block(g, b);
    strbuf_puts(&g->out, "}");
    g->again.count = mark;
    return is_good;
}

/* Bars of tensors of this block that a loop or branch has to do with. */
static bool ready_for(struct gradient *g, struct step *s)
{
    for (size_t i = 0; i < g->calls.count; i++) {
        struct step *q = g->calls.data[i];
        bool is_inside = false;
        for (int k = 0; k < s->block_count; k++) is_inside |= order_encloses(s->blocks[k], q->in);
        for (int k = 0; k < q->place_count && is_inside; k++) {
            struct tensor *t = q->places[k].base;
            if (tensor_is_active(t) && t->block == s->in && !bars_ready(g, s, t)) return false;
        }
    }
    return true;
}

static const char *in_parentheses(struct gradient *g, struct step *s, struct ast *e)
{
    STRBUF(text);
    keep_expr(g, s, e, &text);
    return arena_printf(g->mem, e->kind == AST_BINARY ? "(%s)" : "%s", strbuf_text(&text));
}

/* a, or `text` where a has no text. */
static const char *size_or(struct gradient *g, const struct size *a, const char *text)
{
    const char *known = text_size(g, a, true);
    return known ? known : text;
}

/* The backward pass of the block, apart: how its loop runs depends on what is kept of it. */
static bool take_inner(struct gradient *g, struct block *b, struct strbuf *out)
{
    const size_t mark = g->out.length;
    const bool is_good = inner(g, b);
    strbuf_puts(out, strbuf_text(&g->out) + mark);
    strbuf_cut(&g->out, mark);
    return is_good;
}

static bool back_for(struct gradient *g, struct step *s)
{
    struct ast *n = s->ast;
    struct size_table *t = g->c->sizes;
    const char *low = in_parentheses(g, s, n->loop.low), *high = in_parentheses(g, s, n->loop.high),
               *by = n->loop.step ? in_parentheses(g, s, n->loop.step) : "1", *last, *end;
    const struct size *l = n->loop.low->value, *h = n->loop.high->value;
    int64_t step = 1;
    bool is_known = !n->loop.step || (n->loop.step->value && size_is_const(n->loop.step->value, &step));
    if (!is_known && !(n->loop.step->value->kind == SIZE_SYMBOL && n->loop.step->value->symbol->kind == SYM_DIM))
        return grad_refuse(g, DIAG_E99, n->loop.step->at, "make the step a constant",
                           "the step of this loop may be negative, and its backward pass is not built yet");
    const struct size *one = size_const(t, 1);
    if (step < 0) {
        end = size_or(g, l ? size_binary(t, SIZE_ADD, l, one) : NULL, arena_printf(g->mem, "%s + 1", low));
        last = arena_printf(g->mem, "%s + (ceil_div(%s - %s, -(%s)) - 1) * (%s)", low, low, high, by, by);
    } else {
        end = size_or(g, l ? size_sub(t, l, one) : NULL, arena_printf(g->mem, "%s - 1", low));
        last = step == 1 && is_known
                   ? size_or(g, h ? size_sub(t, h, one) : NULL, arena_printf(g->mem, "%s - 1", high))
                   : arena_printf(g->mem, "%s + (ceil_div(%s - %s, %s) - 1) * %s", low, high, low, by, by);
    }
    STRBUF(back);
    if (!plan_begin(g, s)) return false;
    const bool is_good = take_inner(g, s->blocks[0], &back);
    if (is_good && s->plan && s->plan->is_asked) {
        plan_end(g, s, strbuf_text(&back));
        return true;
    }
    if (s->plan) plan_forget(g, s);
    strbuf_printf(&g->out, "for %s in %s .. %s step ", n->symbol->name, last, end);
    if (is_known)
        strbuf_printf(&g->out, "%lld", (long long)-step);
    else
        strbuf_printf(&g->out, "-%s", by);
    strbuf_printf(&g->out, "%s\n", strbuf_text(&back));
    return is_good;
}

static bool touches(const struct block *b)
{
    for (const struct step *s = b->first; s; s = s->next)
        if (s->is_touching) return true;
    return false;
}

static bool back_if(struct gradient *g, struct step *s)
{
    STRBUF(cond);
    keep_expr(g, s, s->ast->if_.cond, &cond);
    strbuf_printf(&g->out, "if %s", strbuf_text(&cond));
    bool is_good = inner(g, s->blocks[0]);
    if (is_good && touches(s->blocks[1])) {
        strbuf_puts(&g->out, " else");
        is_good = inner(g, s->blocks[1]);
    }
    strbuf_putc(&g->out, '\n');
    return is_good;
}

static bool back_match(struct gradient *g, struct step *s)
{
    int k = 0;
    STRBUF(value);
    keep_expr(g, s, s->ast->match.value, &value);
    strbuf_printf(&g->out, "match %s {\n", strbuf_text(&value));
    for (const struct ast *a = s->ast->match.arms; a && !g->failed; a = a->next) {
        for (struct ast *v = a->arm.values; v; v = v->next) {
            text_forth(g, v, &g->out);
            strbuf_puts(&g->out, v->next ? ", " : " =>");
        }
        inner(g, s->blocks[k++]);
        strbuf_putc(&g->out, '\n');
    }
    if (s->ast->match.other && !g->failed) {
        strbuf_puts(&g->out, "else =>");
        inner(g, s->blocks[k]);
        strbuf_putc(&g->out, '\n');
    }
    strbuf_puts(&g->out, "}\n");
    return !g->failed;
}

bool back_block(struct gradient *g, struct block *b)
{
    for (struct step *s = b->last; s && !g->failed; s = s->before) {
        if (!s->is_touching) continue;
        if (s->kind != STEP_CALL && !ready_for(g, s)) return false;
        switch (s->kind) {
        case STEP_CALL: back_call(g, s); break;
        case STEP_FOR: back_for(g, s); break;
        case STEP_IF: back_if(g, s); break;
        case STEP_MATCH: back_match(g, s); break;
        case STEP_BLOCK:
            inner(g, s->blocks[0]);
            strbuf_putc(&g->out, '\n');
            break;
        default: break;
        }
    }
    return !g->failed;
}
