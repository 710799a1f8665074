/* dump.c - the IR as text: --dump=ir, --dump=uses.
 * Idea       one line for each operation, with the line of the program that it comes from; blocks are indented.  Sites
 *            are left out: they are those lines.  Arithmetic that can fail the run has a `!` after its operator: `i *!
 *            64`; a check inside a value stands before it: `(check 0 <= i < N; t[i])`.
 * Tests      test/lit/ir/dump.pto, dump-flash.test
 */
#include "ir.h"
#include "source_text.h"
#include "support/strbuf.h"
#include "support/vec.h"
#include <inttypes.h>
#include <string.h>

struct dump {
    struct front *front;
    struct strbuf *to;
    int depth;
    bool only_uses;                               /* and the blocks that they lie in */
    VEC(const struct ir_temporary *) temporaries; /* t0, t1, ... in the order in which they are first printed */
};

static void put_value(struct dump *d, const struct ir_value *v);
static void put_block(struct dump *d, const struct ir_block *block);
static void put_check(struct dump *d, const struct ir_check *c);

static void put(struct dump *d, const char *text) { strbuf_puts(d->to, text); }

static void put_temporary(struct dump *d, const struct ir_temporary *t)
{
    size_t i = 0;
    while (i < d->temporaries.count && d->temporaries.data[i] != t) i++;
    if (i == d->temporaries.count) vec_push(&d->temporaries, t);
    strbuf_printf(d->to, "%%%s.%zu", t->wanted, i);
}

static void put_symbol(struct dump *d, const struct symbol *s)
{
    put(d, s->name);
    if (s->hidden && !s->decided_name) put(d, "()");
}

static void put_type(struct dump *d, const struct type *t)
{
    put(d, ": ");
    type_text(t, d->to);
}

/* ---- operands ---- */

static void put_box(struct dump *d, const struct region *r)
{
    int64_t one;
    if (r->whole || r->base_rank == 0) return;
    for (int i = 0; i < r->base_rank; i++) {
        put(d, i ? ", " : "[");
        size_text(r->low[i], d->to);
        if (size_is_const(r->span[i], &one) && one == 1) continue;
        put(d, " +: ");
        size_text(r->span[i], d->to);
        if (!r->steps || !r->steps->step[i]) continue;
        put(d, " step ");
        size_text(r->steps->step[i], d->to);
    }
    put(d, "]");
}

static void put_view(struct dump *d, const struct ir_view *v)
{
    put_symbol(d, v->region->base);
    put_box(d, v->region);
}

static void put_operand(struct dump *d, const struct ir_value *v)
{
    const bool enclosed = v->kind == IR_BINARY || v->kind == IR_ONE_OF;
    if (enclosed) put(d, "(");
    put_value(d, v);
    if (enclosed) put(d, ")");
}

static void put_list(struct dump *d, struct ir_value *const *list, int count)
{
    for (int i = 0; i < count; i++) {
        if (i) put(d, ", ");
        put_value(d, list[i]);
    }
}

static void put_argument(struct dump *d, const struct ir_argument *a, bool of_task)
{
    static const char *const words[] = {[IR_ARG_TENSOR] = "",
                                        [IR_ARG_SCALAR] = "",
                                        [IR_ARG_PLACE] = "to ",
                                        [IR_ARG_MOVED] = "own ",
                                        [IR_ARG_ELEMENT] = "own element ",
                                        [IR_ARG_VARIABLE] = "var "};
    put(d, words[a->kind]);
    if (a->kind == IR_ARG_TENSOR && of_task)
        strbuf_printf(d->to, "%s ", a->direction == DIR_NONE ? "in" : direction_text(a->direction));
    if (a->value)
        put_value(d, a->value);
    else if (a->view)
        put_view(d, a->view);
    else if (a->symbol)
        put_symbol(d, a->symbol);
    if (a->written) {
        put(d, " writes ");
        put_view(d, a->written);
    }
    if (a->scope)
        strbuf_printf(d->to, " in scope of line %d",
                      source_place(d->front->sources, a->scope->at.file, a->scope->at.begin).line);
}

