/* liveness.c - the pass `liveness`: releases, where a tensor is used for the last time before its scope ends.
 * Idea       operations are numbered in order, each tensor keeps the numbers that use it.  Then each tensor goes down
 *            from the block that owns it to its last use: behind the statement that uses it, behind a loop, into the
 *            branches of an `if` or `match` where one of them goes on without it.  break, continue and return leave the
 *            block that owns the tensor, or come out behind the loop where it is released: they need nothing.
 * Method     no state goes along the paths, so this is none of dataflow.c's questions: whether a block uses a tensor is
 *            whether one of the tensor's numbers lies between the block's, and what is looked for is a place in the
 *            nesting of blocks, for one tensor after the other.
 * Invariant  at most one release on every path, and no use after it; none where the program ends the lifetime itself.
 * Look       ptoc build --dump=liveness, --dump=ir:liveness
 * Tests      test/lit/memory/dump.pto, test/lit/codegen/scopes.pto
 *
 * Note [a release must pay]: where nothing is submitted, awaited or allocated between the last use and the end of the
 * owner's scope, the scope's end does it.
 */
#include "ir/ir.h"
#include "plan.h"
#include "support/arena.h"

struct uses {
    VEC(int) at;      /* operations, ascending */
    VEC(int) by_hand; /* of these, the ones that drop or move it */
};

/* A call that takes a tensor which another call makes for it alone. */
struct taker {
    struct ir_block *block;
    struct ir_op *op;
};

/* A scope of a block, and the block. */
struct owner {
    struct ir_block *block;
    struct ir_op *scope;
};

struct search {
    struct plan *plan;
    struct ptrmap uses;   /* tensor -> struct uses */
    struct ptrmap takers; /* hidden tensor -> struct taker */
    VEC(struct uses *) use_list;
    VEC(struct owner) owners;
    int count;
    struct ir_op *op;            /* whose operands are looked at */
    const struct symbol *tensor; /* whose release is being placed */
    struct uses *tensor_uses;
    struct span moved_to; /* where the block that was looked at ends by now */
};

/* ---- uses ---- */

/* What was moved in is the function's own, like a tensor that its body declares. */
static bool is_taken_over(const struct search *s, const struct symbol *t)
{
    return formal_is_moved_in(s->plan, t) && (t->dir != DIR_OWN || tensor_note_of(s->plan->checked, t)->is_kept);
}

static void note_use(void *cx, const struct symbol *t, enum ir_touch how)
{
    struct search *s = cx;
    if (how == IR_TOUCH_NAME) return;
    if (!tensor_is_new(t) && !is_taken_over(s, t)) return;
    struct uses *u = ptrmap_get(&s->uses, t);
    if (!u) {
        u = arena_new(s->plan->mem, struct uses);
        ptrmap_set(&s->uses, t, u);
        vec_push(&s->use_list, u);
    }
    const int number = s->op->number;
    if (u->at.count == 0 || u->at.data[u->at.count - 1] != number) vec_push(&u->at, number);
    if (how == IR_TOUCH_END && (!t->exchange || t->kind == SYM_FORMAL))
        vec_push(&u->by_hand, number); /* a name that has no buffer may be released */
}

static void note_call(void *cx, const struct ir_call *c)
{
    struct search *s = cx;
    (void)c;
    s->op->is_busy = true;
}

static void note_value(void *cx, const struct ir_value *v)
{
    struct search *s = cx;
    s->op->is_busy |= v->is_await;
}

/* `f(g(x))`: the call of f takes what g makes. */
static void note_taker(struct search *s, struct ir_block *block, struct ir_op *op)
{
    const struct call *call = op->call->binding;
    for (int i = 0; i < call->callee->formal_count; i++) {
        if (!call->regions[i] || !call->values[i] || call->values[i]->kind != AST_CALL) continue;
        struct taker *t = arena_new(s->plan->mem, struct taker);
        *t = (struct taker){block, op};
        ptrmap_set(&s->takers, call->regions[i]->base, t);
    }
}

