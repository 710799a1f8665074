/* test_ending.c - a signal that ends the process, taken by another thread than the one that writes files: files appear
 * together, and none is left beside its place. */
#include "folder.h"
#include "report/ending.h"
#include "report/whole_file.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic int has_taken;

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void *take_signal(void *number)
{
    raise(*(int *)number);
    has_taken = 1;
    return NULL;
}

/* The handler has run in a thread of its own. */
static void signal_elsewhere(int number)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, take_signal, &number) != 0) _exit(3);
    pthread_join(thread, NULL);
}

/* How a child that runs this ends: by which signal, or 0. */
static int ends_by(void (*run)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        for (int number = SIGHUP; number <= SIGTERM; number++)
            if (number != SIGKILL) signal(number, SIG_DFL); /* test programs may be started with some ignored */
        ptoi_ending_begin();
        run();
        _exit(0);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) ? -WEXITSTATUS(status) : 0;
}

static void finish_two(struct whole_file two[2])
{
    const char *const names[2] = {"a", "b"};
    for (int i = 0; i < 2; i++)
        if (!ptoi_whole_open(&two[i], names[i]) || fputs("new", two[i].out) < 0 || !ptoi_whole_finish(&two[i]))
            _exit(2);
}

static void signal_between_renames(void)
{
    struct whole_file two[2];
    finish_two(two);
    ptoi_ending_hold();
    if (!ptoi_whole_rename(&two[0])) _exit(2);
    signal_elsewhere(SIGTERM);
    if (!has_taken || !ptoi_whole_rename(&two[1])) _exit(2);
    ptoi_ending_release();
}

TEST(a_signal_between_two_renames_waits_for_both)
{
    enter_new_folder();
    EXPECT_EQ(ends_by(signal_between_renames), SIGTERM);
    EXPECT(exists("a") && exists("b"));
}

static void nested(void)
{
    ptoi_ending_hold();
    ptoi_ending_hold();
    signal_elsewhere(SIGHUP);
    ptoi_ending_release();
    if (mkdir("inner", 0700) != 0) _exit(2);
    ptoi_ending_release();
    if (mkdir("outer", 0700) != 0) _exit(2);
}

TEST(it_waits_for_the_last_that_holds)
{
    enter_new_folder();
    EXPECT_EQ(ends_by(nested), SIGHUP);
    EXPECT(exists("inner") && !exists("outer"));
}

static void signal_before_renames(void)
{
    struct whole_file two[2];
    finish_two(two);
    signal_elsewhere(SIGINT);
}

TEST(otherwise_it_removes_the_files_and_ends_the_process)
{
    enter_new_folder();
    EXPECT_EQ(ends_by(signal_before_renames), SIGINT);
    EXPECT_EQ(rmdir(folder), 0); /* it is empty */
}

/* One thread makes and renames two files again and again, and signals come to another at any time. */
static _Atomic int has_begun;

static void *send_signal(void *number)
{
    while (!has_begun) {}
    raise(*(int *)number);
    return NULL;
}

static void write_until_signal(void)
{
    pthread_t thread;
    int number = SIGQUIT;
    if (pthread_create(&thread, NULL, send_signal, &number) != 0) _exit(3);
    for (int i = 0;; i++) {
        struct whole_file two[2];
        if (i == getpid() % 3) has_begun = 1;
        finish_two(two);
        ptoi_ending_hold();
        if (!ptoi_whole_rename(&two[0]) || !ptoi_whole_rename(&two[1])) _exit(2);
        ptoi_ending_release();
        for (int f = 0; f < 2; f++) ptoi_whole_drop(&two[f]);
        if (i == 100000) _exit(4);
        ptoi_ending_hold();
        if (unlink("a") != 0 || unlink("b") != 0) _exit(2);
        ptoi_ending_release();
    }
}

TEST(files_written_while_signals_come_to_another_thread_are_all_there_or_all_absent)
{
    for (int i = 0; i < 200; i++) {
        enter_new_folder();
        EXPECT_EQ(ends_by(write_until_signal), SIGQUIT);
        const bool are_there = exists("a");
        EXPECT_EQ(exists("b"), are_there);
        if (are_there) EXPECT(unlink("a") == 0 && unlink("b") == 0);
        EXPECT_EQ(rmdir(folder), 0); /* nothing else is left */
    }
}
