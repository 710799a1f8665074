/* values.c - see values.h. */
#include "values.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/* Digits as the language has them, decimal or 0x, `_` between them; stops at the first character that belongs to
 * none. */
static const char *scan_integer(const char *text, int64_t *value, bool *fits)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+') text++;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    if (base == 16) text += 2;
    *value = 0;
    *fits = true;
    const char *first = text;
    for (; digit_of(*text) < base || (*text == '_' && text > first && digit_of(text[1]) < base); text++) {
        int64_t digit = negative ? -digit_of(*text) : digit_of(*text);
        if (*text != '_' &&
            (__builtin_mul_overflow(*value, base, value) || __builtin_add_overflow(*value, digit, value)))
            *fits = false;
    }
    return text > first ? text : NULL;
}

bool ptoi_parse_i64(const char *text, int64_t *value, bool *fits)
{
    const char *end = scan_integer(text, value, fits);
    bool number = end && *end == '\0';
    *fits = !number || *fits;
    return number && *fits;
}

bool ptoi_parse_size(const char *text, int64_t *value, bool *fits)
{
    const char *end = scan_integer(text, value, fits);
    if (!end) return false;
    static const char suffixes[] = "KMG";
    if (*end) {
        char upper = (char)(*end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);
        const char *suffix = strchr(suffixes, upper);
        if (!suffix || end[1] != '\0') return false;
        for (const char *s = suffixes; s <= suffix; s++)
            if (__builtin_mul_overflow(*value, 1024, value)) *fits = false;
    }
    return *fits;
}

bool ptoi_parse_float(const char *text, bool single, double *value, bool *fits)
{
    char *end;
    *fits = true;
    if (*text == '\0' || strchr(" \t\n\v\f\r", *text)) return false;
    errno = 0;
    *value = single ? (double)strtof(text, &end) : strtod(text, &end);
    if (*end != '\0' || strchr(text, '(')) return false;
    *fits = !(errno == ERANGE && isinf(*value)); /* too small is rounded, too large is not what was meant */
    return *fits;
}

int ptoi_parse_scalar(const char *what, const char *text, PTOType type, PTOScalar *value, struct host_error *e)
{
    bool good = false, fits = true;
    double number = 0;
    *value = (PTOScalar){.i64 = 0};
    if (type == PTO_BOOL) {
        good = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        value->b = good;
        good = good || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
    } else if (type == PTO_I64) {
        good = ptoi_parse_i64(text, &value->i64, &fits);
    } else {
        good = ptoi_parse_float(text, type == PTO_F32, &number, &fits);
        if (type == PTO_F32)
            value->f32 = (float)number;
        else
            value->f64 = number;
    }
    if (good) return HOST_OK;
    int code = !fits
                   ? host_fail(e, HOST_USAGE, "'%s' does not fit in '%s', which is %s", text, what, pto_type_name(type))
                   : host_fail(e, HOST_USAGE, "'%s' is %s, '%s' is not %s", what, pto_type_name(type), text,
                               type == PTO_BOOL  ? "true, false, 1 or 0"
                               : type == PTO_I64 ? "an integer"
                                                 : "a number");
    e->id = "E16";
    return code;
}

/* ---- the nearest name -------------------------------------------------------------------------------------------- */

enum { MAX_NAME = 64 }; /* longer ones are not compared */

/* Insertions, deletions, substitutions and swaps of neighbours from a to b. */
static int edit_distance(const char *a, int la, const char *b, int lb)
{
    int rows[3][MAX_NAME + 1];
    for (int j = 0; j <= lb; j++) rows[0][j] = j;
    for (int i = 1; i <= la; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && two_above[j - 2] + 1 < best) best = two_above[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[la % 3][lb];
}

const char *ptoi_nearest_name(const char *text, int length, const char *const *names, int count)
{
    const char *nearest = NULL;
    int least = length / 3 > 1 ? length / 3 + 1 : 2;
    for (int i = 0; i < count && length <= MAX_NAME; i++) {
        int other = (int)strlen(names[i]);
        if (other > MAX_NAME) continue;
        int distance = edit_distance(text, length, names[i], other);
        if (distance < least && distance < (other > length ? other : length)) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

const char *ptoi_join_names(const char *const *names, int count, char *text, size_t size)
{
    size_t at = 0;
    snprintf(text, size, "none");
    for (int i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, i == 0 ? "%s" : ", %s", names[i]);
    return text;
}

/* Those that end in a point and this name stand first; how many. */
static int qualified_first(const char *name, int length, const char **names, int count)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        const char *other = names[i];
        const size_t all = strlen(other), own = (size_t)length;
        if (all <= own || other[all - own - 1] != '.' || memcmp(other + all - own, name, own) != 0) continue;
        names[i] = names[found];
        names[found++] = other;
    }
    return found;
}

const char *ptoi_name_advice(const char *name, int length, const char **names, int count, char *text, size_t size)
{
    char list[512];
    const int qualified = length > 0 ? qualified_first(name, length, names, count) : 0;
    const char *near = qualified == 1 ? names[0] : ptoi_nearest_name(name, length, names, count);
    if (qualified > 1 || !near)
        snprintf(text, size, "; there is: %s",
                 ptoi_join_names(names, qualified > 1 ? qualified : count, list, sizeof list));
    else
        snprintf(text, size, "; did you mean '%s'?", near);
    return text;
}
