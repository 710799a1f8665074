/* uses.h - the passes over the uses of a function, which report while a program is checked. */
#ifndef PTOC_USES_H
#define PTOC_USES_H
#include "ir/ir.h"

struct checker;

void pass_assign(struct checker *c, struct ir_function *f);
void pass_awaits(struct checker *c, struct ir_function *f);

#endif
