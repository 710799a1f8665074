/* ir.c - making values and operations, and what follows from a value alone.
 * Tests      test/codegen/test_verify.c, test/lit/ir
 */
#include "ir.h"
#include "support/arena.h"

static const struct type integer_type = {.kind = TYPE_INT}, boolean_type = {.kind = TYPE_BOOL};

struct ir_value *ir_value_new(struct arena *mem, enum ir_value_kind kind, const struct type *type)
{
    struct ir_value *v = arena_new(mem, struct ir_value);
    v->kind = kind;
    v->type = type ? type : &integer_type;
    v->arithmetic = ARITH_PLAIN;
    return v;
}

struct ir_value *ir_integer(struct arena *mem, int64_t value)
{
    struct ir_value *v = ir_value_new(mem, IR_INTEGER, NULL);
    v->integer = value;
    return v;
}

struct ir_value *ir_boolean(struct arena *mem, bool value)
{
    struct ir_value *v = ir_value_new(mem, IR_BOOLEAN, &boolean_type);
    v->integer = value;
    return v;
}

struct ir_value *ir_of_temporary(struct arena *mem, struct ir_temporary *t)
{
    struct ir_value *v = ir_value_new(mem, IR_TEMPORARY, t->type);
    v->temporary = t;
    return v;
}

static struct ir_value *with_arguments(struct arena *mem, struct ir_value *v, int count)
{
    v->arg = arena_array(mem, struct ir_value *, count);
    v->count = count;
    return v;
}

struct ir_value *ir_unary(struct arena *mem, enum ast_op op, struct ir_value *a)
{
    struct ir_value *v = with_arguments(mem, ir_value_new(mem, IR_UNARY, a->type), 1);
    v->op = op;
    v->arg[0] = a;
    return v;
}

struct ir_value *ir_binary(struct arena *mem, enum ast_op op, enum arithmetic arithmetic, struct ir_value *a,
                           struct ir_value *b)
{
    struct ir_value *v = with_arguments(mem, ir_value_new(mem, IR_BINARY, op < OP_ADD ? &boolean_type : a->type), 2);
    v->op = op;
    v->arithmetic = arithmetic;
    v->arg[0] = a;
    v->arg[1] = b;
    return v;
}

struct ir_value *ir_function(struct arena *mem, const char *name, enum arithmetic arithmetic, const struct type *type,
                             int count)
{
    struct ir_value *v = with_arguments(mem, ir_value_new(mem, IR_FUNCTION, type), count);
    v->function = name;
    v->arithmetic = arithmetic;
    return v;
}

struct ir_value *ir_one_of(struct arena *mem, struct ir_value *a, int count)
{
    struct ir_value *v = with_arguments(mem, ir_value_new(mem, IR_ONE_OF, &boolean_type), count + 1);
    v->arg[0] = a;
    return v;
}

bool ir_is_of_literals(const struct ir_value *v)
{
    if (v->kind != IR_UNARY && v->kind != IR_BINARY) return v->kind == IR_INTEGER;
    for (int i = 0; i < v->count; i++)
        if (!ir_is_of_literals(v->arg[i])) return false;
    return true;
}

bool ir_is_optional(const struct ir_value *v, int i)
{
    return i > 0 && (v->kind == IR_SELECT || (v->kind == IR_BINARY && (v->op == OP_AND || v->op == OP_OR)));
}

bool ir_calls(const struct ir_value *v)
{
    if (v->kind == IR_RESULT) return true;
    for (int i = 0; i < v->count; i++)
        if (ir_calls(v->arg[i])) return true;
    return false;
}

/* or_may: also a value that may get a check, or that a default tries to compute */
static bool fails(const struct ir_value *v, bool or_may)
{
    if (v->checks || v->is_await || v->kind == IR_RESULT || (or_may && v->holder)) return true;
    if ((v->kind == IR_BINARY || v->kind == IR_FUNCTION) &&
        (v->arithmetic == ARITH_CHECKED || (or_may && v->arithmetic == ARITH_TRY)))
        return true;
    if (v->kind == IR_ELEMENT)
        return (v->view->region->base->type->elem == ELEM_U64 && !v->is_stored) || fails(v->view->offset, or_may);
    for (int i = 0; i < v->count; i++)
        if (fails(v->arg[i], or_may)) return true;
    return false;
}