static void put_call(struct dump *d, const struct ir_call *call, bool of_task)
{
    for (const struct ir_check *c = call->checks; c; c = c->next) {
        put_check(d, c);
        put(d, "; ");
    }
    strbuf_printf(d->to, "%s(", call->callee->name);
    for (int i = 0; i < call->count; i++) {
        if (i) put(d, ", ");
        put_argument(d, &call->arguments[i], of_task);
    }
    put(d, ")");
    for (int i = 0; i < call->attribute_count; i++) {
        static const char *const words[] = {[IR_PRIORITY] = " priority ",
                                            [IR_TIMEOUT] = " timeout ",
                                            [IR_LABEL] = " name ",
                                            [IR_RANK] = " at rank ",
                                            [IR_HOME] = " at home of "};
        const struct ir_attribute *a = &call->attributes[i];
        put(d, words[a->kind]);
        if (a->value)
            put_value(d, a->value);
        else if (a->view)
            put_view(d, a->view);
        else
            strbuf_json(d->to, a->text, a->length);
    }
}

static void put_numbers(struct dump *d, struct ir_value *const *number, int count)
{
    for (int k = 0; k < count; k++) {
        put(d, k ? ", " : " (");
        if (number[k])
            put_value(d, number[k]);
        else
            put(d, "1");
    }
    put(d, ")");
}

static void put_distribution(struct dump *d, const struct ir_op *op)
{
    const int rank = op->distribute.view->region->rank;
    bool has_cells = false;
    put_view(d, op->distribute.view);
    for (int k = 0; k < rank; k++) has_cells |= op->distribute.cell[k] != NULL;
    put(d, has_cells ? " in cells of" : " in bands");
    if (has_cells) put_numbers(d, op->distribute.cell, rank);
    put(d, op->distribute.source ? " on" : " on a square");
    if (op->distribute.source) put_numbers(d, op->distribute.grid, rank);
}

static void put_element(struct dump *d, const struct ir_value *v)
{
    for (const struct ir_check *c = v->checks; c; c = c->next) {
        put(d, c == v->checks ? "(" : "");
        put_check(d, c);
        put(d, "; ");
    }
    if (v->is_await) put(d, "await ");
    put_view(d, v->view);
    if (v->checks) put(d, ")");
}

static void put_value(struct dump *d, const struct ir_value *v)
{
    const char *sure = v->arithmetic == ARITH_PLAIN ? "" : "!";
    switch (v->kind) {
    case IR_INTEGER: strbuf_printf(d->to, "%" PRId64, v->integer); break;
    case IR_REAL: strbuf_printf(d->to, "%g", v->real); break;
    case IR_BOOLEAN: put(d, v->integer ? "true" : "false"); break;
    case IR_NAME: put_symbol(d, v->symbol); break;
    case IR_TEMPORARY: put_temporary(d, v->temporary); break;
    case IR_STRIDE: strbuf_printf(d->to, "%s.stride[%d]", v->symbol->name, v->dim); break;
    case IR_AT: strbuf_printf(d->to, "%s.at", v->symbol->name); break;
    case IR_EXTENT: strbuf_printf(d->to, "%s.n%d", v->symbol->name, v->dim); break;
    case IR_UNARY:
        put(d, ast_op_text(v->op));
        put_operand(d, v->arg[0]);
        break;
    case IR_BINARY:
        put_operand(d, v->arg[0]);
        strbuf_printf(d->to, " %s%s ", ast_op_text(v->op), sure);
        put_operand(d, v->arg[1]);
        break;
    case IR_CAST:
        type_text(v->type, d->to);
        put(d, "(");
        put_value(d, v->arg[0]);
        put(d, ")");
        break;
    case IR_FUNCTION:
        strbuf_printf(d->to, "%s%s(", v->function, sure);
        put_list(d, v->arg, v->count);
        put(d, ")");
        break;
    case IR_SELECT:
        put(d, "select(");
        put_list(d, v->arg, v->count);
        put(d, ")");
        break;
    case IR_ONE_OF:
        put_value(d, v->arg[0]);
        put(d, " in {");
        put_list(d, v->arg + 1, v->count - 1);
        put(d, "}");
        break;
    case IR_ELEMENT: put_element(d, v); break;
    case IR_RESULT:
        if (v->call->checks) put(d, "(");
        put_call(d, v->call, false);
        if (v->call->checks) put(d, ")");
        break;
    case IR_UNKNOWN: put(d, "?"); break;
    case IR_CHECKED:
        put(d, "(");
        put_check(d, v->checks);
        put(d, "; ");
        put_value(d, v->arg[0]);
        put(d, ")");
        break;
    }
}

