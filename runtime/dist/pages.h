/* pages.h - pages of memory that has been reserved: which have memory; that of copies that were forgotten goes back to
 * the system.
 *
 * Idea       a rank reserves addresses for whole arrays and has memory where it touches them.  The pages that lie in a
 *            forgotten piece are given back by a task that writes the piece, so it runs behind all that use the old
 *            bytes and before the receive of new ones.
 * Limits     whole pages of a row; what another copy overlaps stays.  A page that the system has moved to a disk does
 *            not count as one that has memory.
 * Tests      test/runtime/test_pages.c, test/wire/check_options.py, check_pages.py */
#ifndef PTOI_PAGES_H
#define PTOI_PAGES_H
#include <pto/pto_types.h>

int64_t ptoi_pages_size(void); /* bytes of a page */
/* The bytes of the pages that have memory, from `memory`, which begins a page, to the end of the page of its last byte.
 * All of these pages are reserved, and none is touched. */
int64_t ptoi_pages_in_memory(const void *memory, int64_t bytes);
/* The bytes of the view are lost where they fill whole pages. */
void ptoi_pages_give_back(const PTOArg *view);

#endif