static void note_place(struct search *s, struct ir_block *block, struct ir_op *op)
{
    if (op->kind == IR_SUBMIT || op->kind == IR_CALL) note_taker(s, block, op);
    if (op->kind == IR_SCOPE_BEGIN && !op->scope.is_value) vec_push(&s->owners, ((struct owner){block, op}));
}

struct link {
    struct ir_op *op;
    bool is_busy_before; /* what stands before it in its block */
};

/* Numbers the operations of the block and those inside of them; returns whether one of them is busy.  A branch at the
 * end of a block ends where its else block ends: a chain of them is a loop here. */
static bool number(struct search *s, struct ir_block *block)
{
    VEC(struct link) chain = {0};
    const struct ir_operands operands = {.cx = s, .tensor = note_use, .call = note_call, .value = note_value};
    struct ir_block *blocks[3];
    bool is_busy = false; /* behind the last branch of the chain */
    for (struct ir_op *op = block->first, *next; op; op = next) {
        op->number = s->count++;
        s->op = op;
        op->is_busy = op->kind == IR_ALLOC || (op->kind == IR_TAKE && op->take.moved_in);
        ir_each_operand(op, &operands);
        note_place(s, block, op);
        int count = ir_blocks(op, blocks);
        const bool is_chain = op->kind == IR_IF && !op->next && op->branch.other;
        if (is_chain) block = blocks[--count];
        for (int i = 0; i < count; i++) op->is_busy |= number(s, blocks[i]);
        op->last = s->count - 1;
        next = is_chain ? block->first : op->next;
        if (is_chain) vec_push(&chain, ((struct link){op, is_busy}));
        is_busy = !is_chain && (is_busy || op->is_busy);
    }
    for (size_t i = chain.count; i-- > 0;) {
        struct ir_op *op = chain.data[i].op;
        op->last = s->count - 1;
        op->is_busy |= is_busy;
        is_busy = op->is_busy || chain.data[i].is_busy_before;
    }
    vec_free(&chain);
    return is_busy;
}

/* ---- statements of the program ---- */

/* own: its last operation; for an `if`, a loop, a block it is that operation. */
struct statement {
    struct ir_op *first, *own;
};

static bool is_placed(const struct ir_op *op) { return op->kind == IR_RELEASE && op->release.why > IR_RELEASE_LEAVING; }

/* The statement that begins at `from`, or behind it; false: there is none. */
static bool next_statement(struct ir_op *from, struct statement *st)
{
    while (from && is_placed(from)) from = from->next;
    st->first = st->own = from;
    while (st->own && st->own->statement_end.end == 0) st->own = st->own->next;
    return st->own != NULL;
}

static bool is_busy_from(const struct ir_op *op)
{
    for (; op; op = op->next)
        if (op->is_busy) return true;
    return false;
}

/* The largest number in [first, last] that the list has; -1: none. */
static int largest_within(const int *list, size_t count, int first, int last)
{
    size_t low = 0, high = count; /* those before `low` are at most `last` */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle] <= last)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && list[low - 1] >= first ? list[low - 1] : -1;
}

/* The last statement of the block that uses the tensor at hand; false: none does. */
static bool last_user(const struct search *s, const struct ir_block *block, struct statement *st)
{
    const struct uses *u = s->tensor_uses;
    if (!block->first) return false;
    const int use = largest_within(u->at.data, u->at.count, block->first->number, block->last->last);
    for (struct ir_op *at = block->first; use >= 0 && next_statement(at, st); at = st->own->next)
        if (use <= st->own->last) return true;
    return false;
}

static bool ends_by_hand(const struct search *s, int first, int last)
{
    return largest_within(s->tensor_uses->by_hand.data, s->tensor_uses->by_hand.count, first, last) >= 0;
}

/* A condition, or a value that is matched, moves the tensor: no branch has to, and where && did not come to it the
 * scope's end does. */
static bool condition_ends_by_hand(const struct search *s, const struct statement *st)
{
    const struct ir_op *first = st->first;
    for (const struct ir_op *op = st->own; op; op = ir_next_in_chain(op)) {
        if (ends_by_hand(s, first->number, op->number)) return true;
        if (op->branch.other) first = op->branch.other->first;
    }
    return false;
}

/* ---- branches ---- */

static bool branches_gain(const struct search *s, const struct ir_op *op);

