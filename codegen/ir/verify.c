/* verify.c - does a function of the IR keep what lowering promised and every pass relies on?
 * Idea       one walk over the operations, which knows what is defined, which scopes are open and which tensors are
 *            released on the path to each; branches are walked from the same state and joined.
 * Method     a path that jumps away joins nothing.  A loop is walked once: its body must leave the state as it found
 *            it.
 * Tests      test/codegen/test_verify.c: one test for each kind of fault
 */
#include "ir.h"
#include "plan.h"
#include "support/arena.h"
#include <stdio.h>
#include <stdlib.h>

typedef VEC(const void *) key_list;

/* On the path to here. */
struct state {
    key_list released; /* tensors */
    key_list scopes;   /* SCOPE_BEGIN operations, outermost first */
    bool is_reachable;
};

struct loop {
    const struct state *begin; /* of each iteration */
    size_t defined, scopes;    /* how many are defined before the loop, and open around it */
};

struct verifier {
    struct front *front;
    const struct ir_function *function;
    const struct ir_op *op; /* being looked at */
    key_list defined;
    struct ptrmap defined_at; /* key -> 1 + where it stood in `defined` when it was defined last, as a pointer */
    const char *fault;        /* the first one; NULL: none */
};

/* ---- faults ---- */

static void fault(struct verifier *v, const char *what, const char *name)
{
    if (v->fault) return;
    const struct span at = v->op ? v->op->at : v->function->orch->decl->at;
    v->fault =
        arena_printf(v->front->mem, "line %d, %s: %s%s%s", source_place(v->front->sources, at.file, at.begin).line,
                     v->op ? ir_op_name(v->op->kind) : "function", name ? name : "", name ? " " : "", what);
}

static void expect(struct verifier *v, bool holds, const char *what, const char *name)
{
    if (!holds) fault(v, what, name);
}

/* ---- sets of keys ---- */

static bool has(const key_list *list, const void *key)
{
    for (size_t i = list->count; i-- > 0;)
        if (list->data[i] == key) return true;
    return false;
}

/* One of the first `count`? */
static bool was_defined(const struct verifier *v, const void *key, size_t count)
{
    const size_t at = (size_t)(uintptr_t)ptrmap_get(&v->defined_at, key);
    return at > 0 && at <= count && v->defined.data[at - 1] == key;
}

static bool is_defined(const struct verifier *v, const void *key) { return was_defined(v, key, v->defined.count); }

static void define(struct verifier *v, const void *key)
{
    if (is_defined(v, key)) return;
    vec_push(&v->defined, key);
    ptrmap_set(&v->defined_at, key, (void *)(uintptr_t)v->defined.count);
}

static void copy(key_list *to, const key_list *from)
{
    *to = (key_list){0};
    for (size_t i = 0; i < from->count; i++) vec_push(to, from->data[i]);
}

static struct state state_copy(const struct state *s)
{
    struct state to = {.is_reachable = s->is_reachable};
    copy(&to.released, &s->released);
    copy(&to.scopes, &s->scopes);
    return to;
}

static void state_free(struct state *s)
{
    vec_free(&s->released);
    vec_free(&s->scopes);
}

static bool same_keys(const key_list *a, const key_list *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (!has(b, a->data[i])) return false;
    return a->count == b->count;
}

/* Until `settle`. */
static bool has_uses(const struct verifier *v) { return v->function->tensors != NULL; }

/* ---- operands ---- */

static void verify_value(struct verifier *v, struct state *s, const struct ir_value *value);

static bool is_result_place(const struct verifier *v, const struct symbol *s)
{
    return s->place == s && v->function->orch->result_place;
}

static void verify_tensor(struct verifier *v, const struct state *s, const struct symbol *tensor)
{
    if (tensor->place) {
        expect(v, is_result_place(v, tensor->place), "lies in a result that the function does not have", tensor->name);
        return;
    }
    expect(v, is_defined(v, tensor), "is used before it is defined", tensor->name);
    expect(v, !has(&s->released, tensor), "is used after its release", tensor->name);
}

