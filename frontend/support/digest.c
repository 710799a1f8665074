/* digest.c - see digest.h.
 * Idea       eight lanes take a word of each block, round-robin; a lane multiplies to 128 bits and folds the halves, so
 *            every bit of the word reaches every bit of the lane, and eight multiplications are in flight at a time.
 * Owner      the caller's state.
 * Invariant  the digest depends on the bytes and their number, not on the pieces in which they were added.
 * Blocks     never.
 * Tests      test/lit/run/cache-reads.test (a flipped bit anywhere in an entry), scripts/cache_edits.py
 */
#include "digest.h"
#include <string.h>

/* Nothing up the sleeve: the fractions of the square roots of the first eight primes. */
static const uint64_t key[DIGEST_LANES] = {
    0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The addition keeps what was there when a factor is zero, the rotation lets equal words in two blocks differ. */
static void take_blocks(uint64_t lane[DIGEST_LANES], const unsigned char *at, size_t blocks)
{
    for (; blocks > 0; blocks--, at += DIGEST_BLOCK)
        for (int i = 0; i < DIGEST_LANES; i++) {
            uint64_t word;
            memcpy(&word, at + 8 * i, sizeof word);
            lane[i] = fold(lane[i] ^ word, key[i]) + (lane[i] << 23 | lane[i] >> 41) + word;
        }
}

void digest_begin(struct digest_state *s)
{
    memcpy(s->lane, key, sizeof s->lane);
    s->held = 0;
    s->length = 0;
}

void digest_add(struct digest_state *s, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    if (length == 0) return; /* of nothing there may be no address */
    s->length += length;
    if (s->held > 0) {
        const size_t missing = DIGEST_BLOCK - s->held, taken = length < missing ? length : missing;
        memcpy(s->block + s->held, at, taken);
        s->held += taken;
        at += taken;
        length -= taken;
        if (s->held < DIGEST_BLOCK) return;
        take_blocks(s->lane, s->block, 1);
        s->held = 0;
    }
    take_blocks(s->lane, at, length / DIGEST_BLOCK);
    s->held = length % DIGEST_BLOCK;
    if (s->held > 0) memcpy(s->block, at + length - s->held, s->held);
}

struct digest digest_end(struct digest_state *s)
{
    memset(s->block + s->held, 0, DIGEST_BLOCK - s->held);
    take_blocks(s->lane, s->block, 1);
    struct digest d = {{s->length, ~s->length}};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < DIGEST_LANES; i++) {
            d.word[0] = fold(d.word[0] ^ s->lane[i], key[i]) + s->lane[i];
            d.word[1] = fold(d.word[1] ^ s->lane[DIGEST_LANES - 1 - i], key[i] ^ key[0] ^ 1) + d.word[0];
        }
    return d;
}

struct digest digest_of(const void *bytes, size_t length)
{
    struct digest_state s;
    digest_begin(&s);
    digest_add(&s, bytes, length);
    return digest_end(&s);
}
