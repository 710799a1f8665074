/* moves.c - the pass `moves`: tensors that a caller uses for the last time as an argument, and that the callee only
 * borrows, are moved into it, as if the program said `own`; so they are released inside of the callee.
 * Idea       a formal is moved in by every call, or by none: there is one version of each function, and the run decides
 *            nothing.  Every call must move what its function made, or was given to keep, and must be its last use; and
 *            the callee must gain: behind its own last use, it or what it calls takes memory.
 * Method     one walk back over the paths of each function says what is used later.  Then two fixed points over all
 *            calls: the most formals that every call can move, and of these the fewest that gain.
 * Gives      plan->moved_in; arguments of the kind MOVED; the RELEASE of such a formal where the function returns.
 *            What liveness.c, bounds.c and frames.c do with `own` they do with these formals.
 * Invariant  a function that cannot gain is printed as if there were no such pass.
 * Look       ptoc build --dump=ir:moves
 * Tests      test/lit/memory/inferred-moves.pto, moves.test
 */
#include "dataflow.h"
#include "ir/ir.h"
#include "plan.h"
#include "support/arena.h"
#include <string.h>

/* A formal that could be moved in.  gains: behind its last use memory is taken. */
struct candidate {
    const struct symbol *formal;
    bool is_movable, gains;
};

/* A call that gives a candidate a tensor. */
struct handing {
    struct candidate *to;
    const struct symbol *base;
    bool is_last, is_whole; /* the last use of the base, all of which it is */
};

struct moves {
    struct plan *plan;
    struct ptrmap candidates; /* formal -> struct candidate */
    struct ptrmap takers;     /* function -> itself, where it takes memory */
    VEC(struct candidate *) list;
    VEC(struct handing) handings;
    bool changed;

    /* of the function at hand */
    const struct symbol *orch;
    symbol_list tensors;   /* what is given to candidates, and candidates */
    struct ptrmap numbers; /* of those: 1 + the place in `tensors`, as a pointer */
    unsigned char *used;   /* how often the operation at hand uses each, up to 2 */
    bool takes_memory;     /* the operation at hand */
    const struct ir_op *op;
    VEC(const struct symbol *) moved; /* where releases are added: what is moved on by now */
};

static struct candidate *candidate_of(const struct moves *m, const struct symbol *formal)
{
    return formal ? ptrmap_get(&m->candidates, formal) : NULL;
}

/* ---- what can be moved ---- */

static bool is_entry(const struct plan *p, const struct symbol *orch)
{
    for (size_t i = 0; i < p->exports.count; i++)
        if (p->exports.data[i] == orch) return true;
    return false;
}

static void find_candidates(struct moves *m, const struct symbol *orch)
{
    symbol_list formals = {0};
    flat_formals(orch, &formals);
    for (size_t i = 0; i < formals.count && !is_entry(m->plan, orch); i++) {
        const struct symbol *s = formals.data[i];
        if (s->type->kind != TYPE_TENSOR || type_is_scalar_array(s->type)) continue;
        if (s->dir != DIR_IN && s->dir != DIR_INOUT) continue;
        struct candidate *c = arena_new(m->plan->mem, struct candidate);
        *c = (struct candidate){.formal = s, .is_movable = true};
        ptrmap_set(&m->candidates, s, c);
        vec_push(&m->list, c);
    }
    vec_free(&formals);
}

/* The call that the operation makes by itself. */
static const struct ir_call *call_of_op(const struct ir_op *op)
{
    const struct ir_value *v = op->kind == IR_LET ? op->let.value : op->kind == IR_SET ? op->set.value : NULL;
    if (op->kind == IR_CALL) return op->call;
    return v && v->kind == IR_RESULT ? v->call : NULL;
}

static bool is_whole(const struct region *r)
{
    bool same = r->whole && !r->steps && !r->is_part && r->rank == r->base_rank;
    for (int d = 0; d < r->rank && same; d++) same = r->base_dim[d] == d;
    return same;
}

