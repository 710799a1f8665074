/* intern.h - one copy of every name: equal names are equal pointers. */
#ifndef PTOC_INTERN_H
#define PTOC_INTERN_H
#include <stddef.h>

struct interner;

struct interner *interner_create(void);
void interner_destroy(struct interner *in);
const char *intern(struct interner *in, const char *text, size_t length); /* NUL-terminated, lives as long as in */
const char *intern_str(struct interner *in, const char *text);

#endif
