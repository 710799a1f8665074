/* format.h - a program in the usual layout: `ptoc fmt`. */
#ifndef PTOC_FORMAT_H
#define PTOC_FORMAT_H
#include "syntax/parser.h"
#include "support/strbuf.h"

/* Lays out a file that was parsed without an error.  The same tokens and comments in the same order; of white space
 * only what lies between them changes, C bodies stay byte for byte.  A text that was formatted is not changed again. */
void format_file(struct front *front, uint32_t file, struct strbuf *out);

#endif
