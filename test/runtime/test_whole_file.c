/* test_whole_file.c - a file is the old one until the new one is renamed over it, whatever it is and wherever it
 * lies. */
#include "folder.h"
#include "report/whole_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const char *name, const char *text)
{
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    fputs(text, out);
    EXPECT_EQ(fclose(out), 0);
}

static int holds(const char *name, const char *text)
{
    char found[64] = "";
    FILE *in = fopen(name, "r");
    if (!in) return 0;
    found[fread(found, 1, sizeof found - 1, in)] = '\0';
    fclose(in);
    return strcmp(found, text) == 0;
}

static void write_new(struct whole_file *f, const char *name)
{
    EXPECT(ptoi_whole_open(f, name));
    fputs("new", f->out);
}

TEST(the_old_file_is_there_until_the_new_one_is_whole)
{
    struct whole_file f;
    enter_new_folder();
    put("a", "old");
    EXPECT_EQ(chmod("a", 0640), 0);
    write_new(&f, "a");
    EXPECT(holds("a", "old"));
    EXPECT(ptoi_whole_finish(&f));
    EXPECT(holds("a", "old"));
    EXPECT(ptoi_whole_rename(&f));
    EXPECT(holds("a", "new"));
    ptoi_whole_drop(&f);
    ptoi_whole_drop(&f);
    struct stat st;
    EXPECT_EQ(stat("a", &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0640);
    EXPECT_EQ(count_files(), 1);
}

TEST(what_is_dropped_leaves_nothing)
{
    struct whole_file f, g;
    enter_new_folder();
    write_new(&f, "a");
    ptoi_whole_drop(&f);
    write_new(&f, "b");
    write_new(&g, "b"); /* two at once have names of their own */
    EXPECT(ptoi_whole_finish(&f));
    ptoi_whole_drop(&f);
    ptoi_whole_drop(&g);
    EXPECT_EQ(count_files(), 0);
}

/* The linker puts this between the runtime and libc. */
static bool no_stream;
FILE *__real_fdopen(int file, const char *mode);
FILE *__wrap_fdopen(int file, const char *mode);
FILE *__wrap_fdopen(int file, const char *mode)
{
    if (!no_stream) return __real_fdopen(file, mode);
    errno = ENOMEM;
    return NULL;
}

/* The number that the next file gets. */
static int next_descriptor(void)
{
    const int file = open("/dev/null", O_RDONLY);
    EXPECT(file >= 0);
    EXPECT_EQ(close(file), 0);
    return file;
}

TEST(without_memory_for_a_stream_neither_a_descriptor_nor_a_file_stays)
{
    struct whole_file f;
    enter_new_folder();
    put("a", "old");
    const int before = next_descriptor();
    no_stream = true;
    EXPECT(!ptoi_whole_open(&f, "a"));
    EXPECT_EQ(errno, ENOMEM);
    no_stream = false;
    EXPECT_EQ(next_descriptor(), before);
    EXPECT(holds("a", "old"));
    EXPECT_EQ(count_files(), 1);
}

TEST(a_link_stays_a_link)
{
    struct whole_file f;
    struct stat st;
    enter_new_folder();
    EXPECT_EQ(mkdir("sub", 0700), 0);
    EXPECT_EQ(symlink("sub/there", "one"), 0);
    EXPECT_EQ(symlink("one", "two"), 0);
    for (int i = 0; i < 2; i++) { /* first to a file that does not exist */
        write_new(&f, "two");
        EXPECT(ptoi_whole_finish(&f) && ptoi_whole_rename(&f));
        ptoi_whole_drop(&f);
        EXPECT(lstat("two", &st) == 0 && S_ISLNK(st.st_mode));
        EXPECT(holds("sub/there", "new"));
    }
    EXPECT_EQ(symlink("loop", "loop"), 0);
    EXPECT(!ptoi_whole_open(&f, "loop"));
    EXPECT_EQ(errno, ELOOP);
}

TEST(a_device_or_a_pipe_is_written_as_it_is)
{
    struct whole_file f;
    struct stat st;
    enter_new_folder();
    write_new(&f, "/dev/null");
    EXPECT(ptoi_whole_finish(&f) && ptoi_whole_rename(&f));
    ptoi_whole_drop(&f);
    EXPECT(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    write_new(&f, "/dev/full");
    EXPECT(!ptoi_whole_finish(&f));
    EXPECT_EQ(errno, ENOSPC);
    ptoi_whole_drop(&f);
    EXPECT_EQ(mkfifo("pipe", 0600), 0);
    EXPECT(!ptoi_whole_open(&f, "pipe"));
    EXPECT_EQ(errno, ENXIO);
    const int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    char text[8] = "";
    write_new(&f, "pipe");
    EXPECT(ptoi_whole_finish(&f) && ptoi_whole_rename(&f));
    ptoi_whole_drop(&f);
    EXPECT_EQ(read(reader, text, sizeof text), 3);
    close(reader);
    EXPECT_EQ(count_files(), 1);
}

TEST(what_cannot_be_written_says_why)
{
    struct whole_file f;
    enter_new_folder();
    EXPECT(!ptoi_whole_open(&f, "."));
    EXPECT(!ptoi_whole_open(&f, "no/such/folder"));
    EXPECT_EQ(errno, ENOENT);
    EXPECT(!ptoi_whole_open(&f, ""));
    put("file", "old");
    EXPECT(!ptoi_whole_open(&f, "file/below"));
    EXPECT_EQ(errno, ENOTDIR);
    EXPECT_EQ(count_files(), 1);
}

TEST(two_paths_are_one_file_when_their_results_would_meet)
{
    enter_new_folder();
    EXPECT_EQ(mkdir("sub", 0700), 0);
    EXPECT_EQ(symlink("sub", "same"), 0);
    EXPECT_EQ(symlink("sub/there", "link"), 0);
    EXPECT(ptoi_whole_is_same("a", "a"));
    EXPECT(ptoi_whole_is_same("a", "./sub/../a"));
    EXPECT(ptoi_whole_is_same("sub/a", "same/a"));
    EXPECT(ptoi_whole_is_same("link", "same/there")); /* to a file that does not exist */
    EXPECT(!ptoi_whole_is_same("a", "sub/a"));
    EXPECT(!ptoi_whole_is_same("sub/a", "sub/b"));
    put("a", "text");
    EXPECT_EQ(link("a", "b"), 0);
    EXPECT(!ptoi_whole_is_same("a", "b")); /* each name gets a file of its own */
    EXPECT(!ptoi_whole_is_same("-", "-"));
    EXPECT(!ptoi_whole_is_same("/dev/null", "/dev/null"));
    EXPECT(!ptoi_whole_is_same("none/a", "none/a")); /* neither can be written */
}
