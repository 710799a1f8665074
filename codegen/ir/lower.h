/* lower.h - from the checked tree to the IR.
 *
 * Lowering is the one place that decides the order of evaluation, which temporaries there are, where results go and
 * where checks, scopes and releases stand.  What cannot be lowered is reported as E99 through front->diag; the result
 * is then not to be used. */
#ifndef PTOC_LOWER_H
#define PTOC_LOWER_H
#include "ir.h"
#include "plan.h"

struct lowering;

/* The lowering lives in the arena; its tables do not: lowering_end(). */
struct lowering *lowering_begin(struct plan *plan);
void lowering_end(struct lowering *l);

/* Outside of functions, for defaults of params, costs, extents of arguments: an expression, the same converted to
 * `type`, a size, the bytes of a whole tensor, its row-major strides, a name. */
struct ir_value *lower_expression(struct lowering *l, const struct ast *n, const struct type *type,
                                  enum arithmetic mode);
struct ir_value *lower_size(struct lowering *l, const struct size *s, enum arithmetic mode);
struct ir_value *lower_bytes(struct lowering *l, const struct type *t);
struct ir_value *lower_stride(struct lowering *l, const struct type *t, int dim);
struct ir_value *lower_symbol(struct lowering *l, const struct symbol *s);

#endif