/* Would it pay to release inside this block, and not behind it? */
static bool block_gains(const struct search *s, const struct ir_block *block)
{
    struct statement st;
    if (!last_user(s, block, &st)) return is_busy_from(block->first);
    if (is_busy_from(st.own->next)) return true;
    if (st.own->kind == IR_BLOCK) return block_gains(s, st.own->block);
    return st.own->kind == IR_IF && branches_gain(s, st.own);
}

static bool branches_gain(const struct search *s, const struct ir_op *op)
{
    for (const struct ir_op *next = op; next; next = ir_next_in_chain(op)) {
        op = next;
        if (block_gains(s, op->branch.then)) return true;
    }
    return op->branch.other && block_gains(s, op->branch.other);
}

/* ---- placing ---- */

/* A release behind `after` (NULL: first in the block), and behind those that stand there already. */
static void place(struct search *s, struct ir_block *block, struct ir_op *after, enum ir_release_why why,
                  struct span at)
{
    struct ir_op *next = after ? after->next : block->first;
    for (; next && is_placed(next); next = next->next) after = next;
    struct ir_op *op = ir_insert(block, after, s->plan->mem, IR_RELEASE, at);
    op->number = op->last = after ? after->last : next ? next->number : 0;
    op->release.symbol = s->tensor;
    op->release.is_argument = s->tensor->kind == SYM_FORMAL; /* the caller may have had it from outside */
    op->release.why = why;
    if (block->last != op) return;
    block->at_end = s->moved_to = at;
}

static bool place_in_block(struct search *s, struct ir_block *block, bool is_busy_behind);

/* The else branch that nobody wrote. */
static void place_in_new_else(struct search *s, struct ir_op *op)
{
    const struct span at = {op->branch.whole.file, op->branch.whole.end - 1, op->branch.whole.end};
    op->branch.other = arena_new(s->plan->mem, struct ir_block);
    op->branch.other->at = at;
    place(s, op->branch.other, NULL, IR_RELEASE_IN_ELSE, at);
}

static bool place_in_branches(struct search *s, struct ir_op *first, bool is_busy_behind)
{
    struct ir_op *op = first;
    bool is_moved = place_in_block(s, op->branch.then, is_busy_behind);
    for (struct ir_op *next; (next = ir_next_in_chain(op)) != NULL; op = next)
        is_moved = place_in_block(s, next->branch.then, is_busy_behind);
    if (op->branch.other) {
        is_moved = place_in_block(s, op->branch.other, is_busy_behind);
    } else if (is_busy_behind) {
        place_in_new_else(s, op);
        is_moved = true;
    }
    for (op = first; is_moved && ir_next_in_chain(op); op = ir_next_in_chain(op))
        op->branch.other->at_end = s->moved_to;
    return is_moved;
}

/* In `f(g(x))` the tensor is used for the last time by g: it is released before the function f is called, which may
 * need its memory, and may call itself.  NULL: there is no such place. */
static struct ir_op *before_call(const struct search *s, const struct statement *st)
{
    const struct uses *u = s->tensor_uses;
    const int use = largest_within(u->at.data, u->at.count, st->first->number, st->own->last);
    struct ir_op *user = NULL;
    for (struct ir_op *op = st->first; op != st->own->next; op = op->next) {
        if (user && op->kind == IR_CALL) return user;
        if (op->number == use && (op->kind == IR_SUBMIT || op->kind == IR_CALL)) user = op;
    }
    return NULL;
}

/* is_busy_behind: between here and the end of the owner's scope memory matters, see Note [a release must pay].  Returns
 * whether the statement ends elsewhere by now. */
static bool place_at(struct search *s, struct ir_block *block, const struct statement *st, bool is_busy_behind)
{
    const bool by_hand = ends_by_hand(s, st->first->number, st->own->last);
    struct ir_op *user = by_hand ? NULL : before_call(s, st);
    if (user) {
        place(s, block, user, IR_RELEASE_BEHIND, st->own->statement_end);
        return false;
    }
    switch (st->own->kind) {
    case IR_BLOCK: return place_in_block(s, st->own->block, is_busy_behind);
    case IR_IF:
        if (condition_ends_by_hand(s, st)) return false;
        /* Where one branch ends the lifetime by hand, behind is too late to do it for the others. */
        if (by_hand || branches_gain(s, st->own)) return place_in_branches(s, st->own, is_busy_behind);
        break;
    case IR_RETURN:
    case IR_BREAK:
    case IR_CONTINUE: return false;
    default: break;
    }
    if (is_busy_behind && !by_hand) place(s, block, st->own, IR_RELEASE_BEHIND, st->own->statement_end);
    return false;
}

