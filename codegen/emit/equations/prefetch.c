/* prefetch.c - what a reduction will read and write soon, asked for in time.
 * Idea       where a loop of exponentials is done inside of a reduction, the processor computes and memory waits.  So
 *            each group of elements asks for the group below it: the same elements with the outer loop's variable one
 *            further, or once more its last row.  Other loops are too cheap for that.
 *            A reduction that no loop is around asks for elements further along its own row: a processor's own
 *            requests end with each page of memory.  In the first reduction of each row of a matrix that costs more
 *            than it saves; one that reads the row again finds it in the nearest cache, and asks for the next row
 *            and for the row that is written after it, if they are short enough to stay in the second cache until then.
 * Invariant  no address is formed that an iteration does not have; one further along a row is a number, and may lie
 *            beyond the row's end: a request for memory that is not there does nothing.
 * Tests      test/lit/codegen/index-prefetch.pto
 */
#include "parts.h"
#include <string.h>

static bool is_dear(const struct eq_expr *x)
{
    if (!x) return false;
    if (x->kind == EQ_EXP) return true;
    return is_dear(x->a) || is_dear(x->b) || is_dear(x->c);
}

static bool holds_dear(const struct eq_node *loop)
{
    for (const struct eq_node *n = loop->child; n; n = n->next)
        if (is_dear(n->stmt->value)) return true;
    return false;
}

/* The access is made in every iteration, and each iteration of the outer loop has elements of its own. */
static bool moves_with(const struct eq_printer *p, const struct eq_access *a, const struct eq_var *outer,
                       const struct eq_var *inner)
{
    bool has_outer = false, has_inner = false;
    if (!a->formal || a->guard) return false;
    for (int d = 0; d < a->rank; d++) {
        if (!a->index[d].size) return false;
        const struct size *index = equation_canonical(p, a->index[d].size);
        has_outer |= size_names(index, outer->symbol);
        has_inner |= size_names(index, inner->symbol);
    }
    return has_outer && has_inner;
}

/* The name of the value of the outer loop's variable in the next iteration, if there is one. */
static const char *declare_next(struct eq_printer *p, const struct eq_var *outer)
{
    const char *next = names_take(&p->e->names, arena_printf(p->e->mem, "next_%s", outer->symbol->name));
    const char *own = emit_name(p->e, outer->symbol), *high = equation_size(p, outer->high, P_REL);
    out_line(p->e->out, "const int64_t %s = %s + 1 < %s ? %s + 1 : %s;", next, own, high, own, own);
    return next;
}

/* The C of the access's first element of the group in that iteration. */
static const char *place_below(struct eq_printer *p, const struct eq_access *a, const struct eq_var *outer,
                               const struct eq_var *inner, const char *group, const char *next)
{
    const char *own = ptrmap_get(&p->e->c_names, outer->symbol), *element = ptrmap_get(&p->e->c_names, inner->symbol);
    struct eq_access at = *a;
    for (int d = 0; d < a->rank; d++) at.index[d].size = equation_canonical(p, a->index[d].size);
    ptrmap_set(&p->e->c_names, outer->symbol, (void *)(uintptr_t)next);
    ptrmap_set(&p->e->c_names, inner->symbol, (void *)(uintptr_t)group);
    const char *place = equation_place(p, &at);
    ptrmap_set(&p->e->c_names, outer->symbol, (void *)(uintptr_t)own);
    ptrmap_set(&p->e->c_names, inner->symbol, (void *)(uintptr_t)element);
    return place;
}

void equation_prefetch(struct eq_printer *p, const struct eq_node *loop, const char *group)
{
    if (!loop->parent || !holds_dear(loop)) return;
    const struct eq_var *outer = loop->parent->var;
    if (equation_names_loop(outer->high) || equation_names_loop(loop->var->low)) return;
    const char *next = NULL;
    for (int i = 0; i < p->q->access_count; i++) {
        const struct eq_access *a = p->q->accesses[i];
        bool is_here = false;
        for (const struct eq_node *n = loop->child; n; n = n->next) is_here |= a->stmt == n->stmt;
        const struct eq_access home = equation_home(p, a);
        if (!is_here || !moves_with(p, &home, outer, loop->var)) continue;
        if (!next) next = declare_next(p, outer);
        out_line(p->e->out, "pto_prefetch(&%s, %s, %d);", place_below(p, &home, outer, loop->var, group, next),
                 p->dense, home.is_target);
    }
}

/* Read in each iteration, in a row along v. */
static bool is_row(const struct eq_printer *p, const struct eq_access *a, const struct eq_var *v)
{
    if (!a->formal || a->guard || !equation_is_dense_along(p, a, v)) return false;
    for (int d = 0; d < a->rank; d++)
        if (!a->index[d].size) return false;
    return true;
}

struct places {
    const char *text[4]; /* further operands are not asked for */
    int count;
};

