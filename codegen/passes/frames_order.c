/* frames_order.c - from which task to which a tensor lives, and which task surely waits for which.
 * Idea       a tensor lives from its first task to its last, over a whole loop where it comes from outside the loop.  A
 *            task waits for another one where both touch a tensor, one writes, and one touches all of it.
 * Tests      test/lit/memory/plans.test
 */
#include "frames_parts.h"
#include "support/arena.h"

/* ---- lifetimes ---- */

/* The outermost loop around task t that does not hold the declaration; -1: none. */
int frames_foreign_loop(const struct walk *w, int loop, int named_in)
{
    int found = -1;
    for (; loop >= 0 && loop != named_in; loop = w->loops.data[loop].parent) found = loop;
    return found;
}

bool frames_find_lifetime(const struct walk *w, struct lifetime *l)
{
    for (size_t i = 0; i < l->home->users.count; i++) {
        const int t = l->home->users.data[i], loop = frames_foreign_loop(w, w->tasks.data[t]->loop, l->home->loop);
        const int first = loop >= 0 ? w->loops.data[loop].first : t, last = loop >= 0 ? w->loops.data[loop].last : t;
        if (i == 0) l->plan->first = w->tasks.data[t]->at;
        if (i == 0 || first < l->first) l->first = first;
        if (last > l->last) l->last = last;
        l->plan->last = w->tasks.data[t]->at;
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

static bool is_reading(const struct access *a) { return a->dir == DIR_IN || a->dir == DIR_HOST || a->dir == DIR_NONE; }

/* Does `later` surely wait for `earlier` itself? */
static bool waits_for(const struct task *later, const struct task *earlier)
{
    if (!earlier->call) return true; /* it has been read when anything later is submitted */
    if (later->is_opaque || earlier->is_opaque) return false;
    for (size_t i = 0; i < later->accesses.count; i++)
        for (size_t k = 0; k < earlier->accesses.count; k++) {
            const struct access *a = &later->accesses.data[i], *b = &earlier->accesses.data[k];
            const bool meet = a->tensor == b->tensor && (a->whole || b->whole);
            if (meet && !(is_reading(a) && is_reading(b)) && !(a->dir == DIR_ACC && b->dir == DIR_ACC)) return true;
        }
    return false;
}

bool frames_is_before(const struct walk *w, int earlier, int later)
{
    return w->before[(size_t)later * w->row + (size_t)earlier / 64] >> (earlier % 64) & 1;
}

/* Over others that every call makes. */
static void find_order(struct walk *w)
{
    w->row = w->tasks.count / 64 + 1;
    w->before = arena_array(w->plan->mem, uint64_t, w->tasks.count * w->row + 1);
    for (size_t t = 1; t < w->tasks.count; t++) {
        uint64_t *mine = &w->before[t * w->row];
        for (size_t earlier = t; earlier-- > 0;) {
            if (frames_is_before(w, (int)earlier, (int)t) || !waits_for(w->tasks.data[t], w->tasks.data[earlier]))
                continue;
            mine[earlier / 64] |= (uint64_t)1 << (earlier % 64);
            /* an await is no edge of the graph */
            const bool leads_on = w->tasks.data[earlier]->is_certain && w->tasks.data[earlier]->call;
            for (size_t i = 0; leads_on && i < w->row; i++) mine[i] |= w->before[earlier * w->row + i];
        }
    }
}

void frames_order(struct walk *w)
{
    find_users(w);
    if (w->tasks.count <= MAX_TASKS) find_order(w);
}
