/* waits.h - for flow.c: is an await in a loop of any use to the next turn? */
#ifndef PTOC_WAITS_H
#define PTOC_WAITS_H
#include "checker.h"

/* depth: how many loops are around the loop. */
bool waits_are_needed(const struct ast *await, const struct ast *loop, int depth);

#endif
