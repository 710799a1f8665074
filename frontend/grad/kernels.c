/* kernels.c - the adjoint kernels that the gradients of a module call, each printed once.
 * Idea       a kernel and a formal have one adjoint in two forms; a form is printed when it is first called.
 * Tests      test/lit/grad/
 */
#include "parts.h"
#include <string.h>

const char *kernels_free_name(struct grads *all, const char *base)
{
    struct interner *names = all->c->front->names;
    const char *name = intern_str(names, base);
    for (int number = 2;
         ptrmap_get(&all->words, name) || names_in_module(all->m, name) || ptrmap_get(&all->names, name); number++)
        name = intern_str(names, arena_printf(all->c->mem, "%s_%d", base, number));
    ptrmap_set(&all->names, name, all);
    return name;
}

static struct known_adjoint *known(struct grads *all, const struct symbol *kernel, int x)
{
    for (size_t i = 0; i < all->adjoints.count; i++)
        if (all->adjoints.data[i].kernel == kernel && all->adjoints.data[i].x == x) return &all->adjoints.data[i];
    struct known_adjoint new = {kernel, x, adjoint_of(all->c->front, all->c->checked, kernel, x), {NULL}};
    vec_push(&all->adjoints, new);
    return &all->adjoints.data[all->adjoints.count - 1];
}

const struct adjoint *kernels_adjoint(struct grads *all, const struct symbol *kernel, int x)
{
    return known(all, kernel, x)->adjoint;
}

const char *kernels_name(struct grads *all, const struct symbol *kernel, int x, enum adjoint_form form)
{
    struct known_adjoint *k = known(all, kernel, x);
    if (!k->name[form]) {
        k->name[form] = kernels_free_name(all, adjoint_name(all->c->front, k->adjoint, form));
        adjoint_print(all->c->front, all->c->checked, k->adjoint, form, k->name[form], &all->kernels);
    }
    return k->name[form];
}

int kernels_original(const struct symbol *kernel, const struct symbol *f, bool *is_bar)
{
    const size_t length = strlen(f->name);
    *is_bar = false;
    for (int i = 0; i < kernel->formal_count; i++)
        if (kernel->formals[i]->name == f->name) return i;
    *is_bar = true;
    for (int i = 0; i < kernel->formal_count && length > 4; i++) {
        const char *own = kernel->formals[i]->name;
        if (strlen(own) == length - 4 && memcmp(own, f->name, length - 4) == 0) return i;
    }
    return -1;
}

/* ---- copies and zeros, for any float elements -------------------------------------------------------------------- */

/* "<E: float, A, B>", "E[A, B]", "i, j" */
static void print_rank(struct strbuf *out, const char *format, int rank, const char *letters)
{
    for (int i = 0; i < rank; i++) strbuf_printf(out, format, i ? ", " : "", letters[i]);
}

enum plain { COPIES, CLEARS, SUMS };

static const char *print_plain(struct grads *all, int rank, enum plain what)
{
    static const char dims[] = "ABCDEFGH", indices[] = "ijklmnop";
    static const char *const words[] = {"copy", "zero", "sum"};
    struct strbuf *out = &all->kernels;
    const char *name = kernels_free_name(all, arena_printf(all->c->mem, "grad_%s_%d", words[what], rank));
    STRBUF(type);
    STRBUF(element);
    print_rank(&type, "%s%c", rank, dims);
    print_rank(&element, "%s%c", rank, indices);
    strbuf_printf(out, "kernel %s<T: %s, %s>(", name, what == COPIES ? "any" : "float", strbuf_text(&type));
    if (what != CLEARS) strbuf_printf(out, "in x: T[%s], ", strbuf_text(&type));
    strbuf_printf(out, "%s y: T[%s]) on vector => { y[%s] %s ", what == SUMS ? "inout" : "out", strbuf_text(&type),
                  strbuf_text(&element), what == SUMS ? "+=" : "=");
    if (what != CLEARS)
        strbuf_printf(out, "x[%s]; }\n", strbuf_text(&element));
    else
        strbuf_puts(out, "T(0.0); }\n");
    return name;
}

const char *kernels_copy(struct grads *all, int rank)
{
    if (!all->copy_names[rank]) all->copy_names[rank] = print_plain(all, rank, COPIES);
    return all->copy_names[rank];
}

const char *kernels_zero(struct grads *all, int rank)
{
    if (!all->zero_names[rank]) all->zero_names[rank] = print_plain(all, rank, CLEARS);
    return all->zero_names[rank];
}

const char *kernels_add(struct grads *all, int rank)
{
    if (!all->add_names[rank]) all->add_names[rank] = print_plain(all, rank, SUMS);
    return all->add_names[rank];
}
