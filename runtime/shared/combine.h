/* combine.h - the arithmetic of `by`: parts of an accumulator begin with a neutral element and are combined.
 *
 * Idea       one definition for every engine, so results are equal bit for bit.  16-bit floats are combined in f32 and
 *            rounded after each step; integers wrap around.
 * Tests      test/runtime/test_combine.c */
#ifndef PTOI_COMBINE_H
#define PTOI_COMBINE_H
#include <pto/pto_types.h>

const char *ptoi_by_name(int by);        /* "max"; "?" for a number that is no operation */
bool ptoi_can_combine(int by, int type); /* of elements of this type */

/* Fills `count` elements with the neutral element. */
void ptoi_fill_neutral(int by, int type, void *part, int64_t count);
/* to = to by part, element by element: `to` is a view, `part` a row-major array of its shape. */
void ptoi_combine(int by, const PTOArg *to, const void *part);

#endif
