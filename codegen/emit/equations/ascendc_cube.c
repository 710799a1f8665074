/* ascendc_cube.c - a contraction in index notation as AscendC for a cube core: a call of Gemm (kernels/ascend/gemm.h).
 * Tests      test/lit/ascend/index.test
 */
#include "ascendc_parts.h"

static const char *stride(struct eq_printer *p, const struct eq_access *a, int dim)
{
    return arena_printf(p->e->mem, "k.%s_stride[%d]", emit_name(p->e, a->formal), dim);
}

/* The sum over the dimensions of index * stride, where the three variables have their lowest values; with `along` the
 * distance between two values of it. */
static const char *reach(struct eq_printer *p, const struct eq_access *a, const struct eq_contraction *c,
                         const struct eq_var *along)
{
    const struct symbol *from[] = {c->i->symbol, c->j->symbol, c->k->symbol};
    const struct size *low[] = {c->i->low, c->j->low, c->k->low}, *next[3];
    const char *sum = "";
    for (int v = 0; v < 3; v++)
        next[v] = from[v] == (along ? along->symbol : NULL)
                      ? size_binary(p->sizes, SIZE_ADD, low[v], size_const(p->sizes, 1))
                      : low[v];
    for (int d = 0; d < a->rank; d++) {
        const struct size *first = size_substitute(p->sizes, a->index[d].size, from, low, 3);
        const struct size *second = along ? size_substitute(p->sizes, a->index[d].size, from, next, 3) : NULL;
        const struct size *by = along && first && second ? size_sub(p->sizes, second, first) : first;
        int64_t value;
        if (!by) return NULL;
        if (size_is_const(by, &value) && value == 0) continue;
        const char *unit = stride(p, a, d);
        if (!size_is_const(by, &value) || value != 1)
            unit = arena_printf(p->e->mem, "%s * %s", equation_size(p, by, P_UNARY), unit);
        sum = arena_printf(p->e->mem, "%s%s%s", sum, *sum ? " + " : "", unit);
    }
    return *sum ? sum : "0";
}

static bool emit_view(struct eq_printer *p, const char *name, const struct eq_access *a, const struct eq_contraction *c,
                      const struct eq_var *row, const struct eq_var *column)
{
    const char *at = reach(p, a, c, NULL), *down = reach(p, a, c, row), *across = reach(p, a, c, column);
    if (!at || !down || !across) return false;
    out_line(p->e->out, "const pto::View %s = {k.%s[(uint64_t)(%s)], %s, %s};", name, emit_name(p->e, a->formal), at,
             down, across);
    return true;
}

/* How many numbers the range has. */
static const char *length(struct eq_printer *p, const struct eq_var *v)
{
    const char *difference = equation_size(p, size_sub(p->sizes, v->high, v->low), P_ANY);
    if (equation_is_bounded(v)) return difference;
    return arena_printf(p->e->mem, "%s < %s ? %s : 0", equation_size(p, v->low, P_REL),
                        equation_size(p, v->high, P_REL), difference);
}

const char *ascendc_emit_cube(struct emitter *e, const struct symbol *kernel, struct span *at)
{
    const struct equations *q = equations_of(kernel);
    struct eq_printer p = {.e = e, .q = q, .sizes = e->checked->sizes};
    struct eq_contraction c;
    *at = q->stmts[q->stmt_count - 1]->at;
    if (q->stmt_count != 1) return "it has more than one statement";
    const struct eq_stmt *s = q->stmts[0];
    if (!equation_is_contraction(&p, s, &c) || s->free_count != 2 || s->value != c.sum)
        return "it is not one sum of products of two matrices";
    if (!c.a->formal || !c.b->formal || !s->target->formal || c.sum->type != ELEM_F32)
        return "there is arithmetic on f32 alone";
    struct out body = {.depth = 1}, *outer = e->out;
    e->out = &body;
    const bool good = emit_view(&p, "left", c.a, &c, c.i, c.k) && emit_view(&p, "right", c.b, &c, c.k, c.j) &&
                      emit_view(&p, "result", s->target, &c, c.i, c.j);
    if (good)
        out_line(&body, "pto::Gemm(left, right, result, %s, %s, %s, %s).run();", length(&p, c.i), length(&p, c.j),
                 length(&p, c.k), s->kind == EQ_PLUS ? "true" : "false");
    e->out = outer;
    if (!good) {
        out_clear(&body);
        return "an index is not affine";
    }
    out_line(e->out, "/* Tiles of the result, shared out among the cores; sums have the order of the device. */");
    out_line(e->out, "__aicore__ inline void run(const Arguments &k)");
    out_open(e->out, "{");
    out_append(e->out, &body);
    out_close(e->out, "}");
    return NULL;
}
