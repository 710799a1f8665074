/* functions.c - the pass `lower`: the functions that the exports need, as they were lowered when they were checked.
 * Idea       a plan has copies, which its passes change.
 * Gives      plan->functions; E99 for what could not be lowered.
 * Tests      test/lit/codegen/unsupported.pto, test/lit/ir
 */
#include "ir/ir.h"
#include "plan.h"

static void report_unsupported(const struct plan *p, const struct ir_function *f)
{
    for (const struct ir_unsupported *u = f->unsupported; u; u = u->next)
        diag_error(p->front->diag, DIAG_E99, u->at, "%s is not supported yet by the code generator", u->what);
}

void lower_run(struct plan *p)
{
    for (size_t i = 0; i < p->orchs.count; i++) {
        const struct symbol *orch = p->orchs.data[i];
        struct ir_function *f = ir_copy(p->mem, ptrmap_get(&p->checked->functions, orch));
        report_unsupported(p, f);
        vec_push(&p->functions, f);
        ptrmap_set(&p->function_of, orch, f);
    }
}