static void put_check(struct dump *d, const struct ir_check *c)
{
    put(d, "check ");
    switch (c->kind) {
    case CHECK_INDEX:
        put(d, "0 <= ");
        put_operand(d, c->a);
        put(d, " < ");
        put_operand(d, c->b);
        break;
    case CHECK_FROM_ZERO:
        put(d, "0 <= ");
        put_operand(d, c->a);
        break;
    case CHECK_BELOW:
        put_operand(d, c->a);
        put(d, " < ");
        put_operand(d, c->b);
        break;
    case CHECK_SLICE:
        put(d, "0 <= ");
        put_operand(d, c->a);
        put(d, " <= ");
        put_operand(d, c->b);
        put(d, " <= ");
        put_operand(d, c->c);
        break;
    case CHECK_EXTENT:
    case CHECK_DIMENSION:
        put(d, "0 <= ");
        put_operand(d, c->a);
        break;
    case CHECK_STEPPED:
        put_operand(d, c->a);
        put(d, " +: ");
        put_operand(d, c->b);
        put(d, " step ");
        put_operand(d, c->d);
        put(d, " is in 0 .. ");
        put_operand(d, c->c);
        break;
    case CHECK_STEP:
    case CHECK_SLICE_STEP:
    case CHECK_TILE:
        put_operand(d, c->a);
        put(d, " != 0");
        break;
    case CHECK_VALUE:
        put_operand(d, c->a);
        put(d, " has a value");
        break;
    case CHECK_WHERE: put_operand(d, c->a); break;
    case CHECK_CONTIGUOUS:
        put_view(d, c->view);
        put(d, " is contiguous");
        if (c->from) strbuf_printf(d->to, " from dimension %d", c->from);
        break;
    case CHECK_PRODUCT:
        put_operand(d, c->a);
        put(d, " == ");
        put_operand(d, c->b);
        break;
    case CHECK_DENSE:
        put_view(d, c->view);
        put(d, " is dense");
        break;
    case CHECK_DISJOINT:
        put_view(d, c->view);
        put(d, " is disjoint from ");
        put_view(d, c->other);
        break;
    case CHECK_WRITTEN:
        put_symbol(d, c->symbol);
        put(d, " is written");
        break;
    }
}

/* ---- operations ---- */

static void put_key(struct dump *d, const struct ir_op *op)
{
    if (op->let.temporary)
        put_temporary(d, op->let.temporary);
    else
        put(d, op->let.wanted);
}

static void put_target(struct dump *d, const struct ir_op *op)
{
    if (op->set.target)
        put_value(d, op->set.target);
    else if (!op->set.key)
        put(d, "_");
    else if (op->set.temporary)
        put_temporary(d, op->set.temporary);
    else
        strbuf_printf(d->to, "%s%s", op->set.symbol->name, op->set.key == op->set.symbol ? "" : "_written");
    put(d, " = ");
    put_value(d, op->set.value);
}

static void put_scope(struct dump *d, const struct ir_op *op)
{
    for (int i = 0; i < op->scope.count; i++) {
        put(d, i ? ", " : " holds ");
        put_symbol(d, op->scope.tensors[i]);
    }
}

static void put_tensor(struct dump *d, const struct ir_op *op)
{
    put_symbol(d, op->tensor.symbol);
    put_type(d, op->tensor.symbol->type);
    if (op->tensor.symbol->place) put(d, " in the result");
    if (!op->tensor.at) return;
    put(d, " in the frame at ");
    put_value(d, op->tensor.at);
    if (!op->tensor.rotates) return;
    strbuf_printf(d->to, " + (%s %% 2) * ", op->tensor.rotates->name);
    put_value(d, op->tensor.bytes);
}

