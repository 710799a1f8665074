/* ascendc.h - kernels in index notation as AscendC: what the printer of the skeletons calls. */
#ifndef PTOC_EMIT_EQUATIONS_ASCENDC_H
#define PTOC_EMIT_EQUATIONS_ASCENDC_H
#include "../emit.h"

/* Prints run(const Arguments &k); formal and dim: the members of Arguments.  false: it cannot, which is E12, and it
 * printed nothing. */
bool equations_emit_ascendc(struct emitter *e, const struct symbol *kernel, const char *const *formal,
                            const char *const *dim);

#endif
