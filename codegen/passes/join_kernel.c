/* join_kernel.c - the kernel that is made of two.
 * Idea       its formals are those of the first and those of the second, once where both have the same region.  So the
 *            extents of such a pair are equal, and a dimension variable that only stands for one of them goes away.
 * Owner      the symbols, in the arena of the plan; they are in no module's list.
 * Tests      test/lit/codegen/join.pto
 */
#include "join_parts.h"
#include "kernel_dims.h"
#include "support/arena.h"
#include <string.h>

static bool is_tensor(const struct symbol *s) { return s->type->kind == TYPE_TENSOR; }

/* ---- names ---- */

static bool is_taken(const struct symbol *kernel, const char *name)
{
    for (int i = 0; i < kernel->formal_count; i++)
        if (strcmp(kernel->formals[i]->name, name) == 0) return true;
    for (int i = 0; i < kernel->dim_count; i++)
        if (strcmp(kernel->dims[i]->name, name) == 0) return true;
    return false;
}

/* With the name of its kernel before it where that is needed.  No digit behind a `_`: the strides of a tensor x are
 * x_0, x_1 ... */
static const char *new_name(struct plan *p, const struct symbol *kernel, const struct symbol *part, const char *name)
{
    if (!is_taken(kernel, name)) return name;
    char *plain = arena_printf(p->mem, "%s_%s", part->generic ? part->generic->name : part->name, name);
    for (char *c = plain; *c; c++)
        if (*c == '+') *c = '_';
    name = plain;
    for (int n = 2; is_taken(kernel, name); n++) name = arena_printf(p->mem, "%s%d", plain, n);
    return name;
}

static struct symbol *copy_symbol(struct plan *p, const struct symbol *from)
{
    struct symbol *to = arena_new(p->mem, struct symbol);
    *to = *from;
    return to;
}

/* ---- dimension variables ---- */

/* Those of both, and which of them still stand for themselves. */
struct dims {
    struct symbol **all;
    struct origin *from;
    bool *is_gone;
    int count;
};

static void map(struct part_copy *part, const struct symbol *from, const struct size *to)
{
    vec_push(&part->from, from);
    vec_push(&part->to, to);
}

static void add_dims(struct plan *p, struct dims *dims, struct part_copy *part, int number)
{
    for (int i = 0; i < part->kernel->dim_count; i++) {
        struct symbol *s = copy_symbol(p, part->kernel->dims[i]);
        dims->from[dims->count] = (struct origin){number, i};
        dims->all[dims->count++] = s;
        map(part, part->kernel->dims[i], size_symbol(p->checked->sizes, s));
    }
}

/* s is a dimension variable that the other size does not name: from now on it is that size. */
static bool replace(struct plan *p, struct dims *dims, struct part_copy parts[2], const struct size *s,
                    const struct size *by)
{
    if (s->kind != SIZE_SYMBOL || size_names(by, s->symbol)) return false;
    for (int i = 0; i < dims->count; i++) {
        if (dims->all[i] != s->symbol) continue;
        dims->is_gone[i] = true;
        for (int k = 0; k < 2; k++)
            for (size_t n = 0; n < parts[k].to.count; n++) {
                const struct size *to = size_substitute(p->checked->sizes, parts[k].to.data[n], &s->symbol, &by, 1);
                if (to) parts[k].to.data[n] = to;
            }
        return true;
    }
    return false;
}

static void merge_dims(struct plan *p, const struct joined_kernel *j, struct dims *dims, struct part_copy parts[2])
{
    for (int i = 0; i < j->parts[1]->formal_count; i++) {
        if (j->merged[i] < 0) continue;
        const struct type *a = j->parts[0]->formals[j->merged[i]]->type, *b = j->parts[1]->formals[i]->type;
        for (int d = 0; d < a->rank; d++) {
            const struct size *x = join_size(p, &parts[0], a->extent[d]), *y = join_size(p, &parts[1], b->extent[d]);
            if (x && y && x != y && !replace(p, dims, parts, y, x)) replace(p, dims, parts, x, y);
        }
    }
}

/* ---- formals ---- */

static const struct type *copy_type(struct plan *p, const struct part_copy *part, const struct type *from)
{
    if (from->kind != TYPE_TENSOR) return from;
    struct type *to = arena_new(p->mem, struct type);
    *to = *from;
    for (int d = 0; d < from->rank; d++) {
        to->extent[d] = join_size(p, part, from->extent[d]);
        if (!to->extent[d]) return NULL;
    }
    return to;
}

/* Scalars stand in sizes. */
static void map_scalars(struct plan *p, struct part_copy *part)
{
    for (int i = 0; i < part->kernel->formal_count; i++) {
        if (is_tensor(part->kernel->formals[i])) continue;
        part->formals[i] = copy_symbol(p, part->kernel->formals[i]);
        map(part, part->kernel->formals[i], size_symbol(p->checked->sizes, part->formals[i]));
    }
}

