/* written.c - the part of an argument that a kernel writes: `inout u: f64[R + 2] writes [1 +: R]`.
 * Idea       the indices are checked once, at the declaration, where they name dimensions and scalars of the kernel.
 *            A call puts its own sizes in: the part is a region of the argument as a slice of it would be, and what the
 *            declaration left open is asked again, of these sizes.  A part has all dimensions: a point is a width of 1.
 * Gives      `written` of formals and of struct call.
 * Invariant  a part lies in its argument: proved, an error (E05), or a check before the call.
 * Tests      test/lit/sema/writes.pto, test/lit/codegen/writes.pto
 */
#include "matching.h"
#include <string.h>

struct written_part {
    const struct ast *node;
    int count;
    struct index_range index[MAX_RANK];
    const struct check *open[MAX_RANK]; /* of each index: what the declaration does not prove */
};

/* ---- the declaration --------------------------------------------------------------------------------------------- */

static void refuse(struct checker *c, struct symbol *s, const struct symbol *f, const char *why)
{
    diag_error(c->diag, DIAG_E08, f->decl->formal.writes->at, "'%s' %s", f->name, why);
    notes_bad(s->decl);
}

static bool check_word(struct checker *c, struct symbol *s, const struct ast *w)
{
    if (strcmp(w->name, "writes") == 0) return true;
    diag_error(c->diag, DIAG_E01, w->name_at, "'%s' is unknown here: 'writes' may follow a type", w->name);
    diag_fix(c->diag, w->name_at, "writes", "did you mean 'writes'?");
    notes_bad(s->decl);
    return false;
}

void written_refuse(struct checker *c, struct symbol *orch)
{
    for (int i = 0; i < orch->formal_count; i++)
        if (orch->formals[i]->decl->formal.writes && check_word(c, orch, orch->formals[i]->decl->formal.writes))
            refuse(c, orch, orch->formals[i], "is a formal of a function: only the formal of a kernel has 'writes'");
}

static void check_formal(struct checker *c, struct symbol *s, struct symbol *f)
{
    struct ast *w = f->decl->formal.writes;
    int given = 0;
    if (!check_word(c, s, w)) return;
    if (s->decl->kernel->block) {
        refuse(c, s, f, "belongs to a kernel in index notation, which says by its assignments what it writes");
        return;
    }
    for (const struct ast *i = w->index.indices; i; i = i->next) given++;
    if (type_is_scalar(f->type)) {
        refuse(c, s, f, "is a scalar: no part of it is written");
        return;
    }
    if (f->dir != DIR_INOUT) {
        refuse(c, s, f,
               f->dir == DIR_OUT ? "is 'out': all of it is written, and nothing is read; give the kernel the part alone"
               : f->dir == DIR_ACC ? "is 'acc': all of it is accumulated into; give the kernel the part alone"
                                   : "is not written: only an 'inout' formal has 'writes'");
        return;
    }
    if (given > f->type->rank) {
        diag_error(c->diag, DIAG_E03, w->at, "%d indices for %s, which has rank %d", given, type_str(c, f->type),
                   f->type->rank);
        notes_bad(s->decl);
        return;
    }
    struct written_part *p = arena_new(c->mem, struct written_part);
    p->node = w;
    for (struct ast *i = w->index.indices; i; i = i->next, p->count++) {
        struct check *open = NULL;
        c->checks = &open;
        if (!indexing_bounds(c, i, f->type->extent[p->count], &p->index[p->count])) notes_bad(s->decl);
        p->open[p->count] = open;
    }
    c->checks = NULL;
    f->written = p;
}

void written_check(struct checker *c, struct symbol *kernel)
{
    const size_t mark = facts_mark(c->facts);
    bool any = false;
    for (int i = 0; i < kernel->formal_count; i++) any |= kernel->formals[i]->decl->formal.writes != NULL;
    if (!any) return;
    for (int i = 0; i < kernel->formal_count; i++)
        for (int d = 0; d < kernel->formals[i]->type->rank; d++)
            facts_add(c->facts, kernel->formals[i]->type->extent[d]);
    for (const struct ast *w = kernel->decl->kernel->where; w; w = w->next)
        if (!w->bad) facts_add_condition(c->facts, w, true);
    for (int i = 0; i < kernel->formal_count; i++)
        if (kernel->formals[i]->decl->formal.writes) check_formal(c, kernel, kernel->formals[i]);
    facts_reset(c->facts, mark);
}

/* ---- a call ------------------------------------------------------------------------------------------------------ */

static bool names_in_range(const struct index_range *r, const struct symbol *s)
{
    return size_names(r->low, s) || (r->width && size_names(r->width, s)) || (r->step && size_names(r->step, s));
}

bool written_names(const struct symbol *formal, const struct symbol *s)
{
    bool any = false;
    for (int d = 0; formal->written && d < formal->written->count; d++)
        any |= names_in_range(&formal->written->index[d], s);
    return any;
}

struct putting_in {
    struct checker *c;
    const struct matching *m;
    bool fits; /* in 64 bits */
};

static const struct size *put_in(struct putting_in *p, const struct size *a)
{
    const struct size *r = a ? size_substitute(p->c->sizes, a, p->m->from, p->m->to, p->m->count) : NULL;
    p->fits &= r || !a;
    return r;
}

const struct region *written_part(struct checker *c, struct matching *m, int f, struct ast *at)
{
    const struct written_part *w = m->callee->formals[f]->written;
    struct putting_in p = {c, m, true};
    struct index_range index[MAX_RANK];
    bool good = true;
    for (int d = 0; d < w->count; d++) {
        const struct index_range *r = &w->index[d];
        index[d] = (struct index_range){.low = put_in(&p, r->low),
                                        .width = r->width ? put_in(&p, r->width) : size_const(c->sizes, 1),
                                        .step = put_in(&p, r->step),
                                        .is_loose = r->is_loose};
        for (const struct check *k = w->open[d]; k && good; k = k->next) {
            struct check now = {.kind = k->kind};
            now.a = put_in(&p, k->a);
            now.b = put_in(&p, k->b);
            now.c = put_in(&p, k->c);
            now.d = put_in(&p, k->d);
            good = p.fits && indexing_again(c, at, &now);
        }
    }
    if (good && p.fits) return region_narrow(c, m->call->regions[f], w->count, index);
    if (!p.fits) diag_error(c->diag, DIAG_E15, at->at, "the bounds of a part do not fit in 64 bits");
    diag_note(c->diag, w->node->at, "the part of '%s' that '%s' writes", m->callee->formals[f]->name, m->callee->name);
    m->failed = true;
    return NULL;
}
