/* scan.h - finds text whose meaning depends on more than the files that a compiler reports as read. */
#ifndef PTOC_SCAN_H
#define PTOC_SCAN_H
#include <stdbool.h>
#include <stddef.h>

/* name: of a file that the text asks for with __has_include. */
typedef void scan_asked(void *context, const char *name, size_t length);

/* The C text of a source or a header.  NULL: its result is known from what is read and from whether the files exist
 * that asked() was called with.  Else the reason why not, for a message.  is_system: a header of the system, which does
 * not hide what it does. */
const char *scan_source(const char *text, size_t length, bool is_system, scan_asked *asked, void *context);

/* The output of a compiler for an assembler: NULL, or the reason why the assembler may read other files. */
const char *scan_assembly(const char *text, size_t length);

#endif
