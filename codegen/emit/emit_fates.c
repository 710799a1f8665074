/* emit_fates.c - a kernel in index notation in --emit=kernels: the fate of each index, the ranges, the work.
 * Idea       a comment for each of the main file, called or not.
 * Owner      nothing.
 * Tests      test/lit/equations/exact.pto
 */
#include "emit.h"
#include "sema/equations/equations.h"
#include "support/arena.h"

static const char *fate_text(enum eq_fate fate)
{
    switch (fate) {
    case EQ_PROVED: return "proved";
    case EQ_CHECKED_AT_CALL: return "checked at the call";
    default: return "checked in the kernel";
    }
}

static const char *text_of(struct emitter *e, const struct size *s)
{
    STRBUF(b);
    size_text(s, &b);
    return emit_comment_text(e, arena_printf(e->mem, "%s", strbuf_text(&b)));
}

static void print_range(struct emitter *e, const struct eq_var *v)
{
    static const char *const roles[] = {[EQ_FREE] = "free", [EQ_FOR] = "for", [EQ_BOUND] = "bound"};
    out_line(e->out, " *   %-5s %s in %s .. %s", roles[v->role], v->symbol->name, text_of(e, v->low),
             text_of(e, v->high));
}

static void print_indices(struct emitter *e, const struct eq_access *a)
{
    const char *name = a->formal ? a->formal->name : a->temp->name;
    for (int d = 0; d < a->rank; d++) {
        const struct eq_index *i = &a->index[d];
        out_line(e->out, " *   %s %s, index %d: %s%s%s", a->is_target ? "write" : "read ", name, d,
                 emit_comment_text(e, emit_source_text(e, i->at)), i->needs_guard ? " under its condition " : " ",
                 fate_text(i->fate));
    }
}

static void emit_kernel(struct emitter *e, const struct symbol *kernel)
{
    const struct equations *q = equations_of(kernel);
    if (!q) return;
    out_line(e->out, "%s", "");
    out_line(e->out, "/* %s, %d equation%s, work %s, cost %s", kernel->name, q->stmt_count,
             q->stmt_count == 1 ? "" : "s", text_of(e, q->work), text_of(e, q->cost));
    for (int i = 0; i < q->var_count; i++) print_range(e, q->vars[i]);
    for (int i = 0; i < q->access_count; i++) print_indices(e, q->accesses[i]);
    for (const struct eq_demand *d = q->demands; d; d = d->next)
        out_line(e->out, " *   the caller tests %s %s %s", text_of(e, d->index), d->is_low ? ">=" : "<",
                 d->is_low ? "0" : text_of(e, d->extent));
    out_line(e->out, "%s", " */");
}

void fates_emit(struct emitter *e)
{
    const struct module *m = e->checked->modules[0];
    for (int i = 0; i < m->symbol_count; i++) {
        const struct symbol *k = m->symbols[i]->kind == SYM_KERNEL ? m->symbols[i] : NULL;
        for (; k; k = k->next_overload) {
            emit_kernel(e, k);
            for (const struct symbol *s = k->instances; s; s = s->next_instance) emit_kernel(e, s);
        }
    }
}
