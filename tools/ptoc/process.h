/* process.h - child programs, and a folder for temporary files. */
#ifndef PTOC_PROCESS_H
#define PTOC_PROCESS_H
#include <stdbool.h>

/* A new folder for temporary files, or NULL after a message.  From now on signals that would end ptoc wait until the
 * program it started has ended, so that the folder can be removed. */
char *temp_dir_create(void);
void temp_dir_remove(char *dir, bool keep); /* with what is in it; frees dir */
bool temp_dir_is_full(void); /* a message of a few lines may find no room, while other temporary files are there */

/* Runs argv (NULL at its end) and waits.  path: what to execute; NULL: argv[0], looked for in PATH.  Returns the exit
 * code, 128 + n for signal n, or -1 after a message when it could not be started. */
int process_run(const char *path, const char *const *argv, bool verbose);
enum { PROCESS_CHILDREN = 16, PROCESS_INTERRUPTED = -2 };
/* Starts argv, looked for in PATH, with what it writes to standard error in a file, in English.  At most
 * PROCESS_CHILDREN run at a time.  Returns a number for process_wait, also where it could not be started. */
int process_start(const char *log, const char *const *argv, bool verbose);
int process_wait(int child); /* as process_run returns */

/* The same as process_run, with what it writes to standard error in a file, in English. */
int process_run_logged(const char *log, const char *const *argv, bool verbose);

/* The same, of a program at that path, with its standard output and its standard error in files. */
int process_run_to(const char *out, const char *err, const char *path, const char *const *argv, bool verbose);

/* Runs argv, with nothing to read, for what it writes to standard output and standard error, in English: that goes to a
 * file. */
int process_ask(const char *answer, const char *const *argv);

/* Says so; returns the exit code. */
int process_out_of_memory(void);

/* The signal that asked ptoc to end meanwhile, or 0. */
int process_interrupted(void);

#endif
