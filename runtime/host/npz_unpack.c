/* npz_unpack.c - see npz.h.
 * Idea       zlib reads files of gzip, so the member's bytes are put between the head and the end of one, in a file
 *            without a name; what zlib makes of them, and compares with their checksum, goes to another one.
 */
#include "npz.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

static bool write_all(int fd, const void *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t put = write(fd, (const char *)from + done, bytes - done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        done += (size_t)put;
    }
    return true;
}

static void put_number(unsigned char *at, uint32_t n)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(n >> 8 * i);
}

/* The member as a file of gzip, from its beginning; false: errno. */
static bool wrap(int from, const struct npz_packed *p, int to, char *chunk)
{
    const unsigned char head[10] = {0x1f, 0x8b, 8};
    unsigned char end[8];
    put_number(end, p->checksum);
    put_number(end + 4, (uint32_t)p->bytes);
    if (!write_all(to, head, sizeof head)) return false;
    for (int64_t done = 0; done < p->stored;) {
        const int64_t left = p->stored - done;
        const ssize_t got = pread(from, chunk, left < CHUNK ? (size_t)left : CHUNK, p->at + done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || !write_all(to, chunk, (size_t)got)) return false;
        done += got;
    }
    return write_all(to, end, sizeof end) && lseek(to, 0, SEEK_SET) == 0;
}

/* zlib's own functions for a file of gzip. */
struct zlib {
    void *library;
    void *(*open)(int file, const char *mode);
    int (*read)(void *file, void *to, unsigned bytes);
    int (*close)(void *file);
};

/* A POSIX system gives functions as addresses of data. */
static bool find(const struct zlib *z, const char *name, void *function)
{
    void *const found = dlsym(z->library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool open_zlib(struct zlib *z)
{
    z->library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (z->library && find(z, "gzdopen", &z->open) && find(z, "gzread", &z->read) && find(z, "gzclose", &z->close))
        return true;
    errno = ELIBACC;
    return false;
}

/* Exactly p->bytes come out of the file, which is closed; false: errno. */
static bool unpack(const struct zlib *z, int wrapped, const struct npz_packed *p, int to, char *chunk)
{
    void *const file = z->open(wrapped, "rb");
    if (!file) {
        close(wrapped);
        errno = ENOMEM;
        return false;
    }
    int64_t done = 0;
    int got;
    while ((got = z->read(file, chunk, CHUNK)) > 0 && done + got <= p->bytes && write_all(to, chunk, (size_t)got))
        done += got;
    const bool is_whole = got == 0 && done == p->bytes;
    const bool is_closed = z->close(file) == 0;
    if (is_whole && is_closed) return true;
    if (got <= 0 || done + got > p->bytes) errno = EILSEQ;
    return false;
}

int ptoi_npz_unpack(int from, const struct npz_packed *p)
{
    struct zlib z = {0};
    char *const chunk = malloc(CHUNK);
    const int wrapped = memfd_create("npz packed", MFD_CLOEXEC), to = memfd_create("npz", MFD_CLOEXEC);
    if (!chunk) errno = ENOMEM;
    bool good = chunk && wrapped >= 0 && to >= 0 && open_zlib(&z) && wrap(from, p, wrapped, chunk);
    if (good)
        good = unpack(&z, wrapped, p, to, chunk); /* closes `wrapped` */
    else if (wrapped >= 0)
        close(wrapped);
    const int why = errno;
    free(chunk);
    if (z.library) dlclose(z.library);
    if (!good && to >= 0) close(to);
    errno = why;
    return good ? to : -1;
}
