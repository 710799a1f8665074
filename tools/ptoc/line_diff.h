/* line_diff.h - the difference of two texts, in the form of `diff -u`. */
#ifndef PTOC_LINE_DIFF_H
#define PTOC_LINE_DIFF_H
#include "support/strbuf.h"

void line_diff(const char *name, const struct strbuf *before, const struct strbuf *after, struct strbuf *out);

#endif
