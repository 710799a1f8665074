/* fact_list.c - the stack of facts, and the strongest of them.
 * Idea       dancing links: a fact unlinks the weaker one of the same linear part, and links it again when it is
 *            popped; what is visible is found by its linear part in a table, and in the order of age by the links.
 * Owner      struct facts.
 * Invariant  facts go in the opposite order of their coming, so every link is mended by the fact that changed it;
 *            visible facts have different linear parts.
 * Source     the links: D. Knuth, Dancing Links, 2000.
 * Tests      test/lit/sema/e05*.pto, test/lit/limits/statements.test
 */
#include "fact_list.h"
#include <string.h>

enum { MAX_TERMS = 32 }; /* of a fact, to find what it is about */

void fact_list_init(struct fact_list *l, struct size_table *sizes)
{
    l->sizes = sizes;
    l->newest = NO_FACT;
    memset(l->bucket, 0xff, sizeof l->bucket);
}

void fact_list_free(struct fact_list *l)
{
    fact_list_pop(l, 0);
    vec_free(&l->all);
}

uint64_t fact_list_state(const struct fact_list *l) { return l->all.count ? l->all.data[l->all.count - 1].state : 0; }

uint64_t fact_bit(const struct size *atom)
{
    return UINT64_C(1) << (size_id(atom) * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static uint64_t bits_of(struct size_table *sizes, const struct size *a, int depth)
{
    struct size_term terms[MAX_TERMS];
    uint64_t bits = 0;
    int count = size_terms(sizes, a, terms, MAX_TERMS);
    for (int i = 0; i < count; i++) {
        const struct size *m = terms[i].mono;
        if (!m) continue;
        bits |= fact_bit(m);
        if (depth > 0 && (m->kind == SIZE_MOD || m->kind == SIZE_DIV || m->kind == SIZE_CEIL_DIV ||
                          m->kind == SIZE_SHR || m->kind == SIZE_AND))
            bits |= bits_of(sizes, m->arg[0], depth - 1);
    }
    return bits;
}

/* a = linear + constant. */
static const struct size *split(struct size_table *sizes, const struct size *a, int64_t *constant)
{
    *constant = 0;
    /* the constant of a sum comes last */
    if (a->kind != SIZE_ADD || !size_is_const(a->arg[a->count - 1], constant)) return a;
    return size_sub(sizes, a, a->arg[a->count - 1]);
}

/* The link to the visible fact of that linear part, or to NO_FACT at the end of its bucket. */
static int *find(struct fact_list *l, const struct size *linear)
{
    int *link = &l->bucket[size_id(linear) % FACT_BUCKETS];
    while (*link != NO_FACT && l->all.data[*link].linear != linear) link = &l->all.data[*link].same;
    return link;
}

static void unlink_age(struct fact_list *l, const struct fact *f)
{
    if (f->newer == NO_FACT)
        l->newest = f->older;
    else
        l->all.data[f->newer].older = f->older;
    if (f->older != NO_FACT) l->all.data[f->older].newer = f->newer;
}

static void relink_age(struct fact_list *l, int at)
{
    struct fact *f = &l->all.data[at];
    if (f->newer == NO_FACT)
        l->newest = at;
    else
        l->all.data[f->newer].older = at;
    if (f->older != NO_FACT) l->all.data[f->older].newer = at;
}

static void link_in(struct fact_list *l, int at)
{
    struct fact *f = &l->all.data[at];
    int *link = find(l, f->linear);
    f->hides = *link;
    f->same = NO_FACT;
    if (f->hides != NO_FACT) {
        struct fact *weaker = &l->all.data[f->hides];
        f->is_weaker = weaker->constant <= f->constant;
        if (f->is_weaker) return;
        f->same = weaker->same;
        unlink_age(l, weaker);
    }
    *link = at;
    f->newer = NO_FACT;
    f->older = l->newest;
    relink_age(l, at);
}

static void link_out(struct fact_list *l, int at)
{
    const struct fact *f = &l->all.data[at];
    if (!f->size || f->is_weaker) return;
    int *link = find(l, f->linear);
    unlink_age(l, f);
    *link = f->hides != NO_FACT ? f->hides : f->same;
    if (f->hides != NO_FACT) relink_age(l, f->hides);
}

/* What the fact says, without its place. */
static struct fact fact_of(struct fact_list *l, const struct size *a)
{
    struct fact f = {
        .size = a, .state = ++l->states, .older = NO_FACT, .newer = NO_FACT, .same = NO_FACT, .hides = NO_FACT};
    if (!a) return f;
    f.linear = split(l->sizes, a, &f.constant);
    f.names_var = size_names_var(a);
    f.atoms = bits_of(l->sizes, a, MENTION_DEPTH);
    if (!f.linear) f.linear = a, f.constant = 0; /* the difference of two numbers that is too large for one */
    return f;
}

void fact_list_push(struct fact_list *l, const struct size *a)
{
    struct fact f = fact_of(l, a);
    vec_push(&l->all, f);
    if (a) link_in(l, (int)l->all.count - 1);
}

void fact_list_pop(struct fact_list *l, size_t count)
{
    for (; l->all.count > count; l->all.count--) link_out(l, (int)l->all.count - 1);
}

bool fact_list_says(const struct fact_list *l, const struct size *a)
{
    int64_t constant;
    const struct size *linear = a ? split(l->sizes, a, &constant) : NULL;
    if (!linear) return false;
    for (int i = l->bucket[size_id(linear) % FACT_BUCKETS]; i != NO_FACT; i = l->all.data[i].same)
        if (l->all.data[i].linear == linear) return l->all.data[i].constant <= constant;
    return false;
}

void fact_list_rename(struct fact_list *l, const struct symbol *var, const struct symbol *old)
{
    const struct size *to = size_symbol(l->sizes, old);
    size_t count = l->all.count, first = 0;
    while (first < count && !(l->all.data[first].names_var && size_names(l->all.data[first].size, var))) first++;
    fact_list_pop(l, first);
    for (l->all.count = first; l->all.count < count; l->all.count++) { /* those behind it stand where they stood */
        struct fact *f = &l->all.data[l->all.count];
        bool is_about = f->names_var && size_names(f->size, var);
        *f = fact_of(l, is_about ? size_substitute(l->sizes, f->size, &var, &to, 1) : f->size);
        if (f->size) link_in(l, (int)l->all.count);
    }
}
