/* grad.h - gradients of functions, by transformation of the text.
 *
 * For each `@grad(x, ..)` of a module whose functions were checked, the text of ordinary items: the adjoint kernels of
 * the kernels that the function calls, and the function NAME_grad, which is NAME followed by the backward pass.  The
 * checker parses and checks them like what the user wrote.  docs/gradients.md is the manual. */
#ifndef PTOC_GRAD_H
#define PTOC_GRAD_H
#include "sema/sema.h"

/* Appends the items, in the layout of ptoc fmt.  Reports E16, E22 and E99 where there is no gradient. */
void grad_module(struct checker *c, struct module *m, struct strbuf *out);

/* --emit=grad: the text of the module with what `@grad` asked for in its place. */
void grad_print_module(struct front *front, const struct module *m, struct strbuf *out);

#endif
