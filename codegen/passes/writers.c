/* writers.c - the pass `writers`: tensors that one task writes, all of them, and nothing writes again.
 * Idea       a task that reads such a tensor need not be remembered, as no later write has to find it, and its producer
 *            is known without a look-up.  Generated code says so with PTO_INPUT_OF.
 * Method     a new tensor qualifies if one task of the text has it as its output, in the innermost loop of the tensor's
 *            `let`, so once for each buffer; if tasks, elements and messages only read it else; and if its buffer is
 *            its own: not in a frame or a result, not of a second name.  What functions get does not qualify: they may
 *            keep it.  What a function returns is written by the call, if on each path of the function one task writes
 *            it, or one call does, and the function ends there.
 * Gives      plan->writers, for tensor_has_one_writer()
 * Tests      test/lit/codegen/one-writer.pto, test/lit/run/one-writer.pto
 */
#include "ir/ir.h"
#include "plan.h"
#include "support/arena.h"

enum { ROUNDS = 8 }; /* over all functions: calls that return what another call does may be so deep */

struct writers {
    struct plan *plan;
    struct ptrmap many;       /* result places that more than one task may write */
    const struct ir_op *op;   /* that is being looked at */
    const struct ir_op *loop; /* the innermost around it */
};

static void exclude(struct writers *w, const struct symbol *t)
{
    struct tensor_writers *const it = ptrmap_get(&w->plan->writers, t);
    if (it) it->is_shared = true;
}

/* All that it returns is one tensor, which one task writes. */
static bool returns_once(const struct writers *w, const struct symbol *callee)
{
    const struct symbol *const place = callee->result_place;
    return place && callee->result->kind == TYPE_TENSOR && place->decided_count == 0 &&
           ptrmap_get(&w->plan->function_of, callee) && !ptrmap_get(&w->many, place);
}

static bool is_result(const struct writers *w, const struct ir_call *c, const struct ir_argument *a)
{
    return w->op->kind == IR_CALL && w->op->call == c && a->kind == IR_ARG_PLACE && returns_once(w, c->callee);
}

static void look_at_output(struct writers *w, const struct ir_argument *a)
{
    struct tensor_writers *const it = ptrmap_get(&w->plan->writers, a->view->region->base);
    if (!it) return;
    it->count++;
    if (!a->view->region->whole || it->loop != w->loop) it->is_shared = true;
}

static void look_at_call(void *cx, const struct ir_call *c)
{
    struct writers *const w = cx;
    const bool is_task = w->op->kind == IR_SUBMIT && w->op->call == c;
    for (int i = 0; i < c->count; i++) {
        const struct ir_argument *const a = &c->arguments[i];
        if (!a->view) continue;
        if ((is_task && a->direction == DIR_OUT) || is_result(w, c, a))
            look_at_output(w, a);
        else if (!is_task || (a->direction != DIR_IN && a->direction != DIR_NONE))
            exclude(w, a->view->region->base);
    }
}

static void look_at_tensor(void *cx, const struct symbol *t, enum ir_touch how)
{
    struct writers *const w = cx;
    switch (w->op->kind) {
    case IR_STORE:
    case IR_ALLOC:
    case IR_DISTRIBUTE:
    case IR_SLOT_USE:
    case IR_GIVE:
    case IR_TAKE:
    case IR_KEEP: exclude(w, t); break; /* values that are read there are excluded as well, which does no harm */
    default:
        if (how == IR_TOUCH_END && w->op->kind != IR_RELEASE) exclude(w, t);
        break;
    }
}

/* Its buffer is in no frame and no result, and no other name ever has it. */
static bool is_of_its_own(const struct plan *p, const struct symbol *t)
{
    const struct tensor_note *const note = tensor_note_of(p->checked, t);
    return tensor_is_new(t) && !t->place && !t->exchange && !note->given && !note->escapes && !ptrmap_get(&p->slots, t);
}

static void look_at_op(struct writers *w, const struct ir_op *op)
{
    w->op = op;
    if (op->kind == IR_TENSOR) {
        const struct symbol *const t = op->tensor.symbol;
        if (!is_of_its_own(w->plan, t)) return;
        struct tensor_writers *const it = arena_new(w->plan->mem, struct tensor_writers);
        *it = (struct tensor_writers){.loop = w->loop, .is_shared = ptrmap_get(&w->plan->writers, t) != NULL};
        ptrmap_set(&w->plan->writers, t, it);
        return;
    }
    ir_each_operand(op, &(struct ir_operands){.cx = w, .call = look_at_call, .tensor = look_at_tensor});
}

