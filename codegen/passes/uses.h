/* uses.h - the passes over the uses of a function, which report while a program is checked. */
#ifndef PTOC_USES_H
#define PTOC_USES_H
#include "ir/ir.h"

struct checker;

#define CHECK_PASS(name) void pass_##name(struct checker *c, struct ir_function *f);
#include "passes.def"

#endif
