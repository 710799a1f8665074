/* frames.c - which tensors of a function lie in one allocation, made at its entry, and which of them take each other's
 * place? Needs regions of arguments, bounds.  Gives plan->frames, plan->slots.  Look: ptoc build --emit=memory
 * Method the calls of a function in order are tasks, and an `await` is one that everything later waits for; a tensor
 * lifetimes
 *        from its first task to its last, over a whole loop where it comes from outside the loop.  A linear scan gives
 *        each the free slot that fits best.
 *
 * Note [reuse is never wrong]: slots are pieces of one buffer, so the run time sees who touches which bytes and orders
 * what has to be ordered.  What is decided here is whether that order was there anyway.
 *
 * Note [free reuse]: c may take the place of a without waiting where the first writer of c depends, over others or at
 * once, on every task that touches a.  A dependence counts only where it is certain: one of the two writes the whole
 * tensor, neither is a function (which may leave tasks behind that nobody sees), and what lies between is reached
 * whenever they are.
 *
 * Note [a frame must not cost]: a frame is held from the entry of the function to its last task.  --plan=free makes one
 * only where the function needs no more heap with it than without.
 *
 * Note [a frame is optional]: the run takes a frame only where what the heap has left suffices for all that the
 * function and its callees may need with it.  So whatever runs while a frame is held completes, and everything else
 * runs as --plan=ring does: no heap is too small with frames that suffices without, and none where a smaller one
 * suffices.  Where that need is not known at the entry, as in recursion, there is no frame.
 */
#include "frames.h"
#include "bounds.h"
#include "support/arena.h"
#include <stdlib.h>

struct access {
    const struct symbol *tensor;
    enum direction dir;
    bool whole;
};

struct task {
    const struct ast *call;
    VEC(struct access) accesses;
    int loop;        /* innermost loop around it, or -1 */
    bool is_certain; /* each call of the function makes it */
    bool is_opaque;  /* a function: its own tasks are not seen */
    bool is_await;   /* not a task: what the orchestrator reads before it submits anything else */
};

struct loop {
    int parent, first, last; /* tasks in it */
    const struct ast *node;
};

struct home { /* where a tensor is named */
    int loop;
    const char *why; /* why it may not lie in a frame, or NULL */
    VEC(int) users;  /* tasks, ascending */
};

struct walk {
    struct plan *plan;
    struct size_table *sizes;
    const struct symbol *function;
    struct frame_plan *out;
    VEC(struct task *) tasks;
    VEC(struct loop) loops;
    struct ptrmap places; /* tensor -> struct home */
    VEC(const struct symbol *) tensors;
    int loop, conditions; /* around the statement at hand */
    uint64_t *before;     /* a row of bits for each task: see find_order */
    size_t row;
    bool has_left; /* a path may have left the function, or the loop, before */
};

/* ---- tasks ---- */

static void note_place(struct walk *w, struct symbol *t, const char *why)
{
    for (int i = 0; i < t->field_count && !t->alias_of; i++) note_place(w, t->fields[i], why);
    if (!tensor_is_new(t) || ptrmap_get(&w->places, t)) return;
    struct home *p = arena_new(w->plan->mem, struct home);
    p->loop = w->loop;
    p->why = why;
    ptrmap_set(&w->places, t, p);
    vec_push(&w->tensors, t);
}

static void exclude(struct walk *w, const struct symbol *t, const char *why)
{
    if (t->alias_of) exclude(w, t->alias_of, why);
    for (int i = 0; i < t->field_count; i++) exclude(w, t->fields[i], why);
    struct home *p = ptrmap_get(&w->places, t);
    if (p && !p->why) p->why = why;
}

static void note_access(struct task *t, const struct region *r, enum direction dir)
{
    if (r) vec_push(&t->accesses, ((struct access){r->base, dir, r->whole}));
}

static void add_task(struct walk *w, struct task *t)
{
    t->loop = w->loop;
    t->is_certain = w->loop < 0 && w->conditions == 0 && !w->has_left;
    for (int l = w->loop; l >= 0; l = w->loops.data[l].parent) w->loops.data[l].last = (int)w->tasks.count;
    vec_push(&w->tasks, t);
}

