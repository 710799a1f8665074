/* strips.h - which loops can be handed over in strips (runtime/include/pto/pto_strip.h); made by strips.c. */
#ifndef PTOC_STRIPS_H
#define PTOC_STRIPS_H
#include "ir/ir.h"

enum { STRIP_CALLS = 4, STRIP_PARAMS = 16 }; /* PTO_STRIP_CALLS, PTO_STRIP_PARAMS */

struct strip_call {
    const struct ir_call *call;
    const struct ir_op *site; /* the SITE before it */
};

struct strip_loop {
    struct strip_call calls[STRIP_CALLS];
    int count;
};

/* Is the operation, a FOR, such a loop?  Fills *loop. */
bool strips_of(const struct ir_op *op, struct strip_loop *loop, struct arena *mem);

/* How much the value grows from one iteration to the next, if by the same amount each time; NULL: it does not. */
struct ir_value *strips_step(struct arena *mem, const struct ir_value *v, const struct symbol *variable);

#endif