static bool is_jump(const struct ir_op *op)
{
    return op && op->statement_end.end && (op->kind == IR_RETURN || op->kind == IR_BREAK || op->kind == IR_CONTINUE);
}

/* Where the statements of a block begin: behind its scope, where it has one.  NULL: at once. */
static struct ir_op *beginning_of(const struct ir_block *block)
{
    struct ir_op *op = block->first;
    while (op && (op->kind == IR_SITE || op->kind == IR_LET)) op = op->next;
    return op && op->kind == IR_SCOPE_BEGIN && !op->scope.is_value ? op : NULL;
}

/* Returns whether the block ends elsewhere by now. */
static bool place_in_block(struct search *s, struct ir_block *block, bool is_busy_behind)
{
    struct statement st;
    const struct ir_op *last = block->last;
    const bool is_used = last_user(s, block, &st);
    if (is_jump(last)) is_busy_behind = false;
    is_busy_behind |= is_busy_from(is_used ? st.own->next : block->first);
    if (is_used) {
        if (place_at(s, block, &st, is_busy_behind) && st.own == block->last) {
            block->at_end = s->moved_to;
            return true;
        }
    } else if (is_busy_behind) {
        const bool is_else = block->first && is_placed(block->first) && block->first->release.why == IR_RELEASE_IN_ELSE;
        place(s, block, beginning_of(block), is_else ? IR_RELEASE_IN_ELSE : IR_RELEASE_BEFORE, block->at);
    }
    return block->last != last;
}

/* f(g(h(x)), y()): what h made is needed by g alone, and goes behind g, before y makes anything. */
static bool place_in_call(struct search *s)
{
    const struct taker *t = s->tensor->hidden ? ptrmap_get(&s->takers, s->tensor) : NULL;
    const struct symbol *made = t ? t->op->call->binding->result_symbol : NULL;
    if (!made || !ptrmap_get(&s->takers, made) || s->tensor_uses->by_hand.count > 0) return false;
    place(s, t->block, t->op, IR_RELEASE_BEHIND_CALL, t->op->at);
    return true;
}

static void place_tensor(struct search *s, const struct symbol *tensor, struct ir_block *block)
{
    s->tensor = tensor;
    s->tensor_uses = ptrmap_get(&s->uses, tensor);
    if (tensor->next_of || tensor_note_of(s->plan->checked, tensor)->ends_with_block) return;
    if (s->tensor_uses && !place_in_call(s)) place_in_block(s, block, false);
}

static void place_formals(struct search *s, const struct ir_function *f)
{
    symbol_list formals = {0};
    flat_formals(f->orch, &formals);
    for (size_t i = 0; i < formals.count; i++)
        if (is_taken_over(s, formals.data[i])) place_tensor(s, formals.data[i], f->body);
    vec_free(&formals);
}

void liveness_run(struct plan *p)
{
    for (size_t i = 0; i < p->functions.count; i++) {
        struct search s = {.plan = p};
        number(&s, p->functions.data[i]->body);
        for (size_t k = 0; k < s.owners.count; k++)
            for (int t = 0; t < s.owners.data[k].scope->scope.count; t++)
                place_tensor(&s, s.owners.data[k].scope->scope.tensors[t], s.owners.data[k].block);
        place_formals(&s, p->functions.data[i]);
        for (size_t u = 0; u < s.use_list.count; u++) {
            vec_free(&s.use_list.data[u]->at);
            vec_free(&s.use_list.data[u]->by_hand);
        }
        vec_free(&s.use_list);
        vec_free(&s.owners);
        ptrmap_free(&s.uses);
        ptrmap_free(&s.takers);
    }
}