static void note_task(struct walk *w, struct ast *n, const struct call *call)
{
    struct task *t = arena_new(w->plan->mem, struct task);
    t->call = n;
    t->is_opaque = call->callee->kind == SYM_ORCH;
    for (int i = 0; i < call->callee->formal_count; i++) {
        const struct symbol *formal = call->callee->formals[i];
        if (i == call->result_formal) continue;
        note_access(t, call->regions[i], formal->dir);
        if (call->regions[i] && formal->dir == DIR_OWN) exclude(w, call->regions[i]->base, "it is moved");
        for (int k = 0; k < call->leaves[i].count; k++) {
            const struct region *r = call->leaves[i].leaf[k].region;
            note_access(t, r, formal->dir);
            if (r && formal->dir == DIR_OWN) exclude(w, r->base, "it is moved");
        }
    }
    for (int k = 0; k < call->result_leaves.count; k++) note_access(t, call->result_leaves.leaf[k].region, DIR_OUT);
    note_access(t, call->destination, DIR_OUT);
    if (call->result_symbol) {
        if (call->result_symbol->hidden) note_place(w, call->result_symbol, NULL);
        vec_push(&t->accesses, ((struct access){call->result_symbol, DIR_OUT, true}));
    }
    add_task(w, t);
}

static bool visit_awaited(void *cx, struct ast *n)
{
    struct task *t = cx;
    note_access(t, region_of(n), DIR_IN);
    if (n->symbol && tensor_is_new(n->symbol)) vec_push(&t->accesses, ((struct access){n->symbol, DIR_IN, false}));
    return true;
}

static void note_await(struct walk *w, struct ast *n)
{
    struct task *t = arena_new(w->plan->mem, struct task);
    t->call = n;
    t->is_await = true;
    ast_walk(n->await.operand, visit_awaited, t);
    add_task(w, t);
}

static void walk_list(struct walk *w, struct ast *n);

static bool visit_expr(void *cx, struct ast *n)
{
    struct walk *w = cx;
    if (n->kind == AST_BINARY && (n->binary.op == OP_AND || n->binary.op == OP_OR)) {
        ast_walk(n->binary.left, visit_expr, w);
        w->conditions++;
        ast_walk(n->binary.right, visit_expr, w);
        w->conditions--;
        return false;
    }
    const struct ast *select = select_of(n);
    if (select) {
        ast_walk(select->arg.value, visit_expr, w);
        w->conditions++;
        ast_walk(select->next->arg.value, visit_expr, w);
        ast_walk(select->next->next->arg.value, visit_expr, w);
        w->conditions--;
        return false;
    }
    if (n->kind == AST_AWAIT) {
        ast_walk(n->await.operand, visit_expr, w);
        note_await(w, n);
        return false;
    }
    if (n->kind != AST_CALL || !call_of(n)) return true;
    for (struct ast *a = n->call.args; a; a = a->next) ast_walk(a, visit_expr, w); /* arguments first */
    note_task(w, n, call_of(n));
    return false;
}

static void walk_loop(struct walk *w, struct ast *n)
{
    struct loop l = {w->loop, (int)w->tasks.count, (int)w->tasks.count - 1, n};
    vec_push(&w->loops, l);
    w->loop = (int)w->loops.count - 1;
    if (n->kind != AST_FOR) ast_walk(n->while_.cond, visit_expr, w);
    walk_list(w, n->kind == AST_FOR ? n->loop.body->block.stmts : n->while_.body->block.stmts);
    w->loop = l.parent;
}

static void walk_branches(struct walk *w, struct ast *n)
{
    struct branches b = {0};
    ast_walk(n->kind == AST_MATCH ? n->match.value : n->if_.cond, visit_expr, w);
    branches_of(n, &b);
    w->conditions++;
    for (struct ast *i = n->kind == AST_IF ? n->if_.other : NULL; i && i->kind == AST_IF; i = i->if_.other)
        ast_walk(i->if_.cond, visit_expr, w);
    for (size_t i = 0; i < b.blocks.count; i++) walk_list(w, b.blocks.data[i]->block.stmts);
    w->conditions--;
    vec_free(&b.blocks);
}

