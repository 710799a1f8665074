/* parts.c - which pieces of a tensor may have been written.
 * Idea       every write adds its box; where a loop is over, its variable becomes some number between its bounds.  A
 *            read of a box that no write can have touched is an error; a box with an element that no write can have
 *            touched is worth a warning.
 * Invariant  "missing" is never wrong as long as the tensor is not empty: what names a `var`, or a value that every
 *            iteration of a loop has anew, counts as written.
 * Tests      test/lit/sema/e06-parts.pto, w04.pto
 */
#include "parts.h"

enum { MAX_PARTS = 12, MAX_KNOWN_OF_PART = 12, MAX_COMPARED = 4000 };

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static bool is_dimension_fixed(const struct region *r, int d)
{
    const struct size *step = r->steps ? r->steps->step[d] : NULL;
    if (!r->low[d] || !r->span[d] || size_names_var(r->low[d]) || size_names_var(r->span[d])) return false;
    return !step || (!size_names_var(r->steps->first[d]) && !size_names_var(step));
}

static bool is_fixed(const struct region *r)
{
    if (r->is_part && size_names_var(r->offset)) return false;
    for (int d = 0; d < r->rank && r->is_part; d++)
        if (size_names_var(r->extent[d]) || size_names_var(r->stride[d])) return false;
    for (int d = 0; d < r->base_rank; d++)
        if (!is_dimension_fixed(r, d)) return false;
    return true;
}

/* A fixed box that holds the region: all of each dimension in which that is not fixed; NULL: there is none. */
static const struct region *fixed_around(struct checker *c, const struct region *r)
{
    if (is_fixed(r)) return r;
    if (r->is_part) return NULL;
    const struct region *all = region_whole(c, r->base);
    struct region *box = arena_new(c->mem, struct region);
    struct steps *steps = arena_new(c->mem, struct steps);
    *box = *r;
    box->rank = 0; /* nothing asks for its extents */
    if (r->steps) *steps = *r->steps;
    for (int d = 0; d < r->base_rank; d++) {
        if (is_dimension_fixed(r, d)) continue;
        box->low[d] = all->low[d];
        box->span[d] = all->span[d];
        steps->first[d] = steps->step[d] = NULL;
    }
    box->steps = steps;
    return is_fixed(box) ? box : NULL;
}

static void push(struct checker *c, struct parts *p, const struct part *from)
{
    for (const struct part *q = p->list; q; q = q->next)
        if (q->region == from->region && q->known == from->known) return;
    if (p->any || p->count == MAX_PARTS) {
        p->any = true;
        return;
    }
    struct part *n = arena_new(c->mem, struct part);
    *n = *from;
    n->next = p->list;
    p->list = n;
    p->count++;
}

static const struct size *const nothing_known[] = {NULL};

void parts_add(struct checker *c, struct parts *p, const struct part *added)
{
    struct part part = *added;
    part.known = nothing_known;
    if (part.region->whole || !is_fixed(part.region))
        p->any = true;
    else
        push(c, p, &part);
}

