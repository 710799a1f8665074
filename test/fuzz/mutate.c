/* mutate.c - texts that are almost programs.
 * Idea       bytes changed blindly die in the lexer; words, lines and bracketed pieces that move about reach the
 *            checker.
 * Owner      nothing; the same seed makes the same text.
 * Invariant  never more than capacity bytes.
 * Tests      fuzz_parse, fuzz_check, fuzz_emit
 */
#include "fuzz.h"
#include <ctype.h>
#include <string.h>

static const char *const words[] = {
#define WORD(text) text,
#include "words.def"
#undef WORD
};
enum { WORD_COUNT = sizeof words / sizeof *words, MAX_STEPS = 4, MAX_REPEAT = 64 };

struct text {
    uint8_t *data;
    size_t size, capacity;
    uint64_t state;
};

struct piece {
    size_t begin, end;
};

static uint64_t random_next(struct text *t)
{
    t->state ^= t->state << 13;
    t->state ^= t->state >> 7;
    t->state ^= t->state << 17;
    return t->state;
}

static size_t random_below(struct text *t, size_t limit)
{
    return limit == 0 ? 0 : (size_t)(random_next(t) >> 11) % limit;
}

/* Replaces a piece; what has no room is cut. */
static void replace(struct text *t, struct piece at, const uint8_t *by, size_t size)
{
    size_t rest = t->size - at.end;
    if (size > t->capacity - at.begin) size = t->capacity - at.begin;
    if (rest > t->capacity - at.begin - size) rest = t->capacity - at.begin - size;
    memmove(t->data + at.begin + size, t->data + at.end, rest);
    memcpy(t->data + at.begin, by, size);
    t->size = at.begin + size + rest;
}

static bool is_word(uint8_t c) { return isalnum(c) || c == '_'; }

static struct piece some_word(struct text *t, const uint8_t *data, size_t size)
{
    struct piece p;
    p.begin = random_below(t, size);
    while (p.begin < size && isspace(data[p.begin])) p.begin++;
    p.end = p.begin < size ? p.begin + 1 : p.begin;
    if (p.begin == size || !is_word(data[p.begin])) return p;
    while (p.begin > 0 && is_word(data[p.begin - 1])) p.begin--;
    while (p.end < size && is_word(data[p.end])) p.end++;
    return p;
}

static struct piece some_line(struct text *t, const uint8_t *data, size_t size)
{
    struct piece p;
    p.begin = p.end = random_below(t, size);
    while (p.begin > 0 && data[p.begin - 1] != '\n') p.begin--;
    while (p.end < size && data[p.end] != '\n') p.end++;
    if (p.end < size) p.end++;
    return p;
}

/* From an opening bracket to its closing one. */
static struct piece some_group(struct text *t, const uint8_t *data, size_t size)
{
    size_t begin = random_below(t, size);
    while (begin < size && strchr("([{", data[begin]) == NULL) begin++;
    int depth = 0;
    for (size_t i = begin; i < size; i++) {
        if (data[i] != '\0' && strchr("([{", data[i]) != NULL) depth++;
        if (data[i] != '\0' && strchr(")]}", data[i]) != NULL && --depth == 0) return (struct piece){begin, i + 1};
    }
    return some_line(t, data, size);
}

static struct piece some_piece(struct text *t, const uint8_t *data, size_t size)
{
    switch (random_below(t, 4)) {
    case 0: return some_line(t, data, size);
    case 1: return some_group(t, data, size);
    default: return some_word(t, data, size);
    }
}

/* Copies are made first: the piece may lie in the text that changes. */
static void replace_by_copy(struct text *t, struct piece at, const uint8_t *from, struct piece piece, size_t times)
{
    uint8_t copy[4096];
    size_t size = piece.end - piece.begin;
    if (size > sizeof copy) size = sizeof copy;
    if (size > 0) memcpy(copy, from + piece.begin, size);
    replace(t, at, copy, size);
    for (struct piece behind = {at.begin, at.begin}; --times > 0 && t->size + size <= t->capacity;)
        replace(t, behind, copy, size);
}

static void change_number(struct text *t, struct piece at)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "2",
                                          "3",
                                          "255",
                                          "256",
                                          "257",
                                          "2147483647",
                                          "4294967296",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "0x7f",
                                          "1e308",
                                          "0.5",
                                          "64"};
    const char *number = numbers[random_below(t, sizeof numbers / sizeof *numbers)];
    while (at.begin < t->size && !isdigit(t->data[at.begin])) at.begin++;
    for (at.end = at.begin; at.end < t->size && isdigit(t->data[at.end]);) at.end++;
    replace(t, at, (const uint8_t *)number, strlen(number));
}

/* With blanks around it, or it would become a part of the names beside it. */
static void put_word(struct text *t, struct piece at, const char *word)
{
    char padded[96];
    int size = snprintf(padded, sizeof padded, is_word((uint8_t)word[0]) ? " %s " : "%s", word);
    replace(t, at, (const uint8_t *)padded, (size_t)size);
}

static void change_once(struct text *t, const uint8_t *other, size_t other_size)
{
    struct piece at = some_piece(t, t->data, t->size), empty = {at.begin, at.begin};
    switch (random_below(t, 9)) {
    case 0: replace(t, at, t->data, 0); break;
    case 1: replace_by_copy(t, empty, t->data, some_piece(t, t->data, t->size), 1); break;
    case 2: replace_by_copy(t, at, t->data, some_piece(t, t->data, t->size), 1); break;
    case 3: replace_by_copy(t, empty, t->data, at, 1 + random_below(t, MAX_REPEAT)); break;
    case 4:
        if (t->size > 0) t->data[random_below(t, t->size)] = (uint8_t)random_next(t);
        break;
    case 5: change_number(t, at); break;
    case 6:
        if (other_size > 0)
            replace_by_copy(t, random_below(t, 2) ? at : empty, other, some_piece(t, other, other_size), 1);
        break;
    default: put_word(t, random_below(t, 3) ? at : empty, words[random_below(t, WORD_COUNT)]);
    }
}

size_t fuzz_mutate(uint8_t *data, size_t size, size_t capacity, const uint8_t *other, size_t other_size, uint64_t seed)
{
    struct text t = {data, size < capacity ? size : capacity, capacity, seed * 0x9e3779b97f4a7c15 + 1};
    for (size_t steps = 1 + random_below(&t, MAX_STEPS); steps > 0; steps--) change_once(&t, other, other_size);
    return t.size;
}