/* As ir_each(), and it knows the innermost loop. */
static void look_at_block(struct writers *w, const struct ir_block *block)
{
    const struct ir_op *const outside = w->loop;
    struct ir_block *blocks[3];
    for (const struct ir_op *op = block->first, *next; op; op = next) {
        look_at_op(w, op);
        int count = ir_blocks(op, blocks);
        next = !op->next && count > 0 ? blocks[--count]->first : op->next;
        const struct ir_op *const around = w->loop;
        if (op->kind == IR_FOR || op->kind == IR_WHILE) w->loop = op;
        for (int i = 0; i < count; i++) look_at_block(w, blocks[i]);
        if (next == op->next) w->loop = around;
    }
    w->loop = outside;
}

/* ---- what functions return --------------------------------------------------------------------------------------- */

/* What one operation does to the result of its function. */
struct result_use {
    const struct writers *w;
    const struct symbol *place;
    int touches, writes;
};

static void count_writes(void *cx, const struct ir_call *c)
{
    struct result_use *const u = cx;
    const struct ir_op *const op = u->w->op;
    for (int i = 0; i < c->count; i++) {
        const struct ir_argument *const a = &c->arguments[i];
        if (!a->view || a->view->region->base != u->place || !a->view->region->whole) continue;
        const bool is_output = op->kind == IR_SUBMIT && op->call == c && a->direction == DIR_OUT && !a->written;
        if (is_output || is_result(u->w, c, a)) u->writes++;
    }
}

static void count_touches(void *cx, const struct symbol *t, enum ir_touch how)
{
    struct result_use *const u = cx;
    (void)how;
    u->touches += t == u->place;
}

static bool ends_after(const struct ir_op *op)
{
    for (op = op->next; op; op = op->next)
        if (op->kind == IR_RETURN)
            return true;
        else if (op->kind != IR_SITE && op->kind != IR_SCOPE_END && op->kind != IR_RELEASE)
            return false;
    return false;
}

/* false: the operation, whichever comes first, may be one of several that write the result. */
static bool keeps_once(struct result_use *u, const struct ir_op *op)
{
    if (op->kind == IR_TENSOR) {
        const struct tensor_note *const note = tensor_note_of(u->w->plan->checked, op->tensor.symbol);
        return op->tensor.symbol->place != u->place && note->given != u->place;
    }
    if (op->kind == IR_GIVE && op->give.place == u->place) return false;
    u->touches = u->writes = 0;
    ir_each_operand(op, &(struct ir_operands){.cx = u, .call = count_writes, .tensor = count_touches});
    return u->touches == 0 || (u->touches == 1 && u->writes == 1 && ends_after(op));
}

struct result_look {
    struct writers *w;
    struct result_use use;
    bool is_once;
};

static void look_at_result(void *cx, struct ir_op *op)
{
    struct result_look *const l = cx;
    l->w->op = op;
    if (l->is_once) l->is_once = keeps_once(&l->use, op);
}

/* Those are left out that return by the result of one that is left out.  true: the next round may leave out more. */
static bool leave_out(struct writers *w)
{
    bool any = false;
    for (size_t i = 0; i < w->plan->functions.count; i++) {
        const struct ir_function *const f = w->plan->functions.data[i];
        if (!returns_once(w, f->orch)) continue;
        struct result_look l = {.w = w, .use = {.w = w, .place = f->orch->result_place}, .is_once = true};
        ir_each(f->body, look_at_result, &l);
        if (l.is_once) continue;
        ptrmap_set(&w->many, f->orch->result_place, w);
        any = true;
    }
    return any;
}

static void leave_out_all(struct writers *w)
{
    for (size_t i = 0; i < w->plan->functions.count; i++) {
        const struct symbol *const place = w->plan->functions.data[i]->orch->result_place;
        if (place) ptrmap_set(&w->many, place, w);
    }
}

void writers_run(struct plan *p)
{
    struct writers w = {.plan = p};
    int rounds = 0;
    while (leave_out(&w) && ++rounds < ROUNDS) {}
    if (rounds == ROUNDS) leave_out_all(&w);
    for (size_t i = 0; i < p->functions.count; i++) look_at_block(&w, p->functions.data[i]->body);
    ptrmap_free(&w.many);
}
