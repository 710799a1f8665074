/* arguments.h - what the command line says about the entry's arguments: names, files, shapes, then the data.
 * Idea       everything that can be wrong is found before anything long begins: names, then headers of files and
 *            dimension variables, then places to write.
 * Owner      the session.
 * Invariant  each function returns HOST_OK, or an exit code with a line in session->error.
 * Tests      test/lit/host/
 */
#ifndef PTO_HOST_ARGUMENTS_H
#define PTO_HOST_ARGUMENTS_H
#include "session.h"

int ptoi_arguments_apply(struct session *s); /* the values and files of --set, --dim, --input, --output are noted */
int ptoi_arguments_check(struct session *s); /* everything that needs a value has one */
int ptoi_arguments_open(struct session *s);  /* files are open, every extent is known */
int ptoi_arguments_load(struct session *s);  /* every array is in memory */

#endif