/* Is it made in this function, or was it given to keep, if all candidates are? */
static bool is_own(const struct moves *m, const struct symbol *t)
{
    const struct candidate *c = candidate_of(m, t);
    if (t->kind == SYM_FORMAL) return c ? c->is_movable : t->dir == DIR_OWN;
    return tensor_is_new(t) && !t->place && !type_is_scalar_array(t->type) && !(t->exchange && t->exchange->is_shared);
}

/* ---- who takes memory ---- */

static void note_taking(void *cx, const struct ir_call *c)
{
    struct moves *m = cx;
    const bool is_orch = c->callee->kind == SYM_ORCH;
    m->takes_memory |= is_orch && ptrmap_get(&m->takers, c->callee);
    for (int i = 0; i < c->count; i++) {
        const struct ir_argument *a = &c->arguments[i];
        const struct symbol *base = a->view ? a->view->region->base : NULL;
        const bool is_out =
            a->kind == IR_ARG_PLACE || (!is_orch && a->kind == IR_ARG_TENSOR && a->direction == DIR_OUT);
        m->takes_memory |= base && is_out && (base->place || tensor_is_new(base)); /* the caller may have no place */
        m->takes_memory |= base && !is_orch && i < c->callee->formal_count && c->callee->formals[i]->by;
    }
}

static bool takes_memory(struct moves *m, const struct ir_op *op)
{
    m->takes_memory = op->kind == IR_ALLOC || (op->kind == IR_TAKE && op->take.moved_in); /* it may be copied */
    ir_each_operand(op, &(struct ir_operands){.cx = m, .call = note_taking});
    return m->takes_memory;
}

static void look_for_taking(void *cx, struct ir_op *op)
{
    struct moves *m = cx;
    if (ptrmap_get(&m->takers, m->orch) || !takes_memory(m, op)) return;
    ptrmap_set(&m->takers, m->orch, (void *)(uintptr_t)m->orch);
    m->changed = true;
}

static void find_takers(struct moves *m)
{
    do {
        m->changed = false;
        for (size_t i = 0; i < m->plan->functions.count; i++) {
            m->orch = m->plan->functions.data[i]->orch;
            ir_each(m->plan->functions.data[i]->body, look_for_taking, m);
        }
    } while (m->changed);
}

/* ---- the tensors of a function ---- */

static void number(struct moves *m, const struct symbol *t)
{
    if (ptrmap_get(&m->numbers, t)) return;
    vec_push(&m->tensors, (struct symbol *)(uintptr_t)t);
    ptrmap_set(&m->numbers, t, (void *)(uintptr_t)m->tensors.count);
}

/* A call inside of an expression stays as it is. */
static void number_arguments(void *cx, const struct ir_call *c)
{
    struct moves *m = cx;
    for (int i = 0; i < c->count; i++) {
        const struct ir_argument *a = &c->arguments[i];
        struct candidate *to = a->kind == IR_ARG_TENSOR ? candidate_of(m, a->formal) : NULL;
        if (to) number(m, a->view->region->base);
        if (to && c != call_of_op(m->op)) to->is_movable = false;
    }
}

static void number_op(void *cx, struct ir_op *op)
{
    struct moves *m = cx;
    m->op = op;
    ir_each_operand(op, &(struct ir_operands){.cx = m, .call = number_arguments});
}

/* ---- the walk: a state says of each tensor whether it is used later ---- */

static void note_use(void *cx, const struct symbol *t, enum ir_touch how)
{
    struct moves *m = cx;
    const size_t n = (size_t)(uintptr_t)ptrmap_get(&m->numbers, t);
    if (how != IR_TOUCH_NAME && n > 0 && m->used[n - 1] < 2) m->used[n - 1]++;
}

static void note_handings(struct moves *m, const unsigned char *later, const struct ir_call *c)
{
    for (int i = 0; c && i < c->count; i++) {
        const struct ir_argument *a = &c->arguments[i];
        struct candidate *to = a->kind == IR_ARG_TENSOR ? candidate_of(m, a->formal) : NULL;
        if (!to) continue;
        const struct symbol *base = a->view->region->base;
        const size_t n = (size_t)(uintptr_t)ptrmap_get(&m->numbers, base) - 1;
        vec_push(&m->handings, ((struct handing){to, base, !later[n] && m->used[n] == 1, is_whole(a->view->region)}));
    }
}

