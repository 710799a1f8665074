/* whole_file.c - see whole_file.h. */
#include "whole_file.h"
#include "shared/atomics.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files that are not in their place yet, and the process that made them.  A path in the list belongs to whoever
 * swaps it out: its file, or the handler of a signal that ends the process.  Relaxed: a thread sees its own paths, and
 * another one's file may be left. */
enum { LISTED = 64 };
static _Atomic(char *) listed[LISTED];
static _Atomic pid_t lister;
static _Atomic int creating; /* threads between a file and its entry: they hold back signals */

/* false: there is no room, and a signal leaves the file behind. */
static bool list(char *beside)
{
    char *none = NULL;
    for (int i = 0; i < LISTED; i++, none = NULL)
        if (swap_if_relaxed(&listed[i], &none, beside)) return true;
    return false;
}

static bool unlist(char *beside)
{
    for (int i = 0; i < LISTED; i++) {
        char *expected = beside;
        if (swap_if_relaxed(&listed[i], &expected, NULL)) return true;
    }
    return false;
}

/* The file has left the path beside its place. */
static void forget_beside(struct whole_file *f)
{
    if (f->beside && (!f->is_listed || unlist(f->beside))) free(f->beside);
    f->beside = NULL;
}

/* It is not listed before it exists, because a file of that name may be another's; and a signal that comes meanwhile
 * waits until it is listed, in this thread or in the one that takes the signal. */
static int create_listed(char *path, bool *is_listed)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    store_relaxed(&lister, getpid());
    add_relaxed(&creating, 1);
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), why = errno;
    *is_listed = file >= 0 && list(path);
    add_relaxed(&creating, -1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return file;
}

void ptoi_whole_remove_all(void)
{
    if (load_relaxed(&lister) != getpid()) return; /* a forked child has the list of its parent */
    while (load_relaxed(&creating) > 0) pto_relax();
    for (int i = 0; i < LISTED; i++) {
        const char *path = swap_relaxed(&listed[i], NULL);
        if (path) unlink(path);
    }
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
