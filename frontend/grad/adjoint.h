/* adjoint.h - adjoint kernels of kernels in index notation, as text.
 *
 * For a kernel by index and one of its float tensor formals, x, there is at most one adjoint kernel.  It is printed as
 * an ordinary item of a .pto file, in one of two forms:
 *
 *   OVERWRITES   kernel mm_adj_a<M, K, N>(in b: f32[K, N], in c_bar: f32[M, N], out a_bar: f32[M, K]) ... =>
 *   ADDS         kernel mm_adj_a_add<M, K, N>(in b: f32[K, N], in c_bar: f32[M, N], inout a_bar: f32[M, K]) ... =>
 *
 * Both have the same formals in the same order; only the direction of the gradient, which is the last formal, differs.
 * OVERWRITES is for a bar that is met first, ADDS for one that has a value.
 *
 * What a caller does for a call k(..) of the kernel, in the backward pass: for each x that a gradient is wanted of, it
 * asks adjoint_of(), and
 *   ADJOINT_KERNEL   with x `in`: calls the kernel; the last argument is the gradient of the argument of x.
 *                    With x `inout`: calls the kernel, whose last formal is REPLACED: `inout x_bar`, on entry the
 *                    gradient of the value after k, on return the gradient of the value before.  As every adjoint of
 *                    another formal reads the bar of after, this call comes last.  ADDS does not exist.
 *   ADJOINT_SAME     (x `inout` or `acc`) does nothing: the gradient of the value before is that of the value after.
 *   ADJOINT_ZERO     does nothing: no gradient flows from what k writes to x (the gradient of an `in` is 0 from here;
 *                    of an `inout`, see below).
 *   ADJOINT_NONE     reports E22 with `at` and `why`.
 * The value before an `inout` that k overwrites without reading it in a differentiable manner has the gradient 0 only
 * where k overwrites it: such an x is ADJOINT_KERNEL, too, with a kernel that writes zeros.
 * The bar of an `out` of k ends with k: after all adjoints of the call it has no meaning any more.
 *
 * Formals that the adjoint does not read are left out.  A formal that stays has the type of the formal of k that it
 * belongs to, a bar too; scalar formals are passed on as they are. */
#ifndef PTOC_ADJOINT_H
#define PTOC_ADJOINT_H
#include "sema/symbol.h"
#include "support/strbuf.h"

struct front;
struct checked;

/* What an argument of the adjoint kernel is, in terms of the formal `of` of the original and its argument. */
enum adjoint_role {
    ADJOINT_VALUE,    /* in: the argument as k found it: an `in`, a scalar, an `inout` or `acc` before the call */
    ADJOINT_RESULT,   /* in: an `out`, `inout` as k left it; nothing may have written it between k and here */
    ADJOINT_SEED,     /* in: the bar of what k writes: of an `out`, of an `inout` or `acc` after the call */
    ADJOINT_WORK,     /* out: a new tensor of the type of formal `of`, which nothing else names */
    ADJOINT_REPLACED, /* inout: the bar of an `inout`: before the call that of after k, after it that of before k */
    ADJOINT_GRADIENT  /* OVERWRITES: out x_bar; ADDS: inout x_bar */
};

struct adjoint_formal {
    int of; /* index in kernel->formals */
    enum adjoint_role role;
    const char *name; /* as printed: b, y, y_bar, c_before ... */
};

enum adjoint_kind { ADJOINT_KERNEL, ADJOINT_SAME, ADJOINT_ZERO, ADJOINT_NONE };

struct adjoint {
    enum adjoint_kind kind;
    const struct symbol *kernel; /* an instance, of a generic kernel */
    int x;                       /* index in kernel->formals */

    /* ADJOINT_KERNEL: in the order of the printed kernel; the last is the GRADIENT or REPLACED one */
    const struct adjoint_formal *formals;
    int formal_count;
    bool may_have_kinks; /* max, min, select, abs: --check-grad mentions them */

    /* ADJOINT_NONE: the construct, and the text of E22 after "'k' has no adjoint with respect to 'x': " */
    struct span at;
    const char *why;
    const char *help; /* what to write instead */

    const struct adjoint_body *body; /* of adjoint*.c */
};

/* The gradient is `out`, `inout` or `acc`. */
enum adjoint_form { ADJOINT_OVERWRITES, ADJOINT_ADDS, ADJOINT_ACCUMULATES };

/* The adjoint of a kernel in index notation, checked without an error, with respect to its formal x, a tensor of
 * floats that is no pure `out` (of an `out`: ADJOINT_ZERO).  Never NULL; equal for equal questions, but made anew for
 * each: callers keep it.  In front->mem.  Reports nothing. */
const struct adjoint *adjoint_of(struct front *front, const struct checked *checked, const struct symbol *kernel,
                                 int x);

/* Which formals' values does the adjoint read?  For the question what must be kept: of ADJOINT_KERNEL only. */
static inline bool adjoint_reads(const struct adjoint *a, int formal, enum adjoint_role role)
{
    for (int i = 0; i < a->formal_count; i++)
        if (a->formals[i].of == formal && a->formals[i].role == role) return true;
    return false;
}

/* "mm_adj_a", "mm_adj_a_add"; of an instance of a generic kernel with its element types: "axpy_f32_adj_x".  The caller
 * makes another one where it is taken.  In front->mem. */
const char *adjoint_name(struct front *front, const struct adjoint *a, enum adjoint_form form);

/* Appends the kernel, named `name`, as one item in the layout of ptoc fmt.  It
 * names nothing but its own formals, dimension variables and variables: constants and parameters of the module of the
 * kernel stand in it as their values, so it may stand in any module.  ADJOINT_KERNEL only. */
void adjoint_print(struct front *front, const struct checked *checked, const struct adjoint *a, enum adjoint_form form,
                   const char *name, struct strbuf *out);

/* --dump=adjoint: both forms of the adjoints of all kernels by index of the main file, and of those instances of its
 * generic kernels that are called; what has none as a comment. */
void adjoint_dump(struct front *front, const struct checked *checked, struct strbuf *out);

#endif
