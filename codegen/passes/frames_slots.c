/* frames_slots.c - which tensors of a function share a slot of its frame.
 * Idea       a linear scan over the lifetimes gives each tensor the free slot that fits best.
 * Tests      test/lit/memory/plans.test, frames.pto
 */
#include "frames_parts.h"
#include "support/arena.h"
#include <stdlib.h>

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
    return difference && range_of_size(&w->plan->ranges, difference).hi <= 0;
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
                                      user >= 0 ? s->walk->tasks.data[user]->at : before->plan->last};
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
    const struct size *bytes = l->plan->room;
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
    if (!t->call) return false;
    if (t->call->result_symbol) {
        const struct exchange *names = t->call->result_symbol->exchange;
        const struct home *home = names ? ptrmap_get(&w->places, names->names[0]) : NULL;
        return !home || !home->alternates;
    }
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

void frames_note_loops(struct walk *w, struct lifetime *l)
{
    if (l->home->loop >= 0)
        vec_push(&w->out->added,
                 ((struct added_order){l->plan->tensor, l->plan->tensor, l->plan->first, l->plan->last}));
    for (size_t i = 0; i < w->loops.count && !l->plan->across; i++) {
        const struct loop *loop = &w->loops.data[i];
        if (loop->first >= l->first && loop->last <= l->last && (int)i != l->home->loop && makes_tensors(w, loop))
            l->plan->across = loop->op;
    }
}

static void place_lifetime(struct scan *s, struct lifetime *l)
{
    struct walk *w = s->walk;
    const struct memory_plan *m = &w->plan->memory;
    struct added_order order = {0};
    int slot = best_slot(s, l, false, &order);
    if (slot < 0 && m->kind == PLAN_BUDGET && frame_bytes_with(s, l->plan->room) > m->budget) {
        slot = best_slot(s, l, true, &order);
        if (slot < 0 || frame_bytes_with(s, size_const(w->sizes, 0)) > m->budget) {
            l->plan->why = "the budget has no room for it";
            return;
        }
    }
    const bool is_new = slot < 0;
    if (is_new) slot = new_slot(s, l->plan->room);
    if (l->home->loop >= 0) {
        const struct loop *loop = &w->loops.data[l->home->loop];
        const bool counts = loop->op->kind == IR_FOR && (loop->op->loop.by == 1 || loop->op->loop.by == -1);
        const bool has_room =
            m->kind == PLAN_BUDGET && !l->plan->tensor->exchange && frame_bytes_with(s, l->plan->bytes) <= m->budget;
        if (is_new && counts && has_room) {
            new_slot(s, l->plan->bytes);
            l->plan->alternates = true;
            l->plan->loop_variable = loop->op->loop.symbol;
        }
    }
    frames_note_loops(w, l);
    if (order.tensor) vec_push(&w->out->added, order);
    l->plan->slot = slot;
    l->plan->storage = STORAGE_SLOT;
    occupy(s, slot, l);
    if (l->plan->alternates) occupy(s, slot + 1, l);
}

static void lay_out(struct walk *w)
{
    const struct size *at = size_const(w->sizes, 0);
    for (size_t i = 0; i < w->out->slots.count && at; i++) {
        struct slot *slot = &w->out->slots.data[i];
        slot->at = at;
        at = size_binary(w->sizes, SIZE_ADD, at, slot->bytes);
    }
    w->out->bytes = w->out->slots.count > 0 ? at : NULL;
}

static void make_slots(struct walk *w, struct lifetime *list, size_t count)
{
    struct scan s = {.walk = w};
    for (size_t i = 0; i < count; i++) place_lifetime(&s, &list[i]);
    for (size_t i = 0; i < s.slots.count; i++) vec_free(&s.slots.data[i].lifetimes);
    vec_free(&s.slots);
    lay_out(w);
}

/* ---- which tensors may lie in a frame ---- */

bool frames_is_known_at_entry(const struct size *s)
{
    if (s->kind == SIZE_SYMBOL)
        return s->symbol->kind == SYM_PARAM || s->symbol->kind == SYM_DIM || s->symbol->kind == SYM_FORMAL ||
               s->symbol->kind == SYM_CONST;
    if (s->kind == SIZE_EXTENT || s->kind == SIZE_STRIDE || s->kind == SIZE_AT) return false;
    for (int i = 0; i < s->count; i++)
        if (!frames_is_known_at_entry(s->arg[i])) return false;
    return true;
}

