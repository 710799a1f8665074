/* scratch.c - `scratch t: f32[N]`: memory of a task that is no argument of its call.
 * Gives      the symbol of the formal, with the direction DIR_SCRATCH.
 * Tests      test/lit/sema/scratch.pto
 */
#include "checker.h"
#include <string.h>

static bool names_param(const struct size *a)
{
    if (a->kind == SIZE_SYMBOL && a->symbol->kind == SYM_PARAM) return true;
    for (int i = 0; i < a->count; i++)
        if (names_param(a->arg[i])) return true;
    return false;
}

/* `@adjoint` is no work request, `@opcode` is one. */
static bool is_request(const struct symbol *kernel)
{
    for (const struct ast *a = kernel->decl->attrs; a; a = a->next)
        if (strcmp(a->name, "opcode") == 0) return true;
    return false;
}

/* Has the scratch tensor of this kernel or function a meaning? */
static bool is_scratch(struct checker *c, const struct symbol *s, const struct symbol *f, const struct ast *node)
{
    const struct span dir_at = node->formal.dir_at;
    if (s->kind != SYM_KERNEL) {
        diag_error(c->diag, DIAG_E08, dir_at, "'scratch' has no meaning in a function: it is for kernels");
        diag_help(c->diag, "a tensor of a function is 'let %s: ...'", f->name);
    } else if (f->type->kind != TYPE_TENSOR || f->type->array_rank) {
        diag_error(c->diag, DIAG_E02, node->at, "'%s' is scratch memory: a tensor, not %s", f->name,
                   type_str(c, f->type));
    } else if (node->formal.writes) {
        diag_error(c->diag, DIAG_E08, node->formal.writes->at, "'%s' is scratch memory: it has no 'writes'", f->name);
    } else if (node->formal.by) {
        diag_error(c->diag, DIAG_E08, node->formal.by->at, "'%s' is scratch memory: it has no 'by'", f->name);
    } else if (s->decl->kernel->block) {
        diag_error(c->diag, DIAG_E08, dir_at, "'scratch' has no meaning in index notation: '%s' is a 'let'", f->name);
    } else if (is_request(s)) {
        diag_error(c->diag, DIAG_E12, dir_at, "'%s' is a work request: it has no scratch memory", s->name);
    } else {
        for (int d = 0; d < f->type->rank; d++) {
            if (!names_param(f->type->extent[d])) continue;
            diag_error(c->diag, DIAG_E19, node->formal.type->at,
                       "an extent of '%s' names a param, which belongs to the run: give it to '%s' as a scalar",
                       f->name, s->name);
            return false;
        }
        return true;
    }
    return false;
}

void scratch_declare(struct checker *c, struct symbol *s, struct ast *node)
{
    struct symbol *f = names_new(c, SYM_FORMAL, node->name, node);
    f->type = type_nodes_check(c, node->formal.type);
    f->dir = DIR_SCRATCH;
    f->resolving = 2;
    node->symbol = f;
    if (f->type->kind == TYPE_ERROR || !is_scratch(c, s, f, node)) notes_bad(s->decl);
    names_declare(c, f, node->name_at);
}
