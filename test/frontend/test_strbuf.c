/* test_strbuf.c - text that grows: it always has room for the zero after it, and JSON of any bytes is JSON.
 * Idea       every length around the sizes that the memory has is made in each of the ways that there are.  A sanitizer
 *            would see a byte too many, so does the capacity.
 */
#include "unit.h"

#include "support/strbuf.h"
#include <string.h>

enum { MOST = 300 };

static char letters[MOST + 1];

static void write_letters(void)
{
    for (int i = 0; i < MOST; i++) letters[i] = (char)('a' + i % 26);
}

static void expect_letters(const struct strbuf *b, size_t length)
{
    EXPECT_EQ(b->length, length);
    EXPECT(length == 0 || b->capacity > length); /* and the zero */
    EXPECT_EQ(strlen(strbuf_text(b)), length);
    EXPECT(memcmp(strbuf_text(b), letters, length) == 0);
}

TEST(a_cut_leaves_the_beginning)
{
    STRBUF(b);
    strbuf_cut(&b, 0);
    EXPECT_EQ(strlen(strbuf_text(&b)), 0);
    strbuf_puts(&b, "abcdef");
    strbuf_cut(&b, 6);
    EXPECT(strcmp(strbuf_text(&b), "abcdef") == 0);
    strbuf_cut(&b, 2);
    strbuf_putc(&b, 'x');
    EXPECT(strcmp(strbuf_text(&b), "abx") == 0);
}

TEST(a_text_of_any_length_has_room_for_its_zero)
{
    write_letters();
    for (size_t length = 0; length <= MOST; length++) {
        struct strbuf whole = {0}, printed = {0}, single = {0};
        strbuf_add(&whole, letters, length);
        expect_letters(&whole, length);
        strbuf_printf(&printed, "%.*s", (int)length, letters);
        expect_letters(&printed, length);
        for (size_t i = 0; i < length; i++) strbuf_putc(&single, letters[i]);
        expect_letters(&single, length);
        strbuf_free(&whole);
        strbuf_free(&printed);
        strbuf_free(&single);
        EXPECT(whole.data == NULL && whole.capacity == 0);
    }
}

TEST(a_text_in_two_parts_has_room_for_its_zero)
{
    write_letters();
    for (size_t first = 0; first <= 130; first++)
        for (size_t second = 0; first + second <= 260; second++) {
            STRBUF(b);
            strbuf_add(&b, letters, first);
            strbuf_printf(&b, "%.*s", (int)second, letters + first);
            expect_letters(&b, first + second);
        }
}

static void expect_json(const char *bytes, const char *want)
{
    STRBUF(b);
    strbuf_json(&b, bytes, strlen(bytes));
    EXPECT_STR(strbuf_text(&b), want);
}

TEST(json_has_each_byte_or_what_stands_for_it)
{
    expect_json("", "\"\"");
    expect_json("a\"b\\c\n\r\t", "\"a\\\"b\\\\c\\n\\r\\t\"");
    expect_json("\x01\x1f \x7e\x7f", "\"\\u0001\\u001f ~\\u007f\"");
    /* the first and last of each length of UTF-8 */
    expect_json("\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
                "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
    expect_json("\xed\x9f\xbf\xee\x80\x80", "\"\xed\x9f\xbf\xee\x80\x80\""); /* beside the surrogates */
}

#define UNKNOWN "\xef\xbf\xbd"
TEST(json_of_bytes_that_are_no_utf8_has_the_character_for_them)
{
    static const char *const alone[] = {"\x80", "\xbf", "\xc0", "\xc1", "\xf5", "\xff",
                                        "\xc2", "\xdf", "\xe0", "\xef", "\xf0", "\xf4"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) expect_json(alone[i], "\"" UNKNOWN "\"");
    expect_json("\xc1\xbf", "\"" UNKNOWN UNKNOWN "\"");                         /* longer than need be */
    expect_json("\xe0\x9f\xbf", "\"" UNKNOWN UNKNOWN UNKNOWN "\"");             /* the same */
    expect_json("\xf0\x8f\xbf\xbf", "\"" UNKNOWN UNKNOWN UNKNOWN UNKNOWN "\""); /* the same */
    expect_json("\xed\xa0\x80", "\"" UNKNOWN UNKNOWN UNKNOWN "\"");             /* half of a pair */
    expect_json("\xf4\x90\x80\x80", "\"" UNKNOWN UNKNOWN UNKNOWN UNKNOWN "\""); /* beyond the last */
    expect_json("\xc2"
                "a",
                "\"" UNKNOWN "a\"");
    expect_json("\xe1\x80"
                "a",
                "\"" UNKNOWN UNKNOWN "a\"");
    expect_json("\xe1\x80\xc0", "\"" UNKNOWN UNKNOWN UNKNOWN "\"");
}

TEST(a_c_string_has_neither_trigraphs_nor_digits_that_join)
{
    STRBUF(b);
    strbuf_c_string(&b,
                    "?"
                    "?= \x01"
                    "7\x7f\xff\n\t\"\\~ ",
                    14);
    EXPECT_STR(strbuf_text(&b), "\"?\\?= \\0017\\177\\377\\n\\t\\\"\\\\~ \"");
}
