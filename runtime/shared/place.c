/* place.c - see place.h. */
#include "place.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Thread_local const struct open_functions *mine;

const struct open_functions *ptoi_place_orchestrates(const struct open_functions *now)
{
    const struct open_functions *before = mine;
    mine = now;
    return before;
}

const int64_t *ptoi_place_indices(const PTOSite *site)
{
    const struct open_functions *o = mine;
    return o && o->count > 0 && *o->site == site ? o->list[o->count - 1].indices : NULL;
}

const struct open_functions *ptoi_place_open(void) { return mine; }

static const PTOSiteLine *line_of(const PTOSite *site)
{
    return site && (site->column & PTO_SITE_HAS_LINE) ? (const PTOSiteLine *)site : NULL;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t length, size;
};

static void put(struct text *t, char c)
{
    if (t->length + 1 < t->size) t->bytes[t->length++] = c;
}

static void put_all(struct text *t, const char *s, size_t length)
{
    for (size_t i = 0; i < length; i++) put(t, s[i]);
}

/* Right-aligned in so many columns. */
static void put_number(struct text *t, int64_t n, int columns)
{
    char digits[24];
    int count = 0;
    uint64_t rest = n < 0 ? -(uint64_t)n : (uint64_t)n;
    do digits[count++] = "0123456789"[rest % 10];
    while (rest /= 10);
    if (n < 0) digits[count++] = '-';
    for (int i = count; i < columns; i++) put(t, ' ');
    while (count > 0) put(t, digits[--count]);
}

static size_t end_text(struct text *t)
{
    t->bytes[t->length] = '\0';
    return t->length;
}

/* ---- the line of the source -------------------------------------------------------------------------------------- */

enum { LONGEST_LINE = 1000, SHOWN = 160, BEFORE_CARET = 60, TAB_WIDTH = 4 };

/* The line with this number, without its end, of the open file; its length, -1: there is none, or it is too long. */
static int read_line(int file, int number, char line[LONGEST_LINE])
{
    char block[4096];
    int length = 0, at = 1;
    for (ssize_t got; (got = read(file, block, sizeof block)) > 0;)
        for (ssize_t i = 0; i < got; i++) {
            if (block[i] == '\n') {
                if (at++ == number) return length;
            } else if (at == number) {
                if (length == LONGEST_LINE) return -1;
                line[length++] = block[i];
            }
        }
    return at == number ? length : -1;
}

static int line_now(const PTOSite *site, const PTOSiteLine *known, char line[LONGEST_LINE])
{
    struct stat s;
    const int file = open(site->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return -1;
    int length = fstat(file, &s) == 0 && S_ISREG(s.st_mode) ? read_line(file, site->line, line) : -1;
    close(file);
    if (length > 0 && line[length - 1] == '\r') length--;
    uint32_t digest = PTO_LINE_DIGEST_SEED;
    for (int i = 0; i < length; i++) digest = PTO_LINE_DIGEST(digest, (unsigned char)line[i]);
    return length >= 0 && digest == known->digest ? length : -1;
}

static bool is_inside_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* The line, and in the same columns the marks: as the compiler shows them, but each character has one column. */
size_t ptoi_place_excerpt(const PTOSite *site, char text[PTOI_EXCERPT_BYTES])
{
    char line[LONGEST_LINE], marks[PTOI_EXCERPT_BYTES];
    struct text t = {text, 0, PTOI_EXCERPT_BYTES}, m = {marks, 0, sizeof marks};
    const PTOSiteLine *known = line_of(site);
    text[0] = '\0';
    if (!known) return 0;
    const int length = line_now(site, known, line), begin = pto_site_column(site) - 1;
    if (length < 0 || begin > length) return 0;
    int end = known->width < length - begin ? begin + known->width : length, from = 0, to = length;
    if (end <= begin) end = begin + 1;
    if (length > SHOWN) {
        from = begin > BEFORE_CARET ? begin - BEFORE_CARET : 0;
        to = length - from > SHOWN ? from + SHOWN : length;
        while (from < begin && is_inside_character(line[from])) from++;
    }
    put_number(&t, site->line, 5);
    put_all(&t, " | ", 3);
    put_all(&m, "      | ", 8);
    if (from > 0) put_all(&t, "...", 3), put_all(&m, "   ", 3);
    for (int i = from, column = 0; i < to || i == begin; i++) {
        const char mark = i < begin ? ' ' : i == begin ? '^' : '~';
        const bool is_marked = i < end;
        if (i < to && is_inside_character(line[i])) {
            put(&t, line[i]);
            continue;
        }
        const int width = i < to && line[i] == '\t' ? TAB_WIDTH - column % TAB_WIDTH : 1;
        for (int k = 0; k < width && i < to; k++)
            put(&t, line[i] == '\t' ? ' ' : (unsigned char)line[i] < ' ' || line[i] == 0x7f ? '?' : line[i]);
        for (int k = 0; k < width && is_marked; k++) put(&m, mark == '^' && k > 0 ? '~' : mark);
        column += width;
    }
    if (to < length) put_all(&t, "...", 3);
    put(&t, '\n');
    put_all(&t, marks, m.length);
    return end_text(&t);
}

size_t ptoi_place_with(const PTOSite *site, const int64_t *indices, char text[PTOI_INDICES_BYTES])
{
    struct text t = {text, 0, PTOI_INDICES_BYTES};
    const PTOSiteLine *known = line_of(site);
    const char *name = known && indices ? known->indices : "";
    text[0] = '\0';
    if (!*name) return 0;
    put_all(&t, "with ", 5);
    for (int i = 0; *name; i++) {
        const size_t length = strcspn(name, ",");
        put_all(&t, name, length);
        put_all(&t, " = ", 3);
        put_number(&t, indices[i], 0);
        name += length;
        if (*name) put_all(&t, ", ", 2), name += 2;
    }
    return end_text(&t);
}
