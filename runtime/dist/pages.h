/* pages.h - memory of copies that were forgotten goes back to the system.
 *
 * Idea       a rank reserves addresses for whole arrays and has memory where it touches them.  The pages that lie in a
 *            forgotten piece are given back by a task that writes the piece, so it runs behind all that use the old
 *            bytes and before the receive of new ones.
 * Limits     whole pages of a row; what another copy overlaps stays.
 * Tests      test/runtime/test_pages.c, test/wire/check_options.py */
#ifndef PTOI_PAGES_H
#define PTOI_PAGES_H
#include <pto/pto_types.h>

/* The bytes of the view are lost where they fill whole pages. */
void ptoi_pages_give_back(const PTOArg *view);

#endif
