/* read_at.c - see read_at.h. */
#include "read_at.h"
#include <errno.h>
#include <unistd.h>

bool ptoi_read_at(int fd, int64_t at, void *to, int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        const ssize_t got = pread(fd, (char *)to + done, (size_t)(bytes - done), at + done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += got;
    }
    return true;
}
