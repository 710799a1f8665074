/* watch.c - ptoc watch: a verb again whenever a file of the program has changed.
 * Idea       the verb is a process of its own, so a change while it runs ends it and begins anew.  The files are those
 *            that a check of the program has read, and the C files of the command line; they are looked at ten times a
 *            second, by inode, size and time of change, which needs nothing of the file system.
 * Owner      the list of files.
 * Blocks     until a signal ends it.
 * Tests      test/lit/build/watch.test
 */
#include "build.h"
#include "codegen.h"
#include "support/vec.h"
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct watched {
    char *path;
    struct stat state; /* all 0: the file is not there */
};

struct watch {
    const struct options *o;
    VEC(struct watched) files;
};

static volatile sig_atomic_t stop;
static void handle(int signal) { stop = signal; }

static struct stat look(const char *path)
{
    struct stat now;
    return stat(path, &now) == 0 ? now : (struct stat){0};
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void add_file(struct watch *w, const char *path)
{
    for (size_t i = 0; i < w->files.count; i++)
        if (strcmp(w->files.data[i].path, path) == 0) return;
    struct watched file = {strdup(path), look(path)};
    if (file.path) vec_push(&w->files, file);
}

static void ignore_message(void *nothing, const struct diag_message *m) { (void)nothing, (void)m; }

static void add_program(struct watch *w, const char *path)
{
    struct front_session s;
    struct options quiet = *w->o;
    quiet.input = path;
    add_file(w, path);
    if (access(path, R_OK) != 0) return;
    if (session_open(&s, &quiet) != EXIT_OK) return;
    diag_set_receiver(s.front.diag, ignore_message, NULL);
    s.sema.only_checks = true;
    const struct checked *checked = codegen_check(&s.front, path, &s.sema);
    for (int i = 0; i < checked->module_count; i++) add_file(w, checked->modules[i]->path);
    session_close(&s);
}

/* Before the verb begins, so that a change meanwhile is seen.  What was read before is still looked at: a module
 * that is away for a moment comes back. */
static void list_files(struct watch *w)
{
    for (size_t i = 0; i < w->files.count; i++) w->files.data[i].state = look(w->files.data[i].path);
    for (int i = 0; i < w->o->program_count; i++) add_program(w, w->o->programs[i]);
    for (int i = 0; i < w->o->link_input_count; i++) add_file(w, w->o->link_inputs[i]);
}

static bool has_changed(const struct watch *w)
{
    for (size_t i = 0; i < w->files.count; i++) {
        const struct stat now = look(w->files.data[i].path);
        if (!is_same(&now, &w->files.data[i].state)) return true;
    }
    return false;
}

/* Its number, or 0 after a message.  In a group of its own: the program that it runs is ended with it. */
static pid_t begin(const struct watch *w)
{
    VEC(const char *) argv = {0};
    posix_spawnattr_t attributes;
    pid_t pid = 0;
    vec_push(&argv, w->o->program);
    for (int i = 0; i < w->o->operand_count; i++) vec_push(&argv, w->o->operands[i]);
    vec_push(&argv, NULL);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int error = posix_spawn(&pid, "/proc/self/exe", NULL, &attributes, (char *const *)argv.data, environ);
    posix_spawnattr_destroy(&attributes);
    vec_free(&argv);
    if (error) fprintf(stderr, "ptoc: error: cannot run ptoc: %s\n", strerror(error));
    return error ? 0 : pid;
}

static void end(pid_t pid)
{
    kill(-pid, SIGTERM);
    while (waitpid(pid, NULL, 0) < 0 && !stop) {}
}

static void print_end(int status)
{
    if (WIFEXITED(status))
        fprintf(stderr, "ptoc: watch: exit code %d; waiting for a change\n", WEXITSTATUS(status));
    else
        fprintf(stderr, "ptoc: watch: ended by signal %d; waiting for a change\n", WTERMSIG(status));
}

int watch_main(const struct options *o)
{
    static const struct timespec tenth = {.tv_nsec = 100 * 1000 * 1000};
    struct watch w = {.o = o};
    const struct sigaction action = {.sa_handler = handle};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    bool is_alive = true;
    while (!stop && is_alive) {
        list_files(&w);
        pid_t pid = begin(&w);
        is_alive = pid != 0;
        while (is_alive && !stop && !has_changed(&w)) {
            int status;
            if (pid && waitpid(pid, &status, WNOHANG) == pid) pid = 0, print_end(status);
            nanosleep(&tenth, NULL);
        }
        if (pid) end(pid);
        if (is_alive && !stop) fprintf(stderr, "ptoc: watch: a file changed\n");
    }
    for (size_t i = 0; i < w.files.count; i++) free(w.files.data[i].path);
    vec_free(&w.files);
    return is_alive ? 128 + (int)stop : EXIT_INTERNAL;
}
