/* join_equations.c - the equations of a kernel that is made of two: those of the first, then those of the second.
 * Idea       a copy in which each symbol is a new one, so a kernel may be joined with itself.  A formal that only the
 *            two calls used is a temporary; what was rounded when it was stored is still rounded then.
 * Invariant  both parts keep the order of their statements, and no statement computes anything else than before.
 * Tests      test/lit/codegen/join.pto, test/lit/run/join.pto
 */
#include "join_parts.h"
#include "support/arena.h"
#include <string.h>

struct copying {
    struct plan *plan;
    struct arena *mem;
    struct size_table *sizes;
    struct part_copy *part;
    struct equations *out;
    struct ptrmap vars, temps, stmts, accesses, exprs;
    bool has_failed;
};

const struct size *join_size(struct plan *p, const struct part_copy *part, const struct size *s)
{
    return size_substitute(p->checked->sizes, s, part->from.data, part->to.data, (int)part->from.count);
}

static const struct size *copy_size(struct copying *c, const struct size *s)
{
    const struct size *to = s ? join_size(c->plan, c->part, s) : NULL;
    c->has_failed |= s && !to;
    return to;
}

static int number_of(const struct symbol *kernel, const struct symbol *formal)
{
    int i = 0;
    while (i < kernel->formal_count && kernel->formals[i] != formal) i++;
    return i;
}

/* ---- variables and temporaries ---- */

static struct eq_var *var_of(struct copying *c, const struct eq_var *v) { return v ? ptrmap_get(&c->vars, v) : NULL; }

static void copy_vars(struct copying *c, const struct equations *q)
{
    for (int i = 0; i < q->var_count; i++) {
        struct eq_var *v = arena_new(c->mem, struct eq_var);
        struct symbol *s = arena_new(c->mem, struct symbol);
        *s = *q->vars[i]->symbol;
        *v = *q->vars[i];
        v->symbol = s;
        v->id = c->out->var_count;
        c->out->vars[c->out->var_count++] = v;
        ptrmap_set(&c->vars, q->vars[i], v);
        vec_push(&c->part->from, q->vars[i]->symbol);
        vec_push(&c->part->to, size_symbol(c->sizes, s));
    }
    for (int i = 0; i < q->var_count; i++) {
        struct eq_var *v = var_of(c, q->vars[i]);
        v->low = copy_size(c, v->low);
        v->high = copy_size(c, v->high);
    }
}

static struct eq_var **vars_of(struct copying *c, struct eq_var *const *list, int count)
{
    struct eq_var **to = arena_array(c->mem, struct eq_var *, count + 1);
    for (int i = 0; i < count; i++) to[i] = var_of(c, list[i]);
    return to;
}

static void add_temp(struct copying *c, struct eq_temp *t)
{
    t->id = c->out->temp_count;
    c->out->temps[c->out->temp_count++] = t;
}

static void copy_temps(struct copying *c, const struct equations *q)
{
    for (int i = 0; i < q->temp_count; i++) {
        struct eq_temp *t = arena_new(c->mem, struct eq_temp);
        *t = *q->temps[i];
        for (int d = 0; d < t->rank; d++) {
            t->low[d] = copy_size(c, t->low[d]);
            t->high[d] = copy_size(c, t->high[d]);
            t->extent[d] = copy_size(c, t->extent[d]);
        }
        t->private_to = vars_of(c, t->private_to, t->private_count);
        add_temp(c, t);
        ptrmap_set(&c->temps, q->temps[i], t);
    }
}

/* ---- expressions ---- */

static const struct eq_expr *copy_expr(struct copying *c, const struct eq_expr *x);

static const struct eq_guard *copy_guard(struct copying *c, const struct eq_guard *g)
{
    if (!g) return NULL;
    struct eq_guard *to = arena_new(c->mem, struct eq_guard);
    *to = *g;
    to->cond = copy_expr(c, g->cond);
    to->outer = copy_guard(c, g->outer);
    return to;
}

static const struct eq_access *copy_access(struct copying *c, const struct eq_access *a)
{
    struct eq_access *to = ptrmap_get(&c->accesses, a);
    if (to) return to;
    to = arena_new(c->mem, struct eq_access);
    *to = *a;
    ptrmap_set(&c->accesses, a, to);
    if (a->formal) {
        const int n = number_of(c->part->kernel, a->formal);
        to->formal = c->part->formals[n];
        to->temp = to->formal ? NULL : c->part->temps[n];
    } else {
        to->temp = ptrmap_get(&c->temps, a->temp);
    }
    for (int d = 0; d < a->rank; d++) {
        to->index[d].size = copy_size(c, a->index[d].size);
        to->index[d].expr = copy_expr(c, a->index[d].expr);
        to->index[d].least = copy_size(c, a->index[d].least);
        to->index[d].largest = copy_size(c, a->index[d].largest);
    }
    to->stmt = ptrmap_get(&c->stmts, a->stmt);
    to->vars = (const struct eq_var *const *)vars_of(c, (struct eq_var *const *)a->vars, a->var_count);
    to->guard = copy_guard(c, a->guard);
    return to;
}

/* The kinds that refer to more than their operands. */
static void copy_leaf(struct copying *c, struct eq_expr *to)
{
    switch (to->kind) {
    case EQ_SIZE: to->size = copy_size(c, to->size); break;
    case EQ_SCALAR: to->scalar = c->part->formals[number_of(c->part->kernel, to->scalar)]; break;
    case EQ_LOAD:
        to->access = copy_access(c, to->access);
        if (to->access->temp) to->type = to->access->temp->elem; /* f16 and bf16 as the f32 that they were rounded to */
        break;
    case EQ_REDUCE:
        to->reduce.vars = vars_of(c, to->reduce.vars, to->reduce.var_count);
        to->reduce.vector = var_of(c, to->reduce.vector);
        break;
    default: break;
    }
}