/* Where all is known.  An empty view is nowhere. */
static void verify_extents(struct verifier *v, const struct region *r)
{
    int64_t low, span, extent;
    if (r->is_left_out) return;
    for (int d = 0; d < r->base_rank; d++)
        if (!size_is_const(r->span[d], &span) || span <= 0) return;
    for (int d = 0; d < r->base_rank; d++)
        if (size_is_const(r->low[d], &low) && size_is_const(r->span[d], &span) &&
            size_is_const(r->base->type->extent[d], &extent))
            expect(v, low >= 0 && span <= extent - low, "is viewed outside of its extents", r->base->name);
}

static void verify_view(struct verifier *v, struct state *s, const struct ir_view *view)
{
    const struct region *r = view->region;
    verify_tensor(v, s, r->base);
    verify_value(v, s, view->offset);
    for (int d = 0; d < r->rank; d++) {
        if (view->extent[d]) verify_value(v, s, view->extent[d]);
        if (view->stride[d]) verify_value(v, s, view->stride[d]);
    }
    verify_extents(v, r);
}

static void verify_checks(struct verifier *v, struct state *s, const struct ir_check *list)
{
    for (const struct ir_check *c = list; c; c = c->next) {
        if (c->a) verify_value(v, s, c->a);
        if (c->b) verify_value(v, s, c->b);
        if (c->c) verify_value(v, s, c->c);
        if (c->d) verify_value(v, s, c->d);
        if (c->view && c->kind != CHECK_WRITTEN) verify_view(v, s, c->view);
        if (c->other) verify_view(v, s, c->other);
        for (int i = 0; i < c->message.count; i++) verify_value(v, s, c->message.values[i]);
        if (c->kind == CHECK_WRITTEN)
            expect(v, is_defined(v, c->flag), "has no flag for whether it is written", c->symbol->name);
    }
}

static void verify_name(struct verifier *v, const struct symbol *s)
{
    const struct symbol *kept = s->place ? s->place : s;
    if (s->kind == SYM_PARAM || s->kind == SYM_CONST || is_result_place(v, kept)) return;
    expect(v, is_defined(v, kept), "is used before it is defined", s->name);
}

/* An argument that was moved in may be moved on along one path only: pto_drop() knows.  A name that can get another
 * buffer is NULL while it has none.  Where there are uses, they have yet to be looked at. */
static void end_lifetime(const struct verifier *v, struct state *s, const struct symbol *tensor)
{
    if (tensor->kind != SYM_FORMAL && !tensor->exchange && !has_uses(v)) vec_push(&s->released, tensor);
}

static void verify_call(struct verifier *v, struct state *s, const struct ir_call *call)
{
    verify_checks(v, s, call->checks);
    for (int i = 0; i < call->count; i++) {
        const struct ir_argument *a = &call->arguments[i];
        if (a->value) verify_value(v, s, a->value);
        if (a->view) verify_view(v, s, a->view);
        if (a->written) verify_view(v, s, a->written);
        if (a->kind == IR_ARG_VARIABLE && a->symbol) verify_name(v, a->symbol);
        if (a->scope)
            expect(v, has(&s->scopes, a->scope), "is given to a scope that is not open", a->view->region->base->name);
    }
    for (int i = 0; i < call->attribute_count; i++) {
        if (call->attributes[i].value) verify_value(v, s, call->attributes[i].value);
        if (call->attributes[i].view) verify_view(v, s, call->attributes[i].view);
    }
    for (int i = 0; i < call->count; i++) /* the callee ends its lifetime */
        if (call->arguments[i].kind == IR_ARG_MOVED) end_lifetime(v, s, call->arguments[i].view->region->base);
}

static void verify_value(struct verifier *v, struct state *s, const struct ir_value *value)
{
    if (v->function->is_broken) return;
    verify_checks(v, s, value->checks);
    for (int i = 0; i < value->count; i++) verify_value(v, s, value->arg[i]);
    switch (value->kind) {
    case IR_NAME: verify_name(v, value->symbol); break;
    case IR_TEMPORARY:
        expect(v, is_defined(v, value->temporary), "is used before it is defined", value->temporary->wanted);
        break;
    case IR_STRIDE:
    case IR_AT:
        if (!is_result_place(v, value->symbol))
            expect(v, is_defined(v, value->symbol), "is no argument of the function", value->symbol->name);
        break;
    case IR_EXTENT:
        expect(v, is_defined(v, &value->symbol->captured[value->dim]), "has a size that is used before it is stored",
               value->symbol->name);
        break;
    case IR_ELEMENT: verify_view(v, s, value->view); break;
    case IR_RESULT: verify_call(v, s, value->call); break;
    default: break;
    }
}