/* Memory is taken while these need not be held. */
static void note_gains(struct moves *m, const unsigned char *later)
{
    for (size_t n = 0; n < m->tensors.count; n++) {
        struct candidate *c = candidate_of(m, m->tensors.data[n]);
        if (c && !later[n] && !m->used[n]) c->gains = true;
    }
}

/* A name that has no buffer may be released, and one that gets another is used no more. */
static const struct symbol *ended_by(const struct ir_op *op)
{
    if (op->kind == IR_TENSOR) return op->tensor.symbol;
    if (op->kind == IR_TAKE) return op->take.to;
    const struct symbol *released = op->kind == IR_RELEASE ? op->release.symbol : NULL;
    return released && released->exchange && released->kind == SYM_LET ? released : NULL;
}

static void step(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    struct moves *m = d->cx;
    unsigned char *later = s->data;
    if (s->is_dead) return;
    memset(m->used, 0, m->tensors.count);
    ir_each_operand(op, &(struct ir_operands){.cx = m, .tensor = note_use});
    if (!d->is_silent) note_handings(m, later, call_of_op(op));
    if (!d->is_silent && takes_memory(m, op)) note_gains(m, later);
    const size_t ended = (size_t)(uintptr_t)ptrmap_get(&m->numbers, ended_by(op));
    if (ended > 0) {
        later[ended - 1] = false;
        m->used[ended - 1] = 0;
    }
    for (size_t n = 0; n < m->tensors.count; n++) later[n] |= m->used[n] > 0;
}

static void meet(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other)
{
    const struct moves *m = d->cx;
    unsigned char *to = into->data;
    const unsigned char *from = other->data;
    for (size_t n = 0; n < m->tensors.count; n++) to[n] |= from[n];
}

static void walk(struct moves *m, const struct ir_function *f)
{
    m->orch = f->orch;
    m->tensors.count = 0;
    m->numbers = (struct ptrmap){0};
    symbol_list formals = {0};
    flat_formals(f->orch, &formals);
    for (size_t i = 0; i < formals.count; i++)
        if (candidate_of(m, formals.data[i])) number(m, formals.data[i]);
    vec_free(&formals);
    ir_each(f->body, number_op, m);
    const struct dataflow_client client = {.bytes = m->tensors.count, .is_backward = true, .step = step, .meet = meet};
    m->used = arena_array(m->plan->mem, unsigned char, m->tensors.count + 1);
    struct dataflow_state s = dataflow_start(&client);
    if (m->tensors.count > 0) dataflow_run(&client, m, f, &s);
    dataflow_free(&s);
    ptrmap_free(&m->numbers);
}

/* ---- decisions ---- */

static void find_movable(struct moves *m)
{
    do {
        m->changed = false;
        for (size_t i = 0; i < m->handings.count; i++) {
            const struct handing *h = &m->handings.data[i];
            if (!h->to->is_movable || (h->is_last && h->is_whole && is_own(m, h->base))) continue;
            h->to->is_movable = false;
            m->changed = true;
        }
    } while (m->changed);
}

static void find_gaining(struct moves *m)
{
    do {
        m->changed = false;
        for (size_t i = 0; i < m->handings.count; i++) {
            const struct handing *h = &m->handings.data[i];
            struct candidate *from = candidate_of(m, h->base);
            if (!from || from->gains || !h->to->is_movable || !h->to->gains) continue;
            from->gains = true;
            m->changed = true;
        }
    } while (m->changed);
    for (size_t i = 0; i < m->list.count; i++) {
        const struct candidate *c = m->list.data[i];
        if (c->is_movable && c->gains) ptrmap_set(&m->plan->moved_in, c->formal, (void *)(uintptr_t)c->formal);
    }
}

/* ---- what is done ---- */