static const struct size *bytes_at_entry(struct walk *w, const struct type *t)
{
    const struct size *b = size_const(w->sizes, elem_bytes(t->elem)), *granule = size_const(w->sizes, PTO_GRANULE);
    for (int d = 0; d < t->rank && b; d++) {
        const struct size *extent = t->extent[d] ? size_expand(w->sizes, t->extent[d]) : NULL;
        b = extent && frames_is_known_at_entry(extent) ? size_binary(w->sizes, SIZE_MUL, b, extent) : NULL;
    }
    int64_t factor = b && b->kind == SIZE_MUL && b->arg[0]->kind == SIZE_CONST ? b->arg[0]->value : 0;
    if (!b || (factor > 0 && factor % PTO_GRANULE == 0)) return b;
    b = size_binary(w->sizes, SIZE_CEIL_DIV, b, granule);
    return b ? size_binary(w->sizes, SIZE_MUL, b, granule) : NULL;
}

const char *frames_why_not(const struct walk *w, const struct home *p)
{
    const enum plan_kind kind = w->plan->memory.kind;
    const struct tensor_plan *t = p->plan;
    if (p->why) return p->why;
    if (kind == PLAN_RING) return "--plan=ring";
    if (tensor_note_of(w->plan->checked, t->tensor)->escapes) return "it leaves the function";
    if (type_is_scalar_array(t->tensor->type)) return "it is the orchestrator's own";
    if (!t->bytes) return "its size is not known at the entry";
    if (!t->first.end) return "no task uses it";
    if (w->tasks.count > MAX_TASKS) return "the function has too many tasks";
    if (p->loop >= 0 && kind == PLAN_FREE) return "every iteration of a loop makes its own";
    return NULL;
}

static int by_first(const void *a, const void *b)
{
    const struct lifetime *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : x->last < y->last ? -1 : x->last > y->last;
}

/* Is there a lifetime for it?  Names that exchange their buffers have one, that of the first of them. */
static bool find_place(struct walk *w, const struct symbol *tensor, struct lifetime *l)
{
    struct home *p = ptrmap_get(&w->places, tensor);
    struct tensor_plan *t = p->plan;
    const struct exchange *names = tensor->exchange;
    if (t->storage == STORAGE_RESULT || (names && names->names[0] != tensor)) return false;
    *l = (struct lifetime){.plan = t, .home = p, .last = -1};
    const bool is_used = frames_find_lifetime(w, l);
    t->why = names ? frames_why_no_exchange(w, names) : frames_why_not(w, p);
    t->room = names && !t->why ? size_scale(w->sizes, t->bytes, frames_slots_of(w, names)) : t->bytes;
    p->alternates = names && is_used && !t->why;
    return is_used && !t->why && t->room;
}

void frames_place(struct walk *w)
{
    VEC(struct lifetime) lifetimes = {0};
    frames_order(w);
    for (size_t i = 0; i < w->tensors.count; i++) {
        const struct symbol *tensor = w->tensors.data[i];
        struct tensor_plan *t = arena_new(w->plan->mem, struct tensor_plan);
        *t = (struct tensor_plan){
            .tensor = tensor, .storage = tensor->place ? STORAGE_RESULT : STORAGE_RING, .slot = -1};
        t->bytes = bytes_at_entry(w, tensor->type);
        vec_push(&w->out->tensors, t);
        ((struct home *)ptrmap_get(&w->places, tensor))->plan = t;
    }
    for (size_t i = 0; i < w->tensors.count; i++) {
        struct lifetime l;
        if (find_place(w, w->tensors.data[i], &l)) vec_push(&lifetimes, l);
    }
    if (lifetimes.count > 0) qsort(lifetimes.data, lifetimes.count, sizeof *lifetimes.data, by_first);
    if (w->plan->memory.kind == PLAN_MIN)
        frames_make_offsets(w, lifetimes.data, lifetimes.count);
    else
        make_slots(w, lifetimes.data, lifetimes.count);
    for (size_t i = 0; i < w->tensors.count; i++) {
        const struct exchange *names = w->tensors.data[i]->exchange;
        if (names && names->names[0] == w->tensors.data[i]) frames_share_exchange(w, names);
    }
    vec_free(&lifetimes);
}
