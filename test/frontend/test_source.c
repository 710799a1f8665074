/* test_source.c - how much text is read: 1 GiB and not a byte more.
 * Idea       the read() of this program writes nothing, so no memory is touched and a large text takes no time.
 */
#include "unit.h"

#include "syntax/source.h"
#include <sys/types.h>

enum { GIB = 1 << 30 };

static size_t left; /* of the text */

ssize_t __wrap_read(int fd, void *out, size_t size);

ssize_t __wrap_read(int fd, void *out, size_t size)
{
    (void)fd;
    (void)out;
    const size_t n = left < size ? left : size;
    left -= n;
    return (ssize_t)n;
}

TEST(a_text_of_one_gib_is_read)
{
    struct source_map *sources = source_map_create();
    const char *why = NULL;
    left = GIB;
    EXPECT_EQ(source_map_read(sources, "-", &why), 0);
    EXPECT_EQ(source_get(sources, 0)->length, GIB);
    source_map_destroy(sources);
}

TEST(a_text_of_one_byte_more_is_refused)
{
    struct source_map *sources = source_map_create();
    const char *why = NULL;
    left = GIB + 1u;
    EXPECT_EQ(source_map_read(sources, "-", &why), -1);
    EXPECT_STR(why, "is larger than 1 GiB");
    source_map_destroy(sources);
}
