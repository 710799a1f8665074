/* test_excerpt.c - an excerpt shows its text, and no byte of the memory after it.
 * Idea       texts that end in the middle of a character, whose other bytes follow in memory.
 */
#include "unit.h"

#include "support/strbuf.h"
#include "syntax/excerpt.h"

static void expect_excerpt(const char *text, size_t length, size_t begin, const char *want)
{
    STRBUF(b);
    excerpt_add(&b, 1, text, length, begin, begin + 1, (struct excerpt_style){"", "", '^', '~'});
    EXPECT_STR(strbuf_text(&b), want);
}

TEST(a_character_that_the_end_of_the_text_cuts_is_broken)
{
    const char *day = "on \xe6\x97\xa5."; // one character of three bytes
    expect_excerpt(day, 6, 0, "    1 | on \xe6\x97\xa5\n      | ^\n");
    expect_excerpt(day, 5, 0, "    1 | on ??\n      | ^\n");
    expect_excerpt(day, 4, 0, "    1 | on ?\n      | ^\n");
    expect_excerpt(day, 4, 3, "    1 | on ?\n      |    ^\n");
}
