/* source_text.h - a piece of the program's text on one line, for names, messages and comments. */
#ifndef PTOC_SOURCE_TEXT_H
#define PTOC_SOURCE_TEXT_H
#include "sema/sema.h"

struct arena;

/* Without comments, with single spaces, harmless in a comment of C.  The text is the arena's. */
const char *source_one_line(struct front *front, struct arena *mem, struct span at);

#endif
