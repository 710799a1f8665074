/* homes.c - is a tensor distributed twice, behind its first use, or otherwise in each iteration of a loop?
 * Needs      the uses of a function.  Gives E17.
 * Idea       one walk in the order of the text.  In a loop an earlier iteration may have used the tensor: then the run
 *            keeps the distribution that it has, so the numbers have to be the same in all iterations.
 * Tests      test/lit/sema/homes.pto, homes-in-loops.pto
 */
#include "uses.h"
#include "sema/checker.h"
#include "support/ptrmap.h"

struct homes {
    struct checker *c;
    struct ptrmap used, distributed, refused; /* tensor -> where, an ast */
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

/* ---- in loops ---------------------------------------------------------------------------------------------------- */

/* One loop: what it makes or changes, by the keys of IR_LET and IR_SET; of a value, whether that changes with it. */
struct loop {
    struct homes *homes;
    struct ptrmap changed, made; /* made: tensors */
    bool changes;
};

static void mark(struct ptrmap *keys, const void *key) { ptrmap_set(keys, key, (void *)(uintptr_t)key); }

/* An element and the result of a call may be others each time. */
static void look_at_value(void *cx, const struct ir_value *v)
{
    struct loop *loop = cx;
    const void *const key = v->kind == IR_TEMPORARY ? (const void *)v->temporary
                            : v->kind == IR_EXTENT  ? (const void *)&v->symbol->captured[v->dim]
                                                    : (const void *)v->symbol;
    loop->changes |= v->kind == IR_ELEMENT || v->kind == IR_RESULT || (key && ptrmap_get(&loop->changed, key));
}

static bool changes(struct loop *loop, const struct ir_op *op)
{
    loop->changes = false;
    ir_each_operand(op, &(struct ir_operands){.cx = loop, .value = look_at_value});
    return loop->changes;
}

static void look_at_sets(void *cx, struct ir_op *op)
{
    struct loop *loop = cx;
    if (op->kind == IR_FOR) mark(&loop->changed, op->loop.symbol);
    if (op->kind != IR_SET) return;
    if (op->set.key) mark(&loop->changed, op->set.key);
    if (op->set.target) mark(&loop->changed, op->set.target->symbol);
}

static void look_at_iteration(void *cx, struct ir_op *op)
{
    struct loop *loop = cx;
    if (op->kind == IR_TENSOR) mark(&loop->made, op->tensor.symbol);
    if (op->kind == IR_LET && changes(loop, op)) mark(&loop->changed, op->let.key);
    if (op->kind != IR_DISTRIBUTE || !op->distribute.source) return;
    const struct symbol *const tensor = op->distribute.tensor;
    struct homes *const h = loop->homes;
    if (ptrmap_get(&loop->made, tensor) || ptrmap_get(&h->refused, tensor) || !changes(loop, op)) return;
    mark(&h->refused, tensor); /* also for the loops inside */
    diag_error(h->c->diag, DIAG_E17, op->distribute.source->at,
               "'%s' is distributed in a loop, by numbers that may change from one iteration to the next",
               tensor->name);
    diag_help(h->c->diag, "a tensor is distributed once: before the loop, or by numbers that it does not change");
}

static void look_at_loop(void *cx, struct ir_op *op)
{
    if (op->kind != IR_FOR && op->kind != IR_WHILE) return;
    struct loop loop = {.homes = cx};
    struct ir_block *const body = op->kind == IR_FOR ? op->loop.body : op->while_.body;
    if (op->kind == IR_FOR) mark(&loop.changed, op->loop.symbol);
    ir_each(body, look_at_sets, &loop);
    ir_each(body, look_at_iteration, &loop);
    ptrmap_free(&loop.changed);
    ptrmap_free(&loop.made);
}

void pass_homes(struct checker *c, struct ir_function *f)
{
    struct homes h = {.c = c};
    ir_each(f->body, look, &h);
    if (h.distributed.count > 0) ir_each(f->body, look_at_loop, &h);
    ptrmap_free(&h.used);
    ptrmap_free(&h.distributed);
    ptrmap_free(&h.refused);
}
