/* line_diff.h - what changed between two texts, as `diff -u` shows it. */
#ifndef PTOC_LINE_DIFF_H
#define PTOC_LINE_DIFF_H
#include "support/strbuf.h"

void line_diff(const char *name, const struct strbuf *before, const struct strbuf *after, struct strbuf *out);

#endif