/* ---- uses, which `settle` removes ---- */

static void verify_operand(struct verifier *v, struct state *s, const struct ir_value *value)
{
    if (value)
        verify_value(v, s, value);
    else
        expect(v, has_uses(v), "has no value", NULL);
}

/* A tensor without a number is a result that has no name; the next value of a var begins with its write. */
static void verify_use(struct verifier *v, const struct ir_use *use)
{
    const struct tensor_note *t = use->tensor;
    const char *name = use->symbol->name;
    const bool begins = use->kind == IR_USE_BEGIN || use->kind == IR_USE_BEGIN_ZERO;
    expect(v, has_uses(v), "is no operation of a settled function", NULL);
    if (!t || t->number < 0 || v->fault) return;
    expect(v, t->number < v->function->tensor_count && v->function->tensors[t->number] == t,
           "has the number of another", name);
    expect(v, begins || use->symbol->next_of || is_defined(v, use->symbol), "is used before it begins", name);
    if (begins) define(v, use->symbol);
}

/* ---- operations ---- */

static void verify_op(struct verifier *v, struct state *s, const struct ir_op *op, const struct loop *loop);
static void verify_block(struct verifier *v, struct state *s, const struct ir_block *block, const struct loop *loop);

static void verify_release(struct verifier *v, struct state *s, const struct symbol *tensor)
{
    expect(v, is_defined(v, tensor), "is released before it is defined", tensor->name);
    expect(v, !has(&s->released, tensor), "is released twice", tensor->name);
    end_lifetime(v, s, tensor);
}

/* Tensors of a block that is complete: the next iteration has new ones. */
static void forget_undefined(const struct verifier *v, struct state *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->released.count; i++)
        if (is_defined(v, s->released.data[i])) s->released.data[kept++] = s->released.data[i];
    s->released.count = kept;
}

static void verify_scope_end(struct verifier *v, struct state *s, const struct ir_op *op)
{
    const size_t open = s->scopes.count;
    expect(v, open > 0, "ends a scope where none is open", NULL);
    if (open == 0) return;
    expect(v, s->scopes.data[open - 1] == op->scope_end.begin, "ends a scope that is not the innermost one", NULL);
    s->scopes.count--;
}

static void verify_jump(struct verifier *v, struct state *s, const struct ir_op *op, const struct loop *loop)
{
    if (op->kind == IR_RETURN) {
        if (op->ret.value) verify_value(v, s, op->ret.value);
        expect(v, s->scopes.count == 0, "leaves scopes open", NULL);
    } else if (!loop) {
        fault(v, "is outside of every loop", NULL);
    } else {
        expect(v, s->scopes.count == loop->scopes, "leaves scopes open, or ends one too many", NULL);
        for (size_t i = 0; op->kind == IR_CONTINUE && i < s->released.count; i++) {
            const struct symbol *tensor = s->released.data[i];
            expect(v, !was_defined(v, tensor, loop->defined) || has(&loop->begin->released, tensor),
                   "is released although the next iteration has to have it", tensor->name);
        }
    }
    s->is_reachable = false;
}

/* A tensor may be released on one of two paths, where memory matters: from there on nothing may use or release it. */
static void verify_join(struct verifier *v, struct state *s, struct state *other)
{
    if (!other->is_reachable) return;
    if (!s->is_reachable) {
        state_free(s);
        *s = state_copy(other);
        return;
    }
    expect(v, s->scopes.count == other->scopes.count, "has branches that leave different scopes open", NULL);
    for (size_t i = 0; i < other->released.count; i++)
        if (!has(&s->released, other->released.data[i])) vec_push(&s->released, other->released.data[i]);
}

