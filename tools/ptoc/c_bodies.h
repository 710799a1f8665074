/* c_bodies.h - the C bodies of kernels, as the C compiler sees them. */
#ifndef PTOC_C_BODIES_H
#define PTOC_C_BODIES_H
#include "codegen.h"
#include "options.h"

/* What the C compiler says about a text, in English, and its exit code; nothing is made, and a text that it accepted
 * before is not given to it again.  Returns as toolchain_check does. */
int c_bodies_ask(const struct options *o, const struct strbuf *text, struct strbuf *said, int *code);

/* E21 for what the C compiler has against the bodies.  Returns EXIT_OK, also with such messages; another exit code,
 * after a message of its own, where it could not be asked or refuses a place outside of all bodies. */
int c_bodies_check(struct front *front, const struct checked *checked, const struct options *o);

/* The program was refused with these messages: those about bodies become E21.  false: there is none. */
bool c_bodies_refused(const struct options *o, const char *log);

#endif