static void walk_list(struct walk *w, struct ast *n)
{
    for (; n; n = n->next) switch (n->kind) {
        case AST_LET:
            if (n->symbol) note_place(w, n->symbol, NULL);
            ast_walk(n->decl.value, visit_expr, w);
            break;
        case AST_FOR:
            ast_walk(n->loop.low, visit_expr, w);
            ast_walk(n->loop.high, visit_expr, w);
            ast_walk(n->loop.step, visit_expr, w);
            walk_loop(w, n);
            break;
        case AST_WHILE:
        case AST_DO_WHILE: walk_loop(w, n); break;
        case AST_IF:
        case AST_MATCH: walk_branches(w, n); break;
        case AST_BLOCK: walk_list(w, n->block.stmts); break;
        case AST_SCOPE: walk_list(w, n->scope.body->block.stmts); break;
        case AST_DROP:
            for (struct ast *name = n->drop.names; name; name = name->next)
                if (name->symbol) exclude(w, name->symbol, "'drop' ends its lifetime");
            break;
        case AST_RETURN:
            if (n->ret.value && n->ret.value->symbol) exclude(w, n->ret.value->symbol, "it is returned");
            ast_walk(n->ret.value, visit_expr, w);
            w->has_left = true;
            break;
        case AST_BREAK:
        case AST_CONTINUE: w->has_left = true; break;
        default: ast_walk_below(n, visit_expr, w); break;
        }
}

/* ---- lifetimes ---- */

struct lifetime {
    struct tensor_plan *plan;
    struct home *home;
    int first, last; /* tasks */
};

/* The outermost loop around task t that does not hold the declaration; -1: none. */
static int foreign_loop(const struct walk *w, int loop, int named_in)
{
    int found = -1;
    for (; loop >= 0 && loop != named_in; loop = w->loops.data[loop].parent) found = loop;
    return found;
}

static bool find_lifetime(const struct walk *w, struct lifetime *l)
{
    for (size_t i = 0; i < l->home->users.count; i++) {
        const int t = l->home->users.data[i], loop = foreign_loop(w, w->tasks.data[t]->loop, l->home->loop);
        const int first = loop >= 0 ? w->loops.data[loop].first : t, last = loop >= 0 ? w->loops.data[loop].last : t;
        if (i == 0) l->plan->first = w->tasks.data[t]->call;
        if (i == 0 || first < l->first) l->first = first;
        if (last > l->last) l->last = last;
        l->plan->last = w->tasks.data[t]->call;
    }
    return l->home->users.count > 0;
}

static void find_users(struct walk *w)
{
    for (size_t t = 0; t < w->tasks.count; t++) {
        const struct task *task = w->tasks.data[t];
        for (size_t a = 0; a < task->accesses.count; a++) {
            struct home *home = ptrmap_get(&w->places, task->accesses.data[a].tensor);
            const bool is_known = !home || (home->users.count > 0 && home->users.data[home->users.count - 1] == (int)t);
            if (!is_known) vec_push(&home->users, (int)t);
        }
    }
}

/* ---- order ---- */

enum { MAX_TASKS = 4096 }; /* of one function: the order is a bit for each pair */

static bool is_reading(const struct access *a) { return a->dir == DIR_IN || a->dir == DIR_HOST || a->dir == DIR_NONE; }

/* Does `later` surely wait for `earlier` itself? */
static bool waits_for(const struct task *later, const struct task *earlier)
{
    if (earlier->is_await) return true; /* it has been read when anything later is submitted */
    if (later->is_opaque || earlier->is_opaque) return false;
    for (size_t i = 0; i < later->accesses.count; i++)
        for (size_t k = 0; k < earlier->accesses.count; k++) {
            const struct access *a = &later->accesses.data[i], *b = &earlier->accesses.data[k];
            const bool meet = a->tensor == b->tensor && (a->whole || b->whole);
            if (meet && !(is_reading(a) && is_reading(b)) && !(a->dir == DIR_ACC && b->dir == DIR_ACC)) return true;
        }
    return false;
}

static bool is_before(const struct walk *w, size_t earlier, size_t later)
{
    return w->before[later * w->row + earlier / 64] >> (earlier % 64) & 1;
}

/* For each task those that it surely waits for, over others that every call makes. */
static void find_order(struct walk *w)
{
    w->row = w->tasks.count / 64 + 1;
    w->before = arena_array(w->plan->mem, uint64_t, w->tasks.count * w->row + 1);
    for (size_t t = 1; t < w->tasks.count; t++) {
        uint64_t *mine = &w->before[t * w->row];
        for (size_t earlier = t; earlier-- > 0;) {
            if (is_before(w, earlier, t) || !waits_for(w->tasks.data[t], w->tasks.data[earlier])) continue;
            mine[earlier / 64] |= (uint64_t)1 << (earlier % 64);
            /* an await is no edge of the graph */
            const bool leads_on = w->tasks.data[earlier]->is_certain && !w->tasks.data[earlier]->is_await;
            for (size_t i = 0; leads_on && i < w->row; i++) mine[i] |= w->before[earlier * w->row + i];
        }
    }
}