/* A chain of branches is walked in a loop: it has any length. */
static void verify_branch(struct verifier *v, struct state *s, const struct ir_op *op, const struct loop *loop)
{
    struct state joined = {.is_reachable = false}; /* after the branches; s stays what each condition is reached with */
    for (;;) {
        const struct ir_block *other = op->branch.other;
        v->op = op;
        verify_operand(v, s, op->branch.cond.value);
        if (op->branch.cond.value && op->branch.cond.value->kind != IR_UNKNOWN)
            expect(v, op->branch.cond.value->type->kind == TYPE_BOOL, "has a condition that is no bool", NULL);
        struct state then = state_copy(s);
        verify_block(v, &then, op->branch.then, loop);
        v->op = op;
        verify_join(v, &joined, &then);
        state_free(&then);
        if (!other || v->fault) break;
        if (other->last && other->last->kind == IR_IF && other->last->branch.is_chained) {
            for (op = other->first; op != other->last && !v->fault; op = op->next) verify_op(v, s, op, loop); /* uses */
            continue;
        }
        verify_block(v, s, other, loop);
        break;
    }
    v->op = op;
    verify_join(v, &joined, s);
    state_free(s);
    *s = joined;
}

/* The body, and for a `while` what is tested: in each iteration, which begins as the first one. */
static void verify_loop(struct verifier *v, struct state *s, const struct ir_op *op)
{
    const size_t mark = v->defined.count;
    struct state body = state_copy(s);
    const struct loop loop = {s, mark, s->scopes.count};
    if (op->kind == IR_FOR) {
        verify_operand(v, s, op->loop.low);
        verify_operand(v, s, op->loop.high);
        verify_operand(v, s, op->loop.step);
        define(v, op->loop.symbol);
        verify_block(v, &body, op->loop.body, &loop);
    } else if (op->while_.test) {
        if (op->while_.begin) define(v, op->while_.begin);
        for (const struct ir_op *t = op->while_.test->first; t && !v->fault; t = t->next) verify_op(v, &body, t, &loop);
        verify_operand(v, &body, op->while_.cond.value); /* names of the test are in reach */
        verify_block(v, &body, op->while_.body, &loop);
    } else {
        verify_value(v, s, op->while_.cond.value);
        verify_block(v, &body, op->while_.body, &loop);
    }
    v->op = op;
    if (body.is_reachable)
        expect(v, same_keys(&body.released, &s->released), "releases in one iteration what the next one has to have",
               NULL);
    if (body.is_reachable) expect(v, body.scopes.count == s->scopes.count, "has a body that leaves scopes open", NULL);
    state_free(&body);
    v->defined.count = mark;
}

/* Of a program with an error only uses, and the blocks that they lie in, are complete. */
static bool is_known_in_errors(const struct ir_op *op)
{
    switch (op->kind) {
    case IR_USE:
    case IR_BLOCK:
    case IR_FOR:
    case IR_WHILE:
    case IR_IF:
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN: return true;
    default: return false;
    }
}

