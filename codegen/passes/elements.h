/* elements.h - elements of arrays that were dropped or moved; for assign.c. */
#ifndef PTOC_ELEMENTS_H
#define PTOC_ELEMENTS_H
#include "ir/ir.h"
#include "parts.h"

/* A use of an array whose elements `ended` may be gone is E11, once, unless it surely has none of them. */
void elements_touch(struct checker *c, struct parts *ended, const struct ir_use *use, bool is_silent);
/* The use drops or moves an element. */
void elements_end(struct checker *c, struct parts *ended, const struct ir_use *use);

#endif
