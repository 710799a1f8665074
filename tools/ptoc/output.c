/* output.c - see output.h.
 * Idea       the files of report/whole_file.h, with ptoc's messages and exit codes.
 * Owner      the verb that opened it.
 * Invariant  a file that was not finished is removed when ptoc ends, by exit() too.
 * Blocks     in files.
 * Tests      test/lit/run/whole-files.test, test/ptoc/test_output.c
 */
#include "output.h"
#include "options.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct output *unfinished; /* the last one that was opened, and those before it */

static void remove_unfinished(void)
{
    for (; unfinished; unfinished = unfinished->before) ptoi_whole_drop(&unfinished->file);
}

static void forget_unfinished(const struct output *o)
{
    struct output **at = &unfinished;
    while (*at && *at != o) at = &(*at)->before;
    if (*at) *at = o->before;
}

static bool cannot_write(struct output *o, int why)
{
    if (!o->failed) fprintf(stderr, "ptoc: error: cannot write '%s': %s\n", o->path, strerror(why ? why : EIO));
    o->failed = true;
    return false;
}

bool output_open(struct output *o, const char *path)
{
    static bool is_registered;
    if (!path || strcmp(path, "-") == 0) {
        *o = (struct output){.path = "standard output", .out = stdout};
        return true;
    }
    *o = (struct output){.path = path};
    /* ENXIO: a pipe that nobody reads yet.  A run does not wait for a reader, the compiler does. */
    if (!ptoi_whole_open(&o->file, path) && (errno != ENXIO || (o->file.out = fopen(path, "w")) == NULL))
        return cannot_write(o, errno);
    if (!is_registered) atexit(remove_unfinished);
    is_registered = true;
    o->before = unfinished;
    unfinished = o;
    o->out = o->file.out;
    return true;
}

static bool finish(struct output *o)
{
    const bool is_file = o->out == o->file.out;
    o->out = NULL;
    return is_file ? ptoi_whole_finish(&o->file) : !ferror(stdout) && fflush(stdout) == 0;
}

bool output_place(struct output *o, const char *path)
{
    return output_open(o, path) && (finish(o) || cannot_write(o, errno));
}

const char *output_name(const struct output *o) { return o->file.beside ? o->file.beside : o->path; }

bool output_is_input(const char *output, const char *input)
{
    struct stat to, from;
    if (!output || strcmp(output, "-") == 0 || strcmp(input, "-") == 0) return false;
    if (stat(output, &to) != 0 || stat(input, &from) != 0 || !S_ISREG(from.st_mode)) return false;
    if (to.st_dev != from.st_dev || to.st_ino != from.st_ino) return false;
    fprintf(stderr, "ptoc: error: '%s' is an input and is not overwritten\n", input);
    return true;
}

int output_close(struct output *o, bool good)
{
    if (o->out && !finish(o)) good = cannot_write(o, errno);
    if (good && !ptoi_whole_rename(&o->file)) cannot_write(o, errno);
    ptoi_whole_drop(&o->file);
    const bool failed = o->failed;
    forget_unfinished(o);
    *o = (struct output){0};
    return failed ? EXIT_FILE : EXIT_OK;
}

int output_text(const char *path, const struct strbuf *text)
{
    struct output o;
    if (!output_open(&o, path)) return EXIT_FILE;
    fwrite(strbuf_text(text), 1, text->length, o.out);
    return output_close(&o, true);
}
