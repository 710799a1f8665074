/* ending.h - how a program of the command line ends: by a signal, or with standard output that cannot be written.
 *
 * Idea       a signal that ends the process removes the listed files first.  While a thread holds, the signal waits, so
 *            that files appear together and none is made that is not listed; whichever thread takes it.
 * Owner      main() of ptoc and of a built program.  The library installs nothing in a host's process.
 * Invariant  a signal that the caller of the program ignores stays ignored.
 * Tests      test/runtime/test_ending.c, test/lit/host/whole-files.test, test/lit/run/whole-files.test */
#ifndef PTOI_ENDING_H
#define PTOI_ENDING_H
#include <stdbool.h>

/* SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGXCPU remove unfinished files and end the process as before; SIGUSR1, which
 * asks a run where it is, does nothing; with SIGXFSZ ignored a limit of file sizes is a write that fails. */
void ptoi_ending_begin(void);

/* Between the two a signal of these waits; where the process ends already, hold does not return.  Any thread, and they
 * nest. */
void ptoi_ending_hold(void);
void ptoi_ending_release(void);

/* A file that such a signal removes.  The path is the caller's until unlist, and if that returns false, it is no
 * longer.  list returns false where there is no room: a signal leaves the file behind.  Called while the thread holds,
 * as the file is made. */
bool ptoi_ending_list(char *path);
bool ptoi_ending_unlist(char *path);

#endif
