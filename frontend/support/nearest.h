/* nearest.h - the word that was probably meant. */
#ifndef PTOC_NEAREST_H
#define PTOC_NEAREST_H

/* What the insertions, deletions, replacements and swaps of neighbours between two words cost: least where only the
 * case differs, much when one of them is very long. */
int nearest_distance(const char *a, const char *b);
/* The candidate nearest to word, or NULL when none is near enough to be meant.  Only a different case costs least. */
const char *nearest_word(const char *word, const char *const *candidates, int count);

#endif
