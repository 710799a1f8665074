/* order.c - can one step follow another one on the same elements?
 * Idea       of two steps the later one is in a later iteration of a loop that is around both, or further down in the
 *            text. Elements that move on with a loop, as `h[t + 1]` does, are other ones in each iteration: that is
 *            seen where an index has the loop's variable with the same factor on both sides.
 * Gives      "no" only where it is proved.
 * Tests      test/lit/grad/overwritten.pto, loops.pto
 */
#include "parts.h"

bool order_encloses(const struct block *outer, const struct block *inner)
{
    while (inner && inner != outer) inner = inner->outer;
    return inner == outer;
}

/* Does the size name what changes within a iteration of the loop?  Variables of the loops around are fixed in it. */
static bool is_fixed(struct gradient *g, const struct size *a, const struct step *loop)
{
    if (a->kind == SIZE_EXTENT || a->kind == SIZE_STRIDE || a->kind == SIZE_AT) return false;
    if (a->kind == SIZE_SYMBOL) {
        const struct symbol *s = a->symbol;
        if (s->kind == SYM_VAR || s->hidden) return false;
        if (s->kind != SYM_LET && s->kind != SYM_LOOP) return true;
        const struct step *at = ptrmap_get(&g->step_of, s);
        return at && (!loop || !order_encloses(loop->blocks[0], at->in));
    }
    for (int i = 0; i < a->count; i++)
        if (!is_fixed(g, a->arg[i], loop)) return false;
    return true;
}

static bool counts_up_from_zero(const struct ast *loop)
{
    int64_t low, step = 1;
    return loop && loop->kind == AST_FOR && loop->loop.low->value && size_is_const(loop->loop.low->value, &low) &&
           low >= 0 && (!loop->loop.step || (loop->loop.step->value && size_is_const(loop->loop.step->value, &step))) &&
           step > 0;
}

static bool is_at_least_zero(const struct size *a)
{
    int64_t value;
    if (!a) return false;
    if (size_is_const(a, &value)) return value >= 0;
    if (a->kind == SIZE_SYMBOL && a->symbol->kind == SYM_LOOP) return counts_up_from_zero(a->symbol->decl);
    if (a->kind == SIZE_SYMBOL) return a->symbol->kind == SYM_DIM;
    if (a->kind == SIZE_ADD || a->kind == SIZE_MUL) {
        for (int i = 0; i < a->count; i++)
            if (!is_at_least_zero(a->arg[i])) return false;
        return true;
    }
    return false;
}

static const struct size *minus(struct gradient *g, const struct size *a, const struct size *b)
{
    const struct size *d = a && b ? size_sub(g->c->sizes, a, b) : NULL;
    return d ? size_expand(g->c->sizes, d) : NULL;
}

/* a = rest + factor * v; NULL: it is not of this form. */
static const struct size *split(struct gradient *g, const struct size *a, const struct symbol *v, int64_t *factor)
{
    enum { MAX_TERMS = 32 };
    struct size_term terms[MAX_TERMS];
    const struct size *variable = size_symbol(g->c->sizes, v);
    a = size_expand(g->c->sizes, a);
    const int count = size_terms(g->c->sizes, a, terms, MAX_TERMS);
    *factor = 0;
    if (count >= MAX_TERMS) return NULL;
    for (int i = 0; i < count; i++) {
        if (terms[i].mono == variable) *factor = terms[i].factor;
        if (terms[i].mono && terms[i].mono != variable && size_names(terms[i].mono, v)) return NULL;
    }
    return minus(g, a, size_scale(g->c->sizes, variable, *factor));
}

/* In every iteration of the loop after that of a, is b elsewhere? */
static bool moves_on(struct gradient *g, const struct step *loop, const struct region *a, const struct region *b)
{
    int64_t step = 1, fa, fb;
    if (loop->kind != STEP_FOR || a->base_rank != b->base_rank) return false;
    if (loop->ast->loop.step && (!loop->ast->loop.step->value || !size_is_const(loop->ast->loop.step->value, &step)))
        return false;
    for (int d = 0; d < a->base_rank; d++) {
        const struct size *ra = split(g, a->low[d], loop->ast->symbol, &fa),
                          *rb = split(g, b->low[d], loop->ast->symbol, &fb);
        if (!ra || !rb || fa != fb || fa == 0 || step == 0) continue;
        const struct size *sa = size_expand(g->c->sizes, a->span[d]), *sb = size_expand(g->c->sizes, b->span[d]);
        if (!is_fixed(g, ra, loop) || !is_fixed(g, rb, loop) || !is_fixed(g, sa, loop) || !is_fixed(g, sb, loop))
            continue;
        if (size_names(ra, loop->ast->symbol) || size_names(sa, loop->ast->symbol) || size_names(sb, loop->ast->symbol))
            continue;
        const struct size *by = size_const(g->c->sizes, fa * step);
        const struct size *next = size_binary(g->c->sizes, SIZE_ADD, rb, by); /* where b is one iteration later */
        if (!next) continue;
        const struct size *above = minus(g, minus(g, next, ra), sa), *below = minus(g, minus(g, ra, next), sb);
        if (fa * step > 0 ? is_at_least_zero(above) : is_at_least_zero(below)) return true;
    }
    return false;
}

/* With the same values of all variables. */
static bool are_apart(struct gradient *g, const struct region *a, const struct region *b)
{
    if (a->base_rank != b->base_rank) return false;
    for (int d = 0; d < a->base_rank; d++) {
        if (!is_fixed(g, size_expand(g->c->sizes, a->low[d]), NULL) ||
            !is_fixed(g, size_expand(g->c->sizes, b->low[d]), NULL))
            continue;
        const struct size *up = minus(g, minus(g, b->low[d], a->low[d]), a->span[d]),
                          *down = minus(g, minus(g, a->low[d], b->low[d]), b->span[d]);
        if (is_at_least_zero(up) || is_at_least_zero(down)) return true;
    }
    return false;
}

/* In two branches of which one run takes one. */
static bool are_branches(const struct step *a, const struct step *b)
{
    for (const struct block *x = a->in; x && x->owner; x = x->outer)
        for (const struct block *y = b->in; y && y->owner; y = y->outer)
            if (x->owner == y->owner && x != y) return true;
    return false;
}

bool order_may_follow(struct gradient *g, const struct step *first, const struct grad_place *a,
                      const struct step *later, const struct grad_place *b)
{
    const struct step *around[MAX_LOOPS];
    const struct block *home = a->base->block;
    const int count = steps_loops(first->in, home, around);
    const struct region *ra = a->region, *rb = b->region;
    if (a->base->symbol->is_var) return true;
    for (int i = 0; i < count; i++) {
        if (!order_encloses(around[i]->blocks[0], later->in)) break;
        if (!ra || !rb || !moves_on(g, around[i], ra, rb)) return true;
    }
    if (first == later || first->order > later->order || are_branches(first, later)) return false;
    return !ra || !rb || !are_apart(g, ra, rb);
}
