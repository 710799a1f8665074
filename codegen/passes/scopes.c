/* scopes.c - the pass `scopes`: who owns each tensor, and which scopes the run has.
 * Idea       lowering opens a scope for each block and for each value that needs tensors for a moment.  A scope owns
 *            the tensors that are declared in it and in no scope inside; one that owns none and is not written in the
 *            program is taken away.  The scope of a function may have to hold its frame: the pass `slots` decides.
 * Invariant  an output that the run allocates says which scope owns it, where that is not the current one.
 * Tests      test/lit/codegen/scopes.pto, test/lit/memory/dump.pto
 */
#include "ir/ir.h"
#include "plan.h"
#include "support/arena.h"

struct search {
    struct plan *plan;
    const struct ir_function *function;
    VEC(struct ir_op *) open; /* scopes around the operation at hand, outermost first */
    struct ptrmap owners;     /* tensor -> its SCOPE_BEGIN */
};

/* Calls visit for each operation, with the scopes around it. */
static void walk(struct search *s, struct ir_block *block, void (*visit)(struct search *s, struct ir_op *op))
{
    const size_t mark = s->open.count;
    struct ir_block *blocks[3];
    for (struct ir_op *op = block->first, *next; op; op = next) {
        int count = ir_blocks(op, blocks);
        const bool is_chain = !op->next && count > 0; /* of branches: it has any length */
        visit(s, op);
        if (op->kind == IR_SCOPE_BEGIN) vec_push(&s->open, op);
        if (op->kind == IR_SCOPE_END && !op->scope_end.leaves) s->open.count--;
        next = is_chain ? blocks[--count]->first : op->next;
        for (int i = 0; i < count; i++) walk(s, blocks[i], visit);
    }
    s->open.count = mark;
}

/* ---- who owns what ---- */

static void count_tensor(struct search *s, struct ir_op *op)
{
    if (op->kind != IR_TENSOR || op->tensor.symbol->place) return;
    struct ir_op *owner = s->open.data[s->open.count - 1];
    owner->scope.count++;
    ptrmap_set(&s->owners, op->tensor.symbol, owner);
}

static void list_tensor(struct search *s, struct ir_op *op)
{
    if (op->kind == IR_SCOPE_BEGIN) {
        op->scope.is_dropped = op->scope.count == 0 && !op->scope.is_explicit && op != s->function->scope;
        op->scope.tensors = arena_array(s->plan->mem, const struct symbol *, op->scope.count);
        op->scope.count = 0;
    } else if (op->kind == IR_TENSOR && !op->tensor.symbol->place) {
        struct ir_op *owner = ptrmap_get(&s->owners, op->tensor.symbol);
        owner->scope.tensors[owner->scope.count++] = op->tensor.symbol;
    }
}

/* ---- where outputs go ---- */

static struct ir_op *current_scope(const struct search *s)
{
    for (size_t i = s->open.count; i-- > 0;)
        if (!s->open.data[i]->scope.is_dropped) return s->open.data[i];
    return NULL;
}

static void find_owner_of_alloc(struct search *s, struct ir_op *op)
{
    if (tensor_note_of(s->plan->checked, op->alloc.symbol)->given) return; /* the owner of the result's place */
    struct ir_op *owner = ptrmap_get(&s->owners, op->alloc.symbol);
    if (!owner || owner == current_scope(s)) return;
    owner->scope.is_named = true;
    op->alloc.scope = owner;
}

static void find_owner_of_taken(struct search *s, struct ir_op *op)
{
    struct ir_op *owner = ptrmap_get(&s->owners, op->take.to);
    if (!op->take.moved_in || !owner || owner == current_scope(s)) return;
    owner->scope.is_named = true;
    op->take.scope = owner;
}

static void find_owners(struct search *s, struct ir_op *op)
{
    if (op->kind == IR_ALLOC) find_owner_of_alloc(s, op);
    if (op->kind == IR_TAKE) find_owner_of_taken(s, op);
    if (op->kind != IR_SUBMIT && op->kind != IR_CALL) return;
    for (int i = 0; i < op->call->count; i++) {
        struct ir_argument *a = &op->call->arguments[i];
        const bool is_place = a->kind == IR_ARG_PLACE;
        if (!is_place && (a->kind != IR_ARG_TENSOR || op->kind == IR_CALL || a->direction != DIR_OUT)) continue;
        const struct symbol *base = a->view->region->base;
        const struct tensor_note *note = tensor_note_of(s->plan->checked, base);
        struct ir_op *owner = note->needs_alloc || note->given ? NULL : ptrmap_get(&s->owners, base);
        if (!owner || (owner == current_scope(s) && !is_place)) continue;
        owner->scope.is_named = true;
        a->scope = owner;
    }
}

void scopes_run(struct plan *p)
{
    for (size_t i = 0; i < p->functions.count; i++) {
        struct ir_function *f = p->functions.data[i];
        struct search s = {.plan = p, .function = f};
        walk(&s, f->body, count_tensor);
        walk(&s, f->body, list_tensor);
        walk(&s, f->body, find_owners);
        ir_drop_scopes(f->body);
        vec_free(&s.open);
        ptrmap_free(&s.owners);
    }
}