/* Of the loads of the term, outside of reductions in it, whose variables there are not yet. */
static void find_places(struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v, struct places *found)
{
    if (!x || x->kind == EQ_REDUCE) return;
    if (x->kind == EQ_LOAD && is_row(p, x->access, v)) {
        const char *place = equation_place(p, x->access);
        bool is_new = found->count < (int)(sizeof found->text / sizeof *found->text);
        for (int i = 0; i < found->count; i++) is_new &= strcmp(found->text[i], place) != 0;
        if (is_new) found->text[found->count++] = place;
    }
    find_places(p, x->a, v, found);
    find_places(p, x->b, v, found);
    find_places(p, x->c, v, found);
}

/* A load of the term from a row that an earlier statement has read in the same iteration of the outer loop; NULL: there
 * is none. */
static const struct eq_access *read_again(const struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v,
                                          const struct eq_var *outer)
{
    if (!x || x->kind == EQ_REDUCE) return NULL;
    const struct eq_access *const a = x->kind == EQ_LOAD ? x->access : NULL;
    if (a && is_row(p, a, v) && moves_with(p, a, outer, v)) {
        const struct size *row = equation_canonical(p, a->index[0].size);
        for (int i = 0; i < p->q->access_count; i++) {
            const struct eq_access *before = p->q->accesses[i];
            if (before->formal == a->formal && before->stmt->id < p->stmt->id && before->index[0].size &&
                equation_canonical(p, before->index[0].size) == row)
                return a;
        }
    }
    const struct eq_access *found = read_again(p, x->a, v, outer);
    if (!found) found = read_again(p, x->b, v, outer);
    return found ? found : read_again(p, x->c, v, outer);
}

/* The variable of the loop that a variable's own loop has been shared with. */
static const struct eq_var *shared_loop(const struct eq_printer *p, const struct eq_var *own)
{
    const struct size *wanted = equation_canonical(p, size_symbol(p->sizes, own->symbol));
    for (int i = 0; i < p->q->var_count; i++)
        if (size_symbol(p->sizes, p->q->vars[i]->symbol) == wanted) return p->q->vars[i];
    return own;
}

/* The row that a later statement writes in the same iteration of the outer loop, in the range of v: the place of its
 * group; NULL: there is none. */
static const char *written_after(struct eq_printer *p, const struct eq_var *v, const struct eq_var *outer,
                                 const char *group)
{
    for (int i = p->stmt->id + 1; i < p->q->stmt_count; i++) {
        const struct eq_stmt *s = p->q->stmts[i];
        if (s->free_count != 2 || s->loop_count > 0) continue;
        const struct eq_access home = equation_home(p, s->target);
        const struct eq_var *const along = shared_loop(p, s->frees[1]);
        if (is_row(p, &home, s->frees[1]) && moves_with(p, &home, outer, along) &&
            equation_canonical(p, along->low) == equation_canonical(p, v->low) &&
            equation_canonical(p, along->high) == equation_canonical(p, v->high))
            return place_below(p, &home, outer, along, group, emit_name(p->e, outer->symbol));
    }
    return NULL;
}

/* The next row goes into the second cache: the rows of a page each that layernorm has fill a nearest cache of 32 KB. */
static void prefetch_below(struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v, const char *group,
                           const char *end)
{
    struct out *out = p->e->out;
    const struct eq_stmt *s = p->stmt;
    if (s->free_count != 1 || s->loop_count > 0 || equation_names_loop(s->frees[0]->high)) return;
    const struct eq_var *const outer = shared_loop(p, s->frees[0]);
    const struct eq_access *const a = read_again(p, x->a, v, outer);
    if (!a) return;
    const size_t mark = names_mark(&p->e->names);
    out_open(out, "if (%s <= PTO_AHEAD) {", end);
    const char *next = declare_next(p, outer), *const written = written_after(p, v, outer, group);
    out_line(out, "pto_prefetch_near(&%s, %s);", place_below(p, a, outer, v, group, next), p->dense);
    if (written) out_line(out, "pto_prefetch(&%s, %s, 1);", written, p->dense);
    out_close(out, "}");
    names_close(&p->e->names, mark);
}

void equation_prefetch_row(struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v, const char *group,
                           const char *end)
{
    struct places found = {0};
    const struct size *length = size_sub(p->sizes, v->high, v->low);
    int64_t count;
    if (p->stmt->loop_count + p->stmt->free_count > 0) {
        prefetch_below(p, x, v, group, end);
        return;
    }
    if (length && size_is_const(length, &count) && count < PTO_PARTS + PTO_AHEAD) return;
    const char *own = ptrmap_get(&p->e->c_names, v->symbol);
    ptrmap_set(&p->e->c_names, v->symbol, (void *)(uintptr_t)group);
    find_places(p, x->a, v, &found);
    ptrmap_set(&p->e->c_names, v->symbol, (void *)(uintptr_t)own);
    for (int i = 0; i < found.count; i++) out_line(p->e->out, "pto_prefetch_ahead(&%s, %s);", found.text[i], p->dense);
}
