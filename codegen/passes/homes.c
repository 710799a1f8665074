/* homes.c - is a tensor distributed twice, or behind its first use?
 * Needs      the uses of a function.  Gives E17.
 * Idea       one walk in the order of the text.  In a loop an earlier iteration may have used the tensor: then the run
 *            keeps the distribution that it has.
 * Tests      test/lit/sema/homes.pto
 */
#include "uses.h"
#include "sema/checker.h"
#include "support/ptrmap.h"

struct homes {
    struct checker *c;
    struct ptrmap used, distributed; /* tensor -> where, an ast */
};

static void look_at_distribution(struct homes *h, const struct ir_op *op)
{
    const struct symbol *tensor = op->distribute.tensor;
    const struct ast *at = op->distribute.source, *before = ptrmap_get(&h->distributed, tensor);
    if (before) {
        diag_error(h->c->diag, DIAG_E17, at->at, "'%s' is distributed twice", tensor->name);
        diag_note(h->c->diag, before->at, "the first time is here");
        return;
    }
    ptrmap_set(&h->distributed, tensor, (void *)(uintptr_t)at);
    before = ptrmap_get(&h->used, tensor);
    if (!before) return;
    diag_error(h->c->diag, DIAG_E17, at->at, "'%s' is distributed behind its first use", tensor->name);
    diag_note(h->c->diag, before->at, "it is used here");
}

static bool is_use(enum ir_use_kind kind)
{
    return kind == IR_USE_READ || kind == IR_USE_AWAIT || kind == IR_USE_WRITE || kind == IR_USE_WRITE_PART ||
           kind == IR_USE_MOVE;
}

static void look(void *cx, struct ir_op *op)
{
    struct homes *h = cx;
    if (op->kind == IR_DISTRIBUTE && op->distribute.source)
        look_at_distribution(h, op);
    else if (op->kind == IR_USE && op->use.tensor && is_use(op->use.kind) && !ptrmap_get(&h->used, op->use.symbol))
        ptrmap_set(&h->used, op->use.symbol, (void *)(uintptr_t)op->use.at);
}

void pass_homes(struct checker *c, struct ir_function *f)
{
    struct homes h = {.c = c};
    ir_each(f->body, look, &h);
    ptrmap_free(&h.used);
    ptrmap_free(&h.distributed);
}
