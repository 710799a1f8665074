/* frames_exchange.c - a `var` in a frame: names that exchange their buffers, see Note [alternating slots] in frames.c.
 * Idea       all of them are placed as one tensor, with room for each that has a slot.  --plan=free does so where no
 *            value is made in a slot that had another one, and for a var that one task after another makes from its
 *            value: then an iteration waits for nothing that it would not wait for.
 * Tests      test/lit/memory/alternate.pto
 */
#include "frames_parts.h"

static bool is_of(const struct exchange *names, const struct symbol *s) { return s && s->exchange == names; }

/* A task that makes the next value of the var from the value that it has. */
static bool is_step(const struct exchange *names, const struct task *t)
{
    const struct call *c = t->call;
    bool reads = false, makes = c && c->result_symbol && is_of(names, c->result_symbol);
    if (!c || t->is_opaque) return false;
    if (c->destination) makes |= is_of(names, c->destination->base) && c->destination->base->next_of;
    for (int i = 0; i < c->callee->formal_count; i++) {
        const struct region *r = c->regions[i];
        if (i != c->result_formal && r) reads |= is_of(names, r->base) && c->callee->formals[i]->dir == DIR_IN;
    }
    return makes && reads;
}

/* Does whoever writes a buffer again surely wait for all that used it?  Before the last step nothing else uses the var,
 * but for the task that makes its first value, and awaits. */
static bool is_free(const struct walk *w, const struct exchange *names, const struct home *p)
{
    bool is_used_otherwise = false;
    if (!p->is_reused) return true;
    if (names->count != 2) return false;
    for (size_t i = 0; i < p->users.count; i++) {
        const struct task *t = w->tasks.data[p->users.data[i]];
        if (!t->call) continue;
        if (is_step(names, t)) {
            if (is_used_otherwise) return false;
        } else if (i > 0) {
            if (frames_foreign_loop(w, t->loop, p->loop) >= 0) return false;
            is_used_otherwise = true;
        } else if (t->is_opaque) {
            return false;
        }
    }
    return true;
}

int frames_slots_of(const struct walk *w, const struct exchange *names)
{
    int count = 0;
    for (int i = 0; i < names->count; i++) {
        const struct home *p = ptrmap_get(&w->places, names->names[i]);
        count += p && p->has_slot;
    }
    return count;
}

const char *frames_why_no_exchange(const struct walk *w, const struct exchange *names)
{
    const struct home *first = ptrmap_get(&w->places, names->names[0]);
    for (int i = 0; i < names->count; i++) {
        const struct home *p = ptrmap_get(&w->places, names->names[i]);
        if (names->names[i]->kind == SYM_FORMAL) return "it takes over what was moved into the function";
        if (!p) return "a name that has its buffer is of no block here";
        p->plan->first = first->plan->first;
        p->plan->last = first->plan->last;
        const char *why = frames_why_not(w, p);
        if (why) return why;
        if (first->is_open && names->names[i]->keeps) return "a name may be written while a second name has its slot";
        if (p->plan->bytes != first->plan->bytes || p->loop != first->loop)
            return "a name that may have its buffer is of another size";
    }
    if (w->plan->memory.kind == PLAN_FREE && !is_free(w, names, first))
        return "an iteration would wait for more than the task that made its value";
    return NULL;
}

/* Is it used in a loop that it comes from outside of? */
static bool is_carried(const struct walk *w, const struct home *p)
{
    for (size_t i = 0; i < p->users.count; i++)
        if (frames_foreign_loop(w, w->tasks.data[p->users.data[i]]->loop, p->loop) >= 0) return true;
    return false;
}

void frames_share_exchange(const struct walk *w, const struct exchange *names)
{
    const struct home *first = ptrmap_get(&w->places, names->names[0]);
    const struct tensor_plan *t = first->plan;
    const int count = frames_slots_of(w, names);
    int number = 0;
    if (t->storage == STORAGE_SLOT && is_carried(w, first) && !is_free(w, names, first))
        vec_push(&w->out->added, ((struct added_order){t->tensor, t->tensor, t->first, t->last}));
    for (int i = 0; i < names->count; i++) {
        const struct home *p = ptrmap_get(&w->places, names->names[i]);
        if (!p) continue;
        p->plan->count = count;
        p->plan->number = p->has_slot ? number++ : -1;
        p->plan->storage = first->plan->storage;
        p->plan->slot = first->plan->slot;
        p->plan->why = first->plan->why;
        p->plan->first = first->plan->first;
        p->plan->last = first->plan->last;
    }
}
