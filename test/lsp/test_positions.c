/* test_positions.c - bytes and the characters of a client, both ways; files and URIs. */
#include "lsp/paths.h"
#include "lsp/positions.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

/* One, two, three and four bytes; then a byte that is no UTF-8, and a line that ends as on Windows. */
static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9ez\nb\xffz\r\n\nlast";

static void expect(const struct lines *l, enum encoding e, size_t offset, uint32_t line, uint32_t character)
{
    const struct position p = lines_position(l, offset, e);
    EXPECT(p.line == line && p.character == character);
    EXPECT(lines_offset(l, p, e) == offset);
}

TEST(each_offset_is_found_again)
{
    struct lines l = {0};
    lines_make(&l, text, sizeof text - 1);
    static const struct {
        size_t offset;
        uint32_t line, utf16, utf8;
    } places[] = {{0, 0, 0, 0},   {1, 0, 1, 1},  {3, 0, 2, 3},  {6, 0, 3, 6},  {10, 0, 5, 10},
                  {11, 0, 6, 11}, {12, 1, 0, 0}, {13, 1, 1, 1}, {14, 1, 2, 2}, {15, 1, 3, 3},
                  {17, 2, 0, 0},  {18, 3, 0, 0}, {22, 3, 4, 4}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        expect(&l, ENCODING_UTF16, places[i].offset, places[i].line, places[i].utf16);
        expect(&l, ENCODING_UTF8, places[i].offset, places[i].line, places[i].utf8);
    }
    lines_free(&l);
}

TEST(what_lies_behind_an_end_is_that_end)
{
    struct lines l = {0};
    lines_make(&l, text, sizeof text - 1);
    EXPECT(lines_offset(&l, (struct position){0, 99}, ENCODING_UTF16) == 11);
    EXPECT(lines_offset(&l, (struct position){1, 99}, ENCODING_UTF16) == 15); /* before "\r\n" */
    EXPECT(lines_offset(&l, (struct position){99, 0}, ENCODING_UTF16) == sizeof text - 1);
    EXPECT(lines_position(&l, 999, ENCODING_UTF16).line == 3);
    lines_free(&l);
}

TEST(a_lone_carriage_return_ends_a_line)
{
    struct lines l = {0};
    static const char ends[] = "a\r\rb\r\n\r";
    lines_make(&l, ends, sizeof ends - 1);
    EXPECT(l.starts.count == 5);
    expect(&l, ENCODING_UTF16, 1, 0, 1);
    expect(&l, ENCODING_UTF16, 2, 1, 0);
    expect(&l, ENCODING_UTF16, 4, 2, 1);
    expect(&l, ENCODING_UTF16, 6, 3, 0);
    expect(&l, ENCODING_UTF16, 7, 4, 0);
    EXPECT(lines_offset(&l, (struct position){0, 9}, ENCODING_UTF16) == 1);
    EXPECT(lines_offset(&l, (struct position){2, 9}, ENCODING_UTF16) == 4);
    lines_free(&l);
}

TEST(between_the_two_characters_of_a_line_end_is_its_begin)
{
    struct lines l = {0};
    lines_make(&l, text, sizeof text - 1);
    EXPECT(lines_position(&l, 16, ENCODING_UTF16).line == 1);
    EXPECT(lines_position(&l, 16, ENCODING_UTF16).character == 3);
    EXPECT(lines_position(&l, 16, ENCODING_UTF8).character == 3);
    lines_free(&l);
}

TEST(a_place_inside_of_a_character_is_its_begin)
{
    struct lines l = {0};
    lines_make(&l, text, sizeof text - 1);
    EXPECT(lines_offset(&l, (struct position){0, 4}, ENCODING_UTF16) == 6); /* between two halves */
    EXPECT(lines_offset(&l, (struct position){0, 2}, ENCODING_UTF8) == 1);
    EXPECT(lines_position(&l, 8, ENCODING_UTF16).character == 3);
    lines_free(&l);
}

TEST(an_empty_text_has_one_line)
{
    struct lines l = {0};
    lines_make(&l, "", 0);
    expect(&l, ENCODING_UTF16, 0, 0, 0);
    EXPECT(lines_offset(&l, (struct position){3, 3}, ENCODING_UTF16) == 0);
    lines_free(&l);
}

TEST(ranges_touch_at_their_ends)
{
    const struct range a = {{1, 2}, {1, 5}}, b = {{1, 5}, {2, 0}}, c = {{1, 6}, {1, 7}};
    EXPECT(ranges_touch(a, b) && ranges_touch(b, a) && !ranges_touch(a, c));
}

TEST(a_path_and_its_uri)
{
    char *path = path_of_uri("file:///a%20b/%C3%A4%2Bc.pto");
    STRBUF(uri);
    EXPECT(strcmp(path, "/a b/\xc3\xa4+c.pto") == 0);
    uri_of_path(&uri, path);
    EXPECT(strcmp(strbuf_text(&uri), "file:///a%20b/%C3%A4%2Bc.pto") == 0);
    free(path);
    path = path_of_uri("untitled:Untitled-1");
    EXPECT(strcmp(path, "untitled:Untitled-1") == 0);
    free(path);
    path = path_of_uri("file://host/x%zz%0");
    EXPECT(strcmp(path, "/x%zz%0") == 0);
    free(path);
}
