/* folder.h - a new folder for the files of a test.
 * Owner      the test; it stays, as its files show what went wrong. */
#ifndef PTO_TEST_FOLDER_H
#define PTO_TEST_FOLDER_H
#include "unit.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[sizeof "/tmp/pto-test.XXXXXX"]; /* its path */

/* The process is in it. */
static inline void enter_new_folder(void)
{
    strcpy(folder, "/tmp/pto-test.XXXXXX");
    assert_non_null(mkdtemp(folder));
    EXPECT_EQ(chdir(folder), 0);
}

/* Where the process is. */
static inline int count_files(void)
{
    int count = 0;
    DIR *all = opendir(".");
    assert_non_null(all);
    while (readdir(all)) count++;
    closedir(all);
    return count - 2;
}

#endif
