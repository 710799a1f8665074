/* learn.h - facts of conditions and loops, for the passes that follow paths; the caller forgets them (facts_reset).
 * Tests      test/lit/sema/parity.pto
 */
#ifndef PTOC_LEARN_H
#define PTOC_LEARN_H
#include "parts.h"

/* The bounds of the loop's variable: they hold in its body. */
void learn_iterations(struct checker *c, const struct iterations *t);
/* cond is `truth` from here on; NULL: nothing. */
void learn_condition(struct checker *c, const struct ast *cond, bool truth);
/* The value of a `match` is one of the arm's values, or none of them. */
void learn_arm(struct checker *c, const struct ast *matched, const struct ast *values, bool truth);

#endif
