/* lower_uses.h - from the checked tree to the uses of tensors, before anything else is decided about a function. */
#ifndef PTOC_LOWER_USES_H
#define PTOC_LOWER_USES_H
#include "ir.h"

struct checker;

/* Operations are USE, ASSERT, BLOCK, FOR, WHILE, IF, BREAK, CONTINUE and RETURN, without values.  Functions with errors
 * are lowered, too.  The operations lie in `mem`; struct tensor_note of each tensor lies with the program. */
struct ir_function *lower_uses(struct checker *c, struct arena *mem, struct symbol *orch);

#endif
