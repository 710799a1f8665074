/* whole_file.c - see whole_file.h. */
#include "whole_file.h"
#include "ending.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file has left the path beside its place. */
static void forget_beside(struct whole_file *f)
{
    if (f->beside && (!f->is_listed || ptoi_ending_unlist(f->beside))) free(f->beside);
    f->beside = NULL;
}

/* It is not listed before it exists, because a file of that name may be another's. */
static int create_listed(char *path, bool *is_listed)
{
    ptoi_ending_hold();
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), why = errno;
    *is_listed = file >= 0 && ptoi_ending_list(path);
    ptoi_ending_release();
    errno = why;
    return file;
}

/* The length of a path's folder with its slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/* The file that a path means when links are followed, whether it exists or not.  To be freed; NULL with errno. */
static char *follow_links(const char *path)
{
    enum { MAX_LINKS = 40 };
    char *at = strdup(path), link[PATH_MAX];
    for (int i = 0; at; i++) {
        const ssize_t n = readlink(at, link, sizeof link - 1);
        if (n < 0) return at;
        link[n] = '\0';
        char *next = NULL;
        if (i == MAX_LINKS)
            errno = ELOOP;
        else if (asprintf(&next, "%.*s%s", link[0] == '/' ? 0 : folder_length(at), at, link) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    return NULL;
}

/* A name in a folder, whatever the path to that folder. */
struct place {
    char *target;
    dev_t device;
    ino_t folder;
};

static bool find_place(struct place *p, const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) return false;
    p->target = follow_links(path);
    char *const folder = p->target ? strndup(p->target, (size_t)folder_length(p->target)) : NULL;
    const bool is_found = folder && stat(*folder ? folder : ".", &st) == 0;
    free(folder);
    p->device = st.st_dev;
    p->folder = st.st_ino;
    return is_found;
}

bool ptoi_whole_is_same(const char *a, const char *b)
{
    struct place x = {0}, y = {0};
    const bool is_same = find_place(&x, a) && find_place(&y, b) && x.device == y.device && x.folder == y.folder &&
                         strcmp(x.target + folder_length(x.target), y.target + folder_length(y.target)) == 0;
    free(x.target);
    free(y.target);
    return is_same;
}

/* A new file in the folder of the target, with the mode of the file that it will replace. */
static int create_beside(struct whole_file *f, const struct stat *replaced)
{
    enum { TRIES = 1000 };
    int file = -1;
    for (int i = 0; i < TRIES && file < 0; i++) {
        free(f->beside);
        if (asprintf(&f->beside, "%.*s.pto-%ld-%d", folder_length(f->target), f->target, (long)getpid(), i) < 0)
            f->beside = NULL;
        if (!f->beside) return -1;
        file = create_listed(f->beside, &f->is_listed);
        if (file < 0 && errno != EEXIST) break;
    }
    if (file < 0) {
        free(f->beside); /* nothing was made: nothing is to be removed */
        f->beside = NULL;
    } else if (replaced && fchmod(file, replaced->st_mode & 07777) == 0) {
        (void)!fchown(file, replaced->st_uid, replaced->st_gid); /* root keeps the owner */
    }
    return file;
}

/* Does not wait for a reader of a pipe. */
static int open_directly(const char *path)
{
    const int file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    const int flags = file < 0 ? -1 : fcntl(file, F_GETFL);
    if (flags >= 0 && fcntl(file, F_SETFL, flags & ~O_NONBLOCK) == 0) return file;
    const int why = errno;
    if (file >= 0) close(file);
    errno = why;
    return -1;
}

/* Standard output, after all that the program printed so far. */
static int open_standard_output(void) { return fflush(stdout) == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : -1; }

static int open_target(struct whole_file *f, const char *path)
{
    struct stat st;
    if (!*path) return errno = ENOENT, -1;
    if (strcmp(path, "-") == 0) return open_standard_output();
    const bool exists = stat(path, &st) == 0;
    if (!exists && errno != ENOENT) return -1;
    /* Its links are not followed by name: that of an open pipe, in /proc, names no file. */
    if (exists && !S_ISREG(st.st_mode)) return open_directly(path);
    f->target = follow_links(path);
    if (!f->target) return -1;
    if (!exists) return create_beside(f, NULL);
    return access(f->target, W_OK) == 0 ? create_beside(f, &st) : -1;
}

bool ptoi_whole_open(struct whole_file *f, const char *path)
{
    *f = (struct whole_file){0};
    const int file = open_target(f, path);
    if (file >= 0 && (f->out = fdopen(file, "w")) != NULL) return true;
    const int why = errno;
    if (file >= 0) close(file);
    ptoi_whole_drop(f);
    errno = why;
    return false;
}

bool ptoi_whole_finish(struct whole_file *f)
{
    bool good = !ferror(f->out) && fflush(f->out) == 0;
    int why = errno; /* where a write failed before: still of that, because what succeeds leaves errno alone */
    if (fclose(f->out) != 0 && good) { /* some file systems say only here that they are full */
        why = errno;
        good = false;
    }
    f->out = NULL;
    errno = why ? why : EIO;
    return good;
}

bool ptoi_whole_rename(struct whole_file *f)
{
    if (f->beside && rename(f->beside, f->target) != 0) return false;
    forget_beside(f);
    return true;
}

void ptoi_whole_drop(struct whole_file *f)
{
    if (f->out) fclose(f->out);
    if (f->beside) unlink(f->beside);
    forget_beside(f);
    free(f->target);
    *f = (struct whole_file){0};
}