void parts_join(struct checker *c, struct parts *into, const struct parts *other)
{
    into->any |= other->any;
    for (const struct part *q = other->list; q && !into->any && q != into->list; q = q->next) push(c, into, q);
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

static const struct symbol *new_name(struct checker *c, const struct symbol *i)
{
    struct symbol *s = names_new(c, SYM_LOOP, i->name, i->decl);
    s->hidden = true;
    s->type = i->type;
    s->loop_depth = 0; /* no iteration of a loop around gives it another meaning */
    return s;
}

void parts_begin_loop(struct checker *c, struct iterations *t, const struct ast *loop, int depth)
{
    *t = (struct iterations){.depth = depth};
    if (loop->kind != AST_FOR || !loop->symbol || loop->bad) return;
    const struct size *low = loop->loop.low->value, *high = loop->loop.high->value, *zero = size_const(c->sizes, 0);
    const struct size *step = loop->loop.step ? loop->loop.step->value : size_const(c->sizes, 1);
    t->i = loop->symbol;
    t->earlier = new_name(c, t->i);
    t->whichever = new_name(c, t->i);
    if (low && !size_names_var(low)) t->low = low;
    if (high && !size_names_var(high)) t->high = high;
    if (!step || size_names_var(step)) return;
    t->direction = facts_prove_order(c->facts, zero, step, 1) ? 1 : facts_prove_order(c->facts, step, zero, 1) ? -1 : 0;
}

/* Does it name something that every iteration of the loop has anew? */
static bool changes(const struct size *a, const struct iterations *t)
{
    bool named = a->kind == SIZE_SYMBOL || a->kind == SIZE_EXTENT;
    if (named && a->symbol->kind != SYM_CONST && a->symbol->loop_depth > t->depth) return true;
    for (int i = 0; i < a->count; i++)
        if (changes(a->arg[i], t)) return true;
    return false;
}

/* a, with the loop's variable under another name; NULL: it cannot be said. */
static const struct size *rename_in(struct checker *c, const struct size *a, const struct iterations *t,
                                    const struct symbol *name)
{
    a = size_expand(c->sizes, a);
    if (a && t->i) {
        const struct size *to = size_symbol(c->sizes, name);
        a = size_substitute(c->sizes, a, &t->i, &to, 1);
    }
    return a && !changes(a, t) ? a : NULL;
}

static const struct region *rename_region(struct checker *c, const struct region *r, const struct iterations *t,
                                          const struct symbol *name)
{
    struct region *n = arena_new(c->mem, struct region);
    *n = *r;
    for (int d = 0; d < r->base_rank; d++) {
        n->low[d] = rename_in(c, r->low[d], t, name);
        n->span[d] = rename_in(c, r->span[d], t, name);
        if (!n->low[d] || !n->span[d]) return NULL;
    }
    for (int d = 0; d < r->rank; d++)
        if (!(n->extent[d] = rename_in(c, r->extent[d], t, name))) return NULL;
    if (r->is_part && !(n->offset = rename_in(c, r->offset, t, name))) return NULL;
    for (int d = 0; d < r->rank && r->is_part; d++)
        if (!(n->stride[d] = rename_in(c, r->stride[d], t, name))) return NULL;
    if (!r->steps) return n;
    struct steps *steps = arena_new(c->mem, struct steps);
    for (int d = 0; d < r->base_rank; d++) {
        if (!r->steps->step[d]) continue;
        steps->first[d] = rename_in(c, r->steps->first[d], t, name);
        steps->step[d] = rename_in(c, r->steps->step[d], t, name);
        if (!steps->first[d] || !steps->step[d]) return NULL;
    }
    n->steps = steps;
    return n;
}

static bool names_loop(const struct region *r, const struct iterations *t, struct checker *c)
{
    if (r->is_part) return true; /* its offset may */
    for (int d = 0; d < r->base_rank; d++) {
        const struct size *step = r->steps ? r->steps->step[d] : NULL;
        const struct size *list[] = {r->low[d], r->span[d], step, step ? r->steps->first[d] : NULL};
        for (int i = 0; i < 4; i++) {
            const struct size *a = list[i] ? size_expand(c->sizes, list[i]) : NULL;
            if (a && (changes(a, t) || (t->i && size_names(a, t->i)))) return true;
        }
    }
    return false;
}

static void know(struct checker *c, const struct size **list, int *count, const struct size *a, const struct size *b,
                 int64_t gap)
{
    const struct size *d = a && b ? size_sub(c->sizes, size_expand(c->sizes, b), size_expand(c->sizes, a)) : NULL;
    if (d && gap) d = size_sub(c->sizes, d, size_const(c->sizes, gap));
    if (d && *count < MAX_KNOWN_OF_PART) list[(*count)++] = d;
}

static const struct size *const *rename_known(struct checker *c, const struct part *q, const struct iterations *t,
                                              const struct symbol *name, bool is_over)
{
    const struct size **list = arena_array(c->mem, const struct size *, MAX_KNOWN_OF_PART + 1);
    int count = 0;
    for (int k = 0; q->known[k]; k++) {
        const struct size *a = rename_in(c, q->known[k], t, name);
        if (a) list[count++] = a;
    }
    if (!t->i || t->direction == 0) return list;
    const struct size *at = size_symbol(c->sizes, name), *now = size_symbol(c->sizes, t->i);
    bool up = t->direction > 0;
    if (t->low && !changes(size_expand(c->sizes, t->low), t))
        know(c, list, &count, up ? t->low : at, up ? at : t->low, 0);
    if (t->high && !changes(size_expand(c->sizes, t->high), t))
        know(c, list, &count, up ? at : t->high, up ? t->high : at, 1);
    if (!is_over) know(c, list, &count, up ? at : now, up ? now : at, 1);
    return list;
}

void parts_after_iteration(struct checker *c, struct parts *p, const struct iterations *t, bool is_over)
{
    struct parts to = {.any = p->any};
    const struct symbol *name = is_over ? t->whichever : t->earlier;
    for (const struct part *q = p->list; q && !to.any; q = q->next) {
        bool same = !names_loop(q->region, t, c);
        struct part n = *q;
        if (!same) {
            n.region = rename_region(c, q->region, t, name);
            n.known = rename_known(c, q, t, name, is_over);
        }
        if (n.region)
            push(c, &to, &n);
        else
            to.any = true;
    }
    *p = to;
}

/* ---- reads ------------------------------------------------------------------------------------------------------- */

static const struct size *end_of(struct checker *c, const struct region *r, int d)
{
    return size_binary(c->sizes, SIZE_ADD, r->low[d], r->span[d]);
}

static void assume_known(struct checker *c, const struct part *q)
{
    for (int k = 0; q->known[k]; k++) facts_add(c->facts, q->known[k]);
}

static bool is_apart(struct checker *c, const struct part *q, const struct region *r)
{
    size_t mark = facts_mark(c->facts);
    c->parts_compared++;
    assume_known(c, q);
    bool apart = region_overlap(c, q->region, r) == 0;
    facts_reset(c->facts, mark);
    return apart;
}

/* No part has this index in dimension d. */
static bool is_left_out(struct checker *c, const struct parts *p, int d, const struct size *index)
{
    for (const struct part *q = p->list; q; q = q->next) {
        size_t mark = facts_mark(c->facts);
        c->parts_compared++;
        assume_known(c, q);
        bool out = steps_leave_out(c, q->region, d, index);
        facts_reset(c->facts, mark);
        if (!out) return false;
    }
    return true;
}

static bool is_inside(struct checker *c, const struct size *index, const struct region *r, int d)
{
    const struct size *end = end_of(c, r, d);
    return end && facts_prove_order(c->facts, r->low[d], index, 0) && facts_prove_order(c->facts, index, end, 1);
}

static bool names_hidden(const struct size *a)
{
    if (a->kind == SIZE_SYMBOL && a->symbol->hidden) return true;
    for (int i = 0; i < a->count; i++)
        if (names_hidden(a->arg[i])) return true;
    return false;
}

/* Some index of r that no part has: at its beginning, at its end, behind a part, or between two steps of one. */
static bool has_gap(struct checker *c, const struct parts *p, const struct region *r, int d)
{
    const struct size *end = end_of(c, r, d), *last = end ? size_sub(c->sizes, end, size_const(c->sizes, 1)) : NULL;
    if (is_left_out(c, p, d, r->low[d]) || (last && is_left_out(c, p, d, last))) return true;
    if (r->steps && r->steps->step[d]) return false; /* whether it has another index is not asked */
    for (const struct part *q = p->list; q; q = q->next) {
        const bool has_steps = q->region->steps && q->region->steps->step[d];
        const struct size *next[] = {
            end_of(c, q->region, d),
            has_steps ? size_binary(c->sizes, SIZE_ADD, q->region->low[d], size_const(c->sizes, 1)) : NULL};
        for (int i = 0; i < 2; i++)
            if (next[i] && !names_hidden(size_expand(c->sizes, next[i])) && is_inside(c, next[i], r, d) &&
                is_left_out(c, p, d, next[i]))
                return true;
    }
    return false;
}

/* Nothing is read: the region is empty, if it is inside its tensor at all, or its index could be negative by what is
 * known, which is so where a loop makes no iteration. */
static bool has_no_element(struct checker *c, const struct region *r)
{
    const struct size *zero = size_const(c->sizes, 0);
    const struct type *t = r->base->type;
    bool none = region_is_empty(c, r);
    for (int d = 0; d < r->base_rank && !none; d++) none = facts_prove_order(c->facts, r->low[d], zero, 1);
    const size_t mark = facts_mark(c->facts);
    for (int d = 0; t->kind == TYPE_TENSOR && d < r->base_rank && d < t->rank; d++) {
        const struct size *end = end_of(c, r, d);
        facts_add_order(c->facts, zero, r->low[d], 0);
        if (end && t->extent[d]) facts_add_order(c->facts, end, t->extent[d], 0);
    }
    for (int d = 0; d < r->base_rank && !none; d++) none = facts_prove_order(c->facts, r->span[d], zero, 0);
    facts_reset(c->facts, mark);
    return none;
}

enum missing parts_missing(struct checker *c, const struct parts *p, const struct region *r, const struct part **near)
{
    if (p->any || !p->list || c->parts_compared > MAX_COMPARED || !is_fixed(r)) return MISSING_UNKNOWN;
    facts_gave_up(c->facts);
    if (has_no_element(c, r) || facts_gave_up(c->facts)) return MISSING_UNKNOWN;
    *near = p->list;
    bool all = true;
    for (const struct part *q = p->list; q && all; q = q->next) all = is_apart(c, q, r);
    facts_gave_up(c->facts);
    if (all) return facts_contradict(c->facts) || facts_gave_up(c->facts) ? MISSING_UNKNOWN : MISSING_ALL;
    size_t mark = facts_mark(c->facts);
    const struct size *zero = size_const(c->sizes, 0);
    /* an empty tensor misses nothing */
    for (int d = 0; d < r->base_rank; d++) facts_add_order(c->facts, zero, r->span[d], 1);
    bool gap = false;
    for (int d = 0; d < r->base_rank && !gap && !r->is_part; d++) gap = has_gap(c, p, r, d);
    facts_reset(c->facts, mark);
    return gap ? MISSING_SOME : MISSING_UNKNOWN;
}

bool parts_are_apart(struct checker *c, const struct parts *p, const struct region *r, const struct part **near)
{
    *near = p->list;
    if (!p->any && !p->list) return true;
    const struct region *box = p->any ? NULL : fixed_around(c, r);
    if (!box) return false;
    for (const struct part *q = p->list; q; q = q->next) {
        *near = q;
        if (!is_apart(c, q, box)) return false;
    }
    return true;
}
