/* ascendc.h - kernels in index notation as AscendC: what the printer of the skeletons calls. */
#ifndef PTOC_EMIT_EQUATIONS_ASCENDC_H
#define PTOC_EMIT_EQUATIONS_ASCENDC_H
#include "../emit.h"

/* Prints run(const Arguments &k) of a vector kernel, whose formals and dimensions have their names in e->c_names.
 * NULL, or why it cannot: at *at, with nothing printed. */
const char *equations_ascendc(struct emitter *e, const struct symbol *kernel, struct span *at);

/* The same of a contraction on a cube core. */
const char *equations_ascendc_cube(struct emitter *e, const struct symbol *kernel, struct span *at);
#endif
