/* lower_cells.c - where the cells of a tensor live, on several ranks.
 * Idea       `@dist` says it, before a `let`, whose storage begins there, or a view.  The arguments of an entry without
 *            one have the tiles of their first view in the outermost block as cells.  A run says it once and before the
 *            first use: where the entry names the argument before the view, at its beginning.  Arguments of which the
 *            entry makes no view lie in bands, which is said before the entry is called.
 * Limits     there the tiles are numbers, arguments and their quotients; others are not known before the view, and
 *            the first use decides; so it does where all views stand in loops and branches.
 * Tests      test/lit/codegen/cells.pto, homes.pto
 */
#include "lower_parts.h"

struct view_search {
    const struct symbol *tensor;
    const struct ast *body, *first; /* the first view of it in the outermost block */
    bool is_named;                  /* before, without a view */
    bool is_distributed;            /* by any view */
};

static bool visit_view(void *cx, struct ast *n)
{
    struct view_search *search = cx;
    const struct region *r = n->kind == AST_VIEW && !n->bad && n->symbol ? n->symbol->region : NULL;
    search->is_named |= !search->first && n->kind == AST_NAME && n->symbol == search->tensor;
    if (!r || r->base != search->tensor) return true;
    if (!search->first && n->symbol->block == search->body) {
        search->first = n;
        return false; /* it names the tensor itself */
    }
    return true;
}

static bool visit_attribute(void *cx, struct ast *n)
{
    struct view_search *search = cx;
    const struct region *r = n->kind == AST_VIEW && !n->bad && n->symbol ? n->symbol->region : NULL;
    search->is_distributed |= r && r->base == search->tensor && attrs_find(n, "dist");
    return true;
}

static bool is_box(const struct region *r)
{
    bool is = r->base_rank > 0 && !r->steps;
    for (int d = 0; d < r->rank; d++) is &= r->base_dim[d] >= 0;
    return is;
}

/* Are the tiles of the view the cells of an argument?  *is_late: the entry names it before. */
static bool makes_cells(const struct lowering *l, const struct ast *view, bool *is_late)
{
    const struct region *r = view->symbol->region;
    const struct ast *entry = l->orch->decl;
    struct view_search search = {.tensor = r->base, .body = entry->orch.body};
    if (!entry->orch.exported || r->base->kind != SYM_FORMAL || r->base->dir == DIR_HOST || !is_box(r)) return false;
    ast_walk(entry->orch.body, visit_view, &search);
    ast_walk(entry->orch.body, visit_attribute, &search);
    *is_late = search.is_named;
    return search.first == view && !search.is_distributed;
}

struct any_view {
    const struct symbol *tensor;
    bool is_there;
};

static bool visit_any_view(void *cx, struct ast *n)
{
    struct any_view *const search = cx;
    const struct region *r = n->kind == AST_VIEW && n->symbol ? n->symbol->region : NULL;
    search->is_there |= r && r->base == search->tensor;
    return !search->is_there;
}

bool lower_lies_in_bands(const struct symbol *entry, const struct symbol *formal)
{
    struct any_view search = {.tensor = formal};
    if (formal->dir == DIR_HOST || formal->type->kind != TYPE_TENSOR) return false;
    ast_walk(entry->decl->orch.body, visit_any_view, &search);
    return !search.is_there;
}

/* Has it the same value at the beginning of the entry, and can it be evaluated there? */
static bool is_early(const struct size *s)
{
    int64_t divisor;
    const enum symbol_kind kind = s->kind == SIZE_SYMBOL ? s->symbol->kind : SYM_VAR;
    if (s->kind == SIZE_CONST || kind == SYM_CONST || kind == SYM_PARAM || kind == SYM_DIM || kind == SYM_FORMAL)
        return true;
    return (s->kind == SIZE_DIV || s->kind == SIZE_CEIL_DIV) && is_early(s->arg[0]) &&
           size_is_const(s->arg[1], &divisor) && divisor > 0;
}

/* Of an early one: can it be below 0? */
static bool can_be_negative(const struct size *s)
{
    if (s->kind == SIZE_DIV || s->kind == SIZE_CEIL_DIV) return can_be_negative(s->arg[0]);
    return s->kind == SIZE_SYMBOL && s->symbol->kind != SYM_DIM;
}

/* The length of the tile.  An early one below 0, which the view will refuse, is 0: bands. */
static const struct size *cell_of(struct lowering *l, const struct ast *view, int d, bool early)
{
    struct size_table *const sizes = l->checked->sizes;
    const struct size *tile = view->symbol->type->tile[d];
    if (early) tile = size_expand(sizes, tile);
    return early && can_be_negative(tile) ? size_binary(sizes, SIZE_MAXIMUM, size_const(sizes, 0), tile) : tile;
}

static bool can_be_early(struct lowering *l, const struct ast *view)
{
    bool can = true;
    for (int d = 0; d < view->symbol->type->rank; d++)
        can &= is_early(size_expand(l->checked->sizes, view->symbol->type->tile[d])) && cell_of(l, view, d, true);
    return can;
}

static void distribute(struct lowering *l, const struct ast *n, const struct ast *attr, bool early)
{
    const struct symbol *s = n->symbol;
    const struct symbol *tensor = s->region ? s->region->base : s;
    lower_site(l, attr ? attr->at : n->at, attr ? "@dist" : n->name);
    struct ir_op *op = lower_op(l, IR_DISTRIBUTE);
    op->distribute.source = attr;
    op->distribute.tensor = tensor;
    op->distribute.view = lower_view(l, lower_whole(l, tensor), VIEW_OF_PART);
    const struct ast *number = attr ? attr->attr.args : NULL;
    for (int d = 0; d < s->type->rank; d++, number = number ? number->next : NULL) {
        const int of = s->region ? s->region->base_dim[d] : d;
        if (number) op->distribute.grid[of] = lower_value(l, number);
        if (s->region) op->distribute.cell[of] = lower_size(l, cell_of(l, n, d, early), ARITH_PLAIN);
    }
}

void lower_early_cells(struct lowering *l, struct ast *body)
{
    bool is_late;
    for (struct ast *n = body->block.stmts; n; n = n->next)
        if (n->kind == AST_VIEW && !n->bad && n->symbol && makes_cells(l, n, &is_late) && is_late && can_be_early(l, n))
            distribute(l, n, NULL, true);
}

void lower_cells(struct lowering *l, const struct ast *n)
{
    const struct ast *attr = attrs_find(n, "dist");
    bool is_late;
    if (n->bad) return;
    if (attr || (n->kind == AST_VIEW && makes_cells(l, n, &is_late) && !(is_late && can_be_early(l, n))))
        distribute(l, n, attr, false);
}
