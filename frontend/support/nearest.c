/* nearest.c - the word that was probably meant.
 * Idea       edit distance with swaps; a change of case alone costs less than any other change.
 * Owner      nothing.
 * Tests      test/lit/sema/e01-names.pto, test/lit/diag/usage.test
 */
#include "nearest.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_WORD = 48, /* longer words are not compared */
    COST = 2       /* of a change; one of case alone, of the whole word, costs 1 */
};

int nearest_distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    int row[3][MAX_WORD + 1];
    if (la > MAX_WORD || lb > MAX_WORD) return COST * MAX_WORD;
    if (strcasecmp(a, b) == 0) return strcmp(a, b) != 0;
    for (size_t k = 0; k <= lb; k++) row[0][k] = COST * (int)k;
    for (size_t i = 1; i <= la; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *before2 = row[(i + 1) % 3];
        now[0] = COST * (int)i;
        for (size_t k = 1; k <= lb; k++) {
            int best = before[k - 1] + COST * (a[i - 1] != b[k - 1]);
            if (before[k] + COST < best) best = before[k] + COST;
            if (now[k - 1] + COST < best) best = now[k - 1] + COST;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && before2[k - 2] + COST < best)
                best = before2[k - 2] + COST;
            now[k] = best;
        }
    }
    return row[la % 3][lb];
}

static bool is_near(const char *word, const char *candidate, int distance)
{
    size_t length = strlen(word);
    if (strcasecmp(word, candidate) == 0 || (length >= 3 && strncmp(word, candidate, length) == 0)) return true;
    const int changes = distance / COST;
    return changes <= (length <= 3 ? 1 : length <= 5 ? 2 : 3) && (size_t)changes < length;
}

const char *nearest_word(const char *word, const char *const *candidates, int count)
{
    const char *best = NULL;
    int best_distance = COST * MAX_WORD;
    for (int i = 0; i < count; i++) {
        int d = nearest_distance(word, candidates[i]);
        if (d < best_distance && is_near(word, candidates[i], d)) best = candidates[i], best_distance = d;
    }
    return best;
}