static const struct eq_expr *copy_expr(struct copying *c, const struct eq_expr *x)
{
    struct eq_expr *to = x ? ptrmap_get(&c->exprs, x) : NULL;
    if (!x || to) return to;
    to = arena_new(c->mem, struct eq_expr);
    *to = *x;
    ptrmap_set(&c->exprs, x, to);
    copy_leaf(c, to);
    to->a = copy_expr(c, x->a);
    to->b = copy_expr(c, x->b);
    to->c = copy_expr(c, x->c);
    return to;
}

/* ---- statements ---- */

/* As it is stored in the temporary of a tensor: rounded to the tensor's type first. */
static const struct eq_expr *stored(struct copying *c, const struct eq_access *target, const struct eq_expr *value)
{
    if (!target->temp || value->type == target->temp->elem) return value;
    struct eq_expr *to = arena_new(c->mem, struct eq_expr);
    *to = (struct eq_expr){.kind = EQ_CAST, .type = target->temp->elem, .at = value->at, .a = value};
    return to;
}

static void copy_stmts(struct copying *c, const struct equations *q)
{
    const int first = c->out->stmt_count;
    for (int i = 0; i < q->stmt_count; i++) {
        struct eq_stmt *s = arena_new(c->mem, struct eq_stmt);
        *s = *q->stmts[i];
        s->id = c->out->stmt_count;
        if (!s->part) s->part = c->part->kernel;
        c->out->stmts[c->out->stmt_count++] = s;
        ptrmap_set(&c->stmts, q->stmts[i], s);
    }
    for (int i = 0; i < q->access_count; i++) c->out->accesses[c->out->access_count++] = copy_access(c, q->accesses[i]);
    for (int i = 0; i < q->stmt_count; i++) {
        struct eq_stmt *s = c->out->stmts[first + i];
        s->loops = vars_of(c, s->loops, s->loop_count);
        s->frees = vars_of(c, s->frees, s->free_count);
        s->target = copy_access(c, s->target);
        s->value = stored(c, s->target, copy_expr(c, s->value));
    }
}

static void add_parts(struct copying *c, const struct symbol *kernel, const struct symbol **parts)
{
    const struct equations *q = equations_of(kernel);
    for (int i = 0; i < q->part_count; i++) parts[c->out->part_count++] = q->parts[i];
    if (q->part_count == 0) parts[c->out->part_count++] = kernel;
}

/* One task is begun where there were two. */
static const struct size *cost_of(struct copying *c, const struct size *first, const struct size *second)
{
    const struct size *one = size_const(c->sizes, 1), *sum = size_binary(c->sizes, SIZE_ADD, first, second);
    const struct size *cost = sum ? size_sub(c->sizes, sum, one) : NULL;
    return cost ? cost : first;
}

static const struct size *cost_of_part(struct copying *c)
{
    const struct ast *written = c->part->kernel->decl->kernel->cost;
    return copy_size(c, written ? written->value : equations_of(c->part->kernel)->cost);
}

static void copy_part(struct copying *c, struct part_copy *part, const struct symbol **parts)
{
    const struct equations *q = equations_of(part->kernel);
    c->part = part;
    c->vars = c->temps = c->stmts = c->accesses = c->exprs = (struct ptrmap){.mem = c->mem};
    const struct size *work = copy_size(c, q->work), *cost = cost_of_part(c);
    copy_vars(c, q);
    copy_temps(c, q);
    copy_stmts(c, q);
    add_parts(c, part->kernel, parts);
    c->out->may_fail |= q->may_fail;
    if (c->has_failed) return;
    c->out->cost = c->out->cost ? cost_of(c, c->out->cost, cost) : cost;
    work = c->out->work ? size_binary(c->sizes, SIZE_ADD, c->out->work, work) : work;
    if (work) c->out->work = work;
}

struct equations *join_equations(struct plan *p, const struct symbol *kernel, struct part_copy parts[2])
{
    const struct equations *a = equations_of(parts[0].kernel), *b = equations_of(parts[1].kernel);
    struct equations *out = arena_new(p->mem, struct equations);
    const int most_parts = a->part_count + b->part_count + 2;
    const struct symbol **names = arena_array(p->mem, const struct symbol *, most_parts);
    struct copying c = {.plan = p, .mem = p->mem, .sizes = p->checked->sizes, .out = out};
    out->kernel = kernel;
    out->parts = names;
    out->stmts = arena_array(p->mem, struct eq_stmt *, a->stmt_count + b->stmt_count + 1);
    out->vars = arena_array(p->mem, struct eq_var *, a->var_count + b->var_count + 1);
    out->temps =
        arena_array(p->mem, struct eq_temp *, a->temp_count + b->temp_count + parts[0].kernel->formal_count + 1);
    out->accesses = arena_array(p->mem, const struct eq_access *, a->access_count + b->access_count + 1);
    for (int i = 0; i < parts[0].kernel->formal_count; i++)
        if (parts[0].temps[i]) add_temp(&c, parts[0].temps[i]);
    for (int i = 0; i < 2; i++) copy_part(&c, &parts[i], names);
    return c.has_failed ? NULL : out;
}
