/* join.c - the pass `join`: two calls of kernels in index notation that follow each other become one task.
 * Idea       a task and the next one in its block are joined where join_conditions.c says so, and the result with the
 *            one behind it.  The joined call stands where the second one did: what stands between only computes sizes
 *            and tests them.  A tensor that only the two named is declared no more.
 * Needs      how storage comes to be, which the checks decided; no scope has its list of tensors yet, nothing is
 *            released and no bound is known, so all of these passes see the joined call alone.
 * Gives      plan->joined, kernels that are joined in plan->kernels; a kernel that nobody calls any more is left out.
 * Look       ptoc build --dump=ir:join, --emit=tasks
 * Tests      test/lit/codegen/join.pto, join-apart.pto, test/lit/run/join.pto
 */
#include "join_parts.h"
#include "kernel_dims.h"
#include "support/arena.h"
#include <string.h>

struct search {
    struct plan *plan;
    struct ptrmap named;  /* tensor -> struct named */
    struct ptrmap owned;  /* SCOPE_BEGIN -> how many tensors it owns */
    struct ptrmap gone;   /* operations that are left out */
    struct ptrmap called; /* kernels */
    const struct ir_op *op;
    VEC(struct ir_op *) open;             /* scopes around the operation at hand */
    VEC(const struct symbol *) allocated; /* since the first of the two calls */
    bool any;
};

/* ---- which operations name a tensor ---- */

static struct named *named_of(struct search *s, const struct symbol *t)
{
    struct named *n = ptrmap_get(&s->named, t);
    if (!n) ptrmap_set(&s->named, t, n = arena_new(s->plan->mem, struct named));
    return n;
}

static struct named *find_named(void *cx, const struct symbol *t)
{
    return ptrmap_get(&((struct search *)cx)->named, t);
}

static void count_tensor(void *cx, const struct symbol *t, enum ir_touch how)
{
    (void)how;
    struct search *s = cx;
    struct named *n = named_of(s, t);
    if (n->counted == s->op) return;
    n->counted = s->op;
    n->operations++;
}

static intptr_t owned_by(const struct search *s, const struct ir_op *scope)
{
    return (intptr_t)ptrmap_get(&s->owned, scope);
}

static void own(struct search *s, const struct ir_op *scope, int more)
{
    ptrmap_set(&s->owned, scope, (void *)(owned_by(s, scope) + more));
}

static void note_tensor(struct search *s, struct ir_op *op)
{
    struct named *n = named_of(s, op->tensor.symbol);
    n->tensor = op;
    if (op->tensor.symbol->place || s->open.count == 0) return;
    n->scope = s->open.data[s->open.count - 1];
    own(s, n->scope, 1);
}

static void note_op(struct search *s, struct ir_op *op, struct ir_op *before)
{
    s->op = op;
    switch (op->kind) {
    case IR_TENSOR: note_tensor(s, op); return;
    case IR_ALLOC: {
        struct named *n = named_of(s, op->alloc.symbol);
        n->alloc = op;
        n->its_site = before && before->kind == IR_SITE ? before : NULL;
        return;
    }
    case IR_SCOPE_BEGIN: vec_push(&s->open, op); return;
    case IR_SCOPE_END:
        if (!op->scope_end.leaves) s->open.count--;
        return;
    default: ir_each_operand(op, &(struct ir_operands){.cx = s, .tensor = count_tensor});
    }
}

/* A chain of branches has any length. */
static void note_block(struct search *s, struct ir_block *block)
{
    const size_t mark = s->open.count;
    struct ir_block *blocks[3];
    while (block) {
        struct ir_block *rest = NULL;
        struct ir_op *before = NULL;
        for (struct ir_op *op = block->first; op; before = op, op = op->next) {
            int count = ir_blocks(op, blocks);
            note_op(s, op, before);
            if (count > 0 && !op->next) rest = blocks[--count];
            for (int i = 0; i < count; i++) note_block(s, blocks[i]);
        }
        block = rest;
    }
    s->open.count = mark;
}

