/* reach.c - which functions and kernels do the exports need?
 * Needs      calls resolved.  It walks the AST, because it decides which functions are lowered.
 * Gives      plan->exports, orchs, kernels.  Look: ptoc build --emit=c
 * Method     a work list from the exports along calls; then all symbols in source order, so that the output does not
 *            depend on the order of calls.
 */
#include "plan.h"

struct search {
    struct plan *plan;
    struct ptrmap found;
    symbol_list work;
};

static void need(struct search *s, struct symbol *callee)
{
    if (ptrmap_get(&s->found, callee)) return;
    ptrmap_set(&s->found, callee, callee);
    if (callee->kind == SYM_ORCH) vec_push(&s->work, callee);
}

static bool visit_call(void *cx, struct ast *n)
{
    const struct call *call = n->kind == AST_CALL ? call_of(n) : NULL;
    if (call && call->callee) need(cx, call->callee);
    return true;
}

void reach_bodies(struct plan *p)
{
    p->kernels.count = p->orchs.count = p->exports.count = 0;
    for (int m = 0; m < p->checked->module_count; m++) {
        const struct module *module = p->checked->modules[m];
        for (int i = 0; i < module->symbol_count && !module_is_std(module); i++)
            for (struct symbol *k = module->symbols[i]; k && k->kind == SYM_KERNEL; k = k->next_overload) {
                if (!k->decl->kernel->has_body) continue;
                for (struct symbol *made = k->instances; made; made = made->next_instance) vec_push(&p->kernels, made);
                if (k->elem_count == 0) vec_push(&p->kernels, k);
            }
    }
}

void reach_run(struct plan *p)
{
    struct search s = {.plan = p};
    const struct module *main = p->checked->modules[0];
    for (int i = 0; i < main->symbol_count; i++) {
        struct symbol *sym = main->symbols[i];
        if (sym->kind == SYM_ORCH && sym->decl->orch.exported) {
            vec_push(&p->exports, sym);
            need(&s, sym);
        }
    }
    while (s.work.count > 0) {
        struct symbol *orch = s.work.data[--s.work.count];
        ast_walk(orch->decl->orch.body, visit_call, &s);
    }
    for (int m = 0; m < p->checked->module_count; m++) {
        const struct module *module = p->checked->modules[m];
        for (int i = 0; i < module->symbol_count; i++)
            for (struct symbol *sym = module->symbols[i]; sym; sym = sym->next_overload) {
                for (struct symbol *k = sym->instances; k; k = k->next_instance)
                    if (ptrmap_get(&s.found, k)) vec_push(&p->kernels, k);
                if (!ptrmap_get(&s.found, sym)) continue;
                if (sym->kind == SYM_ORCH)
                    vec_push(&p->orchs, sym);
                else
                    vec_push(&p->kernels, sym);
            }
    }
    vec_free(&s.work);
    ptrmap_free(&s.found);
}
