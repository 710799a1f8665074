/* angles.c - loops with sin and cos, whose large arguments need a reduction that no vector does.
 * Idea       a loop is printed twice: with functions that note a large argument, which become vectors, and, in an `if`
 *            for the case that there was one, with functions that have a branch.  A loop that reads what it writes
 *            cannot be done again: where its arguments are known before it begins, it looks at them first; where not,
 *            it has the functions with a branch alone.
 * Invariant  both functions have the same bits of usual arguments.
 * Tests      test/lit/codegen/index-angles.pto, test/lit/run/large-angles.pto
 */
#include "parts.h"

static bool is_angle(const struct eq_expr *x) { return x->kind == EQ_SIN || x->kind == EQ_COS; }

/* Calls `found` with each sin and cos, those inside another one first. */
static void each_angle(struct eq_printer *p, const struct eq_expr *x,
                       void (*found)(struct eq_printer *p, const struct eq_expr *x))
{
    if (!x) return;
    if (x->kind == EQ_LOAD)
        for (int d = 0; d < x->access->rank; d++) each_angle(p, x->access->index[d].expr, found);
    each_angle(p, x->a, found);
    each_angle(p, x->b, found);
    each_angle(p, x->c, found);
    if (is_angle(x)) found(p, x);
}

bool equation_holds_angle(const struct eq_expr *x)
{
    if (!x) return false;
    if (is_angle(x)) return true;
    if (x->kind == EQ_LOAD)
        for (int d = 0; d < x->access->rank; d++)
            if (equation_holds_angle(x->access->index[d].expr)) return true;
    return equation_holds_angle(x->a) || equation_holds_angle(x->b) || equation_holds_angle(x->c);
}

const char *equation_angle(struct eq_printer *p, const struct eq_expr *x)
{
    const char *name = x->kind == EQ_SIN ? "sin" : "cos", *a = equation_value(p, x->a, P_ANY);
    p->e->needs_mathematics = true;
    if (p->angles != ANGLES_NEAR) return arena_printf(p->e->mem, "pto_%s_%s(%s)", name, elem_name(x->type), a);
    const char *large = x->type == ELEM_F32 ? p->large_f32 : p->large_f64;
    return arena_printf(p->e->mem, "pto_near_%s_%s(&%s, %s)", name, elem_name(x->type), large, a);
}

/* ---- noted arguments ---- */

static void declare_large(struct eq_printer *p, const struct eq_expr *x)
{
    const char **large = x->type == ELEM_F32 ? &p->large_f32 : &p->large_f64;
    if (*large) return;
    *large = names_take(&p->e->names, "large");
    out_line(p->e->out, "int%d_t %s = 0;", elem_bytes(x->type) * 8, *large);
}

static void begin_near(struct eq_printer *p)
{
    p->large_f32 = p->large_f64 = NULL;
    p->angles = ANGLES_NEAR;
}

void equation_begin_near(struct eq_printer *p, const struct eq_expr *x)
{
    begin_near(p);
    each_angle(p, x, declare_large);
}

void equation_begin_any(struct eq_printer *p)
{
    const char *a = p->large_f32, *b = p->large_f64;
    const char *both = a && b ? arena_printf(p->e->mem, "(%s | %s)", a, b) : a ? a : b;
    out_open(p->e->out, "if (%s < 0) {", both);
    p->angles = ANGLES_ANY;
}

void equation_end_any(struct eq_printer *p)
{
    out_close(p->e->out, "}");
    p->angles = ANGLES_ALONE;
}

/* ---- may a loop be done again? ---- */

static bool holds_in_loop(const struct eq_node *n)
{
    for (; n; n = n->next)
        if ((n->stmt && equation_holds_angle(n->stmt->value)) || holds_in_loop(n->child) ||
            (n->first && holds_in_loop(n->first->child)))
            return true;
    return false;
}

static bool is_in(const struct eq_node *n, const struct eq_stmt *s)
{
    for (; n; n = n->next)
        if (n->stmt == s || is_in(n->child, s) || (n->first && is_in(n->first->child, s))) return true;
    return false;
}

static void declare_in_loop(struct eq_printer *p, const struct eq_node *n)
{
    for (; n; n = n->next) {
        if (n->stmt) each_angle(p, n->stmt->value, declare_large);
        declare_in_loop(p, n->child);
        if (n->first) declare_in_loop(p, n->first->child);
    }
}

