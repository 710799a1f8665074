/* c_text.h - C bodies: comments, literals and names. */
#ifndef PTOC_C_TEXT_H
#define PTOC_C_TEXT_H
#include <stddef.h>

/* Behind the comment or literal that begins at p, which is before end; p: there is none; NULL: a comment without an
 * end.  A literal ends with its line. */
const char *c_text_skip(const char *p, const char *end);
/* What the text does with a name; ADDRESS: somewhere its address is taken. */
enum c_use { C_USE_NONE, C_USE_VALUE, C_USE_ADDRESS };
enum c_use c_text_use(const char *begin, const char *end, const char *name);

#endif
