/* liveness.c - where is each tensor used for the last time, on every path?
 * Needs plan->blocks, regions of names, calls.  Gives plan->ends: which tensors are let go behind a statement, at the
 * beginning of a
 *       branch, or in an else branch that nobody wrote.  Look: pto_release in ptoc build --emit=c; ptoc build
 *       --emit=memory
 * Method statements are numbered in source order, each tensor keeps the numbers that use it; views, slices and fields
 * count as
 *        their tensor.  Then each tensor goes down from the block that names it to its last use: behind a loop that
 *        uses it, into the branches of an `if` or `match` where one of them goes on without it.  break, continue and
 *        return leave the block that names the tensor, or come out behind the loop where it is let go: so they need
 *        nothing of their own.
 *
 * Note [a release must pay]: where nothing is submitted, awaited or allocated between the last use and the end of the
 * owner's scope, the scope's end does it.
 */
#include "plan.h"
#include "support/arena.h"

struct stmt {
    int first, last; /* its number, and the largest number inside it */
    bool busy;       /* it submits, calls, awaits or allocates: memory held meanwhile is held for nothing */
};

struct uses {
    VEC(int) at;      /* statements, ascending */
    VEC(int) by_hand; /* of these, the ones that drop or move it */
};

struct search {
    struct plan *plan;
    struct ptrmap stmts; /* statement -> struct stmt */
    struct ptrmap uses;  /* tensor -> struct uses */
    struct ptrmap inner; /* CALL that is an argument -> the CALL it is an argument of */
    VEC(struct uses *) use_list;
    struct stmt *now; /* the statement whose expressions are looked at */
    int count;
    struct symbol *tensor; /* whose end is being placed */
    struct uses *tensor_uses;
};

/* ---- uses ---- */

/* What was moved in is the function's own, like a tensor that its body names. */
static bool is_taken_over(const struct symbol *t)
{
    return t->kind == SYM_FORMAL && t->dir == DIR_OWN && t->is_kept && t->type->kind == TYPE_TENSOR;
}

static void note_use(struct search *s, struct symbol *t, bool by_hand)
{
    if (!t) return;
    if (t->region) note_use(s, t->region->base, false); /* a view or a slice: its tensor */
    note_use(s, t->alias_of, by_hand);
    for (int i = 0; i < t->field_count; i++) note_use(s, t->fields[i], by_hand);
    if (!tensor_is_new(t) && !is_taken_over(t)) return;
    struct uses *u = ptrmap_get(&s->uses, t);
    if (!u) {
        u = arena_new(s->plan->mem, struct uses);
        ptrmap_set(&s->uses, t, u);
        vec_push(&s->use_list, u);
    }
    if (u->at.count == 0 || u->at.data[u->at.count - 1] != s->now->first) vec_push(&u->at, s->now->first);
    if (by_hand) vec_push(&u->by_hand, s->now->first);
}

static void note_region(struct search *s, const struct region *r)
{
    if (r) note_use(s, r->base, false);
}

static void note_checks(struct search *s, const struct check *c)
{
    for (; c; c = c->next) {
        note_use(s, c->symbol, false);
        note_region(s, c->view);
        note_region(s, c->other);
    }
}

static void note_leaves(struct search *s, const struct leaves *list, bool by_hand)
{
    for (int i = 0; i < list->count; i++)
        if (list->leaf[i].region) note_use(s, list->leaf[i].region->base, by_hand);
}

static void note_call(struct search *s, struct ast *n, const struct call *call)
{
    s->now->busy = true;
    for (int i = 0; i < call->callee->formal_count; i++) {
        bool moved = call->callee->formals[i]->dir == DIR_OWN;
        if (call->regions[i] && call->values[i] && call->values[i]->kind == AST_CALL)
            ptrmap_set(&s->inner, call->values[i], n);
        if (call->regions[i])
            note_use(s, call->regions[i]->base, moved);
        else if (call->values[i] && call->values[i]->symbol)
            note_use(s, call->values[i]->symbol, moved);
        note_leaves(s, &call->leaves[i], moved);
    }
    note_leaves(s, &call->result_leaves, false);
    note_region(s, call->destination);
    note_use(s, call->result_symbol, false);
    note_checks(s, call->checks);
}

static bool visit(void *cx, struct ast *n);

static bool needs_storage(const struct symbol *t)
{
    bool some = t->needs_alloc;
    for (int i = 0; i < t->field_count && !t->alias_of; i++) some |= needs_storage(t->fields[i]);
    return some;
}

