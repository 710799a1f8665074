/* grads.c - what is asked for before a function, `@grad(x, ..)`, and before a kernel, `@adjoint(f)`.
 * Idea       here only what the heads say: which formals have a gradient, and whether f has the formals that an adjoint
 *            has.  Whether the body has a gradient is a question of frontend/grad.
 * Gives      the formal that each argument of @grad names, as its `symbol`; `adjoint` of a KERNEL.
 * Tests      test/lit/grad/refused.test
 */
#include "checker.h"
#include "support/nearest.h"
#include <string.h>

static bool is_float(const struct type *t)
{
    return t->kind == TYPE_TENSOR &&
           (t->elem == ELEM_F32 || t->elem == ELEM_F64 || t->elem == ELEM_F16 || t->elem == ELEM_BF16);
}

/* ---- before a function ------------------------------------------------------------------------------------------- */

static struct symbol *formal_named(const struct symbol *s, const char *name)
{
    for (int i = 0; i < s->formal_count; i++)
        if (s->formals[i]->name == name) return s->formals[i];
    return NULL;
}

static bool refuse(struct checker *c, const struct ast *x, const char *text, const char *help)
{
    diag_error(c->diag, DIAG_E22, x->at, "'%s' %s", place_str(c, x), text);
    diag_help(c->diag, "%s", help);
    return false;
}

static bool check_x(struct checker *c, const struct symbol *orch, const struct ast *attr, struct ast *x)
{
    struct symbol *f = x->kind == AST_NAME ? formal_named(orch, x->name) : NULL;
    if (!f) {
        const char *names[MAX_FORMALS], *near;
        for (int i = 0; i < orch->formal_count; i++) names[i] = orch->formals[i]->name;
        near = x->kind == AST_NAME ? nearest_word(x->name, names, orch->formal_count) : NULL;
        diag_error(c->diag, DIAG_E01, x->at, "'%s' is no formal of '%s'", place_str(c, x), orch->name);
        if (near) diag_fix(c->diag, x->at, near, "did you mean '%s'?", near);
        return false;
    }
    x->symbol = f;
    for (const struct ast *b = attr->attr.args; b != x; b = b->next)
        if (b->symbol == f) {
            diag_error(c->diag, DIAG_E17, x->at, "'%s' is named twice", f->name);
            return false;
        }
    if (f->type->kind == TYPE_ERROR) return false;
    if (type_is_struct(f->type)) {
        diag_error(c->diag, DIAG_E99, x->at, "a gradient with respect to the struct '%s' is not built yet", f->name);
        diag_help(c->diag, "give the function a formal for each tensor of it");
        return false;
    }
    if (type_is_scalar(f->type))
        return refuse(c, x, "is a scalar, and gradients are tensors",
                      "make it a tensor of one element, and give that to kernels in place of the scalar");
    if (!is_float(f->type))
        return refuse(c, x, "has no gradient: its elements are no floats",
                      "name the formals that are tensors of floats: f64, f32, f16 or bf16");
    if (f->dir == DIR_HOST)
        return refuse(c, x, "is 'host': the orchestrator reads it, and no kernel gives it a gradient",
                      "make it an 'in' tensor, and give it to kernels");
    if (f->dir == DIR_OWN)
        return refuse(c, x, "is 'own': its lifetime ends before the gradient is made",
                      "make it 'in': the caller keeps it until the gradient is there");
    if (f->dir == DIR_ACC) {
        diag_error(c->diag, DIAG_E99, x->at, "a gradient with respect to '%s', which is 'acc', is not built yet",
                   f->name);
        diag_help(c->diag, "make it 'inout': the function may still give it to kernels as 'acc'");
        return false;
    }
    if (f->dir == DIR_OUT)
        return refuse(c, x, "is only written: its value before the call has no gradient",
                      "name the formals that the function reads");
    return true;
}

static bool check_grad(struct checker *c, const struct symbol *orch, struct ast *attr)
{
    bool is_good = true;
    for (struct ast *x = attr->attr.args; x; x = x->next) is_good &= check_x(c, orch, attr, x);
    return is_good;
}

static bool is_beside_grad(const struct ast *orch)
{
    for (const struct ast *a = orch->attrs; a; a = a->next)
        if (strcmp(a->name, "grad") == 0 || strcmp(a->name, "grad_add") == 0) return true;
    return false;
}

static bool check_keep(struct checker *c, const struct ast *orch, const struct ast *attr)
{
    struct ast *x = attr->attr.args;
    int64_t count;
    if (!is_beside_grad(orch)) {
        diag_error(c->diag, DIAG_E17, attr->at, "'@keep' stands beside '@grad' or '@grad_add'");
        return false;
    }
    if (exprs_check(c, x, AS_VALUE)->kind == TYPE_ERROR) return false;
    if (!x->next && x->value && size_is_const(x->value, &count) && count >= 0) return true;
    diag_error(c->diag, DIAG_E17, attr->at,
               "'@keep(c)' has the number of iterations whose values are kept, at least 0");
    diag_help(c->diag, "'@keep(0)' keeps those of all iterations");
    return false;
}