static void verify_op(struct verifier *v, struct state *s, const struct ir_op *op, const struct loop *loop)
{
    v->op = op;
    if (v->function->is_broken && !is_known_in_errors(op)) return;
    switch (op->kind) {
    case IR_SITE: break;
    case IR_LET:
        verify_value(v, s, op->let.value);
        define(v, op->let.key);
        if (op->let.temporary && op->let.temporary->stands_for) define(v, op->let.temporary->stands_for);
        break;
    case IR_SET:
        verify_value(v, s, op->set.value);
        if (op->set.target) verify_value(v, s, op->set.target);
        if (op->set.key)
            expect(v, is_defined(v, op->set.key), "is set before it is defined",
                   op->set.symbol ? op->set.symbol->name : "a temporary");
        break;
    case IR_STORE:
        verify_value(v, s, op->store.value);
        verify_view(v, s, op->store.view);
        break;
    case IR_CHECK:
        expect(v, op->check.check || has_uses(v), "tests nothing", NULL);
        verify_checks(v, s, op->check.check);
        break;
    case IR_ASSERT: verify_operand(v, s, op->assertion.cond); break;
    case IR_PRINT:
        for (int i = 0; i < op->print.count; i++)
            if (op->print.values[i].value) verify_value(v, s, op->print.values[i].value);
        break;
    case IR_FRAME:
        verify_value(v, s, op->frame.bytes);
        verify_value(v, s, op->frame.need);
        break;
    case IR_TENSOR:
        if (op->tensor.at) verify_value(v, s, op->tensor.at);
        define(v, op->tensor.symbol);
        break;
    case IR_ALLOC:
        verify_value(v, s, op->alloc.bytes);
        verify_tensor(v, s, op->alloc.symbol);
        break;
    case IR_DISTRIBUTE:
        verify_view(v, s, op->distribute.view);
        for (int d = 0; d < MAX_RANK; d++) {
            if (op->distribute.cell[d]) verify_value(v, s, op->distribute.cell[d]);
            if (op->distribute.grid[d]) verify_value(v, s, op->distribute.grid[d]);
        }
        break;
    case IR_SUBMIT:
        expect(v, op->call->callee->kind == SYM_KERNEL, "is submitted and is no kernel", op->call->callee->name);
        expect(v, op->call->count >= op->call->callee->formal_count, "has too few arguments", op->call->callee->name);
        verify_call(v, s, op->call);
        break;
    case IR_CALL:
        expect(v, op->call->callee->kind == SYM_ORCH, "is called and is no function", op->call->callee->name);
        verify_call(v, s, op->call);
        break;
    case IR_SLOT_USE: verify_tensor(v, s, op->slot_use.symbol); break;
    case IR_RELEASE: verify_release(v, s, op->release.symbol); break;
    case IR_GIVE:
        expect(v, is_result_place(v, op->give.place), "is no result of the function", op->give.place->name);
        verify_view(v, s, op->give.view);
        break;
    case IR_TAKE:
    case IR_KEEP:
        verify_tensor(v, s, op->take.to);
        verify_tensor(v, s, op->take.from);
        expect(v, op->take.to->exchange && op->take.to->exchange == op->take.from->exchange,
               "gets a buffer that it cannot have", op->take.to->name);
        expect(v, (op->take.from->kind == SYM_FORMAL) == (op->take.moved_in != NULL), "is moved in, or is not",
               op->take.from->name);
        if (op->take.moved_in) verify_view(v, s, op->take.moved_in);
        if (op->take.scope)
            expect(v, has(&s->scopes, op->take.scope), "gets a buffer of a scope that is not open", op->take.to->name);
        break;
    case IR_SCOPE_BEGIN: vec_push(&s->scopes, op); break;
    case IR_SCOPE_END: verify_scope_end(v, s, op); break;
    case IR_BLOCK: verify_block(v, s, op->block, loop); break;
    case IR_FOR:
    case IR_WHILE: verify_loop(v, s, op); break;
    case IR_IF: verify_branch(v, s, op, loop); break;
    case IR_BREAK:
    case IR_CONTINUE:
    case IR_RETURN: verify_jump(v, s, op, loop); break;
    case IR_USE: verify_use(v, &op->use); break;
    case IR_OP_COUNT: fault(v, "is no operation", NULL); break;
    }
}

static void verify_block(struct verifier *v, struct state *s, const struct ir_block *block, const struct loop *loop)
{
    const size_t mark = v->defined.count, scopes = s->scopes.count;
    for (const struct ir_op *op = block->first; op && !v->fault; op = op->next)
        if (s->is_reachable) verify_op(v, s, op, loop);
    if (s->is_reachable) expect(v, s->scopes.count == scopes, "leaves a scope of its block open", NULL);
    v->defined.count = mark;
    forget_undefined(v, s);
}

const char *ir_verify(struct front *front, const struct ir_function *f)
{
    struct verifier v = {.front = front, .function = f};
    struct state s = {.is_reachable = true};
    symbol_list formals = {0};
    flat_formals(f->orch, &formals);
    for (size_t i = 0; i < formals.count; i++) define(&v, formals.data[i]);
    for (int i = 0; i < f->orch->dim_count; i++) define(&v, f->orch->dims[i]);
    verify_block(&v, &s, f->body, NULL);
    v.op = NULL;
    expect(&v, !s.is_reachable, "ends without a return", NULL);
    vec_free(&formals);
    vec_free(&v.defined);
    ptrmap_free(&v.defined_at);
    state_free(&s);
    return v.fault;
}

void ir_expect_valid(struct front *front, const struct ir_function *f, const char *pass)
{
#if PTO_CHECK
    const char *fault = ir_verify(front, f);
    if (!fault) return;
    fprintf(stderr, "ptoc: internal error: the IR of '%s' is invalid after the pass '%s': %s\n", f->orch->name, pass,
            fault);
    abort();
#else
    (void)front;
    (void)f;
    (void)pass;
#endif
}
