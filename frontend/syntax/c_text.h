/* c_text.h - C bodies: comments, literals and names. */
#ifndef PTOC_C_TEXT_H
#define PTOC_C_TEXT_H
#include <stdbool.h>
#include <stddef.h>

bool c_text_is_word(char c); /* a letter, a digit, or _ */

/* Behind the comment or literal that begins at p, which is before end; p: there is none; NULL: a comment without an
 * end.  A literal ends with its line. */
const char *c_text_skip(const char *p, const char *end);
/* The first name at or behind `at`, with its length; NULL: there is none.  depth, which may be NULL: square brackets
 * that were opened before it are added, those that were closed are subtracted. */
const char *c_text_name(const char *at, const char *end, size_t *length, int *depth);
/* What the text does with a name; ADDRESS: somewhere its address is taken. */
enum c_use { C_USE_NONE, C_USE_VALUE, C_USE_ADDRESS };
enum c_use c_text_use(const char *begin, const char *end, const char *name);
/* How many leading elements of an array the text may name: where each use is name[number], one more than the largest
 * number; INT_MAX if there is another use.  0: the text never names the array. */
int c_text_indexed(const char *begin, const char *end, const char *name);

#endif
