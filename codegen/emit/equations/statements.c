/* statements.c - loops and statements of a kernel in index notation.
 * Idea       a loop is a loop of C over one variable; a number that lives in a loop is declared where that loop begins.
 * Tests      test/lit/run/index-notation.test, test/lit/codegen/index-sharing.pto
 */
#include "parts.h"

void equation_open_loop(struct eq_printer *p, const struct eq_var *v)
{
    const char *low = equation_size(p, v->low, P_ANY), *high = equation_size(p, v->high, P_ADD);
    const char *name = emit_declare(p->e, v->symbol, v->symbol->name);
    out_open(p->e->out, "for (int64_t %s = %s; %s < %s; %s++) {", name, low, name, high, name);
}

void equation_name_merged(struct eq_printer *p, const struct eq_var *v)
{
    const struct size *own = size_symbol(p->sizes, v->symbol);
    for (int i = 0; i < p->same_count; i++)
        if (p->to[i] == own) ptrmap_set(&p->e->c_names, p->from[i], (void *)(uintptr_t)emit_name(p->e, v->symbol));
}

void equation_declare_number(struct eq_printer *p, const struct eq_temp *t, const char *begin)
{
    const char *name = p->storage[t->id].name;
    bool is_read = false;
    for (int i = 0; i < p->q->access_count && !is_read; i++) {
        const struct eq_access *a = p->q->accesses[i];
        is_read = a->temp == t;
        for (int k = 0; k < p->q->stmt_count && is_read; k++) is_read = p->q->stmts[k]->target != a;
    }
    out_line(p->e->out, "%s %s%s;", c_elem_type(t->elem), name, begin);
    if (!is_read) out_line(p->e->out, "(void)%s;", name); /* an output of a call that was joined, and is not used */
}

static void declare_numbers(struct eq_printer *p, const struct eq_node *loop)
{
    for (int i = 0; i < p->q->temp_count; i++) {
        const struct eq_temp *t = p->q->temps[i];
        const struct eq_storage *s = &p->storage[t->id];
        if (s->dims > 0 || s->in != loop) continue;
        equation_declare_number(p, t, "");
    }
}

void equation_begin_iteration(struct eq_printer *p, const struct eq_node *loop)
{
    equation_name_merged(p, loop->var);
    declare_numbers(p, loop);
}

void equation_statement(struct eq_printer *p, const struct eq_stmt *s)
{
    emit_at(p->e, s->at);
    equation_begin(p, s);
    struct eq_contraction contraction;
    if (equation_is_contraction(p, s, &contraction)) {
        equation_contract(p, s, &contraction);
        return;
    }
    const enum elem elem = s->target->formal ? s->target->formal->type->elem : s->target->temp->elem;
    const char *value = equation_value(p, s->value, P_ANY), *target = equation_place(p, s->target);
    if (s->kind != EQ_PLUS)
        out_line(p->e->out, "%s = %s;", target, value);
    else if (elem == ELEM_BF16)
        out_line(p->e->out, "%s = pto_bf16_bits(pto_bf16_value(%s) + %s);", target, target, value);
    else if (elem == ELEM_F16)
        out_line(p->e->out, "%s = (_Float16)((float)%s + %s);", target, target, value);
    else if (equation_is_float(elem))
        out_line(p->e->out, "%s += %s;", target, value);
    else
        out_line(p->e->out, "%s = %s;", target, equation_binary(p, EQ_ADD, elem, target, value));
}

static void print_loop(struct eq_printer *p, struct eq_node *n)
{
    const size_t mark = names_mark(&p->e->names);
    const struct eq_stmt *only = n->child->stmt && !n->child->next ? n->child->stmt : NULL;
    const bool is_last = only && only->free_count > 0 && only->frees[only->free_count - 1] == n->var;
    const struct eq_expr *in_lanes = is_last && !n->child->first ? equation_in_lanes(p, only) : NULL;
    if (in_lanes) {
        equation_lanes(p, only, in_lanes);
    } else if (equation_is_tiled(p, n)) {
        equation_tiles(p, n);
    } else {
        const struct eq_stmt *row = equation_new_row(p, n);
        if (row)
            equation_open_parts(p, n, row);
        else
            equation_open_loop(p, n->var);
        equation_begin_iteration(p, n);
        equation_nodes(p, n->child);
        out_close(p->e->out, "}");
        if (row) out_close(p->e->out, "}");
    }
    names_close(&p->e->names, mark);
}

void equation_nodes(struct eq_printer *p, struct eq_node *first)
{
    for (struct eq_node *n = first; n; n = n->next) {
        if (n->stmt) {
            p->first = n->first;
            equation_statement(p, n->stmt);
            p->first = NULL;
            continue;
        }
        const struct eq_node *leaf = n->child;
        while (!leaf->stmt) leaf = leaf->child;
        emit_at(p->e, leaf->stmt->at);
        equation_loop_of_angles(p, n, print_loop);
    }
}
