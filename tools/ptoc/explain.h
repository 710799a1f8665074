/* explain.h - the explanation of each message id: the pages of docs/explain, which are compiled in. */
#ifndef PTOC_EXPLAIN_H
#define PTOC_EXPLAIN_H
#include "syntax/diag.h"
#include "options.h"

extern const char *const explain_pages[DIAG_COUNT]; /* Markdown; NULL: there is no page */

int explain_main(const struct options *o);

#endif
