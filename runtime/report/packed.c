/* packed.c - see packed.h. */
#include "packed.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* zlib's own functions for a file of gzip. */
struct zlib {
    void *library, *file;
    int (*write)(void *file, const void *data, unsigned size);
    int (*close)(void *file);
};

static ssize_t write_packed(void *cookie, const char *data, size_t size)
{
    const struct zlib *z = cookie;
    const unsigned most = 1u << 30, some = size < most ? (unsigned)size : most;
    return z->write(z->file, data, some); /* 0: an error, as it is here */
}

static int close_packed(void *cookie)
{
    struct zlib *z = cookie;
    const int code = z->close(z->file);
    dlclose(z->library);
    free(z);
    if (code != 0 && errno == 0) errno = EIO;
    return code == 0 ? 0 : EOF;
}

/* A POSIX system gives functions as addresses of data. */
static bool find(struct zlib *z, const char *name, void *function)
{
    void *const found = dlsym(z->library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool open_zlib(struct zlib *z, int file)
{
    void *(*open)(int file, const char *mode);
    z->library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!z->library || !find(z, "gzdopen", &open) || !find(z, "gzwrite", &z->write) || !find(z, "gzclose", &z->close)) {
        errno = ELIBACC;
        return false;
    }
    const int own = dup(file); /* which zlib closes */
    z->file = own < 0 ? NULL : open(own, "wb");
    if (own >= 0 && !z->file) close(own), errno = ENOMEM;
    return z->file != NULL;
}

FILE *ptoi_packed_open(FILE *out, const char *path)
{
    static const cookie_io_functions_t functions = {.write = write_packed, .close = close_packed};
    const size_t length = strlen(path);
    if (length < 3 || strcmp(path + length - 3, ".gz") != 0) return out;
    struct zlib *z = calloc(1, sizeof *z);
    FILE *packed = z && open_zlib(z, fileno(out)) ? fopencookie(z, "w", functions) : NULL;
    if (packed || !z) return packed;
    const int why = errno;
    if (z->file) z->close(z->file);
    if (z->library) dlclose(z->library);
    free(z);
    errno = why;
    return NULL;
}

bool ptoi_packed_close(FILE *packed, FILE *out)
{
    if (packed == out) return true;
    const bool is_written = !ferror(packed);
    return fclose(packed) == 0 && is_written;
}
