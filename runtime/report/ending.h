/* ending.h - how a program of the command line ends: by a signal, or with standard output that cannot be written.
 *
 * Idea       a signal that ends the process removes what stands beside its place (whole_file.h) first.  While files are
 *            renamed it waits, so that they appear together.
 * Owner      main() of ptoc and of a built program.  The library installs nothing in a host's process.
 * Invariant  a signal that the caller of the program ignores stays ignored.
 * Tests      test/lit/host/whole-files.test, test/lit/run/whole-files.test */
#ifndef PTOI_ENDING_H
#define PTOI_ENDING_H

/* SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGXCPU remove unfinished files and end the process as before; SIGUSR1, which
 * asks a run where it is, does nothing; with SIGXFSZ ignored a limit of file sizes is a write that fails. */
void ptoi_ending_begin(void);

/* Between the two a signal of these waits. */
void ptoi_ending_hold(void);
void ptoi_ending_release(void);

#endif
