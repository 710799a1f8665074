/* adjoint_dump.c - --dump=adjoint.
 * Tests      test/lit/grad/
 */
#include "adjoint.h"
#include "sema/equations/equations.h"
#include "sema/sema.h"

static bool is_float_tensor(const struct symbol *s)
{
    return s->type->kind == TYPE_TENSOR && s->type->elem >= ELEM_F16 && s->type->elem <= ELEM_F64;
}

static void dump_formal(struct front *front, const struct checked *checked, const struct symbol *kernel, int x,
                        struct strbuf *out)
{
    const struct adjoint *a = adjoint_of(front, checked, kernel, x);
    const char *name = kernel->formals[x]->name;
    switch (a->kind) {
    case ADJOINT_NONE: strbuf_printf(out, "// %s, %s: none, %s\n", kernel->name, name, a->why); return;
    case ADJOINT_ZERO: strbuf_printf(out, "// %s, %s: 0\n", kernel->name, name); return;
    case ADJOINT_SAME: strbuf_printf(out, "// %s, %s: the same\n", kernel->name, name); return;
    case ADJOINT_KERNEL: break;
    }
    adjoint_print(front, checked, a, ADJOINT_OVERWRITES, adjoint_name(front, a, ADJOINT_OVERWRITES), out);
    if (a->formals[a->formal_count - 1].role != ADJOINT_GRADIENT) return;
    adjoint_print(front, checked, a, ADJOINT_ADDS, adjoint_name(front, a, ADJOINT_ADDS), out);
}

static void dump_kernel(struct front *front, const struct checked *checked, const struct symbol *kernel,
                        struct strbuf *out)
{
    if (!equations_of(kernel)) return;
    for (int i = 0; i < kernel->formal_count; i++)
        if (is_float_tensor(kernel->formals[i]) && kernel->formals[i]->dir != DIR_OUT)
            dump_formal(front, checked, kernel, i, out);
}

void adjoint_dump(struct front *front, const struct checked *checked, struct strbuf *out)
{
    const struct module *m = checked->modules[0];
    for (int i = 0; i < m->symbol_count; i++)
        for (const struct symbol *s = m->symbols[i]; s && s->kind == SYM_KERNEL; s = s->next_overload) {
            dump_kernel(front, checked, s, out);
            for (const struct symbol *k = s->instances; k; k = k->next_instance) dump_kernel(front, checked, k, out);
        }
}
