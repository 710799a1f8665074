/* place.h - what a message shows of the place in the program that it is about: the line of the source with a caret
 * under it, and the values of the loop indices there.
 *
 * Idea       a program has no copy of its source.  A site of generated code (PTOSiteLine) has a digest of its line: the
 *            file is read when a message needs it, and the line is shown if it is still that line.  The indices are
 *            where generated code keeps them, in an array of each open function that has loops.
 * Owner      the open functions: the thread that orchestrates, which alone reads them.
 * Invariant  every function here may be called by a handler of a signal: no allocation, no lock, no stdio.
 * Blocks     only to read a regular file.
 * Tests      test/runtime/test_place.c, test/lit/run/excerpts.pto
 */
#ifndef PTOI_PLACE_H
#define PTOI_PLACE_H
#include <pto/pto_types.h>
#include <stdbool.h>
#include <stddef.h>

struct open_function {
    const char *name;
    const PTOSite *called_at; /* NULL: by the host */
    const int64_t *indices;   /* of its loops, the outermost first; NULL: not known */
};

struct open_functions {
    const PTOSite *const *site; /* where the program is */
    struct open_function *list; /* the innermost is the last */
    int32_t count;
};

/* From now on the calling thread orchestrates this run, or none (NULL); what it was before. */
const struct open_functions *ptoi_place_orchestrates(const struct open_functions *now);

enum { PTOI_EXCERPT_BYTES = 640, PTOI_INDICES_BYTES = 320 };

/* "   17 |   k(a[i]);\n      |   ^~~~~~~": no line end behind it.  Its length; 0, and an empty text: the line is not
 * known, or the file has another one. */
size_t ptoi_place_excerpt(const PTOSite *site, char text[PTOI_EXCERPT_BYTES]);
/* "with i = 3, k = 7", for the indices of the function that the site is in.  Its length; 0: there are none. */
size_t ptoi_place_with(const PTOSite *site, const int64_t *indices, char text[PTOI_INDICES_BYTES]);
/* The indices of the function that the calling thread is in, if it is at this very site; else NULL. */
const int64_t *ptoi_place_indices(const PTOSite *site);
/* The functions that the calling thread has open; NULL: it does not orchestrate. */
const struct open_functions *ptoi_place_open(void);

#endif
