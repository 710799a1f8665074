/* copy.c - a function of its own for each plan: its passes add operations and change those that are there.
 * Invariant  values and views are shared, which no pass changes.
 * Tests      test/codegen/test_verify.c
 */
#include "ir.h"
#include "support/arena.h"
#include "support/ptrmap.h"

struct copy {
    struct arena *mem;
    struct ptrmap scopes; /* SCOPE_BEGIN -> its copy */
};

static struct ir_block *new_block(struct copy *c, const struct ir_block *from)
{
    struct ir_block *to = from ? arena_new(c->mem, struct ir_block) : NULL;
    if (to) *to = *from;
    return to;
}

static struct ir_call *copy_call(struct copy *c, const struct ir_call *from)
{
    struct ir_call *to = arena_new(c->mem, struct ir_call);
    *to = *from;
    to->arguments = arena_array(c->mem, struct ir_argument, from->count);
    for (int i = 0; i < from->count; i++) to->arguments[i] = from->arguments[i];
    return to;
}

/* Its blocks are still those of the original, in new heads. */
static struct ir_op *copy_op(struct copy *c, const struct ir_op *from)
{
    struct ir_op *to = arena_new(c->mem, struct ir_op);
    *to = *from;
    switch (to->kind) {
    case IR_SUBMIT:
    case IR_CALL: to->call = copy_call(c, from->call); break;
    case IR_SCOPE_BEGIN: ptrmap_set(&c->scopes, from, to); break;
    case IR_SCOPE_END: to->scope_end.begin = ptrmap_get(&c->scopes, from->scope_end.begin); break;
    case IR_BLOCK: to->block = new_block(c, from->block); break;
    case IR_FOR: to->loop.body = new_block(c, from->loop.body); break;
    case IR_WHILE:
        to->while_.test = new_block(c, from->while_.test);
        to->while_.body = new_block(c, from->while_.body);
        break;
    case IR_IF:
        to->branch.then = new_block(c, from->branch.then);
        to->branch.other = new_block(c, from->branch.other);
        break;
    default: break;
    }
    return to;
}

/* Operations of the block in place of those of the original.  A chain of branches has any length. */
static void copy_operations(struct copy *c, struct ir_block *block)
{
    struct ir_block *blocks[3];
    while (block) {
        const struct ir_op *from = block->first;
        struct ir_block *rest = NULL;
        block->first = block->last = NULL;
        for (; from; from = from->next) {
            struct ir_op *op = copy_op(c, from);
            op->next = NULL;
            if (block->last)
                block->last->next = op;
            else
                block->first = op;
            block->last = op;
            int count = ir_blocks(op, blocks);
            if (count > 0 && !from->next) rest = blocks[--count];
            for (int i = 0; i < count; i++) copy_operations(c, blocks[i]);
        }
        block = rest;
    }
}

struct ir_function *ir_copy(struct arena *mem, const struct ir_function *f)
{
    struct copy c = {.mem = mem};
    struct ir_function *to = arena_new(mem, struct ir_function);
    *to = *f;
    to->mem = mem;
    to->body = new_block(&c, f->body);
    copy_operations(&c, to->body);
    to->scope = ptrmap_get(&c.scopes, f->scope);
    ptrmap_free(&c.scopes);
    return to;
}
