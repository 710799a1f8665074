/* output.h - files that ptoc writes: the old one is there until the new one is complete. */
#ifndef PTOC_OUTPUT_H
#define PTOC_OUTPUT_H
#include "report/whole_file.h"
#include "support/strbuf.h"
#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *path; /* as the user wrote it, for messages */
    struct whole_file file;
    FILE *out;             /* to be written: the file's, or standard output; NULL: another program writes */
    bool failed;           /* the message is printed */
    struct output *before; /* opened before it, and not closed either */
};

/* Every call prints its own message.  path: NULL or "-" is standard output. */
bool output_open(struct output *o, const char *path);  /* o->out is to be written */
bool output_place(struct output *o, const char *path); /* another program writes output_name() */
const char *output_name(const struct output *o);
/* The file that would be written is that input, or another name of it: says so, and that it stays as it is. */
bool output_is_input(const char *output, const char *input);
/* good: the file takes the place of the old one.  Else, and where that fails, the old one stays.  Returns an exit
 * code. */
int output_close(struct output *o, bool good);

int output_text(const char *path, const struct strbuf *text);

#endif
