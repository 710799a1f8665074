/* file_digest.c - see file_digest.h. */
#include "file_digest.h"
#include <errno.h>
#include <unistd.h>

bool digest_of_file(int file, struct digest *digest, uint64_t *length)
{
    static unsigned char piece[1 << 18];
    struct digest_state s;
    digest_begin(&s);
    for (off_t at = 0;;) {
        const ssize_t got = pread(file, piece, sizeof piece, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        digest_add(&s, piece, (size_t)got);
        at += got;
    }
    *digest = digest_end(&s);
    *length = s.length;
    return true;
}
