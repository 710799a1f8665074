/* keeps.c - the pass `keeps`: a second name of a value that the first name does not need any more takes it over.
 * Idea       in `let t = a; a = b; b = t;` nothing uses a between its second name and its next value.  So t can have
 *            the buffer alone: KEEP becomes TAKE.  Names none of which shares a buffer have a buffer each, so they can
 *            lie in a frame, and their releases compare no pointers.
 * Method     backward: is the value that a name has used later?
 * Gives      is_shared of the names that change buffers: where a KEEP is left.  Takes away the tests whether two such
 *            names have one buffer, where no two do.
 * Tests      test/lit/codegen/swap.pto, test/lit/memory/swap.pto
 */
#include "dataflow.h"
#include "plan.h"
#include "support/arena.h"

struct keeps {
    struct ptrmap numbers; /* name -> 1 + its number, as a pointer */
    VEC(const struct symbol *) names;
    bool has_keep;
};

static unsigned char *later_of(const struct keeps *k, struct dataflow_state *s, const struct symbol *name)
{
    const size_t n = (size_t)(uintptr_t)ptrmap_get(&k->numbers, name);
    return n > 0 ? (unsigned char *)s->data + n - 1 : NULL;
}

/* ---- values that are used later ---- */

struct step {
    const struct keeps *keeps;
    struct dataflow_state *later;
};

static void note_use(void *cx, const struct symbol *t, enum ir_touch how)
{
    const struct step *s = cx;
    unsigned char *later = later_of(s->keeps, s->later, t);
    if (later && how != IR_TOUCH_NAME) *later = true;
}

static void set_later(const struct keeps *k, struct dataflow_state *s, const struct symbol *name, bool is_used)
{
    unsigned char *later = later_of(k, s, name);
    if (later) *later = is_used;
}

static void step(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    const struct keeps *k = d->cx;
    if (s->is_dead) return;
    switch (op->kind) {
    case IR_TENSOR: set_later(k, s, op->tensor.symbol, false); return;
    case IR_RELEASE: set_later(k, s, op->release.symbol, false); return;
    case IR_KEEP:
        if (!d->is_silent && !*later_of(k, s, op->take.from)) {
            struct ir_op *take = (struct ir_op *)(uintptr_t)op;
            take->kind = IR_TAKE;
            take->take.is_empty = true; /* what it had has ended, as before a KEEP */
        }
        break;
    case IR_TAKE: break;
    default: ir_each_operand(op, &(struct ir_operands){.cx = &(struct step){k, s}, .tensor = note_use}); return;
    }
    set_later(k, s, op->take.to, false);
    set_later(k, s, op->take.from, true);
}

static void meet(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other)
{
    const struct keeps *k = d->cx;
    for (size_t n = 0; n < k->names.count; n++)
        ((unsigned char *)into->data)[n] |= ((const unsigned char *)other->data)[n];
}

/* ---- a function ---- */

static void number_names(void *cx, struct ir_op *op)
{
    struct keeps *k = cx;
    if (op->kind != IR_KEEP) return;
    const struct exchange *names = op->take.from->exchange;
    k->has_keep = true;
    if (ptrmap_get(&k->numbers, names->names[0])) return; /* and so all of them */
    for (int i = 0; i < names->count; i++) {
        vec_push(&k->names, names->names[i]);
        ptrmap_set(&k->numbers, names->names[i], (void *)(uintptr_t)k->names.count);
    }
}

static void note_shared(void *cx, struct ir_op *op)
{
    (void)cx;
    if (op->kind == IR_KEEP) op->take.from->exchange->is_shared = true;
}

/* Two names that change buffers, and have one each. */
static bool is_test_of_other_buffer(void *cx, const struct ir_op *op)
{
    const struct ir_check *c = op->kind == IR_CHECK ? op->check.check : NULL;
    (void)cx;
    if (!c || c->kind != CHECK_DISJOINT || c->next) return false;
    const struct symbol *a = c->view->region->base, *b = c->other->region->base;
    return a != b && a->exchange && a->exchange == b->exchange && !a->exchange->is_shared;
}

static void look_at_function(struct ir_function *f)
{
    struct keeps k = {0};
    ir_each(f->body, number_names, &k);
    if (k.has_keep) {
        const struct dataflow_client client = {.bytes = k.names.count, .is_backward = true, .step = step, .meet = meet};
        struct dataflow_state s = dataflow_start(&client);
        dataflow_run(&client, &k, f, &s);
        dataflow_free(&s);
        for (size_t i = 0; i < k.names.count; i++) k.names.data[i]->exchange->is_shared = false;
        ir_each(f->body, note_shared, &k);
        ir_remove(f->body, is_test_of_other_buffer, &k);
    }
    ptrmap_free(&k.numbers);
    vec_free(&k.names);
}

void keeps_run(struct plan *p)
{
    for (size_t i = 0; i < p->functions.count; i++) look_at_function(p->functions.data[i]);
}
