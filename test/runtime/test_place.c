/* test_place.c - the line of the source and the loop indices under a message: what is shown of tabs, long lines and
 * strange characters; nothing if the file is gone, or has another line there. */
#include "shared/place.h"
#include "shared/run_status.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static PTOSiteLine line_site(int line, int column, int width, const char *text, const char *indices)
{
    PTOSiteLine s = PTO_SITE_LINE(path, line, column, "x", PTO_LINE_DIGEST_SEED, width, indices);
    for (; *text; text++) s.digest = PTO_LINE_DIGEST(s.digest, (unsigned char)*text);
    return s;
}

static void write_source(const char *text)
{
    snprintf(path, sizeof path, "test_place_%d.pto", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST(the_line_is_shown_with_a_caret)
{
    char text[PTOI_EXCERPT_BYTES];
    write_source("one\n\tk(a,\tb);\r\nf\xc3\xbcr\x01 x\nlast");
    PTOSiteLine s = line_site(2, 2, 7, "\tk(a,\tb);", "");
    EXPECT_EQ(pto_site_column(&s.site), 2);
    EXPECT(ptoi_place_excerpt(&s.site, text) > 0);
    EXPECT_STR(text, "    2 |     k(a,    b);\n      |     ^~~~~~~~~~");
    s = line_site(3, 7, 9, "f\xc3\xbcr\x01 x", "");
    ptoi_place_excerpt(&s.site, text);
    EXPECT_STR(text, "    3 | f\xc3\xbcr? x\n      |      ^");
    s = line_site(4, 5, 1, "last", ""); /* behind the end */
    ptoi_place_excerpt(&s.site, text);
    EXPECT_STR(text, "    4 | last\n      |     ^");
    unlink(path);
    EXPECT_EQ(ptoi_place_excerpt(&s.site, text), 0);
    EXPECT_STR(text, "");
}

TEST(of_a_long_line_the_part_around_the_place_is_shown)
{
    char text[PTOI_EXCERPT_BYTES], line[1200];
    memset(line, 'a', sizeof line);
    line[500] = 'X';
    line[900] = '\0';
    write_source(line);
    PTOSiteLine s = line_site(1, 501, 1, line, "");
    ptoi_place_excerpt(&s.site, text);
    char *mark = strchr(text, '\n');
    assert_non_null(mark);
    EXPECT(strncmp(text, "    1 | ...aaa", 14) == 0);
    EXPECT_EQ(strchr(text, 'X') - text, strchr(mark, '^') - (mark + 1));
    EXPECT(strncmp(mark - 3, "...", 3) == 0);
    line[900] = 'a';
    line[1199] = '\0';
    write_source(line);
    s = line_site(1, 501, 1, line, "");
    EXPECT_EQ(ptoi_place_excerpt(&s.site, text), 0); /* too long */
    unlink(path);
}

TEST(another_line_another_file_or_a_site_of_other_programs_shows_nothing)
{
    char text[PTOI_EXCERPT_BYTES];
    write_source("one\ntwo\n");
    PTOSiteLine s = line_site(2, 1, 3, "twO", "");
    EXPECT_EQ(ptoi_place_excerpt(&s.site, text), 0);
    s = line_site(4, 1, 3, "", "");
    EXPECT_EQ(ptoi_place_excerpt(&s.site, text), 0);
    s = line_site(2, 9, 3, "two", "");
    EXPECT_EQ(ptoi_place_excerpt(&s.site, text), 0);
    s = line_site(1, 1, 3, "", "");
    s.site.file = "/dev/zero";
    EXPECT_EQ(ptoi_place_excerpt(&s.site, text), 0);
    const PTOSite plain = {path, 1, 1, "x"};
    EXPECT_EQ(ptoi_place_excerpt(&plain, text), 0);
    EXPECT_EQ(ptoi_place_excerpt(NULL, text), 0);
    unlink(path);
}

TEST(a_message_has_the_line_and_the_indices_under_its_first_line)
{
    static struct run_status status;
    write_source("for\n  k(i);\n");
    PTOSiteLine s = line_site(2, 3, 1, "  k(i);", "i, q");
    const PTOSite *site = &s.site;
    const int64_t indices[] = {-3, INT64_MIN};
    struct open_function list[] = {{"f", NULL, indices}};
    const struct open_functions open = {.site = &site, .list = list, .count = 1};
    char text[PTOI_INDICES_BYTES], want[300];
    for (int here = 0; here < 2; here++) {
        const struct open_functions *const before = ptoi_place_orchestrates(here ? &open : NULL);
        ptoi_run_status_reset(&status);
        ptoi_fail(&status, PTO_ERR_BOUNDS, site, "[E05] out\n  of here");
        ptoi_place_orchestrates(before);
        snprintf(want, sizeof want, "%s:2:3: error[E05]: out\n    2 |   k(i);\n      |   ^%s\n  of here", path,
                 here ? "\n  with i = -3, q = -9223372036854775808" : "");
        EXPECT_STR(status.message, want);
    }
    EXPECT_EQ(ptoi_place_with(site, NULL, text), 0);
    EXPECT_STR(text, "");
    unlink(path);
}