/* ---- the joined call ---- */

static bool is_equal(const struct joined_kernel *a, const struct joined_kernel *b)
{
    return a->parts[0] == b->parts[0] && a->parts[1] == b->parts[1] &&
           memcmp(a->merged, b->merged, (size_t)b->parts[1]->formal_count * sizeof *b->merged) == 0 &&
           memcmp(a->is_dropped, b->is_dropped, (size_t)a->parts[0]->formal_count * sizeof *b->is_dropped) == 0;
}

/* One that was made before, or a new one; NULL: there is none. */
static const struct joined_kernel *kernel_for(struct search *s, const struct joined_kernel *wanted)
{
    struct plan *p = s->plan;
    for (size_t i = 0; i < p->joined_kernels.count; i++)
        if (is_equal(p->joined_kernels.data[i], wanted)) return p->joined_kernels.data[i];
    struct joined_kernel *j = arena_new(p->mem, struct joined_kernel);
    *j = *wanted;
    if (!join_make_kernel(p, j)) return NULL;
    vec_push(&p->joined_kernels, j);
    vec_push(&p->kernels, j->kernel);
    return j;
}

static struct call *new_binding(struct plan *p, const struct joined_kernel *j, const struct ir_call *const call[2])
{
    const struct symbol *k = j->kernel;
    struct call *c = arena_new(p->mem, struct call);
    c->callee = j->kernel;
    c->values = arena_array(p->mem, struct ast *, k->formal_count + 1);
    const struct region **regions = arena_array(p->mem, const struct region *, k->formal_count + 1);
    const struct size **dims = arena_array(p->mem, const struct size *, k->dim_count + 1);
    c->leaves = arena_array(p->mem, struct leaves, k->formal_count + 1);
    c->result_formal = -1;
    c->destination = call[1]->binding->destination;
    c->result_symbol = call[1]->binding->result_symbol;
    c->returns = call[1]->binding->returns;
    for (int i = 0; i < k->formal_count; i++) {
        const struct ir_call *from = call[j->formal_from[i].part];
        const int n = j->formal_from[i].number;
        c->values[i] = from->binding->values[n];
        if (j->formal_from[i].part == 1 && n == call[1]->binding->result_formal)
            c->result_formal = i;
        else if (from->arguments[n].kind == IR_ARG_TENSOR)
            regions[i] = from->arguments[n].view->region;
    }
    for (int i = 0; i < k->dim_count; i++) dims[i] = call[j->dim_from[i].part]->binding->dims[j->dim_from[i].number];
    c->regions = regions;
    c->dims = dims;
    return c;
}

static struct span span_of(const struct ir_call *const call[2])
{
    struct span at = call[1]->at;
    if (call[0]->at.file == at.file && call[0]->at.begin < at.begin) at.begin = call[0]->at.begin;
    return at;
}

static struct ir_call *new_call(struct search *s, const struct joined_kernel *j, const struct ir_call *const call[2])
{
    struct plan *p = s->plan;
    struct ir_call *c = arena_new(p->mem, struct ir_call);
    int extra[MAX_FORMALS];
    const int extra_count = kernel_extra_dims(p->checked, j->kernel, extra);
    struct call *binding = new_binding(p, j, call);
    c->callee = j->kernel;
    c->binding = binding;
    c->at = span_of(call);
    c->count = j->kernel->formal_count + extra_count;
    c->arguments = arena_array(p->mem, struct ir_argument, c->count + 1);
    for (int i = 0; i < j->kernel->formal_count; i++) {
        c->arguments[i] = call[j->formal_from[i].part]->arguments[j->formal_from[i].number];
        if (c->arguments[i].kind == IR_ARG_TENSOR) c->arguments[i].direction = j->kernel->formals[i]->dir;
    }
    for (int i = 0; i < extra_count; i++)
        c->arguments[j->kernel->formal_count + i] =
            (struct ir_argument){.kind = IR_ARG_SCALAR,
                                 .value = lower_size(p->lowering, binding->dims[extra[i]], ARITH_PLAIN),
                                 .type = j->kernel->dims[extra[i]]->type};
    for (int i = 0; i < 2; i++) ptrmap_set(&p->joined, call[i]->binding, binding);
    const struct call *last = ptrmap_get(&p->last_of, call[1]->binding);
    ptrmap_set(&p->last_of, binding, (void *)(last ? last : call[1]->binding));
    return c;
}