/* ---- slots ---- */

/* What lies, or lay, in a slot. */
struct occupants {
    VEC(struct lifetime) lifetimes;
    uint64_t *users; /* a bit for each task that touches any of them */
    int last;        /* the last task of all */
    bool in_loop;    /* one of them is made by every iteration of a loop */
};

struct scan {
    struct walk *walk;
    VEC(struct occupants) slots; /* as walk->out->slots */
};

static bool fits(struct walk *w, const struct size *a, const struct size *b)
{
    const struct size *difference = size_sub(w->sizes, a, b);
    return difference && range_of_size(w->plan, difference).hi <= 0;
}

/* Who of the slot is not ordered before the first task of l; -1: all are. */
static int unordered_user(const struct scan *s, const struct occupants *o, const struct lifetime *l)
{
    const struct walk *w = s->walk;
    for (size_t i = w->row; i-- > 0;) {
        const uint64_t left = o->users[i] & ~w->before[(size_t)l->first * w->row + i];
        if (left) return (int)(i * 64) + 63 - __builtin_clzll(left);
    }
    return -1;
}

/* The youngest tensor of the slot that the task touches. */
static const struct lifetime *toucher(const struct occupants *o, int task)
{
    for (size_t i = o->lifetimes.count; i-- > 0;)
        for (size_t u = 0; u < o->lifetimes.data[i].home->users.count; u++)
            if (o->lifetimes.data[i].home->users.data[u] == task) return &o->lifetimes.data[i];
    return &o->lifetimes.data[o->lifetimes.count - 1];
}

/* Is the slot free for this lifetime?  *order: the tensor that it would have to wait for, and would not otherwise. */
static bool is_slot_free(const struct scan *s, int slot, const struct lifetime *l, struct added_order *order)
{
    const struct occupants *o = &s->slots.data[slot];
    if (o->last >= l->first) return false; /* they are placed in the order of their first tasks */
    const int user = unordered_user(s, o, l);
    const struct lifetime *before = user >= 0 ? toucher(o, user) : &o->lifetimes.data[o->lifetimes.count - 1];
    /* In a loop the next iteration's first use follows this iteration's last, whatever their textual order. */
    if (user >= 0 || o->in_loop || l->home->loop >= 0)
        *order = (struct added_order){l->plan->tensor, before->plan->tensor, l->plan->first,
                                      user >= 0 ? s->walk->tasks.data[user]->call : before->plan->last};
    return true;
}

static void occupy(struct scan *s, int slot, const struct lifetime *l)
{
    struct occupants *o = &s->slots.data[slot];
    vec_push(&o->lifetimes, *l);
    for (size_t i = 0; i < l->home->users.count; i++)
        o->users[l->home->users.data[i] / 64] |= (uint64_t)1 << (l->home->users.data[i] % 64);
    if (l->last > o->last) o->last = l->last;
    o->in_loop |= l->home->loop >= 0;
}

static int64_t constant_or(const struct size *s, int64_t other)
{
    int64_t value;
    return s && size_is_const(s, &value) ? value : other;
}

static int new_slot(struct scan *s, const struct size *bytes)
{
    struct slot slot = {NULL, bytes};
    struct occupants nobody = {.users = arena_array(s->walk->plan->mem, uint64_t, s->walk->row), .last = -1};
    vec_push(&s->walk->out->slots, slot);
    vec_push(&s->slots, nobody);
    return (int)s->walk->out->slots.count - 1;
}

/* Bytes of the frame if one more slot, or a larger one, is `more`; INT64_MAX where a size is no constant. */
static int64_t frame_bytes_with(const struct scan *s, const struct size *more)
{
    int64_t sum = constant_or(more, -1);
    for (size_t i = 0; i < s->walk->out->slots.count && sum >= 0; i++) {
        const int64_t bytes = constant_or(s->walk->out->slots.data[i].bytes, -1);
        sum = bytes < 0 || sum > INT64_MAX - bytes ? -1 : sum + bytes;
    }
    return sum < 0 ? INT64_MAX : sum;
}

