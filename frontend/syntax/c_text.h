/* c_text.h - the names in a C body. */
#ifndef PTOC_C_TEXT_H
#define PTOC_C_TEXT_H
#include <stddef.h>

/* The first name at or behind `at` that stands in no comment and in no literal, with its length; NULL: there is
 * none. */
const char *c_text_name(const char *at, const char *end, size_t *length);

#endif