static bool moves_something(const struct moves *m, const struct ir_call *c)
{
    bool moves = false;
    for (int i = 0; i < c->count; i++)
        moves |= c->arguments[i].formal && ptrmap_get(&m->plan->moved_in, c->arguments[i].formal);
    return moves;
}

/* Values are shared with other plans; calls that stand alone are not. */
static struct ir_call *own_call(struct moves *m, struct ir_op *op)
{
    if (op->kind == IR_CALL) return (struct ir_call *)op->call;
    struct ir_value **value = op->kind == IR_LET ? &op->let.value : &op->set.value;
    struct ir_value *v = arena_new(m->plan->mem, struct ir_value);
    struct ir_call *c = arena_new(m->plan->mem, struct ir_call);
    *v = **value;
    *c = *v->call;
    c->arguments = arena_array(m->plan->mem, struct ir_argument, c->count);
    memcpy(c->arguments, v->call->arguments, sizeof *c->arguments * (size_t)c->count);
    v->call = c;
    *value = v;
    return c;
}

static void move_arguments(struct moves *m, struct ir_op *op)
{
    const struct ir_call *found = call_of_op(op);
    if (!found || !moves_something(m, found)) return;
    struct ir_call *c = own_call(m, op);
    for (int i = 0; i < c->count; i++) {
        struct ir_argument *a = &c->arguments[i];
        if (!a->formal || !ptrmap_get(&m->plan->moved_in, a->formal)) continue;
        a->kind = IR_ARG_MOVED;
        vec_push(&m->moved, a->view->region->base);
    }
}

static bool is_moved_on(const struct moves *m, const struct symbol *t)
{
    for (size_t i = 0; i < m->moved.count; i++)
        if (m->moved.data[i] == t) return true;
    return false;
}

/* In front of a RETURN what was moved in ends, where it has not ended before; see lower_leave(). */
static void add_releases(struct moves *m, struct ir_block *block, struct ir_op *before, const struct ir_op *ret)
{
    symbol_list formals = {0};
    flat_formals(m->orch, &formals);
    for (size_t i = 0; i < formals.count; i++) {
        if (!ptrmap_get(&m->plan->moved_in, formals.data[i]) || is_moved_on(m, formals.data[i])) continue;
        before = ir_insert(block, before, m->plan->mem, IR_RELEASE, ret->at);
        before->release.symbol = formals.data[i];
        before->release.is_argument = true;
        before->release.why = IR_RELEASE_LEAVING;
    }
    vec_free(&formals);
}

/* A chain of branches has any length. */
static void change_block(struct moves *m, struct ir_block *block)
{
    const size_t mark = m->moved.count;
    struct ir_block *blocks[3];
    struct ir_op *before = NULL;
    for (struct ir_op *op = block->first, *next; op; op = next) {
        int count = ir_blocks(op, blocks);
        const bool is_chain = !op->next && count > 0;
        if (op->kind == IR_RETURN) add_releases(m, block, before, op);
        move_arguments(m, op);
        if (is_chain) count--;
        for (int i = 0; i < count; i++) change_block(m, blocks[i]);
        before = is_chain ? NULL : op;
        if (is_chain) block = blocks[count];
        next = is_chain ? block->first : op->next;
    }
    m->moved.count = mark;
}

void moves_run(struct plan *p)
{
    struct moves m = {.plan = p};
    for (size_t i = 0; i < p->functions.count; i++) find_candidates(&m, p->functions.data[i]->orch);
    if (m.list.count > 0) find_takers(&m);
    for (size_t i = 0; i < p->functions.count && m.list.count > 0; i++) walk(&m, p->functions.data[i]);
    find_movable(&m);
    find_gaining(&m);
    for (size_t i = 0; i < p->functions.count && p->moved_in.count > 0; i++) {
        m.orch = p->functions.data[i]->orch;
        change_block(&m, p->functions.data[i]->body);
    }
    ptrmap_free(&m.candidates);
    ptrmap_free(&m.takers);
    vec_free(&m.list);
    vec_free(&m.handings);
    vec_free(&m.tensors);
    vec_free(&m.moved);
}
