/* requests.c - `@opcode(..) kernel`: a work request, which a fixed-function accelerator carries out.
 * Idea       the operations that every backend has are known here with the formals that they take; of a number from
 *            PTO_OWN_OPCODE on, which a C program registers, only the limits of a request are.
 * Gives      the opcode of a KERNEL.
 * Tests      test/lit/sema/opcode.pto, test/lit/run/opcode.test
 */
#include "checker.h"
#include "support/nearest.h"
#include <string.h>

enum { MAX_OPERANDS = 3, INDEX_FORMAL = 1 };

static const struct operation {
    const char *name, *formals;
    int count;
    enum direction written; /* of the last formal; the others are `in` */
} operations[] = {
    {0}, /* PTO_OP_NONE */
#define PTO_OPCODE(id, name, count, written, formals) {name, formals, count, DIR_##written},
#include <pto/opcodes.def>
#undef PTO_OPCODE
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* ---- what is between the parentheses of @opcode ---- */

static void say_operations(struct checker *c)
{
    const char *list = "";
    for (int i = 1; i < OPERATIONS; i++)
        list = arena_printf(c->mem, "%s%s%s (%d)", list, i > 1 ? ", " : "", operations[i].name, i);
    diag_help(c->diag, "operations are %s; one of your own has a number from %d to %d", list, PTO_OWN_OPCODE,
              INT32_MAX);
}

static bool read_name(struct checker *c, const struct ast *arg, int64_t *opcode)
{
    const char *names[OPERATIONS - 1];
    for (int i = 1; i < OPERATIONS; i++) {
        names[i - 1] = operations[i].name;
        if (strcmp(arg->string.text, names[i - 1]) != 0) continue;
        *opcode = i;
        return true;
    }
    const char *near = nearest_word(arg->string.text, names, OPERATIONS - 1);
    diag_error(c->diag, DIAG_E17, arg->at, "unknown operation '%s'", arg->string.text);
    if (near)
        diag_fix(c->diag, arg->at, arena_printf(c->mem, "\"%s\"", near), "did you mean '%s'?", near);
    else
        say_operations(c);
    return false;
}

static bool read_opcode(struct checker *c, struct ast *attr, int64_t *opcode)
{
    struct ast *arg = attr->attr.args;
    if (arg->next) {
        diag_error(c->diag, DIAG_E17, attr->at, "'@opcode' takes one argument");
        return false;
    }
    const struct type *t = exprs_check(c, arg, AS_VALUE);
    struct constant value;
    if (arg->bad) return false;
    if (arg->kind == AST_STRING) return read_name(c, arg, opcode);
    if (t->kind != TYPE_INT) {
        diag_error(c->diag, DIAG_E02, arg->at, "'@opcode' takes the name or the number of an operation, not %s",
                   type_str(c, t));
    } else if (!consteval(c, arg, &value)) {
        diag_error(c->diag, DIAG_E19, arg->at, "the number of an operation is a constant");
    } else if (value.i < 1 || (value.i >= OPERATIONS && value.i < PTO_OWN_OPCODE) || value.i > INT32_MAX) {
        diag_error(c->diag, DIAG_E17, arg->at, "there is no operation %lld", (long long)value.i);
        say_operations(c);
    } else {
        *opcode = value.i;
        return true;
    }
    return false;
}

/* ---- the formals ---- */

static void say_formals(struct checker *c, const struct operation *o)
{
    diag_help(c->diag, "%s takes (%s)", o->name, o->formals);
}

/* Its kind and direction; E17, E02, E08. */
static bool check_operand(struct checker *c, const struct operation *o, const struct symbol *f, int place)
{
    const bool is_written = place == o->count - 1;
    if (f->type->kind != TYPE_TENSOR) {
        diag_error(c->diag, DIAG_E02, f->decl->at, "the operation '%s' takes tensors, and '%s' is %s", o->name, f->name,
                   type_str(c, f->type));
    } else if (!is_written && f->dir != DIR_IN) {
        diag_error(c->diag, DIAG_E08, f->decl->at, "the operation '%s' only reads '%s', which is '%s' here", o->name,
                   f->name, direction_text(f->dir));
    } else if (is_written && f->dir != DIR_INOUT && f->dir != o->written) {
        diag_error(c->diag, DIAG_E08, f->decl->at, "the operation '%s' writes %s '%s', which is '%s' here", o->name,
                   o->written == DIR_INOUT ? "a part of" : "all of", f->name, direction_text(f->dir));
    } else {
        return true;
    }
    say_formals(c, o);
    return false;
}

/* Source and destination agree from dimension `from` on. */
static bool check_agree(struct checker *c, const struct operation *o, const struct symbol *src,
                        const struct symbol *dst, int from)
{
    const struct type *s = src->type, *d = dst->type;
    int k = from;
    if (s->elem != d->elem || s->variable != d->variable) {
        diag_error(c->diag, DIAG_E02, dst->decl->at,
                   "the operation '%s' moves elements as they are: '%s' is of %s, '%s' of %s", o->name, src->name,
                   type_elem_name(s), dst->name, type_elem_name(d));
        return false;
    }
    if (s->rank != d->rank) {
        diag_error(c->diag, DIAG_E03, dst->decl->at,
                   "the operation '%s' takes two tensors of one rank: '%s' has %d, '%s' has %d", o->name, src->name,
                   s->rank, dst->name, d->rank);
        return false;
    }
    while (k < s->rank && s->extent[k] == d->extent[k]) k++;
    if (k == s->rank) return true;
    diag_error(c->diag, DIAG_E04, dst->decl->at,
               "the operation '%s' takes equal extents: dimension %d of '%s' is %s, of '%s' is %s", o->name, k,
               src->name, size_str(c, s->extent[k]), dst->name, size_str(c, d->extent[k]));
    return false;
}

static bool check_index(struct checker *c, const struct operation *o, const struct symbol *index,
                        const struct symbol *picked)
{
    const struct type *t = index->type;
    if (t->elem != ELEM_I64) {
        diag_error(c->diag, DIAG_E02, index->decl->at, "the index of the operation '%s' is of i64, '%s' is of %s",
                   o->name, index->name, type_elem_name(t));
    } else if (t->rank != 1) {
        diag_error(c->diag, DIAG_E03, index->decl->at, "the index of the operation '%s' has one dimension, '%s' has %d",
                   o->name, index->name, t->rank);
    } else if (t->extent[0] != picked->type->extent[0]) {
        diag_error(c->diag, DIAG_E04, index->decl->at,
                   "the operation '%s' takes one index for each row of '%s': '%s' has %s, and there are %s rows",
                   o->name, picked->name, index->name, size_str(c, t->extent[0]), size_str(c, picked->type->extent[0]));
    } else {
        return true;
    }
    return false;
}

static bool check_formals(struct checker *c, const struct operation *o, const struct symbol *kernel)
{
    if (kernel->formal_count != o->count) {
        diag_error(c->diag, DIAG_E17, kernel->decl->name_at,
                   "the operation '%s' takes %d tensors, kernel '%s' has %d formal%s", o->name, o->count, kernel->name,
                   kernel->formal_count, kernel->formal_count == 1 ? "" : "s");
        say_formals(c, o);
        return false;
    }
    for (int i = 0; i < o->count; i++)
        if (!check_operand(c, o, kernel->formals[i], i)) return false;
    const struct symbol *src = kernel->formals[0], *dst = kernel->formals[o->count - 1];
    const bool has_index = o->count == MAX_OPERANDS;
    bool is_good = check_agree(c, o, src, dst, has_index ? 1 : 0);
    if (is_good && has_index)
        is_good = check_index(c, o, kernel->formals[INDEX_FORMAL], o->written == DIR_OUT ? dst : src);
    if (!is_good) say_formals(c, o);
    return is_good;
}

static bool check_limits(struct checker *c, const struct symbol *kernel)
{
    int scalars = 0;
    for (int i = 0; i < kernel->formal_count; i++) scalars += type_is_scalar(kernel->formals[i]->type);
    if (scalars <= PTO_REQUEST_PARAMS) return true;
    diag_error(c->diag, DIAG_E17, kernel->decl->name_at, "a work request has at most %d scalars, kernel '%s' has %d",
               PTO_REQUEST_PARAMS, kernel->name, scalars);
    return false;
}

/* ---- the whole ---- */

static bool check_worker(struct checker *c, const struct symbol *kernel)
{
    const struct kernel_ast *k = kernel->decl->kernel;
    if (k->worker && strcmp(k->worker, "accel") == 0) return true;
    diag_error(c->diag, DIAG_E12, k->worker ? k->worker_at : kernel->decl->name_at,
               k->worker ? "a work request is carried out on accel, not on %s"
                         : "a work request is carried out on accel: add 'on accel'",
               k->worker);
    if (k->worker) diag_fix(c->diag, k->worker_at, "accel", "write 'accel'");
    return false;
}

static bool check_has_no_code(struct checker *c, const struct symbol *kernel)
{
    const struct kernel_ast *k = kernel->decl->kernel;
    const bool has_body = k->has_body || k->block;
    if (!has_body && !k->extern_name) return true;
    diag_error(c->diag, DIAG_E17, has_body ? kernel->decl->name_at : k->extern_name->at,
               "kernel '%s' has an '@opcode', so the accelerator carries it out: it has no %s", kernel->name,
               has_body ? "body" : "'extern'");
    return false;
}

/* The one @opcode among the attributes; NULL: there is none, or *is_good is false and it was reported. */
static struct ast *find_opcode(struct checker *c, struct symbol *kernel, bool *is_good)
{
    static const char *const known[] = {"opcode", "adjoint"};
    struct ast *found = NULL;
    for (struct ast *a = kernel->decl->attrs; a; a = a->next) {
        if (strcmp(a->name, known[0]) == 0) {
            if (found) diag_error(c->diag, DIAG_E17, a->name_at, "attribute '@opcode' is given twice");
            *is_good &= !found;
            found = a;
            continue;
        }
        if (strcmp(a->name, known[1]) == 0) {
            if (!kernel->decl->bad) *is_good &= grads_check_adjoint(c, kernel, a);
            continue;
        }
        const char *near = nearest_word(a->name, known, 2);
        *is_good = false;
        diag_error(c->diag, DIAG_E17, a->name_at, "'@%s' is no attribute of a kernel", a->name);
        if (near)
            diag_fix(c->diag, a->name_at, near, "did you mean '@%s'?", near);
        else
            diag_help(c->diag,
                      "before a kernel stands @opcode(\"copy\"), with the name or the number of an operation, or "
                      "@adjoint(f), with the kernel of its gradients");
    }
    return found;
}

void requests_check(struct checker *c, struct symbol *kernel)
{
    bool is_good = true;
    struct ast *attr = find_opcode(c, kernel, &is_good);
    int64_t opcode = 0;
    if (attr) is_good = read_opcode(c, attr, &opcode) && is_good;
    if (attr) is_good = check_has_no_code(c, kernel) && check_worker(c, kernel) && is_good;
    if (attr && is_good && !kernel->decl->bad)
        is_good = opcode < OPERATIONS ? check_formals(c, &operations[opcode], kernel) : check_limits(c, kernel);
    if (!is_good) {
        notes_bad(kernel->decl);
        return;
    }
    kernel->opcode = (int32_t)opcode;
}