/* The free slot that fits best; -1: none.  ordered: also one that has to be waited for. */
static int best_slot(struct scan *s, const struct lifetime *l, bool ordered, struct added_order *order)
{
    struct walk *w = s->walk;
    const struct size *bytes = l->plan->bytes;
    int best = -1, grown = -1;
    struct added_order grown_order = {0};
    for (int i = 0; i < (int)w->out->slots.count; i++) {
        const struct slot *slot = &w->out->slots.data[i];
        struct added_order o = {0};
        if (!is_slot_free(s, i, l, &o) || (o.tensor && !ordered)) continue;
        if (fits(w, bytes, slot->bytes)) {
            /* A smaller one that is enough, and none that must be waited for where another need not. */
            const bool better = best < 0 || (order->tensor && !o.tensor) ||
                                (!order->tensor == !o.tensor && fits(w, slot->bytes, w->out->slots.data[best].bytes));
            if (better) best = i, *order = o;
        } else if (fits(w, slot->bytes, bytes) &&
                   (grown < 0 || fits(w, w->out->slots.data[grown].bytes, slot->bytes))) {
            grown = i, grown_order = o;
        }
    }
    if (best < 0 && grown >= 0) { /* growing the largest costs less than another slot */
        w->out->slots.data[grown].bytes = bytes;
        *order = grown_order;
        return grown;
    }
    return best;
}

/* A call whose value is a tensor, or that writes one which the loop names. */
static bool makes_tensor(const struct walk *w, const struct task *t)
{
    if (t->is_await) return false;
    if (call_of(t->call)->result_symbol) return true;
    for (size_t i = 0; i < t->accesses.count; i++) {
        const struct home *home = ptrmap_get(&w->places, t->accesses.data[i].tensor);
        if (t->accesses.data[i].dir == DIR_OUT && home && home->loop >= 0) return true;
    }
    return false;
}

static bool makes_tensors(const struct walk *w, const struct loop *loop)
{
    for (int t = loop->first; t <= loop->last; t++)
        if (makes_tensor(w, w->tasks.data[t])) return true;
    return false;
}

static void place_lifetime(struct scan *s, struct lifetime *l)
{
    struct walk *w = s->walk;
    const struct memory_plan *m = &w->plan->memory;
    struct added_order order = {0};
    int slot = best_slot(s, l, m->kind == PLAN_MIN, &order);
    if (slot < 0 && m->kind == PLAN_BUDGET && frame_bytes_with(s, l->plan->bytes) > m->budget) {
        slot = best_slot(s, l, true, &order);
        if (slot < 0 || frame_bytes_with(s, size_const(w->sizes, 0)) > m->budget) {
            l->plan->why = "the budget has no room for it";
            return;
        }
    }
    const bool is_new = slot < 0;
    if (is_new) slot = new_slot(s, l->plan->bytes);
    if (l->home->loop >= 0) {
        const struct loop *loop = &w->loops.data[l->home->loop];
        int64_t step = 1;
        const bool counts = loop->node->kind == AST_FOR &&
                            (!loop->node->loop.step ||
                             (loop->node->loop.step->value && size_is_const(loop->node->loop.step->value, &step))) &&
                            (step == 1 || step == -1);
        const bool has_room = m->kind == PLAN_BUDGET && frame_bytes_with(s, l->plan->bytes) <= m->budget;
        if (is_new && counts && has_room) {
            new_slot(s, l->plan->bytes);
            l->plan->alternates = true;
            l->plan->loop_variable = loop->node->symbol;
        }
        const struct added_order iterations = {l->plan->tensor, l->plan->tensor, l->plan->first, l->plan->last};
        vec_push(&w->out->added, iterations);
    }
    if (order.tensor) vec_push(&w->out->added, order);
    for (size_t i = 0; i < w->loops.count && !l->plan->across; i++) {
        const struct loop *loop = &w->loops.data[i];
        if (loop->first >= l->first && loop->last <= l->last && (int)i != l->home->loop && makes_tensors(w, loop))
            l->plan->across = loop->node;
    }
    l->plan->slot = slot;
    l->plan->storage = STORAGE_SLOT;
    occupy(s, slot, l);
    if (l->plan->alternates) occupy(s, slot + 1, l);
}

/* ---- which tensors may lie in a frame ---- */

