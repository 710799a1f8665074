/* results.c - which tensors are results from the beginning, of those whose extents the run decides.
 * Needs      needs_alloc of the tensors.  Gives `given`, and needs_alloc where there is an ALLOC.
 * Idea       nobody can make room for such a result before the call, but where it is made it is known what it will be:
 *            a tensor of the function's outermost block that its only `return` gives away.  It is allocated for the
 *            owner of the place, so who began the run may give it memory that outlives the run, and nothing is copied.
 * Tests      test/lit/codegen/decided-results.pto, test/lit/run/decided-exports.test
 */
#include "uses.h"
#include "sema/checker.h"
#include "sema/decided.h"
#include "support/ptrmap.h"

struct results {
    const struct ir_function *f;
    struct ptrmap seen, twice; /* places that are given a tensor, and those that are given several */
};

static void count_give(void *cx, struct ir_op *op)
{
    struct results *r = cx;
    if (op->kind != IR_GIVE) return;
    const struct symbol *place = op->give.place;
    ptrmap_set(ptrmap_get(&r->seen, place) ? &r->twice : &r->seen, place, op);
}

static bool is_decided(const struct type *t)
{
    bool found = false;
    for (int d = 0; t->kind == TYPE_TENSOR && d < t->rank; d++) found |= decided_names_number(t->extent[d]);
    return found;
}

static struct tensor_note *note_of(const struct results *r, const struct symbol *t)
{
    for (int i = 0; i < r->f->tensor_count; i++)
        if (r->f->tensors[i]->symbol == t) return r->f->tensors[i];
    return NULL;
}

/* What the outermost block gives to a place that is given nothing else. */
static void note_given(struct results *r, const struct ir_op *op)
{
    const struct region *region = op->give.view->region;
    const struct symbol *t = region->base, *place = op->give.place;
    if (ptrmap_get(&r->twice, place) || !is_decided(place->type)) return;
    if (t->kind != SYM_LET || t->place || t->exchange || t->is_taken) return;
    struct tensor_note *note = note_of(r, t);
    if (note) note->given = place;
}

void pass_results(struct checker *c, struct ir_function *f)
{
    (void)c;
    struct results r = {.f = f};
    const struct symbol *place = f->orch->result_place;
    struct ptrmap made = {0}; /* tensors of the outermost block */
    if (!place || place->decided_count == 0 || f->is_broken) return;
    ir_each(f->body, count_give, &r);
    for (const struct ir_op *op = f->body->first; op; op = op->next) {
        if (op->kind == IR_TENSOR) ptrmap_set(&made, op->tensor.symbol, (void *)(uintptr_t)op);
        if (op->kind == IR_GIVE && ptrmap_get(&made, op->give.view->region->base)) note_given(&r, op);
    }
    for (const struct ir_op *op = f->body->first; op; op = op->next) {
        struct tensor_note *note = op->kind == IR_ALLOC ? note_of(&r, op->alloc.symbol) : NULL;
        if (note && note->given) note->needs_alloc = true;
    }
    ptrmap_free(&made);
    ptrmap_free(&r.seen);
    ptrmap_free(&r.twice);
}
