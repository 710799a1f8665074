/* whole_lines.c - a row that is written once, and is in no cache, is stored by whole lines of memory.
 * Idea       the arrays of hosts begin 16 bytes after a line, so each vector of 64 bytes would be stored to two lines
 *            that are not there yet.  Such a row is done in two parts, of which the second begins with a line.  It is
 *            done where the same loop has read the operands just before; else memory is the limit, and nothing is
 *            gained.
 * Invariant  each element is computed as in one loop.
 * Tests      test/lit/codegen/index-whole-lines.pto, test/lit/run/index-whole-lines.pto
 */
#include "parts.h"

static bool is_accessed_elsewhere(const struct eq_printer *p, const struct eq_access *target)
{
    for (int i = 0; i < p->q->access_count; i++)
        if (p->q->accesses[i] != target && p->q->accesses[i]->formal == target->formal) return true;
    for (int i = 0; i < p->q->temp_count; i++)
        if (p->storage[p->q->temps[i]->id].output == target->formal) return true;
    return false;
}

/* Its target is a row of f32 or f64 that no other access names. */
static bool writes_new_row(const struct eq_printer *p, const struct eq_stmt *s, const struct eq_var *v)
{
    const struct eq_access *target = s->target;
    struct eq_contraction contraction;
    return s->kind == EQ_ASSIGN && target->formal &&
           (target->formal->type->elem == ELEM_F32 || target->formal->type->elem == ELEM_F64) &&
           equation_is_dense_along(p, target, v) && !is_accessed_elsewhere(p, target) &&
           !equation_holds_reduction(s->value) && !equation_is_contraction(p, s, &contraction);
}

const struct eq_stmt *equation_new_row(const struct eq_printer *p, const struct eq_node *loop)
{
    int64_t low;
    if (!loop->parent || loop->parent->child == loop || !size_is_const(loop->var->low, &low) || low != 0) return NULL;
    const struct eq_stmt *only = loop->child->stmt && !loop->child->next ? loop->child->stmt : NULL;
    return only && !loop->child->first && writes_new_row(p, only, loop->var) ? only : NULL;
}

void equation_open_parts(struct eq_printer *p, const struct eq_node *loop, const struct eq_stmt *s)
{
    struct out *out = p->e->out;
    struct names *names = &p->e->names;
    const struct eq_var *v = loop->var;
    struct eq_access first = *s->target;
    for (int d = 0; d < first.rank; d++) first.index[d].size = equation_canonical(p, first.index[d].size);
    first.index[first.rank - 1].size =
        size_sub(p->sizes, first.index[first.rank - 1].size, size_symbol(p->sizes, v->symbol));
    const char *place = equation_place(p, &first), *high = equation_size(p, v->high, P_ANY);
    const char *own = v->symbol->name;
    const char *line = names_take(names, arena_printf(p->e->mem, "%s_line", own));
    const char *part = names_take(names, "part"), *end = names_take(names, arena_printf(p->e->mem, "%s_end", own));
    out_line(out, "const int64_t %s = pto_before_line(&%s, sizeof(%s), %s, %s);", line, place,
             c_elem_type(s->target->formal->type->elem), p->dense, high);
    out_open(out, "for (int %s = %s == 0; %s < 2; %s++) {", part, line, part, part);
    out_line(out, "const int64_t %s = %s == 0 ? %s : %s;", end, part, line, high);
    const char *name = emit_declare(p->e, v->symbol, own);
    out_open(out, "for (int64_t %s = %s == 0 ? 0 : %s; %s < %s; %s++) {", name, part, line, name, end, name);
}
