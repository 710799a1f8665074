/* whole_file.h - atomic replacement of files: a file appears when it is complete.
 *
 * Idea       a file is written beside its place under another name, and renamed at the end: after a failure, a kill or
 *            on a full disk the old file is there, or the new one.  Several files are finished first and then renamed
 *            together.
 * Owner      the caller, until ptoi_whole_drop.
 * Invariant  a link stays a link, a file keeps its mode; devices and pipes are written as they are, and `-` is standard
 *            output.
 * Errors     false, with errno.
 * Tests      test/runtime/test_whole_file.c, test/lit/host/whole-files.test */
#ifndef PTOI_WHOLE_FILE_H
#define PTOI_WHOLE_FILE_H
#include <stdbool.h>
#include <stdio.h>

struct whole_file {
    FILE *out;      /* to be written; NULL once finished */
    char *target;   /* the file that the path means; NULL: it is not replaced */
    char *beside;   /* where it is written; NULL as target is, and once renamed */
    bool is_listed; /* a signal that ends the process removes it */
};

bool ptoi_whole_open(struct whole_file *f, const char *path);
bool ptoi_whole_finish(struct whole_file *f); /* flushes and closes: all of it is written */
bool ptoi_whole_rename(struct whole_file *f); /* it takes its place; finished before */
void ptoi_whole_drop(struct whole_file *f);   /* frees; removes what was not renamed.  Fine for zeros, and twice */

/* Would both paths be written to one file?  It need not exist; devices, pipes and `-` are shared by any number. */
bool ptoi_whole_is_same(const char *a, const char *b);

#endif