static bool is_known_at_entry(const struct size *s)
{
    if (s->kind == SIZE_SYMBOL)
        return s->symbol->kind == SYM_PARAM || s->symbol->kind == SYM_DIM || s->symbol->kind == SYM_FORMAL ||
               s->symbol->kind == SYM_CONST;
    if (s->kind == SIZE_EXTENT || s->kind == SIZE_STRIDE || s->kind == SIZE_AT) return false;
    for (int i = 0; i < s->count; i++)
        if (!is_known_at_entry(s->arg[i])) return false;
    return true;
}

static const struct size *bytes_at_entry(struct walk *w, const struct type *t)
{
    const struct size *b = size_const(w->sizes, elem_bytes(t->elem)), *granule = size_const(w->sizes, PTO_GRANULE);
    for (int d = 0; d < t->rank && b; d++) {
        const struct size *extent = t->extent[d] ? size_expand(w->sizes, t->extent[d]) : NULL;
        b = extent && is_known_at_entry(extent) ? size_binary(w->sizes, SIZE_MUL, b, extent) : NULL;
    }
    int64_t factor = b && b->kind == SIZE_MUL && b->arg[0]->kind == SIZE_CONST ? b->arg[0]->value : 0;
    if (!b || (factor > 0 && factor % PTO_GRANULE == 0)) return b;
    b = size_binary(w->sizes, SIZE_CEIL_DIV, b, granule);
    return b ? size_binary(w->sizes, SIZE_MUL, b, granule) : NULL;
}

static const char *why_not(const struct walk *w, const struct tensor_plan *t, const struct home *p)
{
    const enum plan_kind kind = w->plan->memory.kind;
    if (p->why) return p->why;
    if (kind == PLAN_RING) return "--plan=ring";
    if (tensor_note_of(w->plan->checked, t->tensor)->escapes) return "it leaves the function";
    if (type_is_scalar_array(t->tensor->type)) return "it is the orchestrator's own";
    if (!t->bytes) return "its size is not known at the entry";
    if (!t->first) return "no task uses it";
    if (w->tasks.count > MAX_TASKS) return "the function has too many tasks";
    if (p->loop >= 0 && kind == PLAN_FREE) return "every iteration of a loop makes its own";
    return NULL;
}

static int by_first(const void *a, const void *b)
{
    const struct lifetime *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : x->last < y->last ? -1 : x->last > y->last;
}

static void make_slots(struct walk *w)
{
    VEC(struct lifetime) lifetimes = {0};
    struct scan s = {.walk = w};
    find_users(w);
    if (w->tasks.count <= MAX_TASKS) find_order(w);
    for (size_t i = 0; i < w->tensors.count; i++) {
        const struct symbol *tensor = w->tensors.data[i];
        struct home *p = ptrmap_get(&w->places, tensor);
        struct tensor_plan *t = arena_new(w->plan->mem, struct tensor_plan);
        struct lifetime l = {.plan = t, .home = p, .last = -1};
        *t = (struct tensor_plan){
            .tensor = tensor, .storage = tensor->place ? STORAGE_RESULT : STORAGE_RING, .slot = -1};
        t->bytes = bytes_at_entry(w, tensor->type);
        const bool is_used = find_lifetime(w, &l);
        vec_push(&w->out->tensors, t);
        if (t->storage == STORAGE_RESULT) continue;
        t->why = why_not(w, t, p);
        if (is_used && !t->why) vec_push(&lifetimes, l);
    }
    if (lifetimes.count > 0) qsort(lifetimes.data, lifetimes.count, sizeof *lifetimes.data, by_first);
    for (size_t i = 0; i < lifetimes.count; i++) place_lifetime(&s, &lifetimes.data[i]);
    vec_free(&lifetimes);
    for (size_t i = 0; i < s.slots.count; i++) vec_free(&s.slots.data[i].lifetimes);
    vec_free(&s.slots);
}

static void lay_out(struct walk *w)
{
    const struct size *at = size_const(w->sizes, 0), *without = at;
    for (size_t i = 0; i < w->out->slots.count && at; i++) {
        struct slot *slot = &w->out->slots.data[i];
        slot->at = at;
        at = size_binary(w->sizes, SIZE_ADD, at, slot->bytes);
    }
    for (size_t i = 0; i < w->out->tensors.count && without; i++)
        if (w->out->tensors.data[i]->storage == STORAGE_SLOT)
            without = size_binary(w->sizes, SIZE_ADD, without, w->out->tensors.data[i]->bytes);
    w->out->bytes = w->out->slots.count > 0 ? at : NULL;
    w->out->without = without;
}

