/* digest.h - 128 bits that identify a text, computed at the speed of memory.
 *
 * Two different texts have the same digest with a probability of about 2^-64; it is no defence against collisions on
 * purpose, because an attacker who can write the user's files needs none. */
#ifndef PTOC_DIGEST_H
#define PTOC_DIGEST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct digest {
    uint64_t word[2];
};

enum { DIGEST_LANES = 8, DIGEST_BLOCK = 8 * DIGEST_LANES };

struct digest_state {
    uint64_t lane[DIGEST_LANES];
    unsigned char block[DIGEST_BLOCK]; /* what does not fill a block yet */
    size_t held;
    uint64_t length;
};

void digest_begin(struct digest_state *s);
void digest_add(struct digest_state *s, const void *bytes, size_t length);
struct digest digest_end(struct digest_state *s);

struct digest digest_of(const void *bytes, size_t length);

static inline bool digest_is_equal(struct digest a, struct digest b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

#endif
