/* gaps.c - the pass `gaps`: kernels to which every call gives tensors whose last dimension lies in a row.
 * Idea       a kernel in index notation has a version for such tensors and one for any strides, which takes the C
 *            compiler as long. Most programs call none of them with a transposed tensor, a column or a step; where
 *            that is proved, the second version is left out.
 * Method     a fixed point over all calls: a last dimension is in a row where its stride is 1, or is the last stride
 *            of a formal or of a place for a result to which every call gives such a tensor.
 * Gives      plan->gapped.  It holds for the arguments of exports that the program's own main() gives, which are whole
 *            arrays; a host program may give others.
 * Invariant  a kernel that is not proved to get unit strides alone is in plan->gapped.  A plan that stops before this
 *            pass, so that plan->has_gapped is false, proves nothing.
 * Tests      test/lit/codegen/index-gaps.pto, test/lit/run/index-gaps.test, index-gaps-of-one.pto,
 *            test/lit/ascend/gaps.test
 */
#include "ir/ir.h"
#include "plan.h"

struct gaps {
    struct plan *plan;
    bool changed;
};

static bool is_gapped(const struct plan *p, const struct symbol *s) { return ptrmap_get(&p->gapped, s) != NULL; }

static void note_gapped(struct gaps *g, const struct symbol *s)
{
    if (!s || is_gapped(g->plan, s)) return;
    ptrmap_set(&g->plan->gapped, s, (void *)(uintptr_t)s);
    g->changed = true;
}

/* A task is given no strides of a contiguous piece; a function is, also of one element of every second. */
static bool is_in_a_row(const struct plan *p, const struct ir_view *v)
{
    const int rank = v->region->rank;
    const struct ir_value *last = rank > 0 ? v->stride[rank - 1] : NULL;
    if (!last) return rank == 0 || v->region->contiguous;
    return last->kind == IR_INTEGER  ? last->integer == 1
           : last->kind == IR_STRIDE ? last->dim == last->symbol->type->rank - 1 && !is_gapped(p, last->symbol)
                                     : false;
}

/* What the callee returns goes to such a place. */
static void note_gapped_place(struct gaps *g, const struct symbol *callee)
{
    symbol_list results = {0};
    flat_results(callee, &results);
    for (size_t i = 0; i < results.count; i++) note_gapped(g, results.data[i]);
    vec_free(&results);
}

static void look_at_call(void *cx, const struct ir_call *c)
{
    struct gaps *g = cx;
    for (int i = 0; i < c->count; i++) {
        const struct ir_argument *a = &c->arguments[i];
        const bool is_new_place = a->kind == IR_ARG_PLACE && c->binding->decided.count > 0; /* of whole arrays */
        if (!a->view || a->kind == IR_ARG_VARIABLE || is_new_place || is_in_a_row(g->plan, a->view)) continue;
        if (c->callee->kind == SYM_KERNEL)
            note_gapped(g, c->callee);
        else if (a->kind == IR_ARG_PLACE)
            note_gapped_place(g, c->callee);
        else
            note_gapped(g, a->formal);
    }
}

static void look_at_op(void *cx, struct ir_op *op)
{
    ir_each_operand(op, &(struct ir_operands){.cx = cx, .call = look_at_call});
}

void gaps_run(struct plan *p)
{
    struct gaps g = {.plan = p};
    do {
        g.changed = false;
        for (size_t i = 0; i < p->functions.count; i++) ir_each(p->functions.data[i]->body, look_at_op, &g);
    } while (g.changed);
    p->has_gapped = true;
}