/* A statement's own expressions; statements inside it are statements of their own. */
static void number(struct search *s, struct ast *n)
{
    struct stmt *outer = s->now, *own = arena_new(s->plan->mem, struct stmt);
    own->first = s->count++;
    ptrmap_set(&s->stmts, n, own);
    s->now = own;
    note_checks(s, checks_of(n));
    if (n->kind == AST_LET) note_use(s, n->symbol, false);
    if (n->kind == AST_LET && n->symbol) own->busy |= needs_storage(n->symbol);
    if (n->kind == AST_DROP)
        for (struct ast *name = n->drop.names; name; name = name->next) note_use(s, name->symbol, true);
    ast_walk_below(n, visit, s);
    own->last = s->count - 1;
    s->now = outer;
    if (outer) outer->busy |= own->busy;
}

static bool is_statement(enum ast_kind kind)
{
    return kind == AST_STATIC_ASSERT ||
           (kind >= AST_BLOCK && kind <= AST_BAD_STMT && kind != AST_MATCH_ARM && kind != AST_ATTR);
}

/* Of `p.cells[i].h` only p.cells.h is used, not the rest of p. */
static void visit_object(struct search *s, struct ast *n)
{
    if (n->kind == AST_MEMBER) {
        visit_object(s, n->member.object);
    } else if (n->kind == AST_INDEX) {
        visit_object(s, n->index.object);
        ast_walk_list(n->index.indices, visit, s);
    } else if (n->kind != AST_NAME) {
        ast_walk(n, visit, s);
    }
}

static bool visit(void *cx, struct ast *n)
{
    struct search *s = cx;
    if (is_statement(n->kind)) {
        number(s, n);
        return false;
    }
    if (n->kind == AST_MEMBER && n->symbol) {
        note_region(s, region_of(n));
        note_use(s, n->symbol, false);
        note_checks(s, checks_of(n));
        visit_object(s, n->member.object);
        return false;
    }
    note_region(s, region_of(n));
    note_use(s, n->symbol, false);
    note_checks(s, checks_of(n));
    if (n->kind == AST_CALL && call_of(n)) note_call(s, n, call_of(n));
    if (n->kind == AST_AWAIT) s->now->busy = true;
    return true;
}

static const struct stmt *stmt_of(const struct search *s, const struct ast *n) { return ptrmap_get(&s->stmts, n); }

/* The largest number in [first, last] that the list has; -1: none. */
static int largest_within(const int *list, size_t count, int first, int last)
{
    int largest = -1;
    for (size_t i = 0; i < count; i++)
        if (list[i] >= first && list[i] <= last && list[i] > largest) largest = list[i];
    return largest;
}

/* The last statement of the list that uses the tensor at hand; NULL: none does. */
static struct ast *last_user(const struct search *s, struct ast *list)
{
    if (!list) return NULL;
    const struct ast *end = list;
    while (end->next) end = end->next;
    const struct uses *u = s->tensor_uses;
    int number = largest_within(u->at.data, u->at.count, stmt_of(s, list)->first, stmt_of(s, end)->last);
    for (; list && number >= 0; list = list->next)
        if (number <= stmt_of(s, list)->last) return list;
    return NULL;
}

static bool ends_by_hand(const struct search *s, const struct ast *n)
{
    const struct uses *u = s->tensor_uses;
    return largest_within(u->by_hand.data, u->by_hand.count, stmt_of(s, n)->first, stmt_of(s, n)->last) >= 0;
}

/* A condition, or a value that is matched, moves the tensor: no branch has to, and where && did not come to it the
 * scope's end does. */
static bool condition_ends_by_hand(const struct search *s, const struct ast *n)
{
    const struct uses *u = s->tensor_uses;
    for (; n; n = n->kind == AST_IF && n->if_.other && n->if_.other->kind == AST_IF ? n->if_.other : NULL) {
        const int own = stmt_of(s, n)->first;
        if (largest_within(u->by_hand.data, u->by_hand.count, own, own) >= 0) return true;
    }
    return false;
}

/* ---- branches ---- */

static bool list_is_busy(const struct search *s, const struct ast *list)
{
    for (; list; list = list->next)
        if (stmt_of(s, list)->busy) return true;
    return false;
}

static bool branches_gain(const struct search *s, struct ast *n);

/* Would it pay to let go inside this list, and not behind it? */
static bool list_gains(const struct search *s, struct ast *list)
{
    struct ast *last = last_user(s, list);
    if (!last || list_is_busy(s, last->next)) return list_is_busy(s, last ? last->next : list);
    if (last->kind == AST_BLOCK) return list_gains(s, last->block.stmts);
    if (last->kind == AST_SCOPE) return list_gains(s, last->scope.body->block.stmts);
    return (last->kind == AST_IF || last->kind == AST_MATCH) && branches_gain(s, last);
}

static bool branches_gain(const struct search *s, struct ast *n)
{
    struct branches b = {0};
    bool gain = false;
    branches_of(n, &b);
    for (size_t i = 0; i < b.blocks.count && !gain; i++) gain = list_gains(s, b.blocks.data[i]->block.stmts);
    vec_free(&b.blocks);
    return gain;
}

/* ---- placing ---- */