bool ir_can_fail(const struct ir_value *v) { return fails(v, false); }

bool ir_may_fail(const struct ir_value *v) { return fails(v, true); }

const char *ir_op_name(enum ir_op_kind kind)
{
    static const char *const names[] = {
#define IR_OP(kind, name) name,
#include "ir_op.def"
#undef IR_OP
    };
    return names[kind];
}

struct ir_op *ir_append(struct ir_block *block, struct arena *mem, enum ir_op_kind kind, struct span at)
{
    struct ir_op *op = arena_new(mem, struct ir_op);
    op->kind = kind;
    op->at = at;
    if (block->last)
        block->last->next = op;
    else
        block->first = op;
    block->last = op;
    return op;
}

int ir_blocks(const struct ir_op *op, struct ir_block *blocks[3])
{
    int count = 0;
    switch (op->kind) {
    case IR_BLOCK: blocks[count++] = op->block; break;
    case IR_FOR: blocks[count++] = op->loop.body; break;
    case IR_WHILE:
        if (op->while_.test) blocks[count++] = op->while_.test;
        blocks[count++] = op->while_.body;
        break;
    case IR_IF:
        blocks[count++] = op->branch.then;
        if (op->branch.other) blocks[count++] = op->branch.other;
        break;
    default: break;
    }
    return count;
}

struct ir_op *ir_next_in_chain(const struct ir_op *op)
{
    const struct ir_block *other = op->branch.other;
    return other && other->last && other->last->kind == IR_IF && other->last->branch.continues ? other->last : NULL;
}

struct ir_op *ir_insert(struct ir_block *block, struct ir_op *after, struct arena *mem, enum ir_op_kind kind,
                        struct span at)
{
    struct ir_op *op = arena_new(mem, struct ir_op), **link = after ? &after->next : &block->first;
    op->kind = kind;
    op->at = at;
    op->next = *link;
    *link = op;
    if (block->last == after) block->last = op;
    return op;
}

void ir_each(struct ir_block *block, void (*visit)(void *cx, struct ir_op *op), void *cx)
{
    struct ir_block *blocks[3];
    for (struct ir_op *op = block->first, *next; op; op = next) {
        visit(cx, op);
        int count = ir_blocks(op, blocks);
        next = !op->next && count > 0 ? blocks[--count]->first : op->next;
        for (int i = 0; i < count; i++) ir_each(blocks[i], visit, cx);
    }
}

static void remove_here(struct ir_block *block, bool (*test)(void *cx, const struct ir_op *op), void *cx)
{
    struct ir_op **link = &block->first;
    block->last = NULL;
    while (*link) {
        if (test(cx, *link)) {
            struct ir_op *last = block->last; /* what is removed may be the last operation of its statement */
            if (last && !last->statement_end.end && last->kind != IR_SCOPE_BEGIN)
                last->statement_end = (*link)->statement_end;
            *link = (*link)->next;
        } else {
            block->last = *link;
            link = &(*link)->next;
        }
    }
}

void ir_remove(struct ir_block *block, bool (*test)(void *cx, const struct ir_op *op), void *cx)
{
    struct ir_block *blocks[3];
    remove_here(block, test, cx);
    for (struct ir_op *op = block->first, *next; op; op = next) {
        int count = ir_blocks(op, blocks);
        const bool is_chain = !op->next && count > 0;
        for (int i = 0; i < count; i++)
            if (is_chain && i == count - 1)
                remove_here(blocks[i], test, cx);
            else
                ir_remove(blocks[i], test, cx);
        next = is_chain ? blocks[count - 1]->first : op->next;
    }
}

static bool is_dropped(void *cx, const struct ir_op *op)
{
    (void)cx;
    const struct ir_op *begin = op->kind == IR_SCOPE_END ? op->scope_end.begin : op;
    return (op->kind == IR_SCOPE_BEGIN || op->kind == IR_SCOPE_END) && begin->scope.is_dropped;
}

void ir_drop_scopes(struct ir_block *block) { ir_remove(block, is_dropped, NULL); }