static bool check_order(struct checker *c, const struct ast *orch, const struct ast *attr)
{
    const struct ast *x = attr->attr.args;
    if (x->kind != AST_STRING || x->next || strcmp(x->string.text, "any") != 0)
        diag_error(c->diag, DIAG_E17, attr->at,
                   "the order is '@order(\"any\")', or that of the program without '@order'");
    else if (!is_beside_grad(orch))
        diag_error(c->diag, DIAG_E17, attr->at, "'@order' stands beside '@grad' or '@grad_add'");
    else
        return true;
    return false;
}

static bool check_attribute(struct checker *c, const struct symbol *orch, struct ast *a)
{
    static const char *const known[] = {"grad", "grad_add", "order", "keep"};
    const struct ast *d = orch->decl;
    for (const struct ast *b = d->attrs; b != a; b = b->next)
        if (b->name == a->name) {
            diag_error(c->diag, DIAG_E17, a->name_at, "attribute '@%s' is given twice", a->name);
            return false;
        }
    if (strcmp(a->name, "grad") == 0 || strcmp(a->name, "grad_add") == 0) return check_grad(c, orch, a);
    if (strcmp(a->name, "order") == 0) return check_order(c, d, a);
    if (strcmp(a->name, "keep") == 0) return check_keep(c, d, a);
    const char *near = nearest_word(a->name, known, 2);
    diag_error(c->diag, DIAG_E17, a->at, "'@%s' is no attribute of a function: '%s' has @grad or @grad_add", a->name,
               orch->name);
    if (near) diag_fix(c->diag, a->name_at, near, "did you mean '@%s'?", near);
    return false;
}

void grads_check(struct checker *c, struct symbol *orch)
{
    for (struct ast *a = orch->decl->attrs; a; a = a->next)
        if (!check_attribute(c, orch, a)) notes_bad(orch->decl);
}

/* ---- before a kernel --------------------------------------------------------------------------------------------- */

static bool same_tensor(const struct type *a, const struct type *b)
{
    return a->kind == b->kind &&
           (a->kind != TYPE_TENSOR || (a->rank == b->rank && (a->elem == b->elem || !a->elem || !b->elem)));
}

/* What a formal of the adjoint is to the kernel: `x` itself, or its bar `x_bar`; NULL: neither. */
static const struct symbol *original_of(const struct symbol *kernel, const char *name, bool *is_bar)
{
    const size_t length = strlen(name);
    *is_bar = false;
    for (int i = 0; i < kernel->formal_count; i++)
        if (kernel->formals[i]->name == name) return kernel->formals[i];
    *is_bar = true;
    for (int i = 0; i < kernel->formal_count && length > 4 && strcmp(name + length - 4, "_bar") == 0; i++) {
        const char *own = kernel->formals[i]->name;
        if (strlen(own) == length - 4 && memcmp(own, name, length - 4) == 0) return kernel->formals[i];
    }
    return NULL;
}

/* The gradient of an `inout` may be read, where it stays as it is. */
static bool is_right_direction(const struct symbol *x, enum direction d)
{
    return x->dir == DIR_OUT ? d == DIR_IN : d == DIR_INOUT || (d == DIR_IN && x->dir == DIR_INOUT);
}

static bool check_formal(struct checker *c, const struct symbol *kernel, const struct ast *attr, const struct symbol *f)
{
    bool is_bar;
    const struct symbol *x = original_of(kernel, f->name, &is_bar);
    if (!x) {
        diag_error(c->diag, DIAG_E22, attr->at, "'%s' of the adjoint is neither a formal of '%s' nor the bar of one",
                   f->name, kernel->name);
        diag_help(c->diag, "the adjoint has formals of '%s' by their names, and x_bar for the gradient of x",
                  kernel->name);
    } else if (!same_tensor(x->type, f->type)) {
        diag_error(c->diag, DIAG_E02, attr->at, "'%s' of the adjoint is %s, '%s' of '%s' is %s", f->name,
                   type_str(c, f->type), x->name, kernel->name, type_str(c, x->type));
    } else if (is_bar && !is_float(x->type) && x->type->elem) {
        diag_error(c->diag, DIAG_E22, attr->at, "'%s' has no gradient: its elements are no floats", x->name);
        diag_help(c->diag, "leave '%s' out", f->name);
    } else if (!is_bar && f->type->kind == TYPE_TENSOR && f->dir != DIR_IN) {
        diag_error(c->diag, DIAG_E08, attr->at, "the adjoint only reads '%s', which is '%s' there", f->name,
                   direction_text(f->dir));
    } else if (is_bar && !is_right_direction(x, f->dir)) {
        diag_error(c->diag, DIAG_E08, attr->at, "'%s' of the adjoint is '%s', and '%s' there", f->name,
                   x->dir == DIR_OUT ? "in" : "inout", direction_text(f->dir));
        diag_help(c->diag, x->dir == DIR_OUT     ? "the gradient of what the kernel writes is given"
                           : x->dir == DIR_INOUT ? "the gradient after the kernel is replaced by that before it"
                                                 : "the gradient is added to");
    } else {
        return true;
    }
    diag_note(c->diag, f->decl->at, "'%s' is declared here", f->name);
    return false;
}