static bool add_formal(struct plan *p, struct joined_kernel *j, struct part_copy *part, int number, int i)
{
    struct symbol *s = part->formals[i] ? part->formals[i] : copy_symbol(p, part->kernel->formals[i]);
    if (j->kernel->formal_count == MAX_FORMALS) return false;
    s->name = new_name(p, j->kernel, j->parts[number], s->name);
    s->type = copy_type(p, part, part->kernel->formals[i]->type);
    part->formals[i] = s;
    j->formal_from[j->kernel->formal_count] = (struct origin){number, i};
    j->kernel->formals[j->kernel->formal_count++] = s;
    return s->type != NULL;
}

static bool make_temporary(struct plan *p, struct part_copy *part, int i)
{
    const struct symbol *formal = part->kernel->formals[i];
    struct eq_temp *t = arena_new(p->mem, struct eq_temp);
    const enum elem elem = formal->type->elem;
    *t = (struct eq_temp){.name = formal->name,
                          .elem = elem == ELEM_F16 || elem == ELEM_BF16 ? ELEM_F32 : elem,
                          .nominal = elem,
                          .rank = formal->type->rank,
                          .at = formal->decl->at};
    for (int d = 0; d < t->rank; d++) {
        t->low[d] = size_const(p->checked->sizes, 0);
        t->high[d] = t->extent[d] = join_size(p, part, formal->type->extent[d]);
        if (!t->extent[d]) return false;
    }
    part->temps[i] = t;
    return true;
}

static bool add_formals(struct plan *p, struct joined_kernel *j, struct part_copy parts[2])
{
    const struct symbol *a = j->parts[0], *b = j->parts[1];
    for (int i = 0; i < a->formal_count; i++)
        if (j->is_dropped[i] ? !make_temporary(p, &parts[0], i) : !add_formal(p, j, &parts[0], 0, i)) return false;
    for (int i = 0; i < b->formal_count; i++) {
        const int m = j->merged[i];
        if (m < 0 && !add_formal(p, j, &parts[1], 1, i)) return false;
        if (m < 0) continue;
        parts[1].formals[i] = parts[0].formals[m];
        parts[1].temps[i] = parts[0].temps[m];
        if (parts[0].formals[m])
            parts[0].formals[m]->dir = join_direction(parts[0].formals[m]->dir, b->formals[i]->dir);
    }
    return true;
}

/* ---- the kernel ---- */

/* As if it had been declared where the second was, on the worker that one of them asks for. */
static struct ast *new_declaration(struct plan *p, const struct joined_kernel *j)
{
    struct ast *decl = arena_new(p->mem, struct ast);
    *decl = *j->parts[1]->decl;
    decl->kernel = arena_new(p->mem, struct kernel_ast);
    *decl->kernel = *j->parts[1]->decl->kernel;
    decl->kernel->cost = decl->kernel->where = decl->kernel->extern_name = NULL;
    if (!decl->kernel->worker) decl->kernel->worker = j->parts[0]->decl->kernel->worker;
    return decl;
}

static struct symbol *new_kernel(struct plan *p, const struct joined_kernel *j)
{
    struct symbol *k = arena_new(p->mem, struct symbol);
    k->kind = SYM_KERNEL;
    k->name = arena_printf(p->mem, "%s+%s", j->parts[0]->name, j->parts[1]->name);
    k->decl = new_declaration(p, j);
    k->decl->name = k->name;
    k->module = p->checked->modules[0];
    k->type = j->parts[1]->type;
    k->formals = k->declared = arena_array(p->mem, struct symbol *, MAX_FORMALS);
    return k;
}

bool join_make_kernel(struct plan *p, struct joined_kernel *j)
{
    const int most = j->parts[0]->dim_count + j->parts[1]->dim_count + 1;
    struct dims dims = {arena_array(p->mem, struct symbol *, most), arena_array(p->mem, struct origin, most),
                        arena_array(p->mem, bool, most), 0};
    struct part_copy parts[2] = {{.kernel = j->parts[0]}, {.kernel = j->parts[1]}};
    struct symbol *k = j->kernel = new_kernel(p, j);
    int extra[MAX_FORMALS];
    j->dim_from = arena_array(p->mem, struct origin, most);
    for (int i = 0; i < 2; i++) {
        parts[i].formals = arena_array(p->mem, struct symbol *, parts[i].kernel->formal_count + 1);
        parts[i].temps = arena_array(p->mem, struct eq_temp *, parts[i].kernel->formal_count + 1);
        add_dims(p, &dims, &parts[i], i);
        map_scalars(p, &parts[i]);
    }
    merge_dims(p, j, &dims, parts);
    k->dims = arena_array(p->mem, struct symbol *, most);
    for (int i = 0; i < dims.count; i++) {
        if (dims.is_gone[i]) continue;
        dims.all[i]->name = new_name(p, k, j->parts[dims.from[i].part], dims.all[i]->name);
        j->dim_from[k->dim_count] = dims.from[i];
        k->dims[k->dim_count++] = dims.all[i];
    }
    bool is_made = add_formals(p, j, parts);
    k->declared_count = k->formal_count;
    if (is_made) k->equations = join_equations(p, k, parts);
    is_made = k->equations && k->dim_count <= MAX_FORMALS &&
              k->formal_count + kernel_extra_dims(p->checked, k, extra) <= MAX_FORMALS;
    for (int i = 0; i < 2; i++) {
        vec_free(&parts[i].from);
        vec_free(&parts[i].to);
    }
    return is_made;
}