/* Is the formal, or a temporary that lies in it, read before the loop writes it? */
static bool reads(const struct eq_printer *p, const struct eq_node *loop, const struct symbol *formal)
{
    for (int i = 0; i < p->q->access_count; i++) {
        const struct eq_access *a = p->q->accesses[i];
        if (a->is_target || !is_in(loop->child, a->stmt)) continue;
        if (a->formal == formal) return true;
        if (a->formal || p->storage[a->temp->id].output != formal) continue;
        bool is_made_here = false;
        for (int k = 0; k < p->q->stmt_count; k++) {
            const struct eq_stmt *s = p->q->stmts[k];
            is_made_here |= s->target->temp == a->temp && is_in(loop->child, s);
        }
        if (!is_made_here) return true;
    }
    return false;
}

static bool may_be_done_again(const struct eq_printer *p, const struct eq_node *loop)
{
    for (int i = 0; i < p->q->stmt_count; i++) {
        const struct eq_stmt *s = p->q->stmts[i];
        if (!is_in(loop->child, s)) continue;
        if (s->kind == EQ_PLUS || s->carried) return false;
        if (s->target->formal && reads(p, loop, s->target->formal)) return false;
    }
    return true;
}

/* ---- a loop that cannot: may it look at its arguments first? ---- */

static bool is_object(const struct eq_access *a, const struct eq_access *b)
{
    return a->formal == b->formal && a->temp == b->temp;
}

/* The value in statement s is the one from before the loop: nothing that it loads has been written by then. */
static bool is_from_before(const struct eq_node *loop, const struct eq_stmt *s, const struct eq_expr *x)
{
    if (!x) return true;
    if (x->kind == EQ_REDUCE) return false;
    if (x->kind == EQ_LOAD) {
        const struct eq_access *a = x->access;
        for (const struct eq_node *n = loop->child; n; n = n->next)
            if (n->stmt != s && is_object(a, n->stmt->target)) return false;
        for (int d = 0; d < a->rank; d++) {
            const bool is_same = a->index[d].size && a->index[d].size == s->target->index[d].size;
            if (is_object(a, s->target) && !is_same) return false;
            if (!is_from_before(loop, s, a->index[d].expr)) return false;
        }
    }
    return is_from_before(loop, s, x->a) && is_from_before(loop, s, x->b) && is_from_before(loop, s, x->c);
}

/* That of each angle in x. */
static bool are_from_before(const struct eq_node *loop, const struct eq_stmt *s, const struct eq_expr *x)
{
    if (!x || !equation_holds_angle(x)) return true;
    if (x->kind == EQ_REDUCE || x->kind == EQ_LOAD) return false; /* an index with an angle: rare */
    if (is_angle(x)) return is_from_before(loop, s, x->a);
    return are_from_before(loop, s, x->a) && are_from_before(loop, s, x->b) && are_from_before(loop, s, x->c);
}

static bool may_look_first(const struct eq_node *loop)
{
    /* First of all of them: an angle is compared with every statement of the loop. */
    for (const struct eq_node *n = loop->child; n; n = n->next)
        if (!n->stmt || n->first || n->stmt->carried || !n->stmt->is_injective) return false;
    for (const struct eq_node *n = loop->child; n; n = n->next)
        if (!are_from_before(loop, n->stmt, n->stmt->value)) return false;
    return true;
}

static void look(struct eq_printer *p, const struct eq_expr *x)
{
    const char *large = x->type == ELEM_F32 ? p->large_f32 : p->large_f64;
    out_line(p->e->out, "pto_note_%s(&%s, %s);", elem_name(x->type), large, equation_value(p, x->a, P_ANY));
}

static void look_first(struct eq_printer *p, const struct eq_node *loop)
{
    const size_t mark = names_mark(&p->e->names);
    equation_open_loop(p, loop->var);
    equation_name_merged(p, loop->var);
    for (const struct eq_node *n = loop->child; n; n = n->next) {
        equation_begin(p, n->stmt);
        each_angle(p, n->stmt->value, look);
    }
    out_close(p->e->out, "}");
    names_close(&p->e->names, mark);
}

void equation_loop_of_angles(struct eq_printer *p, struct eq_node *loop,
                             void (*print)(struct eq_printer *p, struct eq_node *loop))
{
    const bool is_asked = p->angles == ANGLES_ALONE && holds_in_loop(loop->child);
    const bool again = is_asked && may_be_done_again(p, loop);
    const bool looks = is_asked && !again && may_look_first(loop);
    if (!again && !looks) {
        print(p, loop);
        return;
    }
    begin_near(p);
    declare_in_loop(p, loop->child); /* in the block around the loop, where another loop may follow */
    const size_t mark = names_mark(&p->e->names);
    if (again)
        print(p, loop);
    else
        look_first(p, loop);
    equation_begin_any(p);
    print(p, loop);
    if (looks) {
        p->e->out->depth--;
        out_open(p->e->out, "} else {");
        p->angles = ANGLES_NEAR;
        print(p, loop);
    }
    equation_end_any(p);
    names_close(&p->e->names, mark);
}