/* Of kernels of one name the one whose tensors have the types of this kernel's. */
static const struct symbol *choose(struct checker *c, const struct symbol *kernel, struct symbol *first)
{
    for (struct symbol *f = first; f; f = f->next_overload) {
        bool is_alike = true;
        declare_resolve(c, f);
        for (int i = 0; i < f->formal_count && is_alike && !f->decl->bad; i++) {
            bool is_bar;
            const struct symbol *x = original_of(kernel, f->formals[i]->name, &is_bar);
            is_alike = x && same_tensor(x->type, f->formals[i]->type);
        }
        if (is_alike) return f;
    }
    return first;
}

/* One of the kernels that the attribute names; NULL: reported. */
static const struct symbol *find_adjoint(struct checker *c, struct symbol *kernel, const struct ast *attr,
                                         const struct ast *name)
{
    struct symbol *first = name->kind == AST_NAME ? names_in_module(kernel->module, name->name) : NULL;
    if (name->kind != AST_NAME) {
        diag_error(c->diag, DIAG_E17, name->at, "'@adjoint' takes names of kernels of this file");
        return NULL;
    }
    if (!first) {
        names_unknown(c, name->at, name->name, "kernel or function", NULL);
        return NULL;
    }
    if (first->kind != SYM_KERNEL) {
        diag_error(c->diag, DIAG_E19, name->at, "'%s' is no kernel: the adjoint of a kernel is one", name->name);
        return NULL;
    }
    const struct symbol *f = choose(c, kernel, first);
    for (int i = 0; i < f->formal_count && !f->decl->bad; i++)
        if (!check_formal(c, kernel, attr, f->formals[i])) return NULL;
    return f;
}

static bool gives(const struct symbol *kernel, const struct symbol *f, const struct symbol *x)
{
    bool is_bar;
    for (int i = 0; i < f->formal_count; i++)
        if (f->formals[i]->dir == DIR_INOUT && original_of(kernel, f->formals[i]->name, &is_bar) == x && is_bar)
            return true;
    return false;
}

/* A gradient that two adjoints give would be twice what it is. */
static bool check_other(struct checker *c, const struct symbol *kernel, const struct ast *name, const struct symbol *f)
{
    for (int n = 0; n < kernel->adjoint_count; n++) {
        const struct symbol *other = kernel->adjoints[n];
        if (other == f) {
            diag_error(c->diag, DIAG_E22, name->at, "'%s' is named twice", f->name);
            diag_help(c->diag, "name each adjoint of '%s' once", kernel->name);
            return false;
        }
        for (int i = 0; i < kernel->formal_count; i++) {
            const struct symbol *x = kernel->formals[i];
            if (!gives(kernel, other, x) || !gives(kernel, f, x)) continue;
            diag_error(c->diag, DIAG_E22, name->at, "'%s' gives '%s_bar', which '%s' gives already", f->name, x->name,
                       other->name);
            diag_help(c->diag, "let one of the two give it");
            return false;
        }
    }
    return true;
}

bool grads_check_adjoint(struct checker *c, struct symbol *kernel, struct ast *attr)
{
    int count = 0;
    if (kernel->adjoints) {
        diag_error(c->diag, DIAG_E17, attr->name_at, "attribute '@adjoint' is given twice");
        return false;
    }
    if (kernel->decl->kernel->block) {
        diag_error(c->diag, DIAG_E22, attr->at, "kernel '%s' is in index notation: its adjoint is made from its text",
                   kernel->name);
        diag_help(c->diag, "remove '@adjoint', or give the kernel a C body");
        return false;
    }
    for (const struct ast *name = attr->attr.args; name; name = name->next) count++;
    if (count > MAX_FORMALS) {
        diag_error(c->diag, DIAG_E17, attr->at, "'@adjoint' names %d kernels: at most %d are possible", count,
                   MAX_FORMALS);
        return false;
    }
    kernel->adjoints = arena_array(c->mem, const struct symbol *, count);
    for (const struct ast *name = attr->attr.args; name; name = name->next) {
        const struct symbol *f = find_adjoint(c, kernel, attr, name);
        if (!f || !check_other(c, kernel, name, f)) return false;
        kernel->adjoints[kernel->adjoint_count++] = f;
    }
    return true;
}