static struct end_plan *end_at(struct search *s, const struct ast *n)
{
    struct end_plan *e = ptrmap_get(&s->plan->ends, n);
    if (!e) {
        e = arena_new(s->plan->mem, struct end_plan);
        ptrmap_set(&s->plan->ends, n, e);
        vec_push(&s->plan->end_list, e);
    }
    return e;
}

static void place_in_list(struct search *s, struct ast *block, struct ast *list, bool is_busy_behind);

static void place_in_branches(struct search *s, struct ast *n, bool is_busy_behind)
{
    struct branches b = {0};
    branches_of(n, &b);
    for (size_t i = 0; i < b.blocks.count; i++)
        place_in_list(s, b.blocks.data[i], b.blocks.data[i]->block.stmts, is_busy_behind);
    if (b.without_else && is_busy_behind) vec_push(&end_at(s, b.without_else)->other, s->tensor);
    vec_free(&b.blocks);
}

/* is_busy_behind: between here and the end of the owner's scope memory matters, see Note [a release must pay]. */
static void place_at(struct search *s, struct ast *n, bool is_busy_behind)
{
    bool by_hand = ends_by_hand(s, n);
    switch (n->kind) {
    case AST_BLOCK: place_in_list(s, n, n->block.stmts, is_busy_behind); return;
    case AST_SCOPE: place_in_list(s, n->scope.body, n->scope.body->block.stmts, is_busy_behind); return;
    case AST_IF:
    case AST_MATCH:
        if (condition_ends_by_hand(s, n)) return;
        /* Where one branch ends the lifetime by hand, behind is too late to do it for the others. */
        if (by_hand || branches_gain(s, n)) {
            place_in_branches(s, n, is_busy_behind);
            return;
        }
        break;
    case AST_RETURN:
    case AST_BREAK:
    case AST_CONTINUE: return;
    default: break;
    }
    if (is_busy_behind && !by_hand) vec_push(&end_at(s, n)->behind, s->tensor);
}

static void place_in_list(struct search *s, struct ast *block, struct ast *list, bool is_busy_behind)
{
    struct ast *last = last_user(s, list), *rest = last ? last->next : list;
    const struct ast *end = list;
    while (end && end->next) end = end->next;
    if (end && (end->kind == AST_RETURN || end->kind == AST_BREAK || end->kind == AST_CONTINUE)) is_busy_behind = false;
    is_busy_behind |= list_is_busy(s, rest);
    if (last)
        place_at(s, last, is_busy_behind);
    else if (is_busy_behind)
        vec_push(&end_at(s, block)->before, s->tensor);
}

/* f(g(h(x)), y()): what h made is needed by g alone, and goes behind g, before y makes anything. */
static bool place_in_call(struct search *s)
{
    const struct ast *made_by = s->tensor->hidden ? s->tensor->decl : NULL;
    const struct ast *user = made_by ? ptrmap_get(&s->inner, made_by) : NULL;
    if (!user || !ptrmap_get(&s->inner, user) || s->tensor_uses->by_hand.count > 0) return false;
    vec_push(&end_at(s, user)->behind, s->tensor);
    return true;
}

static void place(struct search *s, struct symbol *tensor, struct ast *block)
{
    s->tensor = tensor;
    s->tensor_uses = ptrmap_get(&s->uses, tensor);
    if (s->tensor_uses && !place_in_call(s)) place_in_list(s, block, block->block.stmts, false);
}

static bool visit_block(void *cx, struct ast *n)
{
    struct search *s = cx;
    const struct block_plan *plan = n->kind == AST_BLOCK ? ptrmap_get(&s->plan->blocks, n) : NULL;
    for (size_t i = 0; plan && i < plan->tensors.count; i++) place(s, plan->tensors.data[i], n);
    return true;
}

static void place_formals(struct search *s, const struct symbol *orch)
{
    symbol_list leaves = {0};
    for (int i = 0; i < orch->formal_count; i++) symbol_leaves(orch->formals[i], &leaves);
    for (size_t i = 0; i < leaves.count; i++)
        if (is_taken_over(leaves.data[i])) place(s, leaves.data[i], orch->decl->orch.body);
    vec_free(&leaves);
}

void liveness_analyze(struct plan *p)
{
    for (size_t i = 0; i < p->orchs.count; i++) {
        struct search s = {.plan = p};
        struct ast *body = p->orchs.data[i]->decl->orch.body;
        number(&s, body);
        ast_walk(body, visit_block, &s);
        place_formals(&s, p->orchs.data[i]);
        for (size_t u = 0; u < s.use_list.count; u++) {
            vec_free(&s.use_list.data[u]->at);
            vec_free(&s.use_list.data[u]->by_hand);
        }
        vec_free(&s.use_list);
        ptrmap_free(&s.stmts);
        ptrmap_free(&s.uses);
        ptrmap_free(&s.inner);
    }
}