/* ---- what is left of the operations ---- */

static void leave_out(struct search *s, const struct ir_op *op)
{
    if (op) ptrmap_set(&s->gone, op, (void *)op);
}

static void drop_tensor(struct search *s, const struct symbol *t)
{
    struct named *n = find_named(s, t);
    leave_out(s, n->tensor);
    leave_out(s, n->alloc);
    leave_out(s, n->its_site);
    if (n->scope) own(s, n->scope, -1);
}

struct recount {
    struct search *s;
    const struct ir_op *first, *second;
};

static void count_once(void *cx, const struct symbol *t, enum ir_touch how)
{
    (void)how;
    struct recount *r = cx;
    struct named *n = find_named(r->s, t);
    if (n->counted == r->first) n->operations--;
    n->counted = r->second;
}

static void mark_counted(void *cx, const struct symbol *t, enum ir_touch how)
{
    (void)how;
    struct recount *r = cx;
    find_named(r->s, t)->counted = r->first;
}

/* A tensor that both named is named by one operation now. */
static void count_as_one(struct search *s, const struct ir_op *first, const struct ir_op *second)
{
    struct recount r = {s, first, second};
    ir_each_operand(first, &(struct ir_operands){.cx = &r, .tensor = mark_counted});
    ir_each_operand(second, &(struct ir_operands){.cx = &r, .tensor = count_once});
}

static bool try_to_join(struct search *s, struct ir_op *first, struct ir_op *second, struct ir_op *site)
{
    const struct ir_call *const call[] = {first->call, second->call};
    struct joined_kernel wanted;
    const struct neighbours n = {s->plan, {call[0], call[1]}, find_named, s, s->allocated.data, s->allocated.count};
    if (!join_conditions(&n, &wanted)) return false;
    const struct joined_kernel *j = kernel_for(s, &wanted);
    if (!j) return false;
    count_as_one(s, first, second);
    for (int i = 0; i < call[0]->callee->formal_count; i++)
        if (wanted.is_dropped[i]) drop_tensor(s, call[0]->arguments[i].view->region->base);
    leave_out(s, first);
    second->call = new_call(s, j, call);
    if (site) site->site.text = j->kernel->name;
    s->any = true;
    return true;
}

/* ---- operations between two calls ---- */

static void find_await(void *cx, const struct ir_value *v)
{
    if (v->kind == IR_ELEMENT || v->kind == IR_RESULT || v->kind == IR_UNKNOWN) *(bool *)cx = true;
}

static bool waits(const struct ir_op *op)
{
    bool any = false;
    ir_each_operand(op, &(struct ir_operands){.cx = &any, .value = find_await});
    return any;
}

/* A scope that will be gone, as it owns nothing. */
static bool is_empty_scope(const struct search *s, const struct ir_op *begin)
{
    return begin->scope.is_value && !begin->scope.is_explicit && owned_by(s, begin) == 0;
}

/* Could the first call as well stand behind it? */
static bool may_stand_between(struct search *s, const struct ir_op *op)
{
    switch (op->kind) {
    case IR_SITE: return true;
    case IR_TENSOR: return true;
    case IR_LET: return op->let.is_const && !waits(op);
    case IR_CHECK: return op->check.check && op->check.check->kind != CHECK_WRITTEN && !waits(op);
    case IR_ALLOC: vec_push(&s->allocated, op->alloc.symbol); return !waits(op);
    case IR_SCOPE_BEGIN: return is_empty_scope(s, op);
    case IR_SCOPE_END: return !op->scope_end.leaves && is_empty_scope(s, op->scope_end.begin);
    default: return false;
    }
}

