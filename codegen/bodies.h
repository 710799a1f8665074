/* bodies.h - C bodies of kernels: what a C compiler says of them, in the words of the program. */
#ifndef PTOC_BODIES_H
#define PTOC_BODIES_H
#include "sema/sema.h"
#include "support/strbuf.h"

/* Has a module other than std/ a kernel with a C body that is not generic, or is called? */
bool bodies_any(const struct checked *checked);
/* E21 for each error of the C compiler about a place in a body: one message a line, as GCC and Clang write them in
 * English.  What is about another place is left out. */
void bodies_report(struct front *front, const struct checked *checked, const char *log);

#endif
