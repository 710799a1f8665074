/* ahead_facts.h - what the finding and the making of objects share; for ahead.c and ahead_make.c. */
#ifndef PTOC_AHEAD_FACTS_H
#define PTOC_AHEAD_FACTS_H
#include "codegen.h"
#include "toolchain.h"

/* All of the facts, with what was read for them in t->reads.  headers: lines of C whose headers count.  False: they
 * cannot be found out, or something of the environment would have to be one of them. */
bool ahead_describe(const struct toolchain *t, const struct strbuf *headers, struct strbuf *facts);
bool ahead_read_facts(const char *folder, struct strbuf *facts);
/* The key of a kernel's object. */
void ahead_add_key(const struct strbuf *facts, const struct codegen_part *kernel, struct strbuf *key);

#endif
