/* output.c - see output.h.
 * Idea       a file is made beside its place under another name and renamed when it is whole; so whatever happens
 *            meanwhile, the old one is there or the new one.  Devices and pipes are written as they are.
 * Owner      the verb that opened it.
 * Invariant  a link stays a link, and a file keeps its mode; a file that was not finished is removed when ptoc ends, by
 *            exit() too.
 * Blocks     in files.
 * Tests      test/lit/run/whole-files.test
 */
#include "output.h"
#include "options.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct output *unfinished; /* one at a time */

static void remove_unfinished(void)
{
    if (unfinished && unfinished->beside) unlink(unfinished->beside);
}

static bool cannot_write(struct output *o, int why)
{
    if (!o->failed) fprintf(stderr, "ptoc: error: cannot write '%s': %s\n", o->path, strerror(why ? why : EIO));
    o->failed = true;
    return false;
}

/* The folder of a path with its slash, and its length. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/* The file that a path means, whether it exists or not.  To be freed; NULL with errno. */
static char *follow_links(const char *path)
{
    char *at = strdup(path), link[PATH_MAX];
    for (int i = 0; at; i++) {
        const ssize_t n = readlink(at, link, sizeof link - 1);
        if (n < 0) return at;
        link[n] = '\0';
        char *next = NULL;
        const int made = i == 40 ? -1 : asprintf(&next, "%.*s%s", link[0] == '/' ? 0 : folder_length(at), at, link);
        free(at);
        at = made < 0 ? NULL : next;
        if (i == 40) errno = ELOOP;
    }
    return at;
}

bool output_place(struct output *o, const char *path)
{
    static bool is_registered;
    struct stat st;
    struct timespec now;
    *o = (struct output){.path = path};
    char *target = *path ? follow_links(path) : NULL;
    if (!*path) errno = ENOENT;
    if (!target) return cannot_write(o, errno);
    if (stat(target, &st) == 0 && !S_ISREG(st.st_mode)) {
        free(target);
        return true;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    o->target = target;
    if (asprintf(&o->beside, "%.*s.ptoc-%ld-%09ld", folder_length(target), target, (long)getpid(), now.tv_nsec) < 0)
        o->beside = NULL;
    if (!o->beside) return cannot_write(o, ENOMEM);
    if (!is_registered) atexit(remove_unfinished);
    is_registered = true;
    unfinished = o;
    return true;
}

const char *output_name(const struct output *o) { return o->beside ? o->beside : o->path; }

/* With the mode of the file that it replaces, which has to be one that may be written. */
static bool open_beside(struct output *o)
{
    struct stat st;
    const bool exists = stat(o->target, &st) == 0;
    if (exists && access(o->target, W_OK) != 0) return cannot_write(o, errno);
    const int file = open(o->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return cannot_write(o, errno);
    /* root keeps the owner */
    if (exists && fchmod(file, st.st_mode & 07777) == 0) (void)!fchown(file, st.st_uid, st.st_gid);
    o->out = fdopen(file, "w");
    if (!o->out) {
        cannot_write(o, errno);
        close(file);
    }
    return o->out != NULL;
}

bool output_open(struct output *o, const char *path)
{
    if (!path || strcmp(path, "-") == 0) {
        *o = (struct output){.path = "standard output", .out = stdout};
        return true;
    }
    if (!output_place(o, path)) {
        output_close(o, false);
        return false;
    }
    if (o->target)
        open_beside(o);
    else if ((o->out = fopen(path, "w")) == NULL)
        cannot_write(o, errno);
    if (!o->out) output_close(o, false);
    return o->out != NULL;
}

int output_close(struct output *o, bool good)
{
    if (o->out && (ferror(o->out) || fflush(o->out) != 0)) good = cannot_write(o, errno);
    if (o->out && o->out != stdout && fclose(o->out) != 0) good = cannot_write(o, errno);
    if (o->beside && good && rename(o->beside, o->target) != 0) good = cannot_write(o, errno);
    if (o->beside && !good) unlink(o->beside);
    free(o->target);
    free(o->beside);
    const bool failed = o->failed;
    if (unfinished == o) unfinished = NULL;
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