/* A site that nothing needs any more: the next one follows. */
static void leave_out_site(struct search *s, struct ir_op *site)
{
    struct ir_op *next = site ? site->next : NULL;
    while (next && (next->kind == IR_TENSOR || ptrmap_get(&s->gone, next))) next = next->next;
    if (next && next->kind == IR_SITE) leave_out(s, site);
}

static struct ir_block *join_operations(struct search *s, struct ir_block *block);

static void join_block(struct search *s, struct ir_block *block)
{
    while (block) block = join_operations(s, block);
}

/* The last block of the last operation is left for the caller. */
static struct ir_block *join_operations(struct search *s, struct ir_block *block)
{
    struct ir_block *blocks[3], *rest = NULL;
    struct ir_op *first = NULL, *site = NULL, *first_site = NULL;
    for (struct ir_op *op = block->first; op; op = op->next) {
        if (op->kind == IR_SITE) site = op;
        if (op->kind == IR_SUBMIT) {
            const bool is_possible = join_is_possible(op->call);
            if (first && is_possible && try_to_join(s, first, op, site)) leave_out_site(s, first_site);
            first = is_possible ? op : NULL;
            first_site = site;
            s->allocated.count = 0;
        } else if (first && !may_stand_between(s, op)) {
            first = NULL;
        }
        int count = ir_blocks(op, blocks);
        if (count > 0 && !op->next) rest = blocks[--count];
        for (int i = 0; i < count; i++) join_block(s, blocks[i]);
    }
    return rest;
}

/* ---- the pass ---- */

static bool is_gone(void *cx, const struct ir_op *op) { return ptrmap_get(cx, op) != NULL; }

static void note_called(void *cx, struct ir_op *op)
{
    struct search *s = cx;
    if (op->kind == IR_SUBMIT) ptrmap_set(&s->called, op->call->callee, op);
}

static bool is_part(const struct plan *p, const struct symbol *k)
{
    for (size_t i = 0; i < p->joined_kernels.count; i++)
        if (p->joined_kernels.data[i]->parts[0] == k || p->joined_kernels.data[i]->parts[1] == k) return true;
    return false;
}

/* Kernels that were called, or joined, and of which nothing is left. */
static void leave_out_kernels(struct search *s)
{
    struct plan *p = s->plan;
    size_t count = 0;
    for (size_t i = 0; i < p->functions.count; i++) ir_each(p->functions.data[i]->body, note_called, s);
    for (size_t i = 0; i < p->kernels.count; i++) {
        struct symbol *k = p->kernels.data[i];
        if (!is_part(p, k) || ptrmap_get(&s->called, k)) p->kernels.data[count++] = k;
    }
    p->kernels.count = count;
}

void join_run(struct plan *p)
{
    struct search s = {.plan = p};
    if (p->memory.is_apart || diag_error_count(p->front->diag) > 0) return;
    for (size_t i = 0; i < p->functions.count; i++) {
        struct ir_function *f = p->functions.data[i];
        s.named = s.owned = s.gone = (struct ptrmap){.mem = NULL};
        s.open.count = 0;
        p->ranges.function = f->orch;
        note_block(&s, f->body);
        join_block(&s, f->body);
        ir_remove(f->body, is_gone, &s.gone);
        ptrmap_free(&s.named);
        ptrmap_free(&s.owned);
        ptrmap_free(&s.gone);
    }
    p->ranges.function = NULL;
    if (s.any) leave_out_kernels(&s);
    ptrmap_free(&s.called);
    vec_free(&s.open);
    vec_free(&s.allocated);
}
