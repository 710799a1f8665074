/* test_output.c - whichever of its files ptoc is writing when it ends by exit(): the old ones stay, and nothing is left
 * beside them. */
#include "folder.h"

#include "output.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `write` in a process that memory which runs out then ends. */
static void expect_end(void (*write)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        write();
        exit(3);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static struct output outer, inner, last;

static void write_one(void) { output_open(&outer, "a"); }

static void write_one_within_another(void)
{
    output_place(&outer, "a");
    output_open(&inner, "b");
}

static void write_one_after_another_within(void)
{
    output_place(&outer, "a");
    output_open(&inner, "b");
    if (output_close(&inner, true) != 0) _exit(1);
}

static void close_the_outer_one_first(void)
{
    output_place(&outer, "a");
    output_open(&inner, "b");
    output_open(&last, "c");
    if (output_close(&inner, false) != 0 || output_close(&outer, false) != 0) _exit(1);
}

static void expect_files(void (*write)(void), int count)
{
    enter_new_folder();
    expect_end(write);
    EXPECT_EQ(count_files(), count);
}

TEST(a_file_that_was_begun_is_removed)
{
    expect_files(write_one, 0);
}

TEST(two_that_were_begun_are_removed)
{
    expect_files(write_one_within_another, 0);
}

/* A header is written while the binary has its place: the place was forgotten. */
TEST(one_that_was_begun_before_another_was_written_is_removed)
{
    expect_files(write_one_after_another_within, 1);
    EXPECT_EQ(access("b", F_OK), 0);
}

TEST(files_are_closed_in_any_order)
{
    expect_files(close_the_outer_one_first, 0);
}
