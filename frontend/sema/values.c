/* values.c - the known facts about values that change: of a `var`, and of elements of host arrays.
 * Idea       a var that is assigned gives the value it had, with all that is known of it, to a name that no text can
 *            say.
 * Owner      c->elements.
 * Tests      test/lit/sema/
 */
#include "checker.h"

const struct symbol *values_forget(struct checker *c, struct symbol *var)
{
    struct symbol *old = names_new(c, SYM_LET, var->name, var->decl);
    old->hidden = true;
    old->type = var->type;
    old->decided_name = var->decided_name;
    facts_forget(c->facts, var, old);
    for (size_t i = 0; i < c->elements.count; i++)
        if (size_names_var(c->elements.data[i].at) && size_names(c->elements.data[i].at, var))
            c->elements.data[i].base = NULL;
    return old;
}

void values_know_element(struct checker *c, const struct symbol *taken, const struct region *r)
{
    const struct size *at = size_expand(c->sizes, r->offset);
    for (size_t i = 0; i < c->elements.count; i++) {
        const struct host_element *h = &c->elements.data[i];
        if (h->base != r->base || h->at != at) continue;
        facts_add_equal(c->facts, size_symbol(c->sizes, taken), size_symbol(c->sizes, h->taken));
        return;
    }
    vec_push(&c->elements, ((struct host_element){r->base, taken, at}));
}
