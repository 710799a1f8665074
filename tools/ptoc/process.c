/* process.c - child programs, and a folder for temporary files.
 * Idea       posix_spawn, never a shell: a blank in a path is only a blank.
 * Owner      the folder: the caller of temp_dir_create.  The handlers: from temp_dir_create to temp_dir_remove.
 * Invariant  no folder is left behind, whichever signal ends the run.
 * Blocks     process_run and process_wait, until the program has ended.
 * Tests      test/lit/run/build.test, exit-codes.test, end-requests.test
 */
#include "process.h"
#include "options.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const int held[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGXCPU};
enum { HELD = sizeof held / sizeof *held };
static struct sigaction before[HELD];
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t children[PROCESS_CHILDREN]; /* 0: a free place */
/* open from the start, so that it can be emptied when nothing more can be opened */
static struct {
    char *path;
    DIR *entries;
} temporary;

static bool is_for_children(int number)
{
    return number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP;
}

/* The keys of a terminal send SIGINT and SIGQUIT to the child as well.  What a process sends may be for ptoc alone, so
 * it is passed on; where it was sent to the group, a program of ptoc takes both as one (runtime/host/watch.c). */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    interrupted = number;
    const bool is_key = info->si_code == SI_KERNEL && (number == SIGINT || number == SIGQUIT);
    if (is_key || !is_for_children(number)) return;
    for (int i = 0; i < PROCESS_CHILDREN; i++)
        if (children[i] > 0) kill((pid_t)children[i], number);
}

static void hold_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    for (int i = 0; i < HELD; i++) {
        sigaction(held[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(held[i], &action, NULL);
    }
}

static void remove_temporary(void)
{
    if (!temporary.path) return;
    rewinddir(temporary.entries);
    for (struct dirent *entry; (entry = readdir(temporary.entries)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(temporary.entries), entry->d_name, 0);
    rmdir(temporary.path);
    closedir(temporary.entries);
    temporary.path = NULL;
}

static const char *temp_root(void)
{
    const char *root = getenv("TMPDIR");
    return root && *root ? root : "/tmp";
}

bool temp_dir_is_full(void)
{
    enum { LEAST = 1 << 20 };
    struct statvfs disk;
    return statvfs(temp_root(), &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < LEAST;
}

char *temp_dir_create(void)
{
    static bool is_registered;
    const char *root = temp_root();
    char *dir = NULL;
    hold_signals();
    if (!is_registered) atexit(remove_temporary); /* memory that runs out ends ptoc wherever it is */
    is_registered = true;
    if (asprintf(&dir, "%s/ptoc-XXXXXX", root) < 0) dir = NULL;
    if (dir && mkdtemp(dir)) {
        temporary.entries = opendir(dir);
        if (temporary.entries) return temporary.path = dir;
        const int why = errno;
        rmdir(dir);
        errno = why;
    }
    fprintf(stderr, "ptoc: error: cannot make a folder for temporary files in '%s': %s\n", root, strerror(errno));
    free(dir);
    return NULL;
}

void temp_dir_remove(char *dir, bool keep)
{
    if (keep) {
        fprintf(stderr, "ptoc: kept '%s'\n", dir);
        closedir(temporary.entries);
        temporary.path = NULL;
    }
    remove_temporary();
    free(dir);
    for (int i = 0; i < HELD; i++) sigaction(held[i], &before[i], NULL);
}

int process_out_of_memory(void)
{
    fputs("ptoc: out of memory\n", stderr);
    return EXIT_INTERNAL;
}

int process_interrupted(void) { return interrupted; }

/* A linker touches nearly all memory that it asks for: with huge pages it takes two thirds of the processor time.
 * Glibc reads this, another library does not; where the system gives no huge pages nothing changes. */
#define HUGE_PAGES "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216"

/* This environment, with messages in English, and for compilers and linkers with huge pages, unless the user has tuned
 * the library.  To be freed, or NULL. */
static char **plain_environment(bool is_tool)
{
    size_t count = 0, n = 0;
    while (environ[count]) count++;
    char **plain = calloc(count + 3, sizeof *plain);
    if (!plain) return NULL;
    plain[n++] = "LC_ALL=C";
    if (is_tool && !getenv("GLIBC_TUNABLES")) plain[n++] = HUGE_PAGES;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0) plain[n++] = environ[i];
    return plain;
}

/* out, log: where standard output and standard error go; NULL: where ours do.  ask: standard output goes where standard
 * error does, and there is no input. */
static int start(const char *path, const char *const *argv, const char *out, const char *log, bool ask, pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t defaults;
    char **plain = log ? plain_environment(!path) : NULL, **environment = plain ? plain : environ;
    posix_spawn_file_actions_init(&files);
    if (log) posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out) posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (ask) {
        posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    sigemptyset(&defaults);
    for (int i = 0; i < HELD; i++)
        if (before[i].sa_handler != SIG_IGN) sigaddset(&defaults, held[i]);
    sigaddset(&defaults, SIGXFSZ); /* ptoc ignores it */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int error = path ? posix_spawn(pid, path, &files, &attributes, (char *const *)argv, environment)
                     : posix_spawnp(pid, argv[0], &files, &attributes, (char *const *)argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(plain);
    return error;
}

static void show(const char *const *argv)
{
    for (int i = 0; argv[i]; i++)
        fprintf(stderr, strpbrk(argv[i], " \t'\"") ? "%s'%s'" : "%s%s", i ? " " : "", argv[i]);
    fputc('\n', stderr);
}

/* The place of the child among the children; -1 after a message when it could not be started. */
static int begin(const char *path, const char *const *argv, const char *out, const char *log, bool ask)
{
    pid_t pid = 0;
    int place = 0;
    while (place < PROCESS_CHILDREN - 1 && children[place]) place++;
    fflush(NULL);
    const int error = start(path, argv, out, log, ask, &pid);
    if (error) {
        fprintf(stderr, "ptoc: error: cannot run '%s': %s\n", path ? path : argv[0], strerror(error));
        return -1;
    }
    children[place] = pid;
    /* it came before the child had a number */
    if (is_for_children(interrupted)) kill(pid, interrupted);
    return place;
}

int process_wait(int child)
{
    int status = 0;
    if (child == PROCESS_INTERRUPTED) return 128 + interrupted;
    if (child < 0) return -1;
    while (waitpid((pid_t)children[child], &status, 0) < 0 && errno == EINTR) {}
    children[child] = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(const char *path, const char *const *argv, const char *out, const char *log, bool ask, bool verbose)
{
    if (verbose) show(argv);
    return interrupted ? 128 + interrupted : process_wait(begin(path, argv, out, log, ask));
}

int process_start(const char *log, const char *const *argv, bool verbose)
{
    if (verbose) show(argv);
    return interrupted ? PROCESS_INTERRUPTED : begin(NULL, argv, NULL, log, false);
}

int process_run(const char *path, const char *const *argv, bool verbose)
{
    return run(path, argv, NULL, NULL, false, verbose);
}

int process_run_logged(const char *log, const char *const *argv, bool verbose)
{
    return run(NULL, argv, NULL, log, false, verbose);
}

int process_ask(const char *answer, const char *const *argv) { return run(NULL, argv, NULL, answer, true, false); }

int process_run_to(const char *out, const char *err, const char *path, const char *const *argv, bool verbose)
{
    return run(path, argv, out, err, false, verbose);
}
