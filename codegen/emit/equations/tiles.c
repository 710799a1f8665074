/* tiles.c - two loops over a matrix of which one operand lies the other way round, in tiles.
 * Idea       along the inner loop such an operand has one element in each line of memory, and a line would be gone
 *            before the outer loop comes to its next element.  In a tile of PTO_TILE by PTO_TILE it stays in the
 *            nearest cache.  An outer loop of a few steps, such as the channels of a picture, is done inside of the
 *            other one instead: a C compiler unrolls it, and each line is read once.
 * Invariant  only loops whose iterations do not meet: the result does not depend on their order.
 * Tests      test/lit/codegen/index-tiles.pto, test/lit/run/index-notation.test
 */
#include "parts.h"

enum { FEW = 4 };

/* The loop's variable, as the statement calls it. */
static const struct eq_var *own_variable(const struct eq_printer *p, const struct eq_stmt *s, const struct eq_var *loop)
{
    const struct size *wanted = equation_canonical(p, size_symbol(p->sizes, loop->symbol));
    for (int i = 0; i < s->free_count; i++)
        if (equation_canonical(p, size_symbol(p->sizes, s->frees[i]->symbol)) == wanted) return s->frees[i];
    return NULL;
}

/* A row of the inner loop, and neither a reduction nor another order. */
static bool may_tile(const struct eq_printer *p, const struct eq_stmt *s, const struct eq_var *outer,
                     const struct eq_var *inner)
{
    struct eq_contraction contraction;
    if (s->loop_count > 0 || s->carried || (s->kind != EQ_LET && !s->is_injective)) return false;
    if (equation_is_contraction(p, s, &contraction) || equation_holds_reduction(s->value)) return false;
    const struct eq_var *u = own_variable(p, s, outer), *v = own_variable(p, s, inner);
    return u && v && equation_is_dense_along(p, s->target, v);
}

static bool lies_across(const struct eq_printer *p, const struct eq_stmt *s, const struct eq_var *outer,
                        const struct eq_var *inner)
{
    const struct eq_var *u = own_variable(p, s, outer), *v = own_variable(p, s, inner);
    for (int i = 0; i < p->q->access_count; i++) {
        const struct eq_access *a = p->q->accesses[i];
        if (a->stmt != s || a->is_target || !equation_is_dense_along(p, a, u)) continue;
        for (int d = 0; d + 1 < a->rank; d++)
            if (a->index[d].size && size_names(a->index[d].size, v->symbol)) return true;
    }
    return false;
}

bool equation_is_tiled(const struct eq_printer *p, const struct eq_node *loop)
{
    const struct eq_node *inner = loop->child;
    if (!inner->child || inner->next) return false;
    if (equation_names_loop(inner->var->low) || equation_names_loop(inner->var->high)) return false;
    bool is_across = false;
    for (const struct eq_node *n = inner->child; n; n = n->next) {
        if (!n->stmt || n->first || !may_tile(p, n->stmt, loop->var, inner->var)) return false;
        is_across |= lies_across(p, n->stmt, loop->var, inner->var);
    }
    return is_across;
}

static bool has_few_steps(const struct eq_printer *p, const struct eq_var *v)
{
    const struct size *length = size_sub(p->sizes, v->high, v->low);
    int64_t steps;
    return length && size_is_const(length, &steps) && steps <= FEW;
}

static const char *open_tiles(struct eq_printer *p, const struct eq_var *v)
{
    const char *name = names_take(&p->e->names, arena_printf(p->e->mem, "%s_tile", v->symbol->name));
    out_open(p->e->out, "for (int64_t %s = %s; %s < %s; %s += PTO_TILE) {", name, equation_size(p, v->low, P_ANY), name,
             equation_size(p, v->high, P_REL), name);
    return name;
}

static void open_tile(struct eq_printer *p, const struct eq_node *loop, const char *tile)
{
    const struct eq_var *v = loop->var;
    const char *name = emit_declare(p->e, v->symbol, v->symbol->name);
    out_open(p->e->out, "for (int64_t %s = %s; %s < pto_min_i64(%s, %s + PTO_TILE); %s++) {", name, tile, name,
             equation_size(p, v->high, P_ANY), tile, name);
    equation_begin_iteration(p, loop);
}

/* The outer loop inside of the inner one. */
static void exchanged(struct eq_printer *p, const struct eq_node *loop)
{
    equation_open_loop(p, loop->child->var);
    equation_open_loop(p, loop->var);
    equation_begin_iteration(p, loop);
    equation_begin_iteration(p, loop->child);
    equation_nodes(p, loop->child->child);
    for (int i = 0; i < 2; i++) out_close(p->e->out, "}");
}

void equation_tiles(struct eq_printer *p, const struct eq_node *loop)
{
    if (has_few_steps(p, loop->var)) {
        exchanged(p, loop);
        return;
    }
    const char *outer = open_tiles(p, loop->var), *inner = open_tiles(p, loop->child->var);
    open_tile(p, loop, outer);
    open_tile(p, loop->child, inner);
    equation_nodes(p, loop->child->child);
    for (int i = 0; i < 4; i++) out_close(p->e->out, "}");
}
