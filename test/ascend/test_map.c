/* test_map.c - the map of kernels as a file: what its lines may be.
 * Method     the linker sends getline and free here (--wrap), so that a line has a blank of ours before it.  An
 *            optimized getline is __getdelim. */
#include "backend/ascend/map.h"
#include "unit.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { ROOM = 512 };
static char *_Atomic given; /* a line */
static int lines, changed;

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    if (!memory || memory != given) {
        __real_free(memory);
        return;
    }
    __real_free(given - 1);
    given = NULL;
}

ssize_t __wrap_getline(char **line, size_t *room, FILE *in);
ssize_t __wrap_getline(char **line, size_t *room, FILE *in)
{
    if (!given) {
        char *const memory = malloc(ROOM);
        memory[0] = ' ';
        given = memory + 1;
    }
    lines++;
    changed += given[-1] != ' ';
    *line = given;
    *room = ROOM - 1;
    return fgets(*line, ROOM - 1, in) ? (ssize_t)strlen(*line) : -1;
}

ssize_t __wrap___getdelim(char **line, size_t *room, int end, FILE *in);
ssize_t __wrap___getdelim(char **line, size_t *room, int end, FILE *in)
{
    EXPECT_EQ(end, '\n');
    return __wrap_getline(line, room, in);
}

static PTOStatus load(struct kernel_map *map, const char *text, char message[256])
{
    char path[] = "/tmp/test_map_XXXXXX";
    const int file = mkstemp(path);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    const PTOStatus status = ptoi_kernels_load(map, path, message, 256);
    unlink(path);
    return status;
}

TEST(lines_without_text_are_passed_over)
{
    struct kernel_map map;
    char message[256];
    static const char text[] = "\n  \n# a comment\n\t; another\n[k] # a third\n\nobject = /dev/null\nblocks = 3  \n\n";
    EXPECT_EQ(load(&map, text, message), PTO_OK);
    EXPECT(lines > 9 && changed == 0); /* what precedes a line in memory is as it was */
    EXPECT_EQ(map.entry_count, 1);
    EXPECT_STR(map.entry[0].name, "k");
    EXPECT_EQ(map.entry[0].blocks, 3);
    ptoi_kernels_unload(&map);
}