static void give_up(struct walk *w, const char *why)
{
    w->out->bytes = NULL;
    w->out->why = why;
    w->out->added.count = w->out->slots.count = 0;
    for (size_t i = 0; i < w->out->tensors.count; i++) {
        struct tensor_plan *t = w->out->tensors.data[i];
        if (t->storage != STORAGE_SLOT) continue;
        t->storage = STORAGE_RING;
        t->why = why;
    }
}

static void use_slots(struct walk *w)
{
    for (size_t i = 0; i < w->out->tensors.count; i++)
        if (w->out->tensors.data[i]->storage == STORAGE_SLOT)
            ptrmap_set(&w->plan->slots, w->out->tensors.data[i]->tensor, w->out->tensors.data[i]);
}

/* See Note [a frame must not cost]. */
static bool costs_nothing(struct plan *p, const struct function_bounds *ring, const struct function_bounds *frame)
{
    if (ring->whole.unknown.name) return false;
    for (int i = 0; i < frame->whole.point_count; i++) {
        bool covered = false;
        for (int k = 0; k < ring->whole.point_count && !covered; k++) {
            const struct size *more =
                size_sub(p->checked->sizes, frame->whole.point[i].bytes, ring->whole.point[k].bytes);
            covered = more && range_of_size(p, more).hi <= 0;
        }
        if (!covered) return false;
    }
    return !frame->whole.unknown.name;
}

/* See Note [a frame is optional]. */
static bool is_need_known(const struct function_bounds *f)
{
    for (int i = 0; i < f->whole.point_count; i++)
        if (!is_known_at_entry(f->whole.point[i].bytes)) return false;
    return !f->whole.unknown.name;
}

/* The proposal is measured; NULL: it is taken, else why not. */
static const char *why_refused(struct plan *p, const struct symbol *orch, const struct frame_plan *frame)
{
    const bool has_place = orch->decl->orch.exported;
    const struct function_bounds *with = bounds_with(p, orch, has_place, frame);
    if (p->memory.kind == PLAN_FREE && !costs_nothing(p, bounds_in(p, &p->ring, orch, has_place), with))
        return "a frame would hold more than the function needs without";
    return is_need_known(with) ? NULL : "the heap that is needed beside a frame is unknown at the entry";
}

static int tensors_in_slots(const struct frame_plan *f)
{
    int count = 0;
    for (size_t i = 0; i < f->tensors.count; i++) count += f->tensors.data[i]->storage == STORAGE_SLOT;
    return count;
}

static void plan_function(struct plan *p, const struct symbol *orch)
{
    struct walk w = {.plan = p,
                     .sizes = p->checked->sizes,
                     .function = orch,
                     .out = arena_new(p->mem, struct frame_plan),
                     .loop = -1};
    ptrmap_set(&p->frames, orch, w.out);
    vec_push(&p->frame_list, w.out);
    p->function = orch;
    walk_list(&w, orch->decl->orch.body->block.stmts);
    make_slots(&w);
    lay_out(&w);
    if (!w.out->bytes) {
        give_up(&w, "no tensor of it can lie in a frame");
    } else if (p->memory.kind == PLAN_FREE && tensors_in_slots(w.out) == (int)w.out->slots.count) {
        give_up(&w, "no slot of a frame would be used again");
    } else {
        use_slots(&w);
        const char *why = why_refused(p, orch, w.out);
        if (why) {
            give_up(&w, why);
            for (size_t i = 0; i < w.tensors.count; i++) ptrmap_set(&p->slots, w.tensors.data[i], NULL);
        }
    }
    p->function = NULL;
    for (size_t t = 0; t < w.tasks.count; t++) vec_free(&w.tasks.data[t]->accesses);
    for (size_t i = 0; i < w.tensors.count; i++)
        vec_free(&((struct home *)ptrmap_get(&w.places, w.tensors.data[i]))->users);
    vec_free(&w.tasks);
    vec_free(&w.loops);
    vec_free(&w.tensors);
    ptrmap_free(&w.places);
}

void frames_analyze(struct plan *p)
{
    for (size_t i = 0; i < p->orchs.count; i++) plan_function(p, p->orchs.data[i]);
    memory_model_begin(p, &p->framed, true);
}

struct frame_plan *frame_of(const struct plan *p, const struct symbol *orch) { return ptrmap_get(&p->frames, orch); }

struct tensor_plan *slot_of(const struct plan *p, const struct symbol *tensor) { return ptrmap_get(&p->slots, tensor); }
