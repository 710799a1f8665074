/* lower.h - from the checked tree to the IR.
 *
 * Lowering is the one place that decides the order of evaluation, which temporaries there are, where results go and
 * where checks, scopes and releases stand.  A function is lowered once, when its body has been checked.  What cannot be
 * lowered is noted with the function; outside of functions it is reported as E99 through front->diag. */
#ifndef PTOC_LOWER_H
#define PTOC_LOWER_H
#include "ir.h"
#include "range.h"

struct lowering;

/* The lowering lives in the arena; its tables do not: lowering_end(). */
struct lowering *lowering_begin(struct front *front, const struct checked *checked, struct arena *mem,
                                struct ranges *ranges);
void lowering_end(struct lowering *l);

/* A function whose body has been checked, errors or not, with its uses and all that `settle` may take away.  The struct
 * tensor_note of each tensor lies with the program. */
struct ir_function *lower_function(struct lowering *l, struct symbol *orch);

/* For a use of which only the run knows whether something was written before. */
struct ir_check *lower_written(struct lowering *l, const struct ir_use *use);

/* Outside of functions, for defaults of params, costs, extents of arguments: an expression, the same converted to
 * `type`, a size, the bytes of a whole tensor, its row-major strides, a name. */
struct ir_value *lower_expression(struct lowering *l, const struct ast *n, const struct type *type,
                                  enum arithmetic mode);
struct ir_value *lower_size(struct lowering *l, const struct size *s, enum arithmetic mode);
struct ir_value *lower_bytes(struct lowering *l, const struct type *t, enum arithmetic mode);
/* lower_cells.c.  On several ranks, are the cells of an argument of the entry bands? */
bool lower_lies_in_bands(const struct symbol *entry, const struct symbol *formal);
struct ir_value *lower_stride(struct lowering *l, const struct type *t, int dim);
struct ir_value *lower_symbol(struct lowering *l, const struct symbol *s);

#endif