/* The expression, where only uses are shown; `maybe`: the right operand of && or ||, an arm of a match. */
static void put_source(struct dump *d, const struct ast *n)
{
    put(d, n ? source_one_line(d->front, d->front->mem, n->at) : "maybe");
}

static void put_condition(struct dump *d, const struct ir_condition *cond, const struct ast *source)
{
    if (cond->value && !d->only_uses)
        put_value(d, cond->value);
    else
        put_source(d, source);
}

static void put_use(struct dump *d, const struct ir_use *use)
{
    static const char *const words[] = {[IR_USE_BEGIN] = "begin",   [IR_USE_BEGIN_ZERO] = "begin zero",
                                        [IR_USE_END] = "end",       [IR_USE_TOUCH] = "touch",
                                        [IR_USE_READ] = "read",     [IR_USE_AWAIT] = "await",
                                        [IR_USE_WRITE] = "write",   [IR_USE_WRITE_PART] = "write the part of",
                                        [IR_USE_DROP] = "drop",     [IR_USE_MOVE] = "move",
                                        [IR_USE_RETURN] = "return", [IR_USE_UNKNOWN] = "unknown",
                                        [IR_USE_TAKE] = "take",     [IR_USE_KEEP] = "keep",
                                        [IR_USE_ALIAS] = "alias"};
    strbuf_printf(d->to, "%s ", words[use->kind]);
    put_symbol(d, use->symbol);
    if (use->region) put_box(d, use->region);
    if (!use->from) return;
    put(d, " = ");
    put_symbol(d, use->from->symbol);
}

static void put_for(struct dump *d, const struct ir_op *op)
{
    if (d->only_uses) {
        strbuf_printf(d->to, "%s", op->loop.source->name);
        return;
    }
    strbuf_printf(d->to, "%s in ", op->loop.symbol->name);
    put_value(d, op->loop.low);
    put(d, " .. ");
    put_value(d, op->loop.high);
    if (op->loop.by != 1) {
        put(d, " step ");
        put_value(d, op->loop.step);
    }
    if (op->loop.strips) put(d, " in strips");
}

static void put_operands(struct dump *d, const struct ir_op *op)
{
    switch (op->kind) {
    case IR_LET:
        put_key(d, op);
        put_type(d, op->let.type);
        put(d, " = ");
        put_value(d, op->let.value);
        break;
    case IR_SET: put_target(d, op); break;
    case IR_STORE:
        put_view(d, op->store.view);
        put(d, " = ");
        put_value(d, op->store.value);
        break;
    case IR_ASSERT:
        if (!d->only_uses)
            put_value(d, op->assertion.cond);
        else
            put_source(d, op->assertion.source);
        break;
    case IR_PRINT:
        strbuf_json(d->to, op->print.format, strlen(op->print.format));
        for (int i = 0; i < op->print.count; i++) {
            put(d, ", ");
            if (op->print.values[i].value)
                put_value(d, op->print.values[i].value);
            else
                put(d, "NUL");
        }
        break;
    case IR_FRAME:
        put_value(d, op->frame.bytes);
        put(d, " where the heap has ");
        put_value(d, op->frame.need);
        break;
    case IR_TENSOR: put_tensor(d, op); break;
    case IR_ALLOC:
        put_symbol(d, op->alloc.symbol);
        put(d, ", ");
        put_value(d, op->alloc.bytes);
        break;
    case IR_DISTRIBUTE: put_distribution(d, op); break;
    case IR_SUBMIT: put_call(d, op->call, true); break;
    case IR_CALL: put_call(d, op->call, false); break;
    case IR_SLOT_USE:
        put(d, op->slot_use.writes ? "write " : "read ");
        put_symbol(d, op->slot_use.symbol);
        break;
    case IR_RELEASE:
        put_symbol(d, op->release.symbol);
        if (op->release.in_frame) put(d, " without a frame");
        break;
    case IR_GIVE:
        put_view(d, op->give.view);
        put(d, " to ");
        put_symbol(d, op->give.place);
        break;
    case IR_TAKE:
    case IR_KEEP:
        put_symbol(d, op->take.to);
        put(d, " = ");
        put_symbol(d, op->take.from);
        break;
    case IR_SCOPE_BEGIN: put_scope(d, op); break;
    case IR_SCOPE_END:
        if (op->scope_end.leaves) put(d, "by leaving");
        break;
    case IR_USE: put_use(d, &op->use); break;
    case IR_FOR: put_for(d, op); break;
    case IR_WHILE:
        if (!op->while_.tests_first) put(d, "after the body ");
        put_condition(d, &op->while_.cond, op->while_.source ? op->while_.source->while_.cond : NULL);
        break;
    case IR_IF: put_condition(d, &op->branch.cond, op->branch.cond.source); break;
    case IR_RETURN:
        if (op->ret.value && !d->only_uses) put_value(d, op->ret.value);
        break;
    default: break;
    }
}

static void begin_line(struct dump *d, struct span at)
{
    strbuf_printf(d->to, "%5d  %*s", source_place(d->front->sources, at.file, at.begin).line, 2 * d->depth, "");
}

/* A chain of `else if` is as long as the program wants: a loop. */
static void put_branches(struct dump *d, const struct ir_op *op)
{
    for (;;) {
        const struct ir_block *other = op->branch.other;
        put_block(d, op->branch.then);
        if (!other) return;
        const bool is_chained = other->first && other->first->kind == IR_IF && other->first->branch.is_chained;
        begin_line(d, is_chained ? other->first->at : op->at);
        put(d, is_chained ? "else if " : "else\n");
        if (!is_chained) {
            put_block(d, other);
            return;
        }
        op = other->first;
        put_operands(d, op);
        put(d, "\n");
    }
}

static void put_op(struct dump *d, const struct ir_op *op)
{
    struct ir_block *blocks[3];
    begin_line(d, op->kind == IR_USE ? op->use.at->at : op->at);
    if (op->kind == IR_CHECK) {
        put_check(d, op->check.check);
        if (op->check.is_hoisted) put(d, "  of all iterations of the loop");
    } else {
        const size_t before = d->to->length;
        put(d, ir_op_name(op->kind));
        put(d, " ");
        put_operands(d, op);
        if (d->to->length == before + strlen(ir_op_name(op->kind)) + 1) d->to->data[--d->to->length] = '\0';
    }
    put(d, "\n");
    if (op->kind == IR_IF) {
        put_branches(d, op);
        return;
    }
    const int count = ir_blocks(op, blocks);
    for (int i = 0; i < count; i++) {
        if (i > 0) {
            begin_line(d, op->at);
            put(d, "body\n");
        }
        put_block(d, blocks[i]);
    }
}

/* A branch without a source is shown for the uses in it: it may be a test of the run. */
static bool shows_uses(const struct ir_op *op)
{
    struct ir_block *blocks[3];
    switch (op->kind) {
    case IR_USE:
    case IR_ASSERT:
    case IR_BLOCK:
    case IR_FOR:
    case IR_WHILE:
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN: return true;
    case IR_IF: break;
    default: return false;
    }
    bool shows = op->branch.cond.source || op->branch.continues;
    for (int i = ir_blocks(op, blocks); i-- > 0;)
        for (const struct ir_op *inner = blocks[i]->first; inner && !shows; inner = inner->next)
            shows = shows_uses(inner);
    return shows;
}

static void put_block(struct dump *d, const struct ir_block *block)
{
    d->depth++;
    for (const struct ir_op *op = block->first; op; op = op->next)
        if (d->only_uses ? shows_uses(op) : op->kind != IR_SITE) put_op(d, op);
    d->depth--;
}

static void print(struct front *front, const struct ir_function *f, bool only_uses, struct strbuf *to)
{
    struct dump d = {.front = front, .to = to, .only_uses = only_uses};
    begin_line(&d, f->orch->decl->at);
    strbuf_printf(to, "orch %s\n", f->orch->name);
    put_block(&d, f->body);
    vec_free(&d.temporaries);
}

void ir_print(struct front *front, const struct ir_function *f, struct strbuf *to) { print(front, f, false, to); }

void ir_print_uses(struct front *front, const struct ir_function *f, struct strbuf *to) { print(front, f, true, to); }
